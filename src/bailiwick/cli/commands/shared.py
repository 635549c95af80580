"""``bailiwick shared``: an app that a tenant runs for several projects, and each one's part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli.apps.arguments import place_of
from bailiwick.cli.apps.calling import add_runtime_call_verb
from bailiwick.cli.apps.sharing import (
    SharedCreateOptions,
    SharedPlanOptions,
    SharedPolicyOptions,
    draw_plan,
    draw_rates,
    draw_runtime,
    draw_usage,
    parse_rates,
)
from bailiwick.cli.shared.ask import Ask, noun, path_word, verb
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.output import Columns, emit
from bailiwick.cli.shared.periods import FromOption, MonthOption, ToOption, parse_period
from bailiwick.vocab.shared import WorkerAction

if TYPE_CHECKING:
    from bailiwick.wire.shared import SharedPlacement, SharedRuntimeRow

app = noun("Apps that a tenant shares between projects: who has a part, and who pays.")

Runtime = Annotated[str, typer.Argument(metavar="RUNTIME", help="What the runtime is called.")]
Component = Annotated[str, typer.Argument(metavar="WORKER", help="What the worker is called.")]
_ROWS: Columns[SharedRuntimeRow] = Columns(
    ("runtime", "environment", "app", "version", "phase", "owner", "record"),
    lambda r: (
        r.runtime,
        r.environment,
        r.app,
        r.version,
        r.phase.value,
        r.owner_project,
        str(r.seq),
    ),
    lambda r: r.runtime,
    numbers=("record",),
    empty="no shared runtime in this tenant",
)


_PLACED: Columns[SharedPlacement] = Columns(
    ("worker", "role", "phase", "lease of", "lease", "node", "placed by record", "waited for"),
    lambda r: (
        r.component_key,
        r.role,
        r.phase.value,
        r.project if r.is_contributed else f"{r.project} (reserved)",
        "-" if r.lease_id is None else str(r.lease_id),
        r.node or "-",
        "-" if r.placed_seq is None else str(r.placed_seq),
        ", ".join(f"{s.reason} (record {s.seq})" for s in r.steps if s.reason) or "-",
    ),
    lambda r: r.component_key,
    numbers=("lease", "placed by record"),
    empty="this runtime has no member that you may see",
)


@verb(app, "list", lists=True, scope="tenant")
def list_runtimes(ask: Ask) -> None:
    """The shared runtimes of a tenant.

    Example: bailiwick shared list --tenant lab
    """
    from bailiwick.wire.actions.shared import SHARED_RUNTIME_LIST

    ask.list(SHARED_RUNTIME_LIST, columns=_ROWS, path={"tenant": ask.tenant})


# -- the tenant's ----------------------------------------------------------------------------


@app.command(
    "plan",
    help="Who would pay for what of a runtime, before there is one.\n\nbailiwick shared plan main "
    "--project core --app hello --version 1.0.0 --controller zone=a --reserve worker=2",
)
@with_options(SharedPlanOptions)
def plan_runtime(options: SharedPlanOptions) -> None:
    """Print who would pay."""
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.shared import SHARED_RUNTIME_PLAN
    from bailiwick.wire.shared import SharedRuntimeWish

    ask = options.ask()
    body = make_body(SharedRuntimeWish, **options.wish(ask))
    found = ask.client.send(SHARED_RUNTIME_PLAN, path={"tenant": ask.tenant}, body=body)
    owner = str(place_of(ask)["project"])
    ask.printer.thing(found, name=found.digest, draw=lambda: draw_plan(found, owner))


@app.command(
    "create",
    help="Share an app between projects; --project is the owner record that pays for it."
    "\n\nbailiwick shared create main --project core --app hello --version 1.0.0 --controller "
    "zone=a --accept DIGEST\n\nDIGEST is the plan's: without it nothing is made.",
)
@with_options(SharedCreateOptions)
def create_runtime(options: SharedCreateOptions) -> None:
    """Create a runtime."""
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.shared import SHARED_RUNTIME_CREATE
    from bailiwick.wire.shared import NewSharedRuntime

    ask = options.ask(dry_run=options.dry_run)
    wish = options.wish(ask) | {"accepted_digest": options.accept}
    told = f"{options.name} is shared in {ask.tenant}; no project is attached to it yet"
    body = make_body(NewSharedRuntime, **wish)
    ask.change(SHARED_RUNTIME_CREATE, path={"tenant": ask.tenant}, body=body, told=told)


@verb(app, "attach", changes=True, scope="tenant")
def attach_project(
    ask: Ask,
    name: Runtime,
    *,
    other: Annotated[str, typer.Argument(metavar="PROJECT", help="Whom to allow.")],
) -> None:
    """Allow a project a part, for the tenant; it is attached once it accepts.

    Example: bailiwick shared attach main vision --tenant lab
    """
    from bailiwick.wire.actions.shared import SHARED_ATTACHMENT_ALLOW

    path = {**_runtime(ask, name), "project": path_word("PROJECT", other)}
    ask.change(SHARED_ATTACHMENT_ALLOW, path=path, told=f"{other} may have a part in {name}")


@verb(app, "delete", changes=True, scope="tenant")
def delete_runtime(ask: Ask, name: Runtime) -> None:
    """End a runtime; every project is detached, and has its workers back first.

    Example: bailiwick shared delete main --tenant lab -y
    """
    from bailiwick.wire.actions.shared import SHARED_RUNTIME_DELETE

    ask.confirm(f"Delete the shared runtime {name} of {ask.tenant}, with everybody's part in it?")
    ask.change(SHARED_RUNTIME_DELETE, path=_runtime(ask, name), told=f"{name} is being deleted")


@verb(app, "operator-token", changes=True, scope="tenant")
def let_operator_in(
    ask: Ask,
    name: Runtime,
    *,
    ttl: Annotated[str, typer.Option("--ttl", metavar="SPAN", help="At most 12h.")] = "1h",
) -> None:
    """A token for the program that looks after a runtime; good for that and nothing else.

    Example: bailiwick shared operator-token main --tenant lab --ttl 12h
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.vocab.units import parse_term_s
    from bailiwick.wire.actions.shared import SHARED_RUNTIME_OPERATOR_TOKEN
    from bailiwick.wire.shared import TTL_S_MAX, NewOperatorToken

    body = make_body(NewOperatorToken, ttl_s=parse_term_s("--ttl", ttl, most_s=TTL_S_MAX))
    path = _runtime(ask, name)
    found = ask.client.send(
        SHARED_RUNTIME_OPERATOR_TOKEN, path=path, body=body, dry_run=ask.dry_run
    )
    line = found.token or "(dry run: no token was made)"
    ask.printer.thing(found, name=line, draw=lambda: emit(line))


