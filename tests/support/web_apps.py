"""An app for tests of its pages: its artifact is known and trusted, and its members only wait."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bailiwick.apps.manifest import ArtifactRef
from bailiwick.vocab.apps import ArtifactKind, ControlPlaneScope
from tests.support.app_manifests import SERVICE_DIGEST, service
from tests.support.browser import Person
from tests.support.web_campus import Campus, log_in

BOTH = (ControlPlaneScope.PROJECT, ControlPlaneScope.TENANT)


def manifest(**changes: Any) -> str:
    """An app that a project or a tenant may run, whose members are a process that waits."""
    artifacts = {"service": ArtifactRef(ArtifactKind.BLOB, SERVICE_DIGEST, "main")}
    schema = {
        "type": "object",
        "properties": {
            "queues": {"type": "string", "default": "main", "description": "By comma."},
            "depth": {"type": "integer", "minimum": 1, "maximum": 9},
            "colour": {"enum": ["red", "blue"]},
        },
        "additionalProperties": False,
    }
    told = {"control_plane_scopes": BOTH, "parameters": schema, "artifacts": artifacts}
    units = ("cpu_second", "gpu_second")
    return service(**{"app": "hub", "billing_units": units, **told, **changes}).canonical


def publish(campus: Campus, document: str) -> None:
    """A version of an app of the fleet that everybody sees."""
    campus.ask("POST", "/v1/apps", {"document": document, "visibility": "public"})


def add_app(campus: Campus, document: str, *, tenant: str) -> None:
    """There is an app, its artifact is trusted, and a tenant may use it."""
    source = {"source": "main", "kind": "blob", "address": "https://apps.example/blobs"}
    campus.ask("PUT", "/v1/artifact-sources", source)
    known = {"digest": SERVICE_DIGEST, "kind": "blob", "source": "main"}
    campus.ask("POST", "/v1/artifacts", known)
    campus.ask("PATCH", "/v1/artifacts", {"digest": SERVICE_DIGEST, "trust": "verified"})
    publish(campus, document)
    campus.ask("PUT", "/v1/entitlements", {"app": "hub", "is_enabled": True, "tenant": tenant})


def come(campus: Campus, who: Person, *, name: str, role: str, place: str) -> Person:
    """Somebody with this role logs in."""
    log_in(who, campus.code_for(name, role, place))
    return who


def look(who: Person, name: str) -> None:
    """Keep a picture, where somebody wants to look at it (``WEB_PICTURES`` is a folder)."""
    if folder := os.environ.get("WEB_PICTURES"):
        who.page.evaluate("() => window.scrollTo(0, 0)")
        who.page.screenshot(path=str(Path(folder) / f"{name}.png"), full_page=True)
