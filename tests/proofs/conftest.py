"""The tools of the proofs: where they are missing the tests are skipped, and on CI they fail."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROOFS = ROOT / "proofs"
NAGINI = ROOT / ".nagini" / "bin" / "nagini"


def missing(what: str) -> None:
    """Not here: say so. Where everything should be, that is a failure."""
    why = f"{what} is not installed here: `make prove` says why"
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="session")
def coq() -> None:
    """Coq with Iris, and an OCaml compiler."""
    for tool in ("coqc", "ocamlfind"):
        if shutil.which(tool) is None:
            missing(tool)
    where = subprocess.run(["coqc", "-where"], text=True, capture_output=True, check=True)
    if not Path(where.stdout.strip(), "user-contrib", "iris").is_dir():
        missing("Iris")


@pytest.fixture(scope="session")
def nagini() -> None:
    """The verifier, in its own environment, and the Java it runs on."""
    if not NAGINI.exists():
        missing("Nagini")
    if shutil.which("java") is None:
        missing("Java")


@pytest.fixture(scope="session")
def oracle(coq: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The oracle, built once for all workers of a run."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "oracle"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "build" / "oracle").exists():
            environment = os.environ | {"BUILD": str(folder / "build")}
            command = [PROOFS / "check.sh", "oracle"]
            done = subprocess.run(
                command, text=True, capture_output=True, env=environment, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
    return folder / "build" / "oracle"
