"""The operator of the example app: it tells how far each roll-out is, and lets deletions go on.

It needs the kit and nothing else: no other connection, and no right that the manifest does not
name.

    BAILIWICK_SERVER=... BAILIWICK_TENANT=... BAILIWICK_PROJECT=... \\
    BAILIWICK_TOKEN_FILE=... python hello_operator.py hello
"""

import sys

from bailiwick.operators.kit import (
    TERM_S,
    Again,
    Answer,
    Kit,
    OperatorSettings,
    Settled,
    run_operator,
)
from bailiwick.vocab.apps import MemberPhase
from bailiwick.wire.instances import Instance


def reconcile(instance: Instance, kit: Kit) -> Answer:
    """Look after one instance; called again whenever something happened to it."""
    if kit.is_leaving:
        kit.report(reason="nothing is left to put away")
        return Settled()
    up = [
        member.component_key
        for member in kit.members
        if member.phase is MemberPhase.READY and member.version == instance.version
    ]
    wanted = sum(instance.counts.values())
    task = kit.task(f"roll out {instance.version}")
    task.advance(100 * len(up) // max(wanted, 1))
    kit.report(reason=f"{len(up)} of {wanted} members run {instance.version}")
    if len(up) < wanted:
        return Again(after_s=2)
    task.succeed(f"{wanted} members run {instance.version}")
    return Settled()


if __name__ == "__main__":
    alone = "--alone" in sys.argv  # one replica only: nobody to agree with
    settings = OperatorSettings.from_environ(sys.argv[1], term_s=0 if alone else TERM_S)
    run_operator(reconcile, settings)
