"""Commands and events about principals and their rights, for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from bailiwick.iam import KEYS_OF, GivenBy, Permission, PrincipalKind, Role, Scope, ScopeLevel
from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.journal.words import OfferOutcome
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.people import commands as cmd
from bailiwick.kernel.people import credential_commands as cc
from bailiwick.kernel.people import credential_events as ce
from bailiwick.kernel.people import events as ev
from bailiwick.kernel.people import home_commands as hc
from bailiwick.kernel.people import home_events as he
from tests.unit.journal.makers import hashes, names, principals

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
scopes = st.one_of(st.just(Owner()), names.map(Owner), st.builds(Owner, names, names))
tenants = names.map(Owner)
projects = st.builds(Owner, names, names)
roles = st.sampled_from(list(Role))
own_roles = st.sampled_from(["triage", "reader", "r-3"])
ordered = st.sets(st.sampled_from(list(Permission)), max_size=4).map(
    lambda found: tuple(key for key in Permission if key in found)
)
kinds = st.sampled_from(list(PrincipalKind))
permissions = st.sampled_from(list(Permission))
some_keys = st.none() | st.lists(permissions, max_size=3).map(tuple)
later = st.integers(1, INTEGER_MAX)
revisions = st.none() | later
changes = st.sampled_from([("display_name", "a", "b"), ("is_open", "yes", "no")])
conditions = st.dictionaries(
    st.sampled_from(["sub", "ref", "kubernetes.io/name"]),
    st.sampled_from(["a", "repo:acme/*", "*b*c"]),
    min_size=1,
).map(lambda found: tuple(f"{claim}={pattern}" for claim, pattern in found.items()))
issuers = st.sampled_from(["https://ci.example", "https://git.example/jobs"])
claimed = st.tuples(st.none(), names, issuers, texts, hashes)
by_key = names.map(lambda key_id: (key_id, None, None, None, None))
"""What a token of an account is given for: another's word, or a key."""
reasons = st.text("abc", min_size=20, max_size=40)


bounds = st.none() | st.lists(
    names | st.builds(lambda t, p: f"{t}/{p}", names, names), max_size=3
).map(tuple)
"""The only scopes in which a token counts."""


@st.composite
def members(draw: st.DrawFn) -> cmd.SetMember:
    """A role at its own level, or none at any."""
    scope = draw(scopes)
    level = [ScopeLevel.FLEET, ScopeLevel.TENANT, ScopeLevel.PROJECT][sum(map(bool, scope))]
    fitting = [role for role in Role if role.level is level]
    if draw(st.booleans()):
        tenant, project = scope
        given = draw(st.none() | st.sampled_from(list(GivenBy)))
        return cmd.SetMember(draw(principals), None, tenant, project, draw(own_roles), given)
    return cmd.SetMember(draw(principals), draw(st.none() | st.sampled_from(fitting)), *scope)


@st.composite
def groups(draw: st.DrawFn) -> cmd.ApplyGroups:
    """What somebody's groups at a provider give him, in some places."""
    provider, who = draw(names), draw(names)
    places = draw(st.lists(scopes, unique=True, max_size=3))
    told = tuple(f"{Scope(*place)}={draw(own_roles)}" for place in places)
    return cmd.ApplyGroups(f"{provider}:{who}", provider, told)


@st.composite
def role_sets(draw: st.DrawFn) -> cmd.SetRole:
    """A role of somebody's own, of keys that may be in it."""
    tenant = draw(st.none() | names)
    levels = [each for each in ScopeLevel if tenant is None or each is not ScopeLevel.FLEET]
    level = draw(st.sampled_from(levels))
    keys = draw(st.sets(st.sampled_from(sorted(KEYS_OF[level])), min_size=1, max_size=4))
    return cmd.SetRole(draw(own_roles), level, tuple(keys), tenant, draw(revisions))


