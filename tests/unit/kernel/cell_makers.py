"""Events and commands of cells of every sort, for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.journal.words import CancelCause
from bailiwick.kernel.cells import commands as cmd
from bailiwick.kernel.cells import events as ev
from bailiwick.kernel.owner import Owner
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.cells import TakingStatus
from bailiwick.vocab.words import PendingReason
from tests.unit.journal.makers import amounts, names

owners = st.builds(Owner, names, st.none() | names)
numbers = st.integers(1, INTEGER_MAX)
urls = names.map(lambda name: f"https://{name}")
statuses = st.sampled_from(list(TakingStatus))
lease_ids = st.lists(numbers, max_size=3).map(tuple)
flags = st.booleans()
causes = st.sampled_from(list(CancelCause))
reasons = st.none() | st.sampled_from(list(PendingReason))


def cell_events(requests: st.SearchStrategy[PlacementRequest]) -> dict[type, Any]:
    """A strategy for each event."""
    return {
        ev.CellJoined: st.builds(ev.CellJoined, names, urls),
        ev.CellLeft: st.builds(ev.CellLeft, names, flags),
        ev.CellReached: st.builds(ev.CellReached, names, numbers, amounts),
        ev.CellCutOff: st.builds(ev.CellCutOff, names, flags),
        ev.CellHeard: st.builds(ev.CellHeard, names, amounts),
        ev.GlobalAsked: st.builds(ev.GlobalAsked, numbers, requests),
        ev.GlobalSent: st.builds(ev.GlobalSent, owners, numbers, names, numbers, flags),
        ev.GlobalTold: st.builds(
            ev.GlobalTold, owners, numbers, names, statuses, st.none() | amounts, lease_ids, flags
        ),
        ev.GlobalWithdrawn: st.builds(
            ev.GlobalWithdrawn, owners, numbers, st.none() | numbers, causes, reasons
        ),
        ev.HomeMet: st.builds(ev.HomeMet, names, numbers),
        ev.HomeLeft: st.builds(ev.HomeLeft, names),
        ev.HomeHeard: st.builds(ev.HomeHeard, amounts),
        ev.GlobalTaken: st.builds(ev.GlobalTaken, owners, numbers, numbers, st.none() | names),
        ev.GlobalRecalled: st.builds(ev.GlobalRecalled, owners, numbers, numbers),
        ev.GlobalGivenBack: st.builds(ev.GlobalGivenBack, numbers, numbers, flags, flags, flags),
    }


def cell_commands(requests: st.SearchStrategy[PlacementRequest]) -> dict[type, Any]:
    """A strategy for each command."""
    small = requests.filter(lambda request: request.gang_size <= 256)
    return {
        cmd.JoinCell: st.builds(cmd.JoinCell, names, urls),
        cmd.LeaveCell: st.builds(cmd.LeaveCell, names, flags),
        cmd.ReachCell: st.builds(cmd.ReachCell, names, numbers, amounts),
        cmd.CutOffCell: st.builds(cmd.CutOffCell, names),
        cmd.AskGlobally: st.builds(cmd.AskGlobally, small),
        cmd.SendGlobal: st.builds(cmd.SendGlobal, numbers, names, flags),
        cmd.NoteGlobal: st.builds(
            cmd.NoteGlobal,
            *(names, numbers, numbers, numbers),
            *(amounts, statuses, lease_ids, amounts),
        ),
        cmd.WithdrawGlobal: st.builds(cmd.WithdrawGlobal, numbers, causes, reasons),
        cmd.MeetHome: st.builds(cmd.MeetHome, names, numbers),
        cmd.LeaveHome: st.builds(cmd.LeaveHome),
        cmd.TakeGlobal: st.builds(
            cmd.TakeGlobal, *(numbers, numbers, numbers), *(small, flags, amounts)
        ),
        cmd.RecallGlobal: st.builds(cmd.RecallGlobal, numbers),
        cmd.GiveBackGlobal: st.builds(cmd.GiveBackGlobal, numbers, numbers, numbers, flags),
        cmd.HearHome: st.builds(cmd.HearHome, numbers, amounts),
    }
