"""What the ranks' lines become."""

from __future__ import annotations

import json

import pytest

from hopline.errors import DataMismatchError, RunError
from hopline.records.sample import Sample
from hopline.run.ends import Cell
from hopline.run.kinds import kinds_of
from hopline.run.mpi import Progress, Started, events_of, parse, places, stages
from hopline.run.plan import Plan

CELLS = [Cell("latency", 0, (0, 1)), Cell("latency", 8, (0, 1)), Cell("pair-bw", 64, (1, 0), 4)]
START = {"event": "start", "hosts": ["n1", "n1"], "crowded": []}
TURN = {"event": "turn", "cell": 1, "repeats": 3, "batch": 64, "turn": 1, "turns": 6, "used": 0.25}
SAMPLE = {
    "event": "sample",
    "cell": 1,
    "batch": 64,
    "started": "2026-01-02T03:04:05+00:00",
    "clock": 1e-10,
    "times": [1e-6],
}


class FakeRanks:
    """Says what it is given; ``code`` is mpirun's."""

    def __init__(self, *lines, code=0):
        self.said = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        self.code = code

    def lines(self):
        """What was said."""
        yield from self.said

    def finish(self):
        """Fail with the code, if any."""
        if self.code:
            raise RunError(f"the ranks failed (mpirun exit code {self.code})")


def test_lines_become_progress_and_samples():
    started, progress, sample = events_of(FakeRanks(START, TURN, "a note of the library", "", SAMPLE), CELLS)
    assert started == Started(("n1", "n1"))
    assert progress == Progress(size=8, repeats=3, batch=64, turn=1, turns=6, used=0.25, kind="latency", ranks=(0, 1))
    assert sample == Sample("latency", "mpi", "n1", 2, 8, (1e-6,), 1e-10, "2026-01-02T03:04:05+00:00")


@pytest.mark.parametrize(
    ("lines", "code", "error", "message"),
    [
        ((START, {"event": "mismatch", "message": "rank 1 ..."}), 0, DataMismatchError, r"^rank 1 \.\.\.$"),
        ((START, {"event": "failure", "message": "rank 0: boom"}), 1, RunError, "^the ranks failed: rank 0: boom$"),
        ((START, TURN), 137, RunError, "exit code 137"),
        ((), 0, RunError, "without a word"),
        ((START, '{"event": "turn", "si'), 0, RunError, "garbled"),
        ((START, {"event": "turn", "cell": 1}), 0, RunError, "'turn' event has no 'repeats'"),
        ((SAMPLE,), 0, RunError, "before they said where they are"),
        ((START, {**SAMPLE, "times": []}), 0, RunError, "a sample that is none"),
        ((START, {**SAMPLE, "times": 3}), 0, RunError, "a sample that is none"),
        ((START, {**SAMPLE, "times": ["x"]}), 0, RunError, "a sample that is none"),
    ],
)
def test_what_is_wrong_is_one_line(lines, code, error, message):
    with pytest.raises(error, match=message) as caught:
        list(events_of(FakeRanks(*lines, code=code), CELLS))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("line", ["", "hello", '["event"]', "{}", '{"other": 1}'])
def test_other_lines_are_no_events(line):
    assert parse(line) == {}


def test_pairs_and_crowds_come_with_their_hosts():
    start = {"event": "start", "hosts": ["a", "b"], "crowded": [["a", 2, 1]]}
    started, sample = events_of(FakeRanks(start, {**SAMPLE, "cell": 2}), CELLS)
    assert started.crowded == (("a", 2, 1),)
    assert (sample.benchmark, sample.pair, sample.hosts, sample.window) == ("bw", (1, 0), ("b", "a"), 4)


def test_ranks_that_nobody_needs_are_not_started():
    plan = Plan(kinds=kinds_of(["all"]), sizes=(8, 64), seconds=10, ranks=6)
    few, many = stages(plan)
    assert (few.ranks, few.kinds) == (2, ("latency", "bw", "bibw", "copy", "reduce"))
    assert (many.ranks, many.kinds) == (6, ("mbw", "barrier", "pair-latency", "pair-bw"))
    assert few.seconds + many.seconds == pytest.approx(10)
    assert few.seconds < many.seconds
    assert [stage.ranks for stage in stages(Plan())] == [2]
    assert {len(place.hosts) for place in places(plan).values()} == {2, 6}
