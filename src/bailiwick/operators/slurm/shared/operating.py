"""What the operator does for a shared runtime, beyond what it does for a cluster of one project.

Rules:

- Who has a part, who may submit and whose each worker is comes from the runtime's view at every
  look; nothing of it is kept.
- First what has no part any more is ended: nothing more is taken for it, its jobs are cancelled and
  waited for. Then members are told, then who has a part is let in, and what has none is removed.
- Jobs of an account that has no part are cancelled at every look, and those of one that comes back
  before it is let in: Slurm would requeue a job that it still knows.
- Before the key of the cluster goes to a member that has not got it, that is sealed.
- Only when nothing of a project is left in Slurm is it said to be detached.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from bailiwick.operators.kit import Kit
from bailiwick.operators.slurm.questions import MemberAway, MemberTalk
from bailiwick.operators.slurm.reconciling import SlurmOperator
from bailiwick.operators.slurm.scene import Scene
from bailiwick.operators.slurm.seeing import MemberAtWork
from bailiwick.operators.slurm.shared.books import AccountingBooks, books_of, difference
from bailiwick.operators.slurm.shared.books_reading import (
    ASSOCIATIONS,
    COORDINATORS,
    LIMITS,
    USERS,
    BooksPrinted,
    read_books,
)
from bailiwick.operators.slurm.shared.findings import (
    ENDED,
    RUNNING,
    meetings,
    nobodys,
    parse_running,
)
from bailiwick.operators.slurm.shared.mapping import (
    PROBE_ACCOUNT,
    Domain,
    SharedMapping,
    SharedNode,
    SharedTerms,
    read_mapping,
    read_parted,
)
from bailiwick.operators.slurm.shared.part import SharedPart, with_probe
from bailiwick.operators.slurm.shared.people import PROBE, people_of, users_of
from bailiwick.operators.slurm.shared.plans import (
    AwaitNone,
    Call,
    PlanStep,
    plan_end_jobs,
    plan_end_of_grant,
)
from bailiwick.operators.slurm.shared.shape import QueueGrant, partition_of, plan_shape
from bailiwick.operators.slurm.shared.telling import SharedUseTeller
from bailiwick.operators.slurm.wanted import CONTROLLER, WORKER, Cluster, ClusterWish
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.shared import AttachmentPhase, ContributionPhase
from bailiwick.vocab.values import MILLI
from bailiwick.vocab.words import DomainKind
from bailiwick.wire.instances import Instance
from bailiwick.wire.shared import SharedRuntimeView

KEY: Final = "munge-key"
_AGAIN_S: Final = 5.0
_RUN_S: Final = 60
_EVERYBODY: Final = "*"
_JOBS: Final = ("squeue", "-hr", "-o", "%a")

_KEPT_S: Final = 3_600
"""For so long a job that is nobody's is told."""
_LATE_S: Final = 120
"""By so much the accounting may be late."""
_MOST: Final = 80_000
"""Characters of an answer: of more jobs, the first are looked at."""
_NAMED_MAX: Final = 3
_PLACES: Final = frozenset((DomainKind.RACK, DomainKind.SEGMENT, DomainKind.REGION))
"""Which are labels of a machine."""


