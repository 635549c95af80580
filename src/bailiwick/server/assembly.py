"""What one server process is made of, put together: the parts of the API, and its duties.

Rules:

- Everything is built here and nowhere else, from the store, the replica and the options.
- A process that is no node has no executor of its own: it runs jobs of other nodes alone.
- What is this machine's own (keys, jobs, spans) lies in the process's folder.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from bailiwick.apps.addresses import Network
from bailiwick.events.signing import PURPOSE
from bailiwick.executors import local, registry
from bailiwick.executors.artifacts.fetching import Fetcher
from bailiwick.executors.artifacts.store import ArtifactStore
from bailiwick.executors.clusters import ClusterHands, ClusterPlan
from bailiwick.executors.local.modes import Apart
from bailiwick.fleet.node import NODE_EXECUTOR
from bailiwick.ports import Clock
from bailiwick.reconcile.apps.loop import AppLoop
from bailiwick.reconcile.cells.loop import CellLoop, CellTerms
from bailiwick.reconcile.clusters.nodes import ClusterNodes
from bailiwick.reconcile.counting import JobCounting
from bailiwick.reconcile.demo_cell import DemoCell
from bailiwick.reconcile.departures import Departures
from bailiwick.reconcile.duties import Duty
from bailiwick.reconcile.graphs import GraphLoop
from bailiwick.reconcile.held.loop import HeldLoop
from bailiwick.reconcile.job_actions import JobTools
from bailiwick.reconcile.jobs import JobLoop
from bailiwick.reconcile.metering import KeepMeter
from bailiwick.reconcile.notices.loop import NoticeLoop, NoticeTerms
from bailiwick.reconcile.notices.mailer import Mailer
from bailiwick.reconcile.notices.reading import NoticeSources
from bailiwick.reconcile.this_node import ThisNode, machine_name
from bailiwick.reconcile.timetables.lost_nodes import LostNodes
from bailiwick.reconcile.timetables.planner import TimetablePlanner
from bailiwick.reconcile.timetables.series import SeriesTimes
from bailiwick.reconcile.timetables.windows import WindowTimes
from bailiwick.reconcile.usage_check import UsageBooks, UsageCheck
from bailiwick.reconcile.watched_executor import WatchedExecutor
from bailiwick.reconcile.webhooks.loop import WebhookLoop, WebhookTerms
from bailiwick.runtime.runner import Runner
from bailiwick.server.http.context import LoginBook, Parts
from bailiwick.server.http.forward import Peers
from bailiwick.server.keys import SIGNER_NAME
from bailiwick.services.apps.calls import CallDesk
from bailiwick.services.apps.endpoints.desk import EndpointDesk
from bailiwick.services.apps.webhooks import WebhookDesk
from bailiwick.services.authority import Authority
from bailiwick.services.beats import Beats
from bailiwick.services.capabilities import Capabilities
from bailiwick.services.cells.desk import CellDesk
from bailiwick.services.graphs import Graphs
from bailiwick.services.jobs import Jobs
from bailiwick.services.jobs.exec_desk import ExecDesk
from bailiwick.services.logins.exchange import ProviderClient
from bailiwick.services.logins.issuers import IssuerClient
from bailiwick.services.logins.providers import FederatedIssuer, Provider
from bailiwick.services.notices.desk import NOTICE_PURPOSE, NoticeDesk, open_desk
from bailiwick.services.notices.mail import SmtpTerms
from bailiwick.services.revoking import RevocationBook
from bailiwick.services.tables import StoreTables
from bailiwick.services.trust import Gate
from bailiwick.services.work import NodeDesk
from bailiwick.store import load_or_create_key
from bailiwick.store.calls.rows import CallBook
from bailiwick.store.graph_rows import GraphBook
from bailiwick.store.job_rows import JobBook
from bailiwick.store.members.app_jobs import AppJobs
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.webhooks.rows import WebhookBook
from bailiwick.store.work_rows import WorkBook
from bailiwick.telemetry.telemetry import LogTerms, Telemetry
from bailiwick.vocab.errors import InvalidValue

JOBS_FOLDER = "jobs"
ARTIFACTS_FOLDER = "artifacts"
REGISTRIES_NAME = "registries.json"
"""Who we are at the registries of the platform's own sources."""
SIGNER = "bailiwick"
"""The name under which checkpoints are signed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessPlan:
    """What this process is to be."""

    folder: Path
    address: str
    is_node: bool
    is_open: bool
    """Whether only this machine reaches it, so that metrics need no token."""
    demo: bool
    capability: bytes = field(repr=False)
    """The key that signs tokens of leases."""
    apart: Apart = field(default_factory=Apart)
    """How jobs are kept apart, and what they see."""
    artifact_networks: tuple[Network, ...] = ()
    """Private networks in which tenants may have sources of artifacts."""
    clusters: tuple[ClusterPlan, ...] = ()
    """On which clusters jobs run, too."""
    providers: tuple[Provider, ...] = ()
    """Through whom people log in."""
    federation: tuple[FederatedIssuer, ...] = ()
    """Whose word of programs service accounts may trust."""
    public_url: str = ""
    """Where browsers reach this server."""
    webhooks_private: bool = False
    """Whether webhooks may lead to private networks and this machine."""
    mail: SmtpTerms | None = None
    """Through which server notices are mailed."""
    cell_keys: Path | None = None
    """Where a key for each cell lies."""


@dataclass(frozen=True, slots=True)
class Base:
    """What there is before anything is put together."""

    store: SqlStore
    runner: Runner
    authority: Authority
    clock: Clock
    telemetry: Telemetry
    peers: Peers
    say: Callable[[str], None]


def open_telemetry(folder: Path, name: str, *, otlp: str | None) -> Telemetry:
    """Logs, spans and metrics from here on."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Telemetry.open(folder, otlp=otlp, name=name, logs=LogTerms(level=logging.INFO))


