"""Tokens of leases: any text, any bytes of either kind, and whatever a bearer can sign."""

from __future__ import annotations

import hmac
from collections.abc import Callable

from bailiwick.capability import (
    Accepted,
    Operation,
    Refused,
    Use,
    biscuit_tokens,
    hmac_tokens,
)
from bailiwick.capability.token_text import decoded, encoded
from tests.support.lease_tokens import READ, WRITE, kit, signed_block, with_block

HMAC, BISCUIT = kit("hmac"), kit("biscuit")
_KEY = HMAC.minter.key.for_audience("node-1")
_LESS = {"operations": [Operation.MEM_READ], "expires_ms": 9, "resource": "lease-7/a"}
_READ_PART = Use(Operation.MEM_READ, resource="lease-7/a")
_CHARS_MAX = 5_000
_HMAC_TOKENS = [HMAC.mint(), HMAC.narrow(HMAC.mint(), **_LESS)]
_BISCUITS = [BISCUIT.mint(), BISCUIT.narrow(BISCUIT.mint(), **_LESS)]
_READ_ONLY = HMAC.mint(operations=(Operation.MEM_READ,))
_READ_ONLY_BISCUIT = BISCUIT.mint(operations=(Operation.MEM_READ,))


def _text(data: bytes) -> None:
    token = data.decode("latin-1")[:_CHARS_MAX]
    for verdict in (HMAC.verify(token), BISCUIT.verify(token)):
        assert isinstance(verdict, Refused) or token in (*_HMAC_TOKENS, *_BISCUITS)


def _hmac(data: bytes) -> None:
    token = encoded(hmac_tokens.PREFIX, data[:_CHARS_MAX])
    verdict = HMAC.verify(token, _READ_PART)
    assert isinstance(verdict, Refused) or token in _HMAC_TOKENS


def _hmac_claims(data: bytes) -> None:
    """Claims that somebody with the key signed: no fault of theirs may stop the verifier."""
    body = _KEY.id + data[:_CHARS_MAX]
    token = encoded(hmac_tokens.PREFIX, body + hmac.digest(_KEY.secret, body, "sha256"))
    assert isinstance(HMAC.verify(token), Accepted | Refused)


def _hmac_caveat(data: bytes) -> None:
    """One caveat that a bearer signed; it must not add an operation."""
    raw = decoded(hmac_tokens.PREFIX, _READ_ONLY)
    body, signature = raw[: -hmac_tokens.MAC_BYTES], raw[-hmac_tokens.MAC_BYTES :]
    added = data[:_CHARS_MAX]
    made = body + added + hmac.digest(signature, added, "sha256")
    token = encoded(hmac_tokens.PREFIX, made)
    assert isinstance(HMAC.verify(token, READ), Accepted | Refused)
    assert isinstance(HMAC.verify(token, WRITE), Refused)


def _biscuit(data: bytes) -> None:
    token = encoded(biscuit_tokens.PREFIX, data[:_CHARS_MAX])
    verdict = BISCUIT.verify(token, _READ_PART)
    assert isinstance(verdict, Refused) or token in _BISCUITS


def _biscuit_block(data: bytes) -> None:
    """One block that a bearer signed; it must not add an operation."""
    token = with_block(_READ_ONLY_BISCUIT, data[:_CHARS_MAX])
    assert isinstance(BISCUIT.verify(token, READ), Accepted | Refused)
    assert isinstance(BISCUIT.verify(token, WRITE), Refused)


TARGETS: dict[str, Callable[[bytes], None]] = {
    "text": _text,
    "hmac": _hmac,
    "hmac_claims": _hmac_claims,
    "hmac_caveat": _hmac_caveat,
    "biscuit": _biscuit,
    "biscuit_block": _biscuit_block,
}

SEEDS: dict[str, list[bytes]] = {
    "text": [token.encode() for token in (*_HMAC_TOKENS, *_BISCUITS)],
    "hmac": [decoded(hmac_tokens.PREFIX, token) for token in _HMAC_TOKENS],
    "hmac_claims": [decoded(hmac_tokens.PREFIX, token)[4:-32] for token in _HMAC_TOKENS],
    "hmac_caveat": [b"\x01\x02\x00\x01", b"\x02\x08" + bytes(8), b"\x03\x09lease-7/a"],
    "biscuit": [decoded(biscuit_tokens.PREFIX, token) for token in _BISCUITS],
    "biscuit_block": [signed_block(_BISCUITS[1])],
}
