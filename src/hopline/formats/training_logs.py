"""Logs of training programs: step times and timers.

What belongs here: from lines to a StepLog. What a line says is ``training_lines``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from hopline.errors import FormatError
from hopline.formats import training_lines as words
from hopline.formats.schedules.bounded import usable
from hopline.formats.source import shown
from hopline.formats.training_lines import Line, StepKind
from hopline.formats.training_ranks import Count, Entry, medians, of_one, once
from hopline.formats.training_stamps import between
from hopline.quantity import counted
from hopline.records.step_log import BEFORE, Numbers, StepLog, Timer

MOST = 20_000_000
"""Steps of a log."""
MOST_TIMERS = 1000
LONGEST = 30 * 86400.0
"""Seconds of a step, or of a part of one: what is longer is no time of one."""
_MILLI = 1e-3
_NAN = float("nan")


def read(path: str) -> StepLog:
    """The steps of the log at ``path``. Raises FormatError where it has none of a known kind."""
    usable(path, "training log")
    told: list[str] = []
    reading = _Reading(told)
    for line in words.lines(path, told.append):
        reading.take(line)
    kind = reading.kind()
    if kind is None:
        titles = ", ".join(one.title for one in words.STEP_KINDS)
        raise FormatError(f"{shown(path)} has no step times: expected lines of {titles}")
    return _log(path, kind, reading)


def has_steps(text: str) -> bool:
    """Whether some line of a piece of a log holds a step."""
    return any(True for line in text.splitlines() for _ in words.steps(line))


@dataclass(slots=True)
class _Reading:
    """What was found up to a line."""

    told: list[str]
    found: dict[tuple[str, str], list[Entry]] = field(default_factory=dict)
    """Kind and label -> steps."""
    timers: dict[str, list[tuple[int, float, float]]] = field(default_factory=dict)
    step: int = BEFORE
    starts: int = 0
    """How often the program said that it starts from a checkpoint."""
    open: str = ""
    """What the block of timers says that is being read; "" outside of one."""
    name: str = ""
    """Of the timer whose ranks are listed."""
    count: int = 0
    counts: dict[tuple[str, str], Count] = field(default_factory=dict)
    """Kind and label -> how its steps are numbered."""
    unclear: int = 0
    """Lines that do not say of which step they are."""
    beyond: int = 0
    """Times of timers above LONGEST."""

    def take(self, line: Line) -> None:
        """Read one line."""
        if self._timer(line.text):
            return
        self.open = ""
        if words.RESTART.search(line.text):
            self.starts += 1
        stamp = None
        for found in words.steps(line.text):
            stamp = words.stamp_of(line.text) if stamp is None else stamp
            side = (found.kind.name, line.label)
            step = self.counts.setdefault(side, Count()).number(found.step, found.bar, self.starts)
            self.unclear += step is None
            if step is None:
                continue
            self.found.setdefault(side, []).append((step, found.time, stamp, self.starts, line.number))
            self.step = step
            self.count += 1
            if self.count > MOST:
                raise FormatError(f"more than {MOST} steps: expected the log of one training job")

    def _timer(self, text: str) -> bool:
        """Whether the line belongs to a block of timers (Megatron) or is one of its older kind on one line."""
        head = words.TIMER_HEAD.search(text)
        if head is not None:
            self.open, text = head["what"], text[head.end() :]
            self._rows(text)
            return True
        if self.open and self._rows(text):
            return True
        row = words.TIMER_LINE.search(text) if "time (ms) |" in text else None
        if row is None:
            return False
        for name, time in words.TIMER_PART.findall(row[1]):
            self._add(name, _NAN, float(time))
        return True

    def _rows(self, text: str) -> bool:
        if self.open == "times":
            return self._by_rank(text)
        if self.open.startswith("("):
            rows = [(name, float(a), float(b)) for name, a, b in words.TIMER_PAIR.findall(text)]
        else:
            rows = [(name, _NAN, float(b)) for name, b in words.TIMER_MOST.findall(text)]
        for row in rows:
            self._add(*row)
        return bool(rows)

    def _by_rank(self, text: str) -> bool:
        """A name, and below it a row a rank."""
        name, rank = words.TIMER_NAME.match(text), words.TIMER_RANK.match(text)
        if name is not None:
            self.name = name[1]
        elif rank is not None and self.name:
            self._widen(self.name, float(rank[2]))
        return name is not None or rank is not None

    def _add(self, name: str, least: float, most: float) -> None:
        if most * _MILLI > LONGEST:
            self.beyond += 1
        elif name in self.timers or len(self.timers) < MOST_TIMERS:
            self.timers.setdefault(name, []).append((self.step, least * _MILLI, most * _MILLI))

    def _widen(self, name: str, time: float) -> None:
        rows = self.timers.get(name)
        if not rows or rows[-1][0] != self.step or time * _MILLI > LONGEST:
            self._add(name, time, time)
            return
        step, least, most = rows[-1]
        rows[-1] = (step, min(least, time * _MILLI), max(most, time * _MILLI))

    def kind(self) -> StepKind | None:
        """The kind with most lines; of as many, the first of the table."""
        counts = Counter[str]()
        for (name, _), entries in self.found.items():
            counts[name] += len(entries)
        order = sorted(words.STEP_KINDS, key=lambda kind: -counts[kind.name])
        return order[0] if counts else None


def _log(path: str, kind: StepKind, reading: _Reading) -> StepLog:
    told = reading.told
    if reading.unclear:
        told.append(
            f"{counted(reading.unclear, 'line')} left out: the step's number is rounded, and there is no bar's count, or it "
            f"is {words.MOST_STEPS:,} or more"
        )
    if reading.beyond:
        told.append(f"{counted(reading.beyond, 'time')} of timers above 30 days left out")
    sides = {label: entries for (name, label), entries in reading.found.items() if name == kind.name}
    entries = once(of_one(sides, told), told)
    step = np.array([one[0] for one in entries], np.int64)
    time = np.array([one[1] for one in entries], np.float64)
    stamp = np.array([one[2] for one in entries], np.float64)
    run = _runs(step, [one[3] for one in entries])
    line = np.array([one[4] for one in entries], np.int64)
    taken = np.arange(len(step))
    if not kind.scale:
        if not np.isfinite(stamp).any():
            raise FormatError(
                f"{shown(path)} has steps and tokens per second, and no time of a step: expected lines that begin with "
                "the time"
            )
        taken, time = between(step, stamp, run, told)
    good = (time > 0) & (time <= LONGEST)
    if not good.any():
        raise FormatError(
            f"{shown(path)} has {counted(len(step), 'step')} and no time of any: expected at least two with a time, "
            "of at most 30 days"
        )
    bad = np.count_nonzero(~good) if kind.scale else np.count_nonzero(time > LONGEST)
    if bad:
        told.append(f"{counted(int(bad), 'step')} without a usable time left out (none, or above 30 days)")
    timers = {name: _timer(rows) for name, rows in reading.timers.items()}
    rows = taken[good]
    columns = (step[rows], time[good], stamp[rows], run[rows], line[rows])
    return StepLog(path, kind.name, kind.basis, *columns, timers, tuple(told), medians(sides) if kind.scale else {})


def _runs(step: Numbers, starts: list[int]) -> Numbers:
    """A run begins where steps go back, and where the program says that it loaded a checkpoint."""
    if not len(step):
        return step
    begins = (np.diff(step) <= 0) | (np.diff(np.array(starts)) > 0)
    return np.concatenate(([0], np.cumsum(begins))).astype(np.int64)


def _timer(rows: list[tuple[int, float, float]]) -> Timer:
    table = np.array([row[1:] for row in rows], np.float64)
    return Timer(np.array([row[0] for row in rows], np.int64), table[:, 0].copy(), table[:, 1].copy())
