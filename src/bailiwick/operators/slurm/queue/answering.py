"""Answers what people ask a cluster: runs it in the controller, once, and marks whose each job is.

Rules:

- A program is run once. If the way to the controller breaks, the answer says that it may have run.
- A job is marked (:mod:`.marks`) before it can begin; the controller's member does that in one go,
  also if the operator is gone meanwhile.
"""

from __future__ import annotations

import json
from typing import Any, Final

from bailiwick.client import ClientError
from bailiwick.operators.kit import Kit, Outdated, reply
from bailiwick.operators.slurm.keys import ClusterKeys
from bailiwick.operators.slurm.questions import question_of
from bailiwick.operators.slurm.queue.programs import AWAY, USAGE, CallRefused, argv_of, call_of
from bailiwick.operators.slurm.wanted import CONTROLLER
from bailiwick.vocab.errors import BailiwickError
from bailiwick.wire.instances import CallReply, TakenCall

RUN_S: Final = 30
_WAIT_S: Final = 50.0


class QueueAnswers:
    """Answers what is asked of all clusters of one operator."""

    def __init__(self, keys: ClusterKeys) -> None:
        self._keys = keys

    def __call__(self, call: TakenCall, kit: Kit) -> CallReply:
        """Run what is asked in the controller, once; what it wrote."""
        try:
            argv = argv_of(call)
        except CallRefused as refused:
            return reply(USAGE, stderr=f"{refused}\n")
        question = {"do": "slurm", "argv": argv, "stdin": call.stdin, "wait_s": RUN_S}
        if argv[0] == "sbatch":
            told, key = self._keys.marks(call.instance_id).order(call_of(call))
            question |= {"do": "submit", "mark": {"told": told, "key": key.hex()}}
        return reply_of(run_once(kit, question))


def reply_of(said: dict[str, Any]) -> CallReply:
    """The answer to who asked, by what the controller says."""
    if "error" in said:
        return reply(AWAY, stderr="the controller does not answer; it may have run\n")
    code = int(said["code"])
    code = code if 0 <= code <= 255 else (128 - code) % 256
    return reply(code, stdout=str(said["out"]), stderr=str(said["err"]))


def run_once(kit: Kit, question: dict[str, Any], *, is_shared: bool = False) -> dict[str, Any]:
    """What the controller says; an ``error`` if nobody knows whether it ran."""
    # Not as the operator asks: that brings a member its program and asks again.
    command, given = question_of(question, is_shared=is_shared)
    try:
        ran = kit.run_inside(CONTROLLER, command, given=given, within_s=_WAIT_S)
        told: dict[str, Any] = json.loads(ran.stdout) if ran.is_well else {"error": ran.why}
    except (ClientError, BailiwickError, Outdated, ValueError):
        return {"error": "it cannot be asked"}
    return told
