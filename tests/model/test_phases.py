"""What ranks of each stage send in a step, for a prompt and for a token, and what they keep, counted by hand."""

import pytest

from hopline.errors import WorkloadError
from hopline.model.holding import held, memory
from hopline.model.job import TYPES, Types
from hopline.model.phases import sent, stages, total, way
from hopline.sim.stages import order
from hopline.workload.files import find, loads, text_of
from hopline.workload.parallel import Parallel


def named(rows):
    return {(one.name, one.operation): one for one in rows}


def by_name(model, parallel, phase, types=TYPES):
    return named(sent(find(model), parallel, phase, types))


def test_a_training_step_counted_by_hand():
    """Llama 3 70B on tp 8, pp 4, dp 4: a stage has 20 layers, 64 micro-batches of one sequence go through it."""
    spread = Parallel(8, 4, 4, batch=256, sequence=8192)
    first, second, _, last = map(named, stages(find("llama-3-70b"), spread, "training"))
    for one, ends, boundaries in ((first, 1, 1), (second, 0, 2), (last, 1, 1)):
        reductions = one["tensor parallel", "all_reduce"]
        assert (reductions.size, reductions.count) == (8192 * 8192 * 2, 4 * 20 * 64)
        assert reductions.each == reductions.size * 2 * 7 / 8
        boundary = one["stage boundary", "sendrecv"]
        assert (boundary.size, boundary.count) == (8192 * 8192 * 2, boundaries * 64)
        rows = 20 * (8192 * (64 + 16) * 128 + 64 * 128 * 8192 + 3 * 8192 * 28672) + ends * 128256 * 8192
        norms = 20 * 2 * 8192 + 8192 * (one is last)
        assert one["gradients", "all_reduce"].size == 4 * (rows // 8 + norms)
    assert (first["gradients", "all_reduce"].ranks, first["gradients", "all_reduce"].step) == (4, 8)
    assert first["embedding", "all_reduce"].count == last["head", "all_reduce"].count == 64
    assert (last["loss", "all_reduce"].size, last["loss", "all_reduce"].count) == (8192 * 4, 3 * 64)
    assert not {"embedding", "head", "loss"} & {name for name, _ in second}


@pytest.mark.parametrize(("pp", "vpp", "batches"), [(2, 1, 4), (4, 1, 8), (2, 2, 4), (2, 4, 8), (4, 2, 8), (8, 1, 3)])
def test_boundaries_are_those_of_the_schedule(pp, vpp, batches):
    """Every forward but that of the last chunk of all is sent on, every backward but that of the first one."""
    spread = Parallel(pp=pp, vpp=vpp, batch=batches)
    for stage, rows in enumerate(stages(find("llama-3-70b"), spread, "training")):
        sends = sum(
            (chunk, stage) != ((vpp - 1, pp - 1) if forward else (0, 0))
            for forward, _, chunk in order(pp, stage, batches, vpp)
        )
        assert named(rows)["stage boundary", "sendrecv"].count == sends


def test_a_stage_that_sends_most_is_one_stage():
    """Not the most of each kind: with 61 layers of which 58 have experts no stage has the most of everything."""
    rows = stages(find("deepseek-v3"), Parallel(pp=2, dp=8, ep=8, batch=64), "training")
    most = {key: max(one.get(key, 0) for one in map(totals, rows)) for key in {k for one in rows for k in totals(one)}}
    assert total(sent(find("deepseek-v3"), Parallel(pp=2, dp=8, ep=8, batch=64), "training")) == max(map(total, rows))
    assert sum(most.values()) > max(map(total, rows))


def totals(rows):
    return {(one.name, one.operation): one.total for one in rows}


def test_sequence_parallelism_gathers_once_more_in_the_backward_pass():
    """As arXiv 2205.05198 has it: 2 of each in a layer's forward pass, 2 of each in its backward pass, and 2 inputs gathered again."""
    plain = by_name("llama-3-70b", Parallel(8), "training")
    split = by_name("llama-3-70b", Parallel(8, sequence_parallel=True), "training")
    gathers, scatters = (split["tensor parallel", operation] for operation in ("all_gather", "reduce_scatter"))
    assert (gathers.count, scatters.count) == (480, 320)
    assert gathers.size == scatters.size == 4096 * 8192 * 2
    assert gathers.total + scatters.total == 1.25 * plain["tensor parallel", "all_reduce"].total
    assert (split["head", "all_gather"].count, split["head", "reduce_scatter"].count) == (2, 1)
    assert split["unsplit gradients", "all_reduce"].size == 4 * (80 * 2 + 1) * 8192


def test_sequence_parallelism_sends_as_much_forward_and_less_at_boundaries():
    plain, split = (by_name("llama-3-70b", Parallel(8, 4, sequence_parallel=on), "prefill") for on in (False, True))
    halves = sum(split["tensor parallel", operation].total for operation in ("reduce_scatter", "all_gather"))
    assert halves == plain["tensor parallel", "all_reduce"].total
    assert split["stage boundary", "sendrecv"].size * 8 == plain["stage boundary", "sendrecv"].size


def test_odd_tokens_are_whole():
    """Three sequences of one token over two ranks: each sends two tokens, and none a half."""
    split = by_name("llama-3-70b", Parallel(2, 2, micro_batch=3, sequence_parallel=True), "decode")
    assert split["stage boundary", "sendrecv"].size == 2 * 8192 * 2
    assert split["tensor parallel", "all_gather"].size == 4 * 8192 * 2
    with pytest.raises(WorkloadError, match="tp 8 for 4097 tokens of a rank"):
        sent(find("llama-3-70b"), Parallel(8, sequence=4097, sequence_parallel=True), "training")


def test_layers_of_experts_without_shared_ones_are_not_reduced_over_tp():
    text = text_of("deepseek-v3").replace("shared = 1", "shared = 0").replace("671000000000", "0")
    lone, spread = loads(text, "lone"), Parallel(tp=8, dp=8, ep=64, sequence_parallel=True)
    assert named(sent(lone, spread, "training"))["tensor parallel", "reduce_scatter"].count == 2 * (61 + 3)
    assert by_name("deepseek-v3", spread, "training")["tensor parallel", "reduce_scatter"].count == 2 * (61 + 61)
    assert named(sent(lone, Parallel(tp=8), "training"))["tensor parallel", "all_reduce"].count == 2 * (61 + 61)


def test_experts_with_tp_need_sequence_parallelism():
    with pytest.raises(WorkloadError, match="8 times the bytes, and Megatron-LM refuses it"):
        sent(find("deepseek-v3"), Parallel(tp=8, dp=8, ep=64), "training")
    split, alike = (
        by_name("deepseek-v3", Parallel(tp=8, dp=8, ep=64, sequence_parallel=on), "prefill")["to experts", "alltoall"]
        for on in (True, False)
    )
    assert alike.size == 8 * split.size


def test_decode_and_prefill():
    rows = stages(find("llama-3-70b"), Parallel(8, 2), "decode")
    first, last, token = map(named, (*rows, way(rows)))
    key = "tensor parallel", "all_reduce"
    assert [(one[key].size, one[key].count) for one in (first, last, token)] == [
        (16_384, 80),
        (16_384, 80),
        (16_384, 160),
    ]
    assert first["stage boundary", "sendrecv"].count == token["stage boundary", "sendrecv"].count == 1
    assert ("stage boundary", "sendrecv") not in last
    prompt = by_name("llama-3-70b", Parallel(8, 2, sequence=4096), "prefill")
    assert prompt["tensor parallel", "all_reduce"].size == 4096 * 16_384
    assert prompt["KV cache to decode", "sendrecv"].size == 4096 * 327_680 / 16


def test_a_rank_sends_for_its_own_stage_and_a_prompt_goes_through_all():
    model, spread = find("deepseek-v3"), Parallel(pp=16, dp=8, ep=8, micro_batch=2)
    rows = stages(model, spread, "prefill")
    counts = [named(one).get(("to experts", "alltoall")) for one in rows]
    assert [one.count for one in counts if one] == [1, *[4] * 12, *[3] * 3]
    assert named(way(rows))["to experts", "alltoall"].count == 58
    assert named(way(rows))["stage boundary", "sendrecv"].count == 15
    assert named(way(rows))["KV cache to decode", "sendrecv"].size == 2 * 4096 * 4 * 576 * 2
    assert max(one.count for one in sent(model, spread, "prefill")) <= 4


def test_chunks_of_a_stage_are_its_layers():
    """Interleaved, stage 0 of 2 has chunks 0 and 2 of four: layers 0 to 14 and 30 to 44 of 60, of which 57 have experts."""
    model = loads(text_of("deepseek-v3").replace("layers = 61", "layers = 60").replace("671000000000", "0"), "x")
    spread = Parallel(pp=2, vpp=2, dp=8, ep=8, batch=16)
    assert list(spread.layers(model, 0)) == [*range(15), *range(30, 45)]
    counts = [named(rows)["to experts", "alltoall"].count for rows in stages(model, spread, "training")]
    assert counts == [2 * 2 * 27, 2 * 2 * 30]


def test_context_parallel_rings():
    found = by_name("llama-3-405b", Parallel(8, 1, 1, cp=4, sequence=8192), "training")["ring attention", "sendrecv"]
    assert found.size == 2048 * 2 * 8 * 128 / 8 * 2
    assert found.count == 3 * 3 * 126


def test_experts_have_their_own_replicas():
    spread = Parallel(tp=2, pp=1, dp=64, ep=64, sequence_parallel=True)
    found = by_name("deepseek-v3", spread, "training", Types(gradient="bf16"))
    routed = 58 * 256 * 3 * 7168 * 2048
    assert found["gradients of experts", "all_reduce"].size == 2 * routed / 64
    assert found["gradients of experts", "all_reduce"].ranks == 2
    assert found["gradients", "all_reduce"].ranks == 64
    assert found["to experts", "alltoall"].count == 58 * 2
    whole = 61 * (1536 * 7169 + 7168 * 576 + 512 + 2 * 7168) + 58 * 256 * 7168 + 7168
    assert found["unsplit gradients", "all_reduce"].size == 2 * whole
    split = found["gradients", "all_reduce"].size / 2 - whole
    assert 2 * split + whole + routed == find("deepseek-v3").parameters


def test_uneven_stages_count_the_largest():
    found = by_name("deepseek-v3", Parallel(tp=2, pp=16, dp=1), "training")
    assert found["tensor parallel", "all_reduce"].count == 4 * 4


def test_tied_ends_share_a_gradient():
    text = text_of("llama-3-8b").replace("vocab", "tied = true\nvocab").replace("8030261248", "0")
    rows = stages(loads(text, "tied"), Parallel(tp=2, pp=4, dp=2), "training")
    first, second, _, last = map(named, rows)
    key = "tied embedding", "all_reduce"
    assert first[key] == last[key]
    assert (first[key].ranks, first[key].step, first[key].size) == (2, 12, 4 * 128256 * 4096 / 2)
    assert key not in second
    assert held(loads(text, "tied"), Parallel(pp=4), 3).split == 8 * 218103808 + 128256 * 4096


@pytest.mark.parametrize(("zero", "bytes_"), [(0, 2 + 4 + 12), (1, 2 + 4 + 12 / 8), (2, 2 + (4 + 12) / 8), (3, 18 / 8)])
def test_memory_of_training_as_zero_has_it(zero, bytes_):
    """As arXiv 1910.02054 has it, with gradients in fp32: 12 bytes of optimizer state a parameter."""
    model = find("llama-3-8b")
    assert memory(model, Parallel(dp=8, zero=zero), 2, 4).total == pytest.approx(bytes_ * model.parameters)
    whole = memory(model, Parallel(dp=8, zero=zero), 4, 4)
    assert whole.optimizer == pytest.approx(8 * model.parameters / (8 if zero else 1))


def test_memory_is_of_the_fullest_rank():
    model = find("llama-3-70b")
    parts = [held(model, Parallel(8, 4), stage).all for stage in range(4)]
    assert memory(model, Parallel(8, 4), 2, 4).weights == 2 * max(parts)
    assert parts[3] == parts[0] + 8192 > parts[1]
    assert sum(held(model, Parallel(1, 4), stage).all for stage in range(4)) == model.parameters
