"""Write docs/reference.md from the commands' own help, so that there is one truth. Run: make docs."""

from __future__ import annotations

from pathlib import Path

import click

from hopline.cli.main import COMMANDS, main
from hopline.jobs.loading import resolve

PAGE = Path(__file__).with_name("reference.md")
HEAD = """# Reference

Made by `make docs` from the commands' help; a test fails when it is stale.

Exit codes: 0 done; 1 a check failed (`verify`); 2 bad input, one line on standard error; 3 vector kinds that are not
known yet (`verify`); 130 interrupted.
"""


def text() -> str:
    """The whole page."""
    parts = [HEAD, _section("hopline", main)]
    for name, (where, _) in COMMANDS.items():
        command = resolve(where)
        parts.append(_section(f"hopline {name}", command))
        below = command.commands if isinstance(command, click.Group) else {}
        parts += [_section(f"hopline {name} {word}", one) for word, one in below.items()]
    return "\n".join(parts)


def _section(title: str, command: click.Command) -> str:
    options = {"terminal_width": 100, "max_content_width": 100, "help_option_names": ["-h", "--help"]}
    with click.Context(command, info_name=title, **options) as context:
        usage = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    return f"## {title}\n\n```text\n{usage}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
