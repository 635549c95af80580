"""What may be different in a what-if, and what that does to the commands of a history.

Rules:

- A change is text of the form ``name=value``; an unknown name is an error that lists the names
  there are, and a tenant or node that the journal does not know is one too.
- A change holds from the beginning of the time that is looked at: what stands then is changed, and
  every later command that would set the same thing is rewritten.
- One that turns out to alter neither is told, so that nobody reads a zero as a result.

>>> parse_change("grace_ms=5m", KnownNames((), ()))
SettingChange(name='grace_ms', value=300000)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias, assert_never

from bailiwick.fleet.resources import Resources
from bailiwick.kernel.commands import Command
from bailiwick.kernel.fleet.commands import (
    ChangeMode,
    ChangeSettings,
    DepartNode,
    RegisterNode,
    SetQuota,
    SetShare,
)
from bailiwick.kernel.settings import NUMBERS, Settings
from bailiwick.kernel.state import State
from bailiwick.kernel.trust.commands import LiftQuarantine, Quarantine, RecordVerdict
from bailiwick.scheduler.quota_policy import (
    GpuGenerationQuota,
    Quota,
    QuotaScope,
    ResourceLimit,
)
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import (
    Dimension,
    HardwareGeneration,
    LeaseClass,
    Priority,
    ResourceKind,
    Strategy,
)
from bailiwick.whatif.history import Action, JournalHistory

_UNITS = {"": 1, "ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_NUMBER = re.compile(r"([0-9]{1,16})(ms|s|m|h|d|)")
_LISTED_MAX = 20


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One setting of the kernel is another."""

    name: str
    value: Any


@dataclass(frozen=True, slots=True)
class HeadroomChange:
    """Another amount of one resource is kept for urgent work."""

    kind: ResourceKind
    amount: int


@dataclass(frozen=True, slots=True)
class QuotaChange:
    """A tenant or project is allowed another amount; ``None`` lifts the limit."""

    scope: QuotaScope
    what: Dimension | HardwareGeneration
    limit: int | None


@dataclass(frozen=True, slots=True)
class ShareChange:
    """A tenant or project weighs another amount."""

    scope: QuotaScope
    share: int


@dataclass(frozen=True, slots=True)
class NodeAbsent:
    """A node was never there (or leaves when the time looked at begins)."""

    node: str


Change: TypeAlias = SettingChange | HeadroomChange | QuotaChange | ShareChange | NodeAbsent


@dataclass(frozen=True, slots=True)
class KnownNames:
    """What a journal knows: the owners and the nodes that a change may name."""

    scopes: tuple[QuotaScope, ...]
    nodes: tuple[str, ...]

    @classmethod
    def of(cls, history: JournalHistory, state: State) -> KnownNames:
        """Of a history, and of the state in which it begins."""
        scopes = {QuotaScope(w.request.tenant, w.request.project) for w in history.works}
        scopes |= {scope for scope, _, _ in state.quotas.settings()}
        nodes = {str(name) for name in state.ledger.entries}
        for each in history.plan:
            match each.action:
                case SetQuota() | SetShare():
                    scopes.add(QuotaScope.of(each.action.tenant, each.action.project))
                case RegisterNode():
                    nodes.add(str(each.action.node))
                case _:
                    pass
        scopes |= {QuotaScope(scope.tenant) for scope in scopes}
        return cls(tuple(sorted(scopes, key=str)), tuple(sorted(nodes)))


# -- reading ---------------------------------------------------------------------------------


def parse_change(text: str, known: KnownNames) -> Change:
    """The change that ``name=value`` means."""
    name, found, value = text.partition("=")
    if not found or not name or not value:
        raise InvalidValue("--set", text, "NAME=VALUE, as in strategy=best_fit")
    head, dot, rest = name.partition(".")
    if dot and head == "quota":
        owner, _, what = rest.rpartition(".")
        dimension = _one_of(name, what, (*Dimension, *HardwareGeneration))
        limit = None if value == "none" else _number(name, value, timed=False)
        return QuotaChange(_scope(name, owner, known), dimension, limit)
    if dot and head == "share":
        return ShareChange(_scope(name, rest, known), _number(name, value, timed=False))
    if dot and head == "nodes":
        if rest not in known.nodes:
            raise InvalidValue("node", rest, _listed(known.nodes, "of the journal"))
        _one_of(name, value, ("absent",))
        return NodeAbsent(rest)
    if dot and head == "headroom":
        kind = _one_of(name, rest, tuple(ResourceKind))
        return HeadroomChange(kind, _number(name, value, timed=False))
    return _setting(name, value)


