"""All pairs: what is planted is named once and rightly, and nothing else is."""

import numpy as np
import pytest
from pairs_drawn import pairs_drawn

from hopline.errors import InputError
from hopline.study.pairs import analyse


def names(report):
    return sorted(s.name for s in report.suspects)


PLANTS = {
    "rank": ("rank", (3,), "rank 3"),
    "sender": ("sender", (0,), "sender 0"),
    "receiver": ("receiver", (7,), "receiver 7"),
    "pair": ("pair", (2, 6), "pair 2-6"),
    "direction": ("direction", (6, 2), "direction 6→2"),
}


@pytest.mark.parametrize("kind", PLANTS)
@pytest.mark.parametrize("factor", [1.2, 2.0])
def test_what_is_planted_is_named_once_with_its_kind(kind, factor):
    plant, ranks, name = PLANTS[kind]
    right = 0
    for seed in range(10):
        report = analyse(pairs_drawn(seed, (plant, ranks, factor)))
        right += names(report) == [name]
        assert all(s.low < s.factor < s.high for s in report.suspects)
    assert right >= 9


def test_the_factor_lies_in_its_interval():
    held = [
        s.low <= 1.5 <= s.high
        for kind, ranks, _ in PLANTS.values()
        for seed in range(8)
        for s in analyse(pairs_drawn(seed, (kind, ranks, 1.5))).suspects
    ]
    assert len(held) >= 38
    assert 0.85 <= np.mean(held) <= 1


def test_a_healthy_system_gets_no_name():
    reports = [analyse(pairs_drawn(seed)) for seed in range(40)]
    assert sum(not r.healthy for r in reports) <= 2
    assert np.mean([r.classes[0].noise for r in reports]) == pytest.approx(0.022, rel=0.1)
    assert reports[0].classes[0].repeat == pytest.approx(0.05, rel=0.15)


def test_a_slow_down_below_what_matters_is_not_named():
    times = pairs_drawn(1, ("rank", (3,), 1.15), sigma=0.01)
    assert names(analyse(times)) == ["rank 3"]
    assert analyse(times, least=0.3).healthy


def test_a_fast_rank_is_not_sick_and_tilts_nobody():
    report = analyse(pairs_drawn(2, ("rank", (3,), 0.5)))
    assert report.healthy
    assert [s.name for s in report.fast] == ["rank 3"]
    assert report.sender[3] == pytest.approx(0.5, rel=0.05)
    assert np.all(np.abs(np.delete(report.sender, 3) - 1) < 0.05)


def test_a_sick_rank_does_not_tilt_the_others():
    report = analyse(pairs_drawn(3, ("rank", (3,), 4.0)))
    others = np.delete(np.concatenate([report.sender, report.receiver]), [3, 11])
    assert np.all(np.abs(others - 1) < 0.06)
    assert report.suspects[0].sides == pytest.approx((4, 4), rel=0.06)


TWO = {
    "a rank and a pair": ((("rank", (3,), 1.3), ("pair", (0, 5), 1.6)), ["pair 0-5", "rank 3"]),
    "two ranks": ((("rank", (3,), 2.0), ("rank", (4,), 2.0)), ["rank 3", "rank 4"]),
    "a rank and more of it": ((("rank", (3,), 1.5), ("direction", (3, 5), 1.6)), ["direction 3→5", "rank 3"]),
    "two sides of two": ((("sender", (3,), 1.5), ("receiver", (5,), 1.5)), ["receiver 5", "sender 3"]),
    "two pairs of one rank": ((("pair", (1, 2), 1.5), ("pair", (1, 3), 1.5)), ["pair 1-2", "pair 1-3"]),
}


@pytest.mark.parametrize("which", TWO)
def test_two_causes_are_two_names(which):
    plants, expected = TWO[which]
    assert sum(names(analyse(pairs_drawn(seed, *plants))) == expected for seed in range(6)) >= 5


def test_two_unlike_sides_are_one_rank():
    report = analyse(pairs_drawn(4, ("sender", (3,), 2.0), ("receiver", (3,), 1.25)))
    assert names(report) == ["rank 3"]
    assert report.suspects[0].sides == pytest.approx((2.0, 1.25), rel=0.06)


def test_two_unlike_directions_are_one_pair():
    report = analyse(pairs_drawn(4, ("direction", (5, 3), 3.0), ("direction", (3, 5), 1.4)))
    assert names(report) == ["pair 3-5"]
    assert report.suspects[0].sides == pytest.approx((1.4, 3.0), rel=0.12)


@pytest.mark.parametrize("n", [3, 4, 5, 16])
def test_other_numbers_of_ranks(n):
    right = sum(
        names(analyse(pairs_drawn(seed, (kind, ranks, 1.5), n=n))) == [name]
        for seed in range(4)
        for kind, ranks, name in (("rank", (2,), "rank 2"), ("sender", (1,), "sender 1"), ("pair", (0, 2), "pair 0-2"))
    )
    assert right >= 11
    assert sum(not analyse(pairs_drawn(seed, n=n)).healthy for seed in range(10)) <= 1


def test_few_ranks_are_said_to_be_few():
    assert any("too few" in note for note in analyse(pairs_drawn(0, n=4)).notes)
    assert not analyse(pairs_drawn(0)).notes


