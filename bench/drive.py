"""How the benches drive a ledger: one call per decision, in batches, and through admission.

Requests are made ready in blocks before the clock runs, as a service would keep them; ``admit``
takes bare request objects and pays for everything itself.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter, perf_counter_ns, thread_time
from typing import TYPE_CHECKING, Any, TypeAlias

from bailiwick import AdmissionController, Approved, CapacityLedger, NodeFilter, PlacementRequest
from bench.measure import Cycles, Sample, Tally, in_blocks, no_collection

if TYPE_CHECKING:
    from bailiwick.scheduler.handles import Prepared

EngineCall: TypeAlias = tuple[int, int, int, int, int, int, int, bytearray | None]

BLOCK = 1024
KEPT_MAX = 200_000


def is_pure(ledger: CapacityLedger) -> bool:
    """Whether the readable engine decides."""
    return type(ledger.engine).__name__ == "PureEngine"


@dataclass(slots=True)
class Driver:
    """A ledger with a strategy, the filters handed in, and the leases it holds."""

    ledger: CapacityLedger
    code: int
    filters: tuple[NodeFilter, ...] = ()
    live: list[int] = field(default_factory=list)
    _ready: dict[int, Prepared] = field(default_factory=dict)

    def prepare(self, requests: Sequence[PlacementRequest]) -> list[Prepared]:
        """The requests made ready, all of them valid at the same moment."""
        kept, ledger = self._ready, self.ledger
        if len(kept) > KEPT_MAX:
            kept.clear()
        for _ in range(2):  # preparing may sweep old shapes, which makes earlier ones stale
            for request in requests:
                ready = kept.get(id(request))
                if ready is None or ready.epoch != ledger.handles.epoch:
                    # The request is kept alive by what was made of it, so its id stays its own.
                    kept[id(request)] = ledger.prepare(request, self.filters)
        return [kept[id(request)] for request in requests]

    def blocks(self, requests: Iterable[PlacementRequest]) -> Iterator[list[Prepared]]:
        """The requests in blocks, each made ready when it is its turn."""
        return (self.prepare(block) for block in in_blocks(requests, BLOCK))

    def place(self, requests: Iterable[PlacementRequest], *, limit_s: float) -> Sample:
        """``ledger.place``, one call per decision."""
        place, code = self.ledger.place, self.code
        cycles: Cycles[Prepared] = Cycles(
            lambda ready: place(ready, code, now_ms=0), self.ledger.engine.release, self.live
        )
        return cycles.run(self.blocks(requests), limit_s=limit_s)

    def call_engine(self, requests: Iterable[PlacementRequest], *, limit_s: float) -> Sample:
        """The engine's own call with its arguments ready; learning is the ledger's business."""
        ledger, engine, code = self.ledger, self.ledger.engine, self.code

        def blocks() -> Iterator[list[EngineCall]]:
            for block in self.blocks(requests):
                seen, _ = engine.learning()
                engine.learning(seen, seen + 2 * BLOCK)
                yield [
                    (code, r.shape, r.account, r.traits, 0, r.ttl_ms, -1, ledger.mask_of(r))
                    for r in block
                ]

        place = engine.place
        cycles: Cycles[EngineCall] = Cycles(lambda call: place(*call), engine.release, self.live)
        sample = cycles.run(blocks(), limit_s=limit_s)
        ledger.learn_now()
        return sample

    def batches(self, requests: Iterable[PlacementRequest], *, size: int, limit_s: float) -> Sample:
        """``place_batch``, then ``release_batch`` of as many random leases as were granted."""
        tally, rng, engine = Tally(), random.Random(9), self.ledger.engine
        until = perf_counter() + limit_s
        with no_collection():
            for block in in_blocks(requests, size):
                rows = array("q")
                for r in self.prepare(block):
                    rows.extend((r.shape, r.account, r.traits, r.ttl_ms))
                cpu, begin = thread_time(), perf_counter_ns()
                out = self._batch(rows)
                spent, wait = thread_time() - cpu, perf_counter_ns() - begin
                granted = [lease for lease in out if lease >= 0]
                gone = array("q")
                for lease in granted:
                    at = rng.randrange(len(self.live))
                    gone.append(self.live[at])
                    self.live[at] = lease
                cpu = thread_time()
                engine.release_batch(gone)
                spent += thread_time() - cpu
                tally.add(spent, [wait // len(block)] * len(block), len(granted))
                if perf_counter() > until:
                    break
        return tally.sample()

    def _batch(self, rows: array[int]) -> array[int]:
        count, done = len(rows) // 4, 0
        out = array("q", bytes(8 * count))
        while done < count:
            rest: Any = memoryview(out)[done:]  # as good as an array of what is left
            done += self.ledger.engine.place_batch(self.code, rows[4 * done :], 0, rest)
            if done < count:
                self.ledger.learn_now()
        return out

    def admit(
        self,
        admission: AdmissionController,
        requests: Iterable[PlacementRequest],
        *,
        limit_s: float,
    ) -> dict[str, Sample]:
        """``admit``, told apart by outcome: a denial is worked out in full, a grant is not."""
        found: dict[str, list[tuple[float, int]]] = {"granted": [], "denied": []}
        release, rng = self.ledger.engine.release, random.Random(9)
        until = perf_counter() + limit_s
        for block in in_blocks(requests, 64):
            for request in block:
                cpu, begin = thread_time(), perf_counter_ns()
                decision = admission.admit(request, now_ms=0)
                wait, spent = perf_counter_ns() - begin, thread_time() - cpu
                if isinstance(decision, Approved):
                    found["granted"].append((spent, wait))
                    at = rng.randrange(len(self.live))
                    release(self.live[at])
                    self.live[at] = decision.leases[0].id
                else:
                    found["denied"].append((spent, wait))
            if perf_counter() > until:
                break
        return {word: _in_tally(calls, word) for word, calls in found.items() if calls}


def _in_tally(calls: list[tuple[float, int]], word: str) -> Sample:
    tally = Tally()
    for block in in_blocks(calls, 64):
        granted = len(block) if word == "granted" else 0
        tally.add(sum(spent for spent, _ in block), [wait for _, wait in block], granted)
    return tally.sample()
