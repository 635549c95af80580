"""``bailiwick agent run``: the agent itself, from its options to its loop.

Rules:

- What the machine cannot prove itself with is told before anything is reported: the extra that is
  missing, the TPM that is not there, the key that others can read.
- An option that goes with another kind of proof than the one asked for is refused, not ignored.
- Keys and what is remembered lie in one folder that only the agent's user can open.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli import ExitCode

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from bailiwick.agent.attesting import Attesting, Prover
    from bailiwick.attestation.evidence import Evidence

STATE_DIR = Path("bailiwick-agent")
KEY_NAME = "ed25519.pem"
MINT_KEY_NAME = "capability.pem"
SOCKET_NAME = "mint.sock"
ENROLLED_NAME = "enrolled"

Say = Callable[[str], None]

BlockPathOption = Annotated[
    Path,
    typer.Option(
        "--block-path",
        metavar="DIR",
        help="The folder whose free space is offered as block storage.",
    ),
]


class Attest(StrEnum):
    """By what a machine proves which one it is."""

    TPM2 = "tpm2"
    ED25519 = "ed25519"


@dataclasses.dataclass(frozen=True, slots=True)
class AgentOptions:
    """What ``bailiwick agent run`` can be told."""

    server: Annotated[
        str,
        typer.Option("--server", metavar="URL", envvar="BAILIWICK_SERVER", help="Whom to tell."),
    ]
    token_file: Annotated[
        Path,
        typer.Option(
            "--token-file", metavar="FILE", help="The node's token; a new one counts at once."
        ),
    ]
    node: Annotated[
        str | None, typer.Option("--node", metavar="NAME", help="Else the machine's own name.")
    ] = None
    once: Annotated[
        bool, typer.Option("--once", help="One report, one beat, one proof if asked, then end.")
    ] = False
    block_path: BlockPathOption = Path("/")
    ca_file: Annotated[
        str | None,
        typer.Option("--ca-file", metavar="FILE", help="Whom to trust for the server's name."),
    ] = None
    attest: Annotated[
        Attest | None,
        typer.Option("--attest", help="Prove which machine this is: by its TPM, or by a key file."),
    ] = None
    attest_state: Annotated[
        Path,
        typer.Option(
            "--attest-state",
            metavar="DIR",
            envvar="STATE_DIRECTORY",
            file_okay=False,
            help="Where the keys for that lie; made if absent, for this user alone.",
        ),
    ] = STATE_DIR
    tpm: Annotated[
        str | None,
        typer.Option(
            "--tpm",
            metavar="WAY",
            help="With tpm2: which TPM, as device:/dev/tpmrm0 (the default) or "
            "swtpm:host=127.0.0.1,port=2321.",
        ),
    ] = None
    event_log: Annotated[
        Path | None,
        typer.Option(
            "--event-log",
            metavar="FILE",
            help="With tpm2: the firmware's log, if it is not where Linux has it.",
        ),
    ] = None
    key_file: Annotated[
        Path | None,
        typer.Option(
            "--key-file",
            metavar="FILE",
            help=f"With ed25519: the key (PEM), made if absent. By default DIR/{KEY_NAME}.",
        ),
    ] = None
    firmware: Annotated[
        str | None,
        typer.Option(
            "--firmware",
            metavar="SHA256|FILE",
            help="With ed25519: the firmware to state, as its digest or as the file itself.",
        ),
    ] = None
    mint: Annotated[
        bool,
        typer.Option(
            "--mint",
            help="With --attest: mint lease tokens here, with a key of this node's own, for work "
            f"that asks at DIR/{SOCKET_NAME}.",
        ),
    ] = False


def run_agent(options: AgentOptions) -> None:
    """Report this machine, that it lives and what leases use, until a signal; runs nothing."""
    import signal
    import threading
    import time

    from bailiwick.agent.beating import Beating
    from bailiwick.agent.counting import LeaseCounting
    from bailiwick.agent.inventory import judge, read_machine
    from bailiwick.agent.report import capacity_of
    from bailiwick.cli.agent_server import HttpServer, node_name

    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    name = node_name(options.node)

    def say(text: str) -> None:
        typer.echo(f"bailiwick agent: {text}", err=True)

    attesting = attesting_of(options, say)
    with (
        HttpServer(options.server, options.token_file, ca_file=options.ca_file) as fleet,
        minting_of(options, name, say=say),
    ):
        beating = Beating(
            name,
            fleet,
            read=lambda: capacity_of(judge(read_machine(options.block_path))),
            wait=stop.wait,
            say=say,
            counting=LeaseCounting(lambda: time.time_ns() // 1_000_000, say),
            attesting=attesting,
        )
        if not options.once:
            beating.run()
        elif not beating.run_once():
            raise typer.Exit(ExitCode.UNREACHABLE)


def attesting_of(options: AgentOptions, say: Say) -> Attesting | None:
    """How this machine proves itself; nothing if it is not to."""
    from bailiwick import InvalidValue

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
    from bailiwick.agent.attesting import Attesting
    from bailiwick.agent.key_file import NoteFile

    note = NoteFile(options.attest_state / ENROLLED_NAME)
    key = _mint_key(options).public_key().public_bytes_raw() if options.mint else None
    return Attesting(_prover(options), note, say, devices=_devices(), capability_key=key)


def _devices() -> Callable[[bytes], Sequence[Evidence]] | None:
    """Who asks the GPUs for their reports, on a machine where a driver answers for any."""
    from bailiwick.agent.gpu_report import gpu_reports
    from bailiwick.agent.nvml import open_session

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

    from bailiwick.agent.counters import Machine
    from bailiwick.agent.mint_socket import MintSocket
    from bailiwick.agent.minting import Minting
    from bailiwick.capability.biscuit_tokens import BiscuitMinter
    from bailiwick.cli.agent_server import HttpServer

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
    from bailiwick import InvalidValue

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
