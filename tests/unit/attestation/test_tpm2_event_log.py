"""Logs of a boot: read strictly, replayed as a TPM extends, and believed no further."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.attestation.tpm.event_log import (
    DIGEST_OF_DATA,
    EVENTS_MAX,
    LOG_BYTES_MAX,
    TpmEventType,
    read_event_log,
)
from bailiwick.attestation.tpm.registers import BANKS
from bailiwick.attestation.tpm.structures import SHA1, SHA256
from bailiwick.attestation.verdict import EvidenceError
from tests.support.paper_tpm import (
    EVENTS,
    FIRST,
    Measured,
    boot_events,
    event_of,
    log_of,
    old_event,
    registers_of,
)

KINDS = (TpmEventType.SEPARATOR, TpmEventType.IPL, TpmEventType.EFI_ACTION, 0x80000003, 0x800000E0)
measured = st.builds(
    Measured, st.integers(0, 9), st.sampled_from(KINDS), st.binary(max_size=20), st.none()
)


@given(st.lists(measured, max_size=12), st.sampled_from([-1, 0, 3, 4]))
def test_a_log_leads_to_what_a_tpm_would_hold(events: list[Measured], locality: int) -> None:
    log = read_event_log(log_of(events, banks=("sha1", "sha256", "sha512"), locality=locality))
    assert log.banks == (0x04, 0x0B, 0x0D)
    for bank in ("sha1", "sha256", "sha512"):
        naive = registers_of(events, bank, locality=max(locality, 0))
        log.check_replay(BANKS[bank], naive)
        log.check_data(BANKS[bank], FIRST)
        assert log.replay(BANKS[bank])[:10] == [naive[i] for i in FIRST]


@given(st.lists(measured, min_size=1, max_size=8), st.data())
def test_a_log_with_one_event_less_leads_elsewhere(
    events: list[Measured], data: st.DataObject
) -> None:
    gone = data.draw(st.integers(0, len(events) - 1))
    rest = events[:gone] + events[gone + 1 :]
    values = registers_of(events)
    if registers_of(rest) != values:
        with pytest.raises(EvidenceError, match="eventlog_replay_mismatch"):
            read_event_log(log_of(rest)).check_replay(SHA256, values)


def test_the_older_form_has_one_bank() -> None:
    raw = b"".join(old_event(e.register, e.kind, e.data, e.digest("sha1")) for e in EVENTS)
    log = read_event_log(raw)
    log.check_replay(SHA1, registers_of(EVENTS, "sha1"))
    log.check_data(SHA1, FIRST)
    with pytest.raises(EvidenceError, match="no digests of sha256"):
        log.check_replay(SHA256, {})


def test_an_event_without_action_extends_nothing() -> None:
    blank = {"sha256": bytes(32), "sha384": bytes(48)}
    quiet = event_of(2**32 - 1, TpmEventType.NO_ACTION, data=b"anything", digests=blank)
    read_event_log(log_of(EVENTS) + quiet).check_replay(SHA256, registers_of(EVENTS))


@pytest.mark.parametrize("kind", sorted(DIGEST_OF_DATA))
def test_data_that_was_not_measured_is_found_where_it_can_be(kind: int) -> None:
    log = read_event_log(log_of([Measured(5, kind, b"told", b"measured")]))
    log.check_replay(SHA256, {5: registers_of([Measured(5, kind, b"measured")])[5]})
    with pytest.raises(EvidenceError, match="eventlog_digest_mismatch: event 0"):
        log.check_data(SHA256, {5})
    log.check_data(SHA256, {4})


@pytest.mark.parametrize("kind", [0x800000E0, 0x8, 0x80000003, TpmEventType.IPL, 0x80000002])
def test_it_is_not_asked_of_events_where_firmware_hashes_something_else(kind: int) -> None:
    read_event_log(log_of([Measured(5, kind, b"told", b"measured")])).check_data(SHA256, {5})


def test_secure_boot_is_what_firmware_measured_before_its_separator() -> None:
    assert read_event_log(log_of(EVENTS)).secure_boot(SHA256) is True
    assert read_event_log(log_of(boot_events(secure_boot=0))).secure_boot(SHA256) is False
    assert read_event_log(log_of(boot_events(secure_boot=2))).secure_boot(SHA256) is False
    assert read_event_log(log_of(EVENTS[:6])).secure_boot(SHA256) is None, "no separator"
    swapped = (*EVENTS[:2], EVENTS[6], EVENTS[2], EVENTS[6])
    assert read_event_log(log_of(swapped)).secure_boot(SHA256) is None, "only after it"
    failed = (Measured(7, TpmEventType.SEPARATOR, b"\xff" * 4), *EVENTS)
    assert read_event_log(log_of(failed)).secure_boot(SHA256) is None


def _spec(algorithms: Sequence[tuple[int, int]], *, count: int | None = None) -> bytes:
    sizes = b"".join(struct.pack("<HH", *each) for each in algorithms)
    number = len(algorithms) if count is None else count
    head = b"Spec ID Event03\0" + struct.pack("<IBBBBI", 0, 0, 2, 105, 2, number)
    return old_event(0, TpmEventType.NO_ACTION, head + sizes + b"\0")


_LOCALITY = event_of(
    0, TpmEventType.NO_ACTION, data=b"StartupLocality\0\3", digests={"sha256": bytes(32)}
)
_ONE = ((0x0B, 32),)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        log_of(EVENTS)[:-1],
        log_of(EVENTS) + b"\0",
        _spec(()),
        _spec([(0x0B, 32)] * 2),
        _spec([(0x0B, 20)]),
        _spec([(0x77, 0)]),
        _spec([(0x77, 65)]),
        _spec(_ONE, count=2**32 - 1),
        _spec([(0x77 + i, 8) for i in range(17)]),
        _spec(_ONE)[:-1] + b"\1",
        _spec(_ONE) + struct.pack("<III", 0, 4, 2**32 - 1),
        _spec(_ONE) + event_of(0, 4, data=b"", digests={"sha384": bytes(48)}),
        _spec(_ONE) + event_of(24, 4, data=b"", digests={"sha256": bytes(32)}),
        _spec(_ONE) + struct.pack("<III", 0, 4, 0) + struct.pack("<I", 2**32 - 1),
        _spec(((0x0B, 32), (0x0C, 48)))
        + struct.pack("<III", 0, 4, 2)
        + (struct.pack("<H", 0x0B) + bytes(32)) * 2
        + bytes(4),
        _spec(_ONE) + _LOCALITY * 2,
        _spec(_ONE) + event_of(0, 4, data=b"", digests={"sha256": bytes(32)}) + _LOCALITY,
        _spec(_ONE) + _LOCALITY[:-1] + b"\2",
        bytes(LOG_BYTES_MAX + 1),
        old_event(0, 4, b"") * (EVENTS_MAX + 1),
        _spec(_ONE) + event_of(1, 4, data=b"", digests={}) * (EVENTS_MAX + 1),
    ],
)
def test_a_log_that_is_not_written_as_logs_are_is_refused(raw: bytes) -> None:
    with pytest.raises(EvidenceError, match="eventlog_malformed"):
        read_event_log(raw)


@given(st.integers(0, len(log_of(EVENTS))), st.binary(max_size=12), st.integers(0, 12))
def test_any_bytes_give_a_log_or_the_readers_own_error(at: int, put: bytes, gone: int) -> None:
    whole = log_of(EVENTS)
    for raw in (whole[:at] + put + whole[at + gone :], put):
        with suppress(EvidenceError):
            log = read_event_log(raw)
            for bank in log.banks:
                log.replay(bank)
                log.secure_boot(bank)


def test_a_bank_that_nobody_knows_is_skipped_by_its_size() -> None:
    raw = _spec(((0x77, 5), (0x0B, 32)))
    digest = hashlib.sha256(b"d").digest()
    raw += struct.pack("<IIIH5sH32sI", 1, 4, 2, 0x77, b"other", 0x0B, digest, 0)
    log = read_event_log(raw)
    assert log.banks == (SHA256,)
    assert log.replay(SHA256)[1] == hashlib.sha256(bytes(32) + digest).digest()
