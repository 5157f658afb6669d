"""Files that the user asks for, looked at before the work whose answer they are to hold.

What belongs here: the one rule for them. Their folder is there, and they can be written. What hopline wrote there before is
gone on with (samples) or kept under a dated name (pictures, traces, machines); nothing else is touched.
"""

from __future__ import annotations

import os
from pathlib import Path as File
from typing import Any

from hopline.errors import OutputError
from hopline.formats import samples
from hopline.jobs import machines, measuring
from hopline.jobs.loading import resolve
from hopline.show import images


def check(
    *, trace: File | None = None, plot: File | None = None, out: File | None = None, save: File | None = None
) -> None:
    """Raise OutputError, UnknownNameError, FormatError for an output that could not be written in the end.

    Parameters
    ----------
    trace, plot, out
        A trace for Perfetto, a picture, a samples file.
    save
        The file of a machine.
    """
    if trace is not None:
        resolve("hopline.formats.overlay:check_name")(str(trace))
    if plot is not None:
        images.check_ending(plot)
    named = [file for file in (trace, plot, out, save) if file is not None]
    for file in named:
        _check_place(file)
    if len({os.path.realpath(file) for file in named}) < len(named):
        raise OutputError(f"{' and '.join(map(str, named))}: expected a file of its own for each output")
    if trace is not None and os.path.exists(trace) and not resolve("hopline.formats.perfetto:is_ours")(str(trace)):
        raise OutputError(f"{trace} exists and is no trace of hopline's: give another name")
    if plot is not None:
        images.check_free(plot)
    if out is not None:
        samples.begun(str(out))


def samples_file(out: File | None) -> File:
    """The samples file that is meant: a new one in hopline's own folder, which is made, where none is named."""
    return _in_own_folder(measuring.new_file()) if out is None else out


def machine_file(name: str | None) -> File:
    """The file of a machine: ``local`` in hopline's own folder, which is made, where there is no name."""
    file = machines.target(measuring.LOCAL if name is None else name)
    return _in_own_folder(file) if file.parent == machines.folder() else file


def write_trace(file: File, *given: Any) -> File | None:
    """Write a trace of a schedule and its timeline; where one was, it is kept under a dated name, which is returned."""
    try:
        kept = images.put_aside(file) if os.path.lexists(file) else None
    except OSError as error:
        raise OutputError(f"{file} cannot be written: {error.strerror}") from None
    resolve("hopline.formats.perfetto:write_perfetto")(*given, str(file))
    return kept


def _in_own_folder(file: File) -> File:
    samples.make_folder(file)
    _check_place(file)
    return file


def _check_place(file: File) -> None:
    """Raise OutputError where a file cannot be written."""
    try:
        if file.is_dir():
            raise OutputError(f"{file} is a folder: expected a file")
        if not file.parent.is_dir():
            raise OutputError(f"{file} cannot be written: there is no folder {file.parent}")
        there = os.path.lexists(file)
        if there and not file.is_file():
            return  # a device or a pipe, which opening may end or block
        os.close(os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666))
        if not there:
            file.unlink()
    except (OSError, ValueError) as error:
        raise OutputError(f"{str(file)[:80]} cannot be written: {getattr(error, 'strerror', None) or error}") from None
