"""Writes the example policies' models and the seeded faults' traces: `python -m models.write`.

The traces are the shortest histories in which a scheduler with one fault breaks a policy. They are
found by the search in Python (:mod:`bailiwick.isolation.model.machine`), which needs no Java.
"""

from __future__ import annotations

from pathlib import Path

from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.language.spelling import spell_policy
from bailiwick.isolation.model.commands import CheckScope
from bailiwick.isolation.model.faults import parse_fault
from bailiwick.isolation.model.history import make_trace
from bailiwick.isolation.model.search import search
from bailiwick.isolation.model.world import make_world
from bailiwick.isolation.trace import spell_trace
from bailiwick.tools.isolation.check import make_model

EXAMPLES = Path(__file__).with_name("examples")
TRACES = Path(__file__).parent.parent / "tests" / "vectors" / "isolation"
DEPTH = 8
SEEDED = {
    "forgets_cache": "never share cache between tenant acme and tenant umbrella",
    "forgets_fabric": "never share fabric between tenant acme and tenant umbrella",
    "forgets_host": "vault: dedicated host for tenant bank",
    "forgets_rack": "few: at most 1 of tenant acme per rack",
    "frees_early": "vault: dedicated host for tenant bank",
    "claim_uncounted": "vault: dedicated host for tenant bank",
    "residue_forgotten": "kept: keep host for tenant bank until scrubbed",
    "relabel_unnoticed": "nodes: tenant bank only on nodes with attested.boot=measured",
    "gang_uncounted": "few: at most 1 of tenant bank per host",
    "expiry_ignored": "never share host between tenant acme and tenant umbrella\n\n"
    'allow host between tenant acme and tenant umbrella owner o until 2030-01-01 because "x"',
}
"""A policy for each fault that shows it."""


def example_text(policy: Path) -> str:
    """The whole model of a policy's file, in the default world and scope."""
    world = make_world(parse_policy(policy.read_text("utf-8")))
    return make_model(world, CheckScope()).text()


def seeded_trace(name: str) -> str:
    """The trace of a fault, as its file has it."""
    world = make_world(parse_policy(SEEDED[name]))
    jobs = 3 if name == "claim_uncounted" else 2
    found = search(world, jobs=jobs, depth=DEPTH, fault=parse_fault(name)).history
    assert found is not None, f"{name} is found"
    return spell_trace(make_trace(world, found, policy=spell_policy(world.policy), fault=name))


def main() -> None:
    """All of them."""
    for policy in sorted(EXAMPLES.glob("*.policy")):
        policy.with_suffix(".als").write_text(example_text(policy), "utf-8")
    for name in SEEDED:
        (TRACES / f"{name}.json").write_text(seeded_trace(name), "utf-8")


if __name__ == "__main__":
    main()
