"""Reads the journal, and work that ended, for people: what is new becomes rows.

Rules:

- Records are read once, in order, from where the rows say. What they mean is written with the
  place, so a restart or a new leader tells nothing twice and leaves nothing out.
- A budget is told of as :mod:`bailiwick.services.notices.told_once` says: how far it was, is
  written with the place, too.
- Who asked for a lease is looked up when it is told to go: its job's submitter, else who stands in
  the records about it. Where the past is not folded that far yet, the reading waits for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from bailiwick.iam import Directory, Scope, is_reserved
from bailiwick.ports import Clock
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.services.apps.events import name_of
from bailiwick.services.notices.tidings import (
    Line,
    may_matter,
    passes_through,
    read_ended,
    read_line,
    recipients,
)
from bailiwick.services.notices.told_once import OF_BUDGETS, told_after
from bailiwick.store.history.questions import lease_of, records_about
from bailiwick.store.job_rows import JobBook
from bailiwick.store.notices.post import NoticePost, Post
from bailiwick.store.notices.told import Tiding, ToldBudget
from bailiwick.store.sql_store import SqlStore

PAGE: Final = 1_000
ENDED_MAX: Final = 200
"""Records, and ends of jobs (or arrays, or graphs), that are taken up at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeSources:
    """Where news comes from."""

    runner: Runner
    store: SqlStore
    jobs: JobBook
    post: NoticePost
    clock: Clock
    fold: Callable[[], None]
    """Has the past be folded as far as the journal goes; raises ``Unavailable`` if it is not."""


class NoticeReader:
    """Turns what happened into posts; one at a time."""

    def __init__(self, sources: NoticeSources) -> None:
        self._sources = sources
        self._next: int | None = None
        self._journal = ""

    def read_on(self) -> bool:
        """Take up some of what is new; whether there may be more."""
        runner, post = self._sources.runner, self._sources.post
        size = runner.lines.size
        if size == 0:
            return False  # the replica is still reading the store
        if self._next is None:
            self._journal = name_of(runner.lines.read(0, 1)[0])
            self._next = post.begin(size)
        first, self._next = self._next, None  # asked for again, if anything fails
        read = runner.lines.read(first, PAGE + 1) if first < size else []
        lines = read[:PAGE]
        each_with_next = zip_longest(lines, read[1 : PAGE + 1], fillvalue=b"")
        budgets: dict[Scope, ToldBudget] = {}
        told = [self._tiding(*two, budgets) for two in each_with_next if may_matter(two[0])]
        end, now_ms = first + len(lines), self._sources.clock.now_ms()
        if lines:
            posts = self._posts([t for t in told if t])
            post.take(first, end, posts=posts, now_ms=now_ms, budgets=budgets)
        self._next = end
        return end < size

    def read_ended(self) -> bool:
        """Take up some work that ended; whether there may be more."""
        post, now_ms = self._sources.post, self._sources.clock.now_ms()
        found = post.ended(ENDED_MAX)
        if not found or not self._journal:
            return False
        told = [read_ended(work, journal=self._journal, now_ms=now_ms) for work in found]
        post.tell_ended(found, posts=self._posts(told), now_ms=now_ms)
        return len(found) >= ENDED_MAX

    def _tiding(self, line: bytes, after: bytes, budgets: dict[Scope, ToldBudget]) -> Tiding | None:
        found = json.loads(line)
        if passes_through(found, json.loads(after) if may_matter(after) else None):
            return None
        if found["kind"] in OF_BUDGETS and not self._is_news(found, budgets):
            return None
        return read_line(found, journal=self._journal, holder=self._holder)

    def _is_news(self, record: Line, budgets: dict[Scope, ToldBudget]) -> bool:
        """Whether people do not know yet what a record says of a budget; from now on they do."""
        scope = Scope(record.get("tenant"), record.get("project"))
        before = budgets[scope] if scope in budgets else self._sources.post.told_of(scope)
        budgets[scope] = told_after(record, before)
        return budgets[scope].level > before.level

    def _posts(self, tidings: list[Tiding]) -> list[Post]:
        if not tidings:
            return []

        def read(view: View) -> list[Post]:
            directory: Directory = view.state.directory
            return [Post(each, recipients(each, directory)) for each in tidings]

        return [post for post in self._sources.runner.read(read) if post.people]

    def _holder(self, lease_id: int) -> str | None:
        """Who asked for a lease."""
        for job in self._sources.jobs.of_leases([lease_id]):
            return job.submitter
        self._sources.fold()
        lease = lease_of(self._sources.store, lease_id)
        if lease is None:
            return None
        first = records_about(self._sources.store, lease, after=-1, limit=2)
        actors = (str(json.loads(line)["actor"]) for line in first)
        return next((actor for actor in actors if not is_reserved(actor)), None)
