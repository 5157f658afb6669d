"""A question for NCCL's tuner beside a file: what the file says of its job, and what the user states where it is silent.

What belongs here: from both to a whole question, what had to be taken for granted, and what may not be said beside the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from hopline.errors import FormatError, InputError
from hopline.jobs import fitting
from hopline.jobs.comparing.told import ONE_NODE, Stated, said_of
from hopline.jobs.nccl import Question
from hopline.jobs.stated import refuse_other
from hopline.model.nccl.numbers import LATEST, VERSIONS, parts
from hopline.records.nccl_log import NcclLog, Search
from hopline.records.table import Table

_NCCL = "NCCL"
_STATED = {"-n": "ranks", "--nodes": "nodes", "--arch": "architecture", "--cpu": "cpu"}
"""Option -> what it states where files do not say it; the version stands for itself."""
_SEARCHED = {"--channels": "channels", "--within": "within", "--between": "between", "--nic": "nic"}
"""Option -> what GRAPH lines of a log say."""
_LACKING = {"ranks": "the number of ranks (-n)", "architecture": "the architecture of the GPUs (--arch)"}
_USUAL = Question("all_reduce", 2)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user asks: ``stated`` of the job, and the rest (``wires``, ``forced``, ...) as a question without it."""

    stated: Stated
    rest: Question = _USUAL


def asked_alone(asked: Asked) -> Question:
    """The question where no file is there. Raises InputError where ranks or GPUs are not stated."""
    stated, function = asked.stated, asked.rest.function
    if stated.ranks is None or stated.architecture is None:
        raise InputError(f"-n and --arch are needed for {function}: like -n 16 --nodes 2 --arch hopper")
    return _with(asked, stated, ())


def completed(
    asked: Asked, said: Sequence[Stated], searches: tuple[Search, ...], source: str
) -> tuple[Question, tuple[str, ...]]:
    """The question with what a file says (``said``, of each of its tables), and what had to be taken for granted.

    Raises InputError where the user states something else than the file says, and where neither says what is needed.
    """
    stated = asked.stated
    for option, name in _STATED.items():
        refuse_other(option, getattr(stated, name), [getattr(one, name) for one in said])
    versions = [one.version for one in said if one.version and is_known(one.version)]
    if stated.version is not None and any(parts(stated.version) != parts(one) for one in versions):
        refuse_other("--nccl", stated.version, versions)
    told = [option for option, name in _SEARCHED.items() if getattr(stated, name) is not None]
    told += ["--pci"] if asked.rest.pci else []
    if searches and told:
        raise InputError(f"{told[0]}: GRAPH lines of the log say what NCCL's search found; leave {told[0]} away")
    job = _joined(stated, said, versions)
    lacking = [text for name, text in _LACKING.items() if getattr(job, name) is None]
    if job.ranks and job.ranks > ONE_NODE and job.nodes is None:
        lacking.append("the number of nodes (--nodes)")
    if lacking:
        raise InputError(f"{source} does not say {' and '.join(lacking)}: expected it stated, as our figures need it")
    return _with(asked, job, searches), _premises(job, versions, said)


def is_known(version: str) -> bool:
    """Whether the tuner of ``version`` is known here, or one after which it came."""
    return parts(version) >= parts(VERSIONS[0].tag)


def said_of_log(log: NcclLog, tables: Sequence[Table]) -> list[Stated]:
    """What a log of NCCL says of its job: by the tables of a benchmark in it, or alone."""
    version = log.version.partition("+")[0] or None if log.flavour == _NCCL else None
    own = Stated(log.ranks, log.nodes, version=version)
    if not tables:
        return [own]
    return [_first(said_of(table, log), own) for table in tables]


def tables_of(path: str) -> tuple[Table, ...]:
    """Tables of a benchmark in a log of NCCL; () where it has none."""
    try:
        return fitting.read(path).tables
    except FormatError:
        return ()


def _first(one: Stated, other: Stated) -> Stated:
    """What ``one`` says, and where it is silent what ``other`` says."""
    values = {f.name: getattr(other, f.name) for f in fields(Stated) if getattr(one, f.name) is None}
    return replace(one, **values)


def _joined(stated: Stated, said: Sequence[Stated], versions: Sequence[str]) -> Stated:
    """What is known of the job; of the file's tables what the first says that says it, and a version that is known."""
    found = stated
    for one in said:
        found = _first(found, replace(one, version=None))
    return replace(found, version=versions[0] if versions and stated.version is None else stated.version)


def _with(asked: Asked, job: Stated, searches: tuple[Search, ...]) -> Question:
    cpu = job.cpu or _USUAL.cpu
    return replace(
        asked.rest, ranks=job.ranks or 0, nodes=job.nodes or 1, architecture=job.architecture or "",
        version=job.version or LATEST, cpu=cpu, x86=cpu != "other", channels=job.channels, within=job.within,
        between=job.between, nic=job.nic, searches=searches,
    )  # fmt: skip


def _premises(job: Stated, versions: Sequence[str], said: Sequence[Stated]) -> tuple[str, ...]:
    """What had to be taken for granted."""
    found = []
    if job.nodes is None:
        found.append(f"all {job.ranks} ranks are on one node (--nodes says how many)")
    unknown = next((one.version for one in said if one.version), None)
    if job.version is None and not versions:
        why = (
            f"the tuner of {unknown}, which the file says, is not known here" if unknown else "the file does not say it"
        )
        found.append(f"NCCL is of version {LATEST}: {why} (--nccl)")
    return tuple(found)
