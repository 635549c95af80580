"""A history of shared runtimes for a recording: all that tenants and projects do with them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

from bailiwick.apps.life import MEMBER_EDGES
from bailiwick.apps.overlays import Overlay
from bailiwick.kernel import Command
from bailiwick.kernel.apps import instance_commands as life
from bailiwick.kernel.apps.commands import (
    ChangeArtifact,
    PublishApp,
    RegisterArtifact,
    SetArtifactSource,
    SetEntitlement,
)
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.kernel.apps.shared.rules import billing_rule
from bailiwick.kernel.people.commands import CreateProject, CreateTenant
from bailiwick.vocab.apps import (
    AppVisibility,
    ArtifactKind,
    ArtifactTrust,
    ControlPlaneScope,
    MemberPhase,
)
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.shared import AttachmentPhase, ConsentSide, WorkerAction
from tests.support.app_house import clustered
from tests.support.app_manifests import DIGEST
from tests.support.kernel_histories import Campus

TENANTS, PROJECTS = ("lab", "firm"), ("vision", "audio", "text")
RUNTIMES, PEOPLE = ("main", "spare"), ("tina", "pia", "paul")
WORKERS = ("worker-0", "gift-0", "gift-1", "gift-2")
SCOPES = (ControlPlaneScope.PROJECT, ControlPlaneScope.TENANT)


def shared_runtimes() -> Campus:
    """Runtimes of two tenants, consents and their end, contributed workers, policies, deletion."""
    chance, campus = Random(119), Campus()
    campus.do(SetArtifactSource("main", ArtifactKind.OCI, "registry.example/apps"))
    campus.do(RegisterArtifact(DIGEST, ArtifactKind.OCI, "main"))
    campus.do(ChangeArtifact(DIGEST, trust=ArtifactTrust.VERIFIED))
    app = clustered("1.0.0", control_plane_scopes=SCOPES)
    campus.do(PublishApp(app, visibility=AppVisibility.PUBLIC))
    for tenant in TENANTS:
        campus.do(CreateTenant(tenant))
        for project in PROJECTS:
            campus.do(CreateProject(tenant, project))
        campus.do(SetEntitlement("hello", True, Overlay(), tenant))
    makers = (
        *(_made, _consented, _consented, _given, _given, _moved, _moved, _opened, _ended),
        _left,
    )
    for step in range(900):
        campus.now_ms += chance.choice((0, 1, 200, 4_000, 60_000))
        with suppress(BailiwickError):
            campus.do(chance.choice(makers)(chance, campus, step), f"actor-{step % 3}")
    return campus


def _runtime(chance: Random) -> dict[str, Any]:
    return {"tenant": chance.choice(TENANTS), "runtime": chance.choice(RUNTIMES)}


def _project(chance: Random) -> dict[str, Any]:
    return {**_runtime(chance), "project": chance.choice((*PROJECTS, *PROJECTS, "nowhere"))}


def _made(chance: Random, campus: Campus, step: int) -> Command:
    wish = cmd.CreateSharedRuntime(
        **_project(chance),
        environment=chance.choice(("prod", "prod", "test")),
        app="hello",
        version="1.0.0",
        accepted_digest=f"{step:064x}",
        by=chance.choice(PEOPLE),
        counts={"worker": chance.randrange(3)},
        controller=chance.choice(({}, {"zone": "a"})),
        withdraw_within_ms=chance.choice((0, 60_000)),
    )
    if chance.random() < 0.8:
        with suppress(BailiwickError):
            return replace(wish, accepted_digest=billing_rule(campus.kernel.state, wish).digest)
    return wish


def _consented(chance: Random, campus: Campus, step: int) -> Command:
    del campus, step
    own, side = _project(chance), chance.choice([*ConsentSide])
    if chance.random() < 0.05:
        return cmd.DetachProject(**own, side=side)
    likely = "tina" if side is ConsentSide.TENANT else "pia"
    return cmd.ConsentAttachment(**own, side=side, by=chance.choice((likely, likely, "paul")))


def _left(chance: Random, campus: Campus, step: int) -> Command:
    """An operator says that nothing of a project is left; now and then of one that is not going."""
    del step
    going = [
        {"tenant": tenant, "runtime": held.runtime.name, "project": each.project}
        for tenant in TENANTS
        for held in campus.kernel.state.apps.shared.of(tenant)
        for each in held.attachments.values()
        if each.phase is AttachmentPhase.DETACHING
    ]
    return cmd.FinishDetachment(**chance.choice(going or [_project(chance)]))


def _given(chance: Random, campus: Campus, step: int) -> Command:
    del campus
    action = chance.choice((WorkerAction.CONTRIBUTE, *WorkerAction))
    is_new = action is WorkerAction.CONTRIBUTE
    return cmd.ChangeContribution(
        **_project(chance),
        action=action,
        component_key=chance.choice(WORKERS),
        key=f"k-{chance.randrange(step + 1)}",
        role=chance.choice(("worker", "worker", "controller")) if is_new else None,
        within_ms=chance.choice((None, 0, 9_000)) if action is WorkerAction.WITHDRAW else None,
    )


def _moved(chance: Random, campus: Campus, step: int) -> Command:
    """What the loop tells of a member, or an operator of an instance behind a runtime."""
    held = [*campus.kernel.state.apps.instances.held.values()]
    if not held:
        return _made(chance, campus, step)
    one = chance.choice(held)
    i = one.instance
    own = {"tenant": i.tenant, "project": i.project, "instance_id": i.id}
    if i.is_leaving and chance.random() < 0.4:
        return life.FinishDeletion(**own)
    if not one.members or chance.random() < 0.2:
        return life.ReportInstance(
            **own, revision=i.revision, observed_generation=i.generation, reason="as seen"
        )
    member = chance.choice([*one.members.values()])
    may = sorted(MEMBER_EDGES[member.phase] & {*life.MOVED})
    phase = chance.choice(may or [MemberPhase.REMOVED])
    reason = "node_lost" if phase is MemberPhase.FAILED else None
    return life.MoveMember(**own, member_id=member.id, phase=phase, reason=reason)


def _opened(chance: Random, campus: Campus, step: int) -> Command:
    own, policy = _project(chance), f"policy-{chance.randrange(3)}"
    grantee = chance.choice(
        ({"grantee_project": chance.choice(PROJECTS)}, {"grantee_person": chance.choice(PEOPLE)})
    )
    return chance.choice(
        [
            cmd.SetSubmitPolicy(
                **own,
                **grantee,
                policy=policy,
                queue=chance.choice(("night", "day")),
                until_ms=max(1, campus.now_ms + chance.choice((-1, 60_000, 10**9))),
                limits=chance.choice(({}, {"gpus": step})),
            ),
            cmd.EndSubmitPolicy(**own, policy=policy),
            cmd.FinishDetachment(**own),
        ]
    )


def _ended(chance: Random, campus: Campus, step: int) -> Command:
    del campus, step
    own = _runtime(chance)
    if chance.random() < 0.06:
        return cmd.DeleteSharedRuntime(**own)
    used = {"credential": "key", "purpose": chance.choice(("deliver", "rotate"))}
    return cmd.NoteCredentialUse(**own, **used, by=chance.choice(PEOPLE))
