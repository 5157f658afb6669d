"""MSCCL++ plans of both generations: what operations become, and what is counted and refused."""

import json

import numpy as np
import pytest
from schedule_samples import fabric

from hopline.errors import FormatError, InputError
from hopline.formats.schedules import table
from hopline.formats.schedules.contents import Asked
from hopline.schedule.check.proof import check
from hopline.schedule.operations import COPY, RECV, REDUCE, SEND
from hopline.sim.engine import simulate

MEMORY = {"channel_type": "memory"}
PORT = {"channel_type": "port"}


def local(buffer, index, size=1):
    return {"type": buffer, "index": index, "size": size}


def remote(number, index, size=1):
    return {"buffer_id": number, "index": index, "size": size}


def op(name, source=(), target=(), channels=None, kind=MEMORY, **more):
    out = {"name": name, **(kind if name not in ("nop", "barrier") else {}), **more}
    out |= {"src_buff": list(source)} if source else {}
    out |= {"dst_buff": list(target)} if target else {}
    return out | ({"channel_ids": channels} if channels is not None else {})


def threads(number, *ops, kind="memory", channels=(0,), buffers=(0, 1)):
    return {
        "id": number, "ops": list(ops), "channels": [{"channel_type": kind, "channel_ids": list(channels)}],
        "remote_buffer_refs": [{"access_channel_type": kind, "remote_buffer_ids": list(buffers)}],
    }  # fmt: skip


def two(first, second, name="allreduce", chunks=(2, 2, 2), channels=1, kind="memory", **more):
    """A plan of two GPUs with lists of thread blocks; remote buffers 0 (input) and 1 (scratch) of the other."""
    gpus = [
        {
            "id": rank, "input_chunks": chunks[0], "output_chunks": chunks[1], "scratch_chunks": chunks[2], "threadblocks": blocks,
            "channels": [{"channel_type": kind, "connected_to": [1 - rank] * channels}],
            "remote_buffers": [{"rank": 1 - rank, "type": buffer, "access_channel_types": [kind]} for buffer in "is"],
            "semaphores": more.get("semaphores", []),
        }
        for rank, blocks in enumerate((first, second))
    ]  # fmt: skip
    plan = {"name": "made", "collective": name, "protocol": "Simple", "inplace": True, "gpus": gpus}
    return plan | {"buffer_alignment": 16} | more.get("top", {})


def saved(tmp_path, plan):
    path = tmp_path / "plan.json"
    path.write_text(plan if isinstance(plan, str) else json.dumps(plan))
    return str(path)


def read(tmp_path, plan, size=64):
    return table.read(saved(tmp_path, plan), Asked(size=size))


def kinds(schedule, rank):
    return schedule.columns.kind[schedule.columns.rank == rank].tolist()


def exchange(rank, *, before=True, after=True):
    """Half of an all-reduce by reading: wait until the other is there, add its half, put the sum back, tell it."""
    ops = [op("signal", channels=[0]), op("wait", channels=[0]), op("nop")] if before else []
    ops += [
        op("rres", [local("i", rank), remote(0, rank)], [local("i", rank), remote(0, rank)], reduce_op="sum"),
        op("nop"),
    ]
    return ops + ([op("signal", channels=[0]), op("wait", channels=[0])] if after else [])


def test_reading_adding_and_putting_back_is_an_all_reduce(tmp_path):
    reading = read(tmp_path, two([threads(0, *exchange(0))], [threads(0, *exchange(1))]))
    assert check(reading.schedule).faults == ()
    assert check(reading.schedule).unchecked == ()
    assert simulate(reading.schedule, fabric(2)).messages == 8
    assert "4 nop, 4 signal, 4 wait only order what others do" in reading.remarks


def test_without_the_first_signals_nothing_is_lost_and_without_the_last_neither(tmp_path):
    """Inputs are there from the start; but who reads what the other still writes is told."""
    late = [threads(0, *exchange(0, before=False))], [threads(0, *exchange(1, before=False))]
    assert check(read(tmp_path, two(*late)).schedule).faults == ()


