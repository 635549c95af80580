"""What an operator's function can do for the instance that it looks at.

Rules:

- What is said of an instance is said of the revision that was read. If it changed meanwhile it is
  read again: if what is wanted is still the same, it is said again; else the function begins anew
  (``Outdated``).
- What is done to a member is done under a key that follows from the state that was seen. Done again
  from the same state, by the same replica or another, before or after a kill, it happens once.
- Nothing is sent by a replica that does not lead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from re import compile as pattern
from typing import Final

from bailiwick.client import Client, Refusal
from bailiwick.client.http_client import Places
from bailiwick.operators.kit.election import CLAIM, notes_in, spell_notes
from bailiwick.operators.kit.inside import WITHIN_S, RanInside, run_inside
from bailiwick.operators.kit.logs import KitLog
from bailiwick.operators.kit.secrets import SecretFile
from bailiwick.operators.kit.tasks import OperatorTask
from bailiwick.vocab.apps import (
    InstancePhase,
    MemberAction,
    MemberPhase,
    OperationKind,
    OperationPhase,
)
from bailiwick.vocab.errors import ErrorCode, InvalidValue
from bailiwick.wire.actions.instances import (
    INSTANCE_CHANGE,
    INSTANCE_MEMBER_CHANGE,
    INSTANCE_MEMBER_LIST,
    INSTANCE_OPERATION_BEGIN,
    INSTANCE_OPERATION_LIST,
    INSTANCE_READ,
    INSTANCE_REPORT,
    INSTANCE_USAGE_READ,
    INSTANCE_USAGE_REPORT,
)
from bailiwick.wire.actions.leases import LEASE_READ
from bailiwick.wire.actions.nodes import NODE_READ
from bailiwick.wire.actions.shared import (
    SHARED_ATTACHMENT_FINISH,
    SHARED_RUNTIME_NOTE_USE,
    SHARED_RUNTIME_READ,
    SHARED_USE_REPORT,
)
from bailiwick.wire.fleet import Node
from bailiwick.wire.instances import (
    Instance,
    InstanceChange,
    InstanceMember,
    InstanceMemberChange,
    InstanceReport,
    InstanceUsage,
    InstanceUsageReport,
    NewOperation,
)
from bailiwick.wire.shared import CredentialUse, NewSharedUse, SharedRuntimeView, SharedUseEntry
from bailiwick.wire.work import Lease

TRIES_MAX: Final = 8
_REASON_CHARS_MAX: Final = 256
_SECRET_NAME = pattern(r"[a-z0-9][a-z0-9._-]{0,62}\Z")


class Outdated(Exception):
    """What was seen is not so any more; the function is called again with what is so now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KitTools:
    """What a kit works with."""

    client: Client
    log: KitLog
    may_act: Callable[[], bool]
    """Whether this replica leads."""
    secrets: Path | None = None
    runtime: str | None = None
    """The shared runtime of whose instance it is."""


