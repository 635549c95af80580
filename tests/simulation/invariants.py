"""The judge: sees all that became durable and all that anybody was told, and compares.

Rules:

- It never asks the kernel whether the kernel is right: what is durable is folded by
  :mod:`.model`. A second kernel, which only ever replays, gives the digests to compare with.
- Cheap promises are judged after every step, dear ones now and then, and all of them at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bailiwick.journal import Verified, parse_record, verify_lines
from bailiwick.kernel import Answer, Done, Kernel, State, digest_of
from bailiwick.ports import JournalStore
from bailiwick.runtime.rebuild import rebuild
from bailiwick.runtime.replica import View
from bailiwick.scheduler.quota_policy import QuotaScope
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.vocab.words import GENERATIONS
from tests.simulation.model import DIMENSIONS, Key, Model, Scope, Told, Violation, told_by
from tests.support.forbidden_work import forbidden

AHEAD_MS_MAX = 2 * 60_000
"""How far a clock that is believed may be ahead: the drift that is borne, and a little skew."""

Timers = Callable[[], dict[str, int]]


@dataclass(slots=True)
class Judge:
    """Everything that must stay true, and what is needed to tell."""

    timers: Timers
    """What each replica's timer shows now."""
    risk: Callable[[str], bool]
    """Whether the database dies at this point (asked by the database)."""
    true_ms: Callable[[], int]
    """What a clock that is right shows."""
    model: Model = field(default_factory=Model)
    acknowledged: dict[Key, Told] = field(default_factory=dict)
    acknowledgements: int = 0
    views: int = 0
    digests: int = 0
    _history: list[tuple[int, dict[str, int]]] = field(default_factory=list)
    _reference: Kernel = field(default_factory=Kernel)
    _digest: tuple[int, str] = (-1, "")
    _newest: int = 0

    # -- what became durable (told by the database) ----------------------------------------------

    def led(self, epoch: int) -> None:
        """A leader was made; the one before it writes no more."""
        if epoch < self._newest:
            raise Violation("epochs only grow", f"{epoch} after {self._newest}")
        self._newest = epoch

    def committed(self, epoch: int, lines: Sequence[bytes]) -> None:
        """A batch is durable."""
        if epoch != self._newest:
            why = f"epoch {epoch} appended when {self._newest} was made"
            raise Violation("one epoch writes", why)
        self._fold(epoch, lines)

    def _fold(self, epoch: int, lines: Sequence[bytes]) -> None:
        for line in lines:
            self.model.ingest(line, epoch)
            self._check_time()
        self._history.append((self.model.size, self.timers()))

    def _check_time(self) -> None:
        """No record is of a time that has not come: so no lease ends before its term."""
        ahead_ms = self.model.clock_ms - self.true_ms()
        if ahead_ms > AHEAD_MS_MAX:
            raise Violation("time does not leap", f"the journal is {ahead_ms} ms ahead")

    def recovered(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """The database came back with this; nothing that was durable may be missing."""
        kept = self.model.lines
        if [line for _, line in rows[: len(kept)]] != kept:
            raise Violation(
                "nothing acknowledged is lost", f"{len(kept)} were durable, {len(rows)} are left"
            )
        for epoch, line in rows[len(kept) :]:
            self._fold(epoch, (line,))

    def at_risk(self, where: str) -> bool:
        """Whether the database dies here."""
        return self.risk(where)

    # -- what was told ---------------------------------------------------------------------------

    def told(self, actor: str, key: str | None, answer: Answer) -> None:
        """A replica gave this answer: what it says must be durable by now."""
        self.acknowledgements += 1
        found = told_by(answer)
        if isinstance(answer, Done) and answer.seq is None:
            return
        if key is None:
            self._check_seen(found)
            return
        ever = self.model.ever.get((actor, key), [])
        if found not in ever:
            raise Violation("nothing is told before it is durable", f"{key}: {found}, not {ever}")
        self.acknowledged[(actor, key)] = found

    def _check_seen(self, found: Told) -> None:
        match found:
            case ("granted", ids, *_):
                seen = max(ids) <= self.model.lease_serial
            case ("queued", entry):
                seen = entry <= self.model.entry_serial
            case ("done", seq):
                seen = seq < self.model.size
            case _:
                seen = True
        if not seen:
            raise Violation("nothing is told before it is durable", str(found))

    def viewed(self, name: str, view: View, *, asked_at: int) -> None:
        """A read was answered: nothing in it may be undurable, or older than it says."""
        self.views += 1
        size = view.state.size
        if size > self.model.size:
            raise Violation("reads see only what is durable", f"{size} of {self.model.size}")
        sure_at = asked_at - view.age_ms
        for durable, timers in reversed(self._history):
            if durable <= size:
                return
            if timers.get(name, sure_at) < sure_at:
                why = f"{name} showed {size} with age {view.age_ms}, {durable} were durable before"
                raise Violation("reads say how old they are", why)

    # -- after a step ----------------------------------------------------------------------------

    def stepped(self, name: str, kernel: Kernel | None, *, dear: bool) -> None:
        """What a replica has in memory after a step is a prefix of the durable journal."""
        if kernel is None:
            return
        if kernel.is_lost:
            raise Violation("a command fails whole or not at all", f"{name} lost its kernel")
        size, anchor = kernel.state.size, kernel.chain.anchor()
        known = size <= self.model.size and self.model.hashes[size] == anchor.hash
        if not known or anchor.size != size:
            raise Violation("memory is a prefix of the journal", f"{name} at {size}")
        if dear and size == self.model.size:
            self._compare(kernel.state)
        if dear and size >= self._reference.state.size:
            self._check_digest(name, kernel.state)

    def _compare(self, state: State) -> None:
        """The kernel's own numbers against the naive ones."""
        model = self.model
        if list(state.leases) != list(model.leases):
            raise Violation("state and journal agree", "leases")
        if sorted(state.line.entries) != sorted(model.waiting):
            raise Violation("state and journal agree", "waiting requests")
        for name, machine in model.nodes.items():
            usage = state.ledger.node(name)
            here = [lease for lease in model.leases.values() if lease.node == name]
            cpu = machine.capacity.get("cpu_milli", 0) - sum(
                lease.held.get("cpu_milli", 0) for lease in here
            )
            cpu -= model.kept_on(name).get("cpu_milli", 0)
            told = usage.mode.value, usage.quarantined, state.ledger.entry(name).gated
            known = machine.mode, machine.quarantined, model.trust.gated(name)
            if usage.free.cpu_milli != cpu or told != known:
                raise Violation("state and journal agree", f"node {name}")
        scopes = dict.fromkeys(
            each
            for lease in model.leases.values()
            for each in (lease.scope, (lease.scope[0], None))
        )
        for scope in (*scopes, *model.quotas):
            self._compare_quota(state, scope)
        broken = forbidden(state, model.isolation, now_ms=model.clock_ms)
        if broken:
            raise Violation("who may not be together is apart", f"{broken[:3]}")

    def _compare_quota(self, state: State, scope: Scope) -> None:
        used, generations = self.model.used(scope)
        row = state.quotas._table.view(QuotaScope.of(*scope))  # makes no row, unlike `headroom`
        mine = [used[name] for name in DIMENSIONS]
        if list(row.used) != mine:
            why = f"{scope}: {list(row.used)}, the leases add up to {mine}"
            raise Violation("quota and journal agree", why)
        told = list(row.generation_used[: len(GENERATIONS)])
        if told != [generations.get(word, 0) for word in GENERATIONS]:
            raise Violation("quota and journal agree", f"{scope}: generations {told}")

    def _check_digest(self, name: str, state: State) -> None:
        """Replaying the journal up to here gives the very same state."""
        wanted = self.digest_at(state.size)
        self.digests += 1
        if digest_of(state) != wanted:
            raise Violation("replaying gives the same state", f"{name} at {state.size}")

    def digest_at(self, size: int) -> str:
        """The digest of a plain replay of the first records (never fewer than last time)."""
        reference = self._reference
        lines = self.model.lines[reference.state.size : size]
        try:
            reference.replay((parse_record(line[:-1]) for line in lines), check_digests=True)
        except InvariantBroken as error:
            raise Violation("replaying gives the same state", str(error)) from error
        if self._digest[0] != size:
            self._digest = (size, digest_of(reference.state))
        return self._digest[1]

    # -- at the end ------------------------------------------------------------------------------

    def finish(self, store: JournalStore) -> None:
        """The dear promises, once everything is quiet."""
        model = self.model
        verdict = verify_lines(model.lines)
        if not isinstance(verdict, Verified):
            raise Violation("the chain holds", str(verdict))
        wanted = self.digest_at(model.size)
        warnings: list[str] = []
        kernel, _ = rebuild(store, read_max=64, warn=warnings.append)
        if kernel.state.size != model.size or digest_of(kernel.state) != wanted:
            raise Violation("snapshot and tail give the same state", f"{kernel.state.size}")
        self._compare(kernel.state)
        for key, told in self.acknowledged.items():
            if told not in model.ever[key]:
                raise Violation("nothing acknowledged is lost", f"{key}: {told}")

    def check_nothing_overdue(self) -> None:
        """Whatever was due is done: no lease outlives its term, its teardown or its node's trust.

        What still runs on a node in quarantine is on its way out.
        """
        closed = [
            (lease_id, lease.node)
            for lease_id, lease in self.model.leases.items()
            if self.model.nodes[lease.node].quarantined and lease.phase == "active"
        ]
        if closed:
            raise Violation("quarantine ends what runs there", f"{closed[:5]}")
        late = [
            (lease_id, lease.phase)
            for lease_id, lease in self.model.leases.items()
            if lease.phase != "fenced" and lease.expires_ms + 2_000 < self.model.clock_ms
        ]
        if late:
            raise Violation("what is due is done", f"{late[:5]} at {self.model.clock_ms}")
