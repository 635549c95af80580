"""What work is said to be: from the request to the lease, its record, a snapshot, and its end."""

from __future__ import annotations

from bailiwick.kernel import Evict, Release, ReportTeardown, Submit, decode, digest_of, encode
from bailiwick.kernel.codec import decode_command, encode_command
from bailiwick.kernel.isolation.subjects import subject_of_lease, subject_of_request
from bailiwick.vocab.words import PreemptionReason
from tests.unit.kernel.desk import Desk, ask, cores

RED = {"team": "red"}


def test_a_lease_is_labelled_as_its_request_was_and_no_node_has_to_be() -> None:
    d = Desk(nodes=[cores(4)])
    lease = d.lease("acme", project="p", job_labels=RED)
    other = d.lease("acme")
    assert subject_of_lease(d.state, lease) == subject_of_request(
        ask("acme", project="p", job_labels=RED)
    )
    assert subject_of_lease(d.state, lease).labels == RED
    assert subject_of_lease(d.state, other).labels == {}
    assert d.of_kind("admission_approved")[0].body["job_labels"] == ("team=red",)
    assert "job_labels" not in d.of_kind("admission_approved")[1].body


def test_a_label_of_the_job_chooses_no_node() -> None:
    d = Desk(nodes=[cores(1), cores(1, labels=RED)])
    d.lease(job_labels=RED)
    d.lease(job_labels=RED)
    assert {d.state.node_of(each) for each in d.state.leases} == {"n1", "n2"}


def test_who_waits_keeps_its_labels_until_it_runs() -> None:
    d = Desk(nodes=[cores(1)])
    first = d.lease()
    entry = d.wait(job_labels=RED)
    assert d.state.entry(entry).request.job_labels == RED
    d.do(Release(first))
    d.tick(2_000)
    (lease,) = d.state.leases
    assert subject_of_lease(d.state, lease).labels == RED


def test_labels_are_in_a_snapshot_and_in_what_a_replica_reads() -> None:
    d = Desk(nodes=[cores(1)])
    lease = d.lease(job_labels=RED)
    d.wait(job_labels={"team": "blue"})
    data = encode(d.state)
    read = decode(data, d.digest)
    assert subject_of_lease(read, lease).labels == RED
    assert digest_of(read) == d.digest == digest_of(d.replayed().state)


def test_a_fenced_lease_is_still_of_who_held_it_and_a_lease_that_ended_is_of_nobody() -> None:
    d = Desk(nodes=[cores(2)], confirm_teardown=True)
    lease, other = d.lease("acme", job_labels=RED), d.lease("acme", job_labels=RED)
    d.do(Evict((lease, other), PreemptionReason.OPERATOR_DRAIN, 0))
    d.tick(2_000)
    d.do(ReportTeardown(lease, clean=False))
    d.do(ReportTeardown(other, clean=True))
    assert subject_of_lease(d.state, lease).tenant == "acme"
    assert subject_of_lease(d.state, lease).labels == RED
    assert d.state.job_labels == {lease: RED}


def test_a_request_says_its_labels_to_another_replica() -> None:
    command = Submit(ask(job_labels=RED))
    plain = encode_command(command)
    assert plain["request"]["job_labels"] == ["team=red"]
    assert decode_command(plain) == command
