"""Errors: one family, and unknown names that come with a suggestion."""

from __future__ import annotations

import inspect

import pytest

from hopline import errors
from hopline.errors import HoplineError, RunError, UnknownNameError

CLASSES = [value for _, value in inspect.getmembers(errors, inspect.isclass) if issubclass(value, Exception)]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_is_ours_and_says_what_it_is_for(kind):
    assert issubclass(kind, HoplineError)
    assert kind is HoplineError or kind.__name__.endswith("Error")
    assert kind is UnknownNameError or inspect.getdoc(kind)


def test_wrong_data_is_a_failed_run():
    assert issubclass(errors.DataMismatchError, RunError)


@pytest.mark.parametrize(
    ("name", "known", "message"),
    [
        ("sg226", ["sg2260", "dgx-h100"], "unknown preset 'sg226': did you mean 'sg2260'? known are dgx-h100, sg2260"),
        ("zebra", ["b", "a"], "unknown preset 'zebra': known are a, b"),
        ("a", [], "unknown preset 'a': known are none"),
        ("a\nb", ["c"], "unknown preset 'a\\nb': known are c"),
    ],
)
def test_an_unknown_name_lists_the_known_ones(name, known, message):
    assert str(UnknownNameError("preset", name, iter(known))) == message
