"""The one list of slices: nothing of the kernel is missing from it, and nothing is in it twice."""

from __future__ import annotations

from typing import get_args

from bailiwick.kernel.commands import Command, Tick
from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet.events import FleetEvent
from bailiwick.kernel.money.events import MoneyEvent
from bailiwick.kernel.slices import APPLY, CAUSES, COMMANDS, SLICES, TOLD_ONLY
from bailiwick.kernel.trust.events import TrustEvent

READ_IN_CONTEXT = {"NodeModeChanged", "NodeQuarantined", "BudgetStateChanged"}
"""Which command these answer, the records around them tell (``bailiwick.whatif.reader``)."""


def test_every_command_is_one_slices() -> None:
    listed = [Tick, *(command for each in SLICES for command in each.commands)]
    assert sorted(listed, key=str) == sorted(get_args(Command), key=str)
    assert len(COMMANDS) == len(listed)


def test_every_event_is_one_slices() -> None:
    listed = [event for each in SLICES for event in each.apply]
    assert sorted(listed, key=str) == sorted(get_args(Event), key=str)
    assert set(listed) == set(APPLY)


def test_every_rule_says_which_command_it_came_from() -> None:
    rules = {event for kinds in (FleetEvent, MoneyEvent, TrustEvent) for event in get_args(kinds)}
    silent = rules - set(CAUSES) - TOLD_ONLY
    assert {event.__name__ for event in silent} == READ_IN_CONTEXT
    assert not set(CAUSES) & TOLD_ONLY
