"""The member's program.

program run head --mem-mib N             be the head, in this folder, until told to end
program run worker --cpus N --mem-mib N  join the cluster that this member is told, and stay in it
program facts                            say where the cluster is, as JSON with its token
program join                             be told where the cluster is: that JSON, on stdin
program load                             say what the cluster has, and what it lacks, as JSON
program drain SECONDS                    have Ray place nothing more here
program with COMMAND...                  run something that finds the cluster in its environment

Rules:

- The head makes a new token each time that it begins, and keeps it in its own folder alone.
- A worker that is told another head leaves the old cluster and joins the new one.
- When Ray ends by itself the member ends too: the platform puts another in its place.
- However it ends, nothing that it started is left.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .load import fetch_load
from .process import RayProcess, adopt_orphans, end_all
from .rendering import (
    PORTS,
    BadOrder,
    ClusterDoor,
    MemberHolding,
    count_devices,
    drain_words,
    environment,
    head_words,
    is_loopback,
    own_loopback,
    parse_cluster,
    port_blocks,
    worker_words,
)

CLUSTER = "cluster.json"
DASHBOARD = "dashboard.json"
"""Where the platform finds the dashboard, and with what it is opened."""
ASK = "member.sh"
"""The words by which others in this folder begin this program."""
LOOK_S = 0.5
TRIES = 5
ORDER_BYTES_MAX = 4_096


def ray_program() -> str:
    """Ray's own program, beside the Python that runs this."""
    return str(Path(sys.executable).with_name("ray"))


class MemberTold:
    """What this member was started with, and what the platform says of it."""

    def __init__(self, words: argparse.Namespace) -> None:
        self.is_head = words.role == "head"
        told = json.loads(os.environ.get("APP_PARAMETERS") or "{}")
        self.member_id = int(os.environ.get("APP_MEMBER_ID") or "0")
        self.held = MemberHolding(
            self.member_id,
            own_host(told.get("reach"), self.member_id),
            cpus=words.cpus,
            mem_mib=words.mem_mib,
            gpus=count_devices(os.environ.get("CUDA_VISIBLE_DEVICES", "")),
            store_percent=told.get("store_percent", 30),
        )


def own_host(reach: str | None, member_id: int) -> str:
    """The address of this machine on the way to the server, or to where it was told.

    Where that is the machine itself, the member has a loopback address of its own.
    """
    host = reach or urlsplit(os.environ.get("BAILIWICK_SERVER", "")).hostname or "127.0.0.1"
    family, _, _, _, address = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, socket.SOCK_DGRAM) as plug:
        plug.connect(address)  # nothing is sent
        found = str(plug.getsockname()[0])
    return own_loopback(member_id) if is_loopback(found) else found


def free_block(host: str, member_id: int) -> int:
    """The first port of a block of which none is in use."""
    for first in port_blocks(member_id):
        if all(_is_free(host, first + each) for each in range(PORTS)):
            return first
    raise BadOrder("port: none of the blocks of ports is free")


def _is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Ray's own server listens on all addresses.
    for address in (host, "::" if family == socket.AF_INET6 else "0.0.0.0"):
        with socket.socket(family) as plug:
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                plug.bind((address, port))
            except OSError:
                return False
    return True


# -- what is written down in the member's folder -------------------------------------------------


def write(name: str, text: str) -> None:
    """Have it there, whole, for this user alone."""
    scratch = f".{name}.{os.getpid()}"
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    os.replace(scratch, name)


def read_cluster() -> ClusterDoor | None:
    """The cluster that this member is told, if it is told one."""
    try:
        with open(CLUSTER, "rb") as file:
            return parse_cluster(json.loads(file.read(ORDER_BYTES_MAX)))
    except FileNotFoundError:
        return None


def need_cluster() -> ClusterDoor:
    """The same, for who cannot go on without it."""
    found = read_cluster()
    if found is None:
        raise BadOrder(f"{CLUSTER}: this member is not told a cluster yet")
    return found


# -- being a member ------------------------------------------------------------------------------


