"""Asking a member: its own program, run inside it, which is brought there first if need be."""

from __future__ import annotations

import json
import time
from typing import Any, Final

from bailiwick.client import Refusal
from bailiwick.operators.kit import Kit
from bailiwick.operators.slurm.packing import PROGRAM
from bailiwick.vocab.errors import BailiwickError

_ASK: Final = ["python3", "-I", PROGRAM, "ask"]
# The file appears as a whole; the member begins it only if its digest is the one it waits for.
_TAKE: Final = [
    "python3",
    "-I",
    "-c",
    f"import os,sys; f=open('.{PROGRAM}','wb'); f.write(sys.stdin.buffer.read()); f.close(); "
    f"os.replace('.{PROGRAM}','{PROGRAM}')",
]
_BEGIN_S: Final = 20.0
_LOOK_S: Final = 0.3


class MemberAway(Exception):
    """A member does not answer, or will not do what it is asked."""


def ask_member(kit: Kit, key: str, *, question: dict[str, Any], program: bytes) -> dict[str, Any]:
    """The answer of a member; ``program`` is brought to one that has none."""
    data = json.dumps(question).encode()
    try:
        ran = kit.run(key, _ASK, data=data)
        if ran.code:
            kit.run(key, _TAKE, data=program)
            until = time.monotonic() + _BEGIN_S
            while ran.code and time.monotonic() < until:
                time.sleep(_LOOK_S)
                ran = kit.run(key, _ASK, data=data)
    except (Refusal, BailiwickError) as error:
        raise MemberAway(f"{key} cannot be asked: {error}") from error
    if ran.code:
        told = ran.err.decode(errors="replace").strip()[-200:]
        raise MemberAway(f"{key} does not answer: {told}")
    answer: dict[str, Any] = json.loads(ran.out)
    if "error" in answer:
        raise MemberAway(f"{key} will not: {answer['error']}")
    return answer
