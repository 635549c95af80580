"""A second look at a manifest that is not wrong: what its publisher should know before others do.

Rules:

- What is wrong is refused by :mod:`bailiwick.apps.reading`; here stands only what works and may
  still not be meant. Each piece of advice has the line and column that it is about.
- Advice never stops a publication.
"""

from __future__ import annotations

from collections.abc import Iterator

from bailiwick.apps.manifest import Manifest
from bailiwick.apps.reading import DEPTH_MAX, ManifestRefused, load_manifest
from bailiwick.documents import DocumentProblem, MarkedDocument
from bailiwick.vocab.apps import OperatingMode, Privilege


def lint_manifest(text: str) -> tuple[DocumentProblem, ...]:
    """Advice about a manifest's file, in the order of its lines; a wrong one is refused."""
    manifest = load_manifest(text)
    found = MarkedDocument(text, refused=ManifestRefused, deepest=DEPTH_MAX)
    told = map(found.place, advise(manifest))
    return tuple(sorted(told, key=lambda each: (each.line or 0, each.column or 0)))


def advise(manifest: Manifest) -> Iterator[DocumentProblem]:
    """What may not be meant."""
    for name, role in manifest.roles.items():
        if role.privileges is Privilege.HOST:
            text = f"role {name} asks for the host: it starts only where a fleet admin grants that"
            yield DocumentProblem(("roles", name, "privileges"), text)
        if not role.command:
            text = f"role {name} has no command: it runs whatever its artifact starts by itself"
            yield DocumentProblem(("roles", name), text)
    if not any(role.control_plane for role in manifest.roles.values()):
        text = "no role is the control plane: all usage counts as workload"
        yield DocumentProblem(("roles",), text)
    if manifest.parameters.get("additionalProperties", True):
        text = "parameters: a misspelt name passes unless additionalProperties is false"
        yield DocumentProblem(("parameters",), text)
    if OperatingMode.PLATFORM_MANAGED in manifest.operating_modes:
        text = "platform_managed is refused where the fleet's operator does not offer it"
        yield DocumentProblem(("operating_modes",), text)
    if not any(to == manifest.version for _, to in manifest.upgrades):
        text = f"no upgrade leads to {manifest.version}: instances of other versions stay there"
        yield DocumentProblem(("upgrades",), text)
    if not manifest.description:
        yield DocumentProblem((), "no description: the catalog shows the title alone")
