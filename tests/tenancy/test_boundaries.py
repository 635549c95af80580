"""No action reaches a scope that is not its caller's: one test for each, made from the list."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bailiwick.iam import Permission, Role, ScopeLevel
from bailiwick.wire.actions.action import Where
from bailiwick.wire.actions.table import ACTIONS
from tests.contract.test_operating import as_node
from tests.support.http_actions import aim, names, token_id_of
from tests.support.http_house import FOREIGN, OWN, HttpHouse, add_instances, http_house, person
from tests.support.shared_runtimes import add_runtimes

NOWHERE = "no-such-tenant"
OWN_PEOPLE = [person(role) for role in Role if role.level is not ScopeLevel.FLEET]
KEYLESS = (Where.SELF, Where.EVERYBODY)
NOT_AIMED = (Where.FLEET, Where.ROWS, *KEYLESS)
AIMED = [n for n, a in ACTIONS.items() if a.where not in NOT_AIMED]
CHANGING = [name for name, action in ACTIONS.items() if action.changes]


class World:
    """A house, everybody's token, and a token of each tenant to be aimed at."""

    def __init__(self, house: HttpHouse) -> None:
        self.house = house
        people = [person(r, t) for r in Role for t in (OWN, FOREIGN)]
        self.tokens = {name: house.token(name) for name in people}
        add_instances(house)
        add_runtimes(house)
        self.revisions = {
            each.instance.tenant: each.instance.revision
            for each in house.runner.read(lambda view: [*view.state.apps.instances.held.values()])
        }
        self.token_ids = {}
        for tenant in (OWN, FOREIGN):
            token = house.token(person(Role.PROJECT_ADMIN, tenant))
            self.token_ids[tenant] = token_id_of(house, token)

    def ask(self, token: str | None, name: str, *, tenant: str, dry: bool = False) -> Any:
        """The action, aimed at the tenant's things."""
        action = ACTIONS[name]
        path, body = aim(action, tenant, token_id=self.token_ids.get(tenant, "none"))
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        if name == "instance.report":
            headers["If-Match"] = f'"{self.revisions.get(tenant, 1)}"'
        if dry and action.changes:
            path += ("&" if "?" in path else "?") + "dry_run=true"
        return self.house.client.request(action.method, path, json=body, headers=headers)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder: Path = tmp_path_factory.mktemp("tenancy")
    with http_house(folder) as house:
        yield World(house)


def told(response: Any) -> Any:
    """What an error says, but for whose it is."""
    return {k: v for k, v in response.json().items() if k not in ("correlation_id", "trace_id")}


