"""What an operator's function answers when it has looked at an instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from bailiwick.wire.instances import REPLY_BYTES_MAX, CallReply


@dataclass(frozen=True, slots=True)
class Settled:
    """All is as it should be; look again when something happens."""


@dataclass(frozen=True, slots=True)
class Again:
    """Not yet; look again after so many seconds, or when something happens."""

    after_s: float = 5.0


_NO_TEXT: Final = {number: "?" for number in range(32) if chr(number) not in "\t\n\r"}

Answer: TypeAlias = Settled | Again


def reply(exit_code: int, *, stdout: str = "", stderr: str = "") -> CallReply:
    """An answer to a call, of what may be too long or no text: the beginning of it, as text."""
    out, is_out_cut = _begin(stdout)
    err, is_err_cut = _begin(stderr)
    is_cut = is_out_cut or is_err_cut
    return CallReply(exit_code=exit_code, stdout=out, stderr=err, is_truncated=is_cut)


def _begin(text: str) -> tuple[str, bool]:
    # Other signs below the blank take six times their room on the way, and a screen obeys them.
    data = text.translate(_NO_TEXT).encode(errors="replace")
    return data[:REPLY_BYTES_MAX].decode(errors="ignore"), len(data) > REPLY_BYTES_MAX
