"""What routes are given: who asks (``bailiwick.services.caller``), and what this server has for it.

What a server does not have (a test's has little) is told as unavailable by who asks for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, TypeVar

from fastapi import Depends, Header, Query, Request

from bailiwick.executors.artifacts.fetching import Fetcher
from bailiwick.executors.clusters import ClusterHands
from bailiwick.executors.port import Executor
from bailiwick.journal.keys import Signer
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.tree import JournalTree
from bailiwick.server.http.door import Door
from bailiwick.server.http.forward import Peers
from bailiwick.services.apps.calls import CallDesk
from bailiwick.services.apps.endpoints.desk import EndpointDesk
from bailiwick.services.apps.webhooks import WebhookDesk
from bailiwick.services.beats import Beats
from bailiwick.services.caller import Caller
from bailiwick.services.capabilities import Capabilities
from bailiwick.services.cells.desk import CellDesk
from bailiwick.services.changes.book import ChangeBook
from bailiwick.services.graphs import Graphs
from bailiwick.services.jobs import Jobs
from bailiwick.services.jobs.exec_desk import ExecDesk
from bailiwick.services.logins.exchange import ProviderClient
from bailiwick.services.logins.issuers import IssuerClient
from bailiwick.services.notices.desk import NoticeDesk
from bailiwick.services.picture.kept import PictureBook
from bailiwick.services.queue import QueueHeads
from bailiwick.services.searches.desk import SearchDesk
from bailiwick.services.tables import StoreTables
from bailiwick.services.trust import Gate
from bailiwick.services.watching import Watchers
from bailiwick.services.work import NodeDesk
from bailiwick.telemetry.telemetry import Telemetry
from bailiwick.vocab.errors import Unavailable
from bailiwick.wire.base import PRINCIPAL_PATTERN

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LoginBook:
    """Through which providers people log in, and where those send their browsers back to."""

    clients: Mapping[str, ProviderClient]
    address: str
    issuers: Mapping[str, IssuerClient] = field(default_factory=dict)
    """Whose word of programs service accounts may trust, by what each is called in tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What an application has beyond the kernel; without one, what needs it is not there."""

    peers: Peers | None = None
    """How a follower passes changes on to its leader."""
    beats: Beats | None = None
    """When each node was last heard of."""
    signer: Signer | None = None
    """Signs checkpoints of the journal."""
    tree: JournalTree = field(default_factory=JournalTree)
    """What proofs are made from; it grows when asked, or by whoever grows it beforehand."""
    watchers: Watchers = field(default_factory=Watchers)
    """How many may watch at a time, and how often they are told that nothing happened."""
    changes: ChangeBook = field(default_factory=ChangeBook)
    """What those who watch only for what became old share."""
    searches: SearchDesk = field(default_factory=SearchDesk)
    """Who searches for a way around the isolation policy: one at a time."""
    pictures: PictureBook = field(default_factory=PictureBook)
    """The fleet as one answer, made once for all who may see all of it."""
    heads: QueueHeads = field(default_factory=QueueHeads)
    """The front of the line, in the same way."""
    ending: asyncio.Event | None = None
    """Set when the server is about to stop: those who watch are let go."""
    telemetry: Telemetry | None = None
    """Sees what happens: spans, metrics, traces."""
    metrics_open: bool = False
    """Whether ``/metrics`` needs no token, as on loopback."""
    jobs: Jobs | None = None
    """Commands that run under leases."""
    graphs: Graphs | None = None
    """Graphs of tasks, each of which runs as a job."""
    executor: Executor | None = None
    """Runs the jobs of this machine, and keeps what they print."""
    job_mode: str | None = None
    host_members: bool = False
    """How the executor keeps jobs apart."""
    clusters: tuple[ClusterHands, ...] = ()
    """Where jobs run, too."""
    execs: ExecDesk | None = None
    """Programs that people run inside jobs."""
    desk: NodeDesk | None = None
    """What is to run on other machines, and what their agents saw."""
    tables: StoreTables | None = None
    """What was metered, counted, found and billed, and the past."""
    gate: Gate | None = None
    """Takes up the keys of nodes, asks them to prove themselves, and judges what they answer."""
    fetcher: Fetcher | None = None
    """Brings artifacts here, and judges them."""
    capabilities: Capabilities | None = None
    """Mints tokens for leases, and tells who checks them what counts no more."""

    webhooks: WebhookDesk | None = None
    """Where events are sent, and what became of them."""
    notices: NoticeDesk | None = None
    """What people are told."""
    calls: CallDesk | None = None
    """What instances are asked, and answer."""
    cells: CellDesk = field(default_factory=CellDesk)
    """How the leader stands with the cells of this plane."""
    logins: LoginBook | None = None
    """Through whom people log in."""
    endpoints: EndpointDesk | None = None
    """Who has which endpoint of an instance open."""

    def executor_of(self, node: str) -> Executor | None:
        """What keeps the output of a node's jobs, as far as this server reaches it."""
        if self.jobs is not None and node == self.jobs.node:
            return self.executor
        return None if self.desk is None else self.desk.executor_of(node)


