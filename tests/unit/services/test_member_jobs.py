"""The job of a member: what is asked for, what it is told, and what nobody gives it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bailiwick.apps.artifacts import ArtifactSource
from bailiwick.apps.manifest import ArtifactRef, Manifest
from bailiwick.executors.registry import labels_for
from bailiwick.iam import is_reserved
from bailiwick.kernel.apps.instances import AppInstance, AppMember, WantedState
from bailiwick.services.apps.member_jobs import image_of, job_of, principal_of
from bailiwick.services.jobs import JobDraft
from bailiwick.vocab.apps import (
    ArtifactKind,
    ControlPlaneScope,
    OperatingMode,
    Privilege,
    SourceTier,
)
from bailiwick.vocab.errors import InvalidValue
from tests.support.app_manifests import SERVICE_DIGEST, service

INSTANCE = AppInstance(
    id=7,
    tenant="lab",
    project="p",
    name="demo",
    app="lab.svc",
    wanted=WantedState("1.0.0", '{"word":"ahoy"}', {"worker": 1}),
    mode=OperatingMode.TENANT_DEDICATED,
    scope=ControlPlaneScope.PROJECT,
    backend="bare_metal",
)
MEMBER = AppMember(id=9, instance_id=7, role="worker", component_key="worker-0", version="1.0.0")


def draft(manifest: Manifest | None = None, **more: Any) -> JobDraft:
    source = more.pop("source", None)
    return job_of(INSTANCE, replace(MEMBER, **more), manifest=manifest or service(), source=source)


def test_it_is_the_projects_and_says_whose_member_it_is() -> None:
    found = draft()
    request = found.request.request
    assert (str(request.tenant), str(request.project)) == ("lab", "p")
    assert request.labels == labels_for(None, {})
    assert request.job_labels == {
        "bailiwick.app": "lab.svc",
        "bailiwick.backend": "bare_metal",
        "bailiwick.instance": "7",
        "bailiwick.mode": "tenant_dedicated",
        "bailiwick.part": "workload",
        "bailiwick.scope": "project",
    }
    boss = draft(role="controller").request.request
    assert boss.job_labels == {**request.job_labels, "bailiwick.part": "control_plane"}
    assert (request.cpu_milli, request.mem_bytes) == (100, 2**26)
    assert found.digest() == draft().digest()
    told = {"APP_INSTANCE_ID": "7", "APP_COMPONENT_KEY": "worker-0", "APP_MEMBER_ID": "9"}
    assert told.items() <= found.env.items()
    assert found.env["APP_PARAMETERS"] == '{"word":"ahoy"}'
    assert not any("TOKEN" in name for name in found.env)


def test_nobody_can_log_in_under_the_name_that_it_runs_in() -> None:
    who = principal_of(7)
    assert is_reserved(who.name)
    assert not who.roles


def test_an_image_is_its_root_by_digest_and_a_blob_is_none() -> None:
    oci = ArtifactRef(ArtifactKind.OCI, SERVICE_DIGEST, "main")
    place = "registry.example/team/apps"
    source = ArtifactSource("main", SourceTier.PLATFORM, ArtifactKind.OCI, place)
    assert image_of(oci, source) == f"apps@{SERVICE_DIGEST}"
    assert draft(source=source).image == f"apps@{SERVICE_DIGEST}"
    assert image_of(ArtifactRef(ArtifactKind.BLOB, SERVICE_DIGEST, "main"), source) is None


def test_one_that_wants_the_host_lands_where_that_is_given_and_says_nothing_else() -> None:
    roles = service().roles
    host = replace(roles["worker"], privileges=Privilege.HOST)
    request = draft(service(roles={**roles, "worker": host})).request.request
    assert request.labels == labels_for(None, {"host-members": "yes"})
    assert request.job_labels == draft().request.request.job_labels


def test_what_nobody_runs_is_refused_with_its_word() -> None:
    roles = service().roles
    idle = replace(roles["worker"], command=())
    with pytest.raises(InvalidValue):
        draft(service(roles={**roles, "worker": idle}))


def test_a_contributed_member_is_its_projects_job_and_a_controller_lands_where_it_was_chosen() -> (
    None
):
    given = replace(MEMBER, source="q")
    chosen = {"zone": "a"}
    found = job_of(INSTANCE, given, manifest=service(), source=None, controller=chosen)
    request = found.request.request
    assert (found.tenant, found.project) == ("lab", "q")
    assert (str(request.tenant), str(request.project)) == ("lab", "q")
    assert request.job_labels["bailiwick.instance"] == "7"
    assert "zone" not in request.labels
    boss = replace(MEMBER, role="controller")
    steering = job_of(INSTANCE, boss, manifest=service(), source=None, controller=chosen)
    assert steering.request.request.labels["zone"] == "a"
