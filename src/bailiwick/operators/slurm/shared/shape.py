"""What Slurm shall be for a shared runtime: accounts, queues, limits, and who may use which.

Rules:

- Denied by default. There is one account for each attached project, one partition for each of its
  queues, and none that all have in common.
- The account of a job is the project that the work is of, and the partition is whose machines it
  runs on. So a guest runs in his own account, in another project's partition: what is kept apart by
  account is kept apart for guests too, and who used what needs no guessing.
- An association names user, account and partition. There is one exactly where the platform says
  that this person, for this project, may submit to that queue.
- Each policy has limits of its own, which all that it lets in have together.
- A node is in the partitions of the project that contributed it; a reserved one in those of the
  projects that the tenant lets have it.
- In one domain (a fabric, a rack) are only projects that may meet there. Who contributed a node
  comes first, then who shares what is reserved, then guests. What would bring together who may not
  meet is left out.
- What cannot be rendered is left out and told, with the reason: the rest goes on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bailiwick.operators.slurm.shared.limits import QueueLimits
from bailiwick.operators.slurm.shared.mapping import (
    PROBE_ACCOUNT,
    Domain,
    Person,
    SharedMapping,
    SharedNode,
    SharedTerms,
)
from bailiwick.wire.shared import SubmitRight

_ACCOUNT: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}\Z")
_USER: Final = re.compile(r"[a-z_][a-z0-9_-]{0,31}\Z")
_IDENTITY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,127}\Z")
_KEPT_ACCOUNTS: Final = frozenset(("root", PROBE_ACCOUNT))
_NOTHING: Final = QueueLimits(jobs=0, submitted=0)
JOIN: Final = "+"
"""Between the parts of a name; no name of the platform has it."""


class Unrenderable(StrEnum):
    """Why something is not in Slurm though the platform has it."""

    ACCOUNT_NAME = "account_name"
    """Slurm has no such account: small letters and digits, and not one of its own."""
    USER_NAME = "user_name"
    """No Unix user that could be somebody's own."""
    USER_TAKEN = "user_taken"
    """Two people with one Unix user: whose a job was could not be told."""
    QUEUE_UNKNOWN = "queue_unknown"
    LIMIT_UNKNOWN = "limit_unknown"
    MAY_NOT_MEET = "may_not_meet"
    """The isolation policy keeps apart who would share a fabric, or a place of machines."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is not in Slurm, and why."""

    what: str
    name: str
    why: Unrenderable


@dataclass(frozen=True, slots=True)
class Qos:
    """Limits under a name."""

    name: str
    limits: QueueLimits


@dataclass(frozen=True, slots=True)
class Partition:
    """A queue of a project, and whose jobs run in it."""

    name: str
    project: str
    accounts: tuple[str, ...]
    qos: tuple[str, ...]
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QueueGrant:
    """That a person, for a project, may submit to a queue."""

    user: str
    account: str
    partition: str
    qos: str
    until_s: int
    """Since the epoch; 0: for as long as both are attached."""
    identity: str
    policy: str | None = None
    """None: the queue is of the person's own project."""

    @property
    def key(self) -> tuple[str, str, str]:
        """By what it is known: user, account, partition."""
        return self.user, self.account, self.partition


@dataclass(frozen=True, slots=True)
class SlurmShape:
    """All that Slurm shall be."""

    accounts: tuple[str, ...]
    qos: tuple[Qos, ...]
    partitions: tuple[Partition, ...]
    grants: tuple[QueueGrant, ...]
    left_out: tuple[LeftOut, ...]
    next_change_ms: int | None
    """When a policy ends next, and with it this shape."""


def partition_of(project: str, queue: str, *, terms: SharedTerms) -> str:
    """The partition of a queue: the first of a project has the project's name."""
    return project if queue == terms.queues[0] else f"{project}{JOIN}{queue}"


def plan_shape(mapping: SharedMapping, terms: SharedTerms, *, now_ms: int) -> SlurmShape:
    """What Slurm shall be now."""
    return _Planner(mapping, terms, now_ms).plan()


