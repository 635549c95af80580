"""The registers that a node reports beside a quote, and which of them the quote proves.

Rules:

- What is reported is JSON, read strictly: known banks, registers as plain numbers, digests of
  their bank's length, nothing twice.
- Only registers that the quote selects are proven; the others that were reported are dropped.

>>> read_pcrs(b'{"sha256": {"07": ""}}')
Traceback (most recent call last):
...
bailiwick.attestation.verdict.EvidenceError: malformed: pcrs: register '07'
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

from bailiwick.attestation.tpm.structures import HASH_BYTES, HASH_NAMES, HASHES, Quote
from bailiwick.attestation.verdict import EvidenceError, refuse
from bailiwick.vocab.strict_json import JsonRefused, StrictJson
from bailiwick.vocab.trust import UntrustedReason

BANKS = {name: bank for bank, name in HASH_NAMES.items()}
"""Banks of registers, by the name of their hash."""

_READER = StrictJson(bytes_max=64 * 1024)

Registers = Mapping[int, Mapping[int, bytes]]
"""Values by bank and register."""


def read_pcrs(raw: bytes) -> Registers:
    """The registers that a node reports, which a quote must then prove."""
    try:
        body = _READER.read(raw)
    except JsonRefused as refused:
        raise _malformed(refused.fault.value) from None
    found: dict[int, dict[int, bytes]] = {}
    for name, values in _map(body).items():
        if name not in BANKS:
            raise _malformed(f"bank {name[:20]!r}")
        bank = BANKS[name]
        found[bank] = {_register(key): _value(value, bank) for key, value in _map(values).items()}
    return found


def proven(quote: Quote, raw: bytes, *, hash_alg: int) -> Registers:
    """The reported values of the registers that the quote selects, if it was made of them.

    They are hashed with the hash of the signature, whatever their bank, in the quote's own order.
    """
    reported = read_pcrs(raw)
    whole = HASHES[hash_alg]()
    found: dict[int, dict[int, bytes]] = {}
    for each in quote.selections:
        for register in each.registers:
            value = reported.get(each.bank, {}).get(register)
            if value is None:
                where = f"register {register} of {HASH_NAMES[each.bank]} is not reported"
                raise refuse(UntrustedReason.PCR_DIGEST_MISMATCH, where)
            whole.update(value)
            found.setdefault(each.bank, {})[register] = value
    if not hmac.compare_digest(whole.digest(), quote.digest):
        where = "the quote was made of other values than were reported"
        raise refuse(UntrustedReason.PCR_DIGEST_MISMATCH, where)
    return found


def _map(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _malformed("a map of banks, each a map of registers, is due")
    return value


def _register(key: str) -> int:
    if len(key) > 2 or not key.isdecimal() or str(int(key)) != key or int(key) >= 32:
        raise _malformed(f"register {key[:20]!r}")
    return int(key)


def _value(value: object, bank: int) -> bytes:
    try:
        found = bytes.fromhex(value) if isinstance(value, str) else b""
    except ValueError:
        found = b""
    if len(found) != HASH_BYTES[bank] or found.hex() != value:
        raise _malformed(f"a value of {HASH_NAMES[bank]}")
    return found


def _malformed(where: str) -> EvidenceError:
    return refuse(UntrustedReason.MALFORMED, f"pcrs: {where}")
