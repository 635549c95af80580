"""A kernel in which a tenant shares an app between its projects, for tests of shared runtimes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bailiwick.journal import parse_record
from bailiwick.kernel import Envelope, Granted, Submit
from bailiwick.kernel.apps.instance_commands import MoveMember
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.kernel.apps.shared.book import HeldRuntime
from bailiwick.kernel.apps.shared.rules import billing_rule
from bailiwick.kernel.people.commands import CreateProject
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.apps import ControlPlaneScope, MemberPhase
from bailiwick.vocab.shared import ConsentSide, WorkerAction
from bailiwick.vocab.values import ProjectId, TenantId
from tests.support.app_house import AppHouse

TENANT, PROJECT = ConsentSide.TENANT, ConsentSide.PROJECT
OF = {"tenant": "lab", "runtime": "main"}
ANY_DIGEST = "0" * 64


def creation(**changes: Any) -> cmd.CreateSharedRuntime:
    """A runtime that is owned by the project vision; nobody accepted its rule yet."""
    told: dict[str, Any] = {
        **OF,
        "project": "vision",
        "environment": "prod",
        "app": "hello",
        "version": "1.0.0",
        "counts": {"worker": 1},
        "accepted_digest": ANY_DIGEST,
        "by": "tina",
    }
    return cmd.CreateSharedRuntime(**(told | changes))


class SharedHouse(AppHouse):
    """A kernel with a tenant of four projects, and an app that it may share."""

    def __init__(self, **changes: Any) -> None:
        scopes = (ControlPlaneScope.PROJECT, ControlPlaneScope.TENANT)
        super().__init__(control_plane_scopes=scopes, **changes)
        self.do(CreateProject("lab", "audio"), CreateProject("lab", "text"))

    @property
    def shared(self) -> HeldRuntime:
        return self.book.shared.get("lab", "main")

    def accepted(self, **changes: Any) -> cmd.CreateSharedRuntime:
        """The same, with the rule accepted that it would have."""
        wish = creation(**changes)
        return replace(wish, accepted_digest=billing_rule(self.kernel.state, wish).digest)

    def create(self, **changes: Any) -> Any:
        """There is a runtime."""
        return self.do(self.accepted(**changes))

    def attach(self, project: str, *, tenant_by: str = "tina", project_by: str = "pia") -> Any:
        """Both sides consent."""
        told = self.do(cmd.ConsentAttachment(**OF, project=project, side=TENANT, by=tenant_by))
        return told + self.do(
            cmd.ConsentAttachment(**OF, project=project, side=PROJECT, by=project_by)
        )

    def detach(self, project: str, side: ConsentSide = PROJECT) -> Any:
        """One side ends it."""
        return self.do(cmd.DetachProject(**OF, project=project, side=side))

    def work(
        self, action: WorkerAction, project: str, component: str, *, key: str = "k", **rest: Any
    ) -> Any:
        """A project does something with a worker."""
        about = {**OF, "project": project, "component_key": component, "key": key}
        return self.do(cmd.ChangeContribution(**about, action=action, **rest))

    def contribute(self, project: str, component: str, **rest: Any) -> Any:
        """A project gives a worker."""
        told = {"role": "worker", "key": f"give-{component}"} | rest
        return self.work(WorkerAction.CONTRIBUTE, project, component, **told)

    def add_own(self) -> None:
        """A controller, which is the owner record's."""
        self.add("controller", "controller-0")

    def phase(self, component: str, phase: MemberPhase, **rest: Any) -> Any:
        """A member comes to be in a phase."""
        number = self.held().components[component]
        own = {"tenant": "lab", "project": "vision", "instance_id": 1, "member_id": number}
        return self.do(MoveMember(**own, phase=phase, **rest))

    def lease(self, project: str, **labels: str) -> int:
        """A lease of a project, labelled so."""
        request = PlacementRequest(
            tenant=TenantId("lab"),
            project=ProjectId(project),
            cpu_cores=1,
            ttl_ms=10_000,
            job_labels=labels,
        )
        self.now_ms += 1
        outcome = self.kernel.execute(Envelope(Submit(request)), self.now_ms)
        self.records += [parse_record(line.rstrip(b"\n")) for line in outcome.lines]
        assert isinstance(outcome.answer, Granted), outcome.answer
        return outcome.answer.lease_ids[0]

    def policy(self, project: str = "audio", name: str = "p", **changes: Any) -> Any:
        """A project opens a queue to another."""
        told: dict[str, Any] = {
            **OF,
            "project": project,
            "policy": name,
            "queue": "day",
            "until_ms": self.now_ms + 1_000,
            "grantee_project": "text",
        }
        return self.do(cmd.SetSubmitPolicy(**(told | changes)))
