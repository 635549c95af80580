"""Money over HTTP: metered usage, prices, budgets, and invoices that a journal alone gives."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from bailiwick.billing.bills import PeriodBill, read_prices
from bailiwick.billing.export import invoice_csv
from bailiwick.billing.focus import focus_csv
from bailiwick.billing.invoice_body import canonical_bytes, invoice_of
from bailiwick.billing.invoices import Invoice, InvoiceHead, InvoiceScope
from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.journal import Record, parse_record
from bailiwick.kernel import DepartNode, RegisterNode, Tick
from bailiwick.kernel.fleet.commands import ChangeSettings
from bailiwick.kernel.money.times import RecordTimes
from bailiwick.store.invoice_rows import InvoiceRow
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.tables import invoices
from bailiwick.vocab.values import GIB
from bailiwick.vocab.words import HardwareGeneration
from tests.support.http_house import FOREIGN, INVOICE, OWN, HttpHouse, http_house, price_list
from tests.support.wide_open import wide_settings

ADMIN, BOSS, AUDITOR = "fleet_admin", "tenant_admin@lab", "tenant_auditor@lab"
LEASE = {"tenant": "lab", "project": "p", "resources": {"cpu_milli": 500}}
DEAR = 10**12
"""Micros for an hour of a core: half a core costs over a tenth of a unit every millisecond."""


@pytest.fixture
def house(tmp_path: Path) -> Iterator[HttpHouse]:
    with http_house(tmp_path) as made:
        for entry_id in (1, 2):
            made.plain("cancel", entry_id=entry_id)
        yield made


def ask(house: HttpHouse, who: str, method: str, path: str, **more: Any) -> Any:
    found = house.ask(who, method, path, **more)
    assert found.status_code == 200, found.text
    return found.json()


def refused(house: HttpHouse, who: str, method: str, path: str, **more: Any) -> tuple[int, str]:
    found = house.ask(who, method, path, **more)
    return found.status_code, found.json()["code"]


def grant(house: HttpHouse, **more: Any) -> int:
    found = house.ask("project_member@lab", "POST", "/v1/leases", json={**LEASE, **more})
    assert found.status_code == 201, found.text
    lease_id: int = found.json()["lease_ids"][0]
    return lease_id


def now_ms(house: HttpHouse) -> int:
    """A time of the journal from which on nothing is before it."""
    house.do(ChangeSettings(wide_settings(grace_ms=1)))
    return house.runner.read(lambda view: view.state.clock_ms)


def journal(house: HttpHouse, size: int | None = None) -> list[Record]:
    """The journal, or its first records, as an export has them."""
    store = house.runner.replica.store
    lines = house.runner.read(lambda view: store.read(0, size or view.state.size))
    return [parse_record(line.rstrip(b"\n")) for line in lines]


def after_a_moment(house: HttpHouse) -> int:
    """A time at which what was granted has been held for a while."""
    begun = now_ms(house)
    while (found := now_ms(house)) < begun + 5:
        pass
    return found


# -- usage -----------------------------------------------------------------------------------


def test_usage_is_what_a_bill_of_the_same_time_says(house: HttpHouse) -> None:
    house.do(RegisterNode("g1", NodeCapacity(cpu_cores=4, mem_bytes=GIB, gpus=_HOPPERS)))
    grant(house, gpu_count=1, gpu_generation="nvidia_hopper", tag="night", lease_class="spot")
    until = after_a_moment(house)
    period = f"from_ms=1&to_ms={until}"
    usage = ask(house, AUDITOR, "GET", f"/v1/tenants/lab/usage?{period}")
    draft = ask(house, AUDITOR, "GET", f"/v1/tenants/lab/invoice-draft?{period}")
    assert (usage["from_ms"], usage["to_ms"], usage["basis"]) == (1, until, "metered")
    assert usage["total"]["cost_micros"] == draft["body"]["total_micros"] > 0
    assert sum(row["cost_micros"] for row in usage["rows"]) == usage["total"]["cost_micros"]
    used = sum(int(each["used"]) for each in draft["body"]["lines"] if each["kind"] == "gpu_milli")
    assert usage["total"]["gpu_micro_seconds"] == used > 0
    night = next(row for row in usage["rows"] if row["tag"] == "night")
    assert (night["lease_class"], night["leases"], night["running"]) == ("spot", 1, 1)


_HOPPERS = (GpuDevice(HardwareGeneration.NVIDIA_HOPPER, 80 * GIB),) * 2


def test_usage_of_another_time_is_none_of_this_one(house: HttpHouse) -> None:
    path = "/v1/tenants/lab/usage"
    assert ask(house, AUDITOR, "GET", f"{path}?from_ms=1&to_ms=1000")["rows"] == []
    month = ask(house, AUDITOR, "GET", path)
    assert month["from_ms"] % 86_400_000 == 0
    assert month["to_ms"] <= month["as_of_ms"]
    far = ask(house, AUDITOR, "GET", f"{path}?to_ms={2**52}")
    assert far["to_ms"] <= far["as_of_ms"] < 2**52
    assert refused(house, AUDITOR, "GET", f"{path}?from_ms=9&to_ms=9") == (422, "invalid_value")


def test_all_of_the_fleet_is_somebodys_or_idle_or_closed(house: HttpHouse) -> None:
    house.do(RegisterNode("g1", NodeCapacity(cpu_cores=4, mem_bytes=GIB, gpus=_HOPPERS)))
    ask(house, ADMIN, "PUT", "/v1/nodes/g1/quarantine", json={"reason": "strange"})
    after_a_moment(house)
    found = ask(house, "fleet_operator", "GET", "/v1/usage")
    rows = {(row["kind"], row["generation"]): row for row in found["rows"]}
    for row in rows.values():
        parts = [row["leased"], row["idle"], *row["unavailable"].values()]
        assert sum(map(int, parts)) == int(row["capacity"])
    gpus = rows["gpu_milli", "nvidia_hopper"]
    assert int(gpus["unavailable"]["quarantined"]) > 0
    assert gpus["leased"] == "0"
    assert int(rows["cpu_milli", None]["leased"]) > 0
    assert refused(house, BOSS, "GET", "/v1/usage") == (403, "forbidden")


# -- prices ----------------------------------------------------------------------------------


def test_a_card_holds_from_when_it_says_and_for_whom(house: HttpHouse) -> None:
    ask(house, ADMIN, "PUT", "/v1/rates", json=price_list(name="new", core_micros_per_hour=7))
    own = price_list(name="ours", tenant=OWN, core_micros_per_hour=5)
    ask(house, ADMIN, "PUT", "/v1/rates", json=own)
    later = now_ms(house) + 10**9
    ask(house, ADMIN, "PUT", "/v1/rates", json=price_list(effective_ms=later))

    def core(query: str, who: str = "project_viewer@lab") -> tuple[str, int]:
        card = ask(house, who, "GET", f"/v1/rates{query}")
        return card["name"], card["core_micros_per_hour"]

    assert core("") == ("new", 7)
    assert core("?tenant=lab") == ("ours", 5)
    assert core("?at_ms=0") == ("list", 20_000)
    assert core(f"?at_ms={later}") == ("list", 20_000)
    assert core(f"?tenant=lab&at_ms={later}") == ("ours", 5)
    assert core("?tenant=rival", ADMIN) == ("new", 7)
    ask(house, ADMIN, "DELETE", "/v1/tenants/lab/rates")
    assert core("?tenant=lab") == ("new", 7)
    again = refused(house, ADMIN, "DELETE", "/v1/tenants/lab/rates")
    assert again == (409, "conflict")


def test_plans_and_explanations_cost_what_the_tenants_own_card_says(house: HttpHouse) -> None:
    def prices() -> set[int]:
        plan = ask(house, "project_member@lab", "POST", "/v1/leases?dry_run=true", json=LEASE)
        why = ask(house, "project_member@lab", "POST", "/v1/leases/explain", json=LEASE)
        return {plan["price"]["micros_per_hour"], why["plan"]["price"]["micros_per_hour"]}

    assert prices() == {10_000}
    own = price_list(name="ours", tenant=OWN, core_micros_per_hour=8)
    ask(house, ADMIN, "PUT", "/v1/rates", json=own)
    assert prices() == {4}


def test_one_tenant_never_sees_anothers_card(house: HttpHouse) -> None:
    for tenant in (OWN, FOREIGN):
        card = price_list(name=f"of-{tenant}", tenant=tenant)
        ask(house, ADMIN, "PUT", "/v1/rates", json=card)
    for who in ("project_viewer@lab", BOSS, AUDITOR):
        listed = house.ask(who, "GET", "/v1/rates/changes")
        assert [row["name"] for row in listed.json()["items"]] == ["of-lab"]
        assert FOREIGN not in listed.text
        foreign = house.ask(who, "GET", "/v1/rates?tenant=rival")
        nowhere = house.ask(who, "GET", "/v1/rates?tenant=nowhere")
        assert foreign.status_code == nowhere.status_code == 404
        assert foreign.json()["message"] == nowhere.json()["message"]
    pages = [
        ask(house, "fleet_auditor", "GET", f"/v1/rates/changes?limit=1{cursor}")
        for cursor in ("", "&cursor=1")
    ]
    assert [page["items"][0]["name"] for page in pages] == ["of-lab", "of-rival"]
    assert (pages[0]["next"], pages[1]["next"]) == ("1", None)


def test_prices_are_set_by_the_fleet_and_never_for_the_past(house: HttpHouse) -> None:
    assert refused(house, BOSS, "PUT", "/v1/rates", json=price_list()) == (403, "forbidden")
    past = refused(house, ADMIN, "PUT", "/v1/rates", json=price_list(effective_ms=1))
    assert past == (422, "invalid_value")
    foreign = refused(house, ADMIN, "PUT", "/v1/rates", json=price_list(currency="EUR"))
    assert foreign == (409, "conflict")
    nobody = refused(house, ADMIN, "PUT", "/v1/rates", json=price_list(tenant="nobody"))
    assert nobody == (404, "not_found")
    lacking = price_list(gpu_micros_per_hour={"nvidia_hopper": 1})
    assert refused(house, ADMIN, "PUT", "/v1/rates", json=lacking) == (422, "invalid_value")
    assert house.records("rate_card_changed") == []


# -- budgets ---------------------------------------------------------------------------------


def test_a_tenants_budget_is_the_fleets_to_set_and_a_projects_the_tenants(
    house: HttpHouse,
) -> None:
    whole, part = "/v1/tenants/lab/budget", "/v1/tenants/lab/projects/p/budget"
    body = {"limit_micros": 10**9, "cap_micros": 2 * 10**9, "thresholds": [500, 900]}
    ask(house, ADMIN, "PUT", whole, json=body)
    ask(house, BOSS, "PUT", part, json={"limit_micros": 10**8})
    assert refused(house, BOSS, "PUT", whole, json=body) == (403, "forbidden")
    for who in ("project_admin@lab", AUDITOR, "project_member@lab"):
        assert refused(house, who, "PUT", part, json=body) == (403, "forbidden")
        assert refused(house, who, "DELETE", part) == (403, "forbidden")
    found = ask(house, AUDITOR, "GET", whole)
    assert found["budget"] == {**body, "from_ms": 0, "until_ms": None}
    assert (found["state"], found["crossed"], found["currency"]) == ("healthy", 0, "credit")
    assert found["left_micros"] == 10**9 - found["spent_micros"]
    assert found["projected_micros"] > found["spent_micros"]
    seen = ask(house, AUDITOR, "GET", "/v1/tenants/lab/budgets")["items"]
    assert [row["project"] for row in seen] == [None, "p"]
    page = ask(house, AUDITOR, "GET", "/v1/tenants/lab/budgets?limit=1")
    rest = ask(house, AUDITOR, "GET", f"/v1/tenants/lab/budgets?cursor={page['next']}")
    assert [row["project"] for row in page["items"] + rest["items"]] == [None, "p"]
    mine = ask(house, "project_viewer@lab", "GET", "/v1/tenants/lab/budgets")["items"]
    assert [row["project"] for row in mine] == ["p"]
    ask(house, BOSS, "DELETE", part)
    assert refused(house, BOSS, "GET", part) == (404, "not_found")
    assert refused(house, BOSS, "DELETE", part) == (404, "not_found")


def test_of_two_who_change_a_budget_one_is_told_to_look_again(house: HttpHouse) -> None:
    path = "/v1/tenants/lab/budget"
    tag = house.ask(ADMIN, "GET", path).headers["etag"]
    match = {"If-Match": tag}
    ask(house, ADMIN, "PUT", path, json={"limit_micros": 5}, headers=match)
    second = house.ask(ADMIN, "PUT", path, json={"limit_micros": 6}, headers=match)
    assert second.status_code == 412
    assert ask(house, ADMIN, "GET", path)["budget"]["limit_micros"] == 5


def test_a_new_budget_begins_with_what_was_metered_before_it(house: HttpHouse) -> None:
    ask(house, ADMIN, "PUT", "/v1/rates", json=price_list(core_micros_per_hour=DEAR))
    path = "/v1/tenants/lab/projects/p/budget"
    house.ask(BOSS, "DELETE", path)
    until = after_a_moment(house)
    before = ask(house, AUDITOR, "GET", f"/v1/tenants/lab/usage?from_ms=1&to_ms={until}")
    key = {"Idempotency-Key": "set-it-once"}
    body = {"limit_micros": 10**15}
    first = ask(house, BOSS, "PUT", path, json=body, headers=key)
    again = ask(house, BOSS, "PUT", path, json=body, headers=key)
    assert again == first
    told = [each for each in house.records("budget_changed") if "opening_micros" in each]
    assert told[-1]["opening_micros"] >= before["total"]["cost_micros"] > 0
    other = refused(house, BOSS, "PUT", path, json={"limit_micros": 1}, headers=key)
    assert other == (409, "conflict")
    ask(house, BOSS, "PUT", path, json={"limit_micros": 2 * 10**15})  # the same period: counts on
    assert "opening_micros" not in house.records("budget_changed")[-1]
    ask(house, BOSS, "PUT", path, json={**body, "from_ms": now_ms(house) + 10**9})
    assert house.records("budget_changed")[-1]["opening_micros"] == 0
    ask(house, BOSS, "PUT", path, json={**body, "opening_micros": 17})
    assert house.records("budget_changed")[-1]["opening_micros"] == 17


def test_a_spent_budget_warns_once_ends_what_agreed_to_it_and_starts_nothing_again(
    house: HttpHouse,
) -> None:
    now_ms(house)  # and a grace of a millisecond
    path = "/v1/tenants/lab/projects/p/budget"
    stays, goes = grant(house), grant(house, preemptible_on_budget=True)
    ask(house, ADMIN, "PUT", "/v1/rates", json=price_list(core_micros_per_hour=DEAR))
    spent = ask(house, BOSS, "GET", path)["spent_micros"]
    limit = spent + 10**8
    half = [500]
    ask(house, BOSS, "PUT", path, json={"limit_micros": limit, "thresholds": half})

    def state() -> str:
        house.do(Tick())
        return str(ask(house, BOSS, "GET", path)["state"])

    while state() != "depleted":
        pass
    changes = house.records("budget_state_changed")
    words = [each["after"] for each in changes]
    assert words.count("depleted") == 1
    assert words.count("low_balance") <= 1  # both lines may be crossed between two looks
    assert words[-1] == "depleted"
    evicted = [each for each in house.records("lease_revoked") if each["reason"] == EXHAUSTED]
    assert {each["lease_id"] for each in evicted} == {goes}
    leases = ask(house, "project_viewer@lab", "GET", "/v1/leases")["items"]
    assert stays in {each["lease_id"] for each in leases}
    assert goes not in {each["lease_id"] for each in leases}
    denied = house.ask("project_member@lab", "POST", "/v1/leases", json={**LEASE, "wait": False})
    assert denied.status_code == 409
    assert denied.json()["decision"]["denied"]["detail"] == EXHAUSTED
    for _ in range(3):
        state()
    assert house.records("budget_state_changed") == changes
    ask(house, BOSS, "PUT", path, json={"limit_micros": 10**15, "thresholds": half})
    assert state() == "healthy"
    after = ask(house, "project_viewer@lab", "GET", "/v1/leases")["items"]
    assert {each["lease_id"] for each in after} == {each["lease_id"] for each in leases}


EXHAUSTED = "budget_exhausted"

# -- invoices --------------------------------------------------------------------------------


def recompute(records: list[Record], body: dict[str, Any]) -> bytes:
    """The invoice that these records give, by nothing else."""
    names = ("invoice_id", "tenant", "project", "from_ms", "to_ms", "currency", "journal_size")
    head = InvoiceHead(**{n: body[n] for n in names}, scope=InvoiceScope(body["scope"]))
    prefix = records[: head.journal_size]
    bill = PeriodBill(read_prices(prefix), from_ms=head.from_ms, to_ms=head.to_ms)
    for record in prefix:
        bill.add(record)
    own = tuple(line for line in bill.lines() if head.covers(line))
    return canonical_bytes(Invoice(head, own))


def spelled(body: dict[str, Any]) -> bytes:
    """A body in its canonical form, without any code of ours."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def issue(house: HttpHouse, **more: Any) -> Any:
    body = {"from_ms": 1, "to_ms": after_a_moment(house), **more}
    return ask(house, ADMIN, "POST", "/v1/tenants/lab/invoices", json=body)


