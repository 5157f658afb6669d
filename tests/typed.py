"""A command as it is typed: its exit code, and what it wrote."""

from hopline.cli.main import code_of


def hopline(capsys, *arguments):
    code = code_of([str(a) for a in arguments])
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return code, captured.out, captured.err
