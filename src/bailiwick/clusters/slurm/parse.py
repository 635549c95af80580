"""Slurm's answers as values: one strict parser for each program.

Rules:

- Times were asked for as seconds since 1970 (``SLURM_TIME_FORMAT=%s``), so that no time zone and no
  clock change is in them.
- Rows of ``sacct`` hold words that users choose (names, comments), line ends among them. They are
  told apart by a separator that was drawn by lot for this one reading, so that no job's name can
  pretend to be another job's row.
- What is not understood is refused with its file and row. Nothing is skipped.

>>> parse_gpus("billing=1,gres/gpu:hopper=2,gres/gpu=3,mem=1000M")
{'hopper': 2, '': 1}
>>> parse_span("1-02:00:05"), parse_span("00:03")
(93605000, 3000)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from bailiwick.clusters.slurm.hostlist import expand_hosts, expand_numbers
from bailiwick.clusters.slurm.rows import (
    Active,
    Outage,
    Registered,
    Runaway,
    SlurmJob,
    SlurmNode,
)
from bailiwick.metering.owners import UnavailableCause
from bailiwick.vocab.errors import InvalidValue

JOB_FIELDS: Final = (
    *("JobID", "JobIDRaw", "User", "Account", "QOS", "Partition", "Submit", "Start", "End"),
    *("ElapsedRaw", "Suspended", "State", "AllocTRES", "NodeList", "WCKey", "JobName", "Comment"),
)
EVENT_FIELDS: Final = ("nodename", "start", "end", "state", "tres", "reason")

RUNNING: Final = frozenset(("RUNNING", "SUSPENDED", "COMPLETING", "RESIZING", "STOPPED"))
"""The states of a job that holds what it was given."""

_GPU = re.compile(r"gres/gpu(?::([^=,]+))?=([0-9]{1,9})")
_GRES = re.compile(r"gpu(?::([^:(,]+))?:([0-9]{1,6})(?:\([^)]*\))?")
_SPAN = re.compile(r"(?:([0-9]{1,6})-)?(?:([0-9]{1,4}):)?([0-9]{1,4}):([0-9]{2})(?:\.[0-9]+)?")
_NODE = re.compile(r"NodeName=(\S+) Gres=(\S+)")
_ALLOTTED = re.compile(r" {2}Nodes=(\S+) CPU_IDs=\S* Mem=\S* GRES=(\S+)")
_DEVICES = re.compile(r"gpu(?::([^:(,]+))?:[0-9]+\(IDX:([0-9,-]+)\)")
_SETTINGS: Final = ("ClusterName", "BOOT_TIME")
_UNKNOWN: Final = frozenset(("Unknown", "None", "", "N/A"))

_CAUSES: Final = (
    # The first that is among a state's words counts.
    (("DOWN", "NO_RESPOND", "NOT_RESPONDING", "UNKNOWN", "POWERED_DOWN"), "fence_lost"),
    (("FAIL", "FAILING", "ERROR", "INVAL", "INVALID", "INVALID_REG"), "quarantined"),
    (("MAINT", "MAINTENANCE"), "maintenance"),
    (("REBOOT", "REBOOT_REQUESTED", "REBOOT_ISSUED", "POWERING_UP", "POWER_UP"), "returning"),
    (("POWERING_DOWN", "POWER_DOWN", "DRAIN", "DRAINED", "DRAINING", "DRNG"), "drained"),
)
_MARKS: Final = "*~#!%$@^-"


def parse_jobs(text: str, separator: str) -> tuple[SlurmJob, ...]:
    """The rows of ``sacct``."""
    words = text.split(separator)
    if len(words) % len(JOB_FIELDS) != 1 or words[-1] != ("\n" if text else ""):
        raise InvalidValue("sacct", f"{len(words)} fields", f"{len(JOB_FIELDS)} in each row")
    found = []
    for number, at in enumerate(range(0, len(words) - 1, len(JOB_FIELDS)), 1):
        row = dict(zip(JOB_FIELDS, words[at : at + len(JOB_FIELDS)], strict=True))
        # The line's end stands before the first field of the next one.
        row["JobID"] = row["JobID"].removeprefix("\n")
        found.append(_job(row, number))
    return tuple(found)


def _job(told: Mapping[str, str], number: int) -> SlurmJob:
    where = f"sacct row {number}: "
    submit_ms = _time(where + "Submit", told["Submit"])
    if submit_ms is None:
        raise InvalidValue(where + "Submit", told["Submit"], "a time")
    nodes = told["NodeList"]
    return SlurmJob(
        job_id=told["JobID"],
        raw_id=_number(where + "JobIDRaw", told["JobIDRaw"]),
        user=told["User"],
        account=told["Account"],
        qos=told["QOS"],
        partition=told["Partition"],
        submit_ms=submit_ms,
        start_ms=_time(where + "Start", told["Start"]),
        end_ms=_time(where + "End", told["End"]),
        elapsed_ms=_number(where + "ElapsedRaw", told["ElapsedRaw"] or "0") * 1000,
        suspended_ms=parse_span(told["Suspended"] or "00:00"),
        state=told["State"].partition(" ")[0],
        gpus=parse_gpus(told["AllocTRES"]),
        nodes=() if nodes in ("None assigned", "") else expand_hosts(nodes),
        wckey=told["WCKey"].strip("*"),
        name=told["JobName"],
        comment=told["Comment"],
    )


def parse_gpus(tres: str) -> dict[str, int]:
    """How many GPUs of each type; those that are counted but not typed under an empty word."""
    found: dict[str, int] = {}
    for kind, count in _GPU.findall(tres):
        found[kind] = found.get(kind, 0) + int(count)
    every = found.pop("", 0)
    typed = sum(found.values())
    if every > typed:
        found[""] = every - typed
    return {kind: count for kind, count in found.items() if count}


def parse_span(text: str) -> int:
    """A length of time, such as 1-02:03:04, in milliseconds."""
    parts = _SPAN.fullmatch(text)
    if parts is None:
        raise InvalidValue("length of time", text, "days-hours:minutes:seconds")
    days, hours, minutes, seconds = (int(part or 0) for part in parts.groups())
    return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000


def reduce_nodes(text: str) -> str:
    """Of each node only its name and its GPUs: the rest is nobody's business who reads it later."""
    kept = (re.findall(r"^NodeName=\S+|(?<= )Gres=\S+", line) for line in text.splitlines())
    return "".join(f"{' '.join(words)}\n" for words in kept)


