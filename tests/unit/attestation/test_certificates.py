"""Paths from a certificate to a pinned one: by whom, for how long, and what never ends a path."""

from __future__ import annotations

import subprocess
import sys
from functools import lru_cache
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, padding, rsa
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.attestation.formats import certificates
from bailiwick.attestation.formats.certificates import (
    BUNDLE_MAX,
    CERTIFICATE_BYTES_MAX,
    PATH_MAX,
    SIGNATURE_CHECKS_MAX,
    Path,
    PathRules,
    check_key,
    check_leaf,
    is_issued_by,
    name_of,
    pinned_certificates,
    read_certificate,
    read_certificates,
    walk,
)
from bailiwick.attestation.verdict import EvidenceError
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import UntrustedReason
from tests.support.certificates import (
    AT_MS,
    HOUR_MS,
    Wanted,
    der,
    ec_key,
    issue,
    leaf_wanted,
    pem,
    usage,
)
from tests.support.certificates import name_of as name_for
from tests.support.evidence_ed25519 import SMALL_ORDER_KEYS
from tests.support.waiting import WAIT_S

RULES = PathRules()
ROOT = issue("root", "root")
MIDDLE = issue("middle", "root")
LEAF = issue("leaf", "middle", wanted=leaf_wanted())


def walked(
    leaf: x509.Certificate = LEAF,
    others: Any = (MIDDLE,),
    *,
    pinned: Any = (ROOT,),
    at_ms: int = AT_MS,
    rules: PathRules = RULES,
) -> Path:
    return walk(leaf, others, pinned=pinned, at_ms=at_ms, rules=rules)


def refused(*args: Any, **kwargs: Any) -> EvidenceError:
    with pytest.raises(EvidenceError) as told:
        walked(*args, **kwargs)
    return told.value


def line_of(length: int) -> list[x509.Certificate]:
    """So many CAs, each issued by the next, the last by the root."""
    names = [f"ca-{number}" for number in range(length)]
    return [issue(name, by) for name, by in zip(names, [*names, "root"][1:], strict=True)]


# --- by whom -------------------------------------------------------------------------------------


def test_a_path_goes_from_the_leaf_to_the_pinned_certificate() -> None:
    assert walked().certificates == (LEAF, MIDDLE, ROOT)


def test_the_order_of_the_bundle_does_not_matter_nor_does_what_else_is_in_it() -> None:
    names = ["a", "b", "c"]
    line = [issue(name, by) for name, by in zip(names, ["b", "c", "root"], strict=True)]
    leaf = issue("leaf", "a", wanted=leaf_wanted())
    bundle = [MIDDLE, line[2], ROOT, line[0], LEAF, line[1]]
    assert walked(leaf, bundle).certificates == (leaf, *line, ROOT)


def test_any_pinned_certificate_may_end_the_path_an_intermediate_too() -> None:
    assert walked(pinned=(issue("other", "other"), MIDDLE)).certificates == (LEAF, MIDDLE)


@pytest.mark.parametrize("pinned", [(), (issue("other", "other"),), (LEAF,)])
def test_a_root_that_only_the_bundle_knows_ends_nothing(pinned: Any) -> None:
    error = refused(others=(MIDDLE, ROOT), pinned=pinned)
    assert error.reason is UntrustedReason.CHAIN
    assert "no pinned issuer of leaf" in error.where


def test_the_right_name_with_another_key_is_no_issuer() -> None:
    impostor = issue("root", "root", key="impostor", sign_key=ec_key("impostor"))
    assert refused(pinned=(impostor,)).reason is UntrustedReason.CHAIN
    assert refused(others=(issue("middle", "root", key="impostor"),)).reason == "chain"


def test_the_right_key_with_another_name_is_no_issuer() -> None:
    wanted = leaf_wanted(issuer=name_for("somebody else"))
    misnamed = issue("leaf", "middle", wanted=wanted)
    assert refused(misnamed).reason is UntrustedReason.CHAIN


def test_of_two_issuers_with_one_name_the_one_that_signed_is_taken() -> None:
    impostors = [issue("middle", "root", key=f"impostor {i}") for i in range(20)]
    assert walked(others=(*impostors, MIDDLE)).certificates == (LEAF, MIDDLE, ROOT)


def test_a_way_that_ends_nowhere_is_left_for_one_that_does_not() -> None:
    # The same key certified twice: by somebody unknown, and by the root.
    lost = issue("middle", "nobody")
    assert walked(others=(lost, MIDDLE)).certificates == (LEAF, MIDDLE, ROOT)


