"""What a wiring says on the page and in the picture."""

import pytest

from hopline.errors import MachineError, UnknownNameError
from hopline.machine.parts import Node
from hopline.machine.wiring import Cable, Wiring
from hopline.show import wiring as pages
from hopline.show.document import plain
from hopline.show.positions import positions

GPUS = tuple(Node(f"gpu{i}") for i in range(4))
SWITCHES = (Node("s0", "switch"), Node("s1", "switch"))


def wiring(**changes):
    cables = tuple(Cable((f"gpu{i}", f"s{i // 2}"), "NV12", 12) for i in range(4))
    told = {"facts": {"gpus": 4}, "remarks": ("an oddity",)}
    return Wiring("topo-m", "box", GPUS + SWITCHES, cables, **(told | changes))


def test_page_counts_cables_and_names_parts():
    text = plain(pages.page(wiring(), "a matrix"))
    assert "4 devices, 2 switches, 4 connections" in text
    assert ["NV12", "4", "48", "not", "in", "the", "file", "not", "in", "the", "file", "full"] in [
        line.split() for line in text.splitlines()
    ]
    assert "2 parts without a way between them, of 3, 3 nodes" in text
    assert "note: an oddity" in text


def test_one_part_is_not_told():
    whole = Wiring("f", "box", wiring().nodes, (*wiring().cables, Cable(("s0", "s1"), "up", 1, 1e9)))
    assert "parts without" not in plain(pages.page(whole, ""))
    assert whole.parts == (6,)


def test_a_rate_given_is_that_of_one_cable():
    made = wiring().machine({"NV12": 25e9})
    assert made.links["12 x NV12"].bandwidth == 300e9
    with pytest.raises(MachineError, match="does not say how fast NV12 is: give it, like --rate 'NV12=25GB/s'"):
        wiring().machine()
    with pytest.raises(UnknownNameError):
        wiring().machine({"NV12": 25e9, "NV4": 1e9})


def test_cables_of_one_label_and_two_rates_are_two_links():
    cables = (
        Cable(("gpu0", "s0"), "port", 1, 1e9),
        Cable(("gpu1", "s0"), "port", 1, 2e9),
        Cable(("gpu2", "s0"), "port", 1, 1e9),
    )
    made = Wiring("f", "box", GPUS + SWITCHES, cables).machine()
    assert {c.link: made.links[c.link].bandwidth for c in made.connections} == {"port": 1e9, "port (2)": 2e9}


def test_tiers_stand_above_what_they_join():
    where = positions(
        {"a": "device", "b": "device", "s": "switch", "t": "switch"}, [("a", "s"), ("b", "s"), ("s", "t")]
    )
    assert [where[name][1] for name in "abst"] == [0, 0, 0.5, 1]
    assert where["a"][0] < where["s"][0] < where["b"][0]


def test_devices_alone_stand_on_a_circle():
    where = positions(dict.fromkeys("abcd", "device"), [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")])
    assert {round((x - 0.5) ** 2 + (y - 0.5) ** 2, 12) for x, y in where.values()} == {0.25}


def test_a_large_picture_shows_the_first_devices_and_says_so():
    nodes = (*(Node(f"h{i}") for i in range(300)), Node("s", "switch"))
    cables = tuple(Cable((f"h{i}", "s"), "c", 1, 1e9) for i in range(300))
    spec = pages.picture(Wiring("f", "big", nodes, cables))
    assert spec["title"]["subtitle"] == "129 of 301 nodes: the first 128 devices and what joins them"
    assert len(spec["layer"][0]["data"]["values"]) == 128
