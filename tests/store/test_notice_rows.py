"""Notices as rows: told once, bounded for each person, and an address that counts only if shown."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from bailiwick.apps.webhooks import OVERLAP_MS
from bailiwick.iam import FLEET, Scope
from bailiwick.ports import JobChange, NewJobRow
from bailiwick.store.graph_rows import GraphBook, GraphChange, GraphRow, NewGraphRow
from bailiwick.store.job_rows import JobBook
from bailiwick.store.migrations import migrate
from bailiwick.store.notices import endings as endings_module
from bailiwick.store.notices import people as people_module
from bailiwick.store.notices import post as post_module
from bailiwick.store.notices.inbox import Inbox
from bailiwick.store.notices.people import (
    CODE_MS,
    CODE_TRIES_MAX,
    CODES_PER_HOUR,
    HOUR_MS,
    NewAddress,
    NoticePeople,
    PersonChange,
)
from bailiwick.store.notices.post import (
    LETTERS_PER_HOUR,
    TESTS_PER_HOUR,
    TOLD_MAX,
    NoticePost,
    Post,
)
from bailiwick.store.notices.told import Tiding
from bailiwick.store.sql_store import SqlStore
from bailiwick.vocab.apps import DeliveryState
from bailiwick.vocab.errors import Conflict, LimitReached, Unavailable
from bailiwick.vocab.graphs import GraphPhase
from bailiwick.vocab.jobs import JobPhase
from bailiwick.vocab.notices import NoticeChannel, NoticeKind
from tests.store.conftest import Place
from tests.support.waiting import WAIT_S

NOW = 10 * HOUR_MS
EMAIL, INBOX, WEBHOOK = NoticeChannel.EMAIL, NoticeChannel.INBOX, NoticeChannel.WEBHOOK
DRAINED = NoticeKind.NODE_DRAINED


def tiding(message: str = "m-1", kind: NoticeKind = DRAINED) -> Tiding:
    return Tiding(message=message, kind=kind, at_ms=3, scope=Scope("lab"), facts={"node": "n1"})


def expect(people: NoticePeople, email: str = "ann@lab.example", *, digest: str = "d") -> None:
    people.change("ann", PersonChange(address=NewAddress(email, digest)), now_ms=NOW)


def choose(people: NoticePeople, *ways: NoticeChannel) -> None:
    people.change("ann", PersonChange(choices={DRAINED: frozenset(ways)}), now_ms=NOW)


def verified(store: SqlStore, *ways: NoticeChannel) -> None:
    people = NoticePeople(store)
    expect(people)
    assert people.verify("ann", digest="d", now_ms=NOW)
    choose(people, *ways)


def messages(store: SqlStore, name: str = "ann") -> list[str]:
    rows = Inbox(store).page(name, before=None, limit=1_000)
    return [row.tiding.message for row in rows]


def test_reading_begins_with_the_journal_and_goes_on_where_it_was(place: Place) -> None:
    first = NoticePost(place.open())
    assert first.begin(40) == 0, "what a new server did before it began to read is news"
    first.take(0, 45, posts=[], now_ms=NOW)
    assert NoticePost(place.open()).begin(99) == 45


def test_of_two_that_read_the_same_one_is_too_late_and_tells_nothing(place: Place) -> None:
    store, other = place.open(), place.open()
    for each in (store, other):
        assert NoticePost(each).begin(0) == 0
    NoticePost(store).take(0, 5, posts=[Post(tiding(), ("ann",))], now_ms=NOW)
    with pytest.raises(Unavailable):
        NoticePost(other).take(0, 5, posts=[Post(tiding("twice"), ("ann",))], now_ms=NOW)
    assert messages(store) == ["m-1"]


def test_a_message_is_one_row_however_often_it_is_handed_over(place: Place) -> None:
    store = place.open()
    verified(store, INBOX, EMAIL)
    for _ in range(2):
        NoticePost(store).hand_over([Post(tiding(), ("ann", "bob"))], now_ms=NOW)
    assert messages(store) == messages(store, "bob") == ["m-1"]
    (letter,) = NoticePost(store).due(NOW, EMAIL, limit=10)
    assert (letter.principal, letter.channel) == ("ann", EMAIL)
    assert (letter.message, letter.tidings) == ("m-1", (tiding(),))


def test_by_default_everything_is_in_the_inbox_and_nothing_is_sent(place: Place) -> None:
    store = place.open()
    NoticePost(store).hand_over([Post(tiding(), ("ann",))], now_ms=NOW)
    assert messages(store) == ["m-1"]
    assert NoticePost(store).due(NOW, EMAIL, limit=10) == []


def test_what_has_no_way_out_yet_is_in_the_inbox_and_is_sent_nowhere(place: Place) -> None:
    store = place.open()
    people = NoticePeople(store)
    choose(people, EMAIL, WEBHOOK)
    expect(people)
    NoticePost(store).hand_over([Post(tiding(), ("ann",))], now_ms=NOW)
    assert [NoticePost(store).due(NOW, way, limit=10) for way in (EMAIL, WEBHOOK)] == [[], []]
    assert messages(store) == ["m-1"], "it waits for its code, and nothing is lost meanwhile"
    choose(people)
    NoticePost(store).hand_over([Post(tiding("m-2"), ("ann",))], now_ms=NOW)
    assert messages(store) == ["m-1"], "who wants to hear nothing hears nothing"


def test_an_inbox_keeps_the_newest_and_counts_what_fell_out_unread(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(post_module, "INBOX_KEPT", 3)
    store = place.open()
    for number in range(3):
        NoticePost(store).hand_over([Post(tiding(f"m-{number}"), ("ann",))], now_ms=NOW)
    first = Inbox(store).page("ann", before=None, limit=10)[-1].notice_id
    assert Inbox(store).mark_read("ann", [first], now_ms=NOW) == 1
    for number in range(3, 5):
        NoticePost(store).hand_over([Post(tiding(f"m-{number}"), ("ann", "bob"))], now_ms=NOW)
    assert messages(store) == ["m-4", "m-3", "m-2"]
    assert NoticePeople(store).get("ann").dropped == 1, "the read one is not counted"
    assert messages(store, "bob") == ["m-4", "m-3"]


def drop(post: NoticePost, *messages: str, kind: NoticeKind = DRAINED, now_ms: int = NOW) -> None:
    """Have ann told of these at one look."""
    post.hand_over([Post(tiding(each, kind), ("ann",)) for each in messages], now_ms=now_ms)


def letters(post: NoticePost, way: NoticeChannel = EMAIL) -> list[tuple[list[str], int]]:
    """Of what each letter tells, and how many more it says there were."""
    found = post.due(NOW + 2 * HOUR_MS, way, limit=1_000)
    return [([t.message for t in each.tidings], each.withheld) for each in found]


def test_too_many_for_an_hour_are_in_the_inbox_and_one_letter_says_how_many(
    place: Place,
) -> None:
    store = place.open()
    post, people = NoticePost(store), NoticePeople(store)
    verified(store, EMAIL)
    for number in range(LETTERS_PER_HOUR + 2):
        drop(post, f"m-{number}")
    assert len(letters(post)) == LETTERS_PER_HOUR
    assert messages(store) == [f"m-{LETTERS_PER_HOUR + 1}", f"m-{LETTERS_PER_HOUR}"]
    assert people.get("ann").withheld == 2
    post.sum_up("ann", now_ms=NOW + HOUR_MS - 1)
    assert people.withheld(before_ms=NOW, limit=9) == []
    later = NOW + HOUR_MS
    assert people.withheld(before_ms=later, limit=9) == ["ann"]
    for _ in range(2):
        post.sum_up("ann", now_ms=later)
    due = post.due(later, EMAIL, limit=1_000)
    (more,) = [each.tidings[0] for each in due if each.tidings[0].kind is NoticeKind.MANY_MORE]
    assert more.facts == {"notices": 2}
    assert more.scope == FLEET
    assert people.get("ann").withheld == 0
    drop(post, "next", now_ms=later)
    assert letters(post)[-1] == (["next"], 0)


def test_the_next_letter_says_how_many_were_withheld_before_it(place: Place) -> None:
    store = place.open()
    post, people = NoticePost(store), NoticePeople(store)
    verified(store, EMAIL)
    for number in range(LETTERS_PER_HOUR + 3):
        drop(post, f"m-{number}")
    later = NOW + HOUR_MS
    drop(post, "next", now_ms=later)
    assert letters(post)[-1] == (["next"], 3)
    assert people.withheld(before_ms=later + HOUR_MS, limit=9) == [], "it was said"


def test_what_is_urgent_is_sent_however_much_else_was(place: Place) -> None:
    store = place.open()
    post, urgent = NoticePost(store), NoticeKind.NODE_LOST
    verified(store, EMAIL)
    people = NoticePeople(store)
    people.change("ann", PersonChange(choices={urgent: frozenset({EMAIL})}), now_ms=NOW)
    for number in range(LETTERS_PER_HOUR + 1):
        drop(post, f"m-{number}")
    drop(post, "lost-0", kind=urgent)
    assert letters(post)[-1] == (["lost-0"], 1)
    for number in range(1, LETTERS_PER_HOUR + 1):
        drop(post, f"lost-{number}", kind=urgent)
    assert len(letters(post)) == 2 * LETTERS_PER_HOUR
    assert messages(store) == [f"lost-{LETTERS_PER_HOUR}", f"m-{LETTERS_PER_HOUR}"]


def test_what_is_told_at_one_look_is_one_letter_by_each_way(place: Place) -> None:
    store = place.open()
    post, urgent = NoticePost(store), NoticeKind.NODE_LOST
    verified(store, EMAIL, INBOX)
    both = PersonChange(
        choices={urgent: frozenset({EMAIL, WEBHOOK})}, webhook_url="https://h.example/"
    )
    NoticePeople(store).change("ann", both, now_ms=NOW)
    news = [Post(tiding(f"m-{n}"), ("ann", "bob")) for n in range(3)]
    news.append(Post(tiding("lost", urgent), ("ann",)))
    post.take(post.begin(0), 9, posts=news, now_ms=NOW)
    assert letters(post) == [(["lost", "m-0", "m-1", "m-2"], 0)], "what is urgent first"
    assert letters(post, WEBHOOK) == [(["lost"], 0)]
    assert messages(store) == messages(store, "bob") == ["m-2", "m-1", "m-0"]
    assert post.due(NOW, EMAIL, limit=9)[0].tidings[1] == tiding("m-0"), "read back as written"


def test_a_letter_tells_so_much_and_says_how_much_more_there_is(place: Place) -> None:
    store = place.open()
    post = NoticePost(store)
    verified(store, EMAIL)
    drop(post, *(f"m-{n}" for n in range(TOLD_MAX + 5)))
    ((told, withheld),) = letters(post)
    assert (told, withheld) == ([f"m-{n}" for n in range(TOLD_MAX)], 5)
    assert len(messages(store)) == 5
    assert NoticePeople(store).get("ann").withheld == 0, "it was said"


def test_what_one_way_has_no_room_for_is_withheld_though_another_brings_it(place: Place) -> None:
    store = place.open()
    post, people = NoticePost(store), NoticePeople(store)
    verified(store, EMAIL)
    for number in range(LETTERS_PER_HOUR - 1):
        drop(post, f"m-{number}")
    both = PersonChange(
        choices={DRAINED: frozenset({EMAIL, WEBHOOK})}, webhook_url="https://h.example/"
    )
    people.change("ann", both, now_ms=NOW)
    drop(post, "last")
    assert letters(post)[-1] == (["last"], 0), "it tells all that it was to tell"
    assert letters(post, WEBHOOK) == []
    assert people.get("ann").withheld == 1
    assert messages(store) == ["last"]
    post.sum_up("ann", now_ms=NOW + HOUR_MS)
    assert letters(post, WEBHOOK) == [([f"more-{NOW}"], 0)]


def test_who_tries_it_too_often_is_told_so_and_loses_no_other_letter(place: Place) -> None:
    store = place.open()
    post = NoticePost(store)
    verified(store, EMAIL)
    for number in range(TESTS_PER_HOUR):
        post.try_out("ann", tiding(f"t-{number}", NoticeKind.TEST), now_ms=NOW)
    with pytest.raises(LimitReached):
        post.try_out("ann", tiding("t-more", NoticeKind.TEST), now_ms=NOW)
    post.try_out("ann", tiding("t-later", NoticeKind.TEST), now_ms=NOW + HOUR_MS)
    for number in range(LETTERS_PER_HOUR):
        drop(post, f"m-{number}")
    assert len(letters(post)) == TESTS_PER_HOUR + 1 + LETTERS_PER_HOUR


def test_a_code_counts_once_in_its_time_and_for_a_few_tries(place: Place) -> None:
    people = NoticePeople(place.open())
    assert not people.verify("ann", digest="d", now_ms=NOW)
    expect(people)
    assert not people.verify("ann", digest="d", now_ms=NOW + CODE_MS), "too late"
    for _ in range(CODE_TRIES_MAX):
        assert not people.verify("ann", digest="x", now_ms=NOW)
    assert not people.verify("ann", digest="d", now_ms=NOW), "too many tries"
    expect(people, digest="e")
    assert people.verify("ann", digest="e", now_ms=NOW)
    found = people.get("ann")
    assert (found.email, found.pending_email) == ("ann@lab.example", None)
    assert not people.verify("ann", digest="e", now_ms=NOW), "a code counts once"


def test_an_address_that_waits_for_its_code_does_not_silence_the_one_before(place: Place) -> None:
    store = place.open()
    people = NoticePeople(store)
    verified(store, EMAIL)
    expect(people, "typo@lab.example", digest="e")
    found = people.get("ann")
    assert (found.email, found.pending_email) == ("ann@lab.example", "typo@lab.example")
    assert found.channels(DRAINED) == {EMAIL}
    people.change("ann", PersonChange(drops_pending=True), now_ms=NOW)
    assert not people.verify("ann", digest="e", now_ms=NOW)
    expect(people, "new@lab.example", digest="f")
    assert people.verify("ann", digest="f", now_ms=NOW)
    assert people.get("ann").email == "new@lab.example"
    expect(people, "other@lab.example", digest="g")
    people.change("ann", PersonChange(drops_email=True), now_ms=NOW)
    assert not people.verify("ann", digest="g", now_ms=NOW)
    assert people.get("ann").email is None


def test_what_was_chosen_before_an_address_could_wait_is_kept(empty_place: Place) -> None:
    """By a server of the version before: one address that was shown, and one that was not."""
    url = empty_place.url
    if empty_place.is_sqlite:
        Path(url).mkdir()
        url = f"sqlite:///{url}/bailiwick.db"
    engine = sa.create_engine(url)
    row = "INSERT INTO notice_people (principal, choices, email, is_verified) VALUES "
    with engine.begin() as connection:
        migrate(connection, to="0020")
        connection.execute(sa.text(f"{row} ('ann', '{{}}', 'ann@lab.example', true)"))
        connection.execute(sa.text(f"{row} ('bob', '{{}}', 'bob@lab.example', false)"))
    engine.dispose()
    people = NoticePeople(empty_place.open())
    ann, bob = people.get("ann"), people.get("bob")
    assert (ann.email, ann.pending_email) == ("ann@lab.example", None)
    assert (bob.email, bob.pending_email) == (None, "bob@lab.example")


def test_a_login_is_remembered_and_changes_nothing_that_was_chosen(place: Place) -> None:
    store = place.open()
    people = NoticePeople(store)
    people.note_login("bob", NOW)
    assert (people.get("bob").login_ms, people.get("bob").channels(DRAINED)) == (NOW, {INBOX})
    verified(store, EMAIL)
    before = people.get("ann")
    people.note_login("ann", NOW + 1)
    assert people.get("ann") == replace(before, login_ms=NOW + 1)
    choose(people)
    assert people.get("ann").login_ms == NOW + 1


def test_a_first_choice_is_not_lost_to_who_counts_a_code_for_the_same_person(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One has read that there is nothing yet, and writes after the other has chosen."""
    store, other = place.open(), place.open()
    has_read, goes_on = threading.Event(), threading.Event()
    read_person = people_module.read_person

    def slowly(connection: sa.Connection, principal: str, *, for_change: bool = False) -> Any:
        found = read_person(connection, principal, for_change=for_change)
        if threading.current_thread().name == "slow":
            has_read.set()
            goes_on.wait(0.5)  # the other one waits for us, if all is well
        return found

    monkeypatch.setattr(people_module, "read_person", slowly)
    slow = threading.Thread(
        target=NoticePeople(store).count_code, args=("ann",), kwargs={"now_ms": NOW}, name="slow"
    )
    slow.start()
    assert has_read.wait(WAIT_S)
    hook = PersonChange(
        choices={DRAINED: frozenset({WEBHOOK})}, webhook_url="https://h.example/", secret_id="s"
    )
    NoticePeople(other).change("ann", hook, now_ms=NOW)
    goes_on.set()
    slow.join(WAIT_S)
    found = NoticePeople(store).get("ann")
    assert (found.webhook_url, found.codes) == ("https://h.example/", 1)


