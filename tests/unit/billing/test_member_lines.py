"""What members of an app used: on lines of their own, and nowhere counted twice or lost."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from hashlib import sha256
from io import StringIO
from typing import Any

import pytest
from hypothesis import given

from bailiwick.billing.export import invoice_csv
from bailiwick.billing.findings import MemberWatch, Misattributed, concerning
from bailiwick.billing.focus import focus_csv
from bailiwick.billing.invoice_body import body_of, canonical_bytes, digest_of, invoice_of
from bailiwick.billing.invoices import InvoiceHead, OnlyInFirst, OnlyInSecond, compare
from bailiwick.billing.rates import RateBook, RateChange
from bailiwick.billing.rating import rate
from bailiwick.fleet.node import NodeCapacity
from bailiwick.kernel import RegisterNode
from bailiwick.metering.fold import JournalMeter
from bailiwick.metering.owners import Account
from bailiwick.metering.snapshot import FORMAT, read_meter, write_meter
from bailiwick.metering.values import Use
from bailiwick.vocab.app_uses import MemberUse, member_use_in
from bailiwick.vocab.apps import MemberPart
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import ResourceKind
from tests.support.app_campus import AppCampus
from tests.support.billed_campus import compute
from tests.support.kernel_histories import HOUR, START_MS
from tests.support.shared_house import SharedHouse
from tests.unit.billing import bill_makers as mk
from tests.unit.billing.test_findings import Told, claim

GPU = ResourceKind.GPU_MILLI


def campus() -> AppCampus:
    found = AppCampus()
    found.hold("controller", gpus=1)
    found.hold("worker", gpus=2)
    found.hold("worker", gpus=1)
    found.hold(None, gpus=3)
    found.pass_time(2 * HOUR, tick_ms=HOUR)
    return found


def head_of(found: AppCampus) -> InvoiceHead:
    return InvoiceHead(
        invoice_id="m-1",
        tenant="lab",
        from_ms=START_MS,
        to_ms=START_MS + 2 * HOUR,
        currency="credit",
        journal_size=len(found.lines),
    )


def changed(found: AppCampus, use: MemberUse, **words: Any) -> list[Any]:
    """The records, with the labels of the first member's lease saying something else."""
    told = [f"{key}={value}" for key, value in sorted(use._replace(**words).labels().items())]
    records: list[Any] = list(found.records)
    first = next(n for n, each in enumerate(records) if each.kind == "admission_approved")
    old = records[first]
    body = dict(old.body) | {"job_labels": tuple(told)}
    records[first] = Told(old.seq, old.at_ms, old.kind, body, old.tenant, old.project, True)
    return records


# -- lines ---------------------------------------------------------------------------------------


def test_control_plane_workload_and_other_work_are_lines_of_their_own() -> None:
    found = campus()
    invoice = compute(found, head_of(found))
    used = {
        line.key.member and line.key.member.part: line.used
        for line in invoice.lines
        if line.key.kind is GPU
    }
    hours = 1000 * 2 * HOUR
    assert used == {
        MemberPart.CONTROL_PLANE: hours,
        MemberPart.WORKLOAD: 3 * hours,
        None: 3 * hours,
    }
    (use,) = {line.key.member for line in invoice.lines if line.key.member} - {
        found.use("controller")
    }
    assert use == found.use("worker")
    assert use.plain() == {
        "instance_id": 1,
        "app": "lab.svc",
        "operating_mode": "tenant_dedicated",
        "control_plane_scope": "project",
        "runtime_backend": "bare_metal",
        "part": "workload",
    }


@given(mk.rated())
def test_saying_whose_member_it_is_moves_no_use(given_: tuple[list[RateChange], list[Use]]) -> None:
    changes, uses = given_
    book = RateBook(changes)

    def sums(told: list[Use]) -> dict[object, tuple[int, int]]:
        found: dict[object, tuple[int, int]] = {}
        for line in rate(told, book):
            known = found.get(line.key._replace(member=None), (0, 0))
            key = line.key._replace(member=None)
            found[key] = known[0] + line.used, known[1] + line.segments
        return found

    plain = [each._replace(account=replace(each.account, member=None)) for each in uses]
    assert sums(uses) == sums(plain)
    members = {line.key.member for line in rate(uses, book)}
    assert members == {each.account.member for each in uses if each.used}


