"""Instances of apps with their members and their operations, and how one is found.

Rules:

- An instance is one project's. Whoever asks names the project; of another's there is none.
- What it is to be has a generation, which each change makes one more. What its operator last saw
  of it is the observed one. The generation with which it last ran is the settled one.
- A number is given once and never again. What is deleted or removed leaves the book.
- Lookups take constant time, or time by the size of what is asked for, never of the fleet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from bailiwick.apps.status import InstanceFacts, MemberFact
from bailiwick.iam import Scope
from bailiwick.kernel.apps.units.book import ToldUsage
from bailiwick.kernel.owner import Owner
from bailiwick.vocab.apps import (
    ControlPlaneScope,
    InstancePhase,
    MemberPhase,
    OperatingMode,
    OperationKind,
    OperationPhase,
)
from bailiwick.vocab.errors import NotFound

INSTANCES_MAX: Final = 10_000
MEMBERS_MAX: Final = 1_000
"""Of one instance, those that failed or are leaving among them."""
ENDED_MAX: Final = 64
"""Operations of one instance that ended and are still known."""
TASKS_MAX: Final = 16
"""Tasks of one instance's operator that run at a time."""
LOG_MAX: Final = 32
"""Lines of an operation that are kept while it runs, the newest; the journal has all."""
LOG_ENDED_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class WantedState:
    """What an instance is to be."""

    version: str
    parameters: str
    """Canonical JSON."""
    counts: Mapping[str, int]
    """How many members of each role."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppInstance:
    """One running app of a project, as it is wanted and as it was last seen."""

    id: int
    tenant: str
    project: str
    name: str
    app: str
    wanted: WantedState
    mode: OperatingMode
    scope: ControlPlaneScope
    backend: str
    phase: InstancePhase = InstancePhase.REQUESTED
    generation: int = 1
    observed_generation: int = 0
    """0: no operator ever reported."""
    settled_generation: int = 0
    """0: it never ran."""
    last_good: WantedState | None = None
    """As what it last ran."""
    older_good: WantedState | None = None
    """As what it ran before that, in another version; none once it went back there."""
    paused: bool = False
    reported: InstancePhase | None = None
    """What its operator says of this generation."""
    reason: str = ""
    metadata: str = ""
    """Its operator's own; nothing here reads it."""
    deadline_ms: int | None = None
    """By when it is to be deleted."""
    is_overdue: bool = False
    created_ms: int = 0
    changed_ms: int = 0
    """Since when its generation is wanted."""
    revision: int = 1

    @property
    def owner(self) -> Owner:
        """Whose it is."""
        return Owner(self.tenant, self.project)

    @property
    def version(self) -> str:
        """The version that is wanted."""
        return self.wanted.version

    @property
    def goes_back_to(self) -> WantedState | None:
        """Where a rollback leads: to what last ran or, if that is what is wanted, before it."""
        return self.older_good if self.last_good == self.wanted else self.last_good

    @property
    def is_leaving(self) -> bool:
        """Whether it is being deleted."""
        return self.phase in (InstancePhase.DELETING, InstancePhase.DELETED)


@dataclass(frozen=True, slots=True, kw_only=True)
class AppMember:
    """One member of an instance: a lease, and a process on it."""

    id: int
    instance_id: int
    role: str
    component_key: str
    version: str
    phase: MemberPhase = MemberPhase.REQUESTED
    lease_id: int | None = None
    job_id: int | None = None
    reason: str | None = None
    deadline_ms: int | None = None
    """Until when it may go on while it is drained."""
    forced: bool = False
    """Its job is to be stopped now."""
    source: str | None = None
    """The project that contributed it, whose its lease is; none: the instance's own."""
    changed_ms: int = 0

    @property
    def is_live(self) -> bool:
        """Whether it is to be there."""
        return self.phase.is_live


@dataclass(frozen=True, slots=True, kw_only=True)
class AppOperation:
    """A piece of long work on an instance."""

    id: int
    instance_id: int
    kind: OperationKind
    phase: OperationPhase
    key: str | None = None
    component_key: str | None = None
    member_id: int | None = None
    title: str = ""
    generation: int = 0
    """The instance's, when it began."""
    progress: int = 0
    log: tuple[str, ...] = ()
    result: str = ""
    begun_ms: int = 0
    ended_ms: int | None = None


