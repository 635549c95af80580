"""The isolation policy on the wire: what it says, what it would do or did, what was left behind."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from bailiwick.vocab.words import DomainKind
from bailiwick.wire.base import Model

POLICY_BYTES_MAX = 64 * 1024
"""Of a policy's text."""

_Kind = Annotated[DomainKind, Field(strict=False)]
_Severity = Literal["error", "warning", "note"]
_Text = Annotated[str, Field(max_length=POLICY_BYTES_MAX)]

SearchEndWord: TypeAlias = Literal[
    "complete", "time_over", "server_ending", "token_ended", "forbidden", "unavailable"
]
SearchQuestion: TypeAlias = Literal["rules", "excuse", "fault"]
StoryPhase: TypeAlias = Literal["away", "waiting", "claiming", "running", "leaving"]
StoryWord: TypeAlias = Literal[
    "arrive",
    "withdraw",
    "place",
    "preempt",
    "start",
    "evict",
    "leave",
    "finish",
    "lose",
    "regain",
    "unlabel",
    "label",
    "clear",
    "renew",
]


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


# -- a search for a way around a policy --------------------------------------------------------


class IsolationSearchWish(Model):
    """What is to be searched, and how far; without a text, the policy in force."""

    text: _Text | None = None
    jobs: Annotated[int, Field(ge=1, le=3)] = 3
    """Histories of one or two jobs are searched to their end; with three, up to ``steps``."""
    steps: Annotated[int, Field(ge=1, le=12)] = 6


class IsolationSearchProgress(Model):
    """How far a search is."""

    round: int
    rounds: int
    question: SearchQuestion
    sentence: str
    jobs: int
    steps: int
    """Of the longest histories in this round so far."""
    states: int
    """Looked at since the search began."""


class StoryJob(Model):
    """A job of a story, and whose it is."""

    job: str
    who: str
    tenant: str
    project: str | None


class StoryPlace(Model):
    """Where a job is after a step."""

    job: str
    phase: StoryPhase
    node: str | None
    seats: list[str]


class StoryStep(Model):
    """What happens, and where everybody is after it."""

    number: int
    do: StoryWord
    job: str | None
    who: str | None
    node: str | None
    rule: str | None
    sentence: str
    places: list[StoryPlace]
    lost: list[str]
    """Nodes that are lost."""


class StoryBroken(Model):
    """How a story ends: which rule, on which line of the text, is broken where and by whom."""

    rule: str
    line: int | None
    kind: _Kind | None
    """None for a rule about a node's labels."""
    domain: str
    jobs: list[str]
    sentence: str


class StoryExcuse(Model):
    """The exception, or the rule with hours, by which the policy lets it happen."""

    rule: str
    line: int | None


class IsolationStory(Model):
    """A way around the policy, step by step."""

    question: SearchQuestion
    sentence: str
    excuse: StoryExcuse | None
    fault: str | None
    nodes: list[str]
    jobs: list[StoryJob]
    steps: list[StoryStep]
    broken: list[StoryBroken]


class IsolationRound(Model):
    """What came of one round."""

    question: SearchQuestion
    sentence: str
    jobs: int
    states: int
    is_whole: bool
    """Whether all states that any number of steps leads to were looked at."""
    is_found: bool


class IsolationNothingFound(Model):
    """No way around the policy was found, and how far was looked."""

    sentence: str
    world: str
    states: int
    rounds: list[IsolationRound]


class IsolationSearchEnd(Model):
    """The last word, and why."""

    reason: SearchEndWord
    ways: int
    """How many stories were told."""
    sentence: str
