"""What the ranks' lines become."""

from __future__ import annotations

import json

import pytest

from hopline.errors import DataMismatchError, RunError
from hopline.records.sample import Sample
from hopline.run.mpi import Progress, events_of, parse

START = {"event": "start", "host": "n1"}
TURN = {"event": "turn", "size": 8, "repeats": 3, "batch": 64, "turn": 1, "turns": 6, "used": 0.25}
SAMPLE = {
    "event": "sample",
    "size": 8,
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
    progress, sample = events_of(FakeRanks(START, TURN, "a note of the library", "", SAMPLE))
    assert progress == Progress(size=8, repeats=3, batch=64, turn=1, turns=6, used=0.25)
    assert sample == Sample("latency", "mpi", "n1", 2, 8, (1e-6,), 1e-10, "2026-01-02T03:04:05+00:00")


@pytest.mark.parametrize(
    ("lines", "code", "error", "message"),
    [
        ((START, {"event": "mismatch", "message": "rank 1 ..."}), 0, DataMismatchError, r"^rank 1 \.\.\.$"),
        ((START, {"event": "failure", "message": "rank 0: boom"}), 1, RunError, "^the ranks failed: rank 0: boom$"),
        ((START, TURN), 137, RunError, "exit code 137"),
        ((), 0, RunError, "without a word"),
        ((START, '{"event": "turn", "si'), 0, RunError, "garbled"),
        ((START, {"event": "turn", "size": 8}), 0, RunError, "'turn' event has no 'repeats'"),
        ((START, {**SAMPLE, "times": []}), 0, RunError, "a sample that is none"),
        ((START, {**SAMPLE, "times": 3}), 0, RunError, "a sample that is none"),
        ((START, {**SAMPLE, "times": ["x"]}), 0, RunError, "a sample that is none"),
    ],
)
def test_what_is_wrong_is_one_line(lines, code, error, message):
    with pytest.raises(error, match=message) as caught:
        list(events_of(FakeRanks(*lines, code=code)))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("line", ["", "hello", '["event"]', "{}", '{"other": 1}'])
def test_other_lines_are_no_events(line):
    assert parse(line) == {}
