"""The gate: who takes no lease until it proves what is asked, and what follows from bad proof."""

from __future__ import annotations

import json

import pytest

from bailiwick.fleet.node import NodeCapacity
from bailiwick.journal.words import AttestationWord
from bailiwick.kernel import (
    DepartNode,
    Done,
    EnrolNode,
    LiftQuarantine,
    Quarantine,
    Queued,
    RecordVerdict,
    Refused,
    RegisterNode,
    SetTrustPolicy,
    Submit,
    WithdrawEnrolment,
    decode,
    encode,
)
from bailiwick.kernel.slices import apply, event_of
from bailiwick.kernel.state import State
from bailiwick.kernel.views import fleet
from bailiwick.vocab.errors import Conflict, InvalidValue, NotFound
from bailiwick.vocab.trust import EvidenceKind
from bailiwick.vocab.words import FilterReason, LeaseClass
from tests.unit.kernel.desk import Desk, ask, cores
from tests.unit.kernel.trust_desk import BAD, GPU, LIFE_MS, NITRO, TPM, Gate, evidence

# --- who is gated -------------------------------------------------------------------------------


def test_a_node_that_never_attested_takes_no_lease_and_is_counted_for_it() -> None:
    d = Gate()
    assert (d.gated(), d.stands()) == (True, "unattested")
    answer = d.do(Submit(ask()))
    assert isinstance(answer, Queued)
    assert answer.reason.is_transient
    told = d.state.admission.explain(ask(), now_ms=d.now_ms)
    assert told.fallen == {FilterReason.ATTESTATION: 1}
    assert fleet(d.state).gated == 1


def test_who_waits_for_a_gated_node_starts_once_it_has_attested() -> None:
    d = Gate()
    d.wait()
    assert "admission_approved" not in d.tick(2_000)
    d.trust()
    assert d.kinds == ["attestation_verdict"]
    assert d.stands() == "trusted"
    assert "admission_approved" in d.tick(3_000)


def test_a_node_in_no_pool_is_not_gated() -> None:
    d = Gate(2)
    d.ask_for("tpm2", of=("n2",))
    assert (d.gated("n1"), d.gated("n2")) == (False, True)
    assert d.state.node_of(d.lease()) == "n1"


def test_without_a_policy_nobody_is_gated() -> None:
    d = Desk(nodes=[cores(4)])
    assert not d.state.ledger.entry("n1").gated
    d.lease()


@pytest.mark.parametrize(
    ("require", "enough"),
    [
        ("tpm2 and gpu_cc", [{TPM, GPU}, {TPM, GPU, NITRO}]),
        ("tpm2 or gpu_cc", [{TPM}, {GPU}]),
        ("tpm2 and (gpu_cc or nitro)", [{TPM, GPU}, {TPM, NITRO}]),
    ],
)
def test_the_gate_opens_with_the_last_kind_that_is_required(
    require: str, enough: list[set[EvidenceKind]]
) -> None:
    for kinds in enough:
        d = Gate(require=require)
        for number, kind in enumerate(sorted(kinds), 1):
            d.trust(kind=kind)
            held = set(sorted(kinds)[:number])
            rule = d.state.trust.rule_of("n1")
            assert rule is not None
            assert d.gated() is not rule.require.holds(held)
        assert not d.gated()


def test_a_node_that_registers_after_the_policy_is_gated_from_the_start() -> None:
    d = Gate()
    d.do(RegisterNode("n2", cores(4)))
    assert d.gated("n2")


def test_a_policy_that_changes_gates_every_node_anew() -> None:
    d = Gate(2)
    d.trust("n1")
    d.ask_for("tpm2 and gpu_cc")
    assert (d.gated("n1"), d.gated("n2")) == (True, True)
    d.ask_for("tpm2", of=("n1",))
    assert (d.gated("n1"), d.gated("n2")) == (False, False)
    d.do(SetTrustPolicy('{"pools": {}}'))
    assert (d.gated("n1"), d.gated("n2")) == (False, False)


def test_the_same_policy_again_is_no_record_and_another_names_the_one_before() -> None:
    d = Gate()
    document = d.state.trust.policy.text  # type: ignore[union-attr]
    assert d.do(SetTrustPolicy(json.dumps(json.loads(document), indent=4))) == Done(None)
    before = d.state.trust.policy.digest  # type: ignore[union-attr]
    d.ask_for("nitro")
    (record,) = d.last
    assert (record.body["policy"], record.body["digest_before"]) == ("trust", before)
    policy = d.state.trust.policy
    assert policy is not None
    assert "".join(record.body["document"]) == policy.text  # type: ignore[arg-type]