@verb(app, "settle", changes=True, scope="tenant")
def settle_use(
    ask: Ask,
    name: Runtime,
    *,
    rate: Annotated[
        list[str] | None,
        typer.Option("--rate", metavar="UNIT=PRICE", help="None: it is not settled any more."),
    ] = None,
    accept: Annotated[
        str | None, typer.Option("--accept", metavar="DIGEST", help="Else it is only planned.")
    ] = None,
) -> None:
    """What a project owes another for use of its workers; for the tenant it sums to nothing.

    Example: bailiwick shared settle main --tenant lab --rate cpu_second=0.00002 --accept DIGEST
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.shared import SHARED_SETTLEMENT_PLAN, SHARED_SETTLEMENT_SET
    from bailiwick.wire.shared import AcceptedSettlement, NewSettlement

    rates = parse_rates("--rate", rate)
    path = _runtime(ask, name)
    if accept is not None:
        wish = make_body(AcceptedSettlement, rates=rates, accepted_digest=accept)
        ask.change(SHARED_SETTLEMENT_SET, path=path, body=wish, told=f"{name} settles so from now")
        return
    body = make_body(NewSettlement, rates=rates)
    found = ask.client.send(SHARED_SETTLEMENT_PLAN, path=path, body=body)

    def draw() -> None:
        draw_rates(found.rates, found.currency)
        emit(f"accept this with: --accept {found.digest}")

    ask.printer.thing(found, name=found.digest, draw=draw)


def _runtime(ask: Ask, name: str) -> dict[str, str | int]:
    return {"tenant": ask.tenant, "runtime": path_word("RUNTIME", name)}


# -- a project's part ------------------------------------------------------------------------


def _part(ask: Ask, name: str) -> dict[str, str | int]:
    return {**place_of(ask), "runtime": path_word("RUNTIME", name)}


@verb(app, "accept", changes=True, scope="project")
def accept_attachment(ask: Ask, name: Runtime) -> None:
    """Accept a part in a runtime, for a project; by somebody of that project.

    Example: bailiwick shared accept main --project vision
    """
    from bailiwick.wire.actions.shared import SHARED_ATTACHMENT_ACCEPT

    path = _part(ask, name)
    ask.change(SHARED_ATTACHMENT_ACCEPT, path=path, told=f"{path['project']} accepts {name}")


@verb(app, "detach", changes=True, scope="project")
def detach_project(
    ask: Ask,
    name: Runtime,
    *,
    other: Annotated[
        str | None, typer.Argument(metavar="[PROJECT]", help="Whom the tenant detaches.")
    ] = None,
) -> None:
    """End a project's part: the tenant names it, a project says --project.

    Example: bailiwick shared detach main --project vision -y
    """
    from bailiwick.wire.actions.shared import SHARED_ATTACHMENT_END, SHARED_ATTACHMENT_LEAVE

    path = _part(ask, name) if other is None else _runtime(ask, name)
    if other is not None:
        path["project"] = path_word("PROJECT", other)
    action = SHARED_ATTACHMENT_LEAVE if other is None else SHARED_ATTACHMENT_END
    ask.confirm(f"Detach {path['project']} from {name}? Its workers are ended.")
    ask.change(action, path=path, told=f"{path['project']} is being detached from {name}")


@verb(app, "contribute", changes=True, scope="project")
def contribute_worker(
    ask: Ask,
    name: Runtime,
    *,
    component: Component,
    role: Annotated[str, typer.Option("--role", metavar="ROLE", help="Of the app.")] = "worker",
) -> None:
    """Give a runtime a worker: it stays your project's, and at its cost.

    Example: bailiwick shared contribute main vision-0 --project vision --role worker
    """
    change = {"action": WorkerAction.CONTRIBUTE, "component_key": component, "role": role}
    _change(ask, name, change, told=f"{component} is given to {name}")


@verb(app, "drain", changes=True, scope="project")
def drain_worker(ask: Ask, name: Runtime, *, component: Component) -> None:
    """Have a worker of your project finish what it does, and end.

    Example: bailiwick shared drain main vision-0 --project vision
    """
    change = {"action": WorkerAction.DRAIN, "component_key": component}
    _change(ask, name, change, told=f"{component} is drained")


@verb(app, "withdraw", changes=True, scope="project")
def withdraw_worker(
    ask: Ask,
    name: Runtime,
    *,
    component: Component,
    within: Annotated[
        str | None, typer.Option("--within", metavar="SPAN", help="Sooner than agreed: 0s, 30s.")
    ] = None,
) -> None:
    """Take a worker of your project back, within the time that was agreed.

    Example: bailiwick shared withdraw main vision-0 --project vision --within 30s
    """
    from bailiwick.vocab.units import parse_span

    within_ms = None if within is None else parse_span("--within", within)
    change = {"action": WorkerAction.WITHDRAW, "component_key": component, "within_ms": within_ms}
    _change(ask, name, change, told=f"{component} is withdrawn")


def _change(ask: Ask, name: str, change: dict[str, Any], *, told: str) -> None:
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.shared import SHARED_WORKER_CHANGE
    from bailiwick.wire.shared import WorkerChange

    body = make_body(WorkerChange, **change)
    ask.change(SHARED_WORKER_CHANGE, path=_part(ask, name), body=body, told=told)


@app.command(
    "policy",
    help="Let another project, or a person, use a queue of your project until a time.\n\n"
    "bailiwick shared policy main text-day --project vision --queue day --for-project text "
    "--until 2027-01-01 --limit gpus=4",
)
@with_options(SharedPolicyOptions)
def set_policy(options: SharedPolicyOptions) -> None:
    """Set or end a policy."""
    from bailiwick.cli.shared.periods import spell_time
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.shared import SUBMIT_POLICY_END, SUBMIT_POLICY_SET
    from bailiwick.wire.shared import NewSubmitPolicy

    ask = options.ask(dry_run=options.dry_run)
    path = {**_part(ask, options.name), "policy": path_word("POLICY", options.policy)}
    if options.end:
        ask.change(SUBMIT_POLICY_END, path=path, told=f"{options.policy} has ended")
        return
    body = make_body(NewSubmitPolicy, **options.grant())
    who = options.for_project or options.for_person
    told = f"{who} may use {options.queue} until {spell_time(body.until_ms)}"
    ask.change(SUBMIT_POLICY_SET, path=path, body=body, told=told)


add_runtime_call_verb(app)


# -- reading ---------------------------------------------------------------------------------


@verb(app, "show", scope="tenant")
def show_runtime(ask: Ask, name: Runtime) -> None:
    """A runtime: who has a part in it, whose workers it has, who may submit where and why.

    Example: bailiwick shared show main --tenant lab
    """
    from bailiwick.wire.actions.shared import SHARED_RUNTIME_READ

    found = ask.client.send(SHARED_RUNTIME_READ, path=_runtime(ask, name))
    ask.printer.thing(found, name=found.runtime.runtime, draw=lambda: draw_runtime(found))


@verb(app, "workers", lists=True, scope="tenant")
def list_workers(ask: Ask, name: Runtime) -> None:
    """Where each member of a runtime is, whose lease it has, and which record placed it.

    Example: bailiwick shared workers main --tenant lab
    """
    from bailiwick.wire.actions.shared import SHARED_WORKER_LIST

    ask.list(SHARED_WORKER_LIST, columns=_PLACED, path=_runtime(ask, name))


@verb(app, "usage", scope="tenant")
def show_usage(
    ask: Ask,
    name: Runtime,
    *,
    month: MonthOption = None,
    since: FromOption = None,
    until: ToOption = None,
) -> None:
    """Who used what on whose workers, and who owes whom for it; each row with its records.

    Example: bailiwick shared usage main --tenant lab --month 2026-10
    """
    from bailiwick.wire.actions.shared import SHARED_USE_READ

    begin, end = parse_period(month, since=since, until=until)
    query = {"from_ms": begin, "to_ms": end}
    found = ask.client.send(SHARED_USE_READ, path=_runtime(ask, name), query=query)
    ask.printer.thing(found, name=found.runtime, draw=lambda: draw_usage(found))
