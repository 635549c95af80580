"""Members of apps become jobs: begun once, renewed, replaced, and not where they may not be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.record import parse_record
from bailiwick.kernel import Command, Envelope
from bailiwick.kernel.apps import commands as ap
from bailiwick.kernel.apps import instance_commands as cmd
from bailiwick.kernel.apps.instances import AppMember, HeldInstance
from bailiwick.kernel.apps.spelling import overlay_from
from bailiwick.kernel.people.commands import CreateProject
from bailiwick.reconcile.apps.courses import InstanceCourses
from bailiwick.reconcile.apps.loop import AppLoop
from bailiwick.reconcile.apps.starting import MemberStarter
from bailiwick.reconcile.apps.steps import PAUSE_MS_MAX
from bailiwick.services.apps.member_jobs import TERM_MS
from bailiwick.store.members.app_jobs import AppJobs
from bailiwick.vocab.apps import (
    ArtifactKind,
    ArtifactTrust,
    InstancePhase,
    MemberAction,
    MemberPhase,
)
from bailiwick.vocab.jobs import JobPhase
from tests.jobs.house import TENANT, JobHouse, job_house
from tests.support.app_manifests import SERVICE_DIGEST, service
from tests.support.http_house import MovedClock
from tests.support.waiting import until

OWN: dict[str, Any] = {"tenant": TENANT, "project": "p"}
OF = OWN | {"instance_id": 1}
APP = f"{TENANT}.svc"


class Apps:
    """A house with an app that may be used, and the loop of its members."""

    def __init__(self, house: JobHouse) -> None:
        self.house, self.clock = house, MovedClock()
        self.loop = self.new_loop()
        house.do(CreateProject(TENANT, "p"))
        house.do(ap.SetArtifactSource("main", ArtifactKind.BLOB, "https://blobs.example/a"))
        house.do(ap.RegisterArtifact(SERVICE_DIGEST, ArtifactKind.BLOB, "main", TENANT))
        house.do(ap.ChangeArtifact(SERVICE_DIGEST, TENANT, trust=ArtifactTrust.VERIFIED))
        manifest = service()
        blob = replace(manifest.artifacts["service"], kind=ArtifactKind.BLOB)
        house.do(ap.PublishApp(service(artifacts={"service": blob}).canonical, TENANT))
        self.entitle()

    def new_loop(self) -> AppLoop:
        """One that knows nothing yet, as after a restart."""
        runner = self.house.runner
        jobs = AppJobs(runner.replica.store)  # type: ignore[arg-type]
        return AppLoop(self.house.jobs, jobs, runner, clock=self.clock, say=self.house.said.append)

    def entitle(self, *, is_enabled: bool = True, **lines: Any) -> None:
        """What counts for the app."""
        line = overlay_from(lines)
        self.house.do(ap.SetEntitlement(APP, is_enabled, line, TENANT))

    def request(self, **counts: int) -> None:
        """An instance."""
        wish = {"name": "demo", "app": APP, "version": "1.0.0", "counts": counts}
        self.house.do(cmd.RequestInstance(**OWN, **wish))

    def held(self) -> HeldInstance | None:
        """The instance as it is now."""
        return self.house.runner.read(lambda view: view.state.apps.instances.held.get(1))

    def members(self, *phases: MemberPhase) -> list[AppMember]:
        """Those in these phases, or all."""
        held = self.held()
        found = [] if held is None else [*held.members.values()]
        return [each for each in found if not phases or each.phase in phases]

    def rounds(self, ask: Any, what: str) -> Any:
        """The first answer that is one; rounds are made meanwhile."""

        def look() -> Any:
            self.loop.once()
            self.house.once()
            return ask()

        return until(look, what)

    def run(self, count: int = 1) -> list[AppMember]:
        """The members, once so many are ready."""
        return self.rounds(
            lambda: len(found := self.members(MemberPhase.READY)) == count and found, "all ready"
        )


@pytest.fixture
def apps(tmp_path: Path) -> Iterator[Apps]:
    with job_house(tmp_path) as house:
        yield Apps(house)


def test_a_lease_is_renewed_in_time_and_only_then(apps: Apps) -> None:
    apps.request()
    (member,) = apps.run()
    assert member.lease_id is not None
    kinds = apps.house.kinds()
    for _ in range(3):
        apps.loop.once()
    assert apps.house.kinds() == kinds, "where nothing is to be done, nothing is"
    apps.clock.ahead_ms = TERM_MS // 2 + 1_000
    apps.loop.once()
    apps.loop.once()
    assert apps.house.kinds().count("lease_renewed") == 1


def test_after_a_restart_each_member_still_has_its_one_job(apps: Apps) -> None:
    apps.request(worker=2)
    apps.loop.once()  # they are wanted
    for _ in range(4):  # whatever was begun when it ended, each loop knows nothing
        apps.loop = apps.new_loop()
        apps.loop.once()
    first = apps.run(2)
    apps.loop = apps.new_loop()
    apps.loop.once()
    assert {each.job_id for each in apps.members()} == {each.job_id for each in first}
    jobs = apps.house.jobs.book.page(None, limit=10)
    assert len(jobs) == 2
    assert {job.submitter for job in jobs} == {"app:1"}
    assert {job.token_id for job in jobs} == {None}


def test_what_fails_is_replaced_after_a_pause(apps: Apps) -> None:
    apps.request()
    (member,) = apps.run()
    assert member.job_id is not None
    apps.house.jobs.cancel(member.job_id, actor="ann", correlation_id="c")
    (failed,) = apps.rounds(lambda: apps.members(MemberPhase.FAILED), "it has failed")
    assert (failed.id, failed.reason) == (member.id, "cancelled")
    apps.clock.ahead_ms = PAUSE_MS_MAX
    (other,) = apps.run()
    assert (other.component_key, other.id > member.id) == (member.component_key, True)


def test_nothing_is_begun_where_it_may_not_be(apps: Apps) -> None:
    apps.request()
    apps.house.do(cmd.ChangeInstance(**OF, paused=True))
    for _ in range(3):
        apps.loop.once()
    assert not apps.members()
    apps.house.do(cmd.ChangeInstance(**OF, paused=False))
    apps.loop.once()
    assert apps.members(MemberPhase.REQUESTED, MemberPhase.JOINING)
    (member,) = apps.run()
    apps.entitle(is_enabled=False)
    assert member.job_id is not None
    apps.house.jobs.cancel(member.job_id, actor="ann", correlation_id="c")
    apps.rounds(lambda: apps.members(MemberPhase.FAILED), "it has failed")
    apps.clock.ahead_ms = PAUSE_MS_MAX
    for _ in range(3):
        apps.loop.once()
    assert not apps.members(MemberPhase.REQUESTED, MemberPhase.JOINING, MemberPhase.READY)


def test_a_member_waits_where_no_region_is_allowed_that_there_is(apps: Apps) -> None:
    apps.entitle(regions=["nowhere"])
    apps.request()
    waiting = apps.rounds(lambda: apps.members(MemberPhase.JOINING, MemberPhase.FAILED), "asked")
    for _ in range(3):
        apps.loop.once()
        apps.house.once()
    assert not apps.members(MemberPhase.READY), waiting
    assert not apps.house.leases()


def test_an_operator_is_waited_for_before_members_go(apps: Apps) -> None:
    apps.request()
    (member,) = apps.run()
    held = apps.held()
    assert held is not None
    seen = {"revision": held.instance.revision, "observed_generation": 1}
    apps.house.do(cmd.ReportInstance(**OF, **seen))
    apps.house.do(cmd.DeleteInstance(**OF))
    for _ in range(3):
        apps.loop.once()
        apps.house.once()
    assert [each.id for each in apps.members(MemberPhase.READY)] == [member.id]
    held = apps.held()
    assert held is not None
    assert held.instance.phase is InstancePhase.DELETING
    last = {"revision": held.instance.revision, "observed_generation": held.instance.generation}
    apps.house.do(cmd.ReportInstance(**OF, **last))
    apps.rounds(lambda: apps.held() is None, "it is gone")
    apps.house.quiet()


def test_a_job_that_its_member_never_learnt_of_ends_with_it(apps: Apps) -> None:
    apps.request()
    apps.loop.once()
    (member,) = apps.members()
    held = apps.held()
    assert held is not None
    runner = apps.house.runner
    starter = MemberStarter(apps.house.jobs, runner, InstanceCourses(runner))
    move = starter.start(held.instance, member)  # and there the server was killed
    assert move is not None
    assert move.job_id is not None
    apps.house.do(cmd.DeleteInstance(**OF))
    apps.loop = apps.new_loop()
    apps.rounds(lambda: apps.held() is None, "it is gone")
    apps.loop = apps.new_loop()
    apps.house.rounds(lambda: apps.loop.once() or not apps.house.leases(), "nothing is held")
    assert apps.house.jobs.get(move.job_id).phase is JobPhase.CANCELLED
    apps.house.quiet()


def asked(apps: Apps, command: Command, word: str) -> None:
    """Somebody asks for it under a correlation id."""
    apps.house.runner.execute(Envelope(command, "ann", word))


def told(apps: Apps, word: str) -> list[tuple[str, str]]:
    """What the loop sealed about members under a correlation id: who, and how far they came."""
    store = apps.house.runner.replica.store
    lines = apps.house.runner.read(lambda view: store.read(0, view.state.size))
    records = [parse_record(line.rstrip(b"\n")) for line in lines]
    own = [each for each in records if each.correlation_id == word and each.actor == "apps"]
    rows = [each.body for each in own if each.kind is RecordKind.APP_MEMBER_CHANGED]
    return [(row["component_key"], row["phase"]) for row in rows]


DEMO = OWN | {"name": "demo", "app": APP, "version": "1.0.0"}
STARTED = ("requested", "joining", "ready")


def test_what_the_loop_does_for_a_request_bears_its_correlation_id(apps: Apps) -> None:
    asked(apps, cmd.RequestInstance(**DEMO, counts={"worker": 1}), "made-1")
    apps.run()
    assert {*told(apps, "made-1")} == {("worker-0", phase) for phase in STARTED}
    asked(apps, cmd.ChangeInstance(**OF, counts={"worker": 2}), "scaled-2")
    apps.run(2)
    assert {*told(apps, "scaled-2")} == {("worker-1", phase) for phase in STARTED}
    # What is too much goes for the last wish, though that is fulfilled as soon as it is said.
    asked(apps, cmd.ChangeInstance(**OF, counts={"worker": 1}), "scaled-1")
    apps.rounds(lambda: len(apps.members()) == 1, "one is gone")
    assert {phase for _, phase in told(apps, "scaled-1")} == {"draining", "removed"}
    (left,) = apps.members()
    swap: dict[str, Any] = {
        "action": MemberAction.REPLACE,
        "component_key": left.component_key,
        "key": "swap",
    }
    asked(apps, cmd.ChangeMember(**OF, **swap), "swapped-1")
    apps.rounds(lambda: left.id not in [each.id for each in apps.members()], "it is replaced")
    apps.run()
    phases = {phase for _, phase in told(apps, "swapped-1")}
    assert phases == {"joining", "ready", "removed"}, "of the one that comes and the one that goes"
    asked(apps, cmd.DeleteInstance(**OF), "deleted-1")
    apps.rounds(lambda: apps.held() is None, "it is gone")
    assert [phase for _, phase in told(apps, "deleted-1")][-1] == "removed"
    assert told(apps, "app-instance-1") == []
    jobs = apps.house.jobs.book.page(None, limit=10)
    assert {job.correlation_id for job in jobs} == {"made-1", "scaled-2", "swapped-1"}


def test_a_loop_that_was_killed_goes_on_under_the_same_correlation_id(apps: Apps) -> None:
    asked(apps, cmd.RequestInstance(**DEMO, counts={"worker": 2}), "made-2")

    def look() -> bool:
        apps.loop = apps.new_loop()
        return len(apps.members(MemberPhase.READY)) == 2

    apps.rounds(look, "all ready")
    both = {(key, phase) for key in ("worker-0", "worker-1") for phase in STARTED}
    assert {*told(apps, "made-2")} == both


def test_what_nobody_asked_for_has_the_name_of_the_instance(apps: Apps) -> None:
    asked(apps, cmd.RequestInstance(**DEMO, counts={"worker": 1}), "made-3")
    (member,) = apps.run()
    before = told(apps, "made-3")
    assert member.job_id is not None
    apps.house.jobs.cancel(member.job_id, actor="ann", correlation_id="c")
    apps.rounds(lambda: apps.members(MemberPhase.FAILED), "it has failed")
    apps.clock.ahead_ms = PAUSE_MS_MAX
    apps.run()
    assert told(apps, "made-3") == before
    assert {phase for _, phase in told(apps, "app-instance-1")} >= {"failed", "ready"}
