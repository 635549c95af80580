"""``bailiwick account``: programs as principals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, path_word, verb
from bailiwick.cli.shared.completions import complete_accounts
from bailiwick.cli.shared.output import Columns

if TYPE_CHECKING:
    from bailiwick.wire.people import ServiceAccount

app = noun("Service accounts: programs with roles of their own.")

_Account = Annotated[
    str, typer.Argument(metavar="ACCOUNT", help="Its name.", autocompletion=complete_accounts)
]
_ACCOUNTS: Columns[ServiceAccount] = Columns(
    ("account", "of", "state"),
    lambda a: (
        a.account,
        "/".join(name for name in (a.tenant, a.project) if name) or "the fleet",
        "enabled" if a.is_enabled else "disabled",
    ),
    lambda a: a.account,
    empty="no service account that you may see",
)


@verb(app, "list", lists=True)
def list_accounts(ask: Ask) -> None:
    """The service accounts that you may see.

    Example: bailiwick account list
    """
    from bailiwick.wire.actions.tokens import ACCOUNT_LIST

    ask.list(ACCOUNT_LIST, columns=_ACCOUNTS)


@verb(app, "create", changes=True, scope="project")
def create_account(
    ask: Ask,
    account: _Account,
    *,
    fleet: Annotated[bool, typer.Option("--fleet", help="Of the whole fleet.")] = False,
) -> None:
    """Make a service account of a tenant, a project, or the fleet.

    Example: bailiwick account create ci --tenant lab
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.tokens import ACCOUNT_CREATE
    from bailiwick.wire.people import NewAccount

    scope = {} if fleet else {"tenant": ask.tenant, "project": ask.typed_project}
    body = make_body(NewAccount, account=account, **scope)
    where = "the fleet" if fleet else ask.scope_name
    told = f"service account {account} of {where} is there"
    ask.change(ACCOUNT_CREATE, body=body, told=told)


@verb(app, "disable", changes=True)
def disable_account(ask: Ask, account: _Account) -> None:
    """Let a service account in no more, whatever tokens it has.

    Example: bailiwick account disable ci -y
    """
    ask.confirm(f"Disable {account}? Its tokens let nobody in until it is enabled again.")
    _change(ask, account, is_enabled=False)


@verb(app, "enable", changes=True)
def enable_account(ask: Ask, account: _Account) -> None:
    """Let a service account in again.

    Example: bailiwick account enable ci
    """
    _change(ask, account, is_enabled=True)


def _change(ask: Ask, account: str, *, is_enabled: bool) -> None:
    from bailiwick.wire.actions.tokens import ACCOUNT_CHANGE
    from bailiwick.wire.people import AccountChange

    path = {"account": path_word("ACCOUNT", account)}
    body = AccountChange(is_enabled=is_enabled)
    told = f"service account {account} is {'enabled' if is_enabled else 'disabled'}"
    ask.change(ACCOUNT_CHANGE, path=path, body=body, told=told)
