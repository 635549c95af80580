"""What a cluster is to be, and what its workers hold: plain values, judged when they are made.

Rules:

- Everything that ends up in a configuration is judged here: a word is one word, a path has no
  space, a number is within its bounds. So no value can add a line or a key.
- A worker is known by its component key, ``worker-3``; its number decides its port.
- Only whole GPUs are handed out by Slurm: a worker that holds part of one is refused.

>>> Worker("worker-3", "10.0.0.5", host="n5", cpus=4, mem_mib=8_000).index
3
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from bailiwick.operators.slurm.shared.part import SharedPart
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer

CONTROLLER: Final = "controller-0"
"""The component key of the one controller; those of workers follow from ``WORKER``."""
WORKER: Final = "worker"
WORKERS_MAX: Final = 64
PORTS: Final = 80
"""Of one cluster: its controller's, the accounting's, and one for each worker from 10 on."""
_PORT_FIRST: Final = 20_000
_PORT_BLOCKS: Final = 400
_WORKER_PORT: Final = 10
GPUS_MAX: Final = 64

_WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}\Z")
_KIND: Final = re.compile(r"[a-z][a-z0-9_]{0,30}\Z")
_ACCOUNT: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}\Z")
_PATH: Final = re.compile(r"/[A-Za-z0-9._/-]{1,120}\Z")
_ADDRESS: Final = re.compile(r"[0-9a-fA-F.:]{2,45}\Z")
_WORKER_KEY: Final = re.compile(r"worker-(0|[1-9][0-9]{0,3})\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterWish:
    """The parameters of an instance."""

    port: int = 0
    """The first of its ports; 0 has it follow from the instance's number."""
    partition: str = "main"
    kill_wait_s: int = 30
    """How long a job has between the request to end and its end."""
    max_time_min: int = 0
    """The longest that a job may take; 0 is no limit."""
    storage: str = ""
    """A folder that members see, on which the controller keeps its state; else it is its own."""
    key_generation: int = 1
    """Another number has another key made, and taken by all members together."""
    pretend_gpus: bool = False
    """For machines without the devices that their inventory names: they are counted anyway."""
    queues: str = "main"
    """Of a shared runtime: the queues that every project has, by comma."""
    reserved_for: str = "*"
    """Of a shared runtime: the projects that may use what the tenant reserves; ``*``: all."""
    min_job_age_s: int = 60
    """Of a shared runtime: for how long a job that has ended is still known."""

    def __post_init__(self) -> None:
        if self.port:
            check_integer("port", self.port, low=1_024, high=65_535 - PORTS)
        _check("partition", self.partition, pattern=_WORD)
        check_integer("kill_wait_s", self.kill_wait_s, low=1, high=3_600)
        check_integer("max_time_min", self.max_time_min, low=0, high=525_600)
        check_integer("key_generation", self.key_generation, low=1, high=1_000_000)
        if self.storage:
            _check("storage", self.storage, pattern=_PATH)

    @classmethod
    def parse(cls, parameters: Mapping[str, object]) -> ClusterWish:
        """As an instance has them; what nobody knows is refused."""
        numbers = ("port", "kill_wait_s", "max_time_min", "key_generation", "min_job_age_s")
        kinds = {**dict.fromkeys(numbers, int), "pretend_gpus": bool}
        for name, value in parameters.items():
            if name not in cls.__dataclass_fields__:
                raise InvalidValue("parameters", name, "a parameter of this app")
            if type(value) is not kinds.get(name, str):
                raise InvalidValue(name, value, f"a value of type {kinds.get(name, str).__name__}")
        return cls(**parameters)  # type: ignore[arg-type]  # judged just above

    def spell(self) -> dict[str, object]:
        """The same as parameters; what is as nobody said is left out.

        >>> ClusterWish.parse({"port": 21_000, "partition": "main"}).spell()
        {'port': 21000}
        """
        found, usual = ({e: getattr(w, e) for e in _NAMES} for w in (self, ClusterWish()))
        return {name: value for name, value in found.items() if value != usual[name]}

    def first_port(self, instance_id: int) -> int:
        """Where the ports of an instance begin."""
        return self.port or _PORT_FIRST + instance_id % _PORT_BLOCKS * PORTS


_NAMES: Final = tuple(ClusterWish.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class HeldGpu:
    """One whole GPU of a worker: of which kind, and which one of its machine."""

    kind: str
    index: int

    def __post_init__(self) -> None:
        _check("gpu.kind", self.kind, pattern=_KIND)
        check_integer("gpu.index", self.index, low=0, high=GPUS_MAX - 1)


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker, where it is, and what its lease holds."""

    key: str
    address: str
    host: str = field(kw_only=True)
    cpus: int = field(kw_only=True)
    mem_mib: int = field(kw_only=True)
    gpus: tuple[HeldGpu, ...] = field(default=(), kw_only=True)
    features: tuple[str, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        worker_index(self.key)
        _check("address", self.address, pattern=_ADDRESS)
        _check("host", self.host, pattern=_WORD)
        check_integer("cpus", self.cpus, low=1, high=4_096)
        check_integer("mem_mib", self.mem_mib, low=1, high=2**30)
        for feature in self.features:
            _check("feature", feature, pattern=_WORD)
        if len({gpu.index for gpu in self.gpus}) != len(self.gpus):
            raise InvalidValue("gpus", self.gpus, "each GPU once")

    @property
    def index(self) -> int:
        """Its number among the workers."""
        return worker_index(self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """All that a configuration follows from."""

    instance_id: int
    account: str
    """Whose jobs run: the project."""
    user: str
    """As whom the daemons run, and with them all jobs."""
    address: str
    """Where the controller is."""
    host: str
    """What the controller's machine calls itself."""
    wish: ClusterWish
    workers: tuple[Worker, ...] = ()
    shared: SharedPart | None = None
    """Who has a part in it, if it is a shared one; else all of it is the account's."""

    def __post_init__(self) -> None:
        check_integer("instance_id", self.instance_id, low=0, high=2**53)
        _check("account", self.account, pattern=_ACCOUNT)
        _check("user", self.user, pattern=_WORD)
        _check("address", self.address, pattern=_ADDRESS)
        _check("host", self.host, pattern=_WORD)
        keys = [worker.key for worker in self.workers]
        if len(set(keys)) != len(keys):
            raise InvalidValue("workers", keys, "each worker once")

    @property
    def name(self) -> str:
        """What Slurm calls it."""
        return f"bw{self.instance_id}"

    @property
    def port(self) -> int:
        """The controller's; the accounting's is the next."""
        return self.wish.first_port(self.instance_id)

    def worker_port(self, index: int) -> int:
        """Where a worker listens."""
        return self.port + _WORKER_PORT + index


def worker_index(key: str) -> int:
    """The number of a worker by its key."""
    found = _WORKER_KEY.match(key)
    if found is None or int(found[1]) >= WORKERS_MAX:
        raise InvalidValue("worker", key, f"worker-0 to worker-{WORKERS_MAX - 1}")
    return int(found[1])


def feature_of(text: str) -> str | None:
    """A fact of a machine as a word that jobs can ask for; none if nothing is left of it.

    >>> feature_of("rack 7/a")
    'rack-7-a'
    """
    word = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")[:63]
    return word if _WORD.match(word) else None


def _check(what: str, value: str, *, pattern: re.Pattern[str]) -> None:
    if not isinstance(value, str) or not pattern.match(value):
        raise InvalidValue(what, value, f"text like {pattern.pattern}")
