"""Whether an instance may be what somebody wants it to be, and whether a member of it may start.

Rules:

- Asked when it is requested and again at each change: what was allowed once may not be any more.
- The order is that of :class:`InstanceRefusal`; each refusal says by which line, and its numbers.
- Of an app or a version that the project does not see, there is none.
- A limit on instances binds the scope of its line: that of a tenant counts those of all its
  projects, that of the fleet those of everybody.
"""

from __future__ import annotations

from typing import NamedTuple

from bailiwick.apps.artifacts import Unusable, resolve
from bailiwick.apps.manifest import MEMBERS_MAX, Manifest
from bailiwick.apps.overlays import NOBODY, EffectivePolicy
from bailiwick.apps.parameters import check_parameters
from bailiwick.iam import Scope
from bailiwick.kernel.apps.book import AppBook, CatalogVersion
from bailiwick.kernel.apps.instance_commands import read_parameters
from bailiwick.kernel.apps.instances import AppInstance, HeldInstance, WantedState
from bailiwick.kernel.state import State
from bailiwick.vocab.apps import (
    AppLifecycle,
    ControlPlaneScope,
    InstanceRefusal,
    OperatingMode,
    PolicyAxis,
    PolicyLimit,
)
from bailiwick.vocab.errors import InstanceRefused, NotFound

_WHY = InstanceRefusal


class InstanceOf(NamedTuple):
    """What an instance is of: a name for refusals, the app, whose it is, and how it is run."""

    name: str
    app: str
    owner: Scope
    mode: OperatingMode
    scope: ControlPlaneScope

    @classmethod
    def of(cls, instance: AppInstance) -> InstanceOf:
        """Those of an instance that there is."""
        i = instance
        return cls(i.name, i.app, Scope(i.tenant, i.project), i.mode, i.scope)


def check_wanted(
    state: State, of: InstanceOf, *, wanted: WantedState, held: HeldInstance | None = None
) -> Manifest:
    """The manifest of the version, if the app may be run so there; ``held`` is what it is now."""
    manifest = check_startable(state, of, version=wanted.version)
    _check_mode(state, of, manifest)
    problems = check_parameters(manifest.parameters, read_parameters(wanted.parameters))
    if problems:
        told = problems[0].told[:200]
        raise InstanceRefused(
            _WHY.PARAMETERS_INVALID, of.name, problems=len(problems), problem=told
        )
    check_counts(state.apps, of, wanted=wanted, manifest=manifest)
    if held is not None:
        check_beside_contributed(held, wanted, manifest=manifest)
    return manifest


def check_startable(state: State, of: InstanceOf, *, version: str) -> Manifest:
    """The manifest of the version, if members of it may be started there now."""
    book = state.apps
    known = book.versions_at(of.app, of.owner).get(version)
    if known is None:
        raise NotFound("version", f"{of.app} {version}")
    policy = book.policy(of.app, of.owner)
    if not policy.is_enabled:
        against = [each.source for each in policy.lines if not each.enabled]
        raise InstanceRefused(_WHY.NOT_ENABLED, of.name, source=(against or [NOBODY])[0])
    if AppLifecycle.RETIRED in (known.lifecycle, book.apps[of.app].lifecycle):
        raise InstanceRefused(_WHY.VERSION_RETIRED, of.name, version=version)
    source = policy.why_not(PolicyAxis.VERSIONS, version)
    if source is not None:
        raise InstanceRefused(_WHY.VERSION_NOT_ALLOWED, of.name, version=version, source=source)
    if known.manifest.asks_host and not known.host_granted:
        raise InstanceRefused(_WHY.HOST_NOT_GRANTED, of.name, version=version)
    _check_artifacts(book, of, known, policy=policy)
    return known.manifest


def _check_mode(state: State, of: InstanceOf, manifest: Manifest) -> None:
    mode, scope = of.mode, of.scope
    if mode not in manifest.operating_modes:
        raise InstanceRefused(_WHY.MODE_NOT_OFFERED, of.name, mode=mode.value)
    policy = state.apps.policy(of.app, of.owner)
    source = policy.why_not(PolicyAxis.OPERATING_MODES, mode.value)
    if source is not None:
        raise InstanceRefused(_WHY.MODE_NOT_ALLOWED, of.name, mode=mode.value, source=source)
    is_managed = mode is OperatingMode.PLATFORM_MANAGED
    if is_managed and not state.settings.offer_platform_managed:
        raise InstanceRefused(_WHY.NOT_OFFERED_HERE, of.name, mode=mode.value)
    serves_all = scope is ControlPlaneScope.PLATFORM
    if scope not in manifest.control_plane_scopes or (serves_all and not is_managed):
        raise InstanceRefused(_WHY.SCOPE_NOT_OFFERED, of.name, scope=scope.value)


def _check_artifacts(
    book: AppBook, of: InstanceOf, version: CatalogVersion, *, policy: EffectivePolicy
) -> None:
    for name, ref in version.manifest.artifacts.items():
        found = resolve(
            ref,
            book.artifact(ref.digest, of.owner),
            source=book.source(ref.source, of.owner),
            policy=policy,
        )
        if isinstance(found, Unusable):
            raise InstanceRefused(
                _WHY.ARTIFACT_UNUSABLE,
                of.name,
                artifact=name,
                digest=ref.digest,
                why=found.reason.value,
            )


def check_counts(book: AppBook, of: InstanceOf, *, wanted: WantedState, manifest: Manifest) -> None:
    """Refuse more or fewer members than the roles and the policy allow."""
    for role, count in wanted.counts.items():
        spec = manifest.roles.get(role)
        least, most = (0, 0) if spec is None else spec.count
        if spec is None or not least <= count <= most:
            raise out_of_range(of.name, role, count=count, least=least, most=most)
    check_members(book, of, total=sum(wanted.counts.values()))


def check_beside_contributed(
    held: HeldInstance, wanted: WantedState, *, manifest: Manifest
) -> None:
    """Refuse more members of a role than it can have, with those that other projects gave."""
    for role, count in wanted.counts.items():
        given, (least, most) = held.contributed(role), manifest.roles[role].count
        if given and count + given > most:
            raise out_of_range(
                held.instance.name, role, count=count + given, least=least, most=most
            )


def check_members(book: AppBook, of: InstanceOf, *, total: int) -> None:
    """Refuse more members in all than the policy of who pays for them allows."""
    told = book.policy(of.app, of.owner).limit(PolicyLimit.MEMBERS_MAX)
    limit, source = (MEMBERS_MAX, NOBODY) if told is None else told
    if total > limit:
        raise InstanceRefused(_WHY.MEMBERS_MAX, of.name, limit=limit, wanted=total, source=source)


def out_of_range(name: str, role: str, *, count: int, least: int, most: int) -> InstanceRefused:
    """The refusal of so many members of a role."""
    told: dict[str, int | str] = {"role": role, "count": count, "least": least, "most": most}
    return InstanceRefused(_WHY.COUNT_OUT_OF_RANGE, name, **told)


def check_room(book: AppBook, of: InstanceOf) -> None:
    """Refuse one more instance of an app than a line allows within its scope."""
    for scope in reversed(of.owner.around):
        line = book.entitlements.get((of.app, scope))
        limit = None if line is None else line.overlay.limits.get(PolicyLimit.INSTANCES_MAX)
        held = book.instances.count(of.app, scope)
        if limit is not None and held >= limit:
            numbers: dict[str, int | str] = {"limit": limit, "held": held, "source": str(scope)}
            raise InstanceRefused(_WHY.INSTANCES_MAX, of.name, **numbers)
