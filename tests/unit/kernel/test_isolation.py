"""The isolation policy in the kernel: versions, who has to go, and what is left behind."""

from __future__ import annotations

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.isolation.language.text import PolicyRefused
from bailiwick.kernel import (
    ChangeSettings,
    ClearFence,
    DepartNode,
    Elect,
    EnforceIsolation,
    Evict,
    RegisterNode,
    Release,
    ReportTeardown,
    ScrubDomain,
    SetIsolationPolicy,
    State,
    Submit,
    decode,
    digest_of,
    encode,
)
from bailiwick.kernel.isolation.commands import SEALED_BYTES_MAX
from bailiwick.kernel.isolation.placements import seats
from bailiwick.vocab.errors import Conflict, InvalidValue, Stale
from bailiwick.vocab.words import DomainKind, LeaseClass, PreemptionReason
from bailiwick.whatif.changes import Changes
from bailiwick.whatif.compare import compare
from bailiwick.whatif.reader import read_history
from tests.support.kernel_histories import HOUR, MINUTE, Campus, node
from tests.support.wide_open import wide_settings
from tests.unit.kernel.desk import CRITICAL, HOPPER, LOW, Desk, ask, cores
from tests.unit.kernel.trust_desk import Gate

VAULT = "vault: dedicated host for tenant bank"
HOST = DomainKind.HOST
RECOVERY = PreemptionReason.POLICY_VIOLATION_RECOVERY.value


def revoked(d: Desk) -> dict[int, str | None]:
    """The leases that were told to go by the last command, and by which rule."""
    told = (dict(r.body) for r in d.last if r.kind == "lease_revoked")
    warned = [body for body in told if body["after"] == "revoke_warning"]
    return {body["lease_id"]: body.get("rule") for body in warned}  # type: ignore[misc]


def left(d: Desk) -> list[tuple[str, str, str]]:
    found = d.state.isolation.residues_at(d.now_ms)
    return [(each.rule, each.kind.value, each.domain) for each in found]


# --- versions -----------------------------------------------------------------------------------


def test_each_policy_has_the_next_version_and_its_record_has_the_whole_text() -> None:
    d = Desk(nodes=[cores(4)])
    text = "\n".join(f"# {'x' * 90} {number}" for number in range(40)) + "\n" + VAULT
    d.do(SetIsolationPolicy(text))
    (record,) = d.of_kind("isolation_policy_set")
    assert "".join(record.body["document"]) == text  # type: ignore[arg-type]
    assert (record.body["version"], record.tenant) == (1, None)
    d.do(SetIsolationPolicy("", if_version=1))
    book = d.state.isolation
    assert (book.version, book.text, book.policy.rules) == (2, "", ())


def test_who_saw_another_version_is_refused() -> None:
    d = Desk(nodes=[cores(4)])
    d.do(SetIsolationPolicy(VAULT, if_version=0))
    told = d.refuses(Stale, SetIsolationPolicy("", if_version=0))
    assert "generation '1'" in told or "generation 1" in told


def test_a_text_that_is_no_policy_never_reaches_the_kernel() -> None:
    with pytest.raises(PolicyRefused, match="line 1, column 11"):
        SetIsolationPolicy("dedicated hots for tenant bank")
    long = "\n".join("# " + '"' * 900 for _ in range(40))  # each quote is written as two
    with pytest.raises(InvalidValue, match=str(SEALED_BYTES_MAX)):
        SetIsolationPolicy(long)


def test_policy_and_what_is_left_are_in_a_snapshot_and_in_what_a_replica_reads() -> None:
    d = Desk(nodes=[cores(4), cores(4)])
    d.do(SetIsolationPolicy(f"{VAULT}\nash: keep host, rack for tenant bank until scrubbed"))
    d.do(Release(d.lease("bank")))
    stays = d.lease("bank")
    read = decode(encode(d.state), d.digest)
    assert digest_of(read) == d.digest == digest_of(d.replayed().state)
    assert read.isolation == d.state.isolation
    assert [kind for _, kind, _ in left(d)] == ["host", "rack"]
    assert str(d.state.node_of(stays)) in {domain for _, _, domain in read.isolation.counts}


# --- who has to go ------------------------------------------------------------------------------


