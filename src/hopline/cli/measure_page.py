"""What ``hopline measure`` prints.

What belongs here: the parts of its page in their order, and its answer in JSON. How each part reads is ``show``.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path as File

from hopline.cli.options import fit_data
from hopline.jobs import machines
from hopline.jobs.fitting import TableFit
from hopline.jobs.measured_pairs import PairStudy
from hopline.jobs.measuring import Measured
from hopline.quantity import show
from hopline.show import figures
from hopline.show import fitting as fit_pages
from hopline.show import measuring as pages
from hopline.show import pairs as pair_pages
from hopline.show.document import Block, Heading, Line


def gone_on(measured: Measured) -> list[Block]:
    """What was there before this run."""
    if not measured.finished + measured.begun:
        return []
    text = f"Gone on from the samples file: {measured.finished} of {measured.planned} measurements were finished"
    if measured.nothing_new:
        return [
            Line(f"{text}, so nothing was measured now. To add repeats, choose another file and join them with cat.")
        ]
    return [Line(f"{text}, {measured.begun} begun.")]


def pairs(study: PairStudy, crowded: bool) -> list[Block]:
    """All pairs at one size: their matrix, and what is slow among them."""
    blocks: list[Block] = [pages.pairs_heading(study.benchmark, study.size, len(study.hosts))]
    if crowded:
        text = (
            "Ranks share cores: what is named below may be the scheduler's doing. Judge runs with a core for each rank."
        )
        blocks.append(Line(text, "bad"))
    blocks += pages.matrix(study.times, study.measure, study.size)
    if study.report is None:
        return [*blocks, Line(f"Not studied: {study.reason}.", "faint")]
    found = pages.whereabouts(study.report.suspects, study.hosts)
    return [*blocks, Line(""), *pair_pages.document(study.report), *found]


def end(fit: TableFit | None, file: File, saved: File | None, kept: File | None, reason: str) -> list[Block]:
    """The fit, and where everything is now."""
    blocks: list[Block] = []
    if fit is not None and fit.line is not None and fit.pieces is not None:
        blocks += [
            Heading("Fitted"),
            *fit_pages.fit_lines(fit.line, fit.pieces),
            *fit_pages.finding_lines(fit.findings),
        ]
    if reason:
        blocks.append(Line(f"No machine is saved: {reason}", "bad"))
    blocks.append(Heading(f"Samples: {file}"))
    if saved is not None:
        blocks.append(Line(f"Machine: {saved}" + (f" (what was there is now {kept.name})" if kept else "")))
        shown = saved.stem if saved.parent == machines.folder() else saved
        blocks.append(Line(f"Try: hopline p2p --size 1MiB --machine {shown} --path rank0,rank1"))
    return blocks


def picture(fit: TableFit | None, found: list[PairStudy]) -> figures.Spec | None:
    """The heat map of each study of pairs, and the latencies, fitted where they can be; None where there is neither."""
    specs = [
        pair_pages.picture(study.report, f"{study.benchmark} at {show(study.size, 'size')}")
        for study in found
        if study.report is not None
    ]
    if fit is not None and fit.pieces is None:
        specs.append(pages.points(fit.table.size.tolist(), fit.time.tolist(), f"{fit.title}: no fit, {fit.reason}"))
    elif fit is not None and fit.pieces is not None:
        curves = {f"{len(fit.pieces.curve.pieces)} pieces": fit.pieces}
        specs.append(fit_pages.picture(fit.table.size, fit.time, curves, fit.title))
    return figures.stacked(specs) if len(specs) > 1 else next(iter(specs), None)


def no_picture(found: list[PairStudy]) -> str:
    """Why there is nothing to draw."""
    why = "; ".join(dict.fromkeys(study.reason for study in found))
    return f"No picture: {why or 'what has one was not measured before this ended'}."


def data(
    measured: Measured, fit: TableFit | None, found: list[PairStudy], file: File, saved: File | None, notes: list[str]
) -> dict[str, object]:
    """Everything in SI units."""
    samples = [
        {**asdict(s), "measure": s.measure, "median_s": s.median, "quartiles_s": list(s.quartiles)} for s in measured.samples
    ]  # fmt: skip
    return {
        "samples": samples,
        "line": fit_data(fit.line) if fit is not None else None,
        "pieces": fit_data(fit.pieces) if fit is not None else None,
        "findings": [asdict(finding) for finding in fit.findings] if fit is not None else [],
        "pairs": [_pair_data(study) for study in found],
        "file": str(file),
        "machine": None if saved is None else str(saved),
        "interrupted": measured.interrupted,
        "planned": measured.planned,
        "finished_before": measured.finished,
        "notes": notes,
        "crowded": [{"host": host, "ranks": ranks, "cores": cores} for host, ranks, cores in measured.crowded],
    }


def _pair_data(study: PairStudy) -> dict[str, object]:
    data: dict[str, object] = {"benchmark": study.benchmark, "size": study.size, "hosts": study.hosts}
    report = study.report
    if report is None:
        return {**data, "reason": study.reason}
    names = ("ranks", "time", "expected", "sender", "receiver", "least", "drift", "notes")
    plain = {name: getattr(report, name) for name in names}
    return {
        **data,
        **{name: value.tolist() if hasattr(value, "tolist") else value for name, value in plain.items()},
        "suspects": [{"name": suspect.name, **asdict(suspect)} for suspect in report.suspects],
    }
