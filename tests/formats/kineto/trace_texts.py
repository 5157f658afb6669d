"""Small traces as text, for tests of the reader."""

import json

BASE = 1_694_128_201_000_000
"""Microseconds since 1970 at which these begin."""


def span(name, start, length, cat="cpu_op", pid=10, tid=11, **args):
    """An event with a length; ``start`` is in microseconds after BASE."""
    return {
        "ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": BASE + start, "dur": length, "args": args,
    }  # fmt: skip


def call(name, start, length, correlation, **where):
    return span(name, start, length, "cuda_runtime", correlation=correlation, **where)


def kernel(name, start, length, correlation, stream=7, **args):
    return span(name, start, length, "kernel", 0, stream, device=0, stream=stream, correlation=correlation, **args)


EVENTS = [
    span("ProfilerStep#3", 0, 100, "user_annotation"),
    span("aten::mm", 1, 30),
    call("cudaLaunchKernel", 5, 10, 71),
    kernel("gemm", 20, 40, 71),
    span("Memcpy HtoD (Pinned -> Device)", 61, 2, "gpu_memcpy", 0, 7, device=0, stream=7, correlation=72, bytes=64),
    {"ph": "M", "name": "process_name", "pid": 10, "args": {"name": "python"}},
    span("PyTorch Profiler (0)", 0, 100, "Trace", "Spans", "PyTorch Profiler"),
]


def text(events=EVENTS, before=(), after=(), **around):
    """A trace as JSON; ``before`` and ``after`` name the keys of ``around`` that stand on either side of the events."""
    keys = {key: around[key] for key in before} | {"traceEvents": events} | {key: around[key] for key in after}
    return json.dumps(keys | {key: value for key, value in around.items() if key not in keys})
