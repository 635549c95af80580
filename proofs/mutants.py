"""Do the proofs notice?  Each mutant in mutants.txt changes one thing in the protocol
or in a program and leaves the proofs as they are; Coq must refuse every one.

usage: mutants.py [--build FOLDER] [WORDS ...]
       after check.sh, whose build folder (build/ unless told) holds the compiled files
       WORDS: only the mutants whose description is one of these
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


def refused(mutant: Mutant, build: Path) -> tuple[bool, str]:
    """Compile the mutated file against the compiled rest; where Coq stopped."""
    text = (HERE / mutant.file).read_text()
    if text.count(mutant.old) != 1:
        return False, f"the text to change occurs {text.count(mutant.old)} times in {mutant.file}"
    with tempfile.TemporaryDirectory() as folder:
        for compiled in build.glob("*.vo"):
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


def main(words: list[str]) -> int:
    build = HERE / "build"
    if words[:1] == ["--build"]:
        build, words = Path(words[1]), words[2:]
    mutants = read_mutants((HERE / "mutants.txt").read_text())
    unknown = set(words) - {each.what for each in mutants}
    if unknown:
        raise SystemExit(f"there is no mutant called {unknown}")
    survivors = 0
    for mutant in mutants:
        if words and mutant.what not in words:
            continue
        start = time.monotonic()
        good, said = refused(mutant, build)
        survivors += not good
        verdict = "refused " if good else "SURVIVES"
        print(f"{verdict} {mutant.what} ({time.monotonic() - start:.0f} s): {said}", flush=True)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
