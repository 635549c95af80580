"""Placements in a file: which nodes there are, and whose work holds what of them.

Rules:

- One JSON object with its format's name and version. What is not known is refused by name, and so
  is work on a node that the file does not have; nothing is filled in but what is said here.
- ``caches`` and ``devices`` of work are numbers of the node's own lists. Work that leaves one out
  may hold any of them: what is not known counts as all.
- A GPU without a ``fabric`` is joined to no other. ``until_ms`` left out says that nobody knows.
- Size and counts are bounded.

::

    {"format": "bailiwick.placements/1",
     "now_ms": 1794830400000,
     "nodes": [{"name": "n1", "labels": {"rack": "r1"},
                "caches": [{"cores_milli": 8000, "numa": 0}, {"cores_milli": 8000, "numa": 1}],
                "gpus": [{"fabric": "n1-switch", "numa": 0}]}],
     "placements": [{"id": "job-1", "tenant": "acme", "project": "vision", "labels": {"team": "x"},
                     "node": "n1", "caches": [0], "devices": [0],
                     "from_ms": 1794826800000, "until_ms": 1794834000000}],
     "residues": [{"rule": "vault", "kind": "host", "domain": "n1", "left_ms": 1794826800000}]}

>>> found = read_placements(b'{"format": "bailiwick.placements/1", "nodes": [], "placements": []}')
>>> found.placements, read_placements(spell_placements(found).encode()) == found
((), True)
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from bailiwick.fleet.topology import CACHES_MAX, CacheDomain, DomainKind, NodeTopology
from bailiwick.isolation.placements import Placement, Residue, Site
from bailiwick.isolation.policy import Subject
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.strict_json import JsonRefused, StrictJson
from bailiwick.vocab.values import AMOUNT_MAX, check_integer

FORMAT: Final = "bailiwick.placements/1"
BYTES_MAX: Final = 64 * 2**20
NODES_MAX: Final = 100_000
PLACEMENTS_MAX: Final = 1_000_000
DEVICES_MAX: Final = 64
LABELS_MAX: Final = 128
TEXT_MAX: Final = 253
"""Characters of a name or label: those of other clusters are longer than ours."""

_JSON: Final = StrictJson(bytes_max=BYTES_MAX)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PlacedWork:
    """Work on a node as a file tells it: by numbers of the node's caches and devices."""

    id: str
    subject: Subject
    node: str
    caches: tuple[int, ...] | None = None
    devices: tuple[int, ...] | None = None
    from_ms: int = 0
    until_ms: int | None = None

    def on(self, site: Site) -> Placement:
        """The work as it is judged."""
        domains = site.domains(caches=self.caches, devices=self.devices)
        times = (self.from_ms, self.until_ms)
        return Placement(self.id, self.subject, site.node, domains, site.labels, *times)


@dataclass(frozen=True, slots=True)
class PlacementFile:
    """What a file of placements tells."""

    sites: tuple[Site, ...] = ()
    work: tuple[PlacedWork, ...] = ()
    residues: tuple[Residue, ...] = ()
    now_ms: int | None = None
    """When it was so; None: the file does not say."""
    by_name: Mapping[str, Site] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {site.node: site for site in self.sites})

    @property
    def placements(self) -> tuple[Placement, ...]:
        """All work, as it is judged."""
        return tuple(each.on(self.by_name[each.node]) for each in self.work)


# -- reading ---------------------------------------------------------------------------------


def read_placements(raw: bytes) -> PlacementFile:
    """What the bytes of a file tell; :class:`~bailiwick.vocab.errors.InvalidValue` if they do not.

    The field of the error is the place in the document, such as ``placements[3].node``.
    """
    try:
        document = _Fields("the document", _JSON.read(raw))
    except JsonRefused as refused:
        why = refused.why or refused.fault.value
        raise InvalidValue("placements", refused.value, f"JSON ({why})") from None
    if document.take("format") != FORMAT:
        raise InvalidValue("format", document.taken.get("format"), f"'{FORMAT}'")
    found = PlacementFile(
        tuple(document.each("nodes", _read_site, most=NODES_MAX)),
        tuple(document.each("placements", _read_work, most=PLACEMENTS_MAX)),
        tuple(document.each("residues", _read_residue, most=PLACEMENTS_MAX)),
        document.integer("now_ms", None),
    )
    document.end()
    _check(found)
    return found


def _check(found: PlacementFile) -> None:
    if len(found.by_name) != len(found.sites):
        raise InvalidValue("nodes", _twice(site.node for site in found.sites), "each name once")
    if len({each.id for each in found.work}) != len(found.work):
        raise InvalidValue("placements", _twice(each.id for each in found.work), "each id once")
    for index, each in enumerate(found.work):
        where, site = f"placements[{index}]", found.by_name.get(each.node)
        if site is None:
            raise InvalidValue(f"{where}.node", each.node, "a node of the file")
        caches, devices = site.topology.cache_count, len(site.fabrics)
        _check_numbers(f"{where}.caches", each.caches, count=caches)
        _check_numbers(f"{where}.devices", each.devices, count=devices)


def _check_numbers(where: str, numbers: tuple[int, ...] | None, *, count: int) -> None:
    for number in numbers or ():
        if number >= count:
            raise InvalidValue(where, number, f"one of the node's {count}, counted from 0")


def _twice(names: Iterable[str]) -> str:
    return Counter(names).most_common(1)[0][0]


def _read_site(fields: _Fields) -> Site:
    caches = tuple(fields.each("caches", _read_cache, most=CACHES_MAX))
    gpus = fields.each("gpus", _read_gpu, most=DEVICES_MAX)
    numas = tuple(numa for _, numa in gpus)
    topology = NodeTopology(caches, numas if any(numa is not None for numa in numas) else ())
    fabrics = tuple(fabric for fabric, _ in gpus)
    return Site(fields.text("name"), topology, fabrics, fields.labels("labels"))


