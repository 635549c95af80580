"""What the platform says of a shared runtime, as far as Slurm has to know it: plain values.

Rules:

- What is attached, given and allowed comes from the runtime's own view, and from nowhere else.
- A person is a platform identity with one Unix user. Who is in which project is what the platform
  says; a project does not say it of itself.
- A node is a project's own or, without a project, reserved by the tenant. Its domains are the
  fabrics that its GPUs are on, its rack, its segment and its region.
- Which projects may not meet in a domain is said by the isolation policy, two by two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.shared import AttachmentPhase, ContributionPhase
from bailiwick.wire.shared import SharedRuntimeView, SubmitRight

MAIN: Final = "main"
"""The queue that a project has if nothing else was said."""
PROBE_ACCOUNT: Final = "bailiwick.probe"
"""Of the jobs by which workers are proved; no project's."""
_WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}\Z")
_QUEUE: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}\Z")
_KEY_FILE: Final = re.compile(r"[A-Za-z0-9@/._-]{1,120}\Z")

Domain: TypeAlias = tuple[str, str]
"""A kind of what machines share, and the name of one: ``("rack", "r7")``."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whom the platform knows, and what Unix calls him."""

    identity: str
    user: str
    projects: frozenset[str]


@dataclass(frozen=True, slots=True)
class SharedNode:
    """A worker of the runtime by its name in Slurm."""

    name: str
    project: str | None = None
    """Who contributed it; none: the tenant reserves it."""
    domains: frozenset[Domain] = frozenset()
    """What it shares with other machines: a fabric, a rack."""

    def __post_init__(self) -> None:
        if not _WORD.match(self.name):
            raise InvalidValue("node", self.name, f"text like {_WORD.pattern}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedTerms:
    """What the tenant chose for the runtime."""

    queues: tuple[str, ...] = (MAIN,)
    """The queues that every project has; the first is where a job goes that names none."""
    reserved_for: frozenset[str] = frozenset()
    """The projects that may use what the tenant reserves, beside their own."""
    kinds: tuple[str, ...] = ()
    """The kinds of GPU that the runtime has."""
    own_limits: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Limits of a project in its own queues, by the words of policies."""
    apart: frozenset[tuple[str, frozenset[str]]] = frozenset()
    """Kinds of domain, each with a pair of projects that may not meet in one."""
    users_kept: frozenset[str] = frozenset(("root", "slurm", "munge"))
    """Unix users that are the daemons' own, and nobody else's."""
    min_job_age_s: int = 60
    """For how long a job that has ended is still known, and could be requeued."""
    jwt_key: str | None = None
    """The file that signs tokens; without one there are none."""

    def __post_init__(self) -> None:
        if not self.queues or len({*self.queues}) != len(self.queues):
            raise InvalidValue("queues", self.queues, "at least one, and each once")
        for queue in self.queues:
            if not _QUEUE.match(queue):
                raise InvalidValue("queue", queue, f"text like {_QUEUE.pattern}")
        for _, pair in self.apart:
            if len(pair) != 2:
                raise InvalidValue("apart", sorted(pair), "two projects")
        if not 2 <= self.min_job_age_s <= 3_600:
            raise InvalidValue("min_job_age_s", self.min_job_age_s, "2 to 3600")
        if self.jwt_key is not None and not _KEY_FILE.match(self.jwt_key):
            raise InvalidValue("jwt_key", self.jwt_key, f"text like {_KEY_FILE.pattern}")

    def may_meet(self, project: str, others: Iterable[str], *, kind: str) -> bool:
        """Whether a project may be in a domain of a kind where others are."""
        return all((kind, frozenset((project, each))) not in self.apart for each in others)


@dataclass(frozen=True, slots=True)
class SharedMapping:
    """A runtime: who has a part in it, who may submit where, and what there is to run on."""

    attached: frozenset[str]
    rights: tuple[SubmitRight, ...]
    nodes: tuple[SharedNode, ...]
    people: tuple[Person, ...]

    def __post_init__(self) -> None:
        names = [node.name for node in self.nodes]
        if len({*names}) != len(names):
            raise InvalidValue("nodes", names, "each node once")


def read_mapping(
    view: SharedRuntimeView, *, nodes: Iterable[SharedNode], people: Iterable[Person]
) -> SharedMapping:
    """What counts of a runtime's view; of one that is leaving, nothing.

    ``nodes`` are those in Slurm, whose names are the workers' component keys. Whose each one is
    follows from the view, whatever ``nodes`` says: one that the view does not name is reserved.
    """
    attached = {each.project for each in view.attachments if each.phase is AttachmentPhase.ATTACHED}
    owners = {
        each.component_key: each.project
        for each in view.workers
        if each.phase is not ContributionPhase.ENDED
    }
    ended = {each.component_key for each in view.workers} - {*owners}
    if view.runtime.is_leaving:
        attached = set()
    return SharedMapping(
        frozenset(attached),
        tuple(view.submit_rights) if attached else (),
        tuple(
            SharedNode(node.name, owners.get(node.name), node.domains)
            for node in sorted(nodes, key=lambda each: each.name)
            if node.name not in ended
        ),
        tuple(people),
    )


def read_parted(view: SharedRuntimeView) -> frozenset[tuple[str, frozenset[str]]]:
    """The kinds of domain that pairs of projects may not share, as the platform says."""
    return frozenset(
        (str(kind), frozenset(each.projects)) for each in view.parted for kind in each.kinds
    )
