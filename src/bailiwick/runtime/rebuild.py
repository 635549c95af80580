"""A kernel made again from what a store has: the newest snapshot that can be trusted, and the tail.

Rules:

- A snapshot is taken only if its bytes have the digest that a ``state_checkpoint`` record in the
  journal itself vouches for; any other is passed over with a warning, and the next one is tried.
  With none left everything is replayed.
- Every record read is verified against the chain. A journal that is not what was sealed stops the
  start, and says at which record.
- With :class:`.Stamps`, so is who wrote it: nothing takes effect for others before a stamp proves
  it. What is followed is taken up in whole batches for that reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bailiwick.journal import Record, Verified, parse_record, verify_lines
from bailiwick.journal.anchor import Anchor, parse_anchor
from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel import Kernel, State, decode
from bailiwick.kernel.machine import Step
from bailiwick.ports import JournalStore, StoredSnapshot
from bailiwick.runtime.stamps import Stamps
from bailiwick.vocab.errors import BailiwickError, Damaged

Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Caught:
    """Records that were replayed: their lines, what each did, and whether there may be more."""

    lines: list[bytes]
    steps: list[Step]
    is_more: bool


def rebuild(
    store: JournalStore, *, read_max: int, warn: Warn, stamps: Stamps | None = None
) -> tuple[Kernel, int]:
    """The kernel at the journal's end, and the size of the snapshot it was made from (or 0)."""
    kernel, size = _from_snapshot(store, warn), 0
    if kernel is None:
        kernel = Kernel()
    else:
        size = kernel.state.size
    while catch_up(kernel, store, limit=read_max).is_more:  # bounded by the journal
        pass
    if stamps is not None:
        # Once, at the end: nobody has seen the state yet, and the last stamp proves all of it.
        stamps.check_end(store, kernel.chain.anchor())
    return kernel, size


def catch_up(
    kernel: Kernel, store: JournalStore, *, limit: int, stamps: Stamps | None = None
) -> Caught:
    """Replay about ``limit`` records; with stamps, only such as a leader of ours wrote."""
    first = kernel.state.size
    lines = store.read(first, limit)
    if not lines:
        return Caught([], [], is_more=False)
    is_more = len(lines) == limit
    if stamps is not None and is_more:
        lines = _whole_batches(lines, store, first=first, stamps=stamps)
    records, anchor = verified(lines, kernel.chain.anchor())
    if stamps is not None:
        stamps.check_end(store, anchor)
    return Caught(lines, kernel.follow(records, anchor), is_more=is_more)


def _whole_batches(
    lines: list[bytes], store: JournalStore, *, first: int, stamps: Stamps
) -> list[bytes]:
    """These lines up to the end of a batch; more are read if not even one batch is whole."""
    step = len(lines)
    while (end := stamps.batch_end(store, first, size=first + len(lines))) == first:
        more = store.read(first + len(lines), step)  # bounded by the journal
        lines = lines + more
        if len(more) < step:
            return lines
    return lines if end is None else lines[: end - first]


def verified(lines: list[bytes], anchor: Anchor) -> tuple[list[Record], Anchor]:
    """The records of lines that continue the chain from the anchor, and where it stands then."""
    verdict = verify_lines(lines, anchor)
    if not isinstance(verdict, Verified):
        raise Damaged(
            "journal",
            f"record {verdict.seq}",
            verdict.code,
            hint="restore the database from a backup; `bailiwick journal verify` tells more",
        )
    return [parse_record(line[:-1]) for line in lines], verdict.anchor


def _from_snapshot(store: JournalStore, warn: Warn) -> Kernel | None:
    for size in store.snapshots():
        try:
            found = store.load_snapshot(size)
            if found is not None:
                return _trusted(store, found)
            warn(f"snapshot {size} is passed over: not all of it is there")
        except (BailiwickError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, BailiwickError) and error.retryable:
                raise
            warn(f"snapshot {size} is passed over: {error}")
    return None


def _trusted(store: JournalStore, found: StoredSnapshot) -> Kernel:
    lines = store.read(found.size, 1)
    if not lines:
        raise Damaged("snapshot", found.size, "the journal is shorter than that")
    record = parse_record(lines[0][:-1])
    if record.kind is not RecordKind.STATE_CHECKPOINT or record.body["digest"] != found.digest:
        raise Damaged("snapshot", found.size, "no record of the journal vouches for it")
    anchor = parse_anchor(found.anchor)
    if anchor.hash != record.prev_hash or anchor.size != found.size:
        raise Damaged("snapshot", found.size, "its anchor is not where it was made")
    state: State = decode(found.data, found.digest)
    return Kernel(state, anchor)
