"""What the operator does for one cluster, from wherever it is: the one function of its kit.

Rules:

- A cluster is up when a batch job and a step have come back from every worker that is wanted; not
  before that is the generation said to be seen to.
- Members are told what to be over the platform (a program inside the member), keys by stdin. All
  are told at once: how long it takes does not grow with their number.
- A worker that is to go is drained in Slurm first. Near the end of its time its jobs are sent
  elsewhere; it is removed when it is free.
- A worker that is gone is told to the controller at once, and its place is taken in again when the
  platform has replaced it. One that does not answer holds up nobody else.
- Parameters that Slurm would not start with are found by a trial and not applied. The cluster goes
  on with those before, and is healed and scaled meanwhile; they are tried again now and then.
- What was done is noted (which member has which revision, and is proved): an operator that was
  killed goes on from there. One that finds all done, and nothing new, asks nothing for a minute.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Final

from bailiwick.operators.kit import Again, Answer, Kit, Settled
from bailiwick.operators.slurm.applying import apply_cluster, base_of, rotate_key
from bailiwick.operators.slurm.keys import ClusterKeys
from bailiwick.operators.slurm.orders import controller_files
from bailiwick.operators.slurm.questions import AT_ONCE, MemberAway, MemberPrograms, MemberTalk
from bailiwick.operators.slurm.queue.telling import UseTeller
from bailiwick.operators.slurm.scene import Scene
from bailiwick.operators.slurm.seeing import MemberAtWork, see_cluster, see_member
from bailiwick.operators.slurm.wanted import CONTROLLER, WORKER, Cluster, ClusterWish
from bailiwick.vocab.apps import InstancePhase, MemberPhase
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire.instances import Instance, InstanceMember

_SOON_S: Final = 1.0
_DRAIN_S: Final = 2.0
_HEALTH_S: Final = 60.0
_PROVE_S: Final = 60.0
_URGENT_S: Final = 15.0
"""Before the end of a worker's time, beside the time that its jobs have to end."""


