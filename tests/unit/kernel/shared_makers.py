"""Commands and events about shared runtimes, for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bailiwick.apps.shared.submitting import SubmitPolicy
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.kernel.apps.shared import events as ev
from bailiwick.kernel.apps.shared.book import SharedAttachment, SharedContribution, SharedRuntime
from bailiwick.kernel.apps.shared.use_commands import (
    RATE_MAX,
    WINDOW_MS_MAX,
    ReportSharedUse,
    SetSharedSettlement,
    SharedUseRow,
)
from bailiwick.kernel.apps.shared.use_events import SharedSettlementSet, SharedUseTold
from bailiwick.kernel.owner import Owner
from bailiwick.vocab.shared import (
    AttachmentPhase,
    ConsentSide,
    ContributionPhase,
    SubmitPolicyChange,
    WorkerAction,
)
from tests.support.app_manifests import SLUGS, VERSIONS, WORDS
from tests.unit.journal.makers import names
from tests.unit.kernel.instance_makers import counts, numbers, parameters

_maybe = st.none() | numbers
_digests = st.integers(0, 2**200).map(lambda number: f"{number:064x}")
_labels = st.dictionaries(names, names, max_size=3).map(lambda found: dict(sorted(found.items())))
_limits = st.dictionaries(names, st.integers(0, 10**12), max_size=3).map(
    lambda found: dict(sorted(found.items()))
)
_texts = st.text("ab{}:é", min_size=1, max_size=3_000)
_owner = st.builds(Owner, names, names)
_tenants = names.map(Owner)
_grantees = st.fixed_dictionaries({"grantee_project": names}) | st.fixed_dictionaries(
    {"grantee_person": names}
)


def _any(kind: type[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from(list(kind))


def _created(owner: Owner, **told: Any) -> ev.SharedRuntimeCreated:
    return ev.SharedRuntimeCreated(owner, SharedRuntime(tenant=str(owner.tenant), **told))


def _policy(owner: Owner, grantee: dict[str, str], **told: Any) -> SubmitPolicy:
    return SubmitPolicy(project=str(owner.project), **grantee, **told)


@st.composite
def _attached(draw: st.DrawFn) -> ev.SharedAttachmentChanged:
    owner = draw(_owner)
    attachment = SharedAttachment(
        project=str(owner.project),
        phase=draw(_any(AttachmentPhase)),
        allowed_by=draw(st.none() | names),
        accepted_by=draw(st.none() | names),
    )
    before, side = draw(st.none() | _any(AttachmentPhase)), draw(st.none() | _any(ConsentSide))
    which = draw(numbers), draw(names)
    return ev.SharedAttachmentChanged(owner, *which, attachment, before, side)


@st.composite
def _given(draw: st.DrawFn) -> ev.SharedContributionChanged:
    owner = draw(_owner)
    given = SharedContribution(
        project=str(owner.project),
        member_id=draw(numbers),
        component_key=draw(names),
        role=draw(WORDS),
        phase=draw(_any(ContributionPhase)),
        deadline_ms=draw(_maybe),
    )
    which = draw(numbers), draw(names), draw(SLUGS), draw(numbers)
    return ev.SharedContributionChanged(owner, *which, given)


@st.composite
def _policies(draw: st.DrawFn) -> ev.SubmitPolicySet:
    owner = draw(_owner)
    told = {"name": draw(names), "queue": draw(names), "until_ms": draw(numbers)}
    policy = _policy(owner, draw(_grantees), limits=draw(_limits), **told)
    change = draw(_any(SubmitPolicyChange))
    return ev.SubmitPolicySet(owner, draw(numbers), draw(names), change, policy)


_rates = st.dictionaries(WORDS, st.integers(1, RATE_MAX), max_size=3).map(
    lambda found: dict(sorted(found.items()))
)
_used = st.lists(
    st.builds(SharedUseRow, names, names, WORDS, st.integers(1, 10**12)),
    max_size=4,
    unique_by=lambda row: row.key,
).map(lambda rows: tuple(sorted(rows)))


@st.composite
def _windows(draw: st.DrawFn) -> tuple[int, int]:
    from_ms = draw(numbers)
    return from_ms, from_ms + draw(st.integers(1, WINDOW_MS_MAX))


def _reported(window: tuple[int, int], rows: tuple[SharedUseRow, ...], **rest: Any) -> Any:
    lists = [tuple(row[at] for row in rows) for at in range(4)]
    told = dict(zip(("users", "sources", "units", "quantities"), lists, strict=True))
    return ReportSharedUse(**rest, **told, from_ms=window[0], to_ms=window[1])


EVENTS: dict[type[Any], st.SearchStrategy[Any]] = {
    ev.SharedRuntimeCreated: st.builds(
        _created,
        _tenants,
        id=numbers,
        name=names,
        environment=names,
        project=names,
        app=SLUGS,
        instance_id=numbers,
        controller=_labels,
        withdraw_within_ms=numbers,
        billing_rule=_texts,
        billing_digest=_digests,
        accepted_by=names,
    ),
    ev.SharedRuntimeEnded: st.builds(
        ev.SharedRuntimeEnded, _tenants, numbers, names, SLUGS, numbers, st.booleans()
    ),
    ev.SharedAttachmentChanged: _attached(),
    ev.SharedContributionChanged: _given(),
    ev.SubmitPolicySet: _policies(),
    ev.SharedCredentialUsed: st.builds(
        ev.SharedCredentialUsed, _tenants, numbers, names, names, names, names
    ),
    SharedUseTold: st.builds(
        SharedUseTold, _tenants, numbers, names, SLUGS, numbers, names, _windows(), _used
    ),
    SharedSettlementSet: st.builds(
        SharedSettlementSet, _tenants, numbers, names, _rates, _texts, _digests, names
    ),
}
_runtime = {"tenant": names, "runtime": names}
_own = {**_runtime, "project": names}
_actions = (
    st.fixed_dictionaries({"action": st.just(WorkerAction.CONTRIBUTE), "role": WORDS})
    | st.fixed_dictionaries({"action": st.just(WorkerAction.DRAIN)})
    | st.fixed_dictionaries(
        {
            "action": st.just(WorkerAction.WITHDRAW),
            "within_ms": st.none() | st.integers(0, cmd.WITHDRAW_MS_MAX),
        }
    )
)
COMMANDS: dict[type[Any], st.SearchStrategy[Any]] = {
    cmd.CreateSharedRuntime: st.builds(
        cmd.CreateSharedRuntime,
        **_own,
        environment=names,
        app=SLUGS,
        version=VERSIONS,
        accepted_digest=_digests,
        by=names,
        parameters=parameters,
        counts=counts,
        controller=_labels,
        withdraw_within_ms=st.integers(0, cmd.WITHDRAW_MS_MAX),
        rates=st.none() | _rates,
    ),
    cmd.DeleteSharedRuntime: st.builds(cmd.DeleteSharedRuntime, **_runtime),
    cmd.ConsentAttachment: st.builds(
        cmd.ConsentAttachment, **_own, side=_any(ConsentSide), by=names
    ),
    cmd.DetachProject: st.builds(cmd.DetachProject, **_own, side=_any(ConsentSide)),
    cmd.ChangeContribution: st.builds(
        lambda how, **rest: cmd.ChangeContribution(**rest, **how),
        _actions,
        **_own,
        component_key=names,
        key=names,
    ),
    cmd.SetSubmitPolicy: st.builds(
        lambda grantee, **rest: cmd.SetSubmitPolicy(**rest, **grantee),
        _grantees,
        **_own,
        policy=names,
        queue=names,
        until_ms=numbers,
        limits=_limits,
    ),
    cmd.EndSubmitPolicy: st.builds(cmd.EndSubmitPolicy, **_own, policy=names),
    cmd.FinishDetachment: st.builds(cmd.FinishDetachment, **_own),
    cmd.NoteCredentialUse: st.builds(
        cmd.NoteCredentialUse, **_runtime, credential=names, purpose=names, by=names
    ),
    ReportSharedUse: st.builds(_reported, _windows(), _used, **_runtime, by=names),
    SetSharedSettlement: st.builds(
        SetSharedSettlement, **_runtime, accepted_digest=_digests, by=names, rates=_rates
    ),
}
