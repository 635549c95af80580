"""The agent's process, from its options to its loop.

Rules:

- What the machine cannot prove itself with is told before anything is reported: the extra that is
  missing, the TPM that is not there, the key that others can read.
- An option that goes with another kind of proof than the one asked for is refused, not ignored.
- How jobs are kept apart is chosen, by trying, before the node is reported with it.
- Keys and what is remembered lie in one folder that only the agent's user can open.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bailiwick.fleet.node import (
    ADDRESS_LABEL,
    EXECUTOR_LABEL,
    HOST_MEMBERS_LABEL,
    JOB_MODE_LABEL,
    NODE_EXECUTOR,
    YES,
)
from bailiwick.vocab.errors import InvalidValue

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from bailiwick.agent.attestation import NodeAttestation, Prover
    from bailiwick.agent.dividing import GpuOrder
    from bailiwick.agent.health.testing import MachineHealth, NoHealth
    from bailiwick.agent.server import HttpServer
    from bailiwick.attestation.evidence import Evidence
    from bailiwick.executors.local.executor import LocalExecutor
    from bailiwick.fleet.node import NodeCapacity
    from bailiwick.vocab.mig import MigFailure

STATE_DIR = Path("bailiwick-agent")
KEY_NAME = "ed25519.pem"
MINT_KEY_NAME = "capability.pem"
SOCKET_NAME = "mint.sock"
JOBS_NAME = "jobs"
ENROLLED_NAME = "enrolled"

Say = Callable[[str], None]


class Attest(StrEnum):
    """By what a machine proves which one it is."""

    TPM2 = "tpm2"
    ED25519 = "ed25519"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """What an agent is told before it starts."""

    server: str
    token_file: Path
    node: str | None = None
    """Its name in the fleet; else the machine's own."""
    once: bool = False
    """One report, one beat, one proof if asked, then end."""
    block_path: Path = Path("/")
    label: list[str] | None = None
    """Labels (``KEY=VALUE``) beside those that follow from what was read, such as its rack."""
    ca_file: str | None = None
    attest: Attest | None = None
    attest_state: Path = STATE_DIR
    """Where the keys lie; made if absent, for this user alone."""
    tpm: str | None = None
    event_log: Path | None = None
    key_file: Path | None = None
    firmware: str | None = None
    mint: bool = False
    run_jobs: bool = False
    """Run the jobs that are placed here."""
    job_mode: str | None = None
    trust_jobs: bool = False
    job_path: list[str] | None = None
    """How those jobs are kept apart, and what they see: as of a server's own node."""
    host_members: bool = False
    """Whether members of apps that were granted it run on the host."""
    health: bool = True
    """Whether it looks what is wrong with the machine, and tests it when it is told to."""
    health_limit: list[str] | None = None
    """Limits (``NAME=NUMBER``) other than the usual ones."""


