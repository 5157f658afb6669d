"""Other evidence of a step than traces of Kineto: hangs, step times in logs, execution traces, exports of Nsight Systems.

What belongs here: reading files of one kind, and answering what they say. Traces of whatever kind are explained together by
``explaining``; here they are only read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hopline.errors import InputError
from hopline.formats.evidence import EVIDENCE, kind_of
from hopline.jobs.loading import resolve
from hopline.records.trace import Trace
from hopline.show.document import Block

TRACES = ("kineto", "nsys")
"""Kinds that are traces."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What files of one kind say: a page, and the same as JSON."""

    kind: str
    blocks: list[Block]
    json: dict[str, Any]


def by_kind(paths: Sequence[str]) -> dict[str, list[str]]:
    """Kind -> the files of it, in the order of EVIDENCE. Raises FormatError for a file of none."""
    kinds = [(kind_of(path), path) for path in paths]
    return {name: files for name in EVIDENCE if (files := [path for kind, path in kinds if kind == name])}


def traces(paths: Sequence[str]) -> list[Trace]:
    """The traces of exports of Nsight Systems, in the order of the files, and by process and GPU in each."""
    read = resolve(EVIDENCE["nsys"].reader)
    return [trace for path in paths for trace in read(path)]


def hang(paths: Sequence[str]) -> Answer:
    """What flight recorder dumps of several ranks say together. Raises InputError where ranks are not told apart."""
    read = resolve(EVIDENCE["flight"].reader)
    found = resolve("hopline.study.hangs:explain")([read(path) for path in paths])
    return Answer("flight", resolve("hopline.show.hang:page")(found), resolve("hopline.show.hang:as_json")(found))


def step_log(paths: Sequence[str]) -> Answer:
    """What training logs say about their steps, one after the other."""
    read, report = resolve(EVIDENCE["log"].reader), resolve("hopline.study.step_log:report")
    reports = [report(read(path)) for path in paths]
    return _each("log", "logs", reports, "hopline.show.step_log")


def execution(paths: Sequence[str]) -> Answer:
    """What execution traces say without being run, one after the other."""
    read, report = resolve(EVIDENCE["execution"].reader), resolve("hopline.study.executions:report")
    reports = [report(one) for path in paths for one in read(path)]
    return _each("execution", "executions", reports, "hopline.show.execution")


def _each(kind: str, key: str, reports: Sequence[object], room: str) -> Answer:
    page, as_json = resolve(f"{room}:page"), resolve(f"{room}:as_json")
    blocks = [block for report in reports for block in page(report)]
    return Answer(kind, blocks, {key: [as_json(report) for report in reports]})


ANSWERS: dict[str, Callable[[Sequence[str]], Answer]] = {"flight": hang, "log": step_log, "execution": execution}
"""Kind -> what answers for its files; of TRACES ``explaining`` does."""


def answer(paths: Sequence[str]) -> Answer:
    """The answer for files of one kind that is no trace. Raises InputError for files of several."""
    kinds = by_kind(paths)
    if len(kinds) != 1:
        listed = "; ".join(f"{EVIDENCE[kind].title}: {', '.join(files[:3])}" for kind, files in kinds.items())
        raise InputError(f"files of several kinds ({listed}): explain those of one kind at a time")
    ((kind, files),) = kinds.items()
    if kind in TRACES:
        raise InputError(
            f"{files[0]} is a trace ({EVIDENCE[kind].title}): expected a dump, a log or an execution trace"
        )
    return ANSWERS[kind](files)
