"""Steps measured on real ranks, and a run of real ranks beside what they say."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from needs import REAL_RANKS

pytestmark = REAL_RANKS


def hopline(home, *words):
    found = subprocess.run(
        [sys.executable, "-m", "hopline", *map(str, words)], env={**os.environ, "HOPLINE_HOME": str(home)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


def test_a_run_lies_beside_what_its_steps_say(tmp_path):
    steps = hopline(tmp_path, "measure", "--what", "executor", "--sizes", "8B,64KiB,1MiB", "--seconds", "2s", "--json")
    assert not steps["interrupted"]
    assert all(time > 0 for step in steps["steps"].values() for time in step["time_s"])
    words = ("compare", "all_reduce-recursive_doubling", "-n", 2, "--size", "8B,1MiB", "--repeats", 10, "--json")
    found = hopline(tmp_path, *words)
    predicted, took = found["models"]["simulation"]["time_s"], found["time_s"]
    assert predicted[1] > predicted[0]
    assert all(0.02 < one / real < 50 for one, real in zip(predicted, took, strict=True)), (
        "not even the order of magnitude"
    )
    assert found["repeats"] == [10, 10]
