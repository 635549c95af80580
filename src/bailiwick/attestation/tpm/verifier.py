"""Evidence of a TPM 2.0: a quote over its registers, with the log of the boot that filled them.

Rules, in the order in which they are checked:

- The attestation key can sign nothing but what its TPM says; it signed this, with its own scheme.
- It is a quote of the TPM's making, over the gate's nonce.
- The registers that the quote itself selects are at least the required ones, in no weak bank, and
  the reported values are those that it was made of. Nothing else that was reported is looked at.
- The TPM is one that a pinned maker vouches for, and the key lives in it (its qualified name).
- The log leads to the reported registers, and its data is what was measured.
- Registers have allowed values; secure boot is on where that is asked.
- The TPM was not started again since the last verdict, nor its firmware changed, nor is the quote
  an older one. A clock that is not safe orders nothing.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from cryptography import x509

from bailiwick.attestation.evidence import Evidence, EvidenceContext
from bailiwick.attestation.formats.certificates import pinned_certificates
from bailiwick.attestation.policy_section import Section
from bailiwick.attestation.tpm.event_log import (
    BOOT_REGISTERS,
    REGISTERS,
    SECURE_BOOT_REGISTER,
    read_event_log,
)
from bailiwick.attestation.tpm.keys import (
    Vouching,
    check_ak,
    check_ek,
    check_signature,
    check_vouched,
    identity_of,
    read_ek,
)
from bailiwick.attestation.tpm.registers import BANKS, Registers, proven
from bailiwick.attestation.tpm.structures import (
    HASH_BYTES,
    HASH_NAMES,
    HASHES,
    SHA1,
    SHA256,
    Quote,
    TpmPublic,
    name_of,
    qualified_name,
    qualified_name_of,
    read_quote,
    read_signature,
)
from bailiwick.attestation.verdict import Trusted, Verdict, judged, refuse
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind, UntrustedReason

__all__ = [
    "Tpm2Verifier",
    "check_ak",
    "check_ek",
    "identity_of",
    "name_of",
    "qualified_name_of",
]

_STRONG = tuple(name for name, bank in BANKS.items() if bank != SHA1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tpm2Verifier:
    """Judges quotes.

    Parts: ``attest`` (TPMS_ATTEST), ``signature`` (TPMT_SIGNATURE), ``pcrs`` (JSON, by bank and
    register in hexadecimal: ``{"sha256": {"0": "..."}}``) and optionally ``event_log``.
    Enrolled: ``ak_public`` and ``ek_public`` (TPM2B_PUBLIC), ``ek_certificate`` (DER) and
    optionally ``ek_intermediates`` (PEM, or DER one after another); in place of the EK's,
    ``ak_certificate`` and ``ak_intermediates`` where the maker certifies attestation keys.
    Policy: ``ek_roots`` and ``ak_roots`` (PEM texts, at least one of the two lists); ``selection``,
    the registers that a quote must cover (``{"sha256": [0, 7]}``; left out, 0 to 9 of sha256);
    ``pcrs``, allowed values of some of those (``{"sha256": {"7": ["...", "..."]}}``);
    ``require_secure_boot``; at least one of these two; ``event_log``, ``required`` or
    ``if_given``; ``accept_resume``, whether a node may wake from a suspension and stay trusted.
    Claims: ``ak`` (name of the key) and ``ek`` (digest of its public area), cut to 32 digits,
    ``clock``, ``clock_safe``, ``reset_count``, ``restart_count``, ``firmware_version``, and
    ``secure_boot`` (``on`` or ``off``) if a log proves it.
    """

    kind: ClassVar[EvidenceKind] = EvidenceKind.TPM2
    max_age_ms: int
    ek_roots: tuple[x509.Certificate, ...] = ()
    ak_roots: tuple[x509.Certificate, ...] = ()
    selection: Mapping[int, frozenset[int]]
    references: Mapping[int, Mapping[int, frozenset[bytes]]]
    is_log_required: bool = False
    require_secure_boot: bool = False
    accept_resume: bool = False

    @classmethod
    def from_policy(cls, section: Section, *, max_age_ms: int) -> Self:
        """The verifier that a section of the operator's policy describes."""
        ek_roots, ak_roots = (_roots(section, name) for name in ("ek_roots", "ak_roots"))
        if not ek_roots and not ak_roots:
            expected = "the certificates of at least one maker of TPMs, in PEM"
            raise InvalidValue(f"{section.where}.ek_roots", "nothing", expected)
        selection = _selection(section)
        event_log = section.text("event_log", "if_given")
        if event_log not in ("required", "if_given"):
            raise InvalidValue(f"{section.where}.event_log", event_log, "required or if_given")
        secure = section.flag("require_secure_boot", default=False)
        references = _references(section, selection)
        if not references and not secure:
            expected = "allowed values of at least one register, or require_secure_boot"
            raise InvalidValue(f"{section.where}.pcrs", "nothing", expected)
        if secure and not any(SECURE_BOOT_REGISTER in each for each in selection.values()):
            expected = "register 7 in a bank, because require_secure_boot reads it"
            raise InvalidValue(f"{section.where}.selection", "no register 7", expected)
        accept_resume = section.flag("accept_resume", default=False)
        section.done()
        return cls(
            max_age_ms=max_age_ms,
            ek_roots=ek_roots,
            ak_roots=ak_roots,
            selection=selection,
            references=references,
            is_log_required=event_log == "required",
            require_secure_boot=secure,
            accept_resume=accept_resume,
        )

    @judged
    def verify(self, evidence: Evidence, asked: EvidenceContext) -> Verdict:
        """Trusted if this TPM, started as the policy allows, answered just this question."""
        evidence.only("attest", "signature", "pcrs", "event_log")
        ak, attest = check_ak(asked.key("ak_public")), evidence.part("attest")
        check_signature(ak, read_signature(evidence.part("signature")), signed=attest)
        quote = read_quote(attest)
        if not quote.nonce or not hmac.compare_digest(quote.nonce, asked.nonce):
            raise refuse(UntrustedReason.NONCE_MISMATCH, "the quote has another nonce")
        self._check_selection(quote)
        registers = proven(quote, evidence.part("pcrs"), hash_alg=ak.scheme_hash or SHA256)
        ek = read_ek(asked.key("ek_public")) if "ek_public" in asked.enrolled else None
        ends_ms = self._check_vouched(ak, ek, keys=asked.enrolled, at_ms=asked.at_ms)
        if ek is not None and not hmac.compare_digest(quote.signer, qualified_name(ak, ek)):
            told = "the key that signed is not under the enrolled endorsement key"
            raise refuse(UntrustedReason.IDENTITY_MISMATCH, told)
        secure_boot = self._check_log(evidence.parts.get("event_log"), registers)
        self._check_policy(registers, secure_boot)
        self._check_clock(quote, asked.previous)
        claims = {"ak": ak.name.hex()[4:36]} | _clock_claims(quote)
        if ek is not None:
            claims["ek"] = ek.identity[:32]
        if secure_boot is not None:
            claims["secure_boot"] = "on" if secure_boot else "off"
        return Trusted(claims, min(asked.at_ms + self.max_age_ms, ends_ms))

    def check_enrolment(self, keys: Mapping[str, bytes], *, at_ms: int) -> None:
        """Refuse keys that no node may enrol with: unfit ones, or such as no maker vouches for."""
        ek = read_ek(keys["ek_public"]) if "ek_public" in keys else None
        self._check_vouched(check_ak(_key(keys, "ak_public")), ek, keys=keys, at_ms=at_ms)

    def _check_vouched(
        self, ak: TpmPublic, ek: TpmPublic | None, *, keys: Mapping[str, bytes], at_ms: int
    ) -> int:
        """Until when makers vouch for these keys, by the EK's certificate or by the AK's."""
        ends_ms = []
        if self.ek_roots and ("ek_certificate" in keys or not self.ak_roots):
            if ek is None:
                raise refuse(UntrustedReason.NOT_ENROLLED, "no enrolled ek_public")
            above = keys.get("ek_intermediates", b"")
            by = Vouching(_key(keys, "ek_certificate"), above, self.ek_roots, at_ms)
            path = check_vouched(ek, by, reason=UntrustedReason.EK_CHAIN)
            ends_ms.append(path.valid_until_ms)
        if self.ak_roots and ("ak_certificate" in keys or not ends_ms):
            above = keys.get("ak_intermediates", b"")
            by = Vouching(_key(keys, "ak_certificate"), above, self.ak_roots, at_ms)
            path = check_vouched(ak, by, reason=UntrustedReason.AK_CHAIN)
            ends_ms.append(path.valid_until_ms)
        return min(ends_ms, default=at_ms + self.max_age_ms)

    def _check_selection(self, quote: Quote) -> None:
        """By what the quote itself selects; what was asked for is not what was signed."""
        covered: dict[int, set[int]] = {}
        for each in quote.selections:
            if each.registers and each.bank == SHA1:
                raise refuse(UntrustedReason.WEAK_BANK, "the quote is over registers of SHA-1")
            if each.registers and each.bank not in HASHES:
                where = f"the quote is over bank {each.bank:#06x}, which is not known"
                raise refuse(UntrustedReason.PCR_SELECTION, where)
            covered.setdefault(each.bank, set()).update(each.registers)
        if not any(covered.values()):
            raise refuse(UntrustedReason.PCR_SELECTION, "the quote is over no register")
        for bank, wanted in self.selection.items():
            missing = sorted(wanted - covered.get(bank, set()))
            if missing:
                where = f"the quote leaves out register {missing[0]} of {HASH_NAMES[bank]}"
                raise refuse(UntrustedReason.PCR_SELECTION, where)

    def _check_log(self, raw: bytes | None, registers: Registers) -> bool | None:
        """Whether secure boot is proven on or off; None if nothing proves either.

        On is what every bank says: one that firmware leaves alone is the node's to fill.
        """
        if raw is None:
            if self.is_log_required or self.require_secure_boot:
                raise refuse(UntrustedReason.EVENTLOG_MISSING, "the policy asks for an event log")
            return None
        log, told = read_event_log(raw), set[bool | None]()
        replayed = [each for each in registers if each in log.banks or each in self.selection]
        for bank in replayed or registers:
            boot = {i: value for i, value in registers[bank].items() if i in BOOT_REGISTERS}
            log.check_replay(bank, boot)
        for bank in replayed:
            log.check_data(bank, BOOT_REGISTERS.intersection(registers[bank]))
            if SECURE_BOOT_REGISTER in registers[bank]:
                told.add(log.secure_boot(bank))
        return False if False in told else True if told == {True} else None

    def _check_policy(self, registers: Registers, secure_boot: bool | None) -> None:
        for bank, allowed in self.references.items():
            for register, value in registers.get(bank, {}).items():
                if register in allowed and value not in allowed[register]:
                    where = f"register {register} of {HASH_NAMES[bank]} is {value.hex()}"
                    raise refuse(UntrustedReason.PCR_POLICY, where)
        if self.require_secure_boot and not secure_boot:
            told = "nothing proves secure boot" if secure_boot is None else "secure boot is off"
            raise refuse(UntrustedReason.PCR_POLICY, told)

    def _check_clock(self, quote: Quote, previous: Mapping[str, str]) -> None:
        """Against the claims of the verdict before, as far as they tell."""
        recorded = {name: _recorded(previous, name) for name in _clock_claims(quote)}
        reset, restart = recorded["reset_count"], recorded["restart_count"]
        if reset is not None and quote.reset_count != reset:
            where = f"started {quote.reset_count} times, {reset} when it was trusted"
            raise refuse(UntrustedReason.RESET_COUNT_CHANGED, where)
        is_older = restart is not None and quote.restart_count < restart
        if restart not in (None, quote.restart_count) and (is_older or not self.accept_resume):
            where = f"resumed {quote.restart_count} times, {restart} when it was trusted"
            raise refuse(UntrustedReason.RESTART_COUNT_CHANGED, where)
        clock, is_ordered = recorded["clock"], previous.get("clock_safe", "yes") == "yes"
        if clock is not None and is_ordered and quote.is_clock_safe and quote.clock < clock:
            where = f"clock {quote.clock}, {clock} when it was trusted"
            raise refuse(UntrustedReason.CLOCK_ROLLBACK, where)
        if recorded["firmware_version"] not in (None, quote.firmware_version):
            where = "the TPM has other firmware than when it was trusted"
            raise refuse(UntrustedReason.FIRMWARE_VERSION_CHANGED, where)