def open_cluster(plan: ClusterPlan) -> ClusterHands:
    """The hands on one cluster; refused if this machine cannot reach one."""
    kind = registry.find_cluster(plan.kind)
    if kind.open_cluster is None or not (plan.where or kind.is_available()):
        raise InvalidValue("--jobs-on", plan.kind, "a cluster that this machine can submit to")
    plan.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    executor = kind.open_cluster(plan.folder, plan.where)
    return ClusterHands(kind.name, executor, folder=plan.folder, where=plan.where)


def _fetcher(plan: ProcessPlan) -> Fetcher:
    store = ArtifactStore(plan.folder / ARTIFACTS_FOLDER)
    credentials = plan.folder / REGISTRIES_NAME
    return Fetcher(store, credentials=credentials, networks=plan.artifact_networks)


def _metering(base: Base, tables: StoreTables) -> list[Duty]:
    """What keeps the meter, and compares it with what nodes counted."""
    books = UsageBooks(counters=tables.counters, meter=tables.meter, findings=tables.findings)
    return [KeepMeter(base.runner, tables.meter), UsageCheck(base.runner, books, clock=base.clock)]


def _webhooks(base: Base, plan: ProcessPlan) -> tuple[WebhookDesk, Duty]:
    """What the API has for webhooks, and the duty to send to them."""
    book, key = WebhookBook(base.store), base.authority.key_for(PURPOSE)
    count = partial(base.telemetry.metrics.count, "bailiwick_webhook_dead_letters_total")
    terms = WebhookTerms(key=key, allow_private=plan.webhooks_private, dead=count)
    desk = WebhookDesk(book=book, key=key, allow_private=plan.webhooks_private)
    return desk, WebhookLoop(base.runner, book, terms=terms, say=base.say)


def _notices(base: Base, plan: ProcessPlan, tables: StoreTables) -> tuple[NoticeDesk, Duty]:
    """What the API has for notices, and the duty to tell people."""
    desk = open_desk(
        base.store,
        base.authority.key_for(NOTICE_PURPOSE),
        mail=None if plan.mail is None else (plan.mail.sender, Mailer(plan.mail)),
        allow_private=plan.webhooks_private,
        address=plan.public_url,
        providers=(each.name for each in plan.providers),
    )
    sources = NoticeSources(
        runner=base.runner,
        store=base.store,
        jobs=JobBook(base.store),
        post=desk.post,
        clock=base.clock,
        fold=tables.history.fold,
    )
    count = partial(base.telemetry.metrics.count, "bailiwick_notice_dead_letters_total")
    return desk, NoticeLoop(sources, desk, terms=NoticeTerms(dead=count), say=base.say)


def _submitting(base: Base, jobs: Jobs, *, graphs: Graphs) -> list[Duty]:
    """What submits jobs of its own: those that were held, tasks of graphs, members of apps."""
    runner, clock, say = base.runner, base.clock, base.say
    return [
        HeldLoop(jobs, runner, clock=clock, say=say),
        GraphLoop(graphs, runner, clock=clock, say=say),
        AppLoop(jobs, AppJobs(base.store), runner, clock=clock, say=say),
    ]


