"""Read the flow files of HPCC's ns-3: a count, then ``src dst pg dport size start`` (s), one line a flow.

What belongs here: its columns. Sources and targets are numbers of nodes of its topology, in which switches count too. Read as
HPCC does (alibaba-edu/High-Precision-Congestion-Control, ``third.cc``): so many flows as the first line says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from hopline.errors import FormatError
from hopline.formats.numbered import Line, numbered, quoted
from hopline.formats.schedules.contents import Fact
from hopline.formats.schedules.traffic import MOST_RANKS, Flows, TrafficPlan, contents
from hopline.formats.source import shown
from hopline.quantity import counted

WORDS = ("src", "dst", "pg", "dport", "size", "start")
SECOND = 10**12
"""In picoseconds."""
_SHAPED = re.compile(r"\s*(\d+)\s+(\d+)\s+\d+\s+\d+\s+(\d+)\s+\d+(?:\.\d*)?\s*$", re.ASCII)


def read(path: str) -> TrafficPlan:
    """The plan of the flow file at ``path``. Raises FormatError."""
    lines = (line for line in numbered(path) if line.text.strip())
    first = next(lines, None)
    if first is None:
        raise FormatError(f"{shown(path)} has no line: expected the number of flows")
    count, flows, classes, begins = first.integer(first.text.strip(), "the number of flows", 1), Flows(), set[int](), ""
    for line in lines:
        words = line.text.split()
        priority = _flow(line, words, flows)
        classes.add(priority)
        begins = begins or "{}->{} pg{} dport{} size{} start{}s".format(*words)
        if len(flows) == count:
            break
    if len(flows) < count:
        raise FormatError(f"{shown(path)} says {count} flows, and ends after {len(flows)}: expected all (is it cut?)")
    shaped, more, others = _after(lines)
    facts: dict[str, Fact] = {
        "count_header": count, "flows_read": count, "flow_shaped_rows_in_file": count + shaped,
        "total_bytes_of_flows": flows.bytes(), "total_bytes_of_all_shaped_rows": flows.bytes() + more, "first": begins,
    }  # fmt: skip
    remarks = _remarks(flows, classes, count, shaped + others, shaped)
    return TrafficPlan(path, contents("ns3-flow", path, flows.highest + 1, flows, facts, remarks), flows)


def _flow(line: Line, words: list[str], flows: Flows) -> int:
    """Add the flow of a line; its priority group."""
    if len(words) != len(WORDS):
        raise line.wrong(f"{quoted(line.text)} is no flow: expected {' '.join(WORDS)} (is the count right?)")
    ends = [line.integer(word, name, 0, MOST_RANKS - 1) for word, name in zip(words[:2], WORDS, strict=False)]
    priority = line.integer(words[2], "pg", 0, 7)
    line.integer(words[3], "dport", 0, 65535)
    size = line.integer(words[4], "size", 1)
    line.decimal(words[5], "start")
    flows.add(line, ends[0], ends[1], size, round(Fraction(words[5]) * SECOND))
    return priority


def _after(lines: Iterator[Line]) -> tuple[int, int, int]:
    """Lines after the last flow: those that look like flows, the bytes of these, and other lines."""
    shaped = size = others = 0
    for line in lines:
        found = _SHAPED.match(line.text)
        shaped += found is not None
        size += int(found[3]) if found else 0
        others += found is None
    return shaped, size, others


def _remarks(flows: Flows, classes: set[int], count: int, rest: int, shaped: int) -> list[str]:
    out = ["ranks are numbers of nodes in its topology file, where switches have numbers too"]
    if rest:
        out.append(
            f"{counted(rest, 'line')} after the {count} flows that the first line says ({shaped} like flows): left out, "
            "as HPCC does"
        )
    if len(classes) > 1:
        out.append(f"{len(classes)} priority groups (pg): all flows are alike here")
    if any(later < earlier for earlier, later in pairwise(flows.start)):
        out.append("starts do not ascend: HPCC asks for that, and begins such flows late")
    return out