def test_hosts_give_each_kind_of_pair_its_own_time():
    hosts = {rank: f"node{rank // 4}" for rank in range(8)}
    report = analyse(pairs_drawn(5, ("rank", (3,), 1.4), hosts=4), hosts=hosts)
    assert names(report) == ["rank 3"]
    kinds = {c.label: c for c in report.classes}
    assert kinds["across hosts"].time / kinds["one host"].time == pytest.approx(3, rel=0.05)
    assert (kinds["one host"].pairs, kinds["across hosts"].pairs) == (24, 32)
    blind = analyse(pairs_drawn(5, ("rank", (3,), 1.4), hosts=4))
    assert any("several kinds" in note for note in blind.notes)


def test_groups_may_be_anything():
    report = analyse(pairs_drawn(5, hosts=4), group=lambda i, j: (i // 4, j // 4))
    assert report.healthy
    assert len(report.classes) == 4


def test_a_drift_in_rounds_is_told_and_taken_out():
    ramp = np.linspace(1, 1.5, 10)
    times = {pair: (np.array(t) * ramp).tolist() for pair, t in pairs_drawn(6, ("pair", (2, 6), 1.3)).items()}
    report = analyse(times)
    assert names(report) == ["pair 2-6"]
    assert report.drift == pytest.approx(1.5, rel=0.08)
    assert any("drifted" in note for note in report.notes)
    assert analyse(pairs_drawn(6)).drift == 1.0


@pytest.mark.parametrize("planted", [(), (("sender", (3,), 1.3),)])
def test_a_drift_while_pairs_are_measured_one_by_one(planted):
    times = pairs_drawn(7, *planted)
    when = {pair: [60.0 * q + i for i in range(10)] for q, pair in enumerate(times)}
    drifted = {pair: [t * (1 + 0.4 * w / 3360) for t, w in zip(times[pair], when[pair], strict=True)] for pair in times}
    assert not analyse(drifted).healthy
    assert names(analyse(drifted, when=when)) == [f"sender {p[1][0]}" for p in planted]


def test_a_drift_by_time_stamps_spread_over_the_run():
    times = pairs_drawn(8, ("rank", (1,), 1.3))
    when = {pair: [100.0 * i + q for i in range(10)] for q, pair in enumerate(times)}
    drifted = {pair: [t * (1 + 0.4 * w / 1000) for t, w in zip(times[pair], when[pair], strict=True)] for pair in times}
    report = analyse(drifted, when=when)
    assert names(report) == ["rank 1"]
    assert report.drift == pytest.approx(1.4, rel=0.05)


def test_pairs_may_be_missing():
    times = pairs_drawn(9, ("rank", (2,), 1.5))
    for pair in list(times)[::4]:
        times[pair] = []
    report = analyse(times)
    assert names(report) == ["rank 2"]
    assert len(report.missing) == 14
    assert np.isnan(report.time[report.missing[0]])
    assert any("14 of 56" in note for note in report.notes)


def test_ranks_keep_their_numbers():
    times = {(10 * i + 5, 10 * j + 5): t for (i, j), t in pairs_drawn(3, ("direction", (2, 4), 2.0)).items()}
    assert names(analyse(times)) == ["direction 25→45"]


def test_one_repeat_each_is_enough_for_what_is_large():
    report = analyse(pairs_drawn(11, ("rank", (2,), 2.0), repeats=1, outliers=0.0))
    assert names(report) == ["rank 2"]
    assert any("no pair has repeats" in note for note in report.notes)


def test_delays_of_three_repeats_in_five_are_no_slow_pair():
    times = pairs_drawn(12, repeats=5, outliers=0.0)
    times[2, 3] = [t * (3 if i < 3 else 1) for i, t in enumerate(times[2, 3])]
    assert analyse(times).healthy


def test_equal_times_are_healthy():
    report = analyse({pair: [1e-6] * 3 for pair in pairs_drawn(0)})
    assert report.healthy
    assert np.nanmax(report.time) == pytest.approx(1e-6)


def test_what_could_be_seen_grows_with_noise():
    quiet, loud = (analyse(pairs_drawn(1, sigma=sigma)).least for sigma in (0.02, 0.1))
    assert quiet["rank"] == pytest.approx(1.05)
    assert all(loud[kind] > quiet[kind] for kind in ("rank", "sender", "pair", "direction"))


def test_own_copies_are_left_out():
    report = analyse({**pairs_drawn(1), (2, 2): [1e-9]})
    assert report.healthy
    assert any("to itself" in note for note in report.notes)


@pytest.mark.parametrize(
    ("times", "more", "said"),
    [
        ({(0, 1): [1.0], (1, 0): [1.0]}, {}, "2 ranks"),
        ({**pairs_drawn(0), (2, 1): [1e-6, 0.0]}, {}, "pair 2→1 is 0 s"),
        ({**pairs_drawn(0), (2, 1): [float("nan")]}, {}, "pair 2→1 is nan s"),
        (pairs_drawn(0), {"hosts": {0: "a"}}, "rank 1 has no host"),
        (pairs_drawn(0), {"false_alarms": 0}, "false_alarms 0"),
        (pairs_drawn(0), {"when": {(0, 1): [1.0]}}, "expected one a time"),
    ],
)
def test_bad_input(times, more, said):
    with pytest.raises(InputError, match=said):
        analyse(times, **more)
