"""``hopline schedule`` as it is typed."""

import json

import pytest
from typed import hopline

from hopline.schedule.collectives.table import COLLECTIVES

CROSSED = """num_ranks 2
rank 0 {
a: send 8b to 1 tag 0
b: recv 8b from 1 tag 0
b requires a
}
rank 1 {
a: send 8b to 0 tag 0
b: recv 8b from 0 tag 0
b requires a
}
"""
"""Both ranks send, then receive (github.com/NVIDIA/nccl/issues/479)."""
GROUPED = CROSSED.replace("b requires a\n", "")


def answer(capsys, *arguments):
    code, out, err = hopline(capsys, "schedule", *arguments, "--json")
    assert err == ""
    return code, json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_all_entries_are_listed_with_what_they_heed(capsys):
    code, out, _ = hopline(capsys, "schedule", "list")
    assert code == 0
    for entry in COLLECTIVES.values():
        line = next(line for line in out.splitlines() if line.split()[:1] == [entry.name])
        assert entry.about in line
        assert ("--chunks" in line) == ("chunks" in entry.uses)
    _, data = answer(capsys, "list")
    assert [entry["name"] for entry in data] == list(COLLECTIVES)


def test_operations_are_shown_in_words(capsys):
    code, out, _ = hopline(capsys, "schedule", "show", "allreduce-ring", "-n", "3", "--size", "7B", "--rank", "0")
    assert code == 0
    assert "all_reduce-ring, 3 ranks" in out
    assert "send data[5:7] to 1" in out
    assert "reduce scratch[3:5] into data[3:5]" in out
    assert "rank 1" not in out


def test_what_is_right_is_proved(capsys):
    code, out, _ = hopline(capsys, "schedule", "check", "all_reduce-rabenseifner", "-n", "12", "--size", "1000003B")
    assert code == 0
    assert "all_reduce-rabenseifner is right." in out
    assert "every rank ends with exactly what the collective promises" in out
    code, data = answer(capsys, "check", "reduce_scatter-ring", "-n", "5", "--size", "3B")
    assert (code, data["right"], data["faults"], data["messages"]) == (0, True, [], 20)


def test_the_order_of_send_and_receive_can_deadlock(capsys, tmp_path):
    """Case 19: as separate calls each send waits for a receive that stands behind the other's send."""
    crossed, grouped = tmp_path / "crossed.goal", tmp_path / "grouped.goal"
    crossed.write_text(CROSSED)
    grouped.write_text(GROUPED)
    code, out, _ = hopline(capsys, "schedule", "check", crossed)
    assert code == 1
    assert "finishes only where sends are buffered" in out
    cycle = next(line for line in out.splitlines() if line.strip().startswith("blocks:"))
    assert "rank 0" in cycle
    assert "rank 1" in cycle
    code, out, _ = hopline(capsys, "schedule", "check", grouped)
    assert code == 0
    assert "finishes whether sends block or are buffered" in out


@pytest.mark.parametrize("suffix", ["goal", "xml"])
def test_what_is_written_is_read_again(capsys, tmp_path, suffix):
    file = tmp_path / f"ring.{suffix}"
    code, out, _ = hopline(capsys, "schedule", "write", "all_reduce-ring", "-n", "4", "--size", "64B", "--to", file)
    assert code == 0
    assert str(file) in out
    size = ["--size", "64B"] if suffix == "xml" else []
    code, data = answer(capsys, "check", file, *size)
    assert (code, data["faults"], data["messages"], data["ranks"]) == (0, [], 24, 4)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["check", "all_reduce"], "several algorithms"),
        (["check", "all_reduce-rng", "-n", "4", "--size", "1KiB"], "all_reduce-ring"),
        (["check", "all_reduce-ring", "--size", "1KiB"], "needs -n"),
        (["check", "all_reduce-ring", "-n", "4"], "needs --size"),
        (["check", "all_reduce-ring", "-n", "4", "--size", "1KiB", "--chunks", "3"], "--chunks means nothing"),
        (["check", "all_reduce-ring", "-n", "4", "--size", "1.5 B"], "whole number"),
        (["check", "all_reduce-ring", "-n", "200000", "--size", "1MiB"], "operations"),
        (["check", "no-such-file.goal"], "no-such-file.goal"),
        (["show", "all_reduce-ring", "-n", "0", "--size", "1KiB"], "0"),
        (["write", "all_reduce-ring", "-n", "2", "--size", "1KiB", "--to", "ring.txt"], ".goal"),
        (["check", "all_reduce-hierarchical", "-n", "8", "--size", "1KiB", "--hierarchy", "3,2"], "holds 6 ranks"),
        (["check", "all_reduce-hierarchical", "-n", "8", "--size", "1KiB", "--hierarchy", "a,2"], "--hierarchy"),
    ],
)
def test_refused_in_one_line(capsys, arguments, told):
    code, out, err = hopline(capsys, "schedule", *arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert told in err
