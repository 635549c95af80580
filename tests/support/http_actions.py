"""For every action of the API: a request that aims it at a tenant's own things."""

from __future__ import annotations

from typing import Any

from bailiwick.runtime.runner import SystemClock
from bailiwick.wire.actions.action import Action
from bailiwick.wire.actions.table import ACTIONS
from tests.support.app_manifests import DIGEST, SERVICE_DIGEST, hello
from tests.support.http_house import (
    FAR_MS,
    FOREIGN,
    GRAPH,
    INVOICE,
    OWN,
    HttpHouse,
    price_list,
)
from tests.support.shared_runtimes import rule_digest, shared_wish

HOUR_MS, MONTH_MS = 3_600_000, 30 * 86_400_000
LEASE = {OWN: 1, FOREIGN: 2}
ENTRY = {OWN: 1, FOREIGN: 2}
JOB = {OWN: 1, FOREIGN: 2}
INSTANCE = {OWN: 1, FOREIGN: 2}
TASK = {OWN: 3, FOREIGN: 4}
"""Those of ``add_instances``."""
FOUNDED = {OWN: 2, FOREIGN: 5}
"""The numbers that ``http_house`` gives: leases, entries, jobs, and records that made tenants."""


def aim(action: Action, tenant: str, *, token_id: str = "none") -> tuple[str, Any]:
    """The path and the body of the action, at that tenant."""
    path = action.path.format(
        tenant=tenant,
        project="p",
        account=f"bot-{tenant}",
        token_id=token_id,
        rule="main",
        key_id=f"key-{tenant}",
        node="n1",
        note_id=99,
        lease_id=LEASE.get(tenant, 99),
        entry_id=ENTRY.get(tenant, 99),
        job_id=JOB.get(tenant, 99),
        graph_id=JOB.get(tenant, 99),
        exec_id="0" * 32,
        seq=FOUNDED.get(tenant, 99),
        correlation_id=f"trace-{tenant}",
        invoice=INVOICE.get(tenant, "inv-none"),
        app=f"{tenant}.hello",
        version="1.0.0",
        digest=SERVICE_DIGEST,
        line=1,
        instance_id=INSTANCE.get(tenant, 99),
        operation_id=TASK.get(tenant, 99),
        call_id=INSTANCE.get(tenant, 99),
        runtime="main",
        policy="night",
        window="w1",
        calendar="weekly",
        booking="b1",
        series="s1",
        cell="east",
        global_id=ENTRY.get(tenant, 99),
        endpoint="web",
        rest="a/b",
    )
    # A watch that stays would never answer a test that waits for all of it.
    query = {
        "record.watch": "?follow=false&after=0",
        "event.watch": "?follow=false&after=0",
        "self.watch": "?follow=false",
        "decision.story": f"?subject=tenant&tenant={tenant}",
        "checkpoint.compare": "?old_size=1&new_size=2",
        "node.withdraw": "?kind=ed25519",
        "node.work": "?life=1",
    }.get(action.name, "")
    return path + query, _bodies(tenant).get(action.name)


def names() -> list[str]:
    """Every action's name, in order."""
    return list(ACTIONS)


def token_id_of(house: HttpHouse, token: str) -> str:
    """The id of a token that was just made."""
    del token
    return house.runner.read(lambda view: list(view.state.directory.tokens)[-1])


