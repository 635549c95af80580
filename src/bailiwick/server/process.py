"""The life of one server process: store, replica, port; what it says, and how it ends.

Rules:

- The port answers only when the store is open. A store that cannot be reached yet is tried again
  and again, and every two seconds that is said.
- One line on stdout says where it listens. Everything after that goes to stderr, each line with the
  time in UTC: changes of role, and what went wrong. The token is never among it.
- SIGTERM and SIGINT end it in good order: requests under way get a moment, the round is finished,
  leadership is given up. What cannot be repaired by trying again (a damaged journal, tables of a
  newer version, a broken invariant) ends it with that error.
"""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from bailiwick.ports import JournalStore
from bailiwick.server.desk import Desk
from bailiwick.server.lines import LinePort
from bailiwick.services.replica import Pace, Replica, Role
from bailiwick.services.runner import Runner, SystemClock
from bailiwick.store import open_store
from bailiwick.vocab.errors import Conflict, InvalidValue, Unavailable

TRY_EVERY_S = 2.0
WATCH_EVERY_S = 0.05
SAME_AGAIN_S = 2.0
"""A warning that repeats is said this often at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessOptions:
    """What one process is told."""

    where: str
    """A data directory or the address of a database."""
    token: str
    host: str = "127.0.0.1"
    port: int = 7077
    name: str | None = None
    advertise: str | None = None
    """The host that other replicas reach this one at, if not ``host``."""
    snapshot_every: int = 100_000


def run_process(options: ProcessOptions) -> None:
    """Serve until a signal ends it; raises what it cannot go on from."""
    bound = _bind(options.host, options.port)
    try:
        asyncio.run(_Process(options, bound).live())
    finally:
        bound.close()


class Voice:
    """Lines on stderr, with the time; the same words at most every two seconds."""

    def __init__(self) -> None:
        self._last: tuple[str, float] = ("", 0.0)

    def __call__(self, message: str) -> None:
        now = time.monotonic()
        words, said = self._last
        if message == words and now - said < SAME_AGAIN_S:
            return
        self._last = (message, now)
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
        with suppress(OSError, ValueError):  # a full disk or a closed pipe must not end the process
            print(f"{at}Z {message}", file=sys.stderr, flush=True)


class _Process:
    def __init__(self, options: ProcessOptions, bound: socket.socket) -> None:
        self._options, self._bound = options, bound
        self._port: int = bound.getsockname()[1]
        self._name = options.name or _default_name(self._port)
        self._address = _spell_address(options.advertise or options.host, self._port)
        self._say = Voice()
        self._ending = asyncio.Event()

    async def live(self) -> None:
        """Open the store, listen, and go on until a signal or a fault."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._ending.set)
        store = await self._open_store()
        if store is None:
            return
        pace = Pace(snapshot_every=self._options.snapshot_every)
        replica = Replica(store, SystemClock(), name=self._name, address=self._address, pace=pace)
        replica.warn = self._say
        runner = Runner(replica)
        port = LinePort(Desk(runner, token=self._options.token, say=self._say))
        runner.start()
        try:
            await port.open(self._bound)
            where = _spell_address(self._options.host, self._port)
            print(f"listening on {where} as {self._name}", flush=True)
            await self._watch(runner)
        finally:
            await port.close()
            await asyncio.to_thread(runner.stop)
        if runner.failed is not None:
            raise runner.failed
        self._say(f"{self._name} has stopped")

    async def _open_store(self) -> JournalStore | None:
        """The store, as soon as it can be opened; nothing if a signal came first."""
        while not self._ending.is_set():  # until a signal: an absent database may come back
            try:
                return await asyncio.to_thread(open_store, self._options.where)
            except Unavailable as error:
                self._say(f"{self._name} cannot open its store yet: {error}")
            await _wait(self._ending, TRY_EVERY_S)
        return None

    async def _watch(self, runner: Runner) -> None:
        """Say every change of role; come back when there is a reason to end."""
        said = ""
        while not self._ending.is_set() and runner.failed is None:  # as long as the process lives
            now = _standing(runner.replica)
            if now != said:
                said = now
                self._say(f"{self._name} {now}")
            await _wait(self._ending, WATCH_EVERY_S)


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


async def _wait(event: asyncio.Event, most_s: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), most_s)
    except TimeoutError:
        return


def _bind(host: str, port: int) -> socket.socket:
    """A socket of our own at this address; it listens later."""
    try:
        kind, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InvalidValue("host", host, f"a host's name or address ({error})") from error
    bound = socket.socket(kind, socket.SOCK_STREAM)
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


def _default_name(port: int) -> str:
    host = re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname().partition(".")[0])[:40]
    return f"{host.strip('-.') or 'replica'}-{port}"
