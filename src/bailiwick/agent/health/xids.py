"""Which of the driver's fault reports (XIDs) say that a GPU is broken, and which that a program is.

Rules:

- ``fail``: NVIDIA says that the GPU or the machine must be reset, rebooted or looked at.
- ``warn``: it goes on, and somebody should look when there is time.
- No level: a user's own program caused it, or it only goes with another XID. It is no finding.
- A number that is not in the table is ``warn``: nobody has looked it up yet.

The table follows NVIDIA's catalogue (docs.nvidia.com/deploy/xid-errors), its immediate actions, and
the guide to memory errors (docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt) for 48, 63, 64, 94, 95.

>>> level_of(79), level_of(13), level_of(9999)
(<HealthLevel.FAIL: 'fail'>, None, <HealthLevel.WARN: 'warn'>)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bailiwick.vocab.health import HealthLevel

_FAIL, _WARN = HealthLevel.FAIL, HealthLevel.WARN


@dataclass(frozen=True, slots=True)
class Xid:
    """What one number means, and how bad that is."""

    level: HealthLevel | None
    reason: str


def _own(*numbers: int, reason: str) -> dict[int, Xid]:
    return {number: Xid(None, reason) for number in numbers}


XIDS: Final[dict[int, Xid]] = {
    **_own(8, 11, 13, 31, 43, 69, 137, reason="a program did what it may not; the GPU is fine"),
    **_own(
        *(39, 40, 41, 70, 71, 72, 75, 76, 77, 85, *range(126, 136)),
        reason="a copy of a program failed; NVIDIA has it started again",
    ),
    **_own(
        *(60, 68, 82, 83, 84, 86, 88, 89, *range(96, 106), 139, 142),
        reason="a video or picture engine refused a program's data",
    ),
    **_own(45, reason="a program was cleaned up: it was killed, or another XID came before"),
    **_own(63, reason="a row of memory was remapped: the repair worked; what waits is told by ECC"),
    **_own(106, 107, reason="a test message of the board's management"),
    **_own(154, reason="only sums up which recovery another XID asks for"),
    **_own(171, 172, reason="only says of XID 48 where in memory it was"),
    32: Xid(_WARN, "commands came damaged over PCI Express, mostly by its quality"),
    37: Xid(_WARN, "the firmware met something it does not know"),
    38: Xid(_WARN, "the firmware's watchdog ran out"),
    44: Xid(_WARN, "a fault while programs were switched"),
    46: Xid(_FAIL, "the GPU stopped processing: reset it"),
    48: Xid(_FAIL, "memory had an error that could not be corrected: reset the GPU"),
    54: Xid(_FAIL, "the board's own power is not connected"),
    62: Xid(_FAIL, "the power controller halted: reset the GPU"),
    64: Xid(_FAIL, "a bad row of memory could not be remapped: reset the GPU"),
    66: Xid(_WARN, "the driver touched a register that it may not"),
    67: Xid(_WARN, "the driver touched a register that it may not"),
    74: Xid(_FAIL, "an NVLink had an error that only a reset clears"),
    78: Xid(_WARN, "a virtual GPU did not start"),
    79: Xid(_FAIL, "the GPU has fallen off the bus: the machine must be restarted"),
    80: Xid(_WARN, "data came damaged to the GPU"),
    92: Xid(_WARN, "many memory errors, all corrected so far"),
    93: Xid(_WARN, "the board's own store may not be written any more"),
    94: Xid(_WARN, "a memory error was contained to one program: reset when there is time"),
    95: Xid(_FAIL, "a memory error was not contained: reset the GPU"),
    109: Xid(_WARN, "programs could not be switched in time, which a program alone can cause"),
    110: Xid(_FAIL, "a security fault, mostly of hardware: reset or power-cycle"),
    119: Xid(_FAIL, "the GPU's own processor did not answer the driver: reset the GPU"),
    120: Xid(_FAIL, "the GPU's own processor failed: reset the GPU"),
    121: Xid(_WARN, "the link to the CPU had errors, all corrected"),
    136: Xid(_FAIL, "an NVLink could not be brought up: reset the GPU"),
    140: Xid(_FAIL, "memory errors could not even be marked: reset the GPU"),
    141: Xid(_WARN, "a fast path of CUDA failed"),
    143: Xid(_FAIL, "the GPU could not be set up: reset it"),
    144: Xid(_FAIL, "an NVLink of the fifth generation failed; its log says what to do"),
    145: Xid(_WARN, "an NVLink of the fifth generation reported; its log says what to do"),
    146: Xid(_FAIL, "an NVLink of the fifth generation failed; its log says what to do"),
    147: Xid(_FAIL, "an NVLink of the fifth generation failed; its log says what to do"),
    148: Xid(_FAIL, "an NVLink of the fifth generation failed; its log says what to do"),
    149: Xid(_WARN, "an NVLink of the fifth generation reported; its log says what to do"),
    150: Xid(_FAIL, "an NVLink of the fifth generation failed; its log says what to do"),
    151: Xid(_FAIL, "keys of confidential work could not be changed: restart the machine"),
    155: Xid(_WARN, "an NVLink went down on purpose; reset brings it back"),
    156: Xid(_WARN, "a bad unit was taken out: reset when there is time"),
    157: Xid(_WARN, "a bad unit could not be replaced; it may fail again"),
    158: Xid(_FAIL, "the GPU did not answer in time: reset it"),
    160: Xid(_WARN, "a bad channel of memory was marked for repair"),
    161: Xid(_WARN, "a bad channel of memory could not be repaired"),
    167: Xid(_FAIL, "PCI Express did not answer in time"),
    168: Xid(_WARN, "part of memory cannot be used"),
    169: Xid(_FAIL, "the security controller halted"),
}


def level_of(number: int) -> HealthLevel | None:
    """How bad an XID is; nothing if it is none of the machine's faults."""
    known = XIDS.get(number)
    return HealthLevel.WARN if known is None else known.level
