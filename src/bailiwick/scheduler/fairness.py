"""Whose turn it is: shares, past usage that fades, and what waiting work will weigh.

Rules:

- Usage is counted in micro-GPU-seconds (milli-shares times milliseconds) and halves with every
  half-life: exactly over whole half-lives, by a table of roots of two in between.
- Everything is an integer, so every machine gets the same numbers. Reading changes nothing, and
  a sum is rounded only when it is read: how often it is read or charged makes no difference.
- ``normalised`` is usage as it would weigh if every share were ``SHARE_MAX``: the lower, the more
  is owed. A scope nobody gave a share has a share of 1.
- A tenant's usage is that of all its projects; inside the tenant, projects (and the work outside
  any project, with a share of 1) stand to each other as tenants do.
- Charges may come late and in any order. Usage cannot be read as of a time before the last charge.
- A place in a line follows from usage as of the last time it was refreshed
  (:meth:`FairShares.share_and_usage_in_line`): when it last changed by anything but time, or at the
  tenant's own moment in every ``refresh_ms``, whichever is later. So in between the order stays,
  and nobody who waits has to be weighed again only because time passes. Moments follow from names
  and are spread evenly. It is a function of charges and time: whoever reads, and whenever, gets the
  same. What people are told (:meth:`FairShares.standing`) is as of the time they ask.
- The order that follows from all this is that of :mod:`.backfill.lanes`.

>>> shares = FairShares(half_life_ms=1_000)
>>> shares.set_share("lab", 2)
>>> shares.charge("lab", 800, now_ms=0)
>>> [shares.usage("lab", now_ms) for now_ms in (0, 500, 1_000, 3_000)]
[800, 565, 400, 100]
>>> shares.standing("lab", 3_000).normalised // SHARE_MAX
50
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import Any, TypeAlias
from zlib import crc32

from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue, LimitReached
from bailiwick.vocab.values import SHARE_MAX, ProjectId, TenantId, check_amount, check_integer

SCOPES_MAX = 1_000_000
"""Tenants and projects whose usage or share is kept."""

CORES_PER_GPU = 16
"""How many cores weigh as much as one GPU when waiting work is interleaved."""

Scope: TypeAlias = tuple[str, ...]
"""(tenant,), or (tenant, project), or (tenant, "") for the tenant's work outside any project."""

REFRESH_MS = 600_000
"""How old the usage by which a tenant stands in a line becomes at most. Of the week in which usage
halves by default that is a thousandth: too little for anybody to notice, and with ten thousand
tenants in line there are some twenty to weigh again in a second instead of all at every look."""

REFRESHES = 100
"""How often usage is refreshed in a half-life at least, lest it fade by more than 1 % unseen."""

_ONE = 1 << 64
_STEPS = 32
_COARSE = 16
"""Of the steps, how many hardly change from one look to the next."""


def _roots() -> tuple[tuple[int, int], ...]:
    """2**(1/2), 2**(1/4), 2**(1/8)... in fixed point, each rounded down, and for which bit."""
    found: list[tuple[int, int]] = []
    root = 2 * _ONE
    for step in range(1, _STEPS + 1):
        root = isqrt(root * _ONE)
        found.append((1 << _STEPS - step, root))
    return tuple(found)