def _clock_claims(quote: Quote) -> dict[str, str]:
    return {
        "clock": str(quote.clock),
        "clock_safe": "yes" if quote.is_clock_safe else "no",
        "reset_count": str(quote.reset_count),
        "restart_count": str(quote.restart_count),
        "firmware_version": str(quote.firmware_version),
    }


def _recorded(previous: Mapping[str, str], name: str) -> int | None:
    text = previous.get(name, "")
    return int(text) if text.isdecimal() else None


def _key(keys: Mapping[str, bytes], name: str) -> bytes:
    if name not in keys:
        raise refuse(UntrustedReason.NOT_ENROLLED, f"no enrolled {name}")
    return keys[name]


def _roots(section: Section, name: str) -> tuple[x509.Certificate, ...]:
    if not section.has(name):
        return ()
    return pinned_certificates(f"{section.where}.{name}", section.texts(name))


def _selection(section: Section) -> dict[int, frozenset[int]]:
    if not section.has("selection"):
        return {SHA256: BOOT_REGISTERS}
    banks, found = section.section("selection"), {}
    for name in banks.names():
        registers = banks.integers(name, low=0, high=REGISTERS - 1)
        if not registers:
            raise InvalidValue(f"{banks.where}.{name}", "nothing", "at least one register")
        found[_strong(banks, name)] = frozenset(registers)
    if not found:
        raise InvalidValue(banks.where, "nothing", "registers of at least one bank")
    return found


def _references(
    section: Section, selection: Mapping[int, frozenset[int]]
) -> dict[int, dict[int, frozenset[bytes]]]:
    banks, found = section.section("pcrs"), dict[int, dict[int, frozenset[bytes]]]()
    for name in banks.names():
        registers, bank = banks.section(name), _strong(banks, name)
        for key in registers.names():
            where = f"{registers.where}.{key}"
            if key not in (str(each) for each in selection.get(bank, ())):
                raise InvalidValue(where, key, "a register of the selection")
            values = registers.digests(key, HASH_BYTES[bank])
            if not values:
                raise InvalidValue(where, "nothing", "at least one allowed value")
            found.setdefault(bank, {})[int(key)] = values
    return found


def _strong(banks: Section, name: str) -> int:
    if name not in _STRONG:
        raise InvalidValue(banks.where, name, f"a bank of {', '.join(_STRONG)}")
    return BANKS[name]
