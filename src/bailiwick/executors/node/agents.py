"""What an agent says of itself: its version, how it keeps jobs apart, which words it understands.

Rules:

- A specification names only what the job really asks for beyond the first words, so an older agent
  runs every job that needs no newer one.
- A job that does need one is refused before it is ordered: what runs there is named, and the fix.
- An agent that says nothing of itself understands the first words. Of one that was never heard by a
  server that listens for this nothing is concluded: what it cannot run it refuses by itself.
- Where nothing keeps jobs apart none is ordered; the word is the one of the server's own executor.

>>> sorted(words_of(JobSpec(7, argv=("true",), token="t", image="base")))
['image']
>>> check_order(JobSpec(7, argv=("true",), token="t", image="base"), AgentWord("0.1"), node="n1")
Traceback (most recent call last):
...
bailiwick.vocab.errors.InvalidValue: agent: expected one that understands image: install ...
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

from bailiwick.executors.port import JobSpec, Limits
from bailiwick.vocab.errors import Damaged, InvalidValue

FIRST: Final = frozenset(
    (
        *("lease_id", "argv", "token", "cwd", "env", "device_indices", "limits", "node"),
        *("output_bytes_max", "warn_by_signal", "server", "owner"),
        *("limits.mem_bytes", "limits.cpu_milli", "limits.cores", "limits.pids_max"),
        "limits.cpu_s",
    )
)
"""The words of the first agents that ran jobs."""

CLOSED: Final = "closed"
"""The mode of an agent on a machine where nothing keeps jobs apart."""


@dataclass(frozen=True, slots=True)
class AgentWord:
    """What an agent says of itself; one that says nothing is one of the first."""

    version: str | None = None
    job_mode: str | None = None
    knows: frozenset[str] = FIRST


def own_word(job_mode: str) -> AgentWord:
    """What an agent of this version says."""
    return AgentWord(own_version(), job_mode, known_words())


def own_version() -> str:
    """The version that runs here."""
    return version("bailiwick")


def known_words() -> frozenset[str]:
    """The words of a specification that this version understands."""
    names = {each.name for each in dataclasses.fields(JobSpec)}
    return frozenset(names | {f"limits.{each.name}" for each in dataclasses.fields(Limits)})


def words_of(spec: JobSpec) -> frozenset[str]:
    """The words beyond the first that a job uses."""
    return frozenset((*_used(spec), *(f"limits.{name}" for name in _used(spec.limits)))) - FIRST


def check_order(spec: JobSpec, says: AgentWord | None, *, node: str) -> None:
    """Refuse a job that the agent of its node cannot run."""
    if says is None:
        return
    missing = sorted(words_of(spec) - says.knows)
    if missing:
        told = says.version or "one that says no version"
        fix = f"one that understands {', '.join(missing)}: install {own_version()} on {node}"
        raise InvalidValue("agent", told, fix)
    if says.job_mode == CLOSED and not spec.on_host:
        why = "a machine that can keep jobs apart, or an agent started with --trust-jobs"
        raise InvalidValue("owner", spec.owner, why)


def _used(thing: Any) -> list[str]:
    """The fields that hold something else than they would if nobody had said anything."""
    found = []
    for each in dataclasses.fields(thing):
        plain = each.default
        if each.default_factory is not dataclasses.MISSING:
            plain = each.default_factory()
        if getattr(thing, each.name) != plain:
            found.append(each.name)
    return found


def spell_word(says: AgentWord) -> str:
    """What an agent said, as text."""
    plain = {"version": says.version, "job_mode": says.job_mode, "knows": sorted(says.knows)}
    return json.dumps(plain)


def parse_word(text: str) -> AgentWord:
    """The same again."""
    try:
        plain = json.loads(text)
        return AgentWord(plain["version"], plain["job_mode"], frozenset(plain["knows"]))
    except (ValueError, TypeError, KeyError) as error:
        raise Damaged("what an agent said of itself", "it", type(error).__name__) from None
