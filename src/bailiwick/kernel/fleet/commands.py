"""Commands about the fleet and its rules: nodes, modes, quotas, shares, settings, who leads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.fleet.inventory import check_given
from bailiwick.fleet.node import LABELS_MAX, NodeCapacity
from bailiwick.iam import GivenBy
from bailiwick.journal.fields import DIGEST, INTEGER_MAX, LABELS, NAME, NAMES, PRINCIPAL, TEXT
from bailiwick.kernel.checks import check_grace, check_scope
from bailiwick.kernel.settings import Settings
from bailiwick.scheduler.quota_policy import Quota
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import (
    NOTE_CHARS_MAX,
    NOTE_TTL_MAX_MS,
    SHARE_MAX,
    check_integer,
    check_kind,
    check_name,
)
from bailiwick.vocab.words import PreemptionReason


@dataclass(frozen=True, slots=True)
class RegisterNode:
    """A machine joins the fleet."""

    node: str
    capacity: NodeCapacity

    def __post_init__(self) -> None:
        check_name("node", self.node)
        check_kind("capacity", self.capacity, NodeCapacity)


@dataclass(frozen=True, slots=True)
class DepartNode:
    """A machine is gone; ``last_seen_ms`` is its last proof of life."""

    node: str
    last_seen_ms: int | None = None

    def __post_init__(self) -> None:
        check_name("node", self.node)
        if self.last_seen_ms is not None:
            check_integer("last_seen_ms", self.last_seen_ms, low=0, high=INTEGER_MAX)


@dataclass(frozen=True, slots=True)
class ChangeMode:
    """Move a node along the mode table; to ``draining`` it evicts, for the reason given.

    Without ``evict`` a drain only closes the node: what runs there may end by itself (a cordon).
    """

    node: str
    mode: NodeMode
    reason: PreemptionReason = PreemptionReason.OPERATOR_DRAIN
    grace_ms: int | None = None
    evict: bool = True

    def __post_init__(self) -> None:
        check_name("node", self.node)
        check_kind("mode", self.mode, NodeMode)
        check_kind("reason", self.reason, PreemptionReason)
        if self.reason.spares_guaranteed:
            raise InvalidValue("reason", self.reason, "an operator's reason")
        check_grace(self.grace_ms)
        check_kind("evict", self.evict, bool)
        if not self.evict and self.mode is not NodeMode.DRAINING:
            raise InvalidValue("evict", self.evict, "true, but for a drain")


@dataclass(frozen=True, slots=True)
class OpenNode:
    """Let a node take leases again, along the mode table from wherever it is in it.

    A node that can be tested is, before: ``untested`` takes it as it is.
    """

    node: str
    untested: bool | None = None

    def __post_init__(self) -> None:
        check_name("node", self.node)
        if self.untested is not None:
            check_kind("untested", self.untested, bool)


@dataclass(frozen=True, slots=True)
class NoteNode:
    """Write one line about a node, for a time; ``author`` is whoever does."""

    node: str
    text: str
    author: str
    ttl_ms: int

    def __post_init__(self) -> None:
        check_name("node", self.node)
        PRINCIPAL.check("author", self.author)
        check_integer("ttl_ms", self.ttl_ms, low=1, high=NOTE_TTL_MAX_MS)
        TEXT.check("text", self.text)
        # A note is drawn on terminals of others: what is not printable could move their cursor.
        is_line = bool(self.text.strip()) and self.text.isprintable()
        if not is_line or len(self.text) > NOTE_CHARS_MAX:
            expected = f"one line of 1 to {NOTE_CHARS_MAX} printable characters"
            raise InvalidValue("text", self.text, expected)


@dataclass(frozen=True, slots=True)
class EndNote:
    """Take a note about a node away before it expires."""

    node: str
    note_id: int

    def __post_init__(self) -> None:
        check_name("node", self.node)
        check_integer("note_id", self.note_id, low=1, high=INTEGER_MAX)


@dataclass(frozen=True, slots=True)
class LabelNode:
    """Give a node labels (``KEY=VALUE``) beside its own, and take those of some keys away."""

    node: str
    put: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_name("node", self.node)
        LABELS.check("put", list(self.put))
        NAMES.check("drop", list(self.drop))
        keys = [label.partition("=")[0] for label in self.put]
        named = [*keys, *self.drop]
        if not named or len(named) > LABELS_MAX or len({*named}) < len(named):
            raise InvalidValue("labels", named, f"1 to {LABELS_MAX} keys, and none twice")
        for key in keys:
            check_given(key)


@dataclass(frozen=True, slots=True)
class SetQuota:
    """Replace everything a tenant or project is allowed, if it is still what was ``seen``.

    On a tenant's behalf only a project's, and no more than the tenant itself is allowed.
    """

    tenant: str
    quota: Quota
    project: str | None = None
    seen: str | None = None
    given_by: GivenBy | None = None

    def __post_init__(self) -> None:
        check_scope(self.tenant, self.project)
        if self.given_by is not None:
            check_kind("given_by", self.given_by, GivenBy)
        if self.given_by is GivenBy.TENANT and self.project is None:
            raise InvalidValue("given_by", self.given_by, "the fleet, of a tenant's own quota")
        check_kind("quota", self.quota, Quota)
        if self.seen is not None:
            DIGEST.check("seen", self.seen)


@dataclass(frozen=True, slots=True)
class RebalanceQuota:
    """Evict of a tenant's (or project's) leases what it holds above its quota, the cheapest."""

    tenant: str
    project: str | None = None
    grace_ms: int | None = None

    def __post_init__(self) -> None:
        check_scope(self.tenant, self.project)
        check_grace(self.grace_ms)


@dataclass(frozen=True, slots=True)
class SetShare:
    """Weigh a tenant among tenants, or a project among its tenant's."""

    tenant: str
    share: int
    project: str | None = None

    def __post_init__(self) -> None:
        check_scope(self.tenant, self.project)
        check_integer("share", self.share, low=1, high=SHARE_MAX)


@dataclass(frozen=True, slots=True)
class ChangeSettings:
    """Replace the kernel's settings, if they are still what was ``seen``."""

    settings: Settings
    seen: str | None = None

    def __post_init__(self) -> None:
        check_kind("settings", self.settings, Settings)
        if self.seen is not None:
            DIGEST.check("seen", self.seen)


@dataclass(frozen=True, slots=True)
class Elect:
    """A new leader writes from here on."""

    epoch: int
    leader: str
    address: str = ""

    def __post_init__(self) -> None:
        check_integer("epoch", self.epoch, low=1, high=INTEGER_MAX)
        NAME.check("leader", self.leader)
        if not isinstance(self.address, str) or len(self.address) > 255:
            raise InvalidValue("address", self.address, "at most 255 characters")


FleetCommand: TypeAlias = (
    RegisterNode
    | DepartNode
    | ChangeMode
    | OpenNode
    | NoteNode
    | EndNote
    | LabelNode
    | SetQuota
    | RebalanceQuota
    | SetShare
    | ChangeSettings
    | Elect
)
