"""What makes a cluster a shared one: its shape, the tenant's terms, and the users it knows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from bailiwick.operators.slurm.shared.limits import QueueLimits
from bailiwick.operators.slurm.shared.mapping import (
    PROBE_ACCOUNT,
    SharedMapping,
    SharedNode,
    SharedTerms,
)
from bailiwick.operators.slurm.shared.people import PROBE, PROBE_IDENTITY, UnixUser
from bailiwick.operators.slurm.shared.shape import (
    Partition,
    Qos,
    QueueGrant,
    SlurmShape,
    own_qos,
)

EMPTY: Final = SlurmShape((), (), (), (), (), None)


@dataclass(frozen=True, slots=True)
class SharedPart:
    """What the platform says of a runtime, as its members have to know it."""

    shape: SlurmShape
    terms: SharedTerms
    users: tuple[UnixUser, ...] = ()
    nodes: tuple[SharedNode, ...] = ()

    @property
    def base(self) -> SharedPart:
        """The same without anybody's part in it."""
        return SharedPart(EMPTY, self.terms)


def with_probe(shape: SlurmShape, mapping: SharedMapping) -> SlurmShape:
    """The shape, with the account and the partition by which workers are proved."""
    qos = Qos(own_qos(PROBE_ACCOUNT), QueueLimits())
    nodes = tuple(sorted(each.name for each in mapping.nodes))
    where = Partition(PROBE_ACCOUNT, PROBE_ACCOUNT, (PROBE_ACCOUNT,), (qos.name,), nodes)
    grant = QueueGrant(PROBE.name, PROBE_ACCOUNT, PROBE_ACCOUNT, qos.name, 0, PROBE_IDENTITY)
    return replace(
        shape,
        accounts=(*shape.accounts, PROBE_ACCOUNT),
        qos=(*shape.qos, qos),
        partitions=(*shape.partitions, where),
        grants=(*shape.grants, grant),
    )
