"""Notices to real receivers: a mail server, a webhook and an inbox, and only to who may know."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.message import EmailMessage
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from bailiwick.events.retrying import Answered, NotReached, RetryPace, SendOutcome
from bailiwick.iam import Role
from bailiwick.kernel import DepartNode, Envelope, ReportHealth, decode_command
from bailiwick.kernel.people.commands import SetMember
from bailiwick.ports import JobChange, NewJobRow
from bailiwick.reconcile.notices import reading
from bailiwick.reconcile.notices.loop import UNDER_WAY_MAX, NoticeLoop, NoticeTerms
from bailiwick.reconcile.notices.mailer import Mailer
from bailiwick.reconcile.notices.reading import NoticeReader, NoticeSources
from bailiwick.runtime.runner import SystemClock
from bailiwick.services.notices.desk import NoticeDesk
from bailiwick.services.notices.mail import MailHead, MailPost, SmtpTerms, letter_mail
from bailiwick.services.tables import StoreTables
from bailiwick.store.job_rows import JobBook
from bailiwick.store.notices.people import NewAddress, PersonChange
from bailiwick.store.notices.told import NoticeLetter, Tiding
from bailiwick.vocab.apps import DeliveryFault
from bailiwick.vocab.jobs import JobPhase
from bailiwick.vocab.notices import NoticeChannel, NoticeKind, SmtpTls
from tests.support.certificates import make_certificate
from tests.support.http_house import FOREIGN, OWN, HttpHouse, http_house, person
from tests.support.mail_server import PASSWORD, USER, MailServer, mail_server
from tests.support.waiting import WAIT_S, until
from tests.support.webhook_receiver import Receiver, is_genuine, receiving

SENDER = "fleet@gpu.example"
PACE = RetryPace(tries_max=3, first_ms=5, factor=2, most_ms=50)
MEMBER = person(Role.PROJECT_MEMBER)
SECRET_ENV, SECRET_ARGUMENT = "tops3cret-env", "tops3cret-argument"
_IDS = count(1)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def server(certificate: tuple[Path, Path]) -> Iterator[MailServer]:
    with mail_server(certificate, login=True) as found:
        yield found


def terms(server: MailServer, certificate: tuple[Path, Path], **more: Any) -> SmtpTerms:
    given: dict[str, Any] = {"tls": SmtpTls.STARTTLS, "user": USER, "password": PASSWORD}
    given |= {"ca_file": certificate[0], "timeout_s": 60.0, **more}
    return SmtpTerms(host="127.0.0.1", port=server.port, sender=SENDER, **given)


@pytest.fixture(scope="module")
def house(
    tmp_path_factory: pytest.TempPathFactory,
    server: MailServer,
    certificate: tuple[Path, Path],
) -> Iterator[HttpHouse]:
    mail = SENDER, Mailer(terms(server, certificate))
    with http_house(tmp_path_factory.mktemp("notices"), mail=mail) as made:
        yield made


@pytest.fixture(autouse=True)
def alone(house: HttpHouse, server: MailServer) -> Iterator[None]:
    """What one test chose, and what it was told, is not the next one's."""
    reader_of(house).read_on()  # from here on
    yield
    with house.store.changing() as connection:
        from bailiwick.store.notices.tables import notice_letters, notice_people, notices

        for table in (notice_letters, notice_people, notices):
            connection.execute(table.delete())
    server.messages.clear()
    server.raw.clear()
    server.answer = lambda message: "250 OK"


def desk_of(house: HttpHouse) -> NoticeDesk:
    found = house.app.state.house.parts.notices
    assert isinstance(found, NoticeDesk)
    return found


def sources_of(house: HttpHouse) -> NoticeSources:
    return NoticeSources(
        runner=house.runner,
        store=house.store,
        jobs=JobBook(house.store),
        post=desk_of(house).post,
        clock=SystemClock(),
        fold=StoreTables.of(house.store).history.fold,
    )


def reader_of(house: HttpHouse) -> NoticeReader:
    return NoticeReader(sources_of(house))


@dataclass
class Dead:
    """Which letters were given up."""

    told: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, channel: str, fault: str) -> None:
        self.told.append((channel, fault))


