"""The job of one member: what is asked for, what is run, what it is told.

Rules:

- The same member makes the same job, however often it is asked for: its key makes it one.
- It is submitted in the instance's own name (``app:7``), which nobody can log in with: it is the
  project's, and goes on when whoever asked for the instance is gone. Its process has no login, and
  no operator's token is in its environment:

  =======================  ==================================================================
  ``APP``, ``APP_VERSION``   the app and the member's version
  ``APP_INSTANCE``         the instance's name; ``APP_INSTANCE_ID`` is its number
  ``APP_ROLE``             the member's role
  ``APP_COMPONENT_KEY``    what it is called; ``APP_MEMBER_ID`` is its number
  ``APP_PARAMETERS``       the instance's parameters when it was begun, as JSON
  ``APP_ARTIFACT``         the digest of what it is made of
  =======================  ==================================================================

- It lands where jobs are run by the machine itself. Its request says whose member it is and what it
  does there, so that the lines about regions and SKUs hold for it, and its time is billed as that.
- What is an image is its root, by digest; a blob it fetches itself.
- A member that another project contributed is that project's job, on its lease and at its cost.
- What steers a shared runtime lands where its tenant chose.
- A member whose role has the host lands where the operator of a machine gives it. Whether a job is
  such a member is looked up when it is started, by its instance: nothing that a job says gives it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from bailiwick.apps.artifacts import ArtifactSource
from bailiwick.apps.manifest import ArtifactRef, Manifest, RoleSpec
from bailiwick.executors.port import JobSpec
from bailiwick.executors.registry import labels_for
from bailiwick.fleet.node import HOST_MEMBERS_LABEL, YES
from bailiwick.iam import APP_PREFIX, PrincipalKind
from bailiwick.kernel import Submit
from bailiwick.kernel.apps.book import CatalogVersion
from bailiwick.kernel.apps.instances import AppInstance, AppMember, payer_of
from bailiwick.kernel.apps.shared.book import SharedRuntime
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.spelling import cores_of
from bailiwick.ports import JobRow
from bailiwick.runtime.replica import View
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.services.authority import Principal
from bailiwick.services.jobs import JobDraft
from bailiwick.vocab.app_uses import MemberUse
from bailiwick.vocab.apps import ArtifactKind, MemberPart, Privilege
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import ProjectId, TenantId

TERM_MS: Final = 600_000
"""For how long a member's lease is asked for, and renewed to."""

_ANYWHERE: Final[Mapping[str, str]] = MappingProxyType({})


def principal_of(instance_id: int) -> Principal:
    """In whose name the jobs of an instance are submitted."""
    return Principal(f"{APP_PREFIX}{instance_id}", PrincipalKind.SERVICE_ACCOUNT, "-", {})


def key_of(member_id: int) -> str:
    """Under which key: the same member has one job."""
    return f"member-{member_id}"


def correlation_of(instance_id: int) -> str:
    """By what everything is found that is done for an instance without being asked."""
    return f"app-instance-{instance_id}"


def job_of(
    instance: AppInstance,
    member: AppMember,
    *,
    manifest: Manifest,
    source: ArtifactSource | None,
    mem_bytes_per_core: int = 0,
    controller: Mapping[str, str] = _ANYWHERE,
) -> JobDraft:
    """The job of a member; refused if nobody could run it."""
    role = manifest.roles[member.role]
    artifact = manifest.artifacts[role.artifact]
    payer = payer_of(instance, member)
    chosen = controller if role.control_plane else _ANYWHERE
    draft = JobDraft(
        tenant=str(payer.tenant),
        project=str(payer.project),
        name=f"{instance.name}.{member.component_key}"[:63].rstrip(".-_"),
        tag=None,
        request=Submit(_request(instance, role, payer=payer, chosen=chosen)),
        command=role.command,
        env=_told(instance, member, artifact),
        cwd=None,
        mem_bytes_per_core=mem_bytes_per_core,
        image=image_of(artifact, source),
    )
    JobSpec(1, argv=draft.command, token="-", env=draft.env)  # what nobody could run is refused
    return draft


