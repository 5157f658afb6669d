"""Known cases with their answers, in a JSON file: reading it, working each case out, telling what differs.

What belongs here: the file's form and the verdict. A file that is no vector file is refused in one line; a case that
cannot be worked out is a failed case and says why; one of a kind that KINDS does not hold is told apart from a failure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from hopline.errors import FormatError, HoplineError, InputError, UnknownNameError
from hopline.formats.lines import shown
from hopline.jobs.verify.compare import Difference, Tolerance, differences
from hopline.jobs.verify.kinds import KINDS

Status = Literal["passed", "failed", "unknown kind"]
_Name = Annotated[str, msgspec.Meta(min_length=1)]
_NotNegative = Annotated[float, msgspec.Meta(ge=0)]
_Expected = Annotated[dict[str, Any], msgspec.Meta(min_length=1)]


class _Tolerance(msgspec.Struct):
    rel: _NotNegative
    abs: _NotNegative


class _Case(msgspec.Struct):
    id: _Name
    kind: _Name
    inputs: Any
    expected: _Expected
    tolerance: _Tolerance


class _File(msgspec.Struct):
    cases: Annotated[list[_Case], msgspec.Meta(min_length=1)]


@dataclass(frozen=True, slots=True)
class Case:
    """A question with its answer. ``inputs`` are as the file has them: a run shows whether they can be used."""

    id: str
    kind: str
    inputs: Any
    expected: dict[str, Any]
    tolerance: Tolerance


@dataclass(frozen=True, slots=True)
class CaseResult:
    """How a case came out; a failed one has differences, or a ``reason`` why it could not be worked out."""

    id: str
    kind: str
    status: Status
    differences: tuple[Difference, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """The results of all cases that were asked for, in the file's order."""

    results: tuple[CaseResult, ...]

    def count(self, status: Status) -> int:
        """How many cases came out as ``status``."""
        return sum(result.status == status for result in self.results)

    @property
    def failed(self) -> tuple[CaseResult, ...]:
        """The failed cases."""
        return tuple(result for result in self.results if result.status == "failed")

    @property
    def unknown_kinds(self) -> dict[str, int]:
        """Kinds that hopline cannot work out, the most frequent first, with their number of cases."""
        return dict(Counter(r.kind for r in self.results if r.status == "unknown kind").most_common())

    @property
    def exit_code(self) -> int:
        """1 when a case failed, else 3 when a kind is unknown, else 0."""
        return 1 if self.failed else 3 if self.unknown_kinds else 0


def verify_file(path: str, kind: str = "*") -> Verification:
    """Work out the cases of the file at ``path`` whose kind matches the glob ``kind``.

    Raises FormatError for what is no vector file, and UnknownNameError, listing its kinds, when none of them matches.
    """
    cases = load(path)
    chosen = [case for case in cases if fnmatchcase(case.kind, kind)]
    if not chosen:
        raise UnknownNameError("kind", kind, {case.kind for case in cases})
    return run_cases(chosen)


def load(path: str) -> tuple[Case, ...]:
    """The cases of the file at ``path``. Raises FormatError, in one line, for what is no vector file."""
    data = _read(path)
    try:
        file = msgspec.json.decode(data, type=_File)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise FormatError(f"{shown(path)} is not a vector file: {_one_line(str(error))}") from None
    tolerances = [Tolerance(case.tolerance.rel, case.tolerance.abs) for case in file.cases]
    return tuple(Case(c.id, c.kind, c.inputs, c.expected, t) for c, t in zip(file.cases, tolerances, strict=True))


_LARGEST_FILE = 256 << 20


def _read(path: str) -> bytes:
    try:
        size = Path(path).stat().st_size
        if size > _LARGEST_FILE:
            raise FormatError(f"{shown(path)} has {size} bytes: expected a vector file of at most {_LARGEST_FILE}")
        data = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(f"{shown(path)} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise FormatError(f"{shown(path)} cannot be read: {error}") from None
    data = data.removeprefix(b"\xef\xbb\xbf")
    if not data.strip():
        raise FormatError(f"{shown(path)} is empty: expected JSON with a list of cases")
    return data


def _one_line(text: str) -> str:
    return " ".join(text.split())


def run_case(case: Case) -> CaseResult:
    """Work out one case; whatever is wrong with its inputs becomes its reason to fail."""
    if case.kind not in KINDS:
        return CaseResult(case.id, case.kind, "unknown kind")
    try:
        found = differences(case.expected, _outputs(case), case.tolerance)
    except (HoplineError, ArithmeticError, MemoryError) as error:
        return CaseResult(case.id, case.kind, "failed", reason=_one_line(str(error)) or type(error).__name__)
    return CaseResult(case.id, case.kind, "failed" if found else "passed", found)


def _outputs(case: Case) -> dict[str, Any]:
    """The case's outputs; numbers that leave the range of floats raise an ArithmeticError instead of a warning."""
    if not isinstance(case.inputs, dict):
        raise InputError("the inputs are not an object with names")
    with np.errstate(all="raise", under="ignore"):
        return KINDS[case.kind](case.inputs)


def run_cases(cases: Sequence[Case]) -> Verification:
    """Work out ``cases`` in order."""
    return Verification(tuple(map(run_case, cases)))