def test_certificates_that_issue_each_other_are_no_endless_path() -> None:
    ring = (issue("middle", "ring"), issue("ring", "middle"))
    assert refused(others=ring).reason is UntrustedReason.CHAIN


def test_a_leaf_that_issued_itself_is_trusted_by_nobody() -> None:
    own = issue("leaf", "leaf")
    assert refused(own, ()).reason is UntrustedReason.CHAIN


# --- what an issuer may --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        (Wanted(ca=False), "no CA"),
        (Wanted(ca=False, usage=usage(key_cert_sign=True)), "no CA"),
        (Wanted(ca=None, usage=usage(key_cert_sign=True)), "no CA"),
        (Wanted(usage=usage(digital_signature=True, crl_sign=True)), "may not sign certificates"),
    ],
)
@pytest.mark.parametrize("where", ["bundle", "pinned"])
def test_only_a_ca_that_may_sign_certificates_issues(wanted: Wanted, told: str, where: str) -> None:
    rules = PathRules(UntrustedReason.EK_CHAIN, UntrustedReason.NOT_A_CA)
    middle = issue("middle", "root", wanted=wanted)
    error = refused(others=(middle,), pinned=(middle if where == "pinned" else ROOT,), rules=rules)
    assert error.reason is UntrustedReason.NOT_A_CA
    assert told in error.where


@pytest.mark.parametrize(("length", "allowed"), [(0, 1), (1, 2), (2, 3), (None, PATH_MAX - 1)])
def test_the_path_length_of_an_issuer_bounds_the_cas_below_it(
    length: int | None, allowed: int
) -> None:
    """``allowed``: certificates below the root, the leaf among them."""
    root = issue("root", "root", wanted=Wanted(path_length=length))
    for cas in range(PATH_MAX):
        line = line_of(cas)
        leaf = issue("leaf", "ca-0" if cas else "root", wanted=leaf_wanted())
        if cas + 1 <= allowed:
            assert len(walked(leaf, line, pinned=(root,)).certificates) == cas + 2
        else:
            assert refused(leaf, line, pinned=(root,)).reason is UntrustedReason.CHAIN


def test_the_path_length_of_an_intermediate_counts_too() -> None:
    above = issue("ca-1", "root", wanted=Wanted(path_length=0))
    below, leaf = issue("ca-0", "ca-1"), issue("leaf", "ca-0", wanted=leaf_wanted())
    assert "too long" in refused(leaf, (below, above)).where


UNKNOWN = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.99999.1"), b"\x05\x00")


@pytest.mark.parametrize("who", ["leaf", "middle", "root"])
def test_a_critical_extension_that_nobody_reads_refuses_the_path(who: str) -> None:
    def made(critical: bool) -> tuple[x509.Certificate, tuple[Any, ...], tuple[Any, ...]]:
        extra = ((UNKNOWN, critical),)
        root, middle = ROOT, MIDDLE
        leaf = LEAF
        if who == "leaf":
            leaf = issue("leaf", "middle", wanted=leaf_wanted(extra=extra))
        elif who == "middle":
            middle = issue("middle", "root", wanted=Wanted(extra=extra))
        else:
            root = issue("root", "root", wanted=Wanted(extra=extra))
        return leaf, (middle,), (root,)

    leaf, others, pinned = made(critical=True)
    assert "critical extension 1.3.6.1.4.1.99999.1" in refused(leaf, others, pinned=pinned).where
    known = PathRules(critical=frozenset({"1.3.6.1.4.1.99999.1"}))
    assert walked(leaf, others, pinned=pinned, rules=known).certificates
    leaf, others, pinned = made(critical=False)
    assert walked(leaf, others, pinned=pinned).certificates


def test_critical_name_constraints_are_not_passed_over() -> None:
    constraints = x509.NameConstraints([x509.DNSName("example.com")], None)
    middle = issue("middle", "root", wanted=Wanted(extra=((constraints, True),)))
    assert "critical extension 2.5.29.30" in refused(others=(middle,)).where


# --- for how long --------------------------------------------------------------------------------


