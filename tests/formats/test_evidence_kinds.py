"""Which evidence a file is, told from its content."""

import gzip
import io
import json
import pickle
import tarfile
from pathlib import Path

import pytest
from field import FIELD, needed
from flight_dumps import document, entry
from nsys_exports import Export

from hopline.errors import FormatError
from hopline.formats.evidence import EVIDENCE, kind_of
from hopline.jobs.loading import resolve

MEGATRON = b" iteration      100/  500 | consumed samples: 1 | elapsed time per iteration (ms): 1234.5 | lm loss: 1 |\n"
DUMP = document([entry(0)])
SAMPLES = {
    "kineto": [
        b'{"schemaVersion": 1, "traceEvents": [{"ph": "X"}]}', b'[{"ph": "X", "ts": 1}]',
        b'{"deviceProperties": [' + b" " * 900_000 + b'], "traceEvents": []}', b'\xef\xbb\xbf{"traceEvents": []}',
    ],
    "flight": [
        *(pickle.dumps(DUMP, protocol) for protocol in range(6)), pickle.dumps([entry(0)], 2), json.dumps(DUMP).encode(),
        json.dumps([entry(0)]).encode(), b"cos\nsystem\n(S'id'\ntR.",
        b'{"comm_lib_version":"2.27","pg_config":{},"pg_status":{},"version":"2.10"}',
    ],
    "execution": [b'{"schema": "1.0.1", "nodes": []}', b'{"workload_graph": []}', b"\x07\n\x050.0.4"],
    "log": [
        MEGATRON, b"noise\n" * 200_000 + MEGATRON, b"\xff\n" + MEGATRON,
        b"steps: 10 loss: 8.4 iter time (s): 0.5 samples/sec: 15.0\n",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "data"), [(kind, data) for kind, all_ in SAMPLES.items() for data in all_])
@pytest.mark.parametrize("packed", [False, True])
def test_content_tells_the_kind(tmp_path, kind, data, packed):
    path = tmp_path / "anything.nccl"
    path.write_bytes(gzip.compress(data) if packed else data)
    assert kind_of(str(path)) == kind


def test_databases_and_archives(tmp_path):
    assert kind_of(Export(tmp_path / "x").done()) == "nsys"
    for kind in ("kineto", "execution"):
        path = tmp_path / f"{kind}.tgz"
        with tarfile.open(path, "w:gz") as tar:
            folder = tarfile.TarInfo("folder")
            folder.type = tarfile.DIRTYPE
            tar.addfile(folder)
            info = tarfile.TarInfo("folder/x")
            info.size = len(SAMPLES[kind][0])
            tar.addfile(info, io.BytesIO(SAMPLES[kind][0]))
        assert kind_of(str(path)) == kind


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("x", b"", "is empty: expected a trace, dump or log"), ("x", b"hello\n", "is of no known kind (it begins 'hello')"),
        ("x", b"\x7fELF" + bytes(99), "looks like a program"), ("x", b"PK\x03\x04" + bytes(99), "looks like a zip archive"),
        ("x", b"<!DOCTYPE html><p>not found", "looks like a web page"), ("x", b'{"a": 1}', "is JSON of something else"),
        ("x", b"[2024-01-01 10:00:00,123] [INFO] step=10\n", "is of no known kind"),
        ("x", b"[1.5, 2]", "is JSON of something else"),
        ("x", bytes(5000), "looks like nothing but zeros"), ("x.nsys-rep", b"QDREP\1\2", "nsys export --type sqlite"),
        ("x", b"# OSU MPI Latency Test v7.1\n# Size  Latency (us)\n1 2.5\n", "'hopline fit' reads it"),
        ("x", gzip.compress(MEGATRON)[:-9], "is cut"), ("x", gzip.compress(MEGATRON)[:12], "is cut"),
    ],
)  # fmt: skip
def test_anything_else_is_named(tmp_path, name, data, words):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(FormatError) as error:
        kind_of(str(path))
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


def test_sparse_files_and_folders(tmp_path):
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(8 << 30)
    for path in (tmp_path / "sparse", tmp_path, tmp_path / "none"):
        with pytest.raises(FormatError):
            kind_of(str(path))


def test_readers_exist():
    for row in EVIDENCE.values():
        assert callable(resolve(row.reader))


@needed
@pytest.mark.parametrize(
    "path", sorted((FIELD / "traces").rglob("*.gz") if FIELD.is_dir() else []), ids=lambda path: path.name
)
def test_the_field(path):
    """Names of execution traces say it, and all others are traces or archives of them."""
    expected = (
        "execution"
        if path.name.endswith("_et.json.gz") or "chakra-" in path.name[:7] or "execution-trace-et" in path.name
        else "kineto"
    )
    assert kind_of(str(path)) == expected


def test_this_text_is_nothing():
    with pytest.raises(FormatError):
        kind_of(str(Path(__file__).parents[1] / "field.py"))
