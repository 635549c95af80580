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
import re
import socket
import threading
import time
from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from .accounting_backup import backup, check_brought, read_piece, write_piece
from .draining import drain, lose
from .dry_start import dry_start
from .facts import condition, facts
from .home import Home, MemberError
from .keeper import Keeper
from .probing import probe, silent
from .processes import call
from .question_client import PATIENCE_S, read_all
from .shared_host import as_user
from .submitting import submit

PROGRAMS: Final = frozenset(
    ("sacct", "sacctmgr", "sbatch", "scancel", "scontrol", "sdiag", "sinfo", "squeue", "srun")
)
_EXACT: Final = {"TZ": "UTC", "SLURM_TIME_FORMAT": "%s"}
"""For who reads times: given in UTC, and told in seconds."""
_WORKER: Final = re.compile(r"worker-[0-9]{1,4}\Z")
_WORKERS_MAX: Final = 1_000
_WAIT_S_MAX: Final = 120.0
_LOOK_S: Final = 0.2


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
            "condition": lambda _: condition(home, keeper.state()),
            "apply": self._apply,
            "wait": lambda told: keeper.await_up(_seconds(told)),
            "slurm": self._slurm,
            "submit": self._submit,
            "slurm_all": self._slurm_all,
            "await_none": self._await_none,
            "check": self._check,
            "probe": self._probe,
            "drain": lambda told: drain(
                home,
                _names([told["worker"]])[0],
                is_urgent=bool(told["is_urgent"]),
                wait_s=_seconds(told),
            ),
            "lose": self._lose,
            "stage_key": self._stage_key,
            "switch_key": self._switch_key,
            "wipe": self._wipe,
            "backup": lambda _: backup(home),
            "backup_read": self._read_backup,
            "backup_write": self._write_backup,
            "restore": self._restore,
            "end": self._end,
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
            plug.settimeout(PATIENCE_S)
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
        data, env = told.get("stdin", "").encode(), _EXACT if told.get("is_exact") else {}
        if told.get("user") is not None:
            argv = [*as_user(self._home, told["user"]), *argv]
        done = call(self._home, argv, data=data, wait_s=_seconds(told), env=env)
        out, err = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
        out = out[: int(told.get("most", len(out)))]
        return {"code": done.returncode, "out": out, "err": err}

    def _submit(self, told: dict[str, Any]) -> dict[str, Any]:
        argv, data = [str(word) for word in told["argv"]], told["stdin"].encode()
        if argv[:1] != ["sbatch"]:
            raise MemberError("only sbatch submits")
        return submit(self._home, argv, data=data, wait_s=_seconds(told), mark=told["mark"])

    def _slurm_all(self, told: dict[str, Any]) -> dict[str, Any]:
        """Several programs, one after the other, up to the first that fails."""
        found: list[dict[str, Any]] = []
        for argv in told["argvs"]:
            found.append(self._slurm({"wait_s": 30} | told | {"argv": argv}))
            if found[-1]["code"]:
                break
        return {"ran": found}

    def _await_none(self, told: dict[str, Any]) -> dict[str, Any]:
        """Ask until nothing is listed; what is still listed when the time is over."""
        until = time.monotonic() + _seconds(told)
        while True:  # bounded by ``until``
            found = self._slurm({"argv": told["argv"]})
            if found["code"] or not found["out"].split() or time.monotonic() > until:
                return found
            time.sleep(_LOOK_S)

    def _probe(self, told: dict[str, Any]) -> dict[str, Any]:
        """How the member is once it is up, which of these take no jobs, and who is silent."""
        until = time.monotonic() + _seconds(told)
        workers, state = _names(told["workers"]), self._keeper.await_up(_seconds(told))
        is_up = state["is_up"] and state["is_settled"]
        left_s = max(1.0, until - time.monotonic())
        if not is_up:
            return state
        shared = self._keeper.applied.get("shared")
        told = probe(self._home, workers, shared=shared, wait_s=left_s)
        return state | {"told": told, "silent": silent(self._home)}

    def _check(self, told: dict[str, Any]) -> dict[str, Any]:
        return {"refused": dry_start(self._home, told["files"])}

    def _lose(self, told: dict[str, Any]) -> dict[str, Any]:
        for worker in _names(told["workers"]):
            lose(self._home, worker)
        return {}

    def _stage_key(self, told: dict[str, Any]) -> dict[str, Any]:
        self._home.stage_key(told["munge_key"])
        return {}

    def _switch_key(self, told: dict[str, Any]) -> dict[str, Any]:
        self._keeper.switch_key(told["digest"])
        return self._keeper.await_up(_seconds(told))

    def _read_backup(self, told: dict[str, Any]) -> dict[str, Any]:
        return {"data": b64encode(read_piece(self._home, int(told["offset"]))).decode()}

    def _write_backup(self, told: dict[str, Any]) -> dict[str, Any]:
        data = b64decode(told["data"], validate=True)
        write_piece(self._home, int(told["offset"]), data=data)
        return {}

    def _restore(self, told: dict[str, Any]) -> dict[str, Any]:
        check_brought(self._home, told["digest"])
        return self._keeper.restore(_seconds(told))

    def _wipe(self, _: dict[str, Any]) -> dict[str, Any]:
        self._home.is_to_be_wiped = True
        return {}

    def _end(self, _: dict[str, Any]) -> dict[str, Any]:
        self._keeper.is_ending = True
        return {}


def _names(told: list[str]) -> list[str]:
    """Names of workers; no other word is passed on."""
    if len(told) > _WORKERS_MAX or not all(_WORKER.match(each) for each in told):
        raise MemberError("names of workers are needed")
    return told


def _seconds(told: dict[str, Any]) -> float:
    return min(float(told.get("wait_s", 30)), _WAIT_S_MAX)