class RunningMember:
    """One member, from its start to its end."""

    def __init__(self, told: MemberTold) -> None:
        self._told, self._ray = told, ray_program()
        self._own: ClusterDoor | None = None
        """The cluster whose head it is."""
        self.is_ending = self.was_up = False

    def run(self) -> int:
        """Be it; the exit code.

        What did not begin is tried again. What was up and is not any more ends the member.
        """
        if self._told.is_head:
            host = self._told.held.host
            port = free_block(host, self._told.member_id)
            self._own = ClusterDoor(self._told.member_id, host, port, secrets.token_hex(32))
            write(CLUSTER, json.dumps(self._own.plain()))
            write(DASHBOARD, json.dumps(self._own.endpoint()))
        tries = 0
        while (found := self._await_cluster()) is not None:  # until told to end, or in vain
            code = self._stay_in(found)
            tries = tries + 1 if found == (self._own or read_cluster()) else 0
            if code and (self.was_up or tries >= TRIES):
                return code
        return 0

    def _await_cluster(self) -> ClusterDoor | None:
        while not self.is_ending:  # until told; the platform bounds how long it may take
            found = self._own or read_cluster()
            if found is not None:
                return found
            time.sleep(LOOK_S)
        return None

    def _stay_in(self, cluster: ClusterDoor) -> int:
        """Until told to end or to join another, or Ray ends; Ray's exit code."""
        held = self._told.held
        self.was_up = False
        with RayProcess(held.member_id, is_head=self._told.is_head) as ray:
            port = cluster.port
            if self._told.is_head:
                begun = head_words(self._ray, held, cluster=cluster, temp=ray.temp)
            else:
                port = free_block(held.host, held.member_id)
                begun = worker_words(self._ray, held, cluster=cluster, temp=ray.temp, port=port)
            ray.start(begun, environment(dict(os.environ), cluster, ray=self._ray))
            _say(f"{'head' if self._told.is_head else 'worker'} of {cluster.host}:{cluster.port}")
            while not self.is_ending:  # until one of these
                code = ray.poll()
                if code is not None:
                    _say(f"Ray ended with {code}")
                    return code or 1
                if not self._told.is_head and read_cluster() != cluster:
                    _say("told another head")
                    return 0
                ray.hasten(port)
                self.was_up = self.was_up or ray.is_up
                time.sleep(LOOK_S)
        return 0


def run(words: argparse.Namespace) -> int:
    """Be a member until told to end."""
    os.umask(0o077)
    adopt_orphans()
    member = RunningMember(MemberTold(words))

    def end(*_: object) -> None:
        member.is_ending = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    write(ASK, f'exec {sys.executable} -I member.pyz "$@"\n')
    try:
        return member.run()
    finally:
        for name in (CLUSTER, DASHBOARD):
            Path(name).unlink(missing_ok=True)
        end_all()


def _say(text: str) -> None:
    print(text, flush=True)


# -- the others ----------------------------------------------------------------------------------


def join() -> None:
    """Write down the cluster that stdin tells."""
    cluster = parse_cluster(json.loads(sys.stdin.buffer.read(ORDER_BYTES_MAX)))
    if read_cluster() != cluster:
        write(CLUSTER, json.dumps(cluster.plain()))


def run_with(command: list[str]) -> None:
    """Become that program, with the cluster in its environment."""
    cluster = need_cluster()
    found = environment(dict(os.environ), cluster, ray=ray_program())
    found["RAY_ADDRESS"] = f"{cluster.host}:{cluster.port}"
    os.execvpe(command[0], command, found)


def parse_words(words: list[str]) -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(prog="member", allow_abbrev=False)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("run")
    one.add_argument("role", choices=("head", "worker"))
    one.add_argument("--cpus", type=int, default=0)
    one.add_argument("--mem-mib", type=int, required=True)
    for verb in ("facts", "join", "load"):
        verbs.add_parser(verb)
    verbs.add_parser("drain").add_argument("within_s", type=int)
    verbs.add_parser("with").add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> None:
    """Do what the words say."""
    asked: Any = parse_words(sys.argv[1:] if words is None else words)
    try:
        if asked.verb == "run":
            sys.exit(run(asked))
        if asked.verb == "facts":
            print(json.dumps(need_cluster().plain()))
        elif asked.verb == "join":
            join()
        elif asked.verb == "load":
            print(json.dumps(fetch_load(need_cluster())))
        elif asked.verb == "drain":
            words = drain_words(ray_program(), need_cluster(), within_s=asked.within_s)
            run_with(words)
        else:
            run_with(asked.command)
    except (BadOrder, OSError, ValueError) as error:
        sys.exit(f"member: {error}")
