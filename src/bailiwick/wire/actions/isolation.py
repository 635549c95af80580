"""Who may not meet whom: the policy in force, what another would do or does, what was cleaned."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, Action, Stream, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.isolation import (
    DomainScrub,
    IsolationEnforcement,
    IsolationLint,
    IsolationPolicy,
    IsolationPolicyChange,
    IsolationPreview,
    IsolationSearchWish,
)

_P, _W = Permission, Where

# fmt: off
ISOLATION_READ = Action(
    "isolation.read", "Read the isolation policy", "GET", "/v1/isolation/policy",
    _P.ISOLATION_READ, _W.FLEET, NOTHING, IsolationPolicy)
ISOLATION_SET = Action(
    "isolation.set", "Set the isolation policy", "PUT", "/v1/isolation/policy",
    _P.ISOLATION_SET, _W.FLEET, IsolationPolicyChange, Done)
ISOLATION_PREVIEW = Action(
    "isolation.preview", "Preview an isolation policy", "POST", "/v1/isolation/preview",
    _P.ISOLATION_READ, _W.FLEET, IsolationPolicyChange, IsolationPreview, is_question=True)
ISOLATION_LINT = Action(
    "isolation.lint", "Lint an isolation policy", "POST", "/v1/isolation/lint",
    _P.ISOLATION_READ, _W.FLEET, IsolationPolicyChange, IsolationLint, is_question=True)
ISOLATION_SEARCH = Action(
    "isolation.search", "Search for a way around an isolation policy", "POST",
    "/v1/isolation/search",
    _P.ISOLATION_READ, _W.FLEET, IsolationSearchWish, Stream, is_question=True)
ISOLATION_ENFORCE = Action(
    "isolation.enforce", "Enforce an isolation policy once", "POST", "/v1/isolation/enforce",
    _P.ISOLATION_SET, _W.FLEET, IsolationPolicyChange, IsolationEnforcement)
ISOLATION_SCRUB = Action(
    "isolation.scrub", "Scrub a domain", "POST", "/v1/isolation/scrub",
    _P.ISOLATION_SET, _W.FLEET, DomainScrub, Done)
# fmt: on
