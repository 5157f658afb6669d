"""Reports: ours is replaced, nothing else is touched."""

import pytest

from hopline.errors import OutputError
from hopline.jobs import reports

OURS = "<?xml version='1.0' encoding='utf-8'?>\n<testsuites name=\"hopline check run.log\"/>\n"


def test_writes_where_nothing_is_and_over_its_own(tmp_path):
    file = tmp_path / "report.xml"
    reports.write(file, OURS)
    reports.write(file, OURS + "<!-- µ -->")
    assert file.read_text(encoding="utf-8") == OURS + "<!-- µ -->"


@pytest.mark.parametrize(
    "text",
    ["", "hello", '<!-- name="hopline check -->', "<?xml version='1.0'?>\n<testsuites name=\"pytest\"/>", "\udcff"],
)
def test_leaves_what_is_not_its_own(tmp_path, text):
    file = tmp_path / "report.xml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    before = file.read_bytes()
    for act in (lambda: reports.write(file, OURS), lambda: reports.refuse_foreign(file)):
        with pytest.raises(OutputError, match=r"exists and is no report of hopline's"):
            act()
    assert file.read_bytes() == before


def test_refuses_folders(tmp_path):
    with pytest.raises(OutputError, match="cannot be written"):
        reports.write(tmp_path, OURS)
    with pytest.raises(OutputError, match="no folder"):
        reports.refuse_foreign(tmp_path / "not" / "there.xml")
    assert not (tmp_path / "not").exists()
