"""``hopline explain`` as it is typed: what goes in, what is written, and what is refused in a line."""

import gzip
import json
import os
import pickle
import random
from pathlib import Path

import pytest
from typed import hopline

EXAMPLE = Path(__file__).parents[2] / "examples" / "traces"
RANK0 = EXAMPLE / "rank0.pt.trace.json.gz"


def text():
    return gzip.decompress(RANK0.read_bytes()).decode()


def test_a_folder_is_explained_and_says_it_in_json_too(capsys):
    code, out, err = hopline(capsys, "explain", EXAMPLE)
    assert (code, err) == (0, "")
    assert "Ranks wait for rank 5" in out
    assert "left out" not in out
    code, out, _ = hopline(capsys, "explain", EXAMPLE, "--json")
    found = json.loads(out)
    truth = json.loads((EXAMPLE / "truth.json").read_text())
    assert code == 0
    assert [rank["exposed"] * 1e9 for rank in found["ranks"]] == pytest.approx(truth["exposed_ns"], abs=2)
    assert found["kind"] == "traces"


def test_an_example_is_written_once_and_explained(capsys, tmp_path):
    folder = tmp_path / "traces"
    assert hopline(capsys, "explain", "--example", folder)[0] == 0
    assert len(list(folder.glob("*.gz"))) == 8
    code, out, err = hopline(capsys, "explain", "--example", folder)
    assert (code, out) == (2, "")
    assert "not empty" in err


def test_files_are_written_and_others_are_kept(capsys, tmp_path):
    page, perfetto = tmp_path / "step.html", tmp_path / "step.json.gz"
    code, out, _ = hopline(capsys, "explain", EXAMPLE, "--report", page, "--perfetto", perfetto)
    assert code == 0
    assert str(page) in out
    assert "rank 5" in page.read_text()
    assert json.loads(gzip.decompress(perfetto.read_bytes()))["traceEvents"]
    page.write_text("mine")
    assert hopline(capsys, "explain", EXAMPLE, "--report", page)[0] == 2
    assert page.read_text() == "mine"


@pytest.mark.parametrize("name", ["step.pdf", "step"])
def test_a_report_is_html(capsys, tmp_path, name):
    code, _, err = hopline(capsys, "explain", EXAMPLE, "--report", tmp_path / name)
    assert code == 2
    assert "ends in .html" in err


def test_collectives_elsewhere_are_simulated(capsys):
    code, out, _ = hopline(
        capsys, "explain", EXAMPLE, "--latency", "8us", "--bandwidth", "40GB/s", "--algorithm", "ring", "--json"
    )
    assert code == 0
    there = next(row for row in json.loads(out)["what_ifs"] if row["change"].startswith("collectives on"))
    same = hopline(capsys, "explain", EXAMPLE, "--what-if", "communication=2", "--json")[1]
    twice = json.loads(same)["what_ifs"][0]
    assert there["time"] == pytest.approx(twice["time"], rel=0.01)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--what-if", "fre"], "did you mean 'free'"),
        (["--what-if", "communication"], "communication=2"),
        (["--what-if", "communication=0"], "from 0.01"),
        (["--what-if", "host=1e-18"], "--what-if host=1e-18: expected a factor from 0.01"),
        (["--what-if", "buckets=nan"], "from 1 to 1024"),
        (["--what-if", "free=2"], "expected no value"),
        (["--algorithm", "ring"], "needs a network"),
        (["--latency", "1us", "--bandwidth", "1GB/s", "--algorithm", "tree"], "no algorithm 'tree'"),
        (["--latency", "1us", "--bandwidth", "1GB/s", "--algorithm", "barrier=ring"], "of barrier"),
        (["--step", "99"], "expected all"),
        (["--what-if", "straggler=99"], "rank 99"),
    ],
)
def test_what_cannot_be_asked_is_a_line(capsys, arguments, says):
    code, out, err = hopline(capsys, "explain", EXAMPLE, *arguments)
    assert (code, out) == (2, "")
    assert says in err
    assert err.count("\n") == 1


