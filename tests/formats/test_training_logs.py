"""Training logs of several programs, as launchers and terminals leave them."""

import gzip
import math

import numpy as np
import pytest
from spent import at_most

from hopline.errors import FormatError
from hopline.formats import training_logs


def megatron(step, time_ms, prefix=""):
    return (
        f"{prefix} iteration {step:8d}/  500 | consumed samples: {step * 512:12d} | elapsed time per iteration (ms): {time_ms} | "
        "learning rate: 1.499E-05 | global batch size:   512 | lm loss: 1.376514E+01 | loss scale: 65536.0 |"
    )


def read(tmp_path, lines, name="train.log"):
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n")
    return training_logs.read(str(path))


@pytest.mark.parametrize(
    ("line", "kind", "step", "time"),
    [
        (megatron(100, 1234.5), "megatron", 100, 1.2345),
        (megatron(100, "1234.5/1300.1"), "megatron", 100, 1.2345),
        (megatron(7, 271607.0, "[default0]: [2025-05-27 15:23:07]"), "megatron", 7, 271.607),
        (" iteration=  3/ 10 | consumed_samples= 9 | elapsed_time_per_iteration_ms=29.5 | lm loss=1", "megatron", 3, 0.0295),
        (
            " samples/sec: 7.799 | iteration       34/   10000 | elapsed time per iteration (ms): 4103.1 | lm_loss: 1.1E+01 |",
            "megatron", 34, 4.1031,
        ),
        (
            "Training epoch 0, iteration 1/249 | lr: 3.9e-06 | global_step: 11 | reduced_train_loss: 1.6 | "
            "train_step_timing in s: 2.505 | consumed_samples: 16", "nemo", 11, 2.505,
        ),
        (
            "Epoch 0: : 100%|###| 100/100 [10:48<00:00, reduced_train_loss=0.0172, global_step=99.00, "
            "train_step_timing in s=3.130]", "nemo", 99, 3.13,
        ),
        ("steps: 10 loss: 8.4375 iter time (s): 0.532 samples/sec: 15.034", "deepspeed", 10, 0.532),
        ("Epoch 3:  10%|#  | 10/100 [01:23<12:30,  8.34s/it, v_num=0]", "lightning", 10, 8.34),
        ("Epoch 3:  10%|#  | 10/100 [00:03<00:30,  4.00it/s, v_num=0]", "lightning", 10, 0.25),
    ],
)  # fmt: skip
@pytest.mark.parametrize("prefix", ["", "0: ", "[1,0]<stdout>: ", "\x1b[32m[2024-01-01 10:00:00][INFO] \x1b[0m"])
def test_a_line_of_each_program(tmp_path, line, kind, step, time, prefix):
    log = read(tmp_path, ["hello", prefix + line, "bye"])
    assert (log.kind, log.step.tolist(), log.line.tolist()) == (kind, [step], [2])
    assert log.time[0] == pytest.approx(time)


def titan(step, clock, prefix="[rank0]:"):
    return (
        f"{prefix}[titan] 2025-06-16 22:{clock} - root - INFO - step: {step:3d}  loss:  6.13  memory: 49.66GiB(52.28%)  "
        "tps: 5,856  tflops: 339.16  mfu: 34.29%"
    )


def test_torchtitan_has_the_times_between_its_lines(tmp_path):
    log = read(tmp_path, [titan(200, "30:50,322"), titan(210, "31:04,970"), titan(220, "31:18,934")])
    assert log.step.tolist() == [210, 220]
    assert log.time == pytest.approx([1.4648, 1.3964])
    assert log.basis == "stamps"
    assert any("what stood between them" in remark for remark in log.told)


def test_ranks_that_all_print(tmp_path):
    rows = [titan(step, f"30:{10 + step:02d},000", "") for step in range(5) for _ in range(8)]
    log = read(tmp_path, rows)
    assert log.step.tolist() == [1, 2, 3, 4]
    assert log.time == pytest.approx([1.0] * 4)
    assert any("35 lines say the step before them again" in remark for remark in log.told)
    rows = [titan(step, f"30:{10 + step:02d},{rank}00", f"[rank{rank}]:") for step in range(5) for rank in range(8)]
    log = read(tmp_path, rows)
    assert log.time == pytest.approx([1.0] * 4)
    assert any("8 ranks print steps: those of label 0" in remark for remark in log.told)


