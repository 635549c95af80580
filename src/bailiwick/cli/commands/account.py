"""``bailiwick account``: programs as principals, by whose word they come, and their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, path_word, verb
from bailiwick.cli.shared.completions import complete_accounts
from bailiwick.cli.shared.output import Columns, emit
from bailiwick.cli.shared.screen import printable
from bailiwick.phrases.times import moment
from bailiwick.vocab.units import parse_term_s

if TYPE_CHECKING:
    from bailiwick.wire.credentials import HeldKey, TrustRule
    from bailiwick.wire.people import ServiceAccount

app = noun("Service accounts: programs with roles of their own.")
trust = noun("By whose word programs become an account: a CI system's tokens, with conditions.")
key = noun("Keys of an account, exchanged for tokens of 15 minutes: two at most.")
app.add_typer(trust, name="trust")
app.add_typer(key, name="key")

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


# -- by whose word ---------------------------------------------------------------------------

_Rule = Annotated[str, typer.Argument(metavar="RULE", help="What the rule is called.")]
_RULES: Columns[TrustRule] = Columns(
    ("rule", "issuer*", "audience*", "conditions*", "carries"),
    lambda t: (
        t.rule,
        printable(t.issuer),
        printable(t.audience),
        ", ".join(map(printable, t.conditions)),
        "all" if t.keys is None else f"{len(t.keys)} keys",
    ),
    lambda t: t.rule,
    empty="it trusts nobody",
)


@verb(trust, "list", lists=True)
def list_trusts(ask: Ask, account: _Account) -> None:
    """By whose word programs become an account.

    Example: bailiwick account trust list ci
    """
    from bailiwick.wire.actions.credentials import ACCOUNT_TRUST_LIST

    path = {"account": path_word("ACCOUNT", account)}
    ask.list(ACCOUNT_TRUST_LIST, columns=_RULES, path=path)


@verb(trust, "set", changes=True)
def set_trust(
    ask: Ask,
    account: _Account,
    *,
    rule: _Rule,
    issuer: Annotated[
        str, typer.Option("--issuer", metavar="URL", help="One that the operator allowed.")
    ],
    audience: Annotated[
        str, typer.Option("--audience", help="For whom its tokens must be made, and nobody else.")
    ],
    claims: Annotated[
        list[str],
        typer.Option(
            "--claim", metavar="CLAIM=PATTERN", help="What must hold; * is anything. Repeat it."
        ),
    ],
) -> None:
    """Let programs in as an account if a CI system says this of them; all claims must hold.

    Example: bailiwick account trust set ci main --issuer https://ci.example --audience gpu.example
    --claim 'sub=repo:acme/train:ref:refs/heads/*'
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.credentials import ACCOUNT_TRUST_SET
    from bailiwick.wire.credentials import TrustWish

    body = make_body(
        TrustWish, rule=rule, issuer=issuer, audience=audience, conditions=list(claims)
    )
    path = {"account": path_word("ACCOUNT", account)}
    told = f"{account} trusts {issuer}, if {' and '.join(claims)}"
    ask.change(ACCOUNT_TRUST_SET, path=path, body=body, told=told)


@verb(trust, "delete", changes=True)
def delete_trust(ask: Ask, account: _Account, *, rule: _Rule) -> None:
    """Let nobody in by a rule any more.

    Example: bailiwick account trust delete ci main -y
    """
    from bailiwick.wire.actions.credentials import ACCOUNT_TRUST_DELETE

    ask.confirm(f"Delete the rule {rule} of {account}?")
    path = {"account": path_word("ACCOUNT", account), "rule": path_word("RULE", rule)}
    ask.change(ACCOUNT_TRUST_DELETE, path=path, told=f"the rule {rule} of {account} is deleted")


# -- keys ------------------------------------------------------------------------------------

_KEYS: Columns[HeldKey] = Columns(
    ("key", "added", "ends", "state"),
    lambda k: (
        k.key_id,
        moment(k.added_ms),
        moment(k.expires_ms),
        "live" if k.is_live else "ended",
    ),
    lambda k: k.key_id,
    empty="it has no key",
)
_Ttl = Annotated[str, typer.Option("--ttl", help="How long it counts, at most 366d.")]


@verb(key, "list", lists=True)
def list_keys(ask: Ask, account: _Account) -> None:
    """The keys of an account; what they are is told to nobody again.

    Example: bailiwick account key list ci
    """
    from bailiwick.wire.actions.credentials import ACCOUNT_KEY_LIST

    ask.list(ACCOUNT_KEY_LIST, columns=_KEYS, path={"account": path_word("ACCOUNT", account)})


@verb(key, "add", changes=True)
def add_key(ask: Ask, account: _Account, *, ttl: _Ttl = "90d") -> None:
    """Make a key of an account, shown this once.

    Example: bailiwick account key add ci --ttl 30d
    """
    _make_key(ask, account, ttl=ttl, overlap_s=None)


@verb(key, "rotate", changes=True)
def rotate_key(
    ask: Ask,
    account: _Account,
    *,
    ttl: _Ttl = "90d",
    overlap: Annotated[
        str, typer.Option("--overlap", help="How much longer the old one counts, at most 30d.")
    ] = "1d",
) -> None:
    """Make another key of an account, shown this once; the old one ends after the overlap.

    Example: bailiwick account key rotate ci --overlap 2h
    """
    from bailiwick.wire.credentials import DAY_S

    overlap_s = parse_term_s("--overlap", overlap, most_s=30 * DAY_S)
    _make_key(ask, account, ttl=ttl, overlap_s=overlap_s)


def _make_key(ask: Ask, account: str, *, ttl: str, overlap_s: int | None) -> None:
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.credentials import ACCOUNT_KEY_ADD
    from bailiwick.wire.credentials import DAY_S, KeyWish

    ttl_s = parse_term_s("--ttl", ttl, most_s=366 * DAY_S)
    body = make_body(KeyWish, ttl_s=ttl_s, overlap_s=overlap_s)
    path = {"account": path_word("ACCOUNT", account)}
    found = ask.client.send(ACCOUNT_KEY_ADD, path=path, body=body, dry_run=ask.dry_run)

    def draw() -> None:
        if ask.dry_run:
            emit(f"{account} would have another key (dry run: nothing was changed)")
            return
        emit(f"key {found.key_id} of {account} counts until {moment(found.expires_ms)}")
        emit(f"it is not shown again: {found.key}")

    ask.printer.thing(found, name=found.key, draw=draw)


@verb(key, "delete", changes=True)
def delete_key(
    ask: Ask,
    account: _Account,
    *,
    key_id: Annotated[str, typer.Argument(metavar="KEY", help="Which, as the list says.")],
) -> None:
    """End a key at once.

    Example: bailiwick account key delete ci 0192f1c0 -y
    """
    from bailiwick.wire.actions.credentials import ACCOUNT_KEY_DELETE

    ask.confirm(f"Delete the key {key_id} of {account}? Whatever uses it gets no token any more.")
    path = {"account": path_word("ACCOUNT", account), "key_id": path_word("KEY", key_id)}
    ask.change(ACCOUNT_KEY_DELETE, path=path, told=f"the key {key_id} of {account} is deleted")
