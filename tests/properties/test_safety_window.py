"""A look at a long line asks few, and starts whom a look that asks everybody would start.

Three kernels do the same. One asks the whole line at each look, and for who will not wait all that
stand ahead of it. One asks as of a long line. One does that too, but is read back from a snapshot
before each command, so that it remembers nothing that the state does not say.
"""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

import pytest

from bailiwick.fleet.resources import Resources
from bailiwick.kernel import (
    Cancel,
    ChangeMode,
    Command,
    Kernel,
    RegisterNode,
    Release,
    Renew,
    SetQuota,
    Submit,
    Tick,
)
from bailiwick.kernel.snapshot import decode, digest_of, encode
from bailiwick.kernel.work import plan, window
from bailiwick.scheduler.decision import AdmissionDecision
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.scheduler.reservation import Turn
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import PRIORITIES, Dimension, LeaseClass, Priority
from tests.unit.kernel.desk import Desk, ask, cores

BOUNDS = ("WHOLE_MAX", "HEAD", "UNTOLD_MAX", "TURNS_MAX", "KINDS_MAX")
WHOLE, LONG, MANY_KINDS = (10**6, 16, 64, 8, 64), (0, 2, 1, 1, 64), (0, 1, 1, 1, 0)
EVICTING = (0, 10**6, 1, 1, 64)
"""Who evicts may leave the line in the midst of a look, so that the rest stands otherwise."""
TERMS: list[dict[str, Any]] = [
    *({"cpu_cores": count} for count in (1, 2, 4, 7)),
    {"gpu_count": 1},
    {"cpu_cores": 2, "gang_size": 3},
    {"gpu_count": 2, "gang_size": 2},
    {"cpu_cores": 3, "labels": {"rack": "a"}},
]


def settings(rng: Random, *, evicting: bool) -> dict[str, Any]:
    return {
        "grace_ms": rng.choice([0, 3_000]),
        "preempt_from": Priority.HIGH if evicting else Priority.CRITICAL,
        "horizon_ms": rng.choice([20_000, 10**7]),
        "reservations_max": rng.choice([1, 2, 4]),
        "aging_ms": rng.choice([5_000, 10**9]),
        "headroom": rng.choice([Resources(), Resources(), Resources(cpu_milli=3_000)]),
    }


class Trio:
    """Three desks that are told the same."""

    def __init__(self, rng: Random, monkeypatch: pytest.MonkeyPatch, long: tuple[int, ...]) -> None:
        self.rng, self.long, self._patch = rng, long, monkeypatch
        self.evicting = long == EVICTING
        how = settings(rng, evicting=self.evicting)
        nodes = [cores(8), cores(8, gpus=4, labels={"rack": "a"}), cores(6)]
        self.whole, self.few, self.forgetful = (Desk(nodes=nodes, **how) for _ in range(3))
        self._concerns = plan._concerns
        self.starts, self.asked = 0, dict.fromkeys((WHOLE, long), 0)
        ask = Turn.ask

        def counted(turn: Turn, entry: QueueEntry) -> AdmissionDecision:
            self.asked[self.bounds] += 1
            return ask(turn, entry)

        monkeypatch.setattr(Turn, "ask", counted)

    def do(self, command: Command) -> None:
        rows = [self._do(self.whole, command, WHOLE), self._do(self.few, command, self.long)]
        if not self.evicting:  # of equal victims, which one goes is not the state's to say
            self._forget()
            assert self._do(self.forgetful, command, self.long) == rows[1]
            assert self.forgetful.told == self.few.told
        told = [[row for row in each if row[0] != "request_blocked" or row[1]] for each in rows]
        assert told[0] == told[1]
        self.starts += sum(row[0] == "admission_approved" for row in rows[0])

    def _forget(self) -> None:
        state, anchor = self.forgetful.state, self.forgetful.kernel.chain.anchor()
        again = decode(encode(state), digest_of(state))
        self.forgetful.kernel = Kernel(again, anchor, simulated=True)

    def _do(self, desk: Desk, command: Command, bounds: tuple[int, ...]) -> list[tuple[Any, ...]]:
        self.bounds = bounds
        for name, bound in zip(BOUNDS, bounds, strict=True):
            self._patch.setattr(window, name, bound)
        # Who will not wait is held against all ahead of it, whether they concern it or not.
        concerns = (lambda *_: True) if bounds == WHOLE else self._concerns
        self._patch.setattr(plan, "_concerns", concerns)
        desk.told = ()
        with suppress(BailiwickError):
            desk.do(command)
        return [(str(r.kind), r.body.get("victims"), r.body) for r in desk.last]

    def act(self) -> None:
        rng, state, dice = self.rng, self.whole.state, self.rng.random()
        leases, waiting = list(state.leases), list(state.line.entries)
        if dice < 0.58:
            self.do(Submit(self.request(), wait=rng.random() < 0.85))
        elif dice < 0.65 and leases:
            self.do(Release(rng.choice(leases)))
        elif dice < 0.68 and leases:
            self.do(Renew(rng.choice(leases), rng.choice([1_000, 9_000, 40_000])))
        elif dice < 0.7 and waiting:
            self.do(Cancel(rng.choice(waiting)))
        elif dice < 0.72:
            limit = ResourceLimit(Dimension.CPU_MILLI, 1_000 * rng.choice([2, 6, 40]))
            self.do(SetQuota(rng.choice("abc"), Quota(limits=(limit,))))
        elif dice < 0.74:
            mode = rng.choice([NodeMode.DRAINING, NodeMode.RETURNING, NodeMode.ACCEPTING])
            self.do(ChangeMode(rng.choice(["n1", "n2", "n3"]), mode))
        elif dice < 0.75:
            self.do(RegisterNode(f"m{self.whole.now_ms}", cores(2)))
        else:
            step_ms = rng.choice([0, 500, 1_000, 4_000])
            for desk in (self.whole, self.few, self.forgetful):
                desk.now_ms += step_ms
            self.do(Tick(200))

    def request(self) -> Any:
        rng = self.rng
        how = {
            "priority": rng.choice([Priority.NORMAL] * 4 + list(PRIORITIES[: 3 + self.evicting])),
            "lease_class": rng.choice([LeaseClass.STANDARD] * 3 + list(LeaseClass)),
            "project": rng.choice([None, None, "p"]),
            "ttl_ms": rng.choice([1_000, 6_000, 6_000, 30_000, 10**6]),
        }
        return ask(rng.choice("abcd"), **rng.choice(TERMS), **how)


@pytest.mark.parametrize("long", [LONG, MANY_KINDS, EVICTING])
@pytest.mark.parametrize("seed", range(5))
def test_few_are_asked_and_the_same_start(
    seed: int, long: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    trio = Trio(Random(seed), monkeypatch, long)
    for _ in range(120):
        trio.act()
    assert trio.starts >= 20
    desks = 1 if trio.evicting else 2
    assert trio.asked[long] < desks * trio.asked[WHOLE]
