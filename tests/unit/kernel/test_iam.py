"""Who exists and who may do what goes through the kernel like everything else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bailiwick import BailiwickError, Conflict, InvalidValue, NotFound, Stale
from bailiwick.iam import FLEET, Permission, PrincipalKind, Role, Scope
from bailiwick.journal import parse_record
from bailiwick.kernel import (
    Command,
    Done,
    Envelope,
    Kernel,
    decode,
    decode_command,
    digest_of,
    encode,
    encode_command,
)
from bailiwick.kernel.people.commands import (
    ApplyGroups,
    BreakGlass,
    ChangeAccount,
    ChangeProject,
    ChangeTenant,
    CreateAccount,
    CreateProject,
    CreateTenant,
    IssueToken,
    NoteRefusal,
    RevokeToken,
    SetMember,
)

DIGEST = "ab" * 32
TOKEN = IssueToken("t-1", "alice@lab", PrincipalKind.HUMAN, DIGEST, 1_000_000)
FOUNDING: tuple[Command, ...] = (
    CreateTenant("lab", "The Lab"),
    CreateProject("lab", "vision"),
    SetMember("alice@lab", Role.TENANT_ADMIN, "lab"),
    SetMember("alice@lab", Role.PROJECT_MEMBER, "lab", "vision"),
    SetMember("root", Role.FLEET_ADMIN),
    CreateAccount("ci", "lab", "vision"),
    TOKEN,
    replace(TOKEN, token_id="t-2", single_use=True, keys=(Permission.QUEUE_READ,)),
)
LATER: tuple[Command, ...] = (
    ChangeTenant("lab", display_name="Das Labor", is_open=False),
    ChangeTenant("lab", is_open=True),
    ChangeProject("lab", "vision", is_open=False),
    SetMember("alice@lab", Role.TENANT_AUDITOR, "lab"),
    SetMember("alice@lab", None, "lab", "vision"),
    ChangeAccount("ci", is_enabled=False),
    RevokeToken("t-1"),
    NoteRefusal("bad_token", "mallory", Permission.QUEUE_SUBMIT, "lab"),
    NoteRefusal("no_token"),
    BreakGlass("read_tenant", "tenant/lab", "incident 7 of today, asked for by the lab"),
    BreakGlass("session", "t-4", "incident 8 of today, nobody of the lab is there", "lab", 9_000),
    replace(TOKEN, token_id="t-4", spends="t-2"),
)


class Bureau:
    """A kernel, its lines, and a clock that stands at 1,000."""

    def __init__(self, *commands: Command) -> None:
        self.kernel = Kernel(simulated=True)
        self.lines: list[bytes] = []
        for command in commands:
            self.do(command)

    def do(self, command: Command) -> object:
        outcome = self.kernel.execute(Envelope(command, "root"), 1_000)
        self.lines += outcome.lines
        return outcome.answer


@pytest.mark.parametrize("command", [*FOUNDING, *LATER], ids=lambda c: type(c).__name__)
def test_every_command_is_spelled_and_read_back(command: Command) -> None:
    assert decode_command(encode_command(command)) == command


def test_the_directory_is_what_was_commanded() -> None:
    found = Bureau(*FOUNDING).kernel.state.directory
    assert found.tenant("lab").display_name == "The Lab"
    assert found.project("lab", "vision").is_open
    assert found.roles["alice@lab"] == {
        Scope("lab"): Role.TENANT_ADMIN,
        Scope("lab", "vision"): Role.PROJECT_MEMBER,
    }
    assert found.roles["root"] == {FLEET: Role.FLEET_ADMIN}
    assert found.account("ci").scope == Scope("lab", "vision")
    assert found.token("t-2").keys == (Permission.QUEUE_READ,)
    assert list(found.members(Scope("lab"))) == [("alice@lab", Role.TENANT_ADMIN)]


def test_changes_count_and_leave_revisions() -> None:
    found = Bureau(*FOUNDING, *LATER).kernel.state.directory
    assert (found.tenant("lab").display_name, found.tenant("lab").revision) == ("Das Labor", 4)
    assert not found.project("lab", "vision").is_open
    assert found.roles["alice@lab"] == {Scope("lab"): Role.TENANT_AUDITOR}
    assert not found.account("ci").is_enabled
    assert found.token("t-1").revoked
    assert found.token("t-2").revoked
    assert not found.token("t-4").revoked


def test_replay_and_snapshot_give_the_same_directory() -> None:
    bureau = Bureau(*FOUNDING, *LATER)
    state, again = bureau.kernel.state, Kernel()
    again.replay(parse_record(line[:-1]) for line in bureau.lines)
    assert digest_of(again.state) == digest_of(state)
    assert decode(encode(state), digest_of(state)).directory == state.directory
    assert again.state.directory == state.directory


def test_a_code_is_spent_with_the_token_that_it_was_given_for_or_not_at_all() -> None:
    bureau = Bureau(*FOUNDING)
    bureau.do(replace(TOKEN, token_id="t-4", spends="t-2"))
    told = [parse_record(line[:-1]) for line in bureau.lines[-2:]]
    assert [r.kind.value for r in told] == ["access_token_revoked", "access_token_issued"]
    with pytest.raises(Conflict):
        bureau.do(replace(TOKEN, token_id="t-5", spends="t-2"))
    assert "t-5" not in bureau.kernel.state.directory.tokens


def test_a_token_that_takes_the_place_of_another_ends_it_in_the_same_command() -> None:
    bureau = Bureau(*FOUNDING)
    bureau.do(replace(TOKEN, token_id="t-4", renews="t-1"))
    told = [parse_record(line[:-1]) for line in bureau.lines[-2:]]
    assert [r.kind.value for r in told] == ["access_token_revoked", "access_token_issued"]
    assert bureau.kernel.state.directory.token("t-1").revoked
    with pytest.raises(Conflict):  # of two pages that renew at once, one does
        bureau.do(replace(TOKEN, token_id="t-5", renews="t-1"))


def test_groups_give_roles_and_take_back_what_they_gave_and_nothing_else() -> None:
    bureau, ann = Bureau(*FOUNDING), "campus:ann"
    lab, vision = Scope("lab"), Scope("lab", "vision")

    def held() -> object:
        return bureau.kernel.state.directory.roles.get(ann, {})

    bureau.do(SetMember(ann, Role.PROJECT_VIEWER, "lab", "vision"))
    both = ("lab=tenant_auditor", "lab/vision=project_admin", "gone=tenant_admin")
    bureau.do(ApplyGroups(ann, "campus", both))
    # The hand's role stands; what is not there gives nothing.
    assert held() == {lab: Role.TENANT_AUDITOR, vision: Role.PROJECT_VIEWER}
    told = parse_record(bureau.lines[-1][:-1])
    assert (told.body["provider"], told.body["role"]) == ("campus", "tenant_auditor")
    with pytest.raises(Conflict):
        bureau.do(ApplyGroups(ann, "campus", both[:1]))
    bureau.do(ApplyGroups(ann, "campus", ("lab=tenant_admin",)))
    assert held() == {lab: Role.TENANT_ADMIN, vision: Role.PROJECT_VIEWER}
    state = bureau.kernel.state
    assert decode(encode(state), digest_of(state)).directory == state.directory
    bureau.do(ApplyGroups(ann, "campus"))
    assert held() == {vision: Role.PROJECT_VIEWER}
    assert bureau.kernel.state.directory.given == {}


def test_a_role_that_a_person_gave_again_by_hand_is_no_longer_the_groups_to_take() -> None:
    bureau, ann = Bureau(*FOUNDING), "campus:ann"
    bureau.do(ApplyGroups(ann, "campus", ("lab=tenant_auditor",)))
    bureau.do(SetMember(ann, Role.TENANT_ADMIN, "lab"))
    with pytest.raises(Conflict):
        bureau.do(ApplyGroups(ann, "campus"))
    assert bureau.kernel.state.directory.roles[ann] == {Scope("lab"): Role.TENANT_ADMIN}


@pytest.mark.parametrize(
    ("member", "roles"),
    [
        ("root", ()),
        ("other:ann", ()),
        ("campus:ann", ("lab=tenant_auditor", "lab=tenant_admin")),
        ("campus:ann", ("lab",)),
        ("campus:ann", ("=tenant_admin",)),
    ],
)
def test_a_provider_names_its_own_people_alone(member: str, roles: tuple[str, ...]) -> None:
    with pytest.raises(InvalidValue):
        ApplyGroups(member, "campus", roles)


def test_broken_glass_is_told_to_the_tenant_it_is_about() -> None:
    told = parse_record(Bureau(*FOUNDING, *LATER[:-1]).lines[-1][:-1])
    assert (told.tenant, told.body["expires_ms"]) == ("lab", 9_000)


def test_no_record_holds_a_token_and_every_refusal_is_one() -> None:
    bureau = Bureau(*FOUNDING, *LATER)
    kinds = [parse_record(line[:-1]).kind.value for line in bureau.lines]
    assert kinds.count("access_refused") == 2
    assert kinds.count("break_glass") == 2
    issued = next(line for line in bureau.lines if b"access_token_issued" in line)
    assert DIGEST.encode() in issued


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (CreateTenant("lab"), Conflict),
        (CreateProject("lab", "vision"), Conflict),
        (CreateProject("nobody", "x"), NotFound),
        (ChangeTenant("nobody", is_open=False), NotFound),
        (ChangeTenant("lab", is_open=True), Conflict),
        (ChangeTenant("lab", is_open=False, revision=9), Stale),
        (ChangeProject("lab", "sound", is_open=False), NotFound),
        (SetMember("bob", Role.TENANT_ADMIN, "nobody"), NotFound),
        (SetMember("bob", None, "lab"), Conflict),
        (SetMember("root", Role.FLEET_ADMIN), Conflict),
        (CreateAccount("ci"), Conflict),
        (ChangeAccount("ci", is_enabled=True), Conflict),
        (ChangeAccount("cd", is_enabled=True), NotFound),
        (TOKEN, Conflict),
        (replace(TOKEN, token_id="t-3", expires_ms=1_000), Conflict),
        (RevokeToken("t-9"), NotFound),
        (replace(TOKEN, token_id="t-3", spends="t-9"), NotFound),
        (replace(TOKEN, token_id="t-3", spends="t-1"), Conflict),
        (replace(TOKEN, token_id="t-3", principal="mallory", spends="t-2"), Conflict),
        (replace(TOKEN, token_id="t-3", renews="t-9"), NotFound),
        (replace(TOKEN, token_id="t-3", renews="t-2"), Conflict),
        (replace(TOKEN, token_id="t-3", principal="mallory", renews="t-1"), Conflict),
        (replace(TOKEN, token_id="t-3", keys=(Permission.QUEUE_READ,), renews="t-1"), Conflict),
        (replace(TOKEN, token_id="t-3", within=("lab",), renews="t-1"), Conflict),
        (replace(TOKEN, token_id="t-3", single_use=True, renews="t-1"), Conflict),
        (replace(TOKEN, token_id="t-3", spends="t-2", renews="t-1"), Conflict),
        (BreakGlass("session", "t-3", "a tenant that is not there", "nobody"), NotFound),
    ],
    ids=repr,
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    command: Command, error: type[BailiwickError]
) -> None:
    bureau = Bureau(*FOUNDING)
    before = digest_of(bureau.kernel.state)
    with pytest.raises(error):
        bureau.do(command)
    assert digest_of(bureau.kernel.state) == before
    assert isinstance(bureau.do(CreateTenant("other")), Done)


def test_a_role_is_given_at_its_own_level_and_a_justification_says_something() -> None:
    with pytest.raises(InvalidValue):
        SetMember("bob", Role.TENANT_ADMIN)
    with pytest.raises(InvalidValue):
        SetMember("bob", Role.FLEET_ADMIN, "lab")
    with pytest.raises(InvalidValue):
        BreakGlass("read", "x", "because")
    with pytest.raises(InvalidValue):
        ChangeTenant("lab")


def test_tokens_that_ran_out_are_forgotten_when_another_is_issued() -> None:
    bureau = Bureau(*FOUNDING)
    late = replace(TOKEN, token_id="t-3", expires_ms=3_000_000)
    bureau.kernel.execute(Envelope(late), 2_000_000)
    assert list(bureau.kernel.state.directory.tokens) == ["t-3"]