def test_without_times_it_is_said(tmp_path):
    with pytest.raises(FormatError, match="no time of a step"):
        read(tmp_path, ["step:  1  loss: 8.1  tps: 5,432", "step:  2  loss: 8.1  tps: 5,432"])
    with pytest.raises(FormatError, match="no time of any: expected at least two"):
        read(tmp_path, [titan(1, "30:50,322")])


def test_timers_belong_to_the_step_before_them(tmp_path):
    log = read(
        tmp_path,
        [
            "(min, max) time across ranks (ms):",
            "    model-and-optimizer-setup ......................: (1020.90, 1022.97)",
            megatron(1, 30000.0),
            "(min, max) time across ranks (ms):",
            "    forward-backward ...............................: (26094.39, 26095.09)",
            "    optimizer ......................................: (3407.56, 3409.92)",
            megatron(2, 20000.0),
            "INFO:megatron.core.timers:(min, max) time across ranks (ms):",
            "    forward-backward ...............................: (16094.39, 16095.09)",
            "    optimizer ......................................: (407.56, 409.92)",
            "  saved checkpoint [ t 1/1, p 1/1 ] (min, max) time across ranks (ms): save-checkpoint ......: (24895.07, 24895.13)",
        ],
    )
    assert log.timers["model-and-optimizer-setup"].step.tolist() == [-1]
    assert log.timers["forward-backward"].step.tolist() == [1, 2]
    assert log.timers["optimizer"].least == pytest.approx([3.40756, 0.40756])
    assert log.timers["optimizer"].most == pytest.approx([3.40992, 0.40992])
    assert log.timers["save-checkpoint"].most == pytest.approx([24.89513])


def test_timers_of_other_ages(tmp_path):
    log = read(
        tmp_path,
        [
            megatron(1, 30.0),
            "max time across ranks (ms):",
            "    forward-backward ...............................: 26095.09",
            megatron(2, 30.0),
            "times across ranks (ms):",
            "  optimizer:",
            "     rank  0: 10.00",
            "     rank  1: 14.50",
            "     rank  2: 12.00",
            megatron(3, 30.0),
            "time (ms) | forward: 659.86 | backward: 2164.69 | backward-allreduce: 0.00 | batch generator: 0.83",
        ],
    )
    assert math.isnan(log.timers["forward-backward"].least[0])
    assert log.timers["optimizer"].least == pytest.approx([0.010])
    assert log.timers["optimizer"].most == pytest.approx([0.0145])
    assert log.timers["batch generator"].most == pytest.approx([0.00083])
    assert log.timers["backward"].step.tolist() == [3]


def test_restarts(tmp_path):
    rows = [megatron(i, 100.0) for i in range(1, 8)]
    rows += [" successfully loaded checkpoint from /x at iteration 5"] + [megatron(i, 100.0) for i in range(6, 10)]
    rows += [" successfully loaded checkpoint from /x at iteration 9"] + [megatron(i, 100.0) for i in range(10, 12)]
    log = read(tmp_path, rows)
    assert log.run.tolist() == [0] * 7 + [1] * 4 + [2] * 2


def test_progress_bars_without_newlines(tmp_path):
    path = tmp_path / "bar.log"
    bar = "\r".join(
        f"Epoch 0: {i}%|#| {i}/1000 [00:10<00:10,  2.00it/s, v_num=0]" for i in range(1, 1000) for _ in range(3)
    )
    path.write_text(bar)
    log = training_logs.read(str(path))
    assert log.step.tolist() == list(range(1, 1000))
    assert (log.time == 0.5).all()


