"""Changes of MIG profiles, for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bailiwick.kernel.mig import commands as cmd
from bailiwick.kernel.mig import events as ev
from bailiwick.vocab.mig import BY_AGENT, MigFailure
from tests.unit.journal.makers import names

numbers = st.integers(0, 2**50)
gpus = st.lists(st.integers(0, 15), min_size=1, max_size=4, unique=True).map(tuple)
profiles = st.lists(st.sampled_from(("1g.18gb", "1g.18gb+me", "3g.71gb")), max_size=7).map(tuple)
waits = st.integers(cmd.WAIT_MS_LEAST, cmd.WAIT_MS_MOST)
told = st.sampled_from(sorted(BY_AGENT))

EVENTS: dict[type[Any], st.SearchStrategy[Any]] = {
    ev.MigChangeBegun: st.builds(ev.MigChangeBegun, names, numbers, gpus, profiles, waits),
    ev.MigChangeEnded: st.builds(
        ev.MigChangeEnded, names, numbers, st.none() | st.sampled_from(MigFailure)
    ),
}
COMMANDS: dict[type[Any], st.SearchStrategy[Any]] = {
    cmd.ChangeMig: st.builds(
        cmd.ChangeMig, names, gpus, profiles, st.none() | st.integers(0, 10**6), waits
    ),
    cmd.CancelMig: st.builds(cmd.CancelMig, names),
    cmd.ReportMig: st.builds(cmd.ReportMig, names, numbers, st.none() | told),
}