class SlurmOperator:
    """Looks after all clusters of a project."""

    def __init__(
        self,
        keys: ClusterKeys,
        programs: MemberPrograms,
        *,
        teller: UseTeller | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._keys, self._programs, self._now = keys, programs, now
        self._teller = teller or UseTeller(keys, now=now)
        self._seen: dict[int, MemberAtWork] = {}
        self._rested: dict[int, tuple[object, float]] = {}
        self._refused: dict[int, tuple[str, str, float]] = {}
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="ask")

    def __call__(self, instance: Instance, kit: Kit) -> Answer:
        """Look after one instance; called again whenever something happened to it."""
        scene = self._scene(instance, kit)
        if kit.is_leaving:
            return self._leave(scene)
        if CONTROLLER not in scene.running:
            return self._wait(scene, "the controller is not there yet")
        rest_s = self._rest_s(scene)
        if rest_s > 0:
            return Again(after_s=rest_s)
        try:
            return self._look_after(scene)
        except MemberAway as away:
            self._forget(scene)
            return self._wait(scene, str(away))
        except InvalidValue as error:
            return self._wait(scene, str(error), is_seen_to=True)

    # -- what a shared runtime does otherwise ------------------------------------------------

    def _scene(self, instance: Instance, kit: Kit) -> Scene:
        return Scene.of(instance, kit, talk=MemberTalk(kit, self._programs, self._pool))

    def _shaped(
        self, scene: Scene, cluster: Cluster, *, seen: Mapping[str, MemberAtWork]
    ) -> Cluster:
        """The cluster, with what follows from who has a part in it."""
        del scene, seen
        return cluster

    def _close(self, scene: Scene, cluster: Cluster) -> None:
        """End what has no part any more, before anything else is told."""

    def _open(self, scene: Scene, cluster: Cluster) -> None:
        """Let in who has a part, once all members know of it."""

    def _wanted(self, scene: Scene) -> int:
        """How many workers there are to be."""
        return scene.instance.counts.get(WORKER, 0)

    # -- one look ----------------------------------------------------------------------------

    def _look_after(self, scene: Scene) -> Answer:
        controller = scene.running[CONTROLLER]
        if controller.phase is MemberPhase.DRAINING and scene.is_replaced(controller):
            # Jobs go on without it; the one in its place takes over what is on its storage.
            _end(scene, CONTROLLER)
            return self._wait(scene, "the controller is replaced")
        seen = self._see_all(scene)
        wish, refused = self._wish(scene)
        cluster = see_cluster(scene.instance, seen, wish=wish)
        cluster = self._shaped(scene, cluster, seen=seen)
        scene = self._lose(scene)
        if not refused:
            refused = self._check(scene, cluster)
            if refused:
                cluster = replace(cluster, wish=ClusterWish.parse(scene.notes.parameters))
        if refused and base_of(cluster) != scene.notes.base:
            # Another operator wrote it: what it wrote stays, since this one's was not tried.
            return self._wait(scene, f"not applied: {refused}", is_seen_to=True)
        number, generation = scene.instance.instance_id, cluster.wish.key_generation
        key = self._keys.munge_key(number, generation)
        scene = rotate_key(scene, key)
        self._close(scene, cluster)
        scene = apply_cluster(scene, cluster, munge_key=key)
        self._keys.forget(number, but=generation)
        self._open(scene, cluster)
        scene, is_proved = self._prove(scene)
        is_draining = self._drain(scene, cluster)
        self._tell(scene)
        found = self._audit(scene, cluster)
        is_done = is_proved and not is_draining
        return self._conclude(scene, refused, found=found, is_done=is_done)

    def _audit(self, scene: Scene, cluster: Cluster) -> str:
        """What is to be said besides: of a cluster of one project there is nothing."""
        del scene, cluster
        return ""

    def _tell(self, scene: Scene, *, is_last: bool = False) -> None:
        self._teller.tell(scene, is_last=is_last)

    # -- seeing ------------------------------------------------------------------------------

    def _see_all(self, scene: Scene) -> dict[str, MemberAtWork]:
        """All that are there; a new worker that cannot be asked yet is left for the next time."""

        def see(member: InstanceMember) -> MemberAtWork | MemberAway:
            known = self._seen.get(member.member_id)
            is_new = scene.noted(member.component_key) is None
            try:
                return known or see_member(scene.talk, member, is_new=is_new)
            except MemberAway as away:
                return away

        found = dict(zip(scene.running, self._pool.map(see, scene.running.values()), strict=True))
        for key, each in found.items():
            if isinstance(each, MemberAtWork):
                self._seen[each.member_id] = each
            elif key == CONTROLLER or scene.noted(key) is not None:
                raise each
            else:
                scene.kit.log.info("is not seen yet", component_key=key, reason=str(each))
        return {key: each for key, each in found.items() if isinstance(each, MemberAtWork)}

    def _forget(self, scene: Scene) -> None:
        for member in scene.running.values():
            self._seen.pop(member.member_id, None)
        self._rested.pop(scene.instance.instance_id, None)

    def _wish(self, scene: Scene) -> tuple[ClusterWish, str]:
        """The parameters to go by, and why they are not those that are wanted, if they are not."""
        if not scene.notes.base:
            return ClusterWish.parse(scene.instance.parameters), ""
        applied = ClusterWish.parse(scene.notes.parameters)
        try:
            wanted = ClusterWish.parse(scene.instance.parameters)
        except InvalidValue as error:
            return applied, str(error)
        if wanted.storage != applied.storage:
            return applied, "storage stays what it was when the cluster was made"
        return wanted, ""

    # -- doing -------------------------------------------------------------------------------

    def _lose(self, scene: Scene) -> Scene:
        """Tell the controller of workers that are gone."""
        gone = [key for key in scene.notes.members if scene.noted(key) is None]
        if not gone:
            return scene
        workers = [key for key in gone if key != CONTROLLER]
        if workers and CONTROLLER not in gone:
            scene.ask_controller(do="lose", workers=workers)
        kept = {key: note for key, note in scene.notes.members.items() if key not in gone}
        return scene.with_notes(members=kept)

    def _check(self, scene: Scene, cluster: Cluster) -> str:
        """Why the parameters cannot be used; nothing if they can, or were used already."""
        base, number = base_of(cluster), scene.instance.instance_id
        if CONTROLLER not in scene.notes.members or scene.notes.base == base:
            self._refused.pop(number, None)
            return ""
        known = self._refused.get(number)
        if known is not None and known[0] == base and time.monotonic() < known[2]:
            return known[1]
        files = controller_files(cluster)
        told = scene.ask_controller(do="check", files=files, wait_s=_HEALTH_S)
        refused = str(told["refused"])
        if refused:
            self._refused[number] = base, refused, time.monotonic() + _HEALTH_S
        return refused

    def _prove(self, scene: Scene) -> tuple[Scene, bool]:
        """Have jobs run on workers that have not shown yet that they take some; whether all do."""
        new = [key for key, note in scene.ready.items() if not note.is_proved]
        answer = scene.ask_controller(do="probe", workers=new, wait_s=_PROVE_S)
        if not (answer["is_up"] and answer["is_settled"]):
            told = [f"{name}: {each['told']}" for name, each in answer["daemons"].items()]
            raise MemberAway(f"the controller is not up: {'; '.join(told)}")
        why = {key: text for key, text in answer["told"].items() if text}
        # One that was proved and is silent now has to be proved again.
        why |= dict.fromkeys(answer["silent"], "it does not answer the controller")
        why = {key: text for key, text in why.items() if key in scene.ready}
        for key, text in why.items():
            scene.kit.log.info("takes no jobs", component_key=key, reason=text)
        notes = {
            key: replace(note, is_proved=key not in why and (note.is_proved or key in new))
            for key, note in scene.notes.members.items()
        }
        return scene.with_notes(members=notes), not why

    def _drain(self, scene: Scene, cluster: Cluster) -> bool:
        """Have those go that are to go; whether some are still on their way."""
        for key, member in scene.leaving.items():
            left_s = (member.deadline_ms or 2**53) / 1_000 - self._now()
            is_urgent = left_s < cluster.wish.kill_wait_s + _URGENT_S
            wait_s = _DRAIN_S + (cluster.wish.kill_wait_s if is_urgent else 0)
            told = {"is_free": True}
            if key != CONTROLLER:
                told = scene.ask_controller(
                    do="drain", worker=key, is_urgent=is_urgent, wait_s=wait_s
                )
            if told["is_free"] and scene.is_replaced(member):
                _end(scene, key)
            elif told["is_free"]:
                scene.kit.remove(member.member_id)
        return bool(scene.leaving)

    # -- saying ------------------------------------------------------------------------------

    def _conclude(self, scene: Scene, refused: str, *, found: str, is_done: bool) -> Answer:
        wanted = self._wanted(scene)
        proved = sum(note.is_proved for note in scene.ready.values())
        if is_done and len(scene.notes.members) == len(scene.running):
            number = scene.instance.instance_id
            self._rested[number] = scene.mark, time.monotonic() + self._rest(scene)
        if proved < wanted:
            return self._wait(scene, f"jobs run on {proved} of {wanted} workers")
        if refused:
            return self._wait(scene, f"not applied: {refused}", is_seen_to=True)
        scene.report(f"jobs run on all {wanted} workers{found}")
        return Again(after_s=self._rest(scene) if is_done else _DRAIN_S)

    def _rest(self, scene: Scene) -> float:
        """For how long nothing is asked if nothing happens."""
        del scene
        return min(_HEALTH_S, self._teller.rest_s)

    def _rest_s(self, scene: Scene) -> float:
        """How long nothing needs to be asked, if nothing happened since all was done."""
        mark, until = self._rested.get(scene.instance.instance_id, (None, 0.0))
        return until - time.monotonic() if mark == scene.mark else 0.0

    def _wait(self, scene: Scene, why: str, *, is_seen_to: bool = False) -> Answer:
        """It is not well, or not yet: said of what was well before, or cannot be applied.

        It is said of one that is new, too: the platform would call it running when its members are.
        """
        instance = scene.instance
        if is_seen_to or instance.observed_generation in (0, instance.generation):
            scene.report(why, phase=InstancePhase.DEGRADED)
        scene.kit.log.info("is not up yet", reason=why)
        return Again(after_s=_SOON_S)

    def _leave(self, scene: Scene) -> Answer:
        instance = scene.instance
        if instance.observed_generation == instance.generation:
            return Settled()
        if CONTROLLER in scene.running:
            self._tell(scene, is_last=True)
        if scene.notes.parameters.get("storage") and CONTROLLER in scene.running:
            try:
                scene.ask_controller(do="wipe")
            except MemberAway as away:
                scene.kit.log.info("what is on storage stays there", reason=str(away))
        self._keys.forget(instance.instance_id)
        self._forget(scene)
        scene.kit.report(reason="nothing is left to put away")
        return Settled()


def _end(scene: Scene, key: str) -> None:
    """Have the old one of a pair end; the platform would leave it until its time is over.

    It is asked first: its daemons then end in their order. One that does not answer is ended.
    """
    try:
        scene.ask(key, do="end")
    except MemberAway as away:
        scene.kit.log.info("is ended", component_key=key, reason=str(away))
        scene.kit.remove(scene.running[key].member_id)