def _planning(base: Base, plan: ProcessPlan, *, beats: Beats, cells: CellDesk) -> list[Duty]:
    """What sees nodes go, plans windows and bookings ahead, and gives requests to cells."""
    unbooked = partial(base.telemetry.metrics.set, "bailiwick_booking_series_unbooked")
    terms = CellTerms(plan.cell_keys, base.peers.verify)
    return [
        Departures(base.runner, beats),
        TimetablePlanner(base.runner, WindowTimes(base.say)),
        TimetablePlanner(base.runner, SeriesTimes(base.say, count=unbooked)),
        TimetablePlanner(base.runner, LostNodes(base.say)),
        CellLoop(base.runner, cells, terms=terms, say=base.say),
    ]


def assemble(base: Base, plan: ProcessPlan) -> tuple[Parts, list[Duty]]:
    """The parts that the API needs, and what a leader has to do."""
    runner, clock, ending = base.runner, base.clock, asyncio.Event()
    beats, tables, cells = Beats(clock), StoreTables.of(base.store), CellDesk()
    duties = [*_planning(base, plan, beats=beats, cells=cells), *_metering(base, tables)]
    node = machine_name() if plan.is_node else None
    jobs = Jobs(JobBook(base.store), runner, clock=clock, node=node)
    graphs = Graphs(GraphBook(base.store), jobs, clock=clock)
    clusters = tuple(open_cluster(each) for each in plan.clusters)
    nodes_of = partial(ClusterNodes, runner=runner, beats=beats, say=base.say, others=clusters)
    duties += [*_submitting(base, jobs, graphs=graphs), *map(nodes_of, clusters)]
    desk = NodeDesk(WorkBook(base.store), clock=clock, clusters=clusters)
    kind, executor, job_mode = registry.DEFAULT, None, None
    if node is not None:
        hands = local.open_executor(plan.folder / JOBS_FOLDER, plan.apart)
        job_mode = hands.mode.value
        executor = WatchedExecutor(hands, base.telemetry)
        duties.append(JobCounting(tables.counters, node, executor, clock=clock, say=base.say))
    tools = JobTools(
        jobs=jobs,
        runner=runner,
        executor=executor,
        authority=base.authority,
        clock=clock,
        server=plan.address,
        say=base.say,
        remote=lambda other: WatchedExecutor(desk.executor_of(other), base.telemetry),
        remote_statuses=desk.statuses_of,
        elsewhere=frozenset((NODE_EXECUTOR, *(each.name for each in clusters))),
    )
    loop = JobLoop(tools)
    here = partial(ThisNode, loop, beats, executor=kind, folder=plan.folder, job_mode=job_mode)
    duties.append(loop if node is None else here(node=node, host_members=plan.apart.host_members))
    duties += [DemoCell(runner, clock)] if plan.demo else []
    (webhooks, sends), (notices, tells) = _webhooks(base, plan), _notices(base, plan, tables)
    parts = Parts(
        webhooks=webhooks,
        cells=cells,
        calls=CallDesk(CallBook(base.store), ending=ending),
        peers=base.peers,
        beats=beats,
        signer=load_or_create_key(plan.folder / SIGNER_NAME, SIGNER),
        ending=ending,
        telemetry=base.telemetry,
        metrics_open=plan.is_open,
        jobs=jobs,
        graphs=graphs,
        executor=executor,
        execs=ExecDesk(runner),
        endpoints=EndpointDesk(runner),
        desk=desk,
        job_mode=job_mode,
        host_members=plan.apart.host_members and node is not None,
        clusters=clusters,
        tables=tables,
        gate=Gate(clock, secrets.token_bytes),
        fetcher=_fetcher(plan),
        capabilities=Capabilities(plan.capability, RevocationBook()),
    )
    return replace(parts, logins=_logins(plan, clock), notices=notices), [*duties, sends, tells]


def _logins(plan: ProcessPlan, clock: Clock) -> LoginBook:
    clients = {each.name: ProviderClient(each, clock) for each in plan.providers}
    issuers = {
        each.issuer: IssuerClient(each.issuer, each.ca_file, clock) for each in plan.federation
    }
    return LoginBook(clients, plan.public_url, issuers)
