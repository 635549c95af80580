"""The node's side of attestation, without a TPM, a server or time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.agent.attestation import (
    ALONE_ANSWERS,
    SKIP_BEATS_MOST,
    KindVerdict,
    NodeAttestation,
    NodeTrust,
    NotAccepted,
    spell,
)
from bailiwick.agent.heartbeat import Away
from bailiwick.agent.words import CannotAttest
from bailiwick.attestation.evidence import Evidence, bound_nonce, device_nonce
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason
from bailiwick.vocab.words import AttestationState

TRUSTED = NodeTrust(AttestationState.TRUSTED, (KindVerdict(EvidenceKind.TPM2, "trusted"),))
FRESH, ASKED = b"f" * 32, b"a" * 32


def refused(reason: UntrustedReason, where: str = "") -> NodeTrust:
    found = KindVerdict(EvidenceKind.TPM2, "untrusted", reason, where)
    return NodeTrust(AttestationState.UNTRUSTED, (found,))


UNKNOWN = refused(UntrustedReason.NOT_ENROLLED)


class Line:
    """A memory that a test can look into."""

    def __init__(self, line: str = "") -> None:
        self.line = line
        self.fails: list[Exception] = []

    def recall(self) -> str:
        if self.fails:
            raise self.fails.pop(0)
        return self.line

    def remember(self, line: str) -> None:
        self.line = line


class ScriptedProver:
    """Proves whatever it is asked to, unless it is told not to."""

    kind = EvidenceKind.TPM2
    identity = b"ak name"

    def __init__(self) -> None:
        self.fails: list[CannotAttest] = []
        self.key = b"ak"

    def spell(self) -> str:
        return "a TPM"

    def offer(self) -> Mapping[str, bytes]:
        return {"ak_public": self.key}

    def prove(self, node: str, challenge: Mapping[str, bytes]) -> Mapping[str, bytes]:
        return {"secret": challenge["credential_blob"][::-1]}

    def present(self, node: str, nonce: bytes) -> Evidence:
        if self.fails:
            raise self.fails.pop(0)
        return Evidence(self.kind, {"attest": nonce})


class ScriptedGate:
    """The server's side, as it is told to be; it remembers what it was told."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.offered: list[Mapping[str, bytes]] = []
        self.presented: list[Sequence[Evidence]] = []
        self.on_present: list[NodeTrust | Exception] = []
        self.on_offer: list[Exception] = []
        self.fresh: bytes | None = FRESH

    def offer(
        self, node: str, kind: EvidenceKind, *, parts: Mapping[str, bytes]
    ) -> tuple[str, Mapping[str, bytes]]:
        self.heard.append("offer")
        if self.on_offer:
            raise self.on_offer.pop(0)
        self.offered.append(parts)
        return "id", {"credential_blob": b"abc"}

    def prove(self, node: str, enrolment_id: str, *, parts: Mapping[str, bytes]) -> None:
        assert (enrolment_id, parts) == ("id", {"secret": b"cba"})
        self.heard.append("prove")

    def nonce(self, node: str) -> bytes | None:
        self.heard.append("nonce")
        return self.fresh

    def present(self, node: str, nonce: bytes, *, pieces: Sequence[Evidence]) -> NodeTrust:
        self.heard.append("present")
        said = self.on_present.pop(0) if self.on_present else TRUSTED
        if isinstance(said, Exception):
            raise said
        self.presented.append(pieces)
        return said


class Node:
    """One node of a test."""

    def __init__(self) -> None:
        self.gate, self.prover, self.memory = ScriptedGate(), ScriptedProver(), Line()
        self.said: list[str] = []
        self.start()

    def start(self) -> None:
        self.attesting = NodeAttestation(self.prover, self.memory, self.said.append)

    def turn(self, asked: bytes | None = None) -> list[str]:
        self.gate.heard.clear()
        self.attesting.turn("n1", self.gate, asked=asked)
        return list(self.gate.heard)


def enrolled() -> Node:
    node = Node()
    node.turn()
    node.start()
    node.said.clear()
    node.gate.presented.clear()
    return node


def test_a_new_node_enrols_and_proves_itself_at_once() -> None:
    node = Node()
    assert node.turn() == ["nonce", "offer", "prove", "present"]
    assert node.said == ["n1 is enrolled by tpm2: a TPM", "n1 has proved itself: trusted"]


def test_after_its_start_it_proves_itself_only_when_it_is_asked() -> None:
    node = enrolled()
    assert node.turn() == ["nonce", "present"]
    assert [node.turn() for _ in range(3)] == [[], [], []]
    assert node.turn(ASKED) == ["present"]
    assert node.gate.presented[-1][0].parts == {"attest": ASKED}


