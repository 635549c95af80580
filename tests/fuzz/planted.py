"""Targets with mistakes planted in them, to see that the harness finds each kind."""

from __future__ import annotations

from collections.abc import Callable

_kept: list[bytearray] = []


def _raises(data: bytes) -> None:
    if data[:1] == b"B" and data[1:2] == b"U":
        raise ZeroDivisionError("planted")


def _hangs(data: bytes) -> None:
    while data[:1] == b"L":
        pass


def _swells(data: bytes) -> None:
    if data[:1] == b"M":
        _kept.append(bytearray(b"\1" * 2**28))


def _is_good(data: bytes) -> None:
    # A branch: some builds of libFuzzer refuse a target in which no input makes a difference.
    if data[:1] == b"G":
        _kept.clear()


TARGETS: dict[str, Callable[[bytes], None]] = {
    "raises": _raises,
    "hangs": _hangs,
    "swells": _swells,
    "is_good": _is_good,
}
SEEDS = {"raises": [b"BA"], "hangs": [b"K"], "swells": [b"N", b"M" * 9]}