EVENTS: dict[type[Any], st.SearchStrategy[Any]] = {
    ev.TenantCreated: st.builds(ev.TenantCreated, tenants, texts),
    ev.ProjectCreated: st.builds(ev.ProjectCreated, projects, texts),
    ev.TenantChanged: st.builds(lambda o, c: ev.TenantChanged(o, *c), tenants, changes),
    ev.ProjectChanged: st.builds(lambda o, c: ev.ProjectChanged(o, *c), projects, changes),
    ev.MemberChanged: st.builds(
        ev.MemberChanged,
        scopes,
        principals,
        st.none() | roles | own_roles,
        st.none() | roles | own_roles,
    ),
    ev.RoleSet: st.builds(
        ev.RoleSet,
        st.just(Owner()) | tenants,
        own_roles,
        st.sampled_from(list(ScopeLevel)),
        later,
        ordered,
        ordered,
    ),
    ev.ServiceAccountCreated: st.builds(ev.ServiceAccountCreated, scopes, names),
    ev.ServiceAccountChanged: st.builds(ev.ServiceAccountChanged, scopes, names, st.booleans()),
    ev.AccessTokenIssued: st.builds(
        ev.AccessTokenIssued,
        names,
        principals,
        kinds,
        hashes,
        later,
        st.booleans(),
        some_keys,
        bounds,
        st.none() | st.integers(0, 9),
    ),
    ev.AccessTokenRevoked: st.builds(ev.AccessTokenRevoked, names),
    ev.AccessRefused: st.builds(
        ev.AccessRefused, scopes, names, st.none() | principals, st.none() | permissions
    ),
    ce.AccountTrustSet: st.builds(
        ce.AccountTrustSet, scopes, names, names, issuers, issuers, conditions, some_keys
    ),
    ce.AccountTrustDeleted: st.builds(ce.AccountTrustDeleted, scopes, names, names),
    ce.AccountKeyAdded: st.builds(
        ce.AccountKeyAdded, scopes, names, names, hashes, later, some_keys
    ),
    ce.AccountKeyEnded: st.builds(ce.AccountKeyEnded, scopes, names, names, later),
    ce.AccountTokenGranted: st.builds(
        lambda owner, account, token_id, until, shown: ce.AccountTokenGranted(
            owner, account, token_id, until, *shown
        ),
        scopes,
        names,
        names,
        later,
        claimed | by_key,
    ),
    he.RoleOffered: st.builds(he.RoleOffered, tenants | projects, principals, own_roles, later),
    he.RoleOfferEnded: st.builds(
        he.RoleOfferEnded,
        tenants | projects,
        principals,
        own_roles,
        st.sampled_from(list(OfferOutcome)),
    ),
    he.PrincipalHomed: st.builds(he.PrincipalHomed, st.just(Owner()) | tenants, principals),
    ev.GlassBroken: st.builds(
        ev.GlassBroken, st.just(Owner()) | tenants, names, principals, texts, st.none() | later
    ),
}
COMMANDS: dict[type[Any], st.SearchStrategy[Any]] = {
    cmd.CreateTenant: st.builds(cmd.CreateTenant, names, texts),
    cmd.ChangeTenant: st.builds(
        cmd.ChangeTenant, names, texts, st.none() | st.booleans(), revisions
    ),
    cmd.CreateProject: st.builds(cmd.CreateProject, names, names, texts),
    cmd.ChangeProject: st.builds(
        cmd.ChangeProject, names, names, texts, st.none() | st.booleans(), revisions
    ),
    cmd.SetMember: members(),
    cmd.ApplyGroups: groups(),
    cmd.SetRole: role_sets(),
    cmd.DeleteRole: st.builds(cmd.DeleteRole, own_roles, st.none() | names, revisions),
    cmd.CreateAccount: st.builds(lambda n, s: cmd.CreateAccount(n, *s), names, scopes),
    cmd.ChangeAccount: st.builds(cmd.ChangeAccount, names, st.booleans()),
    cmd.IssueToken: st.builds(
        cmd.IssueToken,
        names,
        principals,
        kinds,
        hashes,
        later,
        st.booleans(),
        some_keys,
        st.none() | names,
        bounds,
        st.none() | st.integers(0, 9),
    ),
    cmd.RevokeToken: st.builds(cmd.RevokeToken, names),
    cmd.NoteRefusal: st.builds(
        lambda r, p, k, s: cmd.NoteRefusal(r, p, k, *s),
        names,
        st.none() | principals,
        st.none() | permissions,
        scopes,
    ),
    cc.SetAccountTrust: st.builds(
        cc.SetAccountTrust, names, names, issuers, issuers, conditions, some_keys
    ),
    cc.DeleteAccountTrust: st.builds(cc.DeleteAccountTrust, names, names),
    cc.AddAccountKey: st.builds(
        cc.AddAccountKey,
        names,
        names,
        hashes,
        st.integers(1, 9),
        st.none() | st.integers(0, 9),
        some_keys,
    ),
    cc.DeleteAccountKey: st.builds(cc.DeleteAccountKey, names, names),
    cc.GrantAccountToken: st.builds(
        lambda token_id, account, digest, until, shown: cc.GrantAccountToken(
            token_id, account, digest, until, *shown
        ),
        names,
        names,
        hashes,
        later,
        claimed | by_key,
    ),
    hc.OfferRole: st.builds(
        hc.OfferRole, principals, own_roles, names, st.integers(1, 9), st.none() | names
    ),
    hc.EndOffer: st.builds(
        hc.EndOffer, principals, st.sampled_from(list(OfferOutcome)), names, st.none() | names
    ),
    hc.SetHome: st.builds(hc.SetHome, principals, st.none() | names),
    cmd.BreakGlass: st.builds(
        cmd.BreakGlass, names, principals, reasons, st.none() | names, revisions
    ),
}
