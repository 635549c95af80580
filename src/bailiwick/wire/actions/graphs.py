"""Graphs of tasks, each of which runs as a job."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, Action, Outcome, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.graphs import (
    Graph,
    GraphDetail,
    GraphPlan,
    GraphRetry,
    NewGraph,
    TaskReport,
)

_P, _W = Permission, Where
_GRAPH = "/v1/graphs/{graph_id}"

# fmt: off
GRAPH_SUBMIT = Action(
    "graph.submit", "Submit a graph", "POST", "/v1/graphs",
    _P.QUEUE_SUBMIT, _W.BODY, NewGraph, Graph,
    outcomes={
        200: Outcome(GraphPlan, "What would happen (dry run)"),
        201: Outcome(Graph, "The graph is taken up"),
    })
GRAPH_PLAN = Action(
    "graph.plan", "Plan a graph", "POST", "/v1/graphs/plan",
    _P.QUEUE_SUBMIT, _W.BODY, NewGraph, GraphPlan, is_question=True)
GRAPH_LIST = Action(
    "graph.list", "List graphs", "GET", "/v1/graphs",
    _P.QUEUE_READ, _W.ROWS, NOTHING, Page[Graph])
GRAPH_READ = Action(
    "graph.read", "Read a graph", "GET", _GRAPH,
    _P.QUEUE_READ, _W.GRAPH, NOTHING, GraphDetail)
GRAPH_CANCEL = Action(
    "graph.cancel", "Cancel a graph", "DELETE", _GRAPH,
    _P.QUEUE_CANCEL, _W.GRAPH, NOTHING, Done)
GRAPH_RETRY = Action(
    "graph.retry", "Retry a graph", "POST", _GRAPH + "/retry",
    _P.QUEUE_SUBMIT, _W.GRAPH, GraphRetry, Done)
GRAPH_REPORT = Action(
    "graph.report", "Report a task's outputs", "POST", _GRAPH + "/reports",
    _P.LEASE_HOLD, _W.GRAPH, TaskReport, Done)
# fmt: on
