"""``bailiwick isolation`` on a server: the policy in force, another in its place, what is scrubbed.

Rules:

- Before a policy is set, what it would do is shown, and somebody says yes to that. With
  ``--dry-run`` it is only shown.
- What was shown holds: if another policy came between, nothing is set (6).
- A search runs on the server, and ends when it is interrupted here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.offline.policy_files import load_policy_text
from bailiwick.cli.shared.ask import Ask, verb
from bailiwick.cli.shared.output import Format, emit
from bailiwick.cli.shared.screen import make_console, owner, print_rows
from bailiwick.phrases.times import moment
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import DomainKind

if TYPE_CHECKING:
    from bailiwick.wire.isolation import (
        IsolationLeaver,
        IsolationPolicy,
        IsolationPreview,
        IsolationResidue,
        IsolationSearchWish,
        IsolationStory,
    )


def add_policy_verbs(app: typer.Typer) -> None:
    """What ``bailiwick isolation`` does on a server."""
    verb(app, "show")(show_policy)
    verb(app, "search")(search_policy)
    verb(app, "set", changes=True)(set_policy)
    verb(app, "scrub", changes=True)(scrub_domain)


def show_policy(ask: Ask) -> None:
    """The policy in force, and what is kept for those who left.

    Example: bailiwick isolation show
    """
    from bailiwick.wire.actions.isolation import ISOLATION_READ

    found = ask.client.send(ISOLATION_READ)
    ask.printer.thing(found, name=str(found.version), draw=lambda: _draw_policy(found))


def _draw_policy(found: IsolationPolicy) -> None:
    if not found.version:
        emit("no policy was ever set: nothing is forbidden")
        return
    emit(f"# version {found.version}, set {moment(found.set_ms)}")
    emit(found.text or "# no rules: nothing is forbidden")
    if found.residues:
        emit("")
        print_rows(
            make_console(),
            ("kind", "domain*", "rule", "left", "kept until"),
            rows=[_residue_row(each) for each in found.residues],
            title="Kept for those who left",
        )


def _residue_row(each: IsolationResidue) -> tuple[str, ...]:
    until = "scrubbed" if each.until_ms is None else moment(each.until_ms)
    return each.kind.value, each.domain, each.rule, moment(each.left_ms), until


def set_policy(
    ask: Ask,
    file: Annotated[
        Path, typer.Argument(metavar="POLICY", help="The policy's text; - reads stdin.")
    ],
) -> None:
    """Set the policy, after showing what it would do to what runs and waits now.

    Example: bailiwick isolation set policy.txt --dry-run
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.isolation import ISOLATION_PREVIEW, ISOLATION_SET
    from bailiwick.wire.isolation import IsolationPolicyChange

    body = make_body(IsolationPolicyChange, text=load_policy_text(file)[0])
    tried = ask.client.send(ISOLATION_PREVIEW, body=body)
    if ask.dry_run:
        ask.printer.thing(tried, name=str(tried.leaving), draw=lambda: _draw_preview(tried))
        return
    if ask.output is Format.TABLE:
        _draw_preview(tried)
    ask.confirm(f"Set this policy in place of version {tried.version}?")
    told = f"version {tried.version + 1} of the policy is in force"
    ask.change(ISOLATION_SET, body=body, etag=f'"{tried.version}"', told=told)


def _draw_preview(found: IsolationPreview) -> None:
    console = make_console()
    rules = "1 rule" if found.rules == 1 else f"{found.rules} rules"
    if not found.leaving and not found.never:
        typer.echo(f"{rules}; all that runs now may stay, and all that waits may run")
        return
    if found.leaving:
        print_rows(
            console,
            ("lease", "owner", "node", "rule", "because*"),
            rows=[_leaver_row(each) for each in found.leavers],
            title=f"{rules}; {found.leaving} of the leases would have to go",
        )
        more = found.leaving - len(found.leavers)
        if more:
            typer.echo(f"and {more} more")
    if found.never:
        print_rows(
            console,
            ("entry", "owner", "rule*"),
            rows=[(f"entry-{e.entry_id}", owner(e.tenant, e.project), e.rule) for e in found.never],
            title="Waiting, and could never run",
        )


def _leaver_row(each: IsolationLeaver) -> tuple[str, ...]:
    name, who = f"lease-{each.lease_id}", owner(each.tenant, each.project)
    return name, who, each.node, each.rule, _because(each)


