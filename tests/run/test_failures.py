"""What ended a rank, in words: no class name where the message says enough."""

import pytest

from hopline.errors import RunError
from hopline.run import failures


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (RunError("no GPU\nhere"), "no GPU here"),
        (ConnectionError("another rank is gone"), "another rank is gone"),
        (FileNotFoundError(2, "No such file or directory", "x"), "x: No such file or directory"),
        (RuntimeError("MPI_ERR_TRUNCATE: message truncated"), "MPI_ERR_TRUNCATE: message truncated"),
        (ModuleNotFoundError("No module named 'torch'"), "No module named 'torch'"),
        (MemoryError(), "out of memory"),
        (MemoryError("no room"), "out of memory: no room"),
        (KeyError("job"), "an error of hopline itself (KeyError: 'job'); please report it"),
        (AssertionError(), "an error of hopline itself (AssertionError); please report it"),
    ],
)
def test_an_error_in_words(error, said):
    assert failures.said(error) == said
