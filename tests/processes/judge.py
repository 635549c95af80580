"""Judges a run by its database alone: plain SQL, plain JSON, and a fold of a few dozen lines.

Only the verifier of the chain is the product's, and the replay at the end, which is what is judged.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import psycopg

from bailiwick.journal import Verified, parse_record, verify_lines
from bailiwick.journal.anchor import GENESIS
from bailiwick.kernel import Kernel, digest_of
from tests.processes.load import Told
from tests.support.naive_kernel import fold

Row = tuple[int, int, bytes]
ENDS = ("lease_released", "lease_expired", "lease_preempted", "fence_cleared")


def rows_of(where: str, first: int = 0) -> list[Row]:
    """Number, epoch and line of every record from one on, from the database itself."""
    query = f"SELECT seq, epoch, line FROM journal WHERE seq >= {first} ORDER BY seq"
    if "://" in where:
        with psycopg.connect(where) as server:
            return [
                (seq, epoch, bytes(line)) for seq, epoch, line in server.execute(query.encode())
            ]
    file = sqlite3.connect(Path(where) / "bailiwick.db")
    try:
        return file.execute(query).fetchall()
    finally:
        file.close()


class Judge:
    """Knows one database, and what it has seen of it; each look goes on from there."""

    def __init__(self, where: str) -> None:
        self.where = where
        self._anchor = GENESIS
        self._epoch = 0
        self._by_key: dict[tuple[str, str], dict[str, Any]] = {}
        self._checked: set[tuple[str, str]] = set()
        self._room: dict[str, Counter[str]] = {}
        self._held: dict[int, tuple[str, Counter[str]]] = {}
        self._given: set[int] = set()

    def check(self, told: Iterable[Told]) -> int:
        """Everything that must hold at any moment; how many records there are."""
        told = list(told)  # before the journal is read: what was told by now must be in it
        rows = rows_of(self.where, self._anchor.size)
        verdict = verify_lines([line for _, _, line in rows], self._anchor)
        assert isinstance(verdict, Verified), verdict
        self._anchor = verdict.anchor
        for row in rows:
            record = json.loads(row[2])
            self._check_epoch(row, record)
            self._note_key(record)
            self._check_room(record)
        for each in told:
            if (each.actor, each.key) not in self._checked:
                self._checked.add((each.actor, each.key))
                self._check_told(each)
        return self._anchor.size

    def check_digest(self, size: int, digest: str) -> None:
        """The records add up to the state that a replica said it had, twice over."""
        records = [parse_record(line[:-1]) for _, _, line in rows_of(self.where)[:size]]
        kernel = Kernel()
        kernel.replay(records, check_digests=True)
        assert (kernel.state.size, digest_of(kernel.state)) == (size, digest)
        fold(records).compare(kernel.state)

    def _check_epoch(self, row: Row, record: dict[str, Any]) -> None:
        """Every record is of the leader elected last, and each was elected with a later epoch."""
        seq, epoch, _ = row
        assert record["seq"] == seq
        if record["kind"] == "leader_elected":
            assert record["body"]["epoch"] > self._epoch, f"record {seq}: an epoch twice"
            self._epoch = record["body"]["epoch"]
        assert epoch == self._epoch, f"record {seq} is of epoch {epoch}, the leader of an other"

    def _note_key(self, record: dict[str, Any]) -> None:
        """No key takes effect twice."""
        key = record["body"].get("key")
        if key is not None:
            assert (record["actor"], key) not in self._by_key, f"{key} took effect twice"
            self._by_key[record["actor"], key] = record

    def _check_told(self, each: Told) -> None:
        """What somebody was told is there, as it was told."""
        found = self._by_key.get((each.actor, each.key))
        if each.error:
            assert found is None, f"{each} failed, but took effect: {found}"
            return
        word = each.answer["answer"]
        if word == "done" and each.answer["seq"] is None:
            return
        assert found is not None, f"{each} is lost"
        match word:
            case "granted":
                assert found["kind"] == "admission_approved"
                assert found["body"]["lease_ids"] == each.answer["lease_ids"]
                assert found["body"]["nodes"] == each.answer["nodes"]
            case "queued":
                assert found["body"]["entry_id"] == each.answer["entry_id"]
            case "refused":
                renews = each.command["command"] == "renew"
                assert found["kind"] == ("renewal_denied" if renews else "admission_denied")
            case "done":
                assert found["seq"] == each.answer["seq"]
            case _:
                raise AssertionError(word)

    def _check_room(self, record: dict[str, Any]) -> None:
        """No lease is given twice, and no node or device ever holds more than it has."""
        body = record["body"]
        if record["kind"] == "node_registered":
            devices = {f"gpu-{i}": 1000 for i in range(len(body.get("gpu_generations", ())))}
            self._room[body["node"]] = Counter({**body["resources"], **devices})
        elif record["kind"] == "admission_approved":
            masks = body.get("devices", [0] * len(body["lease_ids"]))
            for lease_id, node, mask in zip(body["lease_ids"], body["nodes"], masks, strict=True):
                self._grant(lease_id, node, takes=taken(body["resources"], mask))
        elif record["kind"] in ENDS:
            node, takes = self._held.pop(body["lease_id"])
            self._room[node].update(takes)

    def _grant(self, lease_id: int, node: str, *, takes: Counter[str]) -> None:
        assert lease_id not in self._given, f"lease {lease_id} was given twice"
        self._given.add(lease_id)
        self._room[node].subtract(takes)
        assert min(self._room[node].values()) >= 0, f"lease {lease_id}: {node} is overfull"
        self._held[lease_id] = (node, takes)


def taken(resources: dict[str, int], mask: int) -> Counter[str]:
    """What a lease takes, device by device."""
    takes = Counter(resources)
    mine = [index for index in range(64) if mask >> index & 1]
    for index in mine:
        takes[f"gpu-{index}"] = resources["gpu_milli"] // len(mine)
    return takes
