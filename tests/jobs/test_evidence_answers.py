"""Answers for dumps, logs and execution traces, as commands have them."""

import json

import pytest
from flight_dumps import document, entry, save
from nsys_exports import Export

from hopline.errors import InputError
from hopline.jobs import evidence
from hopline.show.document import plain


def dumps(tmp_path):
    calls = {rank: [entry(i) for i in range(5)] for rank in range(4)}
    for rank in (0, 1, 3):
        calls[rank].append(entry(5, state="started"))
    return [save(tmp_path, rank, document(mine)) for rank, mine in calls.items()]


def log(tmp_path):
    path = tmp_path / "train.log"
    path.write_text(
        "".join(f" iteration {i}/ 50 | elapsed time per iteration (ms): {100 + i % 3} |\n" for i in range(1, 51))
    )
    return str(path)


def test_a_hang(tmp_path):
    answer = evidence.answer(dumps(tmp_path))
    assert answer.kind == "flight"
    text = plain(answer.blocks)
    assert "Rank 2 never made call 5 of group 0 (default_pg) of ranks 0-3 (all_reduce)." in text
    assert "Ranks 0-1, 3 wait in it.\n" in text
    assert json.loads(json.dumps(answer.json))["breaks"][0]["odd"] == [2]


def test_no_hang_is_said(tmp_path):
    paths = [save(tmp_path, rank, document([entry(i) for i in range(5)])) for rank in range(4)]
    assert "No defect: every call of each group is the same on all its ranks and done" in plain(
        evidence.answer(paths).blocks
    )
    text = plain(evidence.answer(paths[:3]).blocks)
    assert "There is no dump of rank 3" in text
    assert "Nothing can be compared" in plain(evidence.answer(paths[:1]).blocks)


def test_a_log(tmp_path):
    answer = evidence.answer([log(tmp_path)])
    assert answer.json["logs"][0]["median"] == pytest.approx(0.101)
    assert "A step takes 101.0 ms" in plain(answer.blocks)


def test_an_execution_trace(tmp_path):
    path = tmp_path / "et.json"
    path.write_text('{"workload_graph": [{"Id": 1, "Name": "c10d::allreduce_(0)", "NodeType": 7}]}')
    answer = evidence.answer([str(path)])
    assert answer.json["executions"][0]["sent"] == [{"op": "all_reduce", "calls": 1, "sized": 0, "size": None}]
    assert "1 call without a size" in plain(answer.blocks)


def test_the_schema_of_an_execution_trace_is_printable(tmp_path):
    path = tmp_path / "et.json"
    path.write_text('{"schema": "1.0\\u001b[2J\\n", "nodes": [{"id": 1, "name": "x", "ctrl_deps": 1}]}')
    answer = evidence.answer([str(path)])
    assert "\x1b" not in plain(answer.blocks)
    assert r"PyTorch execution trace 1.0\x1b[2J\n" in plain(answer.blocks)


def test_kinds_are_kept_apart(tmp_path):
    paths = [*dumps(tmp_path), log(tmp_path)]
    assert evidence.by_kind(paths) == {"flight": paths[:4], "log": paths[4:]}
    with pytest.raises(InputError, match="files of several kinds"):
        evidence.answer(paths)


def test_exports_are_traces(tmp_path):
    export = Export(tmp_path / "x.sqlite")
    export.kernel(1, 2)
    path = export.done()
    assert [trace.source for trace in evidence.traces([path])] == [path]
    with pytest.raises(InputError, match="is a trace"):
        evidence.answer([path])
