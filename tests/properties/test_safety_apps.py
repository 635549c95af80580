"""Apps against naive references: overlays, manifests, parameters, upgrades, versions."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from bailiwick.apps.manifest import Manifest
from bailiwick.apps.overlays import (
    NOBODY,
    Overlay,
    PolicyLine,
    RuleKind,
    find_broadening,
    fold,
)
from bailiwick.apps.parameters import check_parameters, check_schema
from bailiwick.apps.reading import load_manifest, read_canonical
from bailiwick.apps.semver import order
from bailiwick.apps.upgrades import find_cycle
from bailiwick.vocab.apps import Channel, OperatingMode, PolicyAxis, PolicyLimit
from tests.support.app_manifests import VERSIONS, manifests

VALUES = {
    PolicyAxis.VERSIONS: ["1.0.0", "1.1.0", "2.0.0"],
    PolicyAxis.REGIONS: ["east", "west"],
    PolicyAxis.SKUS: ["h100", "a100"],
    PolicyAxis.SOURCES: ["main", "own"],
    PolicyAxis.CHANNELS: [*Channel],
    PolicyAxis.OPERATING_MODES: [*OperatingMode],
}


def _lists() -> st.SearchStrategy[dict[PolicyAxis, tuple[str, ...]]]:
    rows = {
        axis: st.lists(st.sampled_from(values), unique=True).map(tuple)
        for axis, values in VALUES.items()
    }
    return st.fixed_dictionaries({}, optional=rows)


OVERLAYS = st.builds(
    Overlay,
    allow=_lists(),
    deny=_lists(),
    limits=st.dictionaries(st.sampled_from(PolicyLimit), st.integers(0, 9)),
)
SOURCES = ("fleet", "lab", "lab/vision")


@st.composite
def lines(draw: st.DrawFn) -> list[PolicyLine]:
    kept = [each for each in SOURCES if draw(st.booleans())]
    return [
        PolicyLine(each, draw(st.booleans()), draw(OVERLAYS), is_fleet=each == "fleet")
        for each in kept
    ]


def _passes(line: PolicyLine, axis: PolicyAxis, value: str) -> bool:
    """Naively: whether one line lets a value pass."""
    if value in line.overlay.deny.get(axis, ()):
        return False
    return axis not in line.overlay.allow or value in line.overlay.allow[axis]


@given(lines())
def test_the_fold_is_the_intersection_and_never_broader_than_a_line(
    found: list[PolicyLine],
) -> None:
    policy = fold(found)
    for axis, values in VALUES.items():
        for value in values:
            naive = [line.source for line in found if not _passes(line, axis, value)]
            assert policy.why_not(axis, value) == (naive[0] if naive else None)
            allowed = policy.allowed(axis)
            if allowed is not None:
                assert (value in allowed) == (not naive)
            else:
                assert (value in policy.denied(axis)) == bool(naive)
    for limit in PolicyLimit:
        told = [line.overlay.limits[limit] for line in found if limit in line.overlay.limits]
        least = policy.limit(limit)
        assert (None if least is None else least[0]) == (min(told) if told else None)
    enables = any(line.enabled for line in found if not line.is_fleet)
    assert policy.is_enabled == (enables and all(line.enabled for line in found))


@given(lines())
def test_every_line_in_force_names_a_source_that_says_so(found: list[PolicyLine]) -> None:
    by_name = {line.source: line for line in found}
    told = fold(found).explain()
    assert {each.what for each in told} == {"enabled", *PolicyAxis, *PolicyLimit}
    for each in told:
        assert each.sources
        for source in each.sources:
            if source == NOBODY:
                assert each.values in (None, ("no",))
                continue
            overlay = by_name[source].overlay
            match each.rule:
                case RuleKind.ENABLED:
                    assert by_name[source].enabled == (each.values == ("yes",))
                case RuleKind.ALLOW:
                    assert {*(each.values or ())} <= {*overlay.allow[PolicyAxis(each.what)]}
                case RuleKind.DENY:
                    assert (each.values or ("",))[0] in overlay.deny[PolicyAxis(each.what)]
                case RuleKind.LIMIT:
                    assert each.values == (str(overlay.limits[PolicyLimit(each.what)]),)


@given(lines(), OVERLAYS, st.booleans())
def test_a_line_is_refused_exactly_if_it_would_allow_what_one_above_does_not(
    above: list[PolicyLine], overlay: Overlay, enabled: bool
) -> None:
    broader = enabled and any(not line.enabled for line in above)
    for axis, values in overlay.allow.items():
        broader |= any(not _passes(line, axis, value) for line in above for value in values)
    for limit, count in overlay.limits.items():
        broader |= any(count > line.overlay.limits.get(limit, count) for line in above)
    found = find_broadening(above, overlay, enabled=enabled)
    assert (found is not None) == broader
    if found is not None:
        assert found.source in {line.source for line in above}


@given(manifests())
def test_a_manifest_is_what_its_canonical_form_says(found: Manifest) -> None:
    assert found.canonical.encode() == rfc8785.dumps(found.plain())
    assert read_canonical(found.canonical) == found
    again = load_manifest(json.dumps(found.plain(), indent=1))  # another spelling of the same
    assert again == found
    assert again.digest == found.digest


# Schemas of our part of the standard, right and wrong, and values near them.
_NUMBERS = st.integers(-3, 3)
_LEAVES = st.one_of(_NUMBERS, st.booleans(), st.text("ab", max_size=3), st.none())
JSON = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)


def _schema(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    counts = st.integers(0, 3)
    return st.fixed_dictionaries(
        {"type": st.sampled_from(["object", "array", "string", "integer", "boolean"])},
        optional={
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
            "required": st.lists(st.sampled_from("abc"), unique=True),
            "additionalProperties": st.booleans(),
            "items": inner,
            "enum": st.lists(JSON, min_size=1, max_size=3),
            "const": JSON,
            "uniqueItems": st.booleans(),
            **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength"), counts),
            **dict.fromkeys(("minimum", "maximum"), _NUMBERS),
        },
    )


SCHEMAS = st.recursive(_schema(st.just({"type": "integer"})), _schema, max_leaves=4)


@given(SCHEMAS.map(lambda found: found | {"type": "object"}), JSON)
@settings(max_examples=300)
def test_parameters_are_judged_as_the_standard_judges_them(
    schema: dict[str, Any], value: object
) -> None:
    assert check_schema(schema) == []
    Draft202012Validator.check_schema(schema)
    expected = Draft202012Validator(schema).is_valid(value)
    assert (not check_parameters(schema, value)) == expected


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), max_size=6))
def test_a_circle_of_upgrades_is_found_exactly_if_there_is_one(
    paths: list[tuple[str, str]],
) -> None:
    ways = {
        (*some, some[0])
        for count in range(1, 5)
        for some in permutations("abcd", count)
        if all(step in paths for step in zip(some, (*some[1:], some[0]), strict=True))
    }
    found = find_cycle(paths)
    assert bool(found) == bool(ways)
    assert not found or found in ways


@given(VERSIONS, VERSIONS)
def test_a_version_before_its_release_comes_before_it(one: str, other: str) -> None:
    assert (order(one) == order(other)) == (one == other)
    plain = one.partition("-")[0]
    assert order(one) <= order(plain)