@contextmanager
def telling(house: HttpHouse, dead: Dead | None = None, **desk_has: Any) -> Iterator[None]:
    """The loop that a leader runs, perhaps with another desk than the API has."""
    stop, failed = threading.Event(), list[BaseException]()
    given = NoticeTerms(pace=PACE, dead=dead or Dead(), timeout_s=60.0)
    desk = replace(desk_of(house), **desk_has)
    loop = NoticeLoop(sources_of(house), desk, terms=given)

    def run() -> None:
        try:
            loop.run(stop)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(WAIT_S)
        assert not thread.is_alive()
        assert failed == []


def choose(house: HttpHouse, who: str, **body: Any) -> dict[str, Any]:
    found = house.ask(who, "PUT", "/v1/notices", json=body)
    assert found.status_code == 200, found.text
    told: dict[str, Any] = found.json()
    return told


def on(kind: str, *channels: str) -> list[dict[str, Any]]:
    return [{"kind": kind, "channels": list(channels)}]


def inbox(house: HttpHouse, who: str, query: str = "") -> dict[str, Any]:
    found = house.ask(who, "GET", f"/v1/inbox{query}")
    assert found.status_code == 200, found.text
    told: dict[str, Any] = found.json()
    return told


def titles(house: HttpHouse, who: str) -> list[str]:
    return [each["title"] for each in inbox(house, who)["items"]]


def with_mail(house: HttpHouse, server: MailServer, who: str, address: str) -> None:
    """Somebody sets an address, and shows the code that came."""
    choose(house, who, email=address)
    (message,) = server.to(address)
    found = re.search(r"notify verify (\S+)", message.get_content())
    assert found is not None
    shown = house.ask(who, "POST", "/v1/notices/verify", json={"code": found[1]})
    assert shown.json()["email"] == address, shown.text


def end_job(house: HttpHouse, *, tenant: str = OWN, phase: JobPhase = JobPhase.FAILED) -> int:
    """A job that is over, with secrets in what it ran."""
    book = JobBook(house.store)
    row = book.insert(
        NewJobRow(
            tenant=tenant, project="p", name=f"train-{next(_IDS)}",
            submitter=person(Role.PROJECT_MEMBER, tenant), submitter_kind="human",
            submitter_keys=None, correlation_id="c", key=None, digest="d", request={},
            command=("train", "--password", SECRET_ARGUMENT), env={"API_KEY": SECRET_ENV},
            cwd=None, tag=None, submitted_ms=1, since_seq=0,
        ),
        live_max=1_000,
    )  # fmt: skip
    book.change(row.job_id, JobChange(phase=phase, ended_ms=SystemClock().now_ms(), exit_code=3))
    return row.job_id


def drain(house: HttpHouse, node: str) -> None:
    house.plain("register_node", node=node, inventory={"resources": {"cpu_milli": 1_000}})
    house.plain("change_mode", node=node, mode="draining")
    house.plain("tick")


# -- mail --------------------------------------------------------------------------------------


def test_an_address_counts_once_its_owner_showed_the_code_that_was_mailed_there(
    house: HttpHouse, server: MailServer
) -> None:
    told = choose(house, MEMBER, email="ann@lab.example", choices=on("job_ended", "email"))
    assert (told["email"], told["pending_email"]) == (None, "ann@lab.example")
    job = end_job(house)
    reader_of(house).read_on()
    assert house.ask(MEMBER, "POST", "/v1/notices/verify", json={"code": "no"}).status_code == 409
    with telling(house):
        until(lambda: _is_told(house, job), "the job's end is read")
        assert len(server.to("ann@lab.example")) == 1, "only the code went there"
        (code,) = server.messages
        found = re.search(r"notify verify (\S+)", code.get_content())
        assert found is not None
        wrong = house.ask(
            person(Role.PROJECT_MEMBER, FOREIGN),
            "POST",
            "/v1/notices/verify",
            json={"code": found[1]},
        )
        assert wrong.status_code == 409, "it is another's code"
        body = {"code": found[1]}
        assert house.ask(MEMBER, "POST", "/v1/notices/verify", json=body).status_code == 200
        assert house.ask(MEMBER, "POST", "/v1/notices/verify", json=body).status_code == 409
        second = end_job(house)
        mail = until(lambda: server.to("ann@lab.example")[1:], "the notice is mailed")
    assert f"Job {second} " in mail[0]["subject"]
    assert server.logins[-1] == USER


