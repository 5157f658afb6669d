"""A rank whose MPI corrupts one byte: a test double around the real transport, started in place of the rank program."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from hopline.run.executing import rank
from hopline.run.executing.mpi_transport import MpiTransport
from hopline.run.executing.transport import CONTROL_TAGS
from hopline.run.executing.transports import TRANSPORTS

FROM, TO, MESSAGE, OFFSET = 1, 2, 3, 5


class CorruptingTransport(MpiTransport):
    """Sends another byte than it was given, in one message of each repeat."""

    def post(self, messages):
        """As MPI does, but for one byte."""
        handles = []
        for message in messages:
            if message.sends and (self.rank, message.peer, message.tag) == (FROM, TO, CONTROL_TAGS + MESSAGE):
                self.kept = np.array(message.data)
                self.kept[OFFSET] ^= 0x20
                message = message._replace(data=self.kept)
            handles += super().post([message])
        return handles


def main(argv):
    """Be a rank."""
    real = TRANSPORTS["mpi"]
    TRANSPORTS["mpi"] = replace(real, join=lambda seat: CorruptingTransport(real.join(seat).comm))
    rank.main(argv)


if __name__ == "__main__":
    main(sys.argv[1:])
