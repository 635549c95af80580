"""What if one thing had been different: the journal, a replay as it was, a replay with the change.

Rules:

- The replay as it was (the control) is held against the journal, record by record. Only if it is
  the same may all of a difference be put down to the change; if not, the report says how far apart
  they are, and what is known to cause that.
- The change is compared with the control, never with the journal: both have the same flaws.
- The assumptions (:data:`ASSUMPTIONS`) are part of the answer.
"""

from __future__ import annotations

from collections import Counter as Bag
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest

from bailiwick.journal.record import encode_json
from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet.events import (
    QuotaChanged,
    SettingsChanged,
    ShareChanged,
)
from bailiwick.kernel.isolation.events import IsolationPolicySet
from bailiwick.kernel.money.events import BudgetChanged, RateCardChanged
from bailiwick.kernel.slices import TOLD_ONLY
from bailiwick.kernel.state import State
from bailiwick.kernel.trust.events import (
    NodeEnrolled,
    NodeEnrolmentWithdrawn,
    PolicyChanged,
)
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.whatif.changes import Change, Changes
from bailiwick.whatif.history import JournalHistory, member_of
from bailiwick.whatif.replay import Replayer, Watch, World
from bailiwick.whatif.tally import Ending, EventTally, Fate, RequestOutcome, Tally

ASSUMPTIONS: tuple[str, ...] = (
    "Requests come when they came, and nobody asks for more, for less or again because of the "
    "change.",
    "Work that its holder gave back runs as long as it ran, from whenever it starts; renewals and "
    "checkpoints keep their distance from the start.",
    "Work that was evicted, lost with its node or never started needs the whole term it asked for, "
    "since nobody knows what it needed.",
    "A request that was admitted at once would have waited; one that was cancelled while it waited "
    "is cancelled at that time only if it still waits.",
    "Operators do what they did, when they did it, to the same nodes and to the same work if it "
    "runs.",
    "Time is looked at when the journal shows it was, and on the same grid where the change makes "
    "something due.",
)
"""What a replay takes for granted, as sentences."""


class MoveWord(StrEnum):
    """How a request fared otherwise, worst first."""

    NEVER_STARTS = "never_starts"
    EVICTED = "evicted"
    STILL_WAITS = "still_waits"
    LATER = "later"
    STARTS = "starts"
    SPARED = "spared"
    EARLIER = "earlier"


@dataclass(frozen=True, slots=True)
class Moved:
    """One request that fared otherwise: its number in the history, and both outcomes."""

    work: int
    word: MoveWord
    delta_ms: int
    """By how much later it starts; 0 where it starts only once."""
    control: RequestOutcome
    changed: RequestOutcome


@dataclass(frozen=True, slots=True)
class Fidelity:
    """Whether the control replay is the journal over again."""

    records: int
    differing: int
    """Records of the journal that the control replay does not have."""
    first_seq: int | None
    """The first record at which they part."""
    leaders: int
    regular: bool
    """Whether the journal's ticks lie on a grid."""
    skipped: Mapping[str, int]

    @property
    def exact(self) -> bool:
        """Every record is the same, in the same order."""
        return self.first_seq is None


@dataclass(frozen=True, slots=True)
class WhatIfReport:
    """Three columns, how far the first two agree, and who fared otherwise."""

    history: JournalHistory
    journal: Tally
    control: World
    changed: World
    fidelity: Fidelity
    changes: tuple[Change, ...]
    idle: tuple[Change, ...]
    """Changes that alter nothing."""
    moved: tuple[Moved, ...]
    """Worst first, and the longest way first."""

    @property
    def same(self) -> bool:
        """Whether the change made no difference to any decision."""
        return _decisions(self.control) == _decisions(self.changed)


def compare(
    history: JournalHistory,
    begin: Callable[[], State],
    *,
    changes: Changes,
    watch: Watch | None = None,
) -> WhatIfReport:
    """Replay twice from the state that ``begin`` makes anew each time, and hold all together."""
    idle = tuple(changes.idle(begin(), history))
    control = Replayer(history, begin()).run(watch)
    changed = Replayer(history, begin(), changes).run(watch)
    moved = [
        move
        for work, before in control.tally.outcomes.items()
        if (move := _move(work, before, changed.tally.outcomes.get(work))) is not None
    ]
    order = list(MoveWord)
    moved.sort(key=lambda m: (order.index(m.word), -abs(m.delta_ms), m.work))
    return WhatIfReport(
        history,
        tally_journal(history, begin()),
        control,
        changed,
        _fidelity(history, control),
        changes.all,
        idle,
        tuple(moved),
    )


def tally_journal(history: JournalHistory, state: State) -> Tally:
    """The sums of the journal as it is; ``state`` is where it begins, and is not changed."""
    lease_works = {i: m.work for i, m in member_of(history.works).items() if i in state.leases}
    counter = EventTally(state, history.start_ms, works=lease_works)
    for number, work in enumerate(history.works):
        if work.seq < history.first and work.entry_id in state.line.entries:
            tenant = str(work.request.tenant)
            counter.entry(work.entry_id, work=number, tenant=tenant, since_ms=work.at_ms)
    for each in history.happened:
        counter.note(each.at_ms, each.event, work=each.work)
    return counter.close(history.end_ms)


def _decisions(world: World) -> list[tuple[int, Event]]:
    """The events that are no rules, and only follow from them."""
    return [each for each in world.events[world.opening :] if not isinstance(each[1], _RULES)]


_RULES = (
    *(SettingsChanged, QuotaChanged, ShareChanged),
    *(RateCardChanged, BudgetChanged),
    *(PolicyChanged, NodeEnrolled, NodeEnrolmentWithdrawn, IsolationPolicySet),
)


def _fidelity(history: JournalHistory, control: World) -> Fidelity:
    told = [h for h in history.happened if type(h.event) not in TOLD_ONLY]
    journal = [_print(h.at_ms, h.event) for h in told]
    replay = [_print(at_ms, event) for at_ms, event in control.events]
    first = None
    for number, (mine, other) in enumerate(zip_longest(journal, replay)):
        if mine != other:
            first = told[min(number, len(told) - 1)].seq if told else history.first
            break
    differing = 0 if first is None else (Bag(journal) - Bag(replay)).total()
    return Fidelity(
        len(journal), differing, first, history.leaders, history.grid.regular, control.skipped
    )


def _print(at_ms: int, event: Event) -> str:
    owner = event.owner
    return f"{at_ms} {event.kind} {owner.tenant} {owner.project} {encode_json(event.body())}"


def _move(work: int, before: RequestOutcome, after: RequestOutcome | None) -> Moved | None:
    """How one request fares otherwise, if it does."""
    if after is None:
        raise InvariantBroken(f"request {work} was asked in one world only")
    word, delta = None, 0
    was, now = before.started_ms, after.started_ms
    if was is not None and now is None:
        # One that only waits longer than the time looked at has not been refused.
        waits = after.fate is Fate.WAITING
        word = MoveWord.STILL_WAITS if waits else MoveWord.NEVER_STARTS
    elif was is None and now is not None:
        word = MoveWord.STARTS
    elif was is not None and now is not None:
        delta = now - was
        evicted = [o.ending is Ending.EVICTED for o in (before, after)]
        if evicted == [False, True]:
            word = MoveWord.EVICTED
        elif delta:
            word = MoveWord.LATER if delta > 0 else MoveWord.EARLIER
        elif evicted == [True, False]:
            word = MoveWord.SPARED
    return None if word is None else Moved(work, word, delta, before, after)
