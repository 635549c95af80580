"""An audit that watches: what is new is sealed once, hostile names do not stop it, silence does."""

from __future__ import annotations

from pathlib import Path

import pytest

from bailiwick.clusters.accounting import NoAnswer
from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.adapters.cluster import ClusterReading
from bailiwick.isolation.placements import Placement, Site
from bailiwick.isolation.policy import Distrust, EachTenant, Policy, Subject
from bailiwick.store import JournalWriter, load_or_create_key
from bailiwick.tools.isolation_audit import FAILURES_MAX, AuditFailed, AuditWatch
from bailiwick.tools.journals import verified_records

APART = Policy((Distrust("apart", (DomainKind.HOST,), EachTenant()),))
SITE = Site("n1")


class _Clock:
    at_ms = 0

    def now_ms(self) -> int:
        self.at_ms += 1_000
        return self.at_ms

    def elapsed_ms(self) -> int:
        return self.at_ms


class _Cluster:
    """What a test says is there."""

    def __init__(self) -> None:
        self.work: list[Placement] = []
        self.is_silent = False

    def read(self) -> ClusterReading:
        if self.is_silent:
            raise NoAnswer("nobody answers")
        return ClusterReading({"n1": SITE}, tuple(self.work))


def on(placement_id: str, tenant: str) -> Placement:
    return Placement(placement_id, Subject(tenant), "n1", SITE.domains())


@pytest.fixture
def cluster() -> _Cluster:
    return _Cluster()


def watch(cluster: _Cluster, **others: object) -> AuditWatch:
    return AuditWatch("test", APART, cluster.read, _Clock(), **others)  # type: ignore[arg-type]


def test_a_meeting_that_lasts_is_found_once_and_over_once(cluster: _Cluster) -> None:
    audit = watch(cluster)
    cluster.work = [on("1", "acme"), on("2", "bank")]
    assert [len(audit.look().news.opened) for _ in range(3)] == [1, 0, 0]
    assert len(audit.look().open) == 1
    cluster.work = [on("1", "acme")]
    report = audit.look()
    assert (len(report.news.closed), report.open) == (1, ())
    cluster.work.append(on("2", "bank"))
    assert len(audit.look().news.opened) == 1


def test_findings_are_sealed_with_both_jobs_what_they_share_and_the_rule(
    cluster: _Cluster, tmp_path: Path
) -> None:
    signer = load_or_create_key(tmp_path / "key", "audit.test")
    cluster.work = [on("1", "acme"), on("2", "bank")]
    with JournalWriter(tmp_path / "log", signer) as journal:
        audit = watch(cluster, findings=journal)
        audit.look()
        cluster.work.clear()
        audit.look()
    found, over = verified_records(tmp_path / "log")
    assert (found.kind.value, over.kind.value) == ("isolation_finding", "isolation_finding_closed")
    body = found.body
    told = (body["rule"], body["domain_kind"], body["domain"], body["jobs"], body["owners"])
    assert told == ("apart", "host", "n1", ("1", "2"), ("acme", "bank"))


def test_no_name_keeps_a_finding_from_being_sealed(cluster: _Cluster, tmp_path: Path) -> None:
    signer = load_or_create_key(tmp_path / "key", "audit.test")
    nasty = ("\x1b[2J\n" + "x" * 5_000, "\ud800", '"\\', "")
    cluster.work = [on(f"{number}{name}", name) for number, name in enumerate(nasty)]
    with JournalWriter(tmp_path / "log", signer) as journal:
        report = watch(cluster, findings=journal).look()
    assert len(report.open) == 6
    assert len([*verified_records(tmp_path / "log")]) == 6


def test_metrics_are_a_whole_file_after_each_look(cluster: _Cluster, tmp_path: Path) -> None:
    audit = watch(cluster, metrics=tmp_path / "audit.prom")
    cluster.work = [on("1", "acme"), on("2", "bank")]
    audit.look()
    lines = (tmp_path / "audit.prom").read_text().splitlines()
    assert 'bailiwick_isolation_findings_open{target="test",rule="apart"} 1' in lines
    assert 'bailiwick_isolation_placements{target="test"} 2' in lines
    cluster.is_silent = True
    audit.look()
    lines = (tmp_path / "audit.prom").read_text().splitlines()
    assert 'bailiwick_isolation_audit_failed{target="test"} 1' in lines


def test_what_was_found_stays_open_while_the_cluster_is_silent(cluster: _Cluster) -> None:
    audit = watch(cluster)
    cluster.work = [on("1", "acme"), on("2", "bank")]
    audit.look()
    cluster.is_silent = True
    report = audit.look()
    assert (report.failure, len(report.open), report.news.closed) == ("nobody answers", 1, ())


def test_an_audit_that_sees_nothing_for_long_ends(cluster: _Cluster) -> None:
    audit = watch(cluster)
    cluster.is_silent = True
    for _ in range(FAILURES_MAX - 1):
        audit.look()
    with pytest.raises(AuditFailed, match="nobody answers"):
        audit.look()
