"""A Ray cluster as its HTTP API tells it: jobs by our names, nodes by what they have.

Rules:

- Patience and size are bounded; redirections are not followed.
- An answer that cannot be had, or is none, is ``Unavailable``, and nothing follows from it: a
  cluster that does not answer has lost no job.
- Only our own jobs are read, by the names that we give. Of all others nothing is taken for an
  answer, whatever it looks like.
- A job is submitted under its name, and the cluster takes a name once. So to ask again is safe.
- A token goes over TLS only, or to this machine.

>>> jobs = parse_jobs([{"submission_id": "bw-0123abcd-7-0123456789ab", "status": "RUNNING"}])
>>> jobs["bw-0123abcd-7-0123456789ab"].state
<RayState.RUNNING: 'RUNNING'>
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2

from bailiwick.fleet.generation import generation_of
from bailiwick.fleet.inventory import REGISTERED_BY
from bailiwick.fleet.node import ATTESTED_PREFIX, GpuDevice, NodeCapacity
from bailiwick.vocab.errors import InvalidValue, Unavailable
from bailiwick.vocab.values import check_name
from bailiwick.vocab.words import HardwareGeneration

WAIT_S: Final = 20.0
ANSWER_BYTES_MAX: Final = 64 * 2**20
NAME = re.compile(r"bw-[0-9a-f]{8}-(\d{1,16})-[0-9a-f]{12}")
"""How a submission is called: whose, for which lease, and which one of that lease."""

NODE_LABEL: Final = "bailiwick-node"
"""The label by which a node of the cluster says which of ours it is; else its own name does."""

GENERATION_PREFIX: Final = "GEN_"
"""How the custom resource begins that counts a node's GPUs of one generation."""

_WHO = "the cluster"
_HERE = ("localhost", "127.0.0.1", "::1")
_WORDS_MAX = 300


class RayState(StrEnum):
    """How far a submission has come, in the cluster's words."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    STOPPED = "STOPPED"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"

    @property
    def is_over(self) -> bool:
        """Whether the cluster will do nothing more for it."""
        return self not in (RayState.PENDING, RayState.RUNNING)


@dataclass(frozen=True, slots=True)
class RayJob:
    """A submission as the cluster tells it."""

    state: RayState
    error: str = ""
    """The cluster's word for what went wrong before the driver ran, if anything did."""
    message: str = ""
    """For a person."""


@dataclass(frozen=True, slots=True)
class RayNode:
    """A node of the cluster that is alive, and what it has in all."""

    name: str
    node_id: str
    address: str
    has: Mapping[str, float] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    def lacks(self, bundle: Mapping[str, float]) -> str | None:
        """The first thing of which it never has enough."""
        return next((k for k, amount in bundle.items() if self.has.get(k, 0.0) < amount), None)

    @property
    def generations(self) -> tuple[str, ...]:
        """The custom resources that count its GPUs by generation."""
        return tuple(
            sorted(k for k, v in self.has.items() if k.startswith(GENERATION_PREFIX) and v > 0)
        )

    def capacity(self) -> NodeCapacity:
        """What it has, as an inventory: a generation counts as far as its resource is told."""
        gpus = [
            GpuDevice(_generation(resource))
            for resource in self.generations
            for _ in range(int(self.has[resource]))
        ]
        rest = int(self.has.get("GPU", 0)) - len(gpus)
        gpus += [GpuDevice(HardwareGeneration.OTHER)] * max(0, rest)
        most = int(self.has.get("GPU", 0))
        cores = int(self.has.get("CPU", 0) * 1000) / 1000
        mem_bytes = int(self.has.get("memory", 0))
        return NodeCapacity(cores, mem_bytes, gpus=gpus[:most], labels=self.labels)


def _generation(resource: str) -> HardwareGeneration:
    """``GEN_nvidia_hopper`` and ``GEN_hopper`` by the word, ``GEN_h100`` by the device."""
    word = resource.removeprefix(GENERATION_PREFIX).lower()
    found = [each for each in HardwareGeneration if each.value in (word, f"nvidia_{word}")]
    return found[0] if found else generation_of(word)


