"""The server as the agent's loop sees it: report, beat, counters, proofs; what refusals mean."""

from __future__ import annotations

import base64
import contextlib
import re
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar
from urllib.parse import urlsplit

from bailiwick.agent.attestation import KindVerdict, NodeTrust, NotAccepted
from bailiwick.agent.dividing import GpuOrder, NotWanted
from bailiwick.agent.health.skew import estimate_skew
from bailiwick.agent.health.watching import TooSoon
from bailiwick.agent.heartbeat import Away, Heard, NotKnown, NotTaken
from bailiwick.client.bodies import make_body
from bailiwick.client.errors import Misunderstood, Refusal, Unreachable
from bailiwick.client.http_client import Client
from bailiwick.vocab.errors import ErrorCode, InvalidValue
from bailiwick.vocab.trust import MintDenial
from bailiwick.vocab.values import check_name
from bailiwick.wire import fleet, health, trust
from bailiwick.wire.actions import nodes
from bailiwick.wire.actions.action import Action
from bailiwick.wire.answers import TokenDenied
from bailiwick.wire.base import Model
from bailiwick.wire.counting import CounterReport
from bailiwick.wire.mig import MigOrder
from bailiwick.wire.problem import EdgeCode

if TYPE_CHECKING:
    from bailiwick.agent.counting import LeaseCount
    from bailiwick.agent.minting import LeaveOutcome, MintRequest
    from bailiwick.attestation.evidence import Evidence
    from bailiwick.fleet.node import NodeCapacity
    from bailiwick.vocab.health import HealthFinding
    from bailiwick.vocab.mig import MigFailure
    from bailiwick.vocab.trust import EvidenceKind

B = TypeVar("B", bound=Model)
R = TypeVar("R")

TOKEN_CHARS_MAX = 4_096
TIMEOUT_S = 8.0
TOOK_MS_MAX = 86_400_000
_NOT_WANTED = (ErrorCode.CONFLICT, ErrorCode.NOT_FOUND, EdgeCode.METHOD_NOT_ALLOWED)


