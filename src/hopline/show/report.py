"""An explained step as one page of HTML that needs nothing else: no network, no fonts, no other files.

What belongs here: the page. Its figures are ``explain_figures``, its numbers ``explain_numbers``, its look ``report_look``.
One copy of Vega stands in the page; a policy in its head forbids every request and every script but ours, so that a name in
a trace that reads like HTML stays text.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from hashlib import sha256
from html import escape
from pathlib import Path

from hopline.quantity import counted, show
from hopline.records.explained import Explained
from hopline.show import images
from hopline.show.explain_cells import Cell, Table
from hopline.show.explain_drawing import MOST_LABEL, Figure
from hopline.show.explain_figures import figures
from hopline.show.explain_numbers import numbers
from hopline.show.explain_rows import Numbers, spoken
from hopline.show.explain_tables import tables
from hopline.show.report_look import SCRIPT, STYLE, VEGA_CONFIG

_ENTRY = 250
"""Pixels of an entry of a legend: the page has as many columns as fit beside one another."""
_MOST_NAME = 400
"""Characters of a name or sentence that the page shows; the JSON in it has all."""


def report(explained: Explained) -> str:
    """The page."""
    found = numbers(explained)
    drawn = figures(explained, found)
    scripts = [_vega(), SCRIPT]
    body = "\n".join([*_head(found), *(_figure(figure) for figure in drawn), *_tables(tables(found)), *_foot(found)])
    specs = {figure.name: figure.spec for figure in drawn}
    return _PAGE.format(
        policy=_policy(scripts),
        title=escape(f"hopline: {found.what}"),
        style=STYLE,
        body=body,
        numbers=_embedded(asdict(found)),
        specs=_embedded({"figures": specs, "config": VEGA_CONFIG, "label": MOST_LABEL, "entry": _ENTRY}),
        vega=scripts[0],
        script=scripts[1],
    )


def save(explained: Explained, file: Path) -> None:
    """Write the page; one that hopline wrote there before is replaced.

    Raises OutputError where it cannot be written, or where something else of that name would be lost.
    """
    images.keep(report(explained).encode("utf-8", "replace"), file)


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
<script type="application/json" id="numbers">{numbers}</script>
<script type="application/json" id="specs">{specs}</script>
<script>{vega}</script>
<script>{script}</script>
</body>
</html>
"""


_WANTED = "window.vegaEmbed = vegaEmbed;"
"""Of the bundle."""


def _vega() -> str:
    import vl_convert

    bundle: str = vl_convert.javascript_bundle(_WANTED)
    return bundle.replace("</script", "<\\/script")


def _policy(scripts: Sequence[str]) -> str:
    """Only these scripts, and nothing from anywhere. Vega makes functions from its expressions."""
    hashes = " ".join(f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts)
    return f"default-src 'none'; script-src {hashes} 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"


def _embedded(value: object) -> str:
    """JSON that can stand in a script element: no character of it begins a tag."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _head(found: Numbers) -> Iterator[str]:
    """The answer: a headline, the other findings, four figures to remember."""
    headline, *others = found.findings or ("Nothing stands out.",)
    of = f"{_text(found.what)} on {counted(len(found.ranks), 'rank')}"
    yield f'<header><p class="what">{of}</p><h1>{_text(spoken(headline))}</h1>'
    if others:
        yield "<ul class=findings>" + "".join(f"<li>{_text(spoken(line))}</li>" for line in others) + "</ul>"
    yield "<dl class=tiles>"
    for name, value, key, note in _tiles(found):
        yield f"<div><dt>{name}</dt><dd data-key={_quoted(key)}>{escape(value)}</dd><dd class=note>{_text(note)}</dd></div>"
    yield "</dl></header>"


def _tiles(found: Numbers) -> Iterator[tuple[str, str, str, str]]:
    """(name, value, place in the JSON, what it is)."""
    yield "time", show(found.time, "time"), "time", found.what
    known = [(row.exposed, i) for i, row in enumerate(found.ranks) if row.exposed is not None]
    if known and found.ranks:
        most, i = max(known)
        row = found.ranks[i]
        share = f"{100 * most / row.span:.0f} % of its time; the most of all ranks" if row.span else ""
        yield f"exposed, {escape(row.label[:40])}", show(most, "time"), f"ranks.{i}.exposed", share
    if found.last:
        row_last = found.last[0]
        yield (
            "waited for",
            row_last.label[:40],
            "last.0.label",
            f"last in {row_last.times:,} of {row_last.of:,} collectives",
        )
    if found.what_ifs and found.what_ifs[0].saved > 0 and not found.what_ifs[0].within:
        best = found.what_ifs[0]
        of = f", of {found.played}" if found.played else ""
        yield (
            "would help most",
            show(best.saved, "time"),
            "what_ifs.0.saved",
            f"{best.change}: {best.speedup:.3g} x{of}",
        )


def _figure(figure: Figure) -> str:
    said = f"{figure.note} {figure.use}".strip()
    note = f"<p class=note>{_text(said)}</p>" if said else ""
    name = escape(figure.name)
    title = f"<h2>{escape(figure.title)}</h2>"
    place = f'<div class=figure id="figure-{name}" data-figure="{name}"><noscript>Needs JavaScript.</noscript></div>'
    return f"<section>{title}{note}{place}</section>"


def _tables(every: Sequence[Table]) -> Iterator[str]:
    yield "<h2 class=numbers>The numbers</h2>"
    for table in every:
        head = "".join(f"<th{_side(table, i)}>{escape(title)}</th>" for i, title in enumerate(table.header))
        rows = "".join(f"<tr>{''.join(_cell(table, i, cell) for i, cell in enumerate(row))}</tr>" for row in table.rows)
        left = f" {table.left_out:,} more rows are left out." if table.left_out else ""
        note = f"<p class=note>{_text(table.note + left)}</p>" if table.note or left else ""
        few = " open" if len(table.rows) <= _MOST_OPEN else ""
        yield (
            f"<details{few}><summary>{escape(table.title)} <small>{len(table.rows):,}</small></summary>{note}"
            f'<div class=scroll><table id="table-{table.name}"><thead><tr>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table></div>{_premises(table)}</details>"
        )


def _premises(table: Table) -> str:
    if not table.premises:
        return ""
    return f"<p class=note>Premises:</p><ul class=note>{''.join(f'<li>{_text(text)}</li>' for text in table.premises)}</ul>"


_MOST_OPEN = 24
"""Rows of a table that stands open."""


def _cell(table: Table, i: int, cell: Cell) -> str:
    key = f" data-key={_quoted(cell.key)}" if cell.key else ""
    share = f" <small>{escape(cell.share)}</small>" if cell.share else ""
    return f"<td{_side(table, i)}{key}>{_text(cell.text)}{share}</td>"


def _side(table: Table, i: int) -> str:
    return " class=left" if i < table.left else ""


def _foot(found: Numbers) -> Iterator[str]:
    odd = [*found.told, *found.unmatched]
    if odd:
        yield (
            "<h2>What is odd or unknown</h2><ul>" + "".join(f"<li>{_text(spoken(line))}</li>" for line in odd) + "</ul>"
        )
    yield "<footer>Made by hopline. This page holds all it needs and asks for nothing; its numbers are in it as JSON.</footer>"


def _text(text: str) -> str:
    """Text of a trace: escaped, cut, and kept from changing the direction of what stands around it."""
    kept = text if len(text) <= _MOST_NAME else text[:_MOST_NAME] + "…"
    return f"<bdi>{escape(kept)}</bdi>"


def _quoted(text: str) -> str:
    return f'"{escape(text)}"'
