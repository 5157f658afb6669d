"""``hopline measure --what executor`` and ``hopline compare`` on real ranks as they are typed, on ranks that are threads."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from hopline.cli import compare_options
from hopline.cli.compare import compare
from hopline.cli.measure import measure
from hopline.errors import HoplineError
from hopline.formats import samples
from hopline.jobs import executing, machines, measuring, probing, schedules
from hopline.jobs.comparing import used
from hopline.machine.executor import executor_of
from hopline.records.sample import Sample
from hopline.run.mpi import Started
from hopline.schedule.collectives.table import COLLECTIVES
from hopline.schedule.shape import Shape

sys.path.insert(0, str(Path(__file__).parent.parent / "run"))
from rooms import hold

SIZES = "8B,4KiB,64KiB"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path / "home"))
    for name in ("RANK", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def room(monkeypatch):
    """All ranks in this process; ``jobs`` counts what they were given."""
    options = {"jobs": 0}

    @contextmanager
    def executed(jobs, transport, ranks):
        options["jobs"] += len(jobs)

        def events():
            yield Started(("h",) * ranks, options.get("crowded", ()))
            yield from hold(jobs, ranks).events

        yield events()

    monkeypatch.setattr(executing, "executing", executed)
    monkeypatch.setattr(probing, "executing", executed)
    monkeypatch.setattr(probing, "REPEATS", 1)
    monkeypatch.setattr(probing, "VISITS", 3)
    return options


def typed(command, *words):
    return CliRunner().invoke(command, [str(word) for word in words])


def measured(*words):
    found = typed(measure, "--what", "executor", "--sizes", SIZES, "--seconds", "1ms", *words)
    assert found.exit_code == 0, found.output
    return found


def test_the_executor_is_measured_kept_and_saved(tmp_path):
    out = tmp_path / "steps.jsonl"
    told = json.loads(measured("--out", out, "--json").output)
    assert set(told["steps"]) == {"send", "exchange", "send-add", "exchange-add", "copy"}
    assert told["steps"]["send"]["size"] == [8, 4096, 65536]
    assert told["visits"] >= 2 * 5 * (3 + 2)
    executor = executor_of(machines.find("local").operations, "mpi")
    assert executor.operation == pytest.approx(told["operation_s"], rel=1e-4)
    assert {sample.benchmark for sample in samples.load(str(out))} >= {"executor-mpi-send", "executor-mpi-send-twice"}


def test_it_goes_on_from_its_samples_and_ends(tmp_path, room):
    out = tmp_path / "steps.jsonl"
    words = ("--what", "executor", "--sizes", "8B,64B", "--out", out)
    assert typed(measure, *words).exit_code == 0
    first = room["jobs"]
    assert first == probing.VISITS * 5 * 4
    again = typed(measure, *words)
    assert room["jobs"] == first
    assert "nothing was measured now" in again.output


def test_measuring_the_latency_keeps_the_executor():
    measured()
    before = machines.find("local").operations
    took = [Sample("latency", "mpi", "h", 2, size, (1e-6 + size * 1e-9,)) for size in (8, 64, 512, 4096, 32768)]
    measuring.save_local(measuring.fitted(took, Path("latency.jsonl")), "local")
    now = machines.find("local")
    assert set(now.operations) == {*before, "latency.2"}
    assert list(now.links) == ["send"]
    measured()
    assert list(machines.find("local").links) == ["send"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--what", "executor,bw"), "leave bw out"),
        (("--what", "executor", "--window", 4), "leave --window out"),
        (("--what", "executor", "--sizes", "8B"), "two sizes or more"),
        (("--what", "latency", "--transport", "gloo"), "only executor"),
    ],
)
def test_what_does_not_go_together_is_refused(words, said):
    found = typed(measure, *words)
    assert found.exit_code == 2
    assert said in found.output


def test_compare_sets_both_models_beside_the_run(tmp_path):
    measured()
    words = ("all_reduce-ring", "-n", 2, "--size", "1KiB,64KiB", "--repeats", 4, "--out", tmp_path / "run.jsonl")
    found = typed(compare, *words, "--json")
    assert found.exit_code == 0, found.output
    told = json.loads(found.output)
    assert told["size"] == [1024, 65536]
    simulation = told["models"]["simulation"]
    assert all(time > 0 for time in simulation["time_s"])
    assert simulation["error"] == pytest.approx(
        [model / real - 1 for model, real in zip(simulation["time_s"], told["time_s"], strict=True)]
    )
    assert [sum(one.values()) for one in told["terms"]] == pytest.approx(simulation["time_s"])
    assert all("executor" in one for one in told["terms"])
    assert "formula" in told["left_out"]
    page = typed(compare, *words).output
    assert "over all sizes" in page
    assert "not known to hold: ranks <= cores" in page


def test_crowded_ranks_break_the_premise_and_nothing_is_judged(room):
    measured()
    room["crowded"] = (("h", 2, 1),)
    found = typed(compare, "all_reduce-ring", "-n", 2, "--size", "1KiB", "--repeats", 4)
    assert "premise broken: ranks <= cores: 2 ranks on 1 core of h" in found.output
    assert "nothing is judged" in found.output


def test_steps_larger_than_those_measured_are_told():
    measured()
    found = typed(compare, "all_reduce-ring", "-n", 2, "--size", "1MiB", "--repeats", 2)
    assert "premise broken: steps are no larger than those measured: the largest has 512 KiB" in found.output


def test_nothing_measured_yet_says_what_to_do():
    with pytest.raises(HoplineError, match="hopline measure"):
        CliRunner().invoke(compare, ["all_reduce-ring", "-n", "2", "--size", "1KiB"], catch_exceptions=False)


def test_options_of_logs_are_refused_for_ranks():
    found = typed(compare, "all_reduce-ring", "-n", 2, "--size", "1KiB", "--arch", "hopper")
    assert found.exit_code == 2
    assert "--arch" in found.output


def test_a_picture_is_written(tmp_path):
    measured()
    picture = tmp_path / "c.svg"
    words = ("all_reduce-ring", "-n", 2, "--size", "1KiB,4KiB", "--repeats", 2, "--plot", picture)
    assert typed(compare, *words).exit_code == 0
    assert "simulation" in picture.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("all_reduce-ring", "-n", 1, "--size", "1KiB"), "sends nothing"),
        (("all_reduce-ring", "-n", 2, "--size", "1KiB", "--plot", "x.foo"), "kind of picture"),
        (("all_reduce-ring", "-n", 2, "--size", "1KiB", "--sends-table", 1), "--sends"),
    ],
)
def test_what_cannot_be_is_told_before_anything_runs(words, said, room):
    found = typed(compare, *words)
    assert found.exit_code != 0
    assert said in found.output + str(found.exception)
    assert room["jobs"] == 0


def test_more_sizes_are_measured_twice_at_least_whatever_the_file_holds(tmp_path):
    out = tmp_path / "steps.jsonl"
    measured("--out", out)
    words = ("--what", "executor", "--sizes", "8B,4KiB,64KiB,128KiB", "--seconds", "1ms", "--out", out, "--json")
    told = json.loads(typed(measure, *words).output)
    assert all(len(step["size"]) == 4 for step in told["steps"].values())
    repeats = [len(one["times"]) for one in told["samples"] if one["size"] == 131072]
    assert len(repeats) == 5
    assert min(repeats) >= probing.FEWEST * probing.REPEATS


def test_no_time_is_refused():
    found = typed(measure, "--what", "executor", "--sizes", "8B,64B", "--seconds", "0s")
    assert found.exit_code == 2
    assert "more than 0" in found.output


def test_a_foreign_file_is_refused_before_anything_is_measured(tmp_path, room):
    foreign = tmp_path / "foreign.toml"
    foreign.write_text("[tool]\nmine = 1\n")
    found = typed(measure, "--what", "executor", "--sizes", "8B,64B", "--save", foreign)
    assert isinstance(found.exception, HoplineError)
    assert room["jobs"] == 0
    assert foreign.read_text() == "[tool]\nmine = 1\n"


def test_compute_is_not_taken_for_the_executor(tmp_path):
    measured()
    goal = tmp_path / "compute.goal"
    goal.write_text("num_ranks 2\n\nrank 0 {\nl1: calc 1000\n}\n\nrank 1 {\nl1: calc 5000\n}\n")
    found = typed(compare, goal, "--repeats", 2, "--json")
    assert found.exit_code == 0, found.output
    terms = json.loads(found.output)["terms"][0]
    assert set(terms) == {"compute"}
    assert terms["compute"] == pytest.approx(5e-6)


def test_sizes_of_a_schedule_file_say_what_they_count(tmp_path):
    measured()
    file = schedule_file(tmp_path, "ring.xml", 3, 98304)
    found = typed(compare, file, "--size", "96KiB,192KiB", "--repeats", 2)
    assert found.exit_code == 0, found.output
    assert found.output.count("busiest rank sends") == 2
    assert "128 KiB" in found.output
    assert "192 KiB is asked for: all_reduce-ring is made for 96 KiB" in found.output
    told = json.loads(typed(compare, file, "--size", "96KiB", "--repeats", 2, "--json").output)
    assert (told["size"], told["size_is"]) == ([131072], "busiest rank sends")
    plain = typed(compare, "all_reduce-ring", "-n", 2, "--size", "1KiB", "--repeats", 2, "--json")
    assert json.loads(plain.output)["size_is"] == "size"
    picture = tmp_path / "c.svg"
    typed(compare, file, "--size", "96KiB,192KiB", "--repeats", 2, "--plot", picture)
    assert "busiest rank sends" in picture.read_text()


def schedule_file(tmp_path, name, ranks, size):
    """An all-reduce over a ring in a file."""
    schedules.write(COLLECTIVES["all_reduce-ring"].build(Shape(ranks, size)), tmp_path / name, None)
    return tmp_path / name


HEAD = "framework,version,device,op_name,kernel_source,nccl_dtype,num_gpus,message_size,latency"
GPU = "NVIDIA H100 80GB HBM3"


def measured_table(tmp_path, op="all_reduce", device=GPU, version="2.29.2", sizes=(256, 1024, 4096, 16384, 65536)):
    rows = [f"F,{version},{device},{op},NCCL,half,8,{size},{0.01 + size * 1e-8}" for size in sizes]
    file = tmp_path / f"{op}.csv"
    file.write_text("\n".join([HEAD, *rows]) + "\n")
    return file


def osu_sends(tmp_path):
    file = tmp_path / "sends.log"
    file.write_text(
        "# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n1 1.0\n8 1.1\n64 1.3\n512 1.9\n4096 4.0\n"
    )
    return file


def refused(*words):
    """What a refusal says."""
    found = typed(compare, *words)
    assert found.exit_code != 0, found.output
    return found.output if found.exit_code == 2 else str(found.exception)


@pytest.mark.parametrize(
    ("made", "words", "said"),
    [
        ({}, "--algorithm rabenseifner", "--algorithm: names the closed form that is made of --sends FILE"),
        ({}, "--nccl foo", "--nccl: 'foo' is no version of NCCL"),
        ({}, "--nccl 2.18", "--nccl: the tuner of NCCL 2.18 is not known here"),
        ({}, "--nodes 3", "8 ranks on 3 nodes: expected nodes that hold equally many"),
        ({}, "--nic 50GB/s", "on one node nothing goes over a network"),
        ({}, "--cpu amd", "on one node nothing goes over a network"),
        (
            {},
            "--within 20GB/s",
            "--within: it is for NCCL's tuner, which is left out: --within: expected --channels, too",
        ),
        (
            {"op": "alltoall"},
            "--arch hopper",
            "--arch: it is for NCCL's tuner, which is left out: NCCL's tuner has no choice",
        ),
        (
            {"op": "alltoall"},
            "-n 8",
            "-n: it is for the closed form and NCCL's tuner, which are left out: closed form: no sends",
        ),
        ({}, "--repeats 3", "--repeats: "),
        ({}, "--size 1KiB", "is a log, measured already"),
        ({}, "--table 2", "has 1 table"),
    ],
)
def test_an_option_that_means_nothing_to_a_log_is_refused(tmp_path, made, words, said):
    assert said in refused(measured_table(tmp_path, **made), *words.split())


def test_every_option_is_of_ranks_of_logs_or_of_both():
    both = {"what", "ranks", "channels", "plot", "as_json", "help"}
    own = [*compare_options.OF_RANKS, *compare_options.OF_LOGS]
    assert sorted([*own, *both]) == sorted({one.name for one in compare.params} | {"help"})
    typed_ = {"-n": "ranks", "--nccl": "version"}
    of_models = {typed_.get(option, option[2:].replace("-", "_")) for option in used.USED_BY}
    assert of_models == {*compare_options.OF_LOGS, "ranks", "channels"} - {"table"}


def test_sends_and_their_algorithm_must_be_used(tmp_path):
    sends, table = osu_sends(tmp_path), measured_table(tmp_path, "all_gather")
    said = refused(table, "--sends", sends, "--algorithm", "rabenseifner")
    assert "--algorithm: it is for the closed form, which is left out: all_gather has no algorithm rabenseifner" in said
    assert typed(compare, table, "--sends", sends, "--algorithm", "ring").exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--out nodir/x.jsonl", "there is no folder nodir"),
        ("--plot nodir/x.svg", "no folder nodir"),
        ("--plot x.foo", "picture"),
    ],
)
def test_outputs_that_cannot_be_are_refused_before_anything_runs(room, monkeypatch, tmp_path, words, said):
    monkeypatch.chdir(tmp_path)
    measured()
    ran = room["jobs"]
    assert said in refused("all_reduce-ring", "-n", 2, "--size", "1KiB", *words.split())
    assert room["jobs"] == ran


def test_of_ranks_that_a_launcher_started_the_first_alone_answers_of_a_log(tmp_path, monkeypatch):
    table = measured_table(tmp_path)
    monkeypatch.setenv("WORLD_SIZE", "2")
    for rank, speaks in (("1", False), ("0", True)):
        monkeypatch.setenv("RANK", rank)
        assert bool(typed(compare, table).output) is speaks
        assert (typed(compare, table, "--nic", "50GB/s").exit_code != 0) is speaks
        assert bool(typed(measure, "--what", "executor", "--window", 4).output) is speaks


def test_ranks_of_a_log_that_prints_parts_are_used():
    log = Path(__file__).parents[1] / "data" / "logs" / "osu-alltoall-validation.out"
    found = typed(compare, log, "-n", 4)
    assert found.exit_code == 0, found.output
    assert "not in the file" not in found.output


def test_where_nothing_stands_beside_a_table_every_reason_is_told(tmp_path):
    table = measured_table(tmp_path, device="Some GPU", sizes=(8, 16))
    for words in ((), ("--table", 1)):
        said = refused(table, *words)
        assert "no collective" not in said
        assert "closed form: no sends are given (--sends FILE); line, fitted: 2 sizes: expected at least 4" in said
        assert "tuner: the architecture of 'Some GPU' is not known here (--arch)" in said


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (
            lambda file: file.touch(),
            "x is empty: expected a schedule, a benchmark's log or a table of measured collectives",
        ),
        (
            lambda file: file.mkdir(),
            "x is a folder: expected a schedule, a benchmark's log or a table of measured collectives",
        ),
        (lambda file: file.write_text("hello world\n"), "nccl-tests or rccl-tests"),
        (
            lambda file: file.write_text("hello world\n"),
            "and it is no schedule file that hopline knows (it begins with",
        ),
        (lambda file: file.write_text("hello world\n"), "GOAL"),
        (lambda file: None, "x: no such file"),
    ],
)
def test_what_is_neither_says_all_that_is_read(tmp_path, made, said):
    made(tmp_path / "x")
    for words in ((), ("--arch", "hopper"), ("--repeats", 2)):
        assert said in refused(tmp_path / "x", *words)


def test_a_device_is_refused_once():
    assert refused("/dev/null").count("is a device") == 1


def test_a_file_without_collectives_is_refused(tmp_path):
    log = tmp_path / "sends.log"
    log.write_text("# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n1 1.0\n8 1.1\n64 1.3\n512 1.9\n")
    found = typed(compare, log)
    assert isinstance(found.exception, HoplineError)
    assert "hopline fit" in str(found.exception)


def test_rows_that_were_dropped_are_told(tmp_path):
    table = tmp_path / "t.csv"
    head = "framework,version,device,op_name,kernel_source,nccl_dtype,num_gpus,message_size,latency\n"
    rows = "".join(
        f"F,2.29.2,NVIDIA H100 80GB HBM3,all_reduce,NCCL,half,8,{size},{0.01 + size * 1e-8}\n"
        for size in (256, 1024, 4096, 16384)
    )
    table.write_text(head + rows + "F,2.29.2,NVIDIA H100 80GB HBM3,all_reduce,NCCL,half,8,65536,nan\n")
    found = typed(compare, table)
    assert found.exit_code == 0, found.output
    assert "left out: 1 row dropped" in found.output
    assert "nosuch" in str(typed(compare, table, "--algorithm", "nosuch").exception)
