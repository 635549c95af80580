"""Is the oracle any good?  Threads race a small meter written here, independently
of the proofs, and the oracle replays its journal.  The meter as it should be must
pass every race; each seeded fault must be found in at least one.

usage: selftest.py ORACLE
"""

import random
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

IDLE, DOWN = (0, 0), (1, 1)
RACES = 10

LEDGER_FAULTS = (
    "late reports are not clamped",
    "the next holder is charged",
    "the guard is ignored",
    "a settled share loses its holder",
    "registering again resets the share",
    "the counter forgets a charge",
    "a job number comes back",
)
# These apply what they should only answer; the next let in what they should refuse.
APPLIED = {"duplicates are applied again": "duplicate", "a conflict is billed": "conflict"}
LET_IN = {"a gap is skipped": "early", "old epochs are let in": "fenced"}
SOURCE_FAULTS = (*APPLIED, *LET_IN)


@dataclass
class Meter:
    """The protocol of model.v and sources.v, with one fault if asked."""

    fault: str = ""
    cells: dict[int, list] = field(default_factory=dict)
    counters: dict[int, int] = field(default_factory=dict)
    total: int = 0
    known: dict[tuple[int, int, int], tuple] = field(default_factory=dict)
    place: dict[int, tuple[int, int]] = field(default_factory=dict)
    journal: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def charge(self, share: int, holder: tuple[int, int], time: int) -> None:
        cell = self.cells[share]
        ticks = time - cell[1]
        if self.fault != "late reports are not clamped":
            ticks = max(0, ticks)
        owner = (holder if self.fault == "the next holder is charged" else cell[2])[1]
        if self.fault != "the counter forgets a charge" or ticks != 7:
            self.counters[owner] = self.counters.get(owner, 0) + ticks
        self.total += ticks
        cell[1] += ticks
        cell[2] = holder

    def apply(self, event: tuple) -> bool:
        kind, share, *rest = event
        if kind == "register":
            if share in self.cells and self.fault != "registering again resets the share":
                return False
            self.cells[share] = [rest[0], rest[0], IDLE]
            return True
        if share not in self.cells:
            return False
        if kind == "settle":
            lost = self.fault == "a settled share loses its holder"
            self.charge(share, IDLE if lost else self.cells[share][2], rest[0])
            return True
        expected, job, owner, time = rest
        if expected not in ("-", self.cells[share][2][0]) and self.fault != "the guard is ignored":
            return False
        self.charge(share, (job, owner), time)
        return True

    def note(self, line: str, share: int) -> None:
        self.journal.append(line)
        if share in self.cells:
            registered, cursor, (job, owner) = self.cells[share]
            self.journal.append(f"share {share} {registered} {cursor} {job} {owner}")
            self.journal.append(f"counter {owner} {self.counters.get(owner, 0)}")
        self.journal.append(f"total {self.total}")

    def operate(self, event: tuple) -> None:
        with self.lock:
            answer = self.apply(event)
            self.note(" ".join(map(str, event)) + f" {int(answer)}", event[1])

    def judge(self, source: int, epoch: int, number: int, event: tuple) -> str:
        seen = self.known.get((source, epoch, number))
        if seen is not None:
            return "duplicate" if seen == event else "conflict"
        newest, following = self.place.get(source, (-1, 0))
        if (epoch == newest and number == following) or (epoch > newest and number == 0):
            return "accepted"
        if epoch < newest:
            return "fenced"
        return "early"

    def deliver(self, source: int, epoch: int, number: int, event: tuple) -> None:
        with self.lock:
            answer = self.judge(source, epoch, number, event)
            if LET_IN.get(self.fault) == answer:
                answer = "accepted"
            if answer in ("accepted", APPLIED.get(self.fault)):
                self.apply(event)
            if answer == "accepted":
                self.known[source, epoch, number] = event
                self.place[source] = (epoch, number + 1)
            words = " ".join(map(str, event))
            self.note(f"deliver {source} {epoch} {number} {words} {answer}", event[1])

    def finish(self) -> str:
        cells = ",".join(f"{s}:{r}:{c}:{j}:{k}" for s, (r, c, (j, k)) in self.cells.items())
        counters = ",".join(f"{k}:{n}" for k, n in self.counters.items())
        self.journal.append(f"state {self.total} {cells or '-'} {counters or '-'}")
        return "\n".join(self.journal) + "\n"


