"""The member's program.

member.pyz run     be a member, in this folder, until told to end
member.pyz ask     pass on a question from stdin to the member in this folder
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from pkgutil import get_data
from typing import Any

from . import question_client
from .door import MemberDoor
from .home import Home, MemberError, write
from .keeper import Keeper
from .leaving import LeaseWatch
from .processes import adopt_orphans


def main() -> None:
    """Be a member, or ask one."""
    word = sys.argv[1] if len(sys.argv) > 1 else ""
    if word == "run":
        sys.exit(run(Path.cwd()))
    if word == "ask":
        question_client.main()
        return
    sys.exit(__doc__)


def run(folder: Path) -> int:
    """Be a member in a folder until told to end; 0 if nothing is left of it."""
    adopt_orphans()
    os.umask(0o077)
    try:
        home = Home(folder)
    except MemberError as refused:
        _say(str(refused))
        return 2
    keeper = Keeper(home, say=_say)

    def end(*_: object) -> None:
        keeper.is_ending = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    _lay_asking(home)
    MemberDoor(home, keeper).open()
    _say("waits to be told what to be")
    worker: list[LeaseWatch] = []

    def look() -> None:
        if not worker and keeper.applied.get("role") == "worker":
            told: dict[str, Any] = keeper.applied
            worker.append(LeaseWatch(home, told["key"], kill_wait_s=told["kill_wait_s"]))
        for each in worker:
            each.look(_say)

    left = keeper.run(look)
    home.wipe_state()
    return 1 if left else 0


def _lay_asking(home: Home) -> None:
    """Have the few lines beside the door by which questions are passed on."""
    source = get_data(__package__, "question_client.py")  # also out of an archive
    assert source is not None  # it was imported from there
    write(home.root / "run/ask.py", source)


def _say(text: str) -> None:
    print(text, flush=True)
