"""A history of instances for a recording: all that a loop, an operator and people tell of them."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

from bailiwick.apps.life import MEMBER_EDGES
from bailiwick.apps.overlays import Overlay
from bailiwick.iam import Permission, ScopeLevel
from bailiwick.kernel import Command
from bailiwick.kernel.apps import instance_commands as cmd
from bailiwick.kernel.apps.commands import (
    ChangeArtifact,
    IssueArtifactCredential,
    PublishApp,
    RegisterArtifact,
    SetArtifactSource,
    SetEntitlement,
)
from bailiwick.kernel.apps.webhooks.commands import DeleteWebhook, SetWebhook
from bailiwick.kernel.people.commands import CreateProject, CreateTenant, DeleteRole, SetRole
from bailiwick.vocab.apps import (
    AppVisibility,
    ArtifactKind,
    ArtifactTrust,
    MemberAction,
    MemberPhase,
)
from bailiwick.vocab.errors import BailiwickError
from tests.support.app_house import VERSIONS, clustered
from tests.support.app_manifests import DIGEST
from tests.support.kernel_histories import Campus

HOMES = (("lab", "vision"), ("firm", "vision"))
COMPONENTS = ("controller-0", "worker-0", "worker-1", "worker-2")


def instances() -> Campus:
    """Instances of two tenants, their members and operations, webhooks, roles and credentials."""
    chance, campus = Random(93), Campus()
    for tenant, project in HOMES:
        campus.do(CreateTenant(tenant))
        campus.do(CreateProject(tenant, project))
    campus.do(SetArtifactSource("main", ArtifactKind.OCI, "registry.example/apps"))
    campus.do(RegisterArtifact(DIGEST, ArtifactKind.OCI, "main"))
    campus.do(ChangeArtifact(DIGEST, trust=ArtifactTrust.VERIFIED))
    for version in VERSIONS:
        campus.do(PublishApp(clustered(version), visibility=AppVisibility.PUBLIC))
    for tenant, _ in HOMES:
        campus.do(SetEntitlement("hello", True, Overlay(), tenant))
    for step in range(900):
        campus.now_ms += chance.choice((0, 1, 200, 4_000, 30_000))
        makers = (_of_life, _of_members, _of_members, _of_operations, _of_surroundings)
        with suppress(BailiwickError):
            campus.do(chance.choice(makers)(chance, campus, step), f"actor-{step % 3}")
    return campus


def _own(chance: Random, campus: Campus) -> dict[str, Any]:
    """Whose instance something is told of: now and then by one who has none of that number."""
    held = campus.kernel.state.apps.instances.held
    if not held:
        tenant, project = HOMES[0]
        return {"tenant": tenant, "project": project, "instance_id": 1}
    instance = chance.choice([*held.values()]).instance
    tenant, project = instance.tenant, instance.project
    if chance.random() < 0.05:
        tenant, project = chance.choice(HOMES)
    return {"tenant": tenant, "project": project, "instance_id": instance.id}


def _of_life(chance: Random, campus: Campus, step: int) -> Command:
    tenant, project = chance.choice(HOMES)
    own = _own(chance, campus)
    held = campus.kernel.state.apps.instances.held.get(own["instance_id"])
    revision = 1 if held is None else held.instance.revision
    generation = 1 if held is None else held.instance.generation
    greeting = cmd.spell_parameters({"greeting": chance.choice(("hi", "hello", "too long"))})
    request = cmd.RequestInstance(
        tenant=tenant,
        project=project,
        name=f"i-{chance.randrange(6)}",
        app="hello",
        version=chance.choice((*VERSIONS, "9.0.0")),
        parameters=greeting,
        counts={"worker": chance.randrange(6)},
        metadata=chance.choice(("", "{}")),
    )
    changes: list[dict[str, Any]] = [
        {"version": chance.choice([*VERSIONS])},
        {"rollback": True},
        {"parameters": greeting},
        {"counts": {"worker": chance.randrange(6)}},
        {"paused": chance.random() < 0.3},
        {"metadata": f"step {step}"},
    ]
    given = chance.choice((None, revision, 1))
    report = cmd.ReportInstance(
        **own,
        revision=chance.choice((revision, revision, 1)),
        observed_generation=chance.choice((generation, generation, 1)),
        phase=chance.choice((None, *cmd.REPORTED)),
        reason=chance.choice(("", "seen by its operator")),
    )
    return chance.choice(
        [
            *(request, request, request, report, report, report),
            *(cmd.ChangeInstance(**own, revision=given, **each) for each in changes),
            cmd.DeleteInstance(**own, revision=given),
            cmd.NoteDeletionOverdue(**own),
            cmd.FinishDeletion(**own),
            cmd.ForceDeletion(**own, reason="nobody answers any more"),
        ]
    )


def _of_members(chance: Random, campus: Campus, step: int) -> Command:
    own, component = _own(chance, campus), chance.choice(COMPONENTS)
    held = campus.kernel.state.apps.instances.held.get(own["instance_id"])
    members = {} if held is None else held.members
    member_id = chance.choice([*members] or [1])
    action = chance.choice([MemberAction.ADD, *MemberAction])
    change = cmd.ChangeMember(
        **own,
        action=action,
        component_key=component,
        role=component.rpartition("-")[0] if action is MemberAction.ADD else None,
        key=f"k-{chance.randrange(step + 1)}",
    )
    phase = chance.choice((MemberPhase.READY, *cmd.MOVED))
    if member_id in members and chance.random() < 0.8:
        may = sorted(MEMBER_EDGES[members[member_id].phase] & {*cmd.MOVED})
        phase = chance.choice(may or [phase])
    move = cmd.MoveMember(
        **own,
        member_id=member_id,
        phase=phase,
        lease_id=chance.choice((None, step + 1)),
        job_id=chance.choice((None, step + 1)),
        reason="node_lost" if phase is MemberPhase.FAILED else None,
    )
    return chance.choice([change, move, move])


def _of_operations(chance: Random, campus: Campus, step: int) -> Command:
    own = _own(chance, campus)
    held = campus.kernel.state.apps.instances.held.get(own["instance_id"])
    operation_id = 1 if held is None else chance.choice([*held.operations] or [1])
    return chance.choice(
        [
            cmd.BeginOperation(**own, key=f"task-{chance.randrange(9)}", title="Tidy up"),
            cmd.AdvanceOperation(
                **own, operation_id=operation_id, progress=chance.randrange(101), log=("on it",)
            ),
            cmd.FinishOperation(
                **own, operation_id=operation_id, succeeded=chance.random() < 0.7, result="done"
            ),
            IssueArtifactCredential(
                **own,
                operation_id=operation_id,
                digest=DIGEST,
                audience=f"node-{chance.randrange(3)}",
                credential_id=f"{step:032x}",
                expires_ms=campus.now_ms + 60_000,
            ),
        ]
    )


def _of_surroundings(chance: Random, campus: Campus, step: int) -> Command:
    tenant, project = chance.choice(HOMES)
    within = chance.choice((None, project))
    revision = chance.choice((None, None, 0, 1))
    webhook, role = f"hook-{chance.randrange(3)}", f"own-{chance.randrange(3)}"
    keys = tuple(sorted(chance.sample(list(Permission), 2)))
    return chance.choice(
        [
            SetWebhook(
                webhook, tenant, "https://hooks.example/in", within,
                is_enabled=chance.random() < 0.8,
                secret_id=chance.choice((None, f"{step:032x}")), revision=revision,
            ),
            DeleteWebhook(webhook, tenant, within, revision),
            SetRole(role, ScopeLevel.PROJECT, keys, chance.choice((None, tenant)), revision),
            DeleteRole(role, chance.choice((None, tenant)), revision),
        ]
    )  # fmt: skip
