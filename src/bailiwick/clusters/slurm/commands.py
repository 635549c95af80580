"""Asks Slurm's programs, or reads what they answered once: text in, books out.

Rules:

- Nothing is changed. Every program is called with a fixed list of words and without a shell; times
  go in and come out as seconds since 1970.
- ``sacct`` is asked first. A job that ends while the rest is asked is then running in both.
- ``sacctmgr show runawayjobs`` may ask whether to repair them: it is told no. It needs an
  operator's rights; without them that one question stays open, and the report says so.
- Saved answers are the programs' own text, one file each (of nodes, settings and running jobs only
  what is used), and ``books.json``, which says of which cluster and time they are, the separator
  that ``sacct`` was given, and what the logs told.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from bailiwick.clusters.accounting import NoAnswer, Question, Tell
from bailiwick.clusters.slurm import parse
from bailiwick.clusters.slurm.logs import read_exits
from bailiwick.clusters.slurm.rows import SlurmBooks
from bailiwick.vocab.errors import InvalidValue, NotFound
from bailiwick.vocab.values import check_integer

SCHEMA: Final = "bailiwick-slurm-books-1"
ANSWER_BYTES_MAX: Final = 2**30
ANSWER_WAIT_S: Final = 600
DAY_S: Final = 86_400
# Earlier times Slurm takes for something else.
FROM_S_MIN: Final = 10**9
_CLUSTER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SEPARATOR = re.compile(r"<[0-9a-f]{32}>")


@dataclass(frozen=True, slots=True)
class Answers:
    """What the programs said, by the name under which it is saved."""

    cluster: str
    from_s: int
    to_s: int
    separator: str
    texts: Mapping[str, str]
    exits: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    is_asked_for_runaways: bool = True


def read_answers(question: Question, tell: Tell) -> Answers:
    """From the folder that the question names, or else from the cluster."""
    found = _ask(question, tell) if question.files is None else _load(question.files)
    if question.node_logs is not None:
        tell("reading the nodes' logs")
        nodes = parse.parse_nodes(found.texts["nodes"])
        exits = read_exits(question.node_logs, nodes)
        if not exits:
            raise NotFound("a log of any node in", str(question.node_logs), hint="NODE.log")
        found = replace(found, exits={**found.exits, **exits})
    if question.save is not None:
        _save(question.save, found)
    return found


def make_books(answers: Answers) -> SlurmBooks:
    """The answers, understood."""
    texts = answers.texts
    outages, registered = parse.parse_events(texts["events"])
    exits: dict[tuple[int, str], tuple[int, ...]] = {}
    for node, told in answers.exits.items():
        for raw_id, at_ms in told:
            exits[raw_id, node] = (*exits.get((raw_id, node), ()), at_ms)
    return SlurmBooks(
        cluster=answers.cluster,
        from_ms=answers.from_s * 1000,
        to_ms=answers.to_s * 1000,
        boot_ms=parse.boot_ms(parse.parse_config(texts["config"])),
        jobs=parse.parse_jobs(texts["jobs"], answers.separator),
        nodes=parse.parse_nodes(texts["nodes"]),
        outages=outages,
        registered=registered,
        active=parse.parse_active(texts["queue"], texts["details"]),
        runaways=parse.parse_runaways(texts["runaways"]),
        parents=parse.parse_accounts(texts["accounts"]),
        preempted_qos=parse.parse_preempted(texts["qos"]),
        exits=exits,
        logged=frozenset(answers.exits),
    )


# -- from the cluster ------------------------------------------------------------------------


_REDUCED: Final[Mapping[str, Callable[[str], str]]] = {
    "details": parse.reduce_details,
    "nodes": parse.reduce_nodes,
    "config": parse.reduce_config,
}


def _ask(question: Question, tell: Tell) -> Answers:
    to_s = (question.now_ms if question.to_ms is None else question.to_ms) // 1000
    from_s = to_s - to_s % DAY_S if question.from_ms is None else question.from_ms // 1000
    if from_s == to_s and question.from_ms is None:
        from_s -= DAY_S
    if not FROM_S_MIN <= from_s < to_s:
        raise InvalidValue("--from", from_s, f"a time before --to and after {FROM_S_MIN}")
    if question.cluster is not None and not _CLUSTER.fullmatch(question.cluster):
        raise InvalidValue("--cluster", question.cluster, "a cluster's name")
    separator = f"<{secrets.token_hex(16)}>"
    texts: dict[str, str] = {}
    is_asked = True
    for name, words in _questions(question.cluster, from_s, to_s=to_s, separator=separator):
        tell(f"asking {words[0]} for {name}")
        try:
            texts[name] = _REDUCED.get(name, str)(_run(words))
        except NoAnswer:
            if name != "runaways":
                raise
            texts[name], is_asked = "", False
    config = parse.parse_config(texts["config"])
    cluster = question.cluster or config.get("ClusterName", "unknown")
    return Answers(cluster, from_s, to_s, separator, texts, is_asked_for_runaways=is_asked)


def _questions(
    cluster: str | None, from_s: int, *, to_s: int, separator: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    there = () if cluster is None else ("-M", cluster)
    of_it = () if cluster is None else (f"cluster={cluster}",)
    begin, end = f"uts{from_s}", f"uts{to_s}"
    rows = ("-a", "-X", "-D", "-n", "-p", "--noconvert", f"--delimiter={separator}")
    fields = ",".join(parse.JOB_FIELDS)
    yield "jobs", ("sacct", *there, *rows, "-S", begin, "-E", end, "-o", fields)
    yield "queue", ("squeue", *there, "-a", "-h", "-r", "-t", "all", "-o", "%A|%T|%S")
    yield "details", ("scontrol", *there, "-o", "-d", "show", "job")
    yield "nodes", ("scontrol", *there, "-o", "show", "node")
    yield "config", ("scontrol", *there, "show", "config")
    show = ("sacctmgr", "-n", "-P", "show")
    when = (f"start={begin}", f"end={end}")
    yield "events", (*show, "event", *of_it, *when, "format=" + ",".join(parse.EVENT_FIELDS))
    yield "accounts", (*show, "assoc", *of_it, "format=account,user,parentname")
    yield "qos", (*show, "qos", "format=name,preempt")
    yield "runaways", (*show, "runawayjobs", *of_it, "format=id,state,timestart")


def _run(words: tuple[str, ...]) -> str:
    program = words[0]
    try:
        done = subprocess.run(
            words,
            input=b"n\n",
            capture_output=True,
            timeout=ANSWER_WAIT_S,
            check=False,
            env={**os.environ, "SLURM_TIME_FORMAT": "%s", "LC_ALL": "C"},
        )
    except FileNotFoundError:
        raise NoAnswer(
            f"{program} is not installed here (run this where it is, with --save DIR, and read "
            "that folder here with --files DIR)"
        ) from None
    except subprocess.TimeoutExpired:
        raise NoAnswer(f"{program} gave no answer in {ANSWER_WAIT_S} s") from None
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = told[-1] if told else f"exit code {done.returncode}"
        raise NoAnswer(f"{program} failed: {why}")
    if len(done.stdout) > ANSWER_BYTES_MAX:
        raise NoAnswer(
            f"{program} told more than {ANSWER_BYTES_MAX} bytes (ask for a shorter time)"
        )
    return done.stdout.decode("utf-8", "replace")


# -- saved -----------------------------------------------------------------------------------

_NAMES: Final = (
    *("jobs", "queue", "details", "nodes", "config"),
    *("events", "accounts", "qos", "runaways"),
)


def _save(folder: Path, answers: Answers) -> None:
    head = {
        "schema": SCHEMA,
        "cluster": answers.cluster,
        "from_s": answers.from_s,
        "to_s": answers.to_s,
        "separator": answers.separator,
        "runaways_asked": answers.is_asked_for_runaways,
        "exits": {node: list(told) for node, told in answers.exits.items()},
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in answers.texts.items():
            (folder / f"{name}.txt").write_text(text, "utf-8", newline="")
        (folder / "books.json").write_text(json.dumps(head, indent=1) + "\n", "utf-8")
    except OSError as error:
        raise InvalidValue("--save", str(folder), f"a folder ({error.strerror})") from None


def _load(folder: Path) -> Answers:
    head = _head(folder)
    texts = {name: _read(folder / f"{name}.txt") for name in _NAMES}
    return Answers(
        cluster=str(head["cluster"]),
        from_s=check_integer("books.json: from_s", head["from_s"], low=0, high=2**40),
        to_s=check_integer("books.json: to_s", head["to_s"], low=head["from_s"] + 1, high=2**40),
        separator=head["separator"],
        texts=texts,
        exits=_exits(head["exits"]),
        is_asked_for_runaways=head["runaways_asked"] is True,
    )


def _head(folder: Path) -> dict[str, Any]:
    try:
        head = json.loads(_read(folder / "books.json"))
    except (ValueError, RecursionError):
        raise InvalidValue("books.json", "no JSON", "what --save wrote") from None
    names = {"schema", "cluster", "from_s", "to_s", "separator", "runaways_asked", "exits"}
    if not isinstance(head, dict) or set(head) != names or head["schema"] != SCHEMA:
        raise InvalidValue("books.json", "other fields", f"what --save wrote ({SCHEMA})")
    separator = head["separator"]
    if not isinstance(separator, str) or not _SEPARATOR.fullmatch(separator):
        raise InvalidValue("books.json: separator", separator, "32 hexadecimal digits in <>")
    return head


def _exits(told: Any) -> dict[str, tuple[tuple[int, int], ...]]:
    if not isinstance(told, dict):
        raise InvalidValue("books.json: exits", told, "an object")
    found = {}
    for node, pairs in told.items():
        is_pairs = isinstance(pairs, list) and all(
            isinstance(pair, list) and [type(each) for each in pair] == [int, int] for pair in pairs
        )
        if not is_pairs:
            raise InvalidValue(f"books.json: exits: {node}", pairs, "pairs of job and time")
        found[node] = tuple((raw_id, at_ms) for raw_id, at_ms in pairs)
    return found


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > ANSWER_BYTES_MAX:
            raise InvalidValue("--files", str(path), f"at most {ANSWER_BYTES_MAX} bytes")
        return path.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        raise NotFound("file", str(path), hint="--files reads what --save wrote") from None
