"""What a batch of records makes of the rows about the past; :mod:`.fold` keeps them.

Rules:

- A lease begins with the first record that grants it, and ends with the first that ends it. The end
  of a lease that was never granted is passed over.
- A lease's GPUs are of the generation asked for, or else that its node was registered with.
- Usage is counted when a lease ends: resources times the milliseconds from grant to end. One that
  is lost with its node ended at the node's last proof of life, not when that was noticed. It is an
  overview; what is billed comes from metering, which also counts what still runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from bailiwick.journal import Record, RecordKind
from bailiwick.vocab.words import RESOURCE_KINDS

USED = ("gpu_milli_ms", "cpu_milli_ms", "leases_ended")
GROUP = ("tenant", "project", "tag", "gpu_generation", "lease_class")
SUMS = {
    "cpu_milli_ms": "cpu_milli",
    "mem_byte_ms": "mem_bytes",
    "block_byte_ms": "block_bytes",
    "gpu_milli_ms": "gpu_milli",
}

Row: TypeAlias = dict[str, Any]
Owner: TypeAlias = tuple[str, str]
Group: TypeAlias = tuple[str, ...]

ENDS: Mapping[RecordKind, str] = {
    RecordKind.LEASE_RELEASED: "released",
    RecordKind.LEASE_EXPIRED: "expired",
    RecordKind.LEASE_PREEMPTED: "preempted",
    RecordKind.LEASE_FENCED: "fenced",
    RecordKind.NODE_DEPARTED: "node_departed",
}
"""The kinds that end leases, and the cause each stands for."""

DECISIONS = frozenset(
    (
        RecordKind.ADMISSION_APPROVED,
        RecordKind.ADMISSION_DENIED,
        RecordKind.REQUEST_QUEUED,
        RecordKind.REQUEST_BLOCKED,
        RecordKind.REQUEST_CANCELLED,
        RecordKind.LEASE_RELEASED,
        RecordKind.LEASE_EXPIRED,
        RecordKind.LEASE_REVOKED,
        RecordKind.LEASE_RESTORED,
        RecordKind.LEASE_PREEMPTED,
        RecordKind.LEASE_FENCED,
        RecordKind.QUOTA_CHANGED,
        RecordKind.TOKEN_REFUSED,
    )
)
"""What a tenant asks the history about. Renewals are left out: they are most of a journal."""


@dataclass(slots=True)
class HistoryRows:
    """What a batch of records makes of the rows it touches.

    ``leases`` are those known before, ``nodes`` the devices' generations on the nodes known before.
    """

    leases: dict[int, Row]
    nodes: dict[str, str] = field(default_factory=dict)
    granted: list[int] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    decisions: list[Row] = field(default_factory=list)
    registered: dict[str, str] = field(default_factory=dict)
    named: list[Row] = field(default_factory=list)

    def add(self, record: Record) -> None:
        """Take one record in."""
        if record.kind is RecordKind.ADMISSION_APPROVED:
            self._grant(record)
        elif record.kind in ENDS:
            self._end(record)
        elif record.kind is RecordKind.NODE_REGISTERED:
            self._register(record)
        self._index(record)
        if record.kind in DECISIONS and record.tenant is not None:
            self.decisions.append(_decision(record))

    def _grant(self, record: Record) -> None:
        nodes: Any = record.body["nodes"]
        resources: Any = record.body["resources"]
        for number, lease_id in enumerate(lease_ids_of(record)):
            if lease_id in self.leases:
                continue
            self.granted.append(lease_id)
            self.leases[lease_id] = {
                "lease_id": lease_id,
                "tenant": record.tenant,
                "project": record.project,
                "node": nodes[number] if number < len(nodes) else None,
                **{str(kind): resources.get(kind, 0) for kind in RESOURCE_KINDS},
                "priority": str(record.body["priority"]),
                "lease_class": str(record.body["lease_class"]),
                "tag": record.body.get("tag"),
                "granted_ms": record.at_ms,
                "ended_ms": None,
                "end_cause": None,
                "end_reason": None,
                "gpu_generation": self._generation(record, number, nodes=nodes),
                "entry_id": record.body.get("entry_id"),
            }

    def _generation(self, record: Record, number: int, *, nodes: Sequence[Any]) -> str | None:
        """Of which generation a member's GPUs are: as asked for, or as its node has them."""
        devices: Any = record.body.get("devices") or ()
        if record.body.get("gpu_generation") is not None or number >= len(devices):
            return _word(record, "gpu_generation")
        has = self.nodes.get(nodes[number], "").split(",") if number < len(nodes) else [""]
        found = [word for i, word in enumerate(has) if word and devices[number] >> i & 1]
        return found[0] if found else None

    def _register(self, record: Record) -> None:
        words: Any = record.body.get("gpu_generations") or ()
        node = str(record.body["node"])
        self.nodes[node] = self.registered[node] = ",".join(map(str, words))

    def _index(self, record: Record) -> None:
        if record.kind is RecordKind.LEASE_RENEWED:
            return
        numbers = [("lease", lease_id) for lease_id in lease_ids_of(record)]
        entry_id: Any = record.body.get("entry_id")
        if entry_id is not None and not numbers:  # a grant is found by its leases
            numbers.append(("entry", entry_id))
        for subject, number in dict.fromkeys(numbers):
            self.named.append({"subject": subject, "number": number, "seq": record.seq})

    def _end(self, record: Record) -> None:
        for lease_id in lease_ids_of(record):
            lease = self.leases.get(lease_id)
            if lease is None or lease["ended_ms"] is not None:
                continue
            self.ended.append(lease_id)
            lease["ended_ms"] = max(lease["granted_ms"], _end_ms(record))
            lease["end_cause"] = ENDS[record.kind]
            lease["end_reason"] = _word(record, "reason")

    def usage(self) -> dict[Owner, Row]:
        """What the leases that ended in this batch have used, by owner."""
        sums: dict[Owner, Row] = {}
        for lease in (self.leases[lease_id] for lease_id in self.ended):
            owner = (lease["tenant"], lease["project"] or "")
            row = sums.setdefault(owner, dict.fromkeys(USED, 0))
            span_ms = max(0, lease["ended_ms"] - lease["granted_ms"])
            row["gpu_milli_ms"] += lease["gpu_milli"] * span_ms
            row["cpu_milli_ms"] += lease["cpu_milli"] * span_ms
            row["leases_ended"] += 1
        return sums

    def groups(self) -> dict[Group, Row]:
        """The same by project, tag, generation and class, with every resource."""
        sums: dict[Group, Row] = {}
        for lease in (self.leases[lease_id] for lease_id in self.ended):
            group = tuple(lease[name] or "" for name in GROUP)
            row = sums.setdefault(group, dict.fromkeys((*SUMS, "leases_ended"), 0))
            span_ms = max(0, lease["ended_ms"] - lease["granted_ms"])
            for name, held in SUMS.items():
                row[name] += lease[held] * span_ms
            row["leases_ended"] += 1
        return sums


def lease_ids_of(record: Record) -> tuple[int, ...]:
    """The leases a record names: one, several or none."""
    one: Any = record.body.get("lease_id")
    several: Any = record.body.get("lease_ids")
    return (one,) if one is not None else (several or ())


def _end_ms(record: Record) -> int:
    """When what a record ends was over: with its node, at the last proof that this lived."""
    seen: Any = record.body.get("last_seen_ms")
    return record.at_ms if seen is None else min(record.at_ms, seen)


def _word(record: Record, name: str) -> str | None:
    value = record.body.get(name)
    return None if value is None else str(value)


def _decision(record: Record) -> Row:
    return {
        "seq": record.seq,
        "at_ms": record.at_ms,
        "tenant": record.tenant,
        "project": record.project,
        "kind": str(record.kind),
        "reason": _word(record, "reason") or _word(record, "cause"),
        "detail": _word(record, "detail"),
        "correlation_id": record.correlation_id,
        "entry_id": record.body.get("entry_id"),
        "lease_id": next(iter(lease_ids_of(record)), None),
    }
