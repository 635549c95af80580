"""What people may ask a cluster: which of Slurm's programs, with which options.

Rules:

- Each verb has its programs, and each program its options, on the command line and in a script
  alike; what is not in the table is refused, and nothing is run. So who may only read cannot
  submit, and nobody has a file of the controller read: a script comes on the standard input, and no
  program is given a path to read.
- The account is the project's, and who asked stands in the job's comment with the number of the
  record of it. Nobody else gives either. The comment is for people; what proves who it was is the
  mark (:mod:`.marks`) that is written to the job before it begins.
- Where projects share a cluster the partition is given too, and what would choose or show more
  than a project's own is not in the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from bailiwick.operators.slurm.queue.marks import JobCall
from bailiwick.vocab.apps import CallVerb

if TYPE_CHECKING:
    from bailiwick.wire.instances import TakenCall

USAGE, AWAY = 64, 69
"""How a program ends that was used wrongly, or that something it needs is not there for."""
_JOB: Final = re.compile(r"[0-9]{1,10}(_[0-9]{1,10})?\Z")

_JOB_OPTIONS: Final = (
    "array begin constraint cpus-per-gpu cpus-per-task deadline dependency error exclude gpus "
    "gpus-per-node gpus-per-task gres job-name mem mem-per-cpu mem-per-gpu nodelist nodes ntasks "
    "ntasks-per-node open-mode output partition qos signal time time-min wrap"
)
_JOB_FLAGS: Final = "exclusive hold no-requeue parsable requeue test-only"
_JOB_LETTERS: Final = (
    "a=array C=constraint c=cpus-per-task d=dependency e=error G=gpus H=hold J=job-name N=nodes "
    "n=ntasks o=output p=partition q=qos t=time w=nodelist x=exclude"
)
_NODE_LISTS: Final = ("exclude", "nodelist", "nodes")
"""What Slurm takes for the name of a file if there is a slash in it."""
_DIRECTIVE: Final = "#SBATCH"
_OTHERS: Final = ("#SLURM", "#BSUB")
"""Lines of other schedulers that ``sbatch`` knows as well; with ``--ignore-pbs`` it skips #PBS."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9 \t=,.:_%@+*\[\]/-]*\Z")
"""Of a directive: with quotes it could be read in two ways."""


class CallRefused(Exception):
    """What is asked is not run, and why: for who asked."""


@dataclass(frozen=True, slots=True)
class ProgramRule:
    """What one program may be asked."""

    verb: CallVerb
    valued: frozenset[str]
    """Options that have a value."""
    flags: frozenset[str]
    letters: Mapping[str, str]
    """Short options by the long ones that they are."""
    bound: tuple[str, ...]
    """Options that hold it to the project; ``{account}`` and ``{partition}`` are its own."""
    takes_jobs: bool = False
    """Whether numbers of jobs are its words."""


def _rule(
    verb: CallVerb,
    valued: str,
    flags: str,
    *,
    letters: str,
    bound: tuple[str, ...] = (),
    takes_jobs: bool = False,
) -> ProgramRule:
    known = frozenset(valued.split()), frozenset(flags.split())
    short = dict(each.split("=") for each in letters.split())
    return ProgramRule(verb, *known, letters=short, bound=bound, takes_jobs=takes_jobs)


RULES: Final[Mapping[str, ProgramRule]] = {
    "sbatch": _rule(
        CallVerb.SUBMIT,
        _JOB_OPTIONS,
        _JOB_FLAGS,
        letters=_JOB_LETTERS,
        bound=("--ignore-pbs", "--account={account}", "--comment={comment}"),
    ),
    "squeue": _rule(
        CallVerb.READ,
        "format Format jobs name nodelist partition qos sort states steps",
        "all array json long noheader start",
        letters="o=format O=Format j=jobs n=name w=nodelist p=partition q=qos S=sort t=states "
        "s=steps a=all r=array l=long h=noheader",
        bound=("--account={account}",),
    ),
    "sacct": _rule(
        CallVerb.READ,
        "endtime format jobs name nodelist partition qos starttime state units",
        "allocations duplicates json long noheader parsable parsable2",
        letters="E=endtime o=format j=jobs N=nodelist r=partition q=qos S=starttime s=state "
        "X=allocations l=long D=duplicates n=noheader p=parsable P=parsable2",
        bound=("--allusers", "--accounts={account}"),
    ),
    "sinfo": _rule(
        CallVerb.READ,
        "format Format nodes partition states",
        "json long list-reasons Node noheader responding summarize",
        letters="o=format O=Format n=nodes p=partition t=states l=long R=list-reasons N=Node "
        "h=noheader r=responding s=summarize",
    ),
    "scancel": _rule(
        CallVerb.CANCEL,
        "name partition signal state",
        "batch full hurry quiet verbose",
        letters="n=name p=partition s=signal t=state b=batch f=full H=hurry Q=quiet v=verbose",
        bound=("--account={account}",),
        takes_jobs=True,
    ),
}


def _narrowed(name: str, without: str, *, bound: tuple[str, ...] = ()) -> ProgramRule:
    rule, gone = RULES[name], frozenset(without.split())
    return replace(
        rule,
        valued=rule.valued - gone,
        flags=rule.flags - gone,
        letters={letter: long for letter, long in rule.letters.items() if long not in gone},
        bound=(*rule.bound, *bound),
    )


