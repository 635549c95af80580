"""``bailiwick isolation conformance``: whether users can drive a scheduler past a policy.

Rules:

- Work is submitted and cancelled on the target. What will be submitted is said first, and asked for
  unless ``--yes``; only what was submitted here is cancelled.
- With ``--trace`` the histories in those files are tried, on the nodes that they name: our own
  kernel is made with the file's nodes. With ``--derived`` also what is derived from the rules.
- Nodes of a cluster are taken down only with ``--may-lose-nodes``; without it, a history in which a
  node is lost is told as one that could not be run.
- Each trial is a line as it ends. Ends with 3 if one was broken, with 5 if the cluster does not
  answer, with 4 if no trial could be run: nothing is known then.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.offline.policy_files import (
    load_placements,
    load_policy,
    load_trace,
    read_text,
)
from bailiwick.cli.shared.flags import Output, OutputOption, with_options
from bailiwick.cli.shared.output import emit
from bailiwick.clusters.conformance import CONFORMANCE_CLUSTERS, ConformanceTarget
from bailiwick.clusters.live import LiveQuestion
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.isolation.conformance import ConformanceTrial, TrialNode
    from bailiwick.isolation.placements import Site
    from bailiwick.isolation.trace import IsolationTrace
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
    trace: Annotated[
        list[Path] | None,
        typer.Option("--trace", metavar="FILE", help="Try the history in this file; repeat it."),
    ] = None
    derived: Annotated[
        bool, typer.Option("--derived", help="With --trace: also what the rules lead to.")
    ] = False
    may_lose_nodes: Annotated[
        bool,
        typer.Option("--may-lose-nodes", help="Histories may take nodes down, and up again."),
    ] = False
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
        batches = _batches(options)
        _announce(options, batches)
        for batch in batches:
            may = options.may_lose_nodes or options.target == OWN
            run = ConformanceRun(batch.target, policy, may_lose_nodes=may)
            for result in chain(batch.unable, run.run(batch.trials)):
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


@dataclass(slots=True)
class _Batch:
    """Trials of one target, and what was no trial of it."""

    target: ConformanceTarget
    trials: list[ConformanceTrial] = field(default_factory=list)
    unable: list[TrialResult] = field(default_factory=list)


def _batches(options: ConformanceOptions) -> list[_Batch]:
    """All that is tried; each history on nodes of its own, where they are made here."""
    traces = [(path, load_trace("--trace", path)) for path in options.trace or ()]
    is_apart = options.target == OWN and options.sites is None
    found: list[_Batch] = []
    if not traces or options.derived or not is_apart:
        found.append(_Batch(_target(options)))
    if not traces or options.derived:
        found[0].trials += _derived(options, found[0].target)
    for path, trace in traces:
        batch = _Batch(_own(options, [*trace.sites])) if is_apart else found[0]
        _add_trace(options, batch, path=path, trace=trace)
        found += [batch] if is_apart else []
    return found


def _add_trace(
    options: ConformanceOptions, batch: _Batch, *, path: Path, trace: IsolationTrace
) -> None:
    from bailiwick.isolation.conformance import ConformanceTrial
    from bailiwick.tools.isolation_conformance.runner import TrialNotRun, TrialResult
    from bailiwick.tools.isolation_conformance.trace_trials import trial_of_trace

    if not _is_wanted(options, path.name):
        return
    nodes = {node.site.node for node in batch.target.nodes()}
    others = options.other or ()
    try:
        batch.trials.append(trial_of_trace(path.name, trace, nodes=nodes, others=others))
    except InvalidValue as error:
        why = f"{error.field}: {error.value} is not {error.expected}"
        trial = ConformanceTrial(path.name, "", ())
        batch.unable.append(TrialResult(trial, TrialNotRun(why)))


def _derived(options: ConformanceOptions, target: ConformanceTarget) -> list[ConformanceTrial]:
    from bailiwick.isolation.conformance import make_trials

    nodes: list[TrialNode] = [*target.nodes()]
    found = make_trials(
        load_policy(options.policy), nodes, now_ms=target.now_ms(), others=options.other or ()
    )
    for rule in found.untried:
        typer.echo(f"not tried: {rule.rule}: {rule.why}", err=True)
    return [each for each in found.trials if _is_wanted(options, each.name)]


def _is_wanted(options: ConformanceOptions, name: str) -> bool:
    return any(word in name for word in options.only or ("",))


def _announce(options: ConformanceOptions, batches: list[_Batch]) -> None:
    """Say what will be submitted and as whom, and ask."""
    from bailiwick.isolation.conformance import TrialWord

    trials = [trial for batch in batches for trial in batch.trials]
    if not trials:
        if any(batch.unable for batch in batches):
            return  # why is told for each of them
        typer.echo("bailiwick: there is nothing to try", err=True)
        raise typer.Exit(ExitCode.PENDING)
    subjects = [step.subject for each in trials for step in each.steps if step.subject]
    tenants = sorted({subject.tenant for subject in subjects})
    nodes = len({node.site.node for batch in batches for node in batch.target.nodes()})
    lost = any(step.do is TrialWord.LOSE for each in trials for step in each.steps)
    is_down = lost and options.may_lose_nodes and options.target != OWN
    typer.echo(
        f"{len(trials)} trials on {options.target} ({nodes} nodes) submit and "
        f"cancel up to {len(subjects) + 2 * len(tenants)} jobs as {', '.join(tenants)}"
        f"{', and take nodes down and up again' if is_down else ''}.",
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
        row: dict[str, Any] = {"step": number, "do": step.do.value, "job": step.job or None}
        if not step.job:
            row |= {"node": step.node, "beside": step.beside}
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
