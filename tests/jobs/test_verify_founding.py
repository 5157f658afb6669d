"""The founding table: every statement is there, and its exact numbers are the ones that were derived by hand."""

from __future__ import annotations

import pytest

from hopline.errors import InputError
from hopline.jobs.verify.figures import Statement, plain
from hopline.jobs.verify.founding import STATEMENTS, founding_rows

ROWS = {row.id: row for row in founding_rows()}
US, MS, GB = 1e-6, 1e-3, 1e9

FIGURES = [
    ("1.2", "64 MiB at 0.55 µs, 64 GB/s", 1.049126 * MS),
    ("1.2", "0 bytes", 0.55 * US),
    ("1.3", "α", 0.55 * US),
    ("1.5", "1 MiB over 8 equal hops", 135.472 * US),
    ("1.5", "64 MiB, 64 then 25 GB/s", 3.73518056 * MS),
    ("1.6", "4 KiB over 4 switches, 64 B header", 1.28576 * US),
    ("1.6", "the same by hα + m/β", 1.28192 * US),
    ("1.6", "end-node α paid on 3 hops", 1.65 * US),
    ("1.7", "SAF/CT, h = 8, m = 10 αβ", 88 / 18),
    ("1.7", "limit for 64 then 25 GB/s (h = 2)", 1.390625),
    ("1.8", "4 KiB over 4 hops, 32 B flits", 85.5e-9),
    ("1.8", "infinitely small flits", 84e-9),
    ("1.9", "64 B over 1 hop", 6e-9),
    ("1.9", "64 B over 64 hops", 384e-9),
    ("1.10", "4 KiB, 4 hops: cut-through", 1.28192 * US),
    ("1.11", "store-and-forward, m → ∞", 17.9775 * GB),
    ("1.11", "64 MiB with its α", 17.967 * GB),
    ("1.11", "cut-through, pipelined, m → ∞", 25 * GB),
    ("1.11", "64 MiB pipelined, best k", 24.173 * GB),
    ("1.11", "that k", 23),
    ("1.12", "harmonic mean", 35.955 * GB),
    ("1.13", "against the slowest hop, %", -28.09),
    ("1.14", "1 MiB, 4 hops, 8 chunks", 28.578 * US),
    ("1.14", "α as latency", 24.728 * US),
    ("1.14", "1000001 B in 64 KiB chunks, 2 hops", 73.27404 * US),
    ("1.15", "k* of 16 MiB, h = 2", 21.83175),
    ("1.15", "document's k there", 30.87476),
    ("1.15", "best whole k", 22),
    ("1.15", "4 MiB, bottleneck moves: k", 20),
    ("1.16", "document's T* there", 297.2062 * US),
    ("1.17", "16 MiB, k = 1", 262.694 * US),
    ("1.17", "document's k", 21.83175),
    ("1.17", "T at that k", 274.15 * US),
    ("1.17", "document's T*", 286.71 * US),
    ("1.18", "16 MiB, h = 2: T at the document's k", 288.1657 * US),
    ("1.18", "least T", 286.7089 * US),
    ("1.18", "worse by, %", 0.5081),
    ("1.18", "claimed T* too high by, %", 3.6613),
    ("1.18", "the same for 1 MiB, %", 13.2394),
    ("1.19", "2√((h-1)αβ/m) is 10 % at h = 4 for", 42.24e6),
    ("1.21", "64 MiB each way, memory left out", 1.048576 * MS),
    ("1.21", "with 68.2 GB/s of memory", 1.9680019 * MS),
    ("1.22", "two links, send only", 68.2 * GB),
    ("1.22", "two links, relay", 34.1 * GB),
    ("1.22", "two links, reduce", 22.7333 * GB),
    ("1.23", "asked of the memory", 128 * GB),
    ("1.24", "1x4096x7168 in bf16", 58_720_256),
    ("1.24", "elements", 29_360_128),
    ("1.26", "counted with 64 heads: times", 8),
    ("1.27", "Qwen2.5-72B against MLA", 4.66302),
    ("1.27", "Llama-3.1-405B against MLA", 7.34426),
    ("1.27", "same model, MHA of 128 x 128", 56.8889),
    ("1.27", "same model, MHA of 128 x (192 + 128)", 71.1111),
    ("1.28", "a token", 70_272),
    ("1.28", "4096 tokens", 287_834_112),
    ("1.28", "131072 tokens", 9_210_691_584),
    ("2.7", "200 000/s of 8 KiB", 1.6384 * GB),
    ("2.8", "operations a second", 6_103_515.625),
    ("2.8", "between two", 0.16384 * US),
    ("2.8", "cap of an issue every 1 µs", 8.192 * GB),
    ("2.8", "in flight at 5 µs", 30.517578),
    ("2.8", "slots", 31),
    ("2.12", "256 KiB at 50 KB/µs", 5.24288 * US),
    ("2.13", "50 KB/µs", 50 * GB),
    ("2.13", "50000 KB/µs as printed", 50_000 * GB),
    ("2.13", "256 KiB at that", 5.24288e-9),
    ("2.23", "128 x 256 B / 2 µs", 16.384 * GB),
    ("2.23", "of 50 GB/s, %", 32.768),
    ("2.24", "24 MiB through that window", 1.536 * MS),
    ("2.25", "in flight, exact", 390.625),
    ("2.25", "in flight", 391),
    ("2.25", "starts a second", 195_312_500),
    ("2.25", "between two", 5.12e-9),
    ("2.25", "in flight with 4 KiB", 25),
    ("2.29", "5120 x bf16, one all-reduce", 10_240),
    ("M1", "wrong: 16 MiB, h = 2, with h", 30.87476),
    ("M1", "right: as a whole number", 22),
    ("M1", "right: 64 B, h = 2, clamped", 1),
    ("M1", "wrong: 5 B in 100 chunks", 200.2502 * US),
    ("M1", "right: in 5", 10.2502 * US),
    ("M2", "wrong: library's harmonic mean", 35.955 * GB),
    ("M2", "right: min β", 25 * GB),
    ("M3", "wrong: 4 MiB, k = 100, by min β", (8.1 + 4.19430 + 0.41943 + 99 * 4.29430) * US),
    ("M3", "right: by max(α + c/β)", (8.1 + 4.19430 + 0.41943 + 99 * 8.41943) * US),
    ("M4", "wrong: 1000001 B as 16 full chunks", (1.274 + 16 * 4.62144) * US),
    ("M4", "right: the last holds the rest", 73.27404 * US),
    ("M7", "wrong: ceiling of floats", 1501),
    ("M7", "right: exact", 1500),
    ("M10", "wrong: MLA a token, times 2", 140_544),
    ("M15", "right: with the memory", 1.9680019 * MS),
]


