"""What the operator does for one cluster, from wherever it is: the one function of its kit.

Rules:

- A cluster is up when a batch job and a step have come back from every worker that is wanted; not
  before that is the generation said to be seen to.
- Members are told what to be over the platform (a program inside the member), keys by stdin.
- A worker that is to go is drained in Slurm first. Near the end of its time its jobs are sent
  elsewhere; it is removed when it is free.
- A worker that is gone is told to the controller at once, and its place is taken in again when the
  platform has replaced it.
- Parameters that Slurm would not start with are found by a trial and not applied.
- What was done is noted (which member has which revision, and is proved): an operator that was
  killed goes on from there, and one that finds all done asks one question and rests.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from bailiwick.operators.kit import Again, Answer, Kit, Settled
from bailiwick.operators.slurm.keys import ClusterKeys
from bailiwick.operators.slurm.notes import MemberNote, read_notes, spell_notes
from bailiwick.operators.slurm.orders import order_for
from bailiwick.operators.slurm.questions import MemberAway, ask_member
from bailiwick.operators.slurm.rendering import render
from bailiwick.operators.slurm.seeing import MemberAtWork, see_cluster
from bailiwick.operators.slurm.wanted import CONTROLLER, WORKER, Cluster, ClusterWish
from bailiwick.vocab.apps import InstancePhase, MemberPhase
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire.instances import Instance, InstanceMember

_SOON_S: Final = 1.0
_DRAIN_S: Final = 2.0
_HEALTH_S: Final = 60.0
_UP_S: Final = 20.0
_PROBE_S: Final = 40.0
_URGENT_S: Final = 15.0
"""Before the end of a worker's time, beside the time that its jobs have to end."""


@dataclass(frozen=True, slots=True)
class _Scene:
    """An instance as it is looked at now."""

    instance: Instance
    kit: Kit
    running: dict[str, InstanceMember]
    notes: dict[str, MemberNote]
    base: str
    """Of the parameters that were last applied."""


