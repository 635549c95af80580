"""``bailiwick isolation audit ...``: live placements of any cluster, judged by a policy.

Rules:

- What is watched is only read; nothing is installed or changed there. With ``--enforce``, which our
  own fleet alone knows, its server is told to evict what breaks the policy. The server looks for
  itself: what the audit saw ends nobody's work.
- Each finding is a line as it is found, each one that is over another. With ``--findings`` they are
  sealed in a journal first.
- Ends with 3 if anything was found, with 5 if the cluster could not be seen. What could not be seen
  of a cluster is said once, to stderr.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.offline.policy_files import load_placements, load_policy_text
from bailiwick.cli.shared.flags import with_options
from bailiwick.cli.shared.output import Format, emit
from bailiwick.cli.shared.session import connect, load_session, need_token
from bailiwick.clusters.live import LIVE_CLUSTERS, LiveCluster, LiveQuestion
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from bailiwick.client.http_client import Client
    from bailiwick.isolation.findings import IsolationFinding
    from bailiwick.tools.isolation_audit import AuditReport, AuditWatch
    from bailiwick.wire.isolation import IsolationEnforcement, IsolationRecovered

app = typer.Typer(
    help="Watch live placements, and say within seconds which of them break the policy.",
    no_args_is_help=True,
)


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """What is common to everything that can be watched."""

    policy: Annotated[
        Path, typer.Option("--policy", metavar="FILE", help="The policy's text; - reads stdin.")
    ]
    once: Annotated[bool, typer.Option("--once", help="Look once, tell, and end.")] = False
    every_s: Annotated[
        float, typer.Option("--every", min=0.2, max=3600, metavar="SECONDS", help="How often.")
    ] = 2.0
    findings: Annotated[
        Path | None,
        typer.Option("--findings", metavar="DIR", help="Seal findings in a journal there."),
    ] = None
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="FILE", help="Signs that journal; made if missing."),
    ] = None
    metrics: Annotated[
        Path | None,
        typer.Option("--metrics", metavar="FILE", help="Write metrics there after each look."),
    ] = None
    enforce: Annotated[
        bool, typer.Option("--enforce", help="Our own fleet: evict what breaks the policy.")
    ] = False
    output: Annotated[
        Format, typer.Option("--output", "-o", help="table: a line each; json: a document each.")
    ] = Format.TABLE


@dataclass(frozen=True, slots=True)
class ClusterAuditOptions(AuditOptions):
    """The same, and how another's cluster is read."""

    files: Annotated[
        list[Path] | None,
        typer.Option("--file", metavar="FILE", help="Saved answers instead of asking; repeat it."),
    ] = None
    server: Annotated[
        str | None, typer.Option("--server", metavar="URL", help="The API server to ask.")
    ] = None
    token_file: Annotated[
        Path | None, typer.Option("--token-file", metavar="FILE", help="Its bearer token.")
    ] = None
    ca_file: Annotated[
        Path | None, typer.Option("--ca-file", metavar="FILE", help="Who signed its certificate.")
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
    sites: Annotated[
        Path | None,
        typer.Option("--sites", metavar="FILE", help="Caches, fabrics and racks of its nodes."),
    ] = None


def _cluster_command(cluster: LiveCluster) -> Callable[..., None]:
    @with_options(ClusterAuditOptions)
    def audit_cluster(options: ClusterAuditOptions) -> None:
        """Watch a cluster's placements."""
        if options.enforce:
            expected = "only for bailiwick: a cluster that somebody else runs is never changed"
            raise InvalidValue("--enforce", cluster.name, expected)
        question = LiveQuestion(
            files=tuple(options.files or ()),
            server=options.server,
            token_file=options.token_file,
            ca_file=options.ca_file,
            tenant_by=options.tenant_by,
            project_by=options.project_by,
            labels_by=options.labels_by,
            sites={}
            if options.sites is None
            else load_placements("--sites", options.sites).by_name,
        )
        _watch(cluster.name, options, read=cluster.watch(question))

    return audit_cluster


for _each in LIVE_CLUSTERS:
    app.command(
        _each.name,
        help=f"{_each.help}\n\nInstead of asking, --file reads {_each.files}. Ends with 3 if "
        "anything was found, with 5 if the cluster could not be seen.\n\n"
        f"Example: bailiwick isolation audit {_each.name} --policy policy.txt",
    )(_cluster_command(_each))


@dataclass(frozen=True, slots=True)
class OwnAuditOptions(AuditOptions):
    """The same, and where our own journal is."""

    store: Annotated[
        str, typer.Option("--store", metavar="WHERE", help="A data directory, or a database.")
    ] = "bailiwick-data"


@app.command("bailiwick")
@with_options(OwnAuditOptions)
def audit_own(options: OwnAuditOptions) -> None:
    """Our own fleet, from its journal as it grows.

    What is judged is what the journal says runs, whatever the scheduler believed that wrote it.

    With --enforce the server you are logged in at evicts what breaks the policy there
    (policy_violation_recovery, with the usual grace); it needs scheduler.isolation.set.

    Example: bailiwick isolation audit bailiwick --policy policy.txt
    """
    from bailiwick.tools.isolation_journal import watch_journal

    client = connect(need_token(load_session())) if options.enforce else None
    _watch("bailiwick", options, read=watch_journal(options.store), client=client)


# -- watching --------------------------------------------------------------------------------


def _watch(
    name: str, options: AuditOptions, *, read: Callable[[], Any], client: Client | None = None
) -> None:
    from bailiwick.runtime.runner import SystemClock
    from bailiwick.store import JournalWriter, load_or_create_key
    from bailiwick.tools.isolation_audit import AuditFailed, AuditWatch

    if options.output in (Format.YAML, Format.NAME):
        raise InvalidValue("--output", options.output.value, "table or json")
    if (options.key is None) != (options.findings is None):
        raise InvalidValue("--key", options.key, "a file, together with --findings DIR")
    with ExitStack() as stack:
        journal = None
        if options.findings is not None and options.key is not None:
            signer = load_or_create_key(options.key, f"audit.{name}")
            journal = stack.enter_context(JournalWriter(options.findings, signer))
        text, policy = load_policy_text(options.policy)
        watch = AuditWatch(name, policy, read, SystemClock(), journal)
        watch.metrics = options.metrics
        try:
            was_found = _look_on(watch, options, Enforcer(client, text))
        except AuditFailed as error:
            typer.echo(f"bailiwick: {error}", err=True)
            raise typer.Exit(ExitCode.UNREACHABLE) from None
    raise typer.Exit(ExitCode.DENIED if was_found else ExitCode.DONE)


def _look_on(watch: AuditWatch, options: AuditOptions, enforcer: Enforcer) -> bool:
    """Look once, or until somebody ends it; whether anything was found."""
    was_found, told = False, set[str]()
    while True:  # bounded: by whoever watches
        report = watch.look()
        was_found |= bool(report.open)
        _tell(report, options, told=told)
        if report.open:
            enforcer.enforce(options)
        if options.once:
            if report.failure:
                raise typer.Exit(ExitCode.UNREACHABLE)
            return was_found
        try:
            time.sleep(options.every_s)
        except KeyboardInterrupt:
            return was_found


def _tell(report: AuditReport, options: AuditOptions, *, told: set[str]) -> None:
    from bailiwick.phrases.amounts import plural
    from bailiwick.tools.isolation_audit import plain

    for sentence in (*report.unseen, *filter(None, (report.failure,))):
        if sentence not in told:
            typer.echo(f"not seen: {plain(sentence)}", err=True)
    told.update(report.unseen)
    news = [("found", each) for each in report.news.opened]
    news += [("over", each) for each in report.news.closed]
    for word, finding in news:
        is_json = options.output is Format.JSON
        line = json.dumps(_document(word, finding)) if is_json else _line(word, finding)
        emit(line + "\n")
    if options.once and options.output is Format.TABLE and not report.failure:
        judged, broken = plural(report.placements, "placement"), len(report.open)
        emit(f"{judged} judged, {plural(broken, 'violation')}\n")


def _line(word: str, finding: IsolationFinding) -> str:
    from bailiwick.phrases.times import told_time
    from bailiwick.tools.isolation_audit import plain, spell_subject

    broken = finding.violation
    who = " and ".join(
        f"{plain(each.id)} ({spell_subject(each.subject)})" for each in finding.who[:8]
    )
    more = f" and {len(finding.who) - 8} more" if len(finding.who) > 8 else ""
    where = plain(f"{broken.kind or 'node'} {broken.domain}")
    return f"{told_time(finding.found_ms)}  {word:<5}  {broken.rule}: {where}: {who}{more}"


def _document(word: str, finding: IsolationFinding) -> dict[str, object]:
    broken = finding.violation
    return {
        "state": word,
        "rule": broken.rule,
        "domain_kind": None if broken.kind is None else broken.kind.value,
        "domain": broken.domain,
        "found_ms": finding.found_ms,
        "jobs": [
            {
                "id": each.id,
                "tenant": each.subject.tenant,
                "project": each.subject.project,
                "labels": dict(each.subject.labels),
                "node": each.node,
            }
            for each in finding.who
        ],
    }


# -- enforcing -------------------------------------------------------------------------------


@dataclass(slots=True)
class Enforcer:
    """Has the server evict what breaks the policy; without a client, nothing is done.

    To ask again while they leave does nothing, so every look that finds something asks.
    """

    client: Client | None
    text: str

    def enforce(self, options: AuditOptions) -> None:
        """Ask the server, and say what it did; one that is away is asked at the next look."""
        from bailiwick.client.bodies import make_body
        from bailiwick.client.errors import Unreachable
        from bailiwick.wire.actions.isolation import ISOLATION_ENFORCE
        from bailiwick.wire.isolation import IsolationPolicyChange

        if self.client is None:
            return
        body = make_body(IsolationPolicyChange, text=self.text)
        try:
            done = self.client.send(ISOLATION_ENFORCE, body=body)
        except Unreachable as error:
            if options.once:
                raise
            typer.echo(f"not enforced: {error}", err=True)
            return
        _tell_done(done, options)


def _tell_done(done: IsolationEnforcement, options: AuditOptions) -> None:
    from bailiwick.phrases.amounts import plural

    is_json = options.output is Format.JSON
    for each in done.recovered:
        plain = {"state": "evicted", "seq": done.seq, **each.model_dump(mode="json")}
        emit((json.dumps(plain) if is_json else _evicted_line(each)) + "\n")
    if is_json:
        return
    if done.violations:
        why = plural(done.violations, "violation")
        emit(f"{plural(done.leases, 'lease')} told to go for {why} (record {done.seq})\n")
    elif options.once:
        emit("nobody was told to go: who may not stay is leaving, or has left\n")


def _evicted_line(each: IsolationRecovered) -> str:
    where = f"{'node' if each.kind is None else each.kind.value} {each.domain}"
    beside = ", ".join(f"lease-{partner}" for partner in each.partners[:8])
    told = f" beside {beside}" if beside else ""
    return f"evicted  {each.rule}: {where}: lease-{each.lease_id}{told}"
