"""What part of a link's bytes are the message's: against headers counted by hand."""

import pytest

from hopline.errors import InputError
from hopline.model.framing import IPV6, Framing, tcp


@pytest.mark.parametrize(
    ("framing", "payload", "frame"),
    [
        (tcp(), 1448, 1514),
        (tcp(wire=True), 1448, 1538),
        (tcp(timestamps=False), 1460, 1514),
        (tcp(ip=IPV6), 1428, 1514),
        (tcp(9000), 8948, 9014),
    ],
)
def test_headers_add_up(framing, payload, frame):
    assert framing == Framing(payload, frame)
    assert framing.carried(50e6) == pytest.approx(50e6 * payload / frame)


@pytest.mark.parametrize(("size", "counted"), [(0, 0), (1, 67), (1448, 1514), (1449, 1581), (2 * 1448, 2 * 1514)])
def test_a_message_is_full_frames_and_one_with_the_rest(size, counted):
    assert tcp().frames(size) == counted


def test_full_frames_carry_what_they_are_counted_for():
    framing = tcp()
    assert framing.carried(framing.frames(1448 * 1000)) == pytest.approx(1448 * 1000)


@pytest.mark.parametrize("wrong", [lambda: Framing(1500, 1448), lambda: Framing(0, 10), lambda: tcp(52)])
def test_what_carries_nothing_is_refused(wrong):
    with pytest.raises(InputError):
        wrong()
