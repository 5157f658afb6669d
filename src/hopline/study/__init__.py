"""Compare, fit, search and explain. Engines come in as arguments."""
