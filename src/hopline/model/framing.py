"""Framing: what part of the bytes on a link are the message's.

What belongs here: a stated factor on a link's rate, and where it comes from. What a rate does to a message is elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

from hopline.errors import InputError
from hopline.quantity import POSITIVE

ETHERNET = 14
"""Bytes of a frame's header: two addresses and a type (IEEE 802.3)."""
WIRE = 24
"""Bytes of a frame that software does not count: preamble and start 8, check sum 4, gap 12 (IEEE 802.3)."""
IPV4, IPV6, TCP = 20, 40, 20
"""Bytes of headers without options (RFC 791, RFC 8200, RFC 9293)."""
TIMESTAMPS = 12
"""Bytes of TCP's time stamps with their padding (RFC 7323), which Linux sends unless told not to."""


@dataclass(frozen=True, slots=True)
class Framing:
    """``payload`` bytes of a message go in a frame that the link counts as ``frame`` bytes."""

    payload: int
    frame: int

    def __post_init__(self) -> None:
        POSITIVE.check("payload", self.payload)
        if self.frame < self.payload:
            raise InputError(f"frames of {self.frame} bytes with {self.payload} bytes of payload: expected no fewer")

    def carried(self, frames: float) -> float:
        """Bytes of messages (a second) in full frames of so many bytes (a second)."""
        return frames * self.payload / self.frame

    def frames(self, size: int) -> int:
        """Bytes that the link counts for one message of ``size`` bytes: full frames, and one with the rest."""
        return size + -(-size // self.payload) * (self.frame - self.payload)


def tcp(mtu: int = 1500, *, timestamps: bool = True, ip: int = IPV4, wire: bool = False) -> Framing:
    """TCP over Ethernet: by default 1448 of the 1514 bytes that Linux's queueing disciplines count (tc-tbf).

    ``wire`` adds what only the wire carries: 1448 of 1538 bytes. Raises InputError for an MTU that holds no payload.
    """
    payload = mtu - ip - TCP - TIMESTAMPS * timestamps
    if payload < 1:
        raise InputError(f"an MTU of {mtu} bytes: expected more than the {mtu - payload} bytes of headers")
    return Framing(payload, mtu + ETHERNET + WIRE * wire)