def test_a_node_of_which_nothing_is_asked_says_once_who_it_is() -> None:
    """So that an operator can write a policy that names its key."""
    node = Node()
    node.gate.fresh = None
    assert node.turn() == ["nonce"]
    assert node.turn() == []
    assert node.said == ["no proof is asked of n1: no pool of the policy names it; it is a TPM"]


def test_a_node_that_was_forgotten_enrols_again() -> None:
    node = enrolled()
    node.gate.on_present = [UNKNOWN]
    assert node.turn() == ["nonce", "present", "offer", "prove", "nonce", "present"]


def test_a_new_key_is_enrolled_before_anything_is_signed_with_it() -> None:
    node = enrolled()
    node.prover.key = b"another"
    assert node.turn(ASKED) == ["offer", "prove", "present"]


def test_a_node_that_begins_to_mint_has_its_key_known_first() -> None:
    node = enrolled()
    node.attesting = NodeAttestation(
        node.prover, node.memory, node.said.append, capability_key=b"k" * 32
    )
    assert node.turn(ASKED) == ["offer", "prove", "present"]
    assert node.gate.offered[-1] == {"ak_public": b"ak", "capability_key": b"k" * 32}
    assert node.turn(ASKED) == ["present"]


def test_keys_that_are_refused_are_told_once_and_offered_again_ever_more_rarely() -> None:
    node = Node()
    node.gate.on_offer = [NotAccepted("ek_chain, no pinned issuer") for _ in range(9)]
    offers = [turn for turn in range(400) if "offer" in node.turn(ASKED)]
    pauses = [after - before for before, after in pairwise(offers)]
    assert pauses == [2, 3, 5, 9, 17, 33, SKIP_BEATS_MOST + 1, 65, 65]
    assert node.said[0] == "n1 cannot prove itself: ek_chain, no pinned issuer; it is a TPM"
    assert [line for line in node.said if "cannot" in line] == node.said[:1]


def test_after_a_success_pauses_are_short_again() -> None:
    node = enrolled()
    for failures, beats in ((3, 2 + 3 + 5), (1, 2)):
        node.prover.fails = [CannotAttest("no") for _ in range(failures)]
        assert [node.turn(ASKED) for _ in range(beats)] == [[]] * beats
        assert node.turn(ASKED) == ["present"]


def test_a_verdict_against_the_node_is_told_with_its_reason_and_it_goes_on() -> None:
    node = enrolled()
    bad = refused(UntrustedReason.PCR_POLICY, "register 7 of sha256")
    node.gate.on_present = [bad, bad]
    for _ in range(2):
        assert node.turn(ASKED) == ["present"]
    assert node.said == [
        "n1 is not believed: tpm2 is untrusted (pcr_policy), register 7 of sha256:"
        " this machine booted something that the policy does not allow"
    ]
    node.turn(ASKED)
    assert node.said[-1] == "n1 has proved itself: trusted"


def test_a_tpm_that_fails_is_told_and_tried_again() -> None:
    node = enrolled()
    node.prover.fails = [CannotAttest("the TPM does not answer", hint="is it there?")]
    assert node.turn(ASKED) == []
    assert node.said == ["n1 cannot prove itself: the TPM does not answer (is it there?)"]
    assert node.turn(ASKED) == []
    assert node.turn(ASKED) == ["present"]


def test_a_state_folder_that_cannot_be_used_is_told_and_it_goes_on() -> None:
    node = Node()
    fault = InvalidValue("key file", "enrolled", "a file that only its owner can read")
    node.memory.fails = [fault]
    assert node.turn() == ["nonce"]
    assert node.said == [f"n1 cannot prove itself: {fault}"]


def test_a_failure_at_the_start_does_not_count_as_a_start() -> None:
    node = enrolled()
    node.prover.fails = [CannotAttest("no")]
    node.turn()
    node.turn()
    assert node.turn() == ["nonce", "present"]


def test_a_server_that_goes_away_is_the_loops_business() -> None:
    node = enrolled()
    node.gate.on_present = [Away("no")]
    with pytest.raises(Away):
        node.turn()
    assert node.turn() == ["nonce", "present"]


def test_the_nodes_own_piece_signs_for_its_devices() -> None:
    node, asked = enrolled(), []
    report = Evidence(EvidenceKind.GPU_CC, {"report": b"r"})

    def devices(nonce: bytes) -> list[Evidence]:
        asked.append(nonce)
        return [report]

    node.attesting.devices = devices
    node.turn(ASKED)
    assert asked == [device_nonce(ASKED, b"ak name")]
    own, companion = node.gate.presented[-1]
    assert companion is report
    assert own.parts == {"attest": bound_nonce(ASKED, [report.digest])}