_ROOTS = _roots()
_COARSE_ROOTS, _FINE_ROOTS = _ROOTS[:_COARSE], _ROOTS[_COARSE:]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a tenant or project stands: what it is entitled to, and what it used of late."""

    tenant: TenantId
    share: int
    usage: int
    normalised: int
    project: ProjectId | None = None


@dataclass(slots=True)
class _Account:
    """Charges summed as of the start of one half-life, each grown from its own time to there.

    Growing a charge by the time into its half-life, instead of shrinking the sum with every look,
    is what keeps the sum exact: passing into a later half-life is a shift, and shifts compose.
    """

    total: int = 0
    period: int = 0
    charged_ms: int = 0


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """One request that waits; its id is never given to another."""

    id: int
    request: PlacementRequest
    submitted_ms: int


class FairShares:
    """Shares and fading usage of every tenant and project."""

    __slots__ = ("_accounts", "_coarse", "_shares", "_watchers", "half_life_ms")

    def __init__(self, half_life_ms: int) -> None:
        self.half_life_ms = check_integer("half_life_ms", half_life_ms, low=1, high=2**53)
        self._accounts: dict[Scope, _Account] = {}
        self._shares: dict[Scope, int] = {}
        self._coarse = (0, _ONE)
        """The coarse part of a half-life that was last asked for, and its growth."""
        self._watchers: list[set[str]] = []

    @property
    def refresh_ms(self) -> int:
        """How often the usage by which a tenant stands in a line is refreshed."""
        return max(min(REFRESH_MS, self.half_life_ms // REFRESHES), 1)

    def watch(self) -> set[str]:
        """A set that gets the tenants whose share or usage changes, for the caller to empty."""
        watched: set[str] = set()
        self._watchers.append(watched)
        return watched

    def refresh_offset_ms(self, tenant: str) -> int:
        """How far into every ``refresh_ms`` the tenant's own moment is."""
        return crc32(tenant.encode()) % self.refresh_ms

    def set_share(self, tenant: str, share: int, *, project: str | None = None) -> None:
        """Weigh the tenant among tenants, or the project among the tenant's projects."""
        scope = scope_of(tenant, project)
        check_integer("share", share, low=1, high=SHARE_MAX)
        if scope not in self._shares and len(self._shares) >= SCOPES_MAX:
            raise LimitReached("scopes with a share", SCOPES_MAX)
        self._shares[scope] = share
        self._tell_change(scope)

    def has_share(self, tenant: str, *, project: str | None = None) -> bool:
        """Whether the scope was given a share; else it is 1."""
        return scope_of(tenant, project) in self._shares

    def charge(self, tenant: str, amount: int, *, now_ms: int, project: str | None = None) -> None:
        """Add micro-GPU-seconds used up to that time, to the tenant and to its project."""
        outer = scope_of(tenant)
        inner = scope_of(tenant, project) if project is not None else (*outer, "")
        check_amount("amount", amount)
        check_amount("now_ms", now_ms)
        missing = sum(scope not in self._accounts for scope in (outer, inner))
        if len(self._accounts) + missing > SCOPES_MAX:
            raise LimitReached("scopes with usage", SCOPES_MAX)
        for scope in (outer, inner):
            self.add(scope, amount, now_ms=now_ms)

    def usage(self, tenant: str, now_ms: int, *, project: str | None = None) -> int:
        """What is left, at that time, of all that was charged."""
        check_amount("now_ms", now_ms)
        return self._usage(scope_of(tenant, project), now_ms)

    def standing(self, tenant: str, now_ms: int, *, project: str | None = None) -> Standing:
        """The share, the usage, and the one against the other."""
        scope = scope_of(tenant, project)
        share, usage = self.share_and_usage(scope, now_ms)
        return Standing(
            TenantId(tenant),
            share,
            usage,
            usage * SHARE_MAX // share,
            None if project is None else ProjectId(project),
        )

    def add(self, scope: Scope, amount: int, *, now_ms: int) -> None:
        """Charge one scope alone, whose number the caller bounds; see :meth:`charge`."""
        self._add(self._accounts.setdefault(scope, _Account()), amount, now_ms=now_ms)
        self._tell_change(scope)

    def dump(self) -> dict[str, list[list[object]]]:
        """Shares and charges as plain lists, in one order; sums are text, being large."""
        shares = sorted((list(scope), share) for scope, share in self._shares.items())
        accounts = sorted(
            (list(scope), str(a.total), a.period, a.charged_ms)
            for scope, a in self._accounts.items()
        )
        return {"shares": [list(s) for s in shares], "accounts": [list(a) for a in accounts]}

    def load(self, dumped: dict[str, list[list[Any]]]) -> None:
        """Take up what :meth:`dump` told; no line was read yet by what was there before."""
        self._shares = {tuple(scope): share for scope, share in dumped["shares"]}
        self._accounts = {
            tuple(scope): _Account(int(total), period, charged_ms)
            for scope, total, period, charged_ms in dumped["accounts"]
        }

    def share_and_usage(self, scope: Scope, now_ms: int) -> tuple[int, int]:
        """The scope's share and usage."""
        check_amount("now_ms", now_ms)
        return self._shares.get(scope, 1), self._usage(scope, now_ms)

    def share_and_usage_in_line(self, scope: Scope, now_ms: int) -> tuple[int, int]:
        """The scope's share, and its usage as it was last refreshed, for its place in a line."""
        round_ms = self.refresh_ms
        refreshed_ms = now_ms - (now_ms - crc32(scope[0].encode())) % round_ms
        as_of_ms = max(refreshed_ms, self._changed_ms(scope))
        return self._shares.get(scope, 1), self._usage(scope, as_of_ms)

    def _changed_ms(self, scope: Scope) -> int:
        """When usage last changed by anything but time; 0 if it never did."""
        account = self._accounts.get(scope)
        return 0 if account is None else account.charged_ms

    def _tell_change(self, scope: Scope) -> None:
        for watched in self._watchers:
            watched.add(scope[0])

    def _add(self, account: _Account, amount: int, *, now_ms: int) -> None:
        period, into = divmod(now_ms, self.half_life_ms)
        grown = amount * self._growth(into)
        if period >= account.period:
            account.total = (account.total >> period - account.period) + grown
            account.period = period
        else:
            account.total += grown >> account.period - period
        account.charged_ms = max(account.charged_ms, now_ms)

    def _usage(self, scope: Scope, now_ms: int) -> int:
        account = self._accounts.get(scope)
        if account is None:
            return 0
        if now_ms < account.charged_ms:
            raise InvalidValue("now_ms", now_ms, f"{account.charged_ms} or later, the last charge")
        period, into = divmod(now_ms, self.half_life_ms)
        return (account.total >> period - account.period) // self._growth(into)

    def _growth(self, into_ms: int) -> int:
        """2**(part of a half-life) in fixed point; from 1 to below 2, never falling."""
        part = (into_ms << _STEPS) // self.half_life_ms
        known, grown = self._coarse
        coarse = part >> _STEPS - _COARSE
        if known != coarse:
            grown = _grow(_ONE, part, roots=_COARSE_ROOTS)
            self._coarse = coarse, grown
        return _grow(grown, part, roots=_FINE_ROOTS)


def _grow(grown: int, part: int, *, roots: tuple[tuple[int, int], ...]) -> int:
    for bit, root in roots:
        if part & bit:
            grown = grown * root >> 64
    return grown


def scope_of(tenant: str, project: str | None = None) -> Scope:
    """The scope of a tenant or of one of its projects, if the names are well-formed."""
    if not isinstance(tenant, TenantId):
        tenant = TenantId(tenant)
    if project is None:
        return (tenant,)
    return (tenant, project if isinstance(project, ProjectId) else ProjectId(project))


def expected_usage(request: PlacementRequest) -> int:
    """Micro-GPU-seconds the whole request would use if it ran for its full term.

    Work without GPUs weighs by its cores (and never nothing), or it could fill the line for free.
    """
    milli = max(request.gpu_milli_total, request.cpu_milli // CORES_PER_GPU, 1)
    return milli * request.gang_size * request.ttl_ms
