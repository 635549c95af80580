"""In the course of what the loop acts for an instance: the request that somebody made of it.

Rules:

- What is done to a member stands in the course of the work on that member, or of the work that gave
  its place to another; else in that of the work on the instance.
- Members that are too many go in the course of the last change of what is wanted, also when that is
  over already: it is, once as many as are wanted are ready.
- The correlation id is that of the record that began the work. It is looked up in the journal, at
  the time when the work began: nothing more is kept for it, and every later leader finds the same.
- What nobody asked for has the instance's own name: a member that fails by itself, its replacement,
  a renewal. So has what is not found, as after a clock was set back.
"""

from __future__ import annotations

from typing import Final

from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.record import Record, parse_record
from bailiwick.kernel.apps.instances import AppInstance, AppOperation, HeldInstance
from bailiwick.kernel.story.book import NO_COURSE
from bailiwick.runtime.feed import DurableLines
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.services.apps.member_jobs import correlation_of
from bailiwick.services.revoking import first_since
from bailiwick.vocab.apps import MemberPhase, OperationKind

KNOWN_MAX: Final = 4_096
"""Operations whose course is remembered; that of another is looked up again."""
SCAN_MAX: Final = 20_000
"""Records of the moment when an operation began that are looked at for it."""
_PAGE: Final = 256

_LIFE: Final = (
    OperationKind.CREATE,
    OperationKind.CHANGE,
    OperationKind.UPGRADE,
    OperationKind.ROLLBACK,
    OperationKind.DELETE,
)


class InstanceCourses:
    """Finds the correlation ids of what was asked for; for one thread."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._known: dict[int, str] = {}

    def of(
        self, instance: AppInstance, member_id: int | None = None, *, shrinks: bool = False
    ) -> str:
        """The correlation id of what is done next to an instance, or to a member of it."""

        def look(view: View) -> AppOperation | None:
            held = view.state.apps.instances.held.get(instance.id)
            return None if held is None else work_behind(held, member_id, shrinks=shrinks)

        work = self._runner.read(look)
        found = None if work is None else self._begun_by(work)
        if found is None or found == NO_COURSE:
            return correlation_of(instance.id)
        return found

    def _begun_by(self, work: AppOperation) -> str | None:
        known = self._known.get(work.id)
        if known is not None:
            return known
        record = find_begin(self._runner.lines, work)
        if record is None:
            return None
        if len(self._known) >= KNOWN_MAX:
            del self._known[next(iter(self._known))]
        self._known[work.id] = record.correlation_id
        return record.correlation_id


def work_behind(held: HeldInstance, member_id: int | None, *, shrinks: bool) -> AppOperation | None:
    """The work that something is done for, if it is done for any; the newest of several."""
    newest = sorted(held.operations.values(), key=lambda each: -each.id)
    running = [each for each in newest if not each.phase.is_ended]
    if member_id is not None:
        own = next((each for each in running if each.member_id == member_id), None)
        own = own or _replacement_of(held, member_id, newest=newest)
        if own is not None:
            return own
    life = next((each for each in running if each.kind in _LIFE), None)
    if life is not None or not shrinks:
        return life
    now = held.instance.generation
    wishes = (each for each in newest if each.kind in _LIFE and each.generation == now)
    return next(wishes, None)


def _replacement_of(
    held: HeldInstance, member_id: int, *, newest: list[AppOperation]
) -> AppOperation | None:
    """The work that gave a member's place to another, which may be done before it is gone."""
    member = held.members.get(member_id)
    if member is None or member.phase is not MemberPhase.DRAINING:
        return None
    swaps = (each for each in newest if each.kind is OperationKind.MEMBER_REPLACE)
    return next((each for each in swaps if each.component_key == member.component_key), None)


def find_begin(lines: DurableLines, work: AppOperation) -> Record | None:
    """The record that began an operation: the first about it, of the moment when it began."""
    named = b'"operation_id":%d' % work.id
    first = first_since(lines.read, lines.size, since_ms=work.begun_ms)
    for start in range(first, first + SCAN_MAX, _PAGE):
        page = lines.read(start, _PAGE)
        # Most are passed over unread; another number may begin like this one.
        for record in (_parse(line) for line in page if named in line):
            is_about = record.kind is RecordKind.APP_OPERATION_CHANGED
            if is_about and record.body["operation_id"] == work.id:
                return record if record.at_ms == work.begun_ms else None
        if len(page) < _PAGE or _parse(page[-1]).at_ms > work.begun_ms:
            return None
    return None


def _parse(line: bytes) -> Record:
    return parse_record(line.rstrip(b"\n"))
