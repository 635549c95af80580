"""What happened to a thing: which records are told of it, to whom, and how far back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.iam import Permission
from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.people import commands as cmd
from bailiwick.services.changes import stories
from bailiwick.services.changes.stories import KEY_OF_KIND, StorySubject
from tests.support.http_actions import ENTRY, INSTANCE
from tests.support.http_house import (
    FOREIGN,
    INVOICE,
    OWN,
    HttpHouse,
    add_instances,
    http_house,
)
from tests.support.shared_runtimes import add_runtimes


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    folder: Path = tmp_path_factory.mktemp("stories")
    with http_house(folder) as made:
        add_instances(made)
        add_runtimes(made)
        yield made


def story(house: HttpHouse, who: str, query: str) -> list[dict[str, Any]]:
    response = house.ask(who, "GET", f"/v1/story?{query}")
    assert response.status_code == 200, response.text
    rows: list[dict[str, Any]] = response.json()["items"]
    assert [row["seq"] for row in rows] == sorted((row["seq"] for row in rows), reverse=True)
    return rows


def subjects(tenant: str) -> dict[StorySubject, str]:
    """One of each, of a tenant."""
    where = f"&tenant={tenant}"
    return {
        StorySubject.ENTRY: f"name={ENTRY[tenant]}{where}",
        StorySubject.INSTANCE: f"name={INSTANCE[tenant]}{where}&project=p",
        StorySubject.INVOICE: f"name={INVOICE[tenant]}{where}",
        StorySubject.NODE: "name=n1",
        StorySubject.POLICY: "",
        StorySubject.PROJECT: f"{where[1:]}&project=p",
        StorySubject.RUNTIME: f"name=main{where}",
        StorySubject.TENANT: where[1:],
    }


TOLD = [each for each in StorySubject if each not in (StorySubject.POLICY, StorySubject.INVOICE)]


@pytest.mark.parametrize("subject", TOLD)
def test_everything_has_a_story_for_who_may_read_all(
    house: HttpHouse, subject: StorySubject
) -> None:
    assert story(house, "fleet_admin", f"subject={subject}&{subjects(OWN)[subject]}")


@pytest.mark.parametrize("subject", StorySubject)
def test_a_tenant_is_told_nothing_of_another(house: HttpHouse, subject: StorySubject) -> None:
    for who in (f"tenant_admin@{OWN}", f"project_member@{OWN}"):
        query = f"subject={subject}&{subjects(FOREIGN)[subject]}"
        response = house.ask(who, "GET", f"/v1/story?{query}")
        rows = response.json()["items"] if response.status_code == 200 else []
        assert response.status_code in (200, 404)
        assert [row for row in rows if row["tenant"] != OWN] == []
        if f"tenant={FOREIGN}" in query:
            assert response.status_code == 404


def test_a_member_is_told_what_he_may_read_and_no_more(house: HttpHouse) -> None:
    house.do(cmd.ChangeProject(OWN, "p", display_name="told to its members"))
    query = f"subject=project&tenant={OWN}&project=p"
    mine = {row["kind"] for row in story(house, f"project_member@{OWN}", query)}
    theirs = {row["kind"] for row in story(house, f"project_admin@{OWN}", query)}
    assert "project_changed" in mine
    assert "member_changed" not in mine
    assert "member_changed" in theirs


def test_what_only_readers_of_the_journal_may_know_is_told_to_nobody_else() -> None:
    for kind in (
        *(RecordKind.ACCESS_TOKEN_ISSUED, RecordKind.ACCESS_REFUSED, RecordKind.BREAK_GLASS),
        *(RecordKind.EXEC_STARTED, RecordKind.TOKEN_ISSUED, RecordKind.APP_WEBHOOK_SET),
    ):
        assert KEY_OF_KIND[kind] is Permission.JOURNAL_READ


def test_a_long_story_is_told_page_by_page_and_each_looks_at_so_much(
    house: HttpHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stories, "SCAN_MAX", 7)
    query = f"subject=tenant&tenant={OWN}"
    seen, cursor, pages = [], "", 0
    while pages < 1_000:
        found = house.ask("fleet_admin", "GET", f"/v1/story?{query}{cursor}").json()
        seen += [row["seq"] for row in found["items"]]
        pages += 1
        if found["next"] is None:
            break
        cursor = f"&cursor={found['next']}"
    monkeypatch.undo()
    assert pages > 3
    assert seen == [row["seq"] for row in story(house, "fleet_admin", query)]


def test_a_subject_that_there_is_not_is_refused(house: HttpHouse) -> None:
    assert house.ask("fleet_admin", "GET", "/v1/story?subject=moon").status_code == 422
