"""Proof of a schedule before it costs anything: form, meetings, waits, order of accesses, and what each byte ends up as."""