def _bodies(tenant: str) -> dict[str, Any]:
    ahead_ms = SystemClock().now_ms() + FAR_MS + MONTH_MS
    return {
        "session.renew": {},
        "notice.set": {"choices": [{"kind": "job_ended", "channels": ["inbox"]}]},
        "notice.verify": {"code": "0000000000"},
        "inbox.read": {},
        "tenant.create": {"tenant": "new"},
        "tenant.change": {"display_name": "x"},
        "project.create": {"project": "q"},
        "project.change": {"display_name": "x"},
        "fleet_member.set": {"member": "zoe", "role": "fleet_auditor"},
        "tenant_member.set": {"member": "zoe", "role": "tenant_auditor"},
        "project_member.set": {"member": "zoe", "role": "project_viewer"},
        "invitation.accept": {"tenant": tenant, "project": "p"},
        "invitation.decline": {"tenant": tenant, "project": "p"},
        "invitation.leave": {"tenant": tenant, "project": "p"},
        "principal.home": {"principal": "zoe", "tenant": tenant},
        "account.create": {"account": "bot-new", "tenant": tenant},
        "account.change": {"is_enabled": False},
        "account_trust.set": {
            "rule": "main",
            "issuer": "https://ci.example",
            "audience": "gpu.example",
            "conditions": ["sub=repo:acme/*"],
        },
        "account_key.add": {},
        "token.issue": {"principal": f"project_admin@{tenant}"},
        "tenant_quota.set": {"limits": {"cpu_milli": 10**6}},
        "project_quota.set": {"limits": {"cpu_milli": 10**6}},
        "tenant_quota.rebalance": {"grace_ms": 1_000},
        "project_quota.rebalance": {"grace_ms": 1_000},
        "tenant_share.set": {"share": 3},
        "project_share.set": {"share": 3},
        "node.register": {"node": "n2", "resources": {"cpu_milli": 1000}},
        "node.report": {"resources": {"cpu_milli": 64_000, "mem_bytes": 2**36}},
        "node.count": {
            "epoch": 1,
            "counters": [{"sequence": 0, "lease_id": 1, "at_ms": 2, "from_ms": 1, "cpu_ms": 1}],
        },
        "node.observe": {"life": 1, "seen": [{"lease_id": 1, "state": "starting"}]},
        "node.output": {"life": 1, "pieces": [{"lease_id": 1, "offset": 0, "data": "AA=="}]},
        "node.mode": {"mode": "draining"},
        "node_note.add": {"text": "the fan is loud", "ttl_ms": 60_000},
        "node.label": {"put": ["pool=a"]},
        "node.mig": {"gpus": [0], "profiles": ["3g.71gb"]},
        "node.mig_report": {"change_id": 1, "cause": "in_use"},
        "node.health_report": {
            "findings": [{"check": "disk", "level": "warn", "value": 96, "limit": 95}]
        },
        "node.test_report": {"test_id": 1, "findings": []},
        "window.plan": {
            "window": "w2",
            "nodes": ["n1"],
            "starts_ms": ahead_ms,
            "ends_ms": ahead_ms + HOUR_MS,
        },
        "booking.create": {
            "booking": "b2",
            "nodes": ["n1"],
            "starts_ms": ahead_ms + HOUR_MS,
            "ends_ms": ahead_ms + 2 * HOUR_MS,
        },
        "booking_series.set": {"rule": "daily at 02:00 for 1h in UTC", "nodes": ["n1"]},
        "calendar.set": {"rule": "daily at 02:00 for 1h in UTC", "nodes": ["n1"]},
        "node.quarantine": {"reason": "looks-wrong"},
        "node.enrol": {"kind": "ed25519", "parts": {"public_key": "AA=="}},
        "node.prove": {"enrolment_id": "0" * 32, "parts": {"signature": "AA=="}},
        "node.attest": {
            "nonce": "0" * 64,
            "pieces": [{"kind": "ed25519", "parts": {"statement": "AA==", "signature": "AA=="}}],
        },
        "node.token": {"lease_id": LEASE.get(tenant, 99), "operations": ["mem_read"]},
        "trust_policy.set": {"document": '{"pools": {}}'},
        "isolation.set": {"text": "dedicated host for tenant bank"},
        "isolation.lint": {"text": "dedicated host for tenant bank"},
        "isolation.search": {"text": "dedicated host for tenant bank", "jobs": 1, "steps": 1},
        "isolation.preview": {"text": "dedicated host for tenant bank"},
        "isolation.enforce": {"text": "dedicated host for tenant bank"},
        "isolation.scrub": {"kind": "host", "domain": "n1"},
        "lease.token": {"operations": ["mem_read"]},
        "lease.request": {
            "tenant": tenant,
            "project": "p",
            "resources": {"cpu_milli": 1000},
        },
        "request.explain": {
            "tenant": tenant,
            "project": "p",
            "resources": {"cpu_milli": 1000},
        },
        "job.submit": {
            "tenant": tenant,
            "project": "p",
            "resources": {"cpu_milli": 1000},
            "command": ["true"],
        },
        "job.exec": {"command": ["true"]},
        "job.exec_type": {"offset": 0, "data": "AA=="},
        "job.exec_read": {"offset": 0},
        "node.execs": {"life": 1},
        "node.exec_typed": {"life": 1},
        "node.exec_wrote": {"life": 1, "offset": 0, "data": "AA=="},
        "graph.submit": {"tenant": tenant, "project": "p", "document": GRAPH},
        "graph.plan": {"tenant": tenant, "project": "p", "document": GRAPH},
        "graph.retry": {"tasks": ["a"]},
        "graph.report": {"task": "a", "attempt": 1},
        **_app_bodies(tenant),
        **_shared_bodies(tenant),
        "lease.renew": {"ttl_ms": 1000},
        "lease.evict": {"reason": "operator_drain"},
        "lease.teardown": {"clean": True},
        "settings.set": {"grace_ms": 1000},
        "rates.set": price_list(),
        "tenant_budget.set": {"limit_micros": 10**12},
        "project_budget.set": {"limit_micros": 10**12},
        "invoice.issue": {"from_ms": 1, "to_ms": 2},
        "glass.break": {"reason": "nobody of the tenant can be reached", "tenant": tenant},
    }


