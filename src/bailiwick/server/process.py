"""The life of one server process: store, replica, port, loops; what it says, and how it ends.

Rules:

- The port answers only when the store is open. A store that cannot be reached yet is tried again
  and again, and every two seconds that is said.
- One line on stdout says where it listens; a first start (and any start of a server for this
  machine alone) then says how to log in and what to try. Everything else goes to stderr.
- What acts by itself (jobs, departures, the demo) runs only while this replica leads.
- SIGTERM and SIGINT end it in good order: requests under way get a moment, the round is finished,
  leadership is given up. Jobs go on, and the next start finds them. What cannot be repaired by
  trying again (a damaged journal, tables of a newer version) ends it with that error.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from uuid_utils import uuid7

from bailiwick.apps.addresses import Network
from bailiwick.executors.clusters import ClusterPlan
from bailiwick.executors.local.modes import Apart
from bailiwick.reconcile.duties import Duties
from bailiwick.reconcile.this_node import machine_name
from bailiwick.runtime.replica import Pace, Replica, Role
from bailiwick.runtime.runner import Runner, SystemClock
from bailiwick.runtime.steady_clock import SteadyClock
from bailiwick.runtime.waiting import await_set
from bailiwick.server.assembly import Base, ProcessPlan, assemble, open_telemetry
from bailiwick.server.first_start import furnish, make_login
from bailiwick.server.folds import follow_revocations, follow_telemetry
from bailiwick.server.http.app import create_app
from bailiwick.server.http.context import Parts
from bailiwick.server.http.forward import Peers
from bailiwick.server.port import Port, Tls, open_port
from bailiwick.server.stamping import open_stamps
from bailiwick.services.authority import Authority
from bailiwick.services.logins.providers import FederatedIssuer, Provider
from bailiwick.services.notices.mail import SmtpTerms
from bailiwick.store import open_store
from bailiwick.store.sql_store import SqlStore
from bailiwick.vocab.errors import Conflict, InvalidValue, Unavailable

_LOG = logging.getLogger("bailiwick")
TRY_EVERY_S = 2.0
THREADS = 32
WATCH_EVERY_S = 0.05
SAME_AGAIN_S = 2.0
"""A warning that repeats is said this often at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessOptions:
    """What one process is told."""

    where: str
    """A data directory or the address of a database."""
    folder: Path
    """For what is this process's own: jobs, spans, keys."""
    authority: bytes
    """The key that signs tokens, as PEM."""
    capability: bytes = field(repr=False)
    """The key that signs tokens of leases: 32 bytes."""
    host: str = "127.0.0.1"
    port: int = 7077
    name: str | None = None
    advertise: str | None = None
    """The host that other replicas reach this one at, if not ``host``."""
    tls: Tls | None = None
    apart: Apart = field(default_factory=Apart)
    """How jobs are kept apart on this machine, and what they see of it."""
    clusters: tuple[ClusterPlan, ...] = ()
    """On which clusters jobs run, too."""
    providers: tuple[Provider, ...] = ()
    """Through whom people log in."""
    federation: tuple[FederatedIssuer, ...] = ()
    """Whose word of programs service accounts may trust."""
    public_url: str | None = None
    """Where browsers reach this server, if not where it listens."""
    webhooks_private: bool = False
    """Whether webhooks may lead to private networks and this machine."""
    mail: SmtpTerms | None = None
    """Through which server notices are mailed."""
    cell_keys: Path | None = None
    """Where a key for each cell lies."""
    artifact_networks: tuple[Network, ...] = ()
    """Private networks in which tenants may have sources of artifacts."""
    is_node: bool = True
    """Whether this machine is a node, and runs jobs."""
    shows_login: bool = True
    """Whether every start prints a login, not only the first."""
    demo: bool = False
    otlp: str | None = None
    """Where spans are sent as well, if the environment does not say."""
    snapshot_every: int = 100_000


def run_process(options: ProcessOptions) -> None:
    """Serve until a signal ends it; raises what it cannot go on from."""
    bound = _bind(options.host, options.port)
    try:
        asyncio.run(_Process(options, bound).live())
    finally:
        bound.close()


