"""The report as text: one page that asks for nothing, in which nothing of a trace is more than text."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from explained_made import made

from hopline.errors import OutputError
from hopline.show import report as reports
from hopline.show.explain import explained_json

EVIL = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "<!--<script>",
    "\"'&amp;<b>",
    "\u202eabc مرحبا שלום 核函数",
    "x" * 10_000,
    "lone \ud800 surrogate\x00",
)


class Page(HTMLParser):
    """Elements, attributes, text of scripts, text of the page."""

    def __init__(self):
        super().__init__()
        self.tags, self.scripts, self.words, self.inside = [], [], [], ""

    def handle_starttag(self, tag, attrs):  # noqa: D102
        self.tags.append((tag, dict(attrs)))
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):  # noqa: D102
        self.inside = ""

    def handle_data(self, data):  # noqa: D102
        if self.inside == "script":
            self.scripts[-1] += data
        elif self.inside != "style":
            self.words.append(data)


@pytest.fixture(autouse=True)
def small_vega(monkeypatch):
    """The page without the half second that making Vega takes."""
    monkeypatch.setattr(reports, "_vega", lambda: "window.vegaEmbed = null;")


def parsed(text):
    page = Page()
    page.feed(text)
    return page


def test_nothing_is_loaded_from_anywhere():
    page = parsed(reports.report(made()))
    links = [
        (tag, name, value)
        for tag, attrs in page.tags
        for name, value in attrs.items()
        if name in ("src", "href", "srcset", "action")
    ]
    assert links == [("link", "href", "data:,")]
    assert not {tag for tag, _ in page.tags} & {"iframe", "object", "embed", "img", "video", "form", "base"}
    assert "url(" not in reports.STYLE
    assert "@import" not in reports.STYLE


def test_the_policy_lets_exactly_our_scripts_run():
    page = parsed(reports.report(made()))
    (policy,) = [attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    running = [
        text
        for text, (_, attrs) in zip(page.scripts, [t for t in page.tags if t[0] == "script"], strict=True)
        if "type" not in attrs
    ]
    hashes = {f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in running}
    assert len(running) == 2
    assert set(re.findall(r"'sha256-[^']+'", policy)) == hashes
    assert "unsafe-inline" not in policy.split("script-src")[1].split(";")[0]
    assert "connect-src" not in policy


@pytest.mark.parametrize("name", EVIL)
def test_names_and_findings_stay_text(name):
    calm = parsed(reports.report(made(names=("gemm",), findings=("a", "b"))))
    page = parsed(reports.report(made(names=(name,), findings=(name, name))))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in calm.tags]
    assert [sorted(attrs) for _, attrs in page.tags] == [sorted(attrs) for _, attrs in calm.tags]


def test_the_json_in_it_is_that_of_the_command():
    explained = made(names=EVIL)
    page = parsed(reports.report(explained))
    assert json.loads(page.scripts[0]) == json.loads(json.dumps(explained_json(explained)))
    assert set(json.loads(page.scripts[1])["figures"]) == {
        attrs["data-figure"] for _, attrs in page.tags if "data-figure" in attrs
    }


def test_it_says_of_what_changes_are_and_puts_those_asked_for_first():
    text = reports.report(replace(made(), played="step 41, the median one", asked=True))
    assert "<h2>What a change would bring to step 41, the median one</h2>" in text
    assert "of step 41, the median one" in text.split("would help most")[1].split("</div>")[0]
    assert text.index("figure-what_if") < text.index("figure-where")
    assert text.index('id="table-what_ifs"') < text.index('id="table-ranks"')
    usual = reports.report(made())
    assert usual.index("figure-what_if") > usual.index("figure-where")
    assert "step 41" not in usual


def test_premises_of_changes_stand_under_their_table():
    explained = made()
    text = reports.report(replace(explained, what_ifs=replace(explained.what_ifs, premises=("<z> holds",))))
    under = text.split('id="table-what_ifs"')[1].split("</details>")[0]
    assert "&lt;z&gt; holds" in under
    assert text.count("Premises:") == 1


def test_a_gain_within_the_error_is_no_help():
    explained = made()
    answers = tuple(replace(one, within_error=True) for one in explained.what_ifs.answers)
    assert "would help most" in reports.report(explained)
    unsure = replace(explained, what_ifs=replace(explained.what_ifs, answers=answers))
    assert "would help most" not in reports.report(unsure)


def test_captions_have_no_folders():
    explained = made(findings=("see /home/somebody/job/rank0.json", "b"))
    traces = tuple(
        replace(t, rank=None, source=f"/home/somebody/job/rank{i}.json") for i, t in enumerate(explained.traces)
    )
    words = parsed(reports.report(replace(explained, traces=traces, told=(f"{traces[0].source}: odd",)))).words
    assert "see rank0.json." in " ".join(words).lower()
    assert not [word for word in words if "/home/somebody" in word]


def test_long_names_are_cut_on_the_page():
    words = parsed(reports.report(made(names=("y" * 10_000,), findings=("z" * 10_000,)))).words
    assert max(map(len, words)) < 500


def test_one_of_ours_is_replaced_and_nothing_else(tmp_path):
    file = tmp_path / "report.html"
    reports.save(made(), file)
    first = file.read_bytes()
    reports.save(made(ranks=2), file)
    assert file.read_bytes() != first
    other = tmp_path / "other.html"
    other.write_text("<p>mine</p>")
    with pytest.raises(OutputError, match="exists"):
        reports.save(made(), other)
    assert other.read_text() == "<p>mine</p>"
    with pytest.raises(OutputError, match="cannot be written"):
        reports.save(made(), tmp_path / "none" / "report.html")


def test_a_large_one_stays_small():
    text = reports.report(made(ranks=16, steps=60, layers=6))
    assert len(text) < 1_500_000
    assert "Thinned: " in text