@dataclass(slots=True)
class HeldInstance:
    """An instance with all that belongs to it."""

    instance: AppInstance
    members: dict[int, AppMember] = field(default_factory=dict)
    components: dict[str, int] = field(default_factory=dict)
    """Who answers to a component key now."""
    operations: dict[int, AppOperation] = field(default_factory=dict)
    ended: dict[int, None] = field(default_factory=dict)
    """The operations that ended, in that order."""
    keys: dict[tuple[str | None, str], int] = field(default_factory=dict)
    """The operation that was begun under a key, for a component or for the whole."""
    told: ToldUsage = field(default_factory=ToldUsage)
    """What it said of its use, in units of its own."""

    def member(self, member_id: int) -> AppMember:
        """The member of that number."""
        found = self.members.get(member_id)
        if found is None:
            raise NotFound("member", member_id)
        return found

    def component(self, component_key: str) -> AppMember:
        """The member that answers to a component key."""
        member_id = self.components.get(component_key)
        if member_id is None:
            raise NotFound("member", component_key)
        return self.members[member_id]

    def operation(self, operation_id: int) -> AppOperation:
        """The operation of that number."""
        found = self.operations.get(operation_id)
        if found is None:
            hint = f"of those that ended the last {ENDED_MAX} are known"
            raise NotFound("operation", operation_id, hint=hint)
        return found

    def live(self, role: str) -> int:
        """How many members of a role are to be there, but for those that others contributed."""
        own = (each for each in self.members.values() if each.source is None)
        return sum(each.role == role and each.is_live for each in own)

    def contributed(self, role: str | None = None) -> int:
        """How many contributed members (of a role) are to be there."""
        given = (each for each in self.members.values() if each.source is not None)
        return sum(each.is_live and role in (None, each.role) for each in given)

    def is_held_by(self, owner: Owner) -> bool:
        """Whether members of it are this owner's: its own project's, or a contributor's."""
        if owner == self.instance.owner:
            return True
        if owner.tenant != self.instance.tenant or owner.project is None:
            return False
        return any(each.source == owner.project for each in self.members.values())

    def running(self) -> Iterator[AppOperation]:
        """The operations that have not ended."""
        return (each for each in self.operations.values() if not each.phase.is_ended)

    @property
    def facts(self) -> InstanceFacts:
        """What counts of it for its phase."""
        i = self.instance
        return InstanceFacts(
            i.wanted.counts,
            i.wanted.version,
            tuple(
                MemberFact(
                    each.component_key,
                    each.role,
                    each.phase,
                    each.version,
                    each.source is not None,
                )
                for each in self.members.values()
            ),
            i.phase,
            i.settled_generation > 0,
            i.settled_generation == i.generation,
            i.observed_generation in (0, i.generation),
            i.reported,
        )


@dataclass(slots=True)
class InstanceBook:
    """All instances, and how they are found; only ``apply`` changes it."""

    instance_serial: int = 0
    member_serial: int = 0
    operation_serial: int = 0
    held: dict[int, HeldInstance] = field(default_factory=dict)
    names: dict[tuple[str, str, str], int] = field(default_factory=dict)
    by_project: dict[str, dict[str, dict[int, None]]] = field(default_factory=dict)
    """By tenant and project, oldest first."""
    tally: dict[tuple[str, Scope], int] = field(default_factory=dict)
    """How many instances of an app a scope has."""
    by_lease: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The instance and member that a lease is of."""
    answers: dict[tuple[str, Scope], dict[int, None]] = field(default_factory=dict)
    """Who serves a scope under a scheduler's word."""

    def get(self, tenant: str, project: str, *, instance_id: int) -> HeldInstance:
        """The project's instance of that number; that of another project is not there."""
        found = self.held.get(instance_id)
        if found is None or found.instance.owner != (tenant, project):
            raise NotFound("instance", instance_id)
        return found

    def named(self, tenant: str, project: str, *, name: str) -> AppInstance | None:
        """The project's instance of that name."""
        found = self.names.get((tenant, project, name))
        return None if found is None else self.held[found].instance

    def of(self, tenant: str, project: str | None = None) -> Iterator[HeldInstance]:
        """The instances of a project, or of all projects of a tenant."""
        projects = self.by_project.get(tenant, {})
        ids = projects.get(project, {}) if project is not None else _all(projects)
        return (self.held[each] for each in ids)

    def count(self, app: str, scope: Scope) -> int:
        """How many instances of an app a scope has."""
        return self.tally.get((app, scope), 0)


def _all(projects: Mapping[str, Mapping[int, None]]) -> list[int]:
    return sorted(each for ids in projects.values() for each in ids)


def payer_of(instance: AppInstance, member: AppMember) -> Owner:
    """Whose a member's lease is, and who pays for it."""
    return Owner(instance.tenant, member.source or instance.project)


def serves(instance: AppInstance) -> Scope:
    """Whom its control plane serves."""
    match instance.scope:
        case ControlPlaneScope.PROJECT:
            return Scope(instance.tenant, instance.project)
        case ControlPlaneScope.TENANT:
            return Scope(instance.tenant)
        case ControlPlaneScope.PLATFORM:
            return Scope()
