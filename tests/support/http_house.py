"""A real API over a real replica on SQLite, with two tenants and somebody for every role."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from bailiwick.apps.calls import CallQuestion
from bailiwick.apps.endpoints.spec import EndpointSpec
from bailiwick.billing.budgets import Budget
from bailiwick.billing.invoice_body import canonical_bytes, digest_of
from bailiwick.billing.invoices import Invoice, InvoiceHead
from bailiwick.billing.rates import LIST_PRICES, RateBook, card_body
from bailiwick.billing.rating import rate
from bailiwick.executors.artifacts.fetching import Fetcher
from bailiwick.executors.artifacts.store import ArtifactStore
from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.iam import Permission, PrincipalKind, Role, Scope, ScopeLevel
from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.journal.keys import SeedSigner
from bailiwick.kernel import (
    Book,
    Command,
    EnrolNode,
    Envelope,
    SetSeries,
    Tick,
    decode_command,
)
from bailiwick.kernel.answers import Answer
from bailiwick.kernel.apps.commands import (
    ChangeArtifact,
    PublishApp,
    RegisterArtifact,
    SetArtifactSource,
    SetEntitlement,
)
from bailiwick.kernel.apps.instance_commands import BeginOperation, ChangeMember, RequestInstance
from bailiwick.kernel.apps.webhooks.commands import SetWebhook
from bailiwick.kernel.cells.commands import AskGlobally, JoinCell, MeetHome
from bailiwick.kernel.maintenance.commands import PlanWindow, SetCalendar
from bailiwick.kernel.money.commands import IssueInvoice, RemoveBudget, SetBudget
from bailiwick.kernel.people import commands as cmd
from bailiwick.kernel.people import credential_commands as cc
from bailiwick.metering.owners import Account
from bailiwick.metering.values import Use
from bailiwick.ports import Clock, NewJobRow
from bailiwick.runtime import replica as rep
from bailiwick.runtime.runner import Runner, SystemClock
from bailiwick.runtime.steady_clock import SteadyClock
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.server.folds import follow_revocations, follow_telemetry
from bailiwick.server.http import app as app_module
from bailiwick.server.http.app import AppTerms, create_app
from bailiwick.server.http.context import LoginBook, Parts
from bailiwick.services import authority as auth
from bailiwick.services.apps.calls import CallDesk
from bailiwick.services.apps.endpoints.desk import EndpointDesk
from bailiwick.services.apps.webhooks import WebhookDesk
from bailiwick.services.beats import Beats
from bailiwick.services.capabilities import Capabilities
from bailiwick.services.graphs import Graphs
from bailiwick.services.invoices import invoice_name
from bailiwick.services.jobs import Jobs
from bailiwick.services.jobs.exec_desk import Exec, ExecDesk
from bailiwick.services.logins.issuers import IssuerClient
from bailiwick.services.notices.desk import open_desk
from bailiwick.services.notices.mail import MailPost
from bailiwick.services.rating import Period
from bailiwick.services.revoking import RevocationBook
from bailiwick.services.tables import StoreTables
from bailiwick.services.trust import Gate
from bailiwick.services.work import NodeDesk
from bailiwick.store.calls.rows import CallBook, CallPlace, CallRow
from bailiwick.store.graph_rows import GraphBook, NewGraphRow
from bailiwick.store.invoice_rows import InvoiceBook, InvoiceRow
from bailiwick.store.job_rows import JobBook
from bailiwick.store.sql_store import SqlStore
from bailiwick.store.webhooks.rows import WebhookBook
from bailiwick.store.work_rows import WorkBook
from bailiwick.telemetry.telemetry import Telemetry
from bailiwick.vocab.apps import ArtifactKind, ArtifactTrust, CallVerb, MemberAction
from bailiwick.vocab.execs import ExecWish
from bailiwick.vocab.trust import EvidenceKind
from bailiwick.vocab.values import ProjectId, TenantId
from bailiwick.vocab.words import LeaseClass, ResourceKind
from tests.support.app_manifests import DIGEST, HOST_ROLE, SERVICE_DIGEST, hello, service
from tests.support.fresh_store import open_fresh
from tests.support.waiting import WAIT_S

OWN, FOREIGN = "lab", "rival"
"""Each with the project ``p`` and the service account ``bot-TENANT``."""
FAR_MS = 300 * 86_400_000
"""How far ahead what is planned is in nobody's way."""
GRAPH = "tasks: {a: {command: ['true']}}"
INVOICE = {tenant: invoice_name(Scope(tenant), Period(0, 1)) for tenant in (OWN, FOREIGN)}
"""Each has this one, of a time long ago and with one line."""

