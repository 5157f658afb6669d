"""Training, decode and prefill side by side: python examples/training_decode_prefill.py

192 MiB of gradients once a step, 10 KiB twice a layer, and activations at each boundary, between eight ranks whose
messages take 1.2 µs + bytes at 64 GB/s.
"""

from hopline.curve import Curve
from hopline.jobs.collective_prices import Pricing
from hopline.jobs.networks import by_levels
from hopline.machine.fabric import Level
from hopline.model.traffic import activation
from hopline.quantity import show, size

RANKS, START, BETA, HIDDEN, BF16 = 8, 1.2e-6, 64e9, 5120, 2


def all_reduce(
    of: float, start: float = START, rate: float = BETA, algorithm: str | None = None
) -> tuple[float, float, str]:
    """Seconds, share of start-ups, and the fastest algorithm."""
    pricing = Pricing(by_levels([Level(RANKS, Curve.line(start, rate))]), "all_reduce", algorithm)
    price = pricing.price(of)
    return price.time, price.start / price.time, pricing.best(of).algorithm


def told(what: str, each: float, start: float, bytes_: float, half: float, twice: float) -> None:
    """A row: the time, what of it is start-up and bandwidth, and what two levers leave."""
    whole = start + bytes_
    binds = "start-ups" if start > bytes_ else "bandwidth"
    print(
        f"{what:32}{show(each, 'size'):>10}{show(whole, 'time'):>11}{start / whole:>9.1%}{bytes_ / whole:>9.1%}  {binds:10}"
        f"{half / whole - 1:>+10.1%}{twice / whole - 1:>+10.1%}"
    )


def row(what: str, each: float, algorithm: str | None = None) -> None:
    """An all-reduce."""
    time, share, _ = all_reduce(each, algorithm=algorithm)
    half, twice = (
        all_reduce(each, START / 2, algorithm=algorithm)[0],
        all_reduce(each, rate=2 * BETA, algorithm=algorithm)[0],
    )
    told(what, each, share * time, (1 - share) * time, half, twice)


def boundary(what: str, each: float) -> None:
    """One message."""
    told(what, each, START, each / BETA, START / 2 + each / BETA, START + each / BETA / 2)


gradients, token = size("192MiB"), float(activation(1, HIDDEN, BF16))
prompt = float(activation(4096, HIDDEN, BF16))

print("Question: which of start-up and bandwidth counts in training, in decode, in prefill?\n")
print(f"{'':32}{'one':>10}{'takes':>11}{'start-up':>9}{'bytes':>9}  {'bound by':10}{'half α':>10}{'twice β':>10}")
row("training, gradients once a step", gradients)
row("decode, twice a layer, a ring", token, "ring")
row("decode, the fastest algorithm", token)
boundary("decode, a boundary of stages", token)
row("prefill 4096, twice a layer", prompt)
boundary("prefill 4096, a boundary", prompt)

ring, best = all_reduce(token, algorithm="ring"), all_reduce(token)
print(f"\nA layer of decode takes {show(2 * ring[0], 'time')} by rings and {show(2 * best[0], 'time')} by {best[2]};")
print(f"80 layers {show(160 * ring[0], 'time')} and {show(160 * best[0], 'time')} of each token.")
print(f"b x s x h counts elements: 1 x 4096 x {HIDDEN} are {4096 * HIDDEN:,} and take {show(prompt, 'size')} in bf16.")
print(
    """
Conclusion: the gradients and the prompt are bound by bandwidth, a token by start-ups. Twice the bandwidth all but halves the
first two and takes 6 % off a token at most; half the start-up, or an algorithm of three rounds instead of fourteen, is what
helps there. A network that was bought for training is not for that reason good at decode."""
)
