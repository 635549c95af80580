"""A tenant that plays for a place beside another: ``python -m tests.simulation.placement_attack``.

The attacker knows where its victim runs, which no tenant is told. It chooses sizes so that packing
puts it there, fills other nodes, gives back what landed elsewhere, labels its jobs as it likes,
sends gangs and urgent requests, waits and cancels, and renews and arrives at the edges of windows,
exceptions and what lingers. A meeting is whatever the judge finds against what runs.

Each history is short and a seed says all of it. With the policy none may have a meeting; the same
attacker without it must have many, or it would be no attacker.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import suppress
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


def main(arguments: list[str] | None = None) -> int:
    """Zero if no attack succeeded."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.placement_attack")
    parser.add_argument("--histories", type=int, default=HISTORIES, help="how many to play")
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    given = parser.parse_args(arguments)
    began, failed = time.monotonic(), 0
    for seed in range(given.start, given.start + given.histories):
        if Attack(seed, guarded=True).meets():
            failed += 1
            print(f"seed {seed}: a meeting that the policy forbids", flush=True)
        if seed % 1_000 == 999:
            print(f"{seed + 1 - given.start} histories, {failed} with a meeting", file=sys.stderr)
    took = time.monotonic() - began
    print(f"{given.histories} histories, {failed} with a forbidden meeting, {took:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