@pytest.mark.parametrize("name", names())
def test_the_aim_is_good_for_whoever_has_the_key_there(world: World, name: str) -> None:
    # An admin has every key but the one to speak for nodes.
    key = ACTIONS[name].permission
    who = "fleet_operator" if key is Permission.NODE_REPORT else "fleet_admin"
    token = world.tokens[who]
    own = ("node.work", "node.observe", "node.output")
    if name in own or name.startswith("node.exec"):  # for the node itself alone
        assert world.ask(token, name, tenant=FOREIGN).status_code == 403
        token = as_node(world.house, "n1")["Authorization"].removeprefix("Bearer ")
    response = world.ask(token, name, tenant=FOREIGN, dry=True)
    if name == "artifact.pull":  # for nobody without a credential, whatever his role
        assert response.json()["details"]["reason"] == "pull_unknown_credential"
        return
    if name in ("instance_usage.report", "instance_call.take", "instance_call.answer"):
        # For no person: a service account of the project does it.
        assert response.json()["details"]["reason"] == "needs_service_account"
        return
    if name == "shared_use.report":  # for no person either: the runtime's operator tells it
        assert response.json()["details"]["reason"] == "needs_runtime_operator"
        return
    if name in ("session.read", "session.renew"):  # for a browser alone, by its cookie
        assert response.status_code == 401
        return
    if name == "session.end":  # of one's own tokens, which the aim is none of
        assert response.status_code == 404
        return
    if name in (
        *("node_note.end", "node.mig_cancel", "node.mig_report"),
        "node.test_report",
    ):  # there is none there
        assert response.status_code == 404
        return
    own_word = ("shared_attachment.accept", "submit_policy.set")
    if name in own_word or name.startswith("shared_queue."):  # for the project's own people
        assert response.json()["details"]["reason"] == "needs_own_role"
        return
    assert response.status_code in (200, 201, 409), response.text
    if response.status_code == 409:
        rest = ("node.lift", "lease.clear_fence", "lease.teardown", "rates.withdraw")
        # Nobody was invited, and nobody is a stranger there.
        rest += ("invitation.accept", "invitation.decline", "invitation.leave")
        rest += ("node.open",)  # it is open already
        rest += ("node.mig",)  # it has no GPU
        rest += ("node.test",)  # its agent has not said that it can
        rest += ("isolation.scrub",)  # nothing was left behind
        rest += ("graph.retry",)  # only one that is over can be tried again
        rest += ("job.exec",)  # only one that runs can be entered
        rest += ("graph.report",)  # only a job of its own submitter can say what it made
        rest += ("instance.force_delete",)  # only one whose deletion is overdue
        rest += ("instance_queue.submit", "instance_queue.read")  # only one that is up is asked
        rest += ("instance_queue.cancel",)
        # Only what a member that is ready serves is opened.
        rest += ("instance_endpoint.get", "instance_endpoint.post", "instance_endpoint.put")
        rest += ("instance_endpoint.patch", "instance_endpoint.delete")
        rest += ("shared_attachment.allow",)  # it is attached already
        rest += ("shared_attachment.finish",)  # only of one that is being detached
        rest += ("tenant_quota.rebalance", "project_quota.rebalance")  # nobody is above his
        rest += ("global_request.ask",)  # who has a budget here asks no cells
        rest += ("notice.rotate",)  # nobody here has a webhook of his own
        rest += ("shared_settlement.set",)  # nothing was settled, and nothing is to be
        rest += ("app_version.check",)  # only what the journal tells too is sealed
        # No policy names the node, so nothing is asked of it, and nothing is taken.
        rest += ("node.enrol", "node.prove", "node.nonce", "node.attest")
        assert name in rest, response.text


def test_who_needs_no_key_asks_about_himself_alone(world: World) -> None:
    keyless = {name for name, action in ACTIONS.items() if action.permission is None}
    public = {"capability.keys", "capability.revocations"}
    own = {"self.read", "self.may", "self.log_out", "self.watch", "artifact.pull"}
    own |= {"notice.read", "notice.set", "notice.verify", "notice.test"}
    own |= {"notice.rotate"}
    own |= {"inbox.list", "inbox.read"}
    own |= {"session.read", "session.renew", "session.list", "session.end"}
    own |= {"invitation.list", "invitation.accept", "invitation.decline", "invitation.leave"}
    assert keyless == own | public
    assert {ACTIONS[name].where for name in keyless - public} == {Where.SELF}
    assert {ACTIONS[name].where for name in public} == {Where.EVERYBODY}
    told_to = [
        world.ask(world.tokens[who], "self.read", tenant=OWN).json()["principal"]
        for who in OWN_PEOPLE
    ]
    assert told_to == OWN_PEOPLE


@pytest.mark.parametrize("who", OWN_PEOPLE)
@pytest.mark.parametrize("name", AIMED)
def test_a_foreign_scope_is_as_if_it_were_not_there(world: World, name: str, who: str) -> None:
    token = world.tokens[who]
    foreign = world.ask(token, name, tenant=FOREIGN)
    assert foreign.status_code in (403, 404), foreign.text
    assert FOREIGN not in foreign.text
    if foreign.status_code == 403:  # it has that key nowhere at all, which tells nothing
        assert foreign.json()["details"]["scope"] == "fleet"
    assert told(foreign) == told(world.ask(token, name, tenant=NOWHERE))


@pytest.mark.parametrize("who", OWN_PEOPLE)
@pytest.mark.parametrize("name", [n for n, a in ACTIONS.items() if a.where is Where.FLEET])
def test_nobody_of_a_tenant_acts_on_the_fleet(world: World, name: str, who: str) -> None:
    response = world.ask(world.tokens[who], name, tenant=OWN)
    assert response.status_code == 403
    assert response.json()["details"]["permission"] == ACTIONS[name].permission


