"""The collectives: which messages each algorithm sends, round by round."""
