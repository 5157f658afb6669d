"""Models set beside what was measured, size by size: tables of collectives (``tables``), and real ranks (``real_ranks``)."""
