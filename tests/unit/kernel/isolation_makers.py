"""Policies of isolation, what was scrubbed and who was found in the wrong place, for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.kernel.isolation import commands as cmd
from bailiwick.kernel.isolation import events as ev
from bailiwick.vocab.words import DomainKind
from tests.unit.journal.makers import names

kinds = st.sampled_from(list(DomainKind))
ids = st.integers(1, INTEGER_MAX)
domains = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200)
lines = st.sampled_from(
    [
        "never share cache, fabric between tenant acme and tenant umbrella",
        "dedicated rack for tenant bank  # theirs",
        "tenant bank only on nodes with attested.boot=measured",
        "at most 2 of tenant acme per rack",
        "keep host for tenant bank 10m after it left",
        "",
        "# nothing",
    ]
)
texts = st.lists(lines, max_size=40).map("\n".join)
EVENTS: dict[type[Any], st.SearchStrategy[Any]] = {
    ev.IsolationPolicySet: st.builds(ev.IsolationPolicySet, ids, texts),
    ev.IsolationEnforced: st.builds(ev.IsolationEnforced, texts, ids, ids),
    ev.DomainScrubbed: st.builds(ev.DomainScrubbed, kinds, domains),
    ev.IsolationViolated: st.builds(
        ev.IsolationViolated,
        ids,
        names,
        domains,
        st.none() | kinds,
        st.lists(ids, max_size=3).map(tuple),
    ),
}
COMMANDS: dict[type[Any], st.SearchStrategy[Any]] = {
    cmd.SetIsolationPolicy: st.builds(cmd.SetIsolationPolicy, texts, st.none() | st.integers(0, 9)),
    cmd.EnforceIsolation: st.builds(cmd.EnforceIsolation, texts),
    cmd.ScrubDomain: st.builds(cmd.ScrubDomain, kinds, domains),
}
