"""Pages of text: plain where nobody looks at colours, the same words in colour on a terminal."""

import io
import re
import sys

import pytest

from hopline.show import document
from hopline.show.document import Grid, Heading, Line, plain, print_document

PAGE = [
    Heading("First"),
    Line("a line"),
    Grid(("name", "value"), [("a", "1.0 µs"), ("longer", "22 ms")]),
    Heading("Second"),
    Line("bad news", "bad"),
    Line("[brackets] are text", "faint"),
]
PLAIN = """\
First
a line
  name     value
  a       1.0 µs
  longer   22 ms

Second
bad news
[brackets] are text
"""


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):  # noqa: D102
        return True


def rich_text(blocks, monkeypatch, width=200):
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    print_document(blocks)
    return screen.getvalue()


def test_plain():
    assert plain(PAGE) == PLAIN


def test_plain_is_what_a_pipe_gets(capsys):
    print_document(PAGE)
    assert capsys.readouterr().out == PLAIN


def test_a_terminal_gets_the_same_words_in_colour(monkeypatch):
    text = rich_text(PAGE, monkeypatch)
    assert "\x1b[31mbad news" in text
    bare = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert bare.split() == PLAIN.split()


@pytest.mark.parametrize("text", ["[bold]not bold[/bold]", "[/]", "a [link=x]y", "[red]", "\\[x]", ":smile:"])
def test_text_is_never_taken_for_markup(monkeypatch, text):
    blocks = [Heading(text), Line(text), Grid(("", ""), [(text, text)])]
    bare = re.sub(r"\x1b\[[0-9;]*m", "", rich_text(blocks, monkeypatch))
    assert bare.count(text) == plain(blocks).count(text) == 4


def test_a_narrow_terminal_folds_and_loses_nothing(monkeypatch):
    grid = Grid(("name", "value"), [("a" * 30, "b" * 30)])
    bare = re.sub(r"\x1b\[[0-9;]*m", "", rich_text([grid], monkeypatch, width=24))
    assert (bare.count("a"), bare.count("b")) == (30 + "namevalue".count("a"), 30)


@pytest.mark.parametrize("left", [0, 1, 2, 3])
def test_grids_line_up(left):
    rows = [("a", "bb", "ccc"), ("aaaa", "b", "c")]
    lines = document._grid_lines(Grid(("x", "y", "z"), rows, left=left))
    assert len(lines) == 3
    for column in range(min(left, 3)):
        starts = {line.index(row[column], 2 + 6 * (column > 0)) for line, row in zip(lines[1:], rows, strict=True)}
        assert len(starts) == 1
    if left < 3:
        assert len({len(line) for line in lines}) == 1
    assert all(line == line.rstrip() for line in lines)


def test_grids_of_nothing():
    assert plain([Grid(("a", "b"), [])]) == "  a  b\n"
    assert plain([Grid(("", ""), [])]) == "\n"
    assert plain([]) == "\n"
