"""Judging published test cases: logs, checkpoints and pairs of them, each valid or not.

The format is that of ``attestation-lab/tlog/1``: kind ``tlog`` names a log (a folder of tiles), a
verifier key, a checkpoint, and perhaps the field that links each JSON entry to the one before;
kind ``consistency`` names an old and a new checkpoint of one log.

Rules:

- Checks are made in the order of :class:`CaseReason`; the first that fails gives the reason.
- A ``tlog`` case reads everything: every tile of every level that the size implies must agree
  with the checkpoint's root, and every entry with its leaf. A tile or bundle of the wrong length
  agrees with nothing.
- Paths are relative, without ``..``; reading is handed in, as ``read(path)``, bytes or None.
- A case that is no case (an unknown kind, a missing field) is an error, not a verdict. Fields
  that no check uses are told in ``unused``.

>>> judge_case({"id": "x", "kind": "tlog", "log": "x", "vkey": "x", "checkpoint": "x"}, str.encode)
JudgedCase(case='x', verdict=<CaseVerdict.INVALID: ...>, reason=<CaseReason.MALFORMED: ...>, ...)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256

from bailiwick.journal.keys import VerifierKey, WeakKey, parse_vkey
from bailiwick.journal.merkle import Frontier, ProofHolds, leaf_hash, prove_consistency, root_of
from bailiwick.journal.merkle import verify_consistency as verify_proof
from bailiwick.journal.note import Checkpoint, TrustedCheckpoint, verify_checkpoint
from bailiwick.journal.record import GENESIS_HASH
from bailiwick.journal.tiles import (
    TILE_WIDTH,
    Reader,
    TileHashes,
    read_entries,
    read_tile,
    subtree_root,
    tile_widths,
)
from bailiwick.vocab.errors import InvalidValue, NotFound

_TEXTUAL = frozenset(("id", "kind", "expect", "reason", "note"))
_USED = {
    "tlog": frozenset(("log", "vkey", "checkpoint", "hash_chain")),
    "consistency": frozenset(("log", "vkey", "old", "new")),
}


class CaseVerdict(StrEnum):
    """What a case turned out to be."""

    VALID = "valid"
    INVALID = "invalid"


class CaseReason(StrEnum):
    """Why a case is invalid, in the order the checks are made."""

    MALFORMED = "malformed"
    WEAK_KEY = "weak_key"
    UNKNOWN_KEY = "unknown_key"
    BAD_SIGNATURE = "bad_signature"
    ORIGIN_MISMATCH = "origin_mismatch"
    MISSING_FILE = "missing_file"
    ROOT_MISMATCH = "root_mismatch"
    ENTRY_HASH = "entry_hash"
    HASH_CHAIN = "hash_chain"
    INCONSISTENT = "inconsistent"


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """The verdict on one case, and the fields of it that nothing looked at."""

    case: str
    verdict: CaseVerdict
    reason: CaseReason | None
    unused: tuple[str, ...] = ()


class _Refused(Exception):
    """A check failed; caught where the verdict is made."""

    def __init__(self, reason: CaseReason) -> None:
        super().__init__(reason)
        self.reason = reason


def judge_case(case: Mapping[str, object], read: Reader) -> JudgedCase:
    """The verdict on one case of the format."""
    kind = _text(case, "kind")
    judges: dict[str, Callable[[Mapping[str, object], Reader], None]] = {
        "tlog": _judge_log,
        "consistency": _judge_consistency,
    }
    if kind not in judges:
        raise InvalidValue("kind", kind, "one of " + ", ".join(sorted(judges)))
    name = _text(case, "id")
    unused = tuple(sorted(set(case) - _TEXTUAL - _USED[kind]))
    try:
        judges[kind](case, read)
    except _Refused as refused:
        return JudgedCase(name, CaseVerdict.INVALID, refused.reason, unused)
    return JudgedCase(name, CaseVerdict.VALID, None, unused)


def _judge_log(case: Mapping[str, object], read: Reader) -> None:
    checkpoint = _trusted(case, "checkpoint", read=read)
    reader = _within(_path(case, "log"), read)
    link = _text(case, "hash_chain") if case.get("hash_chain") is not None else None
    try:
        _check_tiles(checkpoint, reader)
        _check_entries(checkpoint, reader, link=link)
    except NotFound:
        raise _Refused(CaseReason.MISSING_FILE) from None


def _judge_consistency(case: Mapping[str, object], read: Reader) -> None:
    old = _trusted(case, "old", read=read)
    new = _trusted(case, "new", read=read)
    if old.size > new.size:
        raise _Refused(CaseReason.INCONSISTENT)
    tiles = TileHashes(_within(_path(case, "log"), read), new.size)
    try:
        if root_of(tiles, new.size) != new.root:
            raise _Refused(CaseReason.ROOT_MISMATCH)
        proof = prove_consistency(tiles, old.size, new_size=new.size)
    except NotFound:
        raise _Refused(CaseReason.MISSING_FILE) from None
    except InvalidValue:
        raise _Refused(CaseReason.ROOT_MISMATCH) from None
    if not isinstance(verify_proof(proof, old_root=old.root, new_root=new.root), ProofHolds):
        raise _Refused(CaseReason.INCONSISTENT)


def _check_tiles(checkpoint: Checkpoint, read: Reader) -> None:
    """Every level: the leaves give the signed root, and each tile above repeats those below."""
    tree = Frontier()
    below: list[bytes] = []
    above: list[bytes] = []
    current = 0
    for level, index, width in tile_widths(checkpoint.size):
        if level != current:
            current, below, above = level, above, []
        tile = _tile(read, level, index=index, width=width)
        if level and tile != tuple(below[index * TILE_WIDTH : index * TILE_WIDTH + width]):
            raise _Refused(CaseReason.ROOT_MISMATCH)
        for leaf in () if level else tile:
            tree.append(leaf)
        if width == TILE_WIDTH:
            above.append(subtree_root(tile))
    if tree.root() != checkpoint.root:
        raise _Refused(CaseReason.ROOT_MISMATCH)


def _tile(read: Reader, level: int, *, index: int, width: int) -> tuple[bytes, ...]:
    try:
        return read_tile(read, level, index=index, width=width)
    except InvalidValue:
        raise _Refused(CaseReason.ROOT_MISMATCH) from None


def _check_entries(checkpoint: Checkpoint, read: Reader, *, link: str | None) -> None:
    """Every entry hashes to its leaf, and where a link is named, names the entry before."""
    broken_link = False
    before = GENESIS_HASH
    for level, index, width in tile_widths(checkpoint.size):
        if level:
            break
        tile = _tile(read, 0, index=index, width=width)
        try:
            entries = read_entries(read, index, width=width)
        except InvalidValue:
            raise _Refused(CaseReason.ENTRY_HASH) from None
        if tuple(leaf_hash(entry) for entry in entries) != tile:
            raise _Refused(CaseReason.ENTRY_HASH)
        for entry in () if link is None else entries:
            broken_link = broken_link or _linked_to(entry, link) != before
            before = sha256(entry).hexdigest()
    if broken_link:
        raise _Refused(CaseReason.HASH_CHAIN)


def _linked_to(entry: bytes, link: str | None) -> object:
    try:
        value = json.loads(entry)
    except (ValueError, RecursionError):
        return None
    return value.get(link) if isinstance(value, dict) else None


def _trusted(case: Mapping[str, object], field: str, *, read: Reader) -> Checkpoint:
    path = _path(case, field)
    data = read(path)
    if data is None:
        raise NotFound("checkpoint", path)
    verdict = verify_checkpoint(data, [_vkey(case)])
    if isinstance(verdict, TrustedCheckpoint):
        return verdict.checkpoint
    raise _Refused(CaseReason(verdict.reason.value))


def _vkey(case: Mapping[str, object]) -> VerifierKey:
    text = _text(case, "vkey")
    try:
        return parse_vkey(text)
    except WeakKey:
        raise _Refused(CaseReason.WEAK_KEY) from None
    except InvalidValue:
        raise _Refused(CaseReason.MALFORMED) from None


def _text(case: Mapping[str, object], field: str) -> str:
    value = case.get(field)
    if not isinstance(value, str) or not value:
        raise InvalidValue(f"case.{field}", value, "a text")
    return value


def _path(case: Mapping[str, object], field: str) -> str:
    path = _text(case, field)
    if path.startswith("/") or "\\" in path or ".." in path.split("/"):
        raise InvalidValue(f"case.{field}", path, "a relative path without '..'")
    return path


def _within(folder: str, read: Reader) -> Reader:
    return lambda path: read(f"{folder}/{path}")
