"""Placements of a Kubernetes cluster, from its pod and node objects as JSON.

Rules:

- Objects come as a list of either kind, as a ``List`` of both, or one after the other; anything
  that is neither pod nor node is passed over and said.
- A pod counts from the moment it is bound to a node until it has ended, and while it is being
  deleted: only ``Succeeded`` and ``Failed`` have left.
- A tenant is a namespace, or what a label of the pod says. Labels of the pod are the job's.
- Rack, segment and region of a node are its labels of these names, or the well-known ones:
  ``topology.kubernetes.io/region`` for region, ``topology.kubernetes.io/zone`` for segment.
- Kubernetes does not tell which cores a pod has, nor (in these objects) which GPUs: it has all
  caches of its node, and all of its GPUs if it asked for any.

Not seen: what runs on a node outside the cluster, and the kubelet's own choice of cores and GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bailiwick.isolation.adapters.cluster import (
    ClusterReading,
    SubjectWords,
    Unseen,
    rows,
    site_of,
    table,
    text,
)
from bailiwick.isolation.placements import Placement, Site
from bailiwick.isolation.policy import Subject

NAMESPACE = "namespace"
"""The word for naming a tenant after its namespace; any other is the key of a label."""

GPU_RESOURCES = ("nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe")
_PARTS_OF_GPU = "nvidia.com/mig-"
_WELL_KNOWN = {
    "topology.kubernetes.io/region": "region",
    "topology.kubernetes.io/zone": "segment",
}
_ENDED = ("Succeeded", "Failed")
_DEPTH_MAX = 4


def read_kubernetes(
    documents: object, *, naming: SubjectWords, known: Mapping[str, Site]
) -> ClusterReading:
    """What runs where, by pod and node objects."""
    unseen, nodes, pods = Unseen(), [], []
    for kind, each in _objects(documents, "", 0):
        match kind:
            case "Node":
                nodes.append(each)
            case "Pod":
                pods.append(each)
            case _:
                unseen.add(f"objects of kind {kind or '(none)'} were passed over")
    sites = dict(known)
    for each in nodes:
        read = _site(each, unseen)
        sites[read.node] = site_of(read.node, known.get(read.node), read=read)
    placed = [pod for each in pods if (pod := _placement(each, naming, sites=sites, unseen=unseen))]
    return ClusterReading(sites, tuple(placed), unseen.sentences())


def _objects(value: object, kind: str, depth: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects in a document, in lists or not, each with its kind."""
    if isinstance(value, list) and depth < _DEPTH_MAX:
        for each in rows("objects", value):
            yield from _objects(each, kind, depth + 1)
        return
    found = table("object", value)
    own = text("kind", found.get("kind"))
    if "items" in found:
        inner = own.removesuffix("List")  # items of a PodList do not say that they are pods
        yield from _objects(rows("items", found["items"]), inner, depth + 1)
    else:
        yield own or kind, found


def _site(node: Mapping[str, Any], unseen: Unseen) -> Site:
    head = table("metadata", node.get("metadata"))
    name, labels = text("name", head.get("name")), _labels(head)
    for key, ours in _WELL_KNOWN.items():
        if key in labels:
            labels.setdefault(ours, labels[key])
    capacity = table("capacity", table("status", node.get("status") or {}).get("capacity") or {})
    gpus = sum(_count(capacity.get(key)) for key in GPU_RESOURCES)
    if gpus:
        unseen.add("which GPUs a fabric joins: Kubernetes does not tell; give sites that do")
    unseen.add("which cores and GPUs of its node a pod has: taken for all")
    return Site(name, fabrics=(f"{name}/gpus",) * gpus, labels=labels)


def _placement(
    pod: Mapping[str, Any], naming: SubjectWords, *, sites: Mapping[str, Site], unseen: Unseen
) -> Placement | None:
    head, spec = table("metadata", pod.get("metadata")), table("spec", pod.get("spec") or {})
    phase = text("phase", table("status", pod.get("status") or {}).get("phase"))
    node = text("nodeName", spec.get("nodeName"))
    if not node or phase in _ENDED:
        return None
    space, labels = text("namespace", head.get("namespace")) or "default", _labels(head)
    name = f"{space}/{text('name', head.get('name'))}"
    tenant = space if naming.tenant == NAMESPACE else labels.get(naming.tenant)
    if tenant is None:
        unseen.add(f"pod {name} has no label {naming.tenant}: taken for a tenant of its own")
        tenant = f"pod-{name}"
    project = space if naming.project == NAMESPACE else labels.get(naming.project)
    site = sites.get(node)
    if site is None:
        unseen.add(f"node {node}, on which pod {name} runs, was not told")
        site = Site(node)
    domains = site.domains(devices=None if _asks_for_gpus(spec) else ())
    return Placement(name, Subject(tenant, project, labels), node, domains, site.labels)


def _labels(head: Mapping[str, Any]) -> dict[str, str]:
    told = table("labels", head.get("labels") or {})
    return {text("label", key): text(f"labels[{key}]", value) for key, value in told.items()}


def _asks_for_gpus(spec: Mapping[str, Any]) -> bool:
    groups = ("containers", "initContainers", "ephemeralContainers")
    containers = (each for group in groups for each in rows(group, spec.get(group) or []))
    wants = [table("resources", table("container", c).get("resources") or {}) for c in containers]
    words = (
        word for want in wants for how in ("limits", "requests") for word in want.get(how) or {}
    )
    is_asked = any(word in GPU_RESOURCES or word.startswith(_PARTS_OF_GPU) for word in words)
    return is_asked or bool(spec.get("resourceClaims"))


def _count(value: object) -> int:
    """How many devices a node has; quantities of devices are plain numbers."""
    told = text("capacity", str(value)) if isinstance(value, int) else text("capacity", value)
    return min(int(told), 4096) if told.isdecimal() and len(told) < 6 else 0
