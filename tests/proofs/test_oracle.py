"""The model that is proven agrees with every answer and every state of the Python that ships, when
threads race it and everything goes wrong; and it does not agree with what is wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from bailiwick.metering import share, sources
from bailiwick.metering.core import Core
from bailiwick.metering.fold import JournalMeter
from bailiwick.metering.meter import FIRST_LEASE, Meter
from tests.properties.test_safety_metering_fold import crowded
from tests.support.core_races import Race
from tests.support.oracle_journal import LockAbused, UnitJournal, ask, recording_parts
from tests.support.source_races import race_sources

ROOT = Path(__file__).resolve().parents[2]
PROOFS = ROOT / "proofs"
RACES = 40
TRIES = 12

sys.path.insert(0, str(PROOFS))
from mutants import Mutant, read_mutants  # noqa: E402

CORE_MUTANTS = read_mutants((PROOFS / "nagini" / "mutants.txt").read_text())
SOURCE_MUTANTS = read_mutants((PROOFS / "sources_mutants.txt").read_text())


def words_of(journal: str) -> dict[str, int]:
    """How often each kind of line is in a journal, operations with their answers."""
    found: dict[str, int] = {}
    for line in journal.splitlines():
        first, *_, last = line.split()
        word = f"{first} {last}" if first in ("switch", "deliver") else first
        found[word] = found.get(word, 0) + 1
    return found


def test_races_of_the_shared_core_are_the_proven_model(oracle: Path) -> None:
    done = refused = joined = 0
    for seed in range(RACES):
        race = Race(share, seed)
        journal = race.run()
        code, said = ask(oracle, journal)
        assert code == 0, f"seed {seed}: {said}"
        words = words_of(journal)
        done += words["switch 1"]
        refused += words["switch 0"]
        joined += len(race.parts.spare)
    # A race in which nothing happens shows nothing.
    assert min(done, refused) > 100 * RACES
    assert joined > RACES


def test_races_of_sources_and_crashes_are_the_proven_model(oracle: Path) -> None:
    seen: dict[str, int] = {}
    crashes = 0
    for seed in range(RACES):
        journal, meter = race_sources(sources, seed)
        code, said = ask(oracle, journal)
        assert code == 0, f"seed {seed}: {said}"
        crashes += meter.crashes
        for word, count in words_of(journal).items():
            seen[word] = seen.get(word, 0) + count
    assert crashes > RACES
    for answer in ("accepted", "duplicate", "conflict", "early", "fenced"):
        assert seen[f"deliver {answer}"] > RACES, answer


@pytest.mark.parametrize("seed", range(12))
def test_the_meter_of_a_journal_is_the_proven_model(oracle: Path, seed: int) -> None:
    """Whole kernels: leases that start, end, are preempted, and lose their nodes."""
    units = UnitJournal(nobody=FIRST_LEASE - 1)
    parts = recording_parts(share, units, None)
    folded = JournalMeter(Meter(core=Core(parts=parts)))
    for record in crowded(seed, steps=60, is_seen=True):
        folded.add(record)
    folded.check()
    code, said = ask(oracle, units.text(parts))
    assert code == 0, said


# --- what is wrong is found --------------------------------------------------------------------


def mutated(mutant: Mutant, file: str) -> ModuleType:
    """The module as it would be with one thing wrong."""
    path = ROOT / "src" / "bailiwick" / "metering" / file
    text = path.read_text()
    assert text.count(mutant.old) == 1, f"{mutant.what}: its text is not there once"
    name = f"mutant_{abs(hash(mutant.what))}"
    module = ModuleType(name)
    sys.modules[name] = module  # dataclasses look themselves up
    exec(compile(text.replace(mutant.old, mutant.new), file, "exec"), module.__dict__)
    return module


def is_found(oracle: Path, race: Callable[[int], str]) -> bool:
    """Whether some race shows it: by the oracle, or because the code falls over."""
    for seed in range(TRIES):
        try:
            journal = race(seed)
        except (LockAbused, AssertionError, LookupError):
            return True
        if ask(oracle, journal)[0] != 0:
            return True
    return False


@pytest.mark.parametrize("mutant", CORE_MUTANTS, ids=lambda each: each.what)
def test_a_wrong_core_is_found_out(oracle: Path, mutant: Mutant) -> None:
    module = mutated(mutant, "share.py")
    assert is_found(oracle, lambda seed: Race(module, seed).run())


@pytest.mark.parametrize("mutant", SOURCE_MUTANTS, ids=lambda each: each.what)
def test_wrong_sources_are_found_out(oracle: Path, mutant: Mutant) -> None:
    module = mutated(mutant, "sources.py")
    assert is_found(oracle, lambda seed: race_sources(module, seed)[0])
