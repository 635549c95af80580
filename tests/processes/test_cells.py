"""A home and two cells, each a server of its own: cut off, killed and met again, nothing double."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.processes.caller import CallFailed, HttpCaller
from tests.processes.harness import Server, running
from tests.support.waiting import until

REQUESTS = "/v1/global/requests"
GIB = 1 << 30
CORES = {"east": 16, "west": 8}


@dataclass
class Fleet:
    """Three planes, and an administrator in each."""

    home: Server
    cells: dict[str, Server]
    keys: Path

    @property
    def all(self) -> list[Server]:
        return [self.home, *self.cells.values()]

    def at(self, plane: str = "home") -> HttpCaller:
        return (self.home if plane == "home" else self.cells[plane]).client()

    def ask(self, plane: str, method: str, path: str, body: object = None) -> dict[str, Any]:
        with self.at(plane) as caller:
            return caller.ask(method, path, body, key=None if method == "GET" else uuid4().hex)

    def furnish(self, cell: str) -> None:
        """A machine, and somebody who may be the cell's home and nothing else."""
        resources = {"cpu_milli": CORES[cell] * 1000, "mem_bytes": 64 * GIB}
        role = {"role": "home", "level": "fleet", "keys": ["scheduler.cell.home"]}
        account = "/v1/service-accounts"
        self.ask(cell, "POST", "/v1/nodes", {"node": f"{cell}-1", "resources": resources})
        self.ask(cell, "PUT", "/v1/roles", role)
        self.ask(cell, "POST", account, {"account": "campus"})
        self.ask(cell, "PUT", "/v1/members", {"member": "campus", "role": "home"})
        made = self.ask(cell, "POST", f"{account}/campus/keys", {})
        file = self.keys / cell
        file.touch(mode=0o600)
        file.write_text(f"{self.cells[cell].address} campus {made['key']}\n")

    def join(self, cell: str) -> None:
        body = {"cell": cell, "url": self.cells[cell].address}
        with self.at() as caller:
            caller.ask("POST", "/v1/cells", body, key=f"join-{cell}")

    def want(self, number: int, cores: int = 2) -> int:
        """Ask for a lease anywhere; its number."""
        body = {
            "tenant": "lab",
            "resources": {"cpu_milli": cores * 1000, "mem_bytes": GIB},
            "ttl_ms": 3_600_000,
        }
        with self.at() as caller:
            found = caller.ask("POST", REQUESTS, body, key=f"want-{number}")
        assert found["global_id"] == number
        return number

    def request(self, number: int) -> dict[str, Any]:
        return self.ask("home", "GET", f"{REQUESTS}/{number}")

    def held(self, number: int) -> dict[str, Any]:
        """The request once it has leases."""

        def look() -> dict[str, Any] | None:
            found = self.request(number)
            return found if found["status"] == "held" else None

        return until(look, f"request {number} has leases")

    def standing(self, cell: str) -> dict[str, Any]:
        return self.ask("home", "GET", f"/v1/cells/{cell}")

    def stands(self, cell: str, word: str) -> dict[str, Any]:
        """The cell once it stands so."""

        def look() -> dict[str, Any] | None:
            found = self.standing(cell)
            return found if found["standing"] == word else None

        return until(look, f"{cell} is {word}")

    def leases(self, cell: str) -> set[int]:
        items = self.ask(cell, "GET", "/v1/leases")["items"]
        return {row["lease_id"] for row in items}


@contextmanager
def fleet(folder: Path) -> Iterator[Fleet]:
    """Three planes that run."""

    def plane(name: str, *more: str) -> Server:
        own = folder / name
        own.mkdir()
        return Server(own, name, "--data-dir", str(own / "data"), *more)

    keys = folder / "keys"
    keys.mkdir()
    cells = {name: plane(name) for name in CORES}
    made = Fleet(plane("home", "--cell-keys", str(keys)), cells, keys)
    with running(*made.all):
        yield made


def test_a_fleet_of_cells_through_a_cut_and_a_crash_of_its_home(tmp_path: Path) -> None:
    with fleet(tmp_path) as campus:
        for cell in campus.cells:
            campus.furnish(cell)
            campus.join(cell)
        epochs = {cell: campus.stands(cell, "reachable")["epoch"] for cell in campus.cells}

        first = campus.held(campus.want(1))
        assert first["cell"] == "east", "it has the most free"
        assert set(first["leases"]) == campus.leases("east")

        # The home dies with a request under way; whoever leads after it goes on.
        campus.want(2)
        campus.home.kill9()
        campus.home.start()
        second = campus.held(2)
        assert campus.held(1)["leases"] == first["leases"]
        there = campus.leases("east"), campus.leases("west")
        assert sum(map(len, there)) == 2, "neither was taken twice"

        # A cell is cut off: it keeps what it has, and what is new goes elsewhere.
        campus.cells["east"].pause()
        third = campus.held(campus.want(3))
        assert third["cell"] == "west", "who does not answer holds nobody up"
        assert campus.stands("east", "cut_off")["trouble"]
        assert campus.held(campus.want(4))["cell"] == "west"
        assert campus.request(1)["status"] == "held"
        assert campus.request(1)["leases"] == first["leases"]
        with campus.at() as caller:
            caller.ask("DELETE", f"{REQUESTS}/1", key="back")
        assert campus.request(1)["status"] == "withdrawn", "silence is no answer"

        # It comes back, and is met later than before; nothing is there twice.
        campus.cells["east"].resume()
        back = campus.stands("east", "reachable")
        assert back["epoch"] > epochs["east"]
        until(lambda: _is_over(campus, 1), "request 1 is over")
        assert not set(first["leases"]) & campus.leases("east")
        assert set(second["leases"]) <= campus.leases(second["cell"])
        assert sum(len(campus.leases(cell)) for cell in campus.cells) == 3

        for number in (2, 3, 4):
            with campus.at() as caller:
                caller.ask("DELETE", f"{REQUESTS}/{number}", key=f"end-{number}")
            until(partial(_is_over, campus, number), f"request {number} is over")
        assert [campus.leases(cell) for cell in campus.cells] == [set(), set()]
        homes = [campus.ask(cell, "GET", "/v1/cell/home") for cell in campus.cells]
        assert len({home["home"] for home in homes}) == 1
        for cell in campus.cells:
            with campus.at() as caller:
                caller.ask("POST", f"/v1/cells/{cell}/leave", {}, key=f"leave-{cell}")


def test_without_a_key_a_cell_is_not_met_and_says_why(tmp_path: Path) -> None:
    with fleet(tmp_path) as campus:
        campus.join("east")
        until(lambda: "no key" in (campus.standing("east")["trouble"] or ""), "that is told")
        assert campus.standing("east")["standing"] == "cut_off"
        campus.furnish("east")
        campus.stands("east", "reachable")
        (campus.keys / "east").write_text(f"{campus.cells['east'].address} campus bwkey-none.00\n")
        until(lambda: "accept our key" in (campus.standing("east")["trouble"] or ""), "refused")


def _is_over(campus: Fleet, number: int) -> bool:
    try:
        campus.request(number)
    except CallFailed as failed:
        return failed.code == "not_found"
    return False
