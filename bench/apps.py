"""Instances of apps: how long an operator takes to read all of them, and what a round costs.

A project has 1,000 instances with 10 members each. An operator that begins has the kit list every
instance and every member over HTTP, page by page, from a server in the same process, and find out
what is to be looked at. A round of the leader's loop looks at all of them and plans what is to be
done next: as long as nothing changes, only the look is left.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from bailiwick import InvariantBroken
from bailiwick.apps.status import plan_members
from bailiwick.kernel.apps.instance_commands import ChangeMember, MoveMember, RequestInstance
from bailiwick.kernel.apps.instances import HeldInstance
from bailiwick.operators.kit.connections import Connections, ServerPlace
from bailiwick.operators.kit.logs import KitLog
from bailiwick.operators.kit.resync import Resync
from bailiwick.operators.kit.secrets import SecretFile
from bailiwick.operators.kit.watching import Watched, Watcher
from bailiwick.reconcile.apps.sight import look
from bailiwick.vocab.apps import MemberAction, MemberPhase
from bench.measure import no_collection, say
from bench.report import Section, Table
from tests.support.http_house import HttpHouse, add_instances, http_house
from tests.support.http_server import Served

INSTANCES, INSTANCES_QUICK, MEMBERS = 1_000, 50, 10
ROUNDS, CALLERS = 5, 16
RESYNC_BAR_S, LOOK_BAR_MS = 2.0, 50.0
OWN: dict[str, Any] = {"tenant": "lab", "project": "p"}


def fill(house: HttpHouse, instances: int) -> None:
    """So many instances, with all members ready."""
    add_instances(house)
    wanted = {"worker": MEMBERS}
    with ThreadPoolExecutor(CALLERS) as pool:

        def make(number: int) -> None:
            wish = RequestInstance(
                **OWN, name=f"i{number}", app="lab.svc", version="1.0.0", counts=wanted
            )
            house.do(wish)
            named = house.runner.read(
                lambda view: view.state.apps.instances.named("lab", "p", name=wish.name)
            )
            assert named is not None, "it was made a moment ago"
            of = OWN | {"instance_id": named.id, "key": "fill"}
            for at in range(MEMBERS):
                key, add = f"w{at}", MemberAction.ADD
                house.do(ChangeMember(**of, action=add, component_key=key, role="worker"))
            held = house.runner.read(
                lambda view: [*view.state.apps.instances.held[named.id].members]
            )
            of = OWN | {"instance_id": named.id, "phase": MemberPhase.READY}
            for member_id in held:
                house.do(MoveMember(**of, member_id=member_id, job_id=member_id))

        list(pool.map(make, range(instances)))


def resync(connections: Connections, instances: int) -> float:
    """Seconds until an operator that just began knows all instances."""
    told = list[Resync]()
    watched = Watched(**OWN, app="lab.svc", resync_s=300)
    watcher = Watcher(
        connections,
        watched,
        heard=lambda number: None,
        called=lambda number: None,
        listed=told.append,
        log=KitLog(),
    )
    begin = perf_counter()
    watcher.resync()
    took = perf_counter() - begin
    if len(told[0].changed) <= instances:  # one more is there from the start
        raise InvariantBroken(f"{len(told[0].changed)} instances were listed")
    return took


def rounds(house: HttpHouse) -> tuple[float, float]:
    """Milliseconds of a look at all instances, and of planning for all of them."""
    looks, plans = [], []
    for _ in range(ROUNDS):
        with no_collection():
            begin = perf_counter()
            seen = house.runner.read(look)
            looks.append(1000 * (perf_counter() - begin))
            begin = perf_counter()
            for each in seen:
                members = {member.id: member for member in each.members}
                plan_members(HeldInstance(each.instance, members).facts)
            plans.append(1000 * (perf_counter() - begin))
    return median(looks), median(plans)


def run(*, quick: bool = False) -> Section:
    """The section."""
    instances = INSTANCES_QUICK if quick else INSTANCES
    say(f"apps: {instances:,} instances with {MEMBERS} members each")
    with tempfile.TemporaryDirectory() as folder, http_house(Path(folder)) as house:
        fill(house, instances)
        served = Served(house.app, house.token)
        served.open()
        try:
            secret = SecretFile(Path(folder) / "token")
            secret.replace(house.token("project_admin@lab"))
            with closing(Connections(ServerPlace(served.url), secret)) as connections:
                taken = [resync(connections, instances) for _ in range(ROUNDS)]
        finally:
            served.close()
        look_ms, plan_ms = rounds(house)
    section = Section("apps", "Instances of apps")
    rows = [
        ["an operator's resync, median", f"{1000 * median(taken):,.0f}"],
        ["an operator's resync, slowest", f"{1000 * max(taken):,.0f}"],
        ["a look at all, nothing new", f"{look_ms:,.1f}"],
        ["a plan for all, everything new", f"{plan_ms:,.1f}"],
    ]
    title = f"Milliseconds, {instances:,} instances with {MEMBERS} members each"
    section.tables.append(Table(title, ["what", "ms"], rows))
    section.bar_at_most("one operator's resync", median(taken), RESYNC_BAR_S, unit="s")
    section.bar_at_most("a look of the loop at all instances", look_ms, LOOK_BAR_MS, unit="ms")
    section.data = {"resync_s": [round(each, 3) for each in taken], "look_ms": round(look_ms, 2)}
    return section