_IDS = count(1)


@dataclass(slots=True)
class HttpHouse:
    """The parts of a running API, and ways to prepare a test."""

    runner: Runner
    authority: auth.Authority
    app: FastAPI
    client: TestClient
    telemetry: Telemetry
    store: SqlStore

    def do(self, command: Command, *, correlation_id: str = "none") -> Answer:
        """Have something done behind the API's back."""
        return self.runner.execute(Envelope(command, "setup", correlation_id))

    def plain(self, word: str, **values: Any) -> Answer:
        """The same, by the command's word."""
        return self.do(decode_command({"command": word, **values}))

    def token(
        self,
        name: str,
        *,
        kind: PrincipalKind = PrincipalKind.HUMAN,
        terms: auth.Terms | None = None,
        ttl_s: int = 3600,
    ) -> str:
        """A token that counts."""
        minted = self.authority.mint(
            name,
            kind,
            token_id=f"setup-{next(_IDS)}",
            now_ms=SystemClock().now_ms(),
            ttl_s=ttl_s,
            terms=terms,
        )
        self.do(minted.command)
        return minted.token

    def ask(self, who: str | None, method: str, path: str, **more: Any) -> Any:
        """Ask as somebody (a role's word with ``@TENANT``, or ``fleet_admin``)."""
        headers = dict(more.pop("headers", {}))
        if who is not None:
            headers["Authorization"] = f"Bearer {self.token(who)}"
        return self.client.request(method, path, headers=headers, **more)

    def records(self, kind: str) -> list[dict[str, Any]]:
        """The bodies of all records of a kind."""
        store = self.runner.replica.store
        lines = self.runner.read(lambda view: store.read(0, view.state.size))
        found = [json.loads(line) for line in lines]
        return [each["body"] for each in found if each["kind"] == kind]


def person(role: Role, tenant: str = OWN) -> str:
    """Who has a role: over the fleet, or at a tenant or its project ``p``."""
    return role.value if role.level is ScopeLevel.FLEET else f"{role.value}@{tenant}"


def scope_of(role: Role, tenant: str) -> Scope:
    """Where that role is held."""
    match role.level:
        case ScopeLevel.FLEET:
            return Scope()
        case ScopeLevel.TENANT:
            return Scope(tenant)
        case ScopeLevel.PROJECT:
            return Scope(tenant, "p")


ISSUER = "https://ci.example"
"""Whose word of programs may be trusted; nobody is there."""


class MovedClock(SystemClock):
    """This machine's clocks, so much ahead as a test says."""

    ahead_ms = 0

    def now_ms(self) -> int:
        """The time of day."""
        return super().now_ms() + self.ahead_ms

    def elapsed_ms(self) -> int:
        """A clock that never goes back."""
        return super().elapsed_ms() + self.ahead_ms


def make_parts(clock: Clock | None = None, **more: Any) -> Parts:
    """Every part that an application can have without a store of its own."""
    clock = clock or SystemClock()
    given: dict[str, Any] = {
        "gate": Gate(clock, secrets.token_bytes),
        "capabilities": Capabilities(bytes(range(32)), RevocationBook()),
        "beats": Beats(clock),
        "logins": LoginBook({}, "http://testserver", {ISSUER: IssuerClient(ISSUER, None, clock)}),
        "signer": SeedSigner("log.example/house", bytes(range(32))),
    }
    return Parts(**(given | more))


