"""All algorithms of a collective side by side: what each takes, which is fastest where, what binds, what would help."""
