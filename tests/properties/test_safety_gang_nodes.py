"""A device is free only after what ran on it was proven gone, whatever becomes of its gang's nodes.

The reference knows processes and nothing else: a lease on a node where jobs run has one on each of
its devices from its grant until its teardown is reported clean, a fence is cleared by hand, or its
very machine is gone. Whom the kernel gives a device must be alone there.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

from hypothesis import event, given, settings
from hypothesis import strategies as st

from bailiwick.kernel import (
    ClearFence,
    Command,
    DepartNode,
    Evict,
    RegisterNode,
    Release,
    ReportCheckpoint,
    ReportTeardown,
    Submit,
)
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.words import PreemptionReason
from tests.unit.kernel.desk import Desk, ask, cores

NODES = ("n1", "n2", "n3")
GPUS = 2
RUNS_JOBS = {"n1": {"executor": "node"}, "n2": {"executor": "node"}, "n3": {}}
Place = tuple[str, int]


@dataclass
class Processes:
    """Who runs where: a dict, and no more."""

    at: dict[Place, int] = field(default_factory=dict)
    where: dict[int, list[Place]] = field(default_factory=dict)

    def begin(self, lease_id: int, places: list[Place]) -> None:
        for place in places:
            assert place not in self.at, f"{place} is lease {self.at[place]}'s, which still runs"
            self.at[place] = lease_id
        self.where[lease_id] = places

    def gone(self, lease_id: int) -> None:
        for place in self.where.pop(lease_id, ()):
            del self.at[place]

    def machine_gone(self, node: str) -> None:
        for lease_id in [i for i, places in self.where.items() if places[0][0] == node]:
            self.gone(lease_id)


@dataclass
class World:
    """A kernel and the machines that do as it says."""

    desk: Desk
    confirms: bool
    runs: Processes = field(default_factory=Processes)

    def do(self, command: Command) -> None:
        with suppress(BailiwickError):
            self.desk.do(command)
            self.see()

    def see(self) -> None:
        """Begin what was granted; what nobody has to confirm is over when its lease is."""
        for record in self.desk.last:
            if record.kind == "node_departed" and not record.body.get("leases_left"):
                self.runs.machine_gone(str(record.body["node"]))
            if record.kind == "lease_released" and not RUNS_JOBS[str(record.body["node"])]:
                self.runs.gone(record.body["lease_id"])  # its holder's word is all there is
            self._end_unconfirmed()
            if record.kind == "admission_approved":
                rows = zip(
                    *(record.body[k] for k in ("lease_ids", "nodes", "devices")), strict=True
                )
                for lease_id, node, mask in rows:
                    devices = [(str(node), i) for i in range(GPUS) if mask >> i & 1]
                    self.runs.begin(lease_id, devices)

    def _end_unconfirmed(self) -> None:
        for lease_id, places in list(self.runs.where.items()):
            is_ours = bool(RUNS_JOBS[places[0][0]]) or self.confirms
            if not is_ours and lease_id not in self.desk.state.leases:
                self.runs.gone(lease_id)


acts = st.tuples(
    st.sampled_from(
        (
            *("gang", "one", "one", "depart", "depart", "join", "torn", "torn", "unclean"),
            *("clear", "evict", "release", "checkpoint", "pass"),
        )
    ),
    st.integers(0, 5),
)


@settings(max_examples=150, deadline=None)
@given(confirms=st.booleans(), story=st.lists(acts, min_size=4, max_size=30))
def test_nobody_gets_a_device_on_which_a_gang_may_still_run(
    confirms: bool, story: list[tuple[str, int]]
) -> None:
    nodes = [cores(8, gpus=GPUS, labels=RUNS_JOBS[name]) for name in NODES]
    desk = Desk(nodes=nodes, confirm_teardown=confirms, grace_ms=500, teardown_ms=2_000)
    world = World(desk, confirms)
    world.do(Submit(ask(gpu_count=1, cpu_cores=1, gang_size=5, ttl_ms=5_000)))
    for word, number in story:
        node = NODES[number % len(NODES)]
        known = sorted(world.runs.where)
        lease_id = known[number % len(known)] if known else 1
        match word:
            case "gang" | "one":
                size = 1 if word == "one" else 2 + number % 3
                world.do(Submit(ask(gpu_count=1, cpu_cores=1, gang_size=size, ttl_ms=5_000)))
            case "depart":
                is_wide = any(
                    len({world.runs.where[i][0][0] for i in known if _gang(desk, i) == gang}) > 1
                    for gang in {_gang(desk, i) for i in known} - {None}
                )
                event(f"departs while a gang is over several nodes: {is_wide}")
                world.do(DepartNode(node))
            case "join":
                world.do(RegisterNode(node, nodes[NODES.index(node)]))
            case "torn" | "unclean":
                tell(world, lease_id, is_clean=word == "torn")
            case "clear":
                if lease_id in desk.state.fenced:
                    world.runs.gone(lease_id)  # the operator has looked
                world.do(ClearFence(lease_id))
            case "evict":
                world.do(Evict((lease_id,), PreemptionReason.OPERATOR_DRAIN, grace_ms=number % 2))
            case "release":
                world.do(Release(lease_id))
            case "checkpoint":
                world.do(ReportCheckpoint(lease_id))
            case _:
                desk.tick(desk.now_ms + 400 * number)
                world.see()


def _gang(desk: Desk, lease_id: int) -> int | None:
    known = lease_id in desk.state.leases
    return desk.state.ledger.lease(desk.state.handle(lease_id)).gang if known else None


def tell(world: World, lease_id: int, *, is_clean: bool) -> None:
    """The executor reports; what it has proven gone is gone before anybody hears of it."""
    state = world.desk.state
    is_waited_for = lease_id in state.leases and state.phase(lease_id).value in (
        *("forced_teardown", "checkpoint_reported", "expired"),
    )
    if is_waited_for and is_clean:
        world.runs.gone(lease_id)
    world.do(ReportTeardown(lease_id, is_clean))
