"""``bailiwick isolation``: the operator's policy about who may not meet whom, and where.

Rules:

- What is here needs no server and changes nothing but the file that ``fmt --write`` names; what a
  server does with a policy is in :mod:`.isolation_policy`.
- A text that is no policy ends with 2, and every problem of it is told. A finding, a broken rule
  or a text that ``fmt --check`` would change ends with 3.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.commands.isolation_audit import app as audit
from bailiwick.cli.commands.isolation_check import add_check_verb
from bailiwick.cli.commands.isolation_conformance import conformance
from bailiwick.cli.commands.isolation_policy import add_policy_verbs
from bailiwick.cli.offline.policy_files import (
    load_placements,
    load_policy,
    problem_row,
    read_text,
    tell_problems,
)
from bailiwick.cli.shared.ask import noun
from bailiwick.cli.shared.flags import Output, OutputOption
from bailiwick.cli.shared.output import emit
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.isolation.explain import RuleExplanation
    from bailiwick.isolation.lint.findings import LintFinding

app = noun("Who may not meet whom, and where: the policy's text, and whether placements keep it.")
app.add_typer(audit, name="audit")
app.command(
    "conformance",
    help="Try, as users can, to meet where the policy forbids it.\n\n"
    "bailiwick isolation conformance --target bailiwick --policy policy.txt\n\n"
    "On another scheduler it submits and cancels jobs: try it on a test cluster. Ends "
    "with 3 if the scheduler was driven into a forbidden meeting, with 4 if nothing could be "
    "tried, with 5 if it does not answer.",
)(conformance)
add_policy_verbs(app)

PolicyArgument = Annotated[
    Path, typer.Argument(metavar="POLICY", help="The policy's text; - reads stdin.")
]
AtOption = Annotated[
    str | None,
    typer.Option("--at", metavar="TIME", help="Judged at this time: 2026-11-16T12:00, or -2h."),
]


@app.command(
    "fmt",
    help="Print a policy in its canonical form.\n\n"
    "bailiwick isolation fmt --write policy.txt\n\n"
    "Comments stay where they are. --check only says whether the text would change, and ends with "
    "3 if so; --write puts the result into the file.",
)
def fmt(
    policy: PolicyArgument,
    *,
    check: Annotated[bool, typer.Option("--check", help="Only say whether it is so.")] = False,
    write: Annotated[bool, typer.Option("--write", help="Into the file.")] = False,
) -> None:
    """Format a policy's text."""
    from bailiwick.isolation.language.spelling import format_text
    from bailiwick.isolation.language.text import PolicyRefused

    if check and write:
        raise InvalidValue("--write", "with --check", "one of them")
    if write and str(policy) == "-":
        raise InvalidValue("--write", "-", "a file to write into")
    text = read_text(policy)
    try:
        formatted = format_text(text)
    except PolicyRefused as refused:
        tell_problems(policy, refused)
        raise typer.Exit(ExitCode.USAGE) from None
    if check:
        if formatted != text:
            typer.echo(f"bailiwick: {policy} is not in its canonical form", err=True)
            raise typer.Exit(ExitCode.DENIED)
    elif not write:
        typer.echo(formatted, nl=False)
    elif formatted != text:
        _replace(policy, formatted)
        typer.echo(f"{policy} is formatted", err=True)


def _replace(path: Path, text: str) -> None:
    """The whole file or the old one: never half of it."""
    import os
    import shutil

    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text, "utf-8", newline="\n")
        shutil.copymode(path, beside)
        beside.replace(path.resolve())
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InvalidValue("POLICY", str(path), f"a file to write ({error.strerror})") from None


