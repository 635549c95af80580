"""Signed checkpoints: what the log says of itself, in a form that other tools verify.

Rules (C2SP signed-note, tlog-checkpoint, tlog-cosignature):

- A checkpoint is a text of origin, size, root in base64 and optional extension lines; then an
  empty line; then signature lines. It is at most 256 KiB, with at most 64 signatures.
- It is trusted if a known log key signed it and its origin is that key's name. A signature of a
  known key that does not verify refuses the whole note; unknown keys are passed over.
- A witness signs text *and* time. A quorum counts distinct witness keys, never names, and a
  witness is never the log itself.
- A checkpoint is signed over what was computed, and the signature is checked before it leaves.

>>> from bailiwick.journal.keys import SeedSigner
>>> from bailiwick.journal.merkle import EMPTY_ROOT
>>> signer = SeedSigner("log.example/fleet", bytes(range(32)))
>>> note = sign_checkpoint(Checkpoint("log.example/fleet", 0, EMPTY_ROOT), signer)
>>> verify_checkpoint(note, [VerifierKey.of(signer)]).checkpoint.size
0
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.journal.keys import (
    SIGNATURE_BYTES,
    KeyAlgorithm,
    Signer,
    VerifierKey,
    check_key_name,
    decode_base64,
    signature_holds,
)
from bailiwick.journal.merkle import HASH_BYTES, SIZE_MAX, check_hash
from bailiwick.journal.words import NoteFault
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer, check_unique

NOTE_BYTES_MAX = 256 * 1024
SIGNATURES_MAX = 64
TIMESTAMP_MAX = 2**63 - 1
_SIZE = re.compile("0|[1-9][0-9]{0,18}")
_DASH = "— "


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The log at one size: its origin, how many records, and the root over them."""

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_integer("size", self.size, low=0, high=SIZE_MAX)
        check_hash("root", self.root)
        for line in (self.origin, *self.extensions):
            if not isinstance(line, str) or not line or any(char < " " for char in line):
                raise InvalidValue("checkpoint line", line, "text without control characters")

    @property
    def text(self) -> str:
        """The text that is signed."""
        root = b64encode(self.root).decode("ascii")
        return "".join(f"{x}\n" for x in (self.origin, self.size, root, *self.extensions))


@dataclass(frozen=True, slots=True)
class NoteSignature:
    """One signature line: whose, and the bytes after the key's id."""

    name: str
    key_id: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class SignedNote:
    """A text and the signatures under it, none of them verified yet."""

    text: str
    signatures: tuple[NoteSignature, ...]


@dataclass(frozen=True, slots=True)
class Cosignature:
    """A witness that saw the checkpoint, and when."""

    name: str
    timestamp_s: int


