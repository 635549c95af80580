"""A campus with one instance of an app: members hold leases beside other work of the project."""

from __future__ import annotations

from dataclasses import dataclass, field

from bailiwick.apps.manifest import Manifest
from bailiwick.kernel import ChangeSettings, Elect, Granted, RegisterNode
from bailiwick.kernel.apps.commands import (
    ChangeArtifact,
    PublishApp,
    RegisterArtifact,
    SetArtifactSource,
    SetEntitlement,
)
from bailiwick.kernel.apps.instance_commands import RequestInstance
from bailiwick.kernel.people.commands import CreateProject, CreateTenant
from bailiwick.services.apps.member_jobs import use_of
from bailiwick.vocab.app_uses import MemberUse
from bailiwick.vocab.apps import ArtifactKind, ArtifactTrust
from tests.support.app_manifests import SERVICE_DIGEST, service
from tests.support.kernel_histories import HOUR, Campus, granted, node
from tests.support.wide_open import wide_settings

OWN = {"tenant": "lab", "project": "vision"}
UNITS = ("job_hour", "request")


@dataclass
class AppCampus(Campus):
    """One node of eight GPUs, one app with two units, one instance of it (number 1)."""

    manifest: Manifest = field(default_factory=lambda: service(billing_units=UNITS))

    def __post_init__(self) -> None:
        self.do(Elect(1, "replica-1"), "kernel")
        self.do(ChangeSettings(wide_settings()), "kernel")
        self.do(RegisterNode("node-1", node(8)))
        self.do(CreateTenant("lab"))
        for project in ("vision", "other"):
            self.do(CreateProject("lab", project))
        self.do(PublishApp(self.manifest.canonical, "lab"))
        self.do(SetArtifactSource("main", ArtifactKind.OCI, "registry.example/apps"))
        self.do(RegisterArtifact(SERVICE_DIGEST, ArtifactKind.OCI, "main", "lab"))
        self.do(ChangeArtifact(SERVICE_DIGEST, "lab", trust=ArtifactTrust.VERIFIED))
        self.do(SetEntitlement("lab.svc", True, tenant="lab"))
        self.request("one")

    def request(self, name: str, **where: str) -> None:
        """One more instance."""
        self.do(RequestInstance(**{**OWN, **where}, name=name, app="lab.svc", version="1.0.0"))

    def use(self, role: str, instance_id: int = 1) -> MemberUse:
        """What a member of that role is billed as."""
        instance = self.kernel.state.apps.instances.held[instance_id].instance
        return use_of(instance, self.manifest.roles[role])

    def hold(self, role: str | None, *, gpus: int = 1, instance_id: int = 1, ttl_h: int = 9) -> int:
        """A lease of a member in that role; or, of no role, of other work of the project."""
        labels = {} if role is None else self.use(role, instance_id).labels()
        terms = {"gpu_count": gpus, "cpu_cores": 1, "ttl_ms": ttl_h * HOUR}
        answer = self.submit("lab", project="vision", job_labels=labels, **terms)
        assert isinstance(answer, Granted)
        return granted(answer)
