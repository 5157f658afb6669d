"""hopline headroom: what is typed, what is answered, what is drawn, what is refused."""

import json

import pytest
from typed import hopline

LINE = ["--rate", "100Gb/s", "--cable", "100m", "--mtu", "1500B"]
SWITCH = [*LINE, "--buffer", "12MB", "--ports", "32", "--ecn", "20KB:40KB", "--alpha", "1/8"]


def answered(capsys, *arguments):
    code, out, err = hopline(capsys, "headroom", *arguments, "--json")
    assert err == ""
    return code, json.loads(out)


def test_the_account(capsys):
    code, found = answered(capsys, *LINE)
    assert code == 0
    assert found["headroom_bytes"] == 15_564
    assert found["pause_loop_s"] == 1.24512e-6
    assert [round(term["size"]) for term in found["own"]["terms"]] == [1500, 64, 6250, 0, 1500, 6250]
    assert found["others"][0]["total"] == 80_076


def test_the_page(capsys):
    code, out, _ = hopline(capsys, "headroom", *LINE, "--response", "1us")
    assert code == 0
    assert "28,064 B (27.41 KiB) of headroom: 2.245 µs from stop to silence." in out
    assert "None does" not in out
    assert "None does: give --response" in hopline(capsys, "headroom", *LINE)[1]


def test_what_is_set_is_judged(capsys):
    code, out, _ = hopline(capsys, "headroom", *LINE, "--headroom", "10KB")
    assert code == 1
    assert "10,000 B are set, 15,564 B can arrive. To mend it: a cable of 55.49 m at most, or 15,564 B." in out
    assert hopline(capsys, "headroom", *LINE[:3], "55.48m", *LINE[4:], "--headroom", "10KB")[0] == 0
    code, out, _ = hopline(capsys, "headroom", *LINE, "--profile", "size=54272,xon=18432,xoff=35840")
    assert code == 0
    assert "suffices, up to 262.2 m of cable" in out


def test_which_fires_first(capsys):
    """12 MB less 32 x 15,564 B: q = alpha pool / (1 + alpha m) meets 20 kB beyond 32 queues where they have own senders."""
    code, found = answered(capsys, *SWITCH)
    pool = 12e6 - 32 * 15_564
    assert (code, found["order"]["switch"]["pool"]) == (0, pool)
    assert found["order"]["flips"] is None
    code, found = answered(capsys, *SWITCH, "--feeds", "one")
    counts = range(1, 33)
    assert found["order"]["flips"] is None
    full = next((m for m in counts if pool / 8 / (m + m / 8) <= 40e3), None)
    assert found["order"]["full"] == full == 32
    code, found = answered(capsys, *SWITCH[:-3], "50KB:60KB", "--alpha", "1/8", "--feeds", "one")
    assert found["order"]["flips"] == next(m for m in counts if pool / 8 / (m + m / 8) <= 50e3)


def test_faults_of_thresholds(capsys):
    code, out, _ = hopline(capsys, "headroom", *SWITCH[:-3], "3MB:2MB", "--alpha", "1/8", "--xon", "2MB")
    assert code == 1
    for fault in ("KMIN above KMAX", "KMAX not below Xoff", "Xon not below Xoff"):
        assert fault in out
    assert "PFC: pause comes before any mark even for one congested queue." in out
    assert "KMIN below" in out


def test_marks_that_come_too_late(capsys):
    _, found = answered(capsys, *SWITCH, "--senders", "4", "--feeds", "one", "--reaction", "20us")
    assert found["order"]["growth"] == 3 * 12.5e9 * 20e-6
    pool, meets = found["order"]["switch"]["pool"], 20e3 + found["order"]["growth"]
    late = next(m for m in range(1, 33) if pool / 8 / (m / 4 + m / 8) <= meets)
    assert found["order"]["late"] == late
    _, out, _ = hopline(capsys, "headroom", *SWITCH, "--senders", "4", "--feeds", "one", "--reaction", "20us")
    assert f"pause comes all the same from {late} on" in out


def test_each_congested_queue_has_ports_that_feed_it(capsys):
    _, found = answered(capsys, *SWITCH, "--senders", "8")
    assert [firing["queues"] for firing in found["order"]["firings"]] == [1, 2, 4]
    code, _, err = hopline(capsys, "headroom", *SWITCH, "--senders", "64")
    assert (code, err.count("\n")) == (2, 1)


def test_pictures(capsys, tmp_path):
    for number, question in enumerate((LINE, SWITCH)):
        file = tmp_path / f"{number}.svg"
        assert hopline(capsys, "headroom", *question, "--plot", str(file))[0] == 0
        assert ("KMIN 20.00 KB" in file.read_text()) is (question is SWITCH)


def test_xoff_falls_as_others_fill(capsys):
    pool = 12e6 - 32 * 15_564
    for used in (0, 3_000_000, 9_000_000):
        _, found = answered(capsys, *SWITCH, "--used", f"{used}B")
        assert found["order"]["firings"][0]["threshold"] == pytest.approx((pool - used) / 8 / (1 + 1 / 8))
    code, _, err = hopline(capsys, "headroom", *SWITCH, "--used", "12MB")
    assert code == 2
    assert "others use 12.00 MB of 10.97 MiB that are shared" in err


BAD = {
    "nothing": ("", "give --rate and --cable and --mtu"),
    "a cable without its unit": ("--rate 1Gb/s --cable 40 --mtu 64B", "expected a number and m or km"),
    "a switch's option alone": (f"{' '.join(LINE)} --ports 4", "--ports goes with --buffer"),
    "a buffer alone": (f"{' '.join(LINE)} --buffer 1MB", "--buffer needs --ports"),
    "no threshold": (f"{' '.join(LINE)} --buffer 1MB --ports 4 --ecn 1KB:2KB", "--alpha (dynamic) or --xoff (static)"),
    "two thresholds": (f"{' '.join(SWITCH)} --xoff 1KB", "--alpha (dynamic) or --xoff (static)"),
    "all taken by headroom": (
        f"{' '.join(LINE)} --buffer 1MB --ports 32 --classes 8 --ecn 1KB:2KB --alpha 1",
        "fewer lossless",
    ),
    "an ECN setting of another rate": (
        f"{' '.join(LINE)} --buffer 9MB --ports 4 --ecn simai --alpha 1",
        "it has 200 Gb/s",
    ),
    "reaction of one sender": (f"{' '.join(SWITCH)} --reaction 1us", "--senders of 2 or more"),
    "an unknown medium": (f"{' '.join(LINE)} --medium glass", "unknown medium"),
    "no factor": (f"{' '.join(LINE)} --buffer 9MB --ports 4 --ecn 1KB:2KB --alpha x", "no factor"),
    "headroom twice": (f"{' '.join(LINE)} --headroom 1KB --profile size=3,xon=1,xoff=2", "leave --headroom out"),
    "an unknown way": (f"{' '.join(SWITCH)} --feeds all", "unknown way of feeding"),
}


@pytest.mark.parametrize(("typed", "said"), BAD.values(), ids=BAD)
def test_bad_questions_are_one_line(capsys, typed, said):
    code, out, err = hopline(capsys, "headroom", *typed.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
