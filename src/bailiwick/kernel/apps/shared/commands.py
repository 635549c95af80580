"""Commands about shared runtimes: made, joined, given workers, opened to others, ended.

Rules:

- Each names the tenant and the runtime; what a project does names the project as well.
- Who consents is named (``by``): two consents of one person are one.
- A credential never comes here; that it was used does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from bailiwick.apps.semver import check_version
from bailiwick.journal.fields import DIGEST, INTEGER_MAX, NAME, PRINCIPAL
from bailiwick.kernel.apps.instance_commands import RequestInstance
from bailiwick.kernel.apps.names import check_app
from bailiwick.kernel.apps.shared.use_commands import (
    ReportSharedUse,
    SetSharedSettlement,
    check_rates,
)
from bailiwick.vocab.apps import ControlPlaneScope
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.shared import ConsentSide, WorkerAction
from bailiwick.vocab.values import check_integer, check_kind, check_name

WITHDRAW_MS, WITHDRAW_MS_MAX = 300_000, 86_400_000
"""Within which time a project gets a worker back that it withdraws, unless another is agreed."""
LABELS_MAX: Final = 8
LIMITS_MAX: Final = 8
LIMIT_MAX: Final = 10**12


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfRuntime:
    tenant: str
    runtime: str

    def _check_runtime(self) -> None:
        check_name("tenant", self.tenant)
        check_name("runtime", self.runtime)

    def __post_init__(self) -> None:
        self._check_runtime()


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfProject(_OfRuntime):
    project: str

    def _check_project(self) -> None:
        self._check_runtime()
        check_name("project", self.project)

    def __post_init__(self) -> None:
        self._check_project()


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSharedRuntime(_OfProject):
    """An app for several projects of a tenant; ``project`` is the owner record that pays for it.

    ``controller`` are the labels of nodes on which what steers it may run, as the tenant chose;
    none: any node.
    """

    environment: str
    app: str
    version: str
    accepted_digest: str
    by: str
    parameters: str = "{}"
    counts: Mapping[str, int] = field(default_factory=dict)
    controller: Mapping[str, str] = field(default_factory=dict)
    withdraw_within_ms: int = WITHDRAW_MS
    rates: Mapping[str, int] | None = None
    """Micros for a unit used on another project's workers; none: it is told, and not settled."""

    def __post_init__(self) -> None:
        self._check_project()
        check_name("environment", self.environment)
        check_app(self.app)
        check_version("version", self.version)
        DIGEST.check("accepted_digest", self.accepted_digest)
        PRINCIPAL.check("by", self.by)
        object.__setattr__(self, "counts", self.request.counts)
        if not isinstance(self.controller, Mapping) or len(self.controller) > LABELS_MAX:
            raise InvalidValue("controller", self.controller, f"at most {LABELS_MAX} labels")
        for key, value in self.controller.items():
            NAME.check("controller", key)
            NAME.check(f"controller.{key}", value)
        object.__setattr__(self, "controller", dict(sorted(self.controller.items())))
        check_integer("withdraw_within_ms", self.withdraw_within_ms, low=0, high=WITHDRAW_MS_MAX)
        if self.rates is not None:
            object.__setattr__(self, "rates", check_rates(self.rates) or None)

    @property
    def request(self) -> RequestInstance:
        """The instance that it would be, as its owner record's project could ask for it."""
        return RequestInstance(
            tenant=self.tenant,
            project=self.project,
            name=self.runtime,
            app=self.app,
            version=self.version,
            parameters=self.parameters,
            counts=self.counts,
            scope=ControlPlaneScope.TENANT,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSharedRuntime(_OfRuntime):
    """A runtime is to go: every project is detached, and its instance is deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentAttachment(_OfProject):
    """One side has a project attached; it is, once the other side has said so too."""

    side: ConsentSide
    by: str

    def __post_init__(self) -> None:
        self._check_project()
        check_kind("side", self.side, ConsentSide)
        PRINCIPAL.check("by", self.by)


@dataclass(frozen=True, slots=True, kw_only=True)
class DetachProject(_OfProject):
    """Either side ends an attachment, or takes its consent back."""

    side: ConsentSide

    def __post_init__(self) -> None:
        self._check_project()
        check_kind("side", self.side, ConsentSide)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishDetachment(_OfProject):
    """Nothing of a project that is being detached is left inside the runtime."""

    def __post_init__(self) -> None:
        self._check_project()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeContribution(_OfProject):
    """A project gives a worker, drains one of its own, or takes it back within a time."""

    action: WorkerAction
    component_key: str
    key: str
    role: str | None = None
    within_ms: int | None = None
    """Until a withdrawn worker ends; none: the time that was agreed."""

    def __post_init__(self) -> None:
        self._check_project()
        check_kind("action", self.action, WorkerAction)
        check_name("component_key", self.component_key)
        PRINCIPAL.check("key", self.key)
        if (self.action is WorkerAction.CONTRIBUTE) != (self.role is not None):
            raise InvalidValue("role", self.role, "the role of a worker to contribute, else none")
        if self.role is not None:
            check_name("role", self.role)
        if self.within_ms is not None:
            check_integer("within_ms", self.within_ms, low=0, high=WITHDRAW_MS_MAX)
            if self.action is not WorkerAction.WITHDRAW:
                raise InvalidValue("within_ms", self.within_ms, "none but of a withdrawal")


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSubmitPolicy(_OfProject):
    """A project lets another project, or a person, use one of its queues until a time."""

    policy: str
    queue: str
    until_ms: int
    grantee_project: str | None = None
    grantee_person: str | None = None
    limits: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_project()
        check_name("policy", self.policy)
        check_name("queue", self.queue)
        check_integer("until_ms", self.until_ms, low=1, high=INTEGER_MAX)
        if (self.grantee_project is None) == (self.grantee_person is None):
            raise InvalidValue("grantee_project", self.grantee_project, "a project or a person")
        if self.grantee_project is not None:
            check_name("grantee_project", self.grantee_project)
        if self.grantee_person is not None:
            PRINCIPAL.check("grantee_person", self.grantee_person)
        if not isinstance(self.limits, Mapping) or len(self.limits) > LIMITS_MAX:
            raise InvalidValue("limits", self.limits, f"at most {LIMITS_MAX} numbers")
        for name, limit in self.limits.items():
            check_name("limits", name)
            check_integer(f"limits.{name}", limit, low=0, high=LIMIT_MAX)
        object.__setattr__(self, "limits", dict(sorted(self.limits.items())))


@dataclass(frozen=True, slots=True, kw_only=True)
class EndSubmitPolicy(_OfProject):
    """A project takes a policy back."""

    policy: str

    def __post_init__(self) -> None:
        self._check_project()
        check_name("policy", self.policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteCredentialUse(_OfRuntime):
    """Somebody used a credential that the tenant keeps for a runtime, and what for."""

    credential: str
    purpose: str
    by: str

    def __post_init__(self) -> None:
        self._check_runtime()
        check_name("credential", self.credential)
        check_name("purpose", self.purpose)
        PRINCIPAL.check("by", self.by)


SharedCommand: TypeAlias = (
    CreateSharedRuntime
    | DeleteSharedRuntime
    | ConsentAttachment
    | DetachProject
    | FinishDetachment
    | ChangeContribution
    | SetSubmitPolicy
    | EndSubmitPolicy
    | NoteCredentialUse
    | ReportSharedUse
    | SetSharedSettlement
)