class SharedSlurmOperator(SlurmOperator):
    """Looks after the cluster of one shared runtime."""

    _closed: float = float("-inf")
    """When a part ended, or when this operator began: it knows of none before."""
    _audited: float = float("-inf")
    _nobodys: Mapping[str, tuple[float, str]] = MappingProxyType({})
    """When jobs were found that are nobody's, and why."""

    @cached_property
    def _use(self) -> SharedUseTeller:
        return SharedUseTeller(now=self._now)

    def _scene(self, instance: Instance, kit: Kit) -> Scene:
        talk = MemberTalk(kit, self._programs, self._pool, is_shared=True)
        return Scene.of(instance, kit, talk=talk, view=kit.runtime())

    def _shaped(
        self, scene: Scene, cluster: Cluster, *, seen: Mapping[str, MemberAtWork]
    ) -> Cluster:
        assert scene.view is not None  # as this operator's scenes are
        mapping = mapping_of(scene, cluster, seen=seen)
        terms = terms_of(cluster, scene.view, attached=mapping.attached)
        shape = plan_shape(mapping, terms, now_ms=int(self._now() * 1_000))
        for each in shape.left_out:
            what = f"{each.what} {each.name}"
            scene.kit.log.info("is left out", what=what, reason=each.why.value)
        shape = with_probe(shape, mapping)
        part = SharedPart(shape, terms, users_of(mapping.people), mapping.nodes)
        self._use.owners.see(owners_of(scene, mapping, seen=seen), now_s=int(self._now()))
        new = [key for key in scene.running if scene.noted(key) is None]
        if new:
            scene.kit.note_use(KEY, "apply")
        return replace(cluster, shared=part)

    def _wanted(self, scene: Scene) -> int:
        assert scene.view is not None
        given = [each for each in scene.view.workers if each.phase is ContributionPhase.CONTRIBUTED]
        return scene.instance.counts.get(WORKER, 0) + len({each.component_key for each in given})

    # -- what ends ---------------------------------------------------------------------------

    def _close(self, scene: Scene, cluster: Cluster) -> None:
        if CONTROLLER not in scene.notes.members:
            return  # it has not begun: there is nothing to end
        assert cluster.shared is not None
        part, kill_wait_s = cluster.shared, cluster.wish.kill_wait_s
        found, wanted = self._books(scene), books_of(part.shape)
        for account in sorted(found.accounts.keys() - wanted.accounts.keys()):
            queues = [partition_of(account, each, terms=part.terms) for each in part.terms.queues]
            known = {where for _, _, where in found.associations}
            here = [queue for queue in queues if queue in known]
            self._do(scene, plan_end_jobs(account, partitions=here, kill_wait_s=kill_wait_s))
            self._closed = time.monotonic()
            scene.kit.log.info("has no jobs any more", what=f"project {account}")
        for user, account, where in sorted(found.associations.keys() - wanted.associations.keys()):
            if account in wanted.accounts and where:
                grant = QueueGrant(user, account, where, "", 0, "")
                steps = plan_end_of_grant(
                    grant, kill_wait_s=kill_wait_s, min_job_age_s=part.terms.min_job_age_s
                )
                self._do(scene, steps[:3])
                self._closed = time.monotonic()

    def _do(self, scene: Scene, steps: Iterable[PlanStep]) -> None:
        for step in steps:
            match step:
                case Call(words):
                    run_all(scene, [words])
                case AwaitNone(words, within_s):
                    left = scene.ask_controller(do="await_none", argv=words, wait_s=within_s)
                    if left["code"] or left["out"].split():
                        raise MemberAway(f"jobs do not end: {left['out'].split()[:5]}")
                case _:
                    raise AssertionError(f"no step of such a plan: {step}")

    # -- what begins -------------------------------------------------------------------------

    def _open(self, scene: Scene, cluster: Cluster) -> None:
        assert cluster.shared is not None
        self._await_controller(scene)
        wanted = books_of(cluster.shared.shape)
        found = self._books(scene)
        jobs = {*run_all(scene, [_JOBS])[0].split()}
        # Of who has no part, and of who just comes back.
        strays = jobs - {*wanted.accounts} | (jobs - {*found.accounts})
        cancels = [("scancel", "--quiet", f"--account={each}") for each in sorted(strays)]
        calls = [*cancels, *difference(found, wanted)]
        if calls:
            run_all(scene, calls)
            scene.kit.log.info("has other books", calls=len(calls))
        self._finish(scene)

    def _await_controller(self, scene: Scene) -> None:
        state = scene.ask_controller(do="wait", wait_s=_RUN_S)
        if not state["is_up"]:
            told = [f"{name}: {each['told']}" for name, each in state["daemons"].items()]
            raise MemberAway(f"the controller is not up: {'; '.join(told)}")

    def _finish(self, scene: Scene) -> None:
        """Say of whom nothing is left; the books were just made so."""
        assert scene.view is not None
        giving = {each.project for each in scene.view.workers}
        for each in scene.view.attachments:
            if each.phase is AttachmentPhase.DETACHING and each.project not in giving:
                scene.kit.finish_detachment(each.project)

    def _books(self, scene: Scene) -> AccountingBooks:
        return read_books(
            BooksPrinted(*run_all(scene, [ASSOCIATIONS, LIMITS, USERS, COORDINATORS]))
        )

    def _tell(self, scene: Scene, *, is_last: bool = False) -> None:
        """Whose jobs ran on whose workers; of the runtime as a whole nothing is told besides."""
        self._use.tell(scene, is_last=is_last)

    # -- what should not be ------------------------------------------------------------------

    def _audit(self, scene: Scene, cluster: Cluster) -> str:
        """Say who met whom he may not, and which jobs of the last hour are nobody's."""
        assert cluster.shared is not None
        part, now = cluster.shared, time.monotonic()
        since_s = int(min(_KEPT_S, now - self._audited + _LATE_S))
        asked = [RUNNING, (*ENDED, "-S", f"now-{since_s}seconds")]
        running, ended = (_whole_lines(each) for each in run_all(scene, asked, most=_MOST))
        try:
            met = meetings(parse_running(running), part.nodes, terms=part.terms)
            lost = nobodys(ended, but=PROBE_ACCOUNT)
        except InvalidValue as error:
            scene.kit.log.info("could not be audited", reason=str(error))
            return "; could not be audited"
        self._audited = now
        known = {**self._nobodys, **{each.job_id: (now, str(each.reason)) for each in lost}}
        self._nobodys = {job: at for job, at in known.items() if now - at[0] < _KEPT_S}
        found = [str(each) for each in met]
        found += [f"job {job} is nobody's ({why})" for job, (_, why) in self._nobodys.items()]
        for each in found[:_NAMED_MAX]:
            scene.kit.log.info("should not be", what=each)
        more = f"; and {len(found) - _NAMED_MAX} more" if len(found) > _NAMED_MAX else ""
        return "".join(f"; {each}" for each in found[:_NAMED_MAX]) + more

    # -- when --------------------------------------------------------------------------------

    def _rest(self, scene: Scene) -> float:
        """Sooner where a policy ends, and while a job that has ended could still come back."""
        usual = super()._rest(scene)
        age_s = ClusterWish.parse(scene.notes.parameters).min_job_age_s
        if time.monotonic() < self._closed + age_s:
            usual = min(usual, _AGAIN_S)
        assert scene.view is not None
        ends = [each.until_ms for each in scene.view.submit_rights if each.until_ms is not None]
        soonest = min(ends, default=2**53) / 1_000 - self._now()
        return max(0.5, min(usual, soonest))


