"""What happened to instances, their members and their operations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self, TypeAlias

from bailiwick.journal.fields import TEXT_MAX
from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.apps.instances import AppInstance, AppMember, AppOperation
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import Body
from bailiwick.vocab.apps import (
    ControlPlaneScope,
    DataOnRollback,
    InstanceChange,
    InstancePhase,
    MemberPhase,
    OperatingMode,
    OperationKind,
    OperationPhase,
)


def _pieces(text: str) -> list[str]:
    return [text[at : at + TEXT_MAX] for at in range(0, len(text), TEXT_MAX)]


def _labels(counts: Mapping[str, int]) -> list[str]:
    return [f"{role}={count}" for role, count in counts.items()]


def _counts(labels: list[str]) -> dict[str, int]:
    rows = (each.rsplit("=", 1) for each in labels)
    return {role: int(count) for role, count in rows}


def _told(**fields: int | str | list[str] | None) -> Body:
    """Those that say something."""
    return {name: value for name, value in fields.items() if value is not None}


@dataclass(frozen=True, slots=True)
class AppInstanceRequested:
    """A project wants an instance of an app."""

    kind: ClassVar = RecordKind.APP_INSTANCE_REQUESTED
    owner: Owner
    instance_id: int
    app: str
    name: str
    version: str
    mode: OperatingMode
    scope: ControlPlaneScope
    backend: str
    parameters: str
    counts: Mapping[str, int]
    metadata: str = ""

    def body(self) -> Body:
        """All that is wanted."""
        body: Body = {
            "instance_id": self.instance_id,
            "app": self.app,
            "name": self.name,
            "version": self.version,
            "operating_mode": self.mode.value,
            "control_plane_scope": self.scope.value,
            "runtime_backend": self.backend,
            "parameters": _pieces(self.parameters),
            "counts": _labels(self.counts),
        }
        return body | ({"metadata": _pieces(self.metadata)} if self.metadata else {})

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(
            owner,
            body["instance_id"],
            body["app"],
            body["name"],
            body["version"],
            OperatingMode(body["operating_mode"]),
            ControlPlaneScope(body["control_plane_scope"]),
            body["runtime_backend"],
            "".join(body["parameters"]),
            _counts(body["counts"]),
            "".join(body.get("metadata", ())),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AppInstanceChanged:
    """An instance is to be something else: what of it, and since which generation."""

    kind: ClassVar = RecordKind.APP_INSTANCE_CHANGED
    owner: Owner
    instance_id: int
    app: str
    change: InstanceChange
    generation: int
    before: str | None = None
    """The version before."""
    version: str | None = None
    parameters: str | None = None
    counts: Mapping[str, int] | None = None
    metadata: str | None = None
    data: DataOnRollback | None = None
    """What becomes of its data."""
    deadline_ms: int | None = None
    """By when it is to be deleted."""

    def body(self) -> Body:
        """What was changed, and nothing else."""
        return _told(
            instance_id=self.instance_id,
            app=self.app,
            change=self.change.value,
            generation=self.generation,
            before=self.before,
            version=self.version,
            parameters=None if self.parameters is None else _pieces(self.parameters),
            counts=None if self.counts is None else _labels(self.counts),
            metadata=None if self.metadata is None else _pieces(self.metadata),
            data=None if self.data is None else self.data.value,
            deadline_ms=self.deadline_ms,
        )

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(
            owner=owner,
            instance_id=body["instance_id"],
            app=body["app"],
            change=InstanceChange(body["change"]),
            generation=body["generation"],
            before=body.get("before"),
            version=body.get("version"),
            parameters="".join(body["parameters"]) if "parameters" in body else None,
            counts=_counts(body["counts"]) if "counts" in body else None,
            metadata="".join(body["metadata"]) if "metadata" in body else None,
            data=DataOnRollback(body["data"]) if "data" in body else None,
            deadline_ms=body.get("deadline_ms"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AppInstanceMoved:
    """How far an instance has come, and what its operator said."""

    kind: ClassVar = RecordKind.APP_INSTANCE_MOVED
    owner: Owner
    instance_id: int
    app: str
    before: InstancePhase
    phase: InstancePhase
    generation: int
    observed_generation: int
    reported: InstancePhase | None = None
    reason: str = ""
    metadata: str | None = None
    overdue: bool = False
    forced: bool = False

    @classmethod
    def of(cls, instance: AppInstance, phase: InstancePhase) -> Self:
        """An instance comes to be in a phase; what its operator said stays."""
        i = instance
        return cls(
            owner=i.owner,
            instance_id=i.id,
            app=i.app,
            before=i.phase,
            phase=phase,
            generation=i.generation,
            observed_generation=i.observed_generation,
            reported=i.reported,
            reason=i.reason,
            overdue=i.is_overdue,
        )

    def body(self) -> Body:
        """The phase before and after, and what is known of why."""
        return _told(
            instance_id=self.instance_id,
            app=self.app,
            before=self.before.value,
            phase=self.phase.value,
            generation=self.generation,
            observed_generation=self.observed_generation,
            reported=None if self.reported is None else self.reported.value,
            reason=self.reason or None,
            metadata=None if self.metadata is None else _pieces(self.metadata),
            overdue=int(self.overdue) or None,
            forced=int(self.forced) or None,
        )

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(
            owner=owner,
            instance_id=body["instance_id"],
            app=body["app"],
            before=InstancePhase(body["before"]),
            phase=InstancePhase(body["phase"]),
            generation=body["generation"],
            observed_generation=body["observed_generation"],
            reported=InstancePhase(body["reported"]) if "reported" in body else None,
            reason=body.get("reason", ""),
            metadata="".join(body["metadata"]) if "metadata" in body else None,
            overdue=bool(body.get("overdue", 0)),
            forced=bool(body.get("forced", 0)),
        )


@dataclass(frozen=True, slots=True)
class AppMemberChanged:
    """A member as it is now, and how far it was before."""

    kind: ClassVar = RecordKind.APP_MEMBER_CHANGED
    owner: Owner
    app: str
    member: AppMember
    before: MemberPhase | None = None
    """``None``: it is new."""

    def body(self) -> Body:
        """All of it."""
        m = self.member
        return _told(
            instance_id=m.instance_id,
            app=self.app,
            member_id=m.id,
            role=m.role,
            component_key=m.component_key,
            version=m.version,
            phase=m.phase.value,
            before=None if self.before is None else self.before.value,
            lease_id=m.lease_id,
            job_id=m.job_id,
            reason=m.reason,
            deadline_ms=m.deadline_ms,
            forced=int(m.forced) or None,
            source_project=m.source,
        )

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells; when it was, the record says."""
        member = AppMember(
            id=body["member_id"],
            instance_id=body["instance_id"],
            role=body["role"],
            component_key=body["component_key"],
            version=body["version"],
            phase=MemberPhase(body["phase"]),
            lease_id=body.get("lease_id"),
            job_id=body.get("job_id"),
            reason=body.get("reason"),
            deadline_ms=body.get("deadline_ms"),
            forced=bool(body.get("forced", 0)),
            source=body.get("source_project"),
        )
        before = MemberPhase(body["before"]) if "before" in body else None
        return cls(owner, body["app"], member, before)


