"""Where a webhook may lead: an address is judged after its name was looked up.

Rules:

- Only what the whole internet reaches, unless the operator allows private networks and this machine
  itself. Who names a webhook is a tenant; the server stands in a network that is not the tenant's.
- Link-local addresses (where clouds hand out credentials), multicast and what stands for no machine
  are never allowed. An IPv4 address in IPv6 dress is judged as what it is; ways to reach IPv4
  through others (6to4, Teredo, NAT64) are not taken.
- Of several addresses one that is not allowed spoils all: a name that leads both out and in is a
  trick.

>>> is_allowed("93.184.216.34", private=False), is_allowed("10.0.0.1", private=False)
(True, False)
>>> is_allowed("::ffff:127.0.0.1", private=False), is_allowed("127.0.0.1", private=True)
(False, True)
>>> is_allowed("169.254.169.254", private=True)
False
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

_DETOURS: Final = tuple(
    map(IPv6Network, ("2002::/16", "2001::/32", "64:ff9b::/96", "64:ff9b:1::/48", "::/96"))
)
"""6to4, Teredo, NAT64 twice, and IPv4 in the oldest IPv6 dress."""
_UNICAST: Final = IPv6Network("2000::/3")
"""All that was ever given to anybody; what is outside is no part of the internet."""


def is_allowed(address: str, *, private: bool) -> bool:
    """Whether a webhook may be sent there; ``private``: the operator allows its own networks."""
    try:
        found: IPv4Address | IPv6Address = ip_address(address)
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        if found.scope_id is not None:  # good on one link alone
            return False
        found = found.ipv4_mapped or found
    if found.is_loopback:
        return private
    is_detour = any(found in each for each in _DETOURS if found.version == each.version)
    is_nobody = found.is_multicast or found.is_unspecified or found.is_reserved
    if is_detour or is_nobody or found.is_link_local:
        return False
    if private:
        return True
    return found.is_global and (isinstance(found, IPv4Address) or found in _UNICAST)
