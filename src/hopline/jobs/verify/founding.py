"""The founding table: every statement of the two founding documents, and the mistakes that they invite.

What belongs here: putting the documents' rows together. A row is added where its document's rows are.
"""

from __future__ import annotations

from hopline.jobs.verify import founding_chunks, founding_memory, founding_mistakes, founding_paths, founding_step
from hopline.jobs.verify.figures import FoundingRow, Statement, worked_out

STATEMENTS: tuple[Statement, ...] = (
    *founding_paths.STATEMENTS,
    *founding_chunks.STATEMENTS,
    *founding_memory.STATEMENTS,
    *founding_step.STATEMENTS,
    *founding_mistakes.STATEMENTS,
)
"""Point to point (1.x), hand-over, congestion and critical path (2.x), mistakes (Mx)."""


def founding_rows() -> tuple[FoundingRow, ...]:
    """Every row with its figures, worked out from the model now."""
    return tuple(map(worked_out, STATEMENTS))
