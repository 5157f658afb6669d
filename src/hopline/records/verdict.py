"""Verdicts: a measured time held against what it should be, size by size.

What belongs here: the verdict and its reason. Reaching it is ``study/verdicts``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["pass", "fail", "unknown"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One size of one table.

    Attributes
    ----------
    size, time
        Bytes, and the measured seconds.
    outcome, reason
        ``unknown`` where nothing is there to hold it against; the reason in a line, "" for a plain pass.
    expected, limit
        The expected seconds and the most that pass; None where unknown.
    least
        The least seconds that the stated machine allows any algorithm; None where the machine does not say.
    """

    size: float
    time: float
    outcome: Outcome
    reason: str = ""
    expected: float | None = None
    limit: float | None = None
    least: float | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """One table of a log: a verdict for each size, and what is wrong with the table as a whole.

    ``basis`` says what it was held against; ``hint`` what the failures look like together.
    """

    title: str
    line: int
    basis: str
    verdicts: tuple[Verdict, ...]
    faults: tuple[str, ...] = ()
    hint: str = ""
    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Fail where anything fails, unknown where nothing could be told."""
        outcomes = {verdict.outcome for verdict in self.verdicts}
        if self.faults or "fail" in outcomes:
            return "fail"
        return "pass" if "pass" in outcomes else "unknown"
