"""Which pieces the critical path of a timeline is drawn with.

What belongs here: from stretches to pieces, of one part on one rank each. Where they are too many, the span is cut into equal
times and each is drawn as what it mostly is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from hopline.quantity import show
from hopline.records.explained import Explained
from hopline.show.explain_rows import GIGA

MOST_PIECES = 1200


@dataclass(frozen=True, slots=True)
class PathPiece:
    """Of one part (``records.critical.PARTS``) on one trace; nanoseconds on the common clock."""

    trace: int
    part: str
    start: int
    end: int


def path_pieces(explained: Explained, shown: set[int], most: int = MOST_PIECES) -> tuple[list[PathPiece], str]:
    """Those on the traces ``shown``, and by which rule they were made fewer; "" for none."""
    stretches = explained.path.stretches if explained.path else ()
    pieces = _joined(PathPiece(s.trace, s.part, s.start, s.end) for s in stretches if s.time > 0)
    said = ""
    if len(pieces) > most:
        width = -(-explained.time // most)
        pieces = _joined(_mostly(pieces, explained.start, width))
        said = f"The path is drawn as what it mostly is in each {show(width / GIGA, 'time', 2)}."
    return [piece for piece in pieces if piece.trace in shown], said


def _joined(pieces: Iterable[PathPiece]) -> list[PathPiece]:
    """Neighbours of one part on one trace are one."""
    found: list[PathPiece] = []
    for piece in pieces:
        if found and (found[-1].trace, found[-1].part) == (piece.trace, piece.part):
            found[-1] = PathPiece(piece.trace, piece.part, found[-1].start, piece.end)
        else:
            found.append(piece)
    return found


def _mostly(pieces: Iterable[PathPiece], begin: int, width: int) -> Iterable[PathPiece]:
    """What each ``width`` from ``begin`` on is most of; of equals the earlier."""
    times: dict[int, dict[tuple[int, str], int]] = defaultdict(lambda: defaultdict(int))
    for piece in pieces:
        at = piece.start
        while at < piece.end:
            place = (at - begin) // width
            until = min(piece.end, begin + (place + 1) * width)
            times[place][piece.trace, piece.part] += until - at
            at = until
    for place, of in sorted(times.items()):
        trace, part = max(of, key=lambda one: of[one])
        start = begin + place * width
        yield PathPiece(trace, part, start, start + sum(of.values()))
