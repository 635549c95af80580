"""A record that no leader wrote is damage: nobody takes it up, however well it fits the chain.

The forger has all that a job with a connection to the database would have: it reads the journal,
makes a record that continues the chain, and writes whatever rows it likes. It has no key.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import delete, insert, update

from bailiwick.iam import FLEET
from bailiwick.iam import Role as IamRole
from bailiwick.kernel import Envelope, Kernel, Tick
from bailiwick.kernel.people.commands import SetMember
from bailiwick.runtime.rebuild import catch_up, rebuild
from bailiwick.runtime.replica import Pace, Replica, Role, Ticket
from bailiwick.runtime.runner import Runner, SystemClock
from bailiwick.runtime.stamps import Stamps
from bailiwick.server.stamping import open_stamps
from bailiwick.services.authority import Authority
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import journal, stamps, writer
from bailiwick.tools.repairs import (
    AskedRepair,
    accept_unproven,
    cut_unproven,
    find_unproven,
    repair_clock,
)
from bailiwick.vocab.errors import Conflict, Damaged
from tests.store.conftest import Place
from tests.support.waiting import WAIT_S, until

KEY = b"k" * 32
PACE = Pace(tick_ms=10**9, follow_ms=0, lead_ms=0)
FORGED = SetMember("mallory", IamRole.FLEET_ADMIN)


def replica_at(place: Place, name: str = "one", key: bytes | None = KEY) -> Replica:
    """A replica with the servers' key, or without any."""
    found = Replica(place.open(), SystemClock(), name=name, pace=PACE)
    found.stamps = None if key is None else Stamps(key)
    return found


def stepped(replica: Replica, role: Role = Role.LEADING) -> Replica:
    """The replica once it has come to a role."""
    until(lambda: replica.step() is not None and replica.role is role, f"a replica that is {role}")
    return replica


def told(replica: Replica, command: object) -> None:
    """Have a leader decide a command, and make it durable."""
    done: list[Ticket] = []
    replica.submit(Ticket(Envelope(command), done.append))  # type: ignore[arg-type]
    until(lambda: replica.step() is not None and done, "an answer")
    assert done[0].error is None


def forge(store: SqlStore, *, mark: bytes | None = None) -> int:
    """Append a record that makes somebody an administrator; its number."""
    kernel, _ = rebuild(store, read_max=100, warn=print)
    first = kernel.state.size
    lines = kernel.execute(Envelope(FORGED, "admin", "forged"), kernel.state.clock_ms).lines
    assert lines
    leader = store.leader()
    epoch = 0 if leader is None else leader.epoch
    with store.changing() as connection:
        for seq, line in enumerate(lines, first):
            connection.execute(insert(journal).values(seq=seq, epoch=epoch, line=line))
        size = first + len(lines)
        connection.execute(update(writer).values(size=size))
        if mark is not None:
            connection.execute(insert(stamps).values(size=size, epoch=epoch, mark=mark))
    return first


def admins(kernel: Kernel | None) -> dict[str, IamRole]:
    """Who administers the fleet."""
    return {} if kernel is None else dict(kernel.state.directory.members(FLEET))


def until_damaged(replica: Replica, seq: int) -> None:
    """Step until the replica refuses this record."""

    refused: list[Damaged] = []

    def refuses() -> bool:
        try:
            replica.step()
        except Damaged as error:
            refused.append(error)
        assert "mallory" not in admins(replica.kernel)
        return bool(refused)

    until(refuses, "a replica that refuses the record")
    assert refused[0].where == f"record {seq}"
    assert "no leader of this ledger wrote it" in str(refused[0])
    assert "repair stamps" in refused[0].hint


def test_a_leader_stops_at_a_record_that_it_did_not_write(place: Place) -> None:
    leader = stepped(replica_at(place))
    told(leader, SetMember("ann", IamRole.FLEET_ADMIN))
    seq = forge(place.open())
    until_damaged(leader, seq)


def test_a_starting_server_stops_at_a_record_that_was_written_meanwhile(place: Place) -> None:
    leader = stepped(replica_at(place))
    told(leader, SetMember("ann", IamRole.FLEET_ADMIN))
    leader.store.close()
    seq = forge(place.open())
    until_damaged(replica_at(place, "two"), seq)


def test_a_follower_stops_at_it_and_takes_up_what_is_before(place: Place) -> None:
    leader = stepped(replica_at(place))
    follower = stepped(replica_at(place, "two"), Role.FOLLOWING)
    told(leader, SetMember("ann", IamRole.FLEET_ADMIN))
    until(lambda: follower.step() is not None and "ann" in admins(follower.kernel), "news")
    seq = forge(place.open())
    until_damaged(follower, seq)


def test_a_made_up_stamp_proves_nothing(place: Place) -> None:
    leader = stepped(replica_at(place))
    leader.store.close()
    until_damaged(replica_at(place, "two"), forge(place.open(), mark=b"m" * 32))


