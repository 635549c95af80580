"""Makes DICE chains with our own authorities: good ones of every format, and forgeries.

A chain is written down as a list of :class:`LayerSpec`; a forgery is the same list with one field
replaced. Keys follow from labels, so that nothing secret is written; times are fixed.

``python -m tests.support.evidence_dice`` writes tests/vectors/attestation/dice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256, sha512
from pathlib import Path
from typing import Any

import cbor2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, mldsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509.oid import NameOID

from bailiwick.attestation.dice.chain import DiceFormat
from bailiwick.attestation.dice.keys import challenge_message, spki_of
from bailiwick.attestation.dice.open_dice import OPEN_DICE
from bailiwick.attestation.dice.tcg import FLAG_BITS, MULTI_TCB_INFO, TCB_INFO, UEID
from tests.support.attestation_cases import own

AT = "2026-11-15T12:00:00Z"
AT_MS = 1_794_744_000_000
BEGINS = datetime(2026, 1, 1, tzinfo=UTC)
ENDS = datetime(2036, 1, 1, tzinfo=UTC)
NONCE = sha256(b"dice nonce").digest()
ALGORITHMS = ("ed25519", "p256", "p384", "mldsa65", "mldsa87")
CBOR, X509, TCG = DiceFormat.OPEN_CBOR, DiceFormat.OPEN_X509, DiceFormat.TCG_X509
SHA256_OID = bytes.fromhex("0609608648016503040201")
_CURVES = {"p256": ec.SECP256R1(), "p384": ec.SECP384R1(), "p521": ec.SECP521R1()}
_HASH = {"p256": hashes.SHA256(), "p384": hashes.SHA384(), "p521": hashes.SHA512()}
_ALG = {"ed25519": -8, "p256": -7, "p384": -35, "mldsa44": -48, "mldsa65": -49, "mldsa87": -50}
_ML_DSA = {
    "mldsa44": mldsa.MLDSA44PrivateKey,
    "mldsa65": mldsa.MLDSA65PrivateKey,
    "mldsa87": mldsa.MLDSA87PrivateKey,
}
_OPEN_FIELDS = ("code", "", "config_hash", "config", "authority", "", "mode")

Private = Any


# --- keys and signatures -------------------------------------------------------------------------


@dataclass(frozen=True)
class Key:
    """A private key that follows from its label."""

    algorithm: str
    label: str

    @property
    def private(self) -> Private:
        """The key itself."""
        seed = sha512(f"dice {self.label}".encode()).digest()
        if self.algorithm == "ed25519":
            return ed25519.Ed25519PrivateKey.from_private_bytes(seed[:32])
        if self.algorithm in _CURVES:
            return ec.derive_private_key(int.from_bytes(seed[:32], "big"), _CURVES[self.algorithm])
        return _ML_DSA[self.algorithm].from_seed_bytes(seed[:32])

    @property
    def spki(self) -> bytes:
        """The public key as SubjectPublicKeyInfo in DER."""
        return spki_of(self.private.public_key())

    def sign(self, message: bytes) -> bytes:
        """A signature as challenges have it: ECDSA in DER."""
        if self.algorithm in _CURVES:
            return self.private.sign(message, ec.ECDSA(_HASH[self.algorithm]))
        return self.private.sign(message)

    def sign_cose(self, message: bytes) -> bytes:
        """A signature as COSE has it: ECDSA as two numbers."""
        raw = self.sign(message)
        if self.algorithm not in _CURVES:
            return raw
        width = (_CURVES[self.algorithm].key_size + 7) // 8
        return b"".join(each.to_bytes(width, "big") for each in decode_dss_signature(raw))

    @property
    def cose(self) -> dict[int, Any]:
        """The public key as a COSE_Key."""
        public, alg = self.private.public_key(), _ALG[self.algorithm]
        if self.algorithm == "ed25519":
            return {1: 1, 3: alg, 4: [2], -1: 6, -2: public.public_bytes_raw()}
        if self.algorithm in _CURVES:
            width = (_CURVES[self.algorithm].key_size + 7) // 8
            at, curve = public.public_numbers(), {"p256": 1, "p384": 2}[self.algorithm]
            x, y = at.x.to_bytes(width, "big"), at.y.to_bytes(width, "big")
            return {1: 2, 3: alg, 4: [2], -1: curve, -2: x, -3: y}
        return {1: 7, 3: alg, 4: [2], -1: public.public_bytes_raw()}


# --- DER, written naively -------------------------------------------------------------------------


def der(tag: int, *contents: bytes) -> bytes:
    """One DER value with these bytes inside."""
    content = b"".join(contents)
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    length = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def der_integer(value: int, tag: int = 0x02) -> bytes:
    """An INTEGER in its shortest form."""
    size = (value if value >= 0 else ~value).bit_length() // 8 + 1
    return der(tag, value.to_bytes(size, "big", signed=True))


def fwid(digest: bytes, oid: bytes = SHA256_OID) -> bytes:
    """A digest with its algorithm."""
    return der(0x30, oid, der(0x04, digest))


@dataclass(frozen=True)
class Tcb:
    """A TcbInfo to be written."""

    model: str | None = None
    svn: int | None = None
    fwids: tuple[bytes, ...] = ()
    flags: tuple[str, ...] | None = None
    type: bytes | None = None
    raw: bytes | None = None
    """The whole encoding, where it is to be a wrong one."""

    @property
    def der(self) -> bytes:
        """Its encoding."""
        if self.raw is not None:
            return self.raw
        parts = [der(0x80, b"Own")]
        if self.model is not None:
            parts.append(der(0x81, self.model.encode()))
        if self.svn is not None:
            parts.append(der_integer(self.svn, 0x83))
        if self.fwids:
            parts.append(der(0xA6, *(fwid(each) for each in self.fwids)))
        if self.flags is not None:
            bits = sum(1 << (31 - FLAG_BITS[name]) for name in self.flags)
            parts.append(der(0x87, b"\0" + bits.to_bytes(4, "big")))
        if self.type is not None:
            parts.append(der(0x89, self.type))
        return der(0x30, *parts)


# --- layers ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LayerSpec:
    """One certificate to be made. What is None follows from the layer above."""

    name: str
    key: Key
    issuer: str | None = None
    signer: Key | None = None
    ca: bool = True
    cert_sign: bool | None = None
    """Key usage keyCertSign; None: as ``ca`` says."""
    digital_signature: bool = False
    path_length: int | None = None
    begins: datetime = BEGINS
    ends: datetime = ENDS
    issuer_key_id: bytes | None = None
    extra: tuple[tuple[str, bytes, bool], ...] = ()
    """Further extensions: identifier, value, critical."""
    tcb: tuple[Tcb, ...] = ()
    multi: bool = False
    ueid: bytes | None = None
    open: Mapping[str, Any] | None = None
    """code, config, config_hash, authority, mode; a field that is None is left out."""
    open_raw: bytes | None = None
    claims: Mapping[int, Any] = field(default_factory=dict)
    """Claims in CBOR to add or replace; None removes one."""
    cose_key: Mapping[int, Any] | None = None
    headers: Mapping[int, Any] | None = None
    public: Any = None
    """A public key to certify in place of the layer's own (X.509)."""


