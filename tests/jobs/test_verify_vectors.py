"""Vector files: what passes, what fails and why, what is refused."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from hopline.errors import FormatError, UnknownNameError
from hopline.jobs.verify.compare import Tolerance, differences
from hopline.jobs.verify.kinds import KINDS
from hopline.jobs.verify.vectors import Case, load, run_case, run_cases, verify_file

VECTORS = str(Path(__file__).parents[1] / "data" / "vectors.json")
COUNTS = {
    "alpha_sum": 1, "p2p_direct": 4, "p2p_saf_path": 5, "p2p_cut_through_path": 8, "p2p_wormhole_path": 5,
    "p2p_pipelined_saf": 16, "p2p_best_k": 11, "p2p_optimum_formulas": 5, "duplex_full": 7, "duplex_half": 2,
    "memory_cap": 5, "effective_bandwidth": 4, "concurrency": 6, "target_rate_needs": 2, "units": 7,
}  # fmt: skip
CASES = load(VECTORS)
TIGHT = Tolerance(1e-9, 1e-15)
DIRECT = {"size_bytes": 64, "beta_bytes_per_s": 64e9}
HOPS = [{"alpha_s": 2.5e-7, "beta_bytes_per_s": 64e9}, {"alpha_s": 2e-6, "beta_bytes_per_s": 25e9}]


def case(kind: str, inputs: object, expected: dict, tolerance: Tolerance = TIGHT) -> Case:
    return Case("c", kind, inputs, expected, tolerance)


def written(path: Path, *cases: dict) -> str:
    file = path / "vectors.json"
    file.write_text(json.dumps({"cases": list(cases)}))
    return str(file)


def entry(**changes: object) -> dict:
    good = {
        "id": "d-1", "kind": "p2p_direct", "inputs": DIRECT, "expected": {"time_s": 1e-9},
        "tolerance": {"rel": 1e-9, "abs": 1e-15},
    }  # fmt: skip
    return {**good, **changes}


# --- the project's vectors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("known", [c for c in CASES if c.kind in COUNTS], ids=lambda c: c.id)
def test_every_case_of_a_known_kind_passes(known):
    result = run_case(known)
    assert result.status == "passed", result


@pytest.mark.parametrize(("kind", "count"), COUNTS.items())
def test_no_case_of_a_known_kind_is_left_out(kind, count):
    found = verify_file(VECTORS, kind)
    assert (found.count("passed"), len(found.results), found.exit_code) == (count, count, 0)


def test_kinds_not_known_yet_are_counted_and_give_3():
    found = verify_file(VECTORS)
    unknown = Counter(c.kind for c in CASES if c.kind not in KINDS)
    assert found.unknown_kinds == dict(unknown)
    assert list(found.unknown_kinds.values()) == sorted(unknown.values(), reverse=True)
    assert len(found.results) == len(CASES)
    assert found.exit_code == (3 if unknown else 0)


def test_every_planted_wrong_number_is_found():
    for known in (c for c in CASES if c.kind in COUNTS):
        for key, value in known.expected.items():
            wrong = [*value[:-1], value[-1] * 1.001] if isinstance(value, list) else not value
            wrong = value * 1.001 + 1 if isinstance(value, int | float) and not isinstance(value, bool) else wrong
            result = run_case(replace(known, expected={**known.expected, key: wrong}))
            assert result.status == "failed", (known.id, key)
            assert [d.key.partition("[")[0] for d in result.differences] == [key]


def test_a_failure_outweighs_an_unknown_kind():
    found = run_cases([case("p2p_direct", DIRECT, {"time_s": 1}), case("nothing_known", {}, {"x": 1})])
    assert found.exit_code == 1
    assert [r.status for r in found.results] == ["failed", "unknown kind"]


def test_a_glob_chooses_kinds():
    assert {r.kind for r in verify_file(VECTORS, "duplex_*").results} == {"duplex_full", "duplex_half"}


def test_a_glob_that_matches_nothing_lists_the_kinds():
    with pytest.raises(UnknownNameError, match=r"known are .*p2p_direct.*units"):
        verify_file(VECTORS, "P2P_*")


# --- other cases of the same kinds --------------------------------------------------------------------------------

OTHERS = [
    ("alpha_sum", {"components_s": []}, {"alpha_s": 0}),
    ("p2p_direct", {"size_bytes": 0, "beta_bytes_per_s": 1}, {"time_s": 0, "effective_bandwidth_bytes_per_s": None}),
    ("p2p_direct", {"size_bytes": 0, "alpha_s": 1e-6, "beta_bytes_per_s": 1}, {"effective_bandwidth_bytes_per_s": 0}),
    ("p2p_direct", {**DIRECT, "alpha_s": None}, {"time_s": 1e-9}),
    ("p2p_saf_path", {"size_bytes": 8, "hops": [{"beta_bytes_per_s": 4}] * 2}, {"arrival_s": [2, 4]}),
    ("p2p_cut_through_path", {"size_bytes": 4096, "hops": HOPS, "header_bytes": 9999}, {"time_s": 2.47784e-6}),
    ("p2p_cut_through_path", {"size_bytes": 4096, "hops": HOPS}, {"time_s": 2.41384e-6}),
    (
        "p2p_wormhole_path",
        {"size_bytes": 0, "hops": [{"beta_bytes_per_s": 64e9}], "flit_bytes": 64, "source_alpha_s": 1e-6},
        {"time_s": 1.001e-6, "flits": 1},
    ),
    ("p2p_wormhole_path", {"size_bytes": 64, "hops": [{"beta_bytes_per_s": 64e9}]}, {"time_s": 1e-9, "flits": None}),
    (
        "p2p_pipelined_saf",
        {"size_bytes": 3, "hops": HOPS, "chunks": 100.0, "split": "balanced"},
        {"chunks_used": 3, "largest_chunk_bytes": 1, "last_chunk_bytes": 1},
    ),
    (
        "p2p_pipelined_saf",
        {"size_bytes": 0, "hops": HOPS, "chunks": 4, "split": "balanced"},
        {"time_s": 2.25e-6, "chunks_used": 1, "largest_chunk_bytes": 0, "last_chunk_bytes": 0},
    ),
    ("p2p_pipelined_saf", {"size_bytes": 0, "hops": HOPS, "chunks": 4}, {"time_s": 8.25e-6, "chunks_used": 4}),
    (
        "p2p_pipelined_saf",
        {"size_bytes": 100, "hops": HOPS, "chunk_bytes": 1000},
        {"chunks_used": 1, "largest_chunk_bytes": 100, "last_chunk_bytes": 100},
    ),
    (
        "p2p_pipelined_saf",
        {"size_bytes": 64, "hops": HOPS, "chunk_bytes": 32},
        {"chunks_used": 2, "largest_chunk_bytes": 32, "last_chunk_bytes": 32},
    ),
    ("p2p_best_k", {"size_bytes": 64, "hops": [{"beta_bytes_per_s": 1}] * 2}, {"k": 64}),
    ("p2p_best_k", {"size_bytes": 8, "hops": HOPS, "k_max": 50, "alpha_mode": "latency"}, {"k": 50}),
    ("p2p_best_k", {"size_bytes": 8, "hops": HOPS, "k_max": 9, "split": "balanced", "alpha_mode": "latency"}, {"k": 8}),
    (
        "p2p_optimum_formulas",
        {"size_bytes": 1000, "hop_count": 3, "alpha_s": 0, "beta_bytes_per_s": 64e9},
        {"k_integer": 1000, "time_k1_s": 4.6875e-8},
    ),
    (
        "p2p_optimum_formulas",
        {"size_bytes": 0, "hop_count": 2, "beta_bytes_per_s": 1},
        {"k_correct_real": 1, "k_integer": 1, "time_k1_s": 0},
    ),
    ("duplex_half", {"send_bytes": 1, "recv_bytes": 1, "beta_bytes_per_s": 2}, {"time_s": 1}),
    (
        "memory_cap",
        {"links": 1, "beta_link_bytes_per_s": 4, "beta_mem_bytes_per_s": 8},
        {"aggregate_bytes_per_s": 4, "memory_bound": False},
    ),
    (
        "concurrency",
        {"in_flight": 1, "payload_bytes": 1, "cap_bytes_per_s": 5},
        {"throughput_bytes_per_s": 5, "needed_in_flight": 0, "time_s": None},
    ),
    (
        "concurrency",
        {"in_flight": 1, "payload_bytes": 0, "turnaround_s": 1, "cap_bytes_per_s": 5, "size_bytes": 9},
        {"needed_in_flight": None, "needed_initiation_per_s": None, "time_s": None},
    ),
    (
        "concurrency",
        {"in_flight": 1, "payload_bytes": 500, "turnaround_s": 2.5e-6, "cap_bytes_per_s": 1e10},
        {"needed_in_flight": 50, "needed_in_flight_exact": 50},
    ),
    ("target_rate_needs", {"target_bytes_per_s": 0, "op_bytes": 8}, {"interval_s": None, "concurrency": None}),
    ("units", {"value": 1.5, "unit": "KiB"}, {"si": 1536}),
    ("units", {"value": 12, "unit": "µs"}, {"si": 1.2e-5}),
]


@pytest.mark.parametrize(("kind", "inputs", "expected"), OTHERS)
def test_edges_and_absent_inputs(kind, inputs, expected):
    result = run_case(case(kind, inputs, expected))
    assert result.status == "passed", result


@pytest.mark.parametrize("occupancy", ["occupancy", "occupies", "latency"])
@pytest.mark.parametrize(
    ("sizes", "way"), [([7, 7, 6], {"chunks": 3, "split": "balanced"}), ([8, 8, 4], {"chunk_bytes": 8})]
)
def test_the_ways_to_cut_agree_with_the_list_of_their_chunks(sizes, way, occupancy):
    shared = {"size_bytes": 20, "alpha_mode": occupancy, "hops": [{"alpha_s": 3, "beta_bytes_per_s": 2}, *HOPS]}
    expected = KINDS["p2p_pipelined_saf"]({**shared, "chunk_sizes_bytes": sizes})
    assert differences(expected, KINDS["p2p_pipelined_saf"]({**shared, **way}), TIGHT) == ()


def test_alpha_occupies_a_hop_or_is_latency():
    """3 s + 1 byte at 1 B/s twice: a hop that α occupies takes the second chunk after 4 s, else after 1 s."""
    inputs = {"size_bytes": 2, "chunks": 2, "hops": [{"alpha_s": 3, "beta_bytes_per_s": 1}] * 2}
    times = {}
    for mode in ({}, {"alpha_mode": "occupancy"}, {"alpha_mode": "occupies"}, {"alpha_mode": "latency"}):
        times[mode.get("alpha_mode")] = KINDS["p2p_pipelined_saf"]({**inputs, **mode})["time_s"]
    assert times == {None: 12, "occupancy": 12, "occupies": 12, "latency": 9}
    for mode in ("latent", "", "OCCUPANCY"):
        with pytest.raises(UnknownNameError, match="known are latency, occupancy, occupies"):
            KINDS["p2p_pipelined_saf"]({**inputs, "alpha_mode": mode})


# --- inputs that are none -----------------------------------------------------------------------------------------

MALFORMED = [
    ("p2p_direct", {"beta_bytes_per_s": 1}, "lack 'size_bytes'"),
    ("p2p_direct", {"size_bytes": "64", "beta_bytes_per_s": 1}, "'size_bytes' is '64': expected a number"),
    ("p2p_direct", {"size_bytes": True, "beta_bytes_per_s": 1}, "'size_bytes' is True"),
    ("p2p_direct", {"size_bytes": -1, "beta_bytes_per_s": 1}, "size is -1"),
    ("p2p_direct", {"size_bytes": 1, "beta_bytes_per_s": 0}, "bandwidth is 0"),
    ("p2p_direct", {"size_bytes": 10**400, "beta_bytes_per_s": 1}, "out of range"),
    ("p2p_direct", {"size_bytes": 1e308, "beta_bytes_per_s": 1e-300}, "overflow"),
    ("p2p_direct", [], "not an object"),
    ("p2p_direct", None, "not an object"),
    ("alpha_sum", {"components_s": 5e-7}, "'components_s' is 5e-07: expected a list"),
    ("alpha_sum", {"components_s": [1, None]}, r"components_s\[1\]"),
    ("p2p_saf_path", {"size_bytes": 1, "hops": []}, "no hops"),
    ("p2p_saf_path", {"size_bytes": 1, "hops": [7]}, r"'hops\[0\]' is 7"),
    ("p2p_saf_path", {"size_bytes": 1, "hops": [{"alpha_s": 1}]}, r"hops\[0\]: the inputs lack 'beta_bytes_per_s'"),
    ("p2p_cut_through_path", {"size_bytes": 1, "hops": HOPS, "header_bytes": -1}, "'header_bytes' is -1"),
    ("p2p_wormhole_path", {"size_bytes": 1, "hops": HOPS, "flit_bytes": 0}, "flit is 0"),
    ("p2p_pipelined_saf", {"size_bytes": 1, "hops": HOPS}, "no cut"),
    ("p2p_pipelined_saf", {"size_bytes": 1, "hops": HOPS, "chunks": 1, "chunk_bytes": 1}, "chunks and chunk_bytes"),
    ("p2p_pipelined_saf", {"size_bytes": 1, "hops": HOPS, "chunks": 0}, "'chunks' is 0"),
    ("p2p_pipelined_saf", {"size_bytes": 1, "hops": HOPS, "chunks": 1.5}, "'chunks' is 1.5: expected a whole number"),
    ("p2p_pipelined_saf", {"size_bytes": 1, "hops": HOPS, "chunks": 1, "split": "odd"}, "unknown split 'odd'"),
    ("p2p_pipelined_saf", {"size_bytes": 9, "hops": HOPS, "chunk_sizes_bytes": [4, 4]}, "add up to 8"),
    ("p2p_pipelined_saf", {"hops": HOPS, "chunk_sizes_bytes": []}, "list of chunks is empty"),
    ("p2p_best_k", {"size_bytes": 1.5, "hops": HOPS}, "whole number of bytes"),
    ("p2p_best_k", {"size_bytes": 1, "hops": HOPS, "k_max": 0}, "at least 1"),
    ("p2p_best_k", {"size_bytes": 1, "hops": HOPS, "split": 7}, "'split' is 7: expected text"),
    ("p2p_optimum_formulas", {"size_bytes": 1, "hop_count": 0, "beta_bytes_per_s": 1}, "no hops"),
    ("effective_bandwidth", {"betas_bytes_per_s": []}, "no hops"),
    ("units", {"value": 1, "unit": "GiB/fortnight"}, "unknown unit"),
    ("units", {"value": 1}, "lack 'unit'"),
    ("units", {"value": 1e308, "unit": "GB/s"}, "."),
]


@pytest.mark.parametrize(("kind", "inputs", "reason"), MALFORMED)
def test_malformed_inputs_fail_the_case_with_a_reason(kind, inputs, reason):
    result = run_case(case(kind, inputs, {"time_s": 1}))
    assert result.status == "failed"
    assert result.differences == ()
    assert "\n" not in result.reason
    assert re.search(reason, result.reason), result.reason


@pytest.mark.parametrize("junk", [None, "x", [], {}, -1, 0, True, 1e308, 1e-320, 10**400, [None], [1e308, 1e-308]])
def test_no_input_of_any_kind_breaks_the_run(junk):
    for known in {c.kind: c for c in CASES if c.kind in KINDS}.values():
        for key in known.inputs:
            result = run_case(replace(known, inputs={**known.inputs, key: junk}))
            assert result.status in ("passed", "failed")
            assert result.status == "passed" or result.reason or result.differences


# --- comparing ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (1.0, 1.1), (1.0, 0.9), (100, 90), (100, 110.0), (0, 0.05), (None, None), (True, True), ("a", "a"),
        ([1, None, "x"], [1, None, "x"]), ([], []), ([["l0", 0]], [["l0", 0]]), ({"min": 1, "max": 2}, 1.5),
        ({"min": 1, "max": 2}, 1), ({"min": 1, "max": 2}, 2), ({"a": 1}, {"a": 1, "b": 2}),
    ],
)  # fmt: skip
def test_agrees(expected, got):
    assert differences({"x": expected}, {"x": got}, Tolerance(0.1, 0.05)) == ()


@pytest.mark.parametrize(
    ("expected", "got", "key"),
    [
        (1.0, 1.1000000001, "x"), (100, 89.99, "x"), (0, 0.051, "x"), (None, 0, "x"), (0, None, "x"), (1, True, "x"),
        (True, 1, "x"), (False, 0, "x"), ("a", "b", "x"), ("1", 1, "x"), (1, float("nan"), "x"), (1, float("inf"), "x"),
        ([1, 2], [1, 3], "x[1]"), ([1, 2], [1], "x"), ([1], 1, "x"), ([["l0", 0]], [["l1", 0]], "x[0][0]"),
        ({"min": 1, "max": 2}, 3, "x"), ({"min": 1, "max": 2}, None, "x"), ({"min": 1}, 1, "x"),
        ({"a": 1}, {"a": 2}, "x.a"), ({"a": 1}, 1, "x"),
    ],
)  # fmt: skip
def test_differs(expected, got, key):
    found = differences({"x": expected}, {"x": got}, Tolerance(0.1, 0.05))
    assert [d.key for d in found] == [key]
    assert not found[0].missing


def test_a_missing_output_differs_even_from_null():
    (found,) = differences({"x": None}, {"y": None}, TIGHT)
    assert (found.key, found.missing) == ("x", True)


def test_zero_tolerance_takes_the_very_number_only():
    assert differences({"x": 0.1}, {"x": 0.1}, Tolerance(0, 0)) == ()
    assert differences({"x": 0.3}, {"x": 0.1 + 0.2}, Tolerance(0, 0)) != ()


# --- files that are none ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"hello", "not a vector file: JSON is malformed"),
        (b"\x7fELF\x00\x01\xff\xfe", "not a vector file"),
        (b'{"cases": [', "not a vector file"),
        (b'{"cases": "\xff"}', "not a vector file"),
        (b"[" * 100_000, "not a vector file"),
        (b"[]", "Expected `object`, got `array`"),
        (b"{}", "missing required field `cases`"),
        (b'{"cases": []}', "length >= 1"),
        (b'{"cases": {}}', "Expected `array`"),
        (b'{"cases": [7]}', r"\$.cases\[0\]"),
        (b'{"cases": [{"id": NaN}]}', "not a vector file"),
    ],
)
def test_what_is_no_vector_file_is_refused_in_one_line(tmp_path, content, message):
    file = tmp_path / "junk.json"
    file.write_bytes(content)
    with pytest.raises(FormatError, match=message) as error:
        load(str(file))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": None}, r"\$.cases\[0\].id"),
        ({"id": ""}, r"\$.cases\[0\].id"),
        ({"kind": 7}, r"\$.cases\[0\].kind"),
        ({"expected": {}}, r"\$.cases\[0\].expected"),
        ({"expected": [1]}, r"\$.cases\[0\].expected"),
        ({"tolerance": {"rel": -1, "abs": 0}}, r"\$.cases\[0\].tolerance.rel"),
        ({"tolerance": {"rel": 0}}, "missing required field `abs`"),
    ],
)
def test_a_case_that_is_not_whole_is_named(tmp_path, changes, message):
    with pytest.raises(FormatError, match=message):
        load(written(tmp_path, entry(**changes)))


@pytest.mark.parametrize("key", ["id", "kind", "inputs", "expected", "tolerance"])
def test_a_key_that_is_missing_is_named(tmp_path, key):
    with pytest.raises(FormatError, match=f"missing required field `{key}`"):
        load(written(tmp_path, {k: v for k, v in entry().items() if k != key}))


def test_what_cannot_be_read(tmp_path):
    for path in (str(tmp_path), str(tmp_path / "absent.json"), "nul\0byte"):
        with pytest.raises(FormatError, match="cannot be read"):
            load(path)


def test_a_byte_order_mark_and_unknown_keys_do_no_harm(tmp_path):
    file = Path(written(tmp_path, entry(note="x", document={"value": [1]})))
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert verify_file(str(file)).exit_code == 0
