"""A history of instances for a recording: all that a loop, an operator and people tell of them."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

from bailiwick.apps.endpoints.spec import EndpointSpec
from bailiwick.apps.life import MEMBER_EDGES
from bailiwick.apps.overlays import Overlay
from bailiwick.iam import Permission, Role, ScopeLevel
from bailiwick.kernel import Command, Envelope
from bailiwick.kernel.apps import instance_commands as cmd
from bailiwick.kernel.apps.calls.commands import CallInstance
from bailiwick.kernel.apps.checks.commands import RecordAppCheck
from bailiwick.kernel.apps.commands import (
    ChangeArtifact,
    IssueArtifactCredential,
    PublishApp,
    RegisterArtifact,
    SetArtifactSource,
    SetEntitlement,
)
from bailiwick.kernel.apps.endpoints.commands import NoteEndpointClosed, OpenEndpoint
from bailiwick.kernel.apps.units.commands import ReportAppUsage
from bailiwick.kernel.apps.webhooks.commands import DeleteWebhook, SetWebhook
from bailiwick.kernel.people.commands import (
    CreateAccount,
    CreateProject,
    CreateTenant,
    DeleteRole,
    SetMember,
    SetRole,
)
from bailiwick.vocab.apps import (
    CALL_MS_MAX,
    AppVisibility,
    ArtifactKind,
    ArtifactTrust,
    CallVerb,
    EndpointEnd,
    MemberAction,
    MemberPhase,
)
from bailiwick.vocab.errors import BailiwickError
from tests.support.app_house import VERSIONS, clustered
from tests.support.app_manifests import DIGEST
from tests.support.kernel_histories import Campus
from tests.support.readiness import RUNBOOK, good_evidence

HOMES = (("lab", "vision"), ("firm", "vision"))
WEB = {"web": EndpointSpec(role="controller", title="The page", port=8_080)}
UNITS = ("job_hour", "request")
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


def units_and_checks() -> Campus:
    """What operators tell of use, in and out of order, and checks of an app; some contradicted."""
    chance, campus = Random(102), Campus()
    tenant, project = HOMES[0]
    own = {"tenant": tenant, "project": project}
    campus.do(CreateTenant(tenant))
    campus.do(CreateProject(tenant, project))
    campus.do(CreateAccount("bot", **own))
    campus.do(SetMember("bot", Role.PROJECT_ADMIN, **own))
    campus.do(SetArtifactSource("main", ArtifactKind.OCI, "registry.example/apps"))
    campus.do(RegisterArtifact(DIGEST, ArtifactKind.OCI, "main"))
    campus.do(ChangeArtifact(DIGEST, trust=ArtifactTrust.VERIFIED))
    told = clustered(billing_units=UNITS, runbook=RUNBOOK)
    campus.do(PublishApp(told, visibility=AppVisibility.PUBLIC))
    campus.do(SetEntitlement("hello", True, Overlay(), tenant))
    for name in ("one", "two"):
        campus.do(cmd.RequestInstance(**own, name=name, app="hello", version="1.0.0"))
    digest = campus.kernel.state.apps.version("hello", "1.0.0").digest
    ranks: dict[tuple[str, int], int] = {}
    for step in range(300):
        campus.now_ms += chance.choice((1, 60_000, 3_600_000))
        use = _use_of(chance, campus, ranks)
        with suppress(BailiwickError):
            if step % 10 == 9:
                campus.do(_check_of(chance, digest), f"actor-{step % 3}")
            campus.do(use, f"actor-{step % 3}")
            ranks[use.source, use.instance_id] = use.sequence
    return campus


def calls() -> Campus:
    """Instances that come and go, and what people ask of them; some asked twice under one key."""
    chance, campus = Random(116), Campus()
    for tenant, project in HOMES:
        campus.do(CreateTenant(tenant))
        campus.do(CreateProject(tenant, project))
    campus.do(SetArtifactSource("main", ArtifactKind.OCI, "registry.example/apps"))
    campus.do(RegisterArtifact(DIGEST, ArtifactKind.OCI, "main"))
    campus.do(ChangeArtifact(DIGEST, trust=ArtifactTrust.VERIFIED))
    for version in VERSIONS:
        campus.do(PublishApp(clustered(version), visibility=AppVisibility.PUBLIC))
    for tenant, project in HOMES:
        campus.do(SetEntitlement("hello", True, Overlay(), tenant))
        own: dict[str, Any] = {"tenant": tenant, "project": project}
        campus.do(cmd.RequestInstance(**own, name="one", app="hello", version="1.0.0"))
    sent: list[Envelope] = []
    for step in range(500):
        campus.now_ms += chance.choice((0, 1, 200, 4_000, 30_000))
        make = chance.choice((_of_life, _of_members, _to_run, _to_run, _call_of, _call_of))
        key = chance.choice((None, f"call-{step}"))
        envelope = Envelope(make(chance, campus, step), f"actor-{step % 3}", f"req-{step}", key)
        if sent and chance.random() < 0.2:
            envelope = chance.choice(sent)
        sent.append(envelope)
        with suppress(BailiwickError):
            campus.lines += campus.kernel.execute(envelope, campus.now_ms).lines
    return campus


def endpoints() -> Campus:
    """Instances that come and go, and people who open what they serve; some twice under one key."""
    chance, campus = Random(125), Campus()
    for tenant, project in HOMES:
        campus.do(CreateTenant(tenant))
        campus.do(CreateProject(tenant, project))
    campus.do(SetArtifactSource("main", ArtifactKind.OCI, "registry.example/apps"))
    campus.do(RegisterArtifact(DIGEST, ArtifactKind.OCI, "main"))
    campus.do(ChangeArtifact(DIGEST, trust=ArtifactTrust.VERIFIED))
    for version in VERSIONS:
        campus.do(PublishApp(clustered(version, endpoints=WEB), visibility=AppVisibility.PUBLIC))
    for tenant, project in HOMES:
        campus.do(SetEntitlement("hello", True, Overlay(), tenant))
        own: dict[str, Any] = {"tenant": tenant, "project": project}
        campus.do(cmd.RequestInstance(**own, name="one", app="hello", version="1.0.0"))
    sent: list[Envelope] = []
    for step in range(500):
        campus.now_ms += chance.choice((0, 1, 200, 4_000, 30_000))
        make = chance.choice((_of_life, _of_members, _to_run, _to_run, _open_of, _open_of))
        key = chance.choice((None, f"open-{step}"))
        envelope = Envelope(make(chance, campus, step), f"actor-{step % 3}", f"req-{step}", key)
        if sent and chance.random() < 0.2:
            envelope = chance.choice(sent)
        sent.append(envelope)
        with suppress(BailiwickError):
            campus.lines += campus.kernel.execute(envelope, campus.now_ms).lines
    return campus


def _to_run(chance: Random, campus: Campus, step: int) -> Command:
    """The next step of an instance to where it runs."""
    own = _own(chance, campus)
    held = campus.kernel.state.apps.instances.held.get(own["instance_id"])
    members = {} if held is None else held.members
    early = [each for each, member in members.items() if member.phase is not MemberPhase.READY]
    if not any(each.component_key == "controller-0" for each in members.values()):
        add = {"action": MemberAction.ADD, "component_key": "controller-0", "role": "controller"}
        return cmd.ChangeMember(**own, **add, key=f"to-run-{step}")
    if early:
        return cmd.MoveMember(**own, member_id=chance.choice(early), phase=MemberPhase.READY)
    told = (1, 1) if held is None else (held.instance.revision, held.instance.generation)
    return cmd.ReportInstance(**own, revision=told[0], observed_generation=told[1])


def _call_of(chance: Random, campus: Campus, step: int) -> Command:
    return CallInstance(
        **_own(chance, campus),
        verb=chance.choice(list(CallVerb)),
        digest=f"{step:064x}",
        within_ms=chance.choice((1, 60_000, CALL_MS_MAX)),
    )


def _open_of(chance: Random, campus: Campus, step: int) -> Command:
    own = _own(chance, campus) | {"endpoint": chance.choice(("web", "web", "none"))}
    own["session_id"] = f"s-{step}"
    if chance.random() < 0.3:
        end, requests = chance.choice(list(EndpointEnd)), chance.randrange(1_000)
        return NoteEndpointClosed(**own, app="hello", end=end, requests=requests)
    held = campus.kernel.state.apps.instances.held.get(own["instance_id"])
    members = [1] if held is None else [*held.members, 1]
    return OpenEndpoint(**own, member_id=chance.choice(members))


def _check_of(chance: Random, digest: str) -> Command:
    strange = chance.choice(("sha256:" + "0" * 64, digest, digest, digest))
    found = good_evidence(
        strange,
        instance_id=chance.choice((1, 2, 9)),
        operator=chance.choice(("bot", "bot", "nobody")),
        strangers=chance.choice((0, 0, 1)),
    )
    return RecordAppCheck("hello", "1.0.0", found.canonical)


def _use_of(chance: Random, campus: Campus, ranks: dict[tuple[str, int], int]) -> ReportAppUsage:
    source, number = chance.choice(("bot", "bot-2")), chance.choice((1, 2))
    rank = ranks.get((source, number), 0) + chance.choice((0, 1, 1, 1, 2))
    start = max(0, campus.now_ms - chance.choice((1_000, 90_000, 4_000_000)))
    return ReportAppUsage(
        tenant=HOMES[0][0],
        project=HOMES[0][1],
        instance_id=number,
        source=source,
        sequence=max(1, rank),
        unit=chance.choice((*UNITS, "page")),
        quantity=chance.randrange(10_000),
        from_ms=start,
        to_ms=start + chance.choice((1, 500, 60_000)),
        component_key=chance.choice((None, None, "worker-0")),
    )


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