def key_id(name: str) -> bytes:
    """The identifier of a layer's key."""
    return sha256(name.encode()).digest()[:20]


def make(form: DiceFormat, root: Key, layers: Sequence[LayerSpec]) -> list[bytes]:
    """The certificates of a chain."""
    made, above, signer = [], "root", root
    for layer in layers:
        issuer, by = layer.issuer or above, layer.signer or signer
        maker = make_cbor if form is CBOR else make_x509
        made.append(maker(layer, issuer, by))
        above, signer = layer.name, layer.key
    return made


def make_cbor(layer: LayerSpec, issuer: str, signer: Key) -> bytes:
    """A certificate of the open profile in CBOR."""
    cert_sign = layer.ca if layer.cert_sign is None else layer.cert_sign
    claims: dict[int, Any] = {1: key_id(issuer).hex(), 2: key_id(layer.name).hex()}
    for tag, name in enumerate(_OPEN_FIELDS):
        value = (layer.open or {}).get(name)
        if value is not None:
            claims[-4670545 - tag] = bytes([value]) if isinstance(value, int) else value
    claims[-4670552] = cbor2.dumps(dict(layer.cose_key or layer.key.cose))
    claims[-4670553] = b"\x20" if cert_sign else b"\x01"
    claims.update(layer.claims)
    payload = cbor2.dumps({label: value for label, value in claims.items() if value is not None})
    headers = {1: _ALG[signer.algorithm]} if layer.headers is None else dict(layer.headers)
    return sign1(cbor2.dumps(headers), payload, signer)