def _because(each: IsolationLeaver) -> str:
    if each.is_along:
        return "its gang has to go"
    if each.kind is None:
        return f"{each.domain} has not the labels"
    place = f"{each.kind.value} {each.domain}"
    if not each.partners:
        return f"{place} is kept for those who left"
    names = ", ".join(f"lease-{partner}" for partner in each.partners[:3])
    more = len(each.partners) - 3
    return f"shares {place} with {names}" + (f" and {more} more" if more > 0 else "")


def search_policy(
    ask: Ask,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[POLICY]", help="The policy's text; - reads stdin. Without: what is in force."
        ),
    ] = None,
    *,
    scope: Annotated[
        str, typer.Option("--scope", metavar="WORDS", help="How far, such as jobs=3,steps=6.")
    ] = "",
) -> None:
    """Have the server search a small world for a way around the policy; Ctrl-C ends it.

    Told as a story: a history that breaks a rule, or that an exception or a rule's hours allow.
    Ends with 1 if there is one, or if the search was cut short. -o json: a document each event.

    Example: bailiwick isolation search policy.txt --scope jobs=2
    """
    if ask.output in (Format.YAML, Format.NAME):
        raise InvalidValue("--output", ask.output.value, "table or json")
    try:
        is_clear = _hear_search(ask, _search_wish(file, scope))
    except KeyboardInterrupt:
        typer.echo("bailiwick: the search was ended", err=True)
        is_clear = False
    if not is_clear:
        raise typer.Exit(ExitCode.FAULT)


def _search_wish(file: Path | None, scope: str) -> IsolationSearchWish:
    from bailiwick.client.bodies import make_body
    from bailiwick.isolation.model.commands import parse_scope
    from bailiwick.wire.isolation import IsolationSearchWish

    asked = parse_scope(scope)
    far = {"jobs": asked.jobs, "steps": asked.steps} if scope else {}
    text = {} if file is None else {"text": load_policy_text(file)[0]}
    return make_body(IsolationSearchWish, **text, **far)


def _hear_search(ask: Ask, body: IsolationSearchWish) -> bool:
    """Tell what the server says; whether it searched to the end and found nothing."""
    from bailiwick.wire import isolation as wire
    from bailiwick.wire.actions.isolation import ISOLATION_SEARCH

    number = 0
    for event in ask.client.hear(ISOLATION_SEARCH, body):
        if ask.output is Format.JSON:
            emit(f'{{"event": "{event.kind}", "data": {event.data}}}')
        if event.kind == "ended":
            end = wire.IsolationSearchEnd.model_validate_json(event.data)
            if ask.output is Format.TABLE:
                emit(end.sentence)
            return end.reason == "complete" and not end.ways
        if ask.output is not Format.TABLE:
            continue
        match event.kind:
            case "progress":
                going = wire.IsolationSearchProgress.model_validate_json(event.data)
                if going.round != number:
                    number = going.round
                    typer.echo(f"[{going.round}/{going.rounds}] {going.sentence}", err=True)
            case "found":
                _draw_story(wire.IsolationStory.model_validate_json(event.data))
            case "nothing":
                nothing = wire.IsolationNothingFound.model_validate_json(event.data)
                for each in nothing.rounds:
                    emit(f"- {each.sentence}")
                emit(f"looked at: {nothing.world}; {nothing.states} states")
            case _:
                pass  # a word of a newer server
    typer.echo("bailiwick: the connection was lost before the search had ended", err=True)
    return False


def _draw_story(story: IsolationStory) -> None:
    emit(story.sentence)
    for step in story.steps:
        emit(f"{step.number:>2}. {step.sentence}")
    for broken in story.broken:
        emit(f" => {broken.sentence}")
    emit("")


def scrub_domain(
    ask: Ask,
    kind: Annotated[DomainKind, typer.Argument(metavar="KIND", help="host, cache, rack, ...")],
    *,
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="As isolation show names it.")],
) -> None:
    """Say that nothing of those who left is in a domain any more.

    Example: bailiwick isolation scrub host n7
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.isolation import ISOLATION_SCRUB
    from bailiwick.wire.isolation import DomainScrub

    body = make_body(DomainScrub, kind=kind, domain=domain)
    name = f"{kind.value} {domain}"
    ask.confirm(f"Has somebody made sure that nothing of those who left is in {name}?")
    ask.change(ISOLATION_SCRUB, body=body, told=f"{name} is for everybody again")
