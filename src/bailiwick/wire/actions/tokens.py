"""Who comes in, and with what: logins, service accounts, tokens, broken glass."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, Action, Outcome, Stream, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.people import (
    AccountChange,
    BreakGlass,
    BrowserSession,
    DeviceAnswer,
    DeviceLogin,
    DeviceQuestion,
    IssuedToken,
    Login,
    LoginWays,
    MayDo,
    NewAccount,
    NewSession,
    NewToken,
    Self,
    ServiceAccount,
    SessionHeld,
    SessionRenewal,
    Token,
)

_P, _W = Permission, Where

# fmt: off
LOGIN = Action(
    "login", "Log in with a one-time code", "POST", "/v1/login",
    None, _W.OPEN, Login, IssuedToken, once=True)
LOGIN_WAYS = Action(
    "login.ways", "Read how to log in", "GET", "/v1/login",
    None, _W.OPEN, NOTHING, LoginWays)
LOGIN_BEGIN = Action(
    "login.begin", "Log a browser in through a provider", "GET", "/v1/login/{provider}",
    None, _W.OPEN, NOTHING, NOTHING, status=303,
    outcomes={303: Outcome(None, "To the provider; `to` is where it ends")})
LOGIN_END = Action(
    "login.end", "Come back from a provider", "GET", "/v1/login/{provider}/callback",
    None, _W.OPEN, NOTHING, NOTHING, status=303, takes_any_query=True,
    outcomes={303: Outcome(None, "To the page; with `login_refused` if nobody is let in")})
LOGIN_DEVICE = Action(
    "login.device", "Log a terminal in through a provider",
    "POST", "/v1/login/{provider}/device",
    None, _W.OPEN, NOTHING, DeviceLogin, once=True)
LOGIN_POLL = Action(
    "login.poll", "Ask whether a terminal's login has ended",
    "POST", "/v1/login/{provider}/device/token",
    None, _W.OPEN, DeviceQuestion, DeviceAnswer, once=True)
SESSION_BEGIN = Action(
    "session.begin", "Log a browser in with a one-time code", "POST", "/v1/session",
    None, _W.OPEN, NewSession, BrowserSession, once=True)
SESSION_READ = Action(
    "session.read", "Read the browser's session", "GET", "/v1/session",
    None, _W.SELF, NOTHING, BrowserSession)
SESSION_RENEW = Action(
    "session.renew", "Renew the browser's session", "POST", "/v1/session/renewal",
    None, _W.SELF, SessionRenewal, BrowserSession, once=True)
SESSION_LIST = Action(
    "session.list", "List your own tokens", "GET", "/v1/sessions",
    None, _W.SELF, NOTHING, Page[SessionHeld])
SESSION_END = Action(
    "session.end", "Revoke one of your own tokens", "DELETE", "/v1/sessions/{token_id}",
    None, _W.SELF, NOTHING, Done)
SELF_READ = Action(
    "self.read", "Read who you are", "GET", "/v1/whoami",
    None, _W.SELF, NOTHING, Self)
SELF_MAY = Action(
    "self.may", "Read what you may do somewhere", "GET", "/v1/may",
    None, _W.SELF, NOTHING, MayDo)
SELF_WATCH = Action(
    "self.watch", "Watch what becomes old for you", "GET", "/v1/changes",
    None, _W.SELF, NOTHING, Stream)
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
