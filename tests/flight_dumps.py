"""Flight recorder dumps, made for tests: what PyTorch's recorder writes, as far as it is looked at."""

import json
import pickle

SECOND = 10**9
START = 1_700_000_000 * SECOND


def entry(record, op="all_reduce", sequence=None, state="completed", group=("0", "default_pg"), **more):
    """One call; sizes and types as of an all-reduce of 1,024 floats unless told."""
    point = op.startswith(("send", "recv"))
    sequence = record if sequence is None else sequence
    created = START + record * SECOND
    return {
        "record_id": record, "pg_id": int(group[0]) if group[0].isdigit() else 7, "process_group": group,
        "collective_seq_id": 0 if point else sequence, "p2p_seq_id": sequence if point else 0, "op_id": record,
        "profiling_name": f"nccl:{op}", "time_created_ns": created, "input_sizes": [[1024]], "input_dtypes": ["Float"],
        "output_sizes": [[1024]], "output_dtypes": ["Float"], "state": state,
        "time_discovered_started_ns": None if state == "scheduled" else created + SECOND // 2,
        "time_discovered_completed_ns": created + SECOND * 3 // 4 if state == "completed" else None,
        "retired": state == "completed", "timeout_ms": 600000, "is_p2p": point,
        "frames": [
            {"name": "all_reduce", "filename": "/x/site-packages/torch/distributed/distributed_c10d.py", "line": 2696},
            {"name": "step", "filename": "/home/me/train.py", "line": 120},
        ],
    } | more  # fmt: skip


def batch(sequence, ops, state="completed", end="coalesced", **more):
    """Calls that were put in together: they stay "scheduled" for ever, and one entry behind them has their state."""
    inner = [entry(0, op, sequence=sequence, state="scheduled", **more) for op in ops]
    point = any(one["is_p2p"] for one in inner)
    numbers = {"collective_seq_id": 0 if point else sequence, "p2p_seq_id": sequence if point else 0, "is_p2p": point}
    sizes = {"input_sizes": [], "output_sizes": [], "input_dtypes": [], "output_dtypes": []}
    return [*inner, entry(0, end, state=state, **sizes, **numbers, **more)]


def numbered(entries):
    """The entries of one rank in order: records from 0 on, a second apart, with the times that belong to their states."""
    return [
        one | {key: value for key, value in entry(i, state=one["state"]).items() if key in _ORDER}
        for i, one in enumerate(entries)
    ]


_ORDER = ("record_id", "op_id", "time_created_ns", "time_discovered_started_ns", "time_discovered_completed_ns")


def document(entries, ranks=range(4), groups=(), version="2.10", **more):
    """A dump of one rank; ``groups``: (name, description, ranks) beside the default one."""
    everyone = [("0", "default_pg", list(ranks)), *groups]
    config = {name: {"name": name, "desc": about, "ranks": str(list(members))} for name, about, members in everyone}
    return {"version": version, "entries": list(entries), "pg_config": config, "pg_status": {}} | more


def save(folder, rank, dump, protocol=2, as_json=False):
    """The file of a rank; its path."""
    path = folder / f"nccl_trace_rank_{rank}"
    if as_json:
        path.write_text(json.dumps(dump))
    else:
        path.write_bytes(pickle.dumps(dump, protocol))
    return str(path)
