"""How Ray is started: what a member holds in, the words of its commands out.

A part of the member's program: the standard library only.

Rules:

- Ray is told what the lease holds: cores, memory and devices. What it would find on the machine by
  itself is everybody's.
- The head takes no tasks: what is submitted to a cluster cannot take down its bookkeeping.
- Whoever connects needs the cluster's token, also from the same machine.
- Words are words: nothing here is read by a shell, and a host or a token is one only if it looks
  like one.

>>> split_memory(2048, is_head=False, store_percent=30)
(644245094, 1100585370)
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

MEMBER_LABEL = "bailiwick-member"
"""The label by which a node of the cluster says which member it is, by number."""

MIB = 1 << 20
STORE_BYTES_MIN = 80 * 10**6
"""Ray takes no smaller object store."""
OWN_BYTES = {True: 1024 * MIB, False: 384 * MIB}
"""What Ray's own processes need on the head, and elsewhere."""
HEAP_BYTES_MIN = 64 * MIB
PORT_FIRST, PORT_BLOCKS, PORTS = 14_000, 500, 8
"""Where the blocks of ports begin, how many there are, and how many ports are in one."""
AGENTS_AT = 3
"""Where in a block the ports of Ray's agents begin; those before are the head's."""
BLOCKS_TRIED = 16

_AGENTS = (
    "dashboard-agent-listen",
    "dashboard-agent-grpc",
    "runtime-env-agent",
    "metrics-export",
)
_OPTION = re.compile(r"--(session_dir|node_id)=")
_NODE_ID = re.compile(r"[0-9a-f]{1,64}\Z")
_TOKEN = re.compile(r"[0-9a-f]{64}\Z")


class BadOrder(ValueError):
    """What a member was told, or was started with, cannot be."""


@dataclass(frozen=True)
class MemberHolding:
    """What a member holds, and where it is."""

    member_id: int
    host: str
    cpus: int
    mem_mib: int
    gpus: int = 0
    store_percent: int = 30

    def __post_init__(self) -> None:
        check_host(self.host)
        within("member_id", self.member_id, least=1, most=2**53)
        within("cpus", self.cpus, least=0, most=4_096)
        within("gpus", self.gpus, least=0, most=64)
        within("store_percent", self.store_percent, least=5, most=60)
        within("mem_mib", self.mem_mib, least=1, most=1 << 26)