@pytest.mark.parametrize("project", [None, "p"])
def test_an_issued_invoice_is_the_one_that_the_exported_journal_gives(
    house: HttpHouse, project: str | None
) -> None:
    house.do(RegisterNode("g1", NodeCapacity(cpu_cores=4, mem_bytes=GIB, gpus=_HOPPERS)))
    spot = grant(house, gpu_count=1, gpu_generation="nvidia_hopper", lease_class="spot")
    after_a_moment(house)
    own = price_list(name="ours", tenant=OWN, core_micros_per_hour=DEAR)
    ask(house, ADMIN, "PUT", "/v1/rates", json=own)
    grant(house, tag="night")
    house.plain("submit", tenant="lab", request=_PLAIN)
    after_a_moment(house)
    ask(house, "project_member@lab", "DELETE", f"/v1/leases/{spot}")
    ask(house, ADMIN, "DELETE", "/v1/tenants/lab/rates")
    made = issue(house, project=project)
    after_a_moment(house)
    body = made["body"]
    assert made["status"] == "issued"
    assert {line["card"] for line in body["lines"]} == {"list", "ours"}
    assert {line["project"] for line in body["lines"]} == ({"p"} if project else {"p", None})
    assert recompute(journal(house), body) == spelled(body)
    sealed = house.records("invoice_issued")[-1]
    assert sealed["digest"] == made["digest"] == sha256(spelled(body)).hexdigest()
    assert (sealed["invoice"], sealed["total_micros"]) == (body["invoice_id"], body["total_micros"])
    path = f"/v1/tenants/lab/invoices/{body['invoice_id']}"
    assert ask(house, AUDITOR, "GET", path) == made
    listed = ask(house, AUDITOR, "GET", "/v1/tenants/lab/invoices")["items"]
    assert [row["invoice_id"] for row in listed] == [body["invoice_id"], INVOICE[OWN]]
    assert (listed[0]["total_micros"], listed[0]["digest"]) == (
        body["total_micros"],
        made["digest"],
    )
    assert listed[0]["lines"] == len(body["lines"])


