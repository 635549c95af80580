"""Ray's operator: it brings members together, tells whether the cluster is well, and scales it.

Rules:

- Members learn what they need through the platform (``kit.run_inside``): their program, where the
  head is, and the cluster's token. The token is written down nowhere by the operator.
- The cluster is asked from inside its head, through the platform as well: the operator speaks to
  the control plane and to nobody else.
- Whoever is in the cluster already is told nothing again: an operator that was killed goes on from
  what the cluster says.
- An instance counts as seen to once every worker that runs is in the cluster; one that was and is
  not any more is degraded.
- A worker that drains takes no more work, and goes when it has none.
- What the cluster says is judged before it is believed, and moves the counts within the bounds of
  the instance's own parameters alone.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, assert_never

from bailiwick.client import Refusal
from bailiwick.operators.kit import Again, Answer, Kit, RanInside, Settled
from bailiwick.operators.kit.packing import DELIVER, pack
from bailiwick.operators.ray.autoscale import (
    ClusterSeen,
    Grow,
    ScaleBounds,
    ScaleDecision,
    ScaledWorker,
    ScaleMemory,
    Shrink,
    StaySize,
    decide,
)
from bailiwick.operators.ray.load_report import LoadReport, Unclear, parse_load
from bailiwick.operators.ray.member.rendering import BadOrder, ClusterDoor, parse_cluster
from bailiwick.vocab.apps import InstancePhase, MemberPhase
from bailiwick.wire.instances import Instance, InstanceMember

HEAD, WORKER = "head", "worker"
SOON_S: Final = 1.0
REST_S, LOOK_S = 30.0, 5.0
"""How often a cluster is looked at, each time sealed: at rest, and at most."""
DRAIN_S_MAX: Final = 3_600
_LIVE: Final = (MemberPhase.REQUESTED, MemberPhase.JOINING, MemberPhase.READY)


def pack_member() -> bytes:
    """What members run."""
    return pack(Path(__file__).parent / "member")


class NotYet(Exception):
    """Why the cluster is not well yet, or not any more."""


@dataclass
class KnownCluster:
    """What is remembered of one instance; none of it is needed to go on."""

    cluster: ClusterDoor | None = None
    delivered: set[int] = field(default_factory=set)
    """Which members were given their program."""
    told: dict[int, int] = field(default_factory=dict)
    """Which members were told which head."""
    drained: set[int] = field(default_factory=set)
    memory: ScaleMemory = field(default_factory=ScaleMemory)


class RayOperator:
    """Looks after the clusters of one project; called by several threads, one for an instance."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._program = pack_member()
        self._known: dict[int, KnownCluster] = {}

    def reconcile(self, instance: Instance, kit: Kit) -> Answer:
        """Look after one instance."""
        if kit.is_leaving:
            self._known.pop(instance.instance_id, None)
            kit.report(reason="nothing is left to put away")
            return Settled()
        known = self._known.setdefault(instance.instance_id, KnownCluster())
        try:
            cluster = self._find_cluster(kit, known)
            load = self._load(kit, cluster)
            self._tell_workers(kit, known, cluster=cluster, load=load)
        except NotYet as not_yet:
            _tell(kit, str(not_yet), is_well=False)
            return Again(SOON_S if known.cluster is None else LOOK_S)
        self._let_go(kit, known, load=load)
        decision = self._scale(instance, kit, known=known, load=load)
        if not isinstance(decision, StaySize):
            return Again(SOON_S)
        missing = [
            each.component_key
            for each in kit.members
            if each.phase in _LIVE and each.role == WORKER and each.member_id not in load.members
        ]
        if missing:
            _tell(kit, f"not in the cluster: {', '.join(missing)[:150]}", is_well=False)
            return Again(LOOK_S)
        unfit = f"; {decision.unfit} wait that fit on no worker" if decision.unfit else ""
        workers = sum(each.role == WORKER and each.phase in _LIVE for each in kit.members)
        _tell(kit, f"{workers} workers; jobs at {cluster.dashboard}{unfit}", is_well=True)
        return Again(look_s(bounds_of(instance.parameters)))

    # -- bringing members together -----------------------------------------------------------

    def _find_cluster(self, kit: Kit, known: KnownCluster) -> ClusterDoor:
        """Where the cluster of the head that runs is; its head is asked once."""
        heads = [e for e in kit.members if e.phase is MemberPhase.READY and e.role == HEAD]
        if not heads:
            raise NotYet("the head does not run")
        head = heads[-1]
        if known.cluster is None or known.cluster.head_id != head.member_id:
            known.memory, known.cluster = ScaleMemory(), None
            ran = self._ask_new(kit, known, member=head, words=("facts",))
            try:
                found = parse_cluster(json.loads(ran.stdout))
            except (BadOrder, ValueError) as error:
                raise NotYet(f"the head does not say where it is: {error}") from None
            if found.head_id != head.member_id:
                raise NotYet("the head speaks for another member")
            known.cluster = found
        return known.cluster

    def _tell_workers(
        self, kit: Kit, known: KnownCluster, *, cluster: ClusterDoor, load: LoadReport
    ) -> None:
        """Have those join that are not in the cluster and were not told where it is."""
        order = json.dumps(cluster.plain()).encode()
        not_yet: NotYet | None = None
        for each in kit.members:
            is_in = each.member_id in load.members
            is_told = known.told.get(each.member_id) == cluster.head_id
            if each.role != WORKER or each.phase is not MemberPhase.READY or is_in or is_told:
                continue
            try:
                self._ask_new(kit, known, member=each, words=("join",), given=order)
                known.told[each.member_id] = cluster.head_id
            except NotYet as error:
                not_yet = error  # the others are told all the same
        if not_yet is not None:
            raise not_yet

    def _ask_new(
        self,
        kit: Kit,
        known: KnownCluster,
        *,
        member: InstanceMember,
        words: tuple[str, ...],
        given: bytes = b"",
    ) -> RanInside:
        """Ask a member that may have no program yet; then it is given it."""
        ran = self._ask(kit, member, *words, given=given)
        if ran.is_well:
            return ran
        if member.member_id not in known.delivered:
            done = _inside(kit, member, DELIVER, given=self._program)
            if not done.is_well:
                raise NotYet(f"{member.component_key} does not take its program: {done.why}")
            known.delivered.add(member.member_id)
        raise NotYet(f"{member.component_key} is not up: {ran.why}")

    def _ask(self, kit: Kit, member: InstanceMember, *words: str, given: bytes = b"") -> RanInside:
        return _inside(kit, member, ("/bin/sh", "member.sh", *words), given=given)

    # -- what the cluster says ---------------------------------------------------------------

    def _load(self, kit: Kit, cluster: ClusterDoor) -> LoadReport:
        try:
            head = [e for e in kit.members if e.member_id == cluster.head_id]
            ran = self._ask(kit, head[0], "load")
            if not ran.is_well:
                raise NotYet(f"the cluster does not answer: {ran.why}")
            return parse_load(json.loads(ran.stdout))
        except (ValueError, Unclear) as error:
            raise NotYet(f"the cluster does not answer: {error}") from None

    # -- workers that go ---------------------------------------------------------------------

    def _let_go(self, kit: Kit, known: KnownCluster, *, load: LoadReport) -> None:
        """Have those that drain do nothing more, and go once they have nothing to do."""
        newest = {each.component_key: each.member_id for each in kit.members}
        for each in list(kit.members):
            is_leaving = each.phase is MemberPhase.DRAINING and each.role == WORKER
            if not is_leaving or newest[each.component_key] != each.member_id:
                continue  # of one that was replaced the platform sees the end
            found = load.members.get(each.member_id)
            if found is None or not found.is_busy:
                kit.remove(each.component_key)
            elif each.member_id not in known.drained:
                known.drained.add(each.member_id)
                self._ask(kit, each, "drain", str(_left_s(each)))

    # -- how many there are ------------------------------------------------------------------

    def _scale(
        self, instance: Instance, kit: Kit, *, known: KnownCluster, load: LoadReport
    ) -> ScaleDecision:
        bounds = bounds_of(instance.parameters)
        if bounds is None or instance.is_paused:
            return StaySize()
        seen = ClusterSeen(
            tuple(
                _state_of(each, load)
                for each in kit.members
                if each.role == WORKER and each.phase in _LIVE
            ),
            load.demand,
        )
        known.memory, decision = decide(known.memory, seen, bounds=bounds, now_s=self._clock())
        match decision:
            case StaySize():
                return decision
            case Grow(count):
                names = new_keys([each.component_key for each in kit.members], count)
                return _tried(kit, decision, [(kit.add, (WORKER, name)) for name in names])
            case Shrink(keys):
                return _tried(kit, decision, [(kit.drain, (key,)) for key in keys])
            case _:
                assert_never(decision)


