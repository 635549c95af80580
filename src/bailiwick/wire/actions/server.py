"""The server itself: is it up, does it lead, how it is set, what it saw."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, Action, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.replica import Health, ReplicaState, Words
from bailiwick.wire.settings import Settings
from bailiwick.wire.traces import Timeline

_P, _W = Permission, Where

# fmt: off
HEALTHZ = Action(
    "healthz", "Check that the server is up", "GET", "/healthz",
    None, _W.OPEN, NOTHING, Health)
READYZ = Action(
    "readyz", "Check that the server is ready", "GET", "/readyz",
    None, _W.OPEN, NOTHING, Health)
WORDS_READ = Action(
    "words.read", "Read the sentences for closed words", "GET", "/v1/words",
    None, _W.OPEN, NOTHING, Words)
REPLICA_READ = Action(
    "replica.read", "Read the state of this replica", "GET", "/v1/replica",
    _P.METRICS_READ, _W.FLEET, NOTHING, ReplicaState)
SETTINGS_READ = Action(
    "settings.read", "Read the scheduler's settings", "GET", "/v1/settings",
    _P.SETTINGS_READ, _W.FLEET, NOTHING, Settings)
SETTINGS_SET = Action(
    "settings.set", "Set the scheduler's settings", "PUT", "/v1/settings",
    _P.SETTINGS_SET, _W.FLEET, Settings, Done)
TRACE_READ = Action(
    "trace.read", "Read the trace of a request", "GET", "/v1/traces/{correlation_id}",
    _P.TRACE_READ, _W.TRACE, NOTHING, Timeline)
METRICS_READ = Action(
    "metrics.read", "Read all metrics", "GET", "/metrics",
    _P.METRICS_READ, _W.FLEET, NOTHING, str)
# fmt: on
