"""Which kind a schedule file is, and the functions that go by it."""

import subprocess
import sys

import pytest
from schedule_samples import GOAL, collective, ring_of_combined_steps, trace, write_traces

from hopline.errors import FormatError, OutputError, UnknownNameError
from hopline.formats.schedules import table
from hopline.formats.schedules.contents import Asked, listed
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.shape import Shape

SCHEDGEN = b'{"ptrn": "ring", "algotithm": "ring", "comm_size": 16}'
KINDS = {
    "goal": GOAL.encode(), "msccl": ring_of_combined_steps().encode(), "chakra": trace([collective(1, "all_reduce", 8)]),
    "chakra-json": b'\n {"schema": 1, "workload_graph": []}', "mscclpp": b'{"name": "a", "gpus": [ ]}', "schedgen": SCHEDGEN,
    "traffic": b"# made by hand\nsrc,dst,bytes\n0,1,8\n", "ns3-flow": b"1\n2 1 3 100 2000 2\n",
    "htsim-cm": b"Nodes 4\nConnections 1\n0->3 start 0 size 8\n",
}  # fmt: skip


@pytest.mark.parametrize(("name", "data"), KINDS.items(), ids=KINDS)
def test_kinds_are_told_by_content(tmp_path, name, data):
    for file in ("a.dat", "a.goal"):
        path = tmp_path / file
        path.write_bytes(data)
        assert table.recognise(str(path)).name == name
        path.write_bytes(b"\xef\xbb\xbf" + data if name not in ("chakra",) else data)
        assert table.recognise(str(path)).name == name


def test_every_kind_has_a_test():
    assert set(KINDS) == set(table.SCHEDULE_FORMATS)


def test_a_goal_file_may_begin_with_comments(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"// made by hand\n/* for\n * two */\n\n  num_ranks 2\n")
    assert table.recognise(str(path)).name == "goal"


NONE_OF_THEM = {
    "prose": b"Dear all,\nplease send everything to rank 3.\n", "noise": bytes(range(256)) * 9, "zeros": bytes(4096),
    "other XML": b"<?xml version='1.0'?><topology/>", "other JSON": b'{"a": 1}', "a list": b"[1, 2]",
    "a log": b"# OSU MPI Latency Test v7\n# Size  Latency (us)\n8  1.5\n",
}  # fmt: skip


@pytest.mark.parametrize("data", NONE_OF_THEM.values(), ids=NONE_OF_THEM)
def test_anything_else_is_refused_in_one_line(tmp_path, data):
    path = tmp_path / "a.goal"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=r"is no schedule file that hopline knows.*: expected GOAL") as error:
        table.recognise(str(path))
    assert "\n" not in str(error.value)


def test_folders_empty_and_missing_files(tmp_path):
    with pytest.raises(FormatError, match="is a folder: expected a schedule file"):
        table.recognise(str(tmp_path))
    (tmp_path / "empty").touch()
    with pytest.raises(FormatError, match="is empty: expected a schedule"):
        table.recognise(str(tmp_path / "empty"))
    with pytest.raises(FormatError, match="cannot be read: No such file"):
        table.recognise(str(tmp_path / "none"))
    with pytest.raises(FormatError, match="null byte"):
        table.recognise("a\0b")


def test_a_configuration_is_told_from_a_schedule(tmp_path):
    path = tmp_path / "config.json"
    path.write_bytes(SCHEDGEN)
    with pytest.raises(
        FormatError,
        match=r"is a configuration of Schedgen2, no schedule; unknown key 'algotithm' \(did you mean 'algorithm'\?\)",
    ):
        table.contents(str(path))
    path.write_bytes(SCHEDGEN.replace(b"algotithm", b"algorithm"))
    with pytest.raises(FormatError) as error:
        table.contents(str(path))
    assert "unknown" not in str(error.value)


def test_standard_input(tmp_path):
    (tmp_path / "a.goal").write_text(GOAL)
    code = "from hopline.formats.schedules import table; print(table.read_schedule('-').ranks, table.contents('-').facts['sends'])"
    with (tmp_path / "a.goal").open("rb") as file:
        told = subprocess.run([sys.executable, "-c", code], stdin=file, capture_output=True, text=True, check=True)
    assert told.stdout == "3 2\n"


def test_unknown_and_read_only_formats(tmp_path):
    schedule = COLLECTIVES["all_gather-ring"].build(Shape(2, 8))
    with pytest.raises(UnknownNameError, match="unknown schedule format 'gaol': did you mean 'goal'"):
        table.write_schedule(schedule, str(tmp_path / "a"), "gaol")
    with pytest.raises(FormatError, match="is only read: expected one of goal, msccl"):
        table.write_schedule(schedule, str(tmp_path / "a"), "chakra")
    with pytest.raises(UnknownNameError, match="unknown schedule format"):
        table.read(str(tmp_path / "a"), Asked(), "gaol")
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written(tmp_path):
    schedule = COLLECTIVES["all_gather-ring"].build(Shape(2, 8))
    for format_name in ("goal", "msccl"):
        with pytest.raises(OutputError, match="cannot be written: No such file"):
            table.write_schedule(schedule, str(tmp_path / "no" / "a"), format_name)


def test_a_plan_is_read_once_and_asked_often(tmp_path):
    path = tmp_path / "ring.xml"
    path.write_text(ring_of_combined_steps())
    plan = table.plan(str(path))
    path.unlink()
    assert [plan.reading(Asked(size=size)).schedule.buffers[0].size for size in (3, 30)] == [3, 30]


def test_traces_beside_one_another_are_found_from_any(tmp_path):
    write_traces(tmp_path, [[collective(0, "all_gather", 8)]] * 3)
    assert [table.contents(str(tmp_path / f"trace.{rank}.et")).ranks for rank in range(3)] == [3, 3, 3]


def test_numbers_in_words():
    assert listed([3, 1, 2, 9]) == "1-3, 9"
    assert listed(range(0, 40, 2), most=3) == "0, 2, 4, ..."
