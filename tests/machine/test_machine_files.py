"""Machine files: presets with a source for every number, what is written is read again, errors that name the key."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopline.curve import Curve, Piece
from hopline.errors import HoplineError, MachineError, QuantityError, UnknownNameError
from hopline.machine.files import load, loads, preset_names, preset_text
from hopline.machine.parts import TOUCHES, Fitted, Link, Memory, Node, Operation, Startup, Sync
from hopline.machine.topology import Connection, Machine
from hopline.machine.writing import dumps
from hopline.quantity import parse

PRESETS = preset_names()
HEAD = 'hopline = "machine"\nversion = 1\nname = "x"\n'
LINK = '[links.l]\nbandwidth = "1 GB/s"\n'
PAIR = f"{HEAD}{LINK}[nodes.a]\n[nodes.b]\n"


def quantities(tree, key=""):
    """(key, entry) of everything in a decoded file that reads as a quantity, with a source or without."""
    if isinstance(tree, dict) and "value" in tree:
        yield key, tree
    elif isinstance(tree, dict):
        for name, entry in tree.items():
            yield from quantities(entry, f"{key}.{name}")
    elif isinstance(tree, list):
        for i, entry in enumerate(tree):
            yield from quantities(entry, f"{key}[{i}]")
    elif isinstance(tree, float) or (isinstance(tree, str) and is_quantity(tree)):
        yield key, tree


def is_quantity(text):
    for dimension in ("time", "size", "bandwidth"):
        try:
            parse(text, dimension)
        except QuantityError:
            continue
        return True
    return False


def test_there_are_presets():
    assert {"dgx-h100", "sg2260", "tcp-cluster"} <= set(PRESETS)


@pytest.mark.parametrize("name", PRESETS)
def test_every_number_of_a_preset_has_a_source(name):
    raw = tomllib.loads(preset_text(name))
    found = [entry for part in ("links", "nodes") for entry in quantities(raw[part], part)]
    assert len(found) >= len(raw["links"])
    for key, entry in found:
        assert isinstance(entry, dict), f"{key} = {entry!r} has no source"
        assert set(entry) == {"value", "source"}, key
        assert len(entry["source"]) > 3, key


@pytest.mark.parametrize("name", PRESETS)
def test_every_source_is_kept_under_its_key(name):
    machine, raw = loads(preset_text(name), name), tomllib.loads(preset_text(name))
    listed = [entry["source"] for part in ("links", "nodes") for _, entry in quantities(raw[part], part)]
    assert set(machine.sources.values()) == set(listed)


@pytest.mark.parametrize("name", PRESETS)
def test_presets_have_a_title_and_paths(name):
    machine = loads(preset_text(name), name)
    assert machine.title
    devices = [node.name for node in machine.nodes.values() if node.kind == "device"]
    for other in devices[1:]:
        assert machine.path([devices[0], other]).hops()


@pytest.mark.parametrize("name", PRESETS)
def test_presets_survive_being_written(name):
    machine = loads(preset_text(name), name)
    again = loads(dumps(machine), "again")
    assert again == loads(dumps(again), "twice")
    for part in ("name", "title", "links", "nodes", "connections"):
        assert getattr(again, part) == getattr(machine, part)
    assert set(again.sources.values()) == set(machine.sources.values())


def test_an_unknown_preset():
    with pytest.raises(UnknownNameError, match="did you mean 'sg2260'"):
        preset_text("sg226")
    with pytest.raises(UnknownNameError):
        preset_text("../presets/sg2260")


# --- machines made up ---------------------------------------------------------------------------------------------

NAMES = st.text("abcdxyz0189.-_ é", min_size=1, max_size=6)
TIMES = st.just(0.0) | st.floats(1e-12, 1e3)
RATES = st.floats(1.0, 1e15)
BYTES = st.integers(0, 2**53).map(float)
RANKS = st.lists(st.integers(1, 10**6), min_size=1, max_size=4, unique=True)


@st.composite
def syncs(draw):
    return Sync(tuple((n, draw(TIMES)) for n in sorted(draw(RANKS))))


@st.composite
def curves(draw):
    lows = [0.0, *sorted(draw(st.lists(st.integers(1, 2**40).map(float), max_size=3, unique=True)))]
    return Curve(tuple(Piece(low, draw(TIMES), draw(RATES | st.just(float("inf")))) for low in lows))


FITTED = st.builds(
    lambda origin, sizes, mean, worst: Fitted(origin, min(sizes), max(sizes), mean, worst),
    st.text(max_size=8),
    st.tuples(BYTES, BYTES),
    st.floats(0, 1),
    st.floats(0, 1),
)
MEMORIES = st.builds(Memory, RATES, st.fixed_dictionaries({use: st.floats(0.5, 8) for use in TOUCHES}))


@st.composite
def operations(draw):
    ranks = draw(st.none() | st.integers(1, 10**6))
    curve = draw(curves())
    lows = [
        [0.0, *sorted(draw(st.sets(st.integers(1, 2**40).map(float), min_size=n, max_size=n)))]
        for n in [len(curve.breaks)] * 2
    ]
    drawn = [
        Curve(tuple(Piece(low, draw(TIMES), draw(RATES | st.just(float("inf")))) for low in starts)) for starts in lows
    ]
    sizes = sorted(draw(st.sets(BYTES, min_size=1, max_size=4)))
    return Operation(
        draw(NAMES),
        ranks,
        draw(st.sampled_from(["time", "gap"])),
        curve,
        draw(FITTED),
        tuple((size, draw(st.floats(1e-12, 1e3))) for size in sizes),
        tuple(drawn[: draw(st.integers(0, 2))]),
    )


def learnt(link, operation):
    """The link with the curve and the evidence of an operation."""
    return replace(link, curve=operation.curve, fitted=operation.fitted, operation=operation.name)


@st.composite
def machines(draw):
    known = {operation.name: operation for operation in draw(st.lists(operations(), max_size=2))}
    timed = [operation for operation in known.values() if operation.measure == "time"]
    links = {
        name: Link(
            name,
            draw(RATES),
            draw(st.builds(Startup, TIMES, TIMES, syncs(), TIMES)),
            draw(st.sampled_from(["full", "half"])),
            draw(st.sampled_from(["store-and-forward", "cut-through", "wormhole"])),
            draw(BYTES),
            draw(st.none() | st.integers(1, 4096).map(float)),
            draw(st.none() | TIMES),
            draw(st.none() | curves()),
            draw(st.none() | FITTED),
            peak=draw(st.none() | RATES),
        )
        for name in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    }
    if timed and draw(st.booleans()):
        links = {name: learnt(link, draw(st.sampled_from(timed))) for name, link in links.items()}
    nodes = {}
    for name in draw(st.lists(NAMES, min_size=1, max_size=5, unique=True)):
        kind = draw(st.sampled_from(["device", "switch"]))
        memory = draw(st.none() | MEMORIES) if kind == "device" else None
        nodes[name] = Node(name, kind, draw(st.none() | TIMES), draw(st.integers(1, 8)), memory)
    ends = st.sampled_from(sorted(nodes))
    joined = st.tuples(ends, ends).filter(lambda pair: pair[0] != pair[1])
    entries = st.tuples(joined, st.sampled_from(sorted(links)))
    unique = st.lists(entries, max_size=5, unique_by=lambda entry: frozenset(entry[0]))
    pairs = draw(unique) if len(nodes) > 1 else []
    sources = {f"links.{name}.bandwidth": draw(st.text(max_size=9)) for name in links if draw(st.booleans())}
    connections = tuple(Connection(*pair) for pair in pairs)
    return Machine(draw(st.text(max_size=6)), draw(st.text(max_size=6)), links, nodes, connections, sources, known)


@settings(deadline=None, max_examples=150)
@given(machines())
def test_what_is_written_is_read_again(machine):
    assert loads(dumps(machine), "again") == machine


def test_a_counted_nodes_source_survives():
    text = f'{HEAD}{LINK}[nodes.a]\ncount = 2\n[nodes.a.memory]\nbandwidth = {{ value = "8 GB/s", source = "seen" }}\n'
    machine = loads(text, "m")
    again = loads(dumps(machine), "again")
    assert set(again.sources.values()) == {"seen"}
    assert again == machine


def test_each_synchronisation_keeps_its_own_source():
    entries = ", ".join(f'{{ ranks = {n}, time = {{ value = "{n} us", source = "of {n}" }} }}' for n in (2, 8))
    machine = loads(f"{HEAD}{LINK}[links.l.startup]\nsync = [{entries}]\n[nodes]\n", "m")
    assert set(loads(dumps(machine), "again").sources.values()) == {"of 2", "of 8"}


def test_the_line_rate_is_read_with_its_source_and_written_again():
    line = 'peak = { value = "50 GB/s", source = "the data sheet" }\n'
    machine = loads(f"{HEAD}{LINK}{line}[nodes]\n", "m")
    assert machine.links["l"] == Link("l", 1e9, peak=50e9)
    assert machine.sources == {"links.l.peak": "the data sheet"}
    assert loads(dumps(machine), "again") == machine


def test_without_a_line_rate_none_is_written():
    machine = loads(PAIR, "m")
    assert machine.links["l"].peak is None
    assert "peak" not in dumps(machine)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Link("l", 1e9, header=1.5),
        lambda: Link("l", 1e9, flit=1.5),
        lambda: Link("l", 1e9, curve=Curve((Piece(0, 0, 1e9), Piece(1000.5, 0, 2e9)))),
    ],
)
def test_parts_of_bytes_are_written_or_refused_in_our_words(make):
    try:
        machine = Machine("m", "", {"l": make()}, {}, ())
        text = dumps(machine)
    except HoplineError as error:
        message = str(error)
    else:
        message = ""
        assert loads(text, "again") == machine
    assert "\n" not in message


# --- reading ------------------------------------------------------------------------------------------------------


def test_counts_and_stars():
    nodes = "[nodes.a]\ncount = 3\n[nodes.b]\ncount = 3\n[nodes.s]\n"
    ends = [("a*", "a*"), ("a*", "b*"), ("b*", "s"), ("a0", "s")]
    text = HEAD + LINK + nodes + "".join(f'[[connections]]\nends = ["{a}", "{b}"]\nlink = "l"\n' for a, b in ends)
    machine = loads(text, "m")
    assert list(machine.nodes) == ["a0", "a1", "a2", "b0", "b1", "b2", "s"]
    assert [c.ends for c in machine.connections] == [
        ("a0", "a1"), ("a0", "a2"), ("a1", "a2"),
        ("a0", "b0"), ("a1", "b1"), ("a2", "b2"),
        ("b0", "s"), ("b1", "s"), ("b2", "s"),
        ("a0", "s"),
    ]  # fmt: skip


def test_what_is_left_out():
    machine = loads(PAIR, "m")
    assert machine.links["l"] == Link("l", 1e9)
    assert machine.nodes["a"] == Node("a")


def test_pieces_without_bandwidth_do_not_grow():
    pieces = (
        '[{ from_size = "0 B", latency = "1 us" }, { from_size = "1 KiB", latency = "2 us", bandwidth = "1 GB/s" }]'
    )
    curve = loads(f"{HEAD}{LINK}pieces = {pieces}\n[nodes]\n", "m").links["l"].curve
    assert curve == Curve((Piece(0, 1e-6, float("inf")), Piece(1024, 2e-6, 1e9)))


def test_touches_are_laid_over_the_usual_ones():
    text = f'{HEAD}{LINK}[nodes.a.memory]\nbandwidth = "1 GB/s"\ntouches = {{ relay = 1.5 }}\n'
    assert loads(text, "m").nodes["a"].memory == Memory(1e9, TOUCHES | {"relay": 1.5})


@pytest.mark.parametrize("key", ["header", "startup.software", "startup.whole"])
def test_a_zero_with_a_source_is_written(key):
    part = key.replace("startup.", "")
    unit = "0 B" if part == "header" else "0 s"
    table = "[links.l.startup]\n" if "startup" in key else ""
    for value, kept in ((f'{{ value = "{unit}", source = "measured" }}', True), (f'"{unit}"', False)):
        machine = loads(f"{HEAD}{LINK}{table}{part} = {value}\n[nodes]\n", "m")
        written = dumps(machine)
        assert ("measured" in written) == kept
        assert loads(written, "again").sources == machine.sources == ({f"links.l.{key}": "measured"} if kept else {})


WRONG = {
    "empty": ("", ['expected hopline = "machine" and version = 1', "got hopline = None and version = None"]),
    "no version": (PAIR.replace("version = 1\n", ""), ['expected hopline = "machine" and version = 1', "version = None"]),
    "something else": ("[tool.x]\ny = 1\n", ['expected hopline = "machine" and version = 1']),
    "not TOML": ("hopline = ", ["my.toml is no machine file: Invalid value"]),
    "a log": ("# nThread 1 nGpus 8\n 8 2 float\n", ["is no machine file", "line 2"]),
    "nul bytes": ("\x00\x01", ["is no machine file", "line 1"]),
    "another kind of file": (PAIR.replace('"machine"', '"samples"'), ["expected hopline", "'samples'"]),
    "a later version": (PAIR.replace("version = 1", "version = 2"), ["version = 1", "2"]),
    "version in words": (PAIR.replace("version = 1", 'version = "1"'), ["version"]),
    "an unknown key": (HEAD + '[links.l]\nbandwith = "1 GB/s"\n[nodes]\n', ["links.l: Object contains unknown field `bandwith`"]),
    "an unknown part": (HEAD + LINK + "[nodes]\n[cables]\n", ["cables"]),
    "an unknown key of a node": (HEAD + LINK + "[nodes.a]\nfoo = 1\n", ["nodes.a: Object contains unknown field `foo`"]),
    "an unknown key of the file": (f"speed = 1\n{PAIR}", ["Object contains unknown field `speed`"]),
    "an unknown key in a start-up": (HEAD + LINK + '[links.l.startup]\nfoo = "1 us"\n[nodes]\n', ["links.l.startup: ", "foo"]),
    "a name with a dot": (HEAD + '[links."a.b"]\nfoo = 1\n[nodes]\n', ["links.a.b: "]),
    "a link that is none": (HEAD + "[nodes]\n[links]\nl = 3\n", ["links.l: Expected `object`, got `int`"]),
    "links that are none": (f"links = 3\n{HEAD}[nodes]\n", ["links: Expected `object`, got `int`"]),
    "a way nobody knows": (
        HEAD + LINK + 'forwarding = "teleport"\n[nodes]\n',
        ["links.l.forwarding: ", "'teleport'", "known are store-and-forward, cut-through, wormhole"],
    ),
    "a duplex nobody knows": (HEAD + LINK + 'duplex = "both"\n[nodes]\n', ["links.l.duplex: ", "known are full, half"]),
    "no bandwidth": (HEAD + "[links.l]\n[nodes]\n", ["links.l: ", "required field `bandwidth`"]),
    "a bare number": (HEAD + "[links.l]\nbandwidth = 5\n[nodes]\n", ["links.l.bandwidth: ", "int"]),
    "another dimension": (PAIR.replace("1 GB/s", "1 GB"), ["links.l.bandwidth", "is a size"]),
    "bits or bytes": (PAIR.replace("1 GB/s", "1 G"), ["links.l.bandwidth", "ambiguous"]),
    "nothing": (PAIR.replace("1 GB/s", "0 GB/s"), ["links.l.bandwidth", "above 0"]),
    "no line rate": (PAIR.replace('"1 GB/s"', '"1 GB/s"\npeak = "0 GB/s"'), ["links.l.peak", "above 0"]),
    "a line rate of bytes": (PAIR.replace('"1 GB/s"', '"1 GB/s"\npeak = "1 GB"'), ["links.l.peak", "is a size"]),
    "an empty source": (PAIR.replace('"1 GB/s"', '{ value = "1 GB/s" }'), ["source"]),
    "a negative time": (HEAD + LINK + '[links.l.startup]\ndma = "-1 us"\n[nodes]\n', ["links.l.startup.dma", "negative"]),
    "sync upside down": (
        HEAD + LINK + '[links.l.startup]\nsync = [{ranks = 4, time = "1 us"}, {ranks = 2, time = "1 us"}]\n[nodes]\n',
        ["sync", "growing"],
    ),
    "pieces from nowhere": (HEAD + LINK + 'pieces = [{from_size = "1 B", latency = "1 us"}]\n[nodes]\n', ["links.l.pieces: ", "0 first"]),
    "a kind nobody knows": (HEAD + LINK + '[nodes.a]\nkind = "router"\n', ["nodes.a.kind: ", "'router'", "known are device, switch"]),
    "no nodes of a kind": (HEAD + LINK + "[nodes.a]\ncount = 0\n", ["nodes.a.count", "65536"]),
    "too many nodes": (HEAD + LINK + "[nodes.a]\ncount = 65537\n", ["nodes.a.count", "65536"]),
    "nodes beyond counting": (HEAD + LINK + f"[nodes.a]\ncount = {10**30}\n", ["count"]),
    "no NICs": (HEAD + LINK + "[nodes.a]\nnics = 0\n", ["NICs"]),
    "a switch with memory": (
        HEAD + LINK + '[nodes.a]\nkind = "switch"\n[nodes.a.memory]\nbandwidth = "1 GB/s"\n', ["memory"],
    ),
    "an unknown touch": (
        HEAD + LINK + '[nodes.a.memory]\nbandwidth = "1 GB/s"\ntouches = {reed = 1.0}\n', ["did you mean 'reduce'"],
    ),
    "an unknown node": (PAIR + '[[connections]]\nends = ["a", "bb"]\nlink = "l"\n', ["'bb'", "did you mean 'b'"]),
    "an unknown link": (PAIR + '[[connections]]\nends = ["a", "b"]\nlink = "ll"\n', ["'ll'", "did you mean 'l'"]),
    "a star on one node": (PAIR + '[[connections]]\nends = ["a*", "b"]\nlink = "l"\n', ["node with a count", "'a'"]),
    "one end": (PAIR + '[[connections]]\nends = ["a"]\nlink = "l"\n', ["connections[0].ends"]),
    "a name twice": (HEAD + LINK + '[nodes.a]\ncount = 2\n[nodes.a0]\nlatency = "1 us"\n', ["a0"]),
    "a number of 5000 digits": (HEAD + LINK + f"[nodes.a]\nnics = {'9' * 5000}\n", ["is no machine file"]),
    "brackets without end": (HEAD + "x = " + "[" * 5000, []),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_are_refused_with_file_and_key(case, tmp_path):
    text, said = WRONG[case]
    file = tmp_path / "my.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(MachineError) as caught:
        load(file)
    message = str(caught.value)
    assert message.startswith((f"{file}: ", f"{file} is no machine file: "))
    assert "\n" not in message
    assert all(part in message for part in said), message


@settings(deadline=None)
@given(st.text(max_size=60) | st.text('[]{}="\n#.ab1', max_size=60))
def test_any_text_is_a_machine_or_a_machine_error(text):
    with pytest.raises(MachineError):
        loads(text, "m")


def test_files_that_cannot_be_read(tmp_path):
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00\x81")
    for file, said in ((binary, "not text"), (tmp_path / "none.toml", "No such file"), (tmp_path, "directory")):
        with pytest.raises(MachineError, match=f"{re.escape(str(file))}: .*{said}"):
            load(file)


def test_a_preset_written_to_a_file_is_the_preset(tmp_path):
    file = tmp_path / "copy.toml"
    file.write_text(preset_text("sg2260"), encoding="utf-8")
    assert load(file) == loads(preset_text("sg2260"), "sg2260")


@pytest.mark.parametrize(("link", "bandwidth"), [("nvlink", 357.5e9), ("pcie", 55.06e9), ("ndr", 35.9e9)])
def test_links_of_the_dgx_h100_are_as_fast_as_measured(link, bandwidth):
    assert loads(preset_text("dgx-h100"), "dgx-h100").links[link].bandwidth == bandwidth
