"""A rank whose messages go as NCCL's do, in groups round by round from a torch device, but on the CPU and by gloo."""

from __future__ import annotations

import sys
from dataclasses import replace

from hopline.run.executing import rank
from hopline.run.executing.device_transport import DeviceTransport
from hopline.run.executing.transports import TRANSPORTS


def main(argv):
    """Be a rank."""
    import torch.distributed as dist

    real = TRANSPORTS["gloo"]
    join = real.join
    TRANSPORTS["gloo"] = replace(
        real, join=lambda seat: DeviceTransport(join(seat), dist.new_group(backend="gloo"), "cpu")
    )
    rank.main(argv)


if __name__ == "__main__":
    main(sys.argv[1:])
