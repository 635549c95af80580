"""Where a server may go for a tenant: one judge for webhooks and for sources of artifacts.

Rules:

- An address is judged after its name was looked up, and the one that was judged is the one that is
  asked: who looks up and connects sees to that, at each redirect again. So a name that means
  another machine a moment later gains nothing.
- Only what the whole internet reaches, unless the operator allows private networks and this machine
  itself, or names networks. Who names an address is a tenant; the server stands in a network that
  is not the tenant's.
- Where clouds hand out credentials to whoever asks (link-local addresses, and a few of each cloud's
  own), multicast and what stands for no machine are never allowed, whatever is named.
- An IPv4 address in IPv6 dress is judged as what it is; ways to reach IPv4 through others (6to4,
  Teredo, NAT64) are not taken.
- Of several addresses one that is not allowed spoils all: a name that leads both out and in is a
  trick.

>>> is_allowed("93.184.216.34"), is_allowed("10.0.0.1")
(True, False)
>>> is_allowed("::ffff:127.0.0.1"), is_allowed("127.0.0.1", private=True)
(False, True)
>>> is_allowed("10.1.2.3", networks=[ip_network("10.1.0.0/16")])
True
>>> is_allowed("169.254.169.254", private=True), is_allowed("fd00:ec2::254", private=True)
(False, False)
>>> are_allowed(["93.184.216.34", "10.0.0.1"]), are_allowed([])
(False, False)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final, TypeAlias

Network: TypeAlias = IPv4Network | IPv6Network

_DETOURS: Final = tuple(
    map(ip_network, ("2002::/16", "2001::/32", "64:ff9b::/96", "64:ff9b:1::/48", "::/96"))
)
"""6to4, Teredo, NAT64 twice, and IPv4 in the oldest IPv6 dress."""
_METADATA: Final = tuple(
    map(
        ip_network,
        (
            *("100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32"),
            *("fd00:ec2::/32", "fd20:ce::/64", "fd00:42::42/128"),
        ),
    )
)
"""Where clouds tell a machine its credentials, beside link-local: Alibaba, Azure, Oracle; and in
IPv6 Amazon (its name server and clock, too), Google and Scaleway. Some are in private networks, and
Azure's in none."""
_UNICAST: Final = IPv6Network("2000::/3")
"""All that was ever given to anybody; what is outside is no part of the internet."""


def is_allowed(address: str, *, private: bool = False, networks: Iterable[Network] = ()) -> bool:
    """Whether a tenant may have the server go there.

    ``private``: the operator allows its own networks and this machine; ``networks``: just these.
    """
    try:
        found: IPv4Address | IPv6Address = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        if found.scope_id is not None:  # good on one link alone
            return False
        found = found.ipv4_mapped or found
    is_named = private or any(found in each for each in networks)
    if found.is_loopback:
        return is_named
    is_detour = any(found in each for each in _DETOURS)
    is_nobody = found.is_multicast or found.is_unspecified or found.is_reserved
    is_metadata = found.is_link_local or any(found in each for each in _METADATA)
    if is_detour or is_nobody or is_metadata:
        return False
    if is_named:
        return True
    return found.is_global and (isinstance(found, IPv4Address) or found in _UNICAST)


def are_allowed(
    addresses: Sequence[str], *, private: bool = False, networks: Sequence[Network] = ()
) -> bool:
    """Whether a name may be used that means these; one that means nothing may not."""
    judged = (is_allowed(each, private=private, networks=networks) for each in addresses)
    return bool(addresses) and all(judged)
