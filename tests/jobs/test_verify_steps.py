"""Kinds of vector cases about steps: cases of the shared vectors where they are, and edges of our own."""

import json
from pathlib import Path

import pytest

from hopline.errors import HoplineError
from hopline.jobs.verify.compare import Tolerance
from hopline.jobs.verify.kinds import KINDS
from hopline.jobs.verify.steps import STEP_KINDS
from hopline.jobs.verify.vectors import Case, run_case

SHARED = Path(__file__).parents[3] / "shared" / "vectors" / "vectors.json"
TIGHT = Tolerance(1e-9, 1e-15)
OWN = [
    ("step_serial", {"compute_s": 0.0, "comm_s": 0.0, "update_s": 0.0}, {"step_s": 0.0, "comm_fraction": None}),
    ("step_overlap", {"compute_s": 0.3, "ready_s": 0.1, "comm_s": 0.2}, {"fully_hidden": True, "slack_s": 0.0}),
    (
        "step_buckets",
        {"compute_s": 1.0, "bucket_ready_s": [1.0, 0.5], "bucket_bytes": [10, 20], "alpha_s": 0.1, "beta_bytes_per_s": 100},
        {"bucket_start_s": [1.0, 0.5], "bucket_end_s": [1.2, 0.8], "exposed_comm_s": 0.2},
    ),
    ("amdahl", {"other_s": 1.0, "part_s": 0.0, "part_speedup": 4}, {"speedup": 1.0, "part_reduction_fraction": None}),
    (
        "pipeline_bubble",
        {"stages": 2, "microbatches": 2, "forward_s": 2, "backward_s": 3, "virtual_stages": 1},
        {"makespan_s": 15.0, "bubble_over_ideal": 0.5, "bubble_over_total": 1 / 3},
    ),
    (
        "kv_bytes",
        {"attention": "gqa", "layers": 2, "heads": 64, "kv_heads": 8, "head_dim": 128, "dtype_bytes": 1, "seq": 3},
        {"elements_per_token_per_layer": 2048, "bytes_per_token": 4096, "bytes": 12_288},
    ),
    ("pp_activation_bytes", {"batch": 1, "seq": 3, "hidden": 4, "dtype_bytes": 0.5, "tp_shard": 2}, {"elements": 12, "bytes": 3}),
    (
        "tp_allreduce_per_layer",
        {"batch": 1, "seq": 1, "hidden": 5120, "dtype_bytes": 2, "tp": 1},
        {"message_bytes": 10_240, "allreduces": 0, "reduced_bytes_per_layer": 0, "ring_sent_bytes_per_rank_per_layer": 0},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "inputs", "expected"), OWN, ids=[kind for kind, _, _ in OWN])
def test_edges(kind, inputs, expected):
    result = run_case(Case("c", kind, inputs, expected, TIGHT))
    assert result.status == "passed", result


@pytest.mark.skipif(not SHARED.exists(), reason="no shared vectors beside the repository")
def test_all_shared_cases():
    cases = [case for case in json.loads(SHARED.read_text())["cases"] if case["kind"] in STEP_KINDS]
    assert {case["kind"] for case in cases} == set(STEP_KINDS)
    for case in cases:
        result = run_case(Case(case["id"], case["kind"], case["inputs"], case["expected"], TIGHT))
        assert result.status == "passed", result


BAD = [
    ("amdahl", {"other_s": 1, "part_s": 1}, "expected one of 'part_after_s'"),
    ("step_buckets", {"compute_s": 1, "bucket_ready_s": [1], "bucket_bytes": [1], "beta_bytes_per_s": 0}, "above 0"),
    (
        "pipeline_bubble",
        {"stages": 2, "microbatches": 2, "forward_s": 1, "backward_s": 1, "schedule": "zb"},
        "known are 1f1b",
    ),
    ("kv_bytes", {"attention": "mla", "layers": 1, "dtype_bytes": 2}, "attention.latent is 0"),
    (
        "tp_allreduce_per_layer",
        {"batch": 1, "seq": 1, "hidden": 1, "dtype_bytes": 2, "tp": 2, "backward": 1},
        "true or false",
    ),
]


@pytest.mark.parametrize(("kind", "inputs", "said"), BAD, ids=[kind for kind, _, _ in BAD])
def test_what_is_no_case_is_named(kind, inputs, said):
    with pytest.raises(HoplineError, match=said):
        KINDS[kind](inputs)
