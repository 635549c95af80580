"""Programs inside jobs: the caller's end, and the end of the agent that runs them.

None is a plain read: a replica that does not lead passes all of them on to the leader, which alone
holds what is open.
"""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire import execs
from bailiwick.wire.actions.action import NOTHING, Action, Where
from bailiwick.wire.answers import Done

_P, _W = Permission, Where
_EXECS = "/v1/jobs/{job_id}/execs"
_EXEC = _EXECS + "/{exec_id}"
_NODE = "/v1/nodes/{node}/execs"

# fmt: off
JOB_EXEC = Action(
    "job.exec", "Run a program inside a job", "POST", _EXECS,
    _P.JOB_EXEC, _W.JOB, execs.NewExec, execs.Exec, status=201)
JOB_EXEC_TYPE = Action(
    "job.exec_type", "Type into a program inside a job", "PUT", _EXEC + "/input",
    _P.JOB_EXEC, _W.JOB, execs.ExecInput, execs.ExecTaken)
JOB_EXEC_READ = Action(
    "job.exec_read", "Read what a program inside a job wrote", "POST", _EXEC + "/output",
    _P.JOB_EXEC, _W.JOB, execs.ExecQuestion, execs.ExecOutput,
    is_question=True, waits=True)
JOB_EXEC_END = Action(
    "job.exec_end", "End a program inside a job", "DELETE", _EXEC,
    _P.JOB_EXEC, _W.JOB, NOTHING, Done)
NODE_EXECS = Action(
    "node.execs", "Read what is to run inside a node's jobs", "POST", _NODE,
    _P.NODE_REPORT, _W.FLEET, execs.NodeExecsQuestion, execs.NodeExecs,
    is_question=True, waits=True)
NODE_EXEC_TYPED = Action(
    "node.exec_typed", "Read what was typed into a program of a node", "POST",
    _NODE + "/{exec_id}/input",
    _P.NODE_REPORT, _W.FLEET, execs.NodeTypedQuestion, execs.NodeTyped,
    is_question=True, waits=True)
NODE_EXEC_WROTE = Action(
    "node.exec_wrote", "Report what a program of a node wrote", "POST",
    _NODE + "/{exec_id}/output",
    _P.NODE_REPORT, _W.FLEET, execs.NodeWritten, execs.NodeWrittenTaken, waits=True)
# fmt: on
