"""Bookings and series, for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bailiwick.kernel.bookings import commands as cmd
from bailiwick.kernel.bookings import events as ev
from bailiwick.kernel.owner import Owner
from bailiwick.vocab.bookings import BookingChange, BookingEnd, BookingUse
from bailiwick.vocab.words import HardwareGeneration
from tests.unit.journal.makers import names

short = names.map(lambda name: name[:38])
owners = st.tuples(names, names)
nodes = st.lists(names, min_size=1, max_size=4, unique=True).map(tuple)
starts = st.integers(1, 2**50)
lengths = st.integers(1, cmd.LENGTH_MAX_MS)
waits = st.integers(0, cmd.LENGTH_MAX_MS)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=100)
rules = texts.filter(bool)
days = st.integers(1, cmd.AHEAD_DAYS_MAX)
generations = st.none() | st.sampled_from(HardwareGeneration)
labels = st.lists(names, max_size=3, unique=True).map(
    lambda keys: tuple(sorted(f"{key}=x" for key in keys))
)
counted = st.one_of(
    st.tuples(st.just(()), st.integers(1, cmd.BOOKED_NODES_MAX), st.just(0), generations, labels),
    st.tuples(st.just(()), st.just(0), st.integers(1, cmd.BOOKED_GPUS_MAX), generations, labels),
)
named = nodes.map(lambda each: (each, 0, 0, None, ()))
asked = named | counted


def _booked(owner: tuple[str, str], name: str, on: Any, *more: Any) -> ev.Booked:
    start, length, chosen, wait, text, series, use = more
    ask = cmd.BookingAsk(*on)
    found = ask.nodes or chosen
    told = found, ask, wait, text, series, use
    return ev.Booked(Owner(*owner), name, start, start + length, *told)


EVENTS: dict[type[Any], st.SearchStrategy[Any]] = {
    ev.Booked: st.builds(
        _booked,
        *(owners, short, asked, starts, lengths, nodes, waits, texts, st.none() | short),
        st.sampled_from(BookingUse),
    ),
    ev.BookingNodesChanged: st.builds(
        lambda owner, *more: ev.BookingNodesChanged(Owner(*owner), *more),
        *(owners, short, st.sampled_from(BookingChange), nodes, st.just(()) | nodes),
    ),
    ev.BookingBegun: st.builds(
        lambda owner, name: ev.BookingBegun(Owner(*owner), name), owners, short
    ),
    ev.BookingEnded: st.builds(
        lambda owner, *more: ev.BookingEnded(Owner(*owner), *more),
        *(owners, short, st.sampled_from(BookingEnd)),
    ),
    ev.SeriesSet: st.builds(
        lambda owner, name, rule, on, *more: ev.SeriesSet(
            Owner(*owner), name, rule, cmd.BookingAsk(*on), *more
        ),
        *(owners, short, rules, asked, st.none() | waits, days, texts),
    ),
    ev.SeriesWithdrawn: st.builds(
        lambda owner, name: ev.SeriesWithdrawn(Owner(*owner), name), owners, short
    ),
}
COMMANDS: dict[type[Any], st.SearchStrategy[Any]] = {
    cmd.Book: st.builds(
        lambda name, owner, start, length, on, *more: cmd.Book(
            name, *owner, start, start + length, *on, *more
        ),
        *(short, owners, starts, lengths, asked, st.none() | waits, texts, st.none() | short),
    ),
    cmd.CancelBooking: st.builds(cmd.CancelBooking, short, names, names),
    cmd.ReplaceBooked: st.builds(cmd.ReplaceBooked, short, names, names),
    cmd.SetSeries: st.builds(
        lambda name, rule, owner, on, *more: cmd.SetSeries(name, rule, *owner, *on, *more),
        *(short, rules, owners, asked, st.none() | waits, days, texts),
    ),
    cmd.WithdrawSeries: st.builds(cmd.WithdrawSeries, short, names, names),
}