def test_setting_a_policy_makes_the_later_of_two_go_and_says_why() -> None:
    d = Desk(nodes=[cores(4)], grace_ms=1_000)
    bank, lab = d.lease("bank"), d.lease("lab")
    d.do(SetIsolationPolicy(VAULT))
    assert revoked(d) == {lab: "vault"}
    assert d.kinds[:2] == ["isolation_policy_set", "isolation_violated"]
    told = d.of_kind("isolation_violated")[0]
    assert dict(told.body) == {
        "lease_id": lab,
        "rule": "vault",
        "domain": "n1",
        "domain_kind": "host",
        "partners": (bank,),
    }
    assert told.tenant is None
    first = next(r for r in d.last if r.kind == "lease_revoked")
    assert (first.body["reason"], first.body["preemptor"]) == (RECOVERY, "isolation")
    assert (d.phase(bank), d.phase(lab)) == ("active", "grace_running")
    d.tick(d.now_ms + 1_000)
    (ended,) = d.of_kind("lease_preempted")
    assert (ended.body["reason"], ended.body["preemptor"]) == (RECOVERY, "isolation")
    assert digest_of(d.replayed().state) == d.digest


def test_a_guaranteed_lease_goes_too() -> None:
    d = Desk(nodes=[cores(4)])
    d.lease("bank")
    lab = d.lease("lab", lease_class=LeaseClass.GUARANTEED)
    d.do(SetIsolationPolicy(VAULT))
    assert revoked(d) == {lab: "vault"}


def test_a_gang_goes_whole() -> None:
    d = Desk(nodes=[cores(2), cores(2)])
    d.do(Submit(ask("bank", cpu_cores=1)))
    gang = d.gang(3, "lab")
    d.do(SetIsolationPolicy(VAULT))
    assert revoked(d).keys() == set(gang)
    assert len(d.of_kind("isolation_violated")) == 1


def test_who_leaves_already_makes_nobody_go() -> None:
    d = Desk(nodes=[cores(4)], grace_ms=5_000)
    bank, lab = d.lease("bank"), d.lease("lab")
    d.do(Evict((bank,), PreemptionReason.OPERATOR_DRAIN, 5_000))
    d.do(SetIsolationPolicy(VAULT))
    assert revoked(d) == {}
    assert d.phase(lab) == "active"


def test_beside_a_fenced_lease_nobody_stays_who_may_not_be_there() -> None:
    d = Desk(nodes=[cores(4)], confirm_teardown=True)
    lab, bank = d.lease("lab"), d.lease("bank")
    d.do(Evict((bank,), PreemptionReason.OPERATOR_DRAIN, 0))
    d.do(ReportTeardown(bank, clean=False))
    d.do(SetIsolationPolicy(VAULT))
    assert revoked(d) == {lab: "vault"}


def test_who_was_to_leave_for_a_claim_does_not_come_back_under_another_policy() -> None:
    d = Desk(nodes=[cores(1)], grace_ms=5_000)
    lab = d.lease("lab", priority=LOW, ttl_ms=10**6)
    entry = d.wait("bank", priority=CRITICAL)
    d.tick(2_000)
    assert d.phase(lab) == "grace_running"
    assert entry in d.state.claims
    d.do(SetIsolationPolicy("lab: tenant lab only on nodes with zone=inner"))
    assert not d.state.terms


def test_the_same_policy_set_again_looks_at_everything_again() -> None:
    d = Desk(nodes=[cores(4)])
    d.do(SetIsolationPolicy(VAULT))
    d.do(SetIsolationPolicy(VAULT))
    assert d.state.isolation.version == 2


def test_work_goes_from_a_node_that_does_not_prove_any_more_what_a_rule_asks_for() -> None:
    d = Gate()
    d.trust(firmware="v1")
    d.do(SetIsolationPolicy("proven: tenant bank only on nodes with attested.tpm2.firmware=v1"))
    bank, lab = d.lease("bank"), d.lease("lab")
    assert revoked(d) == {}
    d.trust(firmware="v2")
    assert revoked(d) == {bank: "proven"}
    told = d.of_kind("isolation_violated")[-1].body
    assert (told["lease_id"], told["domain"], "domain_kind" in told) == (bank, "n1", False)
    assert d.phase(lab) == "active"
    assert digest_of(d.replayed().state) == d.digest


# --- a policy that is not set -------------------------------------------------------------------


