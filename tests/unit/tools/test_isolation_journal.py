"""Our own fleet under audit: what its journal says runs is judged, as the journal grows."""

from __future__ import annotations

from pathlib import Path

import pytest

from bailiwick.fleet.node import NodeCapacity
from bailiwick.fleet.topology import DomainKind
from bailiwick.kernel import Envelope, Kernel, RegisterNode, Submit
from bailiwick.kernel.commands import Command
from bailiwick.kernel.work.commands import Release
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.store import open_store
from bailiwick.tools.isolation_journal import watch_journal
from bailiwick.vocab.errors import NotFound
from bailiwick.vocab.values import TenantId


class _ControlPlane:
    """A kernel whose lines are kept."""

    def __init__(self, folder: Path) -> None:
        self.kernel, self.store = Kernel(), open_store(folder)
        leader = self.store.lead("test", "nowhere")
        assert leader is not None
        self.epoch, self.now_ms = leader.epoch, 1_000

    def do(self, command: Command) -> object:
        first = self.kernel.state.size
        done = self.kernel.execute(Envelope(command, "test", "c-1"), self.now_ms)
        self.store.append(self.epoch, first, done.lines)
        return done.answer


def test_what_the_journal_says_is_read_on_as_it_grows(tmp_path: Path) -> None:
    plane = _ControlPlane(tmp_path)
    plane.do(RegisterNode("n1", NodeCapacity(8, 2**30, labels={"rack": "r1"})))
    plane.do(Submit(PlacementRequest(tenant=TenantId("acme"), cpu_cores=1, job_labels={"a": "b"})))
    read = watch_journal(str(tmp_path))
    (first,) = read().placements
    assert (first.subject.tenant, first.subject.labels, first.node) == ("acme", {"a": "b"}, "n1")
    assert first.domains[DomainKind.RACK] == {"r1"}
    plane.do(Submit(PlacementRequest(tenant=TenantId("bank"), cpu_cores=1)))
    found = read()
    assert [each.subject.tenant for each in found.placements] == ["acme", "bank"]
    assert set(found.sites) == {"n1"}
    plane.do(Release(1))
    assert [each.subject.tenant for each in read().placements] == ["bank"]
    plane.store.close()


def test_where_no_control_plane_is_nothing_looks_calm(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="database"):
        watch_journal(str(tmp_path))