def test_a_put_that_nobody_is_told_of_is_read_too_early(tmp_path):
    def plan(*waits):
        put = op("put", [local("i", 0)], [remote(1, 0)])
        reader = threads(0, *waits, op("copy", [local("s", 0)], [local("i", 1)]))
        return two([threads(0, put, op("signal", channels=[0]))], [reader], "custom")

    untold = check(read(tmp_path, plan()).schedule).faults
    assert [fault.kind for fault in untold][:1] == ["early"]
    assert check(read(tmp_path, plan(op("wait", channels=[0]))).schedule).faults == ()


def test_signals_that_nobody_waits_for_are_no_messages(tmp_path):
    schedule = read(tmp_path, two([threads(0, op("signal", channels=[0]))], [threads(0)], "custom")).schedule
    assert len(schedule) == 0


def test_what_is_heard_of_others_goes_on_with_signals(tmp_path):
    """0 puts to 2 and tells 1; 1 tells 2; 2 then reads what 0 has put: in order, though 0 and 2 never signal each other."""
    ends = {0: [1, 2], 1: [0, 2], 2: [0, 1]}
    ops = {
        0: [op("put", [local("i", 0)], [remote(1, 0)]), op("signal", channels=[0])],
        1: [op("wait", channels=[0]), op("signal", channels=[1])],
        2: [op("wait", channels=[1]), op("copy", [local("s", 0)], [local("i", 1)])],
    }
    gpus = [
        {
            "id": rank, "input_chunks": 2, "output_chunks": 2, "scratch_chunks": 2,
            "threadblocks": [threads(0, *ops[rank], channels=(0, 1))], "channels": [{"channel_type": "memory", "connected_to": ends[rank]}],
            "remote_buffers": [{"rank": peer, "type": "s", "access_channel_types": ["memory"]} for peer in ends[rank]], "semaphores": [],
        }
        for rank in range(3)
    ]  # fmt: skip
    plan = {"name": "chain", "collective": "custom", "protocol": "Simple", "inplace": True, "gpus": gpus}
    assert check(read(tmp_path, plan).schedule).faults == ()


def packets(rank, wait=True):
    first = [op("ppkt", [local("i", 1 - rank)], [remote(1, 0)])]
    second = [op("respkt", [local("i", rank), local("s", 0)], [local("i", rank), remote(1, 1)], reduce_op="sum")]
    third = [op("upkt", [local("s", 1)], [local("i", 1 - rank)])]
    return (
        [threads(0, *first, *second, *third)] if wait else [threads(0, *first), threads(1, *second), threads(2, *third)]
    )


@pytest.mark.parametrize("together", [True, False])
def test_packets_wait_for_their_writers(tmp_path, together):
    schedule = read(tmp_path, two(packets(0, together), packets(1, together))).schedule
    assert [fault for fault in check(schedule).faults if fault.kind != "overwritten"] == []
    assert simulate(schedule, fabric(2)).messages == 4
    assert sorted(kinds(schedule, 0)) == sorted([SEND, SEND, RECV, RECV, REDUCE, COPY])


def test_packets_that_nobody_writes_never_come(tmp_path):
    with pytest.raises(
        FormatError, match=r"operation 0 of thread block 0 of gpu 1 \(upkt\) waits for ever: nobody writes"
    ):
        read(tmp_path, two([threads(0)], [threads(0, op("upkt", [local("s", 0)], [local("i", 0)]))]))


def test_packets_written_twice_are_refused(tmp_path):
    writer = threads(0, *[op("ppkt", [local("i", i)], [remote(1, 0)]) for i in range(2)])
    with pytest.raises(FormatError, match="reads packets that are written twice"):
        read(tmp_path, two([writer], [threads(0, op("upkt", [local("s", 0)], [local("i", 0)]))]))


