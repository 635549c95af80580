"""Those who read the journal: a collector of everything, and a tenant's own view.

Rules:

- A batch is verified against the anchor of the one before it. If any record is bad the anchor
  does not move, nothing is handed out, and the finding says where and what.
- The anchor is handed in and handed out; keeping it is the caller's business, and so is sending
  it somewhere the log's keeper cannot reach.
- A tenant's view verifies everyone's records and shows only its own: counts by kind, the walk of
  each lease that is being ended, and the latest admissions. What it keeps is bounded.

>>> dashboard = TenantDashboard("acme")
>>> dashboard.ingest([])
DashboardSnapshot(counts_by_kind={}, revoke_walks={}, recent_admissions=(), walks_forgotten=0)
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from bailiwick.journal.anchor import GENESIS, Anchor
from bailiwick.journal.findings import Finding, Verified
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.note import Checkpoint
from bailiwick.journal.record import Record, parse_record
from bailiwick.journal.verify import verify_lines
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.values import TenantId, check_integer
from bailiwick.vocab.words import PreemptionReason

_ADMISSIONS = frozenset((RecordKind.ADMISSION_APPROVED, RecordKind.ADMISSION_DENIED))


@dataclass(frozen=True, slots=True)
class Batch:
    """Verified records, in order, and the anchor for the next batch."""

    records: tuple[Record, ...]
    anchor: Anchor


BatchResult: TypeAlias = Batch | Finding


def verify_batch(
    anchor: Anchor, lines: Iterable[bytes], *, checkpoints: Iterable[Checkpoint] = ()
) -> BatchResult:
    """All records of a batch, or the first thing wrong with it and none of them."""
    kept = list(lines)
    verified = verify_lines(kept, anchor, checkpoints=checkpoints)
    if not isinstance(verified, Verified):
        return verified
    return Batch(tuple(parse_record(line[:-1]) for line in kept), verified.anchor)


class Collector:
    """Takes batches of the whole log from a kept anchor on."""

    def __init__(self, anchor: Anchor = GENESIS) -> None:
        self._anchor = anchor

    @property
    def anchor(self) -> Anchor:
        """How far the log was verified: keep this, and hand it in after a restart."""
        return self._anchor

    def ingest(
        self, lines: Iterable[bytes], *, checkpoints: Iterable[Checkpoint] = ()
    ) -> BatchResult:
        """Verify a batch and move the anchor behind it, or say what is wrong and stay."""
        result = verify_batch(self._anchor, lines, checkpoints=checkpoints)
        if isinstance(result, Batch):
            self._anchor = result.anchor
        return result


@dataclass(frozen=True, slots=True)
class RevokeStep:
    """One step in the ending of a lease."""

    seq: int
    at_ms: int
    before: RevokeState
    after: RevokeState
    reason: PreemptionReason | None


@dataclass(frozen=True, slots=True)
class DashboardSnapshot:
    """What one tenant may see. ``walks_forgotten`` says how many old walks were dropped."""

    counts_by_kind: Mapping[RecordKind, int]
    revoke_walks: Mapping[int, tuple[RevokeStep, ...]]
    recent_admissions: tuple[Record, ...]
    walks_forgotten: int


DashboardResult: TypeAlias = DashboardSnapshot | Finding


class TenantDashboard:
    """One tenant's view of the log: every record is verified, only its own are shown."""

    def __init__(
        self,
        tenant: str,
        anchor: Anchor = GENESIS,
        *,
        recent_max: int = 100,
        walks_max: int = 10_000,
    ) -> None:
        self.tenant = TenantId(tenant)
        check_integer("recent_max", recent_max, low=1, high=100_000)
        self._walks_max = check_integer("walks_max", walks_max, low=1, high=10_000_000)
        self._anchor = anchor
        # The tenant is the last field of canonical bytes, and a name needs no escape.
        self._own_end = f',"tenant":"{self.tenant}"}}\n'.encode()
        self._counts: Counter[RecordKind] = Counter()
        self._walks: OrderedDict[int, list[RevokeStep]] = OrderedDict()
        self._walks_forgotten = 0
        self._recent: deque[Record] = deque(maxlen=recent_max)

    @property
    def anchor(self) -> Anchor:
        """How far the log was verified."""
        return self._anchor

    def ingest(
        self, lines: Iterable[bytes], *, checkpoints: Iterable[Checkpoint] = ()
    ) -> DashboardResult:
        """Verify a batch and show the tenant's part of it, or say what is wrong and show nothing.

        After a finding the view is still that of the last good batch: see :meth:`snapshot`.
        """
        kept = list(lines)
        verified = verify_lines(kept, self._anchor, checkpoints=checkpoints)
        if not isinstance(verified, Verified):
            return verified
        for line in kept:
            if line.endswith(self._own_end):
                self._project(parse_record(line[:-1]))
        self._anchor = verified.anchor
        return self.snapshot()

    def snapshot(self) -> DashboardSnapshot:
        """The view as of the last good batch."""
        return DashboardSnapshot(
            dict(self._counts),
            {lease_id: tuple(walk) for lease_id, walk in self._walks.items()},
            tuple(self._recent),
            self._walks_forgotten,
        )

    def _project(self, record: Record) -> None:
        self._counts[record.kind] += 1
        if record.kind in _ADMISSIONS:
            self._recent.append(record)
        if record.kind is RecordKind.LEASE_REVOKED:
            self._walk(record)
        elif record.kind is RecordKind.LEASE_RESTORED:
            self._walk_back(record)

    def _walk(self, record: Record) -> None:
        body = cast(Mapping[str, str], record.body)  # the kind's table says words here
        step = RevokeStep(
            record.seq,
            record.at_ms,
            RevokeState(body["before"]),
            RevokeState(body["after"]),
            PreemptionReason(body["reason"]) if "reason" in body else None,
        )
        self._step(record, step)

    def _walk_back(self, record: Record) -> None:
        before, after = RevokeState.GRACE_RUNNING, RevokeState.ACTIVE
        self._step(record, RevokeStep(record.seq, record.at_ms, before, after, None))

    def _step(self, record: Record, step: RevokeStep) -> None:
        self._walks.setdefault(cast(int, record.body["lease_id"]), []).append(step)
        if len(self._walks) > self._walks_max:
            self._walks.popitem(last=False)
            self._walks_forgotten += 1
