"""A history for a recording: what projects use of a runtime they share, and what that is worth.

Asked through the runtime, told by its operator, in and out of order; rules that are accepted, or of
which another was read; parts that end.
"""

from __future__ import annotations

from contextlib import suppress
from random import Random

from bailiwick.kernel import Command
from bailiwick.kernel.apps import instance_commands as life
from bailiwick.kernel.apps.calls.commands import CallInstance
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.kernel.apps.shared.use_commands import ReportSharedUse, SetSharedSettlement
from bailiwick.kernel.apps.shared.use_rules import digest_of_rule, rule_with
from bailiwick.vocab.apps import CallVerb, MemberAction, MemberPhase
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.shared import ConsentSide
from tests.support.kernel_histories import HOUR, Campus
from tests.support.shared_campus import OF, PROJECTS, SharedCampus

UNITS = ("cpu_second", "gpu_second")


def shared_use() -> Campus:
    """A runtime of three projects in use."""
    chance, campus = Random(120), SharedCampus()
    campus.lend("vision", cpus=2)
    campus.lend("audio", cpus=1)
    _run(campus)
    makers = (_told, _told, _told, _asked, _asked, _opened, _agreed, _consented)
    for step in range(500):
        campus.now_ms += chance.choice((0, 1, 4_000, 60_000, HOUR // 2))
        with suppress(BailiwickError):
            campus.do(chance.choice(makers)(chance, campus, step), f"actor-{step % 3}")
    return campus


def _run(campus: SharedCampus) -> None:
    """All that the app is made of is there, and its operator has said so."""
    i = campus.kernel.state.apps.instances.held[campus.shared.runtime.instance_id].instance
    own = {"tenant": i.tenant, "project": i.project, "instance_id": i.id}
    for role in ("controller", "worker"):
        new = {"action": MemberAction.ADD, "component_key": f"{role}-0", "role": role}
        with suppress(BailiwickError):
            campus.do(life.ChangeMember(**own, **new, key=f"add-{role}"))
    for number in campus.kernel.state.apps.instances.held[i.id].members:
        campus.do(life.MoveMember(**own, member_id=number, phase=MemberPhase.READY))
    i = campus.kernel.state.apps.instances.held[i.id].instance
    seen = {"revision": i.revision, "observed_generation": i.generation}
    campus.do(life.ReportInstance(**own, **seen, reason="as seen"))


def _told(chance: Random, campus: SharedCampus, step: int) -> Command:
    del step
    known = campus.shared.use.told_until_ms
    begin = chance.choice((known, known, known, campus.now_ms - HOUR, known - 1, 1))
    end = min(begin + HOUR, campus.now_ms + chance.choice((0, 0, 0, 5)))
    keys = {
        (chance.choice(PROJECTS), chance.choice(PROJECTS), chance.choice((*UNITS, *UNITS, "row")))
        for _ in range(chance.randrange(4))
    }
    rows = [(*key, chance.choice((1, 60, 9_000))) for key in sorted(keys)]
    return ReportSharedUse(
        **OF,
        by="runtime:1",
        from_ms=begin,
        to_ms=end,
        users=tuple(row[0] for row in rows),
        sources=tuple(row[1] for row in rows),
        units=tuple(row[2] for row in rows),
        quantities=tuple(row[3] for row in rows),
    )


def _agreed(chance: Random, campus: SharedCampus, step: int) -> Command:
    del step
    rates = {unit: chance.choice((5, 20)) for unit in UNITS if chance.random() < 0.5}
    right = digest_of_rule(rule_with(campus.shared.runtime, rates))
    digest = chance.choice((right, right, right, "0" * 64))
    return SetSharedSettlement(**OF, accepted_digest=digest, by="tina", rates=rates)


def _asked(chance: Random, campus: SharedCampus, step: int) -> Command:
    owner = chance.choice((None, None, *PROJECTS))
    return CallInstance(
        tenant=OF["tenant"],
        project=chance.choice(PROJECTS),
        instance_id=campus.shared.runtime.instance_id,
        verb=CallVerb.SUBMIT if owner else chance.choice(list(CallVerb)),
        digest=f"{step:064x}",
        within_ms=60_000,
        runtime=OF["runtime"],
        by=chance.choice(("pia", "paul")),
        owner=owner,
        queue="day" if owner else None,
    )


def _opened(chance: Random, campus: SharedCampus, step: int) -> Command:
    owner, grantee = chance.sample(PROJECTS, 2)
    return cmd.SetSubmitPolicy(
        **OF,
        project=owner,
        policy=f"p-{step % 4}",
        queue="day",
        until_ms=campus.now_ms + chance.choice((1_000, HOUR, 24 * HOUR)),
        grantee_project=grantee,
    )


def _consented(chance: Random, campus: SharedCampus, step: int) -> Command:
    del campus, step
    project, side = chance.choice(PROJECTS), chance.choice(list(ConsentSide))
    if chance.random() < 0.4:
        return cmd.FinishDetachment(**OF, project=project)
    if chance.random() < 0.2:
        return cmd.DetachProject(**OF, project=project, side=side)
    return cmd.ConsentAttachment(**OF, project=project, side=side, by="tina")