@dataclass(frozen=True, slots=True)
class House:
    """What all requests share: the way to the kernel, the door, and where new ids come from."""

    gateway: Gateway
    door: Door
    ids: Callable[[], str]
    parts: Parts = field(default_factory=Parts)


@dataclass(slots=True, kw_only=True)
class Asked(Caller):
    """A caller, with what the services that he asks need beside the kernel."""

    house: House

    @property
    def tables(self) -> StoreTables:
        """The store's tables."""
        return _there(self.house.parts.tables, "the tables", "this server keeps none")

    @property
    def desk(self) -> NodeDesk:
        """What is to run on other machines."""
        return _there(self.house.parts.desk, "work of nodes", "this server keeps none")

    @property
    def gate(self) -> Gate:
        """What judges the keys and the evidence of nodes."""
        return _there(self.house.parts.gate, "attestation", "this server judges no evidence")

    @property
    def webhooks(self) -> WebhookDesk:
        """Where events are sent."""
        return _there(self.house.parts.webhooks, "webhooks", "this server sends none")

    @property
    def notices(self) -> NoticeDesk:
        """What people are told."""
        return _there(self.house.parts.notices, "notices", "this server keeps none")

    @property
    def calls(self) -> CallDesk:
        """What instances are asked."""
        return _there(self.house.parts.calls, "calls of instances", "this server keeps none")

    @property
    def fetcher(self) -> Fetcher:
        """What brings artifacts here."""
        return _there(self.house.parts.fetcher, "fetching", "this server keeps no artifacts")

    @property
    def capabilities(self) -> Capabilities:
        """What mints tokens of leases."""
        why = "this server has no key for them"
        return _there(self.house.parts.capabilities, "tokens of leases", why)


def _there(part: T | None, what: str, why: str) -> T:
    if part is None:
        raise Unavailable(what, why)
    return part


async def _asked(request: Request) -> Asked:  # async, or it would cost a thread
    found: Asked = request.state.asked
    return found


async def _asked_to_change(
    request: Request,
    key: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            pattern=PRINCIPAL_PATTERN,
            description="The same key from the same caller gives the first answer again.",
        ),
    ] = None,
    dry_run: Annotated[
        str,
        Query(pattern="^(true|false)$", description="Decide the same, and change nothing."),
    ] = "false",
) -> Asked:
    found: Asked = request.state.asked
    found.key, found.dry_run = key, dry_run == "true"
    return found


Here = Annotated[Asked, Depends(_asked)]
"""For handlers that only look."""

Changing = Annotated[Asked, Depends(_asked_to_change)]
"""For handlers that change something: with ``Idempotency-Key`` and ``?dry_run``."""
