"""Shared runtimes, who is attached to each, what was given to it, and who may use whose queues.

Rules:

- A runtime is a tenant's, known by its name there. What runs is an instance of its owner record.
- What ended leaves the book; the journal has it. Each thing names the record it follows from.
- Only ``apply`` changes it. Lookups take constant time, or time by the size of one runtime.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from bailiwick.apps.shared.submitting import SubmitFacts, SubmitPolicy
from bailiwick.kernel.owner import Owner
from bailiwick.vocab.errors import NotFound
from bailiwick.vocab.shared import AttachmentPhase, ContributionPhase

RUNTIMES_MAX: Final = 1_000
ATTACHMENTS_MAX: Final = 500
"""Of one runtime."""
POLICIES_MAX: Final = 1_000
"""Of one runtime."""
WINDOWS_MAX: Final = 64
"""Windows that are known word for word, so that one that is told again is seen to be the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRuntime:
    """One app that a tenant runs for several of its projects."""

    id: int
    tenant: str
    name: str
    environment: str
    project: str
    """The owner record: it pays for what steers the runtime and for what is reserved in it."""
    app: str
    instance_id: int
    controller: Mapping[str, str]
    """Labels of nodes on which what steers it may run."""
    withdraw_within_ms: int
    billing_rule: str
    billing_digest: str
    accepted_by: str
    is_leaving: bool = False
    created_ms: int = 0
    seq: int = 0

    @property
    def owner(self) -> Owner:
        """Whose records about it are: the tenant's."""
        return Owner(self.tenant)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedAttachment:
    """A project's part in a runtime, and who consented to it."""

    project: str
    phase: AttachmentPhase
    allowed_by: str | None = None
    """Who consented for the tenant."""
    accepted_by: str | None = None
    """Who consented for the project."""
    since_ms: int = 0
    seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedContribution:
    """A worker that is its project's own."""

    project: str
    member_id: int
    component_key: str
    role: str
    phase: ContributionPhase = ContributionPhase.CONTRIBUTED
    deadline_ms: int | None = None
    """By when it has ended, once it is drained."""
    since_ms: int = 0
    seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSettlement:
    """What a project owes another for use of its workers."""

    rates: Mapping[str, int]
    """Micros for one of a unit; a unit that is not named is not settled."""
    accepted_by: str
    since_ms: int = 0
    seq: int = 0


@dataclass(slots=True)
class SharedUse:
    """Up to when it was told who used whose workers, and the last windows by their begin."""

    told_until_ms: int = 0
    recent: dict[int, str] = field(default_factory=dict)
    seq: int = 0


@dataclass(slots=True)
class HeldRuntime:
    """A runtime with all that belongs to it."""

    runtime: SharedRuntime
    attachments: dict[str, SharedAttachment] = field(default_factory=dict)
    contributions: dict[int, SharedContribution] = field(default_factory=dict)
    policies: dict[tuple[str, str], SubmitPolicy] = field(default_factory=dict)
    """By whose queue it is about, and its name."""
    use: SharedUse = field(default_factory=SharedUse)
    settlement: SharedSettlement | None = None
    """None: what is used on another's workers is told, and not settled."""

    def is_attached(self, project: str) -> bool:
        """Whether a project is attached now."""
        found = self.attachments.get(project)
        return found is not None and found.phase is AttachmentPhase.ATTACHED

    def given_by(self, project: str) -> list[SharedContribution]:
        """The workers that are a project's."""
        return [each for each in self.contributions.values() if each.project == project]

    @property
    def facts(self) -> SubmitFacts:
        """What counts for who may submit where."""
        attached = {
            project: each.seq
            for project, each in self.attachments.items()
            if each.phase is AttachmentPhase.ATTACHED
        }
        return SubmitFacts(attached, tuple(self.policies.values()), self.runtime.is_leaving)


@dataclass(slots=True)
class SharedBook:
    """All shared runtimes."""

    serial: int = 0
    held: dict[int, HeldRuntime] = field(default_factory=dict)
    names: dict[tuple[str, str], int] = field(default_factory=dict)
    by_instance: dict[int, int] = field(default_factory=dict)
    """The runtime that an instance is behind."""

    def get(self, tenant: str, name: str) -> HeldRuntime:
        """The tenant's runtime of that name; that of another tenant is not there."""
        found = self.find(tenant, name)
        if found is None:
            raise NotFound("shared runtime", name)
        return found

    def find(self, tenant: str, name: str) -> HeldRuntime | None:
        """The same, or nothing."""
        number = self.names.get((tenant, name))
        return None if number is None else self.held[number]

    def behind(self, instance_id: int) -> HeldRuntime | None:
        """The runtime that an instance is behind, if it is behind one."""
        number = self.by_instance.get(instance_id)
        return None if number is None else self.held[number]

    def of(self, tenant: str) -> Iterator[HeldRuntime]:
        """The runtimes of a tenant, oldest first."""
        return (each for each in self.held.values() if each.runtime.tenant == tenant)

    def serves(self, instance_id: int, project: str) -> bool:
        """Whether an instance serves a project, as far as attachments go: one without, all."""
        held = self.behind(instance_id)
        if held is None:
            return True
        return held.is_attached(project) and not held.runtime.is_leaving
