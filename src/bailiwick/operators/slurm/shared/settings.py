"""The configuration of a shared Slurm: that of a cluster of one project, with what it lacks.

Rules:

- What a cluster of one project has is kept, but for the keys below; its one partition goes.
- A partition has its accounts and its limits by name. Without them anybody could use it, so one
  that nobody may use is closed.
- Accounts never share a host at a time (``mcs/account``); which nodes a project has at all is the
  partition's. Both hold without the goodwill of who submits.
- Nobody makes tokens for himself: those that there are, the platform signed.
- Who is no administrator sees his own jobs only, in the controller and in the accounting.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from bailiwick.operators.slurm.rendering import DBD_CONF, SLURM_CONF, SUBMIT_LUA, render
from bailiwick.operators.slurm.shared.mapping import SharedTerms
from bailiwick.operators.slurm.shared.shape import Partition, SlurmShape
from bailiwick.operators.slurm.shared.submit_policy import GRANTS, SUBMIT, render_grants
from bailiwick.operators.slurm.wanted import Cluster
from bailiwick.vocab.errors import InvalidValue

PRIVATE: Final = "accounts,events,jobs,reservations,usage,users"
_SETTINGS: Final = {
    "AccountingStorageEnforce": "associations,limits,qos,safe,wckeys",
    "EnforcePartLimits": "ALL",
    "JobSubmitPlugins": "lua",
    "MCSPlugin": "mcs/account",
    "MCSParameters": "enforced,select,privatedata",
    "PrivateData": PRIVATE,
    "TrackWCKey": "yes",
}
_DBD_SETTINGS: Final = {"PrivateData": PRIVATE, "TrackWCKey": "yes"}


def settings(terms: SharedTerms) -> dict[str, str]:
    """The keys of ``slurm.conf`` that a shared runtime has as they are here."""
    found = dict(_SETTINGS, MinJobAge=str(terms.min_job_age_s))
    if terms.jwt_key is not None:
        found |= _signed(terms.jwt_key) | {
            "AuthAltParameters": f"jwt_key={terms.jwt_key},disable_token_creation"
        }
    return found


def accounting_settings(terms: SharedTerms) -> dict[str, str]:
    """The keys of ``slurmdbd.conf`` that a shared runtime has as they are here."""
    found = dict(_DBD_SETTINGS)
    if terms.jwt_key is not None:
        found |= _signed(terms.jwt_key)
    return found


def partition_lines(partitions: Iterable[Partition], *, max_time_min: int = 0) -> list[str]:
    """A line for each partition; none is the one that is taken if none is named."""
    return [_line(each, max_time_min) for each in partitions]


def render_shared(cluster: Cluster, shape: SlurmShape, *, terms: SharedTerms) -> dict[str, str]:
    """All files of the controller, by name."""
    owners = {each.user for each in shape.grants}
    if cluster.user in owners:
        # A job of the daemons' own user is the cluster's administrator.
        raise InvalidValue("user", cluster.user, "a user of the daemons that is nobody's own")
    files = render(cluster)
    lines = partition_lines(shape.partitions, max_time_min=cluster.wish.max_time_min)
    return files | {
        SLURM_CONF: changed(files[SLURM_CONF], settings(terms), partitions=lines),
        DBD_CONF: changed(files[DBD_CONF], accounting_settings(terms)),
        SUBMIT_LUA: SUBMIT,
        GRANTS: render_grants(shape.grants),
    }


def changed(text: str, values: Mapping[str, str], *, partitions: Iterable[str] = ()) -> str:
    """A configuration with these values for these keys, and with these partitions alone.

    >>> changed("A=1\\nPartitionName=all\\n", {"A": "2"}, partitions=["PartitionName=x"])
    'A=2\\nPartitionName=x\\n'
    """
    gone = {*values, "PartitionName"}
    kept = [line for line in text.splitlines() if line.partition("=")[0] not in gone]
    added = [f"{key}={value}" for key, value in sorted(values.items())]
    return "\n".join([*kept, *added, *partitions, ""])


def _signed(jwt_key: str) -> dict[str, str]:
    return {"AuthAltTypes": "auth/jwt", "AuthAltParameters": f"jwt_key={jwt_key}"}


def _line(partition: Partition, max_time_min: int) -> str:
    words = [f"PartitionName={partition.name}"]
    if partition.nodes:
        words.append(f"Nodes={','.join(partition.nodes)}")
    return " ".join(
        [
            *words,
            "Default=NO",
            f"MaxTime={max_time_min or 'INFINITE'}",
            f"AllowAccounts={','.join(partition.accounts)}",
            f"AllowQos={','.join(partition.qos)}",
            "DisableRootJobs=YES",
            "State=UP",
        ]
    )
