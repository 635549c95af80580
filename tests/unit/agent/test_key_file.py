"""A node's secrets on disk, and proofs by a key in a file."""

from __future__ import annotations

import os
import stat
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from bailiwick.agent.key_file import (
    KeyFileProver,
    NoteFile,
    firmware_digest,
    load_or_make_key,
    read_sealed,
    write_sealed,
)
from bailiwick.agent.words import CannotAttest
from bailiwick.attestation.ed25519 import Ed25519Verifier, check_signature, enrolment_statement
from bailiwick.attestation.evidence import EvidenceContext
from bailiwick.attestation.verdict import Trusted, Untrusted
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import UntrustedReason

NONCE = bytes(range(32))
FIRMWARE = sha256(b"firmware").digest()


def test_a_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "state" / "key.pem"
    first, again = load_or_make_key(path), load_or_make_key(path)
    assert first.private_bytes_raw() == again.private_bytes_raw()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [each.name for each in path.parent.iterdir()] == ["key.pem"]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o620, 0o604, 0o602, 0o610])
def test_a_key_that_anybody_else_can_touch_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "key.pem"
    load_or_make_key(path)
    path.chmod(mode)
    with pytest.raises(InvalidValue, match="chmod 600"):
        load_or_make_key(path)


def test_a_secret_is_never_replaced(tmp_path: Path) -> None:
    write_sealed(tmp_path / "a", b"one")
    with pytest.raises(InvalidValue, match="a file we can make"):
        write_sealed(tmp_path / "a", b"two")
    assert read_sealed(tmp_path / "a") == b"one"
    assert os.listdir(tmp_path) == ["a"]


def test_nothing_of_a_key_is_in_the_error_about_it(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    for content in (b"sesame", b"", b"-----BEGIN PRIVATE KEY-----\nc2VzYW1l\n", _other_key()):
        path.unlink(missing_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(content)
        with pytest.raises(InvalidValue, match="key file") as raised:
            load_or_make_key(path)
        assert "sesame" not in str(raised.value)


def _other_key() -> bytes:
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def test_a_note_is_replaced_and_survives(tmp_path: Path) -> None:
    note = NoteFile(tmp_path / "note")
    assert note.recall() == ""
    note.remember("one")
    note.remember("two")
    assert NoteFile(tmp_path / "note").recall() == "two"


def test_a_firmware_is_a_digest_or_the_file_to_take_it_of(tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(b"firmware")
    assert firmware_digest(FIRMWARE.hex()) == FIRMWARE == firmware_digest(str(image))
    for told in ("", "abc", FIRMWARE.hex().upper(), str(tmp_path), "/dev/zero", os.devnull):
        with pytest.raises(InvalidValue, match="--firmware"):
            firmware_digest(told)


def test_what_it_presents_is_believed_for_that_node_and_nonce_alone(tmp_path: Path) -> None:
    prover = KeyFileProver(load_or_make_key(tmp_path / "key.pem"), FIRMWARE)
    judge = Ed25519Verifier(frozenset({prover.identity}), frozenset({FIRMWARE}), 1000)
    evidence = prover.present("n1", NONCE)

    def verdict(node: str, nonce: bytes) -> object:
        enrolled = dict(prover.offer())
        return judge.verify(
            evidence, EvidenceContext(node=node, nonce=nonce, at_ms=0, enrolled=enrolled)
        )

    assert isinstance(verdict("n1", NONCE), Trusted)
    assert verdict("n2", NONCE) == Untrusted(UntrustedReason.IDENTITY_MISMATCH)
    assert verdict("n1", b"x" * 32) == Untrusted(UntrustedReason.NONCE_MISMATCH)


def test_it_signs_the_challenge_and_nothing_that_could_be_something_else(tmp_path: Path) -> None:
    prover = KeyFileProver(load_or_make_key(tmp_path / "key.pem"), FIRMWARE)
    signature = prover.prove("n1", {"nonce": NONCE})["signature"]
    check_signature(prover.identity, enrolment_statement("n1", NONCE), signature=signature)
    for challenge in ({}, {"nonce": b""}, {"nonce": b"x" * 65}):
        with pytest.raises(CannotAttest):
            prover.prove("n1", challenge)
