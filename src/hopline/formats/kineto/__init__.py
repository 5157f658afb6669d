"""Traces of Kineto (the profiler of PyTorch) and other Chrome trace files with work on a GPU.

What belongs here: ``reader`` gives a Trace of a file; the text is cut into blocks of events (``blocks``), these are decoded
(``events``) and become columns (``columns``); ``collectives`` finds what each communication kernel was called for.
"""