def _tried(
    kit: Kit, decision: ScaleDecision, calls: list[tuple[Callable[..., Any], tuple[str, ...]]]
) -> ScaleDecision:
    """Do them; what the platform refuses (a bound of the manifest, a quota) stays as it is."""
    for call, words in calls:
        try:
            call(*words)
        except Refusal as refusal:
            kit.log.info("not scaled", words=" ".join(words), why=str(refusal)[:200])
            return StaySize()
    return decision


def bounds_of(parameters: Mapping[str, Any]) -> ScaleBounds | None:
    """Within what an instance scales by itself; ``None``: it does not."""
    told = parameters.get("autoscale")
    if not isinstance(told, dict):
        return None
    more = {name: told[name] for name in ("wait_s", "idle_s") if name in told}
    return ScaleBounds(least=told.get("min", 0), most=told.get("max", 0), **more)


def look_s(bounds: ScaleBounds | None) -> float:
    """How soon a cluster that is well is looked at again: sooner if it is to scale soon.

    >>> look_s(None), look_s(ScaleBounds(least=0, most=2, wait_s=10)), look_s(
    ...     ScaleBounds(least=0, most=2, wait_s=1)
    ... )
    (30.0, 10.0, 5.0)
    """
    return REST_S if bounds is None else max(LOOK_S, min(float(bounds.wait_s), REST_S))


