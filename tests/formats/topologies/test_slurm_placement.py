"""Slurm's lists of names, and the ranks of a job on them."""

import itertools

import pytest
from network_files import SLURM, read

from hopline.errors import FormatError, InputError
from hopline.formats.topologies.hostlist import expand
from hopline.formats.topologies.slurm import held, leaves, placement


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n0", "n0"),
        ("n[0-3,7]", "n0 n1 n2 n3 n7"),
        ("n[08-11]", "n08 n09 n10 n11"),
        ("n[098-101]x", "n098x n099x n100x n101x"),
        ("a[1-2]b[3,5],login", "a1b3 a1b5 a2b3 a2b5 login"),
        (" r[1], s2 ", "r1 s2"),
        ("rack[0-1][0-1]", "rack00 rack01 rack10 rack11"),
    ],
)
def test_lists(text, names):
    assert expand(text) == names.split()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"), ("n[0-3", "a bracket has no end"), ("n]0[", "do not match"), ("n[[0]]", "do not match"),
        ("n[3-1]", "goes down"), ("n[a-b]", "is no range"), ("n[]", "is no range"), ("n0,,n1", "empty name"), ("n0,", "empty name"),
        ("n 0", "is no name"), ("n[0-999999999]", "names more than 1048576"), ("n[0-9999][0-9999]", "names more than"),
        ("n[-3]", "is no range"), ("x" * 300, "longer than 256 letters"),
    ],
)  # fmt: skip
def test_wrong_lists(text, words):
    with pytest.raises(FormatError, match=words):
        expand(text)


def test_all_products_in_the_order_of_an_odometer():
    found = expand("a[0-2]b[1,3]c[05-07]")
    assert found == [f"a{a}b{b}c{c:02d}" for a, b, c in itertools.product(range(3), (1, 3), range(5, 8))]


@pytest.fixture
def tree(tmp_path):
    return read(tmp_path, SLURM, "topology.conf")


def test_block_and_cyclic(tree):
    assert placement(tree, "n[3-4],n0", 2) == ("n3", "n3", "n4", "n4", "n0", "n0")
    assert placement(tree, "n[3-4],n0", 2, "cyclic") == ("n3", "n4", "n0", "n3", "n4", "n0")
    assert placement(tree, "n[3-5]".replace("5", "4"), "3,1") == ("n3", "n3", "n3", "n4")
    assert placement(tree, "n[3-4],n0", "2(x2),1", "cyclic") == ("n3", "n4", "n0", "n3", "n4")
    assert placement(tree, "gpu[08-10]") == ("gpu08", "gpu09", "gpu10")
    assert placement(tree, "n[0-2]", "8") == placement(tree, "n[0-2]", 8)


def test_leaves(tree):
    places = placement(tree, "n[2-4]", 8)
    assert leaves(tree, places) == ("leaf0",) * 8 + ("leaf1",) * 16
    assert held(tree, places) == {"leaf0": 8, "leaf1": 16}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("n[0-9]",), "topology has no node n5, n6, n7 and 2 more"),
        (("n0,n1,n0",), "node n0 stands twice"),
        (("leaf0",), "has no node leaf0"),
        (("n0", 0), "0 tasks per node"),
        (("n0", "8(x2"), "tasks per node '8\\(x2'"),
        (("n[0-2]", "1,2"), "are for 2 nodes: the list has 3"),
        (("n0", 1, "plane"), "order 'plane': expected one of block, cyclic"),
        (("n[0-2]", 1 << 20), "ranks: expected at most"),
    ],
)
def test_wrong_placements(tree, arguments, words):
    with pytest.raises(InputError, match=words):
        placement(tree, *arguments)