def test_a_get_waits_for_what_its_source_has_told(tmp_path):
    """1 fills its scratch, then tells 0, which gets it: the message leaves 1 behind its copy."""
    filler = threads(0, op("copy", [local("i", 1)], [local("s", 1)]), op("nop"), op("signal", channels=[0]))
    getter = threads(0, op("wait", channels=[0]), op("get", [remote(1, 1)], [local("i", 1)]))
    assert check(read(tmp_path, two([getter], [filler], "custom")).schedule).faults == ()
    hasty = threads(0, op("get", [remote(1, 1)], [local("i", 1)]))
    assert [fault.kind for fault in check(read(tmp_path, two([hasty], [filler], "custom")).schedule).faults] == [
        "overwritten"
    ]


def test_a_proxy_puts_while_its_thread_block_goes_on(tmp_path):
    def plan(*flush):
        ops = [
            op("put", [local("i", 0)], [remote(0, 1)], [0], PORT),
            *flush,
            op("copy", [local("i", 1)], [local("i", 0)]),
        ]
        return two([threads(0, *ops, kind="port")], [threads(0)], "custom", kind="port")

    assert "overwritten" in {fault.kind for fault in check(read(tmp_path, plan()).schedule).faults}
    assert check(read(tmp_path, plan(op("flush", [], [], [0], PORT))).schedule).faults == ()


def test_barriers_and_semaphores_order_thread_blocks(tmp_path):
    write, use = op("copy", [local("i", 0)], [local("s", 0)]), op("copy", [local("s", 0)], [local("i", 1)])
    meet = op("barrier", barrier_id=0, num_threadblocks=2)
    give, take = op("sem_release", semaphore_ids=[0]), op("sem_acquire", semaphore_ids=[0])
    first = {"semaphores": [{"init_value": 0}]}
    for blocks, ordered in (
        ([threads(0, write), threads(1, use)], False),
        ([threads(0, write, meet), threads(1, meet, use)], True),
        ([threads(0, write, give), threads(1, take, use)], True),
    ):
        faults = check(read(tmp_path, two(blocks, [threads(0)], "custom", **first)).schedule).faults
        assert (faults == ()) == ordered
    free = two([threads(0, write, give), threads(1, take, use)], [threads(0)], "custom", semaphores=[{"init_value": 1}])
    assert check(read(tmp_path, free).schedule).faults != ()


def test_what_waits_for_ever_is_named(tmp_path):
    alone = two([threads(0, op("wait", channels=[0]))], [threads(0)])
    with pytest.raises(
        FormatError, match=r"operation 0 of thread block 0 of gpu 0 \(wait\) waits for ever: no signal of gpu 1"
    ):
        read(tmp_path, alone)
    short = two([threads(0, op("barrier", barrier_id=0, num_threadblocks=2))], [threads(0)])
    with pytest.raises(FormatError, match="1 of 2 thread blocks come to its barrier"):
        read(tmp_path, short)


def test_a_channel_of_two_thread_blocks_is_refused(tmp_path):
    both = [threads(i, op("signal", channels=[0])) for i in range(2)]
    with pytest.raises(FormatError, match="shares its channel or semaphore with thread block 0"):
        read(tmp_path, two(both, [threads(0, op("wait", channels=[0]))]))


def test_groups_of_thread_blocks_share_their_ranges(tmp_path):
    parts = [op("put", [local("i", 0)], [remote(1, 0)], tbg_info={"tb_id": i, "tbg_size": 2}) for i in range(2)]
    schedule = read(
        tmp_path, two([threads(i, part) for i, part in enumerate(parts)], [threads(0)], "custom"), 96
    ).schedule
    sends = schedule.columns.kind == SEND
    assert sorted(zip(schedule.columns.start[sends].tolist(), schedule.columns.size[sends].tolist(), strict=True)) == [
        (0, 32),
        (32, 16),
    ]


@pytest.mark.parametrize(
    ("name", "what"), [("glres", "1 glres add up or store in the switch"), ("pipeline", "1 pipeline go over chunks")]
)
def test_switches_and_loops_are_counted_and_refused(tmp_path, name, what):
    inner = {"ops": [op("nop")]} if name == "pipeline" else {}
    path = saved(tmp_path, two([threads(0, {"name": name, **inner})], [threads(0)]))
    facts = table.contents(path).facts
    assert facts["operations_by_name"][name] == 1
    assert facts["operations"] == 1 + len(inner)
    with pytest.raises(FormatError, match=what):
        table.read_schedule(path, size=64)