def _is_told(house: HttpHouse, job_id: int) -> bool:
    waiting = desk_of(house).post.ended(1_000)
    return all(each.number != job_id for each in waiting)


def test_no_notice_holds_a_secret_a_command_line_or_an_environment(
    house: HttpHouse, server: MailServer
) -> None:
    with receiving() as receiver:
        with_mail(house, server, MEMBER, "ann@lab.example")
        told = choose(
            house,
            MEMBER,
            webhook_url=f"http://127.0.0.1:{receiver.port}/in?token=known-to-few",
            choices=on("job_ended", "inbox", "email", "webhook"),
        )
        with telling(house):
            job = end_job(house)
            until(lambda: server.to("ann@lab.example")[1:], "it is mailed")
            until(lambda: receiver.messages, "it is sent")
    whole = b"".join(server.raw[1:]) + receiver.messages[0].body
    whole += json.dumps(inbox(house, MEMBER)).encode()
    for secret in (SECRET_ENV, SECRET_ARGUMENT, PASSWORD, told["secret"], "known-to-few"):
        assert secret.encode() not in whole
    event = receiver.messages[0].event
    assert event["type"] == "notices.job_ended"
    assert event["data"]["job_id"] == job
    assert is_genuine(receiver.messages[0], told["secret"])


def test_a_secret_is_told_once_and_another_address_has_another(house: HttpHouse) -> None:
    url = "https://hooks.example/in"
    first = choose(house, MEMBER, webhook_url=url)["secret"]
    assert first.startswith("whsec_")
    assert choose(house, MEMBER, webhook_url=url)["secret"] is None
    assert house.ask(MEMBER, "GET", "/v1/notices").json()["secret"] is None
    assert choose(house, MEMBER, webhook_url=url + "2")["secret"] != first
    assert choose(house, MEMBER, webhook_url="")["webhook_url"] is None