@dataclass(frozen=True)
class ClusterDoor:
    """Where a cluster is, and what opens it."""

    head_id: int
    """The number of the member that is its head."""
    host: str
    port: int
    token: str

    def __post_init__(self) -> None:
        within("head_id", self.head_id, least=1, most=2**53)
        check_host(self.host)
        within("port", self.port, least=1_024, most=65_535 - PORTS)
        if not isinstance(self.token, str) or not _TOKEN.match(self.token):
            raise BadOrder("token: expected 64 digits of hexadecimal")

    @property
    def dashboard(self) -> str:
        """Where it takes jobs, and shows itself."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port + 1}"

    def endpoint(self) -> dict[str, object]:
        """The dashboard, as the platform is told of an endpoint."""
        return {"port": self.port + 1, "authorization": f"Bearer {self.token}"}

    @property
    def is_here(self) -> bool:
        """Whether it can be reached on its own machine alone."""
        return is_loopback(self.host)

    def plain(self) -> dict[str, object]:
        """As it is written down and passed on."""
        return {
            "head_id": self.head_id,
            "host": self.host,
            "port": self.port,
            "token": self.token,
        }


def parse_cluster(told: object) -> ClusterDoor:
    """A cluster as it was passed on; ``BadOrder`` if it is none."""
    names = ("head_id", "host", "port", "token")
    if not isinstance(told, dict) or sorted(told) != sorted(names):
        raise BadOrder(f"expected {', '.join(names)}")
    return ClusterDoor(told["head_id"], told["host"], told["port"], told["token"])


def within(name: str, value: object, *, least: int, most: int) -> None:
    """Refuse what is no whole number between these."""
    if type(value) is not int or not least <= value <= most:
        raise BadOrder(f"{name}: expected {least} to {most}, got {value!r}")


def check_host(host: object) -> None:
    """Refuse what is no address."""
    try:
        ipaddress.ip_address(host if isinstance(host, str) else "")
    except ValueError:
        raise BadOrder(f"host: expected an address, got {host!r}") from None


def is_loopback(host: str) -> bool:
    """Whether others cannot reach it."""
    return ipaddress.ip_address(host).is_loopback


def own_loopback(member_id: int) -> str:
    """An address of its own for a member of a cluster that is all on one machine.

    >>> own_loopback(1), own_loopback(70_000)
    ('127.64.0.1', '127.65.17.112')
    """
    number = member_id % (1 << 22)
    return f"127.{64 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"


def port_blocks(member_id: int) -> list[int]:
    """The first ports of the blocks that a member tries, in this order.

    >>> port_blocks(7)[:2], port_blocks(499)[:2]
    ([14056, 14064], [17992, 14000])
    """
    return [PORT_FIRST + PORTS * ((member_id + each) % PORT_BLOCKS) for each in range(BLOCKS_TRIED)]


def split_memory(mem_mib: int, *, is_head: bool, store_percent: int) -> tuple[int, int]:
    """Bytes for the object store and for tasks, of what a lease holds."""
    total = mem_mib * MIB
    store = max(STORE_BYTES_MIN, total * store_percent // 100)
    heap = total - store - OWN_BYTES[is_head]
    if heap < HEAP_BYTES_MIN:
        least = (OWN_BYTES[is_head] + HEAP_BYTES_MIN) // MIB
        raise BadOrder(f"mem: {mem_mib} MiB leave no room for Ray's own {least} and its store")
    return store, heap


def count_devices(visible: str) -> int:
    """How many GPUs a member has, by what it finds in ``CUDA_VISIBLE_DEVICES``.

    >>> count_devices(""), count_devices("0,3")
    (0, 2)
    """
    return len([each for each in visible.split(",") if each.strip()])


def head_words(ray: str, held: MemberHolding, *, cluster: ClusterDoor, temp: str) -> list[str]:
    """The command by which a member becomes the head of its cluster."""
    return [
        *(ray, "start", "--head", f"--port={cluster.port}", f"--dashboard-host={cluster.host}"),
        f"--dashboard-port={cluster.port + 1}",
        f"--ray-client-server-port={cluster.port + 2}",
        *_common(held, is_head=True, temp=temp, port=cluster.port),
    ]


def worker_words(
    ray: str, held: MemberHolding, *, cluster: ClusterDoor, temp: str, port: int
) -> list[str]:
    """The command by which a member joins a cluster; ``port`` is the first of its own block."""
    if cluster.is_here != is_loopback(held.host):
        raise BadOrder(
            f"host: the head is at {cluster.host} and this member at {held.host}: they do not reach"
            " each other. Give the instance the parameter `reach`"
        )
    host = f"[{cluster.host}]" if ":" in cluster.host else cluster.host
    return [
        *(ray, "start", f"--address={host}:{cluster.port}"),
        *_common(held, is_head=False, temp=temp, port=port),
    ]


def agent_note(raylet: list[str], *, port: int) -> tuple[str, str] | None:
    """A file that Ray's node waits for, by its path and what it says; of the words that began it.

    The node waits 15 s for its agent to write down on which port it listens, and then ends. On a
    busy machine the agent needs longer to begin. The port is told to it, so what it will write is
    known: the member writes it first.

    >>> agent_note(["raylet", "--session_dir=/tmp/s", "--node_id=ab12"], port=14_000)
    ('/tmp/s/dashboard_agent_listen_port_ab12', '14003')
    """
    found = dict(word[2:].split("=", 1) for word in raylet[1:] if _OPTION.match(word))
    folder, node = found.get("session_dir", ""), found.get("node_id", "")
    if not folder.startswith("/") or not _NODE_ID.match(node):
        return None
    return f"{folder}/dashboard_agent_listen_port_{node}", str(port + AGENTS_AT)


def drain_words(ray: str, cluster: ClusterDoor, *, within_s: int) -> list[str]:
    """The command by which a member has Ray place nothing more on it."""
    return [
        *(ray, "drain-node", f"--address={cluster.host}:{cluster.port}"),
        *("--reason", "DRAIN_NODE_REASON_PREEMPTION", "--reason-message", "its lease is to end"),
        *("--deadline-remaining-seconds", str(max(1, within_s))),
    ]


def _common(held: MemberHolding, *, is_head: bool, temp: str, port: int) -> list[str]:
    store, heap = split_memory(held.mem_mib, is_head=is_head, store_percent=held.store_percent)
    return [
        *("--disable-usage-stats", f"--node-ip-address={held.host}"),
        f"--num-cpus={0 if is_head else held.cpus}",
        f"--num-gpus={0 if is_head else held.gpus}",
        *(f"--memory={heap}", f"--object-store-memory={store}", f"--temp-dir={temp}"),
        f"--labels={MEMBER_LABEL}={held.member_id}",
        # Told, not found out by its agents: see ``agent_note``.
        *(f"--{name}-port={port + AGENTS_AT + each}" for each, name in enumerate(_AGENTS)),
        # Any that are free: several members may be on one machine.
        *("--min-worker-port=0", "--max-worker-port=0", "--include-log-monitor=false"),
    ]


def environment(base: dict[str, str], cluster: ClusterDoor, *, ray: str) -> dict[str, str]:
    """What Ray's processes, and those who speak to it, find in their environment."""
    folder = ray.rpartition("/")[0]
    path = base.get("PATH", "/usr/local/bin:/usr/bin:/bin")
    return {
        **{key: value for key, value in base.items() if not key.startswith("BAILIWICK_LEASE")},
        "PATH": f"{folder}:{path}" if folder else path,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": cluster.token,
        "RAY_API_SERVER_ADDRESS": cluster.dashboard,
    }
