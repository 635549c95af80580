"""What the fold remembers between records: the nodes that are there, and what each lease holds.

Rules:

- A lease's account is made once for all leases alike, since most of them are.
- GPU shares are spread evenly over the devices that the record names; what is not even, or on a
  device or of a resource that the node has not, is no wish that can be met.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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

    def pools(self) -> list[Pool]:
        """All its shares."""
        return [*self.plain.values(), *self.gpus]


@dataclass(slots=True)
class LeasePayer:
    """An account, and the core's numbers for it by kind and generation of the share."""

    account: Account
    numbers: dict[int, int] = field(default_factory=dict)
    started: int = 0
    """How many leases began for it."""
    running: int = 0
    """And how many of them hold something still."""


Want: TypeAlias = tuple[Pool, int, LeasePayer]
"""So much of a share, for an account."""


@dataclass(slots=True)
class Hold:
    """What a lease holds: of each share a part, for an account."""

    node: str
    holder: int
    """Who holds it in the core: the lease, or why nobody does any more."""
    parts: tuple[int, ...]
    wants: Sequence[Want]
    """What it asked for, by part."""
    until_ms: int
    """When its term, or its grace, is over."""
    stage: Stage = Stage.HELD

    def pools(self) -> Iterator[tuple[int, Pool]]:
        """Each of its parts, and of which share that is."""
        return zip(self.parts, (want[0] for want in self.wants), strict=True)


class Payers:
    """The accounts of leases, and what a lease wants for them."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._payers: dict[tuple[str | None, ...], LeasePayer] = {}

    def wants(self, node: Node, record: FoldedRecord, *, mask: int) -> list[Want] | int:
        """What a lease takes of a node's shares; or an amount that the node cannot have at all."""
        amounts: Mapping[str, int] = record.body["resources"]
        pools = [pool for i, pool in enumerate(node.gpus) if mask >> i & 1]
        milli = amounts.get(_GPU, 0)
        is_told = mask >> len(node.gpus) == 0 and (not milli or bool(pools))
        if not is_told or (pools and milli % len(pools)):
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
            found.append((plain, amount, payer))
        for pool in pools if milli else ():
            generation = pool.share.generation
            of_pool = payer if generation is first else self._payer(record, generation)
            found.append((pool, milli // len(pools), of_pool))
        return found

    def number(self, pool: Pool, payer: LeasePayer) -> int:
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
        payer = self._payers.get((record.tenant, record.project, tag, word, of_gpus))
        if payer is None:
            tenant, lease_class = str(record.tenant), LeaseClass(word)
            return self.of(Account(tenant, record.project, tag, lease_class, generation))
        return payer

    def __iter__(self) -> Iterator[LeasePayer]:
        return iter(self._payers.values())

    def of(self, account: Account) -> LeasePayer:
        """The payer of an account of a lease that is held."""
        of_gpus = None if account.generation is None else account.generation.value
        key = (account.tenant, account.project, account.tag, account.lease_class.value, of_gpus)
        return self._payers.setdefault(key, LeasePayer(account))
