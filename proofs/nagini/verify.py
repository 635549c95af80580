"""Nagini's word on the annotated core: that it verifies, and that every mutant of it does not.

usage: verify.py               verify share.py, group by group; exit 0 if it does
       verify.py GROUP ...     only these groups
       verify.py --mutants [WORDS ...]
                               verify each mutant of mutants.txt (or only those so called) and
                               exit 0 if all are refused

Nagini checks each function against its own contract and uses only the contracts of the others, so
they can be verified apart; apart they take a minute each, together they do not end. The groups must
name everything that is in the file. A proof that does not end within the time limit is none.
"""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from mutants import Mutant, read_mutants  # noqa: E402

NAGINI = HERE.parents[1] / ".nagini" / "bin" / "nagini"
TIME_LIMIT_S = 600
MUTANT_LIMIT_S = 240

GROUPS = {
    "sums": "charged_ms total lemma_total lemma_total_added",
    "moves": "lemma_total_cut lemma_total_join",
    "numbers": "within lemma_within_at lemma_within lemma_within_added lemma_within_more "
    "lemma_within_put lemma_within_same lemma_switch",
    "spares": "lacks free lemma_lacks lemma_free",
    "uses": "lemma_put lemma_drop lemma_cut lemma_join",
    "parts": "Parts.__init__ Parts._put Parts.switch Parts.drop",
    "open": "Parts.open SharedParts.open",
    "cut": "Parts.cut",
    "join": "Parts.join",
    "shared switch": "SharedParts.switch",
    "shared cut": "SharedParts.cut",
    "shared": "PartsLock.invariant SharedParts.__init__ SharedParts.add_account "
    "SharedParts.join SharedParts.drop",
}


@dataclass(frozen=True)
class Verdict:
    """Whether it is proven; what Nagini said; how long that took."""

    is_verified: bool
    said: str
    took_s: float

    @property
    def is_refused(self) -> bool:
        """Nagini looked at it and found a fault, or found no proof in time."""
        return not self.is_verified and ("Verification failed" in self.said or not self.said)


def members_of(text: str) -> set[str]:
    """Every function and method there is to verify."""
    found = set()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            found |= {f"{node.name}.{each.name}" for each in methods}
    return found


def check_groups(text: str) -> None:
    """Nothing may be left out."""
    grouped = [name for names in GROUPS.values() for name in names.split()]
    if set(grouped) != members_of(text):
        raise SystemExit(f"not in one group: {sorted(set(grouped) ^ members_of(text))}")


def verify(text: str, members: str, *, limit_s: float = TIME_LIMIT_S) -> Verdict:
    """Verify some members of a module, in a folder of its own."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "share.py").write_text(text)
        nagini = subprocess.Popen(
            [NAGINI, "--select", members.replace(" ", ","), *_without_globals(members), "share.py"],
            cwd=folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            said, _ = nagini.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            said = ""
        finally:
            _end(nagini)
    is_verified = nagini.returncode == 0 and said.startswith("Verification successful")
    return Verdict(is_verified, said.strip(), time.monotonic() - start)


def _without_globals(members: str) -> list[str]:
    """What stands outside of all functions is verified once, with the class itself."""
    return [] if "Parts.__init__" in members.split() else ["--ignore-global"]


def _end(nagini: subprocess.Popen[str]) -> None:
    """Its solver is a process too: all of its session ends."""
    if nagini.poll() is None:
        os.killpg(nagini.pid, signal.SIGKILL)
        nagini.wait()


def mutants() -> list[Mutant]:
    """Those of the core."""
    return read_mutants((HERE / "mutants.txt").read_text())


def try_mutant(mutant: Mutant, *, limit_s: float = MUTANT_LIMIT_S) -> Verdict:
    """Verify the member that the mutant changes; the text must be there once."""
    text = (HERE / "share.py").read_text()
    if text.count(mutant.old) != 1:
        raise SystemExit(f"{mutant.what}: its text occurs {text.count(mutant.old)} times")
    return verify(text.replace(mutant.old, mutant.new), mutant.file, limit_s=limit_s)


def main(words: list[str]) -> int:
    if words[:1] == ["--mutants"]:
        return refuse_all(words[1:])
    text = (HERE / "share.py").read_text()
    check_groups(text)
    failures = 0
    for group in words or GROUPS:
        verdict = verify(text, GROUPS[group])
        failures += not verdict.is_verified
        word = "verified" if verdict.is_verified else "FAILED"
        print(f"{word} {group} ({verdict.took_s:.0f} s)", flush=True)
        if not verdict.is_verified:
            print(verdict.said or "no proof within the time limit", flush=True)
    return 1 if failures else 0


def refuse_all(words: list[str]) -> int:
    survivors = 0
    for mutant in mutants():
        if words and mutant.what not in words:
            continue
        verdict = try_mutant(mutant)
        survivors += not verdict.is_refused
        word = "refused" if verdict.is_refused else "SURVIVES"
        said = " ".join(verdict.said.splitlines()[2:3]) or "no proof within the time limit"
        print(f"{word} {mutant.what} ({verdict.took_s:.0f} s): {said[:150]}", flush=True)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
