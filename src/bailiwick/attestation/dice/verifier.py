"""Evidence of a machine that measures each boot layer before the next runs: a DICE chain.

Rules:

- A chain proves what booted and nothing about now; so the last layer's key signs the gate's nonce,
  and evidence without that signature is none. :func:`appraise` judges a chain alone: it is a part
  of :meth:`DiceVerifier.verify`, and published cases without a challenge ask it.
- What a rule asks for must be there: allowed digests are met only by a chain that tells one, and a
  lowest version only by a part that tells its version.
- In the open profile every layer is in the required mode. Only the first certificate (the device's
  own key) and a last one that issues nothing may be without measurements.

>>> framed([b"first", b"second"])
b'\\x00\\x00\\x00\\x05first\\x00\\x00\\x00\\x06second'
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType
from typing import ClassVar, Self

from bailiwick.attestation.dice.chain import LAYERS_MAX, DiceChain, DiceFormat, check_chain
from bailiwick.attestation.dice.keys import check_challenge, spki_of
from bailiwick.attestation.dice.open_dice import DIGEST_BYTES, MODE_NORMAL, MODE_RECOVERY
from bailiwick.attestation.dice.tcg import FLAG_BITS, SVN_MAX
from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.formats.certificates import CERTIFICATE_BYTES_MAX
from bailiwick.attestation.policy_section import Section
from bailiwick.attestation.verdict import Trusted, Verdict, judged, refuse
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason

CLAIMED_MAX = 8
"""Measurements, and versions, that become claims."""

_LENGTH_BYTES = 4
_SHORT_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DiceRules:
    """What is asked of a chain's contents. None means that the rule does not ask."""

    require_measurements: bool = False
    require_mode: int | None = None
    forbid_flags: frozenset[str] = frozenset()
    allowed_fwids: frozenset[bytes] | None = None
    allowed_code_hashes: frozenset[bytes] | None = None
    min_svn: Mapping[str, int] = field(default_factory=dict)
    """By the type or the model of a part."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "min_svn", MappingProxyType(dict(self.min_svn)))

    @classmethod
    def read(cls, section: Section, *, left_out: DiceRules) -> Self:
        """The rules of a section; ``left_out`` holds what a field that is not there means."""
        mode, flags = left_out.require_mode, left_out.forbid_flags
        if section.has("require_mode"):
            mode = section.integer("require_mode", low=0, high=MODE_RECOVERY)
        if section.has("forbid_flags"):
            flags = frozenset(section.texts("forbid_flags"))
        for name in sorted(flags - FLAG_BITS.keys()):
            known = ", ".join(FLAG_BITS)
            raise InvalidValue(f"{section.where}.forbid_flags", name, f"one of {known}")
        svn = section.section("min_svn")
        found = cls(
            require_measurements=section.flag(
                "require_measurements", default=left_out.require_measurements
            ),
            require_mode=mode,
            forbid_flags=flags,
            allowed_fwids=_digests(section, "allowed_fwids"),
            allowed_code_hashes=_digests(section, "allowed_code_hashes"),
            min_svn={name: svn.integer(name, low=0, high=SVN_MAX) for name in svn.names()},
        )
        section.done()
        return found


CAREFUL = DiceRules(
    require_measurements=True,
    require_mode=MODE_NORMAL,
    forbid_flags=frozenset({"notConfigured", "notSecure", "recovery", "debug"}),
)
"""What an operator's policy means where it says nothing."""


@dataclass(frozen=True, slots=True)
class DiceVerifier:
    """Judges DICE chains.

    Parts: ``format`` (``open-dice-cbor``, ``open-dice-x509`` or ``tcg-x509``), ``chain`` (the
    certificates from the first layer on, each after its length in four bytes, big-endian) and
    ``signature`` (the last layer's, over ``dice-attest-v1``, a zero byte and the nonce; ECDSA in
    DER with the hash of the curve's size, Ed25519 or ML-DSA). Enrolled: ``root_public_key``
    (SubjectPublicKeyInfo in DER), which must be the device's own: it is the node's identity.

    Policy: ``require_measurements`` (true if left out), ``require_mode`` (1, normal),
    ``forbid_flags`` (notConfigured, notSecure, recovery, debug), ``allowed_fwids`` and
    ``allowed_code_hashes`` (lists of digests; any if left out), ``min_svn`` (lowest version by
    type or model). Claims: ``format``, ``layers``, ``key``, ``measurement.0`` and on, and
    ``svn.`` with the type or model.
    """

    kind: ClassVar[EvidenceKind] = EvidenceKind.DICE
    rules: DiceRules
    max_age_ms: int

    @classmethod
    def from_policy(cls, section: Section, *, max_age_ms: int) -> Self:
        """The verifier that a section of the operator's policy describes."""
        return cls(DiceRules.read(section, left_out=CAREFUL), max_age_ms)

    @judged
    def verify(self, evidence: Evidence, asked: EvidenceContext) -> Verdict:
        """The verdict on a chain and its answer to the gate's nonce."""
        evidence.only("format", "chain", "signature")
        root, signature = asked.key("root_public_key"), evidence.part("signature")
        form = read_format(evidence.part("format"))
        certificates = unframed(evidence.part("chain"))
        chain = check_chain(certificates, root, form=form, at_ms=asked.at_ms)
        answer(chain, asked.nonce, signature=signature)
        appraise(chain, self.rules)
        until_ms = asked.at_ms + self.max_age_ms
        if chain.ends_ms is not None:
            until_ms = min(until_ms, chain.ends_ms)
        return Trusted(claims_of(chain), until_ms)


