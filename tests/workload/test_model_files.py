"""Models that come with hopline, and files of one's own: what they say, and what is wrong with them by key."""

import pytest

from hopline.errors import UnknownNameError, WorkloadError
from hopline.workload.files import find, load, loads, model_names, text_of
from hopline.workload.parallel import Parallel
from hopline.workload.shapes import Attention

OWN = """hopline = "model"
version = 1
name = "small"
layers = 2
hidden = 64
width = 256
vocab = 1000
[attention]
kind = "gqa"
heads = 8
kv_heads = 2
head = 8
"""


@pytest.mark.parametrize("name", model_names())
def test_every_model_says_where_it_is_from_and_counts_what_is_stated(name):
    model = find(name)
    assert "config.json" in model.sources[""]
    assert model.stated
    assert model.parameters == pytest.approx(model.stated, rel=1e-4)


def test_parameters_by_hand():
    assert find("llama-3-8b").parameters == 8_030_261_248
    assert find("deepseek-v3").experts.per_token == 8
    small = loads(OWN, "own")
    layer = 64 * 64 + 2 * 64 * 16 + 64 * 64 + 3 * 64 * 256 + 2 * 64
    assert small.parameters == 2 * layer + 2 * 64_000 + 64


def test_a_file_of_ones_own(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(OWN)
    assert find(str(file)) == load(file)
    assert loads(text_of("llama-3-8b"), "x") == find("llama-3-8b")


def test_an_mlp_of_two_matrices_and_a_tied_head():
    plain = loads(OWN, "own").parameters
    assert plain - loads(OWN.replace("layers", "gated = false\nlayers", 1), "own").parameters == 2 * 64 * 256
    assert plain - loads(OWN.replace("layers", "tied = true\nlayers", 1), "own").parameters == 64_000


BAD = {
    "no TOML": ("layers = ", "is no model file"),
    "another file": ('hopline = "machine"\nversion = 1', 'expected hopline = "model" and version = 1'),
    "a later version": (OWN.replace("version = 1", "version = 2"), "version = 2"),
    "an unknown key": (
        OWN.replace("head = 8", "head = 8\nrotary = 4"),
        "attention: Object contains unknown field `rotary`",
    ),
    "a text": (OWN.replace("heads = 8", 'heads = "8"', 1), "attention.heads: Expected `int`, got `str`"),
    "a missing key": (OWN.replace("vocab = 1000\n", ""), "missing required field `vocab`"),
    "no layers": (OWN.replace("layers = 2", "layers = 0"), "layers is 0: expected a whole number above 0"),
    "an unknown attention": (OWN.replace('"gqa"', '"gqe"'), "did you mean 'gqa'"),
    "groups that do not divide": (OWN.replace("kv_heads = 2", "kv_heads = 3"), "expected one that divides them"),
    "other parameters": (OWN.replace("vocab", "parameters = 999\nvocab"), "the shape makes 2"),
    "a source of nothing": (OWN + '[sources]\nlayer = "x"', "'layer' is no key of this file"),
    "no latent": (OWN.replace('"gqa"', '"mla"'), "attention.latent is 0"),
    "too many experts": (OWN + "[experts]\ncount = 2\nper_token = 4\nwidth = 8", "experts.per_token is 4 of 2"),
    "too many layers": (
        OWN.replace("layers = 2", "layers = 1000000000"),
        "layers is 1,000,000,000: expected at most 10,000",
    ),
    "fewer than no shared experts": (
        OWN + "[experts]\ncount = 4\nper_token = 1\nwidth = 8\nshared = -3",
        "experts.shared is -3: expected a whole number",
    ),
    "a negative latent": (OWN + "latent = -64", "attention.latent is -64"),
    "a negative value": (OWN + "value_head = -64", "own.toml: attention.value_head is -64"),
    "a latent beside heads": (OWN + "latent = 64", "attention.latent is 64 beside gqa"),
    "heads of keys beside mha": (OWN.replace('"gqa"', '"mha"'), "attention.kv_heads is 2 beside mha"),
    "no name": (OWN.replace('"small"', '""'), "name is '': expected a line of text"),
    "a name that paints": (OWN.replace('"small"', '"a\\u001b[31m"'), "name is 'a\\x1b[31m': expected a line of text"),
    "a source of two lines": (OWN.replace("layers", 'source = "a\\nb"\nlayers', 1), "source is 'a\\nb'"),
    "a key twice": (OWN + "head = 8", "stands there a second time"),
    "a number too large": (OWN.replace("hidden = 64", f"hidden = {1 << 50}"), "hidden is"),
}


@pytest.mark.parametrize(("text", "said"), BAD.values(), ids=BAD)
def test_a_wrong_file_names_the_key(text, said):
    with pytest.raises(WorkloadError) as caught:
        loads(text, "own.toml")
    assert "own.toml" in str(caught.value)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_heads_of_keys_may_be_told_where_they_are_all_heads():
    mha = loads(OWN.replace('"gqa"', '"mha"').replace("kv_heads = 2", "kv_heads = 8"), "own")
    assert mha.attention.keys == 8


@pytest.mark.parametrize("name", model_names())
def test_parts_of_tensor_parallel_ranks_make_the_whole(name):
    model = find(name)
    for layer in (0, model.layers - 1):
        assert 8 * model.layer_split(layer, 8) + model.layer_whole(layer) == model.layer_parameters(layer)


def test_no_such_model(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'llama-3-70b'"):
        find("llama-70b")
    with pytest.raises(WorkloadError, match="cannot be read"):
        find(str(tmp_path / "none.toml"))


LLAMA = find("llama-3-8b")
SPREAD = {
    "no ranks": (lambda: Parallel(tp=0), "tp is 0"),
    "a broken batch": (lambda: Parallel(dp=3, batch=4), "expected a multiple of 3"),
    "experts over too few": (lambda: Parallel(dp=4, ep=3), "ep is 3 of tp x cp x dp = 4 ranks"),
    "a sequence in uneven parts": (lambda: Parallel(cp=3), "cp is 3 for 4096 tokens"),
    "chunks of one stage": (lambda: Parallel(vpp=2), "interleaved over several"),
    "heads in uneven parts": (lambda: Parallel(tp=3).check(LLAMA), "tp is 3 for 32 heads"),
    "more stages than layers": (lambda: Parallel(pp=64).check(LLAMA), "64 stages of 1 chunks for 32 layers"),
    "chunks in uneven parts": (lambda: Parallel(pp=3, vpp=2, batch=3).check(LLAMA), "expected a multiple of 6"),
    "chunks of few micro-batches": (lambda: Parallel(pp=4, vpp=2, batch=6).check(LLAMA), "multiple of stages"),
    "a part of a token's cache": (lambda: Parallel(cp=2).check(LLAMA, "decode"), "cp is 2 in decode"),
    "shards of nothing": (lambda: Parallel(dp=2, zero=3).check(LLAMA, "decode"), "zero is 3 in decode"),
    "a sequence in parts of one": (lambda: Parallel(sequence_parallel=True), "tp is 1"),
    "experts of a dense model": (lambda: Parallel(dp=2, ep=2).check(LLAMA), "has no experts"),
}


@pytest.mark.parametrize(("bad", "said"), SPREAD.values(), ids=SPREAD)
def test_what_cannot_be_spread_so(bad, said):
    with pytest.raises(WorkloadError, match=said):
        bad()


def test_stages_share_layers_out():
    stages = [Parallel(pp=16).layers(find("deepseek-v3"), stage) for stage in range(16)]
    assert [len(layers) for layers in stages] == [4] * 13 + [3] * 3
    assert [layer for layers in stages for layer in layers] == list(range(61))


def test_mha_needs_its_heads():
    with pytest.raises(WorkloadError, match="every head keeps its own"):
        Attention("mha", head=128)
