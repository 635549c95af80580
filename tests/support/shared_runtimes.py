"""A shared runtime of each tenant of an HTTP house, with its one project attached."""

from __future__ import annotations

from typing import Any

from bailiwick.apps.shared.billing import BillingRule, contributable_roles, reserved_lines
from bailiwick.kernel.apps.commands import PublishApp, SetEntitlement
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.vocab.apps import ControlPlaneScope
from bailiwick.vocab.shared import ConsentSide, WorkerAction
from tests.support.app_manifests import service
from tests.support.http_house import FOREIGN, OWN, HttpHouse

SCOPES = (ControlPlaneScope.PROJECT, ControlPlaneScope.TENANT)
MANIFEST = service(app="shr", control_plane_scopes=SCOPES, billing_units=("job_hour",))
WITHIN_MS = 300_000


def shared_wish(tenant: str) -> dict[str, Any]:
    """What a tenant asks for."""
    return {
        "runtime": "main",
        "environment": "prod",
        "project": "p",
        "app": f"{tenant}.shr",
        "version": "1.0.0",
    }


def rule_digest(wish: dict[str, Any], tenant: str) -> str:
    """The digest of who would pay for what."""
    least = {role: spec.count[0] for role, spec in MANIFEST.roles.items()}
    counts = least | wish.get("counts", {})
    rule = BillingRule(
        *(wish["runtime"], wish["environment"], tenant, wish["project"]),
        *(wish["app"], wish["version"], reserved_lines(MANIFEST, counts)),
        contributable_roles(MANIFEST),
        WITHIN_MS,
    )
    return rule.digest


def add_runtimes(house: HttpHouse) -> None:
    """One of each tenant; ``add_instances`` was there before."""
    for tenant in (OWN, FOREIGN):
        house.do(PublishApp(MANIFEST.canonical, tenant))
        house.do(SetEntitlement(f"{tenant}.shr", True, tenant=tenant))
        wish = shared_wish(tenant)
        digest = rule_digest(wish, tenant)
        house.do(cmd.CreateSharedRuntime(tenant=tenant, **wish, accepted_digest=digest, by="tina"))
        attach(house, tenant, "p")
        of: dict[str, Any] = {"tenant": tenant, "runtime": "main", "project": "p"}
        policy = {"policy": "night", "queue": "night", "until_ms": 2**50}
        house.do(cmd.SetSubmitPolicy(**of, **policy, grantee_person="zoe"))
        worker = {"component_key": "p-0", "role": "worker", "key": "setup"}
        house.do(cmd.ChangeContribution(**of, **worker, action=WorkerAction.CONTRIBUTE))


def attach(house: HttpHouse, tenant: str, project: str) -> None:
    """Both sides consented."""
    of: dict[str, Any] = {"tenant": tenant, "runtime": "main", "project": project}
    house.do(cmd.ConsentAttachment(**of, side=ConsentSide.TENANT, by="tina"))
    house.do(cmd.ConsentAttachment(**of, side=ConsentSide.PROJECT, by="pia"))