_WORDS: dict[str, Callable[[str], object]] = {
    "strategy": lambda text: _one_of("strategy", text, tuple(Strategy)),
    "preempt_from": lambda text: _one_of("preempt_from", text, tuple(Priority)),
    "aging_ceiling": lambda text: _one_of("aging_ceiling", text, tuple(Priority)),
    "headroom_priority": lambda text: _one_of("headroom_priority", text, tuple(Priority)),
    "priority_max": lambda text: _one_of("priority_max", text, tuple(Priority)),
    "lease_classes": lambda text: tuple(
        _one_of("lease_classes", word, tuple(LeaseClass)) for word in text.split(",")
    ),
    "confirm_teardown": lambda text: _one_of("confirm_teardown", text, ("true", "false")) == "true",
    "offer_platform_managed": lambda text: (
        _one_of("offer_platform_managed", text, ("true", "false")) == "true"
    ),
    "weights": lambda text: tuple(_number("weights", w, timed=False) for w in text.split(",")),
}
NAMES: tuple[str, ...] = (
    *(name for name in (f.name for f in fields(Settings)) if name in {*NUMBERS, *_WORDS}),
    *(f"headroom.{kind}" for kind in ResourceKind),
    "quota.TENANT[/PROJECT].DIMENSION",
    "share.TENANT[/PROJECT]",
    "nodes.NAME",
)
"""Everything that can be set."""


def _setting(name: str, value: str) -> SettingChange:
    if name in NUMBERS:
        return SettingChange(name, _number(name, value, timed=name.endswith("_ms")))
    read = _WORDS.get(name)
    if read is None:
        raise InvalidValue("--set", name, "one of " + ", ".join(NAMES))
    return SettingChange(name, read(value))


def _scope(name: str, owner: str, known: KnownNames) -> QuotaScope:
    for scope in known.scopes:
        if str(scope) == owner:
            return scope
    raise InvalidValue(name, owner, _listed([str(s) for s in known.scopes], "of the journal"))


def _one_of(name: str, text: str, words: Iterable[Any]) -> Any:
    every = tuple(words)
    for word in every:
        if text == word:
            return word
    raise InvalidValue(name, text, "one of " + ", ".join(every))


def _number(name: str, text: str, *, timed: bool) -> int:
    found = _NUMBER.fullmatch(text)
    if found is None or (found[2] and not timed):
        kind = "milliseconds, or a number with s, m, h or d" if timed else "a whole number"
        raise InvalidValue(name, text, kind)
    return int(found[1]) * _UNITS[found[2]]


def _listed(names: Iterable[str], where: str) -> str:
    every = list(names)
    more = f" and {len(every) - _LISTED_MAX} more" if len(every) > _LISTED_MAX else ""
    return f"one {where}: " + (", ".join(every[:_LISTED_MAX]) or "there is none") + more


# -- applying --------------------------------------------------------------------------------


