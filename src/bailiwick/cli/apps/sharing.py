"""What ``bailiwick shared`` can be told, and how runtimes and plans are drawn."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.apps.arguments import parse_counts, parse_parameters, place_of
from bailiwick.cli.shared.ask import Ask
from bailiwick.cli.shared.completions import complete_projects, complete_tenants
from bailiwick.cli.shared.output import Format, emit
from bailiwick.cli.shared.session import load_session
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.wire.shared import (
        SharedPlan,
        SharedRuntimeView,
        SharedUsage,
        SharedUseSum,
        SubmitRight,
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SharedOptions:
    """Which runtime, of whom, and how it is told."""

    name: Annotated[str, typer.Argument(metavar="RUNTIME", help="What the runtime is called.")]
    tenant: Annotated[
        str | None,
        typer.Option("--tenant", help="Else the session's.", autocompletion=complete_tenants),
    ] = None
    project: Annotated[
        str | None,
        typer.Option("--project", help="A part of it.", autocompletion=complete_projects),
    ] = None
    output: Annotated[
        Format, typer.Option("--output", "-o", help="For people, or the wire model.")
    ] = Format.TABLE

    def ask(self, *, dry_run: bool = False) -> Ask:
        """Who asks, and for which scope."""
        given = {"tenant": self.tenant, "project": self.project}
        return Ask(load_session(), output=self.output, dry_run=dry_run, given=given)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SharedPlanOptions(SharedOptions):
    """What ``bailiwick shared plan`` can be told."""

    of_app: Annotated[str, typer.Option("--app", metavar="APP", help="Of the catalog.")]
    version: Annotated[str, typer.Option("--version", metavar="VERSION", help="Such as 1.2.0.")]
    controller: Annotated[
        list[str],
        typer.Option("--controller", metavar="LABEL", help="Where it is steered: zone=a, or any."),
    ]
    environment: Annotated[
        str, typer.Option("--environment", metavar="NAME", help="Each has one of an app.")
    ] = "prod"
    reserve: Annotated[
        list[str] | None,
        typer.Option("--reserve", metavar="ROLE=N", help="Capacity that the owner pays for."),
    ] = None
    given: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter.")
    ] = None
    within: Annotated[
        str,
        typer.Option("--withdraw-within", metavar="SPAN", help="Until who withdraws has it back."),
    ] = "5m"
    settle: Annotated[
        list[str] | None,
        typer.Option("--settle", metavar="UNIT=PRICE", help="What use of others' workers costs."),
    ] = None

    def wish(self, ask: Ask) -> dict[str, Any]:
        """The runtime that is meant."""
        from bailiwick.vocab.units import parse_span

        return {
            "runtime": self.name,
            "environment": self.environment,
            "project": place_of(ask)["project"],
            "app": self.of_app,
            "version": self.version,
            "parameters": parse_parameters(self.given, file=None) or {},
            "counts": parse_counts(self.reserve),
            "controller": parse_controller(self.controller),
            "withdraw_within_ms": parse_span("--withdraw-within", self.within),
            "rates": parse_rates("--settle", self.settle),
        }


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SharedCreateOptions(SharedPlanOptions):
    """What ``bailiwick shared create`` can be told."""

    accept: Annotated[
        str, typer.Option("--accept", metavar="DIGEST", help="Of the plan: who pays for what.")
    ]
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Decide the same, change nothing.")] = (
        False
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SharedPolicyOptions(SharedOptions):
    """What ``bailiwick shared policy`` can be told."""

    policy: Annotated[str, typer.Argument(metavar="POLICY", help="What it is called.")]
    queue: Annotated[
        str | None, typer.Option("--queue", metavar="QUEUE", help="Which queue of yours.")
    ] = None
    for_project: Annotated[
        str | None, typer.Option("--for-project", metavar="PROJECT", help="Who may use it.")
    ] = None
    for_person: Annotated[
        str | None, typer.Option("--for-person", metavar="NAME", help="Or one person.")
    ] = None
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="Its end, in UTC, or +7d."),
    ] = None
    limit: Annotated[
        list[str] | None, typer.Option("--limit", metavar="NAME=N", help="As the app reads it.")
    ] = None
    end: Annotated[bool, typer.Option("--end", help="Let them use it no more.")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Decide the same, change nothing.")] = (
        False
    )

    def grant(self) -> dict[str, Any]:
        """Who may use what, and until when."""
        from bailiwick.cli.shared.periods import parse_until

        if self.queue is None or self.until is None:
            raise InvalidValue("--queue", self.queue, "a queue, and --until when it may be used")
        return {
            "queue": self.queue,
            "until_ms": parse_until("--until", self.until),
            "grantee_project": self.for_project,
            "grantee_person": self.for_person,
            "limits": parse_limits(self.limit),
        }


def parse_controller(given: Sequence[str]) -> dict[str, str]:
    """Where what steers a runtime may run, as it was chosen.

    >>> parse_controller(["any"]), parse_controller(["zone=a"])
    ({}, {'zone': 'a'})
    """
    if [*given] == ["any"]:
        return {}
    found = dict(each.partition("=")[::2] for each in given)
    if not all(found.values()) or len(found) < len(given):
        raise InvalidValue("--controller", ", ".join(given), "labels like zone=a, or any")
    return found


def parse_rates(option: str, given: Sequence[str] | None) -> dict[str, int]:
    """What one of a unit is worth, in micros, as it was typed in units of the currency.

    >>> parse_rates("--rate", ["cpu_second=0.00002"])
    {'cpu_second': 20}
    """
    from bailiwick.cli.shared.periods import parse_money

    found: dict[str, int] = {}
    for each in given or ():
        unit, _, price = each.partition("=")
        if not unit or not price or unit in found:
            raise InvalidValue(option, each, "a unit and a price, each once: cpu_second=0.00002")
        found[unit] = parse_money(option, price)
    return found


def parse_limits(given: Sequence[str] | None) -> dict[str, int]:
    """Limits as they were typed.

    >>> parse_limits(["gpus=4"])
    {'gpus': 4}
    """
    found: dict[str, int] = {}
    for each in given or ():
        name, _, number = each.partition("=")
        if not name or not re.fullmatch(r"[0-9]{1,12}", number) or name in found:
            raise InvalidValue("--limit", each, "a name and a number, each once: gpus=4")
        found[name] = int(number)
    return found


def draw_plan(plan: SharedPlan, owner: str) -> None:
    """Who would pay for what, for people."""
    from bailiwick.cli.shared.periods import spell_money
    from bailiwick.vocab.units import spell_span

    emit(f"{owner} pays, as the owner record:")
    for line in plan.reserved:
        shape = " ".join(f"{word}={value}" for word, value in line.shape.items())
        bound = "at most " if line.is_upper_bound else ""
        price = f"{bound}{spell_money(line.micros_per_hour)} {plan.currency} an hour"
        emit(f"  {line.count} x {line.role} ({line.part.value}), each {shape}: {price}")
    roles = ", ".join(plan.contributable) or "nothing"
    emit(f"a project that contributes {roles} pays for just that")
    for each in plan.contributed:
        bound = "at most " if each.is_upper_bound else ""
        price = f"{bound}{spell_money(each.micros_per_hour)} {plan.currency} an hour"
        emit(f"  1 x {each.role}: {price}")
    draw_rates(plan.rates, plan.currency)
    emit("prices are those of now; what is used is charged by the rate card in force then")
    emit(f"a withdrawn worker is back within {spell_span(plan.withdraw_within_ms)}")
    emit(f"accept this with: --accept {plan.digest}")


def draw_rates(rates: Mapping[str, int], currency: str) -> None:
    """What use of another project's workers is worth, for people."""
    from bailiwick.cli.shared.periods import spell_money

    if not rates:
        emit("what a project uses on another's workers is shown, and not settled")
    for unit, micros in rates.items():
        price = f"{spell_money(micros)} {currency} for each {unit}"
        emit(f"a project owes another {price} on its workers; for the tenant that is nothing")


