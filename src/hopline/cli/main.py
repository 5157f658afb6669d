"""The ``hopline`` command: its table of commands, and how errors leave it.

What belongs here: COMMANDS, lazy loading, and the one place where an error becomes a line and an exit code.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Sequence

import click

from hopline import __version__
from hopline.errors import INTERRUPTED, HoplineError
from hopline.jobs.loading import resolve

COMMANDS: dict[str, tuple[str, str]] = {
    "p2p": ("hopline.cli.p2p:p2p", "Cost of one transfer: how long, where the time goes, what to change."),
    "fit": ("hopline.cli.fit:fit", "Fit a link to benchmark logs (nccl-tests, OSU, hopline measure)."),
    "expect": ("hopline.cli.expect:expect", "The table that a collective's benchmark should print on a machine."),
    "check": ("hopline.cli.check:check", "Hold a benchmark log against a machine: pass or fail, with the reason."),
    "diff": ("hopline.cli.diff:diff", "Tell whether a change between two measurements is real or noise."),
    "schedule": ("hopline.cli.schedule:schedule", "List, prove and write collectives as Send/Recv schedules."),
    "collective": (
        "hopline.cli.collective:collective",
        "All algorithms of a collective side by side, with crossovers.",
    ),
    "sim": ("hopline.cli.sim:sim", "Simulate a schedule on a network, event by event."),
    "slots": ("hopline.cli.slots:slots", "Request slots, completions, connection state: end times, rate, what binds."),
    "machine": ("hopline.cli.machine:machine", "Show a machine, or what another tool's topology file says."),
    "deadlock": ("hopline.cli.deadlock:deadlock", "Find buffers that can wait for one another in a circle."),
    "queue": ("hopline.cli.queue:queue", "What a burst, late feedback or a control loop does to a buffer."),
    "headroom": (
        "hopline.cli.headroom:headroom",
        "PFC headroom of a lossless line, and whether ECN or PFC fires first.",
    ),
    "step": (
        "hopline.cli.step:step",
        "Where a training step's time goes, and why less communication is not as much less step.",
    ),
    "workload": (
        "hopline.cli.workload:workload",
        "What a job sends: which messages, how large, how many, and what they cost.",
    ),
    "explain": (
        "hopline.cli.explain:explain",
        "Where the time of a training step goes, from traces and logs of it.",
    ),
    "nccl": (
        "hopline.cli.nccl:nccl_command",
        "What NCCL would choose and how long it reckons with; what its log says.",
    ),
    "run": ("hopline.cli.run:run", "Run a schedule on real ranks, its data verified byte for byte."),
    "compare": (
        "hopline.cli.compare:compare",
        "How far formula, simulation and fits are from real runs or a measured table.",
    ),
    "measure": ("hopline.cli.measure:measure", "Measure this machine with real Send/Recv and save it as 'local'."),
    "presets": ("hopline.cli.presets:presets", "List the machines that can be named, or show one with its sources."),
    "verify": ("hopline.cli.verify:verify", "Check the formulas against vectors, and list the founding figures."),
    "demo": ("hopline.cli.demo:demo", "Measure, fit, predict and draw: the main job on this machine in a minute."),
}
"""Command -> (where it is, its line of help)."""

EXAMPLES = """\b
Examples:
  hopline p2p --size 64MiB --latency 0.55us --bandwidth 64GB/s
  hopline measure                          # this machine, saved as 'local'
  hopline p2p --size 1MiB --machine local --path rank0,rank1
  hopline fit all_reduce.log --plot fit.png --save cluster.toml
"""
_BAD_INPUT = 2


class Commands(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command ``cmd_name``; for the list in --help only its line of help is needed."""
        if cmd_name not in COMMANDS:
            return None
        found = resolve(COMMANDS[cmd_name][0])
        return found if isinstance(found, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of commands, without importing any."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=Commands, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="hopline")
def main() -> None:
    """What moving data costs on an AI cluster, why, and what to change.

    Quantities carry their unit: 64MiB (1024-based), 64MB (1000-based), 400Gb/s (bits), 50GB/s (bytes), 0.25us.
    Every command takes --json, and --help shows a worked example.
    """


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    sys.exit(code_of(arguments))


def code_of(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; bad input is one line on standard error and code 2, never a traceback."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    _ready_streams()
    try:
        code = main.main(args=given or ["--help"], prog_name="hopline", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        where = f" (see {error.ctx.command_path} --help)" if isinstance(error, click.UsageError) and error.ctx else ""
        return _failed(f"{error.format_message()}{where}")
    except HoplineError as error:
        return _failed(str(error))
    except (KeyboardInterrupt, click.Abort):
        click.echo("hopline: interrupted", err=True)
        return INTERRUPTED
    except OverflowError:
        return _failed("a number in this question is too large or too small to answer it")
    except BrokenPipeError:
        _drop_output()
        return 0
    except OSError as error:
        _drop_output()
        return _failed(f"{error.filename or 'the output'}: {error.strerror or error}")
    return code if isinstance(code, int) else 0


def _ready_streams() -> None:
    """Letters that a terminal has not got are spelled out; a stream that was closed takes nothing."""
    codecs.register_error("hopline", _spelled)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="hopline")


_SPELLED = {
    "µ": "u", "μ": "u", "α": "alpha", "β": "beta", "Σ": "sum ", "√": "sqrt", "—": "-", "−": "-", "×": "x", "≥": ">=",
    "≤": "<=", "→": "->", "∞": "inf", "…": "...",
}  # fmt: skip


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_SPELLED.get(letter, "?") for letter in error.object[error.start : error.end]), error.end


def _drop_output() -> None:
    """What is left in standard output's buffer goes nowhere, so that leaving does not fail again."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _failed(message: str) -> int:
    click.echo("hopline: " + " ".join(message.split()), err=True)
    return _BAD_INPUT