def test_the_largest_policy_there_may_be_can_be_sealed() -> None:
    d = Desk(nodes=[cores(4)])
    pem = "A" * 64 + "\n"
    for count in range(1, 1_000):
        section = {"ek_roots": [pem * 100] * (count // 100) + [pem * (count % 100)]}
        pool = {"nodes": ["*"], "require": "tpm2", "tpm2": section}
        try:
            command = SetTrustPolicy(json.dumps({"pools": {"all": pool}}))
        except InvalidValue:
            break
    assert len(command.document) > 47_000
    d.do(command)
    assert d.replayed().state.trust.policy == d.state.trust.policy


def test_a_policy_that_no_record_could_hold_is_refused_at_once() -> None:
    pool = {"nodes": ["*"], "require": "tpm2", "tpm2": {"x": '"' * 11_000, "y": '"' * 11_000}}
    with pytest.raises(InvalidValue, match="written out"):
        SetTrustPolicy(json.dumps({"pools": {"all": pool}}))


# --- bad evidence -------------------------------------------------------------------------------


def test_bad_evidence_is_sealed_and_quarantines_and_ends_what_runs() -> None:
    d = Gate()
    d.trust()
    held = d.lease(lease_class=LeaseClass.GUARANTEED)
    d.distrust()
    verdict, quarantined, *_, ended = d.last
    assert verdict.body["reason"] == quarantined.body["reason"] == BAD
    assert verdict.body["evidence"] == quarantined.body["evidence"] == evidence(2)
    assert ended.kind == "lease_preempted"
    assert ended.body["reason"] == "policy_violation_recovery"
    assert held not in d.state.leases
    assert (d.stands(), d.quarantined(), d.gated()) == ("untrusted", True, True)


def test_what_runs_on_a_node_that_failed_has_the_usual_grace() -> None:
    d = Gate(grace_ms=500)
    d.trust()
    held = d.lease()
    d.distrust()
    assert d.phase(held) == "grace_running"
    d.tick(2_000)
    assert held not in d.state.leases


def test_bad_evidence_of_a_kind_that_nobody_asks_for_is_only_sealed() -> None:
    d = Gate()
    d.trust()
    d.distrust(kind=NITRO)
    assert d.kinds == ["attestation_verdict"]
    assert not d.quarantined()
    d.ask_for("tpm2", of=("m*",))
    d.distrust()
    assert d.kinds == ["attestation_verdict"]


def test_bad_evidence_of_one_alternative_quarantines_though_the_other_is_good() -> None:
    d = Gate(require="tpm2 or nitro")
    d.trust()
    d.distrust(kind=NITRO)
    assert (d.quarantined(), d.gated(), d.stands()) == (True, False, "untrusted")


def test_more_bad_evidence_is_sealed_without_a_second_quarantine() -> None:
    d = Gate()
    d.distrust()
    d.distrust(number=9)
    assert d.kinds == ["attestation_verdict"]
    assert d.state.trust.quarantines["n1"].evidence == evidence(2)


def test_evidence_of_a_node_that_is_not_there_is_refused() -> None:
    d = Gate()
    word = AttestationWord.TRUSTED
    d.refuses(NotFound, RecordVerdict("n9", TPM, word, evidence(), None, 10**9))


def test_evidence_that_ran_out_before_it_was_recorded_is_refused() -> None:
    d = Gate().at(5_000)
    word = AttestationWord.TRUSTED
    told = d.refuses(Conflict, RecordVerdict("n1", TPM, word, evidence(), None, 4_999))
    assert "ran out at 4999" in told


@pytest.mark.parametrize(
    "said",
    [
        {"verdict": AttestationWord.TRUSTED},
        {"verdict": AttestationWord.TRUSTED, "valid_until_ms": 5, "reason": BAD},
        {"verdict": AttestationWord.UNTRUSTED},
        {"verdict": AttestationWord.UNTRUSTED, "reason": BAD, "claims": {"a": "b"}},
        {"verdict": AttestationWord.STALE, "reason": BAD},
        {"verdict": AttestationWord.TRUSTED, "valid_until_ms": 5, "claims": {"a b": "c"}},
        {"verdict": AttestationWord.TRUSTED, "valid_until_ms": 5, "claims": {"a": "x y"}},
        {"verdict": AttestationWord.TRUSTED, "valid_until_ms": 5, "claims": {"a" * 60: "x"}},
        {"verdict": "trusted", "valid_until_ms": 5},
    ],
)
def test_a_verdict_has_what_belongs_to_it_and_nothing_else(said: dict[str, object]) -> None:
    with pytest.raises(InvalidValue):
        RecordVerdict("n1", TPM, evidence=evidence(), **said)  # type: ignore[arg-type]


# --- time ---------------------------------------------------------------------------------------


def test_a_node_goes_stale_by_a_record_keeps_its_leases_for_the_grace_and_then_loses_them() -> None:
    d = Gate()
    d.trust()
    held = d.lease(ttl_ms=10**6)
    until = d.now_ms + LIFE_MS
    assert d.tick(until) == []
    assert (d.at(until + 1).stands(), d.gated()) == ("stale", False)
    assert d.tick() == ["attestation_verdict"]
    (record,) = d.last
    assert (record.body["verdict"], record.body["lapsed"]) == ("stale", 1)
    assert record.body["evidence"] == evidence()
    assert (d.gated(), d.stands()) == (True, "stale")
    assert d.phase(held) == "active"
    assert d.tick(until + 30_000) == []
    kinds = d.tick(until + 30_001)
    assert kinds[0] == "node_quarantined"
    assert d.last[0].body["reason"] == "stale"
    assert held not in d.state.leases


def test_who_attests_within_the_grace_goes_on_as_before() -> None:
    d = Gate()
    d.trust()
    held = d.lease(ttl_ms=10**6)
    d.tick(70_000)
    d.at(80_000).trust(number=2)
    assert not d.gated()
    assert d.tick(120_000) == []
    assert d.phase(held) == "active"


def test_a_node_that_never_attested_is_not_quarantined_by_time() -> None:
    d = Gate()
    assert d.tick(10**9) == []
    assert not d.quarantined()


def test_evidence_counts_no_longer_than_the_policy_of_now_allows() -> None:
    d = Gate()
    d.trust()
    d.ask_for("tpm2", max_age_s=10)
    assert d.tick(11_000) == []
    assert d.tick(11_001) == ["attestation_verdict"]
    assert d.last[0].body["valid_until_ms"] == 11_000


def test_one_tick_looks_at_so_many_nodes_and_the_next_at_the_others() -> None:
    d = Gate(5)
    for number in range(1, 6):
        d.trust(f"n{number}")
    assert len(d.tick(70_000, limit=2)) == 2
    assert len(d.tick(limit=2)) == 2
    assert len(d.tick(limit=2)) == 1
    assert d.tick(limit=2) == []


def test_two_kinds_go_stale_each_in_its_time_and_grace_runs_from_the_first() -> None:
    d = Gate(require="tpm2 and gpu_cc")
    d.trust()
    d.at(21_000).trust(kind=GPU)
    d.tick(61_001)
    d.tick(81_001)
    assert d.tick(91_000) == []
    assert d.tick(91_001)[0] == "node_quarantined"


def test_with_an_alternative_left_grace_runs_from_when_that_lapses_too() -> None:
    d = Gate(require="tpm2 or gpu_cc")
    d.trust()
    d.at(21_000).trust(kind=GPU)
    d.tick(61_001)
    assert not d.gated()
    d.tick(81_001)
    assert d.tick(111_000) == []
    assert d.tick(111_001)[0] == "node_quarantined"


@pytest.mark.parametrize("word", [AttestationWord.STALE, AttestationWord.UNSUPPORTED])
def test_evidence_that_says_nothing_neither_takes_trust_away_nor_puts_off_an_end(
    word: AttestationWord,
) -> None:
    d = Gate()
    d.trust()
    d.weak(word)
    assert (d.kinds, d.stands(), d.gated()) == (["attestation_verdict"], "trusted", False)
    d.tick(61_001)
    d.at(91_000).weak(word)
    assert d.tick(91_001)[0] == "node_quarantined"
    d.weak(word)
    assert d.stands() == "stale"


def test_evidence_that_says_nothing_does_not_cover_what_is_bad() -> None:
    d = Gate()
    d.distrust()
    d.weak(AttestationWord.UNSUPPORTED)
    assert d.stands() == "untrusted"


def test_a_node_with_nothing_to_prove_it_with_is_told_as_that() -> None:
    d = Gate()
    d.weak(AttestationWord.UNSUPPORTED)
    assert (d.stands(), d.gated()) == ("unsupported", True)


def test_what_is_due_stays_short_however_often_a_node_attests() -> None:
    d = Gate(2)
    for number in range(1_000):
        d.at(d.now_ms + 1).trust(number=number)
    assert len(d.state.trust._heap) <= 2 * 2 + 64
    assert d.state.trust.next_due_ms == d.now_ms + LIFE_MS + 1


# --- letting out --------------------------------------------------------------------------------


def test_trust_lifts_no_quarantine_by_itself_but_lets_an_operator_do_it() -> None:
    d = Gate()
    d.distrust()
    told = d.refuses(Conflict, LiftQuarantine("n1"))
    assert "has not proven tpm2" in told
    assert "override" in told
    d.trust(number=7)
    assert d.quarantined()
    d.lift(note="new firmware")
    (record,) = d.last
    assert (record.body["evidence"], record.body["note"]) == (evidence(7), "new firmware")
    assert "override" not in record.body
    d.lease()


def test_trust_from_before_a_quarantine_is_not_enough_to_lift_it() -> None:
    d = Gate()
    d.trust()
    d.do(Quarantine("n1", "odd"))
    d.refuses(Conflict, LiftQuarantine("n1"))
    d.trust()
    d.lift()


def test_fresh_trust_that_has_lapsed_is_not_enough_to_lift_a_quarantine() -> None:
    d = Gate()
    d.distrust()
    d.trust()
    d.at(d.now_ms + LIFE_MS + 1)
    d.refuses(Conflict, LiftQuarantine("n1"))


def test_every_kind_that_is_required_must_be_fresh() -> None:
    d = Gate(require="tpm2 and gpu_cc")
    d.trust(kind=GPU)
    d.distrust()
    d.trust()
    d.refuses(Conflict, LiftQuarantine("n1"))
    d.trust(kind=GPU, number=8)
    d.lift()
    assert not d.gated()


def test_an_override_is_sealed_with_its_note_and_the_node_begins_anew() -> None:
    d = Gate()
    d.trust(boot="secure")
    d.distrust()
    d.lift(note="firmware was checked by hand", override=True)
    (record,) = d.last
    assert (record.body["override"], record.body["note"]) == (1, "firmware was checked by hand")
    assert (d.quarantined(), d.gated(), d.stands()) == (False, True, "unattested")
    assert d.tick(10**8) == []
    d.trust()
    d.lease()


def test_an_override_of_a_stale_node_is_not_undone_by_the_next_tick() -> None:
    d = Gate()
    d.trust()
    d.tick(70_000)
    d.tick(10**6)
    assert d.quarantined()
    d.lift(note="asleep", override=True)
    assert d.tick() == []
    assert not d.quarantined()


def test_an_override_that_is_not_needed_is_no_override() -> None:
    d = Gate()
    d.distrust()
    d.trust()
    d.lift(note="to be sure", override=True)
    assert "override" not in d.last[0].body
    assert not d.gated()


@pytest.mark.parametrize("note", ["", "  "])
def test_an_override_without_a_note_is_refused(note: str) -> None:
    with pytest.raises(InvalidValue, match="why the quarantine is lifted"):
        LiftQuarantine("n1", override=True, note=note)


def test_a_node_in_no_pool_is_let_out_as_ever() -> None:
    d = Desk(nodes=[cores(4)])
    d.do(Quarantine("n1", "odd"))
    d.do(LiftQuarantine("n1"))
    assert d.last[0].body == {"node": "n1"}


# --- leaving and coming back --------------------------------------------------------------------


def test_who_departs_in_quarantine_is_in_it_again_when_it_comes_back() -> None:
    d = Gate()
    d.distrust()
    d.do(DepartNode("n1"))
    d.do(RegisterNode("n1", cores(4)))
    assert d.kinds == ["node_registered", "node_quarantined"]
    body = d.last[1].body
    assert (body["reason"], body["evidence"], body["note"]) == (BAD, evidence(2), "kept")
    assert d.quarantined()
    d.refuses(Conflict, LiftQuarantine("n1"))


def test_a_journal_that_breaks_off_before_that_record_opens_the_node_to_nobody() -> None:
    d = Gate(require="tpm2", of=("other",))
    d.do(Quarantine("n1", "suspect"))
    d.do(DepartNode("n1"))
    d.do(RegisterNode("n1", cores(4)))
    torn, told = State(), d.records
    assert told[-1].kind == "node_quarantined"
    for record in told[:-1]:
        apply(torn, event_of(record), record.at_ms)
    assert not torn.ledger.entry("n1").takes_leases


def test_a_quarantine_of_a_node_that_departed_can_be_lifted_by_an_override() -> None:
    d = Gate()
    d.distrust()
    d.do(DepartNode("n1"))
    d.refuses(Conflict, LiftQuarantine("n1"))
    d.lift(note="scrapped", override=True)
    d.do(RegisterNode("n1", cores(4)))
    assert d.kinds == ["node_registered"]
    d.do(DepartNode("n1"))
    d.refuses(NotFound, LiftQuarantine("n1"))


def test_what_a_node_proved_departs_with_it_and_its_keys_stay() -> None:
    d = Gate()
    d.enrol()
    d.trust(boot="secure")
    d.do(DepartNode("n1"))
    d.do(RegisterNode("n1", cores(4)))
    assert (d.gated(), d.stands()) == (True, "unattested")
    assert d.state.trust.enrolled("n1")[TPM].identity == evidence(1)
    assert d.tick(10**9) == []


# --- labels -------------------------------------------------------------------------------------


def test_what_a_node_has_proven_is_a_label_while_it_holds() -> None:
    d = Gate(2)
    d.trust("n1", firmware="v1")
    d.trust("n2", firmware="v2")
    wanted = {"attested.tpm2.firmware": "v2"}
    assert d.state.node_of(d.lease(labels=wanted)) == "n2"
    d.trust("n1", number=5, firmware="v2")
    d.do(Quarantine("n2", "odd"))
    assert d.state.node_of(d.lease(labels=wanted)) == "n1"
    d.tick(d.now_ms + LIFE_MS + 1)
    told = d.state.admission.explain(ask(labels=wanted), now_ms=d.now_ms)
    assert told.fallen == {FilterReason.ATTESTATION: 1, FilterReason.QUARANTINED: 1}


def test_a_label_that_a_node_no_longer_proves_is_gone_for_those_who_asked_for_it_before() -> None:
    d = Gate()
    d.trust(firmware="v1")
    wanted = {"attested.tpm2.firmware": "v1"}
    d.lease(labels=wanted)
    d.trust(number=5, firmware="v2")
    assert isinstance(d.beside(labels=wanted), Refused)
    d.trust(number=6, firmware="v1")
    d.lease(labels=wanted)


def test_a_label_that_no_node_has_proven_yet_is_waited_for() -> None:
    d = Gate(require="tpm2 or nitro")
    d.trust(kind=NITRO)
    entry = d.wait(labels={"attested.tpm2.firmware": "v2"})
    assert d.state.blocked[entry].reason.is_transient  # type: ignore[union-attr]
    d.trust(firmware="v2")
    assert "admission_approved" in d.tick(2_000)


def test_a_label_that_no_machine_will_have_is_not_waited_for_though_another_would_be() -> None:
    d = Gate()
    d.trust()
    answer = d.beside(labels={"attested.tpm2.firmware": "v2", "rack": "none"})
    assert answer.denied.detail.code == "no_such_hardware"  # type: ignore[union-attr]


def test_an_inventory_cannot_vouch_for_itself() -> None:
    d = Gate()
    capacity = NodeCapacity(4, 10**6, labels={"attested.tpm2.firmware": "v2"})
    told = d.refuses(InvalidValue, RegisterNode("n9", capacity))
    assert "attested.tpm2.firmware" in told
    assert "attestation gives those" in told


# --- enrolment ----------------------------------------------------------------------------------


def test_a_name_stands_for_one_machine_and_a_machine_for_one_name() -> None:
    d = Gate(2)
    d.enrol("n1", who=1)
    told = d.refuses(Conflict, EnrolNode("n2", TPM, {"ak_public": "ab"}, evidence(1)))
    assert "n1" not in told.replace("n2", "")
    told = d.refuses(Conflict, EnrolNode("n1", TPM, {"ak_public": "ab"}, evidence(2)))
    assert "withdraw the enrolment first" in told
    d.do(WithdrawEnrolment("n1", TPM))
    d.enrol("n2", who=1)
    d.enrol("n1", who=2)


def test_the_same_keys_again_are_no_record_and_new_ones_ask_for_new_proof() -> None:
    d = Gate()
    d.enrol(ak_public="ab")
    d.trust()
    assert d.enrol(ak_public="ab") == Done(None)
    assert not d.gated()
    d.enrol(ak_public="cd")
    assert (d.gated(), d.stands()) == (True, "stale")


@pytest.mark.parametrize("at_ms", [20_000, 70_000])
def test_new_keys_do_not_put_off_the_end_of_a_node_that_attests_no_more(at_ms: int) -> None:
    d = Gate()
    d.enrol(ak_public="ab")
    d.trust()
    held = d.lease(ttl_ms=10**6)
    d.tick(min(at_ms, 61_001))
    d.at(at_ms).enrol(ak_public="cd")
    for again in range(1, 9):  # each within the grace of the one before
        d.tick(at_ms + 10_000 * again)
        d.enrol(ak_public=f"{again:02x}")
    assert (d.quarantined(), held in d.state.leases) == (True, False)


def test_new_keys_cover_no_grace_that_runs_already() -> None:
    d = Gate()
    d.enrol(ak_public="ab")
    d.trust()
    lapsed = d.now_ms + LIFE_MS + 1
    d.tick(lapsed)
    d.at(lapsed + 29_000).enrol(ak_public="cd")
    assert d.tick(lapsed + 29_999) == []
    assert d.tick(lapsed + 30_000)[0] == "node_quarantined"


def test_withdrawing_keys_takes_away_what_was_proven_with_them() -> None:
    d = Gate()
    d.enrol()
    d.trust(boot="secure")
    d.do(WithdrawEnrolment("n1", TPM))
    assert (d.gated(), dict(d.state.ledger.entry("n1").attested)) == (True, {})
    d.refuses(NotFound, WithdrawEnrolment("n1", TPM))


def test_two_kinds_of_one_machine_share_its_identity_until_the_last_is_withdrawn() -> None:
    d = Gate(2)
    d.enrol("n1", TPM)
    d.enrol("n1", NITRO)
    d.do(WithdrawEnrolment("n1", TPM))
    d.refuses(Conflict, EnrolNode("n2", TPM, {"ak_public": "ab"}, evidence(1)))
    d.do(WithdrawEnrolment("n1", NITRO))
    d.enrol("n2", TPM)


def test_long_keys_are_sealed_and_read_back_whole() -> None:
    d = Gate()
    d.enrol(ak_public="ab" * 700, ek_certificate="cd" * 3_000)
    kept = d.replayed().state.trust.enrolled("n1")[TPM]
    assert dict(kept.keys) == {"ak_public": "ab" * 700, "ek_certificate": "cd" * 3_000}


@pytest.mark.parametrize(
    "keys", [{}, {"a": ""}, {"a": "abc"}, {"a": "AB"}, {"a b": "ab"}, {"a": "ab" * 17_000}, []]
)
def test_keys_that_are_none_are_refused(keys: object) -> None:
    with pytest.raises(InvalidValue, match="keys"):
        EnrolNode("n1", TPM, keys, evidence())  # type: ignore[arg-type]


# --- the state ----------------------------------------------------------------------------------


def test_everything_about_trust_is_rebuilt_from_the_journal_and_from_a_snapshot() -> None:
    d = Gate(4, require="tpm2 and (gpu_cc or nitro)")
    d.enrol("n1", who=1, capability_key="ab")
    d.trust("n1", firmware="v1")
    d.trust("n1", GPU)
    d.trust("n2")
    d.distrust("n3")
    d.do(DepartNode("n3"))
    d.tick(70_000)
    d.at(71_000).trust("n2", number=9)
    read = decode(encode(d.state), d.digest)
    for other in (d.replayed().state, d.replayed(engine="pure").state, read):
        book = other.trust
        assert book.dump() == d.state.trust.dump()
        assert book.next_due_ms == d.state.trust.next_due_ms
        assert book.node_of(evidence(1)) == "n1"
        for name, entry in d.state.ledger.entries.items():
            found = other.ledger.entry(name)
            assert (found.gated, found.attested) == (entry.gated, entry.attested)
            assert book.rule_of(name) == d.state.trust.rule_of(name)
