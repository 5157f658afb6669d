"""FORMS: the closed form of every entry of COLLECTIVES, by the same name.

What belongs here: the table.
"""

from __future__ import annotations

from collections.abc import Callable

from hopline.model.collective import rings
from hopline.model.collective.rounds import Form
from hopline.schedule.shape import Shape

FORMS: dict[str, Callable[[Shape], Form]] = {
    "all_reduce-ring": rings.all_reduce,
    "reduce_scatter-ring": rings.reduce_scatter,
    "all_gather-ring": rings.all_gather,
}