_PLAIN = {"resources": {"cpu_milli": 700}, "priority": "normal", "lease_class": "standard"}


def test_every_line_of_an_invoice_is_traced_to_stretches_that_add_up_to_it(
    house: HttpHouse,
) -> None:
    for tag in ("a", "a", "b"):
        grant(house, tag=tag)
    after_a_moment(house)
    own = price_list(name="ours", tenant=OWN, core_micros_per_hour=DEAR)
    ask(house, ADMIN, "PUT", "/v1/rates", json=own)
    after_a_moment(house)
    ask(house, ADMIN, "DELETE", "/v1/tenants/lab/rates")  # the list holds before and after
    made = issue(house)
    path = f"/v1/tenants/lab/invoices/{made['body']['invoice_id']}/lines"
    records = {record.seq: record for record in journal(house)}
    for number, line in enumerate(made["body"]["lines"], 1):
        found: list[Any] = []
        cursor: str | None = ""
        while cursor is not None:
            page = ask(house, AUDITOR, "GET", f"{path}/{number}?limit=2{cursor}")
            found += page["items"]
            cursor = None if page["next"] is None else f"&cursor={page['next']}"
        assert sum(int(each["used"]) for each in found) == int(line["used"])
        assert {each["kind"] for each in found} == {line["kind"]}
        assert len(found) == line["segments"]
        for each in found:
            assert line["from_ms"] <= each["from_ms"] < each["to_ms"] <= line["to_ms"]
            granted = records[each["from_seq"]]
            assert (granted.tenant, granted.project) == ("lab", line["project"])
            assert each["lease_id"] in granted.body.get("lease_ids", ())
    last = len(made["body"]["lines"])
    assert refused(house, AUDITOR, "GET", f"{path}/{last + 1}") == (404, "not_found")