def make_app(*arguments: Any, **more: Any) -> FastAPI:
    """The product's ``create_app``, with the routes of the first one that was made here.

    They are the same in all: whatever differs they find in the application's state. To make them is
    nearly all of the work, and some hundred tests have an application of their own.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app_module, "_add_routes", _add_known_routes)
        return create_app(*arguments, **more)


_make_routes = app_module._add_routes
_routes: list[Any] = []


def _add_known_routes(app: FastAPI) -> None:
    if _routes:
        app.router.routes.extend(_routes)
        return
    others = len(app.router.routes)
    _make_routes(app)
    _routes.extend(app.router.routes[others:])


@contextmanager
def http_house(
    folder: Path,
    terms: AppTerms | None = None,
    *,
    parts: Parts | None = None,
    clock: Clock | None = None,
    mail: tuple[str, MailPost] | None = None,
) -> Iterator[HttpHouse]:
    """The API, with two tenants, people, one node, and a lease, an entry and a job of each."""
    telemetry = Telemetry.open(folder)
    store = open_fresh(folder)
    clock = SteadyClock(clock or SystemClock())
    replica = rep.Replica(telemetry.watch_store(store), clock, name="one")
    runner = Runner(replica, wait_s=WAIT_S)
    runner.start()
    parts = parts or make_parts(clock)
    followers = []
    try:
        assert runner.wait_for(rep.Role.LEADING, wait_s=WAIT_S)
        followers.append(follow_telemetry(telemetry, runner))
        if parts.capabilities is not None:
            followers.append(follow_revocations(parts.capabilities, runner))
        authority = auth.Authority.from_pem(auth.Authority.new_key())
        jobs = Jobs(JobBook(store), runner, clock=SystemClock(), node="n1")
        ids = (f"id-{n}" for n in count(1))
        app = make_app(
            runner,
            authority,
            clock=clock,
            ids=lambda: next(ids),
            terms=terms or AppTerms(guesses=auth.Allowance(burst=10**6, per_minute=10**6)),
            parts=replace(
                parts,
                telemetry=telemetry,
                tables=StoreTables.of(store),
                jobs=jobs,
                graphs=Graphs(GraphBook(store), jobs, clock=SystemClock()),
                desk=NodeDesk(WorkBook(store), clock=clock),
                executor=LocalExecutor(folder / "jobs"),
                execs=_execs(runner),
                fetcher=parts.fetcher or Fetcher(ArtifactStore(folder / "artifacts")),
                calls=CallDesk(CallBook(store)),
                endpoints=EndpointDesk(runner),
                notices=open_desk(
                    store,
                    bytes(32),
                    mail=mail,
                    allow_private=True,
                    providers=parts.logins.clients if parts.logins else (),
                ),
                webhooks=WebhookDesk(book=WebhookBook(store), key=bytes(32), allow_private=True),
            ),
        )
        with TestClient(app, raise_server_exceptions=False) as client:
            house = HttpHouse(runner, authority, app, client, telemetry, store)
            _furnish(house)
            _add_jobs(JobBook(store))
            _add_graphs(GraphBook(store))
            _add_cells(house)
            _add_money(house, InvoiceBook(store))
            _add_apps(house)
            _add_credentials(house)
            _add_maintenance(house)
            _add_bookings(house)
            _add_calls(CallBook(store))
            # What the first look at the line has to tell is told now, so that no record of it comes
            # between two looks of a test.
            house.do(Tick())
            yield house
    finally:
        for follower in followers:
            follower.close()
        telemetry.close()
        runner.stop()


def _add_maintenance(house: HttpHouse) -> None:
    """A window beyond all terms, and a calendar that nobody plans by."""
    starts_ms = house.runner.read(lambda view: view.now_ms) + FAR_MS
    house.do(PlanWindow("w1", ("n1",), starts_ms, starts_ms + 1_000, 0, "far away"))
    house.do(SetCalendar("weekly", "weekly on sun at 02:00 for 1h in UTC", ("n1",)))


def _add_bookings(house: HttpHouse) -> None:
    """A booking of each tenant beyond all terms, and a series that nobody books by yet."""
    now_ms = house.runner.read(lambda view: view.now_ms)
    for number, tenant in enumerate((OWN, FOREIGN), 2):
        starts_ms = now_ms + FAR_MS + number * 10_000
        house.do(Book("b1", tenant, "p", starts_ms, starts_ms + 1_000, nodes=("n1",)))
        rule = "once on 2099-12-24 at 20:00 for 1h in UTC"
        house.do(SetSeries("s1", rule, tenant, "p", nodes=("n1",)))


def _add_cells(house: HttpHouse) -> None:
    """A cell that was never met, a request of each tenant to all cells, and a home of our own.

    Before the money: who has a budget here asks no cells.
    """
    house.do(JoinCell("east", "https://east.example"))
    for tenant in (OWN, FOREIGN):
        request = PlacementRequest(tenant=TenantId(tenant), project=ProjectId("p"), cpu_cores=1)
        house.do(AskGlobally(request))
    house.do(MeetHome("fleet-far", 1))


def _add_credentials(house: HttpHouse) -> None:
    """A rule and a key of each tenant's service account."""
    for tenant in (OWN, FOREIGN):
        account = f"bot-{tenant}"
        conditions = ("sub=repo:acme/train",)
        house.do(cc.SetAccountTrust(account, "main", ISSUER, "gpu.example", conditions))
        house.do(cc.AddAccountKey(account, f"key-{tenant}", "ab" * 32, 86_400_000))