class _Planner:
    """One shape in the making."""

    def __init__(self, mapping: SharedMapping, terms: SharedTerms, now_ms: int) -> None:
        self._mapping, self._terms, self._now_ms = mapping, terms, now_ms
        self._left_out: list[LeftOut] = []
        self._within: dict[Domain, set[str]] = {}
        self._nodes: dict[str, list[SharedNode]] = {}
        self._qos: dict[str, Qos] = {}

    def plan(self) -> SlurmShape:
        projects = [each for each in sorted(self._mapping.attached) if self._is_account(each)]
        people = self._people()
        self._share_nodes(projects)
        grants = {each.key: each for each in self._own(projects, people)}
        rights = [*self._rights(projects)]
        for right in rights:
            for grant in self._guests(right, projects, people):
                grants.setdefault(grant.key, grant)  # the first is the one that lasts longest
        used = {each.qos for each in grants.values()} | {own_qos(each) for each in projects}
        return SlurmShape(
            tuple(projects),
            tuple(self._qos[name] for name in sorted({*self._qos} & used)),
            tuple(self._partitions(projects, [*grants.values()])),
            tuple(grants[key] for key in sorted(grants)),
            tuple(dict.fromkeys(self._left_out)),
            min((each.until_ms or 0 for each in rights), default=None),
        )

    def _leave_out(self, what: str, name: str, *, why: Unrenderable) -> None:
        self._left_out.append(LeftOut(what, name, why))

    def _is_account(self, project: str) -> bool:
        is_one = bool(_ACCOUNT.match(project)) and project not in _KEPT_ACCOUNTS
        if not is_one:
            self._leave_out("project", project, why=Unrenderable.ACCOUNT_NAME)
        return is_one

    def _people(self) -> list[Person]:
        users = Counter(each.user for each in self._mapping.people)
        identities = Counter(each.identity for each in self._mapping.people)
        found = []
        for each in self._mapping.people:
            is_word = bool(_USER.match(each.user) and _IDENTITY.match(each.identity))
            if not is_word or each.user in self._terms.users_kept:
                self._leave_out("person", each.identity, why=Unrenderable.USER_NAME)
            elif users[each.user] > 1 or identities[each.identity] > 1:
                self._leave_out("person", each.identity, why=Unrenderable.USER_TAKEN)
            else:
                found.append(each)
        return found

    # -- nodes -------------------------------------------------------------------------------

    def _share_nodes(self, projects: list[str]) -> None:
        self._nodes = {each: [] for each in projects}
        contributed = [each for each in self._mapping.nodes if each.project in self._nodes]
        for node in sorted(contributed, key=lambda each: (str(each.project), each.name)):
            if not self._give(node, str(node.project)):
                self._leave_out("node", node.name, why=Unrenderable.MAY_NOT_MEET)
        sharers = [each for each in projects if each in self._terms.reserved_for]
        had: Counter[str] = Counter()
        for node in self._mapping.nodes:
            if node.project is not None:
                continue
            for project in sorted(sharers, key=lambda each: (had[each], each)):
                had[project] += self._give(node, project)

    def _give(self, node: SharedNode, project: str) -> bool:
        """Let a project have a node, unless that brings it together with whom it may not meet."""
        if not self._may_enter(project, [node]):
            return False
        self._enter(project, [node])
        self._nodes[project].append(node)
        return True

    def _may_enter(self, project: str, nodes: Iterable[SharedNode]) -> bool:
        domains = {domain for node in nodes for domain in node.domains}
        return all(
            self._terms.may_meet(project, self._within.get(each, ()), kind=each[0])
            for each in domains
        )

    def _enter(self, project: str, nodes: Iterable[SharedNode]) -> None:
        for node in nodes:
            for domain in node.domains:
                self._within.setdefault(domain, set()).add(project)

    # -- who may submit where ----------------------------------------------------------------

    def _own(self, projects: list[str], people: list[Person]) -> Iterator[QueueGrant]:
        for project in projects:
            words = self._terms.own_limits.get(project, {})
            limits = QueueLimits.parse(words, kinds=self._terms.kinds)
            qos = self._qos[own_qos(project)] = Qos(own_qos(project), limits or _NOTHING)
            if limits is None:
                self._leave_out("project", project, why=Unrenderable.LIMIT_UNKNOWN)
                continue
            his = [each for each in people if project in each.projects]
            for queue in self._terms.queues:
                where = partition_of(project, queue, terms=self._terms)
                for person in his:
                    who = person.user, project, where, qos.name
                    yield QueueGrant(*who, 0, person.identity)

    def _rights(self, projects: list[str]) -> Iterator[SubmitRight]:
        """The policies in force, those first that last longest."""
        rights = [each for each in self._mapping.rights if each.policy is not None]
        in_order = sorted(rights, key=lambda r: (-(r.until_ms or 0), r.policy or "", r.owner))
        for right in in_order:
            name = f"{right.owner}/{right.policy}"
            if right.owner not in projects or (right.until_ms or 0) <= self._now_ms:
                continue
            if right.project is not None and right.project not in projects:
                continue
            if right.queue not in self._terms.queues:
                self._leave_out("policy", name, why=Unrenderable.QUEUE_UNKNOWN)
            elif not _ACCOUNT.match(right.policy or ""):
                self._leave_out("policy", name, why=Unrenderable.ACCOUNT_NAME)
            elif QueueLimits.parse(right.limits, kinds=self._terms.kinds) is None:
                self._leave_out("policy", name, why=Unrenderable.LIMIT_UNKNOWN)
            else:
                yield right

    def _guests(
        self, right: SubmitRight, projects: list[str], people: list[Person]
    ) -> Iterator[QueueGrant]:
        policy, queue, until_ms = right.policy or "", right.queue or "", right.until_ms or 0
        limits = QueueLimits.parse(right.limits, kinds=self._terms.kinds) or QueueLimits()
        nodes = self._nodes[right.owner]
        for person in people:
            for project in sorted(person.projects & {*projects}):
                is_his = person.identity == right.person or project == right.project
                if project == right.owner or not is_his:
                    continue
                if not self._may_enter(project, nodes):
                    name = f"{right.owner}/{policy}"
                    self._leave_out("policy", name, why=Unrenderable.MAY_NOT_MEET)
                    continue
                self._enter(project, nodes)
                qos = self._qos[guest_qos(right.owner, policy)] = Qos(
                    guest_qos(right.owner, policy), limits
                )
                where = partition_of(right.owner, queue, terms=self._terms)
                who = person.user, project, where, qos.name
                # 0 would be no end at all.
                yield QueueGrant(*who, max(1, until_ms // 1_000), person.identity, policy)

    def _partitions(self, projects: list[str], grants: list[QueueGrant]) -> Iterator[Partition]:
        for project in projects:
            for queue in self._terms.queues:
                name = partition_of(project, queue, terms=self._terms)
                here = [each for each in grants if each.partition == name]
                yield Partition(
                    name,
                    project,
                    tuple(sorted({project, *(each.account for each in here)})),
                    tuple(sorted({own_qos(project), *(each.qos for each in here)})),
                    tuple(sorted(node.name for node in self._nodes[project])),
                )


def own_qos(project: str) -> str:
    """The limits of a project in its own queues."""
    return f"own{JOIN}{project}"


def guest_qos(owner: str, policy: str) -> str:
    """The limits of whom a policy of a project lets in."""
    return f"guest{JOIN}{owner}{JOIN}{policy}"
