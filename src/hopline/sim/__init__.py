"""Answer by events: what every operation of a schedule waits for, and what it then takes, on a fabric or under LogGOPS."""