def test_devices_that_are_not_wanted_are_left_out_for_a_while() -> None:
    node, asked = enrolled(), []

    def devices(nonce: bytes) -> list[Evidence]:
        asked.append(nonce)
        return [Evidence(EvidenceKind.GPU_CC, {"report": b"r"})]

    node.attesting.devices = devices
    node.gate.on_present = [NotAccepted("pieces[1].kind: expected one of tpm2")]
    for _ in range(ALONE_ANSWERS):
        node.turn(ASKED)
    assert len(asked) == 1
    assert {len(pieces) for pieces in node.gate.presented} == {1}
    assert node.gate.presented[0][0].parts == {"attest": ASKED}
    node.turn(ASKED)
    assert len(asked) == 2


def test_devices_that_fail_are_told_once_and_the_node_answers_without_them() -> None:
    node = enrolled()

    def devices(nonce: bytes) -> list[Evidence]:
        raise CannotAttest("GPU 0 does not answer")

    node.attesting.devices = devices
    for _ in range(3):
        assert node.turn(ASKED) == ["present"]
    assert node.gate.presented[-1][0].parts == {"attest": ASKED}
    assert node.said == [
        "n1 answers without its devices: GPU 0 does not answer",
        "n1 has proved itself: trusted",
    ]


def test_every_reason_has_a_sentence() -> None:
    for reason in UntrustedReason:
        told = spell(KindVerdict(EvidenceKind.DICE, "untrusted", reason))
        assert told.startswith(f"dice is untrusted ({reason.value}): ")
    assert spell(KindVerdict(EvidenceKind.DICE, "unsupported")) == "dice is unsupported"


OUTCOMES = st.sampled_from(
    ["trusted", "untrusted", "forgotten", "refused", "no_tpm", "away", "new_key"]
)


class StrictGate(ScriptedGate):
    """Sees that no nonce is answered twice, nor with another key than the one it knows."""

    def __init__(self, prover: ScriptedProver) -> None:
        super().__init__()
        self.prover, self.outcome, self.count = prover, "trusted", 0
        self.open: bytes | None = None
        self.known: bytes | None = None

    def nonce(self, node: str) -> bytes:
        self.heard.append("nonce")
        return self.ask()

    def ask(self) -> bytes:
        self.count += 1
        self.open = self.count.to_bytes(32, "big")
        return self.open

    def prove(self, node: str, enrolment_id: str, *, parts: Mapping[str, bytes]) -> None:
        super().prove(node, enrolment_id, parts=parts)
        self.known = self.offered[-1]["ak_public"]

    def present(self, node: str, nonce: bytes, *, pieces: Sequence[Evidence]) -> NodeTrust:
        assert nonce == self.open, "a nonce is answered once"
        assert self.known in (None, self.prover.key), "another key would close the node"
        self.heard.append("present")
        self.open = None
        match self.outcome:
            case "refused":
                raise NotAccepted("no")
            case "away":
                raise Away("no")
            case "forgotten":
                self.known, self.outcome = None, "trusted"
        if self.known is None:
            return UNKNOWN
        return refused(UntrustedReason.PCR_POLICY) if self.outcome == "untrusted" else TRUSTED


@given(st.lists(st.tuples(st.booleans(), OUTCOMES), max_size=40))
def test_whatever_happens_a_nonce_is_answered_once_when_asked_and_with_a_known_key(
    beats: list[tuple[bool, str]],
) -> None:
    prover = ScriptedProver()
    gate = StrictGate(prover)
    attesting, is_started = NodeAttestation(prover, Line(), lambda text: None), False
    for number, (is_asked, outcome) in enumerate(beats):
        gate.outcome = outcome
        prover.fails = [CannotAttest("no")] if outcome == "no_tpm" else []
        prover.key = bytes([number]) if outcome == "new_key" else prover.key
        gate.heard.clear()
        try:
            attesting.turn("n1", gate, asked=gate.ask() if is_asked else None)
        except Away:
            continue
        assert is_asked or not is_started or gate.heard == []
        assert gate.heard.count("present") <= 2
        is_started = is_started or ("present" in gate.heard and outcome != "refused")
    # However often it failed, it proves itself again within a bounded number of beats.
    gate.outcome, prover.fails = "trusted", []
    for _ in range(SKIP_BEATS_MOST + 1):
        attesting.turn("n1", gate, asked=gate.ask())
    assert attesting._state is AttestationState.TRUSTED
