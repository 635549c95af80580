"""Why nodes are not booked, as it is told: the word for it, its numbers, and what would help.

Rules:

- What no nodes could help is told before what others have booked: quota first, then how many nodes
  one booking may have, then what a policy closes, and only then that too few are free.
- A refusal names nobody else's booking.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from bailiwick.kernel.bookings.choice import BookingChoice
from bailiwick.kernel.bookings.commands import BOOKED_NODES_MAX, BookingAsk
from bailiwick.kernel.bookings.limits import QuotaShort
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.scheduler.quota_policy import GpuGenerationLimitExceeded, HardLimitExceeded
from bailiwick.vocab.bookings import BookingRefusal
from bailiwick.vocab.errors import Conflict
from bailiwick.vocab.words import Dimension


class BookingRefused(Conflict):
    """Nodes are not booked: the word for why, and its numbers."""

    def __init__(
        self, reason: BookingRefusal, name: str, why: str, *, hint: str = "", **numbers: int | str
    ) -> None:
        super().__init__("booking", name, why, hint=hint)
        self.reason, self.numbers = reason, numbers


def closed(state: State, owner: Owner) -> Conflict | None:
    """Why nothing is booked for who is closed; where nobody keeps a directory, nobody is."""
    tenant, project = str(owner.tenant), str(owner.project)
    home = state.directory.tenants.get(tenant)
    if home is not None and not home.is_open:
        return Conflict("tenant", tenant, "is closed")
    part = state.directory.projects.get((tenant, project))
    if part is not None and not part.is_open:
        return Conflict("project", f"{tenant}/{project}", "is closed")
    return None


def check_chosen(
    name: str, ask: BookingAsk, *, found: BookingChoice, is_lacking: bool = False
) -> None:
    """Refuse a booking for which no nodes were found; or that goes on to lack what it lacks."""
    if found.above is not None:
        raise _above_quota(name, found.above)
    if found.is_split:
        raise _too_many_nodes(name, ask)
    if not found.nodes:
        raise _too_few(name, ask, found=found, is_lacking=is_lacking)


def _too_few(
    name: str, ask: BookingAsk, *, found: BookingChoice, is_lacking: bool
) -> BookingRefused:
    what = "GPUs" if ask.gpus else "nodes"
    is_closed = found.suitable < found.wanted <= found.suitable + found.closed
    reason = BookingRefusal.CLOSED_TO_PROJECT if is_closed else BookingRefusal.TOO_FEW_FREE
    why = f"of {found.wanted} {what} that are wanted, {found.found} are free for all of that time"
    if is_lacking:
        why = f"lacks {found.wanted} {what}, and {found.found} are free"
    if found.closed:
        why += f"; an isolation policy closes {found.closed} such {what} to the project"
    if is_lacking:
        hint = "it keeps what it has"
    elif found.earliest_ms is not None:
        hint = f"the earliest start by what is known is {found.earliest_ms}"
    else:
        hint = f"there are {found.suitable} such {what} that take work"
    numbers = {"wanted": found.wanted, "found": found.found, "suitable": found.suitable}
    numbers |= {"closed": found.closed} if found.closed else {}
    error = BookingRefused(reason, name, why, hint=hint, **numbers)
    if found.earliest_ms is None or is_lacking:
        return error
    return error.with_times(earliest_ms=found.earliest_ms)


def _too_many_nodes(name: str, ask: BookingAsk) -> BookingRefused:
    why = f"{ask.gpus} GPUs are on more than {BOOKED_NODES_MAX} nodes, the most that one has"
    return BookingRefused(
        BookingRefusal.TOO_MANY_NODES,
        name,
        why,
        hint="book them in parts, or on larger nodes",
        field="gpus",
        limit=BOOKED_NODES_MAX,
        wanted=ask.gpus,
    )


def _above_quota(name: str, above: QuotaShort) -> BookingRefused:
    """In whose quota it is not: the owner's own."""
    what = "GPUs"
    spell: Callable[[int], str] = str
    match above:
        case GpuGenerationLimitExceeded(generation=generation):
            what = f"{generation} GPUs"
        case HardLimitExceeded(dimension=Dimension.CPU_MILLI):
            what, spell = "cores of nodes without GPUs", _cores
        case HardLimitExceeded():
            pass
        case _:
            assert_never(above)
    why = (
        f"{spell(above.requested)} {what} with {spell(above.used)} booked within one longest term "
        f"of that time are more than the {spell(above.limit)} of the quota of {above.scope}"
    )
    return BookingRefused(
        BookingRefusal.ABOVE_QUOTA,
        name,
        why,
        hint="book less or the same nodes again, or have the quota raised",
        scope=f"{above.scope}",
        limit=above.limit,
        booked=above.used,
        wanted=above.requested,
    )


def _cores(milli: int) -> str:
    return f"{milli / 1000:.3f}".rstrip("0").rstrip(".")