@app.command(
    "lint",
    help="What is wrong with a policy that is well written, and what it does not forbid.\n\n"
    "bailiwick isolation lint policy.txt --fleet placements.json --tenant acme --tenant bank\n\n"
    "Ends with 3 if anything but notes is found. Without --fleet and --tenant nothing is said "
    "about what they would show.",
    context_settings={"ignore_unknown_options": True},  # a TIME such as -2h is no option
)
def lint(
    policy: PolicyArgument,
    *,
    fleet: Annotated[
        Path | None,
        typer.Option("--fleet", metavar="FILE", help="The nodes: a file of placements (JSON)."),
    ] = None,
    tenant: Annotated[
        list[str] | None,
        typer.Option("--tenant", metavar="NAME", help="A tenant that is known; repeatable."),
    ] = None,
    gang: Annotated[
        int | None,
        typer.Option("--gang", min=1, max=100_000, help="The largest gang that is to run."),
    ] = None,
    at: AtOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Lint a policy."""
    from bailiwick.cli.shared.periods import parse_time
    from bailiwick.isolation.language.parser import parse_policy
    from bailiwick.isolation.language.text import PolicyRefused
    from bailiwick.isolation.lint.findings import LintSeverity
    from bailiwick.isolation.lint.linter import LintWorld, lint_policy

    text = read_text(policy)
    world = LintWorld(
        sites=None if fleet is None else load_placements("--fleet", fleet).sites,
        tenants=frozenset(tenant) if tenant else None,
        now_ms=parse_time("--at", at or "now"),
        gang_max=gang,
    )
    try:
        found = lint_policy(parse_policy(text, tenants=tenant or ()), world)
    except PolicyRefused as refused:
        if output is Output.JSON:
            emit(_json({"problems": [*map(problem_row, refused.problems)], "findings": []}))
        else:
            tell_problems(policy, refused)
        raise typer.Exit(ExitCode.USAGE) from None
    if output is Output.JSON:
        emit(_json({"problems": [], "findings": [*map(_finding_row, found)]}))
    else:
        _draw_findings(found)
    if any(each.severity is not LintSeverity.NOTE for each in found):
        raise typer.Exit(ExitCode.DENIED)


def _draw_findings(found: list[LintFinding]) -> None:
    from bailiwick.cli.shared.screen import make_console, print_rows
    from bailiwick.isolation.lint.findings import LintCode, LintSeverity

    wrong = [each for each in found if each.severity is not LintSeverity.NOTE]
    rows = [
        (
            str(each.line or "-"),
            each.severity.value,
            each.code.value,
            each.rule or "-",
            f"{each.sentence}\nfix: {each.fix}" if each.fix else each.sentence,
        )
        for each in wrong
    ]
    console = make_console()
    if rows:
        headings = ("line", "severity", "code", "rule", "finding*")
        print_rows(console, headings, rows=rows, numbers=("line",))
    else:
        console.print("nothing is wrong with it", soft_wrap=True)
    told = [each.sentence for each in found if each.code is LintCode.NOT_FORBIDDEN]
    other = [each.sentence for each in found if each not in wrong and each.sentence not in told]
    if told:
        console.print()
        print_rows(console, ("What it does not forbid*",), rows=[(f"- {each}",) for each in told])
    for sentence in other:
        typer.echo(f"note: {sentence}", err=True)


def _finding_row(found: LintFinding) -> dict[str, Any]:
    return {
        "code": found.code.value,
        "severity": found.severity.value,
        "rule": found.rule or None,
        "line": found.line or None,
        "sentence": found.sentence,
        "fix": found.fix or None,
    }


@app.command(
    "explain",
    help="For each rule, whether it applies to placements, why, with whom, and in which domain.\n\n"
    "bailiwick isolation explain policy.txt placements.json\n\n"
    "The file of placements is described in docs/isolation.md. Ends with 3 if a rule is broken.",
    context_settings={"ignore_unknown_options": True},
)
def explain(
    policy: PolicyArgument,
    placements: Annotated[
        Path, typer.Argument(metavar="PLACEMENTS", help="Nodes and placements (JSON).")
    ],
    *,
    at: AtOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Explain how placements stand to a policy."""
    from bailiwick.cli.shared.periods import parse_time
    from bailiwick.isolation.explain import RuleVerdict, explain_policy

    if str(policy) == str(placements) == "-":
        raise InvalidValue("PLACEMENTS", "-", "a file: the policy is read from stdin already")
    rules = load_policy(policy)
    file = load_placements("PLACEMENTS", placements)
    now_ms = file.now_ms if at is None else parse_time("--at", at)
    found = explain_policy(
        rules,
        file.placements,
        now_ms=parse_time("--at", "now") if now_ms is None else now_ms,
        residues=file.residues,
    )
    if output is Output.JSON:
        emit(_json({"rules": [*map(_explanation_row, found)]}))
    else:
        _draw_explanations(found)
    if any(each.verdict is RuleVerdict.BROKEN for each in found):
        raise typer.Exit(ExitCode.DENIED)


def _draw_explanations(found: list[RuleExplanation]) -> None:
    from bailiwick.cli.shared.screen import make_console, print_rows

    console = make_console()
    if not found:
        console.print("the policy has no rule", soft_wrap=True)
        return
    rows = [
        (str(each.line or "-"), each.rule, each.verdict.value.replace("_", " "), each.why)
        for each in found
    ]
    print_rows(console, ("line", "rule", "verdict", "why*"), rows=rows, numbers=("line",))


def _explanation_row(found: RuleExplanation) -> dict[str, Any]:
    return {
        "rule": found.rule,
        "line": found.line or None,
        "verdict": found.verdict.value,
        "why": found.why,
        "judged": [*found.judged],
        "meetings": [
            {"kind": each.kind, "domain": each.domain, "who": [*each.who]}
            for each in found.meetings
        ],
    }


def _json(document: dict[str, Any]) -> str:
    import json

    return json.dumps(document, indent=2, ensure_ascii=False)


add_check_verb(app)