def test_the_same_invoice_is_issued_once(house: HttpHouse) -> None:
    body = {"from_ms": 1, "to_ms": after_a_moment(house)}
    path, key = "/v1/tenants/lab/invoices", {"Idempotency-Key": "bill-it"}
    dry = ask(house, ADMIN, "POST", f"{path}?dry_run=true", json=body)
    assert dry["status"] == "draft"
    assert len(house.records("invoice_issued")) == 2  # those that the house came with
    first = ask(house, ADMIN, "POST", path, json=body, headers=key)
    assert dry["body"]["lines"] == first["body"]["lines"]
    grant(house)  # the journal has grown: computed again, it would be another
    assert ask(house, ADMIN, "POST", path, json=body, headers=key) == first
    assert refused(house, ADMIN, "POST", path, json=body) == (409, "conflict")
    for more in ({"project": "p"}, {"from_ms": 2}):  # what is billed is not billed again
        assert refused(house, ADMIN, "POST", path, json=body | more) == (409, "conflict")
    assert len(house.records("invoice_issued")) == 3


def test_what_is_not_over_or_not_there_is_not_billed(house: HttpHouse) -> None:
    path = "/v1/tenants/lab/invoices"
    wrong = [
        {"from_ms": 1, "to_ms": now_ms(house) + 10**9},
        {"from_ms": 9, "to_ms": 9},
        {"from_ms": 9, "to_ms": 8},
    ]
    for body in wrong:
        assert refused(house, ADMIN, "POST", path, json=body) == (422, "invalid_value")
    nobody = {"from_ms": 1, "to_ms": 2, "project": "nobody"}
    assert refused(house, ADMIN, "POST", path, json=nobody) == (404, "not_found")
    for who in (BOSS, AUDITOR, "project_admin@lab"):
        body = {"from_ms": 1, "to_ms": 2}
        assert refused(house, who, "POST", path, json=body) == (403, "forbidden")


