"""One version of an app as it is written down: what it is made of, what it needs, how it lives.

Rules:

- A version is what its canonical form says (RFC 8785 JSON), and is known by that form's SHA-256.
  Reading the canonical form gives an equal manifest.
- Artifacts are named by digest. A tag names other bytes tomorrow, so none is taken.
- Each role has a shape: a member is a lease, and a lease is of something.
- Scheduler words and backends are opaque here: nothing in the platform decides by them.
- What equals its default is left out of the canonical form, and what has no order is sorted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from json import dumps
from typing import Any, Final

from bailiwick.apps.endpoints.spec import EndpointSpec
from bailiwick.vocab.apps import (
    ArtifactKind,
    ControlPlaneScope,
    DataOnRollback,
    OperatingMode,
    Privilege,
)
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.permissions import Permission
from bailiwick.vocab.units import spell_bytes, spell_span
from bailiwick.vocab.values import MILLI, check_integer
from bailiwick.vocab.words import Exclusivity, HardwareGeneration, LeaseClass

ROLES_MAX: Final = 16
MEMBERS_MAX: Final = 1_000
"""Members of one role, and of one instance."""
TEXT_MAX: Final = 1_000
RUNBOOK_MAX: Final = 20_000
COMMAND_MAX: Final = 64
READY_WITHIN_MS: Final = 300_000
DELETE_WITHIN_MS: Final = 600_000
WITHIN_MAX_MS: Final = 7 * 86_400_000
HEADINGS: Final = ("symptom", "correlation id", "steps")
"""What a runbook has headings for: what is seen, how to follow it, what to do."""

SLUG: Final = re.compile(r"[a-z](?:[a-z0-9-]{0,29}[a-z0-9])?")
DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_WORD: Final = re.compile(r"[a-z][a-z0-9_-]{0,30}")

Plain = dict[str, Any]


def check_slug(field: str, value: object) -> str:
    """The value if it can name an app or a part of one."""
    if not isinstance(value, str) or not SLUG.fullmatch(value):
        raise InvalidValue(field, value, "1 to 31 small letters, digits or '-', a letter first")
    return value


def check_word(field: str, value: object) -> str:
    """The value if it is a short word that the platform only passes on."""
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        raise InvalidValue(field, value, "1 to 31 small letters, digits, '_' or '-'")
    return value


def check_digest(field: str, value: object) -> str:
    """The value if it names bytes and nothing else can be meant."""
    if not isinstance(value, str) or not DIGEST.fullmatch(value):
        raise InvalidValue(field, value, "sha256: and 64 digits; a tag may name other bytes later")
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleShape:
    """What one member of a role holds."""

    cpu_milli: int = 0
    mem_bytes: int = 0
    block_bytes: int = 0
    gpu_count: int = 0
    gpu_milli: int = 0
    gpu_vram: int = 0
    generation: HardwareGeneration | None = None
    exclusivity: Exclusivity | None = None
    lease_class: LeaseClass = LeaseClass.STANDARD

    def __post_init__(self) -> None:
        gpus = self.gpu_count or self.gpu_milli
        if (self.generation or self.exclusivity or self.gpu_vram) and not gpus:
            raise InvalidValue("gpus", 0, "a GPU, since something is said about it")
        if not (gpus or self.cpu_milli or self.mem_bytes or self.block_bytes):
            raise InvalidValue("shape", 0, "at least one resource above zero")

    def plain(self) -> Plain:
        """As the manifest spells it."""
        found: Plain = {}
        if self.cpu_milli:
            found["cpus"] = _milli(self.cpu_milli)
        for word, count in (("mem", self.mem_bytes), ("block", self.block_bytes)):
            if count:
                found[word] = spell_bytes(count)
        if self.gpu_count or self.gpu_milli:
            found["gpus"] = _milli(self.gpu_count * MILLI or self.gpu_milli)
        if self.gpu_vram:
            found["vram"] = spell_bytes(self.gpu_vram)
        if self.generation is not None:
            found["generation"] = self.generation.value
        if self.exclusivity is not None:
            found["exclusivity"] = self.exclusivity.value
        if self.lease_class is not LeaseClass.STANDARD:
            found["class"] = self.lease_class.value
        return found


def _milli(milli: int) -> int | str:
    """A number of thousandths, without a fraction that a reader could round."""
    whole, rest = divmod(milli, MILLI)
    return f"{whole}.{rest:03}".rstrip("0") if rest else whole


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleSpec:
    """One logical role of an app: how many members, what each holds and runs."""

    count: tuple[int, int]
    shape: RoleShape
    artifact: str
    command: tuple[str, ...] = ()
    privileges: Privilege = Privilege.SANDBOX
    control_plane: bool = False
    ask: tuple[str, ...] = ()
    """The one program that the operator of a shared runtime runs inside such a member."""

    def __post_init__(self) -> None:
        least, most = self.count
        check_integer("count", least, low=0, high=MEMBERS_MAX)
        check_integer("count", most, low=1, high=MEMBERS_MAX)
        if least > most:
            raise InvalidValue("count", list(self.count), "the least first, then the most")
        for name, words in (("command", self.command), ("ask", self.ask)):
            if len(words) > COMMAND_MAX or any(len(each) > TEXT_MAX for each in words):
                expected = f"at most {COMMAND_MAX} words of {TEXT_MAX} characters"
                raise InvalidValue(name, "(not shown)", expected)

    def plain(self) -> Plain:
        """As the manifest spells it."""
        found: Plain = {
            "count": list(self.count),
            "shape": self.shape.plain(),
            "artifact": self.artifact,
        }
        if self.command:
            found["command"] = list(self.command)
        if self.privileges is not Privilege.SANDBOX:
            found["privileges"] = self.privileges.value
        if self.control_plane:
            found["control_plane"] = True
        if self.ask:
            found["ask"] = list(self.ask)
        return found


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """Bytes that an app is made of: how they are stored, which they are, and where from."""

    kind: ArtifactKind
    digest: str
    source: str

    def __post_init__(self) -> None:
        check_digest("digest", self.digest)
        check_word("source", self.source)

    def plain(self) -> Plain:
        """As the manifest spells it."""
        return {"kind": self.kind.value, "digest": self.digest, "source": self.source}


@dataclass(frozen=True, kw_only=True)  # no slots: the canonical form is kept beside it
class Manifest:
    """One version of an app."""

    app: str
    version: str
    title: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object"})
    roles: Mapping[str, RoleSpec]
    artifacts: Mapping[str, ArtifactRef]
    endpoints: Mapping[str, EndpointSpec] = field(default_factory=dict)
    """What members serve to people."""
    permissions: tuple[Permission, ...] = ()
    operating_modes: tuple[OperatingMode, ...] = (OperatingMode.TENANT_DEDICATED,)
    control_plane_scopes: tuple[ControlPlaneScope, ...] = (ControlPlaneScope.PROJECT,)
    runtime_backend: str
    scheduler_types: tuple[str, ...] = ()
    upgrades: tuple[tuple[str, str], ...] = ()
    """From which version to which; one of the two is this one."""
    rollback_data: DataOnRollback = DataOnRollback.KEPT
    ready_within_ms: int = READY_WITHIN_MS
    delete_within_ms: int = DELETE_WITHIN_MS
    billing_units: tuple[str, ...] = ()
    runbook: str

    @property
    def asks_host(self) -> bool:
        """Whether a role of it wants to do more than a sandbox lets it."""
        return any(role.privileges is Privilege.HOST for role in self.roles.values())

    def plain(self) -> Plain:
        """As a manifest spells it: what its file could say."""
        found: Plain = {
            "app": self.app,
            "version": self.version,
            "title": self.title,
            "parameters": self.parameters,
            "roles": {name: role.plain() for name, role in self.roles.items()},
            "artifacts": {name: each.plain() for name, each in self.artifacts.items()},
            "operating_modes": sorted(self.operating_modes),
            "control_plane_scopes": sorted(self.control_plane_scopes),
            "runtime_backend": self.runtime_backend,
            "rollback": {"data": self.rollback_data.value},
            "health": {"ready_within": spell_span(self.ready_within_ms)},
            "delete": {"within": spell_span(self.delete_within_ms)},
            "runbook": self.runbook,
        }
        if self.description:
            found["description"] = self.description
        for word, values in (
            ("permissions", self.permissions),
            ("scheduler_types", self.scheduler_types),
            ("billing_units", self.billing_units),
        ):
            if values:
                found[word] = sorted(values)
        if self.endpoints:
            found["endpoints"] = {name: each.plain() for name, each in self.endpoints.items()}
        if self.upgrades:
            found["upgrades"] = [{"from": one, "to": to} for one, to in sorted(self.upgrades)]
        return found

    @cached_property
    def canonical(self) -> str:
        """The one spelling of it: RFC 8785 JSON."""
        # Keys are ASCII and numbers whole (checked when read): sorted and compact is canonical.
        return dumps(self.plain(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @cached_property
    def digest(self) -> str:
        """What it is known by."""
        return "sha256:" + sha256(self.canonical.encode()).hexdigest()