def test_a_mailbox_is_not_filled_with_codes(place: Place) -> None:
    people = NoticePeople(place.open())
    for _ in range(CODES_PER_HOUR):
        people.count_code("ann", now_ms=NOW)
    with pytest.raises(LimitReached):
        people.count_code("ann", now_ms=NOW)
    people.count_code("bob", now_ms=NOW)
    people.count_code("ann", now_ms=NOW + HOUR_MS)


def test_after_a_change_of_secrets_both_count_for_a_day(place: Place) -> None:
    people = NoticePeople(place.open())
    with pytest.raises(Conflict, match="there is none"):
        people.rotate("ann", "s2", now_ms=NOW)
    here = PersonChange(webhook_url="https://hooks.example/", secret_id="s1")
    people.change("ann", here, now_ms=NOW)
    assert people.change("ann", replace(here, secret_id="s9"), now_ms=NOW).secret_id == "s1"
    for _ in range(2):  # the same request once more
        found = people.rotate("ann", "s2", now_ms=NOW)
        assert found.secret_ids(NOW + OVERLAP_MS - 1) == ("s2", "s1")
    assert found.secret_ids(NOW + OVERLAP_MS) == ("s2",)
    away = PersonChange(webhook_url="https://other.example/", secret_id="s3")
    assert people.change("ann", away, now_ms=NOW).secret_ids(NOW) == ("s3",), "another's to know"
    assert people.change("ann", PersonChange(webhook_url=""), now_ms=NOW).secret_ids(NOW) == ()


