"""Verification, money, security and isolation in a real browser, against a real server.

What the pages check themselves is checked here by lying to them: an answer is changed on its way,
and the page has to say so.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from bailiwick.journal.keys import SeedSigner, VerifierKey
from tests.support.browser import TRIED, confirm, person
from tests.support.waiting import until
from tests.support.web_campus import Campus, log_in, web_campus

TENANT = "genomics"
HOLDS = re.compile("Verified in this browser")
FAILS = re.compile("Do not believe it")
SCOPE = """([principal, tenant]) => localStorage.setItem('bailiwick.scope',
  JSON.stringify({principal, tenant, project: null}))"""


@dataclass
class Audited:
    """The campus, an invoice of one of its tenants, and a record of that tenant."""

    campus: Campus
    invoice: dict[str, Any]
    seq: int

    @property
    def name(self) -> str:
        """What the invoice is called."""
        return str(self.invoice["body"]["invoice_id"])

    @property
    def record(self) -> str:
        """The page of the record."""
        return f"/tenants/{TENANT}/records/{self.seq}"

    @property
    def bill(self) -> str:
        """The page of the invoice."""
        return f"/tenants/{TENANT}/invoices/{self.name}"

    def enter(self, **more: Any) -> Any:
        """The administrator in a browser that has seen nothing of the journal."""
        return person(self.campus.browser, self.campus.server.address, **more)


def come_in(audited: Audited, who: Any) -> None:
    """With the administrator's session, at the tenant."""
    who.context.add_cookies(audited.campus.admin.context.cookies())
    who.open("/tenants")
    who.page.evaluate(SCOPE, ["admin", TENANT])


@pytest.fixture(scope="module")
def audited(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Audited]:
    with web_campus(browser, tmp_path_factory.mktemp("audit"), "--demo") as campus:

        def used() -> dict[str, Any] | None:
            found = campus.ask("GET", f"/v1/tenants/{TENANT}/usage")
            return found if found["total"]["cost_micros"] > 0 else None

        usage = until(used, "something was used")
        until(lambda: time.time() * 1000 > usage["to_ms"], "the period of an invoice is over")
        period = {"from_ms": usage["from_ms"], "to_ms": usage["to_ms"]}
        invoice = campus.ask("POST", f"/v1/tenants/{TENANT}/invoices", period)
        rows = campus.ask("GET", f"/v1/tenants/{TENANT}/records?limit=3")["items"]
        limit = {"limit_micros": 10 * usage["total"]["cost_micros"]}
        campus.ask("PUT", f"/v1/tenants/{TENANT}/budget", limit)
        yield Audited(campus, invoice, rows[-1]["seq"])


def test_a_record_is_verified_as_its_page_opens_and_compared_with_what_was_seen(
    audited: Audited,
) -> None:
    with audited.enter() as who:
        come_in(audited, who)
        page = who.open("/records")
        page.get_by_role("link", name=str(audited.seq), exact=True).click()
        page.get_by_text(HOLDS).wait_for()
        page.get_by_text("This browser had seen no checkpoint of this server.").wait_for()
        checks = page.get_by_role("list", name="What was checked").locator("li")
        assert checks.count() == 5
        page.get_by_role("button", name="Check again").click()
        page.get_by_text("nothing was changed or left out since this browser looked").wait_for()
        page.get_by_text(
            f"bailiwick journal proof {audited.seq} --tenant {TENANT}"
        ).first.wait_for()
        assert who.faults() == []


def test_a_proof_that_was_changed_on_its_way_is_not_believed(audited: Audited) -> None:
    def lie(route: Any) -> None:
        text = route.fetch().text()
        at = text.index("extra ") + 20
        other = "A" if text[at] != "A" else "B"
        route.fulfill(body=text[:at] + other + text[at + 1 :], content_type="text/plain")

    with audited.enter() as who:
        come_in(audited, who)
        who.page.route("**/proof", lie)
        who.open(audited.record).get_by_text(FAILS).wait_for()
        who.check_accessible()
        assert who.faults() == []


def test_a_server_with_another_key_or_a_rewritten_journal_is_told_loudly(audited: Audited) -> None:
    other = str(VerifierKey.of(SeedSigner("bailiwick", bytes(range(32)))))
    with audited.enter() as who:
        come_in(audited, who)
        page = who.open(audited.record)
        page.get_by_text(HOLDS).wait_for()
        page.route("**/v1/journal/key", lambda route: route.fulfill(body=f"{other}\n"))
        page.get_by_role("button", name="Check again").click()
        page.get_by_text(FAILS).wait_for()
        page.get_by_text("The server shows another key").wait_for()
        page.unroute("**/v1/journal/key")
        forged = """() => { const kept = JSON.parse(localStorage['bailiwick.proof']);
          kept.seen.root = btoa('x'.repeat(32));
          localStorage['bailiwick.proof'] = JSON.stringify(kept); }"""
        page.evaluate(forged)
        page.get_by_role("button", name="Check again").click()
        page.get_by_text("The journal is not the one that this browser saw").wait_for()
        page.get_by_text("Trust a key that I was given").click()
        page.get_by_role("button", name="Forget the key and what was seen").click()
        page.get_by_text(HOLDS).wait_for()
        page.get_by_text("Trust a key that I was given").click()
        page.get_by_label(re.compile("^The key as the operator gave it")).fill(other)
        page.get_by_role("button", name="Trust this key").click()
        page.get_by_text(FAILS).wait_for()
        assert who.faults() == []


