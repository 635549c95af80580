"""A home and its cells, each a real kernel, under a network that loses, doubles and delays.

What happens is drawn from a seed. After every step all kernels are looked at at once, as nobody in
the fleet can, and the promises of :mod:`bailiwick.kernel.cells` are held against what is there:

- a request is in one cell at most, and its home knows which;
- all cells together hold no more of a tenant's than its quota at home, in GPU memory either, though
  the cells have GPUs of unlike size;
- a cell that home holds for cut off takes nothing, and loses nothing by it;
- no lease of a request is lost: whoever has one in a cell is known there as its home's;
- for one request only one cell makes room: whoever is evicted for it was so in the cell that home
  gave it to.

At the end the network is whole, and everything that was wanted came to its end.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.kernel import (
    ChangeSettings,
    Command,
    Elect,
    Envelope,
    Kernel,
    RegisterNode,
    Release,
    SetQuota,
    State,
    Submit,
    Tick,
)
from bailiwick.kernel.cells import commands as cmd
from bailiwick.kernel.cells import events as ev
from bailiwick.kernel.cells import link
from bailiwick.kernel.cells.bounds import is_borne
from bailiwick.kernel.cells.offers import CanStart, ChosenCell, choose_cell, offer
from bailiwick.kernel.people.commands import CreateTenant
from bailiwick.kernel.snapshot import decode, digest_of, encode
from bailiwick.kernel.work.commands import Evict
from bailiwick.kernel.work.lease_events import LeasePreempted
from bailiwick.reconcile.cells.letters import next_letter
from bailiwick.scheduler.engine.protocol import FLAG_PINNED
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.cells import CellStanding, GlobalStatus, TakingStatus
from bailiwick.vocab.errors import BailiwickError, Conflict, InvariantBroken
from bailiwick.vocab.words import HardwareGeneration, PreemptionReason, Priority
from tests.support.wide_open import wide_settings

HOME = "campus"
CORES_PER_TENANT = 10
GPUS = tuple(GpuDevice(HardwareGeneration.OTHER, size) for size in (8, 24, 80))
"""Of unlike size, in units of memory that only this file knows."""
VRAM = {"lab": 30}
"""Whose memory of GPUs is limited at home."""
LIVE = (TakingStatus.QUEUED, TakingStatus.HELD)
TENANTS = ("lab", "shop")
LOOKS = 0.02
"""How often a state is written out before and after it was only asked: that takes long."""


class PromiseBroken(Exception):
    """What may never be, and was seen."""


@dataclass
class Plane:
    """One kernel with a clock of its own, which a crash takes back to what it wrote."""

    kernel: Kernel
    skew_ms: int = 0
    epoch: int = 0

    @property
    def state(self) -> State:
        return self.kernel.state

    def do(self, command: Command, now_ms: int) -> list[object]:
        """The events that followed."""
        outcome = self.kernel.execute(Envelope(command), now_ms + self.skew_ms)
        return [step.event for step in outcome.steps]

    def restart(self, now_ms: int) -> None:
        """A new leader on what was written; it must be the same state."""
        digest = digest_of(self.state)
        state = decode(encode(self.state), digest)
        if digest_of(state) != digest:
            raise PromiseBroken("a state that was read back is another")
        self.kernel = Kernel(state, self.kernel.chain.anchor(), simulated=True)
        self.epoch += 1
        self.do(Elect(self.epoch, f"r{self.epoch}"), now_ms)


@dataclass
class Contact:
    """What the home's leader remembers of a cell, and a crash forgets."""

    since_ms: int
    last: link.CellReply | None = None
    epoch: int = 0