def _read_cache(fields: _Fields) -> CacheDomain:
    cores = fields.integer("cores_milli", None)
    if cores is None:
        raise InvalidValue(f"{fields.where}.cores_milli", None, "the cores, in thousandths")
    return CacheDomain(cores, fields.integer("numa", 0) or 0)


def _read_gpu(fields: _Fields) -> tuple[str, int | None]:
    return fields.text("fabric", ""), fields.integer("numa", None)


def _read_work(fields: _Fields) -> PlacedWork:
    project = fields.text("project", "") or None
    return PlacedWork(
        fields.text("id"),
        Subject(fields.text("tenant"), project, fields.labels("labels")),
        fields.text("node"),
        fields.numbers("caches", most=CACHES_MAX),
        fields.numbers("devices", most=DEVICES_MAX),
        fields.integer("from_ms", 0) or 0,
        fields.integer("until_ms", None),
    )


def _read_residue(fields: _Fields) -> Residue:
    kind = fields.text("kind")
    if kind not in [*DomainKind]:
        raise InvalidValue(f"{fields.where}.kind", kind, "one of " + ", ".join(DomainKind))
    return Residue(
        fields.text("rule"),
        DomainKind(kind),
        fields.text("domain"),
        fields.integer("left_ms", 0) or 0,
        fields.integer("until_ms", None),
    )


class _Fields:
    """One object of the document; what was not taken at the end is not known."""

    def __init__(self, where: str, value: object) -> None:
        if not isinstance(value, dict):
            raise InvalidValue(where, value, "an object")
        self.where, self._left = where, dict(value)
        self.taken: dict[str, object] = {}

    def take(self, key: str) -> object:
        self.taken[key] = self._left.pop(key, None)
        return self.taken[key]

    def end(self) -> None:
        if self._left:
            known = ", ".join(sorted(self.taken))
            raise InvalidValue(f"{self.where}: key", min(self._left), f"one of {known}")

    def text(self, key: str, missing: str | None = None) -> str:
        value = self.take(key)
        if value is None and missing is not None:
            return missing
        return _text(f"{self.where}.{key}", value)

    def integer(self, key: str, missing: int | None) -> int | None:
        value = self.take(key)
        if value is None:
            return missing
        return check_integer(f"{self.where}.{key}", value, low=0, high=AMOUNT_MAX)

    def labels(self, key: str) -> dict[str, str]:
        where, value = f"{self.where}.{key}", self.take(key)
        if value is None:
            return {}
        if not isinstance(value, dict) or len(value) > LABELS_MAX:
            raise InvalidValue(where, value, f"an object of at most {LABELS_MAX} texts")
        return {
            _text(f"{where} key", name): _text(f"{where}.{name}", text)
            for name, text in value.items()
        }

    def numbers(self, key: str, *, most: int) -> tuple[int, ...] | None:
        value = self.take(key)
        if value is None:
            return None
        where = f"{self.where}.{key}"
        if not isinstance(value, list) or len(value) > most:
            raise InvalidValue(where, value, f"a list of at most {most} numbers")
        return tuple(check_integer(where, each, low=0, high=most - 1) for each in value)

    def each(self, key: str, read: Callable[[_Fields], T], *, most: int) -> list[T]:
        value = self.take(key)
        prefix = key if self.where == "the document" else f"{self.where}.{key}"
        if value is None:
            return []
        if not isinstance(value, list) or len(value) > most:
            raise InvalidValue(prefix, value, f"a list of at most {most}")
        found = []
        for index, item in enumerate(value):
            fields = _Fields(f"{prefix}[{index}]", item)
            found.append(read(fields))
            fields.end()
        return found


def _text(where: str, value: object) -> str:
    is_good = isinstance(value, str) and 1 <= len(value) <= TEXT_MAX and value.isprintable()
    if not isinstance(value, str) or not is_good:
        raise InvalidValue(where, value, f"1 to {TEXT_MAX} characters that can be seen")
    return value


# -- writing ---------------------------------------------------------------------------------


def spell_placements(found: PlacementFile) -> str:
    """The document of a file; what is left out is what is not known."""
    document: dict[str, object] = {"format": FORMAT}
    if found.now_ms is not None:
        document["now_ms"] = found.now_ms
    document["nodes"] = [_spell_site(site) for site in found.sites]
    document["placements"] = [_spell_work(work) for work in found.work]
    if found.residues:
        document["residues"] = [_spell_residue(each) for each in found.residues]
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _spell_site(site: Site) -> dict[str, object]:
    near = site.topology.gpu_numa
    gpus = [
        _known(fabric=fabric or None, numa=near[at] if at < len(near) else None)
        for at, fabric in enumerate(site.fabrics)
    ]
    caches = [{"cores_milli": c.cores_milli, "numa": c.numa} for c in site.topology.caches]
    labels = dict(site.labels) or None
    return _known(name=site.node, labels=labels, caches=caches or None, gpus=gpus or None)


def _spell_work(work: PlacedWork) -> dict[str, object]:
    return _known(
        id=work.id,
        tenant=work.subject.tenant,
        project=work.subject.project,
        labels=dict(work.subject.labels) or None,
        node=work.node,
        caches=None if work.caches is None else [*work.caches],
        devices=None if work.devices is None else [*work.devices],
        from_ms=work.from_ms or None,
        until_ms=work.until_ms,
    )


def _spell_residue(residue: Residue) -> dict[str, object]:
    return _known(
        rule=residue.rule,
        kind=residue.kind.value,
        domain=residue.domain,
        left_ms=residue.left_ms or None,
        until_ms=residue.until_ms,
    )


def _known(**fields: object) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}