class Kit:
    """One instance, as it was when the function was called, and what can be done for it."""

    def __init__(self, instance: Instance, etag: str, *, tools: KitTools) -> None:
        self.instance = instance
        self.log = tools.log.about(instance_id=instance.instance_id, generation=instance.generation)
        self._etag, self._tools = etag, tools
        self._members: list[InstanceMember] | None = None
        self._next_report: int | None = None

    @property
    def is_leaving(self) -> bool:
        """Whether the instance is being deleted."""
        return self.instance.phase is InstancePhase.DELETING

    # -- members -----------------------------------------------------------------------------

    @property
    def members(self) -> list[InstanceMember]:
        """Its members, the oldest first; those that failed or are leaving among them."""
        if self._members is None:
            found = self._tools.client.pages(INSTANCE_MEMBER_LIST, path=self._path)
            self._members = found.items
        return self._members

    def add(self, role: str, component_key: str) -> int | None:
        """Have one more member; the number of the operation that this is."""
        serial = max((each.member_id for each in self.members), default=0)
        generation = self.instance.generation
        change = InstanceMemberChange(
            action=MemberAction.ADD, component_key=component_key, role=role
        )
        return self._act(change, f"{generation}/{serial}")

    def drain(self, member: str | int) -> int | None:
        """Have a member go when it has nothing to do any more; by what it is called, or number."""
        return self._take(MemberAction.DRAIN, member)

    def remove(self, member: str | int) -> int | None:
        """Have a member go now."""
        return self._take(MemberAction.REMOVE, member)

    def replace(self, member: str | int) -> int | None:
        """Have another in a member's place."""
        return self._take(MemberAction.REPLACE, member)

    def _take(self, action: MemberAction, member: str | int) -> int | None:
        if isinstance(member, int):
            return self._act(InstanceMemberChange(action=action, member_id=member), str(member))
        newest = max(
            (each.member_id for each in self.members if each.component_key == member),
            default=0,
        )
        return self._act(InstanceMemberChange(action=action, component_key=member), str(newest))

    def _act(self, change: InstanceMemberChange, state: str) -> int | None:
        self._check_leads()
        word = change.action.value
        called = change.component_key or f"member-{change.member_id}"
        key = self._key(word, called, state)
        done = self._tools.client.send_under(
            key, INSTANCE_MEMBER_CHANGE, body=change, path=self._path
        )
        self._told(f"{word} {called}")
        self._members = None
        return done.operation_id

    def run_inside(
        self,
        member: str | int,
        command: Sequence[str],
        *,
        given: bytes = b"",
        within_s: float = WITHIN_S,
    ) -> RanInside:
        """Run a program inside a member that is there, with this on its input; how it ended.

        The member is known by what it is called, or by its number. It needs ``scheduler.job.exec``.
        """
        self._check_leads()
        client, job_id = self._tools.client, self._running(member).job_id or 0
        return run_inside(client, job_id, command=command, given=given, within_s=within_s)

    def lease(self, member: str | int) -> Lease:
        """What a member that is there holds, and where; it needs ``scheduler.lease.read``."""
        lease_id = self._running(member).lease_id
        return self._tools.client.send(LEASE_READ, path={"lease_id": lease_id or 0})

    def node(self, name: str) -> Node:
        """The machine on which a member is; it needs ``scheduler.node.read``."""
        return self._tools.client.send(NODE_READ, path={"node": name})

    def _running(self, member: str | int) -> InstanceMember:
        """The newest member of that name, or the one of that number, that is there."""
        up = (MemberPhase.READY, MemberPhase.DRAINING)
        found = [
            e for e in self.members if member in (e.component_key, e.member_id) and e.phase in up
        ]
        if not found or found[-1].job_id is None:
            raise Outdated(f"{member} does not run")
        return found[-1]

    # -- status ------------------------------------------------------------------------------

    def report(self, *, phase: InstancePhase | None = None, reason: str = "") -> None:
        """Say that what is wanted was seen to, and how the instance is.

        ``phase`` is ``degraded`` or ``failed`` if it is less well than its members look; ``None``
        leaves it to them.
        """
        body = InstanceReport(
            observed_generation=self.instance.generation,
            phase=phase,
            reason=reason[:_REASON_CHARS_MAX] or None,
        )
        self._guarded(
            lambda: self._tools.client.send(
                INSTANCE_REPORT, body=body, path=self._path, etag=self._etag
            )
        )
        self._told("reported", reason=reason or None)

    @property
    def notes(self) -> dict[str, object]:
        """What the operator has written down about this instance."""
        found = notes_in(self.instance.metadata)
        found.pop(CLAIM, None)
        return found

    def write_notes(self, notes: dict[str, object]) -> None:
        """Write something down about this instance, at most about 4,000 characters as JSON."""

        def write() -> None:
            claim = notes_in(self.instance.metadata).get(CLAIM)
            kept = notes if claim is None else {**notes, CLAIM: claim}
            write_metadata(
                self._tools.client, self.instance, etag=self._etag, metadata=spell_notes(kept)
            )

        if notes != self.notes:
            self._guarded(write)
            self._reread()

    def _guarded(self, write: Callable[[], object]) -> None:
        """Write something with ``If-Match``; what changed meanwhile is read again first."""
        for _ in range(TRIES_MAX):
            self._check_leads()
            try:
                write()
            except Refusal as refusal:
                if refusal.problem.code is not ErrorCode.STALE:
                    raise
                self._reread()
            else:
                return
        raise Outdated("it changes too often")

    def _reread(self) -> None:
        generation = self.instance.generation
        found, etag = self._tools.client.send_tagged(INSTANCE_READ, path=self._path)
        if found.generation != generation or etag is None:
            raise Outdated("something else is wanted now")
        self.instance, self._etag = found, etag

    # -- use, in units of the app ------------------------------------------------------------

    def usage(self) -> InstanceUsage:
        """What was told of the instance's use so far, and up to when."""
        return self._tools.client.send(INSTANCE_USAGE_READ, path=self._path)

    def report_usage(
        self, unit: str, quantity: int, *, window: tuple[int, int], component_key: str | None = None
    ) -> None:
        """Tell how much of a unit was used from one time (in ms) to another that is over.

        After a crash begin again where ``usage`` says that it was told until.
        """
        self._check_leads()
        if self._next_report is None:
            self._next_report = self.usage().next_sequence
        body = InstanceUsageReport(
            sequence=self._next_report,
            unit=unit,
            quantity=quantity,
            from_ms=window[0],
            to_ms=window[1],
            component_key=component_key,
        )
        self._tools.client.send(INSTANCE_USAGE_REPORT, body=body, path=self._path)
        self._next_report += 1

    # -- a shared runtime --------------------------------------------------------------------

    def runtime(self) -> SharedRuntimeView:
        """The shared runtime that the instance is behind, with all that its operator may see."""
        return self._tools.client.send(SHARED_RUNTIME_READ, path=self._runtime_path)

    def note_use(self, credential: str, purpose: str) -> None:
        """Have it sealed that a credential of the runtime is used, before it is."""
        self._check_leads()
        body = CredentialUse(credential=credential, purpose=purpose)
        self._tools.client.send(SHARED_RUNTIME_NOTE_USE, body=body, path=self._runtime_path)

    def report_shared_use(
        self, used: Mapping[tuple[str, str, str], int], *, window: tuple[int, int]
    ) -> None:
        """Tell all that was used of the runtime from one time (in ms) to another that is over.

        It is so much by user, by the project whose workers it was used on, and by unit. Go on where
        ``runtime().used_until_ms`` ends.
        """
        self._check_leads()
        rows = [
            SharedUseEntry(user=user, source=source, unit=unit, quantity=quantity)
            for (user, source, unit), quantity in used.items()
        ]
        body = NewSharedUse(from_ms=window[0], to_ms=window[1], rows=rows)
        self._tools.client.send(SHARED_USE_REPORT, body=body, path=self._runtime_path)

    def finish_detachment(self, project: str) -> None:
        """Say that nothing of a project that is being detached is left inside."""
        self._check_leads()
        path = {**self._runtime_path, "project": project}
        self._tools.client.send(SHARED_ATTACHMENT_FINISH, path=path)
        self._told("detached", project=project)

    @property
    def _runtime_path(self) -> Places:
        if self._tools.runtime is None:
            raise InvalidValue("runtime", None, "an operator that looks after a shared runtime")
        return {"tenant": self.instance.tenant, "runtime": self._tools.runtime}

    # -- tasks and secrets -------------------------------------------------------------------

    def task(self, title: str) -> OperatorTask:
        """Work that everybody can follow; a title has one for each generation."""
        self._check_leads()
        if self.instance.generation > self.instance.observed_generation:
            self._end_older_tasks()
        key = self._key("task", title, str(self.instance.generation))
        begun = self._tools.client.send_under(
            key, INSTANCE_OPERATION_BEGIN, body=NewOperation(title=title), path=self._path
        )
        assert begun.operation_id is not None  # it was no dry run
        path = {**self._path, "operation_id": begun.operation_id}
        return OperatorTask(self._tools.client, path)

    def _end_older_tasks(self) -> None:
        """Tasks for what was wanted before come to nothing; only so many may run at a time."""
        found = self._tools.client.pages(
            INSTANCE_OPERATION_LIST, path=self._path, query={"phase": OperationPhase.RUNNING.value}
        )
        for each in found.items:
            is_older = (each.generation or 0) < self.instance.generation
            if each.kind is OperationKind.TASK and is_older:
                path = {**self._path, "operation_id": each.operation_id}
                OperatorTask(self._tools.client, path).fail("superseded")

    def secret(self, name: str) -> str:
        """A secret of the operator's, as it is now."""
        if self._tools.secrets is None or not _SECRET_NAME.match(name):
            raise InvalidValue("secret", name, "a name of a file in the operator's secrets folder")
        return SecretFile(self._tools.secrets / name).read()

    # -- details -----------------------------------------------------------------------------

    @property
    def _path(self) -> Places:
        return path_of(self.instance)

    def _check_leads(self) -> None:
        if not self._tools.may_act():
            raise Outdated("another replica leads")

    def _key(self, *parts: str) -> str:
        told = "/".join((str(self.instance.instance_id), *parts))
        return f"kit-{sha256(told.encode()).hexdigest()[:32]}"

    def _told(self, message: str, **facts: str | None) -> None:
        self.log.info(message, correlation_id=self._tools.client.correlation_id, **facts)


def path_of(instance: Instance) -> Places:
    """Where an instance is."""
    return {
        "tenant": instance.tenant,
        "project": instance.project,
        "instance_id": instance.instance_id,
    }


def write_metadata(client: Client, instance: Instance, *, etag: str, metadata: str) -> None:
    """Have other metadata on an instance, if it was not changed since."""
    path = path_of(instance)
    if instance.phase is not InstancePhase.DELETING:
        client.send(INSTANCE_CHANGE, body=InstanceChange(metadata=metadata), path=path, etag=etag)
        return
    # What is wanted of it cannot be changed any more; what is said of it can.
    body = InstanceReport(
        observed_generation=instance.observed_generation,
        reason=instance.reason,
        metadata=metadata,
    )
    client.send(INSTANCE_REPORT, body=body, path=path, etag=etag)
