"""One timeline, cut to what its reader may see: against a naive reference."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.journal.kinds import RecordKind
from bailiwick.telemetry.rows import FoundRows, LogRow, RecordRow, SpanRow
from bailiwick.telemetry.timeline import TimelineSource, cut, merge, runs

TENANTS = st.sampled_from([None, "lab", "rival"])
ROOTS = st.sampled_from([None, "r1", "r2"])
WHO = st.sampled_from(["ann", "bob", None])


@st.composite
def spans(draw: st.DrawFn) -> SpanRow:
    root, is_root = draw(ROOTS), draw(st.booleans())
    span_id = root if is_root and root is not None else draw(st.sampled_from(["s1", "s2"]))
    return SpanRow(
        "c",
        draw(st.integers(0, 9_000)),
        1,
        "x",
        "t",
        span_id,
        None,
        root,
        draw(WHO),
        draw(TENANTS),
        None,
        "{}",
    )


LOGS = st.builds(
    lambda at, root, tenant: LogRow("c", at, "info", "line", root, tenant, None, "{}"),
    st.integers(0, 9_000),
    ROOTS,
    TENANTS,
)
RECORDS = st.builds(
    lambda seq, tenant: RecordRow("c", seq, seq, "lease_renewed", tenant, None),
    st.integers(0, 9),
    TENANTS,
)
FOUND = st.builds(
    FoundRows,
    st.lists(spans(), max_size=5),
    st.lists(LOGS, max_size=4),
    st.lists(RECORDS, max_size=4, unique_by=lambda row: row.seq),
    st.booleans(),
)
SCOPES = st.sets(TENANTS)


def may(found: FoundRows, row: SpanRow | LogRow, who: str, scopes: set[str | None]) -> bool:
    """The rule, said once more and slowly."""
    if None in scopes:
        return True
    sees_all = not found.is_cut and all(each.tenant in scopes for each in found.records)
    if row.root_id is None:
        return sees_all and bool(found.records) and row.tenant in scopes and row.tenant is not None
    for span in found.spans:
        if span.span_id == span.root_id == row.root_id:
            if span.principal == who:
                return True
            if sees_all and span.tenant is not None and span.tenant in scopes:
                return True
    return False


@given(FOUND, SCOPES, st.sampled_from(["ann", "bob"]))
def test_what_is_seen_is_what_the_rule_says(
    found: FoundRows, scopes: set[str | None], who: str
) -> None:
    def sees(tenant: str | None, project: str | None) -> bool:
        del project
        return None in scopes or tenant in scopes  # the fleet's key reaches everywhere

    everywhere = {None, "lab", "rival"} if None in scopes else scopes
    seen = cut(found, principal=who, sees=sees)
    assert seen.records == [row for row in found.records if row.tenant in everywhere]
    assert seen.spans == [row for row in found.spans if may(found, row, who, scopes)]
    assert seen.logs == [row for row in found.logs if may(found, row, who, scopes)]


@dataclass(frozen=True)
class Sealed:
    """A record, as far as a timeline looks at it."""

    seq: int
    at_ms: int
    kind: RecordKind


SEALED = st.builds(
    Sealed,
    st.integers(0, 99),
    st.integers(0, 9),
    st.sampled_from([RecordKind.ADMISSION_APPROVED, RecordKind.LEASE_RENEWED]),
)


@given(
    st.lists(spans(), max_size=5),
    st.lists(LOGS, max_size=5),
    st.lists(SEALED, max_size=5, unique_by=lambda record: record.seq),
)
def test_the_merge_loses_nothing_and_is_in_order(
    made: list[SpanRow], logs: list[LogRow], sealed: list[Sealed]
) -> None:
    entries = merge(made, logs, records=[(each, {}) for each in sealed])
    assert len(entries) == len(made) + len(logs) + len(sealed)
    ranks = list(TimelineSource)
    keys = [(each.at_ms, ranks.index(each.source)) for each in entries]
    assert keys == sorted(keys)
    told = [each.details["seq"] for each in entries if "seq" in each.details]
    assert {*told} == {each.seq for each in sealed}
    for left, right in pairwise(entries):
        if left.source == right.source and left.at_ms == right.at_ms and "seq" in left.details:
            assert left.details["seq"] < right.details["seq"]


def test_sources_are_told_apart() -> None:
    root = SpanRow("c", 1500, 7, "lease.request", "t", "r", None, "r", "ann", "lab", "p", "{}")
    child = root._replace(name="kernel.call", span_id="s", parent_id="r")
    log = LogRow("c", 1700, "info", "hello", "r", None, None, json.dumps({"nodes": 2}))
    records = [
        (Sealed(4, 1, RecordKind.LEASE_RENEWED), {"tenant": "lab"}),
        (Sealed(3, 1, RecordKind.ADMISSION_APPROVED), {"tenant": "lab"}),
    ]
    entries = merge([child, root], [log], records=records)
    assert [(each.source, each.name) for each in entries] == [
        (TimelineSource.REQUEST, "lease.request"),
        (TimelineSource.SPAN, "kernel.call"),
        (TimelineSource.DECISION, "admission_approved"),
        (TimelineSource.EVENT, "lease_renewed"),
        (TimelineSource.LOG, "hello"),
    ]
    assert entries[0].details["principal"] == "ann"
    assert entries[-1].details == {"nodes": 2, "level": "info"}


@given(st.sets(st.integers(0, 30)))
def test_runs_cover_exactly_what_was_asked(seqs: set[int]) -> None:
    pieces = runs(RecordRow("c", seq, 0, "x", None, None) for seq in seqs)
    covered = [seq for first, count in pieces for seq in range(first, first + count)]
    assert covered == sorted(seqs)
    assert all(b[0] > a[0] + a[1] for a, b in pairwise(pieces))
