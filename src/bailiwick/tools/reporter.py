"""Whom a tool tells how far it is, and what a person should know meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Step: TypeAlias = Callable[[int], None]
"""Told how far the work is."""


@contextmanager
def _no_progress(what: str, total: int) -> Iterator[Step]:
    yield lambda done: None


@contextmanager
def _plain_lines(path: Path) -> Iterator[Iterator[bytes]]:
    from bailiwick.store import read_lines

    yield read_lines(path) if path.exists() else iter(())


@dataclass(frozen=True, slots=True)
class Reporter:
    """Who listens; by default nobody."""

    warn: Callable[[str], None] = lambda text: None
    progress: Callable[[str, int], AbstractContextManager[Step]] = _no_progress
    lines: Callable[[Path], AbstractContextManager[Iterator[bytes]]] = _plain_lines
    """The lines of a file, none where there is no file, while somebody watches them go by."""


SILENT = Reporter()
