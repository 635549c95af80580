"""Shared runtimes: what a tenant shares, projects' part in it, and who may use whose queues."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, TENANT, Action, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.instances import CallDone, NewCall
from bailiwick.wire.shared import (
    AcceptedSettlement,
    CredentialUse,
    NewOperatorToken,
    NewSettlement,
    NewSharedRuntime,
    NewSharedSubmit,
    NewSharedUse,
    NewSubmitPolicy,
    OperatorToken,
    SettlementPlan,
    SharedPlacement,
    SharedPlan,
    SharedRuntimeDone,
    SharedRuntimeRow,
    SharedRuntimeView,
    SharedRuntimeWish,
    SharedUsage,
    SubmitQuestion,
    SubmitVerdict,
    WorkerChange,
)

_P, _W = Permission, Where
_ALL = TENANT + "/runtimes"
_ONE = _ALL + "/{runtime}"
_PART = _ONE + "/projects/{project}"

# fmt: off
SHARED_RUNTIME_LIST = Action(
    "shared_runtime.list", "List a tenant's shared runtimes", "GET", _ALL,
    _P.RUNTIME_READ, _W.TENANT_ROWS, NOTHING, Page[SharedRuntimeRow])
SHARED_RUNTIME_PLAN = Action(
    "shared_runtime.plan", "Show who would pay for what of a shared runtime", "POST",
    TENANT + "/runtime-plans", _P.RUNTIME_MANAGE, _W.TENANT, SharedRuntimeWish, SharedPlan,
    is_question=True)
SHARED_RUNTIME_CREATE = Action(
    "shared_runtime.create", "Create a shared runtime", "POST", _ALL,
    _P.RUNTIME_MANAGE, _W.TENANT, NewSharedRuntime, SharedRuntimeDone)
SHARED_RUNTIME_READ = Action(
    "shared_runtime.read", "Read a shared runtime", "GET", _ONE,
    _P.RUNTIME_READ, _W.TENANT_ROWS, NOTHING, SharedRuntimeView)
SHARED_RUNTIME_DELETE = Action(
    "shared_runtime.delete", "Delete a shared runtime", "DELETE", _ONE,
    _P.RUNTIME_MANAGE, _W.TENANT, NOTHING, Done)
SHARED_RUNTIME_OPERATOR_TOKEN = Action(
    "shared_runtime.operator_token", "Issue a token for a runtime's operator", "POST",
    _ONE + "/operator-token", _P.RUNTIME_MANAGE, _W.TENANT, NewOperatorToken, OperatorToken,
    once=True)
SHARED_RUNTIME_NOTE_USE = Action(
    "shared_runtime.note_use", "Note that a runtime's credential was used", "POST",
    _ONE + "/credential-uses", _P.INSTANCE_UPDATE, _W.TENANT, CredentialUse, Done)
SHARED_WORKER_LIST = Action(
    "shared_worker.list", "List where members of a runtime are, and why", "GET",
    _ONE + "/placements", _P.RUNTIME_READ, _W.TENANT_ROWS, NOTHING, Page[SharedPlacement])
SHARED_USE_READ = Action(
    "shared_use.read", "Read who used what on whose workers of a runtime", "GET", _ONE + "/usage",
    _P.RUNTIME_READ, _W.TENANT_ROWS, NOTHING, SharedUsage)
SHARED_USE_REPORT = Action(
    "shared_use.report", "Tell who used what on whose workers of a runtime", "POST",
    _ONE + "/usage", _P.INSTANCE_UPDATE, _W.TENANT, NewSharedUse, Done)
SHARED_SETTLEMENT_PLAN = Action(
    "shared_settlement.plan", "Show the rule by which use would be settled", "POST",
    _ONE + "/settlement-plans", _P.RUNTIME_MANAGE, _W.TENANT, NewSettlement, SettlementPlan,
    is_question=True)
SHARED_SETTLEMENT_SET = Action(
    "shared_settlement.set", "Settle use of workers between projects", "PUT",
    _ONE + "/settlement", _P.RUNTIME_MANAGE, _W.TENANT, AcceptedSettlement, Done)
SHARED_ATTACHMENT_ALLOW = Action(
    "shared_attachment.allow", "Allow a project to be attached", "PUT",
    _ONE + "/attachments/{project}", _P.RUNTIME_MANAGE, _W.TENANT, NOTHING, Done)
SHARED_ATTACHMENT_END = Action(
    "shared_attachment.end", "Detach a project", "DELETE", _ONE + "/attachments/{project}",
    _P.RUNTIME_MANAGE, _W.TENANT, NOTHING, Done)
SHARED_ATTACHMENT_FINISH = Action(
    "shared_attachment.finish", "Say that nothing of a detached project is left", "POST",
    _ONE + "/attachments/{project}/finish", _P.INSTANCE_UPDATE, _W.TENANT, NOTHING, Done)
SHARED_ATTACHMENT_ACCEPT = Action(
    "shared_attachment.accept", "Accept to be attached", "PUT", _PART + "/attachment",
    _P.RUNTIME_JOIN, _W.PROJECT, NOTHING, Done)
SHARED_ATTACHMENT_LEAVE = Action(
    "shared_attachment.leave", "Leave a shared runtime", "DELETE", _PART + "/attachment",
    _P.RUNTIME_JOIN, _W.PROJECT, NOTHING, Done)
SHARED_WORKER_CHANGE = Action(
    "shared_worker.change", "Contribute, drain or withdraw a worker", "POST", _PART + "/workers",
    _P.RUNTIME_JOIN, _W.PROJECT, WorkerChange, Done)
SUBMIT_POLICY_SET = Action(
    "submit_policy.set", "Let others use a queue", "PUT", _PART + "/policies/{policy}",
    _P.RUNTIME_JOIN, _W.PROJECT, NewSubmitPolicy, Done)
SUBMIT_POLICY_END = Action(
    "submit_policy.end", "Let others use a queue no more", "DELETE", _PART + "/policies/{policy}",
    _P.RUNTIME_JOIN, _W.PROJECT, NOTHING, Done)
SUBMIT_POLICY_ASK = Action(
    "submit_policy.ask", "Ask where one may submit", "POST", _PART + "/may-submit",
    _P.QUEUE_SUBMIT, _W.PROJECT, SubmitQuestion, SubmitVerdict, is_question=True)
SHARED_QUEUE_SUBMIT = Action(
    "shared_queue.submit", "Ask a shared runtime to take work", "POST", _PART + "/calls/submit",
    _P.QUEUE_SUBMIT, _W.PROJECT, NewSharedSubmit, CallDone, waits=True)
SHARED_QUEUE_READ = Action(
    "shared_queue.read", "Ask a shared runtime about a project's work", "POST",
    _PART + "/calls/read", _P.QUEUE_READ, _W.PROJECT, NewCall, CallDone, waits=True)
SHARED_QUEUE_CANCEL = Action(
    "shared_queue.cancel", "Ask a shared runtime to drop work", "POST", _PART + "/calls/cancel",
    _P.QUEUE_CANCEL, _W.PROJECT, NewCall, CallDone, waits=True)
# fmt: on
