"""The collection of field files that may stand beside this checkout, and what its list says of them."""

from pathlib import Path

import pytest

FIELD = Path(__file__).parents[2] / "shared" / "field"
needed = pytest.mark.skipif(not FIELD.is_dir(), reason="the collection of field files is not beside this checkout")


def manifest(*prefixes):
    """(file, its counts as text) of each file whose name in the list begins with one of ``prefixes``."""
    if not FIELD.is_dir():
        return []
    rows = [line.split("\t") for line in (FIELD / "MANIFEST.tsv").read_text().splitlines()[1:]]
    return [pytest.param(FIELD / row[0], row[4], id=row[0]) for row in rows if row[0].startswith(prefixes)]