def test_a_server_whose_certificate_is_not_trusted_is_sent_nothing_and_that_is_told(
    house: HttpHouse, server: MailServer, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    stranger, _ = make_certificate(tmp_path)
    message = EmailMessage()
    message["To"], message["From"], message["Subject"] = "a@lab.example", SENDER, "x"
    seen = len(server.logins)
    for given in (
        terms(server, certificate, ca_file=None),
        terms(server, certificate, ca_file=stranger),
    ):
        assert Mailer(given)(message) == NotReached(DeliveryFault.CERTIFICATE)
    assert server.messages == []
    assert len(server.logins) == seen, "the password was not shown"
    with mailing(house, Mailer(terms(server, certificate, ca_file=None))):
        refused = house.ask(MEMBER, "PUT", "/v1/notices", json={"email": "b@lab.example"})
    assert refused.status_code == 503
    assert "certificate" in refused.text


@contextmanager
def mailing(house: HttpHouse, mail: MailPost | None) -> Iterator[None]:
    """The API of a server whose mail goes this way."""
    own = house.app.state.house
    house.app.state.house = replace(
        own,
        parts=replace(own.parts, notices=replace(own.parts.notices, mail=mail)),
    )
    try:
        yield
    finally:
        house.app.state.house = own


@pytest.mark.parametrize("at_once", [True, False])
def test_both_ways_of_tls_and_a_server_without_any(
    certificate: tuple[Path, Path], at_once: bool
) -> None:
    tls = SmtpTls.TLS if at_once else SmtpTls.STARTTLS
    message = _plain_message()
    with mail_server(certificate, at_once=at_once) as secure:
        given = terms(secure, certificate, tls=tls, user=None, password=None)
        assert Mailer(given)(message) == Answered(250)
        assert len(secure.messages) == 1
    with mail_server() as plain:
        given = terms(plain, certificate, tls=tls, user=None, password=None)
        assert Mailer(given)(message) == NotReached(DeliveryFault.CERTIFICATE)
        assert plain.messages == []
        given = terms(plain, certificate, tls=SmtpTls.NONE, user=None, password=None)
        assert Mailer(given)(message) == Answered(250)


def _plain_message() -> EmailMessage:
    tiding = Tiding(message="m", kind=NoticeKind.TEST, at_ms=0, scope=_scope())
    return _mail_of(tiding)


def _mail_of(*tidings: Tiding, withheld: int = 0) -> EmailMessage:
    letter = NoticeLetter(
        letter_id=1,
        principal="ann",
        channel=NoticeChannel.EMAIL,
        message=tidings[0].message,
        tidings=tidings,
        withheld=withheld,
    )
    return letter_mail(letter, MailHead(SENDER, "a@lab.example", 0), address="https://gpu.example")


def _scope() -> Any:
    from bailiwick.iam import FLEET

    return FLEET


def test_a_wrong_password_and_a_server_that_is_away_are_values(
    server: MailServer, certificate: tuple[Path, Path]
) -> None:
    wrong = Mailer(terms(server, certificate, password="wrong"))(_plain_message())
    assert wrong == Answered(535)
    with mail_server(certificate) as gone:
        given = terms(gone, certificate, user=None, password=None)
    outcome: SendOutcome = Mailer(given)(_plain_message())
    assert outcome == NotReached(DeliveryFault.NO_CONNECTION)


@pytest.mark.parametrize("goodbye", ["421 too busy to say goodbye", "500 what?"])
def test_what_a_server_took_is_not_sent_again_however_it_says_goodbye(goodbye: str) -> None:
    with mail_server() as server:
        server.goodbye = goodbye
        given = SmtpTerms(host="127.0.0.1", port=server.port, sender=SENDER, tls=SmtpTls.NONE)
        assert Mailer(given)(_plain_message()) == Answered(250)
        server.answer = lambda message: "554 never"
        assert Mailer(given)(_plain_message()) == Answered(554, is_final=True)
        server.answer = lambda message: "451 later"
        assert Mailer(given)(_plain_message()) == Answered(451)
    assert len(server.messages) == 1


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        ({"greeting": "554 not from there"}, Answered(554)),
        ({"sender": "550 who are you?"}, Answered(550, is_final=True)),
        ({"sender": "530 log in first"}, Answered(530)),
        ({"recipient": "550 nobody of that name"}, Answered(550, is_final=True)),
        ({"recipient": "450 busy"}, Answered(450)),
    ],
)
def test_what_a_server_says_of_a_letter_is_final_and_what_it_says_of_us_is_not(
    words: dict[str, str], outcome: SendOutcome
) -> None:
    with mail_server() as server:
        for name, said in words.items():
            setattr(server, name, said)
        given = SmtpTerms(host="127.0.0.1", port=server.port, sender=SENDER, tls=SmtpTls.NONE)
        assert Mailer(given)(_plain_message()) == outcome


def test_no_name_makes_another_header(server: MailServer, certificate: tuple[Path, Path]) -> None:
    facts: dict[str, str | int] = {"job_id": 1, "phase": "failed"}
    tiding = Tiding(
        message="m",
        kind=NoticeKind.JOB_ENDED,
        at_ms=0,
        scope=_scope(),
        facts={**facts, "name": "x\r\nBcc: eve@rival.example\r\n\r\nhello"},
    )
    with pytest.raises(ValueError, match="linefeed"):
        _mail_of(tiding)
    assert server.messages == []


# -- again, and given up -----------------------------------------------------------------------


def test_what_a_server_does_not_take_is_tried_again_and_given_up_in_the_end(
    house: HttpHouse, server: MailServer
) -> None:
    with_mail(house, server, MEMBER, "ann@lab.example")
    choose(house, MEMBER, choices=on("job_ended", "email"))
    refusals = iter(["451 later"])
    server.answer = lambda message: next(refusals, "250 OK")
    dead = Dead()
    with telling(house, dead):
        end_job(house)
        until(lambda: server.to("ann@lab.example")[1:], "it is taken the second time")
        assert dead.told == []
        server.answer = lambda message: "452 the mailbox is full"
        end_job(house)
        until(lambda: dead.told, "it is given up")
    assert dead.told == [("email", "status")]
    assert last_mail(house) == ("dead", "status", 452, 3)