def test_letters_are_settled_withdrawn_and_forgotten(place: Place) -> None:
    store = place.open()
    post = NoticePost(store)
    verified(store, EMAIL)
    for number in range(3):
        post.hand_over([Post(tiding(f"m-{number}"), ("ann",))], now_ms=NOW)
    done, dead, gone = post.due(NOW, EMAIL, limit=9)
    assert post.settle(replace(done, state=DeliveryState.DELIVERED, tried_ms=NOW))
    assert post.settle(replace(dead, state=DeliveryState.DEAD, tried_ms=NOW))
    assert post.withdraw(gone)
    assert post.due(NOW, EMAIL, limit=9) == []
    assert post.latest("ann")[EMAIL].state is DeliveryState.DEAD
    assert post.forget(NOW) == 0
    assert post.forget(NOW + post_module.DELIVERED_MS + 1) == 1
    assert post.forget(NOW + post_module.DEAD_MS + 1) == 1


def test_a_try_is_counted_before_it_is_made_and_by_one_leader(place: Place) -> None:
    store, other = place.open(), place.open()
    post = NoticePost(store)
    verified(store, EMAIL)
    drop(post, "m-1")
    (letter,) = post.due(NOW, EMAIL, limit=9)
    claimed = post.claim(letter, next_try_ms=NOW + 5)
    assert claimed is not None
    assert (claimed.tries, claimed.next_try_ms) == (1, NOW + 5)
    assert NoticePost(other).claim(letter, next_try_ms=NOW + 9) is None, "it is another's"
    assert NoticePost(other).due(NOW + 4, EMAIL, limit=9) == []
    assert NoticePost(other).due(NOW + 5, EMAIL, limit=9) == [claimed], "nobody lived to settle it"


