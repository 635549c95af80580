"""From what the platform and the members say to the cluster that there is to be.

Rules:

- What a worker offers is what its lease holds; the kind of a GPU is what the inventory of its
  machine says of that device.
- If all members are on one machine they meet at its loopback address. Else each is where the
  platform says that its machine is or, if it does not, where the member's own way out begins.
- A lease with part of a GPU is refused: Slurm hands out whole ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from bailiwick.client import ClientError
from bailiwick.operators.slurm.questions import MemberAway, MemberTalk
from bailiwick.operators.slurm.wanted import (
    CONTROLLER,
    Cluster,
    ClusterWish,
    HeldGpu,
    Worker,
    feature_of,
)
from bailiwick.vocab.errors import InvalidValue
from bailiwick.wire.fleet import Node
from bailiwick.wire.instances import Instance, InstanceMember
from bailiwick.wire.work import Lease

_LOOPBACK: Final = "127.0.0.1"
_MIB: Final = 2**20
_ALIKE: Final = 1_000


@dataclass(frozen=True, slots=True)
class MemberAtWork:
    """A member that runs: which one it is, what it holds, and what it says of itself."""

    member_id: int
    lease: Lease
    node: Node
    told: Mapping[str, Any]

    @property
    def host(self) -> str:
        """What its machine calls itself."""
        return str(self.told["host"])

    @property
    def address(self) -> str:
        """Where others reach it."""
        labels = dict(label.partition("=")[::2] for label in self.node.labels)
        return str(labels.get("address") or self.told.get("outward") or _LOOPBACK)


def see_member(talk: MemberTalk, member: InstanceMember, *, is_new: bool) -> MemberAtWork:
    """What the platform says of a member, and it says of itself."""
    told = talk.ask(member, {"do": "facts"}, is_new=is_new)
    try:
        lease = talk.kit.lease(member.member_id)
        return MemberAtWork(member.member_id, lease, talk.kit.node(lease.node), told)
    except ClientError as error:  # it has just ended
        raise MemberAway(f"{member.component_key} holds nothing: {error}") from error


def see_cluster(
    instance: Instance, seen: Mapping[str, MemberAtWork], *, wish: ClusterWish
) -> Cluster:
    """The cluster of an instance, whose controller is among those that are seen."""
    is_one_machine = len({member.lease.node for member in seen.values()}) == 1

    def address_of(member: MemberAtWork) -> str:
        return _LOOPBACK if is_one_machine else member.address

    controller = seen[CONTROLLER]
    users = sorted({str(member.told["user"]) for member in seen.values()})
    if len(users) > 1:
        expected = "members that are kept apart in one way: all of them in one user"
        raise InvalidValue("users", users, expected)
    workers = [
        see_worker(key, member, address=address_of(member))
        for key, member in seen.items()
        if key != CONTROLLER
    ]
    return Cluster(
        instance_id=instance.instance_id,
        account=instance.project,
        user=str(controller.told["user"]),
        address=address_of(controller),
        host=controller.host,
        wish=wish,
        workers=tuple(sorted(workers, key=lambda worker: worker.index)),
    )


def see_worker(key: str, member: MemberAtWork, *, address: str) -> Worker:
    """What a worker offers."""
    held = member.lease.resources
    if held.gpu_milli % _ALIKE or held.gpu_milli > _ALIKE * len(member.lease.devices):
        raise InvalidValue("gpu_milli", held.gpu_milli, "whole GPUs: Slurm hands out no parts")
    gpus = [
        HeldGpu(kind_of(member.node.gpus[index].generation), index)
        for index in member.lease.devices
    ]
    fabrics = {member.node.gpus[index].fabric for index in member.lease.devices}
    facts = {member.node.node, *fabrics, *(_region(label) for label in member.node.labels)}
    features = {feature_of(fact) for fact in facts if fact}
    return Worker(
        key,
        address,
        host=member.host,
        cpus=max(1, held.cpu_milli // 1_000),
        mem_mib=max(1, held.mem_bytes // _MIB),
        gpus=tuple(gpus),
        features=tuple(sorted(each for each in features if each is not None)),
    )


def _region(label: str) -> str:
    name, _, value = label.partition("=")
    return value if name == "region" else ""


def kind_of(generation: str) -> str:
    """A generation as people ask Slurm for it.

    >>> kind_of("nvidia_hopper")
    'hopper'
    """
    return generation.partition("_")[2] or generation
