"""Submitting a job for somebody: it begins only once it is marked with who that is.

Rules:

- It is submitted held, marked by its number, and then released; so no job, however short, is over
  before it is marked. One that cannot be marked is cancelled, and that is the answer.
- The key that comes with a question makes marks of that one call alone. It is not kept.
"""

from __future__ import annotations

import hmac
import re
from typing import Any, Final

from .home import Home
from .processes import call

HOLD: Final = "--hold"
_MADE: Final = re.compile(r"(?:Submitted batch job )?([0-9]{1,10})(?:;[A-Za-z0-9_-]{1,63})?\s*\Z")


def spell_mark(told: str, key: bytes, *, number: str) -> str:
    """What is written to a job: what is told of its call, its number, and a MAC over both.

    >>> spell_mark("call=7", b"k", number="12")
    'call=7;job=12;mark=4f8bf4091611473ad637b4640b0c2978'
    """
    said = f"{told};job={number}"
    return f"{said};mark={hmac.new(key, said.encode(), 'sha256').hexdigest()[:32]}"


def submit(
    home: Home, argv: list[str], *, data: bytes, wait_s: float, mark: dict[str, str]
) -> dict[str, Any]:
    """Run ``sbatch`` and mark the job that it made; how that ended, and what it wrote."""
    made = call(home, [argv[0], HOLD, *argv[1:]], data=data, wait_s=wait_s)
    out, err = (text.decode(errors="replace") for text in (made.stdout, made.stderr))
    answer = {"code": made.returncode, "out": out, "err": err}
    found = _MADE.match(out) if made.returncode == 0 else None
    if found is None:  # it made none, or only said what it would do
        return answer
    number = found[1]
    told = spell_mark(mark["told"], bytes.fromhex(mark["key"]), number=number)
    steps: list[tuple[str, ...]] = [
        ("scontrol", "update", f"JobId={number}", f"AdminComment={told}")
    ]
    if HOLD not in argv:
        steps.append(("scontrol", "release", number))
    for step in steps:
        done = call(home, step, wait_s=wait_s)
        if done.returncode:
            call(home, ("scancel", number), wait_s=wait_s)
            why = done.stderr.decode(errors="replace").strip()[-200:]
            err += f"job {number} was cancelled: whose it is could not be written: {why}\n"
            return {"code": 1, "out": "", "err": err}
    return answer