@pytest.mark.parametrize(("row", "name", "value"), FIGURES)
def test_exact_number(row, name, value):
    found = next(figure for figure in ROWS[row].figures if figure.name == name)
    assert found.value == pytest.approx(value, rel=3e-5)


def test_the_second_trap_of_float_ceilings():
    assert [figure.value for figure in ROWS["M7"].figures] == [1501, 1500, 51, 50]


def test_every_statement_has_its_row_in_order():
    numbers = [f"1.{i}" for i in range(1, 29)] + [f"2.{i}" for i in range(1, 33)] + [f"M{i}" for i in range(1, 16)]
    assert list(ROWS) == numbers
    assert len(STATEMENTS) == len(ROWS)


def test_a_row_has_a_number_or_says_what_it_needs():
    bare = {row.id for row in ROWS.values() if not row.figures and not row.needs}
    assert bare == {"1.1", "1.4", "2.31", "2.32"}


@pytest.mark.parametrize(
    ("verdict", "ids"),
    [
        ("UNVERIFIABLE", {"1.4"}),
        ("QUALITATIVE", {"1.18", "2.18", "2.31"}),
        ("APPROX", {"1.6", "1.13", "1.27", "1.28", "2.9", "2.19"}),
        ("COND", {"1.2", "1.5", "1.8", "1.10", "1.11", "1.14", "1.21", "1.22", "1.26"}
         | {"2.2", "2.3", "2.6", "2.14", "2.20", "2.26", "2.29"}),
    ],
)  # fmt: skip
def test_verdicts(verdict, ids):
    assert {row.id for row in ROWS.values() if row.verdict == verdict} == ids


def test_a_row_names_no_figure_twice_but_for_the_two_ceilings():
    for row in ROWS.values():
        names = [figure.name for figure in row.figures]
        assert row.id == "M7" or len(names) == len(set(names)), row.id


def test_rows_must_be_whole():
    with pytest.raises(InputError, match="not whole"):
        Statement("9.9", "", "", "RIGHT", "always")
    with pytest.raises(InputError, match="undefined"):
        plain("n", None)
