"""The gate's policy document: what is read, what is refused and by which name."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.attestation.policy import POLICY_BYTES_MAX, POOLS_MAX, Requirement, TrustPolicy
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind

POOL: dict[str, Any] = {"nodes": ["gpu-*"], "require": "tpm2 and gpu_cc"}
WORDS = [kind.value for kind in EvidenceKind]
kinds = st.sampled_from(WORDS)
requirements = st.recursive(
    kinds,
    lambda inner: (
        st.tuples(inner, st.sampled_from([" and ", " or "]), inner).map("".join)
        | inner.map(lambda text: f"({text})")
    ),
    max_leaves=8,
)


def read(**pools: Any) -> TrustPolicy:
    return TrustPolicy.read(json.dumps({"pools": pools}))


# --- requirements -------------------------------------------------------------------------------


@given(text=requirements, held=st.sets(kinds))
def test_a_requirement_holds_when_python_says_that_it_does(text: str, held: set[str]) -> None:
    if len(text) > 256:
        return
    required = Requirement.read(text)
    expected = eval(text, {}, {word: word in held for word in WORDS})
    assert required.holds({EvidenceKind(word) for word in held}) is expected
    assert required.kinds == {word for word in WORDS if re.search(rf"\b{word}\b", text)}
    again = Requirement.read(required.text)
    assert (again.text, again.ways, again.kinds) == (required.text, required.ways, required.kinds)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "and", "tpm2 and", "or tpm2", "tpm2 gpu_cc", "tpm2 and or gpu_cc", "not tpm2"),
        *("(tpm2", "tpm2)", "()", "(tpm2) (gpu_cc)", "tpm2()", "tpm2 & gpu_cc", "TPM2", "tpm"),
        *("tpm2 xor nitro", "tpm2\x00", "(" * 300 + "tpm2" + ")" * 300, 7, None, ["tpm2"]),
    ],
)
def test_what_is_no_requirement_is_refused_by_its_field(text: object) -> None:
    with pytest.raises(InvalidValue) as caught:
        Requirement.read(text, "pools.gpu.require")
    assert caught.value.field == "pools.gpu.require"


def test_an_unknown_kind_is_told_with_those_there_are() -> None:
    with pytest.raises(InvalidValue, match=r"tpm2, nitro, gpu_cc.*got 'tpm1'"):
        Requirement.read("tpm1")


def test_a_requirement_of_many_alternatives_stays_small() -> None:
    every = "(" + " or ".join(WORDS) + ")"
    required = Requirement.read(" and ".join([every] * 3))
    assert len(required.ways) == len(WORDS)


# --- pools --------------------------------------------------------------------------------------


def test_a_node_is_in_the_first_pool_with_a_pattern_that_fits() -> None:
    policy = read(
        special={"nodes": ["gpu-7"], "require": "nitro"},
        gpu={**POOL, "max_age_s": 600, "stale_grace_s": 5, "nonce_life_s": 30},
        rest={"nodes": ["*"], "require": "ed25519"},
    )
    found = [policy.pool_of(name) for name in ("gpu-7", "gpu-8", "login")]
    assert [rule.name for rule in found if rule is not None] == ["special", "gpu", "rest"]
    gpu = policy.pools[1]
    assert (gpu.max_age_ms, gpu.stale_grace_ms, gpu.nonce_life_ms) == (600_000, 5_000, 30_000)


def test_the_order_of_pools_is_their_precedence_and_part_of_the_policy() -> None:
    one, other = {"nodes": ["*"], "require": "tpm2"}, {"nodes": ["*"], "require": "nitro"}
    first, second = read(a=one, b=other), read(b=other, a=one)
    assert first.digest != second.digest
    found = [policy.pool_of("x") for policy in (first, second)]
    assert [rule.name for rule in found if rule is not None] == ["a", "b"]


def test_a_node_in_no_pool_is_asked_for_nothing() -> None:
    assert read(gpu=POOL).pool_of("cpu-1") is None
    assert TrustPolicy.read('{"pools": {}}').pool_of("cpu-1") is None


@given(
    pattern=st.text("ab-*", min_size=1, max_size=8).filter(lambda text: text[0] != "-"),
    name=st.text("ab-", max_size=8),
)
def test_a_pattern_fits_as_a_shell_would_say(pattern: str, name: str) -> None:
    policy = read(p={"nodes": [pattern], "require": "tpm2"})
    assert (policy.pool_of(name) is not None) == fnmatchcase(name, pattern)


def test_a_pattern_full_of_wildcards_takes_no_longer_than_another() -> None:
    policy = read(p={"nodes": ["a*" * 31], "require": "tpm2"})
    assert policy.pool_of("a" * 30 + "b" * 33) is None


def test_the_sections_of_required_kinds_are_there_and_others_may_be() -> None:
    policy = read(gpu={**POOL, "tpm2": {"pcrs": [0, 7]}, "ed25519": {"keys": []}})
    sections = policy.pools[0].sections
    assert dict(sections[EvidenceKind.TPM2]) == {"pcrs": [0, 7]}
    assert set(sections) == {EvidenceKind.TPM2, EvidenceKind.GPU_CC, EvidenceKind.ED25519}
    assert dict(sections[EvidenceKind.GPU_CC]) == {}


# --- the text -----------------------------------------------------------------------------------


def test_one_policy_has_one_text_however_it_is_written() -> None:
    document = {"pools": {"gpu": {**POOL, "tpm2": {"b": 1, "a": "é"}}}}
    loose = json.dumps(document, indent=3)
    turned = json.dumps(
        {"pools": {"gpu": {"tpm2": {"a": "é", "b": 1}, **dict(reversed(list(POOL.items())))}}}
    )
    policy = TrustPolicy.read(loose)
    assert TrustPolicy.read(turned) == policy == TrustPolicy.read(policy.text)
    assert "é" in policy.text
    assert " :" not in policy.text


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ("", "JSON"),
        ("[]", "a map"),
        ("{", "JSON"),
        ('{"pools": {}} x', "JSON"),
        ('{"pools": [], "x": 1}', "a map"),
        ('{"pools": {}, "other": 1}', "other"),
        ('{"pools": {"a": {}, "a": {}}}', "each field once"),
        ('{"pools": {"a b": {"nodes": ["x"], "require": "tpm2"}}}', "a b"),
        ('{"pools": {"a": {"require": "tpm2"}}}', "pools.a.nodes"),
        ('{"pools": {"a": {"nodes": [], "require": "tpm2"}}}', "at least one"),
        ('{"pools": {"a": {"nodes": "x", "require": "tpm2"}}}', "pools.a.nodes"),
        ('{"pools": {"a": {"nodes": ["x?"], "require": "tpm2"}}}', r"pools.a.nodes\[0\]"),
        ('{"pools": {"a": {"nodes": [""], "require": "tpm2"}}}', r"pools.a.nodes\[0\]"),
        ('{"pools": {"a": {"nodes": ["x"]}}}', "pools.a.require"),
        ('{"pools": {"a": {"nodes": ["x"], "require": "tpm2", "max_age": 5}}}', "max_age"),
        ('{"pools": {"a": {"nodes": ["x"], "require": "tpm2", "max_age_s": 1}}}', "max_age_s"),
        ('{"pools": {"a": {"nodes": ["x"], "require": "tpm2", "max_age_s": 60.0}}}', "whole"),
        ('{"pools": {"a": {"nodes": ["x"], "require": "tpm2", "max_age_s": true}}}', "max_age_s"),
        ('{"pools": {"a": {"nodes": ["x"], "require": "tpm2", "tpm2": []}}}', "pools.a.tpm2"),
        ('{"pools": {"a": {"nodes": ["x"], "require": "tpm2", "tpm2": {"n": NaN}}}}', "whole"),
        ('{"pools": {"a": {"nodes": ["x"], "require": "tpm2", "tpm2": {"t": "\\ud800"}}}}', "lone"),
        ('{"pools": ' + "[" * 20_000 + "]" * 20_000 + "}", "deep|map"),
        ('{"pools": {"a": ' + "1" * 5_000 + "}}", "whole"),
        (" " * (POLICY_BYTES_MAX + 1), "at most 49152 bytes"),
        (b"{}", "JSON"),
        (None, "JSON"),
    ],
)
def test_a_fault_names_the_field_and_the_fix(document: object, told: str) -> None:
    with pytest.raises(InvalidValue, match=told):
        TrustPolicy.read(document)


def test_there_are_only_so_many_pools() -> None:
    pools = {f"p{n}": POOL for n in range(POOLS_MAX + 1)}
    with pytest.raises(InvalidValue, match="at most 64 pools"):
        read(**pools)


@given(text=st.text(max_size=60) | st.text('{}[]":,pols01.\\u ', max_size=60))
def test_any_text_is_a_policy_or_a_fault_of_ours(text: str) -> None:
    try:
        policy = TrustPolicy.read(text)
    except InvalidValue:
        return
    assert TrustPolicy.read(policy.text) == policy
