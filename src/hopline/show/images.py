"""A specification becomes a file: .html (one self-contained page), .svg or .png by its ending, without a browser.

What belongs here: the one place that calls vl-convert, imported late because it is large.
"""

from __future__ import annotations

import json
from collections.abc import Callable
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


def save(spec: Spec, file: Path) -> None:
    """Draw ``spec`` into ``file``. Raises OutputError where it cannot be written or holds something else already."""
    check_ending(file)
    if file.exists() and not file.is_file():
        raise OutputError(f"{file} is not a file")
    content = IMAGES[file.suffix.lower()](spec)
    try:
        file.write_bytes(content)
    except OSError as error:
        raise OutputError(f"{file} cannot be written: {error.strerror}") from None
