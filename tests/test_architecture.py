"""The import rule, read off the source: who may import whom, what is imported late, names in tables that resolve.

The checks are pure functions from sources (dotted module name -> text) to breaches, so that a planted breach can be
seen to be found; the last tests run them on the package itself.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

import hopline

ROOT = Path(hopline.__file__).parent
PACKAGE = "hopline"
FOUNDATION = ("errors", "quantity", "curve")
NOUNS = ("machine", "schedule", "workload", "records")
VERBS = ("model", "sim", "run", "formats", "study", "show")
EDGES = ("cli", "page", "__main__", "__init__")
LATE = ("torch", "mpi4py", "vl_convert", "rich")
"""Slow or optional: never imported while a module of ours is."""
KERNELS = "hopline.sim.kernels"
KERNEL_IMPORTS = ("__future__", "math", "typing", "numpy", "numba")
RESOLVERS = ("jobs", "__init__")
"""Rooms that may load a module by its name: tables on use, and the public names."""
KERNEL_LOADER = "hopline.sim.loading"
"""The one other module that may: it loads kernels, which import numba."""
TABLE_ENTRY = re.compile(r"hopline\.[\w.]+:\w+")

Sources = Mapping[str, str]


def _below() -> dict[str, frozenset[str]]:
    """Room -> other rooms that it may import."""
    allowed = {room: frozenset(FOUNDATION[:i]) for i, room in enumerate(FOUNDATION)}
    allowed |= dict.fromkeys(NOUNS, frozenset(FOUNDATION))
    allowed["scenario"] = frozenset((*FOUNDATION, *NOUNS))
    nouns = allowed["scenario"] | {"scenario"}
    allowed |= dict.fromkeys(VERBS, nouns)
    allowed["jobs"] = nouns | set(VERBS)
    below_edges = allowed["jobs"] | {"jobs"}
    allowed |= dict.fromkeys(EDGES, below_edges | {"__init__"})
    return allowed | {"__init__": below_edges, "__main__": below_edges | {"__init__", "cli"}}


BELOW = _below()


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module, its line, and whether the statement stands in a function or for the type checker only."""

    target: str
    line: int
    in_function: bool
    for_types: bool


def room_of(module: str) -> str:
    """``hopline.sim.kernels.queue`` -> ``sim``; the package itself is ``__init__``."""
    return module.split(".")[1] if "." in module else "__init__"


def imports_of(module: str, source: str, modules: frozenset[str]) -> list[Import]:
    """Everything a module imports, however deep the statement stands; of ours, files and not the names in them."""
    found: list[Import] = []

    def visit(node: ast.AST, in_function: bool, for_types: bool) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.extend(Import(t, node.lineno, in_function, for_types) for t in _targets(module, node, modules))
        inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        guard = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for child in ast.iter_child_nodes(node):
            visit(child, inside, for_types or (guard and child in node.body))

    visit(ast.parse(source), False, False)
    return found