@pytest.mark.parametrize("who", ["leaf", "middle", "root"])
@pytest.mark.parametrize(
    ("at_ms", "told"),
    [
        (AT_MS - 1, "is not valid yet"),
        (AT_MS, None),
        (AT_MS + 60_999, None),
        (AT_MS + 61_000, "has run out"),
    ],
)
def test_every_certificate_is_valid_to_the_second(who: str, at_ms: int, told: str | None) -> None:
    minute = {"begins_ms": AT_MS, "ends_ms": AT_MS + 60_000}
    leaf = issue("leaf", "middle", wanted=leaf_wanted(**minute)) if who == "leaf" else LEAF
    middle = issue("middle", "root", wanted=Wanted(**minute)) if who == "middle" else MIDDLE
    root = issue("root", "root", wanted=Wanted(**minute)) if who == "root" else ROOT
    if told is None:
        path = walked(leaf, (middle,), pinned=(root,), at_ms=at_ms)
        assert path.valid_until_ms == AT_MS + 60_999
    else:
        assert f"{who} {told}" in refused(leaf, (middle,), pinned=(root,), at_ms=at_ms).where


def test_a_path_holds_as_long_as_its_shortest_certificate_not_as_others_in_the_bundle() -> None:
    short = issue("other", "root", wanted=Wanted(ends_ms=AT_MS + 1000))
    assert walked(others=(MIDDLE, short)).valid_until_ms == AT_MS + HOUR_MS + 999


def test_of_two_certificates_for_one_key_the_one_that_is_valid_counts() -> None:
    old = issue("middle", "root", wanted=Wanted(ends_ms=AT_MS - 1000))
    assert walked(others=(old, MIDDLE)).certificates == (LEAF, MIDDLE, ROOT)
    assert "middle has run out" in refused(others=(old,)).where


# --- how strong ----------------------------------------------------------------------------------


@lru_cache
def rsa_key(bits: int) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, bits)


def rsa_root(bits: int, **changes: Any) -> tuple[x509.Certificate, x509.Certificate]:
    key = rsa_key(bits)
    wanted = Wanted(public_key=key.public_key(), hash=hashes.SHA256(), **changes)
    root = issue("root", "root", wanted=wanted, sign_key=key)
    leaf = issue("leaf", "root", wanted=leaf_wanted(hash=hashes.SHA256()), sign_key=key)
    return root, leaf


def test_rsa_signs_with_2048_bits_and_not_with_1024() -> None:
    root, leaf = rsa_root(2048)
    assert walked(leaf, (), pinned=(root,)).certificates == (leaf, root)
    root, leaf = rsa_root(1024)
    assert refused(leaf, (), pinned=(root,)).reason is UntrustedReason.CHAIN


def test_sha_1_signs_nothing() -> None:
    root, leaf = rsa_root(2048)
    sha256_oid, sha1_oid = (bytes.fromhex(f"06092a864886f70d0101{end}") for end in ("0b", "05"))
    patched = der(leaf).replace(sha256_oid, sha1_oid)
    tbs = leaf.tbs_certificate_bytes.replace(sha256_oid, sha1_oid)
    signature = rsa_key(2048).sign(tbs, padding.PKCS1v15(), hashes.SHA1())
    old = read_certificate(patched[: -len(signature)] + signature)
    assert isinstance(old.signature_hash_algorithm, hashes.SHA1)
    assert not is_issued_by(old, root)
    assert refused(old, (), pinned=(root,)).reason is UntrustedReason.CHAIN


def test_only_the_usual_digests_sign() -> None:
    for digest, signs in ((hashes.SHA224(), False), (hashes.SHA256(), True)):
        leaf = issue("leaf", "middle", wanted=leaf_wanted(hash=digest))
        leaf.verify_directly_issued_by(MIDDLE)  # the library alone takes either
        assert is_issued_by(leaf, MIDDLE) is signs


def test_rsa_pss_signs_too() -> None:
    key = rsa_key(2048)
    root, _ = rsa_root(2048)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name_for("leaf"))
        .issuer_name(name_for("root"))
        .public_key(ec_key("leaf").public_key())
        .serial_number(7)
        .not_valid_before(LEAF.not_valid_before_utc)
        .not_valid_after(LEAF.not_valid_after_utc)
    )
    pss = padding.PSS(padding.MGF1(hashes.SHA384()), padding.PSS.DIGEST_LENGTH)
    leaf = builder.sign(key, hashes.SHA384(), rsa_padding=pss)
    assert walked(leaf, (), pinned=(root,)).certificates == (leaf, root)


