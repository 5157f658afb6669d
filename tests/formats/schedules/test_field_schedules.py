"""Schedule files of other people, against counts that were made by other parsers."""

import ast
import re

import pytest
from field import FIELD, manifest, needed

from hopline.errors import FormatError, InputError
from hopline.formats.schedules import table
from hopline.formats.schedules.contents import Asked
from hopline.schedule.check.proof import check

pytestmark = needed


def figures(computed):
    return dict(re.findall(r"(\w+)=(\[[^\]]*\]|\S+)", computed))


def value(text, like):
    """A figure's text as the type of what is to be compared with it."""
    if isinstance(like, dict):
        return {name: int(count) for name, count in (part.split(":") for part in text.split(","))}
    if isinstance(like, tuple):
        return tuple(ast.literal_eval(text))
    if isinstance(like, bool):
        return text == "True"
    return type(like)(text)


ROWS = manifest("sim/goal-binary", "sim/msccl", "sim/chakra")


@pytest.mark.parametrize(("path", "computed"), ROWS)
def test_counts(path, computed):
    facts, told = table.contents(str(path)).facts, figures(computed)
    assert told
    assert {name: facts[name] for name in told} == {name: value(text, facts[name]) for name, text in told.items()}


def test_all_rows_are_there():
    assert len(ROWS) == 11


@pytest.mark.parametrize(("path", "computed"), manifest("sim/goal-schedgen2"))
def test_the_configuration_is_refused_and_its_wrong_key_named(path, computed):
    assert "algotithm" in computed
    with pytest.raises(FormatError, match="unknown key 'algotithm'"):
        table.contents(str(path))


SOUND = {
    "goal-binary_tree_32.goal": (None,),
    "msccl-allreduce-allpairs-8n-ll-32tb.xml": (65536, 256, 10007, 100),
    "msccl-alltoall-8n-0-9kb.xml": (8192, 9001, 8),
    "mscclpp-allreduce_packet.json": (65536, 64),
    "mscclpp-transfer_pack.json": (65536, 32),
    "chakra-all_gather-4npus_1MB.0.et": (None,),
}


@pytest.mark.parametrize("name", SOUND)
def test_they_are_proved_right(name):
    for size in SOUND[name]:
        schedule = table.read(str(FIELD / "sim" / name), Asked(size=size)).schedule
        found = check(schedule)
        assert found.faults == ()
        assert found.unchecked == () or not schedule.buffers
        assert found.blocking


def test_what_cannot_be_simulated_says_why():
    with pytest.raises(FormatError, match="2 glres add up or store in the switch"):
        table.read(str(FIELD / "sim" / "mscclpp-reduce_nvls.json"), Asked(size=64))
    alone = str(FIELD / "sim" / "chakra-all_reduce-16npus.0.et")
    with pytest.raises(InputError, match="there is no file of rank 1-15 of 16"):
        table.read(alone, Asked(ranks=16))
    with pytest.raises(InputError, match="no other rank's file"):
        table.read(alone, Asked())


def test_other_files_of_the_folder_are_no_schedules():
    known = tuple(
        path.name
        for path in (FIELD / "sim").iterdir()
        if path.name.startswith(("goal-", "msccl", "chakra-", "hpcc-ns3-flow"))
    )
    for path in (FIELD / "sim").iterdir():
        if path.name not in known:
            with pytest.raises(FormatError, match="is no schedule file that hopline knows"):
                table.recognise(str(path))
