"""Processes: lines, last words, and the end. The processes are shells here, no MPI."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hopline.errors import RunError
from hopline.run import launch, mpirun
from hopline.run.launch import Ranks


def shell(script: str) -> Ranks:
    return Ranks(["/bin/sh", "-c", script], dict(os.environ))


def test_lines_come_whole_whatever_the_pieces():
    with shell("printf 'a\\nb'; sleep 0.1; printf 'c\\n\\nlast'") as ranks:
        assert list(ranks.lines()) == ["a", "bc", "last"]
        ranks.finish()


def test_lines_longer_than_a_pipe():
    with shell("head -c 300000 /dev/zero | tr '\\0' x; echo; echo end") as ranks:
        first, second = ranks.lines()
    assert (len(first), second) == (300_000, "end")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Traceback\\nValueError: no\\n", ": Traceback ValueError: no"),
        ("warning\\n\\n-----\\nit ended on\\nsignal 9.\\n------\\n", ": it ended on signal 9."),
        ("", ""),
    ],
)
def test_a_bad_end_quotes_the_last_paragraph(said, words):
    with shell(f"printf '{said}' >&2; exit 7") as ranks:
        assert list(ranks.lines()) == []
        with pytest.raises(RunError) as caught:
            ranks.finish()
    assert str(caught.value) == f"the ranks failed (mpirun exit code 7){words}"


def test_a_bad_end_names_who_started_the_ranks():
    with Ranks(["/bin/sh", "-c", "exit 3"], dict(os.environ), "the starter") as ranks:
        assert list(ranks.lines()) == []
        with pytest.raises(RunError, match=r"^the ranks failed \(the starter exit code 3\)$"):
            ranks.finish()


def test_silence_is_an_error(monkeypatch):
    monkeypatch.setattr(launch, "SILENCE", 0.2)
    with shell("exec sleep 30") as ranks, pytest.raises(RunError, match=r"said nothing for 0\.2 s"):
        list(ranks.lines())
    assert ranks.process.returncode == -signal.SIGTERM


def test_stop_kills_who_does_not_listen(monkeypatch):
    monkeypatch.setattr(launch, "STOP_TIME", 0.3)
    ranks = shell("trap '' TERM; echo ready; while :; do sleep 0.05; done")
    assert next(ranks.lines()) == "ready"
    began = time.monotonic()
    ranks.stop()
    assert ranks.process.returncode == -signal.SIGKILL
    assert time.monotonic() - began < 10
    ranks.stop()


def test_stop_empties_full_pipes():
    ranks = shell("trap 'exit 0' TERM; while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done")
    assert next(ranks.lines()).startswith("x")
    ranks.stop()
    assert ranks.process.returncode is not None


def test_what_cannot_be_started_is_a_run_error(tmp_path):
    with pytest.raises(RunError, match="could not be started"):
        Ranks([str(tmp_path / "none")], {})


def test_mpirun_is_looked_for_beside_the_interpreter(monkeypatch, tmp_path):
    there = tmp_path / "mpirun"
    there.write_text("#!/bin/sh\n")
    there.chmod(0o755)
    monkeypatch.setattr(mpirun, "_script_folders", lambda: iter([tmp_path / "other", tmp_path]))
    assert mpirun.find_mpirun() == str(there)


def test_mpirun_missing_says_what_to_install(monkeypatch):
    monkeypatch.setattr(mpirun, "_script_folders", lambda: iter([]))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RunError, match=r"pip install 'hopline\[mpi\]'"):
        mpirun.find_mpirun()


def test_mpi4py_missing_says_what_to_install(monkeypatch):
    monkeypatch.setattr(mpirun.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(RunError, match=r"pip install 'hopline\[mpi\]'"):
        mpirun.rank_command("m", ["{}"], 2, "/tmp")


def test_environment_leaves_out_a_surrounding_job(monkeypatch):
    monkeypatch.setenv("PMIX_RANK", "0")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    monkeypatch.setenv("PMIX_MCA_gds", "hash")
    monkeypatch.delenv("HOME", raising=False)
    got = mpirun.environment("/here")
    assert {"PMIX_RANK", "OMPI_COMM_WORLD_SIZE"} & set(got) == set()
    assert got["PMIX_MCA_gds"] == "hash"
    assert got["HOME"]
    assert got["TMPDIR"] == "/here"


def test_the_private_folder_goes_with_all_that_is_in_it():
    with mpirun.private_folder() as folder:
        (Path(folder) / "segment").write_bytes(b"left by a crash")
    assert not Path(folder).exists()


def test_shared_memory_moves_where_dev_shm_is_full_or_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(mpirun.tempfile, "tempdir", str(tmp_path))
    for setting, value in (("SHARED_NEEDED", 2**80), ("SHARED_MEMORY", Path("/nowhere"))):
        with monkeypatch.context() as one:
            one.setattr(mpirun, setting, value)
            with mpirun.private_folder() as folder:
                assert Path(folder).parent == tmp_path


def test_no_place_for_a_folder_is_a_run_error(monkeypatch, tmp_path):
    monkeypatch.setattr(mpirun, "SHARED_MEMORY", tmp_path / "none")
    monkeypatch.setattr(mpirun.tempfile, "tempdir", str(tmp_path / "none"))
    with pytest.raises(RunError, match="set TMPDIR"), mpirun.private_folder():
        pass


def test_importing_the_room_does_not_load_mpi():
    code = "import sys, hopline.run.mpi; sys.exit('mpi4py' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
