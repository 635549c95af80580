"""The member's door: a socket in its folder, on which it is told what to be and asked how it is.

Whoever can open it has the member's own user. The operator's words reach it through the platform,
which runs ``ask`` inside the member; nothing listens on a network.

Rules:

- One question, one answer, as JSON; both are bounded.
- Only Slurm's own programs are run, by name, without a shell.
- A question that cannot be understood is an answer too: ``{"error": ...}``.
"""

from __future__ import annotations

import json
import os
import re
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from .draining import drain, lose
from .dry_start import dry_start
from .facts import facts
from .home import Home, MemberError
from .keeper import Keeper
from .probing import probe
from .processes import call

PROGRAMS: Final = frozenset(
    ("sacct", "sacctmgr", "sbatch", "scancel", "scontrol", "sdiag", "sinfo", "squeue", "srun")
)
_WORKER: Final = re.compile(r"worker-[0-9]{1,4}\Z")
_WORKERS_MAX: Final = 1_000
_BYTES_MAX: Final = 4 * 2**20
_WAIT_S_MAX: Final = 120.0
_PATIENCE_S: Final = 150.0


class MemberDoor:
    """Answers, each question in a thread of its own."""

    def __init__(self, home: Home, keeper: Keeper) -> None:
        self._home, self._keeper = home, keeper
        path = home.root / "run/door"
        path.unlink(missing_ok=True)
        self._plug = socket.socket(socket.AF_UNIX)
        self._plug.bind(str(path))
        path.chmod(0o600)
        self._plug.listen(16)
        self._answers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "facts": lambda _: facts(home) | keeper.state(),
            "apply": self._apply,
            "wait": lambda told: keeper.await_up(_seconds(told)),
            "slurm": self._slurm,
            "check": self._check,
            "probe": lambda told: {
                "told": probe(home, _names(told["workers"]), wait_s=_seconds(told))
            },
            "drain": lambda told: drain(
                home,
                _names([told["worker"]])[0],
                is_urgent=bool(told["is_urgent"]),
                wait_s=_seconds(told),
            ),
            "lose": self._lose,
            "wipe": self._wipe,
        }

    def open(self) -> None:
        """Begin to answer."""
        threading.Thread(target=self._serve, name="door", daemon=True).start()

    def _serve(self) -> None:
        while True:  # until the member ends
            plug, _ = self._plug.accept()
            threading.Thread(target=self._talk, args=(plug,), daemon=True).start()

    def _talk(self, plug: socket.socket) -> None:
        with plug, suppress(OSError):
            plug.settimeout(_PATIENCE_S)
            try:
                told = json.loads(read_all(plug))
                answer = self._answers[told["do"]](told)
            except (MemberError, OSError, ValueError, TypeError, LookupError) as error:
                answer = {"error": f"{type(error).__name__}: {error}"[:1_000]}
            plug.sendall(json.dumps(answer).encode())

    def _apply(self, told: dict[str, Any]) -> dict[str, Any]:
        self._keeper.apply(told)
        return self._keeper.state()

    def _slurm(self, told: dict[str, Any]) -> dict[str, Any]:
        argv = [str(word) for word in told["argv"]]
        if not argv or argv[0] not in PROGRAMS:
            raise MemberError(f"only these are run: {', '.join(sorted(PROGRAMS))}")
        done = call(self._home, argv, data=told.get("stdin", "").encode(), wait_s=_seconds(told))
        out, err = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
        return {"code": done.returncode, "out": out, "err": err}

    def _check(self, told: dict[str, Any]) -> dict[str, Any]:
        return {"refused": dry_start(self._home, told["files"])}

    def _lose(self, told: dict[str, Any]) -> dict[str, Any]:
        for worker in _names(told["workers"]):
            lose(self._home, worker)
        return {}

    def _wipe(self, _: dict[str, Any]) -> dict[str, Any]:
        self._home.is_to_be_wiped = True
        return {}


def _names(told: list[str]) -> list[str]:
    """Names of workers; no other word is passed on."""
    if len(told) > _WORKERS_MAX or not all(_WORKER.match(each) for each in told):
        raise MemberError("names of workers are needed")
    return told


def _seconds(told: dict[str, Any]) -> float:
    return min(float(told.get("wait_s", 30)), _WAIT_S_MAX)


def read_all(plug: socket.socket) -> bytes:
    """Everything that is sent, up to the bound."""
    found = b""
    while piece := plug.recv(65_536):  # bounded by the size
        found += piece
        if len(found) > _BYTES_MAX:
            raise MemberError(f"more than {_BYTES_MAX} bytes")
    return found


def ask(home: str, question: bytes) -> bytes:
    """Ask the member that lives in a folder."""
    with socket.socket(socket.AF_UNIX) as plug:
        plug.settimeout(_PATIENCE_S)
        plug.connect(os.path.join(home, "run/door"))
        plug.sendall(question)
        plug.shutdown(socket.SHUT_WR)
        return read_all(plug)