def _targets(module: str, node: ast.Import | ast.ImportFrom, modules: frozenset[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = node.module or ""
    if node.level:
        package = module if any(m.startswith(f"{module}.") for m in modules) else module.rpartition(".")[0]
        above = package.split(".")[: len(package.split(".")) - (node.level - 1)]
        base = ".".join([*above, base] if base else above)
    for alias in node.names:
        deeper = f"{base}.{alias.name}"
        yield deeper if any(m == deeper or m.startswith(f"{deeper}.") for m in modules) else base


def is_ours(target: str) -> bool:
    """Whether a module belongs to the package."""
    return target == PACKAGE or target.startswith(f"{PACKAGE}.")


def breaches_of_rooms(sources: Sources) -> list[str]:
    """Imports that point sideways or upwards, and rooms that nobody planned."""
    modules, found = frozenset(sources), []
    for module, source in sources.items():
        room = room_of(module)
        if room not in BELOW:
            found.append(f"{module}: {room!r} is not a room of the house")
            continue
        for entry in imports_of(module, source, modules):
            if is_ours(entry.target) and room_of(entry.target) not in BELOW[room] | {room}:
                found.append(f"{module}:{entry.line}: {room} imports {entry.target}")
    return found


def breaches_of_time(sources: Sources) -> list[str]:
    """Our own modules imported late, extras imported early, modules loaded by name outside of the resolver."""
    modules, found = frozenset(sources), []
    for module, source in sources.items():
        for entry in imports_of(module, source, modules):
            top = entry.target.split(".")[0]
            if is_ours(entry.target) and entry.in_function:
                found.append(f"{module}:{entry.line}: imports {entry.target} inside a function")
            if top in LATE and not entry.in_function and not entry.for_types:
                found.append(f"{module}:{entry.line}: imports {top} at module level")
        if room_of(module) not in RESOLVERS and module != KERNEL_LOADER:
            found += [f"{module}:{line}: loads a module by name" for line in _loads_by_name(source)]
    return found


def _loads_by_name(source: str) -> list[int]:
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and re.search(r"(^|\.)(import_module|__import__)$", ast.unparse(node.func))
    ]


def breaches_of_kernels(sources: Sources) -> list[str]:
    """Numba outside of the kernels; anything but numpy, numba, math and themselves inside."""
    modules, found = frozenset(sources), []
    for module, source in sources.items():
        kernel = module == KERNELS or module.startswith(f"{KERNELS}.")
        for entry in imports_of(module, source, modules):
            top = entry.target.split(".")[0]
            if top == "numba" and not kernel:
                found.append(f"{module}:{entry.line}: imports numba")
            if kernel and top not in KERNEL_IMPORTS and not entry.target.startswith(KERNELS):
                found.append(f"{module}:{entry.line}: a kernel imports {entry.target}")
    return found


def cycles(sources: Sources) -> list[str]:
    """Files that reach themselves through their imports, one entry for each file on such a way."""
    modules = frozenset(sources)
    edges = {
        module: {e.target for e in imports_of(module, source, modules) if e.target in modules and e.target != module}
        for module, source in sources.items()
    }

    def reach(start: str) -> set[str]:
        seen, stack = set(), list(edges[start])
        while stack:
            here = stack.pop()
            if here not in seen:
                seen.add(here)
                stack.extend(edges[here])
        return seen

    return [f"{module}: imports itself in a circle" for module in sorted(modules) if module in reach(module)]


def table_entries(source: str) -> list[tuple[int, str]]:
    """Line and text of each ``'hopline.module:function'``."""
    return [
        (node.lineno, node.value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and TABLE_ENTRY.fullmatch(node.value)
    ]


def breaches_of_tables(sources: Sources) -> list[str]:
    """Entries that name nothing, or something that their file might not import either."""
    found = []
    for module, source in sources.items():
        room = room_of(module)
        for line, entry in table_entries(source):
            name, function = entry.split(":")
            if not _defines(sources.get(name), function):
                found.append(f"{module}:{line}: {entry} does not resolve")
            elif room_of(name) not in BELOW.get(room, frozenset()) | {room}:
                found.append(f"{module}:{line}: {room} names {entry}")
    return found


def _defines(source: str | None, name: str) -> bool:
    if source is None:
        return False
    return any(
        (isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name)
        or (isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets))
        or (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name)
        for node in ast.parse(source).body
    )


def breaches_of_opening(sources: Sources) -> list[str]:
    """Modules that do not open with what belongs in them."""
    return [f"{module}: no docstring" for module, source in sources.items() if not ast.get_docstring(ast.parse(source))]


CHECKS = (
    breaches_of_rooms, breaches_of_time, breaches_of_kernels, cycles, breaches_of_tables, breaches_of_opening,
)  # fmt: skip


def package() -> dict[str, str]:
    """Dotted name -> text of every file of the package."""
    out = {}
    for file in sorted(ROOT.rglob("*.py")):
        parts = (PACKAGE, *file.relative_to(ROOT).with_suffix("").parts)
        out[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file.read_text(encoding="utf-8")
    return out


CLEAN = {
    "hopline": '"""Package."""\nfrom hopline.jobs.transfer import cost\n',
    "hopline.errors": '"""Errors."""\n',
    "hopline.quantity": '"""Quantities."""\nfrom hopline.errors import E\n',
    "hopline.curve": '"""Curves."""\nfrom hopline.quantity import exact\n',
    "hopline.machine": '"""Machines."""\n',
    "hopline.machine.parts": '"""Parts."""\nfrom hopline.curve import Curve\n',
    "hopline.machine.files": '"""Files."""\nfrom importlib import resources\nfrom . import parts\n',
    "hopline.records": '"""Records."""\nfrom hopline.errors import E\n',
    "hopline.scenario": '"""Scenario."""\nfrom hopline.machine.parts import Link\n',
    "hopline.model": '"""Model."""\n',
    "hopline.model.p2p": '"""p2p."""\nimport numpy\nfrom hopline.machine import parts\nfrom hopline import scenario\n',
    "hopline.formats.kinds": '"""Kinds."""\nTABLE = {"a": "hopline.formats.read:read"}\n',
    "hopline.formats.read": '"""Read."""\ndef read(): ...\n',
    "hopline.run.mpi": '"""MPI."""\ndef go():\n    from mpi4py import MPI\n',
    "hopline.show.text": '"""Text."""\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import rich\n',
    "hopline.study": '"""Study."""\n',
    "hopline.sim.kernels": '"""Kernels."""\n',
    "hopline.sim.loading": '"""L."""\nfrom importlib import import_module\nK = import_module("hopline.sim.kernels.queue")\n',
    "hopline.sim.kernels.queue": '"""Queue."""\nfrom __future__ import annotations\nimport math\nimport numpy as np\n'
    "from numba import njit\nfrom hopline.sim import kernels\n",
    "hopline.jobs.transfer": '"""Job."""\nfrom importlib import import_module\nfrom hopline.model.p2p import x\n'
    'def cost():\n    import_module("hopline.model.p2p")\n',
    "hopline.cli.main": '"""CLI."""\nfrom hopline import jobs\nCOMMANDS = {"p2p": "hopline.cli.p2p:run"}\n',
    "hopline.cli.p2p": '"""Command."""\nfrom hopline.jobs import transfer\nfrom hopline.show import text\n'
    "def run(): ...\n",
}
"""A small house that keeps the rule, to plant breaches in."""

PLANTED = {
    "a noun imports a verb": ("@machine.parts", "from @model import p2p", "machine imports @model.p2p"),
    "a noun imports a noun": ("@records", "import @machine.parts", "records imports @machine.parts"),
    "a noun imports the scenario": ("@machine", "from hopline import scenario", "machine imports @scenario"),
    "a verb imports a verb": ("@model.p2p", "from @formats.read import read", "model imports @formats"),
    "a verb imports a verb's room": ("@model.p2p", "from hopline import study", "model imports @study"),
    "a verb imports a job": ("@model.p2p", "from @jobs.transfer import cost", "model imports @jobs"),
    "a job imports the edge": ("@jobs.transfer", "from @cli import main", "jobs imports @cli.main"),
    "quantity imports machine": ("@quantity", "from @machine import parts", "quantity imports"),
    "quantity imports curve": ("@quantity", "from @curve import Curve", "quantity imports @curve"),
    "errors imports anything": ("@errors", "from @quantity import size", "errors imports @quantity"),
    "the scenario imports a verb": ("@scenario", "from @model.p2p import x", "scenario imports"),
    "a verb imports the package": ("@model.p2p", "import hopline", "model imports hopline"),
    "relative and sideways": ("@model.p2p", "from ..formats.read import read", "model imports @formats.read"),
    "for types only, yet sideways": (
        "@model.p2p",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from @formats.read import read", "model imports"),
    "hidden in try": (
        "@model.p2p",
        "try:\n    from @formats import read\nexcept ImportError:\n    pass", "model imports @formats.read"),
    "a room nobody planned": ("@utils.text", '"""Utils."""', "'utils' is not a room"),
    "ours in a function": ("@cli.p2p", "def late():\n    from @model import p2p", "inside a function"),
    "ours in a method": ("@cli.p2p", "class A:\n    def f(self):\n        import @errors", "inside a function"),
    "by name": ("@model.p2p", "import importlib\nM = importlib.import_module('@cli.main')", "by name"),
    "by built-in": ("@model.p2p", "def f():\n    return __import__('json')", "loads a module by name"),
    "by name in a verb that has a loader": ("@sim.engine", '"""E."""\nM = __import__("numba")', "loads a module by name"),
    "mpi4py early": ("@run.mpi", "from mpi4py import MPI", "imports mpi4py at module level"),
    "mpi4py in a class body": ("@run.mpi", "class A:\n    import mpi4py.MPI", "imports mpi4py at module level"),
    "torch early": ("@run.mpi", "import torch.distributed", "imports torch at module level"),
    "vl_convert early": ("@show.text", "if True:\n    import vl_convert", "imports vl_convert at module level"),
    "rich early": ("@show.text", "from rich.table import Table", "imports rich at module level"),
    "numba elsewhere": ("@sim.engine", '"""E."""\nimport numba', "@sim.engine:2: imports numba"),
    "numba late elsewhere": ("@model.p2p", "def f():\n    from numba import njit", "imports numba"),
    "a kernel imports ours": ("@sim.kernels.queue", "from @errors import E", "a kernel imports @errors"),
    "a kernel imports others": ("@sim.kernels.queue", "import random", "a kernel imports random"),
    "a circle of two": ("@machine.parts", "from @machine.files import load", "machine.parts: imports itself"),
    "an entry without a file": ("@cli.main", 'T = "@cli.gone:run"', "@cli.gone:run does not resolve"),
    "an entry without a function": ("@cli.main", 'T = ["@cli.p2p:walk"]', "p2p:walk does not resolve"),
    "an entry points sideways": ("@study", 'T = "@formats.read:read"', "study names @formats.read:read"),
    "no opening": ("@cli.fit", "import json", "@cli.fit: no docstring"),
    "an empty file": ("@cli", "", "@cli: no docstring"),
}  # fmt: skip
"""Breach -> (module, what is added to it, what the check must say); ``@`` stands for ``hopline.``."""


def breaches(sources: Sources) -> list[str]:
    return [breach for check in CHECKS for breach in check(sources)]


def test_a_clean_house_has_no_breach():
    assert breaches(CLEAN) == []


@pytest.mark.parametrize(("module", "added", "said"), PLANTED.values(), ids=PLANTED)
def test_a_planted_breach_is_found(module, added, said):
    module, added, said = (text.replace("@", "hopline.") for text in (module, added, said))
    found = breaches({**CLEAN, module: f"{CLEAN.get(module, '')}{added}\n"})
    assert any(said in breach for breach in found), found


def test_a_package_that_names_its_own_files_makes_no_circle():
    own = '"""Machines."""\nfrom hopline.machine.files import load\nfrom . import files\n'
    assert breaches({**CLEAN, "hopline.machine": own}) == []


def test_a_circle_of_three_names_all_of_it():
    ring = {f"hopline.model.{a}": f'"""M."""\nfrom hopline.model import {b}\n' for a, b in ("ab", "bc", "ca")}
    assert [c.split(":")[0] for c in cycles(ring)] == sorted(ring)


def test_a_job_may_import_verbs_and_an_edge_may_import_all_below():
    more = {"hopline.cli.fit": '"""F."""\nfrom hopline import errors, quantity, records, scenario, study, jobs, show\n'}
    assert breaches_of_rooms(CLEAN | more) == []


def test_cli_and_page_do_not_know_each_other():
    more = {"hopline.page.app": '"""P."""\nfrom hopline.cli.main import run\n'}
    assert breaches_of_rooms(CLEAN | more) == ["hopline.page.app:2: page imports hopline.cli.main"]


# --- the package itself -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_package_keeps_the_rule(check):
    assert check(package()) == []


def test_the_whole_package_was_read():
    assert {"hopline", "hopline.errors", "hopline.model.chunks", "hopline.machine.files"} <= set(package())


def test_tables_load():
    for source in package().values():
        for _, entry in table_entries(source):
            module, name = entry.split(":")
            assert callable(getattr(importlib.import_module(module), name)), entry


def test_public_names_are_few_and_load():
    assert len(hopline.__all__) <= 15
    for name in hopline.__all__:
        assert getattr(hopline, name) is not None, name
    with pytest.raises(AttributeError, match="nothing_such"):
        _ = hopline.nothing_such
