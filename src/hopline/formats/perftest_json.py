"""The report that perftest writes with ``--out_json``: one row, of the last size.

What belongs here: its keys (``REPORT_FMT_JSON`` and the like in perftest_parameters.h). It does not say whether bandwidths are
MiB/s or Gb/s: size x message rate does. Reports of one test that were written to one file are rows of one table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from hopline.errors import FormatError
from hopline.formats import perftest_titles as titles
from hopline.formats.drafts import GBIT, MIBS, numbers
from hopline.formats.lines import document, excerpt, shown
from hopline.formats.perftest import FACTS, Reader
from hopline.formats.words import half
from hopline.records.table import Log

MOST = 1 << 26
_UNITS = {"MiB/sec": MIBS, "Gb/sec": GBIT}
_TITLES = {
    "MsgSize": "#bytes", "n_iterations": "#iterations", "BW_peak": "BW peak[UNIT]", "BW_average": "BW average[UNIT]",
    "MsgRate": "MsgRate[Mpps]", "CPU_util": "CPU_Util[%]", "sl": "#sl", "t_min": "t_min[usec]", "t_max": "t_max[usec]",
    "t_typical": "t_typical[usec]", "t_avg": "t_avg[usec]", "t_stdev": "t_stdev[usec]",
    "percentile_99": "99% percentile[usec]", "percentile_99.9": "99.9% percentile[usec]", "tps_average": "tps average",
}  # fmt: skip
"""Key -> the title of the console's column."""
_BARE_KEY = re.compile(r"^\s*sl:", re.MULTILINE)
NO_UNIT = "the unit of the bandwidth is not stated, and size x message rate fits neither MiB/s nor Gb/s"

_Report = Mapping[str, object]


def read(path: str) -> Log:
    """All reports of a file. Raises FormatError where it cannot be read or is no whole report."""
    reader = Reader()
    for number, report in enumerate(_reports(path), 1):
        _take(reader, report, number)
    return reader.log(path, ())


def _reports(path: str) -> Iterator[_Report]:
    """The documents of a file, all numbers as they are printed."""
    try:
        text = _BARE_KEY.sub(' "sl":', document(path, MOST).decode("utf-8"))
        decoder = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)
        at = len(text) - len(text.lstrip())
        while at < len(text):
            found, at = decoder.raw_decode(text, at)
            if not isinstance(found, dict):
                raise ValueError("a report is an object")
            yield found
            at = len(text) - len(text[at:].lstrip())
    except (ValueError, RecursionError) as error:
        told = excerpt(str(error).encode())
        raise FormatError(f"{shown(path)}: not a whole perftest report ({told}); copy it again") from None


def _take(reader: Reader, report: _Report, number: int) -> None:
    told, results = report.get("test_info"), report.get("results")
    if not isinstance(told, dict) or not isinstance(results, dict):
        return
    settings = {key.replace("_", " ").lower(): str(value) for key, value in told.items()}
    test = titles.test(str(told.get("test", "")).encode())
    words = {title: str(results[key]).encode() for key, title in _TITLES.items() if key in results}
    unit = _unit(words) if "BW average[UNIT]" in words else ""
    header = " ".join(words).replace("UNIT", unit or "MiB/sec").encode()
    reader.begin(test or titles.Test())
    for name, (fact, whole) in FACTS.items():
        value = settings.get(name.lower().replace("-", " "), "")
        if value:
            reader.settings[fact] = int(value) if whole and value.isdigit() and len(value) < 10 else value
    last = reader.drafts[-1] if reader.drafts else None
    same = last and last.test == reader.test and last.titles == titles.columns(header) and last.facts == reader.settings
    if not same:
        reader.header(header)
    if unit is None and reader.drafts:
        reader.drafts[-1].drop(NO_UNIT, number)
    elif reader.drafts:
        reader.row(list(words.values()), number)


def _unit(words: Mapping[str, bytes]) -> str | None:
    """The unit in which bandwidth = size x message rate, within the printed digits."""
    found = numbers(words.get(title, b"x") for title in ("#bytes", "BW average[UNIT]", "MsgRate[Mpps]"))
    if not found:
        return None
    size, bandwidth, rate = found
    spread = half(words["MsgRate[Mpps]"]) * 1e6 * size
    fits = [
        unit for unit, scale in _UNITS.items()
        if abs(bandwidth * scale - size * rate * 1e6) <= 1.01 * (spread + half(words["BW average[UNIT]"]) * scale)
    ]  # fmt: skip
    return fits[0] if len(fits) == 1 else None
