"""The Biscuit token: what blocks that a bearer adds can do, and what they may cost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import biscuit_auth
import pytest

from bailiwick.capability import (
    Accepted,
    BiscuitKey,
    BiscuitMinter,
    Operation,
    Refused,
    Revocations,
    TokenFault,
    Use,
    biscuit_tokens,
    narrow,
)
from bailiwick.capability.token_text import decoded, encoded
from bailiwick.vocab.errors import InvalidValue
from tests.support.lease_tokens import (
    OTHER_SEED,
    READ,
    WRITE,
    framed,
    kit,
    signed_block,
    with_block,
)

BISCUIT = kit("biscuit")
LIBRARY = biscuit_auth


def with_code(token: str, code: str) -> str:
    """The token with a block more, made by a bearer with the library itself."""
    public = LIBRARY.PublicKey(str(BISCUIT.minter.key))  # type: ignore[arg-type, call-arg]
    known = LIBRARY.Biscuit.from_bytes(decoded("bwb1.", token), public)
    return encoded("bwb1.", bytes(known.append(LIBRARY.BlockBuilder(code)).to_bytes()))


@pytest.mark.parametrize(
    "code",
    [
        'right("gpu_submit"); operation("mem_read")',
        'operation("mem_read"); resource("lease-7/"); now_ms(0)',
        'grant("t", "team-b", 8, 9, "lease-8", "node-1", 900000); right("gpu_submit")',
    ],
)
def test_facts_in_a_later_block_gain_nothing(code: str) -> None:
    token = with_code(BISCUIT.mint(), code)
    assert BISCUIT.verify(token, Use(Operation.GPU_SUBMIT)) == Refused(
        TokenFault.OPERATION_NOT_ALLOWED
    )
    found = BISCUIT.verify(token, READ)
    assert isinstance(found, Accepted)
    assert (found.claims.tenant, found.claims.lease_id) == ("team-a", 7)
    assert BISCUIT.verify(token, now_ms=300_000) == Refused(TokenFault.EXPIRED)


def test_a_check_written_by_hand_is_kept() -> None:
    token = with_code(BISCUIT.mint(), 'check if operation("mem_read") or resource("x/");')
    assert isinstance(BISCUIT.verify(token, READ), Accepted)
    assert BISCUIT.verify(token, WRITE) == Refused(TokenFault.OPERATION_NOT_ALLOWED)


def test_a_check_of_what_nobody_tells_refuses_everything() -> None:
    token = with_code(BISCUIT.mint(), 'check if client_address("10.0.0.1");')
    assert BISCUIT.verify(token) == Refused(TokenFault.OPERATION_NOT_ALLOWED)


def test_a_check_that_compares_what_cannot_be_compared_refuses() -> None:
    token = with_code(BISCUIT.mint(), "check if operation($o), $o < 5;")
    assert BISCUIT.verify(token) == Refused(TokenFault.OPERATION_NOT_ALLOWED)


JOIN = ";".join(f"f({number})" for number in range(8))


@pytest.mark.parametrize(
    "code",
    [
        f"{JOIN}; f(8)",
        f"{JOIN}; check if f($a), f($b), f($c), $a + $b == $c",
        "check if operation($a), operation($b), operation($c)",
        "f($x) <- operation($x)",
        'check if operation($o), $o.matches("(a+)+b")',
        "check if operation($o), [1, 2, 3].any($x -> $x == 2)",
        "check if now_ms($t), $t * 2 < 5",
        'check if operation($o), $o + "x" == "y"',
        "check if now_ms($t), $t < 1 || $t > 2",
        ";".join(["check if operation($o)"] * 65),
    ],
)
def test_blocks_that_could_cost_much_are_not_run(code: str) -> None:
    assert BISCUIT.verify(with_code(BISCUIT.mint(), code)) == Refused(TokenFault.EVALUATION_LIMIT)


def test_as_many_joins_of_two_as_fit_into_a_token_are_run() -> None:
    code = JOIN + ";" + ";".join(["check if f($a), f($b), $a > $b, $a < 99"] * 30)
    token = with_code(BISCUIT.mint(), code)
    assert 3_000 < len(token) < 4_096
    assert isinstance(BISCUIT.verify(token), Accepted)


def test_running_out_of_time_has_its_own_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(biscuit_tokens, "TIME_LIMIT_FACTOR", 0)
    biscuit_tokens._limits.cache_clear()
    try:
        assert BISCUIT.verify(BISCUIT.mint()) == Refused(TokenFault.EVALUATION_LIMIT)
    finally:
        biscuit_tokens._limits.cache_clear()


def test_the_time_limit_is_a_tenth_of_a_second() -> None:
    assert biscuit_tokens._limits().max_time.total_seconds() == 0.1


@pytest.mark.parametrize(
    "block", [b"", b"\xff", b"\x32\x05", framed(6, b"\x08\x01"), framed(6, framed(1, b"\x12"))]
)
def test_signed_nonsense_is_refused(block: bytes) -> None:
    found = BISCUIT.verify(with_block(BISCUIT.mint(), block))
    assert isinstance(found, Refused)


def test_a_token_without_the_id_of_its_key_is_of_no_known_key() -> None:
    raw = decoded("bwb1.", BISCUIT.mint())
    head = 1 + (BISCUIT.minter.key.id.bit_length() + 6) // 7
    assert BISCUIT.verify(encoded("bwb1.", raw[head:])) == Refused(TokenFault.UNKNOWN_KEY)


def test_a_third_partys_block_is_not_taken() -> None:
    raw = decoded("bwb1.", BISCUIT.mint())
    public = LIBRARY.PublicKey(str(BISCUIT.minter.key))  # type: ignore[arg-type, call-arg]
    known = LIBRARY.Biscuit.from_bytes(raw, public)
    stranger = LIBRARY.KeyPair()
    block = known.third_party_request().create_block(
        stranger.private_key, LIBRARY.BlockBuilder('right("gpu_submit")')
    )
    token = known.append_third_party(stranger.public_key, block)
    text = encoded("bwb1.", bytes(token.to_bytes()))
    assert BISCUIT.verify(text) == Refused(TokenFault.MALFORMED)


def test_a_chain_goes_on_under_no_key_whose_signatures_anyone_can_rewrite() -> None:
    """Of (r, s) on P-256 one makes (r, -s) with no key: an id that nobody has revoked."""
    block = signed_block(BISCUIT.narrow(BISCUIT.mint(), operations=[Operation.MEM_READ]))
    assert isinstance(BISCUIT.verify(with_block(BISCUIT.mint(), block)), Accepted)
    token = with_block(BISCUIT.mint(), block, is_p256=True)
    assert BISCUIT.verify(token) == Refused(TokenFault.MALFORMED)


def test_a_block_cannot_be_taken_away() -> None:
    narrowed = decoded("bwb1.", BISCUIT.narrow(BISCUIT.mint(), operations=[Operation.MEM_READ]))
    plain = decoded("bwb1.", BISCUIT.mint())
    proof = narrowed[-36:]
    assert BISCUIT.verify(encoded("bwb1.", plain[:-36] + proof), WRITE) == Refused(
        TokenFault.BAD_SIGNATURE
    )


def test_revoking_a_narrowed_token_by_its_block_leaves_its_parent() -> None:
    parent = BISCUIT.mint()
    child = BISCUIT.narrow(parent, operations=[Operation.MEM_READ])
    grandchild = BISCUIT.narrow(child, expires_ms=9)
    found = BISCUIT.verify(child)
    assert isinstance(found, Accepted)
    revoked = Revocations()
    revoked.revoke(found.ids[-1], at_ms=0)
    for token in (child, grandchild):
        assert BISCUIT.verify(token, revoked=revoked) == Refused(TokenFault.REVOKED)
    assert isinstance(BISCUIT.verify(parent, revoked=revoked), Accepted)


def test_values_are_never_read_as_code() -> None:
    """Names cannot hold quotes, but even a claim that did would stay a value."""
    claims = BISCUIT.verify(BISCUIT.mint())
    assert isinstance(claims, Accepted)
    with pytest.raises(InvalidValue):
        BISCUIT.mint(tenant='a"); right("gpu_submit')


def test_narrowing_wants_the_minters_public_key() -> None:
    token = BISCUIT.mint()
    for key in (None, BiscuitMinter(OTHER_SEED).key):
        with pytest.raises(InvalidValue):
            narrow(token, operations=[Operation.MEM_READ], key=key)


@pytest.mark.parametrize("seed", [b"", bytes(31), bytes(33), "x" * 32])
def test_a_seed_of_another_size_is_refused(seed: bytes) -> None:
    with pytest.raises(InvalidValue):
        BiscuitMinter(seed)


def test_a_public_key_has_one_text() -> None:
    key = BISCUIT.minter.key
    assert BiscuitKey.read(str(key)) == key
    for text in (str(key).upper(), str(key)[:-1], "", None, str(key) + "0", "x" * len(str(key))):
        with pytest.raises(InvalidValue):
            BiscuitKey.read(text)


@pytest.mark.parametrize("raw", [bytes(32), b"\x01" + bytes(31), b"\xff" * 32, b"\xee" * 31])
def test_a_weak_or_ill_written_key_cannot_be_on_a_ring(raw: bytes) -> None:
    with pytest.raises(InvalidValue):
        BiscuitKey(raw)


def test_without_a_biscuit_key_on_the_ring_nothing_loads_the_library() -> None:
    code = (
        "import sys, bailiwick.capability as c; import bailiwick.guard;"
        "m = c.HmacMinter(bytes(32)); c.verify('bwh1.AAAA', c.Use(c.Operation.MEM_READ),"
        " audience='n', keys=c.KeyRing((m.key,)), revoked=c.Revocations(), now_ms=0);"
        "c.verify('bwb1.AAAA', c.Use(c.Operation.MEM_READ),"
        " audience='n', keys=c.KeyRing((m.key,)), revoked=c.Revocations(), now_ms=0);"
        "assert not {'biscuit_auth', 'cryptography', 'cbor2', 'pydantic'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
