"""Lists of nodes and pods in the column format of the openb traces (Weng et al., ATC 2023).

Rules:

- Columns are found by name. Nodes: ``sn, cpu_milli, memory_mib, gpu, model``. Pods: ``name,
  cpu_milli, memory_mib, num_gpu, gpu_milli`` and optionally ``gpu_spec`` (models joined by ``|``,
  empty for any). Other columns are left alone.
- A value that is not what the column holds is an error that names the file, line and column.
"""

from __future__ import annotations

import csv
import random
from dataclasses import dataclass
from pathlib import Path

from bailiwick import GpuDevice, InvalidValue, NodeCapacity, PlacementRequest, TenantId

MIB = 2**20
MILLI = 1000
ROWS_MAX = 10_000_000


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One machine of a node list."""

    name: str
    cpu_milli: int
    mem_mib: int
    gpus: int
    model: str

    def capacity(self) -> NodeCapacity:
        """The machine as the library takes it."""
        device = GpuDevice.named(self.model)
        return NodeCapacity(
            cpu_cores=self.cpu_milli / MILLI,
            mem_bytes=self.mem_mib * MIB,
            gpus=(device,) * self.gpus,
        )


@dataclass(frozen=True, slots=True)
class PodRow:
    """One request of a pod list, without its name: equal pods are one shape."""

    cpu_milli: int
    mem_mib: int
    num_gpu: int
    gpu_milli: int
    models: tuple[str, ...]

    @property
    def demand(self) -> int:
        """GPU milli asked for."""
        return self.num_gpu * self.gpu_milli

    def request(self) -> PlacementRequest:
        """The pod as the library takes it."""
        whole = self.num_gpu if self.gpu_milli == MILLI else 0
        return PlacementRequest(
            tenant=TenantId("openb"),
            cpu_cores=self.cpu_milli / MILLI,
            mem_bytes=self.mem_mib * MIB,
            gpu_count=whole,
            gpu_milli=0 if whole else self.gpu_milli,
            gpu_models=self.models if self.num_gpu else (),
        )


def read_nodes(path: Path) -> list[NodeRow]:
    """The machines of a node list."""
    rows = []
    for where, row in _rows(path, ("sn", "cpu_milli", "memory_mib", "gpu", "model")):
        gpus = _integer(where, row, "gpu")
        if gpus > 16:
            raise InvalidValue(f"{where}: gpu", gpus, "at most 16 devices")
        rows.append(
            NodeRow(
                row["sn"],
                _integer(where, row, "cpu_milli"),
                _integer(where, row, "memory_mib"),
                gpus,
                row["model"],
            )
        )
    return rows


def read_pods(path: Path) -> list[PodRow]:
    """The requests of a pod list, in its order."""
    rows = []
    for where, row in _rows(path, ("cpu_milli", "memory_mib", "num_gpu", "gpu_milli")):
        num_gpu = _integer(where, row, "num_gpu")
        gpu_milli = _integer(where, row, "gpu_milli") if num_gpu else 0
        if num_gpu and not 0 < gpu_milli <= MILLI:
            raise InvalidValue(f"{where}: gpu_milli", gpu_milli, "1 to 1000 for a pod with a GPU")
        if num_gpu > 1 and gpu_milli != MILLI:
            raise InvalidValue(f"{where}: gpu_milli", gpu_milli, "1000 for several GPUs")
        spec = (row.get("gpu_spec") or "") if num_gpu else ""
        models = tuple(sorted({m for m in spec.split("|") if m}))
        cpu, mem = _integer(where, row, "cpu_milli"), _integer(where, row, "memory_mib")
        rows.append(PodRow(cpu, mem, num_gpu, gpu_milli, models))
    return rows


def _rows(path: Path, needed: tuple[str, ...]) -> list[tuple[str, dict[str, str]]]:
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = [c for c in needed if c not in (reader.fieldnames or ())]
        if missing:
            raise InvalidValue(str(path), reader.fieldnames, f"a column named {missing[0]}")
        rows = []
        for number, row in enumerate(reader, start=2):
            if number > ROWS_MAX:
                raise InvalidValue(str(path), number, f"at most {ROWS_MAX} rows")
            rows.append((f"{path.name} line {number}", row))
    if not rows:
        raise InvalidValue(str(path), 0, "at least one row")
    return rows


def _integer(where: str, row: dict[str, str], column: str) -> int:
    text = row[column]
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 12:
        raise InvalidValue(f"{where}: {column}", text, "a whole number")
    return int(text)


def arrivals(pods: list[PodRow], *, capacity: int, ratio_percent: int, seed: int) -> list[PodRow]:
    """The published arrival rule: the list shuffled, then drawn again up to ratio x capacity.

    A list that asks for more than that is thinned at random instead.
    """
    rng = random.Random(seed)
    limit = capacity * ratio_percent // 100
    order = rng.sample(pods, len(pods))
    asked = sum(pod.demand for pod in order)
    if asked > limit:
        dropped: set[int] = set()
        for at in rng.sample(range(len(order)), len(order)):
            if asked <= limit:
                break
            dropped.add(at)
            asked -= order[at].demand
        return [pod for at, pod in enumerate(order) if at not in dropped]
    if not asked:
        return order  # a list without GPUs never fills the GPUs
    while True:
        pod = pods[rng.randrange(len(pods))]
        if asked + pod.gpu_milli > limit:
            return order
        asked += pod.demand
        order.append(pod)