def test_packed_windows_and_hurt_logs(tmp_path):
    rows = "\r\n".join([megatron(i, 100.0 + i) for i in range(50)])
    path = tmp_path / "a.log.gz"
    path.write_bytes(gzip.compress(rows.encode()))
    plain = training_logs.read(str(path))
    assert len(plain) == 50
    path.write_bytes(gzip.compress(rows.encode())[:-20])
    with pytest.raises(FormatError, match="is cut"):
        training_logs.read(str(path))
    path.write_bytes(("\ufeff" + rows).encode("utf-16"))
    assert len(training_logs.read(str(path))) == 50
    hurt = (
        b"\xff\xfe\x00" * 10
        + b"\n"
        + rows.encode()[:-150]
        + b"\n"
        + b"x" * 200_000
        + b"\n"
        + megatron(99, 7.0).encode()
    )
    path.write_bytes(b"text\n" + hurt)
    log = training_logs.read(str(path))
    assert log.step[-1] == 99
    assert any("longer than" in remark for remark in log.told)


@pytest.mark.parametrize("text", ["", "hello\nworld\n", "iteration 5/10 | elapsed time per iteration (ms): nan |\n"])
def test_logs_without_steps(tmp_path, text):
    path = tmp_path / "x.log"
    path.write_text(text)
    with pytest.raises(FormatError) as error:
        training_logs.read(str(path))
    assert "\n" not in str(error.value)


def test_times_of_zero_are_left_out(tmp_path):
    log = read(tmp_path, [megatron(1, 0.0), megatron(2, 10.0)])
    assert log.step.tolist() == [2]
    assert np.isfinite(log.time).all()


def test_lines_made_to_be_slow(tmp_path):
    """Many beginnings of a pattern in one line, which each look for its end."""
    path = tmp_path / "x.log"
    path.write_text("\n".join(["iteration 1/2 | elapsed" * 300] * 50 + [megatron(3, 5.0)]))
    with at_most(5):
        assert len(training_logs.read(str(path))) == 1


# --- numbers that are rounded, ranks in each other's way, clocks --------------------------------------------------


def nemo(bar, shown, epoch=0, time=1.5):
    return (
        f"Epoch {epoch}:   1%|#  | {bar}/2000 [25:00<41:00,  1.50s/it, v_num=1, reduced_train_loss=6.930, global_step={shown}, "
        f"consumed_samples=2.56e+5, train_step_timing in s={time:.3f}]"
    )


def test_a_rounded_number_is_never_read_as_it_stands(tmp_path):
    """A bar prints 1,000 as 1e+3: the bar's own count goes on where the exact numbers ended."""
    rows = [nemo(step + 1, f"{step}.0") for step in range(990, 1000)] + [
        nemo(step + 1, "1e+3") for step in range(1000, 1100)
    ]
    log = read(tmp_path, rows)
    assert log.step.tolist() == list(range(990, 1100))
    assert set(log.run.tolist()) == {0}
    log = read(tmp_path, [nemo(step, "1.23e+5") for step in range(1500, 1600)])
    assert log.step.tolist() == list(range(1500, 1600))


def test_a_rounded_number_without_a_bar_is_left_out_and_told(tmp_path):
    rows = [f"global_step: {step} | train_step_timing in s: 2.5" for step in ("7", "8", "1.2e+5")]
    log = read(tmp_path, rows)
    assert log.step.tolist() == [7, 8]
    assert any(remark.startswith("1 line left out: the step's number is rounded") for remark in log.told)


def test_bars_count_anew_in_each_epoch(tmp_path):
    rows = [
        f"Epoch {epoch}: {i}%|#| {i}/50 [00:10<00:10,  2.00it/s, v_num=0]" for epoch in range(3) for i in range(1, 51)
    ]
    log = read(tmp_path, rows)
    assert log.step.tolist() == list(range(1, 151))
    assert set(log.run.tolist()) == {0}
    log = read(tmp_path, [*rows, "Restored states from the checkpoint", *rows[:50]])
    assert log.run.tolist() == [0] * 150 + [1] * 50


def test_ranks_that_are_not_in_step(tmp_path):
    rows = [megatron(i + k, 1000.0 + 5 * rank) for i in range(1, 200, 2) for rank in range(2) for k in range(2)]
    log = read(tmp_path, rows)
    assert log.step.tolist() == list(range(1, 201))
    assert set(log.run.tolist()) == {0}
    assert log.time == pytest.approx([1.005] * 200)
    assert any("not in step" in remark for remark in log.told)
    again = read(tmp_path, [megatron(i, 1000.0) for i in (*range(1, 101), *range(90, 201))])
    assert again.run.max() == 1


