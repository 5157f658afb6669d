"""Lines of training logs: which hold a step, a timer, a restart.

What belongs here: the tables of patterns, and what a line says by itself. How lines make a log is ``training_logs``.
Layouts: ``training.py`` and ``timers.py`` of Megatron-LM; progress of NeMo and Lightning; DeepSpeed's pipeline engine;
``metrics.py`` of torchtitan.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from hopline.formats.source import opened
from hopline.records.step_log import Basis

LONGEST = 1 << 13
"""Bytes of a line; longer ones are left out."""
MOST_STEPS = 10**10
"""Steps of a job."""
_PIECE = 1 << 20
_NUMBER = r"(?P<time>\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|[+-]?(?:nan|inf)\b)"
_BAR = r"\bEpoch (?P<epoch>\d{1,9}):.*?(?P<bar>\d+)/\d+ \[[\d:]+<"
_MILLI = 1e-3


@dataclass(frozen=True, slots=True)
class StepKind:
    """Whose line it is.

    Attributes
    ----------
    name, title
        In JSON, and for people.
    keys
        Texts that all such lines hold: looked for before the pattern.
    pattern
        With the groups ``step`` (where the line says it exactly; else a progress bar's count stands for it), and ``time``, or
        ``rate`` and ``unit``.
    scale
        Seconds of a unit of ``time``; 0: the line has none.
    basis
        Where times come from.
    """

    name: str
    title: str
    keys: tuple[str, ...]
    pattern: re.Pattern[str]
    scale: float
    basis: Basis


STEP_KINDS = (
    StepKind(
        "megatron", "Megatron-LM (also Megatron-DeepSpeed)", ("iteration", "elapsed"),
        re.compile(
            r"\biteration[ =:]*(?P<step>\d+)\s*/\s*\d+\s*\|.*?"
            r"\belapsed[ _]time[ _]per[ _]iteration[ _]*\(?ms\)?\s*[:=]\s*" + _NUMBER
        ), _MILLI, "printed",
    ),
    StepKind(
        "nemo", "NeMo", ("global_step", "train_step_timing"),
        re.compile(
            r"\bglobal_step\s*[:=]\s*(?P<step>\d+(?:\.0*)?(?![\d.eE]))?.*?\btrain_step_timing in s\s*[:=]\s*" + _NUMBER
        ), 1.0, "printed",
    ),
    StepKind(
        "deepspeed", "DeepSpeed", ("steps:", "iter time (s):"),
        re.compile(r"\bsteps:\s*(?P<step>\d+)\s+loss:.*?\biter time \(s\):\s*" + _NUMBER), 1.0, "printed",
    ),
    StepKind(
        "torchtitan", "torchtitan", ("step:", "loss:", "tps:"),
        re.compile(r"\bstep:\s*(?P<step>\d+)\s.*?\bloss:.*?\btps:\s*(?P<tps>[\d,]+)"), 0.0, "stamps",
    ),
    StepKind(
        "lightning", "Lightning's progress bar", ("Epoch", "it"),
        re.compile(_BAR + r"[\d:?]+,\s*(?P<rate>\d+(?:\.\d+)?)(?P<unit>s/it|it/s)"),
        1.0, "smoothed",
    ),
)  # fmt: skip
"""Kinds of logs, in the order in which they win where lines are as many."""

BAR = re.compile(_BAR)
ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
STAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?")
LABEL = re.compile(r"\s*(?:\[(?:rank|default|Rank )?(\d{1,7})\]|\[\d+,(\d{1,7})\]<std|(\d{1,7}):\s)")
RESTART = re.compile(
    r"loaded checkpoint|[Rr]estor(?:ed|ing) (?:from|states? from)|[Rr]esuming (?:from|training)|Loading the checkpoint"
)
TIMER_HEAD = re.compile(r"(?P<what>\(min, max\) time|max time|times) across ranks \(ms\):")
TIMER_PAIR = re.compile(r"([A-Za-z][\w/+-]*) \.{2,}: \((\d+\.?\d*), (\d+\.?\d*)\)")
TIMER_MOST = re.compile(r"([A-Za-z][\w/+-]*) \.{2,}: (\d+\.?\d*)")
TIMER_NAME = re.compile(r"^\s+([A-Za-z][\w/+-]*):\s*$")
TIMER_RANK = re.compile(r"^\s+rank\s+(\d+): (\d+\.?\d*)\s*$")
TIMER_LINE = re.compile(r"\btime \(ms\) \|(.*)")
WORTH = re.compile(
    rb"elapsed|timing|iter time|tps:|s/it|it/s|across ranks|time \(ms\)|\.\.: |rank +\d+: |:\s*$|checkpoint|estor|esum"
)
"""Bytes of lines that may say something; of neighbours without them, one empty line stands for all."""
TIMER_PART = re.compile(r"([A-Za-z][\w/ +-]*?): (\d+\.?\d*)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its number, text without colours, launcher's label ("" where it has none)."""

    number: int
    text: str
    label: str


def lines(path: str, told: Callable[[str], None], keep: bool = False, most: int | None = None) -> Iterator[Line]:
    """The lines of a log that may say something, and an empty one where there are others between them.

    A carriage return ends a line, too, as progress bars have it. Lines that are too long are left out and told. ``keep``
    leaves a pipe's content for the next to open it; ``most``: bytes after which to end.
    """
    cut, silent = 0, False
    for number, raw in _raw(path, keep, most):
        cut += len(raw) > LONGEST and b"\r" not in raw
        if WORTH.search(raw):
            yield from _parts(raw, number)
            silent = False
        elif not silent:
            silent = True
            yield Line(number, "", "")
    if cut:
        told(f"{cut} line{'s' if cut > 1 else ''} longer than {LONGEST} bytes left out")


def _raw(path: str, keep: bool, most: int | None) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers, in bounded memory: what is too long is shortened, to one byte more than LONGEST."""
    rest, number, size = b"", 1, 0
    with opened(path, keep) as file:
        while (most is None or size < most) and (data := file.read(_PIECE)):
            size += len(data)
            *full, rest = (rest + data.replace(b"\r\n", b"\n")).split(b"\n")
            yield from enumerate(full, number)
            number += len(full)
            if len(rest) > LONGEST and b"\r" in rest:
                head, _, rest = rest.rpartition(b"\r")
                yield number, head
            elif len(rest) > LONGEST:
                rest = rest[: LONGEST + 1]
    yield number, rest


def _parts(raw: bytes, number: int) -> Iterator[Line]:
    for part in raw.split(b"\r") if b"\r" in raw else (raw,):
        if part and len(part) <= LONGEST:
            text = part.decode("utf-8", "replace")
            if "\x1b" in text:
                text = ANSI.sub("", text)
            found = LABEL.match(text)
            yield Line(number, text, (found[1] or found[2] or found[3]) if found else "")


def stamp_of(text: str) -> float:
    """Seconds since 1970 of the first time in a line, as if it were UTC; NaN: there is none."""
    found = STAMP.search(text[:160])
    if found is None:
        return float("nan")
    parts = [int(one) for one in found.groups()[:6]]
    try:
        whole = datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[misc, arg-type]
    except ValueError:
        return float("nan")
    return whole + float(f"0.{found[7] or 0}")


@dataclass(frozen=True, slots=True)
class Found:
    """A step by a line: its number (None: not exactly told), epoch and count of a bar (None: no bar), seconds (or NaN)."""

    kind: StepKind
    step: int | None
    bar: tuple[int, int] | None
    time: float


def steps(text: str) -> Iterator[Found]:
    """What kinds find in a line."""
    for kind in STEP_KINDS:
        if all(key in text for key in kind.keys):
            found = kind.pattern.search(text)
            if found is not None:
                yield Found(kind, _whole(found.groupdict().get("step")), _bar(text), _time(kind, found))


def _bar(text: str) -> tuple[int, int] | None:
    """Epoch and count of a progress bar in a line."""
    found = BAR.search(text) if "Epoch" in text else None
    count = None if found is None else _whole(found["bar"])
    return None if found is None or count is None else (int(found["epoch"]), count)


def _whole(text: str | None) -> int | None:
    """A number of steps; None: there is none, or one that no job comes to."""
    digits = (text or "").partition(".")[0]
    return int(digits) if digits and len(digits) < 19 and int(digits) < MOST_STEPS else None


def _time(kind: StepKind, found: re.Match[str]) -> float:
    if not kind.scale:
        return float("nan")
    if kind.basis == "smoothed":
        rate = float(found["rate"])
        return (rate if found["unit"] == "s/it" else 1 / rate) if rate else float("nan")
    return float(found["time"].replace(",", "")) * kind.scale