@pytest.mark.parametrize("weak", SMALL_ORDER_KEYS[:10], ids=bytes.hex)
def test_a_key_of_small_order_issues_nothing(weak: bytes) -> None:
    public = ed25519.Ed25519PublicKey.from_public_bytes(weak)
    root = issue("root", "root", wanted=Wanted(public_key=public))
    assert not is_issued_by(LEAF, root)
    with pytest.raises(EvidenceError, match="weak_key"):
        check_key(public)


@pytest.mark.parametrize(
    "make",
    [
        lambda: rsa_key(1024).public_key(),
        lambda: rsa.RSAPublicNumbers(2**80 + 1, rsa_modulus()).public_key(),
        lambda: ec.generate_private_key(ec.SECP256K1()).public_key(),
        lambda: ec.generate_private_key(ec.SECP224R1()).public_key(),
        lambda: dsa.generate_private_key(2048).public_key(),
    ],
    ids=["rsa-1024", "rsa-exponent", "k-256", "p-224", "dsa"],
)
def test_keys_that_prove_too_little_or_cost_too_much_are_weak(make: Any) -> None:
    with pytest.raises(EvidenceError) as told:
        check_key(make())
    assert told.value.reason is UntrustedReason.WEAK_KEY


def rsa_modulus() -> int:
    return rsa_key(2048).public_key().public_numbers().n


@pytest.mark.parametrize("curve", [ec.SECP256R1, ec.SECP384R1, ec.SECP521R1])
def test_keys_of_the_usual_kinds_pass(curve: type[ec.EllipticCurve]) -> None:
    check_key(ec_key("x", curve).public_key())
    check_key(rsa_key(2048).public_key())


def test_inner_and_outer_algorithm_must_agree() -> None:
    sha256_oid = bytes.fromhex("06092a864886f70d01010b")
    root, leaf = rsa_root(2048)
    head, _, tail = der(leaf).rpartition(sha256_oid)
    twisted = read_certificate(head + sha256_oid[:-1] + b"\x0c" + tail)
    assert not is_issued_by(twisted, root)


# --- how much ------------------------------------------------------------------------------------


def count_checks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    done: list[int] = []
    real = certificates.is_issued_by

    def counted(subject: x509.Certificate, issuer: x509.Certificate) -> bool:
        done.append(1)
        return real(subject, issuer)

    monkeypatch.setattr(certificates, "is_issued_by", counted)
    return done


def test_a_bundle_that_is_a_maze_costs_a_bounded_number_of_checks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Every one of them issues every other: ways through it are more than could ever be tried.
    maze = [
        issue("middle", "middle", wanted=Wanted(ends_ms=AT_MS + HOUR_MS + 1000 * i))
        for i in range(BUNDLE_MAX)
    ]
    done = count_checks(monkeypatch)
    assert f"more than {SIGNATURE_CHECKS_MAX} signatures" in refused(others=maze).where
    assert len(done) == SIGNATURE_CHECKS_MAX


def test_names_that_do_not_fit_cost_no_check(monkeypatch: pytest.MonkeyPatch) -> None:
    strangers = [issue(f"stranger-{i}", "root") for i in range(BUNDLE_MAX - 1)]
    done = count_checks(monkeypatch)
    assert walked(others=(*strangers, MIDDLE)).certificates
    assert len(done) == 2


def test_bundles_and_certificates_have_a_size() -> None:
    assert "33 certificates" in refused(others=[MIDDLE] * (BUNDLE_MAX + 1)).where
    for raw in (bytes(CERTIFICATE_BYTES_MAX + 1), bytes(BUNDLE_MAX * CERTIFICATE_BYTES_MAX + 1)):
        with pytest.raises(EvidenceError):
            read_certificate(raw)
        with pytest.raises(EvidenceError):
            read_certificates(raw)


# --- reading -------------------------------------------------------------------------------------


def test_bundles_are_read_in_pem_and_in_der_one_after_another() -> None:
    both = (LEAF, MIDDLE)
    assert read_certificates(b"".join(pem(each).encode() for each in both)) == both
    assert read_certificates(b"".join(der(each) for each in both)) == both