def _shared_bodies(tenant: str) -> dict[str, Any]:
    wish = shared_wish(tenant) | {"runtime": "other", "environment": "test"}
    return {
        "shared_runtime.plan": wish,
        "shared_runtime.create": {**wish, "accepted_digest": rule_digest(wish, tenant)},
        "shared_runtime.operator_token": {"ttl_s": 60},
        "shared_runtime.note_use": {"credential": "key", "purpose": "render"},
        "shared_use.report": {"from_ms": 0, "to_ms": 9, "rows": []},
        "shared_settlement.plan": {"rates": {}},
        "shared_settlement.set": {"rates": {}, "accepted_digest": "0" * 64},
        "shared_worker.change": {"action": "withdraw", "component_key": "p-0"},
        "submit_policy.set": {"queue": "day", "until_ms": 2**50, "grantee_person": "zoe"},
        "cell.join": {"cell": "west", "url": "https://west.example"},
        "cell.leave": {},
        "global_request.ask": {
            "tenant": tenant,
            "project": "p",
            "resources": {"cpu_milli": 1000},
        },
        "cell_home.letter": {"home": "fleet-far", "epoch": 1},
        "cell_home.offer": {
            "tenant": tenant,
            "project": "p",
            "resources": {"cpu_milli": 1000},
        },
        "queue.whatif": {"nodes": 1},
        "job.file": {"tenant": tenant, "project": "p", "text": "command: [x]"},
        "submit_policy.ask": {"owner": "p", "queue": "day"},
        "shared_queue.submit": {"argv": ["run", "it"], "wait_s": 0},
        "shared_queue.read": {"argv": ["list"], "wait_s": 0},
        "shared_queue.cancel": {"argv": ["drop", "7"], "wait_s": 0},
    }


def _app_bodies(tenant: str) -> dict[str, Any]:
    app = {"app": f"{tenant}.hello", "tenant": tenant}
    other = "sha256:" + "0" * 64
    artifact = {"kind": "oci", "source": "main", "tenant": tenant}
    address = {"source": "own", "kind": "oci", "address": "own.example", "tenant": tenant}
    return {
        "app.publish": {"document": hello(version="2.0.0").canonical, "tenant": tenant},
        "app.change": {"lifecycle": "deprecated"},
        "app_version.change": {"lifecycle": "deprecated"},
        "app_version.grant": {"is_granted": True},
        "app_version.check": {
            "digest": DIGEST,
            "tenant": tenant,
            "project": "p",
            "instance_id": INSTANCE.get(tenant, 99),
            "first_seq": 0,
            "last_seq": 1,
        },
        "entitlement.set": {**app, "project": "p", "is_enabled": True},
        "entitlement.explain": {**app, "project": "p"},
        "artifact_source.set": address,
        "artifact.register": {**artifact, "digest": other},
        "artifact.change": {"digest": DIGEST, "tenant": tenant, "trust": "verified"},
        "artifact.fetch": {"digest": DIGEST, "tenant": tenant},
        "artifact.verify": {"digest": DIGEST, "tenant": tenant},
        "role.set": {
            "role": "triage",
            "tenant": tenant,
            "level": "project",
            "keys": ["scheduler.queue.read"],
        },
        "role.delete": {"role": "idle", "tenant": tenant},
        "artifact.let_pull": {
            "instance_id": INSTANCE.get(tenant, 99),
            "operation_id": TASK.get(tenant, 99),
            "digest": SERVICE_DIGEST,
        },
        "artifact.resolve": {**app, "version": "1.0.0"},
        "webhook.set": {"webhook": "new", "tenant": tenant, "url": "https://hooks.example/in"},
        "webhook.rotate": {"webhook": "hook", "tenant": tenant},
        "webhook.delete": {"webhook": "hook", "tenant": tenant},
        "webhook.deliveries": {"webhook": "hook", "tenant": tenant},
        "webhook.replay": {"webhook": "hook", "tenant": tenant},
        "instance.create": {"name": "new", "app": f"{tenant}.svc", "version": "1.0.0"},
        "instance.change": {"counts": {"worker": 2}},
        "instance.report": {"observed_generation": 1},
        "instance_usage.report": {
            "sequence": 1,
            "unit": "job_hour",
            "quantity": 1,
            "from_ms": 1,
            "to_ms": 2,
        },
        "instance_queue.submit": {"argv": ["run", "it"], "wait_s": 0},
        "instance_queue.read": {"argv": ["list"], "wait_s": 0},
        "instance_queue.cancel": {"argv": ["drop", "7"], "wait_s": 0},
        "instance_call.take": {},
        "instance_call.answer": {"exit_code": 0},
        "instance.force_delete": {"reason": "its operator is gone for good"},
        "instance_member.change": {"action": "replace", "component_key": "worker-0"},
        "instance_operation.begin": {"title": "backup"},
        "instance_operation.advance": {"progress": 50, "log": ["half of it"]},
        "instance_operation.finish": {"is_succeeded": True},
    }