class RayCluster:
    """One cluster, and how to speak to it. Its calls may come from threads."""

    def __init__(self, address: str, *, token_file: Path | None = None) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidValue("address", address, "http://HOST:PORT of the cluster's dashboard")
        if token_file is not None and parts.scheme != "https" and parts.hostname not in _HERE:
            raise InvalidValue("address", address, "https for a token, unless on this machine")
        self._token_file = token_file
        # A cluster is where it was said to be: what the environment says of proxies is for others.
        self._http = httpx2.Client(
            base_url=address.rstrip("/"),
            timeout=httpx2.Timeout(WAIT_S, connect=5.0),
            follow_redirects=False,
            trust_env=False,
        )

    def submit(self, name: str, entrypoint: str, *, about: Mapping[str, str]) -> None:
        """Ask for a job. ``InvalidValue`` if the cluster refuses it for good."""
        asked = {"submission_id": name, "entrypoint": entrypoint, "metadata": dict(about)}
        code, text = self._call("POST", "/api/jobs/", asked)
        if code == 200 or (code >= 400 and "already exists" in text):
            return  # the latter: it was heard the first time
        if code == 400:
            raise InvalidValue("limits", name, f"what the cluster accepts ({last_line(text)})")
        raise Unavailable(_WHO, f"{code}: {last_line(text)}")

    def jobs(self) -> dict[str, RayJob]:
        """Our submissions that the cluster knows, by their names."""
        return parse_jobs(self._ask("/api/jobs/"))

    def stop(self, name: str) -> None:
        """Have a submission end; one that is over or unknown is no error."""
        code, text = self._call("POST", f"/api/jobs/{name}/stop")
        if code not in (200, 404):
            raise Unavailable(_WHO, f"{code}: {last_line(text)}")

    def forget(self, name: str) -> None:
        """Have the cluster forget a submission that is over."""
        self._call("DELETE", f"/api/jobs/{name}")

    def nodes(self) -> tuple[RayNode, ...]:
        """The nodes that are alive."""
        return parse_nodes(self._ask("/api/v0/nodes?detail=1&limit=10000"))

    def _ask(self, path: str) -> Any:
        code, text = self._call("GET", path)
        if code != 200:
            raise Unavailable(_WHO, f"{code}: {last_line(text)}")
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise Unavailable(_WHO, "its answer is no JSON") from None

    def _call(self, method: str, path: str, body: object = None) -> tuple[int, str]:
        headers = {}
        if self._token_file is not None:
            try:
                headers["Authorization"] = f"Bearer {self._token_file.read_text().strip()}"
            except OSError as error:
                raise Unavailable("the token of the cluster", error.strerror) from error
        try:
            with self._http.stream(method, path, json=body, headers=headers) as answer:
                return answer.status_code, _text_of(answer)
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
            raise Unavailable(_WHO, f"{type(error).__name__}: {error}"[:_WORDS_MAX]) from None


def _text_of(answer: httpx2.Response) -> str:
    data = bytearray()
    for piece in answer.iter_bytes():
        data += piece
        if len(data) > ANSWER_BYTES_MAX:
            raise Unavailable(_WHO, "its answer is longer than can be held")
    return data.decode("utf-8", "replace")


def parse_jobs(told: Any) -> dict[str, RayJob]:
    """Our jobs among those that a cluster lists."""
    if not isinstance(told, list):
        raise Unavailable(_WHO, "its list of jobs is none")
    found = {}
    for each in told:
        name = each.get("submission_id") if isinstance(each, dict) else None
        if not isinstance(name, str) or not NAME.fullmatch(name):
            continue
        try:
            state = RayState(each["status"])
        except (KeyError, ValueError):
            raise Unavailable(_WHO, f"it tells no known state of {name}") from None
        message = last_line(str(each.get("message") or ""))
        found[name] = RayJob(state, str(each.get("error_type") or ""), message)
    return found


def parse_nodes(told: Any) -> tuple[RayNode, ...]:
    """The living nodes of an answer."""
    try:
        rows = told["data"]["result"]["result"]
        return tuple(_parse_node(row) for row in rows if row["state"] == "ALIVE")
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Unavailable(_WHO, "its list of nodes is none") from None


def _parse_node(row: Any) -> RayNode:
    labels = row.get("labels") or {}
    name = labels.get(NODE_LABEL) or row["node_name"]
    has = {str(key): float(value) for key, value in (row.get("resources_total") or {}).items()}
    told = {str(key): str(value) for key, value in labels.items() if _is_label(key, value)}
    return RayNode(str(name), str(row["node_id"]), str(row["node_ip"]), has, told)


def _is_label(key: object, value: object) -> bool:
    """Whether it may be a label of a node of ours too; the cluster's own have a slash."""
    if key in (NODE_LABEL, *REGISTERED_BY) or str(key).startswith(ATTESTED_PREFIX):
        return False
    try:
        check_name("labels key", key)
        check_name("labels", value)
    except InvalidValue:
        return False
    return True


def last_line(text: str) -> str:
    """What was said last, of a trace of many lines."""
    lines = [line.strip() for line in text.splitlines() if line.strip(" .\t")]
    return lines[-1][:_WORDS_MAX] if lines else ""
