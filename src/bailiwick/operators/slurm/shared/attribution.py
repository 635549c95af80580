"""Whose a job was: a platform identity and a project, from what the accounting has of it.

Rules:

- It is what the submit policy wrote into ``admin_comment``, which no user can set or change; a name
  or a comment is never asked.
- What was written has to agree with the account and the user that Slurm itself held the job to. If
  it does not, the job is nobody's: a finding.
- No project is charged by a guess.

>>> mark = "identity=ann@lab;project=vision;policy=-;user=ann"
>>> attribute(SacctRow("7", "ann", "vision", "vision", mark))
JobAttributed(job_id='7', identity='ann@lab', project='vision', policy=None)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from bailiwick.vocab.errors import InvalidValue

FIELDS: Final = ("jobid", "user", "account", "partition", "admincomment")
"""What ``sacct -aXnP -D -o`` is asked for; what may hold anything is last."""
_MARK: Final = re.compile(
    r"identity=([A-Za-z0-9][A-Za-z0-9._:@/+-]{0,127});project=([a-z0-9][a-z0-9._-]{0,62})"
    r";policy=(-|[a-z0-9][a-z0-9._-]{0,62});user=([a-z_][a-z0-9_-]{0,31})\Z"
)


class UnattributedReason(StrEnum):
    """Why nobody is known for a job."""

    NO_MARK = "no_mark"
    """It did not come through the submit policy."""
    MARK_NOT_UNDERSTOOD = "mark_not_understood"
    OTHER_ACCOUNT = "other_account"
    OTHER_USER = "other_user"


class SacctRow(NamedTuple):
    """A job as the accounting has it."""

    job_id: str
    user: str
    account: str
    partition: str
    mark: str


@dataclass(frozen=True, slots=True)
class JobAttributed:
    """Whose it was; with a policy if it ran on another project's workers."""

    job_id: str
    identity: str
    project: str
    policy: str | None


@dataclass(frozen=True, slots=True)
class JobUnattributed:
    """A finding: a job that is nobody's."""

    job_id: str
    reason: UnattributedReason
    user: str
    account: str


Attribution: TypeAlias = JobAttributed | JobUnattributed


def parse_row(line: str) -> SacctRow:
    """A line of ``sacct``."""
    words = line.split("|", len(FIELDS) - 1)
    if len(words) != len(FIELDS) or not words[0]:
        raise InvalidValue("sacct", line, f"{len(FIELDS)} fields: {', '.join(FIELDS)}")
    return SacctRow(*words)


def attribute(row: SacctRow) -> Attribution:
    """Whose a job was."""
    found = _MARK.match(row.mark)
    if found is None:
        why = UnattributedReason.MARK_NOT_UNDERSTOOD if row.mark else UnattributedReason.NO_MARK
        return JobUnattributed(row.job_id, why, row.user, row.account)
    identity, project, policy, user = found.groups()
    if project != row.account:
        return JobUnattributed(row.job_id, UnattributedReason.OTHER_ACCOUNT, row.user, row.account)
    if user != row.user:
        return JobUnattributed(row.job_id, UnattributedReason.OTHER_USER, row.user, row.account)
    return JobAttributed(row.job_id, identity, project, None if policy == "-" else policy)
