"""What is sealed of graphs, of every sort, for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bailiwick.kernel.owner import Owner
from bailiwick.kernel.work import graph_commands as cmd
from bailiwick.kernel.work import graph_events as ev
from bailiwick.vocab.graphs import FailureCategory, GraphPhase
from tests.unit.journal.makers import amounts, names

maybe_names = st.none() | names
owners = st.builds(Owner, names, maybe_names)
some = amounts.map(lambda number: max(1, number))
tasks = st.from_regex(r"[a-z]{1,9}(\[[0-9]\])?", fullmatch=True)
categories = st.sampled_from(list(FailureCategory))
phases = st.sampled_from(list(GraphPhase))
maybe = st.none() | some

EVENTS: dict[type, st.SearchStrategy[Any]] = {
    ev.GraphSubmitted: st.builds(ev.GraphSubmitted, owners, some, amounts, maybe_names),
    ev.GraphTaskRetried: st.builds(
        ev.GraphTaskRetried,
        *(owners, some, tasks, some, categories, amounts, maybe, maybe_names, maybe),
    ),
    ev.GraphEnded: st.builds(ev.GraphEnded, owners, some, phases, amounts, amounts),
}
_OWN: dict[str, Any] = {"tenant": names, "project": maybe_names, "graph_id": some}

COMMANDS: dict[type, st.SearchStrategy[Any]] = {
    cmd.NoteGraphSubmitted: st.builds(
        cmd.NoteGraphSubmitted, **_OWN, tasks=amounts, name=maybe_names
    ),
    cmd.NoteGraphTaskRetried: st.builds(
        cmd.NoteGraphTaskRetried,
        **_OWN,
        task=tasks,
        attempt=some,
        category=categories,
        pause_ms=amounts,
        exit_code=st.none() | amounts,
        reason=maybe_names,
        job_id=maybe,
    ),
    cmd.NoteGraphEnded: st.builds(
        cmd.NoteGraphEnded, **_OWN, phase=phases, tasks=amounts, failed=amounts
    ),
}
