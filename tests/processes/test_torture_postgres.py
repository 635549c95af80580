"""Three replicas on PostgreSQL: leaders, followers and the database itself end without warning."""

from __future__ import annotations

import os
import random
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.processes.caller import CallFailed, HttpCaller, spelled
from tests.processes.harness import Server, leader_of, running
from tests.processes.judge import Judge
from tests.processes.load import Load, node_command, submit_command
from tests.support.postgres import PostgresServer, start_or_skip
from tests.support.waiting import until

KILLS = int(os.environ.get("BAILIWICK_KILLS", "26"))


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    """One private server, which every test leaves running."""
    with start_or_skip() as server:
        yield server


@pytest.fixture
def database(postgres: PostgresServer) -> tuple[PostgresServer, str]:
    """The server, and the address of an empty database in it."""
    return postgres, postgres.new_database()


def three(folder: Path, url: str, *arguments: str) -> list[Server]:
    names = ("ada", "ben", "cleo")
    return [Server(folder, name, "--database", url, *arguments) for name in names]


def lead(servers: list[Server]) -> Server:
    """The leader, as soon as there is one."""
    return until(lambda: leader_of(servers), "somebody leads")


def seconds_until_served(servers: list[Server]) -> float:
    """How long until a command is decided and durable again, asked of any that runs."""
    began = time.monotonic()
    addresses = [s.address for s in servers if s.runs]
    chance = random.Random()
    with HttpCaller(addresses, servers[0].token, attempt_s=10) as client:
        client.call(submit_command(chance, tenant="probe"))
    return time.monotonic() - began