def test_an_invoice_is_seen_by_whoever_it_is_of_and_by_nobody_else(house: HttpHouse) -> None:
    part = issue(house, project="p")
    whole = issue(house, from_ms=part["body"]["to_ms"])
    names = [each["body"]["invoice_id"] for each in (whole, part)]
    path = "/v1/tenants/lab/invoices"
    listed = ask(house, "project_admin@lab", "GET", path)["items"]
    assert [row["invoice_id"] for row in listed] == [names[1]]
    assert ask(house, "project_admin@lab", "GET", f"{path}/{names[1]}") == part
    hidden = house.ask("project_admin@lab", "GET", f"{path}/{names[0]}")
    absent = house.ask("project_admin@lab", "GET", f"{path}/inv-none")
    foreign = house.ask("tenant_auditor@rival", "GET", f"/v1/tenants/rival/invoices/{names[0]}")
    assert hidden.status_code == absent.status_code == foreign.status_code == 404
    assert hidden.json()["message"] == absent.json()["message"] == foreign.json()["message"]
    for who in ("tenant_auditor@rival", "project_viewer@lab"):
        assert house.ask(who, "GET", f"{path}/{names[1]}").status_code in (403, 404)
    draft = "/v1/tenants/lab/invoice-draft"
    assert refused(house, "project_admin@lab", "GET", draft) == (403, "forbidden")
    mine = ask(house, "project_admin@lab", "GET", f"{draft}?project=p&from_ms=1")
    assert {line["project"] for line in mine["body"]["lines"]} == {"p"}
    assert house.ask("tenant_admin@rival", "GET", draft).status_code == 404