def test_after_a_repair_the_first_leader_looks_who_is_there_at_forbidden_hours() -> None:
    d = Desk(nodes=[cores(4)], grace_ms=1_000).at(20 * HOUR)
    d.do(SetIsolationPolicy("day: dedicated host for tenant bank between 08:00 and 18:00"))
    bank, lab = d.lease("bank", ttl_ms=HOUR), d.lease("lab", ttl_ms=HOUR)
    repaired = d.kernel.repair_clock(10 * HOUR, actor="operator", why="the clock was wrong")
    d.lines.extend(repaired.lines)
    d.at(10 * HOUR).tick()
    assert d.kinds == []
    assert decode(encode(d.state), d.digest).isolation.time_moved
    d.do(Elect(1, "replica-1"))
    assert d.kinds[:2] == ["leader_elected", "isolation_violated"]
    assert revoked(d) == {lab: "day"}
    assert d.phase(bank) == "active"
    d.do(Elect(2, "replica-2"))
    assert d.kinds == ["leader_elected"]
    assert digest_of(d.replayed().state) == d.digest


def test_who_breaks_a_policy_that_is_not_set_goes_once_and_the_record_has_its_text() -> None:
    d = Desk(nodes=[cores(4), cores(4)], grace_ms=1_000)
    d.do(SetIsolationPolicy("# nothing yet"))
    bank, lab = d.lease("bank"), d.lease("lab")
    d.do(EnforceIsolation(VAULT))
    assert revoked(d) == {lab: "vault"}
    assert d.kinds[:2] == ["isolation_enforced", "isolation_violated"]
    head, told = d.last[0].body, d.last[1].body
    assert (head["document"], head["violations"], head["leases"]) == ((VAULT,), 1, 1)
    assert (told["rule"], told["domain"], told["partners"]) == ("vault", "n1", (bank,))
    first = next(r for r in d.last if r.kind == "lease_revoked")
    assert (first.body["reason"], first.body["preemptor"]) == (RECOVERY, "isolation")
    book = d.state.isolation
    assert (book.version, book.text) == (1, "# nothing yet")
    d.do(EnforceIsolation(VAULT))
    assert d.last == []
    d.tick(d.now_ms + 1_000)
    d.do(EnforceIsolation(VAULT))
    assert d.last == []
    assert digest_of(d.replayed().state) == d.digest


def test_a_policy_that_is_not_set_makes_nobody_go_who_keeps_it() -> None:
    d = Desk(nodes=[cores(4)])
    d.lease("bank"), d.lease("bank")
    d.do(EnforceIsolation(VAULT))
    assert d.last == []
    d.do(EnforceIsolation(""))
    assert d.last == []


def test_a_gang_goes_whole_by_a_policy_that_is_not_set_and_is_counted() -> None:
    d = Desk(nodes=[cores(2), cores(2)])
    d.do(Submit(ask("bank", cpu_cores=1)))
    gang = d.gang(3, "lab")
    d.do(EnforceIsolation(VAULT))
    assert revoked(d).keys() == set(gang)
    assert (d.last[0].body["violations"], d.last[0].body["leases"]) == (1, 3)


def test_a_policy_to_enforce_is_checked_like_one_to_set() -> None:
    with pytest.raises(PolicyRefused, match="line 1, column 11"):
        EnforceIsolation("dedicated hots for tenant bank")
    with pytest.raises(InvalidValue, match=str(SEALED_BYTES_MAX)):
        EnforceIsolation("\n".join("# " + '"' * 900 for _ in range(40)))


# --- what is left behind ------------------------------------------------------------------------


def test_a_domain_stays_theirs_after_the_last_of_them_left_and_only_then() -> None:
    d = Desk(nodes=[cores(4)])
    d.do(SetIsolationPolicy("ash: keep host for tenant bank 10s after it left"))
    one, two, lab = d.lease("bank"), d.lease("bank"), d.lease("lab")
    d.at(2_000).do(Release(one))
    d.do(Release(lab))
    assert left(d) == []
    d.at(3_000).do(Release(two))
    assert left(d) == [("ash", "host", "n1")]
    (residue,) = d.state.isolation.residues_at(3_000)
    assert (residue.left_ms, residue.until_ms) == (3_000, 13_000)
    d.at(12_999)
    assert left(d)
    d.at(13_000)
    assert not left(d)


def test_who_came_in_the_very_moment_they_left_was_there_before() -> None:
    d = Desk(nodes=[cores(4)])
    d.do(SetIsolationPolicy("ash: keep host for tenant bank until scrubbed"))
    bank = d.lease("bank")
    d.at(2_000).lease("lab")
    d.do(Release(bank))
    d.do(SetIsolationPolicy(d.state.isolation.text))
    assert revoked(d) == {}