@dataclass
class Cells:
    """The fleet, its network, and what was drawn for it."""

    seed: int
    count: int = 3
    now_ms: int = 1_000_000
    loss: float = 0.15
    log: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)
        self.home = self._plane(nodes=0)
        for tenant in TENANTS:
            limits = [ResourceLimit.cpu_cores(CORES_PER_TENANT)]
            limits += [ResourceLimit.gpu_vram(VRAM[tenant])] if tenant in VRAM else []
            self.home.do(SetQuota(tenant, Quota(limits=limits)), self.now_ms)
        self.cells: dict[str, Plane] = {}
        self.contacts: dict[str, Contact] = {}
        self.mail: list[tuple[int, Callable[[], None]]] = []
        self.parted: set[str] = set()
        self.entries: dict[tuple[str, int], int] = {}
        """Whose an entry in a cell's line was."""
        self.refused = 0
        self.heals_ms: int | None = None
        self.sent = self.taken = self.cuts = self.evictions = self.recalled = self.let_go = 0
        for at in range(self.count):
            self._add(f"cell-{at}")

    def _plane(self, *, nodes: int) -> Plane:
        made = Plane(Kernel(State(), simulated=True))
        grace = self.draw.choice((0, 2_000))
        made.do(ChangeSettings(wide_settings(grace_ms=grace, min_run_ms=0)), self.now_ms)
        for tenant in TENANTS:
            made.do(CreateTenant(tenant), self.now_ms)
        for at in range(nodes):
            gpus = tuple(self.draw.choice(GPUS) for _ in range(2))
            made.do(RegisterNode(f"n{at}", NodeCapacity(4, 10**6, gpus=gpus)), self.now_ms)
        return made

    def _add(self, name: str) -> None:
        plane = self._plane(nodes=2)  # enough for any gang that is asked for
        skew_ms = self.draw.randint(0, 500_000)
        before = self.cells.get(name)
        plane.skew_ms = skew_ms if before is None else before.skew_ms  # it stands where that stood
        self.cells[name] = plane
        # Its line counts from one again: what was the former one's there is nobody's now.
        self.entries = {key: number for key, number in self.entries.items() if key[0] != name}
        self.contacts[name] = Contact(self.now_ms)
        self.home.do(cmd.JoinCell(name, f"https://{name}"), self.now_ms)

    # -- the network ---------------------------------------------------------------------------

    def post(self, cell: str, arrives: Callable[[], None]) -> None:
        """A message on its way: lost, doubled and late as it is drawn."""
        if cell in self.parted or self.draw.random() < self.loss:
            return
        for _ in range(2 if self.draw.random() < self.loss else 1):
            late = self.draw.choice((1, 50, 1_000, 20_000 if self.loss else 50))
            self.mail.append((self.now_ms + late, arrives))

    def deliver(self) -> None:
        """What is due by now, in an order that is drawn."""
        due = [each for each in self.mail if each[0] <= self.now_ms]
        self.mail = [each for each in self.mail if each[0] > self.now_ms]
        self.draw.shuffle(due)
        for _, arrives in due:
            arrives()
            self.look()

    # -- the home ------------------------------------------------------------------------------

    def write(self, cell: str) -> None:
        """The home's letter to one cell: it meets it, or orders what there is to do."""
        contact = self.contacts[cell]
        told = next_letter(self.home.state, cell, home=HOME, last=contact.last)
        if told is None:
            contact.last = None  # an old reply, which came after a newer one
            return
        self.post(cell, lambda: self.read(cell, told))

    def hear(self, cell: str, told: link.CellReply) -> None:
        """A reply came: what it says is sealed."""
        if cell not in self.home.state.cells.members:
            return
        member, contact = self.home.state.cells.member(cell), self.contacts[cell]
        if member.standing is CellStanding.CUT_OFF:
            if told.epoch <= member.epoch:
                return
            self.home.do(cmd.ReachCell(cell, told.epoch, told.done), self.now_ms)
        elif told.epoch != member.epoch:
            return
        if contact.last is None or contact.epoch != told.epoch or told.now_ms > contact.last.now_ms:
            contact.last, contact.epoch, contact.since_ms = told, told.epoch, self.now_ms
        for note in link.notes_of(cell, told):
            self.home.do(note, self.now_ms)
            self.look()
        if self.heals_ms is not None and told.now_ms - self.cells[cell].skew_ms > self.heals_ms:
            wrong = link.miscount(self.home.state, cell, told=told)
            if wrong is not None and contact.last is told:  # of an older reply it may be so
                raise PromiseBroken(f"{cell}: {wrong}")

    def watch(self) -> None:
        """Who has not been heard of for long is cut off."""
        for cell, contact in self.contacts.items():
            member = self.home.state.cells.members.get(cell)
            if member is None or member.standing is CellStanding.CUT_OFF:
                continue
            if self.now_ms - contact.since_ms > link.CUT_OFF_MS:
                self.home.do(cmd.CutOffCell(cell), self.now_ms)
                self.cuts += 1

    def place(self) -> None:
        """Ask the cells that can be reached about the first who waits, and give it to one."""
        book = self.home.state.cells
        for each in [r for r in book.requests.values() if r.status is GlobalStatus.WAITING]:
            if not is_borne(self.home.state, each.request, now_ms=self.now_ms):
                continue
            near = [n for n, m in book.members.items() if m.standing is CellStanding.REACHABLE]
            asked = [n for n in near if n not in self.parted]
            offers = {n: self._offer(n, each.request) for n in asked}
            chosen = choose_cell(offers, silent=[n for n in book.members if n not in asked])
            if not isinstance(chosen, ChosenCell):
                if chosen.never:
                    self.home.do(cmd.WithdrawGlobal(each.number), self.now_ms)
                continue
            self.home.do(cmd.SendGlobal(each.number, chosen.cell, chosen.waits), self.now_ms)
            self.sent += 1

    def recall(self) -> None:
        """What waits in a line is asked back, mostly if another cell could start it."""
        book = self.home.state.cells
        for number in list(book.in_line):
            each = book.requests[number]
            assert each.cell is not None
            near = book.members[each.cell].standing is CellStanding.REACHABLE
            if not near or each.recalled is not None:
                continue
            others = [n for n in self.cells if n != each.cell and n not in self.parted]
            starts = (isinstance(self._offer(n, each.request), CanStart) for n in others)
            if any(starts) or self.draw.random() < 0.02:
                self.home.do(cmd.RecallGlobal(number), self.now_ms)
                self.recalled += 1

    def _offer(self, cell: str, request: PlacementRequest):  # type: ignore[no-untyped-def]
        plane = self.cells[cell]
        before = digest_of(plane.state) if self.draw.random() < LOOKS else None
        found = offer(plane.state, request, now_ms=self.now_ms + plane.skew_ms)
        if before is not None and digest_of(plane.state) != before:
            raise PromiseBroken("asking changed something")
        return found

    # -- a cell --------------------------------------------------------------------------------

    def act(self, cell: str, command: Command) -> list[object]:
        """Something happens in a cell; who is evicted for a request of its home's is looked at."""
        plane = self.cells[cell]
        events = plane.do(command, self.now_ms)
        home = plane.state.cells.home
        if home is None:
            return events
        for entry_id, number in home.by_entry.items():
            self.entries[cell, entry_id] = number
        for event in events:
            if isinstance(event, LeasePreempted):
                by = event.taken_by
                number = self.entries.get((cell, by.entry_id or 0))
                self._check_owner(cell, home.by_lease.get(by.lease_id or 0, number))
        return events

    def _check_owner(self, cell: str, number: int | None) -> None:
        if number is None:
            return  # for somebody of the cell itself
        self.evictions += 1
        known = self.home.state.cells.requests.get(number)
        if known is None or known.cell != cell:
            raise PromiseBroken(f"{cell} evicts for request {number}, which home knows as {known}")

    def read(self, cell: str, told: link.CellLetter) -> None:
        """A letter came: what it orders is carried out, and the cell replies."""
        plane = self.cells[cell]
        for command in link.commands_of(told):
            try:
                events = self.act(cell, command)
            except InvariantBroken:
                raise
            except BailiwickError:
                return  # of another epoch, or too late: home writes again
            self._note_taken(cell, events)
        state, now_ms = plane.state, self.now_ms + plane.skew_ms
        answer = link.reply(state, heard=told.heard, now_ms=now_ms)
        self.post(cell, lambda: self.hear(cell, answer))

    def _note_taken(self, cell: str, events: list[object]) -> None:
        for event in events:
            if isinstance(event, ev.GlobalGivenBack) and event.let_go:
                self.let_go += 1
            if isinstance(event, ev.GlobalTaken):
                self.taken += 1
                member = self.home.state.cells.members.get(cell)
                if member is None or member.standing is not CellStanding.REACHABLE:
                    raise PromiseBroken(f"{cell} took {event.global_id} while it was cut off")

    # -- what people do --------------------------------------------------------------------------

    def ask(self) -> None:
        tenant, priority = self.draw.choice(TENANTS), self.draw.choice(list(Priority))
        cores, gang = self.draw.randint(1, 4), self.draw.choice((1, 1, 1, 2))
        ttl_ms = self.draw.choice((5_000, 20_000, 60_000))
        request = PlacementRequest(
            tenant=tenant,
            cpu_cores=cores,
            gpu_count=self.draw.choice((0, 0, 1, 2)),
            gang_size=gang,
            ttl_ms=ttl_ms,
            priority=priority,
        )
        try:
            self.home.do(cmd.AskGlobally(request), self.now_ms)
        except Conflict:
            if not request.gpu_count or tenant not in VRAM:
                raise
            self.refused += 1

    def withdraw(self) -> None:
        wanted = [
            each.number
            for each in self.home.state.cells.requests.values()
            if each.status is not GlobalStatus.WITHDRAWN
        ]
        if wanted:
            self.home.do(cmd.WithdrawGlobal(self.draw.choice(wanted)), self.now_ms)

    def work_there(self) -> None:
        """Somebody of the cell itself asks, gives back or evicts."""
        name = self.draw.choice(list(self.cells))
        plane = self.cells[name]
        leases = list(plane.state.leases)
        try:
            match self.draw.randrange(3):
                case 0:
                    local = PlacementRequest(
                        tenant="local",
                        cpu_cores=self.draw.randint(1, 3),
                        ttl_ms=30_000,
                        priority=self.draw.choice(list(Priority)),
                    )
                    self.act(name, Submit(local))
                case 1 if leases:
                    self.act(name, Release(self.draw.choice(leases)))
                case 2 if leases:
                    victim = (self.draw.choice(leases),)
                    self.act(name, Evict(victim, PreemptionReason.OPERATOR_DRAIN))
        except InvariantBroken:
            raise
        except BailiwickError:
            pass  # it was on its way out already

    def part(self) -> None:
        cell = self.draw.choice(list(self.cells))
        self.parted ^= {cell}

    def crash(self) -> None:
        name = self.draw.choice([*self.cells, HOME])
        if name != HOME:
            self.cells[name].restart(self.now_ms)
            return
        self.home.restart(self.now_ms)
        self.contacts = {cell: Contact(self.now_ms) for cell in self.contacts}

    def give_up(self) -> None:
        """A cell is destroyed: an operator says so, and joins an empty one under its name."""
        cut = [n for n, m in self.home.state.cells.members.items() if m.standing == "cut_off"]
        if not cut or self.draw.random() < 0.7:
            return
        cell = self.draw.choice(cut)
        self.home.do(cmd.LeaveCell(cell, lost=True), self.now_ms)
        self._add(cell)

    # -- the run ---------------------------------------------------------------------------------

    def step(self) -> None:
        """One thing that happens, and the time until the next."""
        self.now_ms += self.draw.choice((1, 100, 1_000, 4_000))
        happens = self.draw.choices(
            (self.ask, self.withdraw, self.work_there, self.part, self.crash, self.give_up),
            (6, 1, 3, 1, 1, 0.2),
        )[0]
        happens()
        self.turn()

    def turn(self) -> None:
        """What goes on by itself."""
        self.home.do(Tick(), self.now_ms)
        for cell in self.cells:
            self.act(cell, Tick())
        self.look()
        self.deliver()
        self.watch()
        self.place()
        self.recall()
        for cell in self.cells:
            self.write(cell)
        self.look()

    def heal(self) -> None:
        """The network is whole, and nobody asks for more: all comes to its end."""
        self.loss, self.parted, self.heals_ms = 0.0, set(), self.now_ms
        for _ in range(400):
            self.now_ms += 5_000
            self.turn()
            if not self.home.state.cells.requests and not self.mail_matters():
                return
        left = self.home.state.cells.requests
        raise PromiseBroken(f"not over when all could be: {left}")

    def mail_matters(self) -> bool:
        """Whether a cell has anything that its home has not heard to be over."""
        homes = (plane.state.cells.home for plane in self.cells.values())
        return any(home is not None and home.takings for home in homes)

    # -- looking at all of it --------------------------------------------------------------------

    def look(self) -> None:
        """Hold the promises against everything that is there."""
        where: dict[int, list[str]] = {}
        held, vram = dict.fromkeys(TENANTS, 0), dict.fromkeys(TENANTS, 0)
        for name, plane in self.cells.items():
            home = plane.state.cells.home
            for number, taking in ({} if home is None else home.takings).items():
                if taking.status in LIVE:
                    where.setdefault(number, []).append(name)
                    self._check_taking(plane, taking)
            self._count_held(name, held, vram=vram)
        for number, cells in where.items():
            known = self.home.state.cells.requests.get(number)
            if len(cells) > 1:
                raise PromiseBroken(f"request {number} is in {cells}")
            if known is None or known.cell != cells[0]:
                raise PromiseBroken(f"request {number} is in {cells[0]}, home knows {known}")
        for tenant, milli in held.items():
            if milli > CORES_PER_TENANT * 1_000:
                raise PromiseBroken(f"{tenant} holds {milli} thousandths of a core")
        for tenant, most in VRAM.items():
            if vram[tenant] > most:
                raise PromiseBroken(f"{tenant} holds {vram[tenant]} of GPU memory, and may {most}")

    def _count_held(self, cell: str, held: dict[str, int], *, vram: dict[str, int]) -> None:
        """Add what a cell's own journal says of our tenants; all of it is known as their home's."""
        state = self.cells[cell].state
        known = {} if state.cells.home is None else state.cells.home.by_lease
        for lease_id in state.leases:
            fields = state.fields(lease_id)
            account = state.ledger.handles.accounts[fields.account]
            if account.tenant not in held or fields.flags & FLAG_PINNED:
                continue
            if lease_id not in known:
                raise PromiseBroken(f"{cell} has lost whose lease {lease_id} is")
            held[account.tenant] += state.ledger.handles.shapes[fields.shape].cpu_milli
            vram[account.tenant] += state.ledger.told(state.handle(lease_id)).vram_bytes

    @staticmethod
    def _check_taking(plane: Plane, taking) -> None:  # type: ignore[no-untyped-def]
        if taking.entry is not None:
            plane.state.entry(taking.entry)
        elif not taking.leases:
            raise PromiseBroken("neither waits nor holds anything, and is not over")


def run(seed: int, *, steps: int = 60) -> Cells:
    """One fleet's life by its seed, to its end."""
    world = Cells(seed)
    for _ in range(steps):
        world.step()
    world.heal()
    return world


def main(arguments: list[str] | None = None) -> int:
    """Zero if every promise was kept: ``python -m tests.simulation.cells --seeds 1000``."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.cells", description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="how many to run")
    parser.add_argument("--start", type=int, default=0, help="the first of them")
    given = parser.parse_args(arguments)
    cuts = taken = 0
    for done, seed in enumerate(range(given.start, given.start + given.seeds), start=1):
        try:
            life = run(seed)
        except PromiseBroken as broken:
            again = f"python -m tests.simulation.cells --start {seed} --seeds 1"
            print(f"seed {seed}: {broken}; replay: {again}")
            return 1
        cuts, taken = cuts + life.cuts, taken + life.taken
        if done % 25 == 0 or done == given.seeds:
            told = f"{done} of {given.seeds} fleets of cells, {cuts} cut off, {taken} taken"
            print(told, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
