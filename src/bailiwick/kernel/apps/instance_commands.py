"""Commands about instances: request, change, report, delete; their members; their operations.

Rules:

- Each names the project whose instance it is about: that of another project is never reached.
- Parameters come as canonical JSON. Metadata is text of the operator's own; nothing reads it.
- A member is named by its component key, never by a machine: where it runs the platform picks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from json import dumps
from typing import Final, TypeAlias

from bailiwick.apps.manifest import MEMBERS_MAX, ROLES_MAX
from bailiwick.apps.semver import check_version
from bailiwick.journal.fields import INTEGER_MAX, PRINCIPAL
from bailiwick.kernel.apps.names import check_app
from bailiwick.kernel.checks import check_id
from bailiwick.vocab.apps import (
    ControlPlaneScope,
    InstancePhase,
    MemberAction,
    MemberPhase,
    OperatingMode,
)
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.strict_json import JsonRefused, StrictJson
from bailiwick.vocab.values import check_integer, check_kind, check_name

PARAMETERS_BYTES_MAX: Final = 16_384
METADATA_BYTES_MAX: Final = 4_096
REASON_MAX: Final = 256
TITLE_MAX: Final = 128
LINES_MAX: Final = 16
"""Lines of a log that are added at a time."""
RESULT_MAX: Final = 1_024

REPORTED: Final = (InstancePhase.RUNNING, InstancePhase.DEGRADED, InstancePhase.FAILED)
"""What an operator may say of an instance; all else follows from what happens."""

MOVED: Final = (MemberPhase.JOINING, MemberPhase.READY, MemberPhase.FAILED, MemberPhase.REMOVED)
"""Where a member comes by what happens to it; to drain one somebody says so."""

_JSON: Final = StrictJson(bytes_max=PARAMETERS_BYTES_MAX, is_bare=True)
_NO_TEXT: Final = re.compile(r"[\ud800-\udfff]")
_NO_LINE: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def read_parameters(text: str) -> dict[str, object]:
    """The parameters that canonical JSON spells; any other spelling is refused."""
    check_text("parameters", text, bytes_max=PARAMETERS_BYTES_MAX)
    try:
        found = _JSON.read(text.encode())
    except JsonRefused as error:
        raise InvalidValue("parameters", text[:80], f"JSON ({error})") from None
    if not isinstance(found, dict) or spell_parameters(found) != text:
        raise InvalidValue("parameters", text[:80], "an object in canonical form")
    return found


def spell_parameters(found: Mapping[str, object]) -> str:
    """The one spelling of parameters: keys in order, no space."""
    return dumps(found, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def check_text(name: str, value: object, *, bytes_max: int) -> str:
    """The value if it is a text of so many bytes at most."""
    text = check_kind(name, value, str)
    if _NO_TEXT.search(text):
        raise InvalidValue(name, "(not shown)", "text without lone surrogates")
    size = len(text.encode())
    if size > bytes_max:
        raise InvalidValue(name, f"{size} bytes", f"at most {bytes_max} bytes")
    return text


def _check_line(name: str, value: object, *, most: int) -> str:
    line = check_kind(name, value, str)
    if len(line) > most or _NO_LINE.search(line):
        raise InvalidValue(name, line[:80], f"one line of at most {most} characters")
    return line


def _check_counts(counts: object) -> dict[str, int]:
    if not isinstance(counts, Mapping) or len(counts) > ROLES_MAX:
        raise InvalidValue("counts", counts, f"numbers of at most {ROLES_MAX} roles")
    found = dict(counts)
    for role, count in found.items():
        check_name("counts", role)
        check_integer(f"counts.{role}", count, low=0, high=MEMBERS_MAX)
    return {role: found[role] for role in sorted(found)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfProject:
    tenant: str
    project: str

    def _check_project(self) -> None:
        check_name("tenant", self.tenant)
        check_name("project", self.project)


@dataclass(frozen=True, slots=True, kw_only=True)
class _OfInstance(_OfProject):
    instance_id: int

    def _check_instance(self) -> None:
        self._check_project()
        check_id("instance_id", self.instance_id)

    def __post_init__(self) -> None:
        self._check_instance()


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestInstance(_OfProject):
    """An instance of an app for a project; a role without a count has its least."""

    name: str
    app: str
    version: str
    parameters: str = "{}"
    counts: Mapping[str, int] = field(default_factory=dict)
    mode: OperatingMode = OperatingMode.TENANT_DEDICATED
    scope: ControlPlaneScope = ControlPlaneScope.PROJECT
    metadata: str = ""

    def __post_init__(self) -> None:
        self._check_project()
        check_name("name", self.name)
        check_app(self.app)
        check_version("version", self.version)
        read_parameters(self.parameters)
        object.__setattr__(self, "counts", _check_counts(self.counts))
        check_kind("mode", self.mode, OperatingMode)
        check_kind("scope", self.scope, ControlPlaneScope)
        check_text("metadata", self.metadata, bytes_max=METADATA_BYTES_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeInstance(_OfInstance):
    """What an instance is to be from now on; what is ``None`` stays. Counts are merged."""

    revision: int | None = None
    version: str | None = None
    rollback: bool = False
    """Back to what it last ran as."""
    parameters: str | None = None
    counts: Mapping[str, int] | None = None
    paused: bool | None = None
    metadata: str | None = None

    def __post_init__(self) -> None:
        self._check_instance()
        _check_revision(self.revision)
        if self.version is not None:
            check_version("version", self.version)
        check_kind("rollback", self.rollback, bool)
        if self.rollback and (self.version, self.parameters, self.counts) != (None, None, None):
            raise InvalidValue("rollback", True, "nothing else to be changed with it")
        if self.parameters is not None:
            read_parameters(self.parameters)
        if self.counts is not None:
            object.__setattr__(self, "counts", _check_counts(self.counts))
        if self.paused is not None:
            check_kind("paused", self.paused, bool)
        if self.metadata is not None:
            check_text("metadata", self.metadata, bytes_max=METADATA_BYTES_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportInstance(_OfInstance):
    """What the operator of an instance sees of it, and of which generation."""

    revision: int
    observed_generation: int
    phase: InstancePhase | None = None
    reason: str = ""
    metadata: str | None = None

    def __post_init__(self) -> None:
        self._check_instance()
        check_integer("revision", self.revision, low=1, high=INTEGER_MAX)
        check_integer("observed_generation", self.observed_generation, low=1, high=INTEGER_MAX)
        if self.phase is not None and self.phase not in REPORTED:
            raise InvalidValue("phase", self.phase, "one of " + ", ".join(REPORTED))
        _check_line("reason", self.reason, most=REASON_MAX)
        if self.metadata is not None:
            check_text("metadata", self.metadata, bytes_max=METADATA_BYTES_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteInstance(_OfInstance):
    """An instance is to go; it is gone when its members are, and its operator says so."""

    revision: int | None = None

    def __post_init__(self) -> None:
        self._check_instance()
        _check_revision(self.revision)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteDeletionOverdue(_OfInstance):
    """The time limit of a deletion is over: a person decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishDeletion(_OfInstance):
    """Nothing is left of an instance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForceDeletion(_OfInstance):
    """Have done with an instance whose deletion is overdue, whatever is left of it."""

    reason: str

    def __post_init__(self) -> None:
        self._check_instance()
        if not _check_line("reason", self.reason, most=REASON_MAX).strip():
            raise InvalidValue("reason", self.reason, "why it is forced")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeMember(_OfInstance):
    """Add, drain, remove or replace a member; the same again under its key does nothing."""

    action: MemberAction
    component_key: str
    key: str
    role: str | None = None
    member_id: int | None = None
    """Who it has to be that is called so; none: whoever is."""

    def __post_init__(self) -> None:
        self._check_instance()
        check_kind("action", self.action, MemberAction)
        if self.member_id is not None:
            check_id("member_id", self.member_id)
            if self.action is MemberAction.ADD:
                raise InvalidValue("member_id", self.member_id, "none of a member to add")
        check_name("component_key", self.component_key)
        PRINCIPAL.check("key", self.key)
        if (self.action is MemberAction.ADD) != (self.role is not None):
            raise InvalidValue("role", self.role, "the role of a member to add, else none")
        if self.role is not None:
            check_name("role", self.role)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveMember(_OfInstance):
    """How far a member has come, on which lease and as which job; what is ``None`` stays."""

    member_id: int
    phase: MemberPhase
    lease_id: int | None = None
    job_id: int | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        self._check_instance()
        check_id("member_id", self.member_id)
        if self.phase not in MOVED:
            raise InvalidValue("phase", self.phase, "one of " + ", ".join(MOVED))
        for name in ("lease_id", "job_id"):
            if getattr(self, name) is not None:
                check_id(name, getattr(self, name))
        if self.reason is not None:
            check_name("reason", self.reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginOperation(_OfInstance):
    """A task of an instance's operator; the same again under its key does nothing."""

    key: str
    title: str

    def __post_init__(self) -> None:
        self._check_instance()
        PRINCIPAL.check("key", self.key)
        _check_line("title", self.title, most=TITLE_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvanceOperation(_OfInstance):
    """How far a piece of work has come, in hundredths, and what is to be said of it."""

    operation_id: int
    progress: int | None = None
    log: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._check_instance()
        check_id("operation_id", self.operation_id)
        if self.progress is not None:
            check_integer("progress", self.progress, low=0, high=100)
        check_kind("log", self.log, tuple)
        check_integer("log", len(self.log), low=0, high=LINES_MAX)
        for line in self.log:
            _check_line("log", line, most=REASON_MAX)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishOperation(_OfInstance):
    """A task is over; other work ends by what happens."""

    operation_id: int
    succeeded: bool
    result: str = ""

    def __post_init__(self) -> None:
        self._check_instance()
        check_id("operation_id", self.operation_id)
        check_kind("succeeded", self.succeeded, bool)
        _check_line("result", self.result, most=RESULT_MAX)


def _check_revision(revision: int | None) -> None:
    if revision is not None:
        check_integer("revision", revision, low=1, high=INTEGER_MAX)


LifeCommand: TypeAlias = (
    RequestInstance
    | ChangeInstance
    | ReportInstance
    | DeleteInstance
    | NoteDeletionOverdue
    | FinishDeletion
    | ForceDeletion
)
MemberCommand: TypeAlias = (
    ChangeMember | MoveMember | BeginOperation | AdvanceOperation | FinishOperation
)
InstanceCommand: TypeAlias = LifeCommand | MemberCommand
