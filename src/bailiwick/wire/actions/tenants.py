"""Tenants and projects, who has which role there, and their quotas."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, PROJECT, TENANT, Action, Where
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.fleet import NewShare, Quota, QuotaState, Rebalance, ShareState
from bailiwick.wire.foreseen import QuotaRebalanced, QuotaSet
from bailiwick.wire.people import (
    CustomRole,
    HomeChange,
    Invitation,
    InvitedTo,
    Member,
    MemberChange,
    MemberSet,
    NewProject,
    NewTenant,
    Project,
    RoleChange,
    RoleName,
    ScopeChange,
    Tenant,
)

_P, _W = Permission, Where

# fmt: off
TENANT_LIST = Action(
    "tenant.list", "List tenants", "GET", "/v1/tenants",
    _P.TENANT_READ, _W.ROWS, NOTHING, Page[Tenant])
TENANT_CREATE = Action(
    "tenant.create", "Create a tenant", "POST", "/v1/tenants",
    _P.TENANT_MANAGE, _W.FLEET, NewTenant, Done)
TENANT_READ = Action(
    "tenant.read", "Read a tenant", "GET", TENANT,
    _P.TENANT_READ, _W.TENANT, NOTHING, Tenant)
TENANT_CHANGE = Action(
    "tenant.change", "Rename, close or open a tenant", "PATCH", TENANT,
    _P.TENANT_MANAGE, _W.TENANT, ScopeChange, Done)
PROJECT_LIST = Action(
    "project.list", "List a tenant's projects", "GET", TENANT + "/projects",
    _P.TENANT_READ, _W.TENANT_ROWS, NOTHING, Page[Project])
PROJECT_CREATE = Action(
    "project.create", "Create a project", "POST", TENANT + "/projects",
    _P.PROJECT_MANAGE, _W.TENANT, NewProject, Done)
PROJECT_READ = Action(
    "project.read", "Read a project", "GET", PROJECT,
    _P.TENANT_READ, _W.PROJECT, NOTHING, Project)
PROJECT_CHANGE = Action(
    "project.change", "Rename, close or open a project", "PATCH", PROJECT,
    _P.PROJECT_MANAGE, _W.PROJECT, ScopeChange, Done)
FLEET_MEMBER_LIST = Action(
    "fleet_member.list", "List roles over the fleet", "GET", "/v1/members",
    _P.MEMBER_READ, _W.FLEET, NOTHING, Page[Member])
FLEET_MEMBER_SET = Action(
    "fleet_member.set", "Set a role over the fleet", "PUT", "/v1/members",
    _P.MEMBER_MANAGE, _W.FLEET, MemberChange, MemberSet)
TENANT_MEMBER_LIST = Action(
    "tenant_member.list", "List roles at a tenant", "GET", TENANT + "/members",
    _P.MEMBER_READ, _W.TENANT, NOTHING, Page[Member])
TENANT_MEMBER_SET = Action(
    "tenant_member.set", "Set a role at a tenant", "PUT", TENANT + "/members",
    _P.MEMBER_MANAGE, _W.TENANT, MemberChange, MemberSet)
PROJECT_MEMBER_LIST = Action(
    "project_member.list", "List roles at a project", "GET", PROJECT + "/members",
    _P.MEMBER_READ, _W.PROJECT, NOTHING, Page[Member])
PROJECT_MEMBER_SET = Action(
    "project_member.set", "Set a role at a project", "PUT", PROJECT + "/members",
    _P.MEMBER_MANAGE, _W.PROJECT, MemberChange, MemberSet)
INVITATION_LIST = Action(
    "invitation.list", "List roles that you may accept", "GET", "/v1/invitations",
    None, _W.SELF, NOTHING, Page[Invitation])
INVITATION_ACCEPT = Action(
    "invitation.accept", "Accept a role", "POST", "/v1/invitations/accept",
    None, _W.SELF, InvitedTo, Done)
INVITATION_DECLINE = Action(
    "invitation.decline", "Decline a role", "POST", "/v1/invitations/decline",
    None, _W.SELF, InvitedTo, Done)
INVITATION_LEAVE = Action(
    "invitation.leave", "Give up a role elsewhere", "POST", "/v1/invitations/leave",
    None, _W.SELF, InvitedTo, Done)
PRINCIPAL_HOME = Action(
    "principal.home", "Write down where somebody is at home", "PUT", "/v1/principals/home",
    _P.MEMBER_MANAGE, _W.FLEET, HomeChange, Done)
ROLE_LIST = Action(
    "role.list", "List roles and their keys", "GET", "/v1/roles",
    _P.MEMBER_READ, _W.ROWS, NOTHING, Page[CustomRole])
ROLE_SET = Action(
    "role.set", "Put a role together", "PUT", "/v1/roles",
    _P.ROLE_MANAGE, _W.BODY, RoleChange, Done)
ROLE_DELETE = Action(
    "role.delete", "Delete a role that nobody has", "POST", "/v1/roles/delete",
    _P.ROLE_MANAGE, _W.BODY, RoleName, Done)
QUOTA_LIST = Action(
    "quota.list", "List quotas and how they stand", "GET", "/v1/quotas",
    _P.QUOTA_READ, _W.ROWS, NOTHING, Page[QuotaState])
SHARE_LIST = Action(
    "share.list", "List fair shares and how they stand", "GET", "/v1/shares",
    _P.QUOTA_READ, _W.ROWS, NOTHING, Page[ShareState])
TENANT_SHARE_READ = Action(
    "tenant_share.read", "Read a tenant's fair share", "GET", TENANT + "/share",
    _P.QUOTA_READ, _W.TENANT, NOTHING, ShareState)
TENANT_SHARE_SET = Action(
    "tenant_share.set", "Set a tenant's fair share", "PUT", TENANT + "/share",
    _P.QUOTA_SET, _W.TENANT, NewShare, Done)
PROJECT_SHARE_READ = Action(
    "project_share.read", "Read a project's fair share", "GET", PROJECT + "/share",
    _P.QUOTA_READ, _W.PROJECT, NOTHING, ShareState)
PROJECT_SHARE_SET = Action(
    "project_share.set", "Set a project's fair share", "PUT", PROJECT + "/share",
    _P.PROJECT_QUOTA_SET, _W.PROJECT, NewShare, Done)
TENANT_QUOTA_READ = Action(
    "tenant_quota.read", "Read a tenant's quota", "GET", TENANT + "/quota",
    _P.QUOTA_READ, _W.TENANT, NOTHING, QuotaState)
TENANT_QUOTA_SET = Action(
    "tenant_quota.set", "Set a tenant's quota", "PUT", TENANT + "/quota",
    _P.QUOTA_SET, _W.TENANT, Quota, QuotaSet)
PROJECT_QUOTA_READ = Action(
    "project_quota.read", "Read a project's quota", "GET", PROJECT + "/quota",
    _P.QUOTA_READ, _W.PROJECT, NOTHING, QuotaState)
PROJECT_QUOTA_SET = Action(
    "project_quota.set", "Set a project's quota", "PUT", PROJECT + "/quota",
    _P.PROJECT_QUOTA_SET, _W.PROJECT, Quota, QuotaSet)
TENANT_QUOTA_REBALANCE = Action(
    "tenant_quota.rebalance", "Bring a tenant back inside its quota", "POST",
    TENANT + "/quota/rebalance", _P.QUOTA_SET, _W.TENANT, Rebalance, QuotaRebalanced)
PROJECT_QUOTA_REBALANCE = Action(
    "project_quota.rebalance", "Bring a project back inside its quota", "POST",
    PROJECT + "/quota/rebalance", _P.PROJECT_QUOTA_SET, _W.PROJECT, Rebalance, QuotaRebalanced)
# fmt: on
