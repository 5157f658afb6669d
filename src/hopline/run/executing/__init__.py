"""Schedules on real ranks.

What belongs here: everything that carries out operations of a schedule between processes, times each and verifies what came
of it. Where processes come from is also ``launch`` and ``mpirun``, which ``hopline measure`` shares.
"""