def test_an_invoice_is_verified_traced_to_seconds_and_taken_away(audited: Audited) -> None:
    with audited.enter() as who:
        come_in(audited, who)
        page = who.open(audited.bill)
        page.get_by_text(HOLDS).wait_for()
        page.get_by_text("lines were added up anew").wait_for()
        page.get_by_role("button", name=re.compile(r"^1\. ")).click()
        trace = page.get_by_role("table", name="What line 1 adds up")
        trace.get_by_role("link", name=re.compile("^demo-")).first.wait_for()
        who.check_accessible()
        with page.expect_download() as taken:
            page.get_by_role("link", name="CSV").click()
        text = taken.value.path().read_text("utf-8")
        assert text.startswith("invoice_id,")
        assert len(text.splitlines()) == len(audited.invoice["body"]["lines"]) + 1
        with page.expect_download() as taken:
            page.get_by_role("link", name="FOCUS").click()
        assert "BilledCost" in taken.value.path().read_text("utf-8").splitlines()[0]
        page.emulate_media(media="print")
        assert not page.get_by_role("navigation", name="Pages").is_visible()
        assert page.get_by_text(HOLDS).is_visible()
        assert who.faults() == []


def test_an_invoice_that_is_not_the_sealed_one_is_not_believed(audited: Audited) -> None:
    def lie(route: Any) -> None:
        answer = route.fetch().json()
        answer["body"]["total_micros"] += 1
        route.fulfill(json=answer)

    with audited.enter() as who:
        come_in(audited, who)
        who.page.route(f"**/v1/**/invoices/{audited.name}", lie)
        page = who.open(audited.bill)
        page.get_by_text(FAILS).wait_for()
        page.get_by_text(re.compile("says otherwise about: total, digest")).wait_for()
        page.get_by_text(re.compile("the total is told as")).wait_for()
        assert who.faults() == []


def test_spend_is_drawn_over_time_by_what_one_chooses(audited: Audited) -> None:
    with audited.enter() as who:
        come_in(audited, who)
        page = who.open("/money")
        page.get_by_role("img", name=re.compile("^Spend over time")).locator("svg").wait_for()
        for word in ("generation", "tag", "class"):
            page.get_by_role("radio", name=word).press("Space")
            page.get_by_role("table", name=f"Spend by {word}").wait_for()
        page.get_by_role("radio", name="6 months").press("Space")
        page.get_by_role("img", name=re.compile("^Spend over time")).locator("svg").wait_for()
        page.get_by_role("img", name=re.compile("^What is left of the budget")).wait_for()
        page.get_by_text(re.compile("At the pace of the last 24 hours")).wait_for()
        page.get_by_role("link", name=audited.name).wait_for()
        assert who.faults() == []


def test_a_policy_is_marked_at_the_character_tried_and_then_set(audited: Audited) -> None:
    held = {"tenant": "main", "project": "default", "gpu_count": 1, "ttl_ms": 3_600_000}
    audited.campus.ask("POST", "/v1/leases", held)
    with audited.enter() as who:
        come_in(audited, who)
        page = who.open("/isolation")
        field = page.get_by_label("The policy's text")
        field.fill("# who may not meet\napart: tenant main onli on nodes with zone=inner")
        page.get_by_text("1 mistake").wait_for()
        assert page.locator("mark").all_inner_texts() == ["onli"]
        page.get_by_role("button", name="Go to line 2, column 20").click()
        chosen = "() => getSelection().toString() || document.activeElement.value.slice("
        chosen += "document.activeElement.selectionStart, document.activeElement.selectionEnd)"
        assert page.evaluate(chosen) == "onli"
        page.keyboard.type("only")
        assert field.input_value().endswith("main only on nodes with zone=inner")
        page.get_by_role("table", name="Leases that would have to go").wait_for()
        page.get_by_role("button", name="Set this policy").click()
        page.get_by_text(TRIED).wait_for()
        who.check_accessible()
        assert audited.campus.ask("GET", "/v1/isolation/policy")["version"] == 0
        confirm(page, "Set this policy")
        page.get_by_text(re.compile("version 1, 1 rules?")).wait_for()
        assert "zone=inner" in audited.campus.ask("GET", "/v1/isolation/policy")["text"]
        assert who.faults() == []


def test_glass_is_broken_with_a_reason_and_counts_down(audited: Audited) -> None:
    with audited.enter() as who:
        come_in(audited, who)
        page = who.open("/break-glass")
        page.get_by_label("Why, in a sentence").fill("too short")
        assert page.get_by_role("button", name="Try it first").is_disabled()
        page.get_by_label("Why, in a sentence").fill("a node burns and its owner is away")
        assert page.get_by_role("button", name="Break the glass").is_disabled()
        page.get_by_role("button", name="Try it first").click()
        page.get_by_text(TRIED).wait_for()
        page.get_by_role("button", name="Break the glass").click()
        page.get_by_role("timer").get_by_text(re.compile("^4m .* left$")).wait_for()
        who.check_accessible()
        page.get_by_role("button", name="Put it away").click()
        page.get_by_text("All of your rights, for minutes").wait_for()
        assert who.faults() == []


def test_an_auditor_of_a_tenant_verifies_what_is_the_tenants_and_sees_no_other(
    audited: Audited,
) -> None:
    code = audited.campus.code_for("aud", "tenant_auditor", f"tenants/{TENANT}")
    with audited.enter() as aud:
        log_in(aud, code)
        aud.open(audited.bill).get_by_text(HOLDS).wait_for()
        pages = aud.page.get_by_role("navigation", name="Pages").inner_text()
        assert "Isolation" not in pages
        assert "Money" in pages
        assert not aud.page.get_by_role("button", name="Correct it").is_visible()
        assert aud.faults() == []
        aud.open(f"/tenants/main/records/{audited.seq}").get_by_role("alert").first.wait_for()
