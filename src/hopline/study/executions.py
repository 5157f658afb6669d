"""What an execution trace says without being run: bytes sent by op, and the longest chain of dependencies.

What belongs here: sums over calls, and the longest way by durations through data dependencies (which are those that Chakra's
own feeder follows). Control dependencies of converted traces name the enclosing operator, often the node itself.
"""

from __future__ import annotations

import numpy as np

from hopline.records.execution import Chain, Execution, ExecutionReport, Sent


def report(execution: Execution) -> ExecutionReport:
    """What is sent, and the longest chain."""
    known = np.isfinite(execution.duration)
    work = float(execution.duration[known].sum())
    chain, why = _chain(execution)
    return ExecutionReport(execution, _sent(execution), work, int(known.sum()), chain, why)


def _sent(execution: Execution) -> tuple[Sent, ...]:
    ops = dict.fromkeys(call.op for call in execution.calls)
    rows = []
    for op in ops:
        calls = [call for call in execution.calls if call.op == op]
        sizes = [call.size for call in calls if call.size is not None]
        time = sum(call.duration for call in calls if call.duration is not None)
        rows.append(Sent(op, len(calls), len(sizes), sum(sizes), time))
    return tuple(sorted(rows, key=lambda row: (-row.size, row.op)))


def _chain(execution: Execution) -> tuple[Chain | None, str]:
    if not np.isfinite(execution.duration).any():
        return None, "the trace has no durations"
    if not len(execution.data):
        return None, "no node depends on another one's data"
    weight = np.nan_to_num(execution.duration).tolist()
    order, after = _order(execution)
    if len(order) < len(execution):
        return None, f"{len(execution) - len(order)} nodes depend on one another in a circle"
    end = list(weight)
    before = [-1] * len(execution)
    for row in order:
        reach = end[row]
        for then in after[row]:
            if reach + weight[then] > end[then]:
                end[then], before[then] = reach + weight[then], row
    return _walk(execution, end, before), ""


def _order(execution: Execution) -> tuple[list[int], list[list[int]]]:
    """Nodes so that each stands behind what it depends on (Kahn's order), and what depends on each."""
    after: list[list[int]] = [[] for _ in range(len(execution))]
    left = np.bincount(execution.data[:, 0], minlength=len(execution)).tolist()
    for node, on in execution.data.tolist():
        after[on].append(node)
    order = [row for row, count in enumerate(left) if not count]
    for row in order:
        for then in after[row]:
            left[then] -= 1
            if not left[then]:
                order.append(then)
    return order, after


def _walk(execution: Execution, end: list[float], before: list[int]) -> Chain:
    row = max(range(len(end)), key=end.__getitem__)
    way = [row]
    while before[way[-1]] >= 0:
        way.append(before[way[-1]])
    way.reverse()
    talks = {at for call in execution.calls for at in call.rows}
    time = execution.duration[way]
    sends = np.array([at in talks for at in way])
    return Chain(
        tuple(way), float(np.nansum(time)), float(np.nansum(time[sends])), int(np.isnan(time).sum()),
    )  # fmt: skip
