"""Pictures: every specification is one that the renderer takes, in each kind of file, and none needs a network."""

import json
import re
import struct
import zlib

import numpy as np
import pytest

from hopline.errors import OutputError, UnknownNameError
from hopline.records.fit import Prediction
from hopline.records.verdict import Checked, Verdict
from hopline.show import checking as check_pages
from hopline.show import expecting as expect_pages
from hopline.show import figures, images
from hopline.show import fitting as fit_pages
from hopline.study.calibrate import calibrate

SIZES = np.array([0.0, *(2.0**p for p in range(22))])
TIMES = 2e-6 + SIZES / 1e10 + np.where(SIZES > 4096, 7e-6, 0)
LINE, PIECES = calibrate(SIZES, TIMES, most_pieces=1), calibrate(SIZES, TIMES)
NO_ZERO = calibrate(SIZES[1:], TIMES[1:])
SWEPT = ([1024.0, 65536.0, 1e6], [1e-6, 2e-6, 1e-4])
BY_SIZE = figures.times({"a": SWEPT, "b": SWEPT}, "size", "Time")
BY_CHUNKS = figures.marked(figures.times({"k": ([1, 2, 4], [3e-3, 2e-3, 4e-3])}, "chunks", "Chunks"), 2, 2e-3, "best")
FOUND = Prediction(SIZES[1:], TIMES[1:], 0.9 * TIMES[1:], 1.2 * TIMES[1:])
CHECKED = Checked(
    "Table <1>", 3, "measured",
    (Verdict(1024.0, 2e-6, "pass", "", 2e-6, 3e-6, 1e-9), Verdict(65536.0, 9e-5, "fail", "slower", 1e-5, 2e-5, 1e-6)),
)  # fmt: skip
SPECS = {
    "by size": BY_SIZE,
    "from zero": figures.times({"a": ([0.0, 1.0, 1e6], [1e-6, 1e-6, 1e-4])}, "size", "From 0 bytes"),
    "by chunks": BY_CHUNKS,
    "stacked": figures.stacked([BY_SIZE, BY_CHUNKS]),
    "fit": fit_pages.picture(SIZES, TIMES, {"one line": LINE, "pieces": PIECES}, "A fit"),
    "held out": fit_pages.picture(SIZES[1:], TIMES[1:], {"pieces": NO_ZERO}, "Held out", held_out=np.array([64.0, 4096])),
    "a band": fit_pages.picture(SIZES[1:], TIMES[1:], {"pieces": NO_ZERO}, "Band", found=FOUND),
    "expected": expect_pages.picture("Expected", FOUND, [(1e-9 * m, "a cut") for m in SIZES[1:]]),
    "checked": check_pages.picture("a.log", [CHECKED]),
    "checked twice": check_pages.picture("a.log", [CHECKED, CHECKED]),
    "one point": figures.times({"a": ([1024.0], [1e-6])}, "size", "One"),
    "title with <b>&\"quotes'": figures.times({"<x>": SWEPT}, "size", "<script>alert(1)</script>"),
}  # fmt: skip
MAGIC = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<svg", ".html": b"<!DOCTYPE html>"}


@pytest.mark.parametrize("name", SPECS)
def test_every_picture_can_be_drawn(name, tmp_path):
    images.save(SPECS[name], tmp_path / "p.svg")
    drawn = (tmp_path / "p.svg").read_text(encoding="utf-8")
    assert drawn.startswith("<svg")
    assert "NaN" not in drawn
    assert "undefined" not in drawn
    assert "<script" not in drawn


@pytest.mark.parametrize("ending", images.IMAGES)
def test_every_kind_of_file(ending, tmp_path):
    file = tmp_path / f"p{ending.upper()}"
    images.save(SPECS["fit"], file)
    content = file.read_bytes()
    assert content.lstrip()[: len(MAGIC[ending])].lower() == MAGIC[ending].lower()
    assert len(content) > 5000


def test_html_needs_no_network(tmp_path):
    images.save(SPECS["title with <b>&\"quotes'"], tmp_path / "p.html")
    page = (tmp_path / "p.html").read_text(encoding="utf-8")
    assert not re.findall(r"<(?:script|link|img)[^>]*(?:src|href)\s*=\s*[\"']?\s*(?:https?:)?//", page)
    assert 'src="https://cdn' not in page
    assert "https://cdn.jsdelivr.net/npm/vega@" not in page


def test_saving_again_keeps_another_picture_under_a_dated_name(tmp_path):
    file = tmp_path / "p.svg"
    assert images.save(SPECS["one point"], file) is None
    first = file.read_bytes()
    assert images.save(SPECS["one point"], file) is None
    kept = images.save(SPECS["fit"], file)
    assert kept.read_bytes() == first != file.read_bytes()
    assert sorted(tmp_path.iterdir()) == sorted([file, kept])
    assert images.written(file, kept) == f"{file} (what was there is now {kept.name})"
    assert re.fullmatch(r"p\.\d{8}-\d{6}-\d{6}\.bak", kept.name)


