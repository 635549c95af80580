"""What the journal's commands put on a screen: tables, and progress over a long file.

Rules:

- Text from a record never steers the terminal: what is not printable is spelled out.
- Progress goes to stderr, to a terminal only, and only when the work takes over two seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bailiwick.cli.shared.progress import PROGRESS_AFTER_S

WIDTH_IN_A_FILE = 200
_BLOCK_BYTES = 2**20


def print_table(headings: Iterable[str], rows: Iterable[tuple[str, ...]]) -> None:
    """Print rows under headings; wide where no terminal sets the width."""
    from rich.console import Console

    from bailiwick.cli.shared.screen import print_rows

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(width=WIDTH_IN_A_FILE, highlight=False)
    shown = [tuple(_printable(cell) for cell in row) for row in rows]
    print_rows(console, [*headings], rows=shown, numbers=("seq",))


def _printable(text: str) -> str:
    """Text from a record in one line, without what could steer a terminal."""
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in text)


@contextmanager
def watched(path: Path) -> Iterator[Iterator[bytes]]:
    """The lines of a file, none where there is no file, with a bar that follows them."""
    import threading

    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    from bailiwick.store import read_lines

    lines = read_lines(path) if path.exists() else iter(())
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lines
        return
    bar = Progress(
        BarColumn(), DownloadColumn(), TimeRemainingColumn(), console=console, transient=True
    )
    task = bar.add_task("reading", total=path.stat().st_size if path.exists() else 0)

    def counted() -> Iterator[bytes]:
        done = 0
        for line in lines:
            yield line
            done += len(line)
            if done > _BLOCK_BYTES:
                bar.update(task, advance=done)
                done = 0

    timer = threading.Timer(PROGRESS_AFTER_S, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield counted()
    finally:
        timer.cancel()
        timer.join()  # it may be starting the bar at this moment
        bar.stop()