def run_agent(options: AgentOptions, say: Say) -> bool:
    """Report this machine, that it lives and what leases use, until a signal; run its jobs.

    Whether the server heard it: with ``once`` that is known, else it is tried for good.
    """
    import signal
    import threading
    import time

    from bailiwick.agent.counting import LeaseCounting
    from bailiwick.agent.dividing import GpuDividing
    from bailiwick.agent.heartbeat import Beating
    from bailiwick.agent.machine.inventory import judge, read_machine
    from bailiwick.agent.report import capacity_of, labels_given, with_labels
    from bailiwick.agent.server import HttpServer, node_name, own_address

    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    name = node_name(options.node)
    labels = labels_given(options.label or ())
    if HOST_MEMBERS_LABEL in labels:
        raise InvalidValue("--label", HOST_MEMBERS_LABEL, "--host-members, which makes it so")
    executor = executor_of(options)
    if executor is not None:
        own = own_address(options.server)
        told = {} if own is None else {ADDRESS_LABEL: own}
        labels = {**told, **labels, EXECUTOR_LABEL: NODE_EXECUTOR}
        labels[JOB_MODE_LABEL] = executor.mode.value
        if options.host_members:
            labels[HOST_MEMBERS_LABEL] = YES
            say("members of apps that were granted it run on the host")
        say(f"jobs are kept apart by the mode {executor.mode}")

    def read() -> NodeCapacity:
        return with_labels(capacity_of(judge(read_machine(options.block_path))), labels)

    attesting = attesting_of(options, say)
    with (
        HttpServer(options.server, options.token_file, ca_file=options.ca_file) as fleet,
        minting_of(options, name, say=say),
        jobs_of(options, name, executor=executor, say=say),
        health_of(options, fleet, executor=executor, say=say) as health,
    ):
        beating = Beating(
            name,
            fleet,
            read=read,
            wait=stop.wait,
            say=say,
            counting=LeaseCounting(lambda: time.time_ns() // 1_000_000, say),
            attesting=attesting,
            dividing=GpuDividing(divide_gpus, read, say),
            health=health,
        )
        if options.once:
            return beating.run_once()
        beating.run()
        return True


@contextmanager
def health_of(
    options: AgentOptions, fleet: HttpServer, *, executor: LocalExecutor | None, say: Say
) -> Iterator[MachineHealth | NoHealth]:
    """Who looks what is wrong with this machine, and tests it; nobody, if that is not wanted."""
    from bailiwick.agent.health.limits import limits_given
    from bailiwick.agent.health.testing import MachineHealth, NodeTesting, NoHealth

    limits = limits_given(options.health_limit or ())
    if not options.health:
        if options.health_limit:
            raise InvalidValue("--health-limit", options.health_limit, "no --no-health beside it")
        yield NoHealth(say)
        return
    import time

    from bailiwick.agent.health.burn_in import BurnIn
    from bailiwick.agent.health.watching import HealthWatch
    from bailiwick.agent.machine.health import DiskProbe, NvmlHealth

    def now_ms() -> int:
        return time.monotonic_ns() // 1_000_000

    writes = options.attest is not None or options.run_jobs
    disks = DiskProbe(options.block_path, written=(options.attest_state,) if writes else ())
    watch = HealthWatch(
        NvmlHealth(),
        disks.read,
        lambda: fleet.skew,
        now_ms,
        say,
        limits=limits,
        jobs=lambda: jobs_there(executor),
        can_test=not options.once,
    )
    burn_in = BurnIn(limits.burn_in_s, limits.burn_memory_mib << 20, busy=watch.gpus.busy)
    try:
        yield MachineHealth(watch, NodeTesting(watch, burn_in, now_ms, say))
    finally:
        watch.let_go()


def jobs_there(executor: LocalExecutor | None) -> int | None:
    """Of how many jobs something is left here.

    Nothing where others run them, where a job can leave files outside its folder, or where nobody
    can look.
    """
    if executor is None or not executor.keeps_files_in:
        return None
    try:
        return len(executor.leases())
    except OSError:
        return None


def divide_gpus(order: GpuOrder, known: Sequence[str], *, library: Any = None) -> MigFailure | None:
    """Divide GPUs by their places in the inventory of the node, which has GPUs of these models.

    Unless all of those answer, and no other: else a place would mean another GPU.
    """
    from bailiwick.agent.machine.gpus import judge_gpus
    from bailiwick.agent.machine.mig import repartition
    from bailiwick.agent.machine.nvml import NvmlGpus
    from bailiwick.vocab.mig import MigFailure

    found = judge_gpus(NvmlGpus(library).read())
    if not found.gpus and not found.unread:
        return MigFailure.NO_NVML
    is_whole = not found.unread and [gpu.model for gpu in found.gpus] == [*known]
    if not is_whole or max(order.gpus) >= len(found.gpus):
        return MigFailure.REFUSED_BY_DRIVER
    indices = [found.gpus[place].index for place in order.gpus]
    return repartition(indices, order.profiles, library=library)


def attesting_of(options: AgentOptions, say: Say) -> NodeAttestation | None:
    """How this machine proves itself; nothing if it is not to."""
    theirs = {
        "--tpm": (options.tpm, Attest.TPM2),
        "--event-log": (options.event_log, Attest.TPM2),
        "--key-file": (options.key_file, Attest.ED25519),
        "--firmware": (options.firmware, Attest.ED25519),
    }
    for name, (given, kind) in theirs.items():
        if given is not None and options.attest is not kind:
            raise InvalidValue(name, str(given), f"--attest {kind.value} beside it")
    if options.attest is None:
        if options.mint:
            raise InvalidValue("--mint", True, "--attest beside it: the server must know the key")
        return None
    from bailiwick.agent.attestation import NodeAttestation
    from bailiwick.agent.key_file import NoteFile

    note = NoteFile(options.attest_state / ENROLLED_NAME)
    key = _mint_key(options).public_key().public_bytes_raw() if options.mint else None
    return NodeAttestation(_prover(options), note, say, devices=_devices(), capability_key=key)


def executor_of(options: AgentOptions) -> LocalExecutor | None:
    """What runs jobs here, kept apart as was said or as well as can be; nothing if none run."""
    if not options.run_jobs:
        given = {"--job-mode": options.job_mode, "--trust-jobs": options.trust_jobs}
        given["--host-members"] = options.host_members
        for name, value in (*given.items(), ("--job-path", options.job_path)):
            if value:
                raise InvalidValue(name, value, "--run-jobs beside it")
        return None
    from bailiwick.executors import local
    from bailiwick.executors.local.modes import apart_of

    keys = () if options.key_file is None else (options.key_file,)
    apart = apart_of(
        options.job_mode,
        trust_jobs=options.trust_jobs,
        job_path=options.job_path,
        hidden=(options.attest_state, options.token_file, *keys),
        host_members=options.host_members,
    )
    return local.open_executor(options.attest_state / JOBS_NAME, apart)


@contextmanager
def jobs_of(
    options: AgentOptions, node: str, *, executor: LocalExecutor | None, say: Say
) -> Iterator[None]:
    """Run the jobs of this node meanwhile, if that is wanted; when it ends they go on."""
    if executor is None or options.once:
        yield
        return
    import threading
    import time

    from bailiwick.agent.server import HttpServer
    from bailiwick.agent.work.execs import ExecAgent, HttpExecs
    from bailiwick.agent.work.jobs import JobAgent
    from bailiwick.agent.work.server import HELD_BACK_S, HttpWork
    from bailiwick.executors.node.agents import own_word

    stop, life = threading.Event(), time.time_ns() // 1_000_000
    says = own_word(executor.mode.value)

    def connect() -> HttpWork:
        file, ca_file = options.token_file, options.ca_file
        http = HttpServer(options.server, file, ca_file=ca_file, timeout_s=HELD_BACK_S)
        return HttpWork(http, node=node, life=life, says=says)

    def enter() -> HttpExecs:
        return HttpExecs(
            options.server, options.token_file, node=node, life=life, ca_file=options.ca_file
        )

    execs = ExecAgent(executor, enter, say=say)
    threading.Thread(target=execs.run, args=(stop,), name="execs", daemon=True).start()
    # Connections of their own: a client is for one thread at a time.
    with connect() as pulling, connect() as telling:
        agent = JobAgent(executor, telling, address=options.server, say=say)
        thread = threading.Thread(target=agent.run, args=(stop, pulling), name="jobs", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            agent.wake()
            thread.join()


def _devices() -> Callable[[bytes], Sequence[Evidence]] | None:
    """Who asks the GPUs for their reports, on a machine where a driver answers for any."""
    from bailiwick.agent.gpu_report import gpu_reports
    from bailiwick.agent.machine.nvml import open_session

    session, _ = open_session(None)
    if session is None:
        return None
    session.close()
    return gpu_reports


@contextmanager
def minting_of(options: AgentOptions, node: str, *, say: Say) -> Iterator[None]:
    """Mint tokens for work on this machine meanwhile, if that is wanted."""
    if not options.mint:
        yield
        return
    import threading
    import time

    from bailiwick.agent.machine.counters import Machine
    from bailiwick.agent.mint_socket import MintSocket
    from bailiwick.agent.minting import Minting
    from bailiwick.agent.server import HttpServer
    from bailiwick.capability.biscuit_tokens import BiscuitMinter

    minter, turn = BiscuitMinter(_mint_key(options).private_bytes_raw()), threading.Lock()
    # A connection of its own: the loop's is the loop's, and a client is for one thread at a time.
    with HttpServer(options.server, options.token_file, ca_file=options.ca_file) as fleet:
        minting = Minting(node, minter, fleet, Machine(), lambda: time.time_ns() // 1_000_000)

        def answer(line: bytes, pid: int) -> bytes:
            with turn:
                return minting.answer(line, pid=pid)

        with MintSocket(options.attest_state / SOCKET_NAME, answer, say=say):
            yield


def _mint_key(options: AgentOptions) -> Ed25519PrivateKey:
    from bailiwick.agent.key_file import load_or_make_key

    return load_or_make_key(options.attest_state / MINT_KEY_NAME)


def _prover(options: AgentOptions) -> Prover:
    if options.attest is Attest.TPM2:
        from bailiwick.agent.tpm2 import DEFAULT_TPM
        from bailiwick.agent.tpm_prover import TpmProver

        tpm = options.tpm or DEFAULT_TPM
        return TpmProver(tpm, options.attest_state, event_log=options.event_log)
    from bailiwick.agent.key_file import KeyFileProver, firmware_digest, load_or_make_key

    if options.firmware is None:
        expected = "the digest of what the machine runs, or the file to take it of"
        raise InvalidValue("--firmware", "nothing", expected)
    key = load_or_make_key(options.key_file or options.attest_state / KEY_NAME)
    return KeyFileProver(key, firmware_digest(options.firmware))