def test_an_invoice_is_downloaded_in_the_columns_that_the_command_line_writes(
    house: HttpHouse,
) -> None:
    made = issue(house)
    path = f"/v1/tenants/lab/invoices/{made['body']['invoice_id']}/export"
    invoice = invoice_of(made["body"])
    plain = house.ask(AUDITOR, "GET", path)
    focus = house.ask(AUDITOR, "GET", f"{path}?format=focus&provider=Campus")
    assert (plain.text, focus.text) == (
        invoice_csv([invoice]),
        focus_csv([invoice], provider="Campus"),
    )
    assert plain.headers["content-disposition"].startswith("attachment; filename=")
    assert house.ask("tenant_auditor@rival", "GET", path).status_code == 404
    assert house.ask(AUDITOR, "GET", f"{path}?format=pdf").status_code == 422


def test_a_bill_that_is_not_the_sealed_one_is_not_shown(house: HttpHouse) -> None:
    made = issue(house)
    name, store = made["body"]["invoice_id"], house.runner.replica.store
    inner: Any = getattr(store, "_store", store)
    assert isinstance(inner, SqlStore)
    other = spelled(made["body"] | {"total_micros": made["body"]["total_micros"] + 7})
    with inner.changing() as connection:
        changed = update(invoices).where(invoices.c.invoice == name)
        connection.execute(changed.values(body=zlib.compress(other)))
    path = f"/v1/tenants/lab/invoices/{name}"
    assert refused(house, AUDITOR, "GET", path) == (500, "damaged")
    assert refused(house, AUDITOR, "GET", "/v1/tenants/lab/invoices") == (500, "damaged")


