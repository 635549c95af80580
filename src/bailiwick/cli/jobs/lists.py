"""Many jobs: which of them are meant by a filter, in which order, and how they look.

Rules:

- Without a word about it the jobs of the session's tenant and project are meant, and that is said;
  ``-A`` means all that the person may see.
- The server filters: what a person may not see it never names.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bailiwick.cli.shared.ask import path_word
from bailiwick.cli.shared.jobs import name_of, outcome_of
from bailiwick.cli.shared.output import Columns, Format
from bailiwick.cli.shared.screen import asked, owner
from bailiwick.phrases.amounts import span
from bailiwick.phrases.times import age
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.jobs import LIVE_PHASES, JobPhase

if TYPE_CHECKING:
    from bailiwick.cli.shared.ask import Ask
    from bailiwick.wire.base import Page
    from bailiwick.wire.jobs import Job

LIVE, OVER = "live", "over"


def complete_states(incomplete: str) -> list[str]:
    """Phases, and the words for several of them."""
    words = [LIVE, OVER, *(phase.value for phase in JobPhase)]
    return [word for word in words if word.startswith(incomplete)]


StateOption = Annotated[
    list[str] | None,
    typer.Option(
        "--state",
        metavar="PHASE",
        help="waiting, running, ...; live or over for all such; repeat it.",
        autocompletion=complete_states,
    ),
]
MineOption = Annotated[bool, typer.Option("--mine", help="Only those that you submitted.")]
NameOption = Annotated[str | None, typer.Option("--name", help="Only those of this name.")]


class JobFormat(StrEnum):
    """How a list of jobs is printed."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


FormatOption = Annotated[
    JobFormat,
    typer.Option("--output", "-o", help="A table for people, with more in it, or the wire model."),
]


def phases_of(states: list[str] | None) -> tuple[JobPhase, ...] | None:
    """The phases that these words name.

    >>> phases_of(["ending", "waiting"])
    (<JobPhase.WAITING: 'waiting'>, <JobPhase.ENDING: 'ending'>)
    """
    if not states:
        return None
    found: set[JobPhase] = set()
    for word in states:
        if word == LIVE:
            found.update(LIVE_PHASES)
        elif word == OVER:
            found.update(set(JobPhase) - set(LIVE_PHASES))
        elif word in tuple(JobPhase):
            found.add(JobPhase(word))
        else:
            raise InvalidValue("--state", word, f"{', '.join(JobPhase)}, live or over")
    return tuple(phase for phase in JobPhase if phase in found)


def query_of(
    ask: Ask,
    *,
    states: list[str] | None,
    mine: bool,
    name: str | None,
) -> dict[str, Any]:
    """What the server is asked for; said aloud if the session narrows it."""
    phases = phases_of(states)
    query: dict[str, Any] = {
        "phase": None if phases is None else ",".join(phases),
        "mine": "true" if mine else None,
        "name": None if name is None else path_word("--name", name),
    }
    typed = ask.given.get("tenant") or ask.given.get("project")
    if ask.everywhere and typed:
        raise InvalidValue("-A", typed, "no --tenant and no --project beside it")
    if ask.everywhere or (not typed and ask.session.tenant is None):
        return query
    project = ask.project
    if not typed and ask.output is Format.TABLE:
        told = f"jobs of {owner(ask.tenant, project)}; -A lists all that you may see"
        typer.echo(told, err=True)
    return query | {"tenant": ask.tenant, "project": project}


def read_jobs(ask: Ask, query: dict[str, Any]) -> Page[Job]:
    """The jobs that are asked for, newest first."""
    from bailiwick.wire.actions.jobs import JOB_LIST

    return ask.client.pages(JOB_LIST, query=query)


# -- order -----------------------------------------------------------------------------------

_LAST: Final = 2**62


def _ran_ms(job: Job) -> int:
    if job.started_ms is None:
        return 0
    return (job.ended_ms or _LAST) - job.started_ms


_SORTS: Final[dict[str, Callable[[Job], Any]]] = {
    "submitted": lambda job: job.submitted_ms,
    "started": lambda job: job.started_ms or _LAST,
    "ended": lambda job: job.ended_ms or _LAST,
    "ran": _ran_ms,
    "name": lambda job: (job.name or "~", job.array_index or 0),
    "owner": lambda job: (job.tenant, job.project or ""),
    "phase": lambda job: [*JobPhase].index(job.phase),
    "node": lambda job: job.node or "~",
    "submitter": lambda job: job.submitter,
}


def complete_sorts(incomplete: str) -> list[str]:
    """What jobs can be sorted by."""
    return [word for word in _SORTS if word.startswith(incomplete)]


SortOption = Annotated[
    str | None,
    typer.Option(
        "--sort",
        metavar="WHAT",
        help=f"{', '.join(_SORTS)}; -WHAT turns it round. Without it, the newest first.",
        autocompletion=complete_sorts,
    ),
]


def sorted_jobs(page: Page[Job], by: str | None) -> Page[Job]:
    """The same jobs in another order."""
    if by is None:
        return page
    word = by.removeprefix("-")
    if word not in _SORTS:
        raise InvalidValue("--sort", by, ", ".join(_SORTS))
    items = sorted(page.items, key=_SORTS[word], reverse=by.startswith("-"))
    return page.model_copy(update={"items": items})


# -- looks -----------------------------------------------------------------------------------


def words_of(job: Job) -> str:
    """What it is, in a few words."""
    return job.name or shlex.join(job.command)


def _ran(job: Job) -> str:
    if job.started_ms is None:
        return "-"
    return age(job.started_ms) if job.ended_ms is None else span(max(0, _ran_ms(job)))


JOBS: Columns[Job] = Columns(
    ("job", "owner", "phase*", "what*", "node", "submitted", "ran"),
    lambda j: (
        name_of(j),
        owner(j.tenant, j.project),
        outcome_of(j),
        words_of(j),
        j.node or "-",
        f"{age(j.submitted_ms)} ago",
        _ran(j),
    ),
    name_of,
    numbers=("submitted", "ran"),
    empty="no job that you may see; bailiwick submit -- CMD runs one",
)

WIDE: Columns[Job] = Columns(
    (
        *("job", "owner", "submitter", "phase*", "what*", "asks for", "class", "limit", "attempt"),
        *("node", "lease", "submitted", "ran"),
    ),
    lambda j: (
        name_of(j),
        owner(j.tenant, j.project),
        j.submitter,
        outcome_of(j),
        words_of(j),
        asked(j.request),
        "-" if j.request is None else j.request.lease_class.value,
        "-" if j.request is None else span(j.request.ttl_ms),
        f"{j.attempt} of {j.retries + 1}",
        j.node or "-",
        "-" if j.lease_id is None else f"lease-{j.lease_id}",
        f"{age(j.submitted_ms)} ago",
        _ran(j),
    ),
    name_of,
    numbers=("limit", "submitted", "ran"),
    empty=JOBS.empty,
)