def test_taking_every_stamp_away_makes_no_old_journal_of_it(place: Place, tmp_path: Path) -> None:
    authority, folder = Authority.from_pem(Authority.new_key()), tmp_path / "own"
    leader = replica_at(place)
    leader.stamps = open_stamps(folder, authority)
    stepped(leader)
    leader.store.close()
    thief = place.open()
    with thief.changing() as connection:
        connection.execute(delete(stamps))
    forge(thief)
    again = replica_at(place, "two")
    again.stamps = open_stamps(folder, authority)
    until_damaged(again, 0)


def test_a_journal_from_before_there_were_stamps_is_read_and_stamped_from_then_on(
    place: Place,
) -> None:
    old = stepped(replica_at(place, key=None))
    told(old, SetMember("ann", IamRole.FLEET_ADMIN))
    old.store.close()
    assert place.open().last_stamp(2**40) is None
    new = stepped(replica_at(place, "two"))
    assert "ann" in admins(new.kernel)
    new.store.close()
    assert stepped(replica_at(place, "three")).kernel is not None
    place.close()
    # Whoever writes without the key now is nobody of ours, an older version among them.
    until_damaged(replica_at(place, "four"), forge(place.open()))


def test_a_server_with_another_key_refuses_the_journal(place: Place) -> None:
    stepped(replica_at(place)).store.close()
    with pytest.raises(Damaged, match="record 0"):
        replica_at(place, "two", key=b"other" * 8).step()


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
def test_followers_take_up_whole_batches_however_little_they_read(
    sqlite_place: Place, limit: int
) -> None:
    leader = stepped(replica_at(sqlite_place))
    for number in range(4):
        for name in "abc"[: number % 3 + 1]:
            leader.submit(
                Ticket(Envelope(SetMember(f"{name}{number}", IamRole.FLEET_ADMIN)), lambda _: None)
            )
        leader.step()
    ends = {leader.kernel.state.size} if leader.kernel else set()
    store, kernel, made = sqlite_place.open(), Kernel(), Stamps(KEY)
    while catch_up(kernel, store, limit=limit, stamps=made).is_more:
        found = store.last_stamp(kernel.state.size)
        assert found is not None
        assert found.size == kernel.state.size
    assert {kernel.state.size} == ends


def test_a_running_server_tells_everybody_and_stays_stopped(sqlite_place: Place) -> None:
    replica = Replica(sqlite_place.open(), SystemClock(), name="one", pace=Pace(lead_ms=20))
    replica.stamps = Stamps(KEY)
    runner = Runner(replica, wait_s=WAIT_S)
    runner.start()
    try:
        assert runner.wait_for(Role.LEADING, wait_s=WAIT_S)
        forge(sqlite_place.open())
        until(lambda: runner.failed is not None, "a runner that has stopped for good")
        with pytest.raises(Damaged):
            runner.execute(Envelope(Tick()))
    finally:
        runner.stop()


def test_what_nobody_wrote_is_cut_out_and_kept_and_the_rest_goes_on(place: Place) -> None:
    leader = stepped(replica_at(place))
    told(leader, SetMember("ann", IamRole.FLEET_ADMIN))
    leader.store.close()
    seq = forge(place.open())
    store, kept = place.open(), dict[int, list[bytes]]()
    assert find_unproven(store, Stamps(KEY))[0] == seq
    assert cut_unproven(store, Stamps(KEY), keep=kept.__setitem__, warn=print) == 1
    assert b"mallory" in kept[seq][0]
    again = stepped(replica_at(place, "two"))
    assert set(admins(again.kernel)) == {"ann"}


def test_nothing_is_cut_with_a_key_of_which_there_is_no_stamp(place: Place) -> None:
    stepped(replica_at(place)).store.close()
    with pytest.raises(Conflict, match="not one of them"):
        cut_unproven(place.open(), Stamps(b"x" * 32), keep=_never, warn=print)


def test_accepting_puts_a_stamp_of_the_new_key_under_all_of_it(place: Place) -> None:
    leader = stepped(replica_at(place))
    told(leader, SetMember("ann", IamRole.FLEET_ADMIN))
    leader.store.close()
    store = place.open()
    accept_unproven(store, Stamps(b"x" * 32), actor="root", warn=print)
    store.close()
    assert "ann" in admins(stepped(replica_at(place, "two", key=b"x" * 32)).kernel)


def test_the_clock_of_a_stamped_journal_is_set_only_with_its_key(sqlite_place: Place) -> None:
    stepped(replica_at(sqlite_place)).store.close()
    asked = AskedRepair(10**13, "root", "a test")
    with pytest.raises(Conflict, match="only with its key"):
        repair_clock(sqlite_place.open(), asked, warn=print)
    repair_clock(sqlite_place.open(), asked, warn=print, stamps=Stamps(KEY))
    rebuild(sqlite_place.open(), read_max=10, warn=print, stamps=Stamps(KEY))


def _never(first: int, lines: list[bytes]) -> None:
    pytest.fail(f"{len(lines)} records from {first} on would have been cut")
