"""The options of ``plan``, ``submit``, ``explain`` and ``lease request``: what is asked for.

Rules:

- Everything may stand in a job file (``-f``) under the same word; an option beats the file.
- A job without a word about cores and memory gets one core and 2 GiB; one with GPUs gets one
  core and 16 GiB for each, because frameworks that use one will not even load in less.
- A job starts in a fresh folder of its own unless ``--cwd`` names one that it can see.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from bailiwick.cli.shared.ask import Ask
from bailiwick.cli.shared.completions import (
    complete_classes,
    complete_exclusivities,
    complete_generations,
    complete_jobs,
    complete_places,
    complete_priorities,
    complete_projects,
    complete_retries,
    complete_tenants,
)
from bailiwick.cli.shared.output import Format
from bailiwick.cli.shared.session import load_session
from bailiwick.tools.job_files.words import defaults_of
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.jobs import PLAIN_PATH

_WHAT, _TERMS, _SCOPE = "What is asked for", "On which terms", "For whom, and how it is told"
_LATER = "Later, many times, again"


def _option(panel: str, *names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panel, **more)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class WishOptions:
    """What a request can be told."""

    gpus: Annotated[
        str | None, _option(_WHAT, "--gpus", help="Whole GPUs, or a share of one: 2, 0.5.")
    ] = None
    generation: Annotated[
        str | None,
        _option(
            _WHAT, "--generation", help="nvidia_hopper, ...", autocompletion=complete_generations
        ),
    ] = None
    model: Annotated[
        list[str] | None, _option(_WHAT, "--model", help="A GPU model that will do; repeat it.")
    ] = None
    vram: Annotated[
        str | None, _option(_WHAT, "--vram", help="At least so much memory on each GPU.")
    ] = None
    exclusivity: Annotated[
        str | None,
        _option(
            _WHAT,
            "--exclusivity",
            help="With whom a GPU may be shared.",
            autocompletion=complete_exclusivities,
        ),
    ] = None
    cpus: Annotated[str | None, _option(_WHAT, "--cpus", help="Cores: 4, 0.5.")] = None
    mem: Annotated[str | None, _option(_WHAT, "--mem", help="Memory: 64GiB.")] = None
    block: Annotated[str | None, _option(_WHAT, "--block", help="Block storage.")] = None
    gang: Annotated[
        str | None, _option(_WHAT, "--gang", help="So many equal members, all or none.")
    ] = None
    label: Annotated[
        list[str] | None,
        _option(_WHAT, "--label", metavar="KEY=VALUE", help="Only nodes that have it; repeat it."),
    ] = None
    job_label: Annotated[
        list[str] | None,
        _option(_WHAT, "--job-label", metavar="KEY=VALUE", help="What the work is; repeat it."),
    ] = None
    scheduler_type: Annotated[
        str | None,
        _option(
            _WHAT, "--scheduler-type", metavar="WORD", help="For the scheduler that answers to it."
        ),
    ] = None
    priority: Annotated[
        str | None,
        _option(
            _TERMS,
            "--priority",
            help="low, normal, high or critical.",
            autocompletion=complete_priorities,
        ),
    ] = None
    lease_class: Annotated[
        str | None,
        _option(
            _TERMS, "--class", help="guaranteed, standard or spot.", autocompletion=complete_classes
        ),
    ] = None
    spot: Annotated[bool, _option(_TERMS, "--spot", help="Cheap, and the first to go.")] = False
    guaranteed: Annotated[
        bool,
        _option(
            _TERMS, "--guaranteed", help="Only operators and policy end it before its term is over."
        ),
    ] = False
    ttl: Annotated[
        str | None, _option(_TERMS, "--ttl", help="For how long: 2h, 1h30m; without it, 1h.")
    ] = None
    deadline: Annotated[
        str | None, _option(_TERMS, "--deadline", help="Start by then or not at all: 6h, a time.")
    ] = None
    tag: Annotated[str | None, _option(_TERMS, "--tag", help="What usage is added up under.")] = (
        None
    )
    preemptible_on_budget: Annotated[
        bool, _option(_TERMS, "--preemptible-on-budget", help="May end when the budget is spent.")
    ] = False
    no_wait: Annotated[
        bool, _option(_TERMS, "--no-wait", help="Now or not at all; never in the queue.")
    ] = False
    tenant: Annotated[
        str | None,
        _option(_SCOPE, "--tenant", help="Who pays.", autocompletion=complete_tenants),
    ] = None
    project: Annotated[
        str | None,
        _option(_SCOPE, "--project", help="For which part.", autocompletion=complete_projects),
    ] = None
    output: Annotated[
        Format, _option(_SCOPE, "--output", "-o", help="For people, or the wire model.")
    ] = Format.TABLE


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class JobOptions(WishOptions):
    """What a job can be told, beyond what it asks for."""

    command: Annotated[list[str] | None, typer.Argument(metavar="CMD", help="What to run.")] = None
    file: Annotated[
        Path | None,
        typer.Option("--file", "-f", metavar="FILE", help="A job file, or - for standard input."),
    ] = None
    name: Annotated[str | None, typer.Option("--name", help="What people call it.")] = None
    env: Annotated[
        list[str] | None,
        typer.Option("--env", metavar="NAME[=VALUE]", help="Repeat it; without a value, yours."),
    ] = None
    cwd: Annotated[str | None, typer.Option("--cwd", metavar="DIR", help="Where it starts.")] = None
    venv: Annotated[
        str | None,
        typer.Option(
            "--venv",
            metavar="DIR",
            help="Run it in this virtual environment, which it must be able to see.",
        ),
    ] = None
    image: Annotated[
        str | None,
        typer.Option(
            "--image",
            metavar="NAME[:TAG]",
            help="Run it in this OCI image, of those that its machine has.",
        ),
    ] = None
    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            metavar="EXECUTOR|NODE",
            help="Who runs it, or the one node; without it, any machine that runs jobs itself.",
            autocompletion=complete_places,
        ),
    ] = None
    after: Annotated[
        list[str] | None,
        _option(
            _LATER,
            "--after",
            metavar="JOB[:ok|failed|any]",
            help="Only once that job is over so; repeat it.",
            autocompletion=complete_jobs,
        ),
    ] = None
    array: Annotated[
        str | None,
        _option(
            _LATER,
            "--array",
            metavar="0-99%10",
            help="A task for each index, here ten at once; each is told BAILIWICK_ARRAY_INDEX.",
        ),
    ] = None
    retries: Annotated[
        int | None,
        _option(_LATER, "--retries", min=0, max=100, help="Try again so often; see --retry-on."),
    ] = None
    retry_on: Annotated[
        list[str] | None,
        _option(
            _LATER,
            "--retry-on",
            metavar="WHY",
            help="preempted, node_lost, exit_code, out_of_memory or timeout; without it, the "
            "first two.",
            autocompletion=complete_retries,
        ),
    ] = None
    checkpoint: Annotated[
        str | None,
        _option(
            _LATER,
            "--checkpoint",
            metavar="DIR",
            help="Where it saves its work: each attempt is told BAILIWICK_CHECKPOINT.",
        ),
    ] = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SubmitOptions(JobOptions):
    """What ``bailiwick submit`` can be told."""

    wait: Annotated[
        bool, typer.Option("--wait", help="Come back when it runs; 4 if --timeout is over.")
    ] = False
    follow: Annotated[
        bool, typer.Option("--follow", help="Show its output, and end as the job does.")
    ] = False
    timeout: Annotated[
        str | None, typer.Option("--timeout", metavar="SPAN", help="Wait no longer than this.")
    ] = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="The same as bailiwick plan.")] = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ExplainOptions(WishOptions):
    """What ``bailiwick explain`` can be told."""

    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[TARGET]",
            help="job-7, lease-12 or entry-3; else the options tell a request.",
            autocompletion=complete_jobs,
        ),
    ] = None
    lease: Annotated[
        bool, typer.Option("--lease", help="As lease request would ask, not as submit would.")
    ] = False
    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            metavar="EXECUTOR|NODE",
            help="As submit --on would.",
            autocompletion=complete_places,
        ),
    ] = None
    rules: Annotated[bool, typer.Option("--rules", help="Only who may evict whom.")] = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RequestOptions(WishOptions):
    """What ``bailiwick lease request`` can be told."""

    dry_run: Annotated[bool, typer.Option("--dry-run", help="Decide the same, change nothing.")] = (
        False
    )


def ask_of(options: WishOptions, *, dry_run: bool = False) -> Ask:
    """The command as the other ones have it."""
    given = {"tenant": options.tenant, "project": options.project}
    return Ask(load_session(), output=options.output, dry_run=dry_run, given=given)


def wish_of(options: WishOptions, ask: Ask, *, defaults: bool = True) -> dict[str, object]:
    """The words of a request: from the file, beaten by the options, in the scope that is meant."""
    wish: dict[str, object] = {}
    if isinstance(options, JobOptions) and options.file is not None:
        from bailiwick.tools.job_files.reading import load_job_file

        wish = load_job_file(options.file)
    wish |= typed_words(options)
    if isinstance(options, JobOptions):
        wish |= _typed_job(options)
        if options.venv is not None:
            wish["env"] = _with_venv(wish.get("env"), Path(options.venv).absolute())
    if "tenant" not in wish:
        wish["tenant"] = ask.tenant
        if "project" not in wish and ask.project is not None:
            wish["project"] = ask.project
    return (defaults_of(wish) if defaults else {}) | wish


def typed_words(options: WishOptions) -> dict[str, object]:
    """The words that were typed as options."""
    classes = {"spot": options.spot, "guaranteed": options.guaranteed}
    named = [word for word, is_typed in classes.items() if is_typed]
    if options.lease_class is not None:
        named.append(options.lease_class)
    if len(set(named)) > 1:
        raise InvalidValue("--class", " and ".join(named), "one class")
    told: dict[str, object] = {
        "gpus": options.gpus,
        "generation": options.generation,
        "models": options.model,
        "vram": options.vram,
        "exclusivity": options.exclusivity,
        "cpus": options.cpus,
        "mem": options.mem,
        "block": options.block,
        "gang": options.gang,
        "labels": options.label,
        "job_labels": options.job_label,
        "scheduler_type": options.scheduler_type,
        "priority": options.priority,
        "class": named[0] if named else None,
        "ttl": options.ttl,
        "deadline": options.deadline,
        "tag": options.tag,
        "preemptible_on_budget": options.preemptible_on_budget or None,
        "wait": False if options.no_wait else None,
        "tenant": options.tenant,
        "project": options.project,
    }
    return {word: value for word, value in told.items() if value not in (None, [])}


def _typed_job(options: JobOptions) -> dict[str, object]:
    told: dict[str, object] = {}
    if options.command:
        told["command"] = list(options.command)
    if options.name is not None:
        told["name"] = options.name
    if options.env:
        told["env"] = [each if "=" in each else _own(each) for each in options.env]
    later = {
        "after": options.after,
        "array": options.array,
        "retries": options.retries,
        "retry_on": options.retry_on,
        "checkpoint": options.checkpoint,
    }
    told |= {word: value for word, value in later.items() if value not in (None, [])}
    if options.cwd is not None:
        told["cwd"] = str(Path(options.cwd).absolute())
    if options.image is not None:
        told["image"] = options.image
    if options.on is not None:
        told["on"] = options.on
    return told


def _with_venv(env: object, folder: Path) -> object:
    """The same environment, as if that virtual one had been activated; what it says itself counts.

    >>> _with_venv({"A": "1"}, Path("/v"))["VIRTUAL_ENV"]
    '/v'
    """
    ours = {"VIRTUAL_ENV": str(folder), "PATH": f"{folder}/bin:{PLAIN_PATH}"}
    if isinstance(env, dict):
        return ours | env
    return [*(f"{name}={value}" for name, value in ours.items()), *_texts(env)]


def _texts(env: object) -> list[str]:
    return [each for each in env if isinstance(each, str)] if isinstance(env, list) else []


def _own(name: str) -> str:
    value = os.environ.get(name)
    if value is None:
        raise InvalidValue("--env", name, "NAME=VALUE, or a variable that is set here")
    return f"{name}={value}"
