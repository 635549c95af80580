"""The isolation policy on the wire: what it says, what it would do or did, what was left behind."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bailiwick.vocab.words import DomainKind
from bailiwick.wire.base import Model

POLICY_BYTES_MAX = 64 * 1024
"""Of a policy's text."""

_Kind = Annotated[DomainKind, Field(strict=False)]
_Severity = Literal["error", "warning", "note"]
_Text = Annotated[str, Field(max_length=POLICY_BYTES_MAX)]


class IsolationResidue(Model):
    """A domain that is kept for those who left it."""

    rule: str
    kind: _Kind
    domain: str
    left_ms: int
    until_ms: int | None
    """None: until it is scrubbed."""


class IsolationPolicy(Model):
    """The policy in force, as the text that was set; the ``ETag`` is its version."""

    version: int
    """0 if none was ever set."""
    text: str
    rules: int
    set_ms: int
    residues: list[IsolationResidue]


class IsolationPolicyChange(Model):
    """The text that is to be the policy from now on, as a whole."""

    text: _Text


class IsolationProblem(Model):
    """One thing that is wrong with a text, at which character (both from 1)."""

    line: int
    column: int
    found: str
    """What stands there; empty for the end of the statement."""
    sentence: str
    nearest: str | None
    """What may have been meant."""


class IsolationFinding(Model):
    """What is to know about a policy that is well written."""

    severity: _Severity
    code: str
    rule: str | None
    line: int | None
    sentence: str
    fix: str | None


class IsolationLint(Model):
    """What is wrong with a text; only one without problems has findings."""

    problems: list[IsolationProblem]
    findings: list[IsolationFinding]


class IsolationLeaver(Model):
    """A lease that would have to go: the rule, where, and beside which leases."""

    lease_id: int
    tenant: str
    project: str | None
    node: str
    rule: str
    kind: _Kind | None
    """None for a rule about a node's labels."""
    domain: str
    partners: list[int]
    is_along: bool
    """Whether it would go only because its gang does."""


class IsolationNever(Model):
    """A waiting request that no node could run any more, and the rule by which."""

    entry_id: int
    tenant: str
    project: str | None
    rule: str


class IsolationPreview(Model):
    """What a policy would do to what runs and waits now; lists hold the first of many."""

    version: int
    """The one in force, on top of which this was found out."""
    rules: int
    leaving: int
    """How many leases would have to go."""
    leavers: list[IsolationLeaver]
    never: list[IsolationNever]


class IsolationRecovered(Model):
    """A lease that was evicted: the rule, where, and beside which leases."""

    lease_id: int
    rule: str
    kind: _Kind | None
    """None for a rule about a node's labels."""
    domain: str
    partners: list[int]


class IsolationEnforcement(Model):
    """Who had to go by a policy; the list holds the first of many, and none in a dry run."""

    seq: int | None
    """Of the record; ``null`` if it was a dry run, or nobody had to go."""
    violations: int
    leases: int
    """How many were evicted: those that broke a rule, and their gangs."""
    recovered: list[IsolationRecovered]


class DomainScrub(Model):
    """A domain of which somebody made sure that nothing of those who left is in it."""

    kind: _Kind
    domain: Annotated[str, Field(min_length=1, max_length=256)]
