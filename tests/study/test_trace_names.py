"""Names of traces whose rank is not known: short, told apart, and the same wherever they are spoken of."""

import pytest
from made_traces import trace

from hopline.study.kernel_names import operator_name
from hopline.study.trace_names import named, told_apart


@pytest.mark.parametrize(
    ("sources", "names"),
    [
        (["/a/b/one.json"], ["one.json"]),
        (["-"], ["-"]),
        (["/a/b/one.json", "/a/b/two.json"], ["one", "two"]),
        (["x/rank.json", "y/rank.json"], ["x/rank", "y/rank"]),
        (["/a/n.sqlite:process 10:GPU 0", "/a/n.sqlite:process 11:GPU 1"], ["process 10:GPU 0", "process 11:GPU 1"]),
        (["/a/n.sqlite:process 10:GPU 0", "/a/n.sqlite:process 11:GPU 0"], ["process 10", "process 11"]),
        (["/a/job_a.1.pt.json", "/a/job_b.2.pt.json"], ["job_a.1", "job_b.2"]),
        (["/a/t", "/a/t.json"], ["t", "t.json"]),
        (["/a/.json", "/a/b.json"], [".json", "b.json"]),
    ],
)
def test_the_part_that_tells_them_apart_is_the_name(sources, names):
    assert told_apart(sources) == names
    assert len(set(names)) == len(sources)


def test_ranks_keep_their_numbers_and_others_get_names():
    made = [trace(0, source="/a/x.json"), trace(None, source="/a/y.json"), trace(None, source="/a/z.json")]
    assert [one.label for one in named(made)] == ["rank 0", "y", "z"]
    assert [one.label for one in made] == ["rank 0", "/a/y.json", "/a/z.json"]


def test_operators_of_the_backward_pass_are_called_by_what_they_run():
    before = "autograd::engine::evaluate_function: "
    names = {
        f"{before}AddmmBackward0": "AddmmBackward0",
        f"{before}torch::autograd::AccumulateGrad": "AccumulateGrad",
        f"{before}torch::autograd::CppNode<SplitLookupFunction_adagrad_Op>": "SplitLookupFunction_adagrad_Op",
        f"{before}torch::autograd::CppNode<A<B>>": "A<B>",
        "aten::add_": "aten::add_",
        "cudaLaunchKernel": "cudaLaunchKernel",
        before: before,
    }
    assert {name: operator_name(name) for name in names} == names
