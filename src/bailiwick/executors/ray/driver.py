"""What the cluster runs for one submission: it takes a place, has the job run in it, and waits.

Started by the cluster with its own Python, which has Ray; it imports nothing of Bailiwick.

Rules:

- The place is a placement group: all that the job was granted, at once, or the job does not begin.
- The job is one task in that place, and is never tried again by the cluster: whether it is, decides
  the server.
- What ends a job that did not end itself is told in a file, by a word: ``node`` (its node is lost),
  ``memory`` (the cluster ended it to free memory), ``worker`` (its worker is gone, and nobody knows
  why).
- When this process ends, however it does, the cluster ends the task and frees the place.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import sys
import time
from typing import Any

ASK, LOST, KEEPER = "ask.json", "lost.json", "keeper.py"
_PATIENCE_S = 30.0
"""How long to wait for the cluster to notice that a node is gone."""

_GONE_S = 10.0
"""How long the task of a node that is gone may take to be told as failed."""


def main() -> None:
    """Take the place and run the task."""
    import ray

    folder, name = sys.argv[1], sys.argv[2]
    with open(os.path.join(folder, ASK), "rb") as file:
        ask: dict[str, Any] = json.load(file)
    ray.init(log_to_driver=False, configure_logging=False)
    group = take_place(ask, name)
    while not group.wait(timeout_seconds=2):  # until there is room; the server may stop this
        if ask["node_id"] and not is_alive(ask["node_id"]):
            tell_lost(folder, "node")
            sys.exit(1)
    code = run_task(ask, group, folder=folder, name=name)
    sys.stdout.flush()
    os._exit(code)  # the cluster frees all of it; a shutdown in order takes seconds


def take_place(ask: dict[str, Any], name: str) -> Any:
    """A placement group of one part, on the node that was named."""
    from ray.util.placement_group import placement_group

    bundle, more = dict(ask["bundle"]), dict[str, Any]()
    if ask["node_id"]:
        if "bundle_label_selector" in inspect.signature(placement_group).parameters:
            more["bundle_label_selector"] = [{"ray.io/node-id": ask["node_id"]}]
        else:
            bundle[f"node:{ask['node_ip']}"] = 0.001
    return placement_group([bundle], strategy="STRICT_PACK", name=name, **more)


def run_task(ask: dict[str, Any], group: Any, *, folder: str, name: str) -> int:
    """Have the job run; whether its keeper saw it to its end (0), or it was lost (1)."""
    import ray
    from ray.util.placement_group import placement_group_table
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    nodes = list(placement_group_table(group)["bundles_to_node_id"].values())
    own = {
        key: value for key, value in ask["bundle"].items() if key not in ("CPU", "GPU", "memory")
    }
    task = ray.remote(run_keeper).options(
        name=name,
        num_cpus=ask["bundle"].get("CPU", 0),
        num_gpus=ask["bundle"].get("GPU", 0),
        memory=ask["bundle"].get("memory", 0) or None,
        resources=own,
        max_retries=0,
        scheduling_strategy=PlacementGroupSchedulingStrategy(group, 0),
    )
    running = task.remote(folder, name)
    try:
        if not has_come_to_its_end(running, nodes):
            tell_lost(folder, "node")
            return 1
        ray.get(running)
    except ray.exceptions.OutOfMemoryError:
        tell_lost(folder, "memory")
    except ray.exceptions.RayError as error:
        print(f"the task failed: {error}", file=sys.stderr)
        tell_lost(folder, "node" if is_node_lost(error, nodes) else "worker")
    else:
        return 0
    return 1


def has_come_to_its_end(running: Any, nodes: list[str]) -> bool:
    """Wait for the task; one that had not begun when its node was lost would wait for ever."""
    import ray

    gone_at: float | None = None
    while not ray.wait([running], timeout=2)[0]:  # until it ends; the server may stop this
        if all(is_alive(node) for node in nodes):
            gone_at = None
            continue
        gone_at = gone_at or time.monotonic()
        if time.monotonic() - gone_at > _GONE_S:
            return False
    return True


def run_keeper(folder: str, name: str) -> None:
    """In the place: start the keeper, hold its leash, wait until it has gone."""
    import subprocess
    import sys

    import ray

    mine = ray.get_runtime_context().get_accelerator_ids().get("GPU", [])
    devices = ",".join(sorted(mine, key=lambda each: (len(each), each)))
    leash, held = os.pipe()
    done, tell_done = os.pipe()
    words = [sys.executable, "-I", "-S", os.path.join(folder, "keeper.py"), folder, name]
    words += [str(leash), str(tell_done), devices]
    subprocess.run(words, pass_fds=(leash, tell_done), check=False, env={}, cwd="/")
    for fd in (leash, tell_done):
        os.close(fd)
    os.read(done, 1)  # nothing is ever written: it ends when the keeper does
    for fd in (done, held):
        os.close(fd)


def is_node_lost(error: Exception, nodes: list[str]) -> bool:
    """Whether the node is why the task failed; the cluster may learn it after the driver."""
    if type(error).__name__ == "NodeDiedError":
        return True
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        if not all(is_alive(node) for node in nodes):
            return True
        time.sleep(0.5)
    return False


def is_alive(node_id: str) -> bool:
    """Whether the cluster holds a node for alive."""
    import ray

    return any(each["NodeID"] == node_id and each["Alive"] for each in ray.nodes())


def tell_lost(folder: str, word: str) -> None:
    """For the server to read, whole or not at all."""
    scratch = os.path.join(folder, f"{LOST}.{os.getpid()}.new")
    with contextlib.suppress(FileNotFoundError):  # the folder was removed
        with open(scratch, "w") as file:
            json.dump({"format": 1, "why": word}, file)
        os.rename(scratch, os.path.join(folder, LOST))


if __name__ == "__main__":
    main()
