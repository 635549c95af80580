"""The log of a measured boot: read strictly, replayed, and believed no further than that reaches.

Both forms of the TCG's log are read: one digest per bank and event, and the older one with SHA-1.

Rules:

- The log proves nothing by itself. Replayed, it must give the registers that a quote proves; then
  its digests are what was measured, in that order.
- Nothing but the digests is covered by that. The data of an event is believed if its digest is the
  digest of that data, and that is asked only of types where firmware does it so. The type of an
  event is never believed alone, since the node could have written another.
- What firmware said ends at the first separator of a register, and a separator is known by its
  digest: after it the operating system may extend what it likes.
- Sizes and the number of events are bounded before anything is kept.

>>> old = struct.pack("<II20sI", 4, TpmEventType.IPL, b"d" * 20, 3) + b"abc"
>>> log = read_event_log(old)
>>> log.banks, log.events[0].data, log.replay(SHA1)[4].hex()[:8]
((4,), b'abc', '9aac75ff')
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from bailiwick.attestation.tpm.structures import HASH_BYTES, HASH_NAMES, HASHES, SHA1
from bailiwick.attestation.verdict import EvidenceError, refuse
from bailiwick.vocab.trust import UntrustedReason

LOG_BYTES_MAX = 512 * 1024
EVENTS_MAX = 8192
REGISTERS = 24
BOOT_REGISTERS = frozenset(range(10))
"""What a boot measures before the operating system runs: what a log must account for."""

SECURE_BOOT_REGISTER = 7


class TpmEventType(IntEnum):
    """Types of event that mean something here."""

    NO_ACTION = 0x00000003
    SEPARATOR = 0x00000004
    ACTION = 0x00000005
    IPL = 0x0000000D
    EFI_VARIABLE_DRIVER_CONFIG = 0x80000001
    EFI_GPT_EVENT = 0x80000006
    EFI_ACTION = 0x80000007


DIGEST_OF_DATA = frozenset(
    {
        TpmEventType.SEPARATOR,
        TpmEventType.ACTION,
        TpmEventType.EFI_VARIABLE_DRIVER_CONFIG,
        TpmEventType.EFI_GPT_EVENT,
        TpmEventType.EFI_ACTION,
    }
)
"""Types whose digest is that of the data. Of others real firmware hashes something else: of the
authority that verified an image (old shims), of the version of the first code, of what was loaded.
"""

_SPEC_ID = b"Spec ID Event03\0"
_LOCALITY = b"StartupLocality\0"
_ALGORITHMS_MAX = 16
_DIGEST_BYTES_MAX = 64
_SEPARATORS = (b"\0\0\0\0", b"\xff\xff\xff\xff")
_OLD_HEAD = struct.Struct("<II20sI")
_HEAD = struct.Struct("<III")
_SECURE_BOOT = bytes.fromhex("61dfe48bca93d211aa0d00e098032b8c") + struct.pack("<QQ", 10, 1)
_SECURE_BOOT += "SecureBoot".encode("utf-16-le")
"""The variable of that name in the space of UEFI's own, of one byte, which follows."""

_DEBUGGED = b"UEFI Debug Mode"
"""What firmware measures beside its variables while a debugger can change what it does."""


class LogEvent(NamedTuple):
    """One event: the register it extends, with what in each bank, and what it tells."""

    register: int
    kind: int
    digests: Mapping[int, bytes]
    data: bytes


@dataclass(frozen=True, slots=True)
class TpmEventLog:
    """Events in order; ``locality`` is where the TPM was started from, which register 0 shows."""

    banks: tuple[int, ...]
    events: tuple[LogEvent, ...]
    locality: int

    def replay(self, bank: int) -> list[bytes]:
        """The registers of a bank that the events lead to."""
        hashed, size = HASHES[bank], HASH_BYTES[bank]
        registers = [bytes(size)] * REGISTERS
        registers[0] = self.locality.to_bytes(size, "big")
        for register, kind, digests, _ in self.events:
            if kind != TpmEventType.NO_ACTION and bank in digests:
                registers[register] = hashed(registers[register] + digests[bank]).digest()
        return registers

    def check_replay(self, bank: int, values: Mapping[int, bytes]) -> None:
        """Refuse the log if it does not lead to just these values."""
        if bank not in self.banks:
            raise _mismatch(f"the log has no digests of {HASH_NAMES[bank]}")
        replayed = self.replay(bank)
        for register, value in values.items():
            if register >= REGISTERS or replayed[register] != value:
                raise _mismatch(f"register {register} of {HASH_NAMES[bank]}")

    def check_data(self, bank: int, registers: Iterable[int]) -> None:
        """Refuse the log if data of those registers is not what was measured."""
        hashed, asked = HASHES[bank], frozenset(registers)
        for number, (register, kind, digests, data) in enumerate(self.events):
            if kind not in DIGEST_OF_DATA or register not in asked or bank not in digests:
                continue
            if hashed(data).digest() != digests[bank]:
                where = f"event {number}: data of type {kind:#010x} is not what was measured"
                raise refuse(UntrustedReason.EVENTLOG_DIGEST_MISMATCH, where)

    def secure_boot(self, bank: int) -> bool | None:
        """Whether firmware measured secure boot as on; None if it did not say.

        Only for a log whose replay and data were checked in this bank. Under a debugger it is off.
        """
        separators = {HASHES[bank](each).digest() for each in _SEPARATORS}
        debugged = HASHES[bank](_DEBUGGED).digest()
        found: bool | None = None
        for register, kind, digests, data in self.events:
            if register != SECURE_BOOT_REGISTER or kind == TpmEventType.NO_ACTION:
                continue
            if digests.get(bank) in separators:
                return found
            if digests.get(bank) == debugged:
                found = False
            is_variable = kind == TpmEventType.EFI_VARIABLE_DRIVER_CONFIG and bank in digests
            if is_variable and data.startswith(_SECURE_BOOT):
                found = found is not False and data[len(_SECURE_BOOT) :] == b"\x01"
        # With no separator nothing tells what firmware measured from what came later.
        return None


