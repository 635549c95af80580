"""A kernel with a tenant, a project and an app that may be run there, for tests of instances."""

from __future__ import annotations

from typing import Any

from bailiwick.apps.manifest import RoleShape, RoleSpec
from bailiwick.apps.overlays import Overlay
from bailiwick.journal import parse_record
from bailiwick.journal.record import Record
from bailiwick.kernel import Command, Envelope, Kernel, State
from bailiwick.kernel.apps.book import AppBook
from bailiwick.kernel.apps.commands import (
    ChangeArtifact,
    PublishApp,
    RegisterArtifact,
    SetArtifactSource,
    SetEntitlement,
)
from bailiwick.kernel.apps.instance_commands import (
    ChangeMember,
    MoveMember,
    ReportInstance,
    RequestInstance,
)
from bailiwick.kernel.apps.instances import AppInstance, HeldInstance
from bailiwick.kernel.people.commands import CreateProject, CreateTenant
from bailiwick.vocab.apps import (
    AppVisibility,
    ArtifactKind,
    ArtifactTrust,
    MemberAction,
    MemberPhase,
)
from tests.support.app_manifests import DIGEST, hello

OWN = {"tenant": "lab", "project": "vision"}
VERSIONS = {"1.0.0": (), "1.1.0": (("1.0.0", "1.1.0"),), "2.0.0": ()}


def clustered(version: str = "1.0.0", **changes: Any) -> str:
    """A manifest with a controller and workers."""
    shape = RoleShape(cpu_milli=1_000)
    roles = {
        "controller": RoleSpec(count=(1, 1), shape=shape, artifact="service", control_plane=True),
        "worker": RoleSpec(count=(0, 4), shape=shape, artifact="service"),
    }
    fields: dict[str, Any] = {
        "roles": roles,
        "upgrades": VERSIONS.get(version, ()),
        "scheduler_types": ("hello",),
        "parameters": {
            "type": "object",
            "properties": {"greeting": {"type": "string", "maxLength": 5}},
            "additionalProperties": False,
        },
    }
    return hello(version=version, **(fields | changes)).canonical


class AppHouse:
    """A kernel, and the records that it wrote."""

    def __init__(
        self,
        *,
        versions: tuple[str, ...] = ("1.0.0", "1.1.0"),
        engine: str = "auto",
        **changes: Any,
    ) -> None:
        self.kernel = Kernel(State(engine=engine), simulated=True)
        self.records: list[Record] = []
        self.now_ms = 0
        self.do(CreateTenant("lab"), CreateProject("lab", "vision"), CreateProject("lab", "other"))
        self.do(CreateTenant("firm"), CreateProject("firm", "vision"))
        self.do(SetArtifactSource("main", ArtifactKind.OCI, "registry.example/apps"))
        self.do(RegisterArtifact(DIGEST, ArtifactKind.OCI, "main"))
        self.do(ChangeArtifact(DIGEST, trust=ArtifactTrust.VERIFIED))
        for version in versions:
            self.do(PublishApp(clustered(version, **changes), visibility=AppVisibility.PUBLIC))
        self.do(SetEntitlement("hello", True, Overlay(), "lab"))

    def do(self, *commands: Command) -> list[tuple[str, dict[str, Any]]]:
        """What follows: the kinds of records, and what they tell."""
        told = list[tuple[str, dict[str, Any]]]()
        for command in commands:
            self.now_ms += 1
            for line in self.kernel.execute(Envelope(command), self.now_ms).lines:
                self.records.append(parse_record(line.rstrip(b"\n")))
                record = self.records[-1]
                told.append((record.kind.value, dict(record.body)))
        return told

    @property
    def book(self) -> AppBook:
        return self.kernel.state.apps

    def held(self, number: int = 1) -> HeldInstance:
        return self.book.instances.held[number]

    def instance(self, number: int = 1) -> AppInstance:
        return self.held(number).instance

    def request(self, name: str = "one", **changes: Any) -> int:
        """An instance, by its number."""
        told: dict[str, Any] = {**OWN, "name": name, "app": "hello", "version": "1.0.0"}
        self.do(RequestInstance(**(told | changes)))
        return self.book.instances.instance_serial

    def act(self, action: MemberAction, key: str, *, under: str = "k", **rest: Any) -> Any:
        """Something is done to a member."""
        about = {**OWN, "instance_id": 1} | rest
        return self.do(ChangeMember(**about, action=action, component_key=key, key=under))

    def add(self, role: str, key: str, **rest: Any) -> Any:
        """One more member."""
        return self.act(MemberAction.ADD, key, role=role, under=f"add-{key}", **rest)

    def move(self, key: str, phase: MemberPhase, **rest: Any) -> Any:
        """A member comes to be in a phase."""
        number = self.held().components[key]
        own = {**OWN, "instance_id": 1, "member_id": number}
        return self.do(MoveMember(**own, phase=phase, **rest))

    def report(self, **told: Any) -> Any:
        """The operator reports what it sees."""
        i = self.instance()
        own = {**OWN, "instance_id": i.id, "revision": i.revision}
        return self.do(ReportInstance(**({"observed_generation": i.generation} | own | told)))

    def run(self) -> None:
        """An instance with a controller, running."""
        self.request()
        self.add("controller", "controller-0")
        self.move("controller-0", MemberPhase.READY)
