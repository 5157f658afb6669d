"""A row of ucx_perftest, and the message size that its printed numbers leave possible.

What belongs here: arithmetic on printed digits. Bandwidth times time per message is the size; each is known to half a unit
of its last digit, so the size is an interval, in which the roundest number is taken.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hopline.formats.drafts import MIBS, US, numbers
from hopline.formats.words import half
from hopline.quantity import show
from hopline.records.table import Floats

WORDS, FEWER_WORDS = 8, 4
"""Numbers of a row: of one thread, and of the final row of several."""


@dataclass(frozen=True, slots=True)
class Printed:
    """Numbers of a row as printed: usec, MB/s of 2^20, messages a second; nan where the row has none."""

    NAMES: ClassVar[tuple[str, ...]] = (
        "time", "iterations", "time_p50", "time_overall", "bandwidth", "bandwidth_overall", "message_rate",
    )  # fmt: skip

    line: int
    text: bytes
    time: float
    iterations: float
    percentile: float
    overall: float
    bandwidth: float
    bandwidth_overall: float
    rate: float
    sizes: tuple[float, float]
    """Least and most bytes of a message that the printed digits allow."""

    @classmethod
    def of(cls, words: list[bytes], line: int, final: bool) -> Printed | None:
        """A row from its words; None when they are not as many numbers as a row has."""
        plain_words = [word.replace(b",", b"") for word in words]
        found = numbers(plain_words)
        if len(found) not in (WORDS, FEWER_WORDS) or not all(map(math.isfinite, found)):
            return None
        if len(found) == FEWER_WORDS:
            iterations, time, bandwidth, rate = found
            return cls(line, b" ".join(words), time, iterations, math.nan, time, bandwidth, bandwidth, rate,
                       sizes_of(time, plain_words[1], bandwidth, plain_words[2]))  # fmt: skip
        iterations, percentile, average, overall, bandwidth, bandwidth_overall, rate, rate_overall = found
        sizes = sizes_of(average, plain_words[2], bandwidth, plain_words[4])
        if final:
            average, bandwidth, rate = overall, bandwidth_overall, rate_overall
            sizes = sizes_of(overall, plain_words[3], bandwidth, plain_words[5])
        return cls(line, b" ".join(words), average, iterations, percentile, overall, bandwidth,
                   bandwidth_overall, rate, sizes)  # fmt: skip

    def values(self) -> tuple[float, ...]:
        """The numbers in SI, in the order of NAMES."""
        return (self.time * US, self.iterations, self.percentile * US, self.overall * US, self.bandwidth * MIBS,
                self.bandwidth_overall * MIBS, self.rate)  # fmt: skip


def sizes_of(time: float, time_text: bytes, bandwidth: float, bandwidth_text: bytes) -> tuple[float, float]:
    """Least and most bytes of a message."""
    low = max(time - half(time_text), 0) * US * max(bandwidth - half(bandwidth_text), 0) * MIBS
    high = (time + half(time_text)) * US * (bandwidth + half(bandwidth_text)) * MIBS
    return low * (1 - 1e-9), high * (1 + 1e-9)


def common(rows: Sequence[Printed]) -> float:
    """The roundest size that fits all rows; nan where none does, or where the digits say nothing."""
    low, high = max(row.sizes[0] for row in rows), min(row.sizes[1] for row in rows)
    if not (low > 0 and math.isfinite(high) and high < 2.0**62) or math.floor(high) < math.ceil(low):
        return math.nan
    return float(roundest(math.ceil(low), math.floor(high)))


def roundest(low: int, high: int) -> int:
    """The whole number of ``low`` to ``high`` that ends in most binary zeros, or in more decimal ones.

    >>> roundest(1073741500, 1073742200), roundest(9999900, 10000090), roundest(7, 7)
    (1073741824, 10000000, 7)
    """
    low = max(low, 1)
    if high <= low:
        return low
    binary = next(value for power in range(62, -1, -1) if (value := high >> power << power) >= low)
    decimal = next(value for power in range(18, -1, -1) if (value := high // 10**power * 10**power) >= low)
    digits = len(str(decimal).rstrip("0"))
    return decimal if digits < len(bin(binary).rstrip("0")) - 2 and digits <= 2 else binary


def stated_by(size: Floats, time: Floats, bandwidth: Floats, groups: int) -> str:
    """The note on sizes that nothing in the log states."""
    spread = float(np.max(np.abs(time * bandwidth / size - 1)))
    if groups == 1 and np.all(size == size[0]):
        return (
            f"message size not stated: {show(size[0], 'size')} from bandwidth x time per message (within {spread:.1g})"
        )
    return f"message sizes not stated: taken from bandwidth x time per message (within {spread:.1g})"