def reduce_config(text: str) -> str:
    """Of the settings only those that are used."""
    found = parse_config(text)
    return "".join(f"{name} = {found[name]}\n" for name in _SETTINGS if name in found)


def reduce_details(text: str) -> str:
    """Of each job only which devices it has where, not what it runs."""
    found = []
    for line in text.splitlines():
        job = re.match(r"JobId=[0-9]+ ", line)
        given = "".join(match[0] for match in _ALLOTTED.finditer(line))
        if job is not None and given:
            found.append(f"{job[0]}{given}\n")
    return "".join(found)


def parse_nodes(text: str) -> dict[str, SlurmNode]:
    """The nodes of ``scontrol -o show node``, reduced, and their GPUs."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        told = _NODE.fullmatch(line)
        if told is None:
            raise InvalidValue(f"nodes row {number}", line[:80], "NodeName=... Gres=...")
        gpus = tuple((kind, int(count)) for kind, count in _GRES.findall(told[2]) if int(count))
        found[told[1]] = SlurmNode(told[1], gpus)
    return found


def parse_events(text: str) -> tuple[tuple[Outage, ...], tuple[Registered, ...]]:
    """The outages of nodes, and how many GPUs the cluster had when."""
    outages, registered = [], []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("|", len(EVENT_FIELDS) - 1)
        where = f"events row {number}"
        if len(words) != len(EVENT_FIELDS):
            raise InvalidValue(where, line[:80], f"{len(EVENT_FIELDS)} fields")
        node, begun, ended, state, tres, reason = words
        from_ms, to_ms = _time(f"{where}: start", begun), _time(f"{where}: end", ended)
        if from_ms is None:
            raise InvalidValue(f"{where}: start", begun, "a time")
        if not node:
            gpus = sum(parse_gpus(tres).values())
            registered.append(Registered(from_ms, to_ms, gpus))
            continue
        cause = _cause(where, state)
        is_down = cause is UnavailableCause.FENCE_LOST
        outages.append(Outage(node, from_ms, to_ms, cause, is_down, reason))
    return tuple(outages), tuple(registered)


def _cause(where: str, state: str) -> UnavailableCause:
    words = {word.rstrip(_MARKS) for word in state.upper().split("+")}
    for known, cause in _CAUSES:
        if not words.isdisjoint(known):
            return UnavailableCause(cause)
    raise InvalidValue(f"{where}: state", state, "a state in which a node takes no work")


def parse_active(queue: str, details: str) -> dict[int, Active]:
    """The running jobs of ``squeue``, with their devices from ``scontrol -d show job``."""
    found = {}
    for number, line in enumerate(queue.splitlines(), 1):
        words = line.split("|")
        where = f"queue row {number}"
        if len(words) != 3:
            raise InvalidValue(where, line[:80], "3 fields")
        raw_id, start_ms = _number(where, words[0]), _time(where, words[2])
        if words[1] in RUNNING and start_ms is not None:
            found[raw_id] = Active(raw_id, start_ms)
    for raw_id, devices in _devices(details):
        if raw_id in found and not found[raw_id].devices:
            found[raw_id] = Active(raw_id, found[raw_id].start_ms, devices)
    return found


def _devices(details: str) -> Iterator[tuple[int, dict[str, tuple[tuple[str, int], ...]]]]:
    """Devices by job and node. The lines hold users' words too: they only ever make findings."""
    for line in details.splitlines():
        job = re.match(r"JobId=([0-9]{1,12}) ", line)
        if job is None:
            continue
        by_node: dict[str, tuple[tuple[str, int], ...]] = {}
        for hosts, gres in _ALLOTTED.findall(line):
            devices = tuple(
                (kind, index)
                for kind, listed in _DEVICES.findall(gres)
                for index in expand_numbers(listed)
            )
            by_node |= dict.fromkeys(expand_hosts(hosts), devices)
        yield int(job[1]), by_node