def test_sizes_are_multiples_of_aligned_chunks(tmp_path):
    path = saved(tmp_path, two([threads(0)], [threads(0)]))
    with pytest.raises(InputError, match=r"72 bytes are no multiple of 32 \(2 chunks x 16 bytes\)"):
        table.read_schedule(path, size=72)
    with pytest.raises(InputError, match="give the size of a rank's buffer, a multiple of 32 bytes"):
        table.read_schedule(path)


# --- files of 2024 --------------------------------------------------------------------------------------------------


def old(first, second, kind="sm", collective="colletive", pair=("i", "i"), chunks=(2, 0, 2)):
    gpus = [
        {
            "id": rank, "inputChunks": chunks[0], "outputChunks": chunks[1], "scratchChunks": chunks[2], "chunkGroups": 1,
            "threadblocks": [
                {"id": 0, "ops": ops, "channels": [{"src": pair[0], "dst": pair[1], "ctype": kind, "cids": [0]}]}
            ],
            "channels": [{"srcbuff": pair[0], "dstbuff": pair[1], "type": kind, "connectedTo": [1 - rank]}],
        }
        for rank, ops in enumerate((first, second))
    ]  # fmt: skip
    return {"name": "old", collective: "allreduce", "protocol": "Simple", "inplace": True, "gpus": gpus}


def old_exchange(rank):
    ends = {"src": "i", "dst": "i"}
    at = [{"id": 0, "off": rank}]
    tell = {"name": "signal", "o_buff": ends, "o_cids": [{"id": 0, "off": 0}], "ctype": "sm", "cnt": 1}
    hear = {"name": "wait", "i_buff": ends, "i_cids": [{"id": 0, "off": 0}], "ctype": "sm", "cnt": 1}
    add = {
        "name": "rrcs", "i_buff": ends, "i_cids": at, "o_buff": ends, "o_cids": at, "src": rank, "srcbuff": "i", "srcoff": rank,
        "dst": rank, "dstbuff": "i", "dstoff": rank, "ctype": "sm", "cnt": 1,
    }  # fmt: skip
    return [tell, hear, {"name": "nop", "deps": [{"tb": 0, "step": 1}]}, add, tell, hear]


def test_the_older_generation_means_the_same(tmp_path):
    older = read(tmp_path, old(old_exchange(0), old_exchange(1)))
    newer = read(tmp_path, two([threads(0, *exchange(0))], [threads(0, *exchange(1))]))
    assert older.contents.facts["collective"] == "allreduce"
    assert older.contents.facts["operations_by_name"] == {"signal": 4, "wait": 4, "nop": 2, "rrcs": 2}
    assert check(older.schedule).faults == ()
    for name in ("kind", "rank", "peer", "size", "start", "buffer"):
        assert getattr(older.schedule.columns, name).tolist() == getattr(newer.schedule.columns, name).tolist()


def test_steps_of_other_thread_blocks_in_the_older_generation(tmp_path):
    copies = [
        {"name": "copy", "srcbuff": "i", "srcoff": 0, "dstbuff": "s", "dstoff": 0, "ctype": "none", "cnt": 1},
        {"name": "copy", "srcbuff": "s", "srcoff": 0, "dstbuff": "i", "dstoff": 1, "ctype": "none", "cnt": 1},
    ]
    for deps, ordered in (([], False), ([{"tb": 0, "step": 0}], True)):
        plan = old([copies[0]], [])
        plan["colletive"] = "custom"
        plan["gpus"][0]["threadblocks"].append(
            {"id": 1, "ops": [{"name": "nop", "deps": deps}, copies[1]], "channels": []}
        )
        assert (check(read(tmp_path, plan).schedule).faults == ()) == ordered


# --- wrong files ----------------------------------------------------------------------------------------------------


def changed(change):
    plan = two([threads(0, *exchange(0))], [threads(0, *exchange(1))])
    change(plan)
    return plan


