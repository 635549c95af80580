"""What the fold remembers between records: the nodes that are there, and what each lease holds.

Rules:

- A lease's account is made once for all leases alike, since most of them are.
- GPU shares are spread evenly over the devices that the record names; what is not even, or on a
  device or of a resource that the node has not, is no wish that can be met.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from bailiwick.metering.meter import Meter, Pool
from bailiwick.metering.owners import IDLE, Account, Idle, Stage, Unavailable
from bailiwick.metering.records import FoldedRecord
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import HardwareGeneration, LeaseClass

_GPU = "gpu_milli"


@dataclass(slots=True)
class Node:
    """A node that is there."""

    plain: dict[str, Pool] = field(default_factory=dict)
    """Its cores, memory and block storage, by word."""
    gpus: list[Pool] = field(default_factory=list)
    mode: NodeMode = NodeMode.ACCEPTING
    is_quarantined: bool = False
    free: Idle | Unavailable = IDLE
    leases: set[int] = field(default_factory=set)
    lost: list[int] = field(default_factory=list)
    """The parts of leases that were lost with it, to be closed with it."""

    masks: dict[int, list[Pool]] = field(default_factory=dict)
    """The devices of every mask that was asked for."""

    def pools(self) -> list[Pool]:
        """All its shares."""
        return [*self.plain.values(), *self.gpus]

    def devices(self, mask: int) -> list[Pool] | None:
        """The devices that a mask names; ``None`` if it names one that is not there."""
        found = self.masks.get(mask)
        if found is None and mask >> len(self.gpus) == 0:
            found = [pool for index, pool in enumerate(self.gpus) if mask >> index & 1]
            self.masks[mask] = found
        return found


@dataclass(slots=True)
class LeasePayer:
    """An account, and the core's numbers for it by kind and generation of the share."""

    account: Account
    numbers: dict[int, int] = field(default_factory=dict)


Want: TypeAlias = tuple[int, int, int]
"""What the core is asked for: a part that is free, how much of it, and for which account."""


@dataclass(slots=True)
class Hold:
    """What a lease holds: a part of each share; for whose account, the core knows."""

    node: str
    holder: int
    """Who holds it in the core: the lease, or why nobody does any more."""
    parts: tuple[int, ...]
    until_ms: int
    """When its term, or its grace, is over."""
    stage: Stage = Stage.HELD


class Payers:
    """The accounts of leases, and what a lease wants for them."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._payers: dict[tuple[str | None, ...], LeasePayer] = {}

    def wants(self, node: Node, record: FoldedRecord, *, mask: int) -> list[Want] | int:
        """What a lease takes of a node's shares; or an amount that the node cannot have at all."""
        amounts: Mapping[str, int] = record.body["resources"]
        pools, milli = node.devices(mask), amounts.get(_GPU, 0)
        if pools is None or (milli and not pools) or (pools and milli % len(pools)):
            return milli
        first = pools[0].share.generation if pools else None
        payer = self._payer(record, first)
        found: list[Want] = []
        for word, amount in amounts.items():
            if word == _GPU or not amount:
                continue
            plain = node.plain.get(word)
            if plain is None:
                return amount
            found.append((plain.free, amount, self._number(plain, payer)))
        if milli:
            each, number = milli // len(pools), self._number(pools[0], payer)
            for pool in pools:
                if pool.accounts is not pools[0].accounts:
                    other = self._payer(record, pool.share.generation)
                    found.append((pool.free, each, self._number(pool, other)))
                else:
                    found.append((pool.free, each, number))
        return found

    def _number(self, pool: Pool, payer: LeasePayer) -> int:
        """The core's number for what an account uses of such a share."""
        # Accounts of one kind and generation of share are one table: its identity is the key.
        number = payer.numbers.get(id(pool.accounts))
        if number is None:
            number = self._meter.account(pool, payer.account)
            payer.numbers[id(pool.accounts)] = number
        return number

    def _payer(self, record: FoldedRecord, generation: HardwareGeneration | None) -> LeasePayer:
        tag, word = record.body.get("tag"), record.body["lease_class"]
        of_gpus = None if generation is None else generation.value
        key = (record.tenant, record.project, tag, word, of_gpus)
        payer = self._payers.get(key)
        if payer is None:
            account = Account(str(record.tenant), record.project, tag, LeaseClass(word), generation)
            payer = self._payers[key] = LeasePayer(account)
        return payer
