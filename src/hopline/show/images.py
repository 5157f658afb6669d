"""A specification becomes a file: .html (one self-contained page), .svg or .png by its ending, without a browser.

What belongs here: the one place that calls vl-convert, imported late because it is large.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from hopline.errors import OutputError, UnknownNameError
from hopline.show.figures import Spec


def _html(spec: Spec) -> bytes:
    import vl_convert

    page: str = vl_convert.vegalite_to_html(json.dumps(spec), bundle=True)
    return page.encode()


def _svg(spec: Spec) -> bytes:
    import vl_convert

    drawing: str = vl_convert.vegalite_to_svg(json.dumps(spec))
    return drawing.encode()


def _png(spec: Spec) -> bytes:
    import vl_convert

    image: bytes = vl_convert.vegalite_to_png(json.dumps(spec), scale=2)
    return image


IMAGES: dict[str, Callable[[Spec], bytes]] = {".html": _html, ".svg": _svg, ".png": _png}
"""File ending -> specification -> bytes."""


def check_ending(file: Path) -> None:
    """Raise UnknownNameError for an ending that no writer knows: before the work, not after it."""
    if file.suffix.lower() not in IMAGES:
        raise UnknownNameError(f"kind of picture in {str(file)!r}:", file.suffix, IMAGES)


def save(spec: Spec, file: Path) -> Path | None:
    """Draw ``spec`` into ``file``; another picture of hopline's that was there is kept under a dated name, which is returned.

    Raises OutputError where it cannot be written, or where something else of that name would be lost.
    """
    check_ending(file)
    check_free(file)
    return keep(IMAGES[file.suffix.lower()](spec), file)


def check_free(file: Path) -> None:
    """Raise OutputError where something of that name would be lost: before the work, not after it."""
    if _there(file) and not _is_ours(file):
        raise OutputError(f"{file} exists and is no picture of hopline's: give another name")


def keep(drawn: bytes, file: Path) -> Path | None:
    """Write what was drawn, marked as ours. Returns and raises what ``save`` does."""
    check_free(file)
    content = _marked(file.suffix.lower(), drawn)
    try:
        kept = put_aside(file) if file.exists() and file.read_bytes() != content else None
        file.write_bytes(content)
    except OSError as error:
        raise OutputError(f"{file} cannot be written: {error.strerror}") from None
    return kept


def put_aside(file: Path) -> Path:
    """Give a file the dated name under which what hopline wrote before is kept. Raises OSError."""
    kept = file.with_suffix(f".{datetime.now():%Y%m%d-%H%M%S-%f}.bak")
    return file.rename(kept)


def written(file: Path, kept: Path | None) -> str:
    """Where something is now, and under which name what was there before."""
    return f"{file}" + (f" (what was there is now {kept.name})" if kept else "")


def _there(file: Path) -> bool:
    try:
        return file.exists()
    except OSError as error:
        raise OutputError(f"{str(file)[:80]!r} cannot be written: {error.strerror}") from None


_MARK = b"drawn by hopline"
_TAIL = 256
_END = b"\x00\x00\x00\x00IEND\xaeB`\x82"
"""The chunk that ends a PNG."""


def _marked(ending: str, content: bytes) -> bytes:
    """The picture with a comment near its end, by which it is known again."""
    if ending != ".png":
        return content + b"\n<!-- " + _MARK + b" -->\n"
    text = b"tEXtSoftware\0" + _MARK
    chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
    return content.removesuffix(_END) + chunk + _END


def _is_ours(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            opened.seek(max(0, file.stat().st_size - _TAIL))
            return _MARK in opened.read()
    except OSError:
        return False
