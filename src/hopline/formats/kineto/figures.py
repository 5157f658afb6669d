"""Numbers and lists of ranks that collectives say of themselves, held against what they can be.

What belongs here: what is impossible is taken as not said, counted, and told with a value. No defect are -1 and what profilers
make of it, which say nothing, and a list of ranks that is cut short.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hopline.formats.kineto.events import Arguments
from hopline.formats.kineto.head import MOST_RANKS, plain
from hopline.formats.kineto.times import says_none, whole_number
from hopline.records.trace import NONE

MOST_ELEMENTS = 1 << 42
"""Of a message, which is in the memory of one GPU."""
_FIELDS = {
    "count": ("Group size", 1, MOST_RANKS), "sequence": ("Seq", 0, 1 << 62), "sent": ("In msg nelems", 0, MOST_ELEMENTS),
    "received": ("Out msg nelems", 0, MOST_ELEMENTS), "source": ("Src Rank", 0, MOST_RANKS),
    "target": ("Dst Rank", 0, MOST_RANKS), "shapes": ("Input Dims", 0, MOST_ELEMENTS),
}  # fmt: skip
"""Field of Arguments -> as the file has it, and the least and the most that it can be."""
_LIST = re.compile(r"\s*\[\s*((?:\d{1,20}\s*,\s*)*\d{1,20})?\s*\]\s*")


@dataclass(slots=True)
class Figures:
    """What collectives say; ``odd``: for each key in the file how often it was impossible, and a sentence about the first."""

    odd: dict[str, tuple[int, str]] = field(default_factory=dict)

    def number(self, said: Arguments, name: str) -> int | None:
        """A field of _FIELDS; None where it is not said."""
        return self.held(name, getattr(said, name))

    def held(self, name: str, value: object) -> int | None:
        """A value of a field of _FIELDS; None where it is not said, or cannot be."""
        key, least, most = _FIELDS[name]
        number = whole_number(value)
        if least <= number <= most:
            return number
        if number != NONE or not says_none(value):
            self._count(key, value, f"a whole number from {least} to {most}")
        return None

    def ranks(self, value: object) -> tuple[int, ...]:
        """Ranks of a list or of its text; () where that is shortened (``[0, 1, ..., 7]``), not said, or cannot be."""
        found = value
        if isinstance(value, str):
            match = _LIST.fullmatch(value)
            if match is None:
                return ()
            found = [int(text) for text in (match[1] or "").split(",") if text]
        if found is None:
            return ()
        if isinstance(found, list) and all(map(_is_rank, found)) and len(set(found)) == len(found):
            return tuple(found)
        self._count("Process Group Ranks", value, f"different ranks from 0 to {MOST_RANKS - 1}")
        return ()

    def told(self) -> list[str]:
        """What was odd, a sentence a key."""
        return [
            f"{count} collective{'s' if count > 1 else ''} with an impossible {what}"
            for count, what in self.odd.values()
        ]

    def _count(self, key: str, value: object, wanted: str) -> None:
        count, what = self.odd.get(key, (0, ""))
        self.odd[key] = count + 1, what or f"{key} ({plain(value)}): expected {wanted}; it counts as not said"


def _is_rank(value: object) -> bool:
    return type(value) is int and 0 <= value < MOST_RANKS