def read_event_log(raw: bytes) -> TpmEventLog:
    """The log, in either form."""
    if len(raw) > LOG_BYTES_MAX:
        raise _malformed(f"{len(raw)} bytes; at most {LOG_BYTES_MAX}")
    first, at = _read_old(raw, 0)
    if first.kind == TpmEventType.NO_ACTION and first.data.startswith(_SPEC_ID):
        sizes, events = _read_algorithms(first.data), list[LogEvent]()
        while at < len(raw):
            _bound(len(events))
            event, at = _read_event(raw, at, sizes=sizes)
            events.append(event)
    else:
        sizes, events = {SHA1: HASH_BYTES[SHA1]}, [first]
        while at < len(raw):
            _bound(len(events))
            event, at = _read_old(raw, at)
            events.append(event)
    banks = tuple(each for each in sizes if each in HASHES)
    return TpmEventLog(banks, tuple(events), _locality(events))


def _bound(count: int) -> None:
    if count >= EVENTS_MAX:
        raise _malformed(f"more than {EVENTS_MAX} events")


def _read_old(raw: bytes, at: int) -> tuple[LogEvent, int]:
    """An event of the older form; the first one of every log has it."""
    begin = at + _OLD_HEAD.size
    if begin > len(raw):
        raise _malformed(f"an event at offset {at} does not fit")
    register, kind, digest, size = _OLD_HEAD.unpack_from(raw, at)
    end = begin + size
    if end > len(raw):
        raise _malformed(f"an event at offset {at} with {size} bytes of data")
    _check_register(register, kind)
    return LogEvent(register, kind, {SHA1: digest}, raw[begin:end]), end


def _read_event(raw: bytes, at: int, *, sizes: Mapping[int, int]) -> tuple[LogEvent, int]:
    """An event with a digest per bank; ``sizes`` are those that the log began with."""
    begin, length = at + _HEAD.size, len(raw)
    if begin > length:
        raise _malformed(f"an event at offset {at} does not fit")
    register, kind, count = _HEAD.unpack_from(raw, at)
    if count > len(sizes):
        raise _malformed(f"an event at offset {at} with {count} digests")
    digests: dict[int, bytes] = {}
    for _ in range(count):
        algorithm = int.from_bytes(raw[begin : begin + 2], "little")
        size = sizes.get(algorithm)
        if size is None or algorithm in digests:
            raise _malformed(f"an event at offset {at}: digest of {algorithm:#06x}")
        begin += 2 + size
        digests[algorithm] = raw[begin - size : begin]
    end = begin + 4 + int.from_bytes(raw[begin : begin + 4], "little")
    if end > length or begin + 4 > length:
        raise _malformed(f"an event at offset {at} does not fit")
    _check_register(register, kind)
    return LogEvent(register, kind, digests, raw[begin + 4 : end]), end


def _check_register(register: int, kind: int) -> None:
    if register >= REGISTERS and kind != TpmEventType.NO_ACTION:
        raise _malformed(f"an event for register {register}")


def _read_algorithms(data: bytes) -> dict[int, int]:
    """The banks that the head of a log announces, and the size of a digest in each."""
    count = int.from_bytes(data[24:28], "little")
    end = 28 + 4 * count
    if not 1 <= count <= _ALGORITHMS_MAX or len(data) < end + 1:
        raise _malformed(f"a head that announces {count} banks")
    sizes: dict[int, int] = {}
    for algorithm, size in struct.iter_unpack("<HH", data[28:end]):
        known = HASH_BYTES.get(algorithm, size)
        if algorithm in sizes or size != known or not 1 <= size <= _DIGEST_BYTES_MAX:
            raise _malformed(f"a head with bank {algorithm:#06x} of {size} bytes")
        sizes[algorithm] = size
    if len(data) != end + 1 + data[end]:
        raise _malformed("a head whose length is not that of its parts")
    return sizes


def _locality(events: Iterable[LogEvent]) -> int:
    """From where the TPM was started; told once, before register 0 is extended."""
    found: int | None = None
    for register, kind, _, data in events:
        if kind != TpmEventType.NO_ACTION:
            if register == 0 and found is None:
                found = 0
        elif data.startswith(_LOCALITY):
            if found is not None or len(data) != len(_LOCALITY) + 1 or data[-1] not in (0, 3, 4):
                raise _malformed("a start of the TPM that is told late, twice or not at all")
            found = data[-1]
    return found or 0


def _malformed(where: str) -> EvidenceError:
    return refuse(UntrustedReason.EVENTLOG_MALFORMED, f"event log: {where}")


def _mismatch(where: str) -> EvidenceError:
    return refuse(UntrustedReason.EVENTLOG_REPLAY_MISMATCH, where)
