"""Weak and ill-written keys are refused wherever a key comes in."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path

import pytest

from bailiwick.journal import (
    KeyAlgorithm,
    SeedSigner,
    VerifierKey,
    WeakKey,
    check_public_key,
    parse_vkey,
)
from bailiwick.journal.keys import key_id, signature_holds
from bailiwick.vocab.errors import InvalidValue
from tests.unit.journal.makers import SIGNER

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P
ORDER = 2**252 + 27742317777372353535851937790883648493
Point = tuple[int, int]


def add(a: Point, b: Point) -> Point:
    (x1, y1), (x2, y2) = a, b
    product = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, P) % P
    return x, (y1 * y2 + x1 * x2) * pow(1 - product, -1, P) % P


def times(k: int, point: Point) -> Point:
    total = (0, 1)
    while k:
        if k & 1:
            total = add(total, point)
        point, k = add(point, point), k >> 1
    return total


def point_at(y: int) -> Point | None:
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    return (x, y) if x * x % P == square else None


def small_order_points() -> set[Point]:
    """All points whose order divides eight: multiples of some point of order eight."""
    for y in range(2, 100):
        point = point_at(y)
        torsion = times(ORDER, point) if point else (0, 1)
        multiples = {times(k, torsion) for k in range(8)}
        if len(multiples) == 8:
            return multiples
    raise AssertionError("no point of order eight below 100")


def encodings(point: Point) -> list[bytes]:
    """Every 32 bytes that some decoder reads as this point: canonical, y + p, and x = -0."""
    x, y = point
    signs = {x & 1} if x else {0, 1}
    return [
        (value | sign << 255).to_bytes(32, "little")
        for value in (y, y + P)
        if value < 2**255
        for sign in signs
    ]


WEAK = sorted({key for point in small_order_points() for key in encodings(point)})


def test_there_are_eight_weak_points_and_fourteen_ways_to_write_them() -> None:
    assert len(small_order_points()) == 8
    assert len(WEAK) == 14


@pytest.mark.parametrize("key", WEAK, ids=bytes.hex)
def test_a_key_of_small_order_is_refused_at_parse_and_at_use(key: bytes) -> None:
    with pytest.raises(WeakKey):
        check_public_key(key)
    with pytest.raises(WeakKey):
        VerifierKey("log.example", key)
    with pytest.raises(WeakKey):
        signature_holds(key, b"message", signature=bytes(64))
    for algorithm in KeyAlgorithm:
        packed = b64encode(bytes((algorithm,)) + key).decode()
        own_id = key_id("log.example", key, algorithm=algorithm).hex()
        with pytest.raises(WeakKey):
            parse_vkey(f"log.example+{own_id}+{packed}")


@pytest.mark.parametrize("y", range(P, 2**255))
@pytest.mark.parametrize("sign", [0, 1])
def test_a_key_that_is_not_written_canonically_is_refused(y: int, sign: int) -> None:
    with pytest.raises(InvalidValue):
        check_public_key((y | sign << 255).to_bytes(32, "little"))


def test_the_shared_ed25519_cases_yield_their_verdicts(shared_dir: Path) -> None:
    cases = json.loads((shared_dir / "vectors/ed25519/cases.json").read_text())["cases"]
    assert cases
    for case in cases:
        key = bytes.fromhex(case["public_key"])
        message, signature = bytes.fromhex(case["message"]), bytes.fromhex(case["signature"])
        try:
            holds = signature_holds(key, message, signature=signature)
        except WeakKey:
            assert case["reason"] == "weak_key"
        except InvalidValue:
            assert case["reason"] == "malformed"
        else:
            assert holds == (case["expect"] == "trusted")


VKEY = "example.com/log/testdata+33d7b496+AeHTu4Q3hEIMHNqc6fASMsq3rKNx280NI+oO5xCFkkSx"


def test_a_verifier_key_comes_back_from_its_text() -> None:
    assert str(parse_vkey(VKEY)) == VKEY
    witness = VerifierKey.of(SIGNER, KeyAlgorithm.COSIGNATURE)
    assert parse_vkey(str(witness)) == witness
    assert witness.id != VerifierKey.of(SIGNER).id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a+b",
        VKEY + " ",
        VKEY + "\n",
        VKEY + "=",
        VKEY.replace("33d7b496", "33d7b497"),
        VKEY.replace("33d7b496", "33D7B496"),
        VKEY.replace("33d7b496", "033d7b496"),
        VKEY.replace("example.com", "exbmple.com"),
        VKEY.replace("example.com", "example com"),
        VKEY.replace("example.com", "example\u2003com"),
        VKEY.replace("example.com", "example\x00com"),
        VKEY.replace("+Ae", "+Ag"),
        VKEY[:-4],
        VKEY.replace("kkSx", "kkS="),
        "x" * 600 + VKEY,
        VKEY.partition("+")[2],
    ],
)
def test_a_verifier_key_has_one_spelling(text: str) -> None:
    with pytest.raises(InvalidValue):
        parse_vkey(text)


def test_a_signer_is_made_from_a_whole_seed_and_a_proper_name() -> None:
    with pytest.raises(InvalidValue) as caught:
        SeedSigner("log.example", b"short secret")
    assert "secret" not in str(caught.value)
    with pytest.raises(InvalidValue):
        SeedSigner("log example", bytes(32))


def test_a_signature_of_the_wrong_length_does_not_hold() -> None:
    signature = SIGNER.sign(b"m")
    assert signature_holds(SIGNER.public_key, b"m", signature=signature)
    assert not signature_holds(SIGNER.public_key, b"m", signature=signature[:63])
    assert not signature_holds(SIGNER.public_key, b"m", signature=signature + b"\x00")
