"""The line that is kept as entries come and go stands as one that is sorted anew each time."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from bailiwick.kernel.work.usage import RunningShares
from bailiwick.scheduler.backfill.lanes import Aging
from bailiwick.scheduler.backfill.promises import Promise
from bailiwick.scheduler.backfill.rules import LineRules
from bailiwick.scheduler.fairness import QueueEntry, Scope
from bailiwick.scheduler.queue import FairQueue
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.words import PRIORITIES, Priority
from tests.support.naive_line import naive_order, naive_rank

TENANTS = st.sampled_from(["a", "b", "c", "d"])
PROJECTS = st.sampled_from([None, None, "p", "q"])
# Usage is refreshed at every reading, every 20 ms, and every second.
HALF_LIVES = st.sampled_from([50, 2_000, 10**5])
requests = st.builds(
    PlacementRequest,
    tenant=TENANTS,
    project=PROJECTS,
    priority=st.sampled_from(PRIORITIES),
    cpu_cores=st.sampled_from([1, 16, 48]),
    gang_size=st.sampled_from([1, 1, 2]),
    ttl_ms=st.integers(1, 30),
)
agings = st.builds(
    Aging,
    step_ms=st.sampled_from([1, 7, 40]),
    steps_max=st.integers(0, 3),
    ceiling=st.sampled_from(PRIORITIES),
)


class LineMachine(RuleBasedStateMachine):
    """The line against a plain list that is sorted anew."""

    @initialize(
        aging=agings,
        patience_ms=st.sampled_from([3, 25, 10**6]),
        half_life_ms=HALF_LIVES,
        reads_often=st.booleans(),
    )
    def open(self, aging: Aging, patience_ms: int, half_life_ms: int, reads_often: bool) -> None:
        self.shares, self.aging = RunningShares(half_life_ms), aging
        self.changed_ms: dict[Scope, int] = {}
        self.running: dict[tuple[str, str | None], int] = {}
        self.rules = LineRules(patience_ms=patience_ms, aging=aging)
        self.line = FairQueue(self.shares, self.rules)
        self.waiting: dict[int, QueueEntry] = {}
        self.short: dict[int, int] = {}
        self.favoured: dict[Priority, int] = {}
        self.holders: dict[int, None] = {}
        self.now_ms, self.reads_often = 0, reads_often

    @rule(several=st.lists(requests, min_size=1, max_size=8), early_ms=st.integers(0, 5))
    def join(self, several: list[PlacementRequest], early_ms: int) -> None:
        # A clock that goes back a little makes an entry older than those before it.
        for request in several:
            entry = self.line.join(request, max(self.now_ms - early_ms, 0))
            self.waiting[entry.id] = entry

    @rule(pick=st.integers(0, 99))
    def leave(self, pick: int) -> None:
        if self.waiting:
            entry = self.waiting.pop(list(self.waiting)[pick % len(self.waiting)])
            self.line.leave(entry)
            self.step_back(entry)

    @rule(ms=st.integers(0, 30), again_ms=st.integers(0, 30))
    def pass_time(self, ms: int, again_ms: int) -> None:
        # Read in between, so that nothing but time is new to what is read at the end.
        self.now_ms += ms
        self.read()
        self.now_ms += again_ms
        self.read()

    @rule(
        tenant=TENANTS,
        project=PROJECTS,
        amount=st.sampled_from([1, 10**3, 10**6]),
        late_ms=st.sampled_from([0, 0, 9]),
    )
    def charge(self, tenant: str, project: str | None, amount: int, late_ms: int) -> None:
        at_ms = max(self.now_ms - late_ms, 0)
        self.shares.charge(tenant, amount, now_ms=at_ms, project=project)
        self.usage_changed(tenant, project, at_ms)

    @rule(tenant=TENANTS, project=PROJECTS, rate=st.sampled_from([1, 50, 10**4]))
    def start(self, tenant: str, project: str | None, rate: int) -> None:
        self.shares.change(tenant, project, rate=rate, now_ms=self.now_ms)
        self.usage_changed(tenant, project, self.now_ms)
        rates = self.running.get((tenant, project), 0)
        self.running[tenant, project] = rates + rate

    @rule(pick=st.integers(0, 99), lost_ms=st.sampled_from([None, 0, 3]))
    def end(self, pick: int, lost_ms: int | None) -> None:
        if not self.running:
            return
        (tenant, project), rate = list(self.running.items())[pick % len(self.running)]
        since_ms = self.changed_ms[tenant, project or ""]
        until_ms = None if lost_ms is None else max(self.now_ms - lost_ms, since_ms)
        self.shares.change(tenant, project, rate=-rate, now_ms=self.now_ms, until_ms=until_ms)
        self.usage_changed(tenant, project, self.now_ms)
        del self.running[tenant, project]

    def usage_changed(self, tenant: str, project: str | None, at_ms: int) -> None:
        for scope in ((tenant,), (tenant, project or "")):
            self.changed_ms[scope] = max(self.changed_ms.get(scope, 0), at_ms)

    @rule(tenant=TENANTS, project=PROJECTS, share=st.sampled_from([1, 2, 1_000]))
    def give_share(self, tenant: str, project: str | None, share: int) -> None:
        self.shares.set_share(tenant, share, project=project)

    @rule(aging=agings)
    def change_rules(self, aging: Aging) -> None:
        self.aging = aging
        self.rules = self.line.rules = replace(self.rules, aging=aging)

    def pick(self, pick: int) -> QueueEntry | None:
        entries = list(self.waiting.values())
        return entries[pick % len(entries)] if entries else None

    @rule(pick=st.integers(0, 99), how=st.sampled_from(["short", "turn", "back", "kept", "lost"]))
    def look_at(self, pick: int, how: str) -> None:
        entry = self.pick(pick)
        if entry is None:
            return
        match how:
            case "short":
                self.line.mark_short(entry, self.now_ms)
                self.short.setdefault(entry.id, self.now_ms)
            case "turn":
                if self.overdue(entry.request.priority) == entry.id:
                    self.favoured[entry.request.priority] = self.now_ms
                self.short.pop(entry.id, None)
                self.short[entry.id] = self.now_ms
                self.line.had_turn(entry, self.now_ms)
            case "back":
                self.line.step_back(entry)
                self.step_back(entry)
            case "kept":
                self.line.promise(Promise(entry, self.now_ms, ("n",)), self.now_ms, overdue=False)
                self.holders[entry.id] = None
            case "lost":
                self.line.lose(entry, self.now_ms, until_ms=self.now_ms + 9)
                self.step_back(entry)
                self.short[entry.id] = self.now_ms
                stays = naive_rank(entry, self.aging, self.now_ms)
                raised = naive_rank(entry, self.aging, self.now_ms + 8) > stays
                assert self.line.may_hold(entry, self.now_ms + 8) == raised
                assert self.line.may_hold(entry, self.now_ms + 9)

    def step_back(self, entry: QueueEntry) -> None:
        self.short.pop(entry.id, None)
        self.holders.pop(entry.id, None)

    def overdue(self, priority: Priority) -> int | None:
        """Who of the priority has been short for longest, if for long enough."""
        for entry_id, since_ms in self.short.items():
            if self.waiting[entry_id].request.priority is priority:
                waited_ms = self.now_ms - max(since_ms, self.favoured.get(priority, 0))
                return entry_id if waited_ms >= self.rules.patience_ms else None
        return None

    def front(self) -> dict[int, list[QueueEntry]]:
        found: dict[int, list[QueueEntry]] = {}
        for entry_id in self.holders:
            self.place(found, entry_id)
        for priority in reversed(PRIORITIES):
            entry_id = self.overdue(priority)
            if entry_id is not None and entry_id not in self.holders:
                self.place(found, entry_id)
        return found

    def place(self, front: dict[int, list[QueueEntry]], entry_id: int) -> None:
        entry = self.waiting[entry_id]
        front.setdefault(naive_rank(entry, self.aging, self.now_ms), []).append(entry)

    def sorted_anew(self) -> list[int]:
        how: dict[str, Any] = {"now_ms": self.now_ms, "front": self.front(), "aging": self.aging}
        how["changed_ms"] = self.changed_ms
        return [e.id for e in naive_order(self.waiting.values(), self.shares, **how)]

    @invariant()
    def it_stands_as_if_sorted_anew(self) -> None:
        if self.reads_often:
            self.read()

    def read(self) -> None:
        expected = self.sorted_anew()
        assert [e.id for e in islice(self.line.order(self.now_ms), 3)] == expected[:3]
        assert [entry.id for entry in self.line.order(self.now_ms)] == expected
        for ahead, entry_id in enumerate(expected):
            assert self.line.least_ahead(self.line.entries[entry_id], self.now_ms) <= ahead

    @rule(ms=st.sampled_from([1, 9, 70]))
    def read_as_of_an_earlier_time(self, ms: int) -> None:
        self.read()
        now_ms, self.now_ms = self.now_ms, max(self.now_ms - ms, 0)
        self.read()
        self.now_ms = now_ms
        self.read()

    @invariant()
    def a_newcomer_stands_behind_whoever_stands_as_high(self) -> None:
        ranks = [naive_rank(e, self.aging, self.now_ms) for e in self.waiting.values()]
        for priority in PRIORITIES:
            behind = any(rank >= priority.rank for rank in ranks)
            assert self.line.has_before(priority, self.now_ms) == behind

    @invariant()
    def a_part_goes_round_the_whole_line(self) -> None:
        ids, count = sorted(self.waiting), len(self.waiting) // 2
        for start in range(len(ids)):
            around = [i for i in ids[start:] + ids[:start] if i % 3]
            found = self.line.part(start, count, without={i for i in ids if not i % 3})
            assert [entry.id for entry in found] == around[:count]

    @rule()
    def write_down_and_read_back(self) -> None:
        shares = RunningShares(self.shares.half_life_ms)
        again = FairQueue(shares, self.rules)
        again.load(self.line.dump(), self.line.entries.values())
        assert again.dump() == self.line.dump()
        shares.load(self.shares.dump())
        shares.running = self.shares.running
        assert list(again.order(self.now_ms)) == list(self.line.order(self.now_ms))
        self.line, self.shares = again, shares


TestLineMachine = LineMachine.TestCase