@dataclass(frozen=True, slots=True)
class AppOperationChanged:
    """An operation as it is now; of its log, the lines that are new."""

    kind: ClassVar = RecordKind.APP_OPERATION_CHANGED
    owner: Owner
    app: str
    operation: AppOperation

    def about(
        self,
        key: str,
        *,
        component_key: str | None = None,
        member_id: int | None = None,
        title: str = "",
    ) -> Self:
        """The same, under a key, and of what it is."""
        told = replace(self.operation, key=key, component_key=component_key, title=title)
        return replace(self, operation=replace(told, member_id=member_id))

    def body(self) -> Body:
        """All of it but when it began and ended, which the records say."""
        o = self.operation
        return _told(
            instance_id=o.instance_id,
            app=self.app,
            operation_id=o.id,
            operation=o.kind.value,
            phase=o.phase.value,
            progress=o.progress,
            generation=o.generation,
            component_key=o.component_key,
            operation_key=o.key,
            member_id=o.member_id,
            title=o.title or None,
            log=list(o.log) or None,
            result=o.result or None,
        )

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        operation = AppOperation(
            id=body["operation_id"],
            instance_id=body["instance_id"],
            kind=OperationKind(body["operation"]),
            phase=OperationPhase(body["phase"]),
            key=body.get("operation_key"),
            component_key=body.get("component_key"),
            member_id=body.get("member_id"),
            title=body.get("title", ""),
            generation=body.get("generation", 0),
            progress=body["progress"],
            log=tuple(body.get("log", ())),
            result=body.get("result", ""),
        )
        return cls(owner, body["app"], operation)


InstanceEvent: TypeAlias = (
    AppInstanceRequested
    | AppInstanceChanged
    | AppInstanceMoved
    | AppMemberChanged
    | AppOperationChanged
)
