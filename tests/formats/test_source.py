"""Where the bytes of a log can come from: pipes, standard input, compressed files, UTF-16."""

import bz2
import contextlib
import gzip
import lzma
import os
import resource
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest

from hopline.errors import FormatError
from hopline.formats import packing, source
from hopline.jobs import fitting

LOGS = Path(__file__).parents[1] / "data" / "logs"
LOG = LOGS / "osu-pairs.out"
JSON = LOGS / "nccl-j-per-iteration.json"
READ = "import sys; from hopline.jobs.fitting import read; print([len(t) for t in read(sys.argv[1]).tables])"


def rows(path) -> list[list[float]]:
    return [table.time.tolist() for table in fitting.read(str(path)).tables]


def refusal(path) -> str:
    with pytest.raises(FormatError) as error:
        fitting.read(str(path))
    assert "\n" not in str(error.value)
    return str(error.value)


PACKERS = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("pack", PACKERS.values(), ids=list(PACKERS))
@pytest.mark.parametrize("log", [LOG, JSON], ids=lambda log: log.name)
def test_compressed_files_are_known_by_their_content(tmp_path, log, pack):
    (tmp_path / "log.txt").write_bytes(pack(log.read_bytes()))
    assert rows(tmp_path / "log.txt") == rows(log)


@pytest.mark.parametrize("pack", PACKERS.values(), ids=list(PACKERS))
def test_parts_of_a_compressed_file_follow_each_other(tmp_path, pack):
    data = LOG.read_bytes()
    (tmp_path / "log").write_bytes(pack(data[:100]) + pack(data[100:]))
    assert rows(tmp_path / "log") == rows(LOG)


@pytest.mark.parametrize("pack", PACKERS.values(), ids=list(PACKERS))
def test_a_cut_compressed_file_is_refused(tmp_path, pack):
    whole = pack(LOG.read_bytes())
    (tmp_path / "log").write_bytes(whole[: len(whole) * 2 // 3])
    assert "is cut" in refusal(tmp_path / "log")


@pytest.mark.parametrize("pack", PACKERS.values(), ids=list(PACKERS))
def test_a_damaged_compressed_file_is_refused(tmp_path, pack):
    whole = bytearray(pack(LOG.read_bytes() * 20))
    middle = len(whole) // 2
    whole[middle : middle + 30] = b"\xa5" * 30
    (tmp_path / "log").write_bytes(bytes(whole))
    assert "damaged" in refusal(tmp_path / "log")


def test_zstd_is_read_or_named(tmp_path):
    (tmp_path / "log").write_bytes(b"\x28\xb5\x2f\xfd" + b"\0" * 20)
    assert "zstd" in refusal(tmp_path / "log") or "damaged" in refusal(tmp_path / "log")


def bomb(path: Path, size: int) -> Path:
    packer = zlib.compressobj(9, wbits=31)
    with path.open("wb") as file:
        for _ in range(size >> 20):
            file.write(packer.compress(b"OSU " * (1 << 18)))
        file.write(packer.flush())
    return path


def test_a_bomb_is_bounded_in_memory_and_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(packing, "MOST", 64 << 20)
    path = bomb(tmp_path / "bomb", 80 << 20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "unpacks to more than" in refusal(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 << 10


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("log", [LOG, JSON], ids=lambda log: log.name)
def test_files_from_windows(tmp_path, log, encoding):
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
    text = log.read_text().replace("\n", "\r\n")
    (tmp_path / "log").write_bytes(mark + text.encode(encoding))
    assert rows(tmp_path / "log") == rows(log)


def test_a_byte_order_mark_alone_makes_no_utf16(tmp_path):
    (tmp_path / "log").write_bytes(b"\xff\xfe" + LOG.read_bytes())
    assert len(rows(tmp_path / "log")) == len(rows(LOG))


def into(path: Path, data: bytes) -> threading.Thread:
    """Write to a pipe while somebody reads it."""

    def write() -> None:
        with contextlib.suppress(BrokenPipeError):
            path.write_bytes(data)

    thread = threading.Thread(target=write)
    thread.start()
    return thread


@pytest.mark.parametrize("log", [LOG, JSON], ids=lambda log: log.name)
def test_a_named_pipe_is_read_once_each_time(tmp_path, log):
    os.mkfifo(tmp_path / "pipe")
    for data in (log.read_bytes(), LOG.read_bytes()):
        thread = into(tmp_path / "pipe", data)
        found = rows(tmp_path / "pipe")
        thread.join()
    assert found == rows(LOG)


def test_a_pipe_that_was_refused_is_forgotten(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    thread = into(tmp_path / "pipe", b"some words\n")
    assert "none of the logs" in refusal(tmp_path / "pipe")
    thread.join()
    thread = into(tmp_path / "pipe", LOG.read_bytes())
    assert rows(tmp_path / "pipe") == rows(LOG)
    thread.join()


def test_an_empty_pipe_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    thread = into(tmp_path / "pipe", b"")
    assert "is empty" in refusal(tmp_path / "pipe")
    thread.join()


def test_a_pipe_that_never_ends_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "MOST", 1 << 20)
    os.mkfifo(tmp_path / "pipe")
    thread = into(tmp_path / "pipe", b"x\n" * (1 << 20))
    assert "holds more than" in refusal(tmp_path / "pipe")
    thread.join()


def run(arguments: list[str], **how) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", READ, *arguments], capture_output=True, text=True, timeout=60, **how)


EXPECTED = [len(table) for table in fitting.read(str(LOG)).tables]


@pytest.mark.parametrize("path", ["-", "/dev/stdin"])
def test_standard_input_from_a_pipe(path):
    with subprocess.Popen(["cat", str(LOG)], stdout=subprocess.PIPE) as cat:
        assert run([path], stdin=cat.stdout).stdout == f"{EXPECTED}\n"


@pytest.mark.parametrize("path", ["-", "/dev/stdin"])
def test_standard_input_from_a_file(path):
    with LOG.open() as file:
        assert run([path], stdin=file).stdout == f"{EXPECTED}\n"


def test_standard_input_that_is_nothing():
    told = run(["-"], stdin=subprocess.DEVNULL).stderr
    assert "standard input is a device: expected a log" in told


def test_process_substitution():
    shell = f"{sys.executable} -c '{READ}' <(gzip -c {LOG})"
    told = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=60)
    assert told.stdout == f"{EXPECTED}\n"


def test_reading_a_pipe_keeps_every_row(tmp_path):
    data = LOG.read_bytes() * 3000
    os.mkfifo(tmp_path / "pipe")
    thread = into(tmp_path / "pipe", data)
    found = fitting.read(str(tmp_path / "pipe")).tables
    thread.join()
    assert [len(table) for table in found] == EXPECTED * 3000
    assert np.all(found[-1].time == fitting.read(str(LOG)).tables[-1].time)
