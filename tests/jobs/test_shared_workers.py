"""Workers that projects contribute: each runs as its project's job, and comes back in time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bailiwick.apps.shared.billing import BillingRule, contributable_roles, reserved_lines
from bailiwick.kernel.apps import commands as ap
from bailiwick.kernel.apps import instance_commands as icmd
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.kernel.people.commands import CreateProject
from bailiwick.reconcile.apps.steps import PAUSE_MS_MAX
from bailiwick.vocab.apps import ArtifactKind, ControlPlaneScope, MemberPhase
from bailiwick.vocab.shared import ConsentSide, WorkerAction
from tests.jobs.house import TENANT, job_house
from tests.jobs.test_apps import Apps
from tests.support.app_manifests import service

READY = MemberPhase.READY
OF: dict[str, Any] = {"tenant": TENANT, "runtime": "main"}
APP = f"{TENANT}.shr"


class SharedApps(Apps):
    """The same house, with a runtime that the project p owns and q has a part in."""

    def share(self) -> None:
        """There is a runtime without workers of its own; q is attached."""
        house = self.house
        house.do(CreateProject(TENANT, "q"))
        blob = replace(service().artifacts["service"], kind=ArtifactKind.BLOB)
        roles = {
            name: replace(role, count=(0, role.count[1])) for name, role in service().roles.items()
        }
        manifest = service(
            app="shr",
            roles=roles,
            artifacts={"service": blob},
            control_plane_scopes=(ControlPlaneScope.TENANT,),
        )
        house.do(ap.PublishApp(manifest.canonical, TENANT))
        house.do(ap.SetEntitlement(APP, True, tenant=TENANT))
        wish = {"project": "p", "environment": "prod", "app": APP, "version": "1.0.0"}
        rule = BillingRule(
            *("main", "prod", TENANT, "p", APP, "1.0.0"),
            reserved_lines(manifest, {}),
            contributable_roles(manifest),
            cmd.WITHDRAW_MS,
        )
        digest = rule.digest
        house.do(cmd.CreateSharedRuntime(**OF, **wish, accepted_digest=digest, by="tina"))
        for side, by in ((ConsentSide.TENANT, "tina"), (ConsentSide.PROJECT, "quentin")):
            house.do(cmd.ConsentAttachment(**OF, project="q", side=side, by=by))

    def work(self, action: WorkerAction, component: str, *, key: str, **rest: Any) -> None:
        """The project q does something with a worker."""
        about = {**OF, "project": "q", "component_key": component, "key": key}
        self.house.do(cmd.ChangeContribution(**about, action=action, **rest))


@pytest.fixture
def apps(tmp_path: Path) -> Iterator[SharedApps]:
    with job_house(tmp_path) as house:
        apps = SharedApps(house)
        apps.share()
        yield apps


def test_a_contributed_worker_runs_on_its_projects_lease(apps: SharedApps) -> None:
    apps.work(WorkerAction.CONTRIBUTE, "q-0", key="g", role="worker")
    apps.house.do(
        icmd.ChangeInstance(tenant=TENANT, project="p", instance_id=1, counts={"worker": 1})
    )
    members = {each.component_key: each for each in apps.run(2)}
    assert {key: each.source for key, each in members.items()} == {"q-0": "q", "worker-0": None}
    jobs = {job.job_id: job for job in apps.house.jobs.book.page(None, limit=10)}
    projects = {key: jobs[each.job_id or 0].project for key, each in members.items()}
    assert projects == {"q-0": "q", "worker-0": "p"}

    def owners(view: Any) -> dict[str, Any]:
        found = ((key, view.state.owner_of(each.lease_id)) for key, each in members.items())
        return dict(found)

    told = apps.house.runner.read(owners)
    assert told == {"q-0": (TENANT, "q"), "worker-0": (TENANT, "p")}
    # To want none of one's own leaves what another gave.
    apps.house.do(
        icmd.ChangeInstance(tenant=TENANT, project="p", instance_id=1, counts={"worker": 0})
    )
    (left,) = apps.rounds(lambda: len(found := apps.members()) == 1 and found, "its own has gone")
    assert (left.component_key, left.phase) == ("q-0", READY)


def test_a_withdrawn_worker_ends_at_its_deadline_whoever_is_away(apps: SharedApps) -> None:
    apps.work(WorkerAction.CONTRIBUTE, "q-0", key="g", role="worker")
    (member,) = apps.run()
    # An operator that reported once would be waited for, and is never heard of again.
    seen = apps.held()
    assert seen is not None
    own = {"tenant": TENANT, "project": "p", "instance_id": 1}
    apps.house.do(
        icmd.ReportInstance(
            **own,
            revision=seen.instance.revision,
            observed_generation=seen.instance.generation,
        )
    )
    apps.work(WorkerAction.WITHDRAW, "q-0", key="w")
    for _ in range(3):
        apps.loop.once()
    (draining,) = apps.members()
    assert (draining.id, draining.phase) == (member.id, MemberPhase.DRAINING)
    apps.clock.ahead_ms = cmd.WITHDRAW_MS + 1_000
    apps.rounds(lambda: not apps.members(), "it is gone")
    shared = apps.house.runner.read(lambda view: view.state.apps.shared.get(TENANT, "main"))
    assert shared.contributions == {}


def test_a_worker_that_may_not_be_replaced_keeps_nobody_else_waiting(apps: SharedApps) -> None:
    apps.work(WorkerAction.CONTRIBUTE, "q-0", key="g", role="worker")
    (member,) = apps.run()
    assert member.job_id is not None
    apps.house.jobs.cancel(member.job_id, actor="ann", correlation_id="c")
    apps.rounds(lambda: apps.members(MemberPhase.FAILED), "it has failed")
    apps.house.do(ap.SetEntitlement(APP, False, tenant=TENANT, project="q"))
    apps.clock.ahead_ms = PAUSE_MS_MAX
    apps.house.do(
        icmd.ChangeInstance(tenant=TENANT, project="p", instance_id=1, counts={"worker": 1})
    )
    (own,) = apps.run()
    assert (own.component_key, own.source) == ("worker-0", None)
    assert any("q-0" in line for line in apps.house.said)
    apps.house.do(ap.SetEntitlement(APP, True, tenant=TENANT, project="q"))
    both = apps.run(2)
    assert {each.source for each in both} == {None, "q"}
