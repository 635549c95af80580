"""A history of cells for a recording: a plane that has some, and is one of another."""

from __future__ import annotations

from contextlib import suppress
from random import Random

from bailiwick.fleet.node import NodeCapacity
from bailiwick.kernel import (
    ChangeSettings,
    Command,
    Elect,
    Envelope,
    RegisterNode,
    SetQuota,
    Tick,
)
from bailiwick.kernel.cells import commands as cmd
from bailiwick.kernel.people.commands import CreateTenant
from bailiwick.kernel.state import State
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.cells import TakingStatus
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.values import TenantId
from bailiwick.vocab.words import Priority
from tests.support.kernel_histories import Campus
from tests.support.wide_open import wide_settings


def cells() -> Campus:
    """Requests that are sent to cells and told of, and requests that are taken for a home."""
    chance, campus = Random(178), Campus()
    quota = Quota((ResourceLimit.cpu_cores(20),))
    first: tuple[Command, ...] = (
        Elect(1, "replica-1"),
        ChangeSettings(wide_settings(grace_ms=5_000)),
        *(RegisterNode(f"n{i}", NodeCapacity(8, 10**9)) for i in range(2)),
        *(SetQuota(f"t{i}", quota) for i in range(2)),
        *(cmd.JoinCell(f"cell-{i}", f"https://cell-{i}.example") for i in range(3)),
        CreateTenant("t0"),
        CreateTenant("t1"),
        cmd.MeetHome("campus", 1),
    )
    for command in first:
        campus.lines += campus.kernel.execute(Envelope(command, "setup", "s"), 1).lines
    for step in range(600):
        campus.now_ms += chance.choice((0, 1, 500, 4_000))
        command = _next(campus.kernel.state, chance, now_ms=campus.now_ms)
        envelope = Envelope(command, f"actor-{step % 3}", f"req-{step}")
        with suppress(BailiwickError):
            campus.lines += campus.kernel.execute(envelope, campus.now_ms).lines
    return campus


def _next(state: State, chance: Random, *, now_ms: int) -> Command:
    book, home = state.cells, state.cells.home
    cell = f"cell-{chance.randrange(3)}"
    member = book.members.get(cell)
    number = chance.choice(sorted(book.requests) or [1])
    there = book.requests.get(number)
    epoch = 0 if member is None else member.epoch
    asked = PlacementRequest(
        tenant=TenantId(chance.choice(("t0", "t0", "t0", "t1", "t1", "t1", "t2"))),
        cpu_cores=chance.randint(1, 4),
        gang_size=chance.choice((1, 1, 2)),
        priority=chance.choice(list(Priority)),
        ttl_ms=chance.choice((5_000, 60_000)),
    )
    met = 1 if home is None else home.epoch
    order = 1 if home is None else home.done + chance.choice((0, 1, 1, 1, 2))
    taken = chance.choice(sorted(home.takings) if home and home.takings else [1])
    told = cmd.NoteGlobal(
        cell if there is None or there.cell is None else there.cell,
        max(epoch, 1),
        number,
        max((there.sent or 1) if there else 1, 1),
        state.size,
        chance.choice(list(TakingStatus)),
        (chance.randint(1, 9),),
        chance.choice((0, 0, 1)),
    )
    take = cmd.TakeGlobal(
        met, max(order, 1), state.size, asked, chance.random() < 0.7, now_ms + 1_000
    )
    choices: list[Command] = [
        *([cmd.AskGlobally(asked)] * 3),
        *([cmd.SendGlobal(number, cell, chance.random() < 0.5)] * 4),
        *([told] * 4),
        cmd.WithdrawGlobal(number),
        cmd.CutOffCell(cell),
        *([cmd.ReachCell(cell, epoch + 1, chance.randrange(40))] * 2),
        cmd.LeaveCell(cell, lost=chance.random() < 0.3),
        cmd.JoinCell(cell, f"https://{cell}.example"),
        *([take] * 5),
        *([cmd.RecallGlobal(chance.choice(list(book.in_line) or [1]))] * 2),
        cmd.GiveBackGlobal(met, max(order, 1), chance.choice((taken, taken, state.size))),
        *([cmd.GiveBackGlobal(met, max(order, 1), taken, unbegun=True)] * 2),
        cmd.HearHome(met, max(state.size - 20, 0)),
        cmd.MeetHome("campus", met + chance.choice((0, 0, 1))),
        cmd.LeaveHome(),
        *([Tick()] * 4),
    ]
    return chance.choice(choices)