class Voice:
    """Lines in the log; the same words at most every two seconds."""

    def __init__(self) -> None:
        self._last: tuple[str, float] = ("", 0.0)

    def __call__(self, message: str) -> None:
        now = time.monotonic()
        words, said = self._last
        if message == words and now - said < SAME_AGAIN_S:
            return
        self._last = (message, now)
        _LOG.info(message)


class _Process:
    def __init__(self, options: ProcessOptions, bound: socket.socket) -> None:
        self._options, self._bound = options, bound
        port: int = bound.getsockname()[1]
        scheme = "http" if options.tls is None else "https"
        self._url = f"{scheme}://{_spell_address(options.host, port)}"
        self._address = f"{scheme}://{_spell_address(options.advertise or options.host, port)}"
        self._name = options.name or f"{machine_name()}-{port}"
        self._say = Voice()
        self._ending = asyncio.Event()
        self._clock = SteadyClock(SystemClock())
        self._authority = Authority.from_pem(options.authority)
        self._said = ""
        self._welcomed = False

    async def live(self) -> None:
        """Open the store, listen, and go on until a signal or a fault."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._ending.set)
        # The default is a thread for each core and four more: on a small machine, a few slow
        # questions of the past would keep everybody from his job's output.
        loop.set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="aside"))
        options = self._options
        telemetry = open_telemetry(options.folder, self._name, otlp=options.otlp)
        try:
            store = await self._open_store()
            if store is None:
                return
            pace = Pace(snapshot_every=options.snapshot_every)
            watched = telemetry.watch_store(store)
            replica = Replica(
                watched, self._clock, name=self._name, address=self._address, pace=pace
            )
            replica.warn = self._say
            replica.stamps = open_stamps(options.folder, self._authority)
            runner = Runner(replica)
            peers = Peers(runner, self._authority, self._clock, _believed(options.tls))
            keys = self._authority, self._clock
            base = Base(store, runner, *keys, telemetry, peers, self._say)
            await self._serve(base)
        finally:
            await asyncio.to_thread(telemetry.close)
        if runner.failed is not None:
            raise runner.failed

    async def _serve(self, base: Base) -> None:
        options, runner = self._options, base.runner
        plan = ProcessPlan(
            folder=options.folder,
            address=self._url,
            is_node=options.is_node,
            is_open=is_loopback(options.host),
            demo=options.demo,
            capability=options.capability,
            apart=options.apart,
            clusters=options.clusters,
            providers=options.providers,
            federation=options.federation,
            public_url=options.public_url or self._address,
            webhooks_private=options.webhooks_private,
            mail=options.mail,
            cell_keys=options.cell_keys,
            artifact_networks=options.artifact_networks,
        )
        parts, tasks = assemble(base, plan)
        duties = Duties(tasks, say=self._say)
        app = create_app(
            runner, self._authority, clock=self._clock, ids=lambda: str(uuid7()), parts=parts
        )
        port = open_port(app, options.tls)
        runner.start()
        followers = [follow_telemetry(base.telemetry, runner)]
        if parts.capabilities is not None:
            followers.append(follow_revocations(parts.capabilities, runner))
        serving = asyncio.create_task(port.serve(sockets=[self._bound]))
        try:
            while not port.started and not serving.done():  # a moment: it only has to listen
                await asyncio.sleep(0.005)
            print(f"Bailiwick listens on {self._url} as {self._name}", flush=True)
            await self._watch(runner, duties, serving=serving)
        finally:
            await self._wind_up(base, parts, duties=duties, port=port, serving=serving)
            for follower in followers:
                await asyncio.to_thread(follower.close)
        if duties.failed is not None:
            raise duties.failed

    async def _wind_up(
        self,
        base: Base,
        parts: Parts,
        *,
        duties: Duties,
        port: Port,
        serving: asyncio.Task[None],
    ) -> None:
        """Let go of everything, in the order in which nothing is lost."""
        if parts.ending is not None:
            parts.ending.set()
        port.should_exit = True
        for desk in (parts.endpoints, parts.execs):
            if desk is not None:
                await asyncio.to_thread(desk.close)
        await asyncio.to_thread(duties.end)
        await serving
        await base.peers.close()
        await asyncio.to_thread(base.runner.stop)
        self._say(f"{self._name} has stopped")

    async def _open_store(self) -> SqlStore | None:
        """The store, as soon as it can be opened; nothing if a signal came first."""
        while not self._ending.is_set():  # until a signal: an absent database may come back
            try:
                return await asyncio.to_thread(open_store, self._options.where)
            except Unavailable as error:
                self._say(f"{self._name} cannot open its store yet: {error}")
            await await_set(self._ending, TRY_EVERY_S)
        return None

    async def _watch(self, runner: Runner, duties: Duties, *, serving: asyncio.Task[None]) -> None:
        """Say every change of role and act on it; come back when there is a reason to end."""
        while not (
            self._ending.is_set()
            or runner.failed is not None
            or duties.failed is not None
            or serving.done()
        ):  # as long as the process lives
            self._tell_standing(runner.replica)
            if runner.replica.role is not Role.LEADING:
                await asyncio.to_thread(duties.end)
            elif not self._welcomed or not duties.is_on:
                await self._take_up(runner, duties)
            await await_set(self._ending, WATCH_EVERY_S)

    async def _take_up(self, runner: Runner, duties: Duties) -> None:
        """What a replica that leads has to see to before anything else."""
        try:
            welcome = await asyncio.to_thread(self._furnish, runner)
        except (Unavailable, Conflict) as error:
            self._say(f"{self._name} tries again: {error}")
            return
        if welcome and not self._welcomed:
            print(welcome, flush=True)
        self._welcomed = True
        duties.begin()

    def _furnish(self, runner: Runner) -> str:
        found = furnish(runner)
        if self._welcomed or not (found.is_new or self._options.shows_login):
            return ""
        code = make_login(runner, self._authority, admin=found.admin, clock=self._clock)
        return _welcome(self._address, code, self._options)

    def _tell_standing(self, replica: Replica) -> None:
        now = _standing(replica)
        if now != self._said:
            self._said = now
            self._say(f"{self._name} {now}")


def _welcome(url: str, code: str, options: ProcessOptions) -> str:
    server = "" if url == "http://127.0.0.1:7077" else f" --server {url}"
    if options.tls is not None and options.tls.ca is not None:
        server += f" --ca-file {options.tls.ca}"
    first = """submit --follow -- python3 -c 'print("hello from a lease")'"""
    if not options.is_node:
        first = "node list                         # docs/agent.md says how machines join"
    # A job lands only where jobs are run, which no machine of the demo does; a lease lands there.
    second = "plan --cpus 1 --ttl 2h"
    if options.demo:
        second = "lease request --dry-run --gpus 8 --generation nvidia_hopper --ttl 2h"
    return f"""
