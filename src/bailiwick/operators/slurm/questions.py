"""Asking members: each question is a program run inside one, and several are asked at once.

Rules:

- A member that is new is brought its program with the first question; one run inside it does both.
- A question has its own bound: what it says that it may take, and a little for the way. A member
  whose machine is gone does not hold up the others for longer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from bailiwick.client import ClientError
from bailiwick.operators.kit import Kit, RanInside, packing
from bailiwick.operators.kit.packing import PROGRAM
from bailiwick.vocab.errors import BailiwickError
from bailiwick.wire.instances import InstanceMember

ASK: Final = ("python3", "-I", "-S", "run/ask.py")
"""Laid there by the member when it begins."""
ASK_SHARED: Final = ("python3", "-I", "-S", "-c", packing.ASK)
"""The same, and bringing a member its program: what the roles of a shared runtime name."""
_WAY_S: Final = 45.0
_BEGIN_S: Final = 20
AT_ONCE: Final = 8
"""Questions on their way; the platform has a bound for those of one caller."""


def question_of(question: Mapping[str, Any], *, is_shared: bool) -> tuple[tuple[str, ...], bytes]:
    """The program that asks a member which has its program, and what that program is given."""
    data = json.dumps(question).encode()
    return (ASK_SHARED, b"0\n" + data) if is_shared else (ASK, data)


class MemberAway(Exception):
    """A member does not answer, or will not do what it is asked."""


@dataclass(frozen=True, slots=True)
class MemberPrograms:
    """The programs of members, by the version of the app that names them."""

    own: bytes
    """That of this operator, for versions that nobody brought another for."""
    packed: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def read(cls, own: bytes, folders: Iterable[Path]) -> MemberPrograms:
        """With those that were packed into these folders."""
        found = {}
        for folder in folders:
            manifest = json.loads((folder / "manifest.json").read_text())
            digest = manifest["artifacts"]["member"]["digest"].partition(":")[2]
            found[str(manifest["version"])] = (folder / "sha256" / digest).read_bytes()
        return cls(own, found)

    def of(self, version: str) -> bytes:
        """The one that a member of this version begins; it begins no other."""
        return self.packed.get(version, self.own)


@dataclass(frozen=True, slots=True)
class MemberTalk:
    """The way to the members of one instance."""

    kit: Kit
    programs: MemberPrograms
    pool: ThreadPoolExecutor
    is_shared: bool = False
    """Whether members let in nothing but what their role names to ask them."""

    def ask(
        self, member: InstanceMember, question: Mapping[str, Any], *, is_new: bool = False
    ) -> dict[str, Any]:
        """The answer of a member; one that is new, or has no program, is brought it."""
        key = member.component_key
        within_s = float(question.get("wait_s", 0)) + _WAY_S
        try:
            ran = None if is_new else self._ask(member, question, within_s=within_s)
            if ran is None or not ran.is_well:
                ran = self._begin(member, question, within_s=within_s)
        except (ClientError, BailiwickError) as error:
            raise MemberAway(f"{key} cannot be asked: {error}") from error
        if not ran.is_well:
            raise MemberAway(f"{key} does not answer: {ran.why}")
        answer: dict[str, Any] = json.loads(ran.stdout)
        if "error" in answer:
            raise MemberAway(f"{key} will not: {answer['error']}")
        return answer

    def ask_all(
        self, questions: Mapping[str, tuple[InstanceMember, Mapping[str, Any]]]
    ) -> dict[str, dict[str, Any] | MemberAway]:
        """The answers of several, asked at once; for each who gave none, why."""

        def one(row: tuple[InstanceMember, Mapping[str, Any]]) -> dict[str, Any] | MemberAway:
            try:
                return self.ask(*row)
            except MemberAway as away:
                return away

        return dict(zip(questions, self.pool.map(one, questions.values()), strict=True))

    def _ask(
        self, member: InstanceMember, question: Mapping[str, Any], *, within_s: float
    ) -> RanInside:
        command, given = question_of(question, is_shared=self.is_shared)
        return self._run(member, command, given=given, within_s=within_s)

    def _begin(
        self, member: InstanceMember, question: Mapping[str, Any], *, within_s: float
    ) -> RanInside:
        program, data = self.programs.of(member.version), json.dumps(question).encode()
        if self.is_shared:
            given = f"{len(program)}\n".encode() + program + data
            return self._run(member, ASK_SHARED, given=given, within_s=within_s)
        return self._run(member, _begin(len(program)), given=program + data, within_s=within_s)

    def _run(
        self, member: InstanceMember, command: tuple[str, ...], *, given: bytes, within_s: float
    ) -> RanInside:
        return self.kit.run_inside(member.member_id, command, given=given, within_s=within_s)


def _begin(size: int) -> tuple[str, ...]:
    """The command that takes so many bytes for the program, and then passes on what follows."""
    here = f".{PROGRAM}.$$"
    return (
        "/bin/sh",
        "-c",
        f"head -c {size} > {here} && mv {here} {PROGRAM} || exit 1; n=0; "
        f"while [ ! -S run/door ] && [ $n -lt {10 * _BEGIN_S} ]; do sleep 0.1; n=$((n+1)); done; "
        f"exec {' '.join(ASK)}",
    )
