"""What is sealed of programs inside jobs, of every sort, for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bailiwick.kernel.owner import Owner
from bailiwick.kernel.work.execs import commands as cmd
from bailiwick.kernel.work.execs import events as ev
from bailiwick.vocab.execs import CopyDirection, ExecEnd
from tests.unit.journal.makers import amounts, names

maybe_names = st.none() | names
owners = st.builds(Owner, names, maybe_names)
some = amounts.map(lambda number: max(1, number))
ids = st.from_regex(r"[0-9a-f]{32}", fullmatch=True)
texts = st.text(st.characters(codec="utf-8"), max_size=200)
argvs = st.lists(texts, max_size=4).map(tuple)
ends = st.sampled_from(list(ExecEnd))
ways = st.sampled_from(list(CopyDirection))
maybe = st.none() | amounts

EVENTS: dict[type, st.SearchStrategy[Any]] = {
    ev.ExecStarted: st.builds(ev.ExecStarted, owners, some, some, ids, argvs, st.booleans()),
    ev.ExecEnded: st.builds(ev.ExecEnded, owners, some, ids, ends, maybe, maybe),
    ev.FilesCopied: st.builds(ev.FilesCopied, owners, some, ids, ways, texts),
}
_OWN: dict[str, Any] = {"tenant": names, "project": maybe_names, "job_id": some, "exec_id": ids}

COMMANDS: dict[type, st.SearchStrategy[Any]] = {
    cmd.NoteExecStarted: st.builds(
        cmd.NoteExecStarted, **_OWN, lease_id=some, argv=argvs, terminal=st.booleans()
    ),
    cmd.NoteExecEnded: st.builds(
        cmd.NoteExecEnded, **_OWN, end=ends, exit_code=maybe, signal=maybe
    ),
    cmd.NoteFilesCopied: st.builds(cmd.NoteFilesCopied, **_OWN, direction=ways, path=texts),
}
