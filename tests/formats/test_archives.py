"""Archives that are damaged or cut where one member ends and the next begins."""

import gzip
import io
import json
import tarfile

import pytest

from hopline.errors import FormatError
from hopline.formats import execution_traces
from hopline.formats.kineto.reader import read_traces

EVENT = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"correlation": 1}}
TRACES = [json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": [EVENT]}).encode() for rank in range(2)]
GRAPHS = [json.dumps({"workload_graph": [{"Id": at, "Name": "x", "NodeType": 4}]}).encode() for at in range(2)]
BLOCK = 512


def packed(parts):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for at, data in enumerate(parts):
            info = tarfile.TarInfo(f"rank{at}.json")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def hurt(data, second, how):
    if how == "checksum":
        return data[: second + 3] + b"\xff" + data[second + 4 :]
    return data[: second + {"cut before the head": 0, "cut in the head": 100}[how]]


@pytest.mark.parametrize("how", ["checksum", "cut before the head", "cut in the head"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("read", "parts"),
    [(lambda path: read_traces([path]), TRACES), (execution_traces.read, GRAPHS)],
    ids=["traces", "graphs"],
)
def test_no_member_is_lost_without_a_word(tmp_path, read, parts, pack, how):
    path = tmp_path / "all.tar"
    whole = packed(parts)
    path.write_bytes(pack(whole))
    assert len(read(str(path))) == 2
    path.write_bytes(pack(hurt(whole, BLOCK + -(-len(parts[0]) // BLOCK) * BLOCK, how)))
    with pytest.raises(FormatError, match="after byte 1024") as error:
        read(str(path))
    assert "copy it again" in str(error.value)
