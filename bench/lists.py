"""The repository's own lists of nodes and pods, in the column format of the openb traces.

The public traces are not ours to ship. These lists stand in for them, so that tests and benches
run from a clean clone. They are made here, by these rules and from nothing else:

- A node is one of the ``MACHINES`` below, drawn by weight.
- A pod is drawn from a catalogue of 150 shapes. Each shape belongs to a family (no GPU, a
  share of one, or 1, 2, 4, 8 whole ones); a mix says what part of the pods each family makes up.
  Inside a family the first shapes are the popular ones (weight ``1 / rank``).
- A GPU shape has 4 to 16 cores per whole device, and 2 to 6 GiB per core.
- In the ``named`` mix a third of the GPU pods insist on one or two models.
- Everything follows from a seed through ``random.Random``.

``python -m bench.lists`` writes the small lists again; a test holds them equal to this generator.

>>> [node.model for node in make_nodes(3, seed=1)]
['T4', 'A100', 'V100']
>>> make_pods(2, mix="sharing", seed=1)[0].num_gpu
1
"""

from __future__ import annotations

import csv
import random
from dataclasses import dataclass, replace
from pathlib import Path

from bailiwick.bench.openb import NodeRow, PodRow

FOLDER = Path(__file__).resolve().parent / "lists"

NODES_COUNT = 160
PODS_COUNT = 1000
SEED = 2026
GIB_IN_MIB = 1024


@dataclass(frozen=True, slots=True)
class Machine:
    """One model of machine, and its weight in the fleet."""

    weight: int
    cores: int
    mem_gib: int
    gpus: int
    model: str


MACHINES = (
    Machine(25, 64, 256, 2, "T4"),
    Machine(15, 32, 128, 4, "T4"),
    Machine(25, 96, 384, 8, "A10"),
    Machine(15, 64, 512, 8, "V100"),
    Machine(15, 96, 1024, 8, "A100"),
    Machine(5, 192, 2048, 8, "H100"),
)

# Parts of a thousand pods: no GPU, a share of one, and 1, 2, 4, 8 whole ones.
FAMILIES = ("none", "share", "1", "2", "4", "8")
MIXES = {
    "default": (130, 380, 420, 25, 20, 25),
    "sharing": (130, 870, 0, 0, 0, 0),
    "multi": (80, 150, 300, 170, 150, 150),
    "named": (130, 380, 420, 25, 20, 25),
}


def make_nodes(count: int, *, seed: int = SEED) -> list[NodeRow]:
    """A fleet of that many machines."""
    rng = random.Random(seed)
    weights = [machine.weight for machine in MACHINES]
    drawn = rng.choices(MACHINES, weights, k=count)
    width = max(4, len(str(count - 1)))
    return [
        NodeRow(f"node-{i:0{width}d}", m.cores * 1000, m.mem_gib * GIB_IN_MIB, m.gpus, m.model)
        for i, m in enumerate(drawn)
    ]


def make_catalogue(seed: int = SEED) -> dict[str, list[PodRow]]:
    """The shapes of each family, the popular ones first."""
    rng = random.Random(seed)
    counts = {"none": 30, "share": 55, "1": 30, "2": 15, "4": 10, "8": 10}
    catalogue: dict[str, list[PodRow]] = {}
    for family, wanted in counts.items():
        drawn = dict.fromkeys(_shape(family, rng) for _ in range(100 * wanted))
        catalogue[family] = list(drawn)[:wanted]
    return catalogue


def _shape(family: str, rng: random.Random) -> PodRow:
    if family == "none":
        cores = rng.choice((1, 2, 3, 4, 6, 8, 12, 16, 24, 32))
        return PodRow(cores * 1000, cores * rng.choice((1, 2, 4, 8)) * GIB_IN_MIB, 0, 0, ())
    count = 1 if family == "share" else int(family)
    milli = rng.randrange(5, 96, 5) * 10 if family == "share" else 1000
    cpu_milli = max(1000, count * milli * rng.choice((4, 6, 8, 10, 12, 14, 16)) // 500 * 500)
    mem_mib = cpu_milli * rng.choice((2, 3, 4, 5, 6)) // 1000 * GIB_IN_MIB
    return PodRow(cpu_milli, mem_mib, count, milli, ())


def make_pods(count: int, *, mix: str = "default", seed: int = SEED) -> list[PodRow]:
    """That many pods of a mix, in the order they arrive."""
    rng = random.Random(seed)
    catalogue = make_catalogue()
    ranks = {f: [1 / rank for rank in range(1, len(c) + 1)] for f, c in catalogue.items()}
    pods = []
    for family in rng.choices(FAMILIES, MIXES[mix], k=count):
        pod = rng.choices(catalogue[family], ranks[family])[0]
        if mix == "named" and pod.num_gpu and rng.random() < 1 / 3:
            wanted = [m for m in MACHINES if m.gpus >= pod.num_gpu]
            models = {rng.choice(wanted).model for _ in range(rng.choice((1, 2)))}
            pod = replace(pod, models=tuple(sorted(models)))
        pods.append(pod)
    return pods


def write_nodes(path: Path, nodes: list[NodeRow]) -> None:
    """Write a node list."""
    rows = [[n.name, n.cpu_milli, n.mem_mib, n.gpus, n.model] for n in nodes]
    _write(path, ["sn", "cpu_milli", "memory_mib", "gpu", "model"], rows)


def write_pods(path: Path, pods: list[PodRow]) -> None:
    """Write a pod list."""
    rows = [
        [f"pod-{i:04d}", p.cpu_milli, p.mem_mib, p.num_gpu, p.gpu_milli, "|".join(p.models)]
        for i, p in enumerate(pods)
    ]
    header = ["name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec"]
    _write(path, header, rows)


def _write(path: Path, header: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def write_all(folder: Path = FOLDER) -> list[Path]:
    """Write the small lists; returns their paths, the node list first."""
    folder.mkdir(exist_ok=True)
    paths = [folder / "nodes.csv"]
    write_nodes(paths[0], make_nodes(NODES_COUNT))
    for mix in MIXES:
        paths.append(folder / f"pods_{mix}.csv")
        write_pods(paths[-1], make_pods(PODS_COUNT, mix=mix))
    return paths


if __name__ == "__main__":
    for written in write_all():
        print(written.name)
