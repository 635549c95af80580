"""A verdict is kept under the hash of everything it depends on, so that nothing is proven twice.

usage: proven.py list       what is kept: when it was proven, how long that took, what it is
       proven.py where      the folder
       proven.py forget     remove all of it

The folder is `bailiwick/proofs` in `$XDG_CACHE_HOME` or `~/.cache`; `$BAILIWICK_CACHE` names
another place for `bailiwick`, and `BAILIWICK_CACHE=no` means that everything is proven again.

Rules it keeps:
- The key is a hash of all inputs: sources, scripts, locked packages, versions of tools, machine.
- Only what was proven is kept. A failure, or a proof that did not end in time, is tried again.
- An entry that is damaged, or answers another question, counts as none.
- The folder must be ours and closed to everybody else; otherwise nothing in it is believed.
- A folder that cannot be read or written is no fault: it is said in one line, and all is proven.

    >>> Question("sums", {"share.py": "ab12"}).key == Question("sums", {"share.py": "ab13"}).key
    False
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LAYOUT = 1
ENTRIES_MAX = 500
ENTRY_BYTES_MAX = 1_000_000
LEFTOVER_S = 86_400.0


@dataclass(frozen=True)
class Question:
    """What is to be proven, for people; and all that the answer depends on, by name."""

    what: str
    inputs: Mapping[str, str]

    @property
    def key(self) -> str:
        """One name for this question and no other."""
        return _digest({"layout": LAYOUT, "what": self.what, "inputs": dict(self.inputs)})


@dataclass(frozen=True)
class Verdict:
    """Whether it is proven, in the tool's own words; what came out of it, if anything did."""

    is_proven: bool
    said: str
    took_s: float
    made: bytes = b""
    proven_at: str = ""  # of a kept one: when

    @property
    def is_kept(self) -> bool:
        """It was proven before, not now."""
        return bool(self.proven_at)

    @property
    def when(self) -> str:
        """For people."""
        took = f"{self.took_s:.0f} s"
        return f"kept: proven {self.proven_at} in {took}" if self.is_kept else took


Pose = Callable[[], Question]  # the question, with the inputs as they are now
Prove = Callable[[], Verdict]


def hash_of(content: bytes | str) -> str:
    """SHA-256, in hexadecimal digits."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def hashes_of(folder: Path, paths: Iterable[Path]) -> dict[str, str]:
    """The hash of each file, under its name as seen from the folder."""
    return {str(path.relative_to(folder)): hash_of(path.read_bytes()) for path in sorted(paths)}


def folder_of(environment: Mapping[str, str]) -> Path | None:
    """Where verdicts are kept; None: nowhere."""
    named = environment.get("BAILIWICK_CACHE", "")
    if named == "no":
        return None
    if named:
        return Path(named).absolute() / "proofs"
    base = environment.get("XDG_CACHE_HOME", "")
    if base.startswith("/"):
        return Path(base, "bailiwick", "proofs")
    home = os.path.expanduser("~")
    return Path(home, ".cache", "bailiwick", "proofs") if home.startswith("/") else None


class Verdicts:
    """The verdicts in one folder. Why it cannot be used, if so, is the one line of `notes`."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.notes: list[str] = []

    def ask(self, pose: Pose, prove: Prove) -> Verdict:
        """The kept verdict, or else a new one, which is kept if it is a proof."""
        return self.find(pose()) or self.renew(pose, prove)

    def renew(self, pose: Pose, prove: Prove) -> Verdict:
        """Prove it now, whatever is kept. Who edits an input meanwhile has proven nothing."""
        question = pose()
        verdict = prove()
        if verdict.is_proven and pose() == question:
            self.keep(question, verdict)
        return verdict

    def find(self, question: Question) -> Verdict | None:
        """What is kept about it, if that is whole and ours."""
        with self._opened(is_made=False) as at:
            if at is None:
                return None
            entry = _entry(_read(f"{question.key}.json", at))
            if entry is None or entry["key"] != question.key:
                return None
            if entry["what"] != question.what or entry["inputs"] != dict(question.inputs):
                return None
            made = _read(f"{question.key}.made", at) if entry["made"] else b""
            if made is None or (entry["made"] and hash_of(made) != entry["made"]):
                return None
            return Verdict(True, entry["said"], entry["took_s"], made, entry["proven_at"])

    def keep(self, question: Question, verdict: Verdict) -> None:
        """Write it down; all at once, so that nobody reads half of it."""
        now = time.strftime("%Y-%m-%d %H:%M:%SZ", time.gmtime())
        entry: dict[str, Any] = {
            "layout": LAYOUT,
            "key": question.key,
            "what": question.what,
            "inputs": dict(question.inputs),
            "said": verdict.said,
            "took_s": round(verdict.took_s, 1),
            "made": hash_of(verdict.made) if verdict.made else "",
            "proven_at": now,
        }
        entry["seal"] = _digest(entry)
        with self._opened(is_made=True) as at:
            if at is None:
                return
            try:
                if verdict.made:
                    _write(f"{question.key}.made", verdict.made, at)
                _write(f"{question.key}.json", json.dumps(entry, indent=1).encode(), at)
                _prune(at)
            except OSError as error:
                self._note(f"verdicts cannot be kept in {self.folder}: {error.strerror}")

    def entries(self) -> list[dict[str, Any]]:
        """All that is kept and whole, oldest first."""
        with self._opened(is_made=False) as at:
            if at is None:
                return []
            read = [_entry(_read(name, at)) for name in os.listdir(at) if name.endswith(".json")]
        return sorted((each for each in read if each), key=lambda each: str(each["proven_at"]))

    def forget(self) -> int:
        """Remove all of it."""
        with self._opened(is_made=False) as at:
            names = os.listdir(at) if at is not None else []
            for name in names:
                os.unlink(name, dir_fd=at)
        return len(names)

    @contextmanager
    def _opened(self, *, is_made: bool) -> Iterator[int | None]:
        """The folder itself, held open: what it is called may become another one's meanwhile."""
        at = None
        try:
            at = self._open(is_made=is_made)
            yield at
        finally:
            if at is not None:
                os.close(at)

    def _open(self, *, is_made: bool) -> int | None:
        if self.folder is None:
            return None
        try:
            if is_made:
                self.folder.parent.mkdir(parents=True, exist_ok=True)
                with suppress(FileExistsError):
                    self.folder.mkdir(mode=0o700)
            at = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._note(f"verdicts cannot be kept in {self.folder}: {error.strerror}")
            return None
        found = os.fstat(at)
        if found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077:
            return at
        os.close(at)
        self._note(f"{self.folder} is open to others: nothing in it is believed (chmod 700 it)")
        return None

    def _note(self, line: str) -> None:
        self.notes = self.notes or [line]  # what follows from the first needs no line


