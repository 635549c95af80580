"""The journals of real kernels, metered: against a reference that asks, for each stretch of time in
which nothing changed and each share, which of all leases there ever were held some of it then.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.journal import Record
from bailiwick.kernel import (
    ChangeMode,
    ChangeSettings,
    ClearFence,
    Command,
    DepartNode,
    Elect,
    Evict,
    LiftQuarantine,
    Quarantine,
    RegisterNode,
    Release,
    ReportTeardown,
    Settings,
    Tick,
)
from bailiwick.metering.core import has_compiled, new_core
from bailiwick.metering.fold import JournalMeter
from bailiwick.metering.meter import Meter
from bailiwick.metering.owners import Leased, Owner
from bailiwick.metering.records import MeterFindingWord
from bailiwick.metering.snapshot import read_meter, write_meter
from bailiwick.vocab.errors import BailiwickError, InvariantBroken
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, PreemptionReason, Priority
from tests.support.kernel_histories import Campus
from tests.support.wide_open import wide_settings
from tests.unit.billing.bill_makers import WORKER

HOPPER, AMPERE = HardwareGeneration.NVIDIA_HOPPER, HardwareGeneration.NVIDIA_AMPERE
ENDS = ("lease_released", "lease_expired", "lease_preempted", "fence_cleared")
Where = tuple[str, str, int]  # node, kind, index


# --- a campus that shares its devices ----------------------------------------------------------

TERMS: list[dict[str, Any]] = [
    {"gpu_milli": 400, "cpu_cores": 0.5},
    {"gpu_milli": 250, "mem_bytes": 3},
    {"gpu_milli": 600},
    {"gpu_count": 1, "cpu_cores": 1},
    {"gpu_count": 2, "block_bytes": 2},
    {"cpu_cores": 1.5, "mem_bytes": 2},
]


def crowded(seed: int, *, steps: int, is_seen: bool) -> list[Record]:
    """A few small nodes, shared by the milli; nodes are lost, with or without a proof of life."""
    chance, campus = Random(seed), Campus(now_ms=1_000)
    campus.do(Elect(1, "replica-1"), "kernel")
    campus.do(ChangeSettings(_settings(chance)), "kernel")
    for number in range(3):
        campus.do(RegisterNode(f"node-{number}", _node(chance)))
    for _ in range(steps):
        try:
            _act(campus, chance, is_seen)
        except InvariantBroken:
            raise
        except BailiwickError:
            continue
        campus.now_ms += chance.choice((0, 0, 1, 3, 10))
        if chance.random() < 0.3:
            campus.do(Tick(), "kernel")
    return campus.records


def _settings(chance: Random) -> Settings:
    return wide_settings(
        grace_ms=chance.choice((0, 5)),
        teardown_ms=chance.choice((1, 8)),
        confirm_teardown=chance.random() < 0.5,
        min_run_ms=0,
    )


def _node(chance: Random) -> NodeCapacity:
    kinds = [chance.choice((HOPPER, AMPERE)) for _ in range(chance.randrange(4))]
    labels = {"executor": "local"} if chance.random() < 0.3 else {}
    gpus = tuple(GpuDevice(kind, 8) for kind in kinds)
    return NodeCapacity(chance.choice((2, 4)), 8, chance.choice((0, 6)), gpus=gpus, labels=labels)


def _act(campus: Campus, chance: Random, is_seen: bool) -> None:
    held = sorted(campus.kernel.state.leases)
    roll = chance.random()
    if roll < 0.55 or not held:
        campus.submit(
            chance.choice(("a", "b")),
            wait=chance.random() < 0.5,
            project=chance.choice((None, "p")),
            tag=chance.choice((None, "t")),
            job_labels=chance.choice(({}, {}, {"team": "red"}, WORKER.labels())),
            priority=chance.choice(list(Priority)),
            lease_class=chance.choice(list(LeaseClass)),
            gang_size=chance.choice((1, 1, 1, 2)),
            ttl_ms=chance.choice((5, 20, 500)),
            **chance.choice(TERMS),
        )
    elif roll < 0.7:
        campus.do(Release(chance.choice(held)), "agent")
    elif roll < 0.76:
        campus.do(Evict((chance.choice(held),), PreemptionReason.OPERATOR_DRAIN, 0))
    elif roll < 0.82:
        for lease_id in held:
            with suppress(BailiwickError):
                campus.do(ReportTeardown(lease_id, chance.random() < 0.5), "executor")
    elif roll < 0.85 and campus.kernel.state.fenced:
        campus.do(ClearFence(min(campus.kernel.state.fenced)))
    else:
        campus.do(_operation(campus, chance, is_seen))


def _operation(campus: Campus, chance: Random, is_seen: bool) -> Command:
    name = f"node-{chance.randrange(3)}"
    if name not in campus.kernel.state.ledger:
        return RegisterNode(name, _node(chance))
    seen = campus.now_ms - chance.choice((0, 4, 30)) if is_seen else None
    return chance.choice(
        [
            ChangeMode(name, chance.choice(list(NodeMode))),
            ChangeMode(name, NodeMode.ACCEPTING),
            Quarantine(name, "evidence_is_stale", chance.choice((None, 0))),
            LiftQuarantine(name),
            DepartNode(name, seen),
        ]
    )


# --- the reference -----------------------------------------------------------------------------


@dataclass
class Held:
    """One lease: how much of what it has, and when it was what."""

    lease_id: int
    amounts: dict[Where, int]
    start_ms: int
    fenced_ms: int | None = None
    lost_ms: int | None = None
    end_ms: int | None = None

    def word_at(self, at_ms: int) -> str | None:
        """Whose its shares are then; ``None`` if they are not its any more."""
        if at_ms < self.start_ms or (self.end_ms is not None and at_ms >= self.end_ms):
            return None
        if self.lost_ms is not None and at_ms >= self.lost_ms:
            return "departed"
        if self.fenced_ms is not None and at_ms >= self.fenced_ms:
            return "fenced"
        return f"lease {self.lease_id}"


@dataclass
class Machine:
    """One stay of a node in the fleet."""

    node: str
    amounts: dict[Where, int]
    start_ms: int
    end_ms: int | None = None
    lost_ms: int | None = None
    closed: list[tuple[int, str]] = field(default_factory=list)
    """Since when what is free is whose."""
    mode: str = "accepting"
    is_quarantined: bool = False

    def note(self, at_ms: int) -> None:
        word = "quarantined" if self.is_quarantined else self.mode
        self.closed.append((at_ms, "idle" if word == "accepting" else word))

    def word_at(self, at_ms: int) -> str:
        if self.lost_ms is not None and at_ms >= self.lost_ms:
            return "departed"
        return [word for since, word in self.closed if since <= at_ms][-1]


class Reference:
    """All leases and machines that the records tell of."""

    def __init__(self, records: list[Record]) -> None:
        self.leases: dict[int, Held] = {}
        self.machines: list[Machine] = []
        for record in records:
            self._read(record.kind.value, record.at_ms, dict(record.body))
        self.end_ms = records[-1].at_ms

    def _read(self, kind: str, at_ms: int, body: dict[str, Any]) -> None:
        if kind == "node_registered":
            amounts = {(body["node"], k, 0): n for k, n in body["resources"].items()}
            amounts.pop((body["node"], "gpu_milli", 0), None)
            for index, _ in enumerate(body.get("gpu_generations", ())):
                amounts[body["node"], "gpu_milli", index] = 1000
            self.machines.append(Machine(body["node"], amounts, at_ms))
            self.machines[-1].note(at_ms)
        elif kind == "admission_approved":
            self._grant(at_ms, body)
        elif kind in ENDS:
            self.leases[body["lease_id"]].end_ms = at_ms
        elif kind == "lease_fenced":
            self.leases[body["lease_id"]].fenced_ms = at_ms
        elif kind == "node_departed":
            lost_ms = min(at_ms, body.get("last_seen_ms", at_ms))
            for lease_id in body["lease_ids"]:
                lease = self.leases[lease_id]
                # What a fenced lease was charged up to its fence is final.
                lease.lost_ms = max(lost_ms, lease.fenced_ms or 0)
                lease.end_ms = at_ms
            if not body.get("leases_left"):
                self._machine(body["node"]).lost_ms = lost_ms
                self._machine(body["node"]).end_ms = at_ms
        elif kind in ("node_mode_changed", "node_quarantined", "node_quarantine_lifted"):
            machine = self._machine(body["node"])
            machine.mode = body.get("after", machine.mode)
            if kind != "node_mode_changed":
                machine.is_quarantined = kind == "node_quarantined"
            machine.note(at_ms)

    def _machine(self, name: str) -> Machine:
        return next(each for each in reversed(self.machines) if each.node == name)

    def _grant(self, at_ms: int, body: dict[str, Any]) -> None:
        masks = body.get("devices", [0] * len(body["lease_ids"]))
        for lease_id, node, mask in zip(body["lease_ids"], body["nodes"], masks, strict=True):
            amounts = {(node, kind, 0): n for kind, n in body["resources"].items()}
            milli = amounts.pop((node, "gpu_milli", 0), 0)
            bits = [index for index in range(16) if mask >> index & 1]
            amounts |= {(node, "gpu_milli", index): milli // len(bits) for index in bits}
            self.leases[lease_id] = Held(lease_id, amounts, at_ms)

    def _instants(self) -> list[int]:
        found = {self.end_ms}
        for lease in self.leases.values():
            found |= {lease.start_ms, lease.fenced_ms, lease.lost_ms, lease.end_ms}
        for each in self.machines:
            found |= {each.start_ms, each.lost_ms, each.end_ms, *(at for at, _ in each.closed)}
        return sorted(at for at in found if at is not None)

    def owned(self) -> Iterator[tuple[Where, str, int]]:
        """Amount x time of each share, by whose it was."""
        instants = self._instants()
        for from_ms, to_ms in pairwise(instants):
            for machine in self.machines:
                gone = machine.end_ms is not None and machine.end_ms <= from_ms
                if not gone and machine.start_ms <= from_ms:
                    yield from self._stretch(machine, from_ms, to_ms)

    def _stretch(self, machine: Machine, from_ms: int, to_ms: int) -> Any:
        for where, capacity in machine.amounts.items():
            free = capacity
            for lease in self.leases.values():
                amount = lease.amounts.get(where, 0)
                word = lease.word_at(from_ms) if lease.start_ms >= machine.start_ms else None
                if amount and word is not None:
                    free -= amount
                    yield where, word, amount * (to_ms - from_ms)
            assert free >= 0, "the kernel gave more than there is"
            yield where, machine.word_at(from_ms), free * (to_ms - from_ms)


def _word(owner: Owner) -> str:
    if isinstance(owner, Leased):
        return f"lease {owner.lease_id}"
    return getattr(owner, "cause", "idle")


def metered(records: list[Record]) -> tuple[Counter[tuple[Where, str]], JournalMeter]:
    """Amount x time of each share by owner, as the meter says, with all shares charged to now."""
    meter = JournalMeter(Meter(logs=True))
    for record in records:
        meter.add(record)
        meter.check()
    assert all(each.owned == each.capacity for each in meter.meter.balances(meter.clock_ms))
    for pool in meter.meter.pools():
        meter.meter.close(pool, meter.clock_ms)
    sums: Counter[tuple[Where, str]] = Counter()
    for each in meter.meter.drain():
        where = (each.share.node, str(each.share.kind), each.share.index)
        sums[where, str(_word(each.owner))] += each.used
    return sums, meter


def expected(records: list[Record]) -> Counter[tuple[Where, str]]:
    sums: Counter[tuple[Where, str]] = Counter()
    for where, word, used in Reference(records).owned():
        sums[where, word] += used
    return +sums


# --- the properties ----------------------------------------------------------------------------


@given(seed=st.integers(0, 2**32))
def test_each_share_is_whose_the_records_say_for_exactly_as_long(seed: int) -> None:
    records = crowded(seed, steps=60, is_seen=False)
    sums, meter = metered(records)
    assert sums == expected(records)
    assert meter.counts == {}


@given(seed=st.integers(0, 2**32))
def test_what_is_lost_with_a_node_is_charged_to_its_last_proof_of_life(seed: int) -> None:
    records = crowded(seed, steps=60, is_seen=True)
    sums, meter = metered(records)
    # Where something was charged after the last proof of life that came out later, that is final:
    # free time is then idle up to there, so only what was nobody's is compared as a whole.
    late = meter.counts[MeterFindingWord.LATE]
    assert set(meter.counts) <= {MeterFindingWord.LATE}
    assert _merged(sums, is_late=late > 0) == _merged(expected(records), is_late=late > 0)


def _merged(sums: Counter[tuple[Where, str]], *, is_late: bool) -> dict[tuple[Where, str], int]:
    merged: dict[tuple[Where, str], int] = defaultdict(int)
    for (where, word), used in sums.items():
        is_nobodys = is_late and not word.startswith("lease")
        merged[where, "nobody" if is_nobodys else word] += used
    return dict(merged)


@given(seed=st.integers(0, 2**32), at=st.integers(0, 150))
def test_a_meter_that_was_written_and_read_back_goes_on_as_if_nothing_had_been(
    seed: int, at: int
) -> None:
    records = crowded(seed, steps=60, is_seen=True)
    whole, resumed = JournalMeter(Meter(logs=True)), JournalMeter()
    for number, record in enumerate(records):
        if number == at:
            body = json.loads(json.dumps(write_meter(whole)))
            resumed = read_meter(body, logs=True)
            assert json.loads(json.dumps(write_meter(resumed))) == body
            whole.meter.drain()
        found = whole.add(record)
        if number >= at:
            assert resumed.add(record) == found
            assert resumed.meter.drain() == whole.meter.drain()
            resumed.check()
    if len(records) > at:
        now_ms = whole.clock_ms + 99
        assert resumed.meter.totals(now_ms) == whole.meter.totals(now_ms)
        assert resumed.meter.uses(now_ms) == whole.meter.uses(now_ms)
        assert resumed.meter.balances(now_ms) == whole.meter.balances(now_ms)
        assert (resumed.size, resumed.counts) == (whole.size, whole.counts)


@pytest.mark.skipif(not has_compiled(), reason="no compiled core was built")
@given(seed=st.integers(0, 2**32))
def test_the_compiled_core_says_what_the_readable_one_says_charge_by_charge(seed: int) -> None:
    records = crowded(seed, steps=60, is_seen=True)
    edges = (records[0].at_ms + 7, records[0].at_ms + 60)
    pure, compiled = (
        JournalMeter(Meter(edges, core=new_core(edges, logs=True, which=which)))
        for which in ("pure", "compiled")
    )
    for record in records:
        assert pure.add(record) == compiled.add(record)
        assert pure.meter.core.log == compiled.meter.core.log
    assert pure.meter.core.rows() == compiled.meter.core.rows()
    assert pure.meter.core.measured() == compiled.meter.core.measured()
    for at_ms in (0, pure.clock_ms, pure.clock_ms + 2**40):
        assert pure.meter.core.tally(at_ms) == compiled.meter.core.tally(at_ms)
    for account in range(len(pure.meter.lines)):
        assert pure.meter.core.used(account) == compiled.meter.core.used(account)


def test_these_histories_hold_all_that_the_table_speaks_of() -> None:
    seen: set[str] = set()
    for seed in range(60):
        seen |= {record.kind.value for record in crowded(seed, steps=60, is_seen=True)}
    assert seen >= {
        *ENDS,
        *("lease_fenced", "node_registered", "node_departed", "node_mode_changed"),
        *("node_quarantined", "node_quarantine_lifted", "admission_approved"),
    }
