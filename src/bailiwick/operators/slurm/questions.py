"""Asking a member: its own program, run inside it, which is brought there first if need be."""

from __future__ import annotations

import json
import time
from typing import Any, Final

from bailiwick.client import Refusal
from bailiwick.operators.kit import Kit, RanInside
from bailiwick.operators.kit.packing import DELIVER, PROGRAM
from bailiwick.vocab.errors import BailiwickError

_ASK: Final = ["python3", "-I", PROGRAM, "ask"]
_WITHIN_S: Final = 120.0
_BEGIN_S: Final = 20.0
_LOOK_S: Final = 0.3


class MemberAway(Exception):
    """A member does not answer, or will not do what it is asked."""


def ask_member(kit: Kit, key: str, *, question: dict[str, Any], program: bytes) -> dict[str, Any]:
    """The answer of a member; ``program`` is brought to one that has none."""
    data = json.dumps(question).encode()
    try:
        ran = _run(kit, key, data)
        if not ran.is_well:
            kit.run_inside(key, DELIVER, given=program)
            until = time.monotonic() + _BEGIN_S
            while not ran.is_well and time.monotonic() < until:
                time.sleep(_LOOK_S)
                ran = _run(kit, key, data)
    except (Refusal, BailiwickError) as error:
        raise MemberAway(f"{key} cannot be asked: {error}") from error
    if not ran.is_well:
        raise MemberAway(f"{key} does not answer: {ran.why}")
    answer: dict[str, Any] = json.loads(ran.stdout)
    if "error" in answer:
        raise MemberAway(f"{key} will not: {answer['error']}")
    return answer


def _run(kit: Kit, key: str, question: bytes) -> RanInside:
    return kit.run_inside(key, _ASK, given=question, within_s=_WITHIN_S)
