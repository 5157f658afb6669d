"""Read the execution plans of MSCCL++, of both generations of its files.

What belongs here: the file as a Plan, and its counts. Operations of switches (NVLS) and loops over parts of chunks are counted
and not made into a schedule.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from hopline.errors import FormatError, InputError
from hopline.formats.lines import excerpt
from hopline.formats.schedules import mscclpp_json, mscclpp_old
from hopline.formats.schedules.bounded import whole
from hopline.formats.schedules.contents import Asked, Contents, Fact, Reading, beyond, counted, expect_ranks, idle
from hopline.formats.schedules.mscclpp_parts import LOOPS, ORDER, SWITCH, Execution
from hopline.formats.schedules.mscclpp_run import Run
from hopline.formats.schedules.promised import Layout, benchmark
from hopline.formats.source import shown
from hopline.schedule.pieces import Ints


@dataclass(frozen=True, slots=True)
class MscclppPlan:
    """An execution plan; see Plan."""

    path: str
    execution: Execution
    contents: Contents

    def reading(self, asked: Asked) -> Reading:
        """See Plan. The size must be a multiple of the chunks' alignment, as the executor has it."""
        where, plan = shown(self.path), self.execution
        expect_ranks(where, self.contents.ranks, asked)
        if self.contents.refusal:
            raise FormatError(f"{where}: {self.contents.refusal}")
        chunks = _chunks(plan)
        unit = chunks * plan.alignment
        if asked.size is None:
            raise InputError(f"{where} counts in chunks: give the size of a rank's buffer, a multiple of {unit} bytes")
        if asked.size % unit:
            raise InputError(
                f"{where}: {asked.size} bytes are no multiple of {unit} ({chunks} chunks x {plan.alignment} bytes), "
                "which MSCCL++ refuses, too"
            )
        try:
            layout = Layout(benchmark(plan.collective), len(plan.gpus), asked.size, chunks, plan.in_place)
            run = Run(plan, layout)
            schedule, numbers = run.made(self.contents.name, layout.promise())
        except FormatError as error:
            raise FormatError(f"{where}: {error}") from None
        remarks = (*beyond(self.contents, asked.size), *idle(schedule.ranks, schedule.columns.rank))
        return Reading(schedule, self.contents, (*self.contents.remarks, *remarks), partial(_place, run, numbers))


def _place(run: Run, numbers: Ints, row: int) -> str:
    return run.place(int(numbers[row]))


def read(path: str) -> MscclppPlan:
    """The execution plan in the file at ``path``. Raises FormatError."""
    import msgspec

    data = whole(path)
    try:
        if b'"inputChunks"' in data:
            plan = mscclpp_old.execution(msgspec.json.decode(data, type=mscclpp_old.Document))
        else:
            plan = mscclpp_json.execution(msgspec.json.decode(data, type=mscclpp_json.Document))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"{shown(path)} is no MSCCL++ plan: {excerpt(str(error).encode())}") from None
    except FormatError as error:
        raise FormatError(f"{shown(path)}: {error}") from None
    return MscclppPlan(path, plan, _contents(plan))


def _chunks(plan: Execution) -> int:
    """Chunks of the larger one of input and output."""
    return max(max(gpu.chunks["i"], gpu.chunks["o"]) for gpu in plan.gpus)


def _contents(plan: Execution) -> Contents:
    names = counted(plan.names)
    kinds = [action.kind for gpu in plan.gpus for actions in gpu.blocks.values() for action in actions]
    facts: dict[str, Fact] = {
        "name": plan.name, "collective": plan.collective, "protocol": plan.protocol, "inplace": plan.in_place,
        "gpus": len(plan.gpus), "threadblocks": sum(len(gpu.blocks) for gpu in plan.gpus), "operations": sum(names.values()),
        "operations_by_name": names,
    }  # fmt: skip
    for key, buffer in (("input_chunks", "i"), ("output_chunks", "o"), ("scratch_chunks", "s")):
        facts[key] = max(gpu.chunks[buffer] for gpu in plan.gpus)
    return Contents(
        "mscclpp", plan.name, len(plan.gpus), facts, plan.sizes, tuple(_remarks(plan, kinds)), _refusal(plan)
    )


def _remarks(plan: Execution, kinds: list[str]) -> list[str]:
    order = counted(kind for kind in kinds if kind in ORDER)
    remarks = []
    if order:
        remarks.append(f"{', '.join(f'{count} {kind}' for kind, count in order.items())} only order what others do")
    if any(kind in ("signal", "rlxsignal", "pws", "pwsf") for kind in kinds):
        remarks.append("a signal that is waited for is a message of 0 bytes")
    if plan.protocol == "LL":
        remarks.append("packets carry as many bytes of flags as of data: they are not in the schedule")
    if not benchmark(plan.collective):
        remarks.append(
            f"collective {plan.collective[:40]!r} promises nothing that is known here: its result is not checked"
        )
    return remarks


def _refusal(plan: Execution) -> str:
    """Why no schedule can be made of a plan; empty: one can."""
    found = []
    for group, what in ((SWITCH, "add up or store in the switch (NVLS)"), (LOOPS, "go over chunks part by part")):
        counts = counted(name for name in plan.names if name in group)
        if counts:
            found.append(f"{', '.join(f'{count} {kind}' for kind, count in counts.items())} {what}")
    if found:
        return f"{'; '.join(found)}: such operations are counted, not simulated"
    if not _chunks(plan):
        return "its inputs and outputs have no chunks: expected at least one"
    return ""
