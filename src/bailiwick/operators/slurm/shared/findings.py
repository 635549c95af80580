"""What is not as it shall be in a shared Slurm: jobs that meet whom they may not, or are nobody's.

Rules:

- The partitions and the submit policy keep jobs apart and mark them. What is found here went around
  them: somebody had the powers of root, or they have a fault. So nothing is mended; it is told.
- A job that runs is held against the nodes that it has now, and two on one host against all that is
  within a host.
- Whose a job was is asked when it has ended: then all of it is in the accounting.

>>> audio, vision = RunningJob("7", "audio", ("w1",)), RunningJob("8", "vision", ("w2",))
>>> nodes = [SharedNode(name, None, frozenset([("fabric", "x")])) for name in ("w1", "w2")]
>>> terms = SharedTerms(apart=frozenset([("fabric", frozenset(("audio", "vision")))]))
>>> [str(each) for each in meetings([audio, vision], nodes, terms=terms)]
['job 7 (audio) and job 8 (vision) share fabric x']
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple

from bailiwick.operators.slurm.shared.attribution import (
    FIELDS,
    Attribution,
    JobUnattributed,
    attribute,
    parse_row,
)
from bailiwick.operators.slurm.shared.mapping import Domain, SharedNode, SharedTerms
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import DomainKind

RUNNING: Final = ("squeue", "-h", "-t", "CF,CG,R,S", "-o", "%A|%a|%N")
ENDED: Final = ("sacct", "-aXnP", "-D", "-o", ",".join(("end", *FIELDS)))
"""With a time to begin at."""
_NOT_YET: Final = "Unknown"
_WITHIN_A_HOST: Final = (DomainKind.CACHE, DomainKind.NUMA, DomainKind.HOST)
_NAMES: Final = re.compile(r"([^,\[\]]+)(?:\[([0-9,-]+)\])?(?:,|\Z)")
_NODES_MAX: Final = 4_096


class RunningJob(NamedTuple):
    """A job that has nodes."""

    job_id: str
    account: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two jobs in one domain, of projects that the isolation policy keeps apart there."""

    kind: str
    domain: str
    one: RunningJob
    other: RunningJob

    def __str__(self) -> str:
        one, other = (f"job {each.job_id} ({each.account})" for each in (self.one, self.other))
        return f"{one} and {other} share {self.kind} {self.domain}"


def parse_running(text: str) -> list[RunningJob]:
    """The lines of ``squeue``."""
    found = []
    for line in text.splitlines():
        words = line.split("|")
        if len(words) != 3:
            raise InvalidValue("squeue", line, "a number, an account and nodes")
        found.append(RunningJob(words[0], words[1], tuple(expand(words[2]))))
    return found


def expand(names: str) -> Iterator[str]:
    """The names in a list as Slurm writes it.

    >>> [*expand("worker-[0-1,7],w9")]
    ['worker-0', 'worker-1', 'worker-7', 'w9']
    """
    at = 0
    for found in _NAMES.finditer(names):
        if found.start() != at:
            break
        at = found.end()
        stem, numbers = found.groups()
        if numbers is None:
            yield stem
            continue
        for part in numbers.split(","):
            first, _, last = part.partition("-")
            if int(last or first) - int(first) >= _NODES_MAX:
                raise InvalidValue("nodes", names, f"at most {_NODES_MAX} in a row")
            for number in range(int(first), int(last or first) + 1):
                yield f"{stem}{number:0{len(first)}d}"
    if at != len(names):
        raise InvalidValue("nodes", names, "names of nodes, as Slurm lists them")


def meetings(
    jobs: Iterable[RunningJob], nodes: Iterable[SharedNode], *, terms: SharedTerms
) -> list[Meeting]:
    """Everyone in a domain with whom he may not meet there; of two projects, one pair of jobs."""
    domains = {node.name: node.domains for node in nodes}
    within: dict[Domain, dict[str, RunningJob]] = defaultdict(dict)
    for job in jobs:
        for name in job.nodes:
            hosts = {(kind.value, name) for kind in _WITHIN_A_HOST}
            for domain in domains.get(name, frozenset()) | hosts:
                within[domain].setdefault(job.account, job)
    return [
        Meeting(kind, name, one, other)
        for (kind, name), by_account in sorted(within.items())
        for one, other in combinations(by_account.values(), 2)
        if not terms.may_meet(one.account, [other.account], kind=kind)
    ]


def attributions(text: str, *, but: str = "") -> Iterator[Attribution]:
    """Whose the jobs of ``sacct`` were that have ended, but for those of one account."""
    for line in text.splitlines():
        end, _, rest = line.partition("|")
        row = parse_row(rest)
        if end != _NOT_YET and row.account != but:
            yield attribute(row)


def nobodys(text: str, *, but: str) -> list[JobUnattributed]:
    """Those that are nobody's."""
    found = attributions(text, but=but)
    return [each for each in found if isinstance(each, JobUnattributed)]