# -- the invoice as it is stored, sent and hashed --------------------------------------------------


def test_an_invoice_says_whose_members_and_reads_back_to_the_last_byte() -> None:
    found = campus()
    invoice = compute(found, head_of(found))
    body = body_of(invoice)
    assert body["version"] == 2
    assert [("member" in line) for line in body["lines"]] == [
        line.key.member is not None for line in invoice.lines
    ]
    again = invoice_of(json.loads(canonical_bytes(invoice)))
    assert again == invoice
    assert digest_of(again) == sha256(canonical_bytes(invoice)).hexdigest()


def test_an_invoice_without_members_has_the_bytes_that_it_always_had() -> None:
    found = AppCampus()
    found.hold(None)
    found.pass_time(2 * HOUR, tick_ms=HOUR)
    body = body_of(compute(found, head_of(found)))
    assert body["version"] == 1
    assert all("member" not in line for line in body["lines"])


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("instance_id", 2),
        ("app", "lab.other"),
        ("operating_mode", "platform_managed"),
        ("control_plane_scope", "tenant"),
        ("runtime_backend", "cloud"),
        ("part", "workload"),
    ],
)
def test_a_changed_attribution_is_another_invoice(word: str, value: object) -> None:
    found = campus()
    invoice = compute(found, head_of(found))
    body = json.loads(canonical_bytes(invoice))
    number = next(
        n
        for n, line in enumerate(body["lines"])
        if line.get("member", {}).get("part") == "control_plane" and line["kind"] == "gpu_milli"
    )
    body["lines"][number]["member"][word] = value
    try:
        forged = invoice_of(body)
    except InvalidValue:  # its lines are not in order any more, or one is there twice
        return
    assert digest_of(forged) != digest_of(invoice)
    kinds = {type(each) for each in compare(forged, invoice)}
    assert kinds == {OnlyInFirst, OnlyInSecond}


@pytest.mark.parametrize(
    "member", [None, {}, {"part": "both"}, 7], ids=["null", "empty", "a word of none", "a number"]
)
def test_what_says_a_member_wrongly_is_no_invoice(member: object) -> None:
    found = campus()
    body = json.loads(canonical_bytes(compute(found, head_of(found))))
    body["lines"][0]["member"] = member
    with pytest.raises(InvalidValue):
        invoice_of(body)


def test_exports_say_it_too() -> None:
    found = campus()
    invoice = compute(found, head_of(found))
    rows = list(csv.DictReader(StringIO(invoice_csv([invoice]), newline="")))
    assert {row["part"] for row in rows} == {"control_plane", "workload", ""}
    assert {row["app"] for row in rows if row["part"]} == {"lab.svc"}
    told = list(csv.DictReader(StringIO(focus_csv([invoice], provider="campus"), newline="")))
    tags = [json.loads(row["Tags"]) for row in told if row["Tags"]]
    assert {each["part"] for each in tags} == {"control_plane", "workload"}
    assert tags[0].keys() == found.use("worker").plain().keys()
    assert sum(not row["Tags"] for row in told) == sum(not row["part"] for row in rows)


# -- labels and the meter --------------------------------------------------------------------------


def test_labels_that_are_not_all_there_or_say_no_word_are_no_members() -> None:
    use = AppCampus().use("worker")
    told = [f"{key}={value}" for key, value in use.labels().items()]
    assert member_use_in(told) == use
    assert member_use_in(reversed(told)) == use
    for number in range(len(told)):
        assert member_use_in(told[:number] + told[number + 1 :]) is None
    for wrong in ("bailiwick.part=both", "bailiwick.instance=x", "bailiwick.mode=mine"):
        assert member_use_in([*told, wrong]) is None
    assert member_use_in(["team=red"]) is None
    # As a member's lease was labelled before this: it is billed as it was.
    assert member_use_in(["bailiwick.instance=1"]) is None