def test_ranks_with_labels_have_medians(tmp_path):
    rows = [megatron(i, 1500.0 if rank == 3 else 1000.0, f"[rank{rank}]:") for i in range(20) for rank in range(4)]
    assert read(tmp_path, rows).ranks == pytest.approx({"0": 1.0, "1": 1.0, "2": 1.0, "3": 1.5})
    assert read(tmp_path, rows[::4]).ranks == {}


def test_numbers_with_commas_and_without_value(tmp_path):
    log = read(tmp_path, [megatron(1, "12,345.6"), megatron(2, "1,234,567.0"), megatron(3, "nan"), megatron(4, "inf")])
    assert log.time == pytest.approx([12.3456, 1234.567])
    assert "2 steps without a usable time left out (none, or above 30 days)" in log.told
    log = read(tmp_path, [megatron(1, "nan"), megatron(1, 7.0), megatron(2, "nan")])
    assert (log.step.tolist(), log.time.tolist()) == ([1], [0.007])
    assert "1 step without a usable time left out (none, or above 30 days)" in log.told


@pytest.mark.parametrize("time", ["1e18", "9" * 400, "1e308", "2592000001"])
def test_a_time_that_no_step_takes_is_left_out_and_told(tmp_path, time):
    log = read(tmp_path, [megatron(1, 5.0), megatron(2, time), megatron(3, 6.0)])
    assert log.step.tolist() == [1, 3]
    assert "1 step without a usable time left out (none, or above 30 days)" in log.told
    with pytest.raises(FormatError, match="of at most 30 days"):
        read(tmp_path, [megatron(1, time)])


def test_a_year_that_is_none_makes_no_step(tmp_path):
    rows = [titan(i, f"00:{i:02d}") for i in range(9)]
    log = read(tmp_path, [*rows[:5], rows[5].replace("2025-", "9025-"), *rows[6:]])
    assert log.time.max() == 1.0
    assert any("above 30 days" in remark for remark in log.told)


def test_a_number_that_no_job_comes_to_is_no_step(tmp_path):
    """Else the next step would stand for as many as lie between."""
    log = read(tmp_path, [megatron(1, 5.0), megatron(10**17, 5.0), megatron(3, 6.0)])
    assert log.step.tolist() == [1, 3]
    assert any(remark.startswith("1 line left out: ") and "10,000,000,000 or more" in remark for remark in log.told)


def test_timers_that_no_step_takes_are_left_out_and_told(tmp_path):
    timers = [
        "(min, max) time across ranks (ms):",
        "    forward ......: (1.5, 2.5)",
        f"    backward ......: (1.5, {'9' * 400})",
    ]
    by_rank = ["times across ranks (ms):", "  optimizer:", f"     rank  0: {'9' * 40}", "     rank  1: 12.0"]
    log = read(tmp_path, [row for i in range(3) for row in (megatron(i, 5.0), *timers, *by_rank)])
    assert {name: timer.most.tolist() for name, timer in log.timers.items()} == {
        "forward": [0.0025] * 3, "optimizer": [0.012] * 3
    }  # fmt: skip
    assert "6 times of timers above 30 days left out" in log.told


def test_a_log_that_was_turned_round(tmp_path):
    """No step goes on, so that no rank is in another's way."""
    log = read(tmp_path, [megatron(i, 1000.0) for i in range(60, 0, -1)])
    assert len(log) == 60


def seconds(step, clock):
    return f"[titan] 2025-06-16 {clock // 3600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d} - root - step: {step}  loss: 1  tps: 5"


def test_whole_seconds_are_too_coarse_for_single_steps(tmp_path):
    log = read(tmp_path, [seconds(i, 36_000 + int(1.5 * i)) for i in range(200)])
    assert log.time == pytest.approx([1.5] * len(log), rel=0.05)
    assert len(log) == 9
    assert any("lines are taken together" in remark for remark in log.told)


def test_a_clock_that_goes_back_is_told(tmp_path):
    log = read(tmp_path, [seconds(i, 7200 + 30 * i - (3600 if i > 20 else 0)) for i in range(40)])
    assert log.time == pytest.approx([30.0] * 38)
    assert any(remark.startswith("the clock goes back 1 time ") for remark in log.told)
