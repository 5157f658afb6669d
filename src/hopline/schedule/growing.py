"""Columns that grow, block by block.

What belongs here: room for rows, and the writing of values into every so many of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopline.schedule.operations import DTYPES, NONE, Columns

UNSET = {"peer": NONE, "source": 0, "after": NONE}
"""Of what a row has not got."""


class Growing:
    """The columns of a schedule in the making; ``len``: rows so far."""

    def __init__(self) -> None:
        self._columns: dict[str, NDArray[Any]] = {name: np.empty(0, dtype) for name, dtype in DTYPES.items()}
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def reserve(self, rows: int) -> None:
        """Room for so many more."""
        for name in self._columns:
            self._room(name, self._rows + rows)

    def add(self, shape: tuple[int, ...], ends: Sequence[Mapping[str, ArrayLike]]) -> None:
        """A group of rows for each place of ``shape``, each group in the order of ``ends``: values of a row by column, that
        broadcast to ``shape``.
        """
        low, high = self._rows, self._rows + math.prod(shape) * len(ends)
        for name in DTYPES:
            block = self._room(name, high)[low:high].reshape(*shape, len(ends))
            for place, end in enumerate(ends):
                block[..., place] = end[name] if name in end else UNSET[name]
        self._rows = high

    def columns(self) -> Columns:
        """All rows; to be asked for once, when no more come."""
        return Columns(**{name: column[: self._rows] for name, column in self._columns.items()})

    def _room(self, name: str, rows: int) -> NDArray[Any]:
        column = self._columns[name]
        if rows > len(column):
            self._columns[name] = np.empty(max(rows, 2 * len(column)), column.dtype)
            self._columns[name][: self._rows] = column[: self._rows]
        return self._columns[name]
