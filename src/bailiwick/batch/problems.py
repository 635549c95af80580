"""What is wrong with a graph, all of it, each with the place where it stands.

Where a mistake stands and how it is told is :mod:`bailiwick.documents`' business; a graph that was
built in Python has no lines, and its problems name the task and the field.
"""

from __future__ import annotations

from bailiwick.documents.problems import (
    NEAR_MAX,
    PROBLEMS_MAX,
    DocumentRefused,
    Place,
    nearest_name,
)
from bailiwick.documents.problems import DocumentProblem as GraphProblem

__all__ = ["NEAR_MAX", "PROBLEMS_MAX", "GraphProblem", "GraphRefused", "Place", "nearest_name"]


class GraphRefused(DocumentRefused):
    """It is no graph that could run; everything that is wrong with it."""

    what = "graph"
