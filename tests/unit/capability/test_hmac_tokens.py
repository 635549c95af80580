"""The chained HMAC token: its layout, its caveats, and what a bearer cannot take away."""

from __future__ import annotations

import hmac
import struct

import pytest

from bailiwick.capability import (
    Accepted,
    HmacKey,
    HmacMinter,
    KeyRing,
    Operation,
    Refused,
    TokenFault,
)
from bailiwick.capability.hmac_tokens import BITS, MAC_BYTES, PREFIX
from bailiwick.capability.token_text import decoded, encoded
from bailiwick.vocab.errors import InvalidValue
from tests.support.lease_tokens import CLAIMS, READ, SEED, WRITE, kit

HMAC = kit("hmac")
KEY = HMAC.minter.key.for_audience("node-1")


def with_caveats(token: str, *caveats: bytes) -> str:
    """The token with these caveats, signed as a bearer can sign them."""
    raw = decoded(PREFIX, token)
    body, signature = raw[:-MAC_BYTES], raw[-MAC_BYTES:]
    for caveat in caveats:
        signature = hmac.digest(signature, caveat, "sha256")
        body += caveat
    return encoded(PREFIX, body + signature)


def test_a_token_is_laid_out_as_the_module_says() -> None:
    names = b"token-1team-alease-7node-1"
    body = KEY.id + struct.pack(">QQQHBBBB", 7, 3, 300_000, 0b11, 7, 6, 7, 6) + names
    mac = hmac.new(KEY.secret, body, "sha256").digest()
    assert HMAC.mint() == encoded(PREFIX, body + mac)


def test_a_token_is_short() -> None:
    assert len(HMAC.mint()) <= 132


def test_every_operation_has_a_bit_of_its_own() -> None:
    assert set(BITS) == set(Operation)
    assert sum(BITS.values()) == 2 ** len(BITS) - 1


def test_a_caveat_of_an_unknown_kind_refuses_the_token() -> None:
    for kind in (0, 4, 255):
        token = with_caveats(HMAC.mint(), bytes((kind, 2)) + b"\xff\xff")
        assert HMAC.verify(token) == Refused(TokenFault.MALFORMED)


@pytest.mark.parametrize(
    "caveat",
    [
        b"\x01\x01\xff",  # a mask of one byte
        b"\x01\x03\xff\xff\xff",
        b"\x02\x02\xff\xff",  # an instant of two
        b"\x03\x00",  # no resource
        b"\x03\x02a/",
        b"\x03\x01\xff",
        b"\x01\x09\xff\xff",  # longer than what is there
        b"\x01",
    ],
)
def test_an_ill_written_caveat_is_malformed(caveat: bytes) -> None:
    token = with_caveats(HMAC.mint(), caveat)
    assert HMAC.verify(token) == Refused(TokenFault.MALFORMED)


def test_more_caveats_than_there_may_be_are_malformed() -> None:
    token = with_caveats(HMAC.mint(), *[b"\x01\x02\xff\xff"] * 17)
    assert HMAC.verify(token) == Refused(TokenFault.MALFORMED)
    fewer = with_caveats(HMAC.mint(), *[b"\x01\x02\xff\xff"] * 16)
    assert isinstance(HMAC.verify(fewer), Accepted)


def test_a_caveat_cannot_be_taken_away_or_changed() -> None:
    token = HMAC.narrow(HMAC.mint(), operations=[Operation.MEM_READ])
    raw, plain = decoded(PREFIX, token), decoded(PREFIX, HMAC.mint())
    without = plain[:-MAC_BYTES] + raw[-MAC_BYTES:]
    assert HMAC.verify(encoded(PREFIX, without), WRITE) == Refused(TokenFault.BAD_SIGNATURE)
    wider = raw[: -MAC_BYTES - 2] + b"\xff\xff" + raw[-MAC_BYTES:]
    assert HMAC.verify(encoded(PREFIX, wider), WRITE) == Refused(TokenFault.BAD_SIGNATURE)


def test_a_caveat_with_every_bit_set_adds_no_operation() -> None:
    token = with_caveats(HMAC.mint(operations=(Operation.MEM_READ,)), b"\x01\x02\xff\xff")
    assert isinstance(HMAC.verify(token, READ), Accepted)
    assert HMAC.verify(token, WRITE) == Refused(TokenFault.OPERATION_NOT_ALLOWED)


def test_claims_cannot_be_read_as_caveats_nor_caveats_as_claims() -> None:
    """The lengths of the names are signed, so the border between the two cannot be moved."""
    token = HMAC.narrow(HMAC.mint(), resource="lease-7/gpu-0")
    raw = bytearray(decoded(PREFIX, token))
    for at in range(30, 34):
        for size in range(256):
            moved = bytes(raw[:at]) + bytes((size,)) + bytes(raw[at + 1 :])
            if moved != bytes(raw):
                assert isinstance(HMAC.verify(encoded(PREFIX, moved)), Refused)


def test_a_verifier_with_the_key_of_its_own_audience_can_check_and_forge_only_for_itself() -> None:
    ring = KeyRing(shared=(KEY,))
    assert isinstance(HMAC.verify(HMAC.mint(), keys=ring), Accepted)
    elsewhere = HMAC.verify(HMAC.mint(audience="node-2"), keys=ring)
    assert elsewhere == Refused(TokenFault.WRONG_AUDIENCE)
    stolen = HmacMinter(KEY.secret)  # mints with keys derived from what it stole
    forged = stolen.mint(CLAIMS)
    assert HMAC.verify(forged) == Refused(TokenFault.UNKNOWN_KEY)


def test_keys_of_audiences_differ_from_each_other_and_from_the_root() -> None:
    keys = {HMAC.minter.key.for_audience(f"node-{number}").secret for number in range(50)}
    assert len(keys | {SEED}) == 51


def test_secrets_are_not_shown() -> None:
    shown = repr(HMAC.minter.key) + repr(KEY) + repr(HmacKey("node-1", SEED))
    assert SEED.hex() not in shown
    assert repr(SEED) not in shown


@pytest.mark.parametrize("secret", [b"", bytes(31), bytes(65), "x" * 32])
def test_a_secret_that_is_too_short_or_none_is_refused_and_not_repeated(secret: bytes) -> None:
    with pytest.raises(InvalidValue) as caught:
        HmacMinter(secret)
    assert "xxxx" not in str(caught.value)
