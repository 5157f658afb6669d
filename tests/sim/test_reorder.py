"""Reordering against a receiver that is played packet by packet."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from hopline.errors import InputError
from hopline.sim.reorder import reorder


def played(packet, rate, delays, packets, pattern):
    """(most packets in hand, longest wait in s), with a set of what has arrived."""
    gap = Fraction(packet) / Fraction(str(rate))
    arrivals: dict[Fraction, list[int]] = {}
    for number in range(packets):
        at = number * gap + Fraction(repr(delays[pattern[number % len(pattern)]]))
        arrivals.setdefault(at, []).append(number)
    held, following, most, longest, since = set(), 0, 0, Fraction(0), {}
    for at in sorted(arrivals):
        for number in arrivals[at]:
            held.add(number)
            since[number] = at
        while following in held:
            held.remove(following)
            longest = max(longest, at - since[following])
            following += 1
        most = max(most, len(held))
    return most, float(longest)


@pytest.mark.parametrize("seed", range(60))
def test_a_receiver_played_packet_by_packet(seed):
    random = Random(seed)
    delays = [random.choice([1e-6, 2e-6, 3.5e-6, 7e-6, 1.1e-5]) for _ in range(random.randint(1, 5))]
    pattern = [random.randrange(len(delays)) for _ in range(random.randint(1, 6))]
    packet, rate, packets = random.choice([1000, 4096]), random.choice([1e9, 50e9]), random.randint(1, 200)
    found = reorder(packet, rate, delays, packets, pattern)
    most, longest = played(packet, rate, delays, packets, pattern)
    assert (found.packets, found.size, found.wait) == (most, most * packet, longest)
    assert found.size <= found.bound + packet
    assert found.fluid <= found.bound


def test_arrivals_of_one_instant_are_handled_together():
    """Packet 1 overtakes by exactly one gap: it arrives with packet 0 and is never in hand."""
    found = reorder(1000, 1e9, [2e-6, 1e-6], 2)
    assert (found.packets, found.wait) == (0, 0.0)
    assert reorder(1000, 1e9, [2.000001e-6, 1e-6], 2).packets == 1


def test_many_packets_reach_what_the_fluid_says():
    found = reorder(64, 50e9, [5e-6, 6e-6, 7e-6, 11e-6], 400_000)
    assert found.size == pytest.approx(found.fluid, rel=2e-3)


def test_ticks_that_do_not_fit_into_64_bits():
    found = reorder(4096, 50e9 / 3.3, [5.000000000000001e-6, 1.23456789012345e-05], 50)
    assert (found.packets, found.wait) == played(
        4096, 50e9 / 3.3, [5.000000000000001e-6, 1.23456789012345e-05], 50, [0, 1]
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0, 1e9, [1e-6], 1), "packets of 0 bytes"),
        ((1, 1e9, [], 1), "no path"),
        ((1, 1e9, [1e-6], 0), "0 packets"),
        ((1, 1e9, [1e-6], 1, [1]), "takes path 1"),
        ((1, 1e9, [-1e-6], 1), "path delay"),
        ((1, 0.0, [1e-6], 1), "rate"),
    ],
)
def test_bad_questions_are_named(arguments, said):
    with pytest.raises(InputError, match=said):
        reorder(*arguments)
