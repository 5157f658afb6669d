"""The hardware at rest: what it can do when nothing runs."""