def last_mail(house: HttpHouse) -> tuple[str, str, int, int]:
    """What the member is told of the last letter that was mailed to him."""
    (last,) = house.ask(MEMBER, "GET", "/v1/notices").json()["deliveries"]
    return last["state"], last["fault"], last["status"], last["tries"]


def test_what_a_server_never_takes_is_not_tried_again(house: HttpHouse, server: MailServer) -> None:
    with_mail(house, server, MEMBER, "ann@lab.example")
    choose(house, MEMBER, choices=on("job_ended", "email"))
    server.answer = lambda message: "554 never"
    dead = Dead()
    with telling(house, dead):
        end_job(house)
        until(lambda: dead.told, "it is given up")
    assert last_mail(house) == ("dead", "status", 554, 1)
    refused = house.ask(MEMBER, "PUT", "/v1/notices", json={"email": "new@lab.example"})
    assert (refused.status_code, "554" in refused.text) == (409, True)
    assert not refused.json()["retryable"]


def test_a_leader_that_dies_between_reading_and_sending_loses_nothing(
    house: HttpHouse, server: MailServer
) -> None:
    with_mail(house, server, MEMBER, "ann@lab.example")
    choose(house, MEMBER, choices=on("job_ended", "inbox", "email"))
    first = reader_of(house)
    first.read_on()
    job = end_job(house)
    first.read_ended()  # it is written down, and then this leader is gone
    assert server.to("ann@lab.example")[1:] == []
    with telling(house):  # the next one
        until(lambda: server.to("ann@lab.example")[1:], "the next leader sends it")
    (mail,) = server.to("ann@lab.example")[1:]
    assert f"Job {job} " in mail["subject"]
    assert [t for t in titles(house, MEMBER) if f"Job {job} " in t] != []
    assert len(titles(house, MEMBER)) == 1, "and told once"


def test_the_same_message_has_the_same_id_in_every_try(
    house: HttpHouse, server: MailServer
) -> None:
    with_mail(house, server, MEMBER, "ann@lab.example")
    choose(house, MEMBER, choices=on("job_ended", "email"))
    seen: list[str] = []

    def answer(message: EmailMessage) -> str:
        seen.append(message["message-id"])
        return "250 OK" if len(seen) > 1 else "451 later"

    server.answer = answer
    with telling(house):
        end_job(house)
        until(lambda: len(seen) > 1, "it is tried twice")
    assert len(set(seen)) == 1


# -- who is told -------------------------------------------------------------------------------


def test_nobody_is_told_of_another_tenants_things(house: HttpHouse) -> None:
    with telling(house):
        job = end_job(house, tenant=FOREIGN)
        other = person(Role.PROJECT_MEMBER, FOREIGN)
        until(lambda: titles(house, other), "its own submitter is told")
    for role in Role:
        who = person(role, OWN)
        assert [t for t in titles(house, who) if f"Job {job} " in t] == []


def test_who_lost_the_role_is_sent_nothing_and_reads_nothing(
    house: HttpHouse, server: MailServer
) -> None:
    house.do(SetMember("eve", Role.PROJECT_MEMBER, OWN, "p"))
    with_mail(house, server, "eve", "eve@lab.example")
    choose(house, "eve", choices=on("job_ended", "inbox", "email"))
    job = end_job(house)
    with house.store.changing() as connection:
        from bailiwick.store.tables import jobs

        connection.execute(jobs.update().where(jobs.c.job_id == job).values(submitter="eve"))
    first = reader_of(house)
    first.read_on()
    first.read_ended()
    assert inbox(house, "eve")["unread"] == 1
    house.do(SetMember("eve", None, OWN, "p"))
    assert inbox(house, "eve") == {"items": [], "next": None, "unread": 0, "dropped": 0}
    with telling(house):
        until(lambda: desk_of(house).post.latest("eve") == {}, "the letter is withdrawn")
    assert len(server.to("eve@lab.example")) == 1, "the code alone"


