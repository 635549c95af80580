"""A home whose cells are acted: one that lies, breaks off or answers for ever hurts only itself."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from bailiwick.reconcile.cells.loop import CellLoop, CellTerms
from bailiwick.services.cells.desk import CellDesk
from bailiwick.wire.actions.credentials import FEDERATION_EXCHANGE
from tests.support.acted_cell import ActedCell, Answer, acted_cell
from tests.support.http_house import HttpHouse, drop_budgets, http_house, make_parts
from tests.support.waiting import WAIT_S, until

OPERATOR, MEMBER = "fleet_operator", "project_member@lab"
CELLS, REQUESTS = "/v1/cells", "/v1/global/requests"
ASKED = {"tenant": "lab", "project": "p", "resources": {"cpu_milli": 1000}, "ttl_ms": 60_000}
MOST = 2**53 - 1
Cells = Callable[..., ActedCell]


class Home:
    """A home with its leader's loop, and cells that are acted."""

    def __init__(self, house: HttpHouse, keys: Path, *, desk: CellDesk, every_s: float) -> None:
        self.house, self.keys = house, keys
        self.said: list[str] = []
        self.failed: list[BaseException] = []
        self._stop = threading.Event()
        terms = CellTerms(keys, every_s=every_s)
        self._loop = CellLoop(house.runner, desk, terms=terms, say=self.said.append)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            self._loop.run(self._stop)
        except BaseException as error:
            self.failed.append(error)

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._stop.set()
        self._thread.join(WAIT_S)

    def join(self, name: str, cell: ActedCell, *, key: str = "a.token.alone") -> None:
        (self.keys / name).write_text(f"{cell.url} {key}\n")
        body = {"cell": name, "url": cell.url}
        assert self.house.ask(OPERATOR, "POST", CELLS, json=body).status_code == 200

    def standing(self, name: str) -> Any:
        return self.house.ask(OPERATOR, "GET", f"{CELLS}/{name}").json()

    def want(self) -> int:
        found = self.house.ask(MEMBER, "POST", REQUESTS, json=ASKED).json()
        return int(found["global_id"])

    def request(self, number: int) -> Any:
        return self.house.ask(MEMBER, "GET", f"{REQUESTS}/{number}").json()

    def until(self, look: Callable[[], Any], what: str) -> None:
        """Wait for a fact; a loop that ended is told instead."""

        def seen() -> Any:
            assert not self.failed, f"the loop ended: {self.failed}"
            return look()

        until(seen, what)

    def held(self, number: int) -> str:
        """The cell in which a request has its leases, once it has them."""
        self.until(lambda: self.request(number)["status"] == "held", f"request {number} is held")
        return str(self.request(number)["cell"])

    def reached(self, name: str) -> None:
        self.until(lambda: self.standing(name)["standing"] == "reachable", f"{name} is reached")


@pytest.fixture
def every_s() -> float:
    """How often a cell is written to that there is nothing for."""
    return 0.05


@pytest.fixture
def home(tmp_path: Path, every_s: float) -> Iterator[Home]:
    keys, desk = tmp_path / "keys", CellDesk()
    keys.mkdir()
    with http_house(tmp_path, parts=make_parts(cells=desk)) as house:
        drop_budgets(house)
        made = Home(house, keys, desk=desk, every_s=every_s)
        made.begin()
        try:
            yield made
        finally:
            made.end()


@pytest.fixture
def cells() -> Iterator[Cells]:
    with ExitStack() as stack:
        yield lambda **terms: stack.enter_context(acted_cell(**terms))


def news(*leases: int, **more: Any) -> Answer:
    return {"global_id": 1, "number": 1, "status": "held", "seq": 9, "leases": [*leases]} | more


LIES: dict[str, Answer] = {
    "an epoch beyond all": {"epoch": MOST},
    "orders done beyond all": {"done": MOST},
    "a time beyond all": {"now_ms": MOST},
    "more leases than a gang has": {"news": [news(*range(1, 400))]},
    "a record beyond all": {"news": [news(1, seq=MOST)]},
    "a request that it never had": {"news": [news(1)]},
    "the same request twice": {"news": [news(1), news(2, seq=10)]},
    "news of a record that was heard": {"news": [news(1, seq=0)]},
    "requests that nobody gave it": {"held": 7},
    "room beyond all": {"free_gpu_milli": MOST, "free_cpu_milli": MOST},
    "an epoch long ago": {"epoch": 0},
    "words that nobody knows": {"more": "words"},
}


