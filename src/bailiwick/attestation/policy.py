"""What an operator asks of which nodes before they take leases: the gate's policy document.

Rules:

- A node belongs to the first pool, in the order they are written, with a pattern that fits its
  name; ``*`` is the only wildcard. A node in no pool is not gated.
- A requirement is made of kinds of evidence, ``and``, ``or`` and parentheses; ``and`` binds
  tighter. There is no ``not``: more evidence never makes a node less trusted.
- Reading is strict. A field that nobody knows, a value given twice and a number that is no whole
  one are faults. What stands in the section of a kind, its verifier reads.
- One policy has one text, however it was written; the digest is over that.

>>> policy = TrustPolicy.read('{"pools": {"gpu": {"nodes": ["gpu-*"], "require": "tpm2"}}}')
>>> policy.pool_of("gpu-7").max_age_ms
300000
>>> policy.pool_of("login-1") is None
True
>>> Requirement.read("tpm2 and (gpu_cc or nitro)").holds({EvidenceKind.TPM2})
False
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import product
from types import MappingProxyType
from typing import Any, Self

from bailiwick.attestation.policy_section import Section
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.strict_json import JsonFault, JsonRefused, StrictJson
from bailiwick.vocab.trust import EvidenceKind
from bailiwick.vocab.values import check_name

POLICY_BYTES_MAX = 48 * 1024
"""One document."""

POOLS_MAX = 64
PATTERN_LENGTH_MAX = 63
REQUIREMENT_LENGTH_MAX = 256
DAY_S = 86_400

_PATTERN = re.compile(r"[A-Za-z0-9*][A-Za-z0-9._*-]*")
_TOKEN = re.compile(r"\s*(\(|\)|[A-Za-z0-9_]+)")
_KINDS = tuple(EvidenceKind)
_READER = StrictJson(bytes_max=POLICY_BYTES_MAX)

_Ways = frozenset[frozenset[EvidenceKind]]


@dataclass(frozen=True, slots=True)
class Requirement:
    """Which kinds of evidence together are enough."""

    text: str
    kinds: frozenset[EvidenceKind]
    """Every kind it names."""
    ways: _Ways
    """The smallest sets of kinds each of which is enough."""

    @classmethod
    def read(cls, text: object, field: str = "require") -> Self:
        """The requirement that this text is, or what is wrong with it."""
        fault = InvalidValue(field, text, "kinds of evidence joined by and, or, ( )")
        if not isinstance(text, str):
            raise fault
        if len(text) > REQUIREMENT_LENGTH_MAX:
            raise InvalidValue(field, text, f"at most {REQUIREMENT_LENGTH_MAX} characters")
        tokens = _tokens(text, fault)
        ways = _read_ways(tokens, fault)
        named = frozenset(EvidenceKind(each) for each in tokens if each in set(_KINDS))
        spelled = " ".join(tokens).replace("( ", "(").replace(" )", ")")
        return cls(spelled, named, ways)

    def holds(self, kinds: Collection[EvidenceKind]) -> bool:
        """Whether evidence of these kinds is enough."""
        return any(way.issubset(kinds) for way in self.ways)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolRule:
    """What is asked of the nodes of one pool."""

    name: str
    nodes: tuple[str, ...]
    require: Requirement
    max_age_ms: int
    """How long evidence counts at most."""
    stale_grace_ms: int
    """How long a node whose evidence has lapsed keeps its leases."""
    nonce_life_ms: int
    """How long a node may take to answer."""
    sections: Mapping[EvidenceKind, Mapping[str, Any]] = field(compare=False, hash=False)
    """What each verifier is told; an empty one for a kind that is required and has none."""

    def has(self, node: str) -> bool:
        """Whether the node's name fits one of the patterns."""
        return any(_fits(pattern, node) for pattern in self.nodes)


@dataclass(frozen=True, slots=True)
class TrustPolicy:
    """The pools, in the order in which a node is looked up."""

    text: str
    digest: str
    pools: tuple[PoolRule, ...]

    @classmethod
    def read(cls, text: object) -> Self:
        """The policy that this document is; a fault names the field and the fix."""
        body = _parse(text)
        whole = Section("policy", body)
        section = whole.section("pools")
        whole.done()
        names = section.names()
        if len(names) > POOLS_MAX:
            raise InvalidValue(section.where, len(names), f"at most {POOLS_MAX} pools")
        pools = tuple(_read_pool(name, body["pools"][name]) for name in names)
        # Pools keep their order, which is their precedence; within one, order says nothing.
        told = (f"{_dump(name)}:{_dump(body['pools'][name])}" for name in names)
        canonical = '{"pools":{' + ",".join(told) + "}}"
        return cls(canonical, sha256(_encode(canonical)).hexdigest(), pools)

    def pool_of(self, node: str) -> PoolRule | None:
        """The rule of the first pool that the node is in."""
        return next((rule for rule in self.pools if rule.has(node)), None)


