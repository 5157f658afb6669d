"""Connections: two different nodes, joined once; families joined number by number have one size."""

import pytest

from hopline.errors import MachineError
from hopline.machine.files import loads

HEAD = (
    'hopline = "machine"\nversion = 1\nname = "m"\n[links.l]\nbandwidth = "1 GB/s"\n[links.k]\nbandwidth = "2 GB/s"\n'
)
NODES = "[nodes.a]\ncount = 2\n[nodes.b]\ncount = 3\n"


def joined(*ends_and_link):
    return "".join(f'[[connections]]\nends = ["{a}", "{b}"]\nlink = "{link}"\n' for a, b, link in ends_and_link)


@pytest.mark.parametrize(
    ("connections", "said"),
    [
        (joined(("a0", "b0", "l"), ("b0", "a0", "k")), "b0 - a0"),
        (joined(("a0", "a0", "l")), "a0 - a0"),
        (joined(("a*", "b*", "l")), "2 nodes with 3"),
    ],
)
def test_what_cannot_be_joined_is_named(connections, said):
    with pytest.raises(MachineError, match=said):
        loads(HEAD + NODES + connections, "m.toml")