def sign1(protected: bytes, payload: bytes, signer: Key) -> bytes:
    """A COSE_Sign1 without its tag."""
    signed = cbor2.dumps(["Signature1", protected, b"", payload])
    return cbor2.dumps([protected, {}, payload, signer.sign_cose(signed)])


def open_extension(claims: Mapping[str, Any], mode_tag: int = 0x0A) -> bytes:
    """The extension of the open profile."""
    parts = []
    for tag, name in enumerate(_OPEN_FIELDS):
        value = claims.get(name)
        if isinstance(value, int):
            parts.append(der(0xA0 | tag, der_integer(value, mode_tag)))
        elif value is not None:
            parts.append(der(0xA0 | tag, der(0x04, value)))
    return der(0x30, *parts)


def make_x509(layer: LayerSpec, issuer: str, signer: Key) -> bytes:
    """A certificate in X.509, of either profile."""
    cert_sign = layer.ca if layer.cert_sign is None else layer.cert_sign
    usage = dict.fromkeys(
        ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement"), False
    )
    builder = (
        x509.CertificateBuilder()
        .issuer_name(_name(issuer))
        .subject_name(_name(layer.name))
        .public_key(layer.public or layer.key.private.public_key())
        .serial_number(int.from_bytes(key_id(layer.name), "big") >> 8)
        .not_valid_before(layer.begins)
        .not_valid_after(layer.ends)
        .add_extension(x509.BasicConstraints(layer.ca, layer.path_length), critical=True)
        .add_extension(
            x509.KeyUsage(
                key_cert_sign=cert_sign,
                digital_signature=layer.digital_signature,
                crl_sign=False,
                encipher_only=False,
                decipher_only=False,
                **usage,
            ),
            critical=True,
        )
        .add_extension(x509.SubjectKeyIdentifier(key_id(layer.name)), critical=False)
    )
    authority = x509.AuthorityKeyIdentifier(layer.issuer_key_id or key_id(issuer), None, None)
    builder = builder.add_extension(authority, critical=False)
    for oid, value, critical in (*_own_extensions(layer), *layer.extra):
        known = x509.UnrecognizedExtension(x509.ObjectIdentifier(oid), value)
        builder = builder.add_extension(known, critical=critical)
    made = builder.sign(signer.private, _HASH.get(signer.algorithm))
    return made.public_bytes(serialization.Encoding.DER)


def _own_extensions(layer: LayerSpec) -> list[tuple[str, bytes, bool]]:
    found: list[tuple[str, bytes, bool]] = []
    if layer.multi:
        found.append((MULTI_TCB_INFO, der(0x30, *(each.der for each in layer.tcb)), False))
    elif layer.tcb:
        found.append((TCB_INFO, layer.tcb[0].der, False))
    if layer.ueid is not None:
        found.append((UEID, der(0x30, der(0x04, layer.ueid)), False))
    if layer.open_raw is not None:
        found.append((OPEN_DICE, layer.open_raw, True))
    elif layer.open is not None:
        found.append((OPEN_DICE, open_extension(layer.open), True))
    return found


def _name(text: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Own"),
            x509.NameAttribute(NameOID.COMMON_NAME, text),
        ]
    )


# --- good chains ----------------------------------------------------------------------------------


def open_claims(name: str, **changed: Any) -> dict[str, Any]:
    """The measurements of a layer of the open profile, in normal mode."""
    described = cbor2.dumps({-70002: name, -70005: 1})
    claims = {
        "code": sha512(f"code of {name}".encode()).digest(),
        "config_hash": sha512(described).digest(),
        "config": described,
        "authority": sha512(b"authority").digest(),
        "mode": 1,
    }
    return {**claims, **changed}


def fwid_of(name: str) -> bytes:
    """The firmware digest of a layer."""
    return sha256(f"firmware of {name}".encode()).digest()