@dataclass(frozen=True, slots=True)
class TrustedCheckpoint:
    """A checkpoint that a known log key signed, and the witnesses that verified."""

    checkpoint: Checkpoint
    key: VerifierKey
    witnesses: tuple[Cosignature, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusedCheckpoint:
    """A checkpoint that is not to be trusted: which check failed, on which name or count."""

    reason: NoteFault
    detail: str


CheckpointVerdict: TypeAlias = TrustedCheckpoint | RefusedCheckpoint


def parse_checkpoint(text: str) -> Checkpoint:
    """The checkpoint that a note's text is."""
    lines = text.split("\n")
    if len(lines) < 4 or lines[-1] or not _SIZE.fullmatch(lines[1]):
        raise InvalidValue("checkpoint", text, "lines of origin, size and root")
    root = decode_base64("root", lines[2])
    if len(root) != HASH_BYTES:
        raise InvalidValue("root", lines[2], f"{HASH_BYTES} bytes in base64")
    return Checkpoint(lines[0], int(lines[1]), root, tuple(lines[3:-1]))


def parse_note(data: bytes) -> SignedNote:
    """The text and signatures of a note; its form is checked, its signatures are not."""
    if len(data) > NOTE_BYTES_MAX:
        raise InvalidValue("note", len(data), f"at most {NOTE_BYTES_MAX} bytes")
    try:
        whole = data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidValue("note", data, "UTF-8") from None
    if any(char < " " and char != "\n" for char in whole):
        raise InvalidValue("note", whole, "no control character but newlines")
    body, blank, below = whole.rpartition("\n\n")
    lines = below.split("\n")
    if not blank or lines.pop() or not 0 < len(lines) <= SIGNATURES_MAX:
        raise InvalidValue("note", whole, f"a text and 1 to {SIGNATURES_MAX} signature lines")
    return SignedNote(body + "\n", tuple(_parse_signature(line) for line in lines))


def _parse_signature(line: str) -> NoteSignature:
    parts = line.removeprefix(_DASH).split(" ")
    if not line.startswith(_DASH) or len(parts) != 2:
        raise InvalidValue("signature line", line, "dash, name and base64")
    packed = decode_base64("signature", parts[1])
    if len(packed) < 5:
        raise InvalidValue("signature", line, "a key id and a signature")
    return NoteSignature(check_key_name("name", parts[0]), packed[:4], packed[4:])


def sign_checkpoint(checkpoint: Checkpoint, signer: Signer) -> bytes:
    """The checkpoint with the log's signature under it."""
    if signer.name != checkpoint.origin:
        raise InvalidValue("origin", checkpoint.origin, f"the signer's name {signer.name!r}")
    text = checkpoint.text
    line = _signature_line(signer, text.encode("utf-8"), algorithm=KeyAlgorithm.ED25519)
    return f"{text}\n{line}".encode()


def cosign_checkpoint(note: bytes, signer: Signer, *, timestamp_s: int) -> bytes:
    """The note with a witness's line added. What it attests is for the witness to have checked."""
    check_integer("timestamp_s", timestamp_s, low=1, high=TIMESTAMP_MAX)
    text = parse_note(note).text
    parse_checkpoint(text)
    line = _signature_line(
        signer,
        _cosigned_message(text, timestamp_s),
        algorithm=KeyAlgorithm.COSIGNATURE,
        before=timestamp_s.to_bytes(8, "big"),
    )
    return note + line.encode()


def _cosigned_message(text: str, timestamp_s: int) -> bytes:
    return f"cosignature/v1\ntime {timestamp_s}\n{text}".encode()


def _signature_line(
    signer: Signer, message: bytes, *, algorithm: KeyAlgorithm, before: bytes = b""
) -> str:
    key = VerifierKey.of(signer, algorithm)
    signature = signer.sign(message)
    if not signature_holds(key.public_key, message, signature=signature):
        raise InvalidValue("signature", signature, f"one that {key.name}'s key verifies")
    packed = b64encode(key.id + before + signature).decode("ascii")
    return f"{_DASH}{key.name} {packed}\n"


def verify_checkpoint(
    data: bytes,
    keys: Sequence[VerifierKey],
    *,
    witnesses: Sequence[VerifierKey] = (),
    quorum: int = 0,
) -> CheckpointVerdict:
    """Whether a known log key, and at least ``quorum`` of the witnesses, signed the checkpoint."""
    _check_roles(keys, witnesses, quorum=quorum)
    try:
        note = parse_note(data)
        checkpoint = parse_checkpoint(note.text)
    except InvalidValue as error:
        return RefusedCheckpoint(NoteFault.MALFORMED, error.field)
    signers: list[VerifierKey] = []
    seen: dict[bytes, Cosignature] = {}
    for line in note.signatures:
        for key in _named_by(line, keys):
            if not signature_holds(
                key.public_key, note.text.encode("utf-8"), signature=line.signature
            ):
                return RefusedCheckpoint(NoteFault.BAD_SIGNATURE, key.name)
            signers.append(key)
        for key in _named_by(line, witnesses):
            cosignature = _check_cosignature(line, key, text=note.text)
            if cosignature is None:
                return RefusedCheckpoint(NoteFault.BAD_SIGNATURE, key.name)
            seen[key.public_key] = cosignature
    if not signers:
        names = ", ".join(line.name for line in note.signatures)
        return RefusedCheckpoint(NoteFault.UNKNOWN_KEY, names)
    own = [key for key in signers if key.name == checkpoint.origin]
    if not own:
        return RefusedCheckpoint(NoteFault.ORIGIN_MISMATCH, checkpoint.origin)
    if len(seen) < quorum:
        return RefusedCheckpoint(NoteFault.TOO_FEW_WITNESSES, str(len(seen)))
    return TrustedCheckpoint(checkpoint, own[0], tuple(seen.values()))


def _check_roles(
    keys: Sequence[VerifierKey], witnesses: Sequence[VerifierKey], *, quorum: int
) -> None:
    if any(key.algorithm is not KeyAlgorithm.ED25519 for key in keys):
        raise InvalidValue("keys", len(keys), "log keys (algorithm 1)")
    if any(key.algorithm is not KeyAlgorithm.COSIGNATURE for key in witnesses):
        raise InvalidValue("witnesses", len(witnesses), "witness keys (algorithm 4)")
    check_integer("quorum", quorum, low=0, high=len(witnesses))
    check_unique("public_key", [key.public_key for key in (*keys, *witnesses)])


def _named_by(line: NoteSignature, keys: Sequence[VerifierKey]) -> list[VerifierKey]:
    return [key for key in keys if (key.name, key.id) == (line.name, line.key_id)]


def _check_cosignature(line: NoteSignature, key: VerifierKey, *, text: str) -> Cosignature | None:
    if len(line.signature) != 8 + SIGNATURE_BYTES:
        return None
    timestamp_s = int.from_bytes(line.signature[:8], "big")
    message = _cosigned_message(text, timestamp_s)
    if timestamp_s > TIMESTAMP_MAX:
        return None
    if not signature_holds(key.public_key, message, signature=line.signature[8:]):
        return None
    return Cosignature(key.name, timestamp_s)
