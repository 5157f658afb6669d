"""hopline workload: the list, a job's messages, what they cost, what is refused."""

import json

import pytest
from typed import hopline


def answered(capsys, *arguments):
    code, out, err = hopline(capsys, "workload", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_the_models(capsys):
    code, out, _ = hopline(capsys, "workload")
    assert code == 0
    assert "deepseek-v3      671.0e9      61   7,168    MLA, 512  8 of 256      70,272" in out
    data = answered(capsys)
    assert data["llama-3-405b"]["kv_bytes_per_token"] == 516_096
    assert "config.json" in data["qwen2.5-72b"]["sources"][""]


def test_a_models_file_is_a_start(capsys, tmp_path):
    code, out, _ = hopline(capsys, "workload", "llama-3-8b", "--show")
    file = tmp_path / "my.toml"
    file.write_text(
        out.replace("layers = 32", "layers = 16")
        .replace("parameters = 8030261248\n", "")
        .replace("parameters =", "vocab =")
    )
    assert code == 0
    assert answered(capsys, str(file), "--tp", "2")["sent"][0]["count"] == 4 * 16


def test_training_in_words(capsys):
    spread = ["--tp", "8", "--pp", "4", "--dp", "4", "--batch", "256", "--sequence", "8192", "--machine", "dgx-h100"]
    code, out, err = hopline(capsys, "workload", "llama-3-70b", *spread)
    assert (code, err) == (0, "")
    assert "tensor parallel: 1 x 8192 tokens x hidden 8192 x bf16 = 128 MiB" in out
    assert "bandwidth" in out
    assert "The lever: twice the bandwidth inside nodes" in out
    assert "KV cache" not in out


def test_decode_in_words(capsys):
    line = ["--latency", "1.2us", "--bandwidth", "64GB/s"]
    code, out, _ = hopline(capsys, "workload", "llama-3-70b", "--tp", "8", "--phase", "decode", *line)
    assert code == 0
    assert "The lever: half the start-up, -41.2 %." in out
    assert "327,680 B a token over all layers (GQA: groups of heads share K and V)" in out


def test_mla_is_not_doubled_and_keeps_no_heads(capsys):
    data = answered(capsys, "deepseek-v3", "--phase", "decode", "--sequence", "131072")
    assert data["kv_cache"]["token"] == 70_272
    assert data["kv_cache"]["sequence"] == 131_072 * 70_272
    assert data["sent"] == []


def test_bytes_follow_the_data_type(capsys):
    sizes = [
        answered(capsys, "llama-3-8b", "--pp", "2", "--dtype", dtype)["sent"][0]["size"]
        for dtype in ("bf16", "fp8", "fp4")
    ]
    assert sizes == [4096 * 4096 * 2, 4096 * 4096, 4096 * 4096 / 2]


@pytest.mark.parametrize(("typed", "tokens"), [("2Mi", 1 << 21), ("8 Ki", 8192), ("8192", 8192)])
def test_tokens_are_typed_in_binary_units(capsys, typed, tokens):
    assert answered(capsys, "llama-3-8b", "--phase", "decode", "--sequence", typed)["kv_cache"]["tokens"] == tokens


def test_a_models_file_as_data_and_as_it_is(capsys, tmp_path):
    assert answered(capsys, "llama-3-8b", "--show")["parameters"] == 8_030_261_248
    code, out, _ = hopline(capsys, "workload", "llama-3-8b", "--show")
    file = tmp_path / "own.toml"
    file.write_text(out)
    assert (code, hopline(capsys, "workload", str(file), "--show")) == (0, (0, out, ""))


def test_as_many_ranks_as_are_asked_for_on_a_machine(capsys):
    data = answered(capsys, "llama-3-8b", "--dp", "12", "--machine", "dgx-h100")
    assert data["prices"][0]["time_s"] > 0
    assert any("groups of 12 ranks do not fill groups of 8 evenly" in premise for premise in data["premises"])


def test_what_is_said_of_stages_memory_and_replicas(capsys):
    _, out, _ = hopline(capsys, "workload", "deepseek-v3", "--ep", "8", "--dp", "8", "--pp", "16", "--phase", "prefill")
    assert "What a rank of stage 2 of 16, which sends most, sends for a prompt" in out
    assert "What a prompt goes through in 16 stages" in out
    assert "at least" not in out
    _, out, _ = hopline(capsys, "workload", "llama-3-8b", "--dp", "4", "--tp", "2", "--zero", "1")
    assert "4, 2 apart: ranks 0, 2, 4, ... make a group" in out
    assert (
        "weights 7.479 GiB, gradients 14.96 GiB, optimizer 11.22 GiB (Adam: 12 B a parameter; without activations)"
        in out
    )
    _, out, _ = hopline(capsys, "workload", "llama-3-8b", "--dp", "4", "--phase", "decode")
    assert "Nothing is sent for a token of each sequence: the ranks of one replica send to one another" in out
    _, out, _ = hopline(capsys, "workload", "deepseek-v3", "--tp", "8", "--ep", "8", "--phase", "decode")
    assert "Mind: each of 8 tensor-parallel ranks sends all tokens to experts, 8 times the bytes" in out


def test_zero_3_in_a_step_of_several_micro_batches(capsys):
    data = answered(capsys, "llama-3-8b", "--dp", "16", "--zero", "3", "--batch", "32", "--grad-dtype", "bf16")
    moved = sum(one["size"] * one["count"] for one in data["sent"])
    assert moved == 3 * 2 * 8_030_261_248 * 2


BAD = {
    "an unknown model": ("llama-70b", "did you mean 'llama-3-70b'"),
    "no file": ("my.toml", "cannot be read as a model file"),
    "ranks": ("llama-3-8b -n 8", "-n does not go with a workload"),
    "uneven heads": ("llama-3-8b --tp 3", "expected one that divides them"),
    "experts of a dense model": ("llama-3-8b --dp 2 --ep 2", "has no experts"),
    "an uneven batch": ("llama-3-8b --dp 2 --batch 3", "expected a multiple of 2"),
    "half a network": ("llama-3-8b --tp 2 --latency 1us", "which network?"),
    "a micro-batch of tokens": ("llama-3-8b --phase decode --micro-batch 2", "--batch says how many"),
    "an unknown type": ("llama-3-8b --dtype bf17", "'bf17' is not one of"),
    "no tokens": ("llama-3-8b --sequence 0", "is below 1"),
    "too many tokens": ("llama-3-8b --sequence 99999999999", "sequence is 99999999999"),
    "tokens in thousands": ("llama-3-8b --sequence 4k", "'4k' is ambiguous: it could be 4000 or 4096 (4Ki)"),
    "tokens that are none": ("llama-3-8b --sequence 4.5", "'4.5' is no number of tokens"),
    "a missing file to show": ("my.toml --show", "cannot be read as a model file"),
    "an unknown model to show": ("llama-70b --show", "did you mean 'llama-3-70b'"),
    "options of no model": ("--json --dp 3", "--dp needs a MODEL"),
    "a file of no model": ("--show", "--show needs a MODEL"),
    "options beside a file": ("llama-3-8b --show --tp 2", "--tp does not go with --show"),
    "ZeRO in decode": ("llama-3-8b --phase decode --zero 3", "--zero does not go with --phase decode"),
    "gradients in prefill": (
        "llama-3-8b --phase prefill --grad-dtype bf16",
        "--grad-dtype does not go with --phase prefill",
    ),
    "a cache in training": ("llama-3-8b --kv-dtype fp8", "--kv-dtype does not go with --phase training"),
    "chunks in decode": ("llama-3-8b --pp 2 --vpp 2 --phase decode", "--vpp does not go with --phase decode"),
    "tokens to no experts": ("llama-3-8b --dp 2 --dispatch fp8", "--ep is 1"),
    "a shared sequence in decode": ("llama-3-8b --cp 4 --phase decode", "cp is 4 in decode"),
    "uneven chunks": (
        "llama-3-8b --pp 3 --vpp 2 --batch 6",
        "32 layers over 3 stages of 2 chunks: expected a multiple of 6",
    ),
    "chunks of few micro-batches": (
        "llama-3-8b --pp 4 --vpp 2 --batch 6",
        "micro-batches must be a multiple of stages",
    ),
    "a sequence in parts of one": ("llama-3-8b --sequence-parallel", "tp is 1"),
    "an odd sequence in parts": ("llama-3-8b --tp 2 --sequence-parallel --sequence 4097", "tp 2 for 4097 tokens"),
    "all tokens to experts": ("deepseek-v3 --tp 2 --ep 2", "add --sequence-parallel"),
}


@pytest.mark.parametrize(("typed", "said"), BAD.values(), ids=BAD)
def test_bad_questions_are_one_line(capsys, typed, said):
    code, out, err = hopline(capsys, "workload", *typed.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
