"""How the members of a gang find one another: the variables that launchers and libraries read.

Rules:

- Each member is one of ``WORLD_SIZE``, and ``RANK`` is its number; a launcher that starts several
  processes for each member (``torchrun``) counts them itself, from ``NODE_RANK`` and ``NNODES``.
- All members are told the same place to meet: the first one's address, and a port that follows from
  its lease, so that two gangs on one machine seldom want the same.
- What a user sets by himself counts: he is told nothing over it.

>>> told = rendezvous_of(1, ("10.0.0.5", "10.0.0.6"), lease_id=7)
>>> told["MASTER_ADDR"], told["RANK"], told["WORLD_SIZE"], told["JAX_COORDINATOR_ADDRESS"]
('10.0.0.5', '1', '2', '10.0.0.5:20007')
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PORT_FIRST: Final = 20_000
PORTS: Final = 12_000
"""They end below those that systems hand out by themselves."""

LOOPBACK: Final = "127.0.0.1"


def rendezvous_of(rank: int, hosts: tuple[str, ...], *, lease_id: int) -> dict[str, str]:
    """What a member is told; ``lease_id`` is the first member's."""
    count, address = str(len(hosts)), hosts[0]
    port = str(PORT_FIRST + lease_id % PORTS)
    return {
        "MASTER_ADDR": address,
        "MASTER_PORT": port,
        "RANK": str(rank),
        "WORLD_SIZE": count,
        "LOCAL_RANK": "0",
        "LOCAL_WORLD_SIZE": "1",
        "NODE_RANK": str(rank),
        "NNODES": count,
        # What torchrun takes for its options of the same names.
        "PET_NNODES": count,
        "PET_NODE_RANK": str(rank),
        "PET_MASTER_ADDR": address,
        "PET_MASTER_PORT": port,
        "JAX_COORDINATOR_ADDRESS": f"{address}:{port}",
        "JAX_NUM_PROCESSES": count,
        "JAX_PROCESS_ID": str(rank),
        "GANG_HOSTS": ",".join(hosts),
    }


def addresses_of(nodes: tuple[str, ...], known: Mapping[str, str]) -> tuple[str, ...]:
    """The address of each member's node; a gang on one machine meets there.

    >>> addresses_of(("a", "b"), {"a": "10.0.0.5"}), addresses_of(("a", "a"), {"a": "10.0.0.5"})
    (('10.0.0.5', 'b'), ('127.0.0.1', '127.0.0.1'))
    """
    if len(set(nodes)) == 1:
        return (LOOPBACK,) * len(nodes)
    return tuple(known.get(node, node) for node in nodes)
