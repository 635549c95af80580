"""What follows from a try, and where a webhook may lead."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.events.addresses import is_allowed
from bailiwick.events.retrying import (
    Answered,
    Delivered,
    GivenUp,
    NotReached,
    RetryPace,
    SendOutcome,
    TryAgain,
    plan_after,
)
from bailiwick.vocab.apps import DeliveryFault

PACE = RetryPace()
chances = st.floats(0, 1, exclude_max=True)
outcomes: st.SearchStrategy[SendOutcome] = st.one_of(
    st.builds(Answered, st.integers(100, 599), st.none() | st.integers(0, 10**9)),
    st.builds(NotReached, st.sampled_from(list(DeliveryFault))),
)


@given(outcomes, st.integers(1, 20), st.integers(0, 2**50), chances)
def test_a_try_ends_well_or_is_bounded(
    outcome: SendOutcome, tries: int, now_ms: int, chance: float
) -> None:
    step = plan_after(outcome, tries=tries, now_ms=now_ms, chance=chance)
    good = isinstance(outcome, Answered) and 200 <= outcome.status < 300
    assert isinstance(step, Delivered) is good
    if isinstance(step, TryAgain):
        assert tries < PACE.tries_max
        assert PACE.first_ms <= step.at_ms - now_ms <= PACE.most_ms * 1.5
    if isinstance(step, GivenUp):
        assert tries >= PACE.tries_max or step.fault is DeliveryFault.GONE


@given(st.integers(1, 30), chances)
def test_a_pause_grows_to_a_bound(tries: int, chance: float) -> None:
    plain = PACE.pause_ms(tries, 0.0)
    assert plain <= PACE.pause_ms(tries + 1, 0.0) <= PACE.most_ms
    assert plain <= PACE.pause_ms(tries, chance) < plain * 1.5 + 1


def test_a_receiver_that_names_a_pause_gets_it_within_bounds() -> None:
    busy = plan_after(Answered(429, 60), tries=1, now_ms=0, chance=0.0)
    assert busy == TryAgain(DeliveryFault.STATUS, 60_000)
    greedy = plan_after(Answered(503, 10**9), tries=1, now_ms=0, chance=0.0)
    assert greedy == TryAgain(DeliveryFault.STATUS, PACE.most_ms)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
        *("0.0.0.0", "0.1.2.3", "255.255.255.255", "224.0.0.1", "240.0.0.1", "198.18.0.1"),
        *("192.0.0.1", "203.0.113.1", "::1", "::", "fe80::1", "fc00::1", "ff02::1", "fec0::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::7f00:1"),
        *("2002:7f00:1::", "64:ff9b::7f00:1", "2001:0:7f00:1::", "2001:db8::1", "fe80::1%eth0"),
        *("localhost", "", "127.1", "0x7f000001", "2130706433"),
    ],
)
def test_what_is_not_the_internet_is_not_reached(address: str) -> None:
    assert not is_allowed(address, private=False)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_the_internet_is_reached(address: str) -> None:
    assert is_allowed(address, private=False)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "::1", "fc00::1", "192.168.0.9"])
def test_an_operator_may_allow_its_own_networks(address: str) -> None:
    assert is_allowed(address, private=True)


@pytest.mark.parametrize("address", ["169.254.169.254", "fe80::1", "0.0.0.0", "::", "224.0.0.1"])
def test_nobody_reaches_what_hands_out_credentials_or_stands_for_no_machine(address: str) -> None:
    assert not is_allowed(address, private=True)


@given(st.ip_addresses())
def test_what_is_allowed_is_global_and_one_machine(address: object) -> None:
    found = ip_address(str(address))
    if is_allowed(str(address), private=False):
        plain = getattr(found, "ipv4_mapped", None) or found
        assert plain.is_global
        assert not plain.is_multicast
