"""Which devices jobs are on: what comes waits for what is to be gone.

Rules:

- The devices of a job are known from its specification. Of one that an earlier agent began, whose
  specification is wiped, they are not: it may be on any.
- A job without devices waits for nobody.

>>> room = DeviceRoom()
>>> room.note(1, (0,)); room.note(2, (0, 1)); room.note(3, (1,))
>>> room.blocker(2, leaving=[1]), room.blocker(3, leaving=[1]), room.blocker(3, leaving=[9])
(1, None, 9)
"""

from __future__ import annotations

from collections.abc import Iterable


class DeviceRoom:
    """The devices of the jobs of one machine, as far as they are known."""

    def __init__(self) -> None:
        self._devices: dict[int, frozenset[int]] = {}

    def is_known(self, lease_id: int) -> bool:
        """Whether the devices of a lease's job are known."""
        return lease_id in self._devices

    def note(self, lease_id: int, devices: Iterable[int]) -> None:
        """A job is or will be on these."""
        self._devices[lease_id] = frozenset(devices)

    def forget(self, lease_id: int) -> None:
        """Nothing of it is left."""
        self._devices.pop(lease_id, None)

    def blocker(self, lease_id: int, *, leaving: Iterable[int]) -> int | None:
        """Who is to be gone and may be on a device that this job is to have."""
        wanted = self._devices.get(lease_id, frozenset())
        return next((i for i in leaving if self._devices.get(i, wanted) & wanted), None)
