"""Auditing live placements: how many a second, beside the plain judge of the same run.

CPU time of one thread. Fifty rules over cache, fabric, host and rack; five thousand machines with
ten placements each, of a thousand tenants, of whom hardly two meet: the usual day of an audit. The
judge, which compares every two, is given a small part of it.
"""

from __future__ import annotations

import random
from time import thread_time

from bailiwick.fleet.topology import CacheDomain, DomainKind, NodeTopology
from bailiwick.isolation.auditor import Auditor
from bailiwick.isolation.judge import violations
from bailiwick.isolation.placements import Placement, Site
from bailiwick.isolation.policy import (
    Dedicated,
    Distrust,
    EachTenant,
    NeverShare,
    OfTenant,
    OnlyOn,
    Policy,
    Rule,
    Spread,
    Subject,
)
from bench.measure import no_collection, say
from bench.report import Section, Table

BAR = 50_000
PLACEMENTS, PLACEMENTS_QUICK, PLACEMENTS_JUDGED = 50_000, 10_000, 200
PER_NODE, TENANTS, RULES = 10, 1_000, 50
CACHES = DEVICES = 8


def policy() -> Policy:
    """Fifty rules of every sort that concerns one moment."""
    chance = random.Random(RULES)
    kinds = (DomainKind.CACHE, DomainKind.FABRIC, DomainKind.HOST, DomainKind.RACK)
    rules: list[Rule] = [
        Distrust("caches", (DomainKind.CACHE,), EachTenant()),
        Dedicated("vault", DomainKind.HOST, OfTenant("tenant-3")),
        OnlyOn("inner", OfTenant("tenant-3"), (("zone", "in"),)),
        Spread("few", 100, OfTenant("tenant-4"), DomainKind.RACK),
    ]
    while len(rules) < RULES:  # bounded: adds one each time
        one, two = (OfTenant(f"tenant-{chance.randrange(TENANTS)}") for _ in range(2))
        rules.append(NeverShare(f"rule-{len(rules)}", (chance.choice(kinds),), one, two))
    return Policy(tuple(rules))


def placements(count: int) -> list[Placement]:
    """Ten on each machine, each machine with one tenant's work or another's."""
    found = []
    topology = NodeTopology(tuple(CacheDomain(8_000) for _ in range(CACHES)))
    for number in range(count):
        node = number // PER_NODE
        if number % PER_NODE == 0:
            fabrics = tuple(f"fabric-{node}-{device // 4}" for device in range(DEVICES))
            labels = {"rack": f"rack-{node // 20}", "zone": "in"}
            site = Site(f"node-{node}", topology, fabrics, labels)
        subject = Subject(f"tenant-{node % TENANTS}", "project")
        domains = site.domains(caches=(number % CACHES,), devices=(number % DEVICES,))
        found.append(Placement(str(number), subject, site.node, domains, site.labels))
    return found


def run(*, quick: bool = False) -> Section:
    """Audit all of them, and have some judged."""
    count = PLACEMENTS_QUICK if quick else PLACEMENTS
    say(f"audit: {count:,} placements under {RULES} rules")
    rules, work = policy(), placements(count)
    auditor = Auditor(rules)
    with no_collection():
        begin = thread_time()
        for each in work:
            auditor.place(each)
        open_now = sum(1 for _ in auditor.violations(now_ms=0))
        placed_s = thread_time() - begin
        begin = thread_time()
        auditor.update({each.id: each for each in work}, now_ms=1)
        again_s = thread_time() - begin
        begin = thread_time()
        violations(rules, work[:PLACEMENTS_JUDGED], now_ms=0)
        judged_s = thread_time() - begin
    rates = {
        "auditor, each placement new": count / placed_s,
        "auditor, nothing changed": count / again_s,
        f"judge, {PLACEMENTS_JUDGED} at once": PLACEMENTS_JUDGED / judged_s,
    }
    rows = [[name, f"{rate:,.0f}"] for name, rate in rates.items()]
    section = Section("audit", "Audit of live placements")
    section.tables.append(Table("placements a second", ["way", "a second"], rows))
    section.notes.append(f"{open_now:,} violations are open among {count:,} placements.")
    section.bar_at_least("placements audited a second", count / placed_s, BAR, unit="/s")
    section.data = {name: round(rate) for name, rate in rates.items()}
    return section
