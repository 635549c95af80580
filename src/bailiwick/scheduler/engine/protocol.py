"""What an engine can be asked, and the integers in which it is asked.

Both engines take positional integers: a call must cost no more than the decision. The names of
the integers are here; everything outside the ledger speaks in objects instead.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple, Protocol

ROUND_ROBIN, BEST_FIT, WEIGHTED, FRAGMENTATION_AWARE = range(4)
"""Strategies, as ``place`` and ``find`` take them."""

NO_CAPACITY, OVER_QUOTA, ASK_PYTHON, NO_HEADROOM, LEARN_FIRST, NO_MEMORY = -1, -2, -3, -4, -5, -6
"""Why ``place`` granted nothing (a grant is a lease id, which is never negative)."""

FLAG_RESERVED, FLAG_ON_BUDGET, FLAG_PINNED, FLAG_RELEASED = 1, 2, 4, 8
"""A hold not yet a lease; may end when the budget does; fenced, so nobody's to move; given back by
its holder and waiting for its teardown (an engine only keeps this one)."""

CLASS_GUARANTEED, CLASS_STANDARD, CLASS_SPOT = range(3)
EVICTABLE_ALL = 0xF70
"""All that may ever be evictable: nothing guaranteed, of standard not the highest priority."""

KINDS_MAX = 64
"""Kinds of GPU device in one fleet: a request names them as a bit set in 64 bits."""

NODE_AMOUNT_MAX = 2**50
"""One node offers less than this of anything, so that fixed-point sums stay exact."""

LEARN_FLAG = 1 << 62
"""Added to the lease id by ``place`` when enough has arrived to learn from."""

LOG_SIZE = 65536
"""Changes an index may lag behind the nodes before it is built anew."""

NEVER = -(2**63)
"""The checkpoint time of a lease that never reported one."""

ONE = 65536
"""Fixed point of workload weights, inverse kappa and pressure."""

STEP, STRAND, PRESSURE, SCORE_MAX, CACHES_MAX = 40 * ONE, 3, 3, 32000, 256
"""Fragmentation score: steps of 40 milli, weights of stranding and pressure, bounds."""

LeaseRow = tuple[int, int, int, int, int, int, int, int, int, int, int, int, int, int]
"""A lease as an engine tells it: the numbers of :class:`LeaseFields`, without their names."""


class LeaseFields(NamedTuple):
    """What an engine knows of a lease; handles and ranks are its own small numbers."""

    node: int
    account: int
    shape: int
    gang: int
    devices: int
    priority: int
    lease_class: int
    state: int
    flags: int
    depth: int
    generation: int
    granted_ms: int
    expires_ms: int
    checkpoint_ms: int


NodeFields = tuple[int, int, int, int, int, tuple[int, ...], int]
"""class, eligible, free cpu, free mem, free block, free milli per device, leases."""


Survey = tuple[int, int, int, int, int, int, int, int]
"""Nodes with the devices, those open; nodes large enough, those open; what is free."""

FilterCounts = tuple[int, int, int, int, int, int, int, int]
"""Nodes by filter: kind of device, labels, policy, cpu, memory, block, devices; and fitting."""

VictimAnswer = tuple[int, int, list[int], bool] | tuple[int, int, int, int, int, int]
"""A plan (cost, node, lease ids on it, whether surely the cheapest), or the number of nodes that
fell at each rule: hardware, closed, protected, priority, run time, depth."""

DEPTH_SHIFT = 16
"""Where the cascade depth stands in the traits."""


def traits(priority: int, lease_class: int, flags: int = 0, depth: int = 0) -> int:
    """The small facts of a lease in one integer."""
    return priority | lease_class << 4 | flags << 8 | depth << DEPTH_SHIFT


class Engine(Protocol):
    """Tables and searches of one fleet. Handles that do not exist raise ``IndexError``."""

    def add_kind(self, kind: int, generation: int, vram: int, /) -> None:
        """Say to which generation a kind of device belongs, and how much memory each has."""

    def add_class(
        self, cpu: int, mem: int, block: int, kinds: bytes, fabrics: bytes = b"", /
    ) -> int:
        """A class of equal machines: capacities, the kind of each device, and the number of its
        fabric (none: where it makes no difference). Fabrics are numbered by their first device."""

    def add_node(self, cls: int, /) -> int:
        """A machine of that class; it takes no lease until it is made eligible."""

    def remove_node(self, node: int, /) -> None:
        """Forget a machine that holds no lease."""

    def set_eligible(self, node: int, eligible: int, /) -> None:
        """Whether new leases may land on the node."""

    def node(self, node: int, /) -> NodeFields:
        """What is free on the node."""

    def shift(self, node: int, cpu: int, mem: int, block: int, /, *devices: int) -> None:
        """Change what is free on the node by these amounts (and milli of each device), for whoever
        keeps room there. What leaves 0 to the capacity is refused with ``ValueError``."""

    def leases_on(self, node: int, /) -> list[int]:
        """Ids of the leases on the node, newest first."""

    def leases_of(self, accounts: bytearray, limit: int, /) -> list[int]:
        """Ids of leases under these accounts (a bit for each), the last slot first, so many."""

    def add_shape(
        self, cpu: int, mem: int, block: int, vram: int, count: int, milli: int,
        kinds: int, generation: int, /,
    ) -> int:  # fmt: skip
        """A request shape; leases refer to it for their resources. ``vram`` is what its devices
        count for at least; a lease is charged for the devices that it got."""

    def set_shape_kinds(self, shape: int, kinds: int, /) -> None:
        """Which kinds of device may serve the shape."""

    def free_shape(self, shape: int, /) -> None:
        """Forget a shape that no lease uses."""

    def shape_use(self, shape: int, /) -> tuple[int, int]:
        """Leases that use the shape, and its arrivals."""

    def set_arrivals(self, shape: int, arrivals: int, /) -> None:
        """Overwrite the arrival count of a shape (how old arrivals fade)."""

    def add_account(self, row: int, /) -> int:
        """An account charged to this row of the quota table (-1: to none)."""

    def set_account(self, account: int, row: int, /) -> None:
        """Give an unused account another row."""

    def account_refs(self, account: int, /) -> int:
        """Leases held under the account."""

    def attach_quota(self, table: array[int], /) -> None:
        """Use this quota table from now on."""

    def set_headroom(self, priority: int, cpu: int, mem: int, block: int, gpu: int, /) -> None:
        """Keep this much free for requests of at least that priority."""

    def free_totals(self) -> tuple[int, int, int, int]:
        """Free cpu, mem, block and GPU milli on eligible nodes."""

    def set_weights(self, cpu: int, mem: int, block: int, gpu: int, /) -> None:
        """Weights of the weighted strategy."""

    def learning(self, *values: int) -> tuple[int, int]:
        """Read, or with two values set, arrivals seen and the count at which to learn again."""

    def set_workload(self, inverse_kappa: int, pressure: array[int], items: array[int], /) -> None:
        """Tables of the learned workload; every fragmentation score is stale after this."""

    def survey(self, shape: int, mask: bytearray | None, /) -> Survey:
        """Of the nodes in the mask: how many have the devices, and how many of those take leases;
        how many could hold one member when empty, and how many of those take leases; free cpu,
        mem, block and GPU milli of serving devices on those of the second number."""

    def filter_counts(
        self, shape: int, labels: bytearray | None, permitted: bytearray | None,
        limits: array[int] | None = None, /,
    ) -> FilterCounts:  # fmt: skip
        """How many nodes that take leases fall at which filter for one member, each counted at the
        first it fails, and how many fit."""

    def find(
        self, strategy: int, shape: int, mask: bytearray | None,
        limits: array[int] | None = None, /,
    ) -> int:  # fmt: skip
        """The node the strategy would choose, or -1.

        ``limits`` are rows of a node and the devices (bits) that may be used there, by handle:
        nodes that the mask leaves out and that are looked at one by one."""

    def score(
        self, strategy: int, shape: int, node: int, within: int = 0xFFFF, /
    ) -> tuple[int, int] | None:
        """Score (higher is better) and devices on one node, of those within, or None if it cannot
        serve."""

    def place(
        self, strategy: int, shape: int, account: int, traits: int, granted: int, expires: int,
        gang: int, mask: bytearray | None, limits: array[int] | None = None, /,
    ) -> int:  # fmt: skip
        """Check quota, choose (as ``find``), take: a lease id, or one of the words above."""

    def take(
        self, node: int, shape: int, account: int, traits: int, granted: int, expires: int,
        gang: int, devices: int, /,
    ) -> int:  # fmt: skip
        """Take resources on a given node (devices -1: choose); quota is charged, not checked."""

    def release(self, lease: int, /) -> bool:
        """Give the resources back; False if there is no such lease."""

    def untake(self, lease: int, /) -> None:
        """Undo the newest ``take`` exactly: the same id is given out again."""

    def cursor(self, *value: int) -> int:
        """Read, or with a value set, the node round robin looks at next."""

    def lease(self, lease: int, /) -> LeaseRow | None:
        """The lease's fields, or None if there is no such lease."""

    def dump(self, leases: array[int], /) -> bytes:
        """The fields of these leases as 64-bit integers, one column after the other."""

    def versions(self) -> bytes:
        """A 32-bit number for each node: another one after what is free there, whether it takes
        leases, or a lease there changed. Another term alone does not count."""

    def update_lease(
        self, lease: int, state: int, flags: int, generation: int, expires: int, checkpoint: int, /
    ) -> None:
        """Overwrite what may change while a lease is held."""

    def move_lease(self, lease: int, account: int, /) -> None:
        """Charge the lease to another account from now on."""

    def expired(self, now: int, limit: int, /) -> list[int]:
        """Ids of leases whose expiry is at or before now, in slot order; stops after limit."""

    def room_time(
        self, shape: int, need: int, mask: bytearray | None, now: int, until: int, /
    ) -> int | None:
        """The earliest time, from now to until, at which so many members of the shape fit if each
        lease ends at its expiry; None if there is none."""

    def room_nodes(
        self, shape: int, need: int, mask: bytearray | None, at: int, /
    ) -> list[tuple[int, int]]:
        """Nodes and how many members will fit there at that time, most first (of equals the lower
        handle), until there are enough."""

    def room_on(self, node: int, at: int, /) -> tuple[int, int, int, tuple[int, ...]]:
        """What is free on the node (cpu, mem, block, milli of each device) once every lease that
        ends by then has ended."""

    def room_steps(
        self, shape: int, node: int, until: int, rows: list[tuple[int, ...]], /
    ) -> list[tuple[int, int]]:
        """How many members fit on one node, whether it is open or not: the number before anything
        ends, under the earliest time there is, then each other number with the time from which on
        it holds. Beside its leases' ends count the ``rows``: a time, and what comes back then (or,
        below zero, is taken) of cpu, mem, block and each device."""

    def place_batch(self, strategy: int, rows: array[int], now: int, out: array[int], /) -> int:
        """``place`` for rows of (shape, account, traits, expires); returns how many were done."""

    def release_batch(self, ids: array[int], /) -> int:
        """``release`` for each id; returns how many existed."""

    def find_victims(
        self, shape: int, evictable: int, now: int, run_min: int, fresh: int, depth_max: int,
        mask: bytearray | None, exclude: int, /,
    ) -> VictimAnswer:  # fmt: skip
        """The cheapest leases on one node whose end makes the shape fit there.

        ``evictable`` says which may go: bit 4 * class + priority for each sort.
        """

    def counters(self) -> dict[str, int]:
        """Sizes and work done, for benches and people."""
