"""What a member needs where people of several projects have jobs: users, and a way to its files.

It has the machine's own root, and mounts of its own which nobody else sees and which end with it.

Rules:

- Users are in a file of the member's own, laid over the machine's. They are added and never
  removed: who has no part any more has no account in the accounting, and his number is nobody
  else's. So nothing of them is on the machine.
- The member's folder is shown at a short path that everybody may pass through. What is secret in it
  is readable by root alone.
- Of users that are given here, and of no other, programs are run by the name of a user.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final

from .home import Home, MemberError, write
from .processes import launch

PLACE: Final = Path("/media")
"""Where the folder is shown: every system has it, and no job's data is there."""
UIDS: Final = range(2_000_000_000, 2_100_000_000)
USERS_MAX: Final = 10_000
NO_USER: Final = "that is no user of this member"
_NAME: Final = re.compile(r"[a-z_][a-z0-9_-]{0,31}\Z")
_OPEN: Final = ("", "etc", "run", "spool", "dev")
_FILES: Final = ("passwd", "group")


def open_home(home: Home) -> None:
    """Have a member's folder where every user can pass through."""
    if home.shown == PLACE:
        return
    if os.geteuid() != 0:
        raise MemberError("people of several projects need a member that has the host, as root")
    if not PLACE.is_dir():
        raise MemberError(f"{PLACE} is needed to show the member's folder to jobs")
    os.umask(0o022)
    for name in _OPEN:
        (home.root / name).chmod(0o755)
    _mount(home.root, PLACE)
    home.shown = PLACE


def add_users(home: Home, users: list[list[object]]) -> None:
    """Have these users, each a name and a number."""
    wanted = dict(_checked(users))
    for name in _FILES:
        path = home.root / f"keys/{name}"
        if not path.exists():
            write(path, Path(f"/etc/{name}").read_bytes())
            path.chmod(0o644)
            _mount(path, Path(f"/etc/{name}"))
        known = {line.split(":")[0] for line in path.read_text().splitlines()}
        line = "{0}:x:{1}:{1}::/:/bin/sh\n" if name == "passwd" else "{0}:x:{1}:\n"
        new = [line.format(user, uid) for user, uid in wanted.items() if user not in known]
        if new:
            # To the file itself, which is laid over the machine's, and in one piece.
            with path.open("ab", buffering=0) as file:
                file.write("".join(new).encode())


def uid_of(home: Home, name: object) -> int:
    """The number of a user that was given here."""
    path = home.root / "keys/passwd"
    for line in path.read_text().splitlines() if path.exists() else ():
        words = line.split(":")
        if words[0] == name and int(words[2]) in UIDS:
            return int(words[2])
    raise MemberError(NO_USER)


def as_user(home: Home, name: object) -> tuple[str, ...]:
    """The words before a program that have it run by a user, where every user may be."""
    uid = uid_of(home, name)
    as_him = ("setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups")
    return (*as_him, "env", "--chdir=/")


def _checked(users: list[list[object]]) -> list[tuple[str, int]]:
    found = []
    for user, uid in users:
        if not isinstance(user, str) or not _NAME.match(user) or uid not in UIDS:
            raise MemberError("a user has a name, and a number among those for people")
        found.append((user, int(str(uid))))
    if len(found) > USERS_MAX or len({uid for _, uid in found}) != len(found):
        raise MemberError(f"at most {USERS_MAX} users, each with a number of his own")
    return found


def _mount(source: Path, target: Path) -> None:
    words = ("mount", "--bind", str(source), str(target))
    process = launch(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, said = process.communicate()
    if process.returncode:
        told = said.decode(errors="replace").strip()
        raise MemberError(f"{target} could not be laid over: {told[-200:]}")