class Changes:
    """Some changes together."""

    def __init__(self, changes: Iterable[Change] = ()) -> None:
        self.all = tuple(changes)
        self._values: dict[str, Any] = {}
        self._kept: dict[str, int] = {}
        self._quotas: dict[QuotaScope, list[QuotaChange]] = {}
        self._shares: dict[QuotaScope, int] = {}
        self.absent: set[str] = set()
        for change in self.all:
            match change:
                case SettingChange():
                    self._values[change.name] = change.value
                case HeadroomChange():
                    self._kept[change.kind.value] = change.amount
                case QuotaChange():
                    self._quotas.setdefault(change.scope, []).append(change)
                case ShareChange():
                    self._shares[change.scope] = change.share
                case NodeAbsent():
                    self.absent.add(change.node)
                case _:
                    assert_never(change)

    def rewrite(self, action: Action) -> Action | None:
        """The same action under the changes; ``None`` if it does not happen."""
        match action:
            case ChangeSettings():
                return ChangeSettings(self._settings(action.settings))
            case SetQuota():
                scope = QuotaScope.of(action.tenant, action.project)
                return replace(action, quota=self._quota(scope, action.quota))
            case SetShare():
                scope = QuotaScope.of(action.tenant, action.project)
                return replace(action, share=self._shares.get(scope, action.share))
            case (
                RegisterNode()
                | DepartNode()
                | ChangeMode()
                | Quarantine()
                | LiftQuarantine()
                | RecordVerdict()
            ) if action.node in self.absent:
                return None
            case _:
                return action

    def opening(self, state: State, history: JournalHistory) -> list[Command]:
        """What must be done before anything else, so that the changes hold from the start."""
        first = [p.action for p in history.plan if p.at_ms == history.start_ms]
        found: list[Command] = []
        settings = self._settings(state.settings)
        if settings != state.settings and not any(isinstance(a, ChangeSettings) for a in first):
            found.append(ChangeSettings(settings))
        set_first = {(type(a), *_owner(a)) for a in first if isinstance(a, _OF_SCOPE)}
        for scope in self._quotas:
            before = state.quotas.quota_of(scope.tenant, scope.project)
            quota = self._quota(scope, before)
            if quota != before and (SetQuota, scope.tenant, scope.project) not in set_first:
                found.append(SetQuota(scope.tenant, quota, scope.project))
        for scope, share in self._shares.items():
            names = (scope.tenant,) if scope.project is None else (scope.tenant, scope.project)
            before_share, _ = state.shares.share_and_usage(names, state.clock_ms)
            if share != before_share and (SetShare, *_names(scope)) not in set_first:
                found.append(SetShare(scope.tenant, share, scope.project))
        found += [DepartNode(n) for n in sorted(self.absent) if n in state.ledger]
        return found

    def idle(self, state: State, history: JournalHistory) -> list[Change]:
        """Those without which everything that is set, or stood at the start, would be the same."""
        mine = self._effect(state, history)
        found = []
        for change in self.all:
            others = Changes(each for each in self.all if each is not change)
            try:
                if others._effect(state, history) == mine:
                    found.append(change)
            except InvalidValue:
                continue  # the others do not even go without it
        return found

    def _effect(
        self, state: State, history: JournalHistory
    ) -> tuple[list[Action | None], list[Action]]:
        plan = [self.rewrite(each.action) for each in history.plan]
        return plan, list(self.opening(state, history))

    def _settings(self, before: Settings) -> Settings:
        values = dict(self._values)
        if self._kept:
            kept = {str(k): getattr(before.headroom, k) for k in ResourceKind} | self._kept
            values["headroom"] = Resources(**kept)
        if values.get("strategy", before.strategy) is not Strategy.WEIGHTED:
            values["weights"] = None
        return replace(before, **values)

    def _quota(self, scope: QuotaScope, before: Quota) -> Quota:
        return changed_quota(before, self._quotas.get(scope, ()))


def changed_quota(before: Quota, changes: Iterable[QuotaChange]) -> Quota:
    """The quota with other limits; what no change is about stays."""
    # Assigning keeps a limit's place: a quota that says the same must stay equal.
    limits = {limit.dimension: limit for limit in before.limits}
    table = {each.generation: each for each in before.gpu_generations}
    for change in changes:
        what, limit = change.what, change.limit
        if isinstance(what, Dimension) and limit is not None:
            limits[what] = ResourceLimit(what, limit)
        elif isinstance(what, Dimension):
            limits.pop(what, None)
        elif limit is not None:
            table[what] = GpuGenerationQuota(what, limit)
        else:
            table.pop(what, None)
    return Quota(tuple(limits.values()), tuple(table.values()), before.burst, before.ceiling)


_OF_SCOPE = (SetQuota, SetShare)


def _names(scope: QuotaScope) -> tuple[str, str | None]:
    return scope.tenant, scope.project


def _owner(action: SetQuota | SetShare) -> tuple[str, str | None]:
    return action.tenant, action.project