def tcb_of(name: str, svn: int, **changed: Any) -> Tcb:
    """What is told of a layer, all well."""
    return replace(Tcb(model=name, svn=svn, fwids=(fwid_of(name),), flags=()), **changed)


def good_layers(form: DiceFormat, algorithm: str) -> list[LayerSpec]:
    """A chain that every rule below allows."""
    if form is TCG:
        device = LayerSpec("device", Key(algorithm, "device"))
        alias = LayerSpec("alias", Key(algorithm, "alias"), tcb=(tcb_of("boot", 3),))
        leaf = LayerSpec("attest", Key(algorithm, "attest"), ca=False, digital_signature=True)
        return [device, alias, replace(leaf, tcb=(tcb_of("os", 7),))]
    return [
        LayerSpec(name, Key(algorithm, name), open=open_claims(name)) for name in ("cdi0", "cdi1")
    ]


def rules_of(form: DiceFormat) -> dict[str, Any]:
    """The policy that the good chains meet."""
    if form is TCG:
        return {
            "require_measurements": True,
            "forbid_flags": ["notConfigured", "notSecure", "recovery", "debug"],
            "allowed_fwids": [fwid_of("boot").hex(), fwid_of("os").hex()],
            "min_svn": {"boot": 3, "os": 7},
        }
    codes = [open_claims(name)["code"].hex() for name in ("cdi0", "cdi1")]
    return {"require_measurements": True, "require_mode": 1, "allowed_code_hashes": codes}


def root_of(algorithm: str) -> Key:
    """The device's own key."""
    return Key(algorithm, "root")


@dataclass(frozen=True)
class Made:
    """A chain with everything that a case says of it."""

    form: DiceFormat
    root: bytes
    chain: list[bytes]
    signature: bytes
    policy: dict[str, Any]


def good(form: DiceFormat, algorithm: str = "ed25519") -> Made:
    """A chain that is to be believed."""
    return forged(form, algorithm=algorithm)


def forged(
    form: DiceFormat,
    *changes: tuple[int, Mapping[str, Any]],
    algorithm: str = "ed25519",
    layers: Sequence[LayerSpec] | None = None,
    policy: Mapping[str, Any] | None = None,
) -> Made:
    """A chain with fields of its layers changed, by index."""
    specs = list(good_layers(form, algorithm) if layers is None else layers)
    for index, fields in changes:
        specs[index] = replace(specs[index], **fields)
    root = root_of(algorithm)
    chain = make(form, root, specs)
    signature = specs[-1].key.sign(challenge_message(NONCE))
    return Made(form, root.spki, chain, signature, {**rules_of(form), **(policy or {})})


def composite(device: Key, digest: bytes) -> bytes:
    """The older device identity that shares its identifier with TcbInfo."""
    return der(0x30, der_integer(1), device.spki, fwid(digest))


# --- cases ----------------------------------------------------------------------------------------

SMALL_ORDER = b"\x01" + bytes(31)
Row = tuple[str, Made, str | None]


def cases() -> list[Row]:
    """Every case: its id, the chain, and the reason why it is not believed (None: it is)."""
    rows: list[Row] = []
    for form in DiceFormat:
        for algorithm in ALGORITHMS:
            name = f"{form.value}-good-{algorithm}"
            rows.append((name, good(form, algorithm), None))
        rows.extend((f"{form.value}-{name}", made, reason) for name, made, reason in _any(form))
    rows.extend((f"cbor-{name}", made, reason) for name, made, reason in _cbor())
    rows.extend((f"x509-{name}", made, reason) for name, made, reason in _open_x509())
    rows.extend((f"tcg-{name}", made, reason) for name, made, reason in _tcg_paths())
    rows.extend((f"tcg-{name}", made, reason) for name, made, reason in _tcg_contents())
    return rows


def flipped(raw: bytes, at: int) -> bytes:
    """The bytes with one bit changed."""
    at %= len(raw)
    return raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :]


