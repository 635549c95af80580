"""``bailiwick notify`` and ``inbox`` as people type them, and the options of a server's mail."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.cli.shared.mail_flags import MailOptions, mail_of
from bailiwick.iam import Role, Scope
from bailiwick.reconcile.notices.mailer import Mailer
from bailiwick.services.notices.desk import NoticeDesk
from bailiwick.services.notices.mail import SmtpTerms
from bailiwick.store.notices.post import Post
from bailiwick.store.notices.told import Tiding
from bailiwick.vocab.errors import InvalidValue, NotFound
from bailiwick.vocab.notices import CHOSEN, NoticeKind, SmtpTls
from tests.e2e.test_client_cli import Cli, be, cli, done, one_line
from tests.support.http_house import HttpHouse, http_house, person
from tests.support.http_server import Served
from tests.support.mail_server import MailServer, mail_server

__all__ = ["cli"]

WHO = person(Role.PROJECT_MEMBER)


@pytest.fixture(scope="module")
def server() -> Iterator[MailServer]:
    with mail_server() as found:
        yield found


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, server: MailServer) -> Iterator[HttpHouse]:
    terms = SmtpTerms(
        host="127.0.0.1", port=server.port, sender="fleet@gpu.example", tls=SmtpTls.NONE
    )
    mail = terms.sender, Mailer(terms)
    with http_house(tmp_path_factory.mktemp("data"), mail=mail) as made:
        yield made


@pytest.fixture(scope="module")
def served(house: HttpHouse) -> Iterator[Served]:
    found = Served(house.app, house.token)
    found.open()
    try:
        yield found
    finally:
        found.close()


def test_an_address_is_set_and_verified_and_ways_are_chosen(
    served: Served, server: MailServer, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    be(served, WHO, monkeypatch)
    told = done(cli("notify", "show"))
    assert re.search(r"job_ended +inbox *\n", told)
    assert "email: none" in told
    dry = done(cli("notify", "set", "--email", "ann@lab.example", "--dry-run"))
    assert "dry run: nothing was changed" in dry
    assert server.messages == []
    line = ("notify", "set", "--email", "ann@lab.example", "--on", "job_ended=inbox,email")
    told = done(cli(*line))
    assert "email: none\nnew email: ann@lab.example (waits for its code" in told
    one_line(cli("notify", "verify", "wrong"), 3, "is wrong, spent or too old")
    found = re.search(r"notify verify (\S+)", server.messages[0].get_content())
    assert found is not None
    told = done(cli("notify", "verify", found[1]))
    assert "email: ann@lab.example\n" in told
    assert "new email" not in told
    assert re.search(r"job_ended +inbox, email *\n", told)
    assert done(cli("notify", "test")) == "a test notice goes out by: inbox, email\n"
    told = done(cli("notify", "set", "--on", "all=none", "--no-email"))
    assert "email: none" in told
    assert len(re.findall(r"  +none *\n", told)) == len(CHOSEN)


def test_a_webhook_prints_its_secret_once(
    served: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    be(served, WHO, monkeypatch)
    line = ("notify", "set", "--webhook", "https://hooks.example/me")
    assert "secret (it is not shown again): whsec_" in done(cli(*line))
    assert "whsec_" not in done(cli(*line))
    assert "whsec_" not in done(cli("notify", "rotate-secret", "--dry-run"))
    assert "secret (it is not shown again): whsec_" in done(cli("notify", "rotate-secret"))
    assert "webhook: none" in done(cli("notify", "set", "--no-webhook"))
    one_line(cli("notify", "rotate-secret"), 3, "there is none")


def test_an_inbox_is_listed_and_read(
    house: HttpHouse, served: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = person(Role.PROJECT_ADMIN)
    be(served, who, monkeypatch)
    assert cli("inbox", "list").err == "nothing that you were told\n"
    desk = house.app.state.house.parts.notices
    assert isinstance(desk, NoticeDesk)
    for number in (1, 2):
        tiding = Tiding(
            message=f"m-{number}",
            kind=NoticeKind.JOB_ENDED,
            at_ms=1_000,
            scope=Scope("lab", "p"),
            facts={"job_id": number, "phase": "failed", "exit_code": 3},
        )
        desk.post.hand_over([Post(tiding, (who,))], now_ms=1_000)
    told = done(cli("inbox", "list"))
    assert "Job 2 failed. Its exit code is 3." in " ".join(told.split())
    rows = json.loads(done(cli("inbox", "list", "--unread", "-o", "json")))["items"]
    first = str(rows[0]["id"])
    assert done(cli("inbox", "read", first, "--dry-run")).startswith("1 notice read (dry run")
    assert done(cli("inbox", "read", first)) == "1 notice read\n"
    assert done(cli("inbox", "read", "--all")) == "1 notice read\n"
    assert done(cli("inbox", "list", "--unread")) == ""
    one_line(cli("inbox", "read"), 2, "--all")


def test_what_makes_no_sense_is_told_in_one_line(
    served: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    be(served, WHO, monkeypatch)
    one_line(cli("notify", "set", "--on", "job_ended"), 2, "KIND=WAY")
    one_line(cli("notify", "set", "--on", "job_ended=pigeon"), 2, "ways of inbox, email, webhook")
    one_line(cli("notify", "set", "--email", "ann, bob"), 2, "NAME@HOST.DOMAIN")
    one_line(cli("notify", "set", "--webhook", "http://hooks.example/"), 2, "https")


# -- the options of a server -------------------------------------------------------------------


def options(**more: Any) -> MailOptions:
    return MailOptions(**{"smtp": "127.0.0.1:587", "smtp_from": "fleet@gpu.example", **more})


def test_a_server_is_told_its_mail_server(tmp_path: Path) -> None:
    assert mail_of(MailOptions()) is None
    secret = tmp_path / "password"
    secret.write_text("pass word\n")
    secret.chmod(0o600)
    found = mail_of(options(smtp_user="fleet", smtp_password_file=secret))
    assert found is not None
    assert (found.host, found.port, found.tls) == ("127.0.0.1", 587, SmtpTls.STARTTLS)
    assert (found.user, found.password) == ("fleet", "pass word")
    assert "pass word" not in repr(found)


def test_a_wrong_or_dangerous_combination_is_refused(tmp_path: Path) -> None:
    open_file = tmp_path / "open"
    open_file.write_text("x")
    open_file.chmod(0o644)
    for given in (
        options(smtp="mail.example"),
        options(smtp="mail.example:0"),
        options(smtp_from=None),
        options(smtp_from="fleet@gpu.example\r\nBcc: eve@rival.example"),
        options(smtp="192.0.2.1:25", smtp_tls=SmtpTls.NONE),
        options(smtp_user="fleet"),
        options(smtp_user="fleet", smtp_password_file=open_file),
        options(smtp_ca=tmp_path / "absent"),
        MailOptions(smtp_from="fleet@gpu.example"),
    ):
        with pytest.raises(InvalidValue):
            mail_of(given)
    with pytest.raises(NotFound):
        mail_of(options(smtp_user="fleet", smtp_password_file=tmp_path / "absent"))
