"""A tenant that plays for a place beside another: ``python -m tests.simulation.placement_attack``.

The attacker knows where its victim runs, which no tenant is told. It chooses sizes so that packing
puts it there, fills other nodes, gives back what landed elsewhere, labels its jobs as it likes,
sends gangs and urgent requests, waits and cancels, and renews and arrives at the edges of windows,
exceptions and what lingers. A meeting is whatever the judge finds against what runs.

Each history is short and a seed says all of it. With the policy none may have a meeting; the same
attacker without it must have many, or it would be no attacker.

Histories are played in blocks on all cores, and told in the order of their seeds: whatever the line
of progress calls done is done. An interrupted run says with which ``--from`` to go on.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from itertools import repeat
from random import Random
from typing import Any

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.topology import CacheDomain, DomainKind, NodeTopology
from bailiwick.isolation.judge import violations
from bailiwick.isolation.policy import (
    Dedicated,
    Distrust,
    EachTenant,
    EachValue,
    Linger,
    NeverShare,
    OfTenant,
    Others,
    Policy,
    PolicyException,
    Spread,
    Window,
)
from bailiwick.kernel import Cancel, Granted, Queued, RegisterNode, Release, Renew, Submit
from bailiwick.kernel.isolation.placements import placements
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.words import Priority
from tests.support.isolation_histories import use_policy
from tests.unit.kernel.desk import HOPPER, Desk, ask

HISTORIES = 100_000
BLOCK = 100
"""Histories between two lines of progress, and what an interruption loses at most on each core."""
MOVES = 10
HOUR_MS = 3_600_000
MONDAY_MS = 4 * 24 * HOUR_MS
OPENS_MS = MONDAY_MS + 8 * HOUR_MS
"""When windows open, exceptions end, and histories begin to matter."""

_HOST, _RACK, _FABRIC, _CACHE = (DomainKind(word) for word in ("host", "rack", "fabric", "cache"))
_BANK, _EVE = OfTenant("bank"), OfTenant("eve")
_DAY = Window(8 * 60, 18 * 60)
_APART = NeverShare("apart", (_HOST,), _BANK, _EVE)

POLICIES = (
    Policy((_APART,)),
    Policy((Dedicated("vault", _RACK, _BANK),)),
    Policy((Distrust("by-day", (_HOST,), EachTenant(), _DAY),)),
    Policy(
        (NeverShare("alone", (_HOST,), _BANK, Others()), Linger("keep", (_HOST,), _BANK, 600_000))
    ),
    Policy((Distrust("teams", (_HOST,), EachValue("team")),)),
    Policy((NeverShare("wires", (_FABRIC, _CACHE), _BANK, _EVE),)),
    Policy((_APART,), (PolicyException("joint", (_HOST,), _BANK, _EVE, "alice", OPENS_MS),)),
    Policy((Spread("few", 1, _EVE, _RACK),)),
    Policy((_APART, Linger("dust", (_HOST, _RACK), _BANK, None))),
)


class Attack:
    """One history."""

    def __init__(self, seed: int, *, guarded: bool) -> None:
        self.random = Random(seed)
        self.policy = POLICIES[seed % len(POLICIES)]
        self.desk = Desk(engine="auto", grace_ms=self.random.choice((0, 2_000)))
        self.desk.now_ms = OPENS_MS - self.random.choice((60_000, HOUR_MS, 3 * HOUR_MS))
        topology = NodeTopology((CacheDomain(4_000), CacheDomain(4_000)))
        for number in range(3):
            gpus = tuple(GpuDevice(HOPPER, fabric=f"f{number // 2}") for _ in range(2))
            rack = {"rack": f"r{number // 2}"}
            how = {"gpus": gpus, "labels": rack, "topology": topology}
            self.desk.do(RegisterNode(f"n{number}", NodeCapacity(8, 10**6, **how)))
        if guarded:
            use_policy(self.desk.state, self.policy)
        self.mine: list[int] = []
        self.theirs: list[int] = []
        self.waiting: list[int] = []

    def meets(self) -> bool:
        """Play to the end; whether there was a meeting that the policy forbids."""
        met = False
        for _ in range(MOVES):
            for move in (self._victim, self._attacker):
                with suppress(BailiwickError):  # it has ended, or may not be asked now
                    move()
                self.desk.tick(self.desk.now_ms + 1)
                met = met or self._is_met()
        return met

    def _is_met(self) -> bool:
        state, now_ms = self.desk.state, self.desk.now_ms
        left = state.isolation.residues_at(now_ms)
        return bool(violations(self.policy, [*placements(state)], now_ms=now_ms, residues=left))

    def _submit(self, tenant: str, *, wait: bool = False, **terms: Any) -> list[int]:
        answer = self.desk.do(Submit(ask(tenant, **terms), wait=wait))
        if isinstance(answer, Queued) and tenant == "eve":
            self.waiting.append(answer.entry_id)
        return list(answer.lease_ids) if isinstance(answer, Granted) else []

    def _victim(self) -> None:
        random, alive = self.random, [i for i in self.theirs if i in self.desk.state.leases]
        if alive and random.random() < 0.3:
            self.desk.do(Release(random.choice(alive)))
        elif len(alive) < 3:
            cores, ttl_ms = random.choice((1, 2, 4)), random.choice((600_000, 5 * HOUR_MS))
            terms = {"cpu_cores": cores, "ttl_ms": ttl_ms, "job_labels": {"team": "vault"}}
            if random.random() < 0.3:
                terms |= {"gpu_count": 1, "generation": HOPPER}
            self.theirs += self._submit("bank", wait=True, **terms)

    def _attacker(self) -> None:
        random, state = self.random, self.desk.state
        mine = [i for i in state.leases if str(state.owner_of(i).tenant) == "eve"]
        near = {str(state.node_of(i)) for i in state.leases if i not in mine}
        what = random.random()
        if what < 0.15:  # to the edge of a window, an exception, or what lingers
            edge = OPENS_MS - self.desk.now_ms
            steps = (
                1_000,
                600_000,
                600_001,
                *((edge, edge - 1, edge - 60_000) if edge > 60_000 else ()),
            )
            self.desk.now_ms += random.choice(steps)
        elif what < 0.25 and mine:
            self.desk.do(Renew(random.choice(mine), random.choice((600_000, 5 * HOUR_MS))))
        elif what < 0.4 and mine:  # give back what landed away from the victim
            away = [i for i in mine if str(state.node_of(i)) not in near] or mine
            self.desk.do(Release(random.choice(away)))
        elif what < 0.45 and self.waiting:
            self.desk.do(Cancel(self.waiting.pop()))
        else:
            self._land(near)

    def _land(self, near: set[str]) -> None:
        """Ask for what fits beside the victim, and nowhere else if that can be."""
        random, ledger = self.random, self.desk.state.ledger
        free = {str(node): ledger.node(node).free.cpu_milli // 1000 for node in ledger.entries}
        beside = [free[node] for node in near if free.get(node)]
        terms: dict[str, Any] = {
            "cpu_cores": random.choice(beside or [1])
            if random.random() < 0.7
            else random.choice((1, 8)),
            "ttl_ms": random.choice((60_000, 600_000, 5 * HOUR_MS)),
            "priority": random.choice(list(Priority)),
            "job_labels": random.choice(({}, {"team": "vault"}, {"team": "eve"})),
            "gang_size": random.choice((1, 1, 1, 2, 3)),
        }
        if random.random() < 0.3:
            terms |= {"gpu_count": 1, "generation": HOPPER}
        self._submit("eve", wait=random.random() < 0.5, **terms)


def play_block(seeds: Sequence[int], guarded: bool) -> list[int]:
    """Those of these seeds that end in a forbidden meeting."""
    met = []
    for seed in seeds:
        try:
            if Attack(seed, guarded=guarded).meets():
                met.append(seed)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
    return met


def main(arguments: list[str] | None = None) -> int:
    """Zero if no attack succeeded; 130 if it was interrupted, and says how to go on."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.placement_attack")
    how_many = "the seeds to play end before this one"
    parser.add_argument("--histories", type=int, default=HISTORIES, help=how_many)
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="only this one")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    unguarded = "without the policy: the attacker should succeed"
    parser.add_argument("--unguarded", action="store_true", help=unguarded)
    given = parser.parse_args(arguments)
    seeds = range(given.first, given.histories)
    if given.seed is not None:
        seeds = range(given.seed, given.seed + 1)
    if not seeds or given.workers < 1:
        parser.error("no history to play, or nobody to play it")
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return _play_all(seeds, workers=given.workers, guarded=not given.unguarded)
    finally:
        signal.signal(signal.SIGTERM, before)