def test_what_became_of_a_try_is_not_written_over_what_a_later_one_says(place: Place) -> None:
    store = place.open()
    post = NoticePost(store)
    verified(store, EMAIL)
    drop(post, "m-1")
    (letter,) = post.due(NOW, EMAIL, limit=9)
    first = post.claim(letter, next_try_ms=NOW)
    assert first is not None
    second = post.claim(first, next_try_ms=NOW + 7)
    assert second is not None
    assert not post.settle(replace(first, state=DeliveryState.DEAD, tried_ms=NOW))
    assert not post.settle(replace(first, next_try_ms=NOW + 99, tried_ms=NOW))
    assert post.due(NOW + 7, EMAIL, limit=9) == [second]
    assert post.settle(replace(first, state=DeliveryState.DELIVERED, tried_ms=NOW)), "it is there"
    assert not post.settle(replace(second, state=DeliveryState.DEAD, tried_ms=NOW))
    assert post.latest("ann")[EMAIL].state is DeliveryState.DELIVERED


def test_what_no_letter_brings_is_in_the_inbox_with_the_end_of_the_letter(place: Place) -> None:
    store = place.open()
    post = NoticePost(store)
    verified(store, EMAIL)
    for number in range(3):
        drop(post, f"m-{number}")
    dead, gone, read = post.due(NOW, EMAIL, limit=9)
    later = post.claim(dead, next_try_ms=NOW)
    assert later is not None
    given_up = replace(later, state=DeliveryState.DEAD, tried_ms=NOW)
    assert not post.settle(replace(given_up, tries=0), inbox=dead.tidings)
    assert messages(store) == [], "another try is under way"
    assert post.settle(given_up, inbox=dead.tidings)
    assert not post.settle(given_up, inbox=dead.tidings)
    assert messages(store) == ["m-0"]
    assert post.withdraw(gone, inbox=gone.tidings)
    assert post.withdraw(read)
    assert messages(store) == ["m-1", "m-0"]
    assert post.due(NOW, EMAIL, limit=9) == []


