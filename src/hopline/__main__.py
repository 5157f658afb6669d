"""``python -m hopline`` is the ``hopline`` command."""

from hopline.cli.main import run

run()
