"""torch.distributed as a transport.

What belongs here: how its ranks come together. torch is imported when they do.
"""

from __future__ import annotations

from datetime import timedelta

from hopline.run.executing.device_transport import DeviceTransport
from hopline.run.executing.gloo_transport import GlooTransport
from hopline.run.executing.transport import Transport

JOIN_TIME = timedelta(minutes=3)
QUIET_TIME = timedelta(days=1)
"""Ranks that wait for a plan may wait long."""


def joined(backend: str, rank: int, size: int, store: str) -> Transport:
    """The ranks that meet at ``store`` (a URL of torch's init_method). Raises RuntimeError where they do not meet."""
    import torch.distributed as dist

    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=size, timeout=JOIN_TIME)
    dist.barrier()
    host = GlooTransport(rank, size, dist.new_group(backend="gloo", timeout=QUIET_TIME))
    return host if backend == "gloo" else DeviceTransport(host, dist.new_group(backend=backend, timeout=QUIET_TIME))