def test_where_the_server_sends_no_mail_what_would_be_mailed_is_in_the_inbox(place: Place) -> None:
    store = place.open()
    post = NoticePost(store, sends_mail=False)
    verified(store, EMAIL)
    drop(post, "m-1")
    assert post.due(NOW, EMAIL, limit=9) == []
    assert messages(store) == ["m-1"]
    hook = PersonChange(
        webhook_url="https://h.example/", choices={DRAINED: frozenset({EMAIL, WEBHOOK})}
    )
    NoticePeople(store).change("ann", hook, now_ms=NOW)
    drop(post, "m-2")
    assert letters(post, WEBHOOK) == [(["m-2"], 0)]
    assert messages(store) == ["m-1"], "the other way leads somewhere"


def test_that_there_was_more_than_one_letter_told_is_no_notice_of_the_inbox(place: Place) -> None:
    store = place.open()
    post, more = NoticePost(store), tiding("more", NoticeKind.MANY_MORE)
    verified(store, EMAIL)
    drop(post, "m-1")
    (letter,) = post.due(NOW, EMAIL, limit=9)
    assert post.withdraw(letter, inbox=[more, *letter.tidings])
    assert messages(store) == ["m-1"], "what it counts is there already"


def new_job(**how: Any) -> NewJobRow:
    new = NewJobRow(
        tenant="lab", project=None, name="train", submitter="ann", submitter_kind="human",
        submitter_keys=None, correlation_id="c", key=None, digest="d", request={},
        command=("true",), env={}, cwd=None, tag=None, submitted_ms=1, since_seq=0,
    )  # fmt: skip
    return replace(new, **how)


