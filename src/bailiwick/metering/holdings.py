"""What the fold remembers between records: the nodes that are there, and what each lease holds.

Rules:

- A lease's account is made once for all leases alike, since most of them are.
- GPU shares are spread evenly over the devices that the record names; what is not even, or on a
  device or of a resource that the node has not, is no wish that can be met.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from bailiwick.metering.meter import Meter, SharePool
from bailiwick.metering.owners import IDLE, Account, Idle, Stage, UnavailableCapacity
from bailiwick.metering.records import FoldedRecord
from bailiwick.vocab.app_uses import MemberUse, member_use_in
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, PreemptionReason

_GPU = "gpu_milli"


@dataclass(frozen=True, slots=True)
class Devices:
    """Some of a node's devices: what of each is free, and of which generation the first is."""

    frees: tuple[int, ...]
    word: str | None
    others: tuple[SharePool, ...]
    """All of them again, if they are of several generations."""


@dataclass(slots=True)
class MeteredNode:
    """A node that is there."""

    plain: dict[str, SharePool] = field(default_factory=dict)
    """Its cores, memory and block storage, by word."""
    gpus: list[SharePool] = field(default_factory=list)
    mode: NodeMode = NodeMode.ACCEPTING
    is_quarantined: bool = False
    free: Idle | UnavailableCapacity = IDLE
    leases: set[int] = field(default_factory=set)
    lost: list[int] = field(default_factory=list)
    """The parts of leases that were lost with it, to be closed with it."""
    masks: dict[int, Devices] = field(default_factory=dict)
    """The devices of every mask that was asked for."""

    def pools(self) -> list[SharePool]:
        """All its shares."""
        return [*self.plain.values(), *self.gpus]

    def devices(self, mask: int) -> Devices | None:
        """The devices that a mask names; ``None`` if it names one that is not there."""
        if mask >> len(self.gpus):
            return None
        pools = tuple(pool for index, pool in enumerate(self.gpus) if mask >> index & 1)
        generations = [pool.share.generation for pool in pools]
        first = generations[0] if generations else None
        found = self.masks[mask] = Devices(
            tuple(pool.free for pool in pools),
            None if first is None else first.value,
            pools if len(set(generations)) > 1 else (),
        )
        return found


@dataclass(slots=True)
class LeasePayer:
    """An account, and the core's numbers for it by kind of resource."""

    account: Account
    numbers: dict[str, int] = field(default_factory=dict)


Want: TypeAlias = tuple[int, int, int]
"""What the core is asked for: a part that is free, how much of it, and for which account."""


class HoldEnding(NamedTuple):
    """How a lease comes to its end from here on; by these names an account tells it."""

    stage: Stage
    reason: PreemptionReason | None = None
    is_released: bool = False


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


_Key: TypeAlias = tuple[str | None, str | None, str | None, str, MemberUse | None, str | None]
"""Tenant, project, tag, lease class, whose member it is, and generation; as words."""


class Payers:
    """The accounts of leases, and what a lease wants for them."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._payers: dict[_Key, LeasePayer] = {}

    def wants(self, node: MeteredNode, record: FoldedRecord, *, mask: int) -> list[Want] | int:
        """What a lease takes of a node's shares; or an amount that the node cannot have at all."""
        body = record.body
        amounts: Mapping[str, int] = body["resources"]
        devices, milli = node.masks.get(mask) or node.devices(mask), amounts.get(_GPU, 0)
        if devices is None or (milli and (not devices.frees or milli % len(devices.frees))):
            return milli
        labels = body.get("job_labels")
        member = None if labels is None else member_use_in(labels)
        whose = record.tenant, record.project, body.get("tag"), body["lease_class"]
        key = (*whose, member, devices.word)
        payer = self._payers.get(key) or self._new(key)
        numbers, found = payer.numbers, []
        for word, amount in amounts.items():
            if word == _GPU or not amount:
                continue
            pool = node.plain.get(word)
            if pool is None:
                return amount
            number = numbers.get(word)
            if number is None:
                number = self._number(pool, payer)
            found.append((pool.free, amount, number))
        if milli and devices.others:
            found += self._mixed(key, devices.others, milli // len(devices.frees))
        elif milli:
            each, number = milli // len(devices.frees), numbers.get(_GPU)
            if number is None:
                number = self._number(node.gpus[(mask & -mask).bit_length() - 1], payer)
            found += [(free, each, number) for free in devices.frees]
        return found

    def _mixed(self, first: _Key, pools: Sequence[SharePool], each: int) -> Iterator[Want]:
        for pool in pools:
            generation = pool.share.generation
            key = (*first[:5], None if generation is None else generation.value)
            payer = self._payers.get(key) or self._new(key)
            yield pool.free, each, self._number(pool, payer)

    def _number(self, pool: SharePool, payer: LeasePayer) -> int:
        """The core's number for what an account uses of such a share."""
        word = pool.share.kind.value
        if word not in payer.numbers:
            payer.numbers[word] = self._meter.account(pool, payer.account)
        return payer.numbers[word]

    def _new(self, key: _Key) -> LeasePayer:
        tenant, project, tag, lease_class, member, word = key
        generation = None if word is None else HardwareGeneration(word)
        sort = LeaseClass(lease_class)
        account = Account(str(tenant), project, tag, sort, generation, member=member)
        payer = self._payers[key] = LeasePayer(account)
        return payer
