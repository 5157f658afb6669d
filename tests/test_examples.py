"""Every example runs by itself and prints what stands beside it."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))


def test_there_are_examples_and_each_has_its_output():
    assert len(SCRIPTS) >= 3
    assert [s.stem for s in SCRIPTS] == sorted(out.stem for out in EXAMPLES.glob("*.out"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-X", "utf8", str(script)], cwd=tmp_path, capture_output=True, encoding="utf-8", timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == script.with_suffix(".out").read_text(encoding="utf-8")
    assert list(tmp_path.iterdir()) == []
