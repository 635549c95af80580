"""Instances of apps: what a project wants of one, what its operator says, members, operations."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, PROJECT, Action, Blob, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.instances import (
    CallDone,
    CallReply,
    CallTaken,
    CallWait,
    ForcedDeletion,
    Instance,
    InstanceCall,
    InstanceChange,
    InstanceDone,
    InstanceEndpoints,
    InstanceMember,
    InstanceMemberChange,
    InstanceOperation,
    InstanceReport,
    InstanceUsage,
    InstanceUsageReport,
    NewCall,
    NewInstance,
    NewOperation,
    OperationDone,
    OperationProgress,
    OperationResult,
)

_P, _W = Permission, Where
_ALL = PROJECT + "/instances"
_ONE = _ALL + "/{instance_id}"
_OPERATION = _ONE + "/operations/{operation_id}"
_CALL = _ONE + "/calls/{call_id}"
_ENDPOINT = _ONE + "/endpoints/{endpoint}/{rest}"

# fmt: off
INSTANCE_LIST = Action(
    "instance.list", "List a project's instances", "GET", _ALL,
    _P.INSTANCE_READ, _W.PROJECT, NOTHING, Page[Instance])
INSTANCE_CREATE = Action(
    "instance.create", "Create an instance of an app", "POST", _ALL,
    _P.INSTANCE_CREATE, _W.PROJECT, NewInstance, InstanceDone)
INSTANCE_READ = Action(
    "instance.read", "Read an instance", "GET", _ONE,
    _P.INSTANCE_READ, _W.PROJECT, NOTHING, Instance)
INSTANCE_CHANGE = Action(
    "instance.change", "Upgrade, roll back, scale, configure or pause an instance", "PATCH", _ONE,
    _P.INSTANCE_UPDATE, _W.PROJECT, InstanceChange, Done)
INSTANCE_DELETE = Action(
    "instance.delete", "Delete an instance", "DELETE", _ONE,
    _P.INSTANCE_DELETE, _W.PROJECT, NOTHING, Done)
INSTANCE_REPORT = Action(
    "instance.report", "Report how an instance is", "PUT", _ONE + "/status",
    _P.INSTANCE_UPDATE, _W.PROJECT, InstanceReport, Done)
INSTANCE_USAGE_READ = Action(
    "instance_usage.read", "Read what an instance told of its use", "GET", _ONE + "/usage",
    _P.INSTANCE_READ, _W.PROJECT, NOTHING, InstanceUsage)
INSTANCE_USAGE_REPORT = Action(
    "instance_usage.report", "Tell what an instance used, in units of its app", "POST",
    _ONE + "/usage", _P.INSTANCE_UPDATE, _W.PROJECT, InstanceUsageReport, Done)
INSTANCE_QUEUE_SUBMIT = Action(
    "instance_queue.submit", "Ask an instance to take work", "POST", _ONE + "/calls/submit",
    _P.QUEUE_SUBMIT, _W.PROJECT, NewCall, CallDone, waits=True)
INSTANCE_QUEUE_READ = Action(
    "instance_queue.read", "Ask an instance about its queue", "POST", _ONE + "/calls/read",
    _P.QUEUE_READ, _W.PROJECT, NewCall, CallDone, waits=True)
INSTANCE_QUEUE_CANCEL = Action(
    "instance_queue.cancel", "Ask an instance to drop work", "POST", _ONE + "/calls/cancel",
    _P.QUEUE_CANCEL, _W.PROJECT, NewCall, CallDone, waits=True)
INSTANCE_CALL_TAKE = Action(
    "instance_call.take", "Take the next question to an instance", "POST", _ONE + "/calls/take",
    _P.INSTANCE_UPDATE, _W.PROJECT, CallWait, CallTaken, waits=True)
INSTANCE_CALL_READ = Action(
    "instance_call.read", "Read a call of an instance", "GET", _CALL,
    _P.QUEUE_READ, _W.PROJECT, NOTHING, InstanceCall)
INSTANCE_CALL_ANSWER = Action(
    "instance_call.answer", "Answer a call of an instance", "PUT", _CALL + "/answer",
    _P.INSTANCE_UPDATE, _W.PROJECT, CallReply, Done)
INSTANCE_FORCE_DELETE = Action(
    "instance.force_delete", "End an overdue deletion by force", "POST", _ONE + "/force-deletion",
    _P.BREAK_GLASS, _W.FLEET, ForcedDeletion, Done)
INSTANCE_MEMBER_LIST = Action(
    "instance_member.list", "List an instance's members", "GET", _ONE + "/members",
    _P.INSTANCE_READ, _W.PROJECT, NOTHING, Page[InstanceMember])
INSTANCE_MEMBER_LIST_ALL = Action(
    "instance_member.list_all", "List the members of a project's instances", "GET",
    PROJECT + "/instance-members",
    _P.INSTANCE_READ, _W.PROJECT, NOTHING, Page[InstanceMember])
INSTANCE_MEMBER_CHANGE = Action(
    "instance_member.change", "Add, drain, remove or replace a member", "POST", _ONE + "/members",
    _P.INSTANCE_UPDATE, _W.PROJECT, InstanceMemberChange, OperationDone)
INSTANCE_OPERATION_LIST = Action(
    "instance_operation.list", "List an instance's operations", "GET", _ONE + "/operations",
    _P.INSTANCE_READ, _W.PROJECT, NOTHING, Page[InstanceOperation])
INSTANCE_OPERATION_BEGIN = Action(
    "instance_operation.begin", "Begin an operation", "POST", _ONE + "/operations",
    _P.INSTANCE_UPDATE, _W.PROJECT, NewOperation, OperationDone)
INSTANCE_OPERATION_READ = Action(
    "instance_operation.read", "Read an operation", "GET", _OPERATION,
    _P.INSTANCE_READ, _W.PROJECT, NOTHING, InstanceOperation)
INSTANCE_OPERATION_ADVANCE = Action(
    "instance_operation.advance", "Tell how far an operation is", "PATCH", _OPERATION,
    _P.INSTANCE_UPDATE, _W.PROJECT, OperationProgress, Done)
INSTANCE_OPERATION_FINISH = Action(
    "instance_operation.finish", "Tell what came of an operation", "POST", _OPERATION + "/result",
    _P.INSTANCE_UPDATE, _W.PROJECT, OperationResult, Done)
INSTANCE_ENDPOINT_LIST = Action(
    "instance_endpoint.list", "List what an instance serves", "GET", _ONE + "/endpoints",
    _P.INSTANCE_READ, _W.PROJECT, NOTHING, InstanceEndpoints)
INSTANCE_ENDPOINT_GET = Action(
    "instance_endpoint.get", "Read from an endpoint of an instance", "GET", _ENDPOINT,
    _P.ENDPOINT_OPEN, _W.PROJECT, NOTHING, Blob, passes_on=True)
INSTANCE_ENDPOINT_POST = Action(
    "instance_endpoint.post", "Send to an endpoint of an instance", "POST", _ENDPOINT,
    _P.ENDPOINT_OPEN, _W.PROJECT, NOTHING, Blob, passes_on=True)
INSTANCE_ENDPOINT_PUT = Action(
    "instance_endpoint.put", "Put to an endpoint of an instance", "PUT", _ENDPOINT,
    _P.ENDPOINT_OPEN, _W.PROJECT, NOTHING, Blob, passes_on=True)
INSTANCE_ENDPOINT_PATCH = Action(
    "instance_endpoint.patch", "Change at an endpoint of an instance", "PATCH", _ENDPOINT,
    _P.ENDPOINT_OPEN, _W.PROJECT, NOTHING, Blob, passes_on=True)
INSTANCE_ENDPOINT_DELETE = Action(
    "instance_endpoint.delete", "Delete at an endpoint of an instance", "DELETE", _ENDPOINT,
    _P.ENDPOINT_OPEN, _W.PROJECT, NOTHING, Blob, passes_on=True)
# fmt: on
