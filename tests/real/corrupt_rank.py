"""A rank whose transport corrupts one byte: a test double around the real one, started in place of the rank program."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from hopline.run.executing import rank
from hopline.run.executing.transport import CONTROL_TAGS
from hopline.run.executing.transports import TRANSPORTS

FROM, TO, MESSAGE, OFFSET = 1, 2, 3, 5


class Corrupting:
    """Sends another byte than it was given, in one message of each repeat."""

    def post(self, messages):
        """As the real one does, but for one byte."""
        handles = []
        for message in messages:
            if message.sends and (self.rank, message.peer, message.tag) == (FROM, TO, CONTROL_TAGS + MESSAGE):
                self.kept = np.array(message.data)
                self.kept[OFFSET] ^= 0x20
                message = message._replace(data=self.kept)
            handles += super().post([message])
        return handles


def joined(real, seat):
    """The real transport, of another class."""
    transport = real.join(seat)
    transport.__class__ = type("CorruptingTransport", (Corrupting, type(transport)), {})
    return transport


def main(argv):
    """Be a rank."""
    real = TRANSPORTS[argv[0]]
    TRANSPORTS[argv[0]] = replace(real, join=lambda seat: joined(real, seat))
    rank.main(argv)


if __name__ == "__main__":
    main(sys.argv[1:])
