"""Training steps made up and simulated, as traces of which the truth is known.

What belongs here: ``job`` (what is asked for), ``program`` (launches of all ranks, in the making), ``steps`` (a training step
of these), ``tracing`` (what profilers would have seen), ``truth`` (what was so), ``files``.
"""
