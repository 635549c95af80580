"""Placements of a Slurm cluster, from ``squeue --json`` and ``sinfo --json``.

Rules:

- A job counts on every node it has been given until Slurm says it is gone: while it starts, runs,
  is stopped or suspended, and while it completes.
- A node's sockets are its cache domains, unless the operator knows better. Which sockets a job has
  is told by Slurm; where it is not, the job has all of them.
- GPUs are told apart by their index. A job that has GPUs of an unknown index has all of them.
- A feature ``KEY=VALUE`` of a node is a label; any other feature is a label with the value ``yes``.
- Both ways in which releases of Slurm write numbers and states are read: plain, and as ``{"set":
  true, "number": 3}`` and lists.

Not seen: what runs on a node without the cluster's knowledge, and processes that outlived their
job.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bailiwick.fleet.topology import CACHES_MAX, CacheDomain, NodeTopology
from bailiwick.isolation.adapters.cluster import (
    ClusterReading,
    SubjectWords,
    Unseen,
    labels_in,
    read_numbers,
    rows,
    site_of,
    table,
    text,
)
from bailiwick.isolation.placements import Placement, Site
from bailiwick.isolation.policy import Subject
from bailiwick.vocab.errors import InvalidValue

TENANT_WORDS = ("account", "user_name", "partition", "qos", "wckey")
"""What may stand for a tenant or a project."""

LABEL_WORDS = ("comment", "admin_comment", "wckey", "name")
"""Where labels of a job may be written."""

_GONE = frozenset(
    {
        *("PENDING", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED"),
        *("BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY", "REVOKED", "SPECIAL_EXIT"),
    }
)
"""States in which a job holds nothing, unless it is still completing."""

_GPU = re.compile(r"gpu(?::[^:(,]+)?:(\d{1,4})(?:\(IDX:([^)]*)\))?")
_COUNT = re.compile(r"gpu(?::[^:(,]+)?:(\d{1,4})(?:\(|,|\Z)")


def read_slurm(
    jobs: object, nodes: object, *, naming: SubjectWords, known: Mapping[str, Site]
) -> ClusterReading:
    """What runs where, by what ``squeue --json`` and ``sinfo --json`` print."""
    unseen, read = Unseen(), {}
    for index, row in enumerate(rows("nodes", table("sinfo", nodes).get("nodes"))):
        site = _site(table(f"nodes[{index}]", row), unseen)
        read[site.node] = site
    sites = {name: site_of(name, known.get(name), read=site) for name, site in read.items()}
    placed: list[Placement] = []
    reader = _Jobs(naming, read, {**known, **sites}, unseen)
    for index, row in enumerate(rows("jobs", table("squeue", jobs).get("jobs"))):
        placed += reader.placements(table(f"jobs[{index}]", row))
    return ClusterReading(reader.sites, tuple(placed), unseen.sentences())


# -- nodes -----------------------------------------------------------------------------------


def _site(row: Mapping[str, Any], unseen: Unseen) -> Site:
    name = text("name", row.get("name"))
    sockets, per_socket = _number(row.get("sockets")), _number(row.get("cores"))
    topology = NodeTopology()
    if 1 < sockets <= CACHES_MAX:
        threads = max(_number(row.get("threads")), 1)
        cache = max(per_socket, 1) * threads * 1000
        topology = NodeTopology(tuple(CacheDomain(cache, min(i, 63)) for i in range(sockets)))
    elif sockets > CACHES_MAX:
        unseen.add(f"node {name} has {sockets} sockets: taken for one cache domain")
    gpus = sum(int(count) for count in _COUNT.findall(text("gres", row.get("gres"))))
    if gpus:
        unseen.add("which GPUs a fabric joins: Slurm does not tell; give sites that do")
    fabrics = (f"{name}/gpus",) * min(gpus, 4096)  # not known to be apart
    return Site(name, topology, fabrics, _features(row.get("active_features")))


def _features(value: object) -> dict[str, str]:
    words = value if isinstance(value, list) else text("features", value).split(",")
    labels = {}
    for word in words:
        key, mark, told = text("feature", word).strip().partition("=")
        if key:
            labels[key] = told if mark else "yes"
    return labels


# -- jobs ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Jobs:
    """Reads jobs, one after the other."""

    naming: SubjectWords
    read: Mapping[str, Site]
    """Nodes as Slurm tells them."""
    sites: Mapping[str, Site]
    """Nodes as they are known, by Slurm and by the operator."""
    unseen: Unseen

    def placements(self, row: Mapping[str, Any]) -> Iterator[Placement]:
        """A job, once for each node that it has been given."""
        if not _holds_room(row):
            return
        job_id = str(_number(row.get("job_id")))
        subject, from_ms = self._subject(row, job_id), _number(row.get("start_time")) * 1000
        details = row.get("gres_detail") or []
        for index, (node, sockets) in enumerate(_given(row, job_id)):
            site = self.sites.get(node)
            if site is None:
                self.unseen.add(f"node {node}, on which job {job_id} runs, was not told")
                site = Site(node)
            told = text("gres_detail", details[index]) if index < len(details) else None
            domains = site.domains(
                caches=self._caches(node, sockets, job_id), devices=_devices(row, told, site)
            )
            yield Placement(f"{job_id}@{node}", subject, node, domains, site.labels, from_ms)

    def _subject(self, row: Mapping[str, Any], job_id: str) -> Subject:
        naming = self.naming
        tenant = text(naming.tenant, row.get(naming.tenant))
        if not tenant:
            self.unseen.add(f"job {job_id} has no {naming.tenant}: taken for a tenant of its own")
            tenant = f"job-{job_id}"
        project = text(naming.project, row.get(naming.project)) if naming.project else ""
        labels = labels_in(text(naming.labels, row.get(naming.labels))) if naming.labels else {}
        return Subject(tenant, project or None, labels)

    def _caches(self, node: str, sockets: list[int] | None, job_id: str) -> list[int] | None:
        if sockets is None:
            self.unseen.add(f"which cores of {node} job {job_id} has: taken for all")
            return None
        read, site = self.read.get(node), self.sites.get(node)
        if read is None or site is None or read.topology != site.topology:
            return None  # the operator tells of other caches than sockets
        return sockets if max(sockets) < len(read.topology.caches) else None


def _holds_room(row: Mapping[str, Any]) -> bool:
    told = row.get("job_state")
    states = set(told if isinstance(told, list) else [text("job_state", told)])
    return "COMPLETING" in states or not states & _GONE


def _given(row: Mapping[str, Any], job_id: str) -> list[tuple[str, list[int] | None]]:
    """The nodes of a job, each with its sockets if they are told."""
    told = table(f"job {job_id}: job_resources", row.get("job_resources") or {})
    nodes = told.get("nodes")
    parts = nodes.get("allocation") if isinstance(nodes, dict) else told.get("allocated_nodes")
    found: list[tuple[str, list[int] | None]] = []
    for part in rows(f"job {job_id}: nodes", parts or []):
        node = table(f"job {job_id}: node", part)
        name = text("nodename", node.get("nodename") or node.get("name"))
        found.append((name, _sockets(node.get("sockets"))))
    if not found and text("nodes", row.get("nodes")):
        raise InvalidValue(f"job {job_id}: job_resources", None, "the nodes it has been given")
    return found


def _sockets(value: object) -> list[int] | None:
    if isinstance(value, dict) and value:
        return sorted(int(key) for key in value if str(key).isdecimal())
    if isinstance(value, list) and value:
        return sorted(_number(table("socket", each).get("index")) for each in value)
    return None


def _devices(row: Mapping[str, Any], told: str | None, site: Site) -> list[int] | None:
    """The devices that a job has on a node; ``None`` if it has some and it is not known which."""
    if told is None:
        has_gpus = "gres/gpu" in text("tres_alloc_str", row.get("tres_alloc_str"))
        return None if has_gpus else []
    found: list[int] = []
    for count, indices in _GPU.findall(told):
        if int(count) and not indices:
            return None
        if int(count) and indices != "N/A":
            found += read_numbers(indices)
    return found if all(index < len(site.fabrics) for index in found) else None


def _number(value: object) -> int:
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") else 0
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise InvalidValue("number", value, "a whole number")
    return value
