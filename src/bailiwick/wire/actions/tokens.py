"""Who comes in, and with what: logins, service accounts, tokens, broken glass."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, Action, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.people import (
    AccountChange,
    BreakGlass,
    IssuedToken,
    Login,
    NewAccount,
    NewToken,
    Self,
    ServiceAccount,
    Token,
)

_P, _W = Permission, Where

# fmt: off
LOGIN = Action(
    "login", "Log in with a one-time code", "POST", "/v1/login",
    None, _W.OPEN, Login, IssuedToken, once=True)
SELF_READ = Action(
    "self.read", "Read who you are", "GET", "/v1/whoami",
    None, _W.SELF, NOTHING, Self)
SELF_LOG_OUT = Action(
    "self.log_out", "Log out", "DELETE", "/v1/session",
    None, _W.SELF, NOTHING, Done)
ACCOUNT_LIST = Action(
    "account.list", "List service accounts", "GET", "/v1/service-accounts",
    _P.ACCOUNT_READ, _W.ROWS, NOTHING, Page[ServiceAccount])
ACCOUNT_CREATE = Action(
    "account.create", "Create a service account", "POST", "/v1/service-accounts",
    _P.ACCOUNT_MANAGE, _W.BODY, NewAccount, Done)
ACCOUNT_CHANGE = Action(
    "account.change", "Enable or disable a service account",
    "PATCH", "/v1/service-accounts/{account}",
    _P.ACCOUNT_MANAGE, _W.ACCOUNT, AccountChange, Done)
TOKEN_LIST = Action(
    "token.list", "List tokens", "GET", "/v1/tokens",
    _P.TOKEN_REVOKE, _W.ROWS, NOTHING, Page[Token])
TOKEN_ISSUE = Action(
    "token.issue", "Issue a token or a login code", "POST", "/v1/tokens",
    _P.TOKEN_ISSUE, _W.REACH, NewToken, IssuedToken, status=201, once=True)
TOKEN_REVOKE = Action(
    "token.revoke", "Revoke a token", "DELETE", "/v1/tokens/{token_id}",
    _P.TOKEN_REVOKE, _W.REACH, NOTHING, Done)
GLASS_BREAK = Action(
    "glass.break", "Break glass", "POST", "/v1/break-glass",
    _P.BREAK_GLASS, _W.FLEET, BreakGlass, IssuedToken, status=201, once=True)
# fmt: on
