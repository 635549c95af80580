"""The folder of one job, on a file system that the cluster's nodes see too.

Rules:

- It appears under its name as a whole.
- A job may put anything in a file's place: what cannot be read as what it should be is ``Damaged``.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

from bailiwick.executors.folder import drafted, load, save
from bailiwick.executors.port import JobSpec
from bailiwick.executors.slurm import batch
from bailiwick.vocab.errors import Damaged


@dataclass(frozen=True, slots=True)
class Kept:
    """What is on disk about a job's one submission that counts."""

    name: str
    submitted_ms: int
    output_bytes_max: int
    warn_by_signal: bool


def lay_out(spec: JobSpec, folder: Path, *, name: str) -> None:
    """The job's folder with all that must be in it; it appears as a whole."""
    told = {
        "format": 1,
        "name": name,
        "submitted_ms": time.time_ns() // 1_000_000,
        "output_bytes_max": spec.output_bytes_max,
        "warn_by_signal": spec.warn_by_signal,
    }
    with drafted(folder) as draft:
        (draft / batch.WORK).mkdir(mode=0o700)
        save(draft / batch.TOKEN, spec.token)
        save(draft / batch.ENVIRONMENT, batch.environment_text(spec, folder))
        save(draft / batch.CURRENT, name)
        save(draft / batch.STATE, json.dumps(told))


def load_kept(folder: Path) -> Kept:
    """The submission that counts; ``Damaged`` if its file does not tell."""
    try:
        body = json.loads(load(folder / batch.STATE) or "")
        kept = Kept(
            body["name"], body["submitted_ms"], body["output_bytes_max"], body["warn_by_signal"]
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Damaged("the state file of a job", folder, type(error).__name__) from None
    kinds = (type(kept.name), type(kept.submitted_ms), type(kept.output_bytes_max))
    if body.get("format") != 1 or kinds != (str, int, int):
        raise Damaged("the state file of a job", folder, "has another format")
    return kept
