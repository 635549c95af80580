"""Prices: the list for everybody, and a tenant's own."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, TENANT, Action, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.usage import NewRates, RateChange, Rates

_P, _W = Permission, Where

# fmt: off
RATES_READ = Action(
    "rates.read", "Read the rate card", "GET", "/v1/rates",
    _P.RATE_CARD_READ, _W.ROWS, NOTHING, Rates)
RATES_LIST = Action(
    "rates.list", "List changes of rates", "GET", "/v1/rates/changes",
    _P.RATE_CARD_READ, _W.ROWS, NOTHING, Page[RateChange])
RATES_SET = Action(
    "rates.set", "Set rates", "PUT", "/v1/rates",
    _P.RATE_CARD_SET, _W.FLEET, NewRates, Done)
RATES_WITHDRAW = Action(
    "rates.withdraw", "Withdraw a tenant's own rates", "DELETE", TENANT + "/rates",
    _P.RATE_CARD_SET, _W.FLEET, NOTHING, Done)
# fmt: on
