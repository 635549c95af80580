"""Has the use of a cluster's jobs told, every hour, and jobs found that are nobody's.

Rules:

- What was told, and up to when, is the platform's to say: nothing is kept here. So an operator that
  was killed, or another one, goes on where the last report ended, and no time is told twice.
- Nothing is told while Slurm's controller has not handed everything to its books.
- Of a window with more jobs than an answer can hold, the first half is told, and so on.
- Told once in so long, and so many windows at a time; what is left is told the next time.
- Whatever goes wrong is logged, and tried again later: a cluster is not less well for it.
- That more was told than leases held is found by the platform, and is not charged.
"""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from bailiwick.client import ClientError
from bailiwick.operators.kit import Outdated
from bailiwick.operators.slurm.keys import ClusterKeys
from bailiwick.operators.slurm.questions import MemberAway
from bailiwick.operators.slurm.queue.marks import MarkedJob, NobodysJob
from bailiwick.operators.slurm.queue.use import (
    MARK_FIELDS,
    RUN_FIELDS,
    BookedRun,
    TellingPlan,
    parse_marked,
    parse_runs,
    reports,
)
from bailiwick.operators.slurm.scene import Scene
from bailiwick.vocab.errors import BailiwickError, InvalidValue
from bailiwick.vocab.values import MILLI

WINDOWS_MAX: Final = 24
"""That are told at a time."""
_OUT_CHARS_MAX: Final = 80_000
"""What a member is asked for at most: spelled as JSON it comes through whole, whatever it is."""
OWN_CHARS_MAX: Final = 640_000
"""The same of what Slurm alone wrote."""
_READ_S: Final = 30
_AGAIN_S: Final = 60.0
_SHOWN_MAX: Final = 20
_BACKLOG: Final = re.compile(r"DBD Agent queue size:\s*([0-9]+)")

Asking = Callable[..., dict[str, Any]]


class UseTeller:
    """Tells the use of all clusters of one operator."""

    def __init__(
        self,
        keys: ClusterKeys,
        plan: TellingPlan | None = None,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._keys, self._plan, self._now = keys, plan or TellingPlan(), now
        self._due: dict[int, float] = {}

    @property
    def rest_s(self) -> float:
        """No cluster rests for longer than that."""
        return float(self._plan.every_s)

    def tell(self, scene: Scene, *, is_last: bool = False) -> None:
        """Tell what is to be told by now, if it is time; at its end, all of it."""
        number = scene.instance.instance_id
        if not is_last and time.monotonic() < self._due.get(number, 0.0):
            return
        self._due[number] = time.monotonic() + min(_AGAIN_S, self._plan.every_s)
        try:
            self._tell_windows(scene, is_last=is_last)
        except (ClientError, BailiwickError, MemberAway, Outdated) as error:
            scene.kit.log.warning("use cannot be told yet", error=str(error)[:300])
        if is_last:
            self._due.pop(number, None)

    def _tell_windows(self, scene: Scene, *, is_last: bool) -> None:
        # As the platform says a second is over, and as the machine of the books does.
        born_s = -(-scene.instance.created_ms // MILLI)
        for _ in range(WINDOWS_MAX):
            told = _told_until_s(scene)
            now_s = int(self._now())
            window = self._plan.window(told, born_s=born_s, now_s=now_s, is_last=is_last)
            if window is None:
                return
            runs, window = read_runs(scene.ask_controller, window)
            for unit, quantity, (from_s, to_s) in reports(runs, window, told_until_s=told):
                span = from_s * MILLI, to_s * MILLI
                scene.kit.report_usage(unit, quantity, window=span)
            self._find_nobodys(scene, window)

    def _find_nobodys(self, scene: Scene, window: tuple[int, int]) -> None:
        marks = self._keys.marks(scene.instance.instance_id)
        try:
            whose = {*map(marks.attribute, read_marked(scene.ask_controller, window))}
        except InvalidValue as error:  # a comment that is too long keeps nothing from being told
            scene.kit.log.warning("whose jobs are cannot be read", error=str(error)[:300])
            return
        found = sorted(
            (each for each in whose if isinstance(each, NobodysJob)), key=lambda each: each.job_id
        )
        if found:
            shown = ", ".join(f"{each.job_id} {each.reason}" for each in found[:_SHOWN_MAX])
            scene.kit.log.warning("jobs are nobody's", count=len(found), jobs=shown)


def _told_until_s(scene: Scene) -> dict[str, int]:
    """Up to when each unit was told; a second that was begun is not told again."""
    units = scene.kit.usage().units
    return {each.unit: -(-each.told_until_ms // MILLI) for each in units}


def read_runs(ask: Asking, window: tuple[int, int]) -> tuple[list[BookedRun], tuple[int, int]]:
    """Every run of a window by Slurm's books, and the window: its first part if it has too many."""
    check_whole(ask)
    begin, end = window
    mark = secrets.token_hex(8)
    while True:  # bounded: it is halved each time
        told = read_books(ask, RUN_FIELDS, window=(begin, end), mark=mark, most=OWN_CHARS_MAX)
        if told is not None:
            return parse_runs(told, mark), (begin, end)
        end = half_of(begin, end)


def read_marked(ask: Asking, window: tuple[int, int]) -> Iterator[MarkedJob]:
    """What says whose jobs were that ran in a window; a job may come more than once."""
    (begin, until), mark = window, secrets.token_hex(8)
    end = until
    while begin < until:  # bounded: each time a part of it is done, or halved
        told = read_books(ask, MARK_FIELDS, window=(begin, end), mark=mark)
        if told is None:
            end = half_of(begin, end)
            continue
        yield from parse_marked(told, mark)
        begin, end = end, until


def half_of(begin: int, end: int) -> int:
    """Where the first half of a window ends."""
    if end - begin <= 1:
        raise InvalidValue("sacct", begin, "fewer jobs in one second")
    return begin + (end - begin) // 2


def check_whole(ask: Asking) -> None:
    """Refuse to read books for which something is still on its way."""
    told = _program(ask, "sdiag")
    found = _BACKLOG.search(told)
    if found is None or int(found[1]):
        raise InvalidValue("sdiag", found and found[1], "nothing on its way to the accounting")


def read_books(
    ask: Asking,
    fields: tuple[str, ...],
    *,
    window: tuple[int, int],
    mark: str,
    most: int = _OUT_CHARS_MAX,
) -> str | None:
    """What ``sacct`` writes of a window; nothing if that is too much for one answer."""
    words = ["-aXnPD", f"--delimiter={mark}", "-o", ",".join(fields)]
    begin, end = map(_spell, window)
    told = _program(ask, "sacct", *words, "-S", begin, "-E", end, most=most)
    return told if len(told) < most else None


def _spell(at_s: int) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _program(ask: Asking, *argv: str, most: int = _OUT_CHARS_MAX) -> str:
    question = {"argv": list(argv), "wait_s": _READ_S, "is_exact": True, "most": most}
    told = ask(do="slurm", **question)
    if told["code"] != 0:
        raise InvalidValue(argv[0], str(told["err"])[-200:], "an answer")
    return str(told["out"])
