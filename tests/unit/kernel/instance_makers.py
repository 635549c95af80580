"""Commands and events about instances, for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bailiwick.kernel.apps import instance_commands as cmd
from bailiwick.kernel.apps import instance_events as ev
from bailiwick.kernel.apps.calls.commands import CallInstance
from bailiwick.kernel.apps.calls.events import AppInstanceCalled
from bailiwick.kernel.apps.endpoints.commands import NoteEndpointClosed, OpenEndpoint
from bailiwick.kernel.apps.endpoints.events import AppEndpointClosed, AppEndpointOpened
from bailiwick.kernel.apps.instances import AppMember, AppOperation
from bailiwick.kernel.apps.units.book import UsageClaim
from bailiwick.kernel.apps.units.commands import QUANTITY_MAX, WINDOW_MS_MAX, ReportAppUsage
from bailiwick.kernel.apps.units.events import AppUsageReported
from bailiwick.kernel.owner import Owner
from bailiwick.vocab.apps import (
    CALL_MS_MAX,
    CallVerb,
    ControlPlaneScope,
    DataOnRollback,
    EndpointEnd,
    InstanceChange,
    InstancePhase,
    MemberAction,
    MemberPhase,
    OperatingMode,
    OperationKind,
    OperationPhase,
)
from tests.support.app_manifests import SLUGS, VERSIONS, WORDS
from tests.unit.journal.makers import names


def _any(kind: type[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from(list(kind))


numbers = st.integers(1, 2**50)
digests = st.binary(min_size=32, max_size=32).map(bytes.hex)
_maybe = st.none() | numbers
owners = st.builds(Owner, names, names)
counts = st.dictionaries(WORDS, st.integers(0, 1_000), max_size=3).map(
    lambda found: dict(sorted(found.items()))
)
parameters = st.dictionaries(WORDS, st.integers(0, 9) | st.text("aé ", max_size=3)).map(
    cmd.spell_parameters
)
metadata = st.text(st.characters(codec="utf-8"), max_size=2_000)
lines = st.text("ab ç", max_size=20)
members = st.builds(
    AppMember,
    id=numbers,
    instance_id=numbers,
    role=WORDS,
    component_key=names,
    version=VERSIONS,
    phase=_any(MemberPhase),
    lease_id=_maybe,
    job_id=_maybe,
    reason=st.none() | names,
    deadline_ms=_maybe,
    forced=st.booleans(),
    source=st.none() | names,
)
operations = st.builds(
    AppOperation,
    id=numbers,
    instance_id=numbers,
    kind=_any(OperationKind),
    phase=_any(OperationPhase),
    key=st.none() | names,
    component_key=st.none() | names,
    member_id=_maybe,
    title=lines,
    generation=numbers,
    progress=st.integers(0, 100),
    log=st.lists(lines, max_size=3).map(tuple),
    result=lines,
)
_spans = st.tuples(numbers, st.integers(1, WINDOW_MS_MAX)).map(lambda s: (s[0], s[0] + s[1]))
claims = st.builds(
    lambda unit, quantity, span, key: UsageClaim(unit, quantity, *span, key),
    WORDS,
    st.integers(0, QUANTITY_MAX),
    _spans,
    st.none() | names,
)
_of = {"owner": owners, "instance_id": numbers, "app": SLUGS}

EVENTS: dict[type[Any], st.SearchStrategy[Any]] = {
    ev.AppInstanceRequested: st.builds(
        ev.AppInstanceRequested,
        **_of,
        name=names,
        version=VERSIONS,
        mode=_any(OperatingMode),
        scope=_any(ControlPlaneScope),
        backend=WORDS,
        parameters=parameters,
        counts=counts,
        metadata=metadata,
    ),
    ev.AppInstanceChanged: st.builds(
        ev.AppInstanceChanged,
        **_of,
        change=_any(InstanceChange),
        generation=numbers,
        before=st.none() | VERSIONS,
        version=st.none() | VERSIONS,
        parameters=st.none() | parameters,
        counts=st.none() | counts,
        metadata=st.none() | metadata,
        data=st.none() | _any(DataOnRollback),
        deadline_ms=_maybe,
    ),
    ev.AppInstanceMoved: st.builds(
        ev.AppInstanceMoved,
        **_of,
        before=_any(InstancePhase),
        phase=_any(InstancePhase),
        generation=numbers,
        observed_generation=numbers,
        reported=st.none() | _any(InstancePhase),
        reason=lines,
        metadata=st.none() | metadata,
        overdue=st.booleans(),
        forced=st.booleans(),
    ),
    ev.AppMemberChanged: st.builds(
        ev.AppMemberChanged, owners, SLUGS, members, st.none() | _any(MemberPhase)
    ),
    AppUsageReported: st.builds(
        AppUsageReported, **_of, source=names, sequence=numbers, claim=claims
    ),
    AppInstanceCalled: st.builds(
        AppInstanceCalled, **_of, verb=_any(CallVerb), digest=digests, within_ms=numbers
    ),
    AppEndpointOpened: st.builds(
        AppEndpointOpened, **_of, endpoint=SLUGS, member_id=numbers, session_id=names
    ),
    AppEndpointClosed: st.builds(
        AppEndpointClosed,
        **_of,
        endpoint=SLUGS,
        session_id=names,
        end=_any(EndpointEnd),
        requests=numbers,
    ),
    ev.AppOperationChanged: st.builds(ev.AppOperationChanged, owners, SLUGS, operations),
}

_home = {"tenant": names, "project": names, "instance_id": numbers}
_add = st.fixed_dictionaries({"action": st.just(MemberAction.ADD), "role": WORDS})
_rest = st.sampled_from([each for each in MemberAction if each is not MemberAction.ADD])
_actions = _add | st.fixed_dictionaries({"action": _rest})

_through = st.fixed_dictionaries({"runtime": names, "by": names}) | st.fixed_dictionaries(
    {
        "verb": st.just(CallVerb.SUBMIT),
        "owner": names,
        "queue": names,
        "runtime": names,
        "by": names,
    }
)
"""How an instance is asked through a shared runtime."""
COMMANDS: dict[type[Any], st.SearchStrategy[Any]] = {
    cmd.RequestInstance: st.builds(
        cmd.RequestInstance,
        tenant=names,
        project=names,
        name=names,
        app=SLUGS,
        version=VERSIONS,
        parameters=parameters,
        counts=counts,
        mode=_any(OperatingMode),
        scope=_any(ControlPlaneScope),
        metadata=metadata,
    ),
    cmd.ChangeInstance: st.builds(
        cmd.ChangeInstance,
        **_home,
        revision=_maybe,
        version=st.none() | VERSIONS,
        parameters=st.none() | parameters,
        counts=st.none() | counts,
        paused=st.none() | st.booleans(),
        metadata=st.none() | metadata,
    )
    | st.builds(cmd.ChangeInstance, **_home, rollback=st.just(True)),
    cmd.ReportInstance: st.builds(
        cmd.ReportInstance,
        **_home,
        revision=numbers,
        observed_generation=numbers,
        phase=st.none() | st.sampled_from(cmd.REPORTED),
        reason=lines,
        metadata=st.none() | metadata,
    ),
    ReportAppUsage: st.builds(
        lambda claim, **rest: ReportAppUsage(**rest, **claim._asdict()),
        claims,
        **_home,
        source=names,
        sequence=numbers,
    ),
    CallInstance: st.builds(
        lambda through, **rest: CallInstance(**(rest | through)),
        st.just({}) | _through,
        **_home,
        verb=_any(CallVerb),
        digest=digests,
        within_ms=st.integers(1, CALL_MS_MAX),
    ),
    OpenEndpoint: st.builds(
        OpenEndpoint, **_home, endpoint=SLUGS, member_id=numbers, session_id=names
    ),
    NoteEndpointClosed: st.builds(
        NoteEndpointClosed,
        **_home,
        app=SLUGS,
        endpoint=SLUGS,
        session_id=names,
        end=_any(EndpointEnd),
        requests=numbers,
    ),
    cmd.DeleteInstance: st.builds(cmd.DeleteInstance, **_home, revision=_maybe),
    cmd.NoteDeletionOverdue: st.builds(cmd.NoteDeletionOverdue, **_home),
    cmd.FinishDeletion: st.builds(cmd.FinishDeletion, **_home),
    cmd.ForceDeletion: st.builds(cmd.ForceDeletion, **_home, reason=lines.map("so {}".format)),
    cmd.ChangeMember: st.builds(
        lambda how, **rest: cmd.ChangeMember(**rest, **how),
        _actions,
        **_home,
        component_key=names,
        key=names,
    ),
    cmd.MoveMember: st.builds(
        cmd.MoveMember,
        **_home,
        member_id=numbers,
        phase=st.sampled_from(cmd.MOVED),
        lease_id=_maybe,
        job_id=_maybe,
        reason=st.none() | names,
    ),
    cmd.BeginOperation: st.builds(cmd.BeginOperation, **_home, key=names, title=lines),
    cmd.AdvanceOperation: st.builds(
        cmd.AdvanceOperation,
        **_home,
        operation_id=numbers,
        progress=st.none() | st.integers(0, 100),
        log=st.lists(lines, max_size=3).map(tuple),
    ),
    cmd.FinishOperation: st.builds(
        cmd.FinishOperation,
        **_home,
        operation_id=numbers,
        succeeded=st.booleans(),
        result=lines,
    ),
}
