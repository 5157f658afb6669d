"""Which models an option of ``hopline compare`` is for, so that none is given in vain.

What belongs here: the table, and refusing an option where all models that it is for are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from hopline.errors import InputError
from hopline.jobs.comparing.closed_form import CLOSED_FORM
from hopline.jobs.comparing.tables import MODELS, WHOLE
from hopline.jobs.comparing.tuner import TUNER
from hopline.records.comparison import Comparison

_CLOSED_FORM, _TUNER = "the closed form", "NCCL's tuner"
_CALLED = {CLOSED_FORM: _CLOSED_FORM, TUNER: _TUNER}
USED_BY: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("--algorithm", "--sends-table", "--sends"), (CLOSED_FORM,)),
    **dict.fromkeys(("--arch", "--nccl", "--cpu", "--channels", "--within", "--between", "--nic"), (TUNER,)),
    **dict.fromkeys(("--nodes", "-n"), (CLOSED_FORM, TUNER)),
}
"""Option -> the models that go by it, those first that are for less. -n also makes whole buffers of one rank's parts."""


def refuse_idle(given: Collection[str], found: Sequence[Comparison]) -> None:
    """Raise InputError for an option of ``given`` that no table has a use for, with the reason."""
    there = {column.model for one in found for column in one.columns}
    whole = any(premise.text.startswith(WHOLE) for one in found for premise in one.premises)
    for option, models in USED_BY.items():
        if option not in given or there & set(models) or (option == "-n" and whole):
            continue
        called = " and ".join(_CALLED[model] for model in models)
        verb = "is" if len(models) == 1 else "are"
        raise InputError(f"{option}: it is for {called}, which {verb} left out: {reasons(found, models)}")


def reasons(found: Sequence[Comparison], models: Sequence[str] = MODELS) -> str:
    """Why models are left out, in a line: one reason for all of them, or each with those that it is of."""
    told: dict[str, list[str]] = {}
    for one in found:
        for model, reason in one.left:
            if model in models and model not in told.setdefault(reason, []):
                told[reason].append(model)
    if len(told) == 1:
        return next(iter(told))
    return "; ".join(f"{', '.join(of)}: {reason}" for reason, of in told.items())
