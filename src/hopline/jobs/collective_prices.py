"""What a collective costs on a network by its fastest algorithm, as start-ups and bytes.

What belongs here: prices from closed forms, once for each size.
"""

from __future__ import annotations

import math

from hopline.errors import HoplineError, UnknownNameError
from hopline.jobs.collectives import names
from hopline.jobs.collectives.ground import Ground, prices
from hopline.jobs.collectives.pricing import Contender, contenders, fastest
from hopline.jobs.networks import Network
from hopline.jobs.step_parts import Price
from hopline.quantity import counted, show
from hopline.records.contest import Timed


class Pricing:
    """Prices of one collective on one network. Raises what naming and pricing raise."""

    def __init__(self, network: Network, operation: str, algorithm: str | None = None) -> None:
        self.network, self.asked = network, names.asked(operation, algorithm)
        self._ground = Ground.of(network)
        self._contenders: list[Contender] = []
        self._found: dict[int, tuple[Timed, float]] = {}

    @property
    def rises(self) -> bool:
        """Whether more bytes never cost less."""
        return self._ground.rises

    def best(self, size: float) -> Timed:
        """The fastest algorithm, or the one that was asked for, at ``size`` bytes (a part of one is a whole one)."""
        return self._best(size)[0]

    def sent(self, size: float) -> float:
        """The most bytes that one rank sends by it."""
        return self._best(size)[1]

    def _best(self, size: float) -> tuple[Timed, float]:
        whole = math.ceil(size)
        if whole not in self._found:
            first = fastest(self._taking(whole), whole)[0]
            self._found[whole] = first.at(whole), first.form(whole, first.number(whole)).sent
        return self._found[whole]

    def _taking(self, size: int) -> list[Contender]:
        """Those that can be asked for ``size``: which the network allows is found once."""
        if not self._contenders:
            self._contenders = self._asked(size)
        return [one for one in self._contenders if _fits(one, size)] or self._asked(size)

    def _asked(self, size: int) -> list[Contender]:
        taking, left = contenders(self.asked.benchmark, self._ground, [size])
        if not self.asked.algorithm:
            return taking
        known = [one.entry.algorithm for one in taking]
        if self.asked.algorithm not in known:
            reason = next((out.reason for out in left if out.algorithm == self.asked.algorithm), "of this collective")
            raise UnknownNameError(f"algorithm ({reason})", self.asked.algorithm, known)
        return [one for one in taking if one.entry.algorithm == self.asked.algorithm]

    def price(self, size: float) -> Price:
        """Seconds of one."""
        estimate = self.best(size).estimate
        start = math.fsum(term.value for term in estimate.terms if term.name.startswith("start-ups"))
        moved = math.fsum(term.value for term in estimate.terms if term.name.startswith("bytes"))
        return Price(start, moved, max(0.0, estimate.value - start - moved), estimate.low)

    def words(self, size: float) -> str:
        """What it goes over, and by which algorithm all of ``size`` would."""
        best = self.best(size)
        one = f"{self.asked.benchmark} of {show(size, 'size')} on {counted(self.network.ranks, 'rank')}"
        one += f" takes {show(best.time, 'time')} by {best.algorithm}"
        if best.least < best.time:
            one += f" at most, {show(best.least, 'time')} at least (its closed form is one of bounds; the upper one counts)"
        one += f" ({prices(self._ground)})" if prices(self._ground) else ""
        return one if self.asked.algorithm else f"{one}; each bucket takes its fastest"


def _fits(contender: Contender, size: int) -> bool:
    try:
        contender.at(size)
    except HoplineError:
        return False
    return True
