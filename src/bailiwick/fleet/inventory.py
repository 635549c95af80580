"""What a machine may say of itself, and when two reports are about the same machine.

Rules:

- A machine is its cores, its memory, its devices in their order, its labels, and how its cores and
  devices hang together. One that does not tell that may be one that does.
- Free disk space changes by the hour: it is no reason to call a machine another. Nor are the labels
  that say by whom it was registered.

>>> from bailiwick.fleet.node import NodeCapacity
>>> node = NodeCapacity(cpu_cores=16, mem_bytes=2**34, block_bytes=5, labels={"zone": "a"})
>>> is_same_machine(node, NodeCapacity(16, 2**34, block_bytes=3, labels={"zone": "a"}))
True
>>> is_same_machine(node, NodeCapacity(16, 2**33, labels={"zone": "a"}))
False
"""

from __future__ import annotations

from typing import Final

from bailiwick.fleet.node import (
    ADDRESS_LABEL,
    ATTESTED_PREFIX,
    EXECUTOR_LABEL,
    HEARTBEAT_LABEL,
    HOST_MEMBERS_LABEL,
    IMPLIED_LABELS,
    JOB_MODE_LABEL,
    NodeCapacity,
)
from bailiwick.fleet.topology import NodeTopology
from bailiwick.vocab.errors import InvalidValue

REGISTERED_BY: Final = frozenset(
    (HEARTBEAT_LABEL, EXECUTOR_LABEL, JOB_MODE_LABEL, HOST_MEMBERS_LABEL)
)
"""The labels that say by whom a machine was registered, and how jobs are run there."""


PLATFORM_PREFIX: Final = "bailiwick."
"""How keys begin that only the platform gives."""

PLACES: Final = frozenset(("rack", "segment", "region", "sku"))
"""The labels that say what a machine is and where it stands: policies part work by them."""

RESERVED: Final = IMPLIED_LABELS | REGISTERED_BY | PLACES | {ADDRESS_LABEL}
"""The keys of labels that no operator gives: the platform does, or the machine when it joins."""


def is_same_machine(one: NodeCapacity, other: NodeCapacity) -> bool:
    """Whether nothing that lasts has changed."""
    told = [each for each in (one.topology, other.topology) if each != NodeTopology()]
    return _lasting(one) == _lasting(other) and (len(told) < 2 or told[0] == told[1])


def check_inventory(capacity: NodeCapacity) -> None:
    """Refuse an inventory that says of itself what only attestation can say."""
    for key in capacity.labels:
        if key.startswith(ATTESTED_PREFIX):
            expected = f"no key that begins with {ATTESTED_PREFIX}; attestation gives those"
            raise InvalidValue("labels", key, expected)


def check_given(key: str) -> str:
    """Refuse a key that an operator cannot give a node: its label would be believed elsewhere.

    >>> check_given("pool")
    'pool'
    """
    if key in RESERVED or key.startswith((ATTESTED_PREFIX, PLATFORM_PREFIX)):
        expected = "no key of the platform's, nor one that a machine says itself when it joins"
        raise InvalidValue("labels", key, expected)
    return key


def _lasting(capacity: NodeCapacity) -> tuple[object, ...]:
    labels = {k: v for k, v in capacity.labels.items() if k not in REGISTERED_BY}
    return capacity.cpu_milli, capacity.mem_bytes, capacity.gpus, labels
