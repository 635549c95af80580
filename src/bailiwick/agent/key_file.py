"""Secrets on a node's disk, and the simplest proof of identity: a key in such a file.

Rules:

- Made once, from the system's randomness, in a file that only its owner can read; never replaced.
- A file that anybody else can read or write is refused, whatever is in it: a key that was seen
  proves nothing.
- Nothing of a key's content is ever put into an error.
- What such a key proves is who holds the file. A disk that is copied is the same node to a server;
  a TPM (:mod:`bailiwick.agent.tpm2`) is what tells the two apart.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path
from typing import ClassVar, Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from bailiwick.agent.words import CannotAttest
from bailiwick.attestation.ed25519 import enrolment_statement, statement_of
from bailiwick.attestation.evidence import Evidence
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind

SEALED_BYTES_MAX: Final = 64 * 1024
_DIGEST = re.compile(r"[0-9a-f]{64}\Z", re.ASCII)


def read_sealed(path: Path) -> bytes | None:
    """What is in a secret file; nothing where there is no such file."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(SEALED_BYTES_MAX + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidValue("key file", str(path), f"a file we can read ({error})") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InvalidValue("key file", str(path), "a file that only its owner can read (chmod 600)")
    if not data or len(data) > SEALED_BYTES_MAX:
        raise InvalidValue("key file", str(path), f"1 to {SEALED_BYTES_MAX} bytes in it")
    return data


def write_sealed(path: Path, data: bytes, *, is_new: bool = True) -> None:
    """Have a secret be in a file, whole and on the disk, or not at all; a new one replaces none."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        try:
            # Unlike a rename, a link never replaces what is there.
            os.link(scratch, path) if is_new else os.replace(scratch, path)
        finally:
            scratch.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidValue("key file", str(path), f"a file we can make ({error})") from None


@dataclass(frozen=True, slots=True)
class NoteFile:
    """One line in a file, which is no secret but is nobody else's to write."""

    path: Path

    def recall(self) -> str:
        """What was written last; nothing if nothing was."""
        return (read_sealed(self.path) or b"").decode("ascii", "replace").strip()

    def remember(self, line: str) -> None:
        """Have it be in the file, in place of what was."""
        write_sealed(self.path, f"{line}\n".encode(), is_new=False)


def load_or_make_key(path: Path) -> Ed25519PrivateKey:
    """The Ed25519 key in a file (PKCS 8, PEM); where there is none, a new one is made."""
    data = read_sealed(path)
    if data is None:
        form = serialization.PrivateFormat.PKCS8
        made = Ed25519PrivateKey.generate().private_bytes(
            serialization.Encoding.PEM, form, serialization.NoEncryption()
        )
        write_sealed(path, made)
        data = made
    try:
        key = serialization.load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise InvalidValue("key file", str(path), "one Ed25519 private key in PEM, not encrypted")
    return key


def firmware_digest(told: str) -> bytes:
    """The firmware that a node states: a SHA-256 in hexadecimal, or the file to take it of."""
    if _DIGEST.match(told):
        return bytes.fromhex(told)
    try:
        with Path(told).open("rb") as file:
            found = os.fstat(file.fileno())
            is_firmware = stat.S_ISREG(found.st_mode) and found.st_size > 0
            whole = file_digest(file, "sha256") if is_firmware else None
    except OSError as error:
        expected = f"a SHA-256 in 64 hexadecimal digits, or a file to take it of ({error})"
        raise InvalidValue("--firmware", told, expected) from None
    if whole is None:  # a device may have no end
        raise InvalidValue("--firmware", told, "a plain file with something in it")
    return whole.digest()


@dataclass(frozen=True, slots=True)
class KeyFileProver:
    """Proves by a key in a file that the node holds it, and states its firmware."""

    kind: ClassVar[EvidenceKind] = EvidenceKind.ED25519
    key: Ed25519PrivateKey = field(repr=False)
    firmware: bytes

    @property
    def identity(self) -> bytes:
        """The public key."""
        return self.key.public_key().public_bytes_raw()

    def spell(self) -> str:
        """Who the node is, for an operator who decides whether to allow it."""
        return f"public key {self.identity.hex()}, firmware {self.firmware.hex()}"

    def offer(self) -> Mapping[str, bytes]:
        """What the node wants to be known by."""
        return {"public_key": self.identity}

    def prove(self, node: str, challenge: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """That it holds the key it offered."""
        nonce = challenge.get("nonce", b"")
        if not 16 <= len(nonce) <= 64:
            raise CannotAttest("the server's challenge holds no nonce of 16 to 64 bytes")
        return {"signature": self.key.sign(enrolment_statement(node, nonce))}

    def present(self, node: str, nonce: bytes) -> Evidence:
        """The signed statement about the node now."""
        statement = statement_of(node, nonce, firmware=self.firmware)
        return Evidence(self.kind, {"statement": statement, "signature": self.key.sign(statement)})
