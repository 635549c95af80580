"""``bailiwick attest policy``: what a server asks of which nodes before they take leases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from bailiwick.cli.shared.ask import Ask, noun, verb
from bailiwick.cli.shared.output import emit
from bailiwick.vocab.errors import InvalidValue

policy = noun("The gate's policy: what is asked of which nodes.")


@verb(policy, "show")
def show_policy(ask: Ask) -> None:
    """The policy that counts now, as a document that can be changed and set.

    Example: bailiwick attest policy show
    """
    from bailiwick.wire.actions.trust import TRUST_POLICY_READ

    found = ask.client.send(TRUST_POLICY_READ)
    told = json.dumps(json.loads(found.document), indent=2, ensure_ascii=False)
    ask.printer.thing(found, name=found.digest, draw=lambda: emit(told + "\n"))


@verb(policy, "set", changes=True)
def set_policy(
    ask: Ask,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The whole policy, in JSON; - reads stdin.")
    ],
) -> None:
    """Replace the policy, if every section of it makes sense; nodes are gated by it at once.

    Example: bailiwick attest policy set policy.json --dry-run
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.trust import TRUST_POLICY_SET
    from bailiwick.wire.trust import TrustPolicyChange

    body = make_body(TrustPolicyChange, document=_read(file))
    ask.confirm("Set this policy? Nodes that have not proven what it asks take no lease.")
    ask.change(TRUST_POLICY_SET, body=body, told=f"the policy in {file} counts")


def _read(path: Path) -> str:
    import sys
    from contextlib import nullcontext

    from bailiwick.wire.trust import POLICY_BYTES_MAX

    try:
        with nullcontext(sys.stdin.buffer) if str(path) == "-" else path.open("rb") as file:
            data = file.read(POLICY_BYTES_MAX + 1)
        text = data.decode("utf-8")
    except OSError as error:
        raise InvalidValue("FILE", str(path), f"a file to read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise InvalidValue("FILE", str(path), "text in UTF-8") from None
    if len(data) > POLICY_BYTES_MAX:
        raise InvalidValue("FILE", str(path), f"at most {POLICY_BYTES_MAX} bytes")
    return text
