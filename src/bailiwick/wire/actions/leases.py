"""Leases, requests for them, those that wait, and what was decided about them."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, TENANT, Action, Outcome, Where
from bailiwick.wire.answers import Done, Granted, Plan, Queued
from bailiwick.wire.base import Page
from bailiwick.wire.decisions import Decision, Explanation
from bailiwick.wire.fleet import Eviction, TeardownReport
from bailiwick.wire.foreseen import Supposed, WhatIf
from bailiwick.wire.trust import IssuedLeaseToken, TokenWish
from bailiwick.wire.work import JournalRecord, Lease, LeaseRequest, QueueEntry, Renewal

_P, _W = Permission, Where
_LEASE = "/v1/leases/{lease_id}"

# fmt: off
LEASE_REQUEST: Action[LeaseRequest, Granted | Queued] = Action(
    "lease.request", "Request a lease", "POST", "/v1/leases",
    _P.QUEUE_SUBMIT, _W.BODY, LeaseRequest, Granted | Queued, has_plan=True,
    outcomes={
        200: Outcome(Plan, "What would happen (dry run)"),
        201: Outcome(Granted, "The request runs"),
        202: Outcome(Queued, "The request waits"),
    })
LEASE_LIST = Action(
    "lease.list", "List leases", "GET", "/v1/leases",
    _P.LEASE_READ, _W.ROWS, NOTHING, Page[Lease])
LEASE_READ = Action(
    "lease.read", "Read a lease", "GET", _LEASE,
    _P.LEASE_READ, _W.LEASE, NOTHING, Lease)
LEASE_EXPLAIN = Action(
    "lease.explain", "Explain what became of a lease", "GET", _LEASE + "/explain",
    _P.LEASE_READ, _W.LEASE, NOTHING, Page[JournalRecord])
LEASE_RENEW = Action(
    "lease.renew", "Renew a lease", "POST", _LEASE + "/renew",
    _P.LEASE_HOLD, _W.LEASE, Renewal, Done)
LEASE_RELEASE = Action(
    "lease.release", "Release a lease", "DELETE", _LEASE,
    _P.LEASE_HOLD, _W.LEASE, NOTHING, Done)
LEASE_CHECKPOINT = Action(
    "lease.checkpoint", "Report a checkpoint of a lease's work", "POST", _LEASE + "/checkpoint",
    _P.LEASE_HOLD, _W.LEASE, NOTHING, Done)
LEASE_EVICT = Action(
    "lease.evict", "Evict a lease", "POST", _LEASE + "/evict",
    _P.LEASE_EVICT, _W.LEASE, Eviction, Done)
LEASE_TOKEN = Action(
    "lease.token", "Issue a lease token", "POST", _LEASE + "/tokens",
    _P.LEASE_HOLD, _W.LEASE, TokenWish, IssuedLeaseToken, status=201)
LEASE_CLEAR_FENCE = Action(
    "lease.clear_fence", "Clear a lease's fence", "POST", _LEASE + "/clear-fence",
    _P.NODE_OPERATE, _W.FLEET, NOTHING, Done)
LEASE_TEARDOWN = Action(
    "lease.teardown", "Report the teardown of a lease", "POST", _LEASE + "/teardown",
    _P.NODE_REPORT, _W.FLEET, TeardownReport, Done)
REQUEST_EXPLAIN = Action(
    "request.explain", "Explain a request before you make it", "POST", "/v1/leases/explain",
    _P.QUEUE_READ, _W.BODY, LeaseRequest, Explanation, is_question=True)
QUEUE_LIST = Action(
    "queue.list", "List waiting requests", "GET", "/v1/queue",
    _P.QUEUE_READ, _W.ROWS, NOTHING, Page[QueueEntry])
QUEUE_READ = Action(
    "queue.read", "Read a waiting request", "GET", "/v1/queue/{entry_id}",
    _P.QUEUE_READ, _W.ENTRY, NOTHING, QueueEntry)
QUEUE_WHATIF = Action(
    "queue.whatif", "Ask what would become of a waiting request", "POST",
    "/v1/queue/{entry_id}/whatif",
    _P.QUEUE_READ, _W.ENTRY, Supposed, WhatIf, is_question=True)
QUEUE_CANCEL = Action(
    "queue.cancel", "Cancel a waiting request", "DELETE", "/v1/queue/{entry_id}",
    _P.QUEUE_CANCEL, _W.ENTRY, NOTHING, Done)
DECISION_STORY = Action(
    "decision.story", "List what happened to a thing", "GET", "/v1/story",
    _P.TENANT_READ, _W.ROWS, NOTHING, Page[JournalRecord])
DECISION_LIST = Action(
    "decision.list", "List scheduling decisions", "GET", TENANT + "/decisions",
    _P.QUEUE_READ, _W.TENANT_ROWS, NOTHING, Page[Decision])
# fmt: on