class Torture:
    """One thing after the other goes wrong, as chance has it."""

    def __init__(self, servers: list[Server], postgres: PostgresServer, seed: int) -> None:
        self.servers, self.postgres = servers, postgres
        self.chance = random.Random(seed)
        self.took: dict[str, list[float]] = {}

    def once(self, what: str) -> None:
        leader = lead(self.servers)
        time.sleep(self.chance.uniform(0.05, 0.5))
        getattr(self, f"_kill_{what}")(leader)

    def _kill_leader(self, leader: Server) -> None:
        leader.kill9()
        self._note("leader", seconds_until_served(self.servers))
        leader.start(wait=False)

    def _kill_follower(self, leader: Server) -> None:
        other = self.chance.choice([s for s in self.servers if s is not leader])
        other.wait_until_it_listens()
        other.kill9()
        self._note("follower", seconds_until_served(self.servers))
        other.start(wait=False)

    def _kill_database(self, leader: Server) -> None:
        del leader
        self.postgres.kill9()
        time.sleep(self.chance.uniform(0.0, 1.0))
        self.postgres.start()
        self._note("database", seconds_until_served(self.servers))

    def _note(self, what: str, seconds: float) -> None:
        self.took.setdefault(what, []).append(seconds)

    def tell(self) -> str:
        rows = []
        for what, took in sorted(self.took.items()):
            middle, most = statistics.median(took), max(took)
            late = sorted(took)[len(took) * 9 // 10]
            spread = f"half within {middle:.2f} s, nine in ten {late:.2f}, all {most:.2f}"
            rows.append(f"{what}: {len(took)} kills, served again: {spread}")
        return "; ".join(rows)


def test_three_replicas_survive_what_happens_to_them(
    tmp_path: Path, database: tuple[PostgresServer, str]
) -> None:
    postgres, url = database
    seed = int(os.environ.get("BAILIWICK_SEED", random.randrange(10**6)))
    print(f"seed {seed}: BAILIWICK_SEED={seed} repeats the load")
    servers = three(tmp_path, url, "--snapshot-every", "900")
    torture, judge = Torture(servers, postgres, seed), Judge(url)
    plan = ["leader"] * (KILLS * 15 // 26) + ["follower"] * (KILLS * 6 // 26)
    plan += ["database"] * (KILLS - len(plan))
    torture.chance.shuffle(plan)
    with running(*servers):
        with Load([s.address for s in servers], servers[0].token, seed=seed) as load:
            for what in plan:
                torture.once(what)
                judge.check(load.told)
            for server in servers:
                server.wait_until_it_listens()
        print(torture.tell())
        load.check()
        check_that_all_agree(servers, judge)
        size = Judge(url).check(load.told)  # the whole journal once more, from its beginning
        assert [server.stop() for server in servers] == [0, 0, 0]
    print(f"{len(plan)} kills, {size} records, {len(load.told)} answers")


def check_that_all_agree(servers: list[Server], judge: Judge) -> None:
    """Every replica that has caught up has the state that the journal adds up to."""
    lead(servers)
    for server in servers:
        name = server.name
        until(partial(server.is_one_of, "leading", "following"), f"{name} has a state")
        with server.client() as client:
            until(lambda: client.status()["age_ms"] < 5_000, f"{name} has a state of now")
            status = client.status(digest=True)
        judge.check_digest(status["size"], status["digest"])


def stop_the_leader_for_a_while(servers: list[Server]) -> None:
    paused = lead(servers)
    others = [s for s in servers if s is not paused]
    time.sleep(0.2)
    paused.pause()
    began = time.monotonic()
    until(lambda: leader_of(others), "another leads")
    print(f"another led {time.monotonic() - began:.2f} s after the leader was stopped")
    seconds_until_served(others)
    paused.resume()
    until(lambda: paused.role() == "following", "the deposed one follows")


def test_a_leader_that_was_stopped_is_deposed_and_writes_nothing_more(
    tmp_path: Path, database: tuple[PostgresServer, str]
) -> None:
    _, url = database
    servers = three(tmp_path, url)
    judge = Judge(url)
    with running(*servers):
        with Load([s.address for s in servers], servers[0].token, seed=5, callers=3) as load:
            for _ in range(2):
                stop_the_leader_for_a_while(servers)
                judge.check(load.told)
        load.check()
        check_that_all_agree(servers, judge)
        judge.check(load.told)


def test_followers_pass_commands_on_and_say_how_old_their_reads_are(
    tmp_path: Path, database: tuple[PostgresServer, str]
) -> None:
    _, url = database
    servers = three(tmp_path, url)
    with running(*servers):
        leader = lead(servers)
        follower = next(s for s in servers if s is not leader)
        with follower.client() as client, leader.client() as direct:
            client.call(node_command("node-0"), key="node-0")
            granted = client.call(submit_command(random.Random(1)), key="one")
            assert granted["answer"] == "granted"
            assert direct.call(submit_command(random.Random(1)), key="one") == granted
            told = direct.status(digest=True)
            assert told["role"] == "leading"
            until(lambda: client.status()["size"] >= told["size"], "it catches up")
            seen = client.ask("GET", "/v1/leases")
            assert int(client.headers["x-age-ms"]) >= 0
            assert [row["lease_id"] for row in seen["items"]] == granted["lease_ids"]
            status = client.status()
            assert (status["role"], status["epoch"]) == ("following", told["epoch"])
            epoch = told["epoch"]
            known = {"name": leader.name, "address": leader.address, "epoch": epoch}
            assert status["leader"] == known

        follower.pause()
        with leader.client() as direct:
            for number in range(50):
                direct.call(submit_command(random.Random(number)), key=f"while-paused-{number}")
            size = direct.status()["size"]
        follower.resume()
        with follower.client() as client:
            until(lambda: client.status()["size"] >= size, "it catches up")
            until(lambda: age_of_leases(client) < 2_000, "what it shows is as new as it says")
        check_that_all_agree(servers, Judge(url))


def age_of_leases(client: HttpCaller) -> int:
    client.ask("GET", "/v1/leases")
    return int(client.headers["x-age-ms"])


def test_a_follower_says_when_the_leader_cannot_be_reached(
    tmp_path: Path, database: tuple[PostgresServer, str]
) -> None:
    _, url = database
    servers = three(tmp_path, url)[:2]
    with running(*servers):
        leader = lead(servers)
        follower = next(s for s in servers if s is not leader)
        with follower.client() as client:
            client.call(node_command("node-0"), key="node-0")
        leader.kill9()
        codes: list[str] = []

        def granted() -> bool:
            # One try of its own each time, so that every answer is seen.
            with follower.client() as client:
                try:
                    answer = client.ask_once(*request, key="one")
                except CallFailed as error:
                    codes.append(error.code if error.retryable else f"final {error.code}")
                    return False
            return bool(answer["answer"] == "granted")

        request = spelled(submit_command(random.Random(2)))
        until(granted, "the follower leads and decides")
        print(f"before that it said {dict(Counter(codes))}")
        assert set(codes) <= {"unavailable", "not_leader"}


def test_a_lost_database_is_told_and_comes_back(
    tmp_path: Path, database: tuple[PostgresServer, str]
) -> None:
    postgres, url = database
    (server, *_) = three(tmp_path, url)
    with running(server):
        lead([server])
        with server.client() as client:
            client.call(node_command("node-0"), key="node-0")
        began_s = time.monotonic()
        postgres.stop()
        with server.client() as client:
            with pytest.raises(CallFailed) as failed:
                client.ask_once(*spelled(submit_command(random.Random(2))), key="one")
            assert failed.value.code in ("unavailable", "not_leader")
            assert failed.value.retryable
            until(lambda: server.is_one_of(""), "it has no state any more")
            with pytest.raises(CallFailed) as failed:
                client.ask_once("GET", "/v1/leases")
            assert (failed.value.code, failed.value.retryable) == ("unavailable", True)
        time.sleep(1.0)  # so that it could say it too often
        assert "hunter-of-leaks" not in server.errors, "the database's password was shown"
        told = server.errors.count("starts again from the store")
        passed_s = time.monotonic() - began_s
        # A rate: on a busy machine the database takes seconds to stop, and is missed meanwhile.
        assert told < 10 * max(1.0, passed_s), "it says it too often"
        postgres.start()
        with server.client() as client:
            assert client.call(submit_command(random.Random(2)), key="one")["answer"] == "granted"


def test_a_database_that_is_not_there_yet_is_waited_for(
    tmp_path: Path, database: tuple[PostgresServer, str]
) -> None:
    postgres, url = database
    (server, *_) = three(tmp_path, url)
    postgres.stop()
    try:
        server.start(wait=False)
        until(lambda: "cannot open its store yet" in server.errors, "it says so")
        assert server.runs
        postgres.start()
        server.wait_until_it_listens()
        lead([server])
        assert server.stop() == 0
        assert "hunter-of-leaks" not in server.errors
    finally:
        server.close()
