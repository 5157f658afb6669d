"""The functions a notebook calls: text or numbers in, numpy arrays out.

What belongs here: the thin layer that takes quantities as people write them and arrays as numpy holds them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from hopline import quantity as quantities
from hopline.curve import Curve, Floats, Hop
from hopline.errors import InputError, UnknownNameError
from hopline.jobs import checking, expecting, fitting, machines
from hopline.jobs.benchmarks import benchmark_of
from hopline.jobs.checking import Terms
from hopline.jobs.fitting import TableFit
from hopline.jobs.questions import Question
from hopline.machine.topology import Machine
from hopline.model import chunks, pipeline
from hopline.model.chunks import Best
from hopline.model.forwarding import FORWARDING, Forward
from hopline.quantity import NON_NEGATIVE
from hopline.records.fit import Prediction
from hopline.records.table import Log
from hopline.records.verdict import Checked

HopText = tuple[str | float | Floats, str | float | Floats]


def p2p(
    size: str | ArrayLike,
    hops: Sequence[HopText | Hop],
    way: str = "store-and-forward",
    chunks: ArrayLike | None = None,
    header: float = 0.0,
    flit: float | None = None,
) -> Floats:
    """Seconds to move ``size`` bytes over ``hops``, in the shape of the inputs broadcast together.

    Parameters
    ----------
    size
        Bytes, any shape, or text such as ``"64MiB"``.
    hops
        One (latency, bandwidth) for each hop, in s and byte/s or as text, or a Curve.
    way
        ``store-and-forward``, ``cut-through``, ``wormhole`` or ``pipelined``.
    chunks
        Number of chunks of whole bytes, for ``pipelined``; None: the exact best one for each size.
    header, flit
        Bytes, see model.forwarding.Forward.

    Raises InputError, QuantityError and UnknownNameError.

    >>> float(p2p("64MiB", [("0.55us", "64GB/s")]))
    0.001049126
    """
    sizes = np.asarray(quantities.size(size) if isinstance(size, str) else size, dtype=float)
    lines = [_hop(hop) for hop in hops]
    if way == "pipelined":
        return pipeline.balanced(sizes, lines, _best(sizes, lines) if chunks is None else chunks)
    if chunks is not None:
        raise InputError(f"chunks go with way='pipelined', not with {way!r}")
    if way not in FORWARDING:
        raise UnknownNameError("way", way, [*FORWARDING, "pipelined"])
    return FORWARDING[way](sizes, lines, Forward(header, flit))


def best_chunks(size: str | float, hops: Sequence[HopText | Hop]) -> Best:
    """The exact best number of chunks of whole bytes and its time in s."""
    return chunks.best(quantities.size(size) if isinstance(size, str) else size, [_hop(hop) for hop in hops])


def _best(sizes: Floats, lines: Sequence[Hop]) -> Floats:
    """The best k of every element of the inputs broadcast together."""
    parts = [part for line in lines if isinstance(line, tuple) for part in line]
    shape = np.broadcast_shapes(sizes.shape, *(np.shape(part) for part in parts))
    flat = [np.broadcast_to(np.asarray(part, dtype=float), shape).reshape(-1) for part in (sizes, *parts)]
    found = []
    for m, *values in zip(*flat, strict=True):
        rest = iter(values)
        each = [line if isinstance(line, Curve) else (float(next(rest)), float(next(rest))) for line in lines]
        found.append(float(chunks.best(float(m), each).k))
    return np.array(found).reshape(shape)


def _hop(hop: HopText | Hop) -> Hop:
    if isinstance(hop, Curve) or len(hop) != 2:
        return hop
    latency, bandwidth = hop
    return (
        quantities.time(latency) if isinstance(latency, str) else latency,
        quantities.bandwidth(bandwidth) if isinstance(bandwidth, str) else bandwidth,
    )


def expect(
    benchmark: str,
    machine: str | Machine,
    ranks: int | None = None,
    sizes: Sequence[str | float] = (),
    extrapolate: bool = False,
) -> Prediction:
    """What ``benchmark`` should show: size (bytes), time (s), and its 90 % interval low and high (s), arrays of one length.

    ``machine`` is one, or the name or file of one; ``sizes`` are bytes or text, none: those that were measured there, else
    8 B to 128 MiB. Raises MachineError, FitError, InputError and QuantityError.
    """
    asked = tuple(quantities.size(size) if isinstance(size, str) else float(size) for size in sizes)
    for size in asked:
        NON_NEGATIVE.check("a size", size)
    if ranks is not None and ranks < 2:
        raise InputError(f"ranks is {ranks!r}: expected at least 2")
    question = Question(_machine(machine), benchmark_of(benchmark), ranks, asked, (), extrapolate)
    return expecting.expect(question).found


def check(
    file: str, machine: str | Machine, ranks: int | None = None, tolerance: float = checking.TOLERANCE
) -> list[Checked]:
    """Every table of a log held against a machine: ``outcome``, and a verdict with its reason for each size.

    Raises FormatError, MachineError and InputError.
    """
    NON_NEGATIVE.check("tolerance", tolerance)
    return checking.check(str(file), Terms(_machine(machine), ranks, tolerance=tolerance))[1]


def _machine(machine: str | Machine) -> Machine:
    return machines.find(machine) if isinstance(machine, str) else machine


def find_machine(name: str) -> Machine:
    """A preset, a saved machine or a machine file. Raises MachineError and UnknownNameError."""
    return machines.find(str(name))


def read_log(file: str) -> Log:
    """Every table of a benchmark log. Raises FormatError."""
    return fitting.read(file)


def fit(file: str) -> list[TableFit]:
    """Every table of a benchmark log with its fits. Raises FormatError."""
    return fitting.fit_files([file])[1]