def image_of(artifact: ArtifactRef, source: ArtifactSource | None) -> str | None:
    """The image that a member runs in, as machines call it; a blob is none."""
    if artifact.kind is not ArtifactKind.OCI:
        return None
    address = artifact.source if source is None else source.address
    return f"{address.rstrip('/').rpartition('/')[2].lower()}@{artifact.digest}"


def runs_on_host(view: View, job: JobRow) -> bool:
    """Whether a job is a member's that has the host: by the catalog, and by nothing that it says.

    One whose version is not granted it any more is refused: in a sandbox it would be another.
    """
    version = host_version(view, job)
    if version is not None and not version.host_granted:
        expected = f"a version that is granted the host; {version.version} is not any more"
        raise InvalidValue("on_host", job.name, expected)
    return version is not None


def host_version(view: View, job: JobRow) -> CatalogVersion | None:
    """The version of the member that a job is, if its role asks for the host."""
    found = member_of(view, job)
    return found.version if found and found.role.privileges is Privilege.HOST else None


class MemberSight(NamedTuple):
    """The member that a job is, and what its version says of it."""

    member: AppMember
    version: CatalogVersion
    role: RoleSpec


def member_of(view: View, job: JobRow) -> MemberSight | None:
    """The member that a job is: by its instance, and by nothing that the job says."""
    name, _, number = job.submitter.partition(":")
    if f"{name}:" != APP_PREFIX or not number.isdecimal():
        return None
    book = view.state.apps
    held = book.instances.held.get(int(number))
    if held is None:
        return None
    members = (each for each in held.members.values() if key_of(each.id) == job.key)
    member = next(members, None)
    if member is None or payer_of(held.instance, member) != (job.tenant, job.project):
        return None
    version = book.version(held.instance.app, member.version)
    role = version.manifest.roles.get(member.role)
    return None if role is None else MemberSight(member, version, role)


def asked_of(view: View, job: JobRow) -> tuple[str, ...]:
    """The one program that is let into a job which is a member on the host; else none."""
    found = member_of(view, job)
    return found.role.ask if found and found.role.privileges is Privilege.HOST else ()


def runtime_of(view: View, job: JobRow) -> SharedRuntime | None:
    """The shared runtime of whose instance a job is a member."""
    found = member_of(view, job)
    held = None if found is None else view.state.apps.shared.behind(found.member.instance_id)
    return None if held is None else held.runtime


def use_of(instance: AppInstance, role: RoleSpec) -> MemberUse:
    """What the time of a member in this role is used for, as its lease is labelled and billed."""
    part = MemberPart.CONTROL_PLANE if role.control_plane else MemberPart.WORKLOAD
    return MemberUse(
        instance.id, instance.app, instance.mode, instance.scope, instance.backend, part
    )


def _request(
    instance: AppInstance, role: RoleSpec, *, payer: Owner, chosen: Mapping[str, str]
) -> PlacementRequest:
    shape, on_host = role.shape, role.privileges is Privilege.HOST
    return PlacementRequest(
        tenant=TenantId(str(payer.tenant)),
        project=ProjectId(str(payer.project)),
        cpu_cores=cores_of(shape.cpu_milli),
        mem_bytes=shape.mem_bytes,
        block_bytes=shape.block_bytes,
        gpu_count=shape.gpu_count,
        gpu_milli=shape.gpu_milli,
        gpu_vram=shape.gpu_vram,
        generation=shape.generation,
        exclusivity=shape.exclusivity,
        lease_class=shape.lease_class,
        labels=labels_for(None, {**chosen, **({HOST_MEMBERS_LABEL: YES} if on_host else {})}),
        job_labels=use_of(instance, role).labels(),
        ttl_ms=TERM_MS,
    )


def _told(instance: AppInstance, member: AppMember, artifact: ArtifactRef) -> dict[str, str]:
    return {
        "APP": instance.app,
        "APP_VERSION": member.version,
        "APP_INSTANCE": instance.name,
        "APP_INSTANCE_ID": str(instance.id),
        "APP_ROLE": member.role,
        "APP_COMPONENT_KEY": member.component_key,
        "APP_MEMBER_ID": str(member.id),
        "APP_PARAMETERS": instance.wanted.parameters,
        "APP_ARTIFACT": artifact.digest,
    }