def parse_runaways(text: str) -> tuple[Runaway, ...]:
    """The jobs that ``sacctmgr show runawayjobs`` lists, between its notes and its question."""
    rows = re.findall(r"^([0-9]{1,12})\|[A-Z_ ]+\|([0-9]{1,12})$", text, re.MULTILINE)
    return tuple(Runaway(int(raw_id), int(start) * 1000) for raw_id, start in rows)


def parse_accounts(text: str) -> dict[str, str]:
    """The account above each account, from its associations that are no user's."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("|")
        if len(words) != 3:
            raise InvalidValue(f"accounts row {number}", line[:80], "3 fields")
        account, user, parent = words
        if not user and parent:
            found[account] = parent
    return found


def parse_preempted(text: str) -> frozenset[str]:
    """The qualities of service that another one names as those it may preempt."""
    found: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("|")
        if len(words) != 2:
            raise InvalidValue(f"qos row {number}", line[:80], "2 fields")
        found |= set(filter(None, words[1].split(",")))
    return frozenset(found)


def parse_config(text: str) -> dict[str, str]:
    """The settings of ``scontrol show config``."""
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {name.strip(): value.strip() for name, _, value in pairs}


def boot_ms(config: Mapping[str, str]) -> int | None:
    """When the controller was started last."""
    return _time("config: BOOT_TIME", config.get("BOOT_TIME", "Unknown"))


def _time(field: str, text: str) -> int | None:
    return None if text in _UNKNOWN else _number(field, text) * 1000


def _number(field: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,12}", text):
        raise InvalidValue(field, text, "a whole number")
    return int(text)
