"""When batch scripts really ended, from the nodes' own logs.

The controller writes down a job's end when it hears of it. If it was away, that is later than the
end, in the record of the job and of every step of it; only the node knows better. At the level
``verbose`` its daemon logs the exit of every task.

Rules:

- Only the batch script counts: when it exits, the job is over. Other steps may end long before.
- A log's times without a zone are this machine's; ``LogTimeFormat=rfc5424_ms`` puts the zone in.
- A node's log is ``NODE.log``, ``slurmd-NODE.log`` or ``NODE/slurmd.log`` in the folder.

>>> line = "[2026-11-15T11:51:11.707+00:00] [7.batch] task 0 (23077) exited with exit code 0."
>>> parse_exit(line)
(7, 1794743471707)
>>> parse_exit("[2026-11-15T11:51:17.719] [7.batch] done with job") is None
True
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

LINE_CHARS_MAX: Final = 65_536
_EXIT = re.compile(
    r"\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3,6})?(?:Z|[+-]\d\d:\d\d)?)\] "
    r"\[(\d{1,12})\.batch\] task \d+ \(\d+\) exited"
)


def parse_exit(line: str) -> tuple[int, int] | None:
    """The job whose batch script ended with this line, and when."""
    found = _EXIT.match(line)
    if found is None:
        return None
    return int(found[2]), round(datetime.fromisoformat(found[1]).timestamp() * 1000)


def read_exits(folder: Path, nodes: Iterable[str]) -> dict[str, tuple[tuple[int, int], ...]]:
    """The exits in the logs of those nodes that have one, by node."""
    found = {}
    for node in nodes:
        names = (f"{node}.log", f"slurmd-{node}.log", f"{node}/slurmd.log")
        path = next((folder / name for name in names if (folder / name).is_file()), None)
        if path is not None:
            told = (parse_exit(line) for line in _lines(path))
            found[node] = tuple(each for each in told if each is not None)
    return found


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", errors="replace") as file:
        while line := file.readline(LINE_CHARS_MAX):
            yield line
