"""The demo's own second set of books, held against the library's after every event.

Rules it checks:

- On every node that an event touched: total = reserved + leased + free, nothing is negative, and
  what is leased is exactly what the demo was granted and has not yet been told the end of.
- In every quota row that an event touched: use is what the demo holds, and it is within the limit
  (and the burst ceiling above it). Above that, after a limit was lowered, it may only fall.

A difference is a bug, and the demo stops with :class:`~bailiwick.InvariantBroken`.
"""

from __future__ import annotations

from bailiwick import (
    CapacityLedger,
    Dimension,
    InvariantBroken,
    Lease,
    QuotaManager,
    Resources,
)

Scope = tuple[str, str | None]

_NOTHING = Resources()
_ROWS = (Dimension.CPU_MILLI, Dimension.MEM_BYTES, Dimension.GPU_COUNT, Dimension.LEASE_COUNT)


class Audit:
    """What the demo believes is held, by node and by quota row."""

    def __init__(self, ledger: CapacityLedger, quotas: QuotaManager) -> None:
        self._ledger, self._quotas = ledger, quotas
        self._on_node: dict[str, Resources] = {}
        self._by_scope: dict[Scope, list[int]] = {}
        self._above: dict[tuple[Scope, Dimension], int] = {}
        self._nodes: set[str] = set()
        self._scopes: set[Scope] = set()
        self.checks = 0

    def granted(self, lease: Lease) -> None:
        """A lease is held from now on."""
        self._hold(lease, 1)
        self._charge(lease, 1)

    def ended(self, lease: Lease, *, fenced: bool = False) -> None:
        """Its owner holds it no longer; fenced resources stay taken, and cost nobody."""
        self._charge(lease, -1)
        self._nodes.add(lease.node)
        if not fenced:
            self._hold(lease, -1)

    def cleared(self, lease: Lease) -> None:
        """An operator cleared a fence."""
        self._hold(lease, -1)

    def departed(self, node: str) -> None:
        """A node is gone, and everything on it with it."""
        self._nodes.discard(node)
        left = self._on_node.pop(node, _NOTHING)
        if left != _NOTHING:
            raise InvariantBroken(f"{node} departed and still holds {left}")

    def verify(self) -> None:
        """Compare whatever was touched since the last time, or stop."""
        for node in sorted(self._nodes):
            self._verify_node(node)
        for scope in sorted(self._scopes, key=str):
            self._verify_scope(scope)
        self.checks += len(self._nodes) + len(self._scopes)
        self._nodes.clear()
        self._scopes.clear()

    def _hold(self, lease: Lease, sign: int) -> None:
        held = self._on_node.get(lease.node, _NOTHING)
        more = lease.resources if sign > 0 else _NOTHING - lease.resources
        self._on_node[lease.node] = held + more
        self._nodes.add(lease.node)

    def _charge(self, lease: Lease, sign: int) -> None:
        amounts = lease.resources
        row = (amounts.cpu_milli, amounts.mem_bytes, amounts.gpu_milli, 1)
        for scope in {(lease.tenant, None), (lease.tenant, lease.project)}:
            held = self._by_scope.setdefault(scope, [0] * len(row))
            for place, amount in enumerate(row):
                held[place] += sign * amount
            self._scopes.add(scope)

    def _verify_node(self, node: str) -> None:
        told = self._ledger.node(node)
        if told.reserved + told.leased + told.free != told.total:
            raise InvariantBroken(f"{node}: total is not reserved + leased + free: {told}")
        if min((*told.free.as_tuple(), *told.device_free_milli)) < 0:
            raise InvariantBroken(f"{node}: more is held than exists: {told}")
        if told.free.gpu_milli != sum(told.device_free_milli):
            raise InvariantBroken(f"{node}: devices do not sum to the node: {told}")
        if told.leased != self._on_node[node]:
            raise InvariantBroken(f"{node}: {told.leased} leased, {self._on_node[node]} granted")

    def _verify_scope(self, scope: Scope) -> None:
        rooms = self._quotas.headroom(*scope).dimensions
        burst = self._quotas.quota_of(*scope).burst
        for dimension, held in zip(_ROWS, self._by_scope[scope], strict=True):
            gpu = dimension is Dimension.GPU_COUNT
            room, used = rooms[dimension], -(-held // 1000) if gpu else held
            if room.used != used:
                raise InvariantBroken(f"{scope} {dimension}: {room.used} used, {used} held")
            if room.limit is None:
                continue
            limit = room.limit
            if burst is not None and burst.dimension is dimension:
                limit += burst.ceiling // 1000 if gpu else burst.ceiling
            key = scope, dimension
            if used > max(limit, self._above.get(key, 0)):
                raise InvariantBroken(f"{scope} {dimension}: {used} used, the limit is {limit}")
            self._above[key] = used
