"""A launcher's labels, a scheduler's times and a page's indentation change nothing, whichever tool's log they are in."""

from pathlib import Path

import numpy as np
import pytest

from hopline.errors import FormatError
from hopline.jobs import fitting

LOGS = Path(__file__).parents[1] / "data" / "logs"
PLAIN = [
    log for log in sorted(LOGS.iterdir())
    if log.suffix != ".json" and log.name not in ("nccl-headless-hydra.log", "osu-iallreduce.out")
]  # fmt: skip
"""Text logs that have no label of their own yet."""
LABELS = {
    "tag": b"[1,0]<stdout>:", "prrte": b"[prterun-n1-7@1,0]<stdout>: ", "srun": b"0: ", "srun-wide": b" 12: ",
    "hydra": b"[0] ", "iso": b"2026-02-03T10:11:12.345678Z ", "clock": b"[2026-02-03 10:11:12,345] ",
    "kubernetes": b"2026-02-03T10:11:12Z stdout F ", "page": b"    ", "both": b"2026-02-03 10:11:12 [1,0]<stdout>:",
}  # fmt: skip


def outcome(path: Path):
    try:
        return fitting.read(str(path))
    except FormatError as error:
        return str(error).replace(str(path), "")


def described(found):
    if isinstance(found, str):
        return found
    return [
        (table.benchmark, table.measure, table.rows, table.ranks, table.line, list(table.columns), dict(table.facts))
        for table in found.tables
    ]


@pytest.mark.parametrize("label", LABELS.values(), ids=list(LABELS))
@pytest.mark.parametrize("log", PLAIN, ids=lambda log: log.name)
def test_labels_change_nothing(tmp_path, log, label):
    lines = log.read_bytes().removesuffix(b"\n").split(b"\n")
    (tmp_path / "log").write_bytes(b"".join(label + line + b"\n" for line in lines))
    plain, labelled = outcome(log), outcome(tmp_path / "log")
    if isinstance(plain, str):
        assert isinstance(labelled, str)
        assert plain.partition("; the log says")[0] == labelled.partition("; the log says")[0]
        return
    assert described(labelled) == described(plain)
    for table, expected in zip(labelled.tables, plain.tables, strict=True):
        for name, column in expected.columns.items():
            np.testing.assert_array_equal(table.columns[name], column)