def _add_apps(house: HttpHouse) -> None:
    """One of each tenant, that asks for the host, and the artifact that it is made of."""
    house.do(SetArtifactSource("main", ArtifactKind.OCI, "registry.example/apps"))
    for tenant in (OWN, FOREIGN):
        house.do(cmd.SetRole("idle", ScopeLevel.PROJECT, (Permission.QUEUE_READ,), tenant))
        house.do(PublishApp(hello(roles={"worker": HOST_ROLE}).canonical, tenant))
        house.do(RegisterArtifact(DIGEST, ArtifactKind.OCI, "main", tenant))
        house.do(SetWebhook("hook", tenant, "https://hooks.example/in", secret_id="s"))


def add_instances(house: HttpHouse) -> None:
    """One of each tenant's project, with one member and one task of its operator."""
    web = {"web": EndpointSpec(role="worker", title="The page", port=8_080)}
    for tenant in (OWN, FOREIGN):
        house.do(PublishApp(service(endpoints=web).canonical, tenant))
        house.do(RegisterArtifact(SERVICE_DIGEST, ArtifactKind.OCI, "main", tenant))
        house.do(ChangeArtifact(SERVICE_DIGEST, tenant, trust=ArtifactTrust.VERIFIED))
        house.do(SetEntitlement(f"{tenant}.svc", True, tenant=tenant))
        own = {"tenant": tenant, "project": "p"}
        house.do(RequestInstance(**own, name="demo", app=f"{tenant}.svc", version="1.0.0"))
    for number, tenant in enumerate((OWN, FOREIGN), 1):
        of: dict[str, Any] = {"tenant": tenant, "project": "p", "instance_id": number}
        house.do(BeginOperation(**of, key="setup", title="restore"))
    for number, tenant in enumerate((OWN, FOREIGN), 1):
        of = {"tenant": tenant, "project": "p", "instance_id": number}
        add = {"action": MemberAction.ADD, "component_key": "worker-0", "role": "worker"}
        house.do(ChangeMember(**of, **add, key="setup"))


def _add_calls(book: CallBook) -> None:
    """One of each tenant's instance, that nobody took yet."""
    for number, tenant in enumerate((OWN, FOREIGN), 1):
        call = CallRow(
            call_id=number,
            place=CallPlace(tenant, "p", number),
            verb=CallVerb.READ,
            principal="setup",
            correlation_id="setup",
            question=CallQuestion(("list",)),
            asked_ms=1,
            expires_ms=INTEGER_MAX,
        )
        book.put(call)


def _execs(runner: Runner) -> ExecDesk:
    """A program that an admin of the fleet runs inside the other tenant's job."""
    desk = ExecDesk(runner)
    held = Exec(
        exec_id="0" * 32,
        opener="fleet_admin",
        key=None,
        tenant=FOREIGN,
        project="p",
        job_id=2,
        lease_id=2,
        node="n1",
        wish=ExecWish(("true",)),
        correlation_id="c",
        is_elsewhere=True,
    )
    desk.hold(held)
    return desk