def _digest(value: dict[str, Any]) -> str:
    return hash_of(json.dumps(value, sort_keys=True, separators=(",", ":")))


def _entry(content: bytes | None) -> dict[str, Any] | None:
    """What a file says, if it is an entry and as it was written."""
    try:
        entry = json.loads(content or b"")
        seal = entry.pop("seal")
        return entry if entry["layout"] == LAYOUT and seal == _digest(entry) else None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _read(name: str, at: int) -> bytes | None:
    """A plain file of ours in the folder."""
    try:
        number = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
    except OSError:
        return None
    with os.fdopen(number, "rb") as file:
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            return None
        try:
            return file.read()
        except OSError:
            return None


def _write(name: str, content: bytes, at: int) -> None:
    """Under a name that nobody reads; then renamed."""
    draft = f"{secrets.token_hex(8)}.draft"
    number = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=at)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        os.rename(draft, name, src_dir_fd=at, dst_dir_fd=at)
    except OSError:
        with suppress(OSError):
            os.unlink(draft, dir_fd=at)
        raise


def _prune(at: int) -> None:
    """The newest stay; and nothing of a writer that died."""
    written: dict[str, float] = {}
    for name in os.listdir(at):
        with suppress(FileNotFoundError):
            written[name] = os.stat(name, dir_fd=at, follow_symlinks=False).st_mtime
    entries = sorted((each for each in written if each.endswith(".json")), key=written.__getitem__)
    gone = set(entries[:-ENTRIES_MAX])
    gone |= {each.removesuffix(".json") + ".made" for each in gone} & set(written)
    drafts = (each for each in written if each.endswith(".draft"))
    gone |= {each for each in drafts if written[each] < time.time() - LEFTOVER_S}
    for name in gone:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=at)


def main(words: list[str]) -> int:
    verdicts = Verdicts(folder_of(os.environ))
    match words:
        case ["list"]:
            for each in verdicts.entries():
                print(f"{each['proven_at']} {each['took_s']:7.1f} s  {each['what']}")
        case ["where"]:
            print(verdicts.folder or "nowhere: BAILIWICK_CACHE=no")
        case ["forget"]:
            print(f"{verdicts.forget()} files removed")
        case _:
            print(__doc__.split("\n\n")[1], file=sys.stderr)
            return 2
    for line in verdicts.notes:
        print(line, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