def new_keys(taken: list[str], count: int) -> list[str]:
    """Names for so many more workers, after all that there are.

    >>> new_keys(["head-0", "worker-0", "worker-4"], 2)
    ['worker-5', 'worker-6']
    """
    numbers = [key.removeprefix("worker-") for key in taken if key.startswith("worker-")]
    first = max((int(each) for each in numbers if each.isdecimal()), default=-1) + 1
    return [f"worker-{first + each}" for each in range(count)]


def _state_of(member: InstanceMember, load: LoadReport) -> ScaledWorker:
    found = load.members.get(member.member_id)
    if found is None:
        return ScaledWorker(member.component_key)
    return ScaledWorker(member.component_key, found.has, found.is_busy)


def _left_s(member: InstanceMember) -> int:
    left = (member.deadline_ms or 0) / 1_000 - time.time()
    return max(1, min(int(left), DRAIN_S_MAX))


def _inside(
    kit: Kit, member: InstanceMember, command: tuple[str, ...], *, given: bytes
) -> RanInside:
    """Run something inside a member; one that has just ended is not there yet."""
    try:
        return kit.run_inside(member.component_key, command, given=given)
    except Refusal as refusal:
        raise NotYet(f"{member.component_key} is not reached: {refusal}") from None


def _tell(kit: Kit, reason: str, *, is_well: bool) -> None:
    """Report it if it is new; what never was well is not told as ill."""
    instance = kit.instance
    is_seen = instance.observed_generation == instance.generation
    if is_seen and instance.reason == reason[:256]:
        return
    if is_well:
        kit.report(reason=reason)
    elif is_seen:
        kit.report(phase=InstancePhase.DEGRADED, reason=reason)
