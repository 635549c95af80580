"""Do the proofs notice?  Each mutant in mutants.txt changes one thing in the protocol
or in a program and leaves the proofs as they are; Coq must refuse every one.

usage: mutants.py [WORDS]     (after check.sh, whose build/ holds the compiled files)
       WORDS: only the mutants whose description contains them
"""

import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
TIME_LIMIT_S = 300


@dataclass(frozen=True)
class Mutant:
    what: str
    file: str
    old: str
    new: str


def read_mutants(text: str) -> list[Mutant]:
    mutants = []
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        what, file = lines[0].split(" @ ")
        old = "\n".join(line[1:] for line in lines[1:] if line.startswith("-"))
        new = "\n".join(line[1:] for line in lines[1:] if line.startswith("+"))
        mutants.append(Mutant(what, file, old, new))
    return mutants


def refused(mutant: Mutant) -> tuple[bool, str]:
    """Compile the mutated file against the compiled rest; where Coq stopped."""
    text = (HERE / mutant.file).read_text()
    if text.count(mutant.old) != 1:
        return False, f"the text to change occurs {text.count(mutant.old)} times in {mutant.file}"
    with tempfile.TemporaryDirectory() as folder:
        for compiled in (HERE / "build").glob("*.vo"):
            shutil.copy(compiled, folder)
        Path(folder, mutant.file).write_text(text.replace(mutant.old, mutant.new))
        command = ["coqc", "-Q", ".", "bailiwick", "-w", "-notation-overridden", mutant.file]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                text=True,
                capture_output=True,
                timeout=TIME_LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return True, "no proof within the time limit"
    if "Syntax error" in done.stderr or "not found in the current" in done.stderr:
        return False, "the mutant is not even well formed: " + done.stderr.strip()
    said = [line for line in done.stderr.splitlines() if line.startswith("File")]
    return done.returncode != 0, said[0] if said else f"exit {done.returncode}"


def main(words: str) -> int:
    survivors = 0
    for mutant in read_mutants((HERE / "mutants.txt").read_text()):
        if words not in mutant.what:
            continue
        start = time.monotonic()
        good, said = refused(mutant)
        survivors += not good
        verdict = "refused " if good else "SURVIVES"
        print(f"{verdict} {mutant.what} ({time.monotonic() - start:.0f} s): {said}", flush=True)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(" ".join(sys.argv[1:])))
