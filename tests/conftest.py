"""What all tests share: hypothesis without deadlines (machines are noisy), and no machine of the user's touched."""

import os
import signal

import pytest
from hypothesis import settings

settings.register_profile("hopline", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("hopline")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
"""A shell that starts tests in the background lets them, and all that they start, ignore Ctrl-C."""


@pytest.fixture(autouse=True)
def own_folder(tmp_path_factory, monkeypatch):
    """Saved machines and samples go to a folder of the test's own."""
    monkeypatch.setenv("HOPLINE_HOME", str(tmp_path_factory.mktemp("hopline-home")))
