"""A campus with a shared runtime: three projects have a part in it, and lend workers to it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bailiwick.kernel import ChangeSettings, Elect, Granted, RegisterNode
from bailiwick.kernel.apps.commands import (
    ChangeArtifact,
    PublishApp,
    RegisterArtifact,
    SetArtifactSource,
    SetEntitlement,
)
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.kernel.apps.shared.book import HeldRuntime
from bailiwick.kernel.apps.shared.rules import billing_rule
from bailiwick.kernel.people.commands import CreateProject, CreateTenant
from bailiwick.services.apps.member_jobs import use_of
from bailiwick.vocab.apps import ArtifactKind, ArtifactTrust, ControlPlaneScope
from bailiwick.vocab.shared import ConsentSide, WorkerAction
from tests.support.app_manifests import SERVICE_DIGEST, service
from tests.support.kernel_histories import HOUR, Campus, granted, node
from tests.support.wide_open import wide_settings

OF = {"tenant": "lab", "runtime": "main"}
PROJECTS = ("vision", "audio", "text")


class SharedCampus(Campus):
    """One node, one app with units of time, one runtime of it that vision owns."""

    def __init__(self) -> None:
        super().__init__()
        scopes = (ControlPlaneScope.PROJECT, ControlPlaneScope.TENANT)
        units = ("cpu_second", "gpu_second")
        self.manifest = service(app="hub", control_plane_scopes=scopes, billing_units=units)
        self.do(Elect(1, "replica-1"), "kernel")
        self.do(ChangeSettings(wide_settings()), "kernel")
        self.do(RegisterNode("node-1", node(8)))
        self.do(CreateTenant("lab"))
        for project in PROJECTS:
            self.do(CreateProject("lab", project))
        self.do(PublishApp(self.manifest.canonical, "lab"))
        self.do(SetArtifactSource("main", ArtifactKind.OCI, "registry.example/apps"))
        self.do(RegisterArtifact(SERVICE_DIGEST, ArtifactKind.OCI, "main", "lab"))
        self.do(ChangeArtifact(SERVICE_DIGEST, "lab", trust=ArtifactTrust.VERIFIED))
        self.do(SetEntitlement("lab.hub", True, tenant="lab"))
        self.do(self._creation())
        for project in PROJECTS:
            of: dict[str, Any] = {**OF, "project": project}
            self.do(cmd.ConsentAttachment(**of, side=ConsentSide.TENANT, by="tina"))
            self.do(cmd.ConsentAttachment(**of, side=ConsentSide.PROJECT, by="pia"))

    def _creation(self) -> cmd.CreateSharedRuntime:
        what = {"environment": "prod", "app": "lab.hub", "version": "1.0.0", "by": "tina"}
        wish = cmd.CreateSharedRuntime(**OF, **what, project="vision", accepted_digest="0" * 64)
        return replace(wish, accepted_digest=billing_rule(self.kernel.state, wish).digest)

    @property
    def shared(self) -> HeldRuntime:
        """The runtime."""
        return self.kernel.state.apps.shared.get("lab", "main")

    def lend(self, project: str, *, cpus: int, role: str = "worker") -> int:
        """A worker that a project gives, if it is not the owner's own, and its lease."""
        if project != "vision":
            self.serial += 1
            given = {"component_key": f"{project}-{self.serial}", "role": role, "key": "give"}
            action = WorkerAction.CONTRIBUTE
            self.do(cmd.ChangeContribution(**OF, **given, project=project, action=action))
        number = self.shared.runtime.instance_id
        instance = self.kernel.state.apps.instances.held[number].instance
        labels = use_of(instance, self.manifest.roles[role]).labels()
        terms = {"cpu_cores": cpus, "ttl_ms": 9 * HOUR}
        answer = self.submit("lab", project=project, job_labels=labels, **terms)
        assert isinstance(answer, Granted)
        return granted(answer)

    def leave(self, project: str) -> None:
        """A project's part ends."""
        self.do(cmd.DetachProject(**OF, project=project, side=ConsentSide.PROJECT))