def test_a_fenced_lease_has_not_left() -> None:
    d = Desk(nodes=[cores(4)], confirm_teardown=True)
    d.do(SetIsolationPolicy("ash: keep host for tenant bank until scrubbed"))
    bank = d.lease("bank")
    d.do(Evict((bank,), PreemptionReason.OPERATOR_DRAIN, 0))
    d.do(ReportTeardown(bank, clean=False))
    assert not left(d)
    d.do(ClearFence(bank))
    assert left(d) == [("ash", "host", "n1")]


def test_a_machines_name_keeps_what_was_left_on_it() -> None:
    d = Desk(nodes=[cores(4)])
    d.do(SetIsolationPolicy("ash: keep host for tenant bank until scrubbed"))
    d.lease("bank")
    d.do(DepartNode("n1"))
    d.do(RegisterNode("n1", cores(4)))
    assert left(d) == [("ash", "host", "n1")]


def test_scrubbing_a_host_frees_it_and_all_in_it_and_a_fabric_only_itself() -> None:
    gpus = (GpuDevice(HOPPER, fabric="nv1"), GpuDevice(HOPPER, fabric="nv2"))
    d = Desk(nodes=[NodeCapacity(4, 10**6, gpus=gpus)])
    d.do(SetIsolationPolicy("ash: keep cache, numa, fabric, host for tenant bank until scrubbed"))
    d.do(Release(d.lease("bank", gpu_count=1)))
    assert {kind for _, kind, _ in left(d)} == {"cache", "numa", "fabric", "host"}
    d.do(ScrubDomain(HOST, "n1"))
    assert d.kinds == ["domain_scrubbed"]
    assert [kind for _, kind, _ in left(d)] == ["fabric"]
    ((_, _, fabric),) = left(d)
    d.do(ScrubDomain(DomainKind.FABRIC, fabric))
    assert not left(d)
    d.refuses(Conflict, ScrubDomain(HOST, "n1"))
    assert digest_of(d.replayed().state) == d.digest


def test_another_policy_keeps_what_is_left_by_a_rule_that_it_still_has() -> None:
    d = Desk(nodes=[cores(4)])
    d.do(SetIsolationPolicy("ash: keep host, rack for tenant bank until scrubbed"))
    d.do(Release(d.lease("bank")))
    d.do(SetIsolationPolicy("dust: keep host for tenant bank 10s after it left"))
    assert left(d) == [("dust", "host", "n1")]  # by whom it is about; a rack is kept no more
    (residue,) = d.state.isolation.residues_at(d.now_ms)
    assert residue.until_ms == d.now_ms + 10_000
    d.do(SetIsolationPolicy("dust: keep host for tenant bank2 1d after it left"))
    assert left(d) == [("dust", "host", "n1")]  # by its name
    d.do(SetIsolationPolicy("other: keep host for tenant lab 1d after it left"))
    assert not left(d)


# --- read back ----------------------------------------------------------------------------------


def test_a_journal_with_policies_is_replayed_to_the_same_records() -> None:
    campus = Campus()
    campus.do(ChangeSettings(wide_settings(grace_ms=30_000)), "kernel")
    for number in (1, 2):
        campus.do(RegisterNode(f"node-{number}", node(2)))
    for tenant in ("bank", "lab", "bank", "lab"):
        campus.submit(tenant, cpu_cores=20, ttl_ms=HOUR)
    campus.pass_time(MINUTE)
    campus.do(EnforceIsolation("few: at most 1 of tenant lab per rack"))
    assert campus.records[-1].kind == "lease_revoked"
    campus.pass_time(MINUTE)
    campus.do(SetIsolationPolicy(f"{VAULT}\nash: keep host for tenant bank until scrubbed"))
    campus.pass_time(2 * HOUR)
    (residue, *_) = campus.kernel.state.isolation.residues_at(campus.now_ms)
    campus.do(ScrubDomain(HOST, residue.domain))
    campus.submit("lab", cpu_cores=20)
    history = read_history(campus.records)
    report = compare(history, State, changes=Changes())
    assert report.fidelity.exact
    assert any(r.kind == "lease_preempted" for r in campus.records)


def test_a_claim_on_a_node_that_departed_has_no_seat_there() -> None:
    d = Desk(nodes=[cores(4)], grace_ms=1_000)
    d.do(SetIsolationPolicy(VAULT))
    d.lease("lab", cpu_cores=4, priority=LOW)
    d.wait("bank", cpu_cores=4, priority=CRITICAL)
    assert [each.node for each in seats(d.state, now_ms=d.now_ms)] == ["n1"]
    d.do(DepartNode("n1"))
    assert [*seats(d.state, now_ms=d.now_ms)] == []
