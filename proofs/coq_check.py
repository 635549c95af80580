"""Coq's word on the protocol: every proof, the mutants it must refuse, and the oracle.

check.sh does the work and knows nothing of this: it always proves from nothing. Here what it proved
is kept (proven.py), the oracle's program too, and is not proven again from the same inputs. Tests
ask here; `make prove` asks check.sh.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from mutants import Mutant, read_mutants, refused  # noqa: E402
from proven import Question, Verdict, Verdicts, hash_of, hashes_of  # noqa: E402

SCRIPTS = ("check.sh", "selftest.py", "oracle.ml")
# Hashed when they are loaded: what is edited later does not run.
LOADED = hashes_of(HERE, (HERE / name for name in ("coq_check.py", "mutants.py", "proven.py")))
# They say where Coq and OCaml look for libraries.
SETTINGS = ("COQPATH", "COQLIB", "COQCORELIB", "OCAMLPATH", "OCAMLFIND_CONF")
ORACLE = "the oracle is built"
CLOSED = "theorems closed under the global context"


def mutants() -> list[Mutant]:
    """Those of the protocol and of the programs."""
    return read_mutants((HERE / "mutants.txt").read_text())


@cache
def versions() -> dict[str, str]:
    """The tools: what they call themselves, and Iris and stdpp as they lie there."""

    def told(*command: str) -> str:
        return subprocess.run(command, text=True, capture_output=True, check=True).stdout.strip()

    libraries = Path(told("coqc", "-where"), "user-contrib")
    compiled = [path for name in ("iris", "stdpp") for path in (libraries / name).rglob("*.vo")]
    return {
        "coq": told("coqc", "--version"),
        "ocaml": told("ocamlfind", "ocamlopt", "-version"),
        "libraries": hash_of(json.dumps(hashes_of(libraries, compiled), sort_keys=True)),
        "settings": " ".join(f"{name}={os.environ.get(name, '')}" for name in SETTINGS),
        "machine": f"{platform.system()} {platform.machine()}",
    }


def question(what: str, *, of: str = "") -> Question:
    """Everything that an answer of Coq's depends on; `of`: the mutant's own text."""
    files = [*HERE.glob("*.v"), *(HERE / name for name in SCRIPTS)]
    return Question(what, {"of": hash_of(of), **LOADED, **hashes_of(HERE, files), **versions()})


class CoqProver:
    """Answers from what is kept, and from Coq; its folder is there until the `with` block ends."""

    def __init__(self, verdicts: Verdicts) -> None:
        self.verdicts = verdicts
        self._folder = TemporaryDirectory()
        self._build = Path(self._folder.name, "build")
        self._checked: Verdict | None = None

    def __enter__(self) -> CoqProver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def theorems(self) -> Verdict:
        """A proof is that check.sh has nothing to say against it."""
        return self.verdicts.ask(lambda: question("Coq proves every theorem"), self._check)

    def mutant(self, mutant: Mutant) -> Verdict:
        """A proof is that Coq refuses it, for a fault and in time."""

        def prove() -> Verdict:
            checked = self._check()  # a mutant is compiled against the compiled rest
            if not checked.is_proven:
                return checked
            start = time.monotonic()
            is_refused, said = refused(mutant, self._build)
            is_refused = is_refused and said.startswith("File")
            return Verdict(is_refused, said, time.monotonic() - start)

        text = "\0".join((mutant.file, mutant.old, mutant.new))
        return self.verdicts.ask(lambda: question(f"Coq refuses: {mutant.what}", of=text), prove)

    def oracle(self) -> Verdict:
        """The oracle's program, from the proven model and after its own test."""
        return self.verdicts.ask(
            lambda: question(ORACLE), lambda: self._with_oracle(self._run("oracle"))
        )

    def _check(self) -> Verdict:
        """Everything, once; the oracle comes with it."""
        if self._checked is None:
            verdict = self.verdicts.renew(
                lambda: question(ORACLE), lambda: self._with_oracle(self._run("all"))
            )
            is_proven = verdict.is_proven and CLOSED in verdict.said
            self._checked = Verdict(is_proven, verdict.said, verdict.took_s)
        return self._checked

    def _run(self, what: str) -> Verdict:
        start = time.monotonic()
        done = subprocess.run(
            [HERE / "check.sh", what],
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"BUILD": str(self._build)},
            check=False,
        )
        return Verdict(done.returncode == 0, done.stdout, time.monotonic() - start)

    def _with_oracle(self, verdict: Verdict) -> Verdict:
        made = (self._build / "oracle").read_bytes() if verdict.is_proven else b""
        return Verdict(verdict.is_proven, verdict.said, verdict.took_s, made)
