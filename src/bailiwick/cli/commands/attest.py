"""``bailiwick attest``: evidence from files, judged as the gate would, without a server.

Rules:

- The verifiers are the gate's own, and so is the reading of the policy: a section that is refused
  here is refused there.
- Files are read whole, once, and of bounded size.
- A verdict other than trusted ends with 3, as every denial does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.commands.attest_policy import policy
from bailiwick.cli.offline import attest_cases, attest_rim
from bailiwick.cli.offline.attest_rim import read_file
from bailiwick.cli.shared.flags import Output, OutputOption, with_options
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind

if TYPE_CHECKING:
    from bailiwick.attestation.evidence import Evidence, EvidenceContext
    from bailiwick.attestation.policy import PoolRule
    from bailiwick.attestation.verdict import Verdict

app = typer.Typer(
    help="What nodes must prove: the gate's policy, and evidence judged from files.",
    no_args_is_help=True,
)
app.command("check-cases", help=attest_cases.HELP)(attest_cases.check_cases)
# A TIME such as -2h is no option.
_TIMED = {"ignore_unknown_options": True}
app.command("rim", help=attest_rim.HELP, context_settings=_TIMED)(attest_rim.rim)
app.add_typer(policy, name="policy")

_NAMED = "NAME=FILE"


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """What ``attest verify`` can be told."""

    kind: Annotated[EvidenceKind, typer.Option("--kind", help="What kind of evidence it is.")]
    part: Annotated[
        list[str], typer.Option("--part", metavar=_NAMED, help="A part of it, as the kind has it.")
    ]
    policy: Annotated[
        Path,
        typer.Option(
            "--policy",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="The gate's policy, or only the section of this kind; JSON.",
        ),
    ]
    nonce: Annotated[
        str, typer.Option("--nonce", metavar="HEX", help="The nonce that was asked with.")
    ]
    enrolled: Annotated[
        list[str] | None,
        typer.Option("--enrolled", metavar=_NAMED, help="A key that the node enrolled with."),
    ] = None
    pool: Annotated[
        str | None,
        typer.Option("--pool", metavar="NAME", help="By which pool's rules; else the node's own."),
    ] = None
    node: Annotated[
        str, typer.Option("--node", metavar="NAME", help="The node that it is about.")
    ] = "node"
    at: Annotated[
        str,
        typer.Option("--at", metavar="TIME", help="Judged at this time; 2026-11-15T12:00, or -2h."),
    ] = "now"
    output: OutputOption = Output.TABLE


@app.command(
    "verify",
    help="Judge one piece of evidence from files.\n\n"
    "Example: bailiwick attest verify --kind nitro --part document=doc.cbor --policy p.json\n\n"
    "Which parts, enrolled keys and policy fields a kind has: docs/attestation.md. Ends with 0 if "
    "it is trusted, with 3 if it is not.",
    context_settings=_TIMED,
)
@with_options(VerifyOptions)
def verify(options: VerifyOptions) -> None:
    """Judge one piece of evidence."""
    from bailiwick.attestation.evidence import Evidence, EvidenceContext
    from bailiwick.attestation.policy_section import hex_bytes
    from bailiwick.attestation.verdict import Trusted
    from bailiwick.attestation.verifiers import verifiers_of
    from bailiwick.cli.shared.periods import parse_time

    rule = _rule(options)
    evidence = Evidence(options.kind, _files("--part", options.part))
    asked = EvidenceContext(
        node=options.node,
        nonce=hex_bytes("--nonce", options.nonce.lower()),
        at_ms=parse_time("--at", options.at),
        enrolled=_files("--enrolled", options.enrolled or []),
    )
    verdict = verifiers_of(rule)[options.kind].verify(evidence, asked)
    told = _told(evidence, asked, verdict=verdict)
    if options.output is Output.JSON:
        import json

        typer.echo(json.dumps(told, indent=2))
    else:
        _draw(told)
    if not isinstance(verdict, Trusted):
        raise typer.Exit(ExitCode.DENIED)


def _rule(options: VerifyOptions) -> PoolRule:
    """The rules to judge by: a pool of a whole policy, or a pool made around one section."""
    import json

    from bailiwick.attestation.policy import POLICY_BYTES_MAX, TrustPolicy

    kind = options.kind.value
    text = read_file("--policy", options.policy, limit=POLICY_BYTES_MAX).decode("utf-8", "replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidValue("--policy", str(options.policy), f"JSON ({error})") from None
    if not isinstance(body, dict) or "pools" in body:
        return _pool_of(TrustPolicy.read(text), options)
    if options.pool is not None:
        raise InvalidValue("--pool", options.pool, "no pool: the policy is one section")
    pool = {"nodes": ["*"], "require": kind, kind: body}
    return TrustPolicy.read(json.dumps({"pools": {"file": pool}})).pools[0]


def _pool_of(policy: Any, options: VerifyOptions) -> PoolRule:
    from bailiwick import NotFound

    names = ", ".join(rule.name for rule in policy.pools) or "none"
    if options.pool is None:
        rule: PoolRule | None = policy.pool_of(options.node)
        if rule is None:
            raise NotFound("pool of node", options.node, hint=f"--pool takes one of: {names}")
    else:
        rule = next((each for each in policy.pools if each.name == options.pool), None)
        if rule is None:
            raise NotFound("pool", options.pool, hint=f"the policy has: {names}")
    if options.kind not in rule.require.kinds:
        expected = f"a kind that the pool {rule.name} requires ({rule.require.text})"
        raise InvalidValue("--kind", options.kind.value, expected)
    return rule


def _files(option: str, given: list[str]) -> dict[str, bytes]:
    from bailiwick.attestation.evidence import PART_BYTES_MAX

    found: dict[str, bytes] = {}
    for each in given:
        name, equals, path = each.partition("=")
        if not (name and equals and path):
            raise InvalidValue(option, each, f"{_NAMED}, such as signature=quote.sig")
        if name in found:
            raise InvalidValue(option, name, "each name once")
        found[name] = read_file(option, Path(path), limit=PART_BYTES_MAX)
    return found


def _told(evidence: Evidence, asked: EvidenceContext, *, verdict: Verdict) -> dict[str, Any]:
    from bailiwick.attestation.cases.reading import told
    from bailiwick.attestation.verdict import StaleEvidence, Trusted, Unsupported

    said = told(verdict)
    until_ms = verdict.valid_until_ms if isinstance(verdict, Trusted) else None
    return {
        "kind": evidence.kind.value,
        "node": asked.node,
        "verdict": said.verdict,
        "reason": said.reason,
        "where": verdict.why if isinstance(verdict, Unsupported) else said.where,
        "claims": dict(verdict.claims) if isinstance(verdict, Trusted) else {},
        "valid_until_ms": verdict.until_ms if isinstance(verdict, StaleEvidence) else until_ms,
        "at_ms": asked.at_ms,
        "evidence": evidence.digest,
    }


def _draw(told: dict[str, Any]) -> None:
    from bailiwick.cli.shared.output import draw_details
    from bailiwick.phrases.amounts import span
    from bailiwick.phrases.times import clock

    rows = [("reason", told["reason"]), ("where", told["where"])]
    rows += [(f"claim {name}", value) for name, value in sorted(told["claims"].items())]
    if (until_ms := told["valid_until_ms"]) is not None:
        rows.append(("valid until", f"{clock(until_ms)} ({span(until_ms - told['at_ms'])})"))
    rows += [("judged at", clock(told["at_ms"])), ("node", told["node"])]
    rows.append(("evidence", told["evidence"]))
    shown = [(name, value) for name, value in rows if value]
    draw_details(told["kind"], told["verdict"], rows=shown)