@pytest.mark.parametrize(
    "raw",
    [
        der(LEAF)[:-1],
        der(LEAF) + b"\0",
        b"-----BEGIN CERTIFICATE-----\n",
        b"-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
        b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        pem(LEAF).encode() * (BUNDLE_MAX + 1),
        der(LEAF) * (BUNDLE_MAX + 1),
    ],
    ids=["cut", "longer", "pem-cut", "pem-no-base64", "pem-a-key", "pem-many", "der-many"],
)
def test_what_is_no_bundle_is_malformed_or_what_the_caller_calls_it(raw: bytes) -> None:
    with pytest.raises(EvidenceError) as told:
        read_certificates(raw)
    assert told.value.reason is UntrustedReason.MALFORMED
    with pytest.raises(EvidenceError) as told:
        read_certificates(raw, reason=UntrustedReason.EK_CHAIN)
    assert told.value.reason is UntrustedReason.EK_CHAIN


def test_a_fault_in_a_policys_roots_names_the_field() -> None:
    assert pinned_certificates("x.roots", [pem(ROOT) + pem(MIDDLE), pem(LEAF)]) == (
        ROOT,
        MIDDLE,
        LEAF,
    )
    with pytest.raises(InvalidValue, match=r"x\.roots\[1\]: expected certificates in PEM"):
        pinned_certificates("x.roots", [pem(ROOT), "hello"])
    for nothing in ([], [""]):
        with pytest.raises(InvalidValue, match=r"x\.roots.*: expected .*certificate.* in PEM"):
            pinned_certificates("x.roots", nothing)


def test_a_leaf_is_no_ca_and_may_sign() -> None:
    check_leaf(LEAF, rules=RULES)
    for wanted, told in (
        (Wanted(usage=usage(digital_signature=True)), "is a CA"),
        (leaf_wanted(usage=usage(key_agreement=True)), "may not sign"),
    ):
        with pytest.raises(EvidenceError, match=told):
            check_leaf(issue("leaf", "middle", wanted=wanted), rules=RULES)


def test_a_name_for_a_message_is_short_and_steers_no_terminal() -> None:
    assert name_of(LEAF) == "leaf"
    assert name_of(issue("red \x1b[31m\n", "root", key="x")) == "red ?[31m?"
    nameless = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([]))
        .issuer_name(name_for("root"))
        .public_key(ec_key("leaf").public_key())
        .serial_number(7)
        .not_valid_before(LEAF.not_valid_before_utc)
        .not_valid_after(LEAF.not_valid_after_utc)
        .sign(ec_key("root"), hashes.SHA256())
    )
    assert name_of(nameless) == "a certificate without a name"


def test_a_signature_that_ends_within_a_byte_is_refused() -> None:
    """Bits that are said to be unused, and are zero, change nothing: the signature still holds."""
    leaves = (issue("leaf", "middle", wanted=leaf_wanted()) for _ in range(100))
    leaf = next(each for each in leaves if each.signature[-1] % 2 == 0)
    body = der(leaf).removesuffix(b"\0" + leaf.signature)
    assert walked(read_certificate(der(leaf)))
    with pytest.raises(EvidenceError, match="within a byte"):
        read_certificate(body + b"\1" + leaf.signature)


@given(st.integers(0, len(der(LEAF)) - 1), st.integers(1, 255))
def test_no_byte_of_a_leaf_can_be_changed(at: int, change: int) -> None:
    raw = der(LEAF)
    with pytest.raises(EvidenceError):
        walked(read_certificate(raw[:at] + bytes([raw[at] ^ change]) + raw[at + 1 :]))


@given(st.permutations(range(6)), st.integers(0, 5))
def test_a_line_is_found_in_any_order_and_not_without_any_of_its_certificates(
    order: list[int], left_out: int
) -> None:
    line = LINE
    bundle = [line[at] for at in order]
    assert walked(LINE_LEAF, bundle).certificates == (LINE_LEAF, *line, ROOT)
    bundle.remove(line[left_out])
    assert refused(LINE_LEAF, bundle).reason is UntrustedReason.CHAIN


LINE = line_of(6)
LINE_LEAF = issue("leaf", "ca-0", wanted=leaf_wanted())


def test_a_certificate_cannot_write_into_our_logs() -> None:
    raw = bytearray(der(LEAF))
    # The serial number follows the version; a negative one makes the library warn.
    raw[raw.index(bytes.fromhex("a003020102")) + 7] |= 0x80
    code = (
        "import sys; from bailiwick.attestation.formats.certificates import read_certificate; "
        "read_certificate(sys.stdin.buffer.read())"
    )
    strict = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(
        strict, input=bytes(raw), capture_output=True, timeout=WAIT_S, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
