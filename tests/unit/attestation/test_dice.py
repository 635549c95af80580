"""DICE chains: which are believed, for how long, what they prove, and which word refuses."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import cbor2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, padding, rsa
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.attestation.cases import judge_case
from bailiwick.attestation.dice.chain import LAYERS_MAX, DiceFormat, check_chain
from bailiwick.attestation.dice.keys import challenge_message, read_public_key, spki_of
from bailiwick.attestation.dice.verifier import CAREFUL, DiceVerifier, framed, unframed
from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.policy_section import Section
from bailiwick.attestation.verdict import EvidenceError, Trusted, Untrusted, Verdict
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason
from tests.support import evidence_dice as made
from tests.support.attestation_cases import Case, cases_of, check, own, shared
from tests.support.evidence_dice import CBOR, TCG, X509, Key, Made, Row

MAX_AGE_MS = 300_000
ROWS = made.cases()
FORMS = tuple(DiceFormat)


def verifier(policy: dict[str, Any], *, max_age_ms: int = MAX_AGE_MS) -> DiceVerifier:
    return DiceVerifier.from_policy(Section("dice", policy), max_age_ms=max_age_ms)


def parts_of(chain: Made) -> dict[str, bytes]:
    return {
        "format": chain.form.value.encode(),
        "chain": framed(chain.chain),
        "signature": chain.signature,
    }


def asked(
    root: bytes | None, *, nonce: bytes = made.NONCE, at_ms: int = made.AT_MS
) -> EvidenceContext:
    enrolled = {} if root is None else {"root_public_key": root}
    return EvidenceContext(node="n1", nonce=nonce, at_ms=at_ms, enrolled=enrolled)


def judge(chain: Made, **changed: Any) -> Verdict:
    evidence = Evidence(EvidenceKind.DICE, parts_of(chain))
    return verifier(chain.policy).verify(evidence, asked(chain.root, **changed))


def reason_of(verdict: Verdict) -> str | None:
    return verdict.reason.value if isinstance(verdict, Untrusted) else None


# --- cases ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", cases_of(own("dice")))
def test_our_own_cases_yield_their_verdicts(case: Case) -> None:
    check(own("dice"), case)


@pytest.mark.parametrize("case", cases_of(shared("dice")))
def test_the_shared_cases_yield_their_verdicts(case: Case) -> None:
    check(shared("dice"), case)


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_every_forgery_fails_with_its_own_word_and_every_good_chain_holds(row: Row) -> None:
    _, chain, reason = row
    assert reason_of(judge(chain)) == reason


def test_the_carried_cases_are_those_that_the_generator_writes(tmp_path: Path) -> None:
    made.write(tmp_path)
    # ECDSA and ML-DSA sign with chance, so the same cases come with other bytes.
    ids = [[param.id for param in cases_of(folder)] for folder in (tmp_path, own("dice"))]
    assert ids[0] == ids[1]
    names = [{path.name for path in (each / "files").iterdir()} for each in (tmp_path, own("dice"))]
    assert names[0] == names[1]


def test_a_case_without_a_challenge_or_an_instant_is_judged_by_its_chain_alone() -> None:
    chain = made.forged(TCG, (1, {"ends": datetime(2026, 2, 1, tzinfo=UTC)}))
    case = made.case_of(("x", chain, None), made.paths_of([("x", chain, None)]))
    files = {path: raw for raw, path in made.paths_of([("x", chain, None)]).items()}
    assert judge_case(case, files.__getitem__).reason == "chain"
    del case["at"]
    assert judge_case(case, files.__getitem__).verdict == "trusted"
    case["challenge"]["nonce"] = bytes(32).hex()
    assert judge_case(case, files.__getitem__).reason == "challenge_signature"
    del case["challenge"]
    assert judge_case(case, files.__getitem__).verdict == "trusted"


def test_a_case_whose_policy_asks_what_nobody_checks_is_told_so() -> None:
    chain = made.good(CBOR)
    paths = made.paths_of([("x", chain, None)])
    case = made.case_of(("x", chain, None), paths)
    case["policy"] = {"require_magic": True}
    judged = judge_case(case, {path: raw for raw, path in paths.items()}.__getitem__)
    assert judged.unused == ("policy.require_magic",)


# --- what a verdict says --------------------------------------------------------------------------


def test_a_believed_chain_tells_its_layers_measurements_and_versions() -> None:
    verdict = judge(made.good(TCG, "p256"))
    assert isinstance(verdict, Trusted)
    claims = dict(verdict.claims)
    assert len(claims.pop("key")) == 32
    assert claims == {
        "format": "tcg-x509",
        "layers": "3",
        "measurement.0": made.fwid_of("boot").hex()[:32],
        "measurement.1": made.fwid_of("os").hex()[:32],
        "svn.boot": "3",
        "svn.os": "7",
    }


def test_of_two_parts_of_one_name_the_lower_version_is_told() -> None:
    older, newer = made.tcb_of("os", 7), made.tcb_of("os", 9)
    for infos in ((older, newer), (newer, older)):
        verdict = judge(made.forged(TCG, (2, {"tcb": infos, "multi": True})))
        assert isinstance(verdict, Trusted)
        assert verdict.claims["svn.os"] == "7"


def test_names_that_cannot_be_labels_and_too_many_of_them_are_not_told() -> None:
    odd = tuple(made.tcb_of("os", 7, type=name) for name in (b"a b", b"\xff\x00", b"x" * 33))
    many = tuple(made.tcb_of("os", 7, type=f"t{i}".encode()) for i in range(20))
    chain = made.forged(TCG, (2, {"tcb": (*odd, *many), "multi": True}))
    verdict = judge(chain)
    assert isinstance(verdict, Trusted)
    told = [name for name in verdict.claims if name.startswith("svn.")]
    assert told == ["svn.boot", "svn.ff00", *(f"svn.t{i}" for i in range(6))]
    assert sum(name.startswith("measurement.") for name in verdict.claims) == 8


def test_a_verdict_holds_for_its_age_and_never_past_a_certificate() -> None:
    lasting, short = judge(made.good(CBOR)), datetime(2026, 11, 15, 12, 1, tzinfo=UTC)
    assert isinstance(lasting, Trusted)
    assert lasting.valid_until_ms == made.AT_MS + MAX_AGE_MS
    ending = judge(made.forged(TCG, (1, {"ends": short})))
    assert isinstance(ending, Trusted)
    assert ending.valid_until_ms == made.AT_MS + 60_999
    claimed = judge(made.forged(CBOR, (1, {"claims": {4: made.AT_MS // 1000 + 60}})))
    assert isinstance(claimed, Trusted)
    assert claimed.valid_until_ms == made.AT_MS + 60_999


# --- who is asked, and when -----------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_an_answer_to_an_earlier_nonce_is_no_answer(form: DiceFormat) -> None:
    assert reason_of(judge(made.good(form), nonce=b"another")) == "challenge_signature"


@pytest.mark.parametrize("missing", ["format", "chain", "signature"])
def test_evidence_without_one_of_its_parts_is_none(missing: str) -> None:
    chain = made.good(CBOR)
    parts = {name: raw for name, raw in parts_of(chain).items() if name != missing}
    verdict = verifier(chain.policy).verify(Evidence(EvidenceKind.DICE, parts), asked(chain.root))
    assert reason_of(verdict) == "missing_field"


def test_a_part_that_nobody_reads_is_refused() -> None:
    chain = made.good(CBOR)
    evidence = Evidence(EvidenceKind.DICE, {**parts_of(chain), "more": b""})
    verdict = verifier(chain.policy).verify(evidence, asked(chain.root))
    assert reason_of(verdict) == "malformed"


def test_a_node_that_enrolled_no_key_cannot_be_believed() -> None:
    chain = made.good(CBOR)
    evidence = Evidence(EvidenceKind.DICE, parts_of(chain))
    assert reason_of(verifier(chain.policy).verify(evidence, asked(None))) == "not_enrolled"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("called", FORMS)
def test_a_chain_called_by_another_name_never_passes_a_rule_it_failed(
    form: DiceFormat, called: DiceFormat
) -> None:
    debug = (made.tcb_of("os", 7, flags=("debug",)),)
    change = {"tcb": debug} if form is TCG else {"open": made.open_claims("cdi1", mode=2)}
    chain = made.replace(
        made.forged(form, (-1, change)), form=called, policy={"forbid_flags": ["debug"]}
    )
    assert reason_of(judge(chain)) in ("mode", "flags", "malformed", "challenge_signature")


def test_an_unknown_format_is_refused() -> None:
    chain = made.good(CBOR)
    parts = {**parts_of(chain), "format": b"open-dice-cbor "}
    evidence = Evidence(EvidenceKind.DICE, parts)
    assert reason_of(verifier(chain.policy).verify(evidence, asked(chain.root))) == "malformed"


# --- keys -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["mldsa44", "p521"])
def test_further_algorithms_hold_in_certificates(algorithm: str) -> None:
    assert isinstance(judge(made.good(TCG, algorithm)), Trusted)


@pytest.mark.parametrize("above", made.ALGORITHMS)
@pytest.mark.parametrize("below", made.ALGORITHMS)
def test_every_algorithm_certifies_every_other(above: str, below: str) -> None:
    changes = (0, {"key": Key(above, "cdi0")}), (1, {"key": Key(below, "cdi1")})
    assert isinstance(judge(made.forged(CBOR, *changes)), Trusted)


def issued_by_rsa(root: rsa.RSAPrivateKey, public: Any) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "root")])
    builder = (
        x509.CertificateBuilder()
        .issuer_name(name)
        .subject_name(name)
        .public_key(public)
        .serial_number(1)
        .not_valid_before(made.BEGINS)
        .not_valid_after(made.ENDS)
    )
    return builder.sign(root, hashes.SHA256()).public_bytes(serialization.Encoding.DER)


def test_rsa_certifies_in_x509_and_answers_nothing() -> None:
    root = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    below, spki = Key("ed25519", "x").private.public_key(), spki_of(root.public_key())
    issued = issued_by_rsa(root, below)
    assert check_chain([issued], spki, form=TCG, at_ms=made.AT_MS).last.key == below
    parts = {
        "format": b"tcg-x509",
        "chain": framed([issued_by_rsa(root, root.public_key())]),
        "signature": root.sign(challenge_message(made.NONCE), padding.PKCS1v15(), hashes.SHA256()),
    }
    unmeasured = verifier({"require_measurements": False})
    verdict = unmeasured.verify(Evidence(EvidenceKind.DICE, parts), asked(spki))
    assert reason_of(verdict) == "challenge_signature"


@pytest.mark.parametrize(
    "key",
    [
        ed448.Ed448PrivateKey.generate().public_key(),
        ec.generate_private_key(ec.SECP256K1()).public_key(),
        rsa.generate_private_key(public_exponent=65537, key_size=1024).public_key(),
    ],
    ids=["ed448", "secp256k1", "rsa1024"],
)
def test_a_root_of_another_kind_is_refused(key: Any) -> None:
    raw = key.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    with pytest.raises(EvidenceError) as told:
        read_public_key(raw)
    assert told.value.reason is UntrustedReason.WEAK_KEY


def test_a_certificate_that_names_one_algorithm_and_is_signed_by_another_is_refused() -> None:
    chain = made.good(TCG, "p256")
    first = chain.chain[0]
    sha256, sha384 = (bytes.fromhex(f"300a06082a8648ce3d04030{n}") for n in (2, 3))
    at = first.rindex(sha256)
    exchanged = first[:at] + sha384 + first[at + len(sha384) :]
    chain = made.replace(chain, chain=[exchanged, *chain.chain[1:]])
    assert reason_of(judge(chain)) == "malformed"


def test_an_ecdsa_signature_in_cose_with_a_byte_too_many_is_refused() -> None:
    chain = made.good(CBOR, "p256")
    parts = cbor2.loads(chain.chain[0])
    r, s = parts[3][:32], parts[3][32:]
    for wide in (r + b"\0" + s, b"\0" + r + s, b"\0" + r + b"\0" + s):
        first = cbor2.dumps([*parts[:3], wide])
        changed = made.replace(chain, chain=[first, chain.chain[1]])
        assert reason_of(judge(changed)) == "bad_signature"


# --- how a chain is sent --------------------------------------------------------------------------


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=LAYERS_MAX))
def test_a_chain_is_read_as_it_was_framed(certificates: list[bytes]) -> None:
    assert unframed(framed(certificates)) == certificates


@given(st.binary(max_size=40))
def test_any_framing_gives_certificates_that_spell_it_again_or_is_malformed(raw: bytes) -> None:
    try:
        found = unframed(raw)
    except EvidenceError:
        return
    assert framed(found) == raw


@pytest.mark.parametrize(
    "raw",
    [
        framed([b"a"])[:-1],
        framed([b"a"]) + b"\0\0\0",
        framed([b""]),
        framed([b"a"] * (LAYERS_MAX + 1)),
        b"\xff\xff\xff\xff",
    ],
)
def test_a_chain_that_does_not_fit_its_lengths_is_malformed(raw: bytes) -> None:
    with pytest.raises(EvidenceError) as told:
        unframed(raw)
    assert told.value.reason is UntrustedReason.MALFORMED


@given(st.data())
def test_no_change_of_any_byte_of_a_chain_is_believed(data: st.DataObject) -> None:
    chain = made.good(data.draw(st.sampled_from(FORMS)))
    index = data.draw(st.integers(0, len(chain.chain) - 1))
    raw = chain.chain[index]
    at, bit = data.draw(st.integers(0, len(raw) - 1)), data.draw(st.integers(0, 7))
    changed = raw[:at] + bytes([raw[at] ^ 1 << bit]) + raw[at + 1 :]
    certificates = [*chain.chain[:index], changed, *chain.chain[index + 1 :]]
    assert isinstance(judge(made.replace(chain, chain=certificates)), Untrusted)


# --- policy ---------------------------------------------------------------------------------------


def test_a_policy_that_says_nothing_asks_for_a_sound_machine() -> None:
    debug = (made.tcb_of("os", 7, flags=("debug",)),)
    chains = {
        "mode": made.forged(CBOR, (1, {"open": made.open_claims("cdi1", mode=2)})),
        "flags": made.forged(TCG, (2, {"tcb": debug})),
        "no_measurements": made.forged(TCG, (1, {"tcb": ()}), (2, {"tcb": ()})),
    }
    assert verifier({}).rules == CAREFUL
    for reason, chain in chains.items():
        assert reason_of(judge(made.replace(chain, policy={}))) == reason


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        ({"require_mode": 4}, "dice.require_mode"),
        ({"require_mode": True}, "dice.require_mode"),
        ({"require_measurements": 1}, "dice.require_measurements"),
        ({"forbid_flags": ["Debug"]}, "dice.forbid_flags"),
        ({"allowed_fwids": ["00"]}, "dice.allowed_fwids"),
        ({"allowed_code_hashes": "00"}, "dice.allowed_code_hashes"),
        ({"min_svn": {"os": -1}}, "dice.min_svn.os"),
        ({"min_svn": {"os": "7"}}, "dice.min_svn.os"),
        ({"allowed_fwid": []}, "dice"),
    ],
)
def test_a_fault_in_a_policy_names_its_field(policy: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidValue) as told:
        verifier(policy)
    assert told.value.field.startswith(field)


def test_an_empty_list_of_allowed_digests_allows_none() -> None:
    chain = made.good(TCG)
    assert reason_of(judge(made.replace(chain, policy={"allowed_fwids": []}))) == "fwid"


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.none() | st.integers(0, 4)), max_size=4),
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 4), max_size=3),
)
def test_versions_are_judged_as_a_naive_reading_of_the_rule_has_it(
    parts: list[tuple[str, int | None]], lowest: dict[str, int]
) -> None:
    infos = tuple(made.Tcb(model=name, svn=svn, fwids=(bytes(32),)) for name, svn in parts)
    change = {"tcb": infos, "multi": True} if infos else {"tcb": ()}
    policy = {"min_svn": lowest, "require_measurements": False}
    chain = made.replace(made.forged(TCG, (1, {"tcb": ()}), (2, change)), policy=policy)
    naive = all(
        [svn for named, svn in parts if named == name]
        and all(svn is not None and svn >= least for named, svn in parts if named == name)
        for name, least in lowest.items()
    )
    assert reason_of(judge(chain)) == (None if naive else "svn")


@given(st.integers(-1, 300), st.integers(0, 3), st.sampled_from([CBOR, X509]))
def test_a_layer_is_in_the_required_mode_only_if_it_says_so(
    told: int, wanted: int, form: DiceFormat
) -> None:
    mode: Any = told if form is X509 or 0 <= told < 256 else told.to_bytes(4, "big", signed=True)
    changes = [(at, {"open": made.open_claims(f"cdi{at}", mode=mode)}) for at in (0, 1)]
    chain = made.forged(form, *changes, policy={"require_mode": wanted})
    counts_as = told if told in (0, 1, 2, 3) else 0
    assert reason_of(judge(chain)) == (None if counts_as == wanted else "mode")


# --- certificates that the library itself cannot read ---------------------------------------------


def test_certificates_that_the_library_cannot_read_are_malformed_and_nothing_else() -> None:
    chain = made.good(TCG)
    first = chain.chain[0]
    version = bytes.fromhex("a003020102")
    unknown = first.replace(version, version[:-1] + b"\x07", 1)
    # An e-mail address of the old kind among the subject's names.
    names = ("2.5.29.17", made.der(0x30, made.der(0xA3, made.der(0x30))), False)
    odd = made.forged(TCG, (0, {"extra": (names,)})).chain[0]
    for raw in (unknown, odd):
        changed = made.replace(chain, chain=[raw, *chain.chain[1:]])
        assert reason_of(judge(changed)) == "malformed"


def test_a_name_that_the_library_does_not_read_is_malformed() -> None:
    key = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32))
    name = x509.Name([x509.NameAttribute(NameOID.SERIAL_NUMBER, "ab")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1)
    when = datetime(2026, 1, 1, tzinfo=UTC)
    made_of = builder.not_valid_before(when).not_valid_after(when.replace(year=2027))
    # "ab" as a BIT STRING, which a serial number cannot be.
    tbs = made_of.sign(key, None).tbs_certificate_bytes.replace(b"\x13\x02ab", b"\x03\x02\0b")
    algorithm = bytes.fromhex("300506032b6570")
    whole = tbs + algorithm + b"\x03\x41\0" + key.sign(tbs)
    raw = b"\x30\x81" + bytes([len(whole)]) + whole
    public = key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    with pytest.raises(EvidenceError, match="malformed"):
        check_chain([raw], public, form=TCG, at_ms=None)
