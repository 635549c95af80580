"""Placements in a file: strictly read, and back."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.placement_json import (
    FORMAT,
    PlacedWork,
    PlacementFile,
    read_placements,
    spell_placements,
)
from bailiwick.isolation.placements import Residue, Site
from bailiwick.vocab.errors import InvalidValue
from tests.support.isolation_policies import sites, subjects

NODE = {"name": "n1", "caches": [{"cores_milli": 1000}, {"cores_milli": 1000, "numa": 1}]}
WORK = {"id": "1", "tenant": "a", "node": "n1"}


def document(**changed: Any) -> bytes:
    whole = {"format": FORMAT, "nodes": [NODE], "placements": [WORK], **changed}
    return json.dumps(whole).encode()


@st.composite
def files(draw: st.DrawFn) -> PlacementFile:
    fleet = draw(sites())
    work = []
    for number in range(draw(st.integers(0, 4))):
        site: Site = draw(st.sampled_from(fleet))
        caches = st.sets(st.integers(0, site.topology.cache_count - 1)).map(tuple)
        devices = st.sets(st.integers(0, len(site.fabrics) - 1)).map(tuple)
        work.append(
            PlacedWork(
                str(number),
                draw(subjects),
                site.node,
                draw(st.none() | caches),
                draw(st.none() | devices) if site.fabrics else None,
                draw(st.integers(0, 9)),
                draw(st.none() | st.integers(0, 9)),
            )
        )
    kinds = st.sampled_from([*DomainKind])
    residue = st.builds(Residue, st.just("r"), kinds, st.just("d"), st.integers(0, 9))
    return PlacementFile(
        fleet, tuple(work), tuple(draw(st.lists(residue, max_size=1))), draw(st.none() | st.just(7))
    )


@given(files())
def test_a_file_reads_back(found: PlacementFile) -> None:
    again = read_placements(spell_placements(found).encode())
    assert again == found
    assert again.placements == found.placements


def test_work_holds_what_the_file_says_and_all_of_what_it_does_not_say() -> None:
    one, two = read_placements(
        document(placements=[{**WORK, "caches": [1]}, {**WORK, "id": "2"}])
    ).placements
    assert one.domains[DomainKind.CACHE] == {"n1/cache1"}
    assert two.domains[DomainKind.NUMA] == {"n1/numa0", "n1/numa1"}


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b"[]", "the document: expected an object"),
        (b"{", "placements: expected JSON"),
        (b'{"format": "bailiwick.placements/2"}', "format: expected 'bailiwick.placements/1'"),
        (document(nodse=[]), "the document: key: expected one of format, nodes, now_ms"),
        (document(nodes=[{**NODE, "gpu": []}]), r"nodes\[0\]: key: expected one of caches, gpus"),
        (document(nodes=[NODE, NODE]), "nodes: expected each name once, got 'n1'"),
        (document(nodes={}), "nodes: expected a list"),
        (document(nodes=[{"name": ""}]), r"nodes\[0\].name: expected 1 to 253"),
        (document(nodes=[{"name": "n1", "caches": [{}]}]), r"caches\[0\].cores_milli: expected"),
        (document(nodes=[{"name": "n1", "labels": {"a": 1}}]), r"nodes\[0\].labels.a: expected"),
        (document(nodes=[]), r"placements\[0\].node: expected a node of the file, got 'n1'"),
        (document(placements=[WORK, WORK]), "placements: expected each id once, got '1'"),
        (document(placements=[{**WORK, "caches": [2]}]), "expected one of the node's 2, counted"),
        (document(placements=[{**WORK, "devices": [0]}]), "expected one of the node's 0"),
        (document(placements=[{**WORK, "until_ms": -1}]), r"placements\[0\].until_ms: expected"),
        (document(placements=[{**WORK, "tenant": "\x1b[1m"}]), "characters that can be seen"),
        (document(residues=[{"rule": "r", "kind": "hots", "domain": "n1"}]), "one of cache"),
    ],
)
def test_what_is_not_the_format_is_refused_by_its_place(raw: bytes, told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        read_placements(raw)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda x: (
            st.lists(x)
            | st.dictionaries(
                st.sampled_from(
                    ["format", "nodes", "placements", "name", "id", "caches", "labels"]
                ),
                x,
            )
        ),
    )
)
def test_any_document_is_read_or_refused(value: Any) -> None:
    if isinstance(value, dict):
        value = {**value, "format": FORMAT}
    with contextlib.suppress(InvalidValue):
        read_placements(json.dumps(value).encode())
