"""A headless Chromium without a network: what a page becomes in it, and what it asked for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--virtual-time-budget=20000",
)  # fmt: skip
SECONDS = 90
ITS_OWN = "not an origin"
"""Who the browser says began a request when no page did."""


def missing() -> str:
    """Why no browser can be started here; "" where one can."""
    if not found():
        return "no Chromium (Debian: apt-get install chromium)"
    return ""


def found() -> str | None:
    """The browser's command."""
    told = os.environ.get("HOPLINE_CHROMIUM")
    return told or next((path for name in NAMES if (path := shutil.which(name))), None)


NEEDED = [pytest.mark.real, pytest.mark.skipif(bool(missing()), reason=missing() or "-")]


@dataclass(frozen=True)
class Visit:
    """The page as it was in the end, what it asked for, and what it wrote to the console."""

    document: str
    asked: tuple[str, ...]
    console: tuple[str, ...]


def visit(page: Path, folder: Path, wide: int = 1400) -> Visit:
    """Open a page in a window so many pixels wide. A browser that cannot even open an empty one (memory, sandbox) skips the test, with its words."""
    if trouble := _trouble():
        pytest.skip(f"Chromium does not run here: {trouble}")
    folder.mkdir()
    done = _open(page, folder, wide)
    document, said = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    assert done.returncode == 0, said[-2000:]
    assert "</html>" in document, said[-2000:]
    console = tuple(line for line in said.splitlines() if "CONSOLE" in line)
    return Visit(document, tuple(_asked(folder / "net.json")), console)


def _open(page: Path, folder: Path, wide: int = 1400) -> subprocess.CompletedProcess[bytes]:
    places = (f"--user-data-dir={folder / 'user'}", f"--log-net-log={folder / 'net.json'}")
    command = [str(found()), *FLAGS, f"--window-size={wide},2600", *places, "--dump-dom", page.as_uri()]
    return subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)


@cache
def _trouble() -> str:
    """Why an empty page cannot be opened; "" where it can."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = Path(folder) / "empty.html"
        page.write_text("<!DOCTYPE html><html><body>empty</body></html>")
        try:
            done = _open(page, Path(folder))
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        if done.returncode or b"empty</body>" not in done.stdout:
            return f"it ended with {done.returncode}, {done.stderr.decode(errors='replace')[-300:]!r}"
    return ""


def _asked(log: Path):
    """URLs that a page asked for, itself left out."""
    text = log.read_text(errors="replace")
    try:
        data = json.loads(text)
    except ValueError:
        data = json.loads(text.rstrip().rstrip(",") + "]}")
    start = data["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    for event in data["events"]:
        params = event.get("params") or {}
        if event["type"] == start and "url" in params and params.get("initiator") != ITS_OWN:
            yield params["url"]
