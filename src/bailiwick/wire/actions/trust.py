"""What proof nodes must give, and what a service needs to check lease tokens by itself."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, Action, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.trust import CapabilityKeys, Revocations, TrustPolicy, TrustPolicyChange

_P, _W = Permission, Where

# fmt: off
TRUST_POLICY_READ = Action(
    "trust_policy.read", "Read the attestation policy", "GET", "/v1/attestation/policy",
    _P.SETTINGS_READ, _W.FLEET, NOTHING, TrustPolicy)
TRUST_POLICY_SET = Action(
    "trust_policy.set", "Set the attestation policy", "PUT", "/v1/attestation/policy",
    _P.NODE_OPERATE, _W.FLEET, TrustPolicyChange, Done)
CAPABILITY_KEYS = Action(
    "capability.keys", "Read the keys of lease tokens", "GET", "/v1/capabilities/keys",
    None, _W.EVERYBODY, NOTHING, CapabilityKeys)
CAPABILITY_REVOCATIONS = Action(
    "capability.revocations", "Read revocations of lease tokens",
    "GET", "/v1/capabilities/revocations",
    None, _W.EVERYBODY, NOTHING, Revocations)
# fmt: on
