"""The folder of one job on a file system that the cluster's nodes see too, and what is read in it.

Who writes what: the server lays it out and may add ``end``; the keeper on the node writes what
became of the job; the driver why it was lost. Each file is written whole, by one of them only.

Rules:

- The permit is what a submission needs to run. Whoever renames it has it: a keeper that begins, or
  the server that withdraws it. After that nobody else can.
- What cannot be read as what it should be is ``Damaged``.
- The programs that run on the cluster are copied here: a node has no Bailiwick on it, and a job
  that waits for its place runs with those of the server that submitted it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bailiwick.executors import output_times
from bailiwick.executors.folder import drafted, load, save
from bailiwick.executors.port import JobSpec, LostReason
from bailiwick.executors.ray import driver, keeper
from bailiwick.vocab.errors import Damaged, InvalidValue

WORK, TOKEN, STATE = "work", "token", "state.json"
WITHDRAWN = "withdrawn"

_MOMENT_MAX = 2**52
_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class RaySubmission:
    """What is on disk about a job's one submission."""

    name: str
    submitted_ms: int
    output_bytes_max: int


@dataclass(frozen=True, slots=True)
class NodeProcess:
    """The job's own process on its node."""

    pid: int
    start_ticks: int
    boot_id: str


@dataclass(frozen=True, slots=True)
class KeptEnd:
    """How the job ended by its keeper's word."""

    code: int | None
    signal: int | None
    ended_ms: int
    is_cut: bool
    """Whether it had lost its place on the cluster by then."""
    is_emptied: bool
    began_ms: int = 0
    emptied_ms: int = 0
    cpu_ms: int = 0


def lay_out(
    spec: JobSpec, folder: Path, *, name: str, ask: Mapping[str, Any], term_s: float
) -> None:
    """The job's folder with all that must be in it; it appears as a whole."""
    now_ms = time.time_ns() // 1_000_000
    told = {"name": name, "submitted_ms": now_ms, "output_bytes_max": spec.output_bytes_max}
    with drafted(folder) as draft:
        (draft / WORK).mkdir(mode=0o700)
        save(draft / TOKEN, spec.token)
        save(draft / keeper.ORDER, json.dumps(_order(spec, folder, term_s=term_s)))
        save(draft / driver.ASK, json.dumps(ask))
        for program in (driver, keeper, output_times):
            source = Path(program.__file__ or "")
            save(draft / source.name, source.read_text(encoding="utf-8"))
        save(draft / STATE, json.dumps({"format": 1} | told))
        save(draft / f"{keeper.PERMIT}-{name}", "")


def _order(spec: JobSpec, folder: Path, *, term_s: float) -> dict[str, Any]:
    """What the keeper is told to run; the devices are the cluster's to give."""
    ours = {
        "BAILIWICK_LEASE_ID": str(spec.lease_id),
        "BAILIWICK_LEASE_TOKEN": spec.token,
        "BAILIWICK_LEASE_TOKEN_FILE": str(folder / TOKEN),
        "BAILIWICK_PREEMPTION_FILE": str(folder / keeper.WARNING),
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    }
    if spec.server:
        ours["BAILIWICK_SERVER"] = spec.server
    base = {"PATH": _PATH, "HOME": str(folder / WORK), "LANG": "C.UTF-8"}
    held = {"RLIMIT_DATA": spec.limits.mem_bytes, "RLIMIT_CPU": spec.limits.cpu_s, "RLIMIT_CORE": 0}
    return {
        "argv": list(spec.argv),
        "cwd": str(spec.cwd or folder / WORK),
        "env": {**base, **spec.env, **ours},
        "rlimits": [[name, amount] for name, amount in held.items() if amount is not None],
        "output_bytes_max": spec.output_bytes_max,
        "warn_by_signal": spec.warn_by_signal,
        "term_s": term_s,
    }


def withdraw(folder: Path, kept: RaySubmission) -> bool:
    """Take the permit back; whether that came first, so that nothing of it will ever run."""
    try:
        (folder / f"{keeper.PERMIT}-{kept.name}").rename(folder / WITHDRAWN)
    except FileNotFoundError:
        return (folder / WITHDRAWN).exists()
    return True


def has_begun(folder: Path) -> bool:
    """Whether a keeper took the permit."""
    return (folder / keeper.STARTED).exists()


def load_kept(folder: Path) -> RaySubmission:
    """The submission; ``Damaged`` if its file does not tell."""
    body = _load_body(folder / STATE) or {}
    name, moment, most = (body.get(k) for k in ("name", "submitted_ms", "output_bytes_max"))
    if not isinstance(name, str) or type(moment) is not int or type(most) is not int:
        raise Damaged("the state file of a job", folder, "has no name or no numbers")
    return RaySubmission(name, moment, most)


def load_process(folder: Path) -> NodeProcess | None:
    """The job's process, once its program has taken over."""
    body = _load_body(folder / keeper.PROCESS)
    if body is None:
        return None
    pid, ticks, boot = _number(body, "pid"), _number(body, "start_ticks"), body.get("boot_id")
    if not isinstance(boot, str):
        raise Damaged("the process file of a job", folder, "names no boot")
    return NodeProcess(pid, ticks, boot)


def load_unstarted(folder: Path) -> InvalidValue | None:
    """What could not be had, if the program never ran."""
    body = _load_body(folder / keeper.UNSTARTED)
    if body is None:
        return None
    return InvalidValue(str(body.get("fault")), "(on the node)", f"errno {body.get('errno')}")


def load_end(folder: Path) -> KeptEnd | None:
    """How the job ended, once it has."""
    body = _load_body(folder / keeper.EXIT)
    if body is None:
        return None
    code = _number(body, "code", most=255) if "code" in body else None
    number = _number(body, "signal", most=64) if "signal" in body else None
    if (code is None) == (number is None):
        raise Damaged("the exit file of a job", folder, "tells no end")
    is_emptied = body.get("emptied") is True
    counts = [_number(body, k) for k in ("began_ms", "emptied_ms", "cpu_ms")] if is_emptied else []
    ended_ms, is_cut = _number(body, "ended_ms"), body.get("is_cut") is True
    return KeptEnd(code, number, ended_ms, is_cut, is_emptied, *counts)


def load_lost(folder: Path) -> str | None:
    """The driver's word for why the job was lost."""
    body = _load_body(folder / driver.LOST)
    return None if body is None else str(body.get("why"))


def lost_reason(word: str | None) -> LostReason:
    """The closed word for it."""
    return LostReason.NODE_LOST if word == "node" else LostReason.SUPERVISOR_GONE


def _load_body(path: Path) -> dict[str, Any] | None:
    try:
        text = load(path)
        body = None if text is None else json.loads(text)
    except (ValueError, RecursionError, OSError) as error:
        raise Damaged("a file of a job", path, type(error).__name__) from None
    if body is not None and (not isinstance(body, dict) or body.get("format") != 1):
        raise Damaged("a file of a job", path, "has another format")
    return body


def _number(body: Mapping[str, Any], name: str, *, most: int = _MOMENT_MAX) -> int:
    value = body.get(name)
    if type(value) is not int or not 0 <= value <= most:
        raise Damaged("a file of a job", name, "is no such number")
    return value