def _any(form: DiceFormat) -> list[Row]:
    """Forgeries that every format can have."""
    base = good(form)
    other = Key("ed25519", "other")
    first = len(base.chain) - 2
    swapped = [*base.chain[:first], base.chain[-1], base.chain[first]]
    answer = Key("ed25519", "cdi0" if form is not TCG else "alias")
    message = challenge_message(NONCE)
    twice = [*base.chain, base.chain[-1]]
    return [
        ("wrong-root", replace(base, root=other.spki), "bad_signature"),
        ("first-layer-missing", replace(base, chain=base.chain[1:]), "bad_signature"),
        ("layers-swapped", replace(base, chain=swapped), "bad_signature"),
        ("layer-twice", replace(base, chain=twice), "bad_signature"),
        ("signed-by-another", forged(form, (1, {"signer": other})), "bad_signature"),
        ("issuer-mismatch", forged(form, (1, {"issuer": "another"})), "issuer_mismatch"),
        ("issuer-may-not-sign", forged(form, (0, {"cert_sign": False})), "not_a_ca"),
        ("key-of-the-layer-above", _same_key(form), "chain"),
        ("answer-to-another-nonce", replace(base, signature=answer.sign(b"x")), CHALLENGE),
        ("answer-without-purpose", replace(base, signature=_last(form).sign(NONCE)), CHALLENGE),
        ("answer-by-the-layer-above", replace(base, signature=answer.sign(message)), CHALLENGE),
        ("no-answer", replace(base, signature=b""), CHALLENGE),
        ("truncated", replace(base, chain=[*base.chain[:-1], base.chain[-1][:-1]]), "malformed"),
        ("trailing-byte", replace(base, chain=[base.chain[0] + b"\0", *base.chain[1:]]), BAD),
        ("signature-changed", replace(base, chain=[flipped(base.chain[0], -1), *base.chain[1:]]),
         "bad_signature"),
        ("no-layers", replace(base, chain=[]), "malformed"),
        ("root-of-small-order", replace(base, root=base.root[:-32] + SMALL_ORDER), "weak_key"),
        ("root-is-no-key", replace(base, root=b"\x30\x00"), "key_or_signature_shape"),
    ]  # fmt: skip


CHALLENGE, BAD = "challenge_signature", "malformed"


def _last(form: DiceFormat) -> Key:
    return good_layers(form, "ed25519")[-1].key


def _same_key(form: DiceFormat) -> Made:
    layers = good_layers(form, "ed25519")
    return forged(form, (1, {"key": layers[0].key}))


def _open(changed: Mapping[str, Any]) -> dict[str, Any]:
    return {"open": open_claims("cdi1", **changed)}


def _open_contents(form: DiceFormat) -> list[Row]:
    described = open_claims("cdi1")["config"]
    return [
        ("debug-mode", forged(form, (1, _open({"mode": 2}))), "mode"),
        ("recovery-mode", forged(form, (0, {"open": open_claims("cdi0", mode=3)})), "mode"),
        ("not-configured", forged(form, (1, _open({"mode": 0}))), "mode"),
        ("unknown-mode", forged(form, (1, _open({"mode": 7}))), "mode"),
        ("no-mode", forged(form, (1, _open({"mode": None}))), "mode"),
        ("a-layer-without-measurements", forged(form, (1, {"open": None})), "mode"),
        ("no-measurements-at-all", forged(form, (0, {"open": None}), (1, {"open": None})),
         "no_measurements"),
        ("other-code", forged(form, (1, _open({"code": bytes(64)}))), "code_hash"),
        ("no-code", forged(form, (0, {"open": open_claims("cdi0", code=None)}),
                           (1, _open({"code": None})), policy={"require_measurements": False}),
         "code_hash"),
        ("config-changed", forged(form, (1, _open({"config": described + b"\0"}))), CONFIG),
        ("config-hash-alone", forged(form, (1, _open({"config": None}))), CONFIG),
        ("config-without-hash", forged(form, (1, _open({"config_hash": None}))), CONFIG),
        ("config-inline", forged(form, (1, _open({"config_hash": None, "config": bytes(64)}))),
         None),
        ("device-certificate-first", _with_device(form), None),
        ("short-digest", forged(form, (1, _open({"code": bytes(20)}))), "malformed"),
    ]  # fmt: skip


CONFIG = "configuration_hash"


def _with_device(form: DiceFormat) -> Made:
    """As devices have it whose first certificate is the one they issued to themselves."""
    device = LayerSpec("root", root_of("ed25519"))
    return forged(form, layers=[device, *good_layers(form, "ed25519")])


