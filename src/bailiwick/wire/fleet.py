"""Nodes and quotas on the wire. Every amount is in the unit that its name says."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import (
    NOTE_CHARS_MAX,
    NOTE_TTL_MAX_MS,
    SHARE_MAX,
    TERM_MAX_MS,
    WAITING_MAX,
)
from bailiwick.vocab.words import (
    AttestationState,
    Dimension,
    HardwareGeneration,
    LeaseClass,
    Priority,
)
from bailiwick.wire.base import Amount, GraceMs, Label, Model, Name, Number, Within
from bailiwick.wire.health import HealthStanding, NodeTestOrder
from bailiwick.wire.mig import Failure, MigOrder, NodeMig
from bailiwick.wire.usage import Digits
from bailiwick.wire.words import JobModeWord, LivenessWord

_Mode = Annotated[NodeMode, Field(strict=False)]
_Generation = Annotated[HardwareGeneration, Field(strict=False)]
_LeaseClass = Annotated[LeaseClass, Field(strict=False)]
_Dimension = Annotated[Dimension, Field(strict=False)]
_Numa = Annotated[int, Within(0, 63)]
_DeviceText = Annotated[str, Field(max_length=127)]

OperatorReason = Literal[
    "operator_drain",
    "operator_mig_profile_change",
    "maintenance_window",
    "policy_violation_recovery",
]


class Resources(Model):
    """Amounts of what a node offers or a lease holds."""

    cpu_milli: Annotated[int, Within(0, 10**9)] = 0
    mem_bytes: Amount = 0
    block_bytes: Amount = 0


class Held(Resources):
    """Amounts that include milli-shares of GPUs."""

    gpu_milli: Amount = 0


class Gpu(Model):
    """One device."""

    generation: _Generation
    vram_bytes: Amount = 0
    model: _DeviceText = ""
    fabric: _DeviceText = ""
    partitionable: bool = False


class CacheCores(Model):
    """Cores under one last-level cache, and the memory node that they are in."""

    cores_milli: Annotated[int, Within(0, 10**9)]
    numa: _Numa = 0


class Topology(Model):
    """How cores and devices hang together: caches, and the memory node of each device.

    A machine that tells of caches tells of all that its cores are in. A device whose memory node is
    not known has ``null``. Rack, segment and region are labels of the node by these names.
    """

    caches: Annotated[list[CacheCores], Field(max_length=256)] = Field(default_factory=list)
    gpu_numa: Annotated[list[_Numa | None], Field(max_length=16)] = Field(default_factory=list)


class Inventory(Model):
    """What a machine has."""

    resources: Resources
    gpus: Annotated[list[Gpu], Field(max_length=16)] = Field(default_factory=list)
    labels: Annotated[list[Label], Field(max_length=64)] = Field(default_factory=list)
    topology: Topology = Field(default_factory=Topology)


class NewNode(Inventory):
    """A machine that joins the fleet."""

    node: Name


class NodeHolder(Model):
    """A lease on a node, whose it is, and its share of each of the devices that it has there.

    ``fenced`` is one that is over, and of which something may still run: an operator clears it.
    ``fenced_ms`` is since when, told where one node is read.
    """

    lease_id: int
    tenant: str
    project: str | None
    lease_class: _LeaseClass
    devices: list[int]
    device_milli: int
    cpu_milli: int
    expires_ms: int
    ending: bool
    fenced: bool = False
    fenced_ms: int | None = None


class NodeNote(Model):
    """A line that somebody who runs the fleet wrote about a node; its number ends it."""

    note_id: int
    text: str
    author: str
    since_ms: int
    until_ms: int


class NewNote(Model):
    """One line about a node, and how long it is to stand there."""

    text: Annotated[str, Field(min_length=1, max_length=NOTE_CHARS_MAX)]
    ttl_ms: Annotated[int, Within(1, NOTE_TTL_MAX_MS)]


class Node(Model):
    """A machine, what it has, whether it takes leases, and what is known of its life and trust.

    ``unheard`` is a node that has sent no heartbeat to the server that answers; it may have nobody
    who does. ``claims`` (``KIND.CLAIM``) is what its evidence proves now, and ``attested_ms`` when
    that was last judged. ``job_mode`` is how the jobs that run there are kept apart, and
    ``agent_version`` what runs them, if it is the node's own agent. ``host_members`` says whether
    members of apps that were granted it run on the host there.

    ``maintained_ms`` is when its next maintenance begins, or began, and ``booked_ms`` when
    it is booked next, or is booked now, whoever for. ``mig`` is there while its GPUs are
    repartitioned, and after that has failed. ``health`` is what its agent found, for who may
    read the whole fleet.

    ``labels`` has what the machine says itself and ``labels_given``, which an operator gave it.

    ``free`` is what whoever asks could be given there now, whatever others hold, and
    ``gpus_free_milli`` the same of each device, in the order of ``gpus``. Of a machine that is
    closed, or that a policy closes to him, it is nothing. A quota may leave less.

    ``gpus_held_milli`` is what leases hold of each device, ``leases`` how many there are and
    ``holders`` the first 64 of them, of those that whoever asks may read. ``notes`` are for who may
    read the whole fleet.
    """

    node: str
    mode: _Mode
    quarantined: bool
    takes_leases: bool
    liveness: LivenessWord
    last_seen_ms: int | None
    attestation: Annotated[AttestationState, Field(strict=False)]
    attested_ms: int | None
    claims: dict[str, str]
    resources: Held
    gpus: list[Gpu]
    labels: list[str]
    labels_given: list[str] = Field(default_factory=list)
    maintained_ms: int | None = None
    booked_ms: int | None = None
    booked_until_ms: int | None = None
    mig: NodeMig | None = None
    health: HealthStanding | None = None
    topology: Topology = Field(default_factory=Topology)
    job_mode: JobModeWord | None = None
    agent_version: str | None = None
    host_members: bool = False
    free: Held | None = None
    gpus_free_milli: list[int] = Field(default_factory=list)
    gpus_held_milli: list[int] = Field(default_factory=list)
    leases: int = 0
    holders: list[NodeHolder] = Field(default_factory=list)
    notes: list[NodeNote] = Field(default_factory=list)


class PictureNodes(Model):
    """The nodes of a picture as columns, by name: the same place in each is the same node.

    ``kind``, ``mode`` and ``attestation`` are places in the picture's tables. ``free_milli`` has
    what you could be given of each GPU; it is there if the picture is not whole.
    """

    node: list[str]
    kind: list[int]
    mode: list[int]
    quarantined: list[int]
    takes_leases: list[int]
    attestation: list[int]
    free_milli: list[list[int]] | None = None


class PictureHeld(Model):
    """The leases that hold GPUs as columns, by their numbers.

    ``node`` is a place in the columns of nodes, ``devices`` the GPUs that it holds there as bits
    (1 is the first), ``milli`` its share of each, ``tenant`` and ``lease_class`` places in the
    picture's tables, ``ending`` whether it has to go.
    """

    lease_id: list[int]
    node: list[int]
    devices: list[int]
    milli: list[int]
    tenant: list[int]
    lease_class: list[int]
    ending: list[int]


class Picture(Model):
    """Every node and GPU, and who holds it, as columns with words as places in tables.

    ``whole`` says whether all leases are in it; else they are those that you may read, and of
    what others hold nothing is told but that you could not be given it. ``kinds`` are the rows of
    GPUs that nodes have, by generation. ``leases`` and ``waiting`` count all of them, with and
    without GPUs, if the picture is whole.
    """

    whole: bool
    leases: int | None
    waiting: int | None
    tenants: list[str]
    kinds: list[list[_Generation]]
    modes: list[_Mode]
    attestations: list[Annotated[AttestationState, Field(strict=False)]]
    lease_classes: list[_LeaseClass]
    nodes: PictureNodes
    held: PictureHeld


class NodeLabels(Model):
    """Labels to give a node (``KEY=VALUE``), and keys of those to take away that were given so."""

    put: Annotated[list[Label], Field(max_length=64)] = Field(default_factory=list)
    drop: Annotated[list[Name], Field(max_length=64)] = Field(default_factory=list)


class Heard(Model):
    """A heartbeat was heard: how often one is expected, and after what silence a node is gone.

    ``attest_nonce`` is there when the node is to prove itself again, with that nonce, ``mig``
    while its GPUs are to be divided (the node is empty, and waits for its agent), and ``test``
    while its machine is to be tested.
    """

    node: str
    beat_ms: int
    timeout_ms: int
    attest_nonce: str | None = None
    mig: MigOrder | None = None
    test: NodeTestOrder | None = None


class MigReport(Model):
    """How an agent fared with its order: the cause of its failure, or nothing if it is done.

    ``inventory`` is what the machine has now.
    """

    change_id: Amount
    cause: Failure | None = None
    inventory: Inventory | None = None


class ModeChange(Model):
    """Where to move a node in the mode table, and why; to ``draining`` evicts.

    With ``evict`` false a drain evicts nobody: what runs there may end by itself, but no term grows
    any more, and the node is ``drained`` once it is empty. A node that is only to take no new work
    is ``cordoned``.
    """

    mode: _Mode
    reason: OperatorReason = "operator_drain"
    grace_ms: GraceMs | None = None
    evict: bool = True


class Eviction(Model):
    """Why a lease is ended against its holder's wish, and how long it may still take."""

    reason: OperatorReason = "operator_drain"
    grace_ms: GraceMs | None = None


