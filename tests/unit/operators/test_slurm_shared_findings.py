"""What is found in a shared Slurm that its partitions and its submit policy should not let be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.operators.slurm.shared.findings import (
    RunningJob,
    expand,
    meetings,
    nobodys,
    parse_running,
)
from bailiwick.operators.slurm.shared.mapping import SharedNode, SharedTerms
from bailiwick.vocab.errors import InvalidValue

MARK = "identity=ann@lab;project=vision;policy=-;user=ann"
projects = st.sampled_from(["audio", "text", "vision"])
kinds = st.sampled_from(["fabric", "host", "numa", "rack"])
names = st.sampled_from(["w1", "w2", "w3"])
jobs = st.lists(
    st.builds(
        RunningJob,
        st.integers(1, 99).map(str),
        projects,
        st.sets(names, min_size=1).map(lambda found: tuple(sorted(found))),
    ),
    max_size=6,
)
shared = st.sampled_from([("fabric", "x"), ("fabric", "y"), ("rack", "r1")])
fleets = st.lists(
    st.builds(SharedNode, names, st.none(), st.frozensets(shared)),
    unique_by=lambda node: node.name,
)
pairs = st.sets(projects, min_size=2, max_size=2).map(frozenset)
aparts = st.frozensets(st.tuples(kinds, pairs))


@given(jobs, fleets, aparts)
def test_two_meet_exactly_if_a_naive_look_at_every_two_jobs_says_so(
    jobs: list[RunningJob],
    nodes: list[SharedNode],
    apart: frozenset[tuple[str, frozenset[str]]],
) -> None:
    has = {node.name: node.domains for node in nodes}
    naive = set()
    for one in jobs:
        for other in jobs:
            for kind, pair in apart:
                if {one.account, other.account} != pair:
                    continue
                for here in one.nodes:
                    for there in other.nodes:
                        inner = (
                            {(kind, here)} if here == there and kind in ("host", "numa") else set()
                        )
                        common = has.get(here, frozenset()) & has.get(there, frozenset())
                        naive |= {(k, name, pair) for k, name in inner | common if k == kind}
    found = meetings(jobs, nodes, terms=SharedTerms(apart=apart))
    assert {(m.kind, m.domain, frozenset((m.one.account, m.other.account))) for m in found} == naive


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ("w1", ["w1"]),
        ("worker-[0-2]", ["worker-0", "worker-1", "worker-2"]),
        ("worker-[08-10,12],n1", ["worker-08", "worker-09", "worker-10", "worker-12", "n1"]),
    ],
)
def test_lists_of_nodes_are_read_as_slurm_writes_them(text: str, names: list[str]) -> None:
    assert [*expand(text)] == names


@pytest.mark.parametrize("text", ["a[1-2", "a[1-999999]", "[1]", "a,,b"])
def test_a_list_that_is_not_one_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        [*expand(text)]


def test_lines_of_running_jobs_are_read_strictly() -> None:
    assert parse_running("7|audio|w[1-2]\n") == [RunningJob("7", "audio", ("w1", "w2"))]
    with pytest.raises(InvalidValue):
        parse_running("7|audio\n")


def test_a_job_that_has_ended_without_a_mark_is_nobodys_and_a_probe_is_not_asked() -> None:
    rows = [
        f"2026-11-17T20:00:00|1|ann|vision|vision|{MARK}",
        "2026-11-17T20:00:00|2|ann|vision|vision|",
        "Unknown|3|ann|vision|vision|",
        "2026-11-17T20:00:00|4|bot|probe|probe|",
        f"2026-11-17T20:00:00|5|bob|vision|vision|{MARK}",
    ]
    found = nobodys("\n".join(rows), but="probe")
    assert [(each.job_id, str(each.reason)) for each in found] == [
        ("2", "no_mark"),
        ("5", "other_user"),
    ]
