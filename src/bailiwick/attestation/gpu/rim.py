"""Golden values from NVIDIA's reference integrity manifests: signed SWID tags.

Rules:

- One signature, a child of the document's element, over the whole document less the signature:
  one reference with an empty URI and exactly the two transforms (enveloped, C14N 1.1); ECDSA of
  P-384 with SHA-384. So a signature moved elsewhere, or over a part, signs nothing here.
- The signer is the first certificate of the key info and leads to a pinned root at the given time.
- Values are read from the very tree that was digested, active entries only.
- A faulty signature or its form is ``rim_signature``, the signer's path ``rim_chain``, all else
  ``malformed``.

>>> read_rim(b"<rim/>", roots=(), at_ms=0)
Traceback (most recent call last):
...
bailiwick.attestation.verdict.EvidenceError: malformed: RIM: no software identity
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha384
from hmac import compare_digest

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from bailiwick.attestation.formats.certificates import (
    BUNDLE_MAX,
    PathRules,
    check_leaf,
    read_certificate,
    walk,
)
from bailiwick.attestation.formats.xml_tree import Element, canonical, read_xml, walk_tree
from bailiwick.attestation.gpu.verifier import DIGEST_BYTES, Golden, GoldenKind
from bailiwick.attestation.verdict import EvidenceError, refuse
from bailiwick.vocab.trust import UntrustedReason

_SWID = "http://standards.iso.org/iso/19770/-2/2015/schema.xsd"
_DS = "http://www.w3.org/2000/09/xmldsig#"
_HASH = "http://www.w3.org/2001/04/xmlenc#sha384"
_C14N = "http://www.w3.org/2006/12/xml-c14n11"
_ENVELOPED = _DS + "enveloped-signature"
_ECDSA = "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384"
_SHA384 = "http://www.w3.org/2001/04/xmldsig-more#sha384"
_SIGNATURE_BYTES = 96
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_VBIOS = re.compile(r"[0-9A-F]{2}(\.[0-9A-F]{2}){4}")
_INDEX = re.compile(r"0|[1-9][0-9]{0,2}")
_SPACE = str.maketrans("", "", " \t\r\n")


@dataclass(frozen=True, slots=True)
class _Signed:
    """What a signature of the one allowed form says."""

    info: Element
    digest: bytes
    signature: bytes
    certificates: tuple[x509.Certificate, ...]


def read_rim(raw: bytes, *, roots: Sequence[x509.Certificate], at_ms: int) -> Golden:
    """The golden values of a manifest whose signer one of ``roots`` vouches for at that time."""
    root = read_xml(raw)
    if root.name != (_SWID, "SoftwareIdentity"):
        raise _malformed("no software identity")
    signature = _find_signature(root)
    signed = _read_signature(signature)
    leaf, *others = signed.certificates
    rules = PathRules(UntrustedReason.RIM_CHAIN, UntrustedReason.RIM_CHAIN)
    check_leaf(leaf, rules=rules)
    path = walk(leaf, others, pinned=roots, at_ms=at_ms, rules=rules)
    if not compare_digest(sha384(canonical(root, without=signature)).digest(), signed.digest):
        raise _unsigned("the document's digest differs")
    _check_signature(leaf, signed)
    return _read_golden(root, path.valid_until_ms)


def _find_signature(root: Element) -> Element:
    found = [each for each in walk_tree(root) if each.name == (_DS, "Signature")]
    if len(found) != 1 or found[0] not in root.elements:
        raise _unsigned("not exactly one signature, as a child of the document's element")
    return found[0]


def _read_signature(signature: Element) -> _Signed:
    info, value, key_info = _parts(signature, "SignedInfo", "SignatureValue", "KeyInfo")
    form, method, reference = _parts(info, "CanonicalizationMethod", "SignatureMethod", "Reference")
    _check_algorithm(form, _C14N)
    _check_algorithm(method, _ECDSA)
    if reference.attributes != {("", "URI"): ""}:
        raise _unsigned("a reference to something else than the document")
    transforms, digest_method, digest = _parts(
        reference, "Transforms", "DigestMethod", "DigestValue"
    )
    enveloped, canonicalised = _parts(transforms, "Transform", "Transform")
    _check_algorithm(enveloped, _ENVELOPED)
    _check_algorithm(canonicalised, _C14N)
    _check_algorithm(digest_method, _SHA384)
    (data,) = _parts(key_info, "X509Data")
    if not 1 <= len(data.elements) <= BUNDLE_MAX:
        raise _unsigned(f"{len(data.elements)} certificates")
    bundle = _parts(data, *["X509Certificate"] * len(data.elements))
    reason = UntrustedReason.RIM_CHAIN
    certificates = tuple(read_certificate(_base64(each), reason=reason) for each in bundle)
    return _Signed(info, _base64(digest), _base64(value), certificates)


def _parts(element: Element, *names: str) -> list[Element]:
    """The elements inside, which must be exactly these, with nothing but space between them."""
    if [each.name for each in element.elements] != [(_DS, name) for name in names]:
        raise _unsigned(f"{element.name[1][:40]} holds not exactly {', '.join(names)}")
    if element.text.translate(_SPACE):
        raise _unsigned(f"{element.name[1][:40]} holds text")
    return element.elements


def _check_algorithm(element: Element, algorithm: str) -> None:
    if element.attributes != {("", "Algorithm"): algorithm} or element.children:
        raise _unsigned(f"{element.name[1][:40]} is not {algorithm}")


def _base64(element: Element) -> bytes:
    try:
        if element.elements:
            raise ValueError
        return b64decode(element.text.translate(_SPACE).encode("ascii"), validate=True)
    except (binascii.Error, ValueError):
        raise _unsigned(f"{element.name[1][:40]} is not base64") from None


def _check_signature(leaf: x509.Certificate, signed: _Signed) -> None:
    key = leaf.public_key()
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP384R1):
        raise _unsigned("the signer's key is not of P-384")
    if len(signed.signature) != _SIGNATURE_BYTES:
        raise _unsigned(f"a signature of {len(signed.signature)} bytes")
    half = _SIGNATURE_BYTES // 2
    r, s = (
        int.from_bytes(part, "big") for part in (signed.signature[:half], signed.signature[half:])
    )
    message = canonical(signed.info)
    try:
        key.verify(encode_dss_signature(r, s), message, ec.ECDSA(hashes.SHA384()))
    except InvalidSignature:
        raise _unsigned("the signature does not verify") from None


def _read_golden(root: Element, valid_until_ms: int) -> Golden:
    meta, payload = _one(root, "Meta"), _one(root, "Payload")
    version = _word(meta, "colloquialVersion")
    is_vbios = _VBIOS.fullmatch(version.upper()) is not None
    measurements: dict[int, frozenset[bytes]] = {}
    seen: set[int] = set()
    for resource in payload.elements:
        index, is_active, allowed = _read_resource(resource)
        if index in seen:
            raise _malformed(f"index {index} comes twice")
        seen.add(index)
        if is_active:
            measurements[index] = allowed
    if not measurements:
        raise _malformed("no active measurement")
    return Golden(
        name=_word(meta, "product"),
        kind=GoldenKind.VBIOS if is_vbios else GoldenKind.DRIVER,
        version=version.upper() if is_vbios else version,
        measurements=measurements,
        valid_until_ms=valid_until_ms,
    )


def _read_resource(resource: Element) -> tuple[int, bool, frozenset[bytes]]:
    given = resource.attributes
    if resource.name != (_SWID, "Resource") or given.get(("", "type")) != "Measurement":
        raise _malformed("a payload of something else than measurements")
    index, active = given.get(("", "index"), ""), given.get(("", "active"))
    if not _INDEX.fullmatch(index) or int(index) > 254 or active not in ("True", "False"):
        raise _malformed(f"a measurement of index {index[:8]!r}")
    hashes_given = {local: value for (uri, local), value in given.items() if uri == _HASH}
    due = {f"Hash{number}" for number in range(len(hashes_given))}
    if set(hashes_given) != due or given.get(("", "alternatives")) != str(len(due)) or not due:
        raise _malformed(f"the alternatives of index {index}")
    try:
        allowed = frozenset(bytes.fromhex(value) for value in hashes_given.values())
    except ValueError:
        raise _malformed(f"the digests of index {index}") from None
    if any(len(value) != DIGEST_BYTES for value in allowed):
        raise _malformed(f"the digests of index {index}")
    return int(index), active == "True", allowed


def _one(root: Element, local: str) -> Element:
    found = [each for each in root.elements if each.name == (_SWID, local)]
    if len(found) != 1:
        raise _malformed(f"{len(found)} times {local}")
    return found[0]


def _word(meta: Element, name: str) -> str:
    value = meta.attributes.get(("", name), "")
    if not _NAME.fullmatch(value):
        raise _malformed(f"Meta names no {name}")
    return value


def _unsigned(where: str) -> EvidenceError:
    return refuse(UntrustedReason.RIM_SIGNATURE, f"RIM: {where}")


def _malformed(where: str) -> EvidenceError:
    return refuse(UntrustedReason.MALFORMED, f"RIM: {where}")
