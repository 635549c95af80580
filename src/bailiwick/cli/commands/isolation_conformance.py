"""``bailiwick isolation conformance``: whether users can drive a scheduler past a policy.

Rules:

- Work is submitted and cancelled on the target. What will be submitted is said first, and asked for
  unless ``--yes``; only what was submitted here is cancelled.
- Each trial is a line as it ends. Ends with 3 if one was broken, with 5 if the cluster does not
  answer, with 4 if no trial could be run: nothing is known then.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.offline.policy_files import load_placements, load_policy, read_text
from bailiwick.cli.shared.flags import Output, OutputOption, with_options
from bailiwick.cli.shared.output import emit
from bailiwick.clusters.conformance import CONFORMANCE_CLUSTERS, ConformanceTarget
from bailiwick.clusters.live import LiveQuestion
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.isolation.conformance import ConformanceTrial, TrialNode, TrialSet
    from bailiwick.isolation.placements import Site
    from bailiwick.tools.isolation_conformance.runner import TrialResult

OWN = "bailiwick"
_TARGETS = (OWN, *(each.name for each in CONFORMANCE_CLUSTERS))


@dataclass(frozen=True, slots=True)
class ConformanceOptions:
    """Who is on trial, and under which policy."""

    target: Annotated[
        str, typer.Option("--target", metavar="NAME", help="One of " + ", ".join(_TARGETS) + ".")
    ]
    policy: Annotated[Path, typer.Option("--policy", metavar="FILE", help="The policy's text.")]
    sites: Annotated[
        Path | None,
        typer.Option("--sites", metavar="FILE", help="Nodes, with caches, fabrics and racks."),
    ] = None
    other: Annotated[
        list[str] | None,
        typer.Option("--other", metavar="TENANT", help="A tenant the policy does not name; two."),
    ] = None
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="TRIAL", help="Only trials whose name has this; repeat it."),
    ] = None
    tenant_by: Annotated[
        str | None, typer.Option("--tenant-by", metavar="WORD", help="What a job's tenant is.")
    ] = None
    project_by: Annotated[
        str, typer.Option("--project-by", metavar="WORD", help="What a job's project is.")
    ] = ""
    labels_by: Annotated[
        str, typer.Option("--labels-by", metavar="WORD", help="Where a job's labels are written.")
    ] = ""
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask first.")] = False
    output: OutputOption = Output.TABLE


@with_options(ConformanceOptions)
def conformance(options: ConformanceOptions) -> None:
    """Try, as users can, to meet where the policy forbids it."""
    from bailiwick.clusters.accounting import NoAnswer
    from bailiwick.tools.isolation_conformance.runner import ConformanceRun, told_outcome

    policy = load_policy(options.policy)
    counts: dict[str, int] = {}
    try:
        target = _target(options)
        found = _trials(options, target)
        _announce(options, found, target)
        for result in ConformanceRun(target, policy).run(found.trials):
            word, told = told_outcome(result.outcome)
            counts[word] = counts.get(word, 0) + 1
            _tell(options, result, word=word, told=told)
    except NoAnswer as error:
        typer.echo(f"bailiwick: {error}", err=True)
        raise typer.Exit(ExitCode.UNREACHABLE) from None
    if options.output is Output.TABLE:
        parts = (f"{counts.get(word, 0)} {said}" for word, said in _COUNTED)
        emit(", ".join(parts) + "\n")
    if counts.get("broken"):
        raise typer.Exit(ExitCode.DENIED)
    if not counts.get("held"):
        raise typer.Exit(ExitCode.PENDING)


_COUNTED = (("held", "held"), ("broken", "broken"), ("not_run", "could not be run"))


def _target(options: ConformanceOptions) -> ConformanceTarget:
    sites = {} if options.sites is None else _sites(options.sites)
    if options.target == OWN:
        return _own(options, [*sites.values()])
    for cluster in CONFORMANCE_CLUSTERS:
        if cluster.name == options.target:
            question = LiveQuestion(
                tenant_by=options.tenant_by,
                project_by=options.project_by,
                labels_by=options.labels_by,
                sites=sites,
            )
            return cluster.begin(question)
    raise InvalidValue("--target", options.target, "one of " + ", ".join(_TARGETS))


def _own(options: ConformanceOptions, sites: list[Site]) -> ConformanceTarget:
    from bailiwick.isolation.conformance import TrialNode
    from bailiwick.isolation.model.shape import default_shape, labels_named, make_sites
    from bailiwick.runtime.runner import SystemClock
    from bailiwick.tools.isolation_conformance.kernel_target import KernelTarget

    text = read_text(options.policy)
    policy = load_policy(options.policy)
    sites = sites or [*make_sites(default_shape(policy), labels_named(policy))]
    nodes = [TrialNode(site, max(site.topology.cores_milli // 1000, 2)) for site in sites]
    return KernelTarget(nodes, policy=text, now_ms=SystemClock().now_ms())


def _sites(path: Path) -> dict[str, Site]:
    return dict(load_placements("--sites", path).by_name)


def _trials(options: ConformanceOptions, target: ConformanceTarget) -> TrialSet:
    from dataclasses import replace

    from bailiwick.isolation.conformance import make_trials

    nodes: list[TrialNode] = [*target.nodes()]
    found = make_trials(
        load_policy(options.policy), nodes, now_ms=target.now_ms(), others=options.other or ()
    )
    words = options.only or ("",)
    kept = tuple(each for each in found.trials if any(word in each.name for word in words))
    return replace(found, trials=kept)


def _announce(options: ConformanceOptions, found: TrialSet, target: ConformanceTarget) -> None:
    """Say what will be submitted and as whom, and ask."""
    for rule in found.untried:
        typer.echo(f"not tried: {rule.rule}: {rule.why}", err=True)
    if not found.trials:
        typer.echo("bailiwick: there is nothing to try", err=True)
        raise typer.Exit(ExitCode.PENDING)
    subjects = [step.subject for each in found.trials for step in each.steps if step.subject]
    tenants = sorted({subject.tenant for subject in subjects})
    typer.echo(
        f"{len(found.trials)} trials on {options.target} ({len(target.nodes())} nodes) submit and "
        f"cancel up to {len(subjects) + 2 * len(tenants)} jobs as {', '.join(tenants)}.",
        err=True,
    )
    if options.target == OWN or options.yes:
        return
    if not sys.stdin.isatty():
        typer.echo("bailiwick: nobody can be asked here: say yes with -y", err=True)
        raise typer.Exit(ExitCode.USAGE)
    if not typer.confirm("Submit them?", err=True):
        typer.echo("nothing was submitted", err=True)
        raise typer.Exit(ExitCode.DENIED)


def _tell(options: ConformanceOptions, result: TrialResult, *, word: str, told: str) -> None:
    if options.output is Output.JSON:
        emit(json.dumps(_document(result.trial, word, told), ensure_ascii=False) + "\n")
    else:
        said = word.replace("_", " ")
        emit(f"{said:<7}  {result.trial.name}{': ' if told else ''}{told}\n")


def _document(trial: ConformanceTrial, word: str, told: str) -> dict[str, Any]:
    steps: list[dict[str, Any]] = []
    for number, step in enumerate(trial.steps, 1):
        row: dict[str, Any] = {"step": number, "do": step.do.value, "job": step.job}
        if step.subject is not None:
            row |= {
                "tenant": step.subject.tenant,
                "project": step.subject.project,
                "labels": dict(step.subject.labels),
                "cores": None if step.takes_rest else step.cores,
                "gpus": step.gpus,
                "node": step.node,
                "beside": step.beside,
            }
        steps.append(row)
    return {
        "trial": trial.name,
        "rule": trial.rule,
        "outcome": word,
        "told": told or None,
        "steps": steps,
    }
