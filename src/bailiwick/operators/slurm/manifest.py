"""The manifest of the app, for workers of the size that a site wants to offer."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bailiwick.operators.kit.packing import BOOTSTRAP, digest_of, pack
from bailiwick.operators.slurm.questions import ASK_SHARED
from bailiwick.operators.slurm.queue.use import UNITS
from bailiwick.operators.slurm.wanted import WORKERS_MAX
from bailiwick.vocab.errors import InvalidValue

APP: Final = "slurm"
SHARED_APP: Final = "slurm-shared"
"""The same for a whole tenant: its members have the host, for they become people's users."""
SOURCE: Final = "slurm"
PERMISSIONS: Final = (
    "scheduler.instance.read",
    "scheduler.instance.update",
    "scheduler.lease.read",
    "scheduler.node.read",
    "scheduler.job.exec",
)
"""What the operator's token has to carry; a member of a project has the last three."""
_GPUS: Final = re.compile(r"([a-z][a-z0-9_]*):([1-9][0-9]{0,2})\Z")

_RUNBOOK: Final = """# Symptom
`bailiwick app instance show` says degraded, or jobs wait that should run.
# Correlation id
It stands in the error that you got, and in each line of the operator's log. What the platform did
by itself is found by `app-instance-N`.
# Steps
1. `bailiwick app instance show NAME`: its reason names the daemon or the worker.
2. `bailiwick app instance members NAME`: a member that failed says why, and names its job.
3. `bailiwick logs job-N`: which daemons came up, and which ended.
4. `bailiwick exec job-N -- sh -c 'tail -n 50 log/*.log'`: what the daemons say.
5. `bailiwick events list --correlation ID`: what the request led to.
6. `python -m bailiwick.operators.slurm triage NAME`: what is wrong, the cause first. The runbook of
   the manual has a section for each word that it says.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmOffer:
    """What a site offers: the size of a worker, under which version."""

    version: str = "1.0.0"
    cpus: int = 4
    mem: str = "8GiB"
    gpus: str = ""
    """``GENERATION:COUNT``, such as ``nvidia_hopper:4``; none if empty."""
    controller_cpus: float = 1
    controller_mem: str = "2GiB"
    upgrades_from: tuple[str, ...] = ()
    """Versions from which instances may be upgraded to this one."""
    is_shared: bool = False
    """Whether it is for a whole tenant."""

    def worker(self) -> dict[str, Any]:
        """The shape of a worker, in the words of a manifest."""
        shape: dict[str, Any] = {"cpus": self.cpus, "mem": self.mem}
        if self.gpus:
            found = _GPUS.match(self.gpus)
            if found is None:
                raise InvalidValue("gpus", self.gpus, "GENERATION:COUNT, such as nvidia_hopper:4")
            shape |= {"gpus": int(found[2]), "generation": found[1]}
        return shape


def pack_member() -> bytes:
    """The program of the members."""
    return pack(Path(__file__).parent / "member")


def manifest_of(offer: SlurmOffer, program: bytes | None = None) -> str:
    """The manifest as a document; JSON, which is YAML as well."""
    digest = digest_of(pack_member() if program is None else program)
    command = ["python3", "-I", "-c", BOOTSTRAP, "run"]
    role: dict[str, Any] = {"artifact": "member", "command": command}
    if offer.is_shared:
        role |= {"privileges": "host", "ask": list(ASK_SHARED)}
    shared = {"control_plane_scopes": ["tenant"]} if offer.is_shared else {}
    document = {
        **shared,
        "app": SHARED_APP if offer.is_shared else APP,
        "version": offer.version,
        "title": "A Slurm cluster",
        "description": "A controller with accounting, and workers that take jobs of the project",
        "parameters": _parameters(offer),
        "roles": {
            "controller": {
                **role,
                "count": 1,
                "shape": {"cpus": offer.controller_cpus, "mem": offer.controller_mem},
                "control_plane": True,
            },
            "worker": {**role, "count": [0, WORKERS_MAX], "shape": offer.worker()},
        },
        "artifacts": {"member": {"kind": "blob", "digest": digest, "source": SOURCE}},
        "permissions": list(PERMISSIONS),
        "runtime_backend": "slurm",
        "scheduler_types": ["slurm"],
        "health": {"ready_within": "5m"},
        "delete": {"within": "5m"},
        "upgrades": [{"from": each, "to": offer.version} for each in offer.upgrades_from],
        "rollback": {"data": "kept"},
        "billing_units": list(UNITS),
        "runbook": _RUNBOOK,
    }
    return json.dumps(document, indent=1)


def _parameters(offer: SlurmOffer) -> dict[str, Any]:
    if not offer.is_shared:
        return _PARAMETERS
    own = {name: each for name, each in _PARAMETERS["properties"].items() if name != "partition"}
    return {**_PARAMETERS, "properties": own | _SHARED_PARAMETERS}


_SHARED_PARAMETERS: Final[dict[str, Any]] = {
    "queues": {
        "type": "string",
        "minLength": 1,
        "maxLength": 500,
        "default": "main",
        "description": "The queues that every project has, by comma.",
    },
    "reserved_for": {
        "type": "string",
        "maxLength": 2_000,
        "default": "*",
        "description": "The projects that may use what is reserved, by comma; * is all.",
    },
    "min_job_age_s": {
        "type": "integer",
        "minimum": 2,
        "maximum": 3_600,
        "default": 60,
        "description": "Seconds for which Slurm knows a job that has ended.",
    },
}
_PARAMETERS: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "port": {
            "type": "integer",
            "minimum": 0,
            "maximum": 65_455,
            "default": 0,
            "description": "The first of 80 ports on all machines; 0: by the instance's number.",
        },
        "partition": {
            "type": "string",
            "minLength": 1,
            "maxLength": 63,
            "default": "main",
            "description": "The name of the one partition.",
        },
        "kill_wait_s": {
            "type": "integer",
            "minimum": 1,
            "maximum": 3_600,
            "default": 30,
            "description": "Seconds that a job has between the request to end and its end.",
        },
        "max_time_min": {
            "type": "integer",
            "minimum": 0,
            "maximum": 525_600,
            "default": 0,
            "description": "The longest that a job may ask for, in minutes; 0 is no limit.",
        },
        "storage": {
            "type": "string",
            "maxLength": 120,
            "default": "",
            "description": "A folder that members see, where the controller keeps state and "
            "accounts. Without it they are lost with the controller.",
        },
        "key_generation": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1_000_000,
            "default": 1,
            "description": "Another number has another munge key made and taken.",
        },
        "pretend_gpus": {
            "type": "boolean",
            "default": False,
            "description": "Count GPUs that are not on the machine; for trying things out.",
        },
    },
}