def test_who_operates_the_fleet_is_told_of_drained_nodes_and_findings(house: HttpHouse) -> None:
    with telling(house):
        drain(house, "n-drained")
        finding = {"finding": "clock_gap", "severity": "high", "subject": "n-drained"}
        house.plain("report_finding", **finding, note=SECRET_ENV)
        until(lambda: len(titles(house, "fleet_operator")) >= 2, "both are told")
    assert {"Node n-drained is drained", "Finding: clock_gap"} <= {*titles(house, "fleet_admin")}
    assert titles(house, "fleet_auditor") == ["Finding: clock_gap"]
    assert SECRET_ENV not in json.dumps(inbox(house, "fleet_admin"))
    for role in (Role.TENANT_ADMIN, Role.PROJECT_ADMIN, Role.TENANT_AUDITOR):
        assert titles(house, person(role)) == []


@pytest.mark.parametrize("page", [1, 1_000])
def test_a_machine_that_joins_again_and_is_tested_is_no_drained_node(
    house: HttpHouse, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(reading, "PAGE", page)
    again, other = f"n-again-{page}", f"n-empty-{page}"
    with telling(house):
        house.plain("register_node", node=again, inventory={"resources": {"cpu_milli": 1_000}})
        house.do(ReportHealth(again, (), can_test=True))
        house.do(DepartNode(again))
        house.plain("register_node", node=again, inventory={"resources": {"cpu_milli": 1_000}})
        drain(house, other)
        until(lambda: f"Node {other} is drained" in titles(house, "fleet_operator"), "it is told")
    found = titles(house, "fleet_operator")
    assert found == [f"Node {other} is drained", f"Node {again} is gone"]


@pytest.mark.parametrize("is_queued", [False, True])
def test_the_holder_of_a_bare_lease_is_told_that_it_goes_and_how_long_is_left(
    house: HttpHouse, is_queued: bool
) -> None:
    lease = hold(house, is_queued=is_queued)
    with telling(house):
        house.plain("evict", lease_ids=[lease], reason="operator_drain", grace_ms=300_000)
        until(lambda: titles(house, MEMBER), "its holder is told")
    (notice,) = inbox(house, MEMBER)["items"]
    assert notice["title"] == f"Lease {lease} will be preempted"
    assert "5m after this was decided" in notice["text"]
    assert "an operator is draining" in notice["text"].lower()
    assert titles(house, person(Role.PROJECT_ADMIN)) == [], "it is not theirs"
    house.plain("release", lease_id=lease)


def hold(house: HttpHouse, *, is_queued: bool) -> int:
    """A lease of the member, granted at once or after it has waited: then a tick grants it."""
    node = f"n-{next(_IDS)}"
    request = {
        "resources": {"cpu_milli": 100},
        "priority": "normal",
        "lease_class": "standard",
        "ttl_ms": 3_600_000,
        "labels": [f"own={node}"],
    }
    inventory = {"resources": {"cpu_milli": 1_000}, "labels": [f"own={node}"]}
    house.plain("register_node", node=node, inventory=inventory)
    submit = {"command": "submit", "tenant": OWN, "project": "p", "request": request}
    if is_queued:  # somebody else has the whole node
        whole = {**submit, "request": {**request, "resources": {"cpu_milli": 1_000}}}
        house.do(decode_command(whole))
        first = granted(house, node, cpu_milli=1_000)
    house.runner.execute(Envelope(decode_command(submit), MEMBER, "c"))
    if is_queued:
        house.plain("release", lease_id=first)
    return granted(house, node, cpu_milli=100)


def granted(house: HttpHouse, node: str, *, cpu_milli: int) -> int:
    """The lease of that size on the node, once there is one."""

    def find() -> list[int]:
        house.plain("tick")
        found = [b for b in house.records("admission_approved") if b["nodes"] == [node]]
        return [b["lease_ids"][0] for b in found if b["resources"]["cpu_milli"] == cpu_milli]

    return until(find, "the lease is granted")[0]


# -- what people ask ---------------------------------------------------------------------------


def test_a_narrowed_login_a_program_and_a_job_cannot_lead_notices_elsewhere(
    house: HttpHouse,
) -> None:
    from bailiwick.iam import Permission, PrincipalKind
    from bailiwick.services import authority as auth

    narrowed = house.token(MEMBER, terms=auth.Terms(keys=(Permission.QUEUE_READ,)))
    within = house.token(MEMBER, terms=auth.Terms(within=(OWN,)))
    program = house.token(f"bot-{OWN}", kind=PrincipalKind.SERVICE_ACCOUNT)
    for token in (narrowed, within, program):
        headers = {"Authorization": f"Bearer {token}"}
        for method, path, body in (
            ("PUT", "/v1/notices", {"webhook_url": "https://eve.example/"}),
            ("POST", "/v1/notices/verify", {"code": "x"}),
            ("POST", "/v1/notices/test", None),
            ("POST", "/v1/notices/rotate", None),
        ):
            found = house.client.request(method, path, json=body, headers=headers)
            assert found.status_code == 403, found.text
            assert found.json()["details"]["reason"] == "needs_person"


def test_a_narrowed_login_reads_only_what_it_may(house: HttpHouse) -> None:
    from bailiwick.iam import Permission
    from bailiwick.services import authority as auth

    with telling(house):
        end_job(house)
        until(lambda: titles(house, MEMBER), "it is told")
    blind = house.token(MEMBER, terms=auth.Terms(keys=(Permission.LEASE_READ,)))
    found = house.client.get("/v1/inbox", headers={"Authorization": f"Bearer {blind}"}).json()
    assert (found["items"], found["unread"]) == ([], 0)


def test_a_narrowed_login_and_a_job_have_nothing_be_read_that_they_may_not_read(
    house: HttpHouse,
) -> None:
    from bailiwick.iam import Permission
    from bailiwick.services import authority as auth

    with telling(house):
        end_job(house)
        until(lambda: titles(house, MEMBER), "it is told")
    narrow = auth.Terms(keys=(Permission.LEASE_READ,)), auth.Terms(lease_id=granted_to(house))
    for terms_ in narrow:
        headers = {"Authorization": f"Bearer {house.token(MEMBER, terms=terms_)}"}
        for query in ("?dry_run=true", ""):
            found = house.client.post(f"/v1/inbox/read{query}", json={}, headers=headers)
            assert found.json() == {"notices": 0}, found.text
    assert inbox(house, MEMBER)["unread"] == 1


def test_only_a_whole_login_of_a_person_is_told_where_notices_go(house: HttpHouse) -> None:
    """An address of a webhook is often a secret itself, and a job has its own token."""
    from bailiwick.iam import Permission
    from bailiwick.services import authority as auth

    choose(house, MEMBER, webhook_url=f"https://hooks.example/{SECRET_ENV}")
    narrow = auth.Terms(keys=(Permission.LEASE_READ,)), auth.Terms(lease_id=granted_to(house))
    for terms_ in narrow:
        headers = {"Authorization": f"Bearer {house.token(MEMBER, terms=terms_)}"}
        found = house.client.get("/v1/notices", headers=headers)
        assert found.status_code == 403, found.text
        assert found.json()["details"]["reason"] == "needs_person"
        assert SECRET_ENV not in found.text


def granted_to(house: HttpHouse) -> int:
    """A lease that is there."""
    return min(house.runner.read(lambda view: list(view.state.leases)))


def test_notices_are_read_one_by_one_and_all_at_once(house: HttpHouse) -> None:
    with telling(house):
        for _ in range(3):
            end_job(house)
        until(lambda: inbox(house, MEMBER)["unread"] == 3, "they are told")
    first = inbox(house, MEMBER, "?limit=2")
    rest = inbox(house, MEMBER, f"?limit=2&cursor={first['next']}")
    assert [len(first["items"]), len(rest["items"]), rest["next"]] == [2, 1, None]
    own = first["items"][0]["id"]
    other = person(Role.PROJECT_ADMIN)
    read = {"ids": [own]}
    assert house.ask(other, "POST", "/v1/inbox/read", json=read).json() == {"notices": 0}
    dry = house.ask(MEMBER, "POST", "/v1/inbox/read?dry_run=true", json=read)
    assert dry.json() == {"notices": 1}
    assert house.ask(MEMBER, "POST", "/v1/inbox/read", json=read).json() == {"notices": 1}
    assert inbox(house, MEMBER)["unread"] == 2
    assert len(inbox(house, MEMBER, "?unread=true")["items"]) == 2
    assert house.ask(MEMBER, "POST", "/v1/inbox/read", json={}).json() == {"notices": 2}


def test_a_test_notice_goes_by_every_way_that_leads_somewhere(
    house: HttpHouse, server: MailServer
) -> None:
    assert house.ask(MEMBER, "POST", "/v1/notices/test").json() == {"channels": ["inbox"]}
    with_mail(house, server, MEMBER, "ann@lab.example")
    with telling(house):
        found = house.ask(MEMBER, "POST", "/v1/notices/test").json()
        assert found == {"channels": ["inbox", "email"]}
        mail = until(lambda: server.to("ann@lab.example")[1:], "it is mailed")
    assert mail[0]["subject"] == "Bailiwick: A test notice"
    assert mail[0]["auto-submitted"] == "auto-generated"


def test_a_dry_run_changes_and_mails_nothing(house: HttpHouse, server: MailServer) -> None:
    body = {"email": "ann@lab.example", "choices": on("job_ended")}
    found = house.ask(MEMBER, "PUT", "/v1/notices?dry_run=true", json=body)
    assert (found.json()["email"], found.json()["pending_email"]) == (None, None)
    assert server.messages == []


def test_addresses_that_must_not_be_reached_are_refused(house: HttpHouse) -> None:
    for body in (
        {"webhook_url": "http://hooks.example/in"},
        {"webhook_url": "https://169.254.169.254/latest"},
        {"webhook_url": "https://[fd00:ec2::254]/latest"},
        {"webhook_url": "https://100.100.100.200/latest"},
        {"webhook_url": "https://me:secret@hooks.example/"},
        {"email": "ann@lab.example, eve@rival.example"},
        {"email": "ann"},
        {"choices": on("test", "email")},
    ):
        assert house.ask(MEMBER, "PUT", "/v1/notices", json=body).status_code == 422, body


def test_one_receiver_that_hangs_delays_nobody_else(house: HttpHouse, server: MailServer) -> None:
    other = person(Role.PROJECT_MEMBER, FOREIGN)
    with receiving() as receiver:
        receiver.answer = lambda message: 0
        url = f"http://127.0.0.1:{receiver.port}/"
        choose(house, MEMBER, webhook_url=url, choices=on("job_ended", "webhook"))
        with_mail(house, server, other, "rival@lab.example")
        choose(house, other, choices=on("job_ended", "email"))
        with telling(house):
            end_job(house)
            until(lambda: receiver.messages, "the first one is asked, and hangs")
            end_job(house, tenant=FOREIGN)
            until(lambda: server.to("rival@lab.example")[1:], "the other is mailed meanwhile")
            receiver.hangs.set()
    assert isinstance(receiver, Receiver)


def test_a_mail_server_that_hangs_delays_mail_alone(house: HttpHouse) -> None:
    desk, hangs, asked = desk_of(house), threading.Event(), list[str]()

    def hang(message: EmailMessage) -> SendOutcome:
        asked.append(message["to"])
        hangs.wait(WAIT_S)
        return NotReached(DeliveryFault.TIMEOUT)

    people = [f"op-{number:02}" for number in range(UNDER_WAY_MAX + 8)]
    for name in people:
        house.do(SetMember(name, Role.FLEET_OPERATOR))
        both = frozenset({NoticeChannel.INBOX, NoticeChannel.EMAIL})
        change = PersonChange(
            address=NewAddress(f"{name}@lab.example", "d"),
            choices={NoticeKind.NODE_DRAINED: both},
        )
        desk.people.change(name, change, now_ms=0)
        assert desk.people.verify(name, digest="d", now_ms=0)
    with receiving() as receiver:
        url = f"http://127.0.0.1:{receiver.port}/"
        choose(house, "fleet_admin", webhook_url=url, choices=on("node_drained", "webhook"))
        with telling(house, mail=hang):
            drain(house, "n-first")
            until(lambda: len(asked) >= 8, "many are mailed, and hang")
            receiver.messages.clear()
            drain(house, "n-second")
            until(lambda: "Node n-second is drained" in titles(house, people[-1]), "it is told")
            until(lambda: receiver.messages, "and the webhook of another is asked")
            hangs.set()
    for name in people:
        house.do(SetMember(name, None))