Log in (this code works once, within the hour):

  bailiwick login{server} {code}

Or in a browser:

  {url}/#code={code}

Then try:

  bailiwick {first}
  bailiwick {second}
  bailiwick watch
"""


def _standing(replica: Replica) -> str:
    leader, kernel = replica.leader, replica.kernel
    match replica.role:
        case Role.LEADING:
            return f"leads, epoch {kernel.state.epoch if kernel is not None else '?'}"
        case Role.FOLLOWING if leader is not None and leader.name != replica.name:
            return f"follows {leader.name} at {leader.address or '?'}, epoch {leader.epoch}"
        case Role.FOLLOWING:
            return "follows, and knows no leader"
        case Role.STARTING:
            return "reads the store"


def _believed(tls: Tls | None) -> ssl.SSLContext | bool:
    """Whose certificates other replicas may show."""
    if tls is None or tls.ca is None:
        return True
    return ssl.create_default_context(cafile=str(tls.ca))


def _bind(host: str, port: int) -> socket.socket:
    """A socket of our own at this address; it listens later."""
    try:
        kind, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InvalidValue("host", host, f"a host's name or address ({error})") from error
    # The protocol must be named: asyncio switches Nagle's delay off only where it is, and with that
    # delay every answer (headers, then body) waits 40 ms for an acknowledgement.
    bound = socket.socket(kind, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        shown = _spell_address(host, port)
        hint = "give another --port, or 0 for any"
        raise Conflict("address", shown, f"cannot be used ({error})", hint=hint) from error
    return bound


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return False
    return all(row[4][0] == "::1" or str(row[4][0]).startswith("127.") for row in found)


def _spell_address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
