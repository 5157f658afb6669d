"""Dumps of the flight recorder in every dress, and files that are none."""

import collections
import copyreg
import json
import os
import pickle
import random
import struct
import tracemalloc

import pytest
from flight_dumps import START, document, entry, save
from spent import at_most

from hopline.errors import FormatError
from hopline.formats import flight, inert_pickle


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_of_every_protocol_and_json_say_the_same(tmp_path, protocol):
    dump = document([entry(i) for i in range(3)])
    read = flight.read(save(tmp_path, 3, dump, protocol))
    again = flight.read(save(tmp_path, 3, dump, as_json=True))
    assert read.calls == again.calls
    assert read.rank == 3
    call = read.calls[1]
    assert (call.op, call.group, call.sequence, call.inputs, call.dtypes) == (
        "all_reduce",
        "0",
        1,
        ((1024,),),
        (("Float",),) * 2,
    )
    assert (call.created, call.timeout, call.where) == (START + 10**9, 600.0, "train.py:120 step")
    assert read.groups["0"].ranks == (0, 1, 2, 3)
    assert read.told == ()


def test_dicts_that_look_alike_are_not_the_same_where_a_number_was_given_anew():
    data = b"\x80\x02(U\x01kq\x01U\x01aq\x02}(h\x01h\x02uU\x01bq\x02}q\x03(h\x01h\x02uh\x03l."
    assert inert_pickle.read(data, "x") == pickle.loads(data) == ["k", "a", {"k": "a"}, "b", {"k": "b"}, {"k": "b"}]
    both = inert_pickle.read(pickle.dumps([{"k": 1}, {"k": 1}]), "x")
    both[0]["k"] = 2
    assert both == [{"k": 2}, {"k": 1}]


@pytest.mark.parametrize("protocol", range(6))
def test_plain_data_as_python_reads_it(protocol):
    rng = random.Random(protocol)

    def value(depth):
        if not depth or rng.random() < 0.2:
            return rng.choice([None, True, 7, -1, 300, 1 << 40, 0.5, "a", "ab" * 200, ()])
        items = [value(depth - 1) for _ in range(rng.randrange(5))]
        return rng.choice([list(items), tuple(items), {f"k{i}": one for i, one in enumerate(items)}])

    for _ in range(200):
        data = pickle.dumps([value(4)] * 3, protocol)
        assert inert_pickle.read(data, "x") == pickle.loads(data)


def test_older_versions(tmp_path):
    old = {
        "record_id": 5, "pg_id": 2, "seq_id": 9, "profiling_name": "nccl:recv 1<-0", "state": "started",
        "time_created_us": 1_700_000_000_000_000, "input_sizes": [[2]], "output_sizes": [[2]],
    }  # fmt: skip
    dump = flight.read(save(tmp_path, 0, [old]))
    (call,) = dump.calls
    assert (call.group, call.sequence, call.point, call.source, call.target) == ("2", 9, True, 0, 1)
    assert call.created == START
    assert "bare list" in dump.version
    assert not dump.whole


def test_status_tells_how_far_a_group_came(tmp_path):
    dump = document([entry(3)], pg_status={"0": {"last_enqueued_collective": 8, "last_completed_collective": 3}})
    assert flight.read(save(tmp_path, 0, dump)).reached == {"0": 8}
    dump["pg_status"]["0"] = {"last_enqueued_collective": "8"}
    assert flight.read(save(tmp_path, 0, dump, as_json=True)).reached == {"0": 8}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"state": "lost"}, "has state 'lost': expected one of scheduled, started, completed"),
        ({"profiling_name": 7}, "has profiling_name=7"),
        ({"profiling_name": "nccl: \n"}, "expected a name like 'nccl:all_reduce'"),
        ({"record_id": -1}, "has record_id=-1: expected a whole number"),
        ({"collective_seq_id": 1.5}, "has collective_seq_id=1.5"),
        ({"input_sizes": [["x"]]}, "has 'x' in a shape of input_sizes"),
        ({"input_sizes": 3}, "has input_sizes 3: expected a list of shapes"),
    ],
)
def test_a_field_that_is_wrong_is_named(tmp_path, change, words):
    path = save(tmp_path, 0, document([entry(0), entry(1) | change]))
    with pytest.raises(FormatError) as error:
        flight.read(path)
    assert words in str(error.value)
    assert "entry 1" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "rank"),
    [
        ("nccl_trace_rank_3", 3), ("trace_12", 12), ("dump.7.json", 7), ("rank5_2024-05-01.pkl", 5), ("nccl_trace_rank_3.gz", 3),
        ("dump.pkl", None), ("-", None),
    ],
)  # fmt: skip
def test_rank_by_name(name, rank):
    assert flight.rank_of(f"/tmp/9/{name}" if name != "-" else name) == rank


