"""A chain of DICE certificates, one per boot layer, from a known key down to the last layer's.

Rules:

- The root key signs the first certificate and each certificate's key signs the next. Nothing in a
  certificate is read for what it says before its signature held.
- A signature alone is no path: the issuer's name (in CBOR: id) is the subject above, identifiers of
  keys agree where both are told, and whoever issues is a CA that may sign certificates, with no
  more below it than its path length allows.
- Each layer has a key of its own. Only the first certificate may repeat the root's (a
  certificate that a device issued to itself).
- In X.509 the extensions of both profiles are read whatever the chain is called, so that a chain
  called by the other name hides nothing. Other critical extensions are refused.
- A time is given or not: without one nothing is said about validity, and only published cases may
  ask so. A chain says nothing about *now*; that is for the challenge to show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias, assert_never

from cryptography import x509

from bailiwick.attestation.dice.keys import (
    DiceKey,
    check_certificate_signature,
    check_sign1,
    read_cose_key,
    read_public_key,
    sound_key,
    spki_of,
)
from bailiwick.attestation.dice.open_dice import (
    BEGINS,
    ENDS,
    ISSUER,
    KEY_USAGE,
    OPEN_DICE,
    PUBLIC_KEY,
    SUBJECT,
    OpenClaims,
    read_open_claims,
    read_open_extension,
)
from bailiwick.attestation.dice.tcg import (
    MULTI_TCB_INFO,
    TCB_INFO,
    UEID,
    TcbInfo,
    read_multi_tcb_info,
    read_tcb_info,
    read_ueid,
)
from bailiwick.attestation.formats.cbor import read_map, read_sign1
from bailiwick.attestation.formats.certificates import (
    critical_extensions,
    extension,
    read_certificate,
    typed_extension,
    window_of,
)
from bailiwick.attestation.verdict import refuse
from bailiwick.vocab.trust import UntrustedReason

LAYERS_MAX = 16
ID_CHARS_MAX = 128
_SECONDS_MAX = 2**40
_CERT_SIGN = 0x20
"""The bit of keyCertSign in the key usage of a certificate in CBOR."""

_UNDERSTOOD = frozenset(
    {
        "2.5.29.15",  # key usage
        "2.5.29.19",  # basic constraints
        "2.5.29.37",  # extended usage
        "2.5.29.17",  # subject's other names
        OPEN_DICE,
        TCB_INFO,
        MULTI_TCB_INFO,
        UEID,
    }
)


class DiceFormat(StrEnum):
    """How the certificates of a chain are written."""

    OPEN_CBOR = "open-dice-cbor"
    OPEN_X509 = "open-dice-x509"
    TCG_X509 = "tcg-x509"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One certificate whose signature held, and what it says."""

    issuer: x509.Name | str
    subject: x509.Name | str
    key: DiceKey
    is_ca: bool
    may_answer: bool
    """Whether its key may sign a challenge: always in the open profile, which has no usage for it;
    otherwise where the certificate does not exclude it."""
    path_length: int | None = None
    window: tuple[int, int] | None = None
    """The first and last millisecond of its validity; None if it has no end."""
    key_id: bytes | None = None
    issuer_key_id: bytes | None = None
    open: OpenClaims | None = None
    tcb: tuple[TcbInfo, ...] = field(default=())
    ueid: bytes | None = None

    @property
    def measurements(self) -> tuple[bytes, ...]:
        """The digests of code that it tells, in order."""
        code = self.open.code_hash if self.open is not None else None
        fwids = tuple(digest for info in self.tcb for digest in info.fwids)
        return fwids if code is None else (code, *fwids)


@dataclass(frozen=True, slots=True)
class DiceChain:
    """A chain that holds."""

    form: DiceFormat
    layers: tuple[Layer, ...]

    @property
    def last(self) -> Layer:
        """The layer whose key attests."""
        return self.layers[-1]

    @property
    def ends_ms(self) -> int | None:
        """When the first of its certificates runs out; None if none does."""
        return min((layer.window[1] for layer in self.layers if layer.window), default=None)


def check_chain(
    certificates: Sequence[bytes], root_public_key: bytes, *, form: DiceFormat, at_ms: int | None
) -> DiceChain:
    """The chain, if the root key and each layer vouch for the next; the error of why not."""
    if not 1 <= len(certificates) <= LAYERS_MAX:
        raise refuse(UntrustedReason.MALFORMED, f"{len(certificates)} layers; 1 to {LAYERS_MAX}")
    key = read_public_key(root_public_key)
    keys = {spki_of(key)}
    layers: list[Layer] = []
    for index, raw in enumerate(certificates):
        layer = _read_layer(raw, key, form)
        if layers:
            _check_issued(layer, layers[-1], below=len(certificates) - index - 1)
        _check_composite(layer, key)
        _check_window(layer, index, at_ms)
        spelled = spki_of(layer.key)
        if index and spelled in keys:
            raise refuse(UntrustedReason.CHAIN, f"layer {index} has the key of another")
        keys.add(spelled)
        layers.append(layer)
        key = layer.key
    if len({layer.ueid for layer in layers if layer.ueid is not None}) > 1:
        raise refuse(UntrustedReason.IDENTITY_MISMATCH, "layers of two devices")
    return DiceChain(form, tuple(layers))


def _read_layer(raw: bytes, key: DiceKey, form: DiceFormat) -> Layer:
    """The certificate's contents, once the key is seen to have signed them."""
    match form:
        case DiceFormat.OPEN_CBOR:
            sign1 = read_sign1(raw, tagged=False)
            check_sign1(sign1, key)
            return _cbor_layer(read_map(sign1.payload))
        case DiceFormat.OPEN_X509 | DiceFormat.TCG_X509:
            certificate = read_certificate(raw)
            check_certificate_signature(certificate, key)
            return _x509_layer(certificate, form)
        case _:
            assert_never(form)


