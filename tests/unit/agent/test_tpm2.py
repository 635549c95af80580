"""The TPM of a node, on a real one in software."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from bailiwick.agent.tpm2 import EK_KINDS, QUOTE_TRIES, OtherTpm, Talk, check_tpm
from bailiwick.agent.tpm_prover import AK_NAME, TpmProver
from bailiwick.agent.words import CannotAttest
from bailiwick.attestation.evidence import EvidenceContext
from bailiwick.attestation.policy_section import Section
from bailiwick.attestation.tpm.credential import CHANCE_BYTES, make_credential
from bailiwick.attestation.tpm.keys import read_ek
from bailiwick.attestation.tpm.verifier import Tpm2Verifier
from bailiwick.attestation.verdict import Trusted, Untrusted
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import UntrustedReason
from tests.support.software_tpm import Maker, SoftwareTpm, running
from tests.support.tools import need

NONCE = bytes(range(32))
KINDS = [("EK-RSA2048",), ("EK-HIGH-ECC384",)]


@pytest.fixture(scope="module")
def maker(tmp_path_factory: pytest.TempPathFactory) -> Maker:
    need("swtpm")
    return Maker(tmp_path_factory.mktemp("maker"))


@pytest.fixture(scope="module")
def tpm(maker: Maker) -> Iterator[SoftwareTpm]:
    one = maker.make("one")
    with running(one):
        yield one


@pytest.fixture(scope="module")
def other(maker: Maker) -> Iterator[SoftwareTpm]:
    one = maker.make("other")
    with running(one):
        yield one


def read_attest(attest: bytes) -> Any:
    import tpm2_pytss

    return tpm2_pytss.types.TPMS_ATTEST.unmarshal(attest)[0]


def quoted(prover: TpmProver, nonce: bytes = NONCE) -> Any:
    return read_attest(prover.present("n1", nonce).parts["attest"])


def challenge_of(prover: TpmProver, ak_name: bytes) -> dict[str, bytes]:
    """What the server makes of an offer: a secret for just this TPM and a key of that name."""
    made = make_credential(
        read_ek(prover.offer()["ek_public"]),
        ak_name,
        secret=b"s" * 32,
        chance=os.urandom(CHANCE_BYTES),
    )
    return {"credential_blob": made.blob, "encrypted_secret": made.encrypted_secret}


@pytest.mark.parametrize("kinds", KINDS)
def test_a_credential_for_this_tpm_is_activated(
    tpm: SoftwareTpm, tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    prover = TpmProver(tpm.tcti, tmp_path, ek_kinds=kinds)
    assert prover.prove("n1", challenge_of(prover, prover.identity)) == {"secret": b"s" * 32}


@pytest.mark.parametrize("kinds", KINDS)
def test_a_credential_for_another_key_is_refused_by_the_tpm(
    tpm: SoftwareTpm, tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    prover = TpmProver(tpm.tcti, tmp_path / "a", ek_kinds=kinds)
    sibling = TpmProver(tpm.tcti, tmp_path / "b", ek_kinds=kinds)
    with pytest.raises(CannotAttest, match="integrity"):
        prover.prove("n1", challenge_of(prover, sibling.identity))


def test_a_credential_for_another_tpm_is_refused(
    tpm: SoftwareTpm, other: SoftwareTpm, tmp_path: Path
) -> None:
    prover = TpmProver(tpm.tcti, tmp_path / "a")
    with pytest.raises(CannotAttest):
        prover.prove("n1", challenge_of(TpmProver(other.tcti, tmp_path / "b"), prover.identity))


@pytest.mark.parametrize("kinds", KINDS)
def test_what_it_presents_is_believed_and_only_for_its_own_nonce(
    maker: Maker, tpm: SoftwareTpm, tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    prover = TpmProver(tpm.tcti, tmp_path, ek_kinds=kinds)
    allowed = {number: [value] for number, value in tpm.registers().items()}
    policy = {
        "ek_roots": [maker.intermediate],
        "selection": {"sha256": list(range(10))},
        "pcrs": {"sha256": allowed},
    }
    judge = Tpm2Verifier.from_policy(Section("tpm2", policy), max_age_ms=1000)
    now_ms = time.time_ns() // 1_000_000

    def asked(nonce: bytes) -> EvidenceContext:
        return EvidenceContext(node="n1", nonce=nonce, at_ms=now_ms, enrolled=dict(prover.offer()))

    evidence = prover.present("n1", NONCE)
    verdict = judge.verify(evidence, asked(NONCE))
    assert isinstance(verdict, Trusted), verdict
    assert judge.verify(evidence, asked(b"x" * 32)) == Untrusted(UntrustedReason.NONCE_MISMATCH)
    tpm.extend(4, b"\7" * 32)
    after = judge.verify(prover.present("n1", NONCE), asked(NONCE))
    assert after == Untrusted(UntrustedReason.PCR_POLICY)


@pytest.mark.parametrize(
    "challenge",
    [{}, {"credential_blob": b"", "encrypted_secret": b""},
     {"credential_blob": b"\0\1", "encrypted_secret": b"\xff" * 3},
     {"credential_blob": b"\0\0\0", "encrypted_secret": b"\0\0"}],
)  # fmt: skip
def test_a_challenge_that_is_none_is_told(
    tpm: SoftwareTpm, tmp_path: Path, challenge: dict[str, bytes]
) -> None:
    prover = TpmProver(tpm.tcti, tmp_path)
    with pytest.raises(CannotAttest):
        prover.prove("n1", challenge)


@pytest.mark.parametrize("kinds", KINDS)
def test_the_certificate_is_of_the_endorsement_key_that_is_offered(
    maker: Maker, tpm: SoftwareTpm, tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    from tpm2_pytss.types import TPM2B_PUBLIC

    offer = TpmProver(tpm.tcti, tmp_path, ek_kinds=kinds).offer()
    certificate = x509.load_der_x509_certificate(offer["ek_certificate"])
    certificate.verify_directly_issued_by(
        x509.load_pem_x509_certificate(maker.intermediate.encode())
    )
    spki = certificate.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    assert TPM2B_PUBLIC.unmarshal(offer["ek_public"])[0].to_pem() == spki


def test_a_tpm_without_a_certificate_of_that_kind_is_told(tpm: SoftwareTpm, tmp_path: Path) -> None:
    with pytest.raises(CannotAttest, match="no certificate of its endorsement key"):
        TpmProver(tpm.tcti, tmp_path, ek_kinds=("EK-ECC256", "EK-HIGH-ECC256"))


def test_the_key_can_only_sign_what_the_tpm_says(tpm: SoftwareTpm, tmp_path: Path) -> None:
    from tpm2_pytss import TPMA_OBJECT
    from tpm2_pytss.types import TPM2B_PUBLIC

    public = TPM2B_PUBLIC.unmarshal(TpmProver(tpm.tcti, tmp_path).offer()["ak_public"])[0]
    wanted = (
        TPMA_OBJECT.FIXEDTPM | TPMA_OBJECT.FIXEDPARENT | TPMA_OBJECT.SENSITIVEDATAORIGIN
        | TPMA_OBJECT.RESTRICTED | TPMA_OBJECT.SIGN_ENCRYPT
    )  # fmt: skip
    attributes = public.publicArea.objectAttributes
    assert attributes & wanted == wanted
    assert not attributes & TPMA_OBJECT.DECRYPT


def test_the_same_key_is_loaded_again_and_its_file_is_its_owners_alone(
    tpm: SoftwareTpm, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    first, again = TpmProver(tpm.tcti, state), TpmProver(tpm.tcti, state)
    assert first.identity == again.identity
    assert first.offer() == again.offer()
    assert stat.S_IMODE((state / AK_NAME).stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700


def test_a_copied_folder_is_of_no_use_on_another_tpm(
    tpm: SoftwareTpm, other: SoftwareTpm, tmp_path: Path
) -> None:
    TpmProver(tpm.tcti, tmp_path / "disk")
    shutil.copytree(tmp_path / "disk", tmp_path / "copy")
    with pytest.raises(OtherTpm, match="not of this TPM: it has another endorsement key"):
        TpmProver(other.tcti, tmp_path / "copy")


def test_even_a_copy_that_hides_where_it_was_made_cannot_be_loaded(
    tpm: SoftwareTpm, other: SoftwareTpm, tmp_path: Path
) -> None:
    TpmProver(tpm.tcti, tmp_path / "disk")
    TpmProver(other.tcti, tmp_path / "own")
    told = json.loads((tmp_path / "disk" / AK_NAME).read_text())
    own = json.loads((tmp_path / "own" / AK_NAME).read_text())
    path = tmp_path / "own" / AK_NAME
    path.write_text(json.dumps({**told, "ek_name": own["ek_name"]}))
    with pytest.raises(OtherTpm, match="did not wrap that key"):
        TpmProver(other.tcti, tmp_path / "own")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"schema": 3}', "\xff"])
def test_a_key_file_that_no_agent_wrote_is_refused(
    tpm: SoftwareTpm, tmp_path: Path, text: str
) -> None:
    path = tmp_path / AK_NAME
    path.touch(mode=0o600)
    path.write_text(text)
    with pytest.raises(InvalidValue, match="key"):
        TpmProver(tpm.tcti, tmp_path)


def test_a_key_file_that_others_can_read_is_refused(tpm: SoftwareTpm, tmp_path: Path) -> None:
    TpmProver(tpm.tcti, tmp_path)
    (tmp_path / AK_NAME).chmod(0o640)
    with pytest.raises(InvalidValue, match="chmod 600"):
        TpmProver(tpm.tcti, tmp_path)


def test_a_quote_covers_every_register_and_tells_what_is_in_them(
    tpm: SoftwareTpm, tmp_path: Path
) -> None:
    tpm.extend(5, sha256(b"loaded").digest())
    prover = TpmProver(tpm.tcti, tmp_path)
    evidence = prover.present("n1", NONCE)
    assert set(evidence.parts) == {"attest", "signature", "pcrs"}
    told = json.loads(evidence.parts["pcrs"])
    assert list(told) == ["sha256"]
    assert set(told["sha256"]) == set(map(str, range(24)))
    assert tpm.registers().items() <= told["sha256"].items()
    quote = quoted(prover)
    assert bytes(quote.extraData) == NONCE
    assert bytes(quote.attested.quote.pcrSelect[0].pcrSelect)[:3] == b"\xff\xff\xff"
    whole = b"".join(bytes.fromhex(told["sha256"][str(number)]) for number in range(24))
    assert bytes(quote.attested.quote.pcrDigest) == sha256(whole).digest()


def test_registers_and_quote_are_of_one_moment(
    tpm: SoftwareTpm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prover, read = TpmProver(tpm.tcti, tmp_path), Talk.read_registers
    left = [b"\5" * 32, b"\6" * 32]

    def then_changed(talk: Talk, banks: dict[str, list[int]]) -> dict[str, dict[str, bytes]]:
        found = read(talk, banks)
        if left:
            tpm.extend(16, left.pop(), esys=talk.esys)
        return found

    monkeypatch.setattr(Talk, "read_registers", then_changed)
    evidence = prover.present("n1", NONCE)
    assert left == []
    told = json.loads(evidence.parts["pcrs"])["sha256"]
    quote = read_attest(evidence.parts["attest"])
    whole = b"".join(bytes.fromhex(told[str(number)]) for number in range(24))
    assert bytes(quote.attested.quote.pcrDigest) == sha256(whole).digest()
    left += [bytes([number]) * 32 for number in range(QUOTE_TRIES)]
    with pytest.raises(CannotAttest, match="change faster"):
        prover.present("n1", NONCE)


def test_the_key_survives_a_reboot_and_the_registers_do_not(
    tpm: SoftwareTpm, tmp_path: Path
) -> None:
    prover = TpmProver(tpm.tcti, tmp_path)
    before, name = quoted(prover), prover.identity
    tpm.extend(3, b"\1" * 32)
    assert tpm.registers()["3"] != "00" * 32
    tpm.reboot()
    after = quoted(prover)
    assert tpm.registers()["3"] == "00" * 32
    assert after.clockInfo.resetCount == before.clockInfo.resetCount + 1
    assert TpmProver(tpm.tcti, tmp_path).identity == name


def test_nothing_stays_loaded_in_the_tpm(tpm: SoftwareTpm, tmp_path: Path) -> None:
    from tpm2_pytss import TPM2_CAP

    prover = TpmProver(tpm.tcti, tmp_path)
    for _ in range(10):  # more often than a TPM has room for
        prover.present("n1", NONCE)
    with tpm.talking() as esys:
        for first in (0x80000000, 0x02000000, 0x03000000):  # keys, and two kinds of sessions
            told = esys.get_capability(TPM2_CAP.HANDLES, first, 8)[1]
            assert [int(each) for each in told.data.handles] == []


def test_the_chain_of_the_endorsement_key_is_offered_where_the_tpm_holds_it(
    maker: Maker, other: SoftwareTpm, tmp_path: Path
) -> None:
    assert "ek_intermediates" not in TpmProver(other.tcti, tmp_path / "a").offer()
    issuer = x509.load_pem_x509_certificate(maker.intermediate.encode())
    raw = issuer.public_bytes(serialization.Encoding.DER)
    other.store(0x01C00100, raw + b"\xff" * 20)  # places are often larger than what is in them
    assert TpmProver(other.tcti, tmp_path / "b").offer()["ek_intermediates"] == raw


def test_the_firmwares_log_goes_along(tpm: SoftwareTpm, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"events")
    prover = TpmProver(tpm.tcti, tmp_path / "state", event_log=log)
    assert prover.present("n1", NONCE).parts["event_log"] == b"events"
    log.unlink()
    assert "event_log" not in prover.present("n1", NONCE).parts
    with pytest.raises(CannotAttest, match="--event-log"):
        TpmProver(tpm.tcti, tmp_path / "state", event_log=log)


def test_a_tpm_that_does_not_answer_is_told_with_a_fix(tmp_path: Path) -> None:
    need("swtpm")
    for way in ("device:/dev/absent", "swtpm:host=127.0.0.1,port=1"):
        with pytest.raises(CannotAttest, match="--tpm says which"):
            TpmProver(way, tmp_path)


def test_a_way_to_a_tpm_that_nobody_knows_is_refused() -> None:
    for way in ("", "cmd:rm", "/lib/evil.so", "tpm"):
        with pytest.raises(InvalidValue, match="--tpm"):
            check_tpm(way)


def test_without_the_extra_package_the_fix_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tpm2_pytss.utils", None)
    with pytest.raises(CannotAttest, match=r"pip install 'bailiwick\[tpm2\]'"):
        TpmProver("device:/dev/tpmrm0", tmp_path)


def test_curves_are_tried_before_rsa() -> None:
    assert [kind for kind in EK_KINDS if "RSA" in kind] == list(EK_KINDS[-2:])