def _read_pool(name: str, body: object) -> PoolRule:
    check_name("pools key", name)
    where = f"pools.{name}"
    section = Section(where, body)
    nodes = section.texts("nodes")
    if not nodes:
        raise InvalidValue(f"{where}.nodes", "nothing", "at least one name or pattern")
    for index, pattern in enumerate(nodes):
        if len(pattern) > PATTERN_LENGTH_MAX or not _PATTERN.fullmatch(pattern):
            expected = "a node's name, with * for any characters"
            raise InvalidValue(f"{where}.nodes[{index}]", pattern, expected)
    require = Requirement.read(section.text("require"), f"{where}.require")
    rule = PoolRule(
        name=name,
        nodes=nodes,
        require=require,
        max_age_ms=1000 * section.integer("max_age_s", low=10, high=30 * DAY_S, default=300),
        stale_grace_ms=1000 * section.integer("stale_grace_s", low=0, high=30 * DAY_S, default=900),
        nonce_life_ms=1000 * section.integer("nonce_life_s", low=5, high=3600, default=60),
        sections=_read_sections(section, body, require),
    )
    section.done()
    return rule


def _read_sections(
    section: Section, body: object, require: Requirement
) -> Mapping[EvidenceKind, Mapping[str, Any]]:
    found: dict[EvidenceKind, Mapping[str, Any]] = {}
    for kind in _KINDS:
        if section.has(kind.value):
            section.section(kind.value)  # a map, or a fault that names it
            found[kind] = MappingProxyType(body[kind.value])  # type: ignore[index]
        elif kind in require.kinds:
            found[kind] = MappingProxyType({})
    return MappingProxyType(found)


# -- requirements ----------------------------------------------------------------------------


def _tokens(text: str, fault: InvalidValue) -> list[str]:
    found, at, text = [], 0, text.rstrip()
    while at < len(text):  # bounded: every round takes a character or more
        match = _TOKEN.match(text, at)
        if match is None:
            raise fault
        found.append(match[1])
        at = match.end()
    return found


def _read_ways(tokens: list[str], fault: InvalidValue) -> _Ways:
    """The sets of kinds that are enough. Each open parenthesis is one level of ``levels``."""
    # A level is what its finished alternatives allow, and the one being read, if it has begun.
    levels: list[tuple[_Ways, _Ways | None]] = [(frozenset(), None)]
    is_value_next = True
    for token in tokens:
        done, current = levels[-1]
        if is_value_next != (token not in ("and", "or", ")")):
            raise fault
        match token:
            case "(":
                levels.append((frozenset(), None))
            case ")":
                if len(levels) == 1:
                    raise fault
                levels.pop()
                _take(levels, _least(done | (current or frozenset())))
            case "and":
                is_value_next = True
            case "or":
                levels[-1] = (done | (current or frozenset()), None)
                is_value_next = True
            case _:
                _take(levels, frozenset({frozenset({_kind(token, fault)})}))
                is_value_next = False
    done, current = levels[0]
    if is_value_next or len(levels) > 1:
        raise fault
    return _least(done | (current or frozenset()))


def _take(levels: list[tuple[_Ways, _Ways | None]], value: _Ways) -> None:
    """One more operand of the alternative being read: both must hold."""
    done, current = levels[-1]
    if current is not None:
        value = _least(frozenset(one | other for one, other in product(current, value)))
    levels[-1] = (done, value)


def _least(ways: _Ways) -> _Ways:
    """Without those that ask for more than another does; so there are never many (35 at most)."""
    return frozenset(way for way in ways if not any(other < way for other in ways))


def _kind(token: str, fault: InvalidValue) -> EvidenceKind:
    try:
        return EvidenceKind(token)
    except ValueError:
        expected = "kinds of evidence (" + ", ".join(_KINDS) + ") joined by and, or, ( )"
        raise InvalidValue(fault.field, token, expected) from None


# -- names and text --------------------------------------------------------------------------


def _fits(pattern: str, name: str) -> bool:
    """Whether the name has the pattern's pieces in order; one pass, whatever the pattern."""
    first, *rest = pattern.split("*")
    if not rest:
        return name == pattern
    *middle, last = rest
    if not name.startswith(first) or not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        found = name.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return at <= end


def _parse(text: object) -> Any:
    if not isinstance(text, str):
        raise InvalidValue("policy", text, "a document in JSON")
    try:
        return _READER.read(_encode(text))
    except JsonRefused as refused:
        raise InvalidValue("policy", refused.value, _expected(refused)) from None


def _encode(text: str) -> bytes:
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        raise InvalidValue("policy", text, "text without lone surrogates") from None
    if len(raw) > POLICY_BYTES_MAX:
        raise InvalidValue("policy", f"{len(raw)} bytes", f"at most {POLICY_BYTES_MAX} bytes")
    return raw


def _expected(refused: JsonRefused) -> str:
    match refused.fault:
        case JsonFault.TOO_LONG:
            return refused.why
        case JsonFault.TOO_DEEP:
            return "JSON that is not nested so deep"
        case JsonFault.DUPLICATE_KEY:
            return "each field once"
        case JsonFault.NOT_AN_INTEGER:
            return "whole numbers"
        case JsonFault.NOT_JSON | JsonFault.NOT_UTF8 | JsonFault.TRAILING_DATA:
            return f"a document in JSON ({refused.why}, line {refused.line})"


def _dump(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