Claims: TypeAlias = dict[int | str, Any]


def _cbor_layer(claims: Claims) -> Layer:
    issuer, subject = claims.get(ISSUER), claims.get(SUBJECT)
    key, usage = claims.get(PUBLIC_KEY), claims.get(KEY_USAGE, b"")
    if not isinstance(key, bytes) or not isinstance(usage, bytes):
        raise refuse(UntrustedReason.MALFORMED, "a certificate without a subject's key")
    for name in (issuer, subject):
        if not isinstance(name, str) or not 1 <= len(name) <= ID_CHARS_MAX:
            raise refuse(UntrustedReason.MALFORMED, "a certificate without issuer or subject")
    return Layer(
        issuer=str(issuer),
        subject=str(subject),
        key=read_cose_key(key),
        is_ca=bool(usage[:1] and usage[0] & _CERT_SIGN),
        may_answer=True,
        window=_cbor_window(claims),
        open=read_open_claims(claims),
    )


def _cbor_window(claims: Claims) -> tuple[int, int] | None:
    if BEGINS not in claims and ENDS not in claims:
        return None
    begins, ends = claims.get(BEGINS, 0), claims.get(ENDS, _SECONDS_MAX)
    for second in (begins, ends):
        if type(second) is not int or not 0 <= second <= _SECONDS_MAX:
            raise refuse(UntrustedReason.MALFORMED, "a validity that is not in whole seconds")
    return begins * 1000, ends * 1000 + 999


def _x509_layer(certificate: x509.Certificate, form: DiceFormat) -> Layer:
    malformed = UntrustedReason.MALFORMED
    _check_critical(certificate)
    constraints = typed_extension(certificate, x509.BasicConstraints, reason=malformed)
    usage = typed_extension(certificate, x509.KeyUsage, reason=malformed)
    own = typed_extension(certificate, x509.SubjectKeyIdentifier, reason=malformed)
    above = typed_extension(certificate, x509.AuthorityKeyIdentifier, reason=malformed)
    claims = _raw(certificate, OPEN_DICE)
    one, several = _raw(certificate, TCB_INFO), _raw(certificate, MULTI_TCB_INFO)
    ueid = _raw(certificate, UEID)
    tcb = () if one is None else (read_tcb_info(one),)
    return Layer(
        issuer=_names(certificate)[0],
        subject=_names(certificate)[1],
        key=sound_key(certificate.public_key()),
        is_ca=bool(constraints and constraints.ca and (usage is None or usage.key_cert_sign)),
        may_answer=form is DiceFormat.OPEN_X509 or usage is None or usage.digital_signature,
        path_length=constraints.path_length if constraints else None,
        window=window_of(certificate, reason=malformed),
        key_id=own.digest if own else None,
        issuer_key_id=above.key_identifier if above else None,
        open=None if claims is None else read_open_extension(claims),
        tcb=tcb if several is None else (*tcb, *read_multi_tcb_info(several)),
        ueid=None if ueid is None else read_ueid(ueid),
    )


def _names(certificate: x509.Certificate) -> tuple[x509.Name, x509.Name]:
    """Issuer and subject. The library reads names only when asked, and may refuse them then."""
    try:
        return certificate.issuer, certificate.subject
    except (ValueError, TypeError) as error:
        raise refuse(UntrustedReason.MALFORMED, f"a name in a certificate: {error}") from None


def _raw(certificate: x509.Certificate, oid: str) -> bytes | None:
    found = extension(certificate, oid, reason=UntrustedReason.MALFORMED)
    return None if found is None else found[0]


def _check_critical(certificate: x509.Certificate) -> None:
    for oid in critical_extensions(certificate, reason=UntrustedReason.MALFORMED):
        if oid not in _UNDERSTOOD:
            raise refuse(UntrustedReason.CHAIN, f"the critical extension {oid}")


def _check_issued(layer: Layer, issuer: Layer, *, below: int) -> None:
    """``below``: certificates after this layer's."""
    if layer.issuer != issuer.subject:
        raise refuse(UntrustedReason.ISSUER_MISMATCH, f"issued by {_told(layer.issuer)}")
    named, own = layer.issuer_key_id, issuer.key_id
    if named is not None and own is not None and named != own:
        raise refuse(UntrustedReason.ISSUER_MISMATCH, "the issuer's key has another identifier")
    if not issuer.is_ca:
        raise refuse(UntrustedReason.NOT_A_CA, f"{_told(issuer.subject)} is no CA")
    if issuer.path_length is not None and below > issuer.path_length:
        raise refuse(UntrustedReason.CHAIN, f"the path below {_told(issuer.subject)} is too long")


def _check_composite(layer: Layer, key: DiceKey) -> None:
    for info in layer.tcb:
        if info.device_key is not None and info.device_key != spki_of(key):
            raise refuse(UntrustedReason.ISSUER_MISMATCH, "the device key is not the issuer's")


def _check_window(layer: Layer, index: int, at_ms: int | None) -> None:
    if at_ms is None or layer.window is None:
        return
    begins, ends = layer.window
    if not begins <= at_ms <= ends:
        told = "has run out" if at_ms > ends else "is not valid yet"
        raise refuse(UntrustedReason.CHAIN, f"the certificate of layer {index} {told}")


def _told(name: x509.Name | str) -> str:
    return (name if isinstance(name, str) else name.rfc4514_string())[:80]