class Evil:
    """A pickle of it runs a command."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.system, (f"touch {self.mark}",)


def damaged(folder):
    whole = text()
    cut = RANK0.read_bytes()[:2000]
    return {
        "cut.json": (whole[: len(whole) // 2].encode(), "is cut after"),
        "cut.json.gz": (cut, "is cut"),
        "other.json": (b'{"a": 1}', "is JSON of something else"),
        "words.txt": (b"hello\nworld\n", "is of no known kind"),
        "empty.json": (b"", "is empty"),
        "none.json": (b'{"traceEvents": []}', "no events"),
        "evil.pkl": (pickle.dumps({"entries": [Evil(folder / "mark")]}), "would run code"),
    }


def test_damaged_files_are_refused_in_a_line(capsys, tmp_path):
    for name, (content, says) in damaged(tmp_path).items():
        file = tmp_path / name
        file.write_bytes(content)
        code, out, err = hopline(capsys, "explain", file)
        assert (name, code, out) == (name, 2, "")
        assert says in err
        assert err.count("\n") == 1
    assert not (tmp_path / "mark").exists()


def test_a_sparse_file_of_8_gigabytes_is_refused_at_once(capsys, tmp_path):
    file = tmp_path / "sparse.json"
    with file.open("wb") as opened:
        opened.write(text()[:2000].encode())
        opened.truncate(8 << 30)
    code, _, err = hopline(capsys, "explain", file)
    assert code == 2
    assert "sparse copy" in err


def test_broken_json_of_profilers_is_mended_and_said(capsys, tmp_path):
    file = tmp_path / "rank0.json"
    whole = text().replace('"correlation":', '"comm": 0x7f12ab34, "note": NaN, "correlation":', 1)
    file.write_text(whole)
    code, out, _ = hopline(capsys, "explain", file)
    assert code == 0
    assert "pointers" in out
    assert "NaN" in out


def test_events_out_of_order_give_the_same_answer(capsys, tmp_path):
    data = json.loads(text())
    random.Random(1).shuffle(data["traceEvents"])
    file = tmp_path / "rank0.json"
    file.write_text(json.dumps(data))
    shuffled, plain = (
        json.loads(hopline(capsys, "explain", path, "--json")[1])["ranks"][0]["exposed"] for path in (file, RANK0)
    )
    assert shuffled == plain


def test_two_files_of_a_rank_are_refused(capsys, tmp_path):
    copy = tmp_path / "copy.json.gz"
    copy.write_bytes(RANK0.read_bytes())
    code, _, err = hopline(capsys, "explain", RANK0, copy)
    assert code == 2
    assert "both of rank 0" in err


def test_files_of_a_folder_that_cannot_be_read_are_named(capsys, tmp_path):
    for file in sorted(EXAMPLE.glob("*.gz"))[:3]:
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "rank3.pt.trace.json.gz").write_bytes(RANK0.read_bytes()[:2000])
    (tmp_path / "notes.txt").write_text("nothing\n")
    code, out, _ = hopline(capsys, "explain", tmp_path)
    assert code == 0
    left = out[out.index("Files left out") :]
    assert "rank3.pt.trace.json.gz is cut" in left
    assert "notes.txt is of no known kind" in left
    (empty := tmp_path / "empty").mkdir()
    assert hopline(capsys, "explain", empty)[0] == 2


def test_a_log_beside_traces_is_answered_after_them(capsys, tmp_path):
    log = tmp_path / "train.log"
    lines = [
        f" iteration {i:8d}/     100 | consumed samples: {i * 8:12d} | elapsed time per iteration (ms): {1000 + i % 3:.1f} |"
        for i in range(1, 40)
    ]
    log.write_text("\n".join(lines) + "\n")
    code, out, _ = hopline(capsys, "explain", log, RANK0, "--json")
    assert code == 0
    assert [one["kind"] for one in json.loads(out)] == ["traces", "log"]
    code, _, err = hopline(capsys, "explain", log, "--step", "3")
    assert code == 2
    assert "--step needs traces" in err


def test_without_files_it_says_what_to_give(capsys):
    code, _, err = hopline(capsys, "explain")
    assert code == 2
    assert "--example" in err
