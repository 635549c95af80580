"""Stands for Slurm's programs in tests of who calls them: first fit, two nodes of two sockets.

Called by the name of the program; what it knows is in the file that ``STUB_SLURM`` names. With
``apart`` there, accounts share no node; an account in ``unknown`` is refused; nodes in ``down``
have a state of their own, and with ``denied`` nobody changes one. A job that waits is considered
again by every call.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

NODES, CORES = ("n1", "n2"), 4


def place(job: dict[str, Any], world: dict[str, Any]) -> None:
    for node in NODES:
        there = [each for each in world["jobs"] if each["node"] == node]
        used = sum(each["cores"] for each in there)
        is_apart = world["apart"] and any(each["account"] != job["account"] for each in there)
        if node in world["down"]:
            continue
        if job["wish"] in ("", node) and used + job["cores"] <= CORES and not is_apart:
            job["node"], job["first"] = node, used
            return


def said(name: str) -> str:
    marked = [word.partition("=")[2] for word in sys.argv if word.startswith(f"--{name}=")]
    return marked[0] if marked else ""


def submit(world: dict[str, Any]) -> None:
    if said("account") in world["unknown"]:
        sys.exit("sbatch: error: Invalid account")
    if said("partition") == "closed":
        sys.exit("sbatch: error: invalid partition")
    world["last"] += 1
    job = {"id": world["last"], "account": said("account"), "wish": said("nodelist"), "node": ""}
    world["jobs"].append({**job, "cores": int(said("cpus-per-task"))})
    world["submitted"].append(sys.argv[1:])
    print(world["last"])


def update(world: dict[str, Any]) -> None:
    if world["denied"]:
        sys.exit("slurm_update error: Access/permission denied")
    told = dict(word.split("=", 1) for word in sys.argv[2:])
    world["updates"].append(f"{told['nodename']} {told['state']}")
    if told["state"] == "resume":
        del world["down"][told["nodename"]]
        return
    world["down"][told["nodename"]] = {"drain": "drained"}.get(told["state"], told["state"])
    if told["state"] == "down":
        world["jobs"] = [job for job in world["jobs"] if job["node"] != told["nodename"]]


def as_json(job: dict[str, Any]) -> dict[str, Any]:
    sockets = {str(core // 2): {} for core in range(job.get("first", 0), CORES)[: job["cores"]]}
    given = [{"nodename": job["node"], "sockets": sockets}] if job["node"] else []
    return {
        "job_id": job["id"],
        "job_state": "RUNNING" if job["node"] else "PENDING",
        "account": job["account"],
        "start_time": 1,
        "job_resources": {"allocated_nodes": given},
    }


def main() -> None:
    kept = Path(os.environ["STUB_SLURM"])
    world, program = json.loads(kept.read_text()), Path(sys.argv[0]).name
    if program == "sbatch":
        submit(world)
    elif program == "scancel":
        world["jobs"] = [job for job in world["jobs"] if str(job["id"]) not in sys.argv[1:]]
    elif program == "scontrol":
        update(world)
    for job in world["jobs"]:
        if not job["node"]:
            place(job, world)
    if program == "squeue" and "--json" in sys.argv:
        print(json.dumps({"jobs": [*map(as_json, world["jobs"])]}))
    elif program == "squeue":
        there = sys.argv[sys.argv.index("-w") + 1] if "-w" in sys.argv else None
        for job in (each for each in world["jobs"] if there in (None, each["node"])):
            state = "RUNNING|None" if job["node"] else "PENDING|Resources"
            print(job["id"] if sys.argv[-1] == "%A" else f"{job['id']}|{state}")
    elif program == "sinfo" and "--json" in sys.argv:
        shape = {"sockets": 2, "cores": 2, "threads": 1}
        print(json.dumps({"nodes": [{"name": node, **shape} for node in NODES]}))
    elif program == "sinfo" and sys.argv[-1] == "%T":
        print(world["down"].get(sys.argv[sys.argv.index("-n") + 1], "idle"))
    elif program == "sinfo":
        print("open\nclosed" if sys.argv[-1] == "%R" else "n1 4\nn2 4")
    kept.write_text(json.dumps(world))


if __name__ == "__main__":
    main()
