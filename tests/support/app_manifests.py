"""Manifests of apps for tests: one that is right, and any that hypothesis can think of."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bailiwick.apps.manifest import ArtifactRef, Manifest, RoleShape, RoleSpec
from bailiwick.vocab.apps import (
    ArtifactKind,
    ControlPlaneScope,
    DataOnRollback,
    OperatingMode,
    Privilege,
)
from bailiwick.vocab.permissions import Permission
from bailiwick.vocab.words import HardwareGeneration, LeaseClass

DIGEST = "sha256:" + "ab" * 32
RUNBOOK = "# Symptom\nIt is red.\n# Correlation id\nIn the error.\n# Steps\n1. Look.\n"

HELLO = """\
app: hello
version: 1.2.0
title: Says hello
description: A controller and its workers
parameters:
  type: object
  properties: {greeting: {type: string, maxLength: 40, default: hello}}
  additionalProperties: false
roles:
  controller:
    count: 1
    shape: {cpus: 1, mem: 512MiB}
    artifact: service
    command: [serve, --port, "8080"]
    control_plane: true
  worker:
    count: [0, 100]
    shape: {gpus: 1, generation: nvidia_hopper}
    artifact: service
    command: [work]
artifacts:
  service: {kind: oci, digest: "sha256:DIGITS", source: main}
permissions: [scheduler.instance.read]
runtime_backend: bare_metal
scheduler_types: [hello]
upgrades: [{from: 1.1.0, to: 1.2.0}]
billing_units: [job_hour]
runbook: |
  # Symptom
  It is red.
  # Correlation id
  It stands in the error.
  # Steps
  1. Look.
""".replace("sha256:DIGITS", DIGEST)


HOST_ROLE = RoleSpec(
    count=(1, 1),
    shape=RoleShape(cpu_milli=1_000),
    artifact="service",
    privileges=Privilege.HOST,
)


def hello(**changes: Any) -> Manifest:
    """A small manifest with some fields changed."""
    shape = RoleShape(cpu_milli=1_000)
    fields: dict[str, Any] = {
        "app": "hello",
        "version": "1.0.0",
        "title": "Says hello",
        "roles": {"worker": RoleSpec(count=(1, 1), shape=shape, artifact="service")},
        "artifacts": {"service": ArtifactRef(ArtifactKind.OCI, DIGEST, "main")},
        "runtime_backend": "bare_metal",
        "runbook": RUNBOOK,
    }
    return Manifest(**(fields | changes))


SERVICE_DIGEST = "sha256:" + "cd" * 32


def service(**changes: Any) -> Manifest:
    """One whose members can run: a controller, and workers with nothing but a core."""
    small, forever = RoleShape(cpu_milli=100, mem_bytes=2**26), ("/bin/sh", "-c", "sleep 600")
    roles = {
        "controller": RoleSpec(
            count=(0, 1), shape=small, artifact="service", command=forever, control_plane=True
        ),
        "worker": RoleSpec(count=(1, 100), shape=small, artifact="service", command=forever),
    }
    artifacts = {"service": ArtifactRef(ArtifactKind.OCI, SERVICE_DIGEST, "main")}
    return hello(**({"app": "svc", "roles": roles, "artifacts": artifacts} | changes))


SLUGS = st.from_regex(r"[a-z](?:[a-z0-9-]{0,29}[a-z0-9])?", fullmatch=True)
WORDS = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True)
VERSIONS = st.from_regex(
    r"(0|[1-9][0-9]?)\.(0|[1-9][0-9]?)\.(0|[1-9])(-(rc|a)\.(0|[1-9]))?", fullmatch=True
)
_TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20).filter(str.strip)
_BYTES = st.integers(0, 2**45)

SHAPES = st.builds(
    lambda gpus, **rest: RoleShape(**rest, **gpus),
    st.sampled_from(
        [
            {},
            {"gpu_count": 2, "generation": HardwareGeneration.NVIDIA_HOPPER},
            {"gpu_milli": 125, "gpu_vram": 2**30},
        ]
    ),
    cpu_milli=st.integers(1, 10**6),
    mem_bytes=_BYTES,
    block_bytes=_BYTES,
    lease_class=st.sampled_from(LeaseClass),
)
SCHEMAS = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "title": _TEXTS,
        "properties": st.dictionaries(
            WORDS,
            st.one_of(
                st.fixed_dictionaries(
                    {"type": st.just("integer")},
                    optional={"minimum": st.integers(-9, 9), "maximum": st.integers(-9, 9)},
                ),
                st.fixed_dictionaries(
                    {"type": st.just("string")}, optional={"maxLength": st.integers(0, 9)}
                ),
                st.fixed_dictionaries({"enum": st.lists(st.integers(0, 3), min_size=1)}),
            ),
            max_size=3,
        ),
    },
)


def _some(values: st.SearchStrategy[Any], *, least: int = 0) -> st.SearchStrategy[tuple[Any, ...]]:
    kept = st.lists(values, unique=True, min_size=least, max_size=3)
    return kept.map(lambda found: tuple(sorted(found)))


@st.composite
def manifests(draw: st.DrawFn) -> Manifest:
    """Any manifest that can be."""
    version = draw(VERSIONS)
    names = draw(st.lists(SLUGS, min_size=1, max_size=2, unique=True))
    digests = st.integers(0, 2**40).map(lambda number: f"sha256:{number:064x}")
    refs = st.builds(ArtifactRef, st.sampled_from(ArtifactKind), digests, WORDS)
    count = st.tuples(st.integers(0, 3), st.integers(3, 9))
    roles = {
        f"r-{name}"[:31].rstrip("-"): RoleSpec(
            count=draw(count),
            shape=draw(SHAPES),
            artifact=name,
            command=tuple(draw(st.lists(st.text("abc -%8.", max_size=5), max_size=3))),
            privileges=draw(st.sampled_from(Privilege)),
            control_plane=draw(st.booleans()),
        )
        for name in names
    }
    used = {role.artifact for role in roles.values()}
    older = draw(st.lists(VERSIONS.filter(lambda one: one != version), unique=True, max_size=3))
    return Manifest(
        app=draw(SLUGS),
        version=version,
        title=draw(_TEXTS),
        description=draw(st.one_of(st.just(""), _TEXTS)),
        parameters=draw(SCHEMAS),
        roles=roles,
        artifacts={name: draw(refs) for name in names if name in used},
        permissions=draw(_some(st.sampled_from(Permission))),
        operating_modes=draw(_some(st.sampled_from(OperatingMode), least=1)),
        control_plane_scopes=draw(_some(st.sampled_from(ControlPlaneScope), least=1)),
        runtime_backend=draw(WORDS),
        scheduler_types=draw(_some(WORDS)),
        upgrades=tuple(sorted((one, version) for one in older)),
        rollback_data=draw(st.sampled_from(DataOnRollback)),
        ready_within_ms=draw(st.integers(1_000, 10**8)),
        delete_within_ms=draw(st.integers(1_000, 10**8)),
        billing_units=draw(_some(WORDS)),
        runbook=RUNBOOK,
    )
