"""Writes the models of the example policies anew: `python -m models.write`."""

from __future__ import annotations

from pathlib import Path

from bailiwick.isolation.language.parser import parse_policy
from bailiwick.isolation.model.commands import CheckScope
from bailiwick.isolation.model.world import make_world
from bailiwick.tools.isolation_check import make_model

EXAMPLES = Path(__file__).with_name("examples")


def example_text(policy: Path) -> str:
    """The whole model of a policy's file, in the default world and scope."""
    world = make_world(parse_policy(policy.read_text("utf-8")))
    return make_model(world, CheckScope()).text()


def main() -> None:
    """All of them."""
    for policy in sorted(EXAMPLES.glob("*.policy")):
        policy.with_suffix(".als").write_text(example_text(policy), "utf-8")


if __name__ == "__main__":
    main()