def new_graph() -> NewGraphRow:
    return NewGraphRow(
        tenant="lab", project=None, name="sweep", submitter="ann", submitter_kind="human",
        submitter_keys=None, correlation_id="c", key=None, digest="d", document="{}",
        executor=None, tasks=2, submitted_ms=1,
    )  # fmt: skip


def end_graph(book: GraphBook, graph: GraphRow | None, *, ended_ms: int) -> GraphRow:
    assert graph is not None
    over = GraphChange(
        phase=GraphPhase.FAILED, tasks=(), ended_ms=ended_ms, rerun_taken=graph.rerun_asked
    )
    book.change(graph, over)
    found = book.get(graph.graph_id)
    assert found is not None
    return found


def test_the_end_of_a_job_is_told_once(place: Place) -> None:
    store = place.open()
    book, post = JobBook(store), NoticePost(store)
    job = book.insert(new_job(), live_max=9)
    assert post.ended(9) == []
    book.change(job.job_id, JobChange(phase=JobPhase.SUCCEEDED, ended_ms=7, exit_code=0))
    (found,) = post.ended(9)
    assert (found.submitter, found.phase, found.exit_code) == ("ann", "succeeded", 0)
    posts = [Post(tiding(kind=NoticeKind.JOB_ENDED), ("ann",))]
    post.tell_ended([found], posts=posts, now_ms=NOW)
    assert post.ended(9) == []
    with pytest.raises(Unavailable):
        post.tell_ended([found], posts=[Post(tiding("twice"), ("ann",))], now_ms=NOW)
    assert messages(store) == ["m-1"]


