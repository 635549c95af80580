"""``isolation check``: how long a policy's model takes in its default scope.

The manual's policy, as the command line checks it: every rule, one step from any sound state, what
must be possible at all, and every seeded fault. Wall time, for a person waits for it; Alloy runs in
two processes, so a machine whose cores have other work to do takes longer.
"""

from __future__ import annotations

import os
import time

from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.model.commands import parse_scope
from bailiwick.isolation.model.shape import default_shape
from bailiwick.isolation.model.world import make_world
from bailiwick.tools.isolation.check import CannotCheck, find_jar, make_model, run_check
from bailiwick.vocab.errors import InvalidValue
from bench.measure import say
from bench.report import Section, Table

POLICY = "vault: dedicated host for tenant bank"
BAR_S = 60


def run(*, quick: bool = False) -> Section:
    """The section; where Alloy or Java is missing it says so."""
    try:
        find_jar()
    except CannotCheck as error:
        raise InvalidValue("alloy", None, f"Alloy and Java on this machine ({error})") from None
    policy = parse_policy(POLICY)
    world = make_world(policy, shape=default_shape(policy))
    model = make_model(world, parse_scope("steps=3" if quick else ""))
    used, begin = os.times(), time.perf_counter()
    found = run_check(world, model, told=lambda each: say(f"isolation_check: {each.command.says}"))
    took_s, done = time.perf_counter() - begin, os.times()
    if not all(each.is_met for each in found):
        raise RuntimeError("the manual's policy does not check as the manual says")
    cpu_s = sum(done[:4]) - sum(used[:4])
    rows = [[each.command.says, f"{each.seconds:.1f}"] for each in found]
    section = Section("isolation_check", "The model of an isolation policy")
    title = f"seconds of each command of `{POLICY}`; {cpu_s:.1f} s of CPU in all"
    section.tables.append(Table(title, ["command", "s"], rows))
    section.bar_at_most("isolation check, default scope, wall", took_s, BAR_S, unit=" s")
    section.data = {"wall_s": round(took_s, 2), "cpu_s": round(cpu_s, 2)}
    return section
