"""The hot path: tables of nodes and leases, and the searches over them, on integer handles.

There are two engines with one behaviour, checked decision by decision against each other:
:class:`~bailiwick.scheduler.engine.pure.PureEngine` (the readable reference, always there) and a
compiled twin (``compiled/*.c``, used when it was built). Objects exist only outside, in the ledger.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from bailiwick.scheduler.engine.protocol import Engine
from bailiwick.scheduler.engine.pure import PureEngine
from bailiwick.vocab.errors import InvalidValue

_compiled: ModuleType | None
try:
    _compiled = import_module("bailiwick.scheduler.engine._compiled")
except ImportError:  # not built here: the pure twin makes the same decisions, more slowly
    _compiled = None

__all__ = ["Engine", "PureEngine", "has_compiled", "new_engine"]


def has_compiled() -> bool:
    """Whether the compiled twin can be used."""
    return _compiled is not None


def new_engine(which: str = "auto") -> Engine:
    """An empty engine: ``auto`` (compiled if built), ``compiled`` or ``pure``."""
    if which not in ("auto", "compiled", "pure"):
        raise InvalidValue("engine", which, "auto, compiled or pure")
    if which == "compiled" and _compiled is None:
        raise InvalidValue("engine", which, "auto or pure: the compiled core is not built here")
    if which == "pure" or _compiled is None:
        return PureEngine()
    engine: Engine = _compiled.Engine()
    return engine
