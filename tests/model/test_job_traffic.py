"""Bytes that jobs send, against published figures and counted by hand."""

from fractions import Fraction

import pytest

from hopline.errors import InputError
from hopline.model import phases, traffic
from hopline.workload.files import find
from hopline.workload.shapes import Attention

GiB = 1 << 30


@pytest.mark.parametrize(
    ("name", "token"), [("deepseek-v3", 70_272), ("qwen2.5-72b", 327_680), ("llama-3-405b", 516_096), ("llama-3-70b", 327_680), ("llama-3-8b", 131_072)]
)  # fmt: skip
def test_kv_bytes_of_a_token_as_published(name, token):
    assert phases.cache_of_token(find(name), 2) == token


def test_moving_a_cache_of_128k_tokens_as_mooncake_says():
    """40 GB there means GiB; 87 GB/s on four NICs of 200 Gb/s."""
    size = 131_072 * phases.cache_of_token(find("llama-3-70b"), 2)
    assert size == 40 * GiB
    assert traffic.migration(float(size), 0.0, 87e9) == pytest.approx(0.4937, rel=1e-3)


def test_moving_a_cache_as_measured_by_mooncake():
    """Qwen3-8B, 36 layers of 8 x 128, on about 200 GB/s: 31.65 ms for 32768 tokens; its own fit is 394 µs and 146 GB/s."""
    token = traffic.kv_bytes(traffic.kv_elements(Attention("gqa", kv_heads=8, head=128)), 36, 2)
    assert token == 147_456
    for tokens, measured in ((32_768, 31.65e-3), (4096, 4.75e-3), (128, 0.54e-3)):
        assert traffic.migration(float(tokens * token), 394e-6, 146e9) == pytest.approx(measured, rel=0.08)


def test_kinds_of_attention():
    assert traffic.kv_elements(Attention("mha", heads=128, head=128)) == 32_768
    assert traffic.kv_elements(Attention("mha", heads=128, head=192, value_head=128)) == 40_960
    assert traffic.kv_elements(Attention("mqa", heads=71, head=64)) == 128
    assert traffic.kv_elements(Attention("mla", latent=512, rope=64)) == 576


def test_a_latent_is_kept_whole_and_heads_are_shared_out():
    gqa = Attention("gqa", heads=64, kv_heads=8, head=128)
    assert [traffic.kv_share(gqa, n) for n in (1, 4, 8, 16)] == [1, Fraction(1, 4), Fraction(1, 8), Fraction(1, 8)]
    assert traffic.kv_share(gqa, 6) == Fraction(2, 8)
    assert traffic.kv_share(Attention("mha", heads=48, head=128), 5) == Fraction(10, 48)
    assert traffic.kv_share(Attention("mla", latent=512, rope=64), 8) == 1


def test_deepseeks_limit_of_expert_parallelism():
    """32 tokens to 9 experts, 7000 wide, a byte there and two back, twice a layer (arXiv 2505.09343)."""
    there, back = (traffic.dispatched(32, 9, 7000, width) for width in (1, 2))
    assert float(there + back) / 50e9 == pytest.approx(120.96e-6)
    assert 2 * 61 * float(there + back) / 50e9 == pytest.approx(14.76e-3, rel=1e-3)


def test_zero_3_moves_three_times_the_parameters():
    parts = traffic.gradients(1_500_000_000, 2, 2, zero=3)
    assert sum(part.times * part.size for part in parts) == 9_000_000_000
    assert all(part.repeated for part in parts)
    once = traffic.gradients(1_500_000_000, 2, 2, zero=1)
    assert sum(part.times * part.size for part in once) == 6_000_000_000
    assert not any(part.repeated for part in once)
    (plain,) = traffic.gradients(1_500_000_000, 2, 2)
    assert (plain.operation, plain.size) == ("all_reduce", 3_000_000_000)


def test_sharded_all_reduce_sends_as_much_as_its_halves():
    size = Fraction(1 << 20)
    halves = traffic.around(size, 8, "reduce_scatter") + traffic.around(size, 8, "all_gather")
    assert traffic.around(size, 8, "all_reduce") == halves


def test_half_a_byte():
    assert traffic.activation(1024, 8192, 0.5) == 4_194_304
    with pytest.raises(InputError, match="tokens is 0"):
        traffic.activation(0, 1, 2)
