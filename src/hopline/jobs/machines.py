"""Machines by name: presets that come with hopline, those the user saved, and files.

What belongs here: where machine files are looked for and how they are saved without losing what was there.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path as File

from hopline.errors import MachineError, OutputError, UnknownNameError
from hopline.jobs import topologies
from hopline.jobs.loading import resolve
from hopline.machine import files
from hopline.machine.families.table import generate, is_topology
from hopline.machine.topology import Machine


@dataclass(frozen=True, slots=True)
class Preset:
    """A machine that can be called by name; ``file`` is None for those that come with hopline."""

    name: str
    title: str
    file: File | None


def folder() -> File:
    """Where the user's own machines are kept: $HOPLINE_HOME, else hopline's folder among the user's configuration."""
    own, config = os.environ.get("HOPLINE_HOME"), os.environ.get("XDG_CONFIG_HOME")
    if own:
        return File(own)
    try:
        return (File(config) if config else File.home() / ".config") / "hopline"
    except RuntimeError:
        raise OutputError("there is no home folder for saved machines: set HOPLINE_HOME to a folder") from None


def saved_file(name: str) -> File:
    """The file of a machine that the user saved under ``name``."""
    return folder() / f"{name}.toml"


def target(name: str) -> File:
    """The file that ``--save NAME|FILE`` means: a file where it looks like one, else a saved machine of that name.

    Raises OutputError for names that are none, or that a preset has.
    """
    if name.endswith(".toml") or "/" in name:
        if File(name).is_dir():
            raise OutputError(f"{name} is a folder: expected a file like {name.rstrip('/')}/mine.toml")
        return File(name)
    if not _NAME.fullmatch(name):
        raise OutputError(
            f"{name[:40]!r} is no name for a machine: expected letters, digits, - and _, or a file like mine.toml"
        )
    if name in files.preset_names():
        raise OutputError(f"{name!r} is a preset: give the machine another name")
    return saved_file(name)


_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,100}", re.ASCII)


def listed() -> list[Preset]:
    """All machines that can be called by name; the user's come first and hide presets of the same name."""
    own = [file for file in sorted(folder().glob("*.toml")) if file.is_file()] if folder().is_dir() else []
    found = {file.stem: Preset(file.stem, _title_of(file), file) for file in own}
    for name in files.preset_names():
        found.setdefault(name, Preset(name, files.loads(files.preset_text(name), name).title, None))
    return list(found.values())


def _title_of(file: File) -> str:
    try:
        return files.load(file).title
    except MachineError as error:
        return f"cannot be read: {error}"


def text(name: str) -> str:
    """The TOML of a machine by name or file. Raises UnknownNameError where neither exists."""
    if _is_made(name):
        return str(resolve("hopline.machine.writing:dumps")(generate(name)))
    file = _file_of(name)
    return files.preset_text(name) if file is None else files.text_of(file)


def find(name: str) -> Machine:
    """The machine that ``name`` means: a topology and its numbers, a file, one the user saved, or a preset, in this order."""
    if _is_made(name):
        return generate(name)
    file = _file_of(name)
    if file is None:
        return files.loads(files.preset_text(name), f"preset {name}")
    if is_foreign(name):
        return topologies.machine(name)
    try:
        return files.load(file)
    except MachineError:
        if not name.endswith(".toml"):
            topologies.understood(name)
        raise


def is_foreign(name: str) -> bool:
    """Whether ``name`` means a file that is not one of hopline's own machine files, but of another tool's topology."""
    if name == "-":
        return True
    if len(name) > _LONGEST_NAME or name.endswith(".toml") or not File(name).is_file():
        return False
    own = "/" not in name and (saved_file(name).is_file() or name in files.preset_names())
    return not own and topologies.is_topology(name)


def _is_made(name: str) -> bool:
    """Whether a name means a topology; what the user saved under the name of one comes first."""
    return is_topology(name) and (":" in name or not saved_file(name).is_file())


_LONGEST_NAME = 200


def _file_of(name: str) -> File | None:
    """The file behind ``name``; None for a preset."""
    if len(name) > _LONGEST_NAME:
        raise MachineError(
            f"the name {name[:40]!r}... is too long for a machine: expected a preset, a saved one or a file"
        )
    if "/" in name or name.endswith(".toml"):
        if File(name).is_file():
            return File(name)
        raise MachineError(f"{name}: no such machine file; hopline presets lists the machines that come with hopline")
    if saved_file(name).is_file():
        return saved_file(name)
    if name in files.preset_names():
        return None
    if File(name).is_file():
        if topologies.is_topology(name):
            return File(name)
        raise MachineError(f"no machine is called {name!r}; for the file of that name write ./{name}")
    if name == "local":
        raise MachineError("'local' is not measured yet: run hopline measure first")
    raise UnknownNameError("machine", name, [preset.name for preset in listed()])


def save(machine: Machine, file: File, replace: bool = False) -> File | None:
    """Write ``machine`` to ``file``. With ``replace`` what was there is kept under a dated name, which is returned.

    Raises OutputError where the file exists and ``replace`` is not set, or where it cannot be written.
    """
    kept = None
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        if file.parent == folder():
            file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists() and not replace:
            raise OutputError(f"{file} exists: give another name, or move it away first")
        beside.write_text(resolve("hopline.machine.writing:dumps")(machine), encoding="utf-8")
        if file.exists():
            kept = file.with_suffix(f".{datetime.now():%Y%m%d-%H%M%S-%f}.bak")
            shutil.copy2(file, kept)
        beside.replace(file)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise OutputError(f"{file} cannot be written: {error.strerror}") from None
    return kept
