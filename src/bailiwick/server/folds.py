"""What a server process makes of its journal, besides the state: who follows it, and from where."""

from __future__ import annotations

from bailiwick.capability.revocation import KEEP_MS
from bailiwick.runtime.follower import EachRecord, Follower
from bailiwick.runtime.runner import Runner
from bailiwick.services.capabilities import Capabilities
from bailiwick.services.revoking import first_since
from bailiwick.telemetry.telemetry import Telemetry


def follow_telemetry(telemetry: Telemetry, runner: Runner) -> Follower[EachRecord]:
    """Have the telemetry count and index what the replica makes durable from now on."""
    fold = EachRecord(telemetry.follow, begin=telemetry.begin)
    follower = _follower(fold, runner, "telemetry")
    telemetry.catch_up = follower.catch_up
    return follower


def follow_revocations(capabilities: Capabilities, runner: Runner) -> Follower[EachRecord]:
    """Have the book of revoked tokens follow the journal, from as far back as tokens live."""
    lines, book = runner.lines, capabilities.book

    def begin(size: int) -> int:
        since_ms = runner.replica.clock.now_ms() - KEEP_MS
        first = first_since(lines.read, size, since_ms=since_ms)
        book.begin(since_ms)
        return first

    follower = _follower(EachRecord(book.follow, begin=begin), runner, "revocations")
    capabilities.catch_up = follower.catch_up
    return follower


def _follower(fold: EachRecord, runner: Runner, name: str) -> Follower[EachRecord]:
    follower = Follower(fold, runner.lines, name=name, warn=runner.replica.warn)
    follower.start()
    return follower
