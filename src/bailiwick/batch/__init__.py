"""Task graphs: what is to be run in which order, and what is to be done next of it.

A graph is built in Python or read from a file (:func:`load_graph`); a run of it is a state machine
that is told what happened and answers what to do (:func:`next_steps`). Nothing here runs anything.

>>> graph = TaskGraph(
...     [
...         TaskDef("prep", command=("prep",)),
...         TaskDef("train", command=("train", "{item}"), over=("a", "b"), after=("prep",)),
...     ]
... )
>>> [task.name for task in graph.tasks]
['prep', 'train[0]', 'train[1]']
>>> run = GraphRun(graph, graph_id=7)
>>> [step.task for step in next_steps(run, now_ms=0)]
['prep']
>>> [step.task for step in next_steps(run, now_ms=5, results=[TaskSucceeded("prep", 1)])]
['train[0]', 'train[1]']
"""

from bailiwick.batch.document import load_graph
from bailiwick.batch.graph import Task, TaskGraph
from bailiwick.batch.problems import GraphProblem, GraphRefused
from bailiwick.batch.run import GraphRun, next_steps
from bailiwick.batch.steps import (
    CancelAsked,
    EndGraph,
    GraphStep,
    RerunAsked,
    RetryTask,
    StartTask,
    StopTask,
    TaskCheckpointed,
    TaskFailed,
    TaskResult,
    TaskSucceeded,
)
from bailiwick.batch.task import ResourceReq, RetryPolicy, TaskDef, Upstream

__all__ = [
    "CancelAsked",
    "EndGraph",
    "GraphProblem",
    "GraphRefused",
    "GraphRun",
    "GraphStep",
    "RerunAsked",
    "ResourceReq",
    "RetryPolicy",
    "RetryTask",
    "StartTask",
    "StopTask",
    "Task",
    "TaskCheckpointed",
    "TaskDef",
    "TaskFailed",
    "TaskGraph",
    "TaskResult",
    "TaskSucceeded",
    "Upstream",
    "load_graph",
    "next_steps",
]