def first_op(plan, **values):
    plan["gpus"][0]["threadblocks"][0]["ops"][3].update(values)


WRONG = {
    "cut": (json.dumps(two([], []))[:-5], "is no MSCCL++ plan: Input data was truncated"),
    "another shape": ('{"gpus": [1, 2, 3]}', "is no MSCCL++ plan: Expected `object`, got `int`"),
    "no gpus": (changed(lambda plan: plan["gpus"].clear()), "0 gpus: expected 1 to"),
    "ids": (changed(lambda plan: plan["gpus"][1].update(id=5)), "gpu 1 has id 5: expected 1"),
    "unknown operation": (changed(lambda plan: first_op(plan, name="teleport")), "is called 'teleport': expected an operation"),
    "unknown peer": (changed(lambda plan: plan["gpus"][0]["channels"][0].update(connected_to=[9])), "has a channel to 9"),
    "unknown buffer": (changed(lambda plan: plan["gpus"][0]["remote_buffers"].clear()), "uses remote buffer 0: expected 0 to -1"),
    "unknown channel": (changed(lambda plan: plan["gpus"][0]["threadblocks"][0]["ops"][0].update(channel_ids=[7])), "uses channel_id 7"),
    "beyond": (changed(lambda plan: first_op(plan, dst_buff=[local("i", 5)])), "uses chunks 5 to 5 of buffer i, which has 2"),
    "negative": (changed(lambda plan: first_op(plan, dst_buff=[local("i", -1)])), "uses chunks -1 to -1"),
    "sizes": (changed(lambda plan: first_op(plan, dst_buff=[local("i", 0, 2)])), "inputs and"),
    "no inputs": (changed(lambda plan: first_op(plan, src_buff=[])), "has 0 inputs"),
    "huge": (changed(lambda plan: plan["gpus"][0].update(scratch_chunks=10**12)), "has 1000000000000 chunks of buffer s"),
    "alignment": (changed(lambda plan: plan.update(buffer_alignment=0)), "buffer_alignment is 0"),
    "thread blocks": (changed(lambda plan: plan["gpus"][0].update(threadblocks=[threads(0), threads(0)])), "2 thread blocks with 1 ids"),
    "parts": (changed(lambda plan: first_op(plan, tbg_info={"tb_id": 3, "tbg_size": 2})), "is part 3 of 2"),
    "deep": ('{"gpus": [' + "[" * 100_000, "is no MSCCL++ plan"),
}  # fmt: skip


@pytest.mark.parametrize(("plan", "said"), WRONG.values(), ids=WRONG)
def test_wrong_files_are_refused_in_one_line(tmp_path, plan, said):
    path = saved(tmp_path, plan)
    with pytest.raises(FormatError) as error:
        table.read_schedule(path, size=64)
    assert said in str(error.value)
    assert path in str(error.value)
    assert "\n" not in str(error.value)


def test_bytes_are_those_of_the_chunks(tmp_path):
    schedule = read(tmp_path, two([threads(0, *exchange(0))], [threads(0, *exchange(1))]), 640).schedule
    assert set(np.unique(schedule.columns.size).tolist()) == {0, 320}


def test_rows_are_found_again_in_the_plan(tmp_path):
    """Both ends of a message name the operation that makes it, which stands on one GPU only."""
    put = [op("nop"), op("put", [local("i", 0)], [remote(1, 0)]), op("signal", channels=[0])]
    take = [op("wait", channels=[0]), op("copy", [local("s", 0)], [local("i", 1)])]
    reading = read(tmp_path, two([threads(3, *put)], [threads(0), threads(5, *take)], "custom"))
    found = sorted((reading.place(row), int(kind)) for row, kind in enumerate(reading.schedule.columns.kind))
    assert found == [
        ("gpu 0 threadblock 3 op 1", SEND), ("gpu 0 threadblock 3 op 1", RECV), ("gpu 0 threadblock 3 op 2", SEND),
        ("gpu 0 threadblock 3 op 2", RECV), ("gpu 1 threadblock 5 op 1", COPY),
    ]  # fmt: skip