_THERE: Final = ("--partition={partition}",)
SHARED_RULES: Final[Mapping[str, ProgramRule]] = {
    "sbatch": _narrowed("sbatch", "partition qos", bound=_THERE),
    "squeue": _narrowed("squeue", "json steps"),
    "sacct": _narrowed("sacct", "json"),
    "sinfo": _narrowed("sinfo", "json partition list-reasons", bound=_THERE),
    "scancel": RULES["scancel"],
}
"""Where projects share a cluster: the partition is told, as the account is, and what Slurm does
not hold to an account (steps, JSON) is not shown."""


@dataclass(frozen=True, slots=True)
class QueuePlace:
    """To what a program is held."""

    account: str
    partition: str = ""
    rules: Mapping[str, ProgramRule] = field(default_factory=lambda: RULES)


def argv_of(call: TakenCall, place: QueuePlace | None = None) -> list[str]:
    """The program and its words as they are run; raises ``CallRefused``.

    Without a place it is the call's own project, in a cluster of that project alone.
    """
    place = QueuePlace(call.project) if place is None else place
    name, words = call.argv[0], call.argv[1:]
    rule = place.rules.get(name)
    if rule is None:
        raise CallRefused(f"only these are run: {', '.join(sorted(place.rules))}")
    if rule.verb is not call.verb:
        raise CallRefused(f"{name} is asked with the verb {rule.verb.value}, not {call.verb.value}")
    options, jobs = _parse(rule, name, words=words)
    if rule.takes_jobs and not jobs and not any(each.startswith("--name=") for each in options):
        raise CallRefused(f"{name} needs the number of a job, or --name")
    has_script = bool(call.stdin.strip())
    if name == "sbatch" and has_script == any(e.startswith("--wrap=") for e in options):
        raise CallRefused("give a script (--input FILE), or --wrap")
    if name == "sbatch":
        script_options(rule, call.stdin)
    elif has_script:
        raise CallRefused(f"{name} reads nothing")
    comment = call_of(call).comment
    held = {"account": place.account, "partition": place.partition, "comment": comment}
    bound = [each.format(**held) for each in rule.bound]
    return [name, *options, *bound, *jobs]


def script_options(rule: ProgramRule, script: str) -> list[str]:
    """A script's own options, which are held to the same table; raises ``CallRefused``."""
    options: list[str] = []
    for line in script.split("\n"):
        found = line.strip()
        if found.startswith(_OTHERS):
            raise CallRefused(f"only {_DIRECTIVE} lines are read here")
        if not found.startswith(_DIRECTIVE):
            continue
        told, _, remark = found.removeprefix(_DIRECTIVE).partition(" #")
        if not _PLAIN.match(told) or "-" in remark:
            raise CallRefused(f"{_DIRECTIVE} lines are plain words here, without quotes")
        options += _parse(rule, "sbatch", words=told.split())[0]
    return options


def letters_of(rule: ProgramRule, word: str) -> list[str]:
    """Short options in one word as words of their own; the last may have its value with it.

    >>> letters_of(RULES["sacct"], "-XnPj12")
    ['-X', '-n', '-P', '-j12']
    """
    at = 1
    while at < len(word) and rule.letters.get(word[at]) in rule.flags:  # it grows
        at += 1
    found = [f"-{letter}" for letter in word[1:at]]
    return found if at == len(word) else [*found, f"-{word[at:]}"]


def _parse(rule: ProgramRule, name: str, *, words: list[str]) -> tuple[list[str], list[str]]:
    """Options in one spelling each, and numbers of jobs."""
    options, jobs, rest = list[str](), list[str](), iter(words)
    for word in rest:
        if word.startswith("--"):
            options.append(_option(rule, word[2:], shown=word, rest=rest))
        elif word.startswith("-") and len(word) > 1:
            for each in letters_of(rule, word):
                long = rule.letters.get(each[1], "")
                told = f"{long}={each[2:]}" if each[2:] else long
                options.append(_option(rule, told, shown=each, rest=rest))
        elif rule.takes_jobs and _JOB.match(word):
            jobs.append(word)
        elif name == "sbatch":
            raise CallRefused("no file is read here: the script is what --input FILE gives")
        else:
            raise CallRefused(f"{name} takes no word {word[:40]!r}")
    return options, jobs


def _option(rule: ProgramRule, told: str, *, shown: str, rest: Iterator[str]) -> str:
    option, has_value, value = told.partition("=")
    if option in rule.flags and not has_value:
        return f"--{option}"
    if option not in rule.valued:
        known = ", ".join(f"--{each}" for each in sorted(rule.valued | rule.flags))
        raise CallRefused(f"no option {shown.partition('=')[0][:40]} here; these are: {known}")
    found = value if has_value else next(rest, None)
    if not found:
        raise CallRefused(f"--{option} needs a value")
    if option in _NODE_LISTS and "/" in found:
        raise CallRefused(f"--{option} is a list of nodes, never a file")
    return f"--{option}={found}"


def call_of(call: TakenCall) -> JobCall:
    """For whom a job is submitted."""
    return JobCall(call.project, call.principal, call.call_id, call.correlation_id)