class Rebalance(Model):
    """How long leases that go because their owner is above its quota may still run."""

    grace_ms: GraceMs | None = None


class TeardownReport(Model):
    """Whether what a lease held is really free; if not, it is fenced."""

    clean: bool


class Quarantine(Model):
    """Why a node is not trusted, and how long what runs there may still take."""

    reason: Name
    grace_ms: GraceMs | None = None


class Burst(Model):
    """How long one may stay how far above the hard limit of one dimension."""

    dimension: _Dimension
    capacity: Number
    refill_per_s: Amount
    ceiling: Number


class Ceiling(Model):
    """What may be asked for: the highest priority, the classes, the longest term, how many wait."""

    priority_max: Annotated[Priority, Field(strict=False)]
    lease_classes: Annotated[list[_LeaseClass], Field(max_length=len(LeaseClass))]
    term_max_ms: Annotated[int, Within(1, TERM_MAX_MS)]
    waiting_max: Annotated[int, Within(0, WAITING_MAX)]


class Quota(Model):
    """Everything a tenant or project is allowed; what is not named is not limited.

    Without a ``ceiling`` that of the settings counts, and for a project its tenant's.
    """

    limits: dict[_Dimension, Amount] = Field(default_factory=dict)
    gpu_limits: dict[_Generation, Amount] = Field(default_factory=dict)
    burst: Burst | None = None
    ceiling: Ceiling | None = None


