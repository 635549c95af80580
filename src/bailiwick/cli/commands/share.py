"""``bailiwick share``: what tenants and projects weigh in the queue, and what they used of late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import Columns, draw_details
from bailiwick.cli.shared.screen import owner
from bailiwick.vocab.values import SHARE_MAX

if TYPE_CHECKING:
    from bailiwick.wire.fleet import ShareState

app = noun("Fair shares: what tenants and projects weigh in the queue.")
_GPU_HOUR = 1_000 * 3_600_000
"""Milli-shares times milliseconds."""


def gpu_hours(text: str) -> str:
    """Usage as GPU-hours, with two decimals.

    >>> gpu_hours("5400000000"), gpu_hours("0")
    ('1.50', '0.00')
    """
    hundredths = int(text) * 100 // _GPU_HOUR
    return f"{hundredths // 100:,}.{hundredths % 100:02}"


def _weight(found: ShareState) -> str:
    return f"{found.share:,} (default)" if found.is_default else f"{found.share:,}"


_SHARES: Columns[ShareState] = Columns(
    ("of", "share", "gpu-hours of late", "for each share"),
    lambda s: (
        owner(s.tenant, s.project),
        _weight(s),
        gpu_hours(s.usage_gpu_milli_ms),
        gpu_hours(s.usage_per_share),
    ),
    lambda s: owner(s.tenant, s.project),
    numbers=("share", "gpu-hours of late", "for each share"),
    empty="no tenant or project whose share you may see",
)


@verb(app, "list", lists=True, scope="tenant")
def list_shares(ask: Ask) -> None:
    """The fair shares that you may see, and what was used of late against each.

    Among requests of one priority, whoever has the least "for each share" is next: tenants among
    tenants, and inside each its projects.

    Example: bailiwick share list --tenant lab
    """
    from bailiwick.wire.actions.tenants import SHARE_LIST

    typed = ask.given.get("tenant")
    ask.list(SHARE_LIST, columns=_SHARES, query=None if typed is None else {"tenant": ask.tenant})


@verb(app, "show", scope="project")
def show_share(ask: Ask) -> None:
    """What a tenant (or with --project a project) weighs, and what it used of late.

    Example: bailiwick share show --tenant lab --project vision
    """
    from bailiwick.wire.actions.tenants import PROJECT_SHARE_READ, TENANT_SHARE_READ

    action = ask.of_scope(TENANT_SHARE_READ, PROJECT_SHARE_READ)
    found = ask.client.send(action, path=ask.scope)
    among = "tenants" if ask.typed_project is None else f"the projects of {ask.tenant}"
    rows = [
        (f"share among {among}", _weight(found)),
        ("gpu-hours of late", gpu_hours(found.usage_gpu_milli_ms)),
        ("for each share", gpu_hours(found.usage_per_share)),
    ]
    name = ask.scope_name
    ask.printer.thing(found, name=name, draw=lambda: draw_details("share", name, rows=rows))


@verb(app, "set", changes=True, scope="project")
def set_share(
    ask: Ask,
    share: Annotated[
        int,
        typer.Argument(metavar="SHARE", min=1, max=SHARE_MAX, help="2 is owed twice what 1 is."),
    ],
) -> None:
    """Weigh a tenant among tenants, or with --project a project among its tenant's.

    The order of the queue follows at once. Nothing that runs is ended.

    Example: bailiwick share set 3 --tenant lab
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.tenants import PROJECT_SHARE_SET, TENANT_SHARE_SET
    from bailiwick.wire.fleet import NewShare

    action = ask.of_scope(TENANT_SHARE_SET, PROJECT_SHARE_SET)
    body, told = make_body(NewShare, share=share), f"share of {ask.scope_name} is {share:,}"
    ask.change(action, path=ask.scope, body=body, told=told)
