"""The page of closed words: where each list of them is, and those that no record's body has.

The lists that a record of the journal can hold are on the SIEM's page (``docs/siem.md``), which
``bailiwick journal words`` prints; they are linked from here and not told twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum, StrEnum
from types import ModuleType

from bailiwick.agent import words as agent_words
from bailiwick.billing import charges
from bailiwick.cli import ExitCode
from bailiwick.executors import port as executor_words
from bailiwick.iam import words as iam_words
from bailiwick.iam.words import ROLE_PERMISSIONS, Role
from bailiwick.journal import words as journal_words
from bailiwick.kernel import views
from bailiwick.metering import owners, reconcile, report
from bailiwick.scheduler import preemption
from bailiwick.services import authority
from bailiwick.vocab import errors, jobs, permissions, remedies, transitions, trust
from bailiwick.vocab import words as vocab_words
from bailiwick.vocab.permissions import Permission
from bailiwick.wire import problem
from docs.tools.markdown import anchor, code, first_sentence, meanings, table

ON_THE_SIEM_PAGE = (vocab_words, transitions, journal_words)

HERE: dict[str, tuple[ModuleType, ...]] = {
    "Asking and being refused": (errors, problem, remedies, preemption, views),
    "Jobs": (jobs, executor_words),
    "People and permissions": (permissions, iam_words, authority),
    "Usage and money": (owners, charges, report, reconcile),
    "Trust": (trust,),
    "The agent": (agent_words,),
}
"""The modules whose lists this page tells, by what they are about."""

OPENING = """\
# Words

Bailiwick answers in closed words: a request waits because of `waiting_for_quota`, a lease ended
because of `maintenance_window`. Each word has one spelling, and the journal, the API, the metrics,
the alert rules and the command line all use it. This page says where each list is.
"""


def make() -> str:
    """The page."""
    parts = [OPENING, "## All lists\n"]
    listed = [(enum, f"../siem.md#{enum.__name__.lower()}") for enum in _enums(*ON_THE_SIEM_PAGE)]
    told = [(enum, f"#{_anchor(enum)}") for modules in HERE.values() for enum in _enums(*modules)]
    rows = [
        (f"[{enum.__name__}]({link})", len(enum), first_sentence(enum))
        for enum, link in sorted([*listed, *told], key=lambda each: each[0].__name__)
    ]
    rows.append(("[Exit codes](#exit-codes)", len(ExitCode), "How a command ends."))
    parts.append(table(("list", "words", "what it says"), rows) + "\n")
    for title, modules in HERE.items():
        parts.append(f"## {title}\n")
        for enum in _enums(*modules):
            parts += _section(enum)
    parts += _exit_codes()
    return "\n".join(parts)


def _enums(*modules: ModuleType) -> Iterator[type[StrEnum]]:
    for module in modules:
        for name, value in vars(module).items():
            is_enum = isinstance(value, type) and issubclass(value, StrEnum)
            if is_enum and value.__module__ == module.__name__ and value.__name__ == name:
                yield value


def _anchor(enum: type[StrEnum]) -> str:
    return anchor(_title(enum))


def _title(enum: type[StrEnum]) -> str:
    """The name; two lists of one name are told apart by where they are decided."""
    same = [each for modules in HERE.values() for each in _enums(*modules)]
    is_alone = [each.__name__ for each in same].count(enum.__name__) == 1
    where = enum.__module__.rpartition(".")[2].replace("_", " ")
    return enum.__name__ if is_alone else f"{enum.__name__} of {where}"


def _section(enum: type[StrEnum]) -> Iterator[str]:
    yield f"### {_title(enum)}\n"
    yield first_sentence(enum) + "\n"
    if enum is Permission:
        yield table(("key", "roles that have it"), _grants()) + "\n"
        return
    says = meanings(enum)
    if says:
        yield table(("word", "meaning"), [(code(word), says.get(word, "")) for word in enum]) + "\n"
    else:
        yield ", ".join(code(word) for word in enum) + "\n"


def _grants() -> Iterator[tuple[str, str]]:
    for key in Permission:
        yield code(key), ", ".join(code(role) for role in Role if key in ROLE_PERMISSIONS[role])


def _exit_codes() -> Iterator[str]:
    yield "## Exit codes\n"
    yield "How a command ends; [the manual](../cli.md#how-a-command-ends) gives examples.\n"
    names: list[IntEnum] = [*ExitCode]
    yield table(("code", "meaning"), [(each.value, each.name.lower()) for each in names])
    yield ""
