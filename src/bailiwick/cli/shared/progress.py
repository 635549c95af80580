"""Progress on stderr: to a terminal only, and only when the work takes over two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import typer

from bailiwick.tools.reporter import Reporter

PROGRESS_AFTER_S = 2.0
_BLOCK_BYTES = 2**20


@contextmanager
def progress(total: int) -> Iterator[Callable[[str], None]]:
    """A bar of so many steps; each is told with what it was."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

    described = TextColumn("{task.description}")
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), described)
    with _bar("running", total, *columns) as update:
        yield lambda text: update(advance=1, description=text)


@contextmanager
def _counted(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar that is told how far the work is."""
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with _bar(what, total, *columns) as update:
        yield lambda done: update(completed=done)


@contextmanager
def _lines(path: Path) -> Iterator[Iterator[bytes]]:
    """The lines of a file, none where there is no file, with a bar that follows them."""
    from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn

    from bailiwick.store import read_lines

    lines = read_lines(path) if path.exists() else iter(())
    size = path.stat().st_size if path.exists() else 0
    columns = (BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with _bar("reading", size, *columns) as update:

        def followed() -> Iterator[bytes]:
            done = 0
            for line in lines:
                yield line
                done += len(line)
                if done > _BLOCK_BYTES:
                    update(advance=done)
                    done = 0

        yield followed()


@contextmanager
def patience() -> Iterator[Callable[[str], None]]:
    """Tell a person at a terminal what takes so long."""
    from rich.console import Console

    console = Console(stderr=True)
    if not sys.stderr.isatty():  # whatever FORCE_COLOR says: a log is no terminal
        yield lambda text: None
        return
    status = console.status("reading")
    with _late(status.start, status.stop):
        yield status.update


@contextmanager
def _bar(what: str, total: int, *columns: Any) -> Iterator[Callable[..., None]]:
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not sys.stderr.isatty():  # whatever FORCE_COLOR says: a log is no terminal
        yield lambda **_: None
        return
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(what, total=total)
    with _late(bar.start, bar.stop):
        yield lambda **told: bar.update(task, **told)


@contextmanager
def _late(start: Callable[[], None], stop: Callable[[], None]) -> Iterator[None]:
    """Start something once the work has taken its time."""
    import threading

    timer = threading.Timer(PROGRESS_AFTER_S, start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()  # it may be starting at this moment
        stop()


class NowAndThen:
    """Lines about work that takes long, one a second at most."""

    def __init__(self) -> None:
        self._begin = self._told = time.monotonic()

    def __call__(self, text: str) -> None:
        if not sys.stderr.isatty():
            return
        now = time.monotonic()
        if now - self._begin > PROGRESS_AFTER_S and now - self._told > 1:
            self._told = now
            typer.echo(text, err=True)


def _warn(text: str) -> None:
    typer.echo(f"bailiwick: {text}", err=True)


SCREEN: Final = Reporter(_warn, _counted, _lines)
"""Tells a person at a terminal how far a tool is."""
