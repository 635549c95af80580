"""Nagini's word on the annotated core: that it verifies, and that every mutant of it does not.

usage: verify.py [--kept]      verify share.py, member by member; exit 0 if it does
       verify.py [--kept] MEMBER ...
                               only these: a function, Class.method, or __main__ for what stands
                               outside of all of them
       verify.py [--kept] --mutants [WORDS ...]
                               verify each mutant of mutants.txt (or only those so called) and
                               exit 0 if all are refused
       --kept                  what was proven before, from the same inputs, is not proven again

Nagini checks each function against its own contract and uses only the contracts of the others, so
each is verified alone: that takes seconds, and all of them together do not end. A predicate is
checked with every member that uses it. A proof that does not end within the time limit is none.
What is proven is kept (../proven.py), with or without --kept.
"""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from mutants import Mutant, read_mutants  # noqa: E402
from proven import Question, Verdict, Verdicts, folder_of, hash_of, hashes_of  # noqa: E402
from verifier import LOCKED, ROOT, Nagini, Said, ToolMissing, versions  # noqa: E402

ANNOTATED = HERE / "share.py"
MUTANTS = HERE / "mutants.txt"
TIME_LIMIT_S = 1800
MUTANT_LIMIT_S = 240

# Our part in an answer, hashed when it is loaded: what is edited later does not run.
LOADED = hashes_of(
    ROOT,
    (
        HERE / "verify.py",
        HERE / "verifier.py",
        HERE.parent / "mutants.py",
        HERE.parent / "proven.py",
    ),
)


def members_of(text: str) -> list[str]:
    """Everything there is to verify, in the order of the file."""
    found = ["__main__"]
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and not is_predicate(node):
            found.append(node.name)
        if isinstance(node, ast.ClassDef):
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            found += [f"{node.name}.{each.name}" for each in methods if not is_predicate(each)]
    return found


def is_predicate(node: ast.FunctionDef) -> bool:
    """It has no contract of its own: it is a part of other contracts."""
    return any(
        isinstance(each, ast.Name) and each.id == "Predicate" for each in node.decorator_list
    )


def mutants() -> list[Mutant]:
    """Those of the core."""
    return read_mutants(MUTANTS.read_text())


def mutated(mutant: Mutant) -> str:
    """The annotated core with one thing wrong; the text to change must be there once."""
    text = ANNOTATED.read_text()
    if text.count(mutant.old) != 1:
        raise SystemExit(f"{mutant.what}: its text occurs {text.count(mutant.old)} times")
    return text.replace(mutant.old, mutant.new)


def question(what: str, text: str, *, member: str) -> Question:
    """Everything that Nagini's answer about this member of this text depends on."""
    inputs = {
        "text": hash_of(text),
        "member": member,
        **LOADED,
        **hashes_of(ROOT, (HERE / "session.py", LOCKED)),
        **versions(),
    }
    return Question(what, inputs)


class Prover:
    """Answers from what is kept, and from Nagini, which starts when it is needed."""

    def __init__(self, verdicts: Verdicts, *, is_fresh: bool = False) -> None:
        self.nagini = Nagini()
        self.verdicts = verdicts
        self._ask = verdicts.renew if is_fresh else verdicts.ask

    def member(self, name: str) -> Verdict:
        """A proof is that it verifies."""
        text = ANNOTATED.read_text()

        def prove() -> Verdict:
            said = self.nagini.verify(text, name, limit_s=TIME_LIMIT_S)
            return Verdict(said.is_verified, words_of(said), said.took_s)

        what = f"Nagini verifies: {name}"
        return self._ask(lambda: question(what, text, member=name), prove)

    def mutant(self, mutant: Mutant, *, limit_s: float = MUTANT_LIMIT_S) -> Verdict:
        """A proof is that it is refused for a fault, not for want of time."""
        text = mutated(mutant)

        def prove() -> Verdict:
            said = self.nagini.verify(text, mutant.file, limit_s=limit_s)
            return Verdict(said.is_refused, words_of(said), said.took_s)

        what = f"Nagini refuses: {mutant.what}"
        return self._ask(lambda: question(what, text, member=mutant.file), prove)


def words_of(said: Said) -> str:
    """What to tell people."""
    return OUT_OF_TIME if said.is_out_of_time else said.words


OUT_OF_TIME = "no proof within the time limit"


def verify_all(prover: Prover, names: list[str]) -> int:
    """How many members do not verify."""
    failures = 0
    for name in names or members_of(ANNOTATED.read_text()):
        verdict = prover.member(name)
        failures += not verdict.is_proven
        word = "verified" if verdict.is_proven else "FAILED"
        print(f"{word} {name} ({verdict.when})", flush=True)
        if not verdict.is_proven:
            print(verdict.said, flush=True)
    return failures


def refuse_all(prover: Prover, names: list[str]) -> int:
    """How many mutants survive. One without a proof in time is refused, and is printed as such."""
    survivors = 0
    for mutant in mutants():
        if names and mutant.what not in names:
            continue
        verdict = prover.mutant(mutant)
        is_refused = verdict.is_proven or verdict.said == OUT_OF_TIME
        survivors += not is_refused
        word = "refused" if is_refused else "SURVIVES"
        said = " ".join(verdict.said.splitlines()[2:3]) or verdict.said
        print(f"{word} {mutant.what} ({verdict.when}): {said[:150]}", flush=True)
    return survivors


def main(words: list[str]) -> int:
    is_fresh = words[:1] != ["--kept"]
    names = words if is_fresh else words[1:]
    do, names = (refuse_all, names[1:]) if names[:1] == ["--mutants"] else (verify_all, names)
    members = set(members_of(ANNOTATED.read_text()))
    known = {each.what for each in mutants()} if do is refuse_all else members
    if set(names) - known:
        raise SystemExit(f"there is no {sorted(set(names) - known)}")
    prover = Prover(Verdicts(folder_of(os.environ)), is_fresh=is_fresh)
    try:
        with prover.nagini:
            bad = do(prover, names)
    except ToolMissing as missing:
        raise SystemExit(f"{missing}") from None
    for line in prover.verdicts.notes:
        print(line, flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
