"""The server as the agent's loop sees it: report, beat, counters, and what refusals mean."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from bailiwick.agent.beating import Away, NotKnown, NotTaken
from bailiwick.client.bodies import make_body
from bailiwick.client.errors import Refusal, Unreachable
from bailiwick.client.http_client import Client
from bailiwick.vocab.errors import ErrorCode, InvalidValue
from bailiwick.vocab.values import check_name
from bailiwick.wire.counting import CounterReport, CountersTaken
from bailiwick.wire.fleet import Heard, Inventory

if TYPE_CHECKING:
    from bailiwick import NodeCapacity
    from bailiwick.agent.counting import LeaseCount

TOKEN_CHARS_MAX = 4_096


class HttpServer:
    """One server over HTTP; ``with`` it. The token is whatever the file has now."""

    def __init__(self, server: str, token_file: Path, *, ca_file: str | None = None) -> None:
        self._server, self._token_file, self._ca_file = server, token_file, ca_file
        self._token = read_token(token_file)
        self._client = self._connect()

    def _connect(self) -> Client:
        # One try each: the loop itself tries again, and knows for how long.
        return Client(self._server, self._token, ca_file=self._ca_file, timeout_s=8.0, tries=1)

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
            self._client.change("PUT", f"/v1/nodes/{node}/inventory", body=body)
        except Unreachable as error:
            raise Away(str(error)) from None
        except Refusal as refusal:
            if refusal.problem.code is ErrorCode.CONFLICT:
                raise NotTaken(refusal.problem.message) from None
            _judge(refusal)

    def beat(self, node: str) -> int:
        """Say that the machine lives."""
        self._renew()
        try:
            heard: Heard = self._client.call("POST", f"/v1/nodes/{node}/heartbeat", kind=Heard)
        except Unreachable as error:
            raise Away(str(error)) from None
        except Refusal as refusal:
            if refusal.problem.code is ErrorCode.NOT_FOUND:
                raise NotKnown from None
            _judge(refusal)
        return heard.beat_ms

    def count(
        self, node: str, epoch: int, *, events: Sequence[tuple[int, LeaseCount]]
    ) -> tuple[int, int]:
        """Tell what was counted for leases."""
        rows = [{"sequence": number, **asdict(each)} for number, each in events]
        counters = [{**row, "gpus": list(row["gpus"])} for row in rows]
        body = make_body(CounterReport, epoch=epoch, counters=counters)
        self._renew()
        try:
            taken: CountersTaken = self._client.call(
                "POST", f"/v1/nodes/{node}/counters", kind=CountersTaken, body=body
            )
        except Unreachable as error:
            raise Away(str(error)) from None
        except Refusal as refusal:
            if refusal.problem.code is ErrorCode.NOT_FOUND:
                return 0, 0  # the node has just departed: the next beat says so
            _judge(refusal)
        return taken.epoch, taken.acknowledged


def _judge(refusal: Refusal) -> NoReturn:
    """Wait for what may pass; what may not ends the agent."""
    if refusal.status in (429, 500, 503):
        raise Away(str(refusal)) from None
    raise refusal


def inventory_of(capacity: NodeCapacity) -> Inventory:
    """A node's capacity as the contract tells it."""
    return make_body(
        Inventory,
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
