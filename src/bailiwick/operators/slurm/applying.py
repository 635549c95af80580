"""Having members be what they are to be: all of them at once, each once for a revision.

Rules:

- Another key goes to all members first. Only when all have it do they take it, together: between
  two keys nobody understands the other. No daemon of Slurm is started again for it, and jobs go on.
- Afterwards every worker has to be proved anew.
"""

from __future__ import annotations

import base64
from dataclasses import replace
from hashlib import sha256

from bailiwick.operators.slurm.notes import MemberNote
from bailiwick.operators.slurm.orders import controller_files, order_for
from bailiwick.operators.slurm.questions import MemberAway
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
    if is_new:  # whether it gets through to them is to be seen
        notes = {name: replace(note, is_proved=False) for name, note in notes.items()}
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


def rotate_key(scene: Scene, munge_key: bytes) -> Scene:
    """Have all members that have a key take this one together, if it is another."""
    digest = sha256(munge_key).hexdigest()
    mark = digest[:16]
    if scene.notes.key == mark:
        return scene
    notes = dict(scene.notes.members)
    if scene.notes.key:
        stage = {"do": "stage_key", "munge_key": base64.b64encode(munge_key).decode()}
        for question in (stage, {"do": "switch_key", "digest": digest}):
            answers = scene.talk.ask_all({key: (scene.running[key], question) for key in notes})
            away = [each for each in answers.values() if isinstance(each, MemberAway)]
            if away:
                raise away[0]  # begun anew; who has taken it already stays with it
        scene.kit.log.info("has another key")
        notes = {
            key: replace(note, is_proved=note.is_proved and key == CONTROLLER)
            for key, note in notes.items()
        }
    return scene.with_notes(members=notes, key=mark)


def base_of(cluster: Cluster) -> str:
    """By what one sees that parameters were changed, whoever the members are."""
    shared = None if cluster.shared is None else cluster.shared.base
    alone = replace(cluster, workers=(), host="none", address="0.0.0.0", shared=shared)
    files = controller_files(alone)
    return sha256(repr(sorted(files.items())).encode()).hexdigest()[:16]