class Room(Model):
    """One limit, its use and what is left of it; ``null`` where there is none."""

    limit: int | None
    used: int
    left: int | None


class QuotaState(Model):
    """The quota that was set (or the default), and how it stands."""

    tenant: str
    project: str | None
    is_default: bool
    """Whether nobody set one, so that the settings' counts."""
    quota: Quota
    ceiling: Ceiling
    """What may be asked for there: the narrower of a project's and its tenant's."""
    dimensions: dict[_Dimension, Room]
    generations: dict[_Generation, Room]
    burst_left: int | None = None
    """Burst credit now, in the unit of ``burst.capacity``; ``null`` without a burst."""


class NewShare(Model):
    """What a tenant weighs among tenants, or a project among its tenant's."""

    share: Annotated[int, Within(1, SHARE_MAX)]


class ShareState(Model):
    """A fair share, and what was used of late, by which one stands in the queue.

    Usage counts milli-shares of GPUs times milliseconds (work without GPUs by its cores), and
    halves with every half-life of the settings. Whoever has the least of it for each share is next.
    Numbers can be beyond 2^53 and are told as digits.
    """

    tenant: str
    project: str | None
    share: int
    is_default: bool
    """Whether nobody set one: then it is 1."""
    usage_gpu_milli_ms: Digits
    usage_per_share: Digits
