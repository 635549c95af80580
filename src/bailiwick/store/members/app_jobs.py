"""How far the jobs of members have come, read without all that a job's row has beside that."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import and_, select

from bailiwick.iam import APP_PREFIX, PrincipalKind
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import jobs
from bailiwick.vocab.jobs import LIVE_PHASES, JobPhase

_AT_ONCE = 500


class AppJob(NamedTuple):
    """A member's job: how far it has come, and on which lease."""

    job_id: int
    phase: JobPhase
    reason: str | None
    lease_id: int | None
    is_stopping: bool = False
    """Whether it was told to end."""


class AppJobs:
    """The jobs of members, in one store."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def standings(self, job_ids: Iterable[int]) -> dict[int, AppJob]:
        """How far these jobs have come; of one that is not there, nothing."""
        wanted, found = sorted(job_ids), dict[int, AppJob]()
        c = jobs.c
        columns = c.job_id, c.phase, c.reason, c.lease_id, c.cancel_asked
        with self._store.reading() as connection:
            for at in range(0, len(wanted), _AT_ONCE):
                query = select(*columns).where(c.job_id.in_(wanted[at : at + _AT_ONCE]))
                for row in connection.execute(query):
                    found[row[0]] = AppJob(row[0], JobPhase(row[1]), row[2], row[3], bool(row[4]))
        return found

    def live(self) -> dict[int, str]:
        """The jobs of apps that are not over and were not told to end, each with its key."""
        c = jobs.c
        which = and_(
            c.submitter.startswith(APP_PREFIX, autoescape=True),
            c.submitter_kind == PrincipalKind.SERVICE_ACCOUNT.value,
            c.phase.in_([phase.value for phase in LIVE_PHASES]),
            c.cancel_asked.is_(False),
        )
        with self._store.reading() as connection:
            rows = connection.execute(select(c.job_id, c.submitter, c.key).where(which)).all()
        # Not every database tells large letters from small ones there.
        return {row[0]: str(row[2]) for row in rows if row[1].startswith(APP_PREFIX)}
