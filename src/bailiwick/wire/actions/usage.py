"""What was used, and where what nodes counted differs from the journal."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, TENANT, Action, Where
from bailiwick.wire.base import Page
from bailiwick.wire.counting import Finding
from bailiwick.wire.usage import FleetUsage, Usage

_P, _W = Permission, Where

# fmt: off
USAGE_READ = Action(
    "usage.read", "Read a tenant's usage", "GET", TENANT + "/usage",
    _P.USAGE_READ, _W.TENANT_ROWS, NOTHING, Usage)
USAGE_FLEET = Action(
    "usage.fleet", "Read the fleet's usage", "GET", "/v1/usage",
    _P.USAGE_READ, _W.FLEET, NOTHING, FleetUsage)
FINDING_LIST = Action(
    "finding.list", "List findings", "GET", "/v1/findings",
    _P.USAGE_READ, _W.ROWS, NOTHING, Page[Finding])
# fmt: on