def draw_usage(found: SharedUsage) -> None:
    """Who used what on whose workers, for people."""
    from bailiwick.cli.shared.periods import spell_money, spell_period, spell_time

    until = found.told_until_ms
    told = "nothing was told yet" if until is None else f"told until {spell_time(until)}"
    emit(f"{found.runtime}, {spell_period(found.from_ms, found.to_ms)}: {told}")
    for row in found.rows:
        whose = "its own workers" if row.user == row.source else f"workers of {row.source}"
        beyond = f", {row.beyond:,} of it beyond what they held" if row.beyond else ""
        owed = f", owes {spell_money(row.owed_micros)} {found.currency}" if row.owed_micros else ""
        emit(f"  {row.user} used {row.quantity:,} {row.unit} on {whose}{beyond}{owed}{_seqs(row)}")
    if found.settlement is None:
        emit("nothing of it is settled between projects")
        return
    emit(
        f"settled by record {found.settlement.seq}, which {found.settlement.accepted_by} accepted:"
    )
    for each in found.balances:
        word = "owes" if each.owed_micros >= 0 else "is owed"
        emit(f"  {each.project} {word} {spell_money(abs(each.owed_micros))} {found.currency}")


def _seqs(row: SharedUseSum) -> str:
    if row.reports == 1:
        return f" (record {row.first_seq})"
    return f" ({row.reports} records, {row.first_seq} to {row.last_seq})"


def draw_runtime(found: SharedRuntimeView) -> None:
    """A runtime, for people."""
    from bailiwick.vocab.units import spell_span

    r = found.runtime
    state = "being deleted" if r.is_leaving else r.phase.value
    emit(f"{r.runtime}: {r.app} {r.version} in {r.environment}, {state} (record {r.seq})")
    emit(f"  {r.owner_project} pays for what is reserved; {r.accepted_by} accepted that")
    emit(f"  a withdrawn worker is back within {spell_span(r.withdraw_within_ms)}")
    emit("attached projects:" if found.attachments else "attached projects: none that you may see")
    for a in found.attachments:
        signed = f"allowed by {a.allowed_by or 'nobody'}, accepted by {a.accepted_by or 'nobody'}"
        emit(f"  {a.project}: {a.phase.value}, {signed} (record {a.seq})")
    emit("contributed workers:" if found.workers else "contributed workers: none that you may see")
    for w in found.workers:
        lease = "no lease yet" if w.lease_id is None else f"lease {w.lease_id}"
        emit(f"  {w.component_key} of {w.project}: {w.phase.value}, {lease} (record {w.seq})")
    emit("who may submit where (all else is denied):")
    for right in found.submit_rights:
        emit(f"  {_right(right)} (record {right.seq})")


def _right(right: SubmitRight) -> str:
    from bailiwick.cli.shared.periods import spell_time

    if right.policy is None:
        return f"{right.project} to its own queues"
    until = "" if right.until_ms is None else f" until {spell_time(right.until_ms)}"
    limits = "".join(f", {word} {count}" for word, count in right.limits.items())
    who = right.project or right.person
    return f"{who} to {right.queue} of {right.owner} by {right.policy}{until}{limits}"