def finish(store: SqlStore, job_id: int, phase: JobPhase = JobPhase.SUCCEEDED) -> None:
    JobBook(store).change(job_id, JobChange(phase=phase, ended_ms=7, exit_code=0))


def test_an_array_is_told_of_once_when_none_of_its_tasks_is_left(place: Place) -> None:
    store = place.open()
    book, post = JobBook(store), NoticePost(store)
    head = book.insert_array(new_job(array="0-3"), indices=(0, 1, 2, 3), live_max=9).job_id
    for job_id in (head, head + 1, head + 2):
        finish(store, job_id, JobPhase.FAILED if job_id == head + 1 else JobPhase.SUCCEEDED)
        assert post.ended(9) == []
    finish(store, head + 3)
    (found,) = post.ended(9)
    assert (found.number, found.phase) == (head, "failed")
    assert (found.tasks, found.succeeded) == (4, 3)
    post.tell_ended([found], posts=[], now_ms=NOW)
    assert post.ended(9) == []


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ((JobPhase.CANCELLED,) * 3, "cancelled"),
        ((JobPhase.SUCCEEDED, JobPhase.CANCELLED, JobPhase.PREEMPTED), "cancelled"),
        ((JobPhase.CANCELLED, JobPhase.FAILED, JobPhase.LOST), "failed"),
        ((JobPhase.SUCCEEDED,) * 3, "succeeded"),
    ],
)
def test_an_array_ended_as_the_gravest_of_its_tasks(
    place: Place, ends: tuple[JobPhase, ...], told: str
) -> None:
    store = place.open()
    new = new_job(array="0-2")
    head = JobBook(store).insert_array(new, indices=(0, 1, 2), live_max=9).job_id
    for number, phase in enumerate(ends):
        finish(store, head + number, phase)
    (found,) = NoticePost(store).ended(9)
    assert found.phase == told


def test_every_end_of_a_job_has_its_gravity() -> None:
    assert set(endings_module._GRAVER) == {phase for phase in JobPhase if phase.is_over}


def test_a_graph_that_is_tried_again_between_look_and_word_is_told_of_at_its_next_end(
    place: Place,
) -> None:
    store = place.open()
    graphs, post = GraphBook(store), NoticePost(store)
    graph = end_graph(graphs, graphs.insert(new_graph(), live_max=9), ended_ms=9)
    (found,) = post.ended(9)
    assert graphs.ask_rerun(graph.graph_id, [])
    asked = graphs.get(graph.graph_id)
    assert asked is not None
    running = GraphChange(
        phase=GraphPhase.RUNNING, tasks=(), ended_ms=None, rerun_taken=asked.rerun_asked
    )
    graphs.change(asked, running)
    with pytest.raises(Unavailable):
        post.tell_ended([found], posts=[Post(tiding(), ("ann",))], now_ms=NOW)
    assert messages(store) == []
    end_graph(graphs, graphs.get(graph.graph_id), ended_ms=20)
    (again,) = post.ended(9)
    assert again.ended_ms == 20


def test_a_graph_is_told_of_instead_of_its_jobs_and_again_when_it_was_tried_again(
    place: Place,
) -> None:
    store = place.open()
    graphs, post = GraphBook(store), NoticePost(store)
    graph = graphs.insert(new_graph(), live_max=9)
    job = JobBook(store).insert(new_job(key=f"{graph.key_prefix}a/1"), live_max=9)
    finish(store, job.job_id)
    assert post.ended(9) == []
    graph = end_graph(graphs, graph, ended_ms=9)
    (found,) = post.ended(9)
    assert (found.kind, found.number) == (NoticeKind.GRAPH_ENDED, graph.graph_id)
    assert found.phase == "failed"
    assert (found.tasks, found.succeeded) == (2, 0)
    post.tell_ended([found], posts=[], now_ms=NOW)
    assert post.ended(9) == []
    assert graphs.ask_rerun(graph.graph_id, [])
    assert post.ended(9) == [], "it is about to be tried again"
    graph = end_graph(graphs, graphs.get(graph.graph_id), ended_ms=20)
    (again,) = post.ended(9)
    assert again.ended_ms == 20
