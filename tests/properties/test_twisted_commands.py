"""Commands that are wrong here and there: each is refused in our words, or decided; none breaks."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

from bailiwick.billing.rates import LIST_PRICES, card_body
from bailiwick.kernel import Envelope, Kernel
from bailiwick.kernel.codec import decode_command
from bailiwick.kernel.slices import COMMANDS
from bailiwick.vocab.errors import BailiwickError, InvariantBroken
from tests.processes.load import node_command, submit_command
from tests.support.app_manifests import DIGEST, hello
from tests.support.readiness import good_evidence

ROUNDS = 4_000


def twisted(chance: random.Random, value: Any, depth: int = 0) -> Any:
    """Something like the value, but wrong here and there."""
    odd = [None, True, -1, 0, 2**53, 1.5, "", "x", "\u0000", "a" * 5000, [], {}, [[1]], {"a": 1}]
    if chance.random() < 0.12 or depth > 4:
        return chance.choice(odd)
    if isinstance(value, dict):
        found = {name: twisted(chance, each, depth + 1) for name, each in value.items()}
        if chance.random() < 0.1 and found:
            found.pop(chance.choice(list(found)))
        return found
    if isinstance(value, list):
        return [twisted(chance, each, depth + 1) for each in value] * chance.choice((1, 1, 2))
    return value


def models() -> list[dict[str, Any]]:
    """One of every command that comes from outside."""
    found: list[dict[str, Any]] = [
        node_command("node-f"),
        *(submit_command(random.Random(seed)) for seed in range(5)),
        {"command": "cancel", "entry_id": 1},
        {"command": "renew", "lease_id": 1, "ttl_ms": 5, "generation": 1},
        {"command": "release", "lease_id": 1},
        {"command": "report_checkpoint", "lease_id": 1},
        {"command": "report_teardown", "lease_id": 1, "clean": True},
        {"command": "evict", "lease_ids": [1, 2], "reason": "operator_drain", "grace_ms": 1},
        {"command": "clear_fence", "lease_id": 1},
        {"command": "depart_node", "node": "node-f", "last_seen_ms": 5},
        {"command": "change_mode", "node": "node-f", "mode": "draining", "grace_ms": 5},
        {"command": "quarantine", "node": "node-f", "reason": "odd", "grace_ms": 0},
        {"command": "lift_quarantine", "node": "node-f"},
        {"command": "open_node", "node": "node-f"},
        {"command": "note_node", "node": "node-f", "text": "x", "author": "o", "ttl_ms": 9},
        {"command": "end_note", "node": "node-f", "note_id": 7},
        {
            "command": "plan_window",
            "window": "w",
            "nodes": ["node-f"],
            "starts_ms": 10**9,
            "ends_ms": 10**9 + 5,
            "lead_ms": 5,
            "text": "new fans",
            "calendar": "c",
        },
        {"command": "cancel_window", "window": "w"},
        {
            "command": "set_calendar",
            "calendar": "c",
            "rule": "daily at 02:00 for 1h in UTC",
            "nodes": ["node-f"],
            "lead_ms": 5,
            "ahead_days": 3,
        },
        {"command": "withdraw_calendar", "calendar": "c"},
        {
            "command": "change_mig",
            "node": "node-f",
            "gpus": [0],
            "profiles": ["3g.71gb"],
            "grace_ms": 5,
            "wait_ms": 60_000,
        },
        {"command": "cancel_mig", "node": "node-f"},
        {
            "command": "report_health",
            "node": "node-f",
            "findings": [
                {"check": "ecc", "level": "fail", "gpu": 1, "value": 2, "limit": 0, "code": 0}
            ],
            "can_test": True,
        },
        {
            "command": "report_test",
            "node": "node-f",
            "test_id": 1,
            "findings": [{"check": "disk", "level": "warn", "value": 96, "limit": 95}],
            "took_ms": 1_000,
        },
        {"command": "begin_test", "node": "node-f"},
        {
            "command": "report_mig",
            "node": "node-f",
            "change_id": 1,
            "inventory": {"resources": {"cpu_milli": 4_000, "mem_bytes": 1_000}},
        },
        {
            "command": "book",
            "booking": "b",
            "tenant": "lab",
            "project": "p",
            "starts_ms": 10**9,
            "ends_ms": 10**9 + 5,
            "gpus": 1,
            "generation": "nvidia_hopper",
            "labels": ["pool=a"],
            "wait_ms": 5,
            "text": "a class",
            "series": "s",
        },
        {"command": "cancel_booking", "booking": "b", "tenant": "lab", "project": "p"},
        {"command": "replace_booked", "booking": "b", "tenant": "lab", "project": "p"},
        {
            "command": "set_series",
            "series": "s",
            "rule": "daily at 02:00 for 1h in UTC",
            "tenant": "lab",
            "project": "p",
            "nodes": ["node-f"],
            "ahead_days": 3,
        },
        {"command": "withdraw_series", "series": "s", "tenant": "lab", "project": "p"},
        {"command": "label_node", "node": "node-f", "put": ["pool=a"], "drop": ["tier"]},
        {"command": "set_share", "tenant": "lab", "share": 2, "project": "p"},
        {"command": "rebalance_quota", "tenant": "lab", "project": "p", "grace_ms": 5},
        {
            "command": "set_quota",
            "tenant": "other",
            "quota": {
                "limits": {"gpu_count": 4},
                "gpu_limits": {"nvidia_hopper": 2},
                "burst_dimension": "gpu_count",
                "burst_capacity": 5,
                "burst_refill_per_s": 1,
                "burst_ceiling": 6,
            },
        },
        {
            "command": "change_settings",
            "settings": {"strategy": "best_fit", "grace_ms": 5, "headroom": {"cpu_milli": 1}},
        },
        {"command": "set_isolation_policy", "text": "dedicated host for tenant lab\n"},
        {"command": "enforce_isolation", "text": "dedicated host for tenant lab\n"},
        {"command": "scrub_domain", "kind": "host", "domain": "node-f"},
        *app_models(),
        *instance_models(),
        *shared_models(),
        *graph_models(),
        *exec_models(),
        *cell_models(),
        *money_models(),
        *trust_models(),
        *iam_models(),
    ]
    missing = set(COMMANDS) - {each["command"] for each in found} - {"tick", "elect"}
    assert not missing, f"a command has no model here: {missing}"
    return found


def test_twisted_commands_never_break_anything() -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    chance, kernel = random.Random(seed), Kernel(simulated=True)
    decided = 0
    for number in range(ROUNDS):
        plain = twisted(chance, chance.choice(models()))
        try:
            kernel.execute(Envelope(decode_command(plain)), number)
            decided += 1
        except BailiwickError as error:
            # Retryable would be the server's failure; a stale generation is the caller's doing.
            ours = isinstance(error, InvariantBroken)
            if ours or (error.retryable and error.code != "stale"):
                raise AssertionError((seed, plain)) from error
        assert not kernel.is_lost, (seed, plain)
    assert decided > ROUNDS // 20


def app_models() -> list[dict[str, Any]]:
    """One of each command about apps."""
    published = {"manifest": hello().canonical, "visibility": "public"}
    own = {"tenant": "fresh", "project": "p"}
    overlay = {"regions": ["east"], "deny_versions": ["1.1.0"], "instances_max": 3}
    artifact = {"digest": DIGEST, "tenant": "fresh"}
    return [
        {"command": "publish_app", **published, "lifecycle": "draft"},
        {"command": "change_app", "app": "hello", "version": "1.0.0", "lifecycle": "deprecated"},
        {"command": "change_app", "app": "hello", "visibility": "private", "revision": 1},
        {"command": "set_entitlement", "app": "hello", "enabled": True, "overlay": overlay, **own},
        {
            "command": "set_artifact_source",
            "source": "main",
            "kind": "oci",
            "address": "registry.example/apps",
            "keys": ["RW" + "Q" * 54],
        },
        {"command": "register_artifact", **artifact, "kind": "oci", "source": "main"},
        {"command": "change_artifact", **artifact, "trust": "verified", "channel": "test"},
        {
            "command": "set_webhook",
            "webhook": "w",
            "url": "https://hooks.example/in",
            "types": ["apps.instance.*"],
            "secret_id": "s",
            **own,
        },
        {
            "command": "record_app_check",
            "app": "hello",
            "version": "1.0.0",
            "evidence": good_evidence(hello().digest).canonical,
        },
        {"command": "delete_webhook", "webhook": "w", "revision": 1, **own},
        {
            "command": "report_app_usage",
            **own,
            "instance_id": 1,
            "source": "sa-1",
            "sequence": 1,
            "unit": "job_hour",
            "quantity": 3,
            "from_ms": 1,
            "to_ms": 3_600_001,
            "component_key": "worker-0",
        },
        {
            "command": "call_instance",
            **own,
            "instance_id": 1,
            "verb": "submit",
            "digest": "ab" * 32,
            "within_ms": 60_000,
        },
        {
            "command": "open_endpoint",
            **own,
            "instance_id": 1,
            "endpoint": "web",
            "member_id": 1,
            "session_id": "s-1",
        },
        {
            "command": "note_endpoint_closed",
            **own,
            "instance_id": 1,
            "app": "hello",
            "endpoint": "web",
            "session_id": "s-1",
            "end": "idle",
            "requests": 7,
        },
    ]


def instance_models() -> list[dict[str, Any]]:
    """One of each command about instances."""
    project = {"tenant": "fresh", "project": "p"}
    own = {**project, "instance_id": 1}
    what = {"name": "one", "app": "hello", "version": "1.0.0", "parameters": '{"a":1}'}
    worker = {"component_key": "worker-0", "key": "k"}
    return [
        {
            "command": "issue_artifact_credential",
            **own,
            "operation_id": 1,
            "digest": DIGEST,
            "audience": "bot",
            "credential_id": "c-1",
            "expires_ms": 9_000,
        },
        {"command": "request_instance", **project, **what, "counts": {"worker": 1}},
        {"command": "change_instance", **own, "version": "1.1.0", "counts": {"worker": 2}},
        {"command": "change_instance", **own, "paused": True, "metadata": "x", "revision": 1},
        {"command": "change_instance", **own, "rollback": True},
        {"command": "report_instance", **own, "revision": 1, "observed_generation": 1},
        {"command": "delete_instance", **own, "revision": 1},
        {"command": "note_deletion_overdue", **own},
        {"command": "finish_deletion", **own},
        {"command": "force_deletion", **own, "reason": "it hangs"},
        {"command": "change_member", **own, **worker, "action": "add", "role": "worker"},
        {"command": "change_member", **own, **worker, "action": "replace"},
        {"command": "move_member", **own, "member_id": 1, "phase": "ready", "lease_id": 1},
        {"command": "begin_operation", **own, "key": "k", "title": "back up"},
        {"command": "advance_operation", **own, "operation_id": 1, "progress": 5, "log": ["x"]},
        {"command": "finish_operation", **own, "operation_id": 1, "succeeded": True},
    ]


def shared_models() -> list[dict[str, Any]]:
    """One of each command about shared runtimes."""
    runtime = {"tenant": "fresh", "runtime": "main"}
    own = {**runtime, "project": "p"}
    what = {"environment": "prod", "app": "hello", "version": "1.0.0", "by": "tina"}
    policy = {"policy": "q", "queue": "day", "until_ms": 2**40, "grantee_project": "other"}
    worker = {"component_key": "p-0", "key": "k"}
    return [
        {
            "command": "create_shared_runtime",
            **own,
            **what,
            "accepted_digest": "ab" * 32,
            "counts": {"worker": 1},
            "controller": {"zone": "a"},
        },
        {"command": "consent_attachment", **own, "side": "tenant", "by": "tina"},
        {"command": "consent_attachment", **own, "side": "project", "by": "pia"},
        {"command": "detach_project", **own, "side": "project"},
        {"command": "finish_detachment", **own},
        {"command": "change_contribution", **own, **worker, "action": "contribute", "role": "w"},
        {"command": "change_contribution", **own, **worker, "action": "withdraw", "within_ms": 5},
        {"command": "set_submit_policy", **own, **policy, "limits": {"gpus": 4}},
        {"command": "end_submit_policy", **own, "policy": "q"},
        {
            "command": "note_credential_use",
            **runtime,
            "credential": "key",
            "purpose": "render",
            "by": "runtime:1",
        },
        {
            "command": "report_shared_use",
            **runtime,
            "by": "runtime:1",
            "from_ms": 0,
            "to_ms": 9,
            "users": ["p"],
            "sources": ["other"],
            "units": ["cpu_second"],
            "quantities": [4],
        },
        {
            "command": "set_shared_settlement",
            **runtime,
            "accepted_digest": "ab" * 32,
            "by": "tina",
            "rates": {"cpu_second": 20},
        },
        {
            "command": "call_instance",
            **own,
            "instance_id": 1,
            "verb": "submit",
            "digest": "ab" * 32,
            "within_ms": 5,
            "by": "ann",
            "owner": "other",
            "queue": "day",
        },
        {"command": "delete_shared_runtime", **runtime},
    ]


def graph_models() -> list[dict[str, Any]]:
    """What the loop of graphs tells."""
    own = {"tenant": "lab", "graph_id": 1}
    failed = {"task": "train", "attempt": 1, "category": "exit_code", "exit_code": 3}
    return [
        {"command": "note_graph_submitted", **own, "tasks": 2, "name": "nightly"},
        {"command": "note_graph_task_retried", **own, **failed, "pause_ms": 5, "job_id": 1},
        {"command": "note_graph_ended", **own, "phase": "failed", "tasks": 2, "failed": 1},
    ]


def exec_models() -> list[dict[str, Any]]:
    """What people do inside jobs."""
    own = {"tenant": "lab", "job_id": 1, "exec_id": "a1"}
    return [
        {"command": "note_exec_started", **own, "lease_id": 1, "argv": ["sh"], "terminal": True},
        {"command": "note_exec_ended", **own, "end": "exited", "exit_code": 3},
        {"command": "note_files_copied", **own, "direction": "out", "path": "a/b"},
    ]


def cell_models() -> list[dict[str, Any]]:
    """What a home and its cells are told."""
    asked = submit_command(random.Random(7))
    request = {name: asked[name] for name in ("tenant", "request")}
    order = {"epoch": 1, "number": 1, "global_id": 1}
    told = {"cell": "east", "epoch": 1, "global_id": 1, "number": 1, "seq": 3, "left": 0}
    return [
        {"command": "join_cell", "cell": "east", "url": "https://east.example"},
        {"command": "leave_cell", "cell": "east", "lost": True},
        {"command": "reach_cell", "cell": "east", "epoch": 1, "done": 0},
        {"command": "cut_off_cell", "cell": "east"},
        {"command": "ask_globally", **request},
        {"command": "send_global", "global_id": 1, "cell": "east", "waits": True},
        {"command": "note_global", **told, "status": "held", "leases": [1]},
        {"command": "recall_global", "global_id": 1},
        {"command": "withdraw_global", "global_id": 1},
        {"command": "meet_home", "home": "campus", "epoch": 1},
        {"command": "leave_home"},
        {"command": "take_global", **order, **request, "waits": True, "not_after_ms": 2**50},
        {"command": "give_back_global", **order},
        {"command": "hear_home", "epoch": 1, "seq": 5},
    ]


def money_models() -> list[dict[str, Any]]:
    """One of each command about money."""
    budget = {"limit_micros": 5, "cap_micros": 9, "from_ms": 0, "until_ms": 2**50}
    return [
        {"command": "set_rate_card", "card": card_body(LIST_PRICES)},
        {
            "command": "set_rate_card",
            "card": card_body(replace(LIST_PRICES, tenant="lab", effective_ms=10**14)),
        },
        {"command": "withdraw_rate_card", "tenant": "lab", "effective_ms": 0},
        {"command": "set_budget", "tenant": "lab", "budget": {**budget, "thresholds": [500, 900]}},
        {
            "command": "set_budget",
            "tenant": "lab",
            "project": "p",
            "budget": budget,
            "opening_micros": 2,
        },
        {"command": "remove_budget", "tenant": "lab", "project": "p"},
        {
            "command": "report_finding",
            "finding": "attribution_drift",
            "severity": "high",
            "subject": "node-f/gpu-0",
            "evidence": "ab" * 32,
            "note": "used more than granted",
            "tenant": "lab",
        },
        {
            "command": "issue_invoice",
            "invoice": "inv-1",
            "tenant": "lab",
            "period_start_ms": 0,
            "period_end_ms": 1,
            "journal_size": 1,
            "total_micros": -5,
            "currency": "credit",
            "digest": "ab" * 32,
        },
    ]


def trust_models() -> list[dict[str, Any]]:
    """One of each command about trust."""
    pool = {"nodes": ["node-*"], "require": "tpm2 and gpu_cc", "max_age_s": 60, "tpm2": {}}
    about = {"node": "node-f", "kind": "tpm2"}
    verdict = {"command": "record_verdict", **about, "evidence": "ab" * 32}
    return [
        {"command": "set_trust_policy", "document": json.dumps({"pools": {"gpu": pool}})},
        {"command": "set_trust_policy", "document": '{"pools": {}}'},
        {"command": "lift_quarantine", "node": "node-f", "override": True, "note": "seen by eye"},
        {
            "command": "enrol_node",
            **about,
            "keys": {"ak_public": "00ff", "ek_public": "ab" * 300},
            "identity": "cd" * 32,
        },
        {"command": "withdraw_enrolment", **about},
        {**verdict, "verdict": "trusted", "valid_until_ms": 2**40, "claims": {"boot": "secure"}},
        {**verdict, "verdict": "untrusted", "reason": "pcr_policy"},
        {
            "command": "grant_token",
            "lease_id": 1,
            "tenant": "lab",
            "token_id": "t-1",
            "operations": ["mem_read", "mem_write"],
            "audience": "node-f",
            "ttl_ms": 300_000,
            "generation": 1,
            "by_node": False,
        },
    ]


def iam_models() -> list[dict[str, Any]]:
    """One of each command about principals and their rights."""
    token = {"token_id": "t-1", "principal": "alice", "kind": "human", "digest": "ab" * 32}
    return [
        {"command": "create_tenant", "tenant": "fresh", "display_name": "Fresh"},
        {"command": "change_tenant", "tenant": "fresh", "is_open": False},
        {"command": "create_project", "tenant": "fresh", "project": "p", "display_name": "P"},
        {"command": "change_project", "tenant": "fresh", "project": "p", "display_name": "Q"},
        {"command": "set_member", "member": "alice", "role": "tenant_admin", "tenant": "fresh"},
        {
            "command": "apply_groups",
            "member": "campus:ann",
            "provider": "campus",
            "roles": ["fresh=tenant_admin"],
        },
        {
            "command": "set_role",
            "role": "triage",
            "level": "project",
            "keys": ["scheduler.queue.read"],
            "tenant": "fresh",
        },
        {"command": "set_member", "member": "bo", "role": None, "tenant": "fresh", "project": "p"}
        | {"custom": "triage"},
        {"command": "delete_role", "role": "triage", "tenant": "fresh", "revision": 1},
        {"command": "offer_role", "member": "eve", "role": "tenant_auditor", "tenant": "fresh"}
        | {"ttl_ms": 1_000},
        {"command": "end_offer", "member": "eve", "outcome": "accepted", "tenant": "fresh"},
        {"command": "set_home", "principal": "eve", "tenant": "fresh"},
        {"command": "create_account", "account": "ci", "tenant": "fresh", "project": "p"},
        {
            "command": "set_account_trust",
            "account": "ci",
            "rule": "main",
            "issuer": "https://ci.example",
            "audience": "gpu.example",
            "conditions": ["sub=repo:acme/*"],
            "keys": ["scheduler.queue.read"],
        },
        {"command": "add_account_key", "account": "ci", "key_id": "k-1", "digest": "ab" * 32}
        | {"ttl_ms": 1_000, "overlap_ms": 5, "keys": ["scheduler.queue.read"]},
        {"command": "grant_account_token", "token_id": "t-2", "account": "ci", "digest": "cd" * 32}
        | {"expires_ms": 9, "key_id": "k-1"},
        {"command": "grant_account_token", "token_id": "t-3", "account": "ci", "digest": "cd" * 32}
        | {"expires_ms": 9, "rule": "main", "issuer": "https://ci.example", "subject": "job"}
        | {"assertion": "ef" * 32},
        {"command": "delete_account_key", "account": "ci", "key_id": "k-1"},
        {"command": "delete_account_trust", "account": "ci", "rule": "main"},
        {"command": "change_account", "account": "ci", "is_enabled": False},
        {"command": "issue_token", **token, "expires_ms": 2**50, "keys": ["scheduler.queue.read"]},
        {"command": "revoke_token", "token_id": "t-1"},
        {
            "command": "note_refusal",
            "reason": "bad_token",
            "principal": "mallory",
            "permission": "scheduler.queue.submit",
            "tenant": "fresh",
        },
        {
            "command": "break_glass",
            "action": "read",
            "target": "tenant/fresh",
            "justification": "an incident that was reported today",
        },
    ]
