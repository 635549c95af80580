"""Signatures: what holds, what does not, and that no text at all gets past without its key."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import json
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.apps.artifacts import check_key
from bailiwick.apps.signatures import Signed, SignedBy, check_signature, find_signer
from bailiwick.vocab.apps import VerificationReason as Why
from tests.support.signing import BundleSigner, MinisignSigner

DATA = b"the bytes of an app\n" * 100
OURS, OTHERS = MinisignSigner(), MinisignSigner(key_id=b"another!")
BUNDLES, EDWARDS = BundleSigner(), BundleSigner(Ed25519PrivateKey.generate())

# As minisign itself writes them, in both forms, for the bytes "test": from the documentation of the
# library minisign-verify, which its author wrote too.
REAL_KEY = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
REAL = """untrusted comment: signature from minisign secret key
RUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLz\
Zwo=
trusted comment: timestamp:1633700835\tfile:test\tprehashed
wLMDjy9FLAuxZ3q4NlEvkgtyhrr0gtTu6KC4KBJdITbbOeAi1zBIYo0v4iTgt8jJpIidRJnp94ABQkJAgAooBQ==
"""
REAL_LEGACY = """untrusted comment: signature from minisign secret key
RWQf6LRCGA9i59SLOFxz6NxvASXDJeRtuZykwQepbDEGt87ig1BNpWaVWuNrm73YiIiJbq71Wi+dP9eKL8OC351vwIasSSb\
XxwA=
trusted comment: timestamp:1555779966\tfile:test
QtKMXWyYcwdpZAlPF7tE2ENJkRd1ujvKjlj1m9RtHTBnZPa5WKU5uWRs5GoP5M/VqE81QFuMKI5k/SfNQUaOAA==
"""


def signed(data: bytes = DATA, *, whole: bool = True) -> Signed:
    digests = hashlib.sha256(data).hexdigest(), hashlib.blake2b(data).digest()
    return Signed(*digests, data if whole else None)


@pytest.mark.parametrize("text", [REAL, REAL_LEGACY], ids=["prehashed", "legacy"])
def test_a_signature_that_minisign_itself_made_holds(text: str) -> None:
    assert check_signature(text, signed(b"test"), keys=[REAL_KEY]) == SignedBy(REAL_KEY)
    assert check_signature(text, signed(b"text"), keys=[REAL_KEY]) is Why.SIGNATURE_INVALID


@pytest.mark.parametrize("legacy", [False, True])
def test_minisign_holds_in_both_forms(legacy: bool) -> None:
    text = OURS.sign(DATA, legacy=legacy)
    keys = [check_key(OTHERS.public), check_key(OURS.public)]
    assert check_signature(text, signed(), keys=keys) == SignedBy(OURS.public)
    assert check_signature(text, signed(b"other"), keys=keys) is Why.SIGNATURE_INVALID
    assert check_signature(text, signed(), keys=[OTHERS.public]) is Why.KEY_UNKNOWN


def test_bytes_too_many_to_hold_are_signed_by_their_hash_alone() -> None:
    many = signed(whole=False)
    assert check_signature(OURS.sign(DATA), many, keys=[OURS.public]) == SignedBy(OURS.public)
    found = check_signature(OURS.sign(DATA, legacy=True), many, keys=[OURS.public])
    assert found is Why.TOO_LARGE


def test_a_changed_trusted_comment_is_no_signature() -> None:
    text = OURS.sign(DATA, comment="version 2").replace("version 2", "version 3")
    assert check_signature(text, signed(), keys=[OURS.public]) is Why.COMMENT_INVALID
    untrusted = OURS.sign(DATA).replace("from a test", "from anybody")
    assert check_signature(untrusted, signed(), keys=[OURS.public]) == SignedBy(OURS.public)


def test_a_prehashed_signature_is_none_of_the_hash_as_a_file() -> None:
    """What was signed in one form must not hold in the other, for other bytes."""
    hashed = hashlib.blake2b(DATA).digest()
    swapped = _with_form(OURS.sign(DATA), b"Ed")
    # The same signature over the same 64 bytes: legacy says so of the 64 bytes, not of DATA.
    assert check_signature(swapped, signed(), keys=[OURS.public]) is Why.SIGNATURE_INVALID
    assert check_signature(swapped, signed(hashed), keys=[OURS.public]) == SignedBy(OURS.public)


def _with_form(text: str, form: bytes) -> str:
    lines = text.split("\n")
    lines[1] = base64.b64encode(form + base64.b64decode(lines[1])[2:]).decode()
    return "\n".join(lines)


@pytest.mark.parametrize("signer", [BUNDLES, EDWARDS], ids=["p256", "ed25519"])
@pytest.mark.parametrize("make", ["message", "envelope"])
def test_bundles_hold_under_a_pinned_key(signer: BundleSigner, make: str) -> None:
    bundle = json.dumps(getattr(signer, make)(DATA))
    key = check_key(signer.public)
    assert check_signature(bundle, signed(), keys=[key]) == SignedBy(key)
    assert check_signature(bundle, signed(b"x"), keys=[key]) is Why.SUBJECT_DIFFERS
    other = BundleSigner().public
    assert check_signature(bundle, signed(), keys=[other]) is Why.SIGNATURE_INVALID
    assert check_signature(bundle, signed(), keys=[OURS.public]) is Why.KEY_UNKNOWN


def test_a_bundle_that_claims_a_digest_it_did_not_sign_is_refused() -> None:
    lying = json.dumps(BUNDLES.message(b"harmless", claimed=DATA))
    assert check_signature(lying, signed(), keys=[BUNDLES.public]) is Why.SIGNATURE_INVALID


def test_another_statement_about_the_bytes_is_no_leave_to_use_them() -> None:
    scan = json.dumps(BUNDLES.envelope(DATA, predicate="https://in-toto.io/attestation/vulns"))
    assert check_signature(scan, signed(), keys=[BUNDLES.public]) is Why.SUBJECT_DIFFERS


def test_a_certificate_counts_only_as_the_holder_of_a_pinned_key() -> None:
    bundle = BUNDLES.message(DATA)
    for holder, found in ((BUNDLES, SignedBy(BUNDLES.public)), (BundleSigner(), Why.KEY_UNKNOWN)):
        raw = base64.b64encode(_certificate(holder)).decode()
        bundle["verificationMaterial"] = {"certificate": {"rawBytes": raw}}
        assert check_signature(json.dumps(bundle), signed(), keys=[BUNDLES.public]) == found


def _certificate(signer: BundleSigner) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "anybody")])
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name)
    made = made.public_key(signer.key.public_key()).serial_number(1)
    made = made.not_valid_before(dt.datetime(2020, 1, 1)).not_valid_after(dt.datetime(2020, 1, 2))
    return made.sign(signer.key, SHA256()).public_bytes(Encoding.DER)  # type: ignore[arg-type]


def _spoilt(change: str) -> str:
    bundle: dict[str, Any] = BUNDLES.message(DATA)
    match change:
        case "older":
            bundle["mediaType"] = "application/vnd.dev.sigstore.bundle+json;version=0.1"
        case "both":
            bundle |= BUNDLES.envelope(DATA)
        case "neither":
            del bundle["messageSignature"]
        case "weak":
            bundle["messageSignature"]["messageDigest"]["algorithm"] = "SHA1"
        case "twice":
            text = json.dumps(bundle)
            return text[:-1] + f', "mediaType": {json.dumps(bundle["mediaType"])}}}'
        case "list":
            return "[" * 100_000
        case "deep":
            return '{"a":' * 100_000
        case _:
            raise AssertionError(change)
    return json.dumps(bundle)


@pytest.mark.parametrize("change", ["older", "both", "neither", "weak", "twice", "list", "deep"])
def test_what_is_not_as_the_format_says_is_malformed(change: str) -> None:
    found = check_signature(_spoilt(change), signed(), keys=[BUNDLES.public, OURS.public])
    assert found is Why.SIGNATURE_MALFORMED


@given(text=st.text(max_size=400), at=st.integers(0, 300), byte=st.characters(codec="ascii"))
def test_no_text_is_believed_without_its_key(text: str, at: int, byte: str) -> None:
    keys = [OURS.public, BUNDLES.public]
    assert not isinstance(check_signature(text, signed(), keys=keys), SignedBy)
    good = OURS.sign(DATA)
    spoilt = good[:at] + byte + good[at + 1 :]
    found = check_signature(spoilt, signed(), keys=keys)
    # Only the line that nobody signs may be another.
    is_free = at < good.index("\n") or spoilt.removesuffix("\n") == good.removesuffix("\n")
    assert is_free or not isinstance(found, SignedBy)


def test_one_good_signature_among_bad_ones_is_enough_and_none_says_why() -> None:
    keys = [OURS.public, BUNDLES.public]
    bad = OTHERS.sign(DATA), OURS.sign(b"other")
    assert find_signer([*bad, OURS.sign(DATA)], signed(), keys=keys) == SignedBy(OURS.public)
    assert find_signer(bad, signed(), keys=keys) is Why.SIGNATURE_INVALID
    assert find_signer([], signed(), keys=keys) is Why.NOT_SIGNED