def in_letters(lie: Answer) -> Callable[[str, Answer], Answer]:
    return lambda path, told: told | lie if path.endswith("/letters") else told


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
@pytest.mark.parametrize("from_the_first", [True, False], ids=["at once", "later"])
def test_a_cell_that_lies_in_its_replies_ends_nobody_elses_work(
    home: Home, cells: Cells, *, lie: Answer, from_the_first: bool
) -> None:
    liar, good = cells(), cells(free_gpu_milli=8_000)
    home.join("good", good)
    home.reached("good")
    liar.twist = in_letters(lie if from_the_first else {})
    home.join("liar", liar)
    home.until(lambda: liar.letters >= 3, "the liar was heard")
    liar.twist, told = in_letters(lie), liar.letters
    home.until(lambda: liar.letters >= told + 3, "it was heard again")
    assert home.held(home.want()) == "good"
    late = cells(free_gpu_milli=16_000)
    home.join("late", late)
    home.reached("late")
    assert home.held(home.want()) == "late", "who joins later is met all the same"
    if not from_the_first:
        return
    liar.twist = in_letters({})
    home.reached("liar")  # nothing of what it said has stayed


@pytest.mark.parametrize("every_s", [1.0])
def test_a_cell_that_always_has_news_is_written_to_no_more_often_than_others(
    home: Home, cells: Cells, every_s: float
) -> None:
    talker = cells()

    def talk(path: str, told: Answer) -> Answer:
        made_up = {"news": [news(seq=talker.letters, status="ended")], "held": 0}
        return told | made_up if path.endswith("/letters") else told

    talker.twist = talk
    home.join("talker", talker)
    home.reached("talker")
    begun_s, letters = time.monotonic(), talker.letters
    home.until(lambda: talker.letters >= letters + 6, "it was heard again and again")
    assert time.monotonic() - begun_s >= 5 * every_s
    assert home.standing("talker")["trouble"] is None


GRANTED = {
    "access_token": "a.good.token",
    "expires_in": 600,
    "token_id": "t",
    "principal": "campus",
    "expires_ms": 1,
}


@pytest.mark.parametrize(
    "lie",
    [{"access_token": "t\u00f6ken"}, {"access_token": "a\r\nb: c"}, {"expires_in": 10**400}, {}],
    ids=["no ascii", "two lines", "for ever", "none"],
)
def test_a_cell_that_gives_a_strange_token_ends_nobody_elses_work(
    home: Home, cells: Cells, lie: Answer
) -> None:
    liar, good = cells(), cells(free_gpu_milli=8_000)
    home.join("good", good)
    liar.twist = lambda path, told: GRANTED | lie if path == FEDERATION_EXCHANGE.path else told
    home.join("liar", liar, key="campus bwkey-0192.00ff")
    home.until(lambda: home.standing("liar")["trouble"] or liar.letters, "it was tried")
    home.reached("good")
    assert home.held(home.want()) == "good"
    if not lie:
        home.reached("liar")


def test_a_cell_that_answers_byte_by_byte_holds_up_one_look_and_not_the_fleet(
    home: Home, cells: Cells
) -> None:
    slow, good = cells(free_gpu_milli=16_000), cells(free_gpu_milli=8_000)
    slow.drips = lambda path: path.endswith("/offers")
    home.join("good", good)
    home.join("slow", slow)
    home.reached("good")
    home.reached("slow")
    assert home.held(home.want()) == "good"
    assert slow.offers


def test_a_cell_that_promises_and_turns_away_does_not_keep_a_request_from_others(
    home: Home, cells: Cells
) -> None:
    liar, good = cells(free_gpu_milli=16_000), cells(free_gpu_milli=8_000)

    def turn_away(path: str, told: Answer) -> Answer:
        for each in told.get("news", ()):
            each |= {"status": "turned_away", "leases": []}
        return told

    liar.twist = turn_away
    home.join("good", good)
    home.join("liar", liar)
    home.reached("good")
    home.reached("liar")
    assert home.held(home.want()) == "good"
    assert liar.done, "it was given to the other first"