def test_what_is_known_later_is_a_correction_and_the_sum_is_what_the_journal_gives(
    house: HttpHouse,
) -> None:
    ask(house, ADMIN, "PUT", "/v1/rates", json=price_list(core_micros_per_hour=DEAR))
    seen = after_a_moment(house)
    made = issue(house)
    name = made["body"]["invoice_id"]
    path = f"/v1/tenants/lab/invoices/{name}"
    agreed = {"outcome": "agreed", "correction": None}
    assert ask(house, ADMIN, "POST", f"{path}/corrections") == agreed
    house.do(DepartNode("n1", seen))  # it was gone before the period's end
    dry = ask(house, ADMIN, "POST", f"{path}/corrections?dry_run=true")
    assert dry["correction"]["status"] == "draft"
    key = {"Idempotency-Key": "correct-it"}
    found = ask(house, ADMIN, "POST", f"{path}/corrections", headers=key)
    assert found["outcome"] == "corrected"
    new = found["correction"]["body"]
    assert (new["invoice_id"], new["corrects"]) == (f"{name}-c1", name)
    assert new["total_micros"] < 0
    assert ask(house, ADMIN, "POST", f"{path}/corrections", headers=key) == found
    assert ask(house, ADMIN, "POST", f"{path}/corrections") == agreed
    fresh = recompute(journal(house), made["body"] | {"journal_size": new["journal_size"]})
    total = invoice_of(json.loads(fresh)).total_micros
    assert made["body"]["total_micros"] + new["total_micros"] == total
    assert ask(house, AUDITOR, "GET", path)["corrected_by"] == [f"{name}-c1"]
    shown = ask(house, AUDITOR, "GET", f"{path}-c1")
    assert shown["body"] == new
    twice = refused(house, ADMIN, "POST", f"{path}-c1/corrections")
    assert twice == (422, "invalid_value")
    assert refused(house, BOSS, "POST", f"{path}/corrections") == (403, "forbidden")