def mapping_of(
    scene: Scene, cluster: Cluster, *, seen: Mapping[str, MemberAtWork]
) -> SharedMapping:
    """What the platform says, with nodes by their names in Slurm."""
    assert scene.view is not None
    keys = {worker.key: scene.running[worker.key].component_key for worker in cluster.workers}
    nodes = [SharedNode(keys[name], None, _domains(seen[name])) for name in keys]
    mapping = read_mapping(scene.view, nodes=nodes, people=people_of(scene.view.people))
    names = {key: name for name, key in keys.items()}
    named = tuple(replace(each, name=names[each.name]) for each in mapping.nodes)
    return replace(mapping, nodes=tuple(sorted(named, key=lambda each: each.name)))


def owners_of(
    scene: Scene, mapping: SharedMapping, *, seen: Mapping[str, MemberAtWork]
) -> dict[str, tuple[str, int]]:
    """Whose lease each worker has, and since which second; what is reserved is the owner's."""
    assert scene.view is not None
    reserved = scene.view.runtime.owner_project
    return {
        node.name: (node.project or reserved, seen[node.name].lease.granted_ms // MILLI)
        for node in mapping.nodes
    }


def _whole_lines(text: str) -> str:
    """All of an answer, but for a last line that was cut."""
    return text if len(text) < _MOST else text[: text.rfind("\n") + 1]


def _domains(member: MemberAtWork) -> frozenset[Domain]:
    """The fabrics of its devices, and the places of its machine; its host is no other account's."""
    fabrics = (member.node.gpus[index].fabric for index in member.lease.devices)
    labels = (label.partition("=")[::2] for label in member.node.labels)
    places = {(key, name) for key, name in labels if key in _PLACES and name}
    return frozenset({(DomainKind.FABRIC.value, each) for each in fabrics if each} | places)


def terms_of(cluster: Cluster, view: SharedRuntimeView, *, attached: frozenset[str]) -> SharedTerms:
    """What the tenant chose, from the parameters of the runtime, and whom the platform parts."""
    wish = cluster.wish
    named = frozenset(each for each in wish.reserved_for.split(",") if each)
    kinds = {gpu.kind for worker in cluster.workers for gpu in worker.gpus}
    return SharedTerms(
        queues=tuple(wish.queues.split(",")),
        reserved_for=attached if _EVERYBODY in named else named,
        kinds=tuple(sorted(kinds)),
        apart=read_parted(view),
        users_kept=frozenset(("root", "slurm", "munge", PROBE.name, cluster.user)),
        min_job_age_s=wish.min_job_age_s,
    )


def run_all(scene: Scene, calls: Iterable[tuple[str, ...]], **more: int) -> list[str]:
    """What programs of Slurm print in the controller, one after the other."""
    argvs = [list(words) for words in calls]
    told: dict[str, Any] = scene.ask_controller(do="slurm_all", argvs=argvs, wait_s=_RUN_S, **more)
    last = told["ran"][-1]
    if last["code"]:
        words = " ".join(argvs[len(told["ran"]) - 1])
        raise MemberAway(f"{words} ended with {last['code']}: {last['err'].strip()[-200:]}")
    return [str(each["out"]) for each in told["ran"]]