@pytest.mark.parametrize("who", OWN_PEOPLE)
@pytest.mark.parametrize("name", [n for n, a in ACTIONS.items() if a.where is Where.ROWS])
def test_a_list_has_no_row_of_another(world: World, name: str, who: str) -> None:
    response = world.ask(world.tokens[who], name, tenant=OWN)
    assert response.status_code in (200, 403)
    assert FOREIGN not in response.text


@pytest.mark.parametrize("name", names())
def test_without_a_token_nothing_is_answered(world: World, name: str) -> None:
    response = world.ask(None, name, tenant=OWN)
    assert response.status_code == 401
    assert response.json()["code"] == "unauthenticated"


@pytest.mark.parametrize("name", names())
def test_a_bad_token_opens_nothing(world: World, name: str) -> None:
    token = world.tokens["fleet_admin"]
    for bad in ("x", token[:-4] + "AAAA", "a.b.c"):
        assert world.ask(bad, name, tenant=OWN).status_code == 401


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("name", names())
def test_a_role_without_the_key_is_refused_at_home(world: World, name: str, role: Role) -> None:
    if ACTIONS[name].where in KEYLESS or ACTIONS[name].permission in role.permissions:
        return
    response = world.ask(world.tokens[person(role)], name, tenant=OWN)
    assert response.status_code in (403, 404), response.text


@pytest.mark.parametrize("name", CHANGING)
def test_a_dry_run_changes_nothing(world: World, name: str) -> None:
    def state(view: Any) -> Any:
        from bailiwick.kernel.snapshot import encode

        return view.state.size, encode(view.state)

    runner = world.house.runner
    before = runner.read(state)
    world.ask(world.tokens["fleet_admin"], name, tenant=OWN, dry=True)
    after = runner.read(state)
    if before[0] == after[0]:  # a tick or checkpoint may have come between
        assert before == after


def test_only_refusals_were_sealed_by_strangers(world: World) -> None:
    before = len(world.house.records("access_refused"))
    token = world.house.token("stranger")
    for name in AIMED:
        assert world.ask(token, name, tenant=OWN).status_code in (403, 404)
    sealed = world.house.records("access_refused")[before:]
    assert 1 <= len(sealed) <= 12  # bounded for each source
    assert {row["principal"] for row in sealed} == {"stranger"}


def may_do(world: World, who: str, scope: str) -> list[str]:
    """What somebody is told that he may do there."""
    query = "&".join(
        f"{k}={v}" for k, v in zip(("tenant", "project"), scope.split("/"), strict=False)
    )
    headers = {"Authorization": f"Bearer {world.tokens[who]}"}
    found = world.house.client.get(f"/v1/may?{query if scope else ''}", headers=headers)
    return list(found.json()["actions"])


@pytest.mark.parametrize("name", [n for n, a in ACTIONS.items() if a.permission is not None])
def test_what_one_is_told_that_one_may_do_is_what_is_not_refused(world: World, name: str) -> None:
    for who in OWN_PEOPLE:
        if name == "invoice.draft" and who.startswith("project"):
            continue  # of his own project, which he names in the query; the aim names none
        response = world.ask(world.tokens[who], name, tenant=OWN, dry=True)
        problem = response.json() if response.status_code == 403 else {}
        if "is needed at" in problem.get("message", ""):
            scope = problem["details"]["scope"].replace("fleet", "")
            assert name not in may_do(world, who, scope), who
        else:
            assert any(name in may_do(world, who, at) for at in (f"{OWN}/p", OWN, "")), who


def test_of_what_is_anothers_one_may_do_what_one_may_where_nothing_is(world: World) -> None:
    for who in OWN_PEOPLE:
        found = [may_do(world, who, tenant) for tenant in (FOREIGN, NOWHERE)]
        assert found[0] == found[1]
        assert {ACTIONS[name].permission for name in found[0]} == {None}
