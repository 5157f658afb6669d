"""What traces are called where no file tells their rank: by the part of their sources that no other has.

What belongs here: names. Of traces whose rank is known it is ``Trace.label``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from os.path import commonprefix
from pathlib import PurePath

from hopline.records.trace import Trace

_BORDER = re.compile(r".*[:/\\]", re.DOTALL)
"""The longest beginning that may be left out: whole folders, and what stands before a colon."""
_ENDING = re.compile(r"[.:].*", re.DOTALL)
"""The longest end that may be left out."""


def named(traces: Sequence[Trace]) -> list[Trace]:
    """``traces``, those without a rank with a name."""
    unknown = [trace.source for trace in traces if trace.rank is None]
    names = iter(told_apart(unknown))
    return [trace if trace.rank is not None else replace(trace, name=next(names)) for trace in traces]


def told_apart(sources: Sequence[str]) -> list[str]:
    """The shortest part of each that tells them apart: names of files where those differ, with folders where not.

    >>> told_apart(["/a/one.json.gz"]), told_apart(["/a/one.json.gz", "/a/two.json.gz"]), told_apart(["a/t.json", "b/t.json"])
    (['one.json.gz'], ['one', 'two'], ['a/t', 'b/t'])
    >>> told_apart(["/a/n.sqlite:process 7:GPU 0", "/a/n.sqlite:process 8:GPU 1"])
    ['process 7:GPU 0', 'process 8:GPU 1']
    """
    if len(sources) < 2:
        return [PurePath(source).name or source for source in sources]
    shared = _BORDER.match(commonprefix(list(sources)))  # noqa: RUF071 (letters are meant)
    begin = shared.end() if shared else 0
    ends = [source[: begin - 1 if begin else None : -1] for source in sources]
    same = commonprefix(ends)[::-1]  # noqa: RUF071
    ending = _ENDING.search(same)
    end = len(same) - ending.start() if ending else 0
    short = [source[begin : len(source) - end] for source in sources]
    return short if all(short) else [source[begin:] or source for source in sources]
