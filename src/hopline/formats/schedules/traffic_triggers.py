"""Triggers of htsim's connection matrices: connections that begin when others are done.

What belongs here: which of them are waits of a schedule. In a schedule an operation waits for operations of its own rank, and
for all that it names; what begins at the first of several, or far from where something ended, is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hopline.formats.numbered import Line, quoted
from hopline.formats.schedules.traffic import Flows

KINDS = ("oneshot", "multishot", "barrier")


@dataclass(frozen=True, slots=True)
class Trigger:
    """``count``: of a barrier, how many it waits for."""

    number: int
    kind: str
    count: int

    @classmethod
    def of(cls, line: Line, words: list[str]) -> Trigger:
        """From the words of a line. Raises FormatError."""
        said: dict[str, int] = {}
        kinds: list[str] = []
        values = iter(words[1:])
        for word in values:
            if word in KINDS:
                kinds.append(word)
            elif word in ("id", "count") and word not in said:
                said[word] = line.integer(next(values, ""), word, 1)
            else:
                raise line.wrong(f"{quoted(word)}: expected id, count, or one of {', '.join(KINDS)}, each once")
        if "id" not in said or len(kinds) != 1:
            raise line.wrong(f"expected 'trigger id 1 oneshot', and one of {', '.join(KINDS)}")
        return cls(said["id"], kinds[0], said.get("count", 1))


@dataclass(slots=True)
class Triggers:
    """Triggers so far; which flows begin by each, and which flows set it off, sent (False) or received (True)."""

    known: dict[int, Trigger] = field(default_factory=dict)
    started: dict[int, int] = field(default_factory=dict)
    """Flow -> trigger."""
    fed: dict[int, list[tuple[int, bool]]] = field(default_factory=dict)

    def note(self, flow: int, said: Mapping[str, int]) -> None:
        """What a connection says of triggers."""
        if "trigger" in said:
            self.started[flow] = said["trigger"]
        for word, received in (("send_done_trigger", False), ("recv_done_trigger", True)):
            if word in said:
                self.fed.setdefault(said[word], []).append((flow, received))

    def add(self, line: Line, trigger: Trigger) -> None:
        """One more. Raises FormatError where its number is taken."""
        if trigger.number in self.known:
            raise line.wrong(f"trigger {trigger.number} stands here a second time: expected each once")
        self.known[trigger.number] = trigger

    def waits(self, flows: Flows) -> tuple[list[tuple[int, int, bool]], str]:
        """Waits as Flows has them, and why they cannot be had; empty: they can."""
        out: list[tuple[int, int, bool]] = []
        for flow, number in self.started.items():
            trigger, feeds = self.known.get(number), self.fed.get(number, [])
            if trigger is None or not feeds:
                return (
                    [],
                    f"a connection waits for trigger {number}, which {'nothing sets off' if trigger else 'is not there'}",
                )
            needed = trigger.count if trigger.kind == "barrier" else 1
            if needed != len(feeds):
                return [], (
                    f"trigger {number} ({trigger.kind}) fires after {needed} of the {len(feeds)} connections that set it off: "
                    "a schedule waits for all that it names"
                )
            for other, received in feeds:
                if flows.source[flow] != (flows.target if received else flows.source)[other]:
                    return [], (
                        f"trigger {number} begins a connection at node {flows.source[flow]} when one is done at another node: "
                        "in a schedule only a message carries that"
                    )
                out.append((flow, other, received))
        return out, ""
