"""Headroom against frames that are sent one by one, the standard's sums, and thresholds against trying every count."""

from __future__ import annotations

import pytest

from hopline.errors import InputError
from hopline.jobs import headroom as jobs
from hopline.model.headroom import Line, headroom, in_bit_times, longest_cable, reserve, together, vendors


def arrives(line, phase_back, phase_forward):
    """Bytes that come after the threshold: frames back to back, each pause obeyed between two of them.

    ``phase_back`` of a frame backwards is still to go, and a frame forward ends ``phase_forward`` of itself after the stop.
    """
    back = line.frame if line.reverse is None else line.reverse
    obeyed = (phase_back * back + 64) / line.rate + line.propagation + line.response
    last = obeyed + phase_forward * line.frame / line.rate
    return (last + line.propagation) * line.rate


LINES = [
    Line(12.5e9, 100, 1500),
    Line(50e9, 10, 4200, 1e-6),
    Line(12.5e9, 40, 4200, 5e-7, 9216),
    Line(1.25e9, 0, 64),
]


@pytest.mark.parametrize("line", LINES)
def test_no_phase_of_frames_brings_more_and_the_worst_brings_it(line):
    phases = [n / 50 for n in range(51)]
    most = max(arrives(line, back, forward) for back in phases for forward in phases)
    assert most == pytest.approx(headroom(line).total, rel=1e-12)
    assert headroom(line).loop == pytest.approx(headroom(line).total / line.rate)
    assert sum(term.size for term in headroom(line).terms) == pytest.approx(headroom(line).total)


@pytest.mark.parametrize("line", LINES)
def test_the_longest_cable_needs_what_is_there(line):
    room = headroom(line).total
    assert longest_cable(line, room) == pytest.approx(line.metres)
    assert longest_cable(line, room - 2 * line.rate * line.propagation - 1) is None


@pytest.mark.parametrize(("gigabits", "kilobytes"), [(10, 18.8), (25, 21.4), (40, 30.3), (100, 80.1)])
def test_the_sum_of_the_standards_bit_times(gigabits, kilobytes):
    found = in_bit_times(Line(gigabits / 8 * 1e9, 100, 9216))
    assert found.total / 1e3 == pytest.approx(kilobytes, abs=0.05)
    assert in_bit_times(Line(50e9, 100, 9216)) is None


def test_cisco_counts_as_many_bytes_in_a_hundred_metres():
    for medium, size in (("copper", 595), ("fibre", 641)):
        line = jobs.line(10e9 / 8, 100, 1500, medium=medium)
        assert headroom(line).cable / 2 == pytest.approx(size, abs=0.5)


def test_what_vendors_set_aside_is_read_between_their_lengths():
    def at(metres, rate=12.5e9):
        return next((size for size, _ in vendors(Line(rate, metres, 1500)).values()), None)

    assert (at(5), at(40), at(300)) == (165_568, 177_632, 268_736)
    assert [round(slope) for m in (6, 41) for _, slope in vendors(Line(12.5e9, m, 1500)).values()] == [345, 350]
    assert at(4) is None
    assert at(40, 50e9) is None


def test_classes_share_the_wire_and_not_the_need():
    assert reserve(15_564, 32, 2) == 996_096
    assert together(15_564, 2) == 15_628
    with pytest.raises(InputError, match="expected at least 1"):
        reserve(1, 0, 1)


def test_gaps_add_to_every_frame():
    assert headroom(jobs.line(12.5e9, 100, 1500, gaps=True)).total == 15_564 + 3 * 20


def test_what_is_set_is_held_against_the_need():
    line = jobs.line(12.5e9, 100, 1500)
    assert jobs.needed(line, 15_564).faults == ()
    short = jobs.needed(line, 15_563)
    assert [fault.name for fault in short.faults] == ["Cable too long for the headroom"]
    assert short.longest == pytest.approx(99.992)
    assert jobs.needed(line, 3063).faults[0].remedy == "at least 3,064 B, without a cable"
    whole = jobs.needed(line, told=(34_000.0, 18_432.0, 15_564.0))
    assert [fault.name for fault in whole.faults] == ["Size is not xon + xoff"]
    assert jobs.needed(line, told=(1_248.0, 2_288.0, 15_564.0)).faults == ()


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (jobs.length, "40m", 40.0),
        (jobs.length, "2 km", 2000.0),
        (jobs.ratio, "1/8", 0.125),
        (jobs.ratio, "2^-3", 0.125),
        (jobs.ratio, "0.5", 0.5),
        (jobs.profile, "size=54272,xon=18432,xoff=35840", (54_272.0, 18_432.0, 35_840.0)),
        (jobs.profile, "xon=18KiB,xoff=35KiB,size=53KiB", (54_272.0, 18_432.0, 35_840.0)),
    ],
)
def test_texts_are_read(read, text, value):
    assert read(text) == value


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (jobs.length, "40", "expected a number and m or km"),
        (jobs.length, "-4m", "not a length"),
        (jobs.ratio, "1/0", "no factor"),
        (jobs.ratio, "0", "above 0"),
        (jobs.profile, "size=1,xon=2", "lacks a part"),
        (jobs.profile, "size=1,xof=2", "did you mean 'xoff'"),
        (lambda text: jobs.line(1e9, 1, 64, medium=text), "glass", "unknown medium"),
        (lambda text: jobs.line(1e9, -1, 64), "", "metres"),
        (lambda text: jobs.ecn(text, 50e9), "hpcc", "hpcc has no ECN setting for 400 Gb/s: it has 25 Gb/s"),
        (lambda text: jobs.ecn(text, 50e9), "nobody", "unknown ECN setting"),
    ],
)
def test_bad_texts_are_named(read, text, said):
    with pytest.raises(Exception, match=said):
        read(text)
