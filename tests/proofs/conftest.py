"""The provers, as fixtures.

What was proven before, from the same inputs, is not proven again (proofs/proven.py). Which results
were kept ones is a property of each test, called `proof`.
"""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROOFS = ROOT / "proofs"

sys.path[:0] = [str(PROOFS), str(PROOFS / "nagini")]
from coq_check import CoqProver  # noqa: E402
from proven import Verdict, Verdicts, folder_of  # noqa: E402
from verify import Prover  # noqa: E402

from tests.support.tools import need  # noqa: E402

Report = Callable[[str, Verdict], None]


@pytest.fixture(scope="session")
def coq() -> None:
    """Coq with Iris, and an OCaml compiler."""
    need("coq")


@pytest.fixture(scope="session")
def verdicts() -> Verdicts:
    """What was proven before."""
    return Verdicts(folder_of(os.environ))


@pytest.fixture
def report(verdicts: Verdicts, record_property: Callable[[str, object], None]) -> Report:
    """Tells whether a verdict is a kept one."""

    def tell(what: str, verdict: Verdict) -> None:
        for line in (f"{what} ({verdict.when})", *verdicts.notes):
            record_property("proof", line)
            print(line)

    return tell


@pytest.fixture(scope="module")
def prover(verdicts: Verdicts) -> Iterator[Prover]:
    """Nagini, in its own environment, on the Java that is here; one process for all tests here."""
    need("nagini")
    found = Prover(verdicts)
    with found.nagini:
        yield found


@pytest.fixture
def coq_prover(coq: None, verdicts: Verdicts) -> Iterator[CoqProver]:
    """Coq, with a folder to work in."""
    with CoqProver(verdicts) as found:
        yield found


@pytest.fixture(scope="session")
def oracle(coq: None, verdicts: Verdicts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The oracle, built at most once for all workers of a run."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "oracle"
    folder.mkdir(exist_ok=True)
    program = folder / "oracle"
    with (folder / "lock").open("w") as lock, CoqProver(verdicts) as found:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            built = found.oracle()
            assert built.is_proven, built.said
            draft = folder / "draft"
            draft.write_bytes(built.made)
            draft.chmod(0o700)
            draft.rename(program)
    return program
