"""Having members be what they are to be: all of them at once, each once for a revision."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

from bailiwick.operators.slurm.notes import MemberNote
from bailiwick.operators.slurm.orders import order_for
from bailiwick.operators.slurm.questions import MemberAway
from bailiwick.operators.slurm.rendering import render
from bailiwick.operators.slurm.scene import Scene
from bailiwick.operators.slurm.wanted import CONTROLLER, Cluster


def apply_cluster(scene: Scene, cluster: Cluster, *, munge_key: bytes) -> Scene:
    """Have every member be its part of the cluster; a worker that cannot be told is left out."""
    names = [CONTROLLER, *(worker.key for worker in cluster.workers)]
    orders = {name: order_for(cluster, name, munge_key=munge_key) for name in names}
    notes = dict(scene.notes.members)
    due = [n for n in names if n not in notes or notes[n].revision != orders[n]["revision"]]
    workers = [name for name in due if name != CONTROLLER]
    controller = [name for name in due if name == CONTROLLER]
    # A running controller has its workers read their files: those have to be there by then.
    is_new = CONTROLLER not in notes
    for group in (controller, workers) if is_new else (workers, controller):
        answers = scene.talk.ask_all({e: (scene.running[e], orders[e]) for e in group})
        for name, answer in answers.items():
            was = notes.pop(name, None)
            if not isinstance(answer, MemberAway):
                note = MemberNote(scene.running[name].member_id, orders[name]["revision"])
                notes[name] = replace(note, is_proved=was is not None and was.is_proved)
            elif name == CONTROLLER:
                raise answer
            else:
                scene.kit.log.info("was not told", component_key=name, reason=str(answer))
    wish = cluster.wish.spell()
    return scene.with_notes(members=notes, base=base_of(cluster), parameters=wish)


def base_of(cluster: Cluster) -> str:
    """By what one sees that parameters were changed, whoever the members are."""
    files = render(replace(cluster, workers=(), host="none", address="0.0.0.0"))
    return sha256(repr(sorted(files.items())).encode()).hexdigest()[:16]