def accounts_of(meter: JournalMeter) -> set[MemberUse | None]:
    return {line.payer.member for line in meter.meter.lines if isinstance(line.payer, Account)}


def test_a_meter_that_is_read_back_knows_whose_members_they_are() -> None:
    found, meter = campus(), JournalMeter()
    for record in found.records:
        meter.add(record)
    told = json.loads(json.dumps(write_meter(meter)))
    assert told["format"] == FORMAT == 5
    again = read_meter(told)
    assert accounts_of(again) == accounts_of(meter)
    assert accounts_of(again) == {None, found.use("worker"), found.use("controller")}
    assert again.meter.totals(found.now_ms) == meter.meter.totals(found.now_ms)


def test_a_meter_of_the_format_before_is_read_and_goes_on_exactly() -> None:
    found = AppCampus()
    found.hold(None)
    found.pass_time(HOUR)
    meter = JournalMeter()
    for record in found.records:
        meter.add(record)
    old = json.loads(json.dumps(write_meter(meter))) | {"format": 2}
    assert all(len(words) in (1, 8) for _, _, words in old["lines"])
    again, size = read_meter(old), len(found.lines)
    found.hold("worker")
    found.pass_time(HOUR)
    for record in found.records[size:]:
        meter.add(record)
        again.add(record)
    again.check()
    assert again.meter.totals(found.now_ms) == meter.meter.totals(found.now_ms)
    for word in (1, 3, 4, FORMAT + 1, None):
        with pytest.raises(InvalidValue, match="fold the journal again"):
            read_meter(old | {"format": word})


# -- what an auditor finds -------------------------------------------------------------------------


def watched(records: list[Any]) -> list[Misattributed]:
    watch = MemberWatch()
    for record in records:
        watch.see(record)
    return watch.found


def test_a_lease_that_is_no_such_members_is_found() -> None:
    found = campus()
    use = found.use("controller")
    assert watched(list(found.records)) == []
    for words, field, sealed in (
        ({"instance_id": 2}, "project", None),
        ({"app": "lab.other"}, "app", "lab.svc"),
        ({"backend": "cloud"}, "runtime_backend", "bare_metal"),
    ):
        (row,) = watched(changed(found, use, **words))
        assert (row.field, row.sealed) == (field, sealed)
        assert concerning([row], [claim("m-1", None, journal_size=99, to_ms=found.now_ms)]) == [row]
        assert concerning([row], [claim("m-1", None, tenant="firm", journal_size=99)]) == []


def test_a_lease_of_another_project_is_no_member_of_it() -> None:
    found = campus()
    labels = found.use("worker").labels()
    found.submit("lab", project="other", job_labels=labels, gpu_count=1, ttl_ms=HOUR)
    (row,) = watched(list(found.records))
    assert (row.field, row.told, row.sealed) == ("project", "lab/other", "lab/vision")


def test_a_contributed_workers_lease_is_its_own_projects_and_nobody_elses() -> None:
    house = SharedHouse()
    house.create()
    for project in ("audio", "text"):
        house.attach(project)
    house.contribute("audio", "audio-0")
    house.do(RegisterNode("n1", NodeCapacity(8, 10**6)))
    i = house.instance()
    use = MemberUse(i.id, i.app, i.mode, i.scope, i.backend, MemberPart.WORKLOAD)
    house.lease("audio", **use.labels())
    assert watched(list(house.records)) == []
    # The guard lets no other project name it; written into a journal by hand, it is found.
    (last,) = [r for r in house.records if r.kind == "admission_approved"]
    forged = replace(last, project="text")
    (row,) = watched([*house.records[:-1], forged])
    assert (row.field, row.told) == ("project", "lab/text")
