"""Closed forms of collectives: rounds that come one after the other, what each sends and adds up, and what they take."""