def answer(chain: DiceChain, nonce: bytes, *, signature: bytes) -> None:
    """Refuse a chain whose last key did not sign the nonce, or is not for signing."""
    if not chain.last.may_answer:
        reason = UntrustedReason.CHALLENGE_SIGNATURE
        raise refuse(reason, "the last layer's key is not for signatures")
    check_challenge(chain.last.key, nonce, signature=signature)


def appraise(chain: DiceChain, rules: DiceRules) -> None:
    """Refuse a chain that says what the rules do not allow."""
    if rules.require_measurements and not any(layer.measurements for layer in chain.layers):
        raise refuse(UntrustedReason.NO_MEASUREMENTS, "no layer carries measurements")
    if rules.require_mode is not None:
        _check_mode(chain, rules.require_mode)
    infos = [info for layer in chain.layers for info in layer.tcb]
    for flag in sorted(rules.forbid_flags):
        if any(flag in info.flags for info in infos):
            raise refuse(UntrustedReason.FLAGS, f"the flag {flag}")
    fwids = [digest for info in infos for digest in info.fwids]
    _check_allowed(fwids, rules.allowed_fwids, UntrustedReason.FWID)
    codes = [
        layer.open.code_hash
        for layer in chain.layers
        if layer.open is not None and layer.open.code_hash is not None
    ]
    _check_allowed(codes, rules.allowed_code_hashes, UntrustedReason.CODE_HASH)
    for name, lowest in rules.min_svn.items():
        told = [info.svn for info in infos if name in (info.type, info.model)]
        if not told or any(svn is None or svn < lowest for svn in told):
            raise refuse(UntrustedReason.SVN, f"{name[:40]}: below {lowest}, or not told")


def claims_of(chain: DiceChain) -> dict[str, str]:
    """What a chain that is believed proves, in short names."""
    claims = {
        "format": chain.form.value,
        "layers": str(len(chain.layers)),
        "key": sha256(spki_of(chain.last.key)).hexdigest()[:32],
    }
    digests = [digest for layer in chain.layers for digest in layer.measurements]
    for number, digest in enumerate(digests[:CLAIMED_MAX]):
        claims[f"measurement.{number}"] = digest.hex()[:32]
    versions: dict[str, int] = {}
    for info in (info for layer in chain.layers for info in layer.tcb):
        name = info.type or info.model or ""
        if info.svn is not None and _SHORT_NAME.fullmatch(name):
            # Of two parts of one name the older counts: a claim must hold for both.
            versions[name] = min(info.svn, versions.get(name, info.svn))
    claims.update({f"svn.{name}": str(versions[name]) for name in list(versions)[:CLAIMED_MAX]})
    return claims


def read_format(raw: bytes) -> DiceFormat:
    """The format that a part names."""
    for form in DiceFormat:
        if raw == form.value.encode():
            return form
    raise refuse(UntrustedReason.MALFORMED, "dice: an unknown format")


def framed(certificates: Sequence[bytes]) -> bytes:
    """The certificates as one part of evidence."""
    return b"".join(len(each).to_bytes(_LENGTH_BYTES, "big") + each for each in certificates)


def unframed(raw: bytes) -> list[bytes]:
    """The certificates of a part of evidence."""
    found: list[bytes] = []
    at = 0
    while at < len(raw):
        length = int.from_bytes(raw[at : at + _LENGTH_BYTES], "big")
        begin = at + _LENGTH_BYTES
        at = begin + length
        if begin > len(raw) or at > len(raw) or not 1 <= length <= CERTIFICATE_BYTES_MAX:
            raise refuse(UntrustedReason.MALFORMED, "dice: a chain that does not fit its lengths")
        found.append(raw[begin:at])
        if len(found) > LAYERS_MAX:
            raise refuse(UntrustedReason.MALFORMED, f"dice: more than {LAYERS_MAX} layers")
    return found


def _check_mode(chain: DiceChain, mode: int) -> None:
    is_open = chain.form is not DiceFormat.TCG_X509
    told = [layer for layer in chain.layers if layer.open is not None]
    if is_open and not told:
        raise refuse(UntrustedReason.MODE, "no layer tells its mode")
    for index, layer in enumerate(chain.layers):
        if layer.open is None:
            is_edge = index == 0 or (layer is chain.last and not layer.is_ca)
            if is_open and not is_edge:
                raise refuse(UntrustedReason.MODE, f"layer {index} tells no mode")
        elif layer.open.mode != mode:
            raise refuse(UntrustedReason.MODE, f"layer {index} is in mode {layer.open.mode}")


def _check_allowed(
    found: Sequence[bytes], allowed: frozenset[bytes] | None, reason: UntrustedReason
) -> None:
    if allowed is None:
        return
    if not found:
        raise refuse(reason, "the chain tells no such digest")
    for digest in found:
        if digest not in allowed:
            raise refuse(reason, f"{digest.hex()[:32]} is not allowed")


def _digests(section: Section, name: str) -> frozenset[bytes] | None:
    return section.digests(name, *DIGEST_BYTES) if section.has(name) else None
