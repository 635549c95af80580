"""The package as `make dist` builds it, once in a test run, and empty environments to try it in.

Rules:

- Whichever worker comes first builds; the others wait for it and use the same files.
- An environment has nothing of ours but what a test installs, from the wheel and the index.
- No index to install from is a reason to skip, which is shown; under CI it is a failure.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STEP_S = 600.0
NO_INDEX = re.compile(
    r"error sending request|failed to fetch|dns error|name resolution|could not connect|"
    r"connection (?:refused|reset)|newconnectionerror|network is unreachable|tunnel error",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Dist:
    """What one build left."""

    sdist: Path
    pure: Path
    platform: Path | None
    said: str

    @property
    def best(self) -> Path:
        """What this machine would be given."""
        return self.platform or self.pure


def build_once(shared: Path) -> Dist:
    """The files of this test run, built by the first who asks."""
    shared.mkdir(parents=True, exist_ok=True)
    folder, said = shared / "dist", shared / "said"
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.exists():
            env = {key: value for key, value in os.environ.items() if key != "SOURCE_DATE_EPOCH"}
            done = run([sys.executable, str(ROOT / "setup/dist.py"), str(folder)], env=env)
            assert done.returncode == 0, done.stderr
            said.write_text(done.stdout)
    (sdist,) = folder.glob("*.tar.gz")
    (pure,) = folder.glob("*-none-any.whl")
    others = [path for path in folder.glob("*.whl") if path != pure]
    assert len(others) <= 1
    return Dist(sdist, pure, others[0] if others else None, said.read_text())


def run(
    command: list[str], *, cwd: Path | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """One command, in bounded time; its output is shown if the test fails."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=STEP_S,
        check=False,
    )
    print(f"$ {' '.join(command)}\n{done.stdout}{done.stderr}[{done.returncode}]")
    return done


def find_uv() -> str | None:
    """The installer that `make setup` uses, if it is there."""
    return shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")


def install(venv: Path, what: str, *, lock: str, by_pip: bool = False) -> None:
    """An empty environment, and ``what`` in it at the versions that the lock names."""
    uv, python = None if by_pip else find_uv(), str(venv / "bin/python")
    if uv is None:
        make = [sys.executable, "-m", "venv", str(venv)]
        pip = [python, "-m", "pip", "--disable-pip-version-check", "-q", "install", "--no-compile"]
    else:
        make = [uv, "venv", "-q", "--no-project", "--python", sys.executable, str(venv)]
        pip = [uv, "pip", "install", "-q", "--python", python]
    assert run(make).returncode == 0
    held = venv.with_suffix(".constraints")
    held.write_text(_pins(lock))
    done = run([*pip, "--only-binary", ":all:", "--constraint", str(held), what])
    told = done.stdout + done.stderr
    if done.returncode != 0 and NO_INDEX.search(told):
        if uv is not None:  # pip may be told of a mirror that uv does not know of
            shutil.rmtree(venv)
            return install(venv, what, lock=lock, by_pip=True)
        if not os.environ.get("CI"):
            why = next(line for line in told.splitlines() if NO_INDEX.search(line))
            pytest.skip(f"no package index can be reached: {why[:200]}")
    assert done.returncode == 0, told
    return None


def _pins(lock: str) -> str:
    """A lock file without its hashes: with them, an installer asks for those of our own wheel."""
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    found = re.findall(r"^([\w.-]+==[^\s;\\]+(?: *;[^\\\n]*)?)", text, re.MULTILINE)
    return "\n".join(found) + "\n"