@pytest.mark.parametrize("ending", images.IMAGES)
def test_what_hopline_did_not_draw_is_left_alone(ending, tmp_path):
    for content in (b"", b"mine", b"\x89PNG\r\n\x1a\n" + bytes(999)):
        file = tmp_path / f"p{ending}"
        file.write_bytes(content)
        with pytest.raises(OutputError, match="exists"):
            images.save(SPECS["one point"], file)
        assert file.read_bytes() == content


def test_a_png_is_whole(tmp_path):
    images.save(SPECS["one point"], tmp_path / "p.png")
    rest, kinds = (tmp_path / "p.png").read_bytes()[8:], []
    while rest:
        length, kind = struct.unpack(">I4s", rest[:8])
        assert zlib.crc32(rest[4 : 8 + length]) == struct.unpack(">I", rest[8 + length : 12 + length])[0]
        kinds.append(kind)
        rest = rest[12 + length :]
    assert (kinds[0], kinds[-1]) == (b"IHDR", b"IEND")


@pytest.mark.parametrize("name", ["p.pdf", "p", "p.html.gz", ".png"])
def test_unknown_endings_are_refused_before_any_work(name, tmp_path, monkeypatch):
    monkeypatch.setattr(images, "IMAGES", dict.fromkeys(images.IMAGES, pytest.fail))
    with pytest.raises(UnknownNameError, match=r"known are \.html, \.png, \.svg"):
        images.save(SPECS["fit"], tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_targets_that_cannot_be_written(tmp_path):
    (tmp_path / "d.svg").mkdir()
    with pytest.raises(OutputError, match="give another name"):
        images.save(SPECS["one point"], tmp_path / "d.svg")
    with pytest.raises(OutputError, match="cannot be written"):
        images.save(SPECS["one point"], tmp_path / "nowhere" / "p.svg")


# --- what is in them ----------------------------------------------------------------------------------------------


def test_specifications_are_plain_json():
    for spec in SPECS.values():
        assert json.loads(json.dumps(spec, allow_nan=False)) == spec


def test_many_points_are_thinned_and_the_picture_says_so():
    many = list(np.geomspace(1, 1e9, 12_000))
    spec = figures.times({"a": (many, many)}, "size", "Many")
    assert len(spec["data"]["values"]) <= figures.MOST_POINTS
    assert spec["title"]["subtitle"] == "thinned to 5000 of 12000 points"
    assert BY_SIZE["title"]["subtitle"] == ""


def test_thinning_keeps_the_ends_of_a_line():
    many = [float(i) for i in range(1, 12_001)]
    kept = [row["x"] for row in figures.times({"a": (many, many)}, "size", "Many")["data"]["values"]]
    assert (kept[0], kept[-1]) == (many[0], many[-1])


def test_fits_show_points_curves_and_residuals():
    top, bottom = SPECS["held out"]["vconcat"]
    dots = top["layer"][1]["data"]["values"]
    assert [d["x"] for d in dots if d["role"] == "predicted"] == [64, 4096]
    assert {d["role"] for d in dots} == {"predicted", "fitted"}
    assert len(dots) == len(SIZES) - 1
    residuals = bottom["layer"][1]["data"]["values"]
    assert max(abs(r["residual"]) for r in residuals) < 0.01
    drawn = top["layer"][0]["data"]["values"]
    assert (min(d["x"] for d in drawn), max(d["x"] for d in drawn)) == (1.0, SIZES[-1])


def test_points_that_are_all_fitted_are_called_measured():
    top, bottom = SPECS["fit"]["vconcat"]
    for rows in (top["layer"][1]["data"]["values"], bottom["layer"][1]["data"]["values"]):
        assert {row["role"] for row in rows} == {"measured"}


def test_what_is_far_below_the_expected_is_not_drawn():
    spec = SPECS["expected"]
    drawn = [row for layer in spec["layer"] for row in layer["data"]["values"] if row.get("series") == "least possible"]
    assert drawn
    assert min(row["time"] for row in drawn) >= TIMES[1] / 4


def test_points_are_drawn_by_their_verdict_and_nothing_where_nothing_is_expected():
    dots = [row for layer in SPECS["checked"]["layer"] for row in layer["data"]["values"] if "verdict" in row]
    assert [(row["x"], row["verdict"]) for row in dots] == [(1024.0, "pass"), (65536.0, "fail")]
    unknown = Checked("Table 1", 3, "", (Verdict(8.0, 1e-6, "unknown", "no reason"),))
    assert check_pages.picture("a.log", [unknown]) is None
