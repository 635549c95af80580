"""The start of a member: its job is submitted, if its app may still be used there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bailiwick.apps.artifacts import ArtifactSource
from bailiwick.apps.manifest import Manifest
from bailiwick.iam import Scope
from bailiwick.kernel.apps.instances import AppInstance, AppMember, payer_of
from bailiwick.kernel.owner import Owner
from bailiwick.ports import JobRow
from bailiwick.reconcile.apps.courses import InstanceCourses
from bailiwick.reconcile.apps.steps import Move
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.services.apps.member_jobs import job_of, key_of, principal_of
from bailiwick.services.jobs import Jobs
from bailiwick.vocab.apps import MemberPhase, Privilege
from bailiwick.vocab.errors import BailiwickError, Conflict, LimitReached
from bailiwick.vocab.jobs import JobFault


class _Grounds(NamedTuple):
    """What a member's job is made from."""

    manifest: Manifest
    source: ArtifactSource | None
    mem_bytes_per_core: int
    controller: Mapping[str, str]
    """Where its tenant chose that what steers it runs."""
    host_allowed: bool
    """Whether it asks for no host, or its version is granted it."""


class MemberStarter:
    """Submits the jobs of members."""

    def __init__(self, jobs: Jobs, runner: Runner, courses: InstanceCourses) -> None:
        self._jobs, self._runner, self._courses = jobs, runner, courses

    def start(self, instance: AppInstance, member: AppMember) -> Move | None:
        """Submit the member's job, or find the one that was submitted; nothing if not now."""
        grounds = self._runner.read(lambda view: _grounds(view, instance, member))
        if grounds is None:
            return None
        if not grounds.host_allowed:
            return Move(MemberPhase.FAILED, reason=JobFault.HOST_NOT_GIVEN.value)
        who, key = principal_of(instance.id), key_of(member.id)
        try:
            draft = job_of(
                instance,
                member,
                manifest=grounds.manifest,
                source=grounds.source,
                mem_bytes_per_core=grounds.mem_bytes_per_core,
                controller=grounds.controller,
            )
            word = self._courses.of(instance, member.id)
            made = self._jobs.submit(draft, principal=who, correlation_id=word, key=key)
            return Move(MemberPhase.JOINING, job_id=made.job.job_id)
        except BailiwickError as error:
            job = self._find(payer_of(instance, member), who.name, key=key)
            if job is not None:
                return Move(MemberPhase.JOINING, job_id=job.job_id)  # its row tells the rest
            if error.retryable or isinstance(error, LimitReached):
                raise
            return Move(MemberPhase.FAILED, reason=error.code.value)

    def _find(self, payer: Owner, submitter: str, *, key: str) -> JobRow | None:
        """The job that was submitted for a member; one that another put there is none."""
        rows = self._jobs.book.under_keys(submitter, [key])
        return next((row for row in rows if (row.tenant, row.project) == payer), None)


def _grounds(view: View, instance: AppInstance, member: AppMember) -> _Grounds | None:
    """What is needed to start a member; nothing where its app may not be used any more."""
    book, scope = view.state.apps, Scope(*payer_of(instance, member))
    if not book.policy(instance.app, scope).is_enabled:
        return None
    version = book.version(instance.app, member.version)
    manifest = version.manifest
    role = manifest.roles.get(member.role)
    if role is None:
        raise Conflict("role", member.role, f"is none of version {member.version}")
    source = book.source(manifest.artifacts[role.artifact].source, scope)
    per_core = view.state.settings.job_mem_bytes_per_core
    host_allowed = role.privileges is not Privilege.HOST or version.host_granted
    shared = book.shared.behind(instance.id)
    controller = {} if shared is None else shared.runtime.controller
    return _Grounds(manifest, source, per_core, controller, host_allowed)
