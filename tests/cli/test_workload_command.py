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
    "an unknown file to show": ("my.toml --show", "unknown model"),
}


@pytest.mark.parametrize(("typed", "said"), BAD.values(), ids=BAD)
def test_bad_questions_are_one_line(capsys, typed, said):
    code, out, err = hopline(capsys, "workload", *typed.split())
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
