"""Where we are: in the course of which request something is logged, counted or timed.

Rules:

- One value per request, in a context variable. Whoever learns more (who asks, at which scope)
  notes it there; every log line and every span made after that bears it.
- The correlation id is the edge's to choose. It writes into the request's own mapping, and it is
  read from there when it is needed, so nothing is said twice.
- Which request a span belongs to is told by the id of the request's own span, which we made up.
  Correlation and trace ids come from callers: two may bring the same.

>>> note(tenant="lab")  # outside of a request nothing happens
>>> correlation_id()
'none'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

NO_ID: Final = "none"
"""The correlation id of what no request caused."""


@dataclass(slots=True)
class TraceContext:
    """One request, or one piece of work that has a correlation id."""

    state: Mapping[str, Any] = field(default_factory=dict)
    trace_id: str | None = None
    root_id: str | None = None
    principal: str | None = None
    tenant: str | None = None
    project: str | None = None
    action: str | None = None
    is_passed_on: bool = False
    """Whether another replica answered, and counts it."""
    is_apps_answer: bool = False
    """Whether it was an app that answered: what it says is no word about the server."""

    @property
    def correlation_id(self) -> str:
        """What everything that belongs to the request is found by."""
        return str(self.state.get("correlation_id", NO_ID))


CURRENT: Final[ContextVar[TraceContext | None]] = ContextVar("bailiwick_trace", default=None)


def correlation_id() -> str:
    """The correlation id here and now, or ``none``."""
    context = CURRENT.get()
    return NO_ID if context is None else context.correlation_id


def trace_id() -> str | None:
    """The trace here and now, if there is one."""
    context = CURRENT.get()
    return None if context is None else context.trace_id


def note(
    *,
    principal: str | None = None,
    action: str | None = None,
    tenant: str | None = None,
    project: str | None = None,
) -> None:
    """More is known about the request now; what is left out stays as it was."""
    context = CURRENT.get()
    if context is None:
        return
    context.principal = principal or context.principal
    context.action = action or context.action
    if tenant is not None:
        context.tenant, context.project = tenant, project


def note_passed_on() -> None:
    """Another replica has answered this request."""
    context = CURRENT.get()
    if context is not None:
        context.is_passed_on = True


def note_apps_answer() -> None:
    """It is an app of a tenant that answers this request."""
    context = CURRENT.get()
    if context is not None:
        context.is_apps_answer = True


@contextmanager
def in_context(
    correlation: str, *, tenant: str | None = None, project: str | None = None
) -> Iterator[TraceContext]:
    """Work without a request of its own (a loop, a job), under a correlation id."""
    made = TraceContext({"correlation_id": correlation}, tenant=tenant, project=project)
    token = CURRENT.set(made)
    try:
        yield made
    finally:
        CURRENT.reset(token)
