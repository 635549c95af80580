"""What operators write down about nodes: for each other, and for a time.

Rules:

- A note is one line of text. It has an author, who answers for it, and an end: it expires by
  itself, and anybody who may operate nodes can end it before.
- Its number is that of the record that wrote it, so no number is ever given twice.
- A node has no more than :data:`NOTES_MAX`, and the fleet no more than :data:`FLEET_NOTES_MAX`.
- Notes stay when the machine departs, until they expire: who takes it back into the fleet reads
  them. So they can also be ended when it is gone.
- Nothing is decided by them: no lease, no mode, no trust.
- What expires next is on top of a heap; a tick looks at nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any, Final

from bailiwick.journal.words import NoteOutcome
from bailiwick.kernel.fleet import commands as cmd
from bailiwick.kernel.fleet import events as ev
from bailiwick.vocab.clock_repair import ClockRepair
from bailiwick.vocab.errors import LimitReached, NotFound

NOTES_MAX: Final = 8
"""Notes of one node."""
FLEET_NOTES_MAX: Final = 100_000
"""Notes of all nodes, those that are gone among them."""
_SLACK: Final = 64


@dataclass(frozen=True, slots=True)
class OperatorNote:
    """One note, since when it stands there and until when."""

    note_id: int
    text: str
    author: str
    since_ms: int
    until_ms: int


class NoteBook:
    """The notes of all nodes."""

    def __init__(self) -> None:
        self._notes: dict[str, dict[int, OperatorNote]] = {}
        self._count = 0
        self._heap: list[tuple[int, str, int]] = []

    def __len__(self) -> int:
        return self._count

    def of(self, node: str) -> Mapping[int, OperatorNote]:
        """A node's notes by number, the oldest first."""
        return self._notes.get(node, {})

    def first_due(self, now_ms: int) -> tuple[str, int] | None:
        """The note that expires first, if that is now: its node and its number."""
        if not self._heap or self._heap[0][0] > now_ms:
            return None
        return self._heap[0][1:]

    def put(self, node: str, note: OperatorNote) -> None:
        """One more note."""
        self._notes.setdefault(node, {})[note.note_id] = note
        self._count += 1
        heappush(self._heap, (note.until_ms, node, note.note_id))

    def drop(self, node: str, note_id: int) -> None:
        """One note less."""
        held = self._notes[node]
        del held[note_id]
        if not held:
            del self._notes[node]
        self._count -= 1
        while self._heap and self._heap[0][2] not in self.of(self._heap[0][1]):
            heappop(self._heap)  # bounded: every round drops one
        if len(self._heap) > 2 * self._count + _SLACK:
            self._heap = [entry for entry in self._heap if entry[2] in self.of(entry[1])]
            heapify(self._heap)

    def dump(self) -> dict[str, list[list[Any]]]:
        """All notes as plain values, by node."""
        return {
            node: [
                [note.note_id, note.text, note.author, note.since_ms, note.until_ms]
                for note in self._notes[node].values()
            ]
            for node in sorted(self._notes)
        }

    def load(self, plain: Mapping[str, list[list[Any]]]) -> None:
        """Take up what :meth:`dump` told."""
        for node, rows in plain.items():
            for row in rows:
                self.put(node, OperatorNote(*row))


def repair(plain: Mapping[str, list[list[Any]]], clock: ClockRepair) -> None:
    """A note stands as long as it was meant to, whatever the clock said when it was written."""
    for rows in plain.values():
        for row in rows:
            row[3], row[4] = clock.past(row[3]), clock.end(row[4])


# -- deciding --------------------------------------------------------------------------------


def note_node(
    book: NoteBook, command: cmd.NoteNode, *, note_id: int, now_ms: int
) -> Iterator[ev.NodeNoted]:
    """One more note about a node that is there."""
    if len(book.of(command.node)) >= NOTES_MAX:
        raise LimitReached(f"notes of {command.node}", NOTES_MAX)
    if len(book) >= FLEET_NOTES_MAX:
        raise LimitReached("notes about nodes", FLEET_NOTES_MAX)
    until_ms = now_ms + command.ttl_ms
    yield ev.NodeNoted(command.node, note_id, command.text, command.author, until_ms)


def end_note(book: NoteBook, command: cmd.EndNote) -> Iterator[ev.NodeNoteEnded]:
    """A note that is not needed any more."""
    if command.note_id not in book.of(command.node):
        hint = f"bailiwick node show {command.node} tells those that there are"
        raise NotFound("note", command.note_id, hint=hint)
    yield ev.NodeNoteEnded(command.node, command.note_id, NoteOutcome.ENDED)


def expire(book: NoteBook, *, now_ms: int, limit: int) -> Iterator[ev.NodeNoteEnded]:
    """The notes whose time is over; whoever asks applies each before the next."""
    for _ in range(limit):
        due = book.first_due(now_ms)
        if due is None:
            return
        yield ev.NodeNoteEnded(*due, NoteOutcome.EXPIRED)
