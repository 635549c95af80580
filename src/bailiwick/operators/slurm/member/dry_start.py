"""Would the controller come up with another configuration? It is tried, apart from the real one.

Slurm has no way to ask, and a controller that is given a bad configuration dies, or drops jobs.

Rules:

- The trial has a copy of the state, a port of its own, no accounting, and nodes that cannot be
  reached: no live daemon hears of it and no live file is changed.
- It is well if it comes up, takes every line for one it knows, and finds every job a place.
"""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final

from .home import Home, MemberError
from .processes import start

_UP_S: Final = 20.0
_AFTER_S: Final = 0.5
_STATE_BYTES_MAX: Final = 2**30
_UP: Final = "Running as primary controller"
_BAD: Final = re.compile(
    r"fatal:"
    r"|error:.*(unrecogni|parsing|invalid|unable to (determine|find)|no such (node|partition)"
    r"|job_submit|lua|specified more than|lookup failure|not found)"
    r"|killing job|requeue.*missing|aborting jobid|partition.*not found",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(r"^(\[[^]]*\] |slurmctld: )")
_HARMLESS: Final = re.compile(r"pmix|mpi", re.IGNORECASE)


def dry_start(home: Home, files: dict[str, str]) -> str:
    """Why a configuration is refused; nothing if it would do."""
    state = home.state / "ctld"
    if _size(state) > _STATE_BYTES_MAX:
        raise MemberError("the state is too large to be copied for a trial")
    with tempfile.TemporaryDirectory(prefix="trial-", dir=home.root) as name, _Closed() as closed:
        folder = Path(name)
        if state.is_dir():
            shutil.copytree(state, folder / "ctld", ignore=shutil.ignore_patterns("*.sock"))
        (folder / "etc").mkdir()
        for file, text in files.items():
            (folder / "etc" / file).write_text(home.fill(text))
        conf = folder / "etc/slurm.conf"
        conf.write_text(_apart(conf.read_text(), folder, closed=closed.port))
        return _try(_Trial(home, folder))


class _Trial(Home):
    """The same home, with the configuration that is tried."""

    def __init__(self, home: Home, folder: Path) -> None:
        super().__init__(home.root)
        self._folder = folder

    @property
    def conf(self) -> Path:
        return self._folder / "etc/slurm.conf"


class _Closed:
    """A port that is taken, and at which nobody answers."""

    def __enter__(self) -> _Closed:
        self._plug = socket.socket()
        self._plug.bind(("127.0.0.1", 0))
        self.port = int(self._plug.getsockname()[1])
        return self

    def __exit__(self, *raised: object) -> None:
        self._plug.close()


def _apart(text: str, folder: Path, *, closed: int) -> str:
    """The configuration, with everything it could reach replaced."""
    with socket.socket() as plug:
        plug.bind(("127.0.0.1", 0))
        port = int(plug.getsockname()[1])
    own = {
        "SlurmctldPort": str(port),
        "StateSaveLocation": str(folder / "ctld"),
        "SlurmctldPidFile": str(folder / "pid"),
        "SlurmctldLogFile": str(folder / "log"),
        "SlurmctldHost": f"{socket.gethostname().split('.')[0]}(127.0.0.1)",
        "AccountingStorageType": "accounting_storage/none",
    }
    lines = []
    for line in text.splitlines():
        key = line.partition("=")[0]
        if key in own:
            lines.append(f"{key}={own[key]}")
        elif key == "NodeName":
            near = re.sub(r"NodeAddr=\S+", "NodeAddr=127.0.0.1", line)
            lines.append(re.sub(r"Port=\d+", f"Port={closed}", near))
        elif not key.startswith("AccountingSto"):
            lines.append(line)
    return "\n".join([*lines, ""])


def _try(trial: _Trial) -> str:
    log = trial.conf.parents[1] / "log"
    process = start(trial, "trial", argv=("slurmctld", "-D"))
    try:
        is_up = _comes_up(process, log)
        if is_up:
            time.sleep(_AFTER_S)  # what it finds out about jobs is said just after
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    text = log.read_text(errors="replace") if log.exists() else ""
    out = trial.root / "log/trial.out"
    text += out.read_text(errors="replace")
    out.unlink()
    # The same stands in the log and on its output, with and without a time.
    lines = [_BEFORE.sub("", line) for line in text.splitlines()]
    told = [line for line in lines if _BAD.search(line) and not _HARMLESS.search(line)]
    if told:
        return " | ".join(dict.fromkeys(told))[:600]
    return "" if is_up else "it did not come up"


def _comes_up(process: subprocess.Popen[bytes], log: Path) -> bool:
    until = time.monotonic() + _UP_S
    while time.monotonic() < until and process.poll() is None:
        if log.exists() and _UP in log.read_text(errors="replace"):
            return True
        time.sleep(0.05)
    return False


def _size(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