def _play_all(seeds: range, *, workers: int, guarded: bool) -> int:
    began, done, failed = time.monotonic(), 0, 0
    blocks = [seeds[at : at + BLOCK] for at in range(0, len(seeds), BLOCK)]
    with ProcessPoolExecutor(min(workers, len(blocks)), initializer=_heed_no_interrupt) as pool:
        try:
            played = pool.map(play_block, blocks, repeat(guarded))
            for block, met in zip(blocks, played, strict=True):
                done, failed = done + len(block), failed + len(met)
                for seed in met:
                    print(f"seed {seed}: a meeting that the policy forbids", flush=True)
                _tell(seeds, done, failed, time.monotonic() - began)
        except (KeyboardInterrupt, AssertionError) as stopped:
            pool.shutdown(wait=False, cancel_futures=True)
            print(f"seeds {seeds[0]} to before {seeds[0] + done}: {failed} with a meeting")
            if isinstance(stopped, AssertionError):
                print(f"failed: {stopped}")
                return 1
            print(f"interrupted; go on with --from {seeds[0] + done}")
            return 130
    took = time.monotonic() - began
    print(
        f"seeds {seeds[0]} to {seeds[-1]}: {done} histories, "
        f"{failed} with a forbidden meeting, {took:.0f} s"
    )
    return 1 if failed else 0


def _heed_no_interrupt() -> None:
    """A worker ends its block; whoever started it decides when to stop."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _tell(seeds: range, done: int, failed: int, took_s: float) -> None:
    left_s = took_s / done * (len(seeds) - done)
    said = f"{done} of {len(seeds)} histories, {failed} with a meeting"
    after = f"{done / took_s:.1f}/s, {left_s / 60:.0f} min left, next --from {seeds[0] + done}"
    print(f"{said}; {after}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