# --- pickles that are programs --------------------------------------------------------------------------------------


class Runs:
    """Unpickled by pickle, it makes a file."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.system, (f"touch {self.mark}",)


class Built:
    """Reduced to NEWOBJ and BUILD."""

    def __init__(self):
        self.x = 1


def programs(mark):
    """Pickles that pickle itself would do something for."""
    evil = Runs(mark)
    for protocol in range(6):
        yield pickle.dumps(evil, protocol)
        yield pickle.dumps({"entries": [entry(0), {"frames": [evil]}]}, protocol)
        yield pickle.dumps(Built(), protocol)
        yield pickle.dumps(collections.OrderedDict(a=1), protocol)
    yield b"cos\nsystem\n(S'touch " + str(mark).encode() + b"'\ntR."
    yield b"(S'touch " + str(mark).encode() + b"'\nios\nsystem\n."
    yield b"(cos\nsystem\nS'touch " + str(mark).encode() + b"'\no."
    yield b"\x80\x04\x8c\x02os\x8c\x06system\x93."
    yield b"Pfile\n."
    yield b"K\x01Q."
    yield b"\x80\x02\x82\x01."
    yield b"\x80\x02\x83\x01\x00."
    yield b"\x80\x02\x84\x01\x00\x00\x00."
    yield b"\x80\x05\x97."
    yield b"]}b."


def test_nothing_is_run(tmp_path):
    mark = tmp_path / "mark"
    count = 0
    for number, data in enumerate(programs(mark)):
        path = tmp_path / f"trace_{number}"
        path.write_bytes(data)
        with pytest.raises(FormatError) as error:
            flight.read(str(path))
        assert "nothing of it was run" in str(error.value)
        assert "\n" not in str(error.value)
        count += 1
    assert count > 30
    assert not mark.exists()


def test_the_extension_registry_is_not_asked(tmp_path):
    """A code that the process knows would be resolved by pickle without looking at any name."""
    copyreg.add_extension("os", "system", 240)
    try:
        with pytest.raises(FormatError, match="EXT1"):
            inert_pickle.read(b"\x80\x02\x82\xf0(X\x04\x00\x00\x00truetR.", "it")
    finally:
        copyreg.remove_extension("os", "system", 240)


def bombs():
    """Pickles that ask for more than they are worth."""
    yield b"\x80\x02}r\xff\xff\xff\x7f."
    yield b"\x80\x04\x8d" + struct.pack("<Q", 1 << 62) + b"x."
    yield b"\x80\x04\x8e" + struct.pack("<Q", 1 << 40) + b"x."
    yield b"\x80\x05\x96" + struct.pack("<Q", 1 << 40) + b"x."
    yield b"\x80\x02\x8b" + struct.pack("<i", 1 << 30) + b"x."
    yield b"\x80\x02\x8b" + struct.pack("<i", -5) + b"x."
    yield b"\x80\x04\x95" + struct.pack("<Q", 1 << 60) + b"."
    yield b"L" + b"9" * 100_000 + b"\n."
    yield b"(" * 100_000 + b"."
    yield b"\x80\x02]q\x00" + b"(" + b"h\x00" * 1000 + b"e."
    yield b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b"."
    yield b"p" * 10
    yield b"\x80\x07."
    yield b"0" * 5
    yield b"."
    yield b"(."
    yield b"\x80\x02h\x05."
    yield b"\x80\x02}(K\x01u."
    yield b"\x80\x02}]K\x01s."
    yield b"S'a\n."
    yield b"\x80\x02X\x02\x00\x00\x00\xff\xfe."


def test_bombs_cost_no_more_than_they_weigh(tmp_path):
    for number, data in enumerate(bombs()):
        path = tmp_path / f"trace_{number}"
        path.write_bytes(data)
        tracemalloc.start()
        with at_most(5):
            try:
                with pytest.raises(FormatError) as error:
                    flight.read(str(path))
                assert tracemalloc.get_traced_memory()[1] < 1 << 26
            finally:
                tracemalloc.stop()
            assert "\n" not in str(error.value)


def test_laughs_are_shared_and_not_made(tmp_path):
    """Ten lists of ten of the one before, to the thirtieth; and a list of shapes that all calls share."""
    laughs = b"\x80\x02]q\x00" + b"".join(
        b"](" + b"h" + bytes([i]) + (b"h" + bytes([i])) * 9 + b"eq" + bytes([i + 1]) for i in range(30)
    )
    path = tmp_path / "trace_0"
    path.write_bytes(laughs + b".")
    with pytest.raises(FormatError):
        flight.read(str(path))
    shapes = [[1] * 60 for _ in range(1000)]
    calls = [entry(i) | {"input_sizes": shapes, "output_sizes": shapes} for i in range(3000)]
    with at_most(5):
        dump = flight.read(save(tmp_path, 1, document(calls)))
    assert dump.calls[0].inputs is dump.calls[-1].inputs


def test_cut_anywhere_it_is_one_line(tmp_path):
    data = pickle.dumps(document([entry(0), entry(1)]), 2)
    text = json.dumps(document([entry(0)])).encode()
    for whole in (data, text):
        for end in range(0, len(whole) - 1, 17):
            path = tmp_path / "trace_0"
            path.write_bytes(whole[:end])
            with pytest.raises(FormatError) as error:
                flight.read(str(path))
            assert "\n" not in str(error.value)


def test_random_bytes_are_refused_or_read(tmp_path):
    import random

    rng = random.Random(1)
    whole = bytearray(pickle.dumps(document([entry(0), entry(1)]), 2))
    path = tmp_path / "trace_0"
    for _ in range(400):
        hurt = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            hurt[rng.randrange(len(hurt))] = rng.randrange(256)
        path.write_bytes(hurt)
        try:
            flight.read(str(path))
        except FormatError as error:
            assert "\n" not in str(error)


def test_keys_that_collide_are_refused():
    """Python hashes a whole number to itself modulo 2^61 - 1: a dict of such keys would take the square of their number."""
    prime = (1 << 61) - 1
    keys = pickle.dumps({n * prime: None for n in range(1, 50)}, 2)
    with pytest.raises(FormatError, match="a int as a key"):
        inert_pickle.read(keys, "it")
    with pytest.raises(FormatError, match="a tuple as a key"):
        inert_pickle.read(pickle.dumps({(1, 2): 3}, 2), "it")
    assert inert_pickle.read(pickle.dumps({1: 2, b"a": {3}, "b": frozenset([4])}, 4), "it") == {
        1: 2,
        b"a": {3},
        "b": {4},
    }


def endless(depth=60):
    """A list of two of a list of two of ...: printed, it would have 2 to the ``depth`` parts."""
    value = []
    for _ in range(depth):
        value = [value, value]
    return value


@pytest.mark.parametrize("key", [*entry(0)])
def test_values_without_an_end_in_any_field(tmp_path, key):
    for value in (
        endless(),
        {"a": endless()},
        (endless(),),
        [{"filename": endless(), "line": endless()}],
        "\x1b[2J\n",
        -1,
    ):
        path = save(tmp_path, 0, document([entry(0) | {key: value}]))
        try:
            dump = flight.read(path)
        except FormatError as error:
            assert str(error).isprintable()
        else:
            call = dump.calls[0]
            assert (call.group + call.where + call.op + "".join(call.dtypes[0])).isprintable()


@pytest.mark.parametrize("key", ["version", "pg_config", "pg_status", "entries"])
def test_values_without_an_end_beside_the_calls(tmp_path, key):
    for value in (endless(), {"0": endless()}, {"0": {"name": endless(), "desc": "\x07", "ranks": endless()}}):
        path = save(tmp_path, 0, document([entry(0)]) | {key: value})
        try:
            dump = flight.read(path)
        except FormatError as error:
            assert str(error).isprintable()
        else:
            assert all((group.name + group.about).isprintable() for group in dump.groups.values())


@pytest.mark.parametrize("as_json", [False, True])
def test_a_dump_without_calls(tmp_path, as_json):
    """As JSON it has no list of entries (``FlightRecorderDetail.hpp``, dump_json); its status tells whether calls were made."""
    dump = document([])
    if as_json:
        del dump["entries"]
    read = flight.read(save(tmp_path, 2, dump, as_json=as_json))
    assert (read.rank, read.calls, read.told, [*read.groups]) == (2, (), (), ["0"])
    dump["pg_status"] = {"0": {"last_enqueued_collective": "7"}}
    (told,) = flight.read(save(tmp_path, 2, dump, as_json=as_json)).told
    assert "has no calls, but the state of groups that made some" in told


def test_one_call_millions_of_times_is_refused_at_once(tmp_path):
    with at_most(5), pytest.raises(FormatError, match="has 600,000 calls: expected at most 262,144"):
        flight.read(save(tmp_path, 0, document([entry(0)] * 600_000)))


@pytest.mark.parametrize(
    "key", ["time_created_ns", "time_discovered_started_ns", "time_discovered_completed_ns", "timeout_ms"]
)
@pytest.mark.parametrize("value", [5, -7, (1 << 63) - 1, 1 << 70, True, "x", [1], 1.5])
def test_times_that_are_none_count_as_not_told(tmp_path, key, value):
    """A call of 1970 would have waited for half a century."""
    if key == "timeout_ms" and value in (5, 1.5):
        return
    read = flight.read(save(tmp_path, 0, document([entry(0), entry(1, **{key: value}), entry(2)])))
    field = key.removesuffix("_ns").removesuffix("_ms").rpartition("_")[2]
    assert [getattr(call, field) is None for call in read.calls] == [False, True, False]
    (told,) = read.told
    assert f"has 1 call with a time that is none ({key}=" in told


@pytest.mark.parametrize("value", [None, 0, -1])
def test_times_that_are_not_there_are_no_defect(tmp_path, value):
    keys = ("time_created_ns", "time_discovered_started_ns", "time_discovered_completed_ns", "timeout_ms")
    read = flight.read(save(tmp_path, 0, document([entry(0, **dict.fromkeys(keys, value))])))
    assert read.told == ()
    assert read.calls[0].created is read.calls[0].timeout is None


@pytest.mark.parametrize("value", ["false", 2, None, [], 0.5])
def test_a_kind_of_call_that_is_neither(tmp_path, value):
    with pytest.raises(FormatError, match=r"entry 0 has is_p2p=.*: expected true or false"):
        flight.read(save(tmp_path, 0, document([entry(0, is_p2p=value)])))


def test_calls_that_stand_twice_count_once(tmp_path):
    calls = [entry(i) for i in range(4)]
    once, twice = (flight.read(save(tmp_path, 0, document(each))) for each in (calls, calls * 2))
    assert twice.calls == once.calls
    assert (twice.whole, twice.gaps, twice.reached) == (once.whole, once.gaps, once.reached)
    (told,) = twice.told
    assert told.endswith("has 4 calls a second time, alike in all: each counts once")
    (told,) = flight.read(save(tmp_path, 0, document([*calls, entry(3, state="started")]))).told
    assert told.endswith("has record 3 twice")


@pytest.mark.parametrize("ranks", ["[0, x]", [0, -1], [True], 5, "all", [2**40], {"a": 1}])
def test_members_that_are_none_are_told(tmp_path, ranks):
    dump = document([entry(0)])
    dump["pg_config"]["0"]["ranks"] = ranks
    read = flight.read(save(tmp_path, 0, dump))
    assert read.groups["0"].ranks == ()
    assert any("has groups whose ranks are none (" in told for told in read.told)
    for fine in ("[0, 1, ..., 7]", "", None, []):
        dump["pg_config"]["0"]["ranks"] = fine
        assert flight.read(save(tmp_path, 0, dump)).told == ()