def test_an_invoice_is_rated_by_the_prices_of_its_own_records(
    house: HttpHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A price that changes while the meter is asked makes it be asked again."""
    meter = house.app.state.house.parts.tables.meter
    metered, asked = meter.uses, []

    def uses(*arguments: Any) -> Any:
        found = metered(*arguments)
        if not asked:
            house.plain("set_rate_card", card=price_list(card="later"))
        asked.append(found.size)
        return found

    monkeypatch.setattr(meter, "uses", uses)
    body = issue(house)["body"]
    assert len(asked) == 2
    assert body["journal_size"] == asked[1]
    assert recompute(journal(house), body) == spelled(body)


def test_an_invoice_waits_for_records_of_its_period_that_are_still_being_written(
    house: HttpHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = RecordTimes.size_by
    asked = []

    def size_by(times: RecordTimes, at_ms: int, *, size: int) -> int:
        asked.append(size)
        return size + 1 if len(asked) < 3 else told(times, at_ms, size=size)

    monkeypatch.setattr(RecordTimes, "size_by", size_by)
    body = issue(house)["body"]
    assert len(asked) == 4  # three times here, and once by the kernel
    assert recompute(journal(house), body) == spelled(body)


def test_nothing_is_issued_from_a_meter_that_does_not_add_up(house: HttpHouse) -> None:
    grant(house)
    to_ms = after_a_moment(house)
    before = house.records("invoice_issued")
    meter = house.app.state.house.parts.tables.meter
    with meter.current() as found:
        found.meter.pools()[0].capacity += 1
    body = {"from_ms": 1, "to_ms": to_ms}
    answer = refused(house, ADMIN, "POST", "/v1/tenants/lab/invoices", json=body)
    assert answer == (500, "invariant_broken")
    assert house.records("invoice_issued") == before


def test_what_was_kept_and_never_sealed_is_no_invoice(house: HttpHouse) -> None:
    """As a crash between the two leaves it: whoever issues it again finds it no obstacle."""
    body = {"from_ms": 1, "to_ms": after_a_moment(house)}
    path = "/v1/tenants/lab/invoices"
    dry = ask(house, ADMIN, "POST", f"{path}?dry_run=true", json=body)
    name, text = dry["body"]["invoice_id"], spelled(dry["body"])
    kept = InvoiceRow(name, dry["digest"], OWN, None, text)
    house.app.state.house.parts.tables.invoices.put(kept)
    assert refused(house, AUDITOR, "GET", f"{path}/{name}") == (404, "not_found")
    assert [row["invoice_id"] for row in ask(house, AUDITOR, "GET", path)["items"]] == [
        INVOICE[OWN]
    ]
    made = ask(house, ADMIN, "POST", path, json=body)
    assert ask(house, AUDITOR, "GET", f"{path}/{name}") == made
