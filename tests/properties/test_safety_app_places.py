"""Members of instances run only where the lines let them, on every path that places; nobody else
is kept out.

Histories have lines that come and go, nodes that come and go, gangs, preemption, claims,
reservations, renewals and snapshots, on both engines. The reference reads the lines one by one.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.apps.overlays import Overlay
from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.iam import Scope
from bailiwick.kernel import (
    ChangeSettings,
    Kernel,
    RegisterNode,
    Renew,
    Submit,
    Tick,
    decode,
    digest_of,
    encode,
)
from bailiwick.kernel.apps.commands import SetEntitlement
from bailiwick.kernel.apps.guard import AppPlaceGuard
from bailiwick.kernel.apps.instance_commands import DeleteInstance, FinishDeletion
from bailiwick.kernel.fleet.commands import DepartNode
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.app_uses import INSTANCE_LABEL
from bailiwick.vocab.apps import PolicyAxis
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.words import HardwareGeneration, Priority
from tests.support.app_house import AppHouse
from tests.support.wide_open import wide_settings

REGIONS, SKUS = PolicyAxis.REGIONS, PolicyAxis.SKUS
AXES = {REGIONS: ("east", "west", "north"), SKUS: ("big", "small", "nvidia_hopper")}
SCOPES = (Scope(), Scope("lab"), Scope("lab", "vision"), Scope("lab", "other"))
STEPS = 30


def machine(chance: Random) -> NodeCapacity:
    labels = {}
    if chance.random() < 0.8:
        labels["region"] = chance.choice(AXES[REGIONS])
    if chance.random() < 0.6:
        labels["sku"] = chance.choice(AXES[SKUS][:2])
    gpus = (GpuDevice(HardwareGeneration.NVIDIA_HOPPER),) * chance.choice((0, 0, 2))
    return NodeCapacity(cpu_cores=4, mem_bytes=10**6, gpus=gpus, labels=labels)


def values(capacity: NodeCapacity, axis: PolicyAxis) -> set[str]:
    """Naively: what a node says on an axis."""
    if axis is REGIONS:
        return {value for key, value in capacity.labels.items() if key == "region"}
    found = {value for key, value in capacity.labels.items() if key == "sku"}
    return found | {str(gpu.generation) for gpu in capacity.gpus}


class PlaceHistory:
    """A fleet, lines and instances that change, and all that is granted."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.house = AppHouse(engine=self.chance.choice(("pure", "auto")))
        how = {"grace_ms": self.chance.choice((0, 5_000)), "min_run_ms": 0}
        self.house.do(ChangeSettings(wide_settings(**how)))
        self.house.do(SetEntitlement("hello", True, tenant="firm"))
        self.nodes: dict[str, NodeCapacity] = {}
        self.lines: dict[Scope, Overlay] = {}
        self.leases: list[int] = []
        for number in range(self.chance.randint(1, 5)):
            self.join(f"n{number}")
        homes = (("lab", "vision"), ("lab", "other"), ("firm", "vision"))
        self.instances = {
            self.house.request(tenant=tenant, project=project): Scope(tenant, project)
            for tenant, project in homes
        }

    def join(self, name: str) -> None:
        self.nodes[name] = machine(self.chance)
        self.house.do(RegisterNode(name, self.nodes[name]))

    def set_line(self) -> None:
        scope = self.chance.choice(SCOPES)

        def some() -> dict[PolicyAxis, tuple[str, ...]]:
            axes = [axis for axis in AXES if self.chance.random() < 0.4]
            return {a: tuple(self.chance.sample(AXES[a], self.chance.randint(0, 3))) for a in axes}

        deny = some() if self.chance.random() < 0.3 else {}
        overlay = Overlay(some(), {axis: names[:1] for axis, names in deny.items()})
        try:
            self.house.do(SetEntitlement("hello", True, overlay, *scope))
        except BailiwickError:
            return  # it would broaden
        self.lines[scope] = overlay

    def is_open(self, node: str, owner: Scope) -> bool:
        """Naively: whether every line lets a node pass for an owner."""
        lines = [self.lines[each] for each in owner.around if each in self.lines]
        for axis in AXES:
            found = values(self.nodes[node], axis)
            if any(found & set(line.deny.get(axis, ())) for line in lines):
                return False
            lists = [set(line.allow[axis]) for line in lines if axis in line.allow]
            if lists and not any(all(value in each for each in lists) for value in found):
                return False
        return True

    def request(self) -> tuple[PlacementRequest, int | None]:
        number = self.chance.choice((None, *self.instances))
        owner = Scope("lab", "vision") if number is None else self.instances[number]
        terms: dict[str, Any] = {
            "tenant": owner.tenant,
            "project": owner.project,
            "cpu_cores": self.chance.randint(1, 4),
            "priority": self.chance.choice([*Priority]),
            "gang_size": self.chance.choice((1, 1, 2)),
            "ttl_ms": self.chance.choice((5_000, 60_000)),
            "job_labels": {} if number is None else {INSTANCE_LABEL: str(number)},
        }
        return PlacementRequest(**terms), number

    def step(self) -> None:
        self.house.now_ms += self.chance.choice((1, 100, 6_000))
        act = self.chance.random()
        told = list[tuple[str, dict[str, Any]]]()
        if act < 0.5:
            request, _ = self.request()
            told = self.house.do(Submit(request, wait=self.chance.random() < 0.8))
        elif act < 0.75:
            told = self.house.do(Tick())
        elif act < 0.85:
            self.set_line()
        elif act < 0.9:
            self.change_fleet()
        elif act < 0.95 and self.leases:
            self.renew(self.chance.choice(self.leases))
        else:
            self.reload()
        self.check(told)

    def change_fleet(self) -> None:
        name = f"n{self.chance.randint(0, 6)}"
        if name in self.nodes:
            self.house.do(DepartNode(name))
            del self.nodes[name]
        else:
            self.join(name)

    def renew(self, lease_id: int) -> None:
        state = self.house.kernel.state
        if lease_id not in state.leases:
            self.leases.remove(lease_id)
            return
        named = state.job_labels.get(lease_id, {}).get(INSTANCE_LABEL)
        node = str(state.node_of(lease_id))
        try:
            told = self.house.do(Renew(lease_id, 120_000))
        except BailiwickError:
            return  # it is leaving
        if named is not None and told[0][0] == "lease_renewed":
            assert self.is_open(node, self.instances[int(named)])

    def reload(self) -> None:
        state = self.house.kernel.state
        read = decode(encode(state), digest_of(state))
        assert read.apps == state.apps
        kernel = Kernel(read, self.house.kernel.chain.anchor(), simulated=True)
        self.house.kernel = kernel

    def check(self, told: list[tuple[str, dict[str, Any]]]) -> None:
        for kind, body in told:
            if kind != "admission_approved":
                continue
            self.leases += body["lease_ids"]
            labels = dict(each.split("=") for each in body.get("job_labels", ()))
            if INSTANCE_LABEL in labels:
                owner = self.instances[int(labels[INSTANCE_LABEL])]
                assert all(self.is_open(node, owner) for node in body["nodes"])

    def guard(self) -> AppPlaceGuard | None:
        found = self.house.kernel.state.guards.policies
        return next((each for each in found if isinstance(each, AppPlaceGuard)), None)


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_members_run_only_where_every_line_lets_them(seed: int) -> None:
    history = PlaceHistory(seed)
    for _ in range(STEPS):
        history.step()


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_exactly_what_the_lines_close_is_closed(seed: int) -> None:
    history = PlaceHistory(seed)
    for _ in range(STEPS // 2):
        history.set_line()
        if history.chance.random() < 0.3:
            history.change_fleet()
    guard, ledger = history.guard(), history.house.kernel.state.ledger
    is_narrowed = any(line.allow or line.deny for line in history.lines.values())
    assert (guard is not None) == is_narrowed  # nothing stands where nothing is to be guarded
    if guard is None:
        return
    for _ in range(4):
        request, number = history.request()
        found = guard.nodes_for(request)
        if number is None:
            assert found is None
            continue
        owner = history.instances[number]
        naive = {node for node in history.nodes if history.is_open(node, owner)}
        handles = {str(name): entry.handle for name, entry in ledger.entries.items()}
        mine = {node for node in handles if found is None or handles[node] in found}
        assert mine == naive
        assert sum(guard.closed_by(request).values()) == len(history.nodes) - len(naive)


@pytest.mark.parametrize("named", ["1", "9", "0", "x"])
def test_who_names_an_instance_that_is_not_its_own_gets_nothing(named: str) -> None:
    history = PlaceHistory(1)
    history.house.do(SetEntitlement("hello", True, Overlay({REGIONS: ("east",)}), "firm"))
    labels = {INSTANCE_LABEL: named}
    about: dict[str, Any] = {"tenant": "firm", "project": "vision", "cpu_cores": 1}
    told = history.house.do(Submit(PlacementRequest(**about, job_labels=labels), wait=False))
    assert told[0][0] == "admission_denied"


def test_the_guard_goes_with_the_last_instance() -> None:
    house = AppHouse()
    house.do(SetEntitlement("hello", True, Overlay({REGIONS: ("east",)}), "lab"))
    assert house.kernel.state.guards.policies == ()
    number = house.request()
    assert len(house.kernel.state.guards.policies) == 1
    own = {"tenant": "lab", "project": "vision", "instance_id": number}
    house.do(DeleteInstance(**own), FinishDeletion(**own))
    assert house.kernel.state.guards.policies == ()
