"""``bailiwick cost estimate``: what work would cost, before anybody asks for it.

Rules:

- The words are those of ``plan`` and ``submit``, in options or in a job file.
- The prices are those of the server's card that holds for the tenant now; with ``--rates`` those of
  a file, with ``--list-prices`` the built-in ones. Nobody's prices are guessed: without a login one
  of the two is needed.
- It is an estimate of the whole term. Where the generation is open it is told what the work costs
  on the cheapest and on the dearest that could serve it.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bailiwick.cli.shared.ask import Ask, noun
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.options import JobOptions, ask_of
from bailiwick.cli.shared.output import Format, emit, spell_yaml
from bailiwick.cli.shared.screen import make_console, print_rows, printable
from bailiwick.phrases.amounts import span
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.billing.estimates import Cost, CostEstimate, EstimateRequest
    from bailiwick.billing.rates import RateCard
    from bailiwick.wire.jobs import NewJob

app = noun("Cost: what work would cost, before it is asked for.")

NOBODY: Final = "nobody"
"""Whose work it is where prices do not depend on that."""

HELP: Final = (
    "What a job would cost, an hour and for its whole term.\n\n"
    "bailiwick cost estimate -f job.yaml\n\n"
    "bailiwick cost estimate --gpus 2 --ttl 8h --spot --list-prices"
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CostOptions(JobOptions):
    """What ``cost estimate`` can be told, beyond what a job can."""

    rates: Annotated[
        Path | None,
        typer.Option(
            "--rates", metavar="FILE", help="Prices as bailiwick rates show -o yaml has them."
        ),
    ] = None
    list_prices: Annotated[
        bool, typer.Option("--list-prices", help="The built-in prices; asks no server.")
    ] = False


@with_options(CostOptions)
def estimate(options: CostOptions) -> None:
    """Estimate a cost."""
    from bailiwick.billing.estimates import estimate as estimate_cost
    from bailiwick.cli.commands.plan import new_job

    if options.rates is not None and options.list_prices:
        raise InvalidValue("--rates", str(options.rates), "not together with --list-prices")
    ask = ask_of(options)
    is_told = options.list_prices or options.rates is not None
    if not is_told and ask.session.token is None:
        expected = "--rates FILE, --list-prices, or a login (bailiwick login CODE)"
        raise InvalidValue("prices", None, expected)
    if is_told and ask.session.tenant is None:
        ask.session = dataclasses.replace(ask.session, tenant=NOBODY)
    job = new_job(options, ask, needs_command=False)
    card = _card(options, ask, job.tenant)
    wish = wish_for(job)
    found = estimate_cost(card, wish)
    if options.output is Format.TABLE:
        _draw(found, card, wish)
    elif options.output is Format.NAME:
        emit(f"{found.high.micros}")
    else:
        _emit_plain(plain(found, card, wish=wish), options.output)


def _card(options: CostOptions, ask: Ask, tenant: str) -> RateCard:
    from bailiwick.billing.rates import LIST_PRICES, RateCard
    from bailiwick.wire.actions.rates import RATES_READ

    if options.list_prices:
        return LIST_PRICES
    if options.rates is not None:
        return read_rates(options.rates)
    found = ask.client.send(RATES_READ, query={"tenant": tenant})
    return RateCard(**found.model_dump())


def read_rates(path: Path) -> RateCard:
    """The card in a file, which has to be whole."""
    from bailiwick.billing.rates import RateCard
    from bailiwick.cli.commands.rates_file import load_card
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.usage import NewRates

    return RateCard(**make_body(NewRates, **load_card(path, option="--rates")).model_dump())


def wish_for(job: NewJob) -> EstimateRequest:
    """What a job would hold, as admission reads it."""
    from bailiwick import GpuDevice, PlacementRequest, TenantId
    from bailiwick.billing.estimates import EstimateRequest

    held = job.resources
    request = PlacementRequest(
        tenant=TenantId(job.tenant),
        cpu_cores=held.cpu_milli / 1000,
        mem_bytes=held.mem_bytes,
        block_bytes=held.block_bytes,
        gpu_count=job.gpu_count,
        gpu_milli=job.gpu_milli,
        gpu_vram=job.gpu_vram,
        gpu_models=job.gpu_models,
        generation=job.gpu_generation,
        exclusivity=job.exclusivity,
    )
    could = {GpuDevice.named(model).generation for model in job.gpu_models}
    return EstimateRequest(
        cpu_milli=request.cpu_milli,
        mem_bytes=held.mem_bytes,
        block_bytes=held.block_bytes,
        gpu_milli=request.gpu_milli_total,
        members=job.gang_size,
        ttl_ms=job.ttl_ms,
        lease_class=job.lease_class,
        generations=frozenset(could if job.gpu_generation is None else {job.gpu_generation}),
    )


# -- telling -----------------------------------------------------------------------------------


def plain(found: CostEstimate, card: RateCard, *, wish: EstimateRequest) -> dict[str, Any]:
    """An estimate as plain values."""
    return {
        "currency": found.currency,
        "ttl_ms": wish.ttl_ms,
        "lease_class": wish.lease_class.value,
        "class_per_mille": card.class_per_mille[wish.lease_class],
        "card": {"name": card.name, "tenant": card.tenant, "effective_ms": card.effective_ms},
        "low": _plain_cost(found.low),
        "high": _plain_cost(found.high),
    }


def _plain_cost(cost: Cost) -> dict[str, Any]:
    generation = None if cost.generation is None else cost.generation.value
    return {
        "generation": generation,
        "micros_per_hour": cost.micros_per_hour,
        "micros_total": cost.micros,
    }


def _emit_plain(told: dict[str, Any], form: Format) -> None:
    import json

    emit(spell_yaml(told) if form is Format.YAML else json.dumps(told, indent=2))


def _draw(found: CostEstimate, card: RateCard, wish: EstimateRequest) -> None:
    from bailiwick.billing.export import iso_time

    both = (("cheapest", found.low), ("dearest", found.high))
    rows = both if found.low != found.high else (("cost", found.low),)
    hour, term = "an hour", f"whole term ({span(wish.ttl_ms)})"
    print_rows(
        make_console(),
        ("", "generation", hour, term),
        rows=[_cells(word, cost) for word, cost in rows],
        title=f"Estimate in {found.currency}",
        numbers=(hour, term),
    )
    mille = card.class_per_mille[wish.lease_class]
    since = f", since {iso_time(card.effective_ms)}" if card.effective_ms else ""
    whose = "" if card.tenant is None else f" of {card.tenant}"
    typer.echo(
        printable(
            f"{wish.lease_class} leases pay {mille // 10}.{mille % 10}% of the prices of the card "
            f"{card.name}{whose}{since}"
        )
    )


def _cells(word: str, cost: Cost) -> tuple[str, ...]:
    from bailiwick.billing.lines import money_text

    generation = "-" if cost.generation is None else cost.generation.value
    return word, generation, money_text(cost.micros_per_hour), money_text(cost.micros)


# What follows the command's first word is the command's own, options too; as for submit.
app.command(help=HELP, context_settings={"allow_interspersed_args": False})(estimate)
