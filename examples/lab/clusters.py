"""The clusters of the lab: one of a project, and one that a whole tenant shares.

Each function asks for one and says how it is known to run, so that all of them begin at once. To
have more in the lab, add a function to ``OF_PROJECTS`` or ``SHARED``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bailiwick.operators.kit.packing import digest_of
from bailiwick.operators.slurm.manifest import (
    APP,
    PERMISSIONS,
    SHARED_APP,
    SOURCE,
    SlurmOffer,
    manifest_of,
    pack_member,
)
from examples.lab.campus import KEPT, OPEN, TENANT, Campus, can_share

DEPARTMENT: Final = "dept"
"""The cluster that projects share."""
OWNER: Final = "it"
"""The project that pays for what steers it, and for what is reserved in it."""
SIGNS: Final = {"vision": "ada", "audio": "cleo"}
"""Who accepts for each project that is attached."""
_OFFERS: Final = tuple(
    SlurmOffer(
        cpus=1, mem="1000MiB", controller_cpus=0.2, controller_mem="2GiB", is_shared=is_shared
    )
    for is_shared in (False, True)
)
_VERSION: Final = _OFFERS[0].version
_IN_TENANT: Final = f"/v1/tenants/{TENANT}"
_DEPARTMENT: Final = f"{_IN_TENANT}/runtimes/{DEPARTMENT}"
Runs = Callable[[], bool]


def offer_apps(campus: Campus) -> None:
    """The apps are in the catalog, verified, and the tenant may have them, each in its region."""
    campus.tell("publishing the apps")
    api, blobs, program = campus.api, campus.folder / "apps" / "sha256", pack_member()
    digest = digest_of(program)
    blobs.mkdir(parents=True)
    (blobs / digest.removeprefix("sha256:")).write_bytes(program)
    source = {"source": SOURCE, "kind": "blob", "address": f"file://{blobs.parent}"}
    api.ask("PUT", "/v1/artifact-sources", source)
    api.ask("POST", "/v1/artifacts", {"digest": digest, "kind": "blob", "source": SOURCE})
    api.ask("POST", "/v1/artifacts/verify", {"digest": digest})
    for offer, app, region in zip(_OFFERS, (APP, SHARED_APP), (OPEN, KEPT), strict=True):
        api.ask("POST", "/v1/apps", {"document": manifest_of(offer, program)})
        api.ask("PATCH", f"/v1/apps/{app}", {"visibility": "public"})
        line = {"app": app, "tenant": TENANT, "is_enabled": True}
        api.ask("PUT", "/v1/entitlements", line | {"overlay": {"regions": [region]}})
    host = f"/v1/apps/{SHARED_APP}/versions/{_VERSION}/host"
    api.ask("PUT", host, {"is_granted": True})


def start_operator(campus: Campus, name: str, *, token: Path, **where: str) -> None:
    """The program that looks after clusters, with a token that can do no more than it needs."""
    words = [sys.executable, "-m", "bailiwick.operators.slurm", "run", "--alone"]
    words += ["--keys", str(campus.folder / f"{name}.keys")]
    words += ["--app", SHARED_APP] if "runtime" in where else []
    told = {f"BAILIWICK_{word.upper()}": value for word, value in where.items()}
    told |= {"BAILIWICK_SERVER": campus.api.address, "BAILIWICK_TENANT": TENANT}
    campus.begin(name, words, told | {"BAILIWICK_TOKEN_FILE": str(token)})


def proved_of(campus: Campus, path: str, *, workers: int) -> Runs:
    """Whether jobs came back from so many workers of an instance."""

    def runs() -> bool:
        told = campus.api.ask("GET", path)
        well, _, _ = str(told["reason"]).partition("; ")
        is_proved = well == f"jobs run on all {workers} workers"
        return bool(told["phase"] == "running" and is_proved)

    return runs


def make_cluster_of_a_project(campus: Campus) -> Runs:
    """``c1``, a cluster of the project ``vision`` alone."""
    account, own = "slurm-vision", {"tenant": TENANT, "project": "vision"}
    campus.api.ask("POST", "/v1/service-accounts", {"account": account, **own})
    place = f"{_IN_TENANT}/projects/vision"
    role = {"member": account, "role": "project_admin"}
    campus.api.ask("PUT", f"{place}/members", role)
    keys = list(PERMISSIONS)
    token = campus.token_file(account, principal=account, kind="service_account", keys=keys)
    start_operator(campus, account, token=token, project="vision")
    campus.tell("making the cluster c1 of the project vision")
    wish = {"name": "c1", "app": APP, "version": _VERSION, "counts": {"worker": 2}}
    wish |= {"parameters": {"kill_wait_s": 5}}
    made = campus.api.ask("POST", f"{place}/instances", wish)
    path = f"{place}/instances/{made['instance_id']}"

    def are_placed() -> bool:
        found = campus.api.ask("GET", f"{path}/members")["items"]
        return len(found) == 3 and all(each["job_id"] for each in found)

    # Before anything else is: so its members, leases and jobs have the first numbers in every lab.
    campus.until(are_placed, "the members of c1 have leases")
    return proved_of(campus, path, workers=2)


def make_cluster_of_the_department(campus: Campus) -> Runs:
    """``dept``, a cluster of the tenant: two projects have a part, and one gave it a worker."""
    campus.tell(f"making the cluster {DEPARTMENT} of the tenant {TENANT}")
    grace = campus.person("grace")
    made = grace.ask("POST", f"{_IN_TENANT}/runtimes", accepted(grace.ask, department_wish()))
    token = campus.folder / f"{DEPARTMENT}.token"
    token.touch(mode=0o600)
    token.write_text(grace.ask("POST", f"{_DEPARTMENT}/operator-token", {"ttl_s": 43_200})["token"])
    start_operator(campus, f"slurm-{DEPARTMENT}", token=token, project=OWNER, runtime=DEPARTMENT)
    for project, name in SIGNS.items():
        grace.ask("PUT", f"{_DEPARTMENT}/attachments/{project}")
        person, part = campus.person(name), f"{_DEPARTMENT}/projects/{project}"
        person.ask("PUT", f"{part}/attachment")
        if project == "vision":
            worker = {"action": "contribute", "component_key": "vision-0", "role": "worker"}
            person.ask("POST", f"{part}/workers", worker)
    path = f"{_IN_TENANT}/projects/{OWNER}/instances/{made['instance_id']}"
    return proved_of(campus, path, workers=2)


def department_wish() -> dict[str, Any]:
    """The runtime that the tenant's administrator has in mind."""
    return {
        "runtime": DEPARTMENT,
        "environment": "prod",
        "project": OWNER,
        "app": SHARED_APP,
        "version": _VERSION,
        "parameters": {"kill_wait_s": 5, "min_job_age_s": 5},
        "counts": {"worker": 1},
        "withdraw_within_ms": 60_000,
    }


def accepted(ask: Callable[..., dict[str, Any]], wish: dict[str, Any]) -> dict[str, Any]:
    """A wish with the digest of its plan: who would pay for what was asked for first."""
    plan = ask("POST", f"{_IN_TENANT}/runtime-plans", wish)
    return wish | {"accepted_digest": plan["digest"]}


OF_PROJECTS: Final[tuple[Callable[[Campus], Runs], ...]] = (make_cluster_of_a_project,)
SHARED: Final[tuple[Callable[[Campus], Runs], ...]] = (make_cluster_of_the_department,)
"""What is made where projects can share a cluster."""


def make_clusters(campus: Campus) -> None:
    """Have all of them begin, and wait until each runs jobs."""
    makers = (*OF_PROJECTS, *(SHARED if can_share() else ()))
    for runs in [make(campus) for make in makers]:
        campus.until(runs, "jobs came back from all workers of each cluster")
