"""What launchers, terminals and broken copies do to a log."""

import os
from pathlib import Path

import pytest

from hopline.errors import FormatError
from hopline.formats import lines

MiB = 1 << 20


def clean(tmp_path, data: bytes) -> tuple[list[tuple[int, bytes]], list[str]]:
    file = tmp_path / "log"
    file.write_bytes(data)
    notes: list[str] = []
    return [pair for block in lines.blocks(str(file), notes) for pair in lines.split(block)], notes


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"8 2 float", b"8 2 float"),
        (b"8 2 float\r", b"8 2 float"),
        (b"\x1b[1;32m8 2\x1b[0m float", b"8 2 float"),
        (b"[1,0]<stdout>:   8 2 float", b"8 2 float"),
        (b"[prterun-node-7@1,3]<stderr>: 8 2 float", b"8 2 float"),
        (b"0:    8 2 float", b"8 2 float"),
        (b" 12: # size count", b"# size count"),
        (b"0: 4   113.45", b"4 113.45"),
        (b"[0] 8 2[0] float", b"8 2 float"),
        (b"[17] # OSU MPI", b"# OSU MPI"),
        (b"2026-02-03T10:11:12.345678Z 8 2 float", b"8 2 float"),
        (b"2026-02-03T10:11:12Z stdout F 8 2 float", b"8 2 float"),
        (b"[2026-02-03 10:11:12,345] 8 2 float", b"8 2 float"),
        (b"10:11:12 8 2 float", b"8 2 float"),
        (b"2026-02-03 10:11:12 [1,0]<stdout>:8 2 float", b"8 2 float"),
        (b"8 2 \0\0\0float", b"8 2 float"),
        (b"\xff\xfe8 2", b"\xff\xfe8 2"),
    ],
)
def test_what_launchers_and_terminals_add_is_taken_off(tmp_path, raw, words):
    (_, got), (number, second) = clean(tmp_path, raw + b"\nsecond\n")[0]
    assert got.split() == words.split()
    assert (number, second.strip()) == (2, b"second")


@pytest.mark.parametrize(
    "raw",
    [
        b"  0:       1 bytes  32103 times -->      4.58 Mbps in       1.67 usec",
        b"node1:711:715 [3] NCCL INFO Channel 02 : 3[3] -> 4[4]",
        b"[node1:31808] [ 1] libmpi.so.40(+0x1)[0x2]",
        b"# Avg bus bandwidth    : 7.5",
    ],
)
def test_what_only_looks_like_a_label_stays(tmp_path, raw):
    assert clean(tmp_path, raw + b"\n")[0] == [(1, raw)]


def test_line_numbers_hold_over_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BLOCK", 7)
    data = b"".join(b"line %d\n" % n for n in range(1, 60)) + b"last"
    got, notes = clean(tmp_path, data)
    assert got == [(n, b"line %d" % n) for n in range(1, 60)] + [(60, b"last")]
    assert notes == []


def test_a_line_without_end_is_cut_out_and_the_rest_stays(tmp_path):
    with (tmp_path / "log").open("wb") as file:
        file.write(b"before\n")
        file.seek(20 * MiB, os.SEEK_CUR)
        for _ in range(3):
            file.write(b"x" * (5 * MiB))
        file.write(b"\nafter\n")
    notes: list[str] = []
    got = [line for block in lines.blocks(str(tmp_path / "log"), notes) for line in lines.split(block)]
    assert [(n, line) for n, line in got if line.strip()] == [(1, b"before"), (3, b"after")]
    assert any("longer than" in note for note in notes)


def sparse(path: Path, head: bytes = b"", tail: bytes = b"") -> str:
    with path.open("wb") as file:
        file.write(head)
        file.truncate(1 << 30)
        file.seek(1 << 30)
        file.write(tail)
    return str(path)


def test_a_sparse_gigabyte_is_refused(tmp_path):
    with pytest.raises(FormatError, match="only NUL bytes"):
        list(lines.blocks(sparse(tmp_path / "log"), []))


@pytest.mark.parametrize("part", ["head", "tail"])
def test_text_beside_a_gigabyte_of_nuls_is_found(tmp_path, part):
    notes: list[str] = []
    blocks = lines.blocks(sparse(tmp_path / "log", **{part: b"one\ntwo\n"}), notes)
    assert [line.strip() for block in blocks for _, line in lines.split(block) if line.strip()] == [b"one", b"two"]
    assert "NUL" in notes[0]


def test_one_line_of_a_gigabyte_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BLOCK", 1 << 16)
    (tmp_path / "log").write_bytes(b"y" * (8 * MiB))
    with pytest.raises(FormatError, match="never ends"):
        list(lines.blocks(str(tmp_path / "log"), []))


def test_binary_after_text_ends_the_text(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "BLOCK", 64)
    got, notes = clean(tmp_path, b"text\n" * 20 + bytes(range(32)) * 9)
    assert {line for _, line in got if line.strip()} == {b"text"}
    assert "binary" in notes[0]


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"", "is empty"), (b"\n\n\n", "empty lines"), (b"\x7fELF\2\1\1\0\0" + bytes(range(1, 20)) * 9, "binary")],
)
def test_contents_that_hold_nothing(tmp_path, data, why):
    with pytest.raises(FormatError, match=why) as error:
        clean(tmp_path, data)
    assert "\n" not in str(error.value)
    assert "log" in str(error.value)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/", "directory"),
        ("/no/such\nfile", "No such file"),
        ("a\0b", "cannot be read: no file can have a name with a null byte"),
        ("/dev/zero", "is a device or socket: expected a log file or a pipe"),
    ],
)
def test_paths_that_cannot_be_read(path, why):
    with pytest.raises(FormatError, match=why) as error:
        list(lines.blocks(path, []))
    assert "\n" not in str(error.value)


def test_a_file_without_permission(tmp_path):
    file = tmp_path / "log"
    file.write_text("text\n")
    file.chmod(0)
    if os.access(file, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(FormatError, match="Permission"):
        list(lines.blocks(str(file), []))


def test_excerpts_are_one_printable_line():
    text = lines.excerpt(b"a\tb\x1b \xff" + b"c" * 1000)
    assert text.startswith("a b? ")
    assert text.isprintable()
    assert len(text) <= 120