def some_event(rng: random.Random, meter: Meter, share: int, time: int, job: int) -> tuple:
    """An operation of any kind, often on a job that is no longer there."""
    owner = rng.randrange(2, 6)
    held = meter.cells.get(share, [0, 0, IDLE])[2][0]
    victim = held if rng.random() < 0.7 else rng.randrange(2, 50)
    choices = (
        ("register", share, time),
        ("switch", share, 0, job, owner, time),
        ("switch", share, victim, 0, 0, time),
        ("switch", share, victim, job, owner, time),
        ("switch", share, "-", *DOWN, time),
        ("switch", share, 1, *IDLE, time),
        ("settle", share, time),
    )
    return rng.choices(choices, weights=(2, 6, 5, 4, 1, 2, 2))[0]


def race_operations(seed: int, fault: str) -> str:
    meter = Meter(fault)
    clock = [0]

    def worker(name: int) -> None:
        rng = random.Random(seed * 100 + name)
        for turn in range(400):
            clock[0] += rng.randint(0, 3)
            time = max(0, clock[0] - rng.randint(0, 9))
            job = 2 + (turn % 5 if fault == "a job number comes back" else turn * 4 + name)
            meter.operate(some_event(rng, meter, rng.randrange(12), time, job))

    run_threads(worker, 4)
    return meter.finish()


def race_deliveries(seed: int, fault: str) -> str:
    """Each source loses, repeats, reorders, restarts, and sometimes contradicts itself."""
    meter = Meter(fault)

    def worker(source: int) -> None:
        rng = random.Random(seed * 100 + source)
        job = 2
        for epoch in range(3):
            sent = []
            for _ in range(60):
                job += 1
                share, time = source * 3 + rng.randrange(3), job * 2 + rng.randint(0, 5)
                sent.append(some_event(rng, meter, share, time, job))
            following = 0
            while following < len(sent) - rng.randint(0, 5):
                number = following + rng.choice((0, 0, 0, 0, -1, -2, 1, 2))
                number = min(max(0, number), len(sent) - 1)
                event = sent[number]
                if rng.random() < 0.03:
                    event = ("settle", source * 3, job * 2 + 50)
                if epoch and rng.random() < 0.03:
                    meter.deliver(source, epoch - 1, number + 500, event)
                    continue
                meter.deliver(source, epoch, number, event)
                following = meter.place.get(source, (0, 0))[1]

    run_threads(worker, 4)
    return meter.finish()


def run_threads(worker: Callable[[int], None], count: int) -> None:
    threads = [threading.Thread(target=worker, args=(name,)) for name in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def ask(oracle: str, journal: str) -> tuple[int, str]:
    done = subprocess.run([oracle], input=journal, text=True, capture_output=True, check=False)
    return done.returncode, done.stdout.strip()


def tried(oracle: str, race: Callable[[int, str], str], fault: str) -> bool:
    """Does the oracle judge the races with this fault as it should?

    Not every race gives a fault its chance: a duplicate is often harmless,
    because compare-and-switch refuses it.
    """
    answers = [ask(oracle, race(seed, fault)) for seed in range(RACES)]
    found = sum(code == 1 for code, _ in answers)
    readable = all(code in (0, 1) for code, _ in answers)
    good = readable and (found > 0 if fault else found == 0)
    said = next((said for code, said in answers if code == bool(fault)), answers[0][1])
    print(f"{'ok   ' if good else 'WRONG'} {fault or 'no fault'}: found in {found} of {RACES}")
    print(f"      {said.splitlines()[0] if said else 'no output'}")
    return good


def main(oracle: str) -> int:
    good = [tried(oracle, race_operations, fault) for fault in ("", *LEDGER_FAULTS)]
    good += [tried(oracle, race_deliveries, fault) for fault in ("", *SOURCE_FAULTS)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
