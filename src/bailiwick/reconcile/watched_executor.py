"""An executor whose doings are seen: each is a span in the timeline of the request behind it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bailiwick.executors.execs import Enterable, Inside
from bailiwick.executors.port import (
    Adopted,
    Executor,
    JobOrdered,
    JobSpec,
    JobStarted,
    JobStatus,
    JobUsage,
    OutputPart,
)
from bailiwick.telemetry.spans import Span
from bailiwick.telemetry.telemetry import Telemetry
from bailiwick.telemetry.trace_context import in_context
from bailiwick.vocab.errors import Conflict
from bailiwick.vocab.execs import ExecWish


class WatchedExecutor:
    """An executor, with a span around everything that it does to a job.

    The span bears the correlation id of the request that the job's lease was granted for.
    """

    def __init__(self, executor: Executor, telemetry: Telemetry) -> None:
        self._executor, self._telemetry = executor, telemetry

    @contextmanager
    def _watch(self, name: str, lease_id: int) -> Iterator[Span]:
        origin = self._telemetry.origins.of(lease_id)
        with (
            in_context(origin.correlation_id, tenant=origin.tenant, project=origin.project),
            self._telemetry.spans.span(name, lease_id=lease_id) as span,
        ):
            yield span

    def start(self, spec: JobSpec) -> JobStarted | JobOrdered:
        """Run the command."""
        with self._watch("executor.start", spec.lease_id):
            return self._executor.start(spec)

    def warn(self, lease_id: int, until_ms: int) -> None:
        """Tell the job that it must be gone by then."""
        with self._watch("executor.warn", lease_id) as span:
            span.set("until_ms", until_ms)
            self._executor.warn(lease_id, until_ms)

    def call_off(self, lease_id: int) -> None:
        """Take the warning back."""
        with self._watch("executor.call_off", lease_id):
            self._executor.call_off(lease_id)

    def enter(self, lease_id: int, wish: ExecWish) -> Inside:
        """Start a further program inside a job, if the executor can do that."""
        if not isinstance(self._executor, Enterable):
            raise Conflict("job of lease", lease_id, "has an executor that lets nobody in")
        with self._watch("executor.enter", lease_id):
            return self._executor.enter(lease_id, wish)

    def tear_down(self, lease_id: int) -> bool:
        """End the job and all it started; whether nothing of it is left."""
        with self._watch("executor.tear_down", lease_id) as span:
            is_gone = self._executor.tear_down(lease_id)
            span.set("is_gone", is_gone)
            return is_gone

    def adopt(self) -> tuple[Adopted, ...]:
        """All jobs there are."""
        with self._telemetry.spans.span("executor.adopt") as span:
            found = self._executor.adopt()
            span.set("jobs", len(found))
            return found

    def status(self, lease_id: int) -> JobStatus:
        """What has become of the job; asked too often to be worth a span."""
        return self._executor.status(lease_id)

    def leases(self) -> tuple[int, ...]:
        """The leases of which anything is kept."""
        return self._executor.leases()

    def usage(self, lease_id: int) -> JobUsage | None:
        """Where to read what the job used."""
        return self._executor.usage(lease_id)

    def output(self, lease_id: int) -> tuple[Path, ...]:
        """Where the job's output is kept."""
        return self._executor.output(lease_id)

    def read_output(
        self, lease_id: int, offset: int, *, limit: int = 65536, since_ms: int = 0
    ) -> OutputPart:
        """Some of the output."""
        return self._executor.read_output(lease_id, offset, limit=limit, since_ms=since_ms)

    def forget(self, lease_id: int) -> None:
        """Remove all that is kept of a job that has ended."""
        with self._watch("executor.forget", lease_id):
            self._executor.forget(lease_id)
