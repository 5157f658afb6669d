"""The documents say what is true: the reference is fresh, and README's commands run."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from hopline.cli.main import COMMANDS, code_of

ROOT = Path(__file__).parents[1]


def test_the_reference_is_fresh():
    """In a process of its own: click keeps what a command's help option was called when it was first run."""
    program = "import sys; sys.path.insert(0, sys.argv[1]); import make_reference as m; sys.stdout.buffer.write(m.text().encode())"
    made = subprocess.run([sys.executable, "-c", program, ROOT / "docs"], capture_output=True, check=True)
    assert made.stdout.decode() == (ROOT / "docs/reference.md").read_text(encoding="utf-8")


def test_readme_and_design_name_every_command():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"hopline {name}" not in readme] == []


SHOWN = re.compile(r"^\$ (?:\.venv/bin/)?hopline ([^\n]*)\n(.*?)(?=^\$ |^```)", re.MULTILINE | re.DOTALL)
REPEATABLE = (
    "p2p", "collective", "sim", "schedule", "presets", "verify", "fit", "expect", "check", "diff", "machine", "slots", "queue", "headroom", "deadlock",
    "step", "workload", "explain", "nccl",
)  # fmt: skip
PAGES = ["README.md", "docs/tutorial.md", "docs/how-to.md"]


def shown_examples():
    for page in PAGES:
        for command, output in SHOWN.findall((ROOT / page).read_text(encoding="utf-8")):
            if command.startswith(REPEATABLE):
                yield pytest.param(command, output, id=f"{page}: {command[:60]}")


@pytest.mark.parametrize(("command", "output"), list(shown_examples()))
def test_what_the_pages_show_is_what_comes_out(command, output, capsys, monkeypatch, tmp_path):
    for folder in ("tests", "examples"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    code_of(shlex.split(command))
    printed = capsys.readouterr()
    got = [line.rstrip() for line in (printed.out + printed.err).strip("\n").splitlines()]
    shown = [line.rstrip() for line in output.strip("\n").splitlines()]
    if "..." in shown:
        cut = shown.index("...")
        assert got[:cut] == shown[:cut]
    else:
        assert got == shown
