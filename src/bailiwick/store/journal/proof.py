"""One record, proven alone: a file that anyone checks with nothing but the log's public key.

Rules:

- The file is a C2SP tlog-proof: format line, the record (as ``extra``, in base64), its index, the
  hashes up to the root, an empty line, and the signed checkpoint as it was published.
- A proof is made from tiles, in time logarithmic in the log, without reading the journal.
- The record is believed only because it hashes to the leaf; it must also bear the number of the
  place where it was found.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.journal import (
    CHECKPOINT_PATH,
    Checkpoint,
    InclusionProof,
    ProofFails,
    ProofFault,
    Record,
    RecordFault,
    RecordRefused,
    RefusedCheckpoint,
    TileHashes,
    TrustedCheckpoint,
    VerifierKey,
    leaf_hash,
    parse_record,
    prove_inclusion,
    verify_checkpoint,
    verify_inclusion,
)
from bailiwick.journal.keys import decode_base64
from bailiwick.journal.merkle import HASH_BYTES
from bailiwick.journal.tiles import TILE_WIDTH, read_entries
from bailiwick.store.journal.files import JournalDamaged, JournalDirectory, TileDiffers
from bailiwick.vocab.errors import InvalidValue, NotFound
from bailiwick.vocab.values import check_integer

FORMAT = "c2sp.org/tlog-proof@v1"
_HEAD = re.compile(
    rf"{re.escape(FORMAT)}\nextra ([A-Za-z0-9+/=]+)\nindex (0|[1-9][0-9]{{0,15}})\n"
    r"((?:[A-Za-z0-9+/]{43}=\n){0,63})"
)


@dataclass(frozen=True, slots=True)
class RecordProof:
    """A record's bytes, its place, the hashes up to the root, and the checkpoint, unverified."""

    canonical: bytes
    index: int
    hashes: tuple[bytes, ...]
    checkpoint: bytes

    @property
    def text(self) -> bytes:
        """The proof as a file."""
        lines = [FORMAT, f"extra {_base64(self.canonical)}", f"index {self.index}"]
        lines += [_base64(value) for value in self.hashes]
        return "".join(f"{line}\n" for line in lines).encode("ascii") + b"\n" + self.checkpoint


@dataclass(frozen=True, slots=True)
class Proven:
    """The record is in the log that the key signed."""

    record: Record
    checkpoint: Checkpoint


@dataclass(frozen=True, slots=True)
class Unproven:
    """The proof proves nothing: what failed, the checkpoint, the way to its root or the record."""

    index: int
    why: RefusedCheckpoint | ProofFails | RecordFault

    @property
    def word(self) -> str:
        """The closed word for it."""
        return str(self.why if isinstance(self.why, RecordFault) else self.why.reason)


ProofResult: TypeAlias = Proven | Unproven


def _base64(data: bytes) -> str:
    return b64encode(data).decode("ascii")


def parse_proof(data: bytes) -> RecordProof:
    """The proof that this file is; its form is checked, nothing in it is believed yet."""
    head, blank, checkpoint = data.partition(b"\n\n")
    found = _HEAD.fullmatch(head.decode("ascii", "replace") + "\n")
    if found is None or not blank:
        raise InvalidValue("proof", data[:80], f"a {FORMAT} file with the record as extra")
    hashes = tuple(decode_base64("hash", line) for line in found[3].split())
    if any(len(value) != HASH_BYTES for value in hashes):
        raise InvalidValue("hash", len(hashes), f"{HASH_BYTES} bytes each")
    return RecordProof(decode_base64("extra", found[1]), int(found[2]), hashes, checkpoint)


def check_proof(proof: RecordProof, key: VerifierKey) -> ProofResult:
    """Whether the record is in the log whose key this is."""
    verdict = verify_checkpoint(proof.checkpoint, [key])
    if not isinstance(verdict, TrustedCheckpoint):
        return Unproven(proof.index, verdict)
    signed = verdict.checkpoint
    path = InclusionProof(proof.index, signed.size, proof.hashes)
    judged = verify_inclusion(leaf_hash(proof.canonical), path, root=signed.root)
    if isinstance(judged, ProofFails):
        return Unproven(proof.index, judged)
    try:
        record = parse_record(proof.canonical)
    except RecordRefused as refused:
        return Unproven(proof.index, refused.fault)
    if record.seq != proof.index:
        return Unproven(proof.index, ProofFails(ProofFault.OUT_OF_RANGE, signed.size))
    return Proven(record, signed)


def prove_record(places: JournalDirectory, seq: int, *, key: VerifierKey) -> RecordProof:
    """The proof of one record, from the tiles of a journal."""
    note = places.read(CHECKPOINT_PATH)
    if note is None:
        raise NotFound("checkpoint", str(places.checkpoint), hint="one is written on closing")
    verdict = verify_checkpoint(note, [key])
    if not isinstance(verdict, TrustedCheckpoint):
        raise JournalDamaged(places.root, verdict)
    size = verdict.checkpoint.size
    check_integer("seq", seq, low=0, high=size - 1)
    index, place = divmod(seq, TILE_WIDTH)
    width = min(TILE_WIDTH, size - index * TILE_WIDTH)
    try:
        path = prove_inclusion(TileHashes(places.read, size), seq, size=size)
        entry = read_entries(places.read, index, width=width)[place]
    except NotFound as missing:
        raise JournalDamaged(places.root, TileDiffers(seq, str(missing.name), True)) from None
    except InvalidValue as wrong:
        raise JournalDamaged(places.root, TileDiffers(seq, f"a {wrong.field}", False)) from None
    return RecordProof(entry, seq, path.hashes, note)