def _cbor() -> list[Row]:
    base, cose = good(CBOR), Key("ed25519", "cdi1").cose
    p256 = Key("p256", "cdi1").cose
    weak = {**cose, -2: SMALL_ORDER}
    at = base.chain[1]
    payload = cbor2.loads(at)[2]
    twice = bytes([payload[0] + 1]) + payload[1:] + cbor2.dumps(2) + cbor2.dumps("x")
    signed_twice = sign1(cbor2.dumps({1: -8}), twice, Key("ed25519", "cdi0"))
    return [
        *_open_contents(CBOR),
        ("tagged", replace(base, chain=[b"\xd2" + base.chain[0], at]), "malformed"),
        ("claim-twice", replace(base, chain=[base.chain[0], signed_twice]), "malformed"),
        ("algorithm-of-another-key", forged(CBOR, (1, {"headers": {1: -7}})), "bad_signature"),
        ("no-algorithm", forged(CBOR, (1, {"headers": {}})), "bad_signature"),
        ("critical-header", forged(CBOR, (1, {"headers": {1: -8, 2: [9], 9: 1}})), "malformed"),
        ("mode-of-two-bytes", forged(CBOR, (1, _open({"mode": b"\x01\x01"}))), "mode"),
        ("mode-is-a-number", forged(CBOR, (1, {"claims": {-4670551: 1}})), "malformed"),
        ("key-of-small-order", forged(CBOR, (1, {"cose_key": weak})), "weak_key"),
        ("private-key-sent", forged(CBOR, (1, {"cose_key": {**cose, -4: bytes(32)}})), BAD),
        ("key-not-for-verifying", forged(CBOR, (1, {"cose_key": {**cose, 4: [1]}})), BAD),
        ("key-for-another-algorithm", forged(CBOR, (1, {"cose_key": {**cose, 3: -7}})), BAD),
        ("no-point-of-the-curve", forged(CBOR, (1, {"cose_key": {**p256, -3: bytes(32)}})), BAD),
        ("coordinate-too-short", forged(CBOR, (1, {"cose_key": {**p256, -2: bytes(31)}})), BAD),
        ("key-type-is-true", forged(CBOR, (1, {"cose_key": {**cose, 1: True}})), BAD),
        ("no-key", forged(CBOR, (1, {"claims": {-4670552: None}})), "malformed"),
        ("no-subject", forged(CBOR, (1, {"claims": {2: None}})), "malformed"),
        ("run-out", forged(CBOR, (1, {"claims": {4: AT_MS // 1000 - 1}})), "chain"),
        ("not-yet", forged(CBOR, (1, {"claims": {5: AT_MS // 1000 + 1}})), "chain"),
    ]  # fmt: skip


def _open_x509() -> list[Row]:
    integer = open_extension(open_claims("cdi1"), mode_tag=0x02)
    claims = open_claims("cdi1")
    unordered = der(0x30, der(0xA6, der_integer(1, 0x0A)), der(0xA0, der(0x04, claims["code"])))
    twice = der(0x30, *[der(0xA6, der_integer(1, 0x0A))] * 2)
    unknown = der(0x30, der(0xA9, der_integer(1)))
    return [
        *_open_contents(X509),
        ("mode-as-integer", forged(X509, (1, {"open_raw": integer})), None),
        ("fields-out-of-order", forged(X509, (1, {"open_raw": unordered})), "malformed"),
        ("field-twice", forged(X509, (1, {"open_raw": twice})), "malformed"),
        ("unknown-field", forged(X509, (1, {"open_raw": unknown})), "malformed"),
        ("not-a-ca", forged(X509, (0, {"ca": False, "cert_sign": True})), "not_a_ca"),
        ("attestation-key-last", _with_attestation_key(), None),
        ("debug-hidden-in-tcb-info",
         forged(X509, (1, {"tcb": (tcb_of("os", 7, flags=("debug",)),)}),
                policy={"forbid_flags": ["debug"]}), "flags"),
    ]  # fmt: skip


def _with_attestation_key() -> Made:
    leaf = LayerSpec("attest", Key("p256", "attest"), ca=False, digital_signature=True)
    return forged(X509, layers=[*good_layers(X509, "ed25519"), leaf])


def _tcg_paths() -> list[Row]:
    early, late = datetime(2026, 11, 15, 11, tzinfo=UTC), datetime(2026, 11, 15, 13, tzinfo=UTC)
    unknown = (("1.2.3.4", b"\x05\x00", True),)
    secp256k1 = ec.derive_private_key(7, ec.SECP256K1()).public_key()
    small = ed25519.Ed25519PublicKey.from_public_bytes(SMALL_ORDER)
    at = datetime(2026, 11, 15, 12, tzinfo=UTC)
    return [
        ("alias-is-no-ca", forged(TCG, (1, {"ca": False, "cert_sign": True})), "not_a_ca"),
        ("path-too-long", forged(TCG, (0, {"path_length": 0})), "chain"),
        ("path-just-long-enough", forged(TCG, (0, {"path_length": 1})), None),
        ("key-identifier-mismatch", forged(TCG, (2, {"issuer_key_id": bytes(20)})),
         "issuer_mismatch"),
        ("run-out", forged(TCG, (1, {"ends": early})), "chain"),
        ("last-second", forged(TCG, (1, {"ends": at})), None),
        ("a-second-ago", forged(TCG, (1, {"ends": at - timedelta(seconds=1)})), "chain"),
        ("not-valid-yet", forged(TCG, (2, {"begins": late})), "chain"),
        ("unknown-critical-extension", forged(TCG, (1, {"extra": unknown})), "chain"),
        ("unknown-extension", forged(TCG, (1, {"extra": (("1.2.3.4", b"\x05\x00", False),)})),
         None),
        ("last-key-only-certifies", forged(TCG, (2, {"digital_signature": False,
                                                     "cert_sign": True, "ca": True})), CHALLENGE),
        ("last-key-of-small-order", forged(TCG, (2, {"public": small})), "weak_key"),
        ("last-key-of-another-curve", forged(TCG, (2, {"public": secp256k1})), "weak_key"),
        ("mixed-algorithms", forged(TCG, (1, {"key": Key("p384", "alias")}),
                                    (2, {"key": Key("p256", "attest")})), None),
        ("same-device", forged(TCG, (0, {"ueid": bytes(17)}), (1, {"ueid": bytes(17)})), None),
        ("two-devices", forged(TCG, (0, {"ueid": bytes(17)}), (1, {"ueid": b"\1" * 17})),
         "identity_mismatch"),
    ]  # fmt: skip


def _tcg_contents() -> list[Row]:
    def os(**changed: Any) -> Made:
        return forged(TCG, (2, {"tcb": (replace(tcb_of("os", 7), **changed),)}))

    def raw(*parts: bytes) -> Made:
        return forged(TCG, (2, {"tcb": (Tcb(raw=der(0x30, *parts)),)}))

    def parts(*infos: Tcb, policy: Mapping[str, Any] | None = None) -> Made:
        return forged(TCG, (2, {"tcb": infos, "multi": True}), policy=policy)

    device = Key("ed25519", "alias")
    older = forged(TCG, (2, {"tcb": (Tcb(raw=composite(device, fwid_of("os"))),)}),
                   policy={"min_svn": {"boot": 3}})  # fmt: skip
    typed = {"min_svn": {"OS_INFO": 7}}
    flags = [(f"flag-{name}", os(flags=(name,)), "flags") for name in list(FLAG_BITS)[:4]]
    none = forged(TCG, (1, {"tcb": ()}), (2, {"tcb": ()}))
    empty = forged(TCG, (1, {"tcb": (Tcb(),)}), (2, {"tcb": (Tcb(),)}))
    unasked = {"require_measurements": False, "min_svn": {}}
    return [
        *flags,
        ("flag-that-is-not-forbidden", os(flags=("notImmutable",)), None),
        ("no-flags-field", os(flags=None), None),
        ("other-firmware", os(fwids=(bytes(32),)), "fwid"),
        ("second-firmware-digest", os(fwids=(fwid_of("os"), bytes(32))), "fwid"),
        ("version-too-low", os(svn=6), "svn"),
        ("version-higher", os(svn=300), None),
        ("version-not-told", os(svn=None), "svn"),
        ("version-under-another-name", os(model="other"), "svn"),
        ("version-below-zero", os(svn=-1), "malformed"),
        ("no-measurements", none, "no_measurements"),
        ("measurements-with-nothing-in-them", empty, "no_measurements"),
        ("no-digest-where-one-is-asked", replace(none, policy={**none.policy, **unasked}), "fwid"),
        ("fields-out-of-order", raw(der(0x83, b"\7"), der(0x81, b"os")), "malformed"),
        ("field-twice", raw(der(0x83, b"\7"), der(0x83, b"\7")), "malformed"),
        ("unknown-field", raw(der(0x8C, b"x")), "malformed"),
        ("number-not-shortest", raw(der(0x83, b"\0\7")), "malformed"),
        ("digest-of-another-length", raw(der(0xA6, fwid(bytes(48)))), "malformed"),
        ("no-digests-in-the-list", raw(der(0xA6)), "malformed"),
        ("digest-by-sha1", raw(der(0xA6, fwid(bytes(20), bytes.fromhex("06052b0e03021a")))), BAD),
        ("older-identity", older, None),
        ("older-identity-other-firmware",
         forged(TCG, (2, {"tcb": (Tcb(raw=composite(device, bytes(32))),)})), "fwid"),
        ("older-identity-of-another-device",
         forged(TCG, (2, {"tcb": (Tcb(raw=composite(Key("ed25519", "x"), fwid_of("os"))),)})),
         "issuer_mismatch"),
        ("several-parts", parts(tcb_of("os", 7), tcb_of("boot", 3)), None),
        ("several-parts-one-in-debug", parts(tcb_of("os", 7), tcb_of("boot", 3, flags=("debug",))),
         "flags"),
        ("several-parts-one-old", parts(tcb_of("os", 7), tcb_of("os", 6)), "svn"),
        ("version-by-type", parts(tcb_of("os", 7, type=b"OS_INFO"), policy=typed), None),
        ("version-by-type-too-low", parts(tcb_of("os", 6, type=b"OS_INFO"), policy=typed), "svn"),
        ("several-parts-but-none", parts(), "malformed"),
    ]  # fmt: skip


def published() -> list[Row]:
    """The cases to commit: of each format the good ones and one forgery for each reason.

    The tests make and judge all of them. The keys of ML-DSA are large, so of the chains with them
    one of each format is here.
    """
    seen: set[tuple[DiceFormat, str | None]] = set()
    chosen = {f"{CBOR}-good-mldsa65", f"{X509}-good-mldsa87", f"{TCG}-good-mldsa65"}
    found: list[Row] = []
    for name, made, reason in cases():
        is_first = (made.form, reason) not in seen
        if name in chosen if "mldsa" in name else "-good-" in name or is_first:
            found.append((name, made, reason))
        seen.add((made.form, reason))
    return found


def case_of(row: Row, paths: Mapping[bytes, str]) -> dict[str, Any]:
    """A row in the format of published cases; ``paths`` says where each file is."""
    name, made, reason = row
    return {
        "id": name,
        "kind": "dice-chain",
        "format": made.form.value,
        "root_public_key": paths[made.root],
        "chain": [paths[raw] for raw in made.chain],
        "policy": made.policy,
        "challenge": {"nonce": NONCE.hex(), "signature": made.signature.hex()},
        "at": AT,
        "expect": "trusted" if reason is None else "untrusted",
        "reason": reason,
    }


def paths_of(rows: Sequence[Row]) -> dict[bytes, str]:
    """A path for each file of the rows; equal files have one."""
    paths: dict[bytes, str] = {}
    for _, made, _ in rows:
        for raw in (made.root, *made.chain):
            suffix = "cbor" if made.form is CBOR and raw != made.root else "der"
            paths.setdefault(raw, f"files/{len(paths):03}.{suffix}")
    return paths


def write(directory: Path) -> None:
    """Write the published cases and their files."""
    rows = published()
    paths = paths_of(rows)
    (directory / "files").mkdir(parents=True, exist_ok=True)
    for old in (directory / "files").iterdir():
        old.unlink()
    for raw, path in paths.items():
        (directory / path).write_bytes(raw)
    lines = ",\n".join(json.dumps(case_of(row, paths)) for row in rows)
    head = '{"format": "attestation-lab/dice/1",\n"cases": [\n'
    (directory / "cases.json").write_text(f"{head}{lines}\n]}}\n")


if __name__ == "__main__":
    write(own("dice"))