def _add_jobs(book: JobBook) -> None:
    """One of each tenant, written down and no more: no loop runs here that would go on."""
    for tenant in (OWN, FOREIGN):
        request = {"resources": {"cpu_milli": 1000}, "priority": "normal", "ttl_ms": 1000}
        row = NewJobRow(
            tenant=tenant,
            project="p",
            name=None,
            submitter=person(Role.PROJECT_MEMBER, tenant),
            submitter_kind="human",
            submitter_keys=None,
            correlation_id="setup",
            key=None,
            digest="setup",
            request={"command": "submit", "tenant": tenant, "request": request},
            command=("true",),
            env={},
            cwd=None,
            tag=None,
            submitted_ms=1,
            since_seq=0,
        )
        book.insert(row, live_max=2)


def _add_graphs(book: GraphBook) -> None:
    """One of each tenant, over and done with: no loop runs here."""
    for tenant in (OWN, FOREIGN):
        new = NewGraphRow(
            tenant=tenant,
            project="p",
            name=None,
            submitter=person(Role.PROJECT_MEMBER, tenant),
            submitter_kind="human",
            submitter_keys=None,
            correlation_id="setup",
            key=None,
            digest="setup",
            document=GRAPH,
            executor=None,
            tasks=1,
            submitted_ms=1,
        )
        book.insert(new, live_max=10)


def price_list(**more: Any) -> dict[str, Any]:
    """The list prices, as they are set over the API."""
    body = card_body(LIST_PRICES)
    return {name: value for name, value in body.items() if name != "card"} | more


def _add_money(house: HttpHouse, book: InvoiceBook) -> None:
    """A budget that nobody will ever spend, and an invoice, of each tenant."""
    for tenant in (OWN, FOREIGN):
        for project in (None, "p"):
            house.do(SetBudget(Budget(tenant, project, limit_micros=10**15)))
        account = Account(tenant, "p", None, LeaseClass.STANDARD, None)
        use = Use(account, ResourceKind.CPU_MILLI, 0, 1, 1_000, 1, 0, 0)
        head = InvoiceHead(
            invoice_id=INVOICE[tenant],
            tenant=tenant,
            from_ms=0,
            to_ms=1,
            currency=LIST_PRICES.currency,
            journal_size=1,
        )
        invoice = Invoice(head, rate([use], RateBook()))
        digest, body = digest_of(invoice), canonical_bytes(invoice)
        book.put(InvoiceRow(INVOICE[tenant], digest, tenant, None, body))
        house.do(
            IssueInvoice(
                invoice=INVOICE[tenant],
                tenant=tenant,
                period_start_ms=0,
                period_end_ms=1,
                journal_size=1,
                total_micros=invoice.total_micros,
                currency=head.currency,
                digest=digest,
            )
        )


def drop_budgets(house: HttpHouse, tenant: str = OWN) -> None:
    """Take a tenant's budgets away: who has one asks no cells."""
    for project in (None, "p"):
        house.do(RemoveBudget(tenant, project))


def _furnish(house: HttpHouse) -> None:
    for tenant in (OWN, FOREIGN):
        house.do(cmd.CreateTenant(tenant))
        house.do(cmd.CreateProject(tenant, "p"), correlation_id=f"trace-{tenant}")
        house.do(cmd.CreateAccount(f"bot-{tenant}", tenant))
    for role in Role:
        for tenant in (OWN,) if role.level is ScopeLevel.FLEET else (OWN, FOREIGN):
            scope = scope_of(role, tenant)
            house.do(cmd.SetMember(person(role, tenant), role, scope.tenant, scope.project))
    house.plain(
        "register_node",
        node="n1",
        inventory={"resources": {"cpu_milli": 64_000, "mem_bytes": 2**36}},
    )
    house.do(EnrolNode("n1", EvidenceKind.ED25519, {"public_key": "11" * 32}, "22" * 32))
    for cores in (1_000, 63_000):  # the first run, the second wait
        for tenant in (OWN, FOREIGN):
            house.plain(
                "submit",
                tenant=tenant,
                project="p",
                request={
                    "resources": {"cpu_milli": cores},
                    "priority": "normal",
                    "lease_class": "standard",
                    "ttl_ms": 5 * 10**8,
                },
            )