class SlurmOperator:
    """Looks after all clusters of a project."""

    def __init__(
        self, keys: ClusterKeys, program: bytes, *, now: Callable[[], float] = time.time
    ) -> None:
        self._keys, self._program, self._now = keys, program, now
        self._seen: dict[int, MemberAtWork] = {}

    def __call__(self, instance: Instance, kit: Kit) -> Answer:
        """Look after one instance; called again whenever something happened to it."""
        running = {
            each.component_key: each
            for each in kit.members
            if each.phase in (MemberPhase.READY, MemberPhase.DRAINING)
        }
        notes, base = read_notes(kit.notes)
        scene = _Scene(instance, kit, running, notes, base)
        if kit.is_leaving:
            return self._leave(scene)
        if CONTROLLER not in running:
            return self._wait(scene, "the controller is not there yet")
        try:
            return self._look_after(scene)
        except MemberAway as away:
            self._seen.clear()
            return self._wait(scene, str(away))
        except InvalidValue as error:
            return self._wait(scene, str(error), is_seen_to=True)

    def _look_after(self, scene: _Scene) -> Answer:
        seen = {key: self._see(scene.kit, each) for key, each in scene.running.items()}
        cluster = see_cluster(scene.instance, seen)
        scene = self._lose(scene)
        refused = self._check(scene, cluster)
        if refused:
            return self._wait(scene, f"not applied: {refused}", is_seen_to=True)
        scene = self._apply(scene, cluster)
        state = self._ask(scene.kit, CONTROLLER, do="wait", wait_s=_UP_S)
        if not (state["is_up"] and state["is_settled"]):
            told = [f"{name}: {each['told']}" for name, each in state["daemons"].items()]
            return self._wait(scene, f"the controller is not up: {'; '.join(told)}")
        scene = self._prove(scene)
        is_draining = self._drain(scene, cluster)
        return self._conclude(scene, is_draining=is_draining)

    # -- seeing ------------------------------------------------------------------------------

    def _see(self, kit: Kit, member: InstanceMember) -> MemberAtWork:
        known = self._seen.get(member.member_id)
        if known is None:
            key = member.component_key
            told = ask_member(kit, key, question={"do": "facts"}, program=self._program)
            lease = kit.lease(key)
            known = MemberAtWork(member.member_id, lease, kit.node(lease.node), told)
            self._seen[member.member_id] = known
        return known

    def _ask(self, kit: Kit, member: str, **question: Any) -> dict[str, Any]:
        return ask_member(kit, member, question=question, program=self._program)

    # -- doing -------------------------------------------------------------------------------

    def _lose(self, scene: _Scene) -> _Scene:
        """Tell the controller of workers that are gone."""
        gone = [
            key
            for key, note in scene.notes.items()
            if key not in scene.running or scene.running[key].member_id != note.member_id
        ]
        if not gone:
            return scene
        workers = [key for key in gone if key != CONTROLLER]
        if workers and CONTROLLER not in gone:
            self._ask(scene.kit, CONTROLLER, do="lose", workers=workers)
        kept = {key: note for key, note in scene.notes.items() if key not in gone}
        return _noted(scene, kept, scene.base)

    def _check(self, scene: _Scene, cluster: Cluster) -> str:
        """Why the parameters cannot be used; nothing if they can, or were used already."""
        if CONTROLLER not in scene.notes or scene.base == _base_of(cluster):
            return ""
        answer = self._ask(scene.kit, CONTROLLER, do="check", files=render(cluster))
        return str(answer["refused"])

    def _apply(self, scene: _Scene, cluster: Cluster) -> _Scene:
        """Have every member be what it is to be."""
        key = self._keys.munge_key(scene.instance.instance_id)
        workers = [worker.key for worker in cluster.workers]
        # A running controller has its workers read their files: those have to be there by then.
        is_new = CONTROLLER not in scene.notes
        order = [CONTROLLER, *workers] if is_new else [*workers, CONTROLLER]
        notes = dict(scene.notes)
        for name in order:
            told = order_for(cluster, name, munge_key=key)
            member_id, known = scene.running[name].member_id, notes.get(name)
            if known is None or known.revision != told["revision"]:
                self._ask(scene.kit, name, **told)
                is_proved = known is not None and known.is_proved
                notes[name] = MemberNote(member_id, told["revision"], is_proved=is_proved)
        return _noted(scene, notes, _base_of(cluster))

    def _prove(self, scene: _Scene) -> _Scene:
        """Have jobs run on workers that have not shown yet that they take some."""
        new = [
            key
            for key, note in scene.notes.items()
            if key != CONTROLLER
            and not note.is_proved
            and scene.running[key].phase is MemberPhase.READY
        ]
        if not new:
            return scene
        told = self._ask(scene.kit, CONTROLLER, do="probe", workers=new, wait_s=_PROBE_S)["told"]
        for key, why in told.items():
            if why:
                scene.kit.log.info("takes no jobs yet", component_key=key, reason=why)
        proved = {key: replace(scene.notes[key], is_proved=True) for key in new if not told[key]}
        return _noted(scene, {**scene.notes, **proved}, scene.base)

    def _drain(self, scene: _Scene, cluster: Cluster) -> bool:
        """Have those go that are to go; whether some are still on their way."""
        leaving = [e for e in scene.running.values() if e.phase is MemberPhase.DRAINING]
        for member in leaving:
            key = member.component_key
            if key == CONTROLLER:
                scene.kit.remove(key)
                continue
            left_s = (member.deadline_ms or 2**53) / 1_000 - self._now()
            is_urgent = left_s < cluster.wish.kill_wait_s + _URGENT_S
            wait_s = _DRAIN_S + (cluster.wish.kill_wait_s if is_urgent else 0)
            told = self._ask(
                scene.kit, CONTROLLER, do="drain", worker=key, is_urgent=is_urgent, wait_s=wait_s
            )
            if told["is_free"]:
                scene.kit.remove(key)
        return bool(leaving)

    # -- saying ------------------------------------------------------------------------------

    def _conclude(self, scene: _Scene, *, is_draining: bool) -> Answer:
        wanted = scene.instance.counts.get(WORKER, 0)
        proved = sum(note.is_proved for key, note in scene.notes.items() if key != CONTROLLER)
        if proved < wanted:
            return self._wait(scene, f"jobs run on {proved} of {wanted} workers")
        _report(scene, f"jobs run on all {wanted} workers")
        return Again(after_s=_DRAIN_S if is_draining else _HEALTH_S)

    def _wait(self, scene: _Scene, why: str, *, is_seen_to: bool = False) -> Answer:
        """It is not well, or not yet: said of what was well before, or cannot be applied."""
        instance = scene.instance
        if is_seen_to or instance.observed_generation == instance.generation:
            _report(scene, why, phase=InstancePhase.DEGRADED)
        scene.kit.log.info("is not up yet", reason=why)
        return Again(after_s=_SOON_S)

    def _leave(self, scene: _Scene) -> Answer:
        instance = scene.instance
        if instance.observed_generation == instance.generation:
            return Settled()
        if ClusterWish.parse(instance.parameters).storage and CONTROLLER in scene.running:
            try:
                self._ask(scene.kit, CONTROLLER, do="wipe")
            except MemberAway as away:
                scene.kit.log.info("what is on storage stays there", reason=str(away))
        self._keys.forget(instance.instance_id)
        scene.kit.report(reason="nothing is left to put away")
        return Settled()


def _report(scene: _Scene, reason: str, *, phase: InstancePhase | None = None) -> None:
    """Say how it is, unless that was said."""
    instance = scene.instance
    is_seen_to = instance.observed_generation == instance.generation
    if not is_seen_to or instance.reason != reason[:256]:
        scene.kit.report(phase=phase, reason=reason)


def _noted(scene: _Scene, notes: dict[str, MemberNote], base: str) -> _Scene:
    """Write down what was done; nothing is written if nothing was."""
    scene.kit.write_notes(spell_notes(notes, base))
    return replace(scene, notes=notes, base=base)


def _base_of(cluster: Cluster) -> str:
    """By what one sees that parameters were changed, whoever the members are."""
    files = render(replace(cluster, workers=(), host="none", address="0.0.0.0"))
    return sha256(repr(sorted(files.items())).encode()).hexdigest()[:16]
