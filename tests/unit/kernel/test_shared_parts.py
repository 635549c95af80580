"""How a part in a shared runtime ends: who is waited for, for how long, and who has none."""

from __future__ import annotations

import pytest

from bailiwick.kernel.apps.instance_commands import ChangeInstance, ReportInstance, RequestInstance
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.kernel.people.commands import ChangeProject
from bailiwick.reconcile.apps.detaching import parts_to_end
from bailiwick.vocab.apps import ControlPlaneScope, MemberPhase
from bailiwick.vocab.errors import Conflict, InstanceRefused, NotFound
from bailiwick.vocab.shared import AttachmentPhase, WorkerAction
from tests.support.shared_house import OF, SharedHouse

REMOVED = MemberPhase.REMOVED


@pytest.fixture
def house() -> SharedHouse:
    return SharedHouse()


def test_an_operator_that_looks_after_it_is_waited_for(house: SharedHouse) -> None:
    house.create()
    for project in ("audio", "text"):
        house.attach(project)
    house.contribute("audio", "audio-0")
    report(house)
    house.detach("audio")
    finish = cmd.FinishDetachment(**OF, project="audio")
    with pytest.raises(Conflict, match="workers that are not back"):
        house.do(finish)
    house.phase("audio-0", REMOVED)
    assert house.shared.attachments["audio"].phase is AttachmentPhase.DETACHING
    told = house.do(finish)
    assert [kind for kind, _ in told] == ["shared_attachment_changed"]
    assert "audio" not in house.shared.attachments
    with pytest.raises(NotFound):
        house.do(finish)
    with pytest.raises(Conflict, match="is attached"):
        house.do(cmd.FinishDetachment(**OF, project="text"))


def test_an_operator_that_stays_away_is_waited_for_as_long_as_a_worker_would_be(
    house: SharedHouse,
) -> None:
    house.create(withdraw_within_ms=60_000)
    house.attach("audio")
    report(house)
    house.detach("audio")
    late_ms = house.now_ms + 60_000
    assert parts_to_end(house.kernel.state, late_ms - 1) == []
    (finish,) = parts_to_end(house.kernel.state, late_ms)
    house.do(finish)
    assert "audio" not in house.shared.attachments
    assert parts_to_end(house.kernel.state, late_ms) == []


def test_a_project_that_is_closed_has_no_part_any_more(house: SharedHouse) -> None:
    house.create()
    for project in ("audio", "text"):
        house.attach(project)
    house.contribute("audio", "audio-0")
    assert parts_to_end(house.kernel.state, house.now_ms) == []
    house.do(ChangeProject("lab", "audio", is_open=False))
    (detach,) = parts_to_end(house.kernel.state, house.now_ms)
    house.do(detach)
    assert house.shared.attachments["audio"].phase is AttachmentPhase.DETACHING
    assert parts_to_end(house.kernel.state, house.now_ms) == []
    house.phase("audio-0", REMOVED)
    assert [*house.shared.attachments] == ["text"]


def test_what_a_project_makes_for_a_tenant_by_itself_answers_for_nobody_else(
    house: SharedHouse,
) -> None:
    own = {"tenant": "lab", "project": "vision", "app": "hello", "version": "1.0.0"}
    house.do(RequestInstance(**own, name="wide", scope=ControlPlaneScope.TENANT))
    assert house.book.answering("hello", "lab", project="vision") is not None
    assert house.book.answering("hello", "lab", project="audio") is None


def test_its_owner_and_those_who_give_workers_have_together_no_more_than_the_role_can(
    house: SharedHouse,
) -> None:
    house.create(counts={"worker": 1})
    house.attach("audio")
    for number in range(2):
        house.contribute("audio", f"audio-{number}")
    i = house.held().instance
    own = {"tenant": i.tenant, "project": i.project, "instance_id": i.id}
    with pytest.raises(InstanceRefused, match="count_out_of_range") as refused:
        house.do(ChangeInstance(**own, counts={"worker": 3}))
    assert (refused.value.numbers["count"], refused.value.numbers["most"]) == (5, 4)
    house.do(ChangeInstance(**own, counts={"worker": 2}))
    house.work(WorkerAction.WITHDRAW, "audio", "audio-0")
    house.do(ChangeInstance(**own, counts={"worker": 3}))


def report(house: SharedHouse) -> None:
    """Its operator says that all is well."""
    i = house.held().instance
    own = {"tenant": i.tenant, "project": i.project, "instance_id": i.id}
    told = {"revision": i.revision, "observed_generation": i.generation, "reason": "well"}
    house.do(ReportInstance(**own, **told))
