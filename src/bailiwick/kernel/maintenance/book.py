"""What is known of maintenance: windows, whose nodes are, calendars, and what is due when.

Rules:

- A node that a window closed is held by it until the window is over, and by each other that is on
  meanwhile. Who was closed before is held by none, and stays as it was.
- Whoever opens a held node by hand, or takes it away, has it: no window holds it any more. A
  machine that comes while a window is on is held by none, too. Work is kept off all of them by the
  guard alone.
- A window is on until the record of its end, whatever time it is.
- By node, windows are kept in the order of their beginning: what is next takes constant time. What
  is due is kept in the order of its times: looking costs what is due, however many windows there
  are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from bailiwick.kernel.maintenance.commands import DAY_MS
from bailiwick.vocab.maintenance import WindowPhase
from bailiwick.vocab.transitions import NodeMode

NEVER_MS: Final = 2**62
AWAY_MS: Final = 7 * DAY_MS
"""How long after its window a machine that did not come back is told as missing."""
_LET_GO = frozenset({NodeMode.RETURNING, NodeMode.ACCEPTING, NodeMode.FENCE_LOST})


@dataclass(frozen=True, slots=True)
class PlannedWindow:
    """One window of maintenance."""

    id: str
    nodes: tuple[str, ...]
    starts_ms: int
    ends_ms: int
    lead_ms: int
    text: str = ""
    calendar: str | None = None
    phase: WindowPhase = WindowPhase.PLANNED

    @property
    def closes_ms(self) -> int:
        """From when on its nodes take nothing."""
        return max(self.starts_ms - self.lead_ms, 0)

    @property
    def next_ms(self) -> int:
        """When its next phase is due."""
        if self.phase is WindowPhase.PLANNED:
            return self.closes_ms
        return self.starts_ms if self.phase is WindowPhase.CLOSING else self.ends_ms

    @property
    def order(self) -> tuple[int, str]:
        """By which windows are told: by their beginning."""
        return self.starts_ms, self.id


@dataclass(frozen=True, slots=True)
class Calendar:
    """A calendar as it was set, and until when windows were planned by it."""

    id: str
    rule: str
    nodes: tuple[str, ...]
    labels: tuple[str, ...]
    lead_ms: int
    ahead_days: int
    text: str
    planned_ms: int
    """No window is planned that begins at this time or before: it was, or it is too late."""

    def plans_as(self, other: Calendar) -> bool:
        """Whether it plans the same as another: all but how far ahead, and the text."""
        mine, others = ((c.rule, c.nodes, c.labels, c.lead_ms) for c in (self, other))
        return mine == others

    @property
    def ahead_ms(self) -> int:
        """How far ahead windows are announced."""
        return self.ahead_days * DAY_MS


class MaintenanceBook:
    """All windows and calendars of one state."""

    def __init__(self) -> None:
        self.windows: dict[str, PlannedWindow] = {}
        self.calendars: dict[str, Calendar] = {}
        self.held: dict[str, set[str]] = {}
        """The windows that hold a node."""
        self.releasing: set[str] = set()
        """Nodes that no window holds any more, and that are to be opened again."""
        self.unready: set[str] = set()
        """Held nodes that are not in maintenance yet; it follows from their modes."""
        self.unseen: set[str] = set()
        """Nodes of windows that are on, where it is to be looked who has to go: not all need it."""
        self.enterable: set[str] = set()
        """Held nodes that are drained, and of which a window has begun."""
        self.away: dict[str, int] = {}
        """Machines that went while a window held them, and when that is over: they may reboot."""
        self.mentions = 0
        """Nodes of all windows, each as often as it is named."""
        self._by_node: dict[str, list[tuple[int, str]]] = {}
        self._dues: list[tuple[int, str]] = []
        """When the next phase of each window is due."""
        self._begun: list[tuple[int, str]] = []
        """When each window that is on closed its nodes."""

    # -- asking ------------------------------------------------------------------------------

    def is_due(self, now_ms: int) -> bool:
        """Whether a window is due, or nodes wait to be opened again."""
        is_late = bool(self._dues) and now_ms >= self._dues[0][0]
        is_early = bool(self._begun) and now_ms < self._begun[-1][0]
        return bool(self.releasing) or is_late or is_early

    def due(self, now_ms: int) -> list[PlannedWindow]:
        """The windows that are in another phase than their time says, the earliest first."""
        late = self._dues[: bisect_right(self._dues, now_ms, key=_time)]
        early = self._begun[bisect_right(self._begun, now_ms, key=_time) :]
        found = {name: self.windows[name] for _, name in (*late, *early)}
        return sorted(found.values(), key=lambda each: each.order)

    def in_order(self) -> list[PlannedWindow]:
        """All windows, the earliest first."""
        return sorted(self.windows.values(), key=lambda each: each.order)

    def windows_of(self, node: str) -> Iterator[PlannedWindow]:
        """The windows of a node, the earliest first."""
        return (self.windows[name] for _, name in self._by_node.get(node, ()))

    def next_start(self, node: str) -> int | None:
        """When the first window of a node begins, or began."""
        rows = self._by_node.get(node)
        return rows[0][0] if rows else None

    def named_nodes(self) -> Collection[str]:
        """The nodes of all windows."""
        return self._by_node.keys()

    def is_open_for(self, node: str) -> bool:
        """Whether a window that holds the node has begun."""
        return any(self.windows[w].phase is WindowPhase.OPEN for w in self.held.get(node, ()))

    def first_on(self, node: str) -> PlannedWindow | None:
        """The earliest window that holds the node; else the earliest of it that is on."""
        if node in self.held:
            return min((self.windows[w] for w in self.held[node]), key=lambda each: each.order)
        on = (each for each in self.windows_of(node) if each.phase is not WindowPhase.PLANNED)
        return next(on, None)

    # -- being told, by ``apply`` ------------------------------------------------------------

    def put(self, window: PlannedWindow) -> None:
        """One more window."""
        self.windows[window.id] = window
        self.mentions += len(window.nodes)
        for node in window.nodes:
            insort(self._by_node.setdefault(node, []), window.order)
        self._note_times(window)

    def turn(self, name: str, phase: WindowPhase, *, takes: tuple[str, ...] = ()) -> None:
        """A window came further, and holds these nodes too; back in its plan it holds none."""
        self._forget_times(self.windows[name])
        window = self.windows[name] = replace(self.windows[name], phase=phase)
        self._note_times(window)
        for node in takes:
            if node not in self.held:  # else it is known how far it is
                self.unready.add(node)
            self.held.setdefault(node, set()).add(name)
            self.releasing.discard(node)
        if phase is WindowPhase.PLANNED:
            self._let_go(name)

    def drop(self, name: str) -> None:
        """The window is over."""
        window = self.windows.pop(name)
        self._forget_times(window)
        self._let_go(name, nodes=window.nodes)
        self.mentions -= len(window.nodes)
        for node in window.nodes:
            rows = self._by_node[node]
            rows.remove(window.order)
            if not rows:
                del self._by_node[node]
                self.unseen.discard(node)

    def _let_go(self, name: str, *, nodes: tuple[str, ...] | None = None) -> None:
        for node in self.windows[name].nodes if nodes is None else nodes:
            holders = self.held.get(node, set())
            if name in holders:
                holders.remove(name)
                if not holders:
                    del self.held[node]
                    self.unready.discard(node)
                    self.releasing.add(node)

    def note_mode(self, node: str, mode: NodeMode) -> None:
        """A node came to be in this mode."""
        if mode is not NodeMode.RETURNING:
            self.releasing.discard(node)
        if node not in self.held:
            return
        self.unready.discard(node)
        if mode is NodeMode.DRAINING:
            self.unseen.add(node)
        if mode in _LET_GO:
            del self.held[node]
        elif mode is not NodeMode.MAINTENANCE:
            self.unready.add(node)
        self.note_ready(node, mode)

    def note_ready(self, node: str, mode: NodeMode) -> None:
        """Whether the node, which is in this mode, may go into maintenance now."""
        if mode is NodeMode.DRAINED and self.is_open_for(node):
            self.enterable.add(node)
        else:
            self.enterable.discard(node)

    def note_lease(self, node: str) -> None:
        """A lease is there that may have to go again."""
        if node in self.held or node in self._by_node:
            self.unseen.add(node)

    def forget_node(self, node: str) -> None:
        """The machine is gone; the windows that name it stay."""
        holders = self.held.pop(node, None)
        if holders:
            self.away[node] = max(self.windows[name].ends_ms for name in holders)
        for each in (self.unready, self.releasing, self.unseen, self.enterable):
            each.discard(node)

    def forget_away(self, now_ms: int) -> None:
        """Who has not come back for long is not waited for any more."""
        self.away = {node: at for node, at in self.away.items() if now_ms - at < AWAY_MS}

    def overdue(self, now_ms: int) -> int:
        """How many nodes should be back: their window is over, and they are not."""
        over = {w.id for w in self.windows.values() if now_ms >= w.ends_ms}
        kept = sum(bool(names & over) for names in self.held.values()) if over else 0
        # It is told for so long whatever else happens: they are forgotten only by a window's end.
        return kept + sum(at <= now_ms < at + AWAY_MS for at in self.away.values())

    def _note_times(self, window: PlannedWindow) -> None:
        insort(self._dues, (window.next_ms, window.id))
        if window.phase is not WindowPhase.PLANNED:
            insort(self._begun, (window.closes_ms, window.id))
            self.unseen.update(window.nodes)

    def _forget_times(self, window: PlannedWindow) -> None:
        del self._dues[bisect_left(self._dues, (window.next_ms, window.id))]
        if window.phase is not WindowPhase.PLANNED:
            del self._begun[bisect_left(self._begun, (window.closes_ms, window.id))]

    # -- a snapshot --------------------------------------------------------------------------

    def dump(self) -> dict[str, Any]:
        """All that does not follow from something else; nothing where there is nothing."""
        windows = [
            [w.id, list(w.nodes), w.starts_ms, w.ends_ms, w.lead_ms, w.text, w.calendar, w.phase]
            for w in self.in_order()
        ]
        calendars = [
            [
                *(c.id, c.rule, list(c.nodes), list(c.labels)),
                *(c.lead_ms, c.ahead_days, c.text, c.planned_ms),
            ]
            for _, c in sorted(self.calendars.items())
        ]
        held = {node: sorted(self.held[node]) for node in sorted(self.held)}
        away = {node: self.away[node] for node in sorted(self.away)}
        if not (windows or calendars or self.releasing or away):
            return {}
        rows = {"windows": windows, "calendars": calendars, "held": held, "away": away}
        return rows | {"releasing": sorted(self.releasing)}

    def load(self, plain: dict[str, Any]) -> None:
        """Take up what :meth:`dump` told; which nodes are ready follows from their modes."""
        for name, nodes, *times, text, calendar, phase in plain.get("windows", ()):
            told = (*times, text, calendar, WindowPhase(phase))
            self.put(PlannedWindow(name, tuple(nodes), *told))
        for name, rule, nodes, labels, *more in plain.get("calendars", ()):
            self.calendars[name] = Calendar(name, rule, tuple(nodes), tuple(labels), *more)
        self.held = {node: set(names) for node, names in plain.get("held", {}).items()}
        self.releasing = set(plain.get("releasing", ()))
        self.away = dict(plain.get("away", {}))


def _time(row: tuple[int, str]) -> int:
    return row[0]
