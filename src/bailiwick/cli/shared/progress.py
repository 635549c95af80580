"""Progress on stderr: to a terminal only, and only when the work takes over two seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

PROGRESS_AFTER_S = 2.0


@contextmanager
def progress(total: int) -> Iterator[Callable[[str], None]]:
    """A bar on stderr that appears once the work has taken two seconds."""
    import threading

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task("running", total=total)
    timer = threading.Timer(PROGRESS_AFTER_S, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda text: bar.update(task, advance=1, description=text)
    finally:
        timer.cancel()
        timer.join()  # it may be starting the bar at this moment
        bar.stop()