class HttpServer:
    """One server over HTTP; ``with`` it. The token is whatever the file has now."""

    def __init__(
        self,
        server: str,
        token_file: Path,
        *,
        ca_file: str | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._server, self._token_file, self._ca_file = server, token_file, ca_file
        self._timeout_s = timeout_s
        self._token = read_token(token_file)
        self._client = self._connect()
        self.skew: dict[str, int] | None = None
        """How far our clock is from the server's, as far as the last beat's answer tells."""

    def _connect(self) -> Client:
        # One try each: the loop itself tries again, and knows for how long.
        return Client(
            self._server, self._token, ca_file=self._ca_file, timeout_s=self._timeout_s, tries=1
        )

    def client(self) -> Client:
        """The connection, with the token that counts now."""
        self._renew()
        return self._client

    def _renew(self) -> None:
        """Take up a token that was written since: none lasts as long as an agent does."""
        with contextlib.suppress(InvalidValue):  # just being written: the one at hand still counts
            token = read_token(self._token_file)
            if token != self._token:
                self._client.close()
                self._token = token
                self._client = self._connect()

    def __enter__(self) -> HttpServer:
        return self

    def __exit__(self, *raised: object) -> None:
        self._client.close()

    def report(self, node: str, capacity: NodeCapacity) -> None:
        """Have the machine be a node."""
        body = inventory_of(capacity)
        self._renew()
        try:
            self._client.send(nodes.NODE_REPORT, path={"node": node}, body=body)
        except Unreachable as error:
            raise Away(str(error)) from None
        except Refusal as refusal:
            if refusal.problem.code is ErrorCode.CONFLICT:
                raise NotTaken(refusal.problem.message, _models(refusal)) from None
            _judge(refusal)

    def beat(self, node: str) -> Heard:
        """Say that the machine lives."""
        self._renew()
        sent_ms, began_ns = time.time_ns() // 1_000_000, time.monotonic_ns()
        try:
            heard = self._client.send(nodes.NODE_BEAT, path={"node": node})
        except Unreachable as error:
            raise Away(str(error)) from None
        except Refusal as refusal:
            if refusal.problem.code is ErrorCode.NOT_FOUND:
                raise NotKnown from None
            _judge(refusal)
        took_ms = (time.monotonic_ns() - began_ns) // 1_000_000
        self.skew = estimate_skew(self._client.date, sent_ms=sent_ms, took_ms=took_ms)
        nonce = heard.attest_nonce
        order = None if heard.mig is None else _order_of(heard.mig)
        test_id = None if heard.test is None else heard.test.test_id
        return Heard(heard.beat_ms, None if nonce is None else bytes.fromhex(nonce), order, test_id)

    def tell_divided(
        self, node: str, change_id: int, *, cause: MigFailure | None, now: NodeCapacity
    ) -> None:
        """Say how an order to divide GPUs went."""
        told = {"change_id": change_id, "cause": cause, "inventory": inventory_of(now)}
        body = make_body(fleet.MigReport, **told)
        self._tell(nodes.NODE_MIG_REPORT, node, body=body)

    def tell_health(
        self, node: str, findings: tuple[HealthFinding, ...], *, can_test: bool
    ) -> None:
        """Say all that is wrong with the machine."""
        rows = [asdict(each) for each in findings]
        body = make_body(health.HealthReport, findings=rows, can_test=can_test)
        self._tell(nodes.NODE_HEALTH_REPORT, node, body=body)

    def tell_tested(
        self, node: str, test_id: int, *, findings: tuple[HealthFinding, ...], took_ms: int
    ) -> None:
        """Say what a test of the machine found."""
        rows = [asdict(each) for each in findings]
        body = make_body(
            health.NodeTestReport,
            test_id=test_id,
            findings=rows,
            took_ms=min(took_ms, TOOK_MS_MAX),
        )
        self._tell(nodes.NODE_TEST_REPORT, node, body=body)

    def _tell(self, action: Action[B, R], node: str, *, body: B) -> None:
        """Tell what the server may not want to know (any more), or not understand (yet)."""
        self._renew()
        try:
            self._client.send(action, path={"node": node}, body=body)
        except Unreachable as error:
            raise Away(str(error)) from None
        except Misunderstood as error:
            raise NotWanted(str(error)) from None
        except Refusal as refusal:
            if refusal.problem.code in _NOT_WANTED:
                raise NotWanted(refusal.problem.message) from None
            if refusal.status == 429 and action is not nodes.NODE_MIG_REPORT:
                raise TooSoon(refusal.problem.message) from None
            _judge(refusal)

    def count(
        self, node: str, epoch: int, *, events: Sequence[tuple[int, LeaseCount]]
    ) -> tuple[int, int]:
        """Tell what was counted for leases."""
        rows = [{"sequence": number, **asdict(each)} for number, each in events]
        counters = [{**row, "gpus": list(row["gpus"])} for row in rows]
        body = make_body(CounterReport, epoch=epoch, counters=counters)
        self._renew()
        try:
            taken = self._client.send(nodes.NODE_COUNT, path={"node": node}, body=body)
        except Unreachable as error:
            raise Away(str(error)) from None
        except Refusal as refusal:
            if refusal.problem.code is ErrorCode.NOT_FOUND:
                return 0, 0  # the node has just departed: the next beat says so
            _judge(refusal)
        return taken.epoch, taken.acknowledged

    # -- proofs ------------------------------------------------------------------------------

    def offer(
        self, node: str, kind: EvidenceKind, *, parts: Mapping[str, bytes]
    ) -> tuple[str, Mapping[str, bytes]]:
        """Offer keys to be known by."""
        body = make_body(trust.EnrolmentOffer, kind=kind, parts=_texts(parts))
        told = self._prove(nodes.NODE_ENROL, node, body=body)
        return told.enrolment_id, {name: _bytes(text) for name, text in told.parts.items()}

    def prove(self, node: str, enrolment_id: str, *, parts: Mapping[str, bytes]) -> None:
        """Answer the challenge that followed."""
        body = make_body(trust.EnrolmentProof, enrolment_id=enrolment_id, parts=_texts(parts))
        self._prove(nodes.NODE_PROVE, node, body=body)

    def nonce(self, node: str) -> bytes | None:
        """What to answer now; nothing of a node that is in no pool."""
        self._renew()
        try:
            told = self._client.send(nodes.NODE_NONCE, path={"node": node})
        except Unreachable as error:
            raise Away(str(error)) from None
        except Refusal as refusal:
            if refusal.problem.code is ErrorCode.CONFLICT:
                return None
            _judge_proof(refusal)
        return bytes.fromhex(told.nonce)

    def present(self, node: str, nonce: bytes, *, pieces: Sequence[Evidence]) -> NodeTrust:
        """Send evidence; what was found."""
        rows = [{"kind": each.kind, "parts": _texts(each.parts)} for each in pieces]
        body = make_body(trust.Attestation, nonce=nonce.hex(), pieces=rows)
        told = self._prove(nodes.NODE_ATTEST, node, body=body)
        found = (KindVerdict(row.kind, row.verdict, row.reason, row.where) for row in told.verdicts)
        return NodeTrust(told.state, tuple(found))

    def leave(self, node: str, wish: MintRequest) -> LeaveOutcome:
        """Ask whether a token may be minted here."""
        from bailiwick.agent.minting import Leave
        from bailiwick.capability.broker import Denied
        from bailiwick.capability.claims import TokenClaims

        body = make_body(
            trust.NodeTokenWish,
            lease_id=wish.lease_id,
            operations=list(wish.operations),
            ttl_ms=wish.ttl_ms,
            generation=wish.generation,
        )
        self._renew()
        try:
            told = self._client.send(nodes.NODE_TOKEN, path={"node": node}, body=body)
        except (Unreachable, Misunderstood) as error:
            raise Away(str(error)) from None
        except Refusal as refusal:
            decision = refusal.problem.decision
            if isinstance(decision, TokenDenied):
                return Denied(decision.reason)
            if refusal.problem.code is ErrorCode.NOT_FOUND:
                return Denied(MintDenial.NO_SUCH_LEASE)
            raise Away(str(refusal)) from None
        claims = told.claims.model_dump()
        return Leave(TokenClaims(**{**claims, "operations": tuple(claims["operations"])}))

    def _prove(self, action: Action[B, R], node: str, *, body: B) -> R:
        self._renew()
        try:
            return self._client.send(action, path={"node": node}, body=body)
        except Unreachable as error:
            raise Away(str(error)) from None
        except Refusal as refusal:
            _judge_proof(refusal)


def _models(refusal: Refusal) -> tuple[str, ...] | None:
    """With which GPUs a node is known that was not taken; nothing where that is not told."""
    told = refusal.problem.details.get("gpus")
    return tuple(told) if isinstance(told, list) else None


def _order_of(told: MigOrder) -> GpuOrder:
    return GpuOrder(told.change_id, tuple(told.gpus), tuple(told.profiles))


def _judge_proof(refusal: Refusal) -> NoReturn:
    """What an operator may settle does not end the agent: it is told, and tried again later."""
    code = refusal.problem.code
    if code is ErrorCode.NOT_FOUND:
        raise NotKnown from None
    if refusal.problem.retryable or code in (EdgeCode.UNAUTHENTICATED, EdgeCode.FORBIDDEN):
        _judge(refusal)
    raise NotAccepted(refusal.problem.message) from None


def _texts(parts: Mapping[str, bytes]) -> dict[str, str]:
    return {name: base64.b64encode(value).decode() for name, value in parts.items()}


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise NotAccepted("the server's challenge is not in base64") from None


def _judge(refusal: Refusal) -> NoReturn:
    """Wait for what may pass; what may not ends the agent."""
    if refusal.status in (429, 500, 503):
        raise Away(str(refusal)) from None
    raise refusal


def inventory_of(capacity: NodeCapacity) -> fleet.Inventory:
    """A node's capacity as the contract tells it."""
    return make_body(
        fleet.Inventory,
        resources={
            "cpu_milli": capacity.cpu_milli,
            "mem_bytes": capacity.mem_bytes,
            "block_bytes": capacity.block_bytes,
        },
        gpus=[
            {
                "generation": gpu.generation,
                "vram_bytes": gpu.vram_bytes,
                "model": gpu.model,
                "fabric": gpu.fabric,
                "partitionable": gpu.partitionable,
            }
            for gpu in capacity.gpus
        ],
        labels=sorted(f"{key}={value}" for key, value in capacity.labels.items()),
        topology={
            "caches": [
                {"cores_milli": cache.cores_milli, "numa": cache.numa}
                for cache in capacity.topology.caches
            ],
            "gpu_numa": list(capacity.topology.gpu_numa),
        },
    )


def node_name(given: str | None) -> str:
    """What the node is called: as it was told, or as the machine is."""
    if given is not None:
        return check_name("--node", given)
    name = re.sub(r"[^A-Za-z0-9.-]", "-", socket.gethostname().partition(".")[0])[:40]
    return name.strip("-.") or "node"


def read_token(path: Path) -> str:
    """The token in a file."""
    try:
        with path.open(encoding="utf-8") as file:
            token = file.read(TOKEN_CHARS_MAX).strip()
    except (OSError, ValueError) as error:
        raise InvalidValue("--token-file", str(path), f"a file to read ({error})") from None
    if not token or len(token.split()) != 1:
        raise InvalidValue("--token-file", str(path), "one token and nothing else")
    return token


def own_address(server: str) -> str | None:
    """From which address this machine reaches the server: there other nodes reach it as well.

    Nothing if it cannot be told, or is none that a label can spell.
    """
    asked = urlsplit(server)
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((asked.hostname or "", asked.port or 443))  # nothing is sent
            return str(probe.getsockname()[0])
    except OSError:
        return None
