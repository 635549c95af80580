"""A policy and a world as text for Alloy 6, with every command that must hold or must fail.

Rules:

- What is the same for every policy is in ``base.als``; here its world and commands are written.
- What does not change (seats, kinds, who is whom) is written as functions over single atoms, which
  Alloy folds away; only what changes from step to step is left to be searched.
- Every command says what is expected of it. Beside the checks stand runs that show that there was
  something to check: work that meets, and for each rule a placement that it alone refuses.
- The same policy, world and scope give the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.judge import forbids, kinds_of
from bailiwick.isolation.model.commands import CheckScope, Command
from bailiwick.isolation.model.faults import Fault, FaultWord, faults_shown
from bailiwick.isolation.model.shape import kinds_named, labels_named
from bailiwick.isolation.model.world import ModelWorld, spell_subject
from bailiwick.isolation.policy import (
    Dedicated,
    Distrust,
    Linger,
    NeverShare,
    OnlyOn,
    Rule,
    Spread,
    Subject,
)

_WORD = re.compile(r"[^A-Za-z0-9]+")
_FLAGS = {
    FaultWord.FREES_EARLY: "FreesEarly",
    FaultWord.CLAIM_UNCOUNTED: "ClaimUncounted",
    FaultWord.RESIDUE_FORGOTTEN: "ResidueForgotten",
    FaultWord.RELABEL_UNNOTICED: "RelabelUnnoticed",
    FaultWord.GANG_UNCOUNTED: "GangUncounted",
    FaultWord.EXPIRY_IGNORED: "ExpiryIgnored",
}
_WHOLE = "behaviour implies always (sound and residue_kept)"
_ONE_STEP = "(sound and step) implies (residue_kept and after sound)"
_BUSY = "behaviour and eventually (not lone Running and some Leaving)"
_BUSY_SOON = 5
"""States before which three cannot have come and one have been told to go."""


@dataclass(frozen=True, slots=True)
class AlloyModel:
    """A text for Alloy, its commands, and what its atoms stand for."""

    head: str
    """Everything but the commands."""
    spelled: Mapping[str, str]
    """Each command as Alloy reads it, by its name."""
    commands: tuple[Command, ...]
    atoms: Mapping[str, str]
    """Names of the world by names of atoms: seats, domains, nodes, rules, marks, labels."""
    subjects: Mapping[str, Subject]

    def text(self, commands: Iterable[Command] | None = None) -> str:
        """The whole text, with these commands; with all if none are named."""
        chosen = self.commands if commands is None else commands
        return self.head + "".join(self.spelled[each.name] for each in chosen)


@dataclass(slots=True)
class Names:
    """Words for Alloy, one for each thing of the world, and back."""

    words: dict[tuple[str, str], str] = field(default_factory=dict)
    atoms: dict[str, str] = field(default_factory=dict)

    def word(self, group: str, name: str) -> str:
        """The atom of a thing; the same one whenever it is asked."""
        if (group, name) not in self.words:
            word = f"{group}_{_WORD.sub('_', name).strip('_')}"
            while word in self.atoms:
                word += "_"
            self.words[group, name] = word
            self.atoms[word] = name
        return self.words[group, name]


def write_model(base: str, world: ModelWorld, *, scope: CheckScope) -> AlloyModel:
    """The text for a world, from the text that is the same for all."""
    writer = _Writer(world, scope)
    commands = writer.commands()
    several = [f"q{number}" for number in range(1, scope.jobs + 1)]
    text = base.replace("CLAIMANTS", ", ".join(several)).replace("TOGETHER", " + ".join(several))
    text = text.replace("// <world>\n", "\n".join(writer.told()) + "\n")
    head = text.replace("// <commands>\n", "")
    spelled = {each.name: writer.spelled(each) for each in commands}
    subjects = {writer.who(subject): subject for subject in world.subjects}
    return AlloyModel(head, spelled, commands, writer.names.atoms, subjects)


class _Writer:
    """Writes one world."""

    def __init__(self, world: ModelWorld, scope: CheckScope) -> None:
        self.world, self.scope, self.names = world, scope, Names()
        self.faults = faults_shown(world, jobs=scope.jobs)
        named = kinds_named(world.policy)
        self.kinds = [kind for kind in DomainKind if kind in named]
        self.lingers = [rule for rule in world.policy.rules if isinstance(rule, Linger)]

    # -- words ---------------------------------------------------------------------------------

    def who(self, subject: Subject) -> str:
        """The atom of a subject."""
        return self.names.word("who", spell_subject(subject))

    def everybody(self, chosen: Iterable[Subject]) -> str:
        """A set of subjects."""
        return " + ".join(self.who(subject) for subject in chosen) or "none"

    def mark(self, name: str) -> str:
        """The atom of a window or of an exception's end."""
        return self.names.word("mark", name)

    # -- the world -----------------------------------------------------------------------------

    def _fixed(self) -> Iterator[str]:
        """Atoms, and what of them never changes."""
        seats = self.world.seats
        domains = {
            (kind, name): kind.value
            for seat in seats
            for kind in self.kinds
            for name in sorted(seat.domains[kind])
        }
        words = {pair: self.names.word(pair[0].value, pair[1]) for pair in domains}
        yield _atoms("Kind", [f"kind_{kind.value}" for kind in self.kinds])
        yield _atoms("Domain", words.values())
        yield _table("kind : Domain -> Kind", ((words[d], f"kind_{k}") for d, k in domains.items()))
        hosts = {site.node: self.names.word("node", site.node) for site in self.world.sites}
        yield _atoms("Host", hosts.values(), "{ var labelled : set Label }")
        spots = {seat.name: self.names.word("seat", seat.name) for seat in seats}
        yield _atoms("Seat", spots.values())
        yield _table("on : Seat -> Host", ((spots[seat.name], hosts[seat.node]) for seat in seats))
        yield _table(
            "holds : Seat -> Domain",
            (
                (spots[seat.name], words[kind, name])
                for seat in seats
                for kind in self.kinds
                for name in sorted(seat.domains[kind])
            ),
        )
        labels = {pair: self.names.word("label", "=".join(pair)) for pair in self._labels()}
        yield _atoms("Label", labels.values())
        held = (
            (hosts[site.node], labels[pair])
            for site in self.world.sites
            for pair in labels
            if site.labels.get(pair[0]) == pair[1]
        )
        yield _table("first_labels : Host -> Label", held, empty="none -> none")

    def told(self) -> Iterator[str]:
        """Everything between the marks of the base text."""
        policy = self.world.policy
        yield from self._fixed()
        yield ""
        yield "// Whom the rules tell apart, and somebody whom none names."
        yield _atoms("Subject", map(self.who, self.world.subjects))
        yield _atoms("Mark", map(self.mark, self.world.marks))
        keeps = {rule.name: self.names.word("keep", rule.name) for rule in self.lingers}
        yield _atoms("Linger", keeps.values(), "{ var residue : set Domain }")
        kept = ((keeps[r.name], f"kind_{kind.value}") for r in self.lingers for kind in r.kinds)
        yield _table("keeps : Linger -> Kind", kept, empty="none -> none")
        keepers = (
            (keeps[rule.name], self.who(subject))
            for rule in self.lingers
            for subject in filter(rule.whose.matches, self.world.subjects)
        )
        yield _table("keepers : Linger -> Subject", keepers, empty="none -> none")
        yield ""
        yield "// What a wrong scheduler forgets."
        yield f"sig {', '.join(self._flags())} {{}}"
        yield _sum("fun forgotten : set Kind", (
            f"(some Forgets_{kind.value} => kind_{kind.value} else none)" for kind in self.kinds
        ))  # fmt: skip
        yield ""
        yield "// The policy, rule by rule."
        for rule in policy.rules:
            yield from self._rule(rule)
        sharing = [
            rule for rule in policy.rules if isinstance(rule, NeverShare | Distrust | Dedicated)
        ]
        yield _sum("fun forbids[j, k : Job] : set Kind", (f"{self._by(r)}[j, k]" for r in sharing))
        yield _sum("fun excused[j, k : Job] : set Kind", self._excuses())
        lasting = self._excuses(ends=False)
        yield _sum("fun excused_for_ever[j, k : Job] : set Kind", lasting)
        bound = [rule for rule in policy.rules if isinstance(rule, OnlyOn)]
        yield _sum("fun needs[j : Job] : set Label", (f"{self._by(rule)}[j]" for rule in bound))
        crowds = [f"{self._by(r)}[J, room, over]" for r in policy.rules if isinstance(r, Spread)]
        told = " or ".join(crowds) or "some none"
        yield f"pred crowded[J : set Job, room : Job -> Seat, over : set Kind] {{ {told} }}"

    def _labels(self) -> tuple[tuple[str, str], ...]:
        return labels_named(self.world.policy)

    def _flags(self) -> list[str]:
        return [*(f"Forgets_{kind.value}" for kind in self.kinds), *_FLAGS.values()]

    def _by(self, rule: Rule) -> str:
        return self.names.word("by", rule.name)

    def _rule(self, rule: Rule) -> Iterator[str]:
        yield f"// {rule.name}"
        match rule:
            case NeverShare() | Distrust() | Dedicated():
                pairs = self._apart(rule)
                when = (
                    ""
                    if rule.window is None
                    else f" and {self.mark(rule.name)} in j.reach & k.reach"
                )
                kinds = " + ".join(f"kind_{kind.value}" for kind in kinds_of(rule))
                yield f"fun {self._by(rule)}[j, k : Job] : set Kind {{"
                yield f"  (j.subject -> k.subject in {pairs}{when}) => {kinds} else none\n}}"
            case OnlyOn():
                whose = self.everybody(filter(rule.whose.matches, self.world.subjects))
                when = "" if rule.window is None else f" and {self.mark(rule.name)} in j.reach"
                labels = " + ".join(self.names.word("label", "=".join(p)) for p in rule.labels)
                yield f"fun {self._by(rule)}[j : Job] : set Label {{"
                yield f"  (j.subject in {whose}{when}) => {labels} else none\n}}"
            case Spread():
                whose = self.everybody(filter(rule.whose.matches, self.world.subjects))
                when = "" if rule.window is None else f" & reach.{self.mark(rule.name)}"
                yield f"pred {self._by(rule)}[J : set Job, room : Job -> Seat, over : set Kind] {{"
                yield f"  some d : kind.(kind_{rule.kind.value} & over) |"
                held = f"{{k : J & subject.({whose}){when} | d in k.room.holds}}"
                yield f"    #{held} > {rule.most}\n}}"
            case Linger():
                yield f"// keeps and keepers of {self.names.word('keep', rule.name)}, above"
            case _:
                assert_never(rule)

    def _apart(self, rule: NeverShare | Distrust | Dedicated) -> str:
        """Whom the rule keeps apart: for each subject those it may not meet."""
        parts = []
        for one in self.world.subjects:
            others = [two for two in self.world.subjects if forbids(rule, (one, two))]
            if others:
                parts.append(f"{self.who(one)} -> ({self.everybody(others)})")
        return f"({' + '.join(parts)})" if parts else "(none -> none)"

    def _excuses(self, *, ends: bool = True) -> Iterator[str]:
        for each in self.world.policy.exceptions:
            first = self.everybody(filter(each.first.matches, self.world.subjects))
            second = self.everybody(filter(each.second.matches, self.world.subjects))
            kinds = " + ".join(f"kind_{kind.value}" for kind in each.kinds)
            when = f" and {self.mark(each.name)} not in j.reach & k.reach" if ends else ""
            yield (
                f"((j.subject -> k.subject in ({first}) -> ({second}) + ({second}) -> ({first})"
                f"{when}) => {kinds} else none)"
            )

    # -- commands ------------------------------------------------------------------------------

    def commands(self) -> tuple[Command, ...]:
        """What is run, in the order in which it is told."""
        # A history can rest, so the longest ones stand for all; but what is found first is short.
        whole = f"{self.scope.steps}..{self.scope.steps} steps"
        most = self.scope.fault_steps
        long = f"1..{most} steps"
        found = [
            Command(
                "busy", False, True, "two jobs run while one leaves",
                body=_BUSY if self.scope.jobs > 2 else "behaviour and eventually some Leaving",
                steps=f"{min(_BUSY_SOON, most)}..{most} steps",
            )
        ]  # fmt: skip
        for rule in self.world.policy.rules:
            found.append(
                Command(
                    self.names.word("bites", rule.name), False, True,
                    f"rule {rule.name} refuses something",
                    rule=rule.name, body=f"behaviour and eventually {self._bites(rule)}",
                    steps=long,
                )
            )  # fmt: skip
        found.append(Command("holds", True, False, "every rule holds", body=_WHOLE, steps=whole))
        found.append(
            Command(
                "one_step", True, False, "one step from any sound state keeps every rule",
                body=_ONE_STEP, steps="1..2 steps",
            )
        )  # fmt: skip
        for fault in self.faults:
            found.append(
                Command(
                    f"fault_{fault.name}", True, True, f"the fault {fault.name} is found",
                    fault=fault, body=_WHOLE, steps=long,
                )
            )  # fmt: skip
        return tuple(found)

    def _bites(self, rule: Rule) -> str:
        """Somebody waits who is kept out by this very rule."""
        match rule:
            case NeverShare() | Distrust() | Dedicated():
                by = self._by(rule)
                return (
                    "(some j : Waiting, k : Running, s : Seat - Job.at | "
                    f"some s.holds & k.at.holds & kind.({by}[j, k] - excused[j, k]))"
                )
            case OnlyOn():
                return f"(some j : Waiting, h : Host | some {self._by(rule)}[j] - h.labelled)"
            case Spread():
                by = self._by(rule)
                return (
                    "(some j : Waiting, s : Seat - Job.at | not "
                    f"{by}[Running, at, Kind] and {by}[Running + j, at + j -> s, Kind])"
                )
            case Linger():
                keep = self.names.word("keep", rule.name)
                return (
                    f"(some j : Waiting | j.subject not in {keep}.keepers and some {keep}.residue)"
                )
            case _:
                assert_never(rule)

    def spelled(self, command: Command) -> str:
        """A command as Alloy reads it."""
        sets = (
            ("Kind", self.kinds),
            ("Domain", self.kinds),
            ("Label", self._labels()),
            ("Mark", self.world.marks),
            ("Linger", self.lingers),
        )
        on = _flag(command.fault)
        parts = [f"exactly {self.scope.jobs} Job", *(f"0 {name}" for name, of in sets if not of)]
        parts += [f"{'exactly 1' if name == on else '0'} {name}" for name in self._flags()]
        verb = "check" if command.is_check else "run"
        return (
            f"// {command.says}\n{verb} {command.name} {{ {command.body} }}\n"
            f"  for {', '.join([*parts, command.steps])} expect {int(command.expects)}\n"
        )


def _flag(fault: Fault | None) -> str | None:
    if fault is None:
        return None
    return f"Forgets_{fault.kind.value}" if fault.kind is not None else _FLAGS[fault.word]


def _atoms(name: str, words: Iterable[str], body: str = "{}") -> str:
    told = ", ".join(words)
    parent = f"abstract sig {name} {body}" if told else f"sig {name} {body}"
    return f"{parent}\none sig {told} extends {name} {{}}" if told else parent


def _table(head: str, rows: Iterable[tuple[str, str]], *, empty: str = "none -> none") -> str:
    """A relation that never changes; rows of one first word are told together."""
    grouped: dict[str, list[str]] = {}
    for left, right in rows:
        grouped.setdefault(left, []).append(right)
    told = [f"{left} -> ({' + '.join(rights)})" for left, rights in grouped.items()]
    return f"fun {head} {{\n  {(chr(10) + '  + ').join(told) or empty}\n}}"


def _sum(head: str, parts: Iterable[str]) -> str:
    told = "\n  + ".join(parts)
    return f"{head} {{\n  {told or 'none'}\n}}"