@pytest.mark.parametrize("breaks_off", [False, True], ids=["refuses", "is silent"])
def test_what_a_cell_refuses_to_take_comes_free_and_it_is_given_no_more(
    home: Home, cells: Cells, *, breaks_off: bool
) -> None:
    mule, good = cells(free_gpu_milli=16_000), cells(free_gpu_milli=8_000)
    mule.refuses = lambda letter: bool(letter.get("orders"))
    mule.breaks_off = breaks_off
    home.join("mule", mule)
    home.reached("mule")
    number = home.want()
    home.until(lambda: any("mule is cut off" in said for said in home.said), "it was met anew")
    home.reached("mule")
    home.join("good", good)
    assert home.held(number) == "good", "it came free, and another has it"
    offers, orders = mule.offers, mule.refused
    assert home.standing("mule")["trouble"] == "it does not take what it is ordered"
    assert home.held(home.want()) == "good"
    assert (mule.offers, mule.refused) == (offers, orders), "it is asked and ordered nothing"


def test_a_cell_that_refuses_once_keeps_what_it_was_given(home: Home, cells: Cells) -> None:
    cell = cells(free_gpu_milli=16_000)
    cell.refuses = lambda letter: bool(letter.get("orders")) and cell.refused < 2
    home.join("east-2", cell)
    home.reached("east-2")
    assert home.held(home.want()) == "east-2"
    assert (cell.refused, home.standing("east-2")["trouble"]) == (2, None)
    assert not any("is cut off" in said for said in home.said)
    assert home.held(home.want()) == "east-2"


def test_a_cell_that_has_done_more_than_it_was_given_is_cut_off_and_says_why(
    home: Home, cells: Cells
) -> None:
    cell = cells(free_gpu_milli=8_000)
    home.join("east-2", cell)
    home.reached("east-2")
    assert home.held(home.want()) == "east-2"
    cell.done += 5  # this home was set back to an older journal
    home.until(lambda: home.standing("east-2")["trouble"], "the trouble is told")
    assert home.standing("east-2")["trouble"] == "it has carried out 6 orders, and was given 1"


def test_a_cell_that_has_not_what_it_was_given_is_given_nothing_more(
    home: Home, cells: Cells
) -> None:
    cell = cells(free_gpu_milli=8_000)
    home.join("east-2", cell)
    home.reached("east-2")
    assert home.held(home.want()) == "east-2"
    assert home.standing("east-2")["trouble"] is None
    cell.held = {}  # its journal was set back
    home.until(lambda: home.standing("east-2")["trouble"], "the trouble is told")
    assert home.standing("east-2")["trouble"].startswith("it has 0 of our requests, and 1 are")
    offers, late = cell.offers, cells(free_gpu_milli=1_000)
    home.join("late", late)
    home.reached("late")
    assert home.held(home.want()) == "late"
    assert cell.offers == offers


def test_the_key_of_a_cell_is_shown_to_nobody_who_joins_under_its_name(
    home: Home, cells: Cells
) -> None:
    cell, thief = cells(), cells()
    shown = list[str]()

    def listen(path: str, told: Answer) -> Answer:
        shown.append(path)
        return told

    thief.twist = listen
    home.join("east-2", cell, key="campus bwkey-0192.00ff")
    for path, body in (
        (f"{CELLS}/east-2/leave", {"lost": True}),
        (CELLS, {"cell": "east-2", "url": thief.url}),
    ):
        assert home.house.ask(OPERATOR, "POST", path, json=body).status_code == 200
    home.until(lambda: home.standing("east-2")["trouble"], "the trouble is told")
    assert home.standing("east-2")["trouble"].startswith("the file of its key is for another")
    assert shown == []


def test_a_cell_that_joins_anew_is_met_when_it_has_nothing_of_before(
    home: Home, cells: Cells
) -> None:
    cell = cells(free_gpu_milli=8_000)
    left = {"global_id": 2, "number": 3, "status": "queued", "seq": 8, "leases": []}
    cell.done, cell.seq, cell.held = 3, 9, {2: left}
    home.join("east-2", cell)
    home.until(lambda: home.standing("east-2")["trouble"], "the trouble is told")
    assert "nobody here knows" in home.standing("east-2")["trouble"]
    cell.held = {2: left | {"status": "ended", "seq": 9}}
    home.reached("east-2")
    assert home.held(home.want()) == "east-2"


def test_a_request_whose_deadline_has_passed_waits_for_no_cell(home: Home) -> None:
    body = {**ASKED, "deadline_ms": 1}
    found = home.house.ask(MEMBER, "POST", REQUESTS, json=body).json()
    path = f"{REQUESTS}/{found['global_id']}"
    home.until(lambda: home.house.ask(MEMBER, "GET", path).status_code == 404, "it is over")
    assert home.request(1)["status"] == "waiting", "who has none goes on waiting"
