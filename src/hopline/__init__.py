"""hopline: what moving data costs on an AI cluster, why, and what to change.

What belongs here: the public names. A name is imported when it is first used, so that ``import hopline`` is quick.
"""

from importlib import import_module

__version__ = "0.1.0"

_PUBLIC = {
    "Curve": "hopline.curve",
    "HoplineError": "hopline.errors",
    "Machine": "hopline.machine.topology",
    "Transfer": "hopline.jobs.transfer",
    "cost": "hopline.jobs.transfer",
    "best_chunks": "hopline.jobs.notebook",
    "check": "hopline.jobs.notebook",
    "expect": "hopline.jobs.notebook",
    "find_machine": "hopline.jobs.notebook",
    "fit": "hopline.jobs.notebook",
    "p2p": "hopline.jobs.notebook",
    "machine_route": "hopline.jobs.routes",
    "plain_route": "hopline.jobs.routes",
    "read_log": "hopline.jobs.notebook",
}
__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> object:
    """The public name, from the module that holds it."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'hopline' has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)
