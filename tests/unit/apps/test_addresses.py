"""Where a server goes for a tenant: webhooks and sources of artifacts have one judge."""

from __future__ import annotations

import ast
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bailiwick
from bailiwick.apps.addresses import are_allowed, is_allowed


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


@pytest.mark.parametrize("address", ["10.1.2.3", "127.0.0.1", "fd00:1::5", "::ffff:10.1.2.3"])
def test_an_operator_may_name_networks_and_no_others_are_reached(address: str) -> None:
    named = [ip_network("10.1.0.0/16"), ip_network("127.0.0.0/8"), ip_network("fd00:1::/32")]
    assert is_allowed(address, networks=named)
    assert not is_allowed(address, networks=[ip_network("10.2.0.0/16")])
    assert not is_allowed("10.2.0.1", networks=named)


def test_no_name_opens_what_hands_out_credentials() -> None:
    everything = [ip_network("0.0.0.0/0"), ip_network("::/0")]
    for address in ("169.254.169.254", "fe80::1", "2002:a9fe:a9fe::", "64:ff9b::a9fe:a9fe"):
        assert not is_allowed(address, networks=everything)


@pytest.mark.parametrize(
    "address",
    [
        *("169.254.169.254", "169.254.170.2", "169.254.0.23", "100.100.100.200", "192.0.0.192"),
        *("168.63.129.16", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:42::42"),
        *("fe80::a9fe:a9fe", "::ffff:100.100.100.200", "::ffff:168.63.129.16"),
    ],
)
def test_no_cloud_hands_out_credentials_whatever_an_operator_allows(address: str) -> None:
    assert not is_allowed(address, private=True)
    assert not is_allowed(address)
    assert not is_allowed(address, networks=[ip_network("0.0.0.0/0"), ip_network("::/0")])


def test_what_is_beside_a_clouds_own_addresses_is_as_before() -> None:
    for address in ("100.100.100.201", "192.0.0.191", "fd00:ec3::254", "fd00:42::43"):
        assert is_allowed(address, private=True)
    assert is_allowed("168.63.129.17")


def test_a_name_that_leads_in_and_out_leads_nowhere() -> None:
    assert are_allowed(["93.184.216.34", "2606:4700::1111"])
    assert not are_allowed(["93.184.216.34", "10.0.0.1"])
    assert not are_allowed([])


def test_nobody_else_judges_addresses() -> None:
    """What is global or link-local is asked in one module; two judges would differ one day."""
    package = Path(bailiwick.__file__).parent
    words = {"is_global", "is_link_local"}
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in words
    }
    assert found == {"apps/addresses.py"}
