"""Policy, keys, verdicts and quarantines in a snapshot; who is gated by them follows."""

from __future__ import annotations

from bailiwick.kernel.slice import Plain
from bailiwick.kernel.state import State
from bailiwick.kernel.trust.rules import gate
from bailiwick.vocab.clock_repair import ClockRepair


def dump(state: State) -> Plain:
    """What is known of trust."""
    return {"trust": state.trust.dump()}


def load(state: State, plain: Plain) -> None:
    """Take up what :func:`dump` told; the nodes are there already."""
    for name in state.ledger.entries:
        state.trust.join(name)
    state.trust.load(plain["trust"])


def settle(state: State, plain: Plain) -> None:
    """Gate the nodes that have yet to prove what is asked of them."""
    del plain
    for name in state.ledger.entries:
        gate(state, name)


def repair(plain: Plain, clock: ClockRepair) -> None:
    """Evidence counts as long as it had left, and nothing was judged later than now."""
    dumped = plain["trust"]
    dumped["policy_since_ms"] = clock.past(dumped["policy_since_ms"])
    for row in dumped["standing"]:  # node, kind, verdict, reason, until, claims, evidence, at, seq
        row[4] = None if row[4] is None else clock.end(row[4])
        row[7] = clock.past(row[7])
    for row in dumped["quarantines"]:
        row[3] = clock.past(row[3])
