"""``hopline fit``: from benchmark logs to a fitted link."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path as File
from typing import Any

import click

from hopline.cli.options import fit_data, json_option, plot_option, prediction_data, print_json, quantity
from hopline.jobs import benchmarks, fitting
from hopline.jobs.fitting import TableFit
from hopline.records.fit import Prediction
from hopline.records.table import Log
from hopline.show import fitting as pages
from hopline.show import images
from hopline.show.document import Block, Heading, Line, print_document

EXAMPLES = """\b
Examples:
  hopline fit all_reduce.log
  hopline fit osu_latency.out --predict 1KiB..64MiB:x4 --plot fit.html
  hopline fit samples.jsonl --save mine.toml
  hopline p2p --size 1MiB --machine mine.toml --path rank0,rank1
"""
_FEW = 3


@click.command(epilog=EXAMPLES)
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@click.option("--in-place", is_flag=True, help="Use the in-place half of nccl-tests tables.")
@quantity("--pieces", "count", "At most so many pieces; 1 is the plain α-β line (default 8).", least=1)
@quantity("--table", "count", "Which table to save, draw or predict from, where there are several.", least=1)
@quantity("--predict", "size", "Print predicted times for these sizes.", many=True)
@click.option(
    "--extrapolate", is_flag=True, help="Let --predict go beyond the measured sizes, with the interval that is worth."
)
@click.option(
    "--save", metavar="NAME|FILE", help="Save a machine that the other commands take: by name, or as FILE.toml."
)
@plot_option("points, model and residuals")
@json_option
def fit(
    files: tuple[str, ...],
    in_place: bool,
    pieces: float | None,
    table: float | None,
    predict: list[float] | None,
    extrapolate: bool,
    save: str | None,
    plot: File | None,
    as_json: bool,
) -> None:
    """Fit a link to benchmark logs: nccl-tests and rccl-tests, OSU micro-benchmarks, hopline's own samples.

    The kind of each file is recognised from its content. Every table is fitted on its own, by α-β in one line and in
    pieces whose breaks are found from the data. The error is that on held-out points: every inner size is left out once
    and predicted from the others.
    """
    logs, fits = fitting.fit_files(files, in_place, int(pieces or fitting.MOST_PIECES))
    number = None if table is None else int(table)
    chosen = fitting.choose(fits, number) if plot or predict or table else None
    predicted = fitting.predict(chosen, predict, extrapolate) if predict and chosen is not None else None
    written: dict[str, File] = {}
    if save is not None:
        written["Machine"] = fitting.save(fitting.to_save(fits, number), save)
    if plot is not None and chosen is not None:
        images.save(_picture(chosen), plot)
        written["Picture"] = plot
    if as_json:
        tables = [_data(f, predicted if f is chosen else None) for f in fits]
        print_json({"files": [_log_data(log) for log in logs], "tables": tables})
    else:
        print_document(_document(logs, fits, chosen, predicted, number))
    if not any(f.pieces for f in fits):
        fitting.choose(fits, None)
    if as_json:
        return
    for what, file in written.items():
        click.echo(f"\n{what}: {file}")


def _document(
    logs: list[Log], fits: list[TableFit], chosen: TableFit | None, predicted: Prediction | None, number: int | None
) -> list[Block]:
    blocks = [block for log in logs for block in pages.log_lines(log)]
    shown = [f for f in fits if number is None or f.number == number]
    if len(shown) > _FEW:
        blocks.append(pages.overview([(f.number, f.title, f.table, f.line, f.pieces, f.reason) for f in shown]))
        blocks.append(Line("--table N shows one of them in full", "faint"))
    else:
        for f in shown:
            blocks += pages.table_lines(f.number, f.title, f.table)
            if f.line is not None and f.pieces is not None:
                blocks += [*pages.fit_lines(f.line, f.pieces), *pages.finding_lines(f.findings)]
                if f.table.measure == "time" and not benchmarks.is_single(f.table.benchmark):
                    blocks.append(
                        Line("It prices the whole operation as the log sizes it (β is algbw), not one link.", "faint")
                    )
            else:
                blocks += [pages.rows(f.table), Line(f"  no fit: {f.reason}", "bad")]
    if predicted is not None and chosen is not None:
        size = chosen.table.size
        blocks += [
            Heading(f"Predictions from table {chosen.number}"),
            pages.predictions(predicted, size.min(), size.max(), size, chosen.time),
        ]
    return blocks


def _picture(chosen: TableFit) -> dict[str, Any]:
    curves = {
        "one line": chosen.line,
        f"{len(chosen.pieces.curve.pieces) if chosen.pieces else 0} pieces": chosen.pieces,
    }
    if chosen.pieces is not None and len(chosen.pieces.curve.pieces) == 1:
        curves = {"one line": chosen.line}
    fitted = {name: f for name, f in curves.items() if f is not None}
    last = list(fitted.values())[-1]
    found = fitting.predict(chosen, pages.drawn_sizes(last), extrapolate=False)
    title = f"{chosen.title}, {fitting.shown(File(chosen.source).name)}"
    return pages.picture(chosen.table.size, chosen.time, fitted, title, found=found)


def _log_data(log: Log) -> dict[str, Any]:
    return {
        "source": log.source,
        "kind": log.kind,
        "dropped": [asdict(d) for d in log.dropped],
        "notes": list(log.notes),
    }


def _data(f: TableFit, predicted: Prediction | None) -> dict[str, Any]:
    table = f.table
    data: dict[str, Any] = {
        "table": f.number,
        "source": f.source,
        "benchmark": table.benchmark,
        "ranks": table.ranks,
        "measure": table.measure,
        "rows": table.rows,
        "usable_rows": len(table),
        "facts": dict(table.facts),
        "dropped": [asdict(d) for d in table.dropped],
        "notes": list(table.notes),
        "columns": {name: column.tolist() for name, column in table.columns.items()},
        "line": fit_data(f.line),
        "pieces": fit_data(f.pieces),
        "findings": [asdict(finding) for finding in f.findings],
        "reason": f.reason,
    }
    if predicted is not None:
        data["predictions"] = prediction_data(predicted, table.size.min(), table.size.max())
    return data
