"""Somebody who reads a page at a terminal and types what it says, with an empty home.

A page's console blocks are what is typed and what is then seen:

- A line that begins with ``$ `` is typed; a backslash at its end goes on in the next line. What
  stands behind ``# `` after two spaces is a comment; ``# exit code 3`` says how the command ends,
  which otherwise is with 0.
- Lines below are what is seen, if there are any. A gap may be wider or narrower, as columns are.
  ``...`` stands for anything in a line, and alone in a line for any lines.
- A word of ``PLACEHOLDERS`` in what is seen stands for one word, and from then on, where it is
  typed, for the same.
- ``^C`` ends what runs in that terminal. Blocks with the same title share a terminal: its folder
  and the variables that were exported there.
- A block titled ``save as NAME`` is a file that the reader saves.

Rules:

- Nothing of a page is changed but the port, since 7077 may be taken on this machine, and ``CODE``
  and its like, which the page says to replace.
- What only looks at something is repeated until it shows what the page says, as a reader would
  look again; there is a bound. Whatever changes something is typed once.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.supervisor import STATE
from tests.support.waiting import WAIT_S

ROOT = Path(__file__).resolve().parents[2]
PLACEHOLDERS = (
    *(f"{name}_CODE" for name in ("ADAS", "BENS", "CLEOS", "DANS", "EVES", "GRACES")),
    *("CODE", "NODE", "CORES", "INVOICE", "STEP", "DIGEST"),
)
LOOKS = ("list", "show", "explain", "report", "logs", "fleet", "status", "whoami")
"""Words of commands that change nothing, so that they may be asked again."""

LAB = "make lab"
"""In the clone, not in the reader's folder."""

_FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]*)\")?\n(.*?)^```$", re.M | re.S)
_COMMENT = re.compile(r"\s{2,}# (.*)$")
_PORT = "7077"
NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class Typed:
    """One command of a page, and what the page says comes of it."""

    command: str
    shown: tuple[str, ...] = ()
    exit_code: int = 0
    terminal: str = ""

    @property
    def is_look(self) -> bool:
        """Whether it changes nothing."""
        words = self.command.split()
        is_reading = "call" in words[1:3] and " read -- " in self.command
        verb_at = 4 if words[1:2] == ["app"] else 3  # the app's nouns have two words
        is_known = any(word in LOOKS for word in words[1:verb_at])
        return words[:1] == ["bailiwick"] and (is_known or is_reading)


@dataclass(frozen=True)
class Interrupt:
    """Ctrl-C in a terminal."""

    terminal: str


@dataclass(frozen=True)
class Saved:
    """A file that the reader saves."""

    name: str
    text: str


Step = Typed | Interrupt | Saved


def read_steps(page: str) -> list[Step]:
    """Everything that a page has its reader do, in order."""
    steps: list[Step] = []
    for language, title, body in _FENCE.findall(page):
        if title.startswith("save as "):
            steps.append(Saved(title.removeprefix("save as "), body))
        elif language == "console":
            steps += _typed(body.splitlines(), title)
    return steps


def _typed(lines: list[str], terminal: str) -> Iterator[Step]:
    parts: list[list[str]] = []
    for line in lines:
        if line.startswith("$ ") or line == "^C":
            parts.append([line])
        elif parts:
            parts[-1].append(line)
        else:
            raise AssertionError(f"nothing was typed before this is seen: {line!r}")
    for part in parts:
        if part[0] == "^C":
            yield Interrupt(terminal)
            continue
        typed = [part.pop(0)[2:]]
        while typed[-1].endswith("\\"):
            typed.append(part.pop(0))
        yield _step("\n".join(typed), part, terminal)


def _step(typed: str, seen: list[str], terminal: str) -> Typed:
    comment = _COMMENT.search(typed)
    code = re.fullmatch(r"exit code (\d)", comment[1]) if comment else None
    command = _COMMENT.sub("", typed).strip()
    return Typed(command, tuple(seen), int(code[1]) if code else 0, terminal)


@dataclass
class Reader:
    """Somebody at one or more terminals in one folder."""

    folder: Path
    env: dict[str, str]
    servers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)
    """What each placeholder stands for."""
    port: str = _PORT
    patience_s: float = WAIT_S
    """How long a server, or a lab, may take to begin."""
    lab: tuple[str, ...] = ()
    """What begins where a page says ``make lab``: the same, where nobody else is in its way."""

    # -- a server in a terminal of its own -----------------------------------------------------

    def begin(self, command: str, terminal: str = "") -> None:
        """Start a server, which stays."""
        assert terminal not in self.servers, f"something runs in {terminal!r} already"
        # The usual port may be taken on this machine; nothing else is changed.
        words = [*self.lab] if command == LAB else shlex.split(command)
        with (
            self._log(terminal, "out").open("wb") as out,
            self._log(terminal, "err").open("wb") as err,
        ):
            self.servers[terminal] = subprocess.Popen(
                [*words, "--port", "0"],
                cwd=ROOT if command == LAB else self.folder,
                env=self.env,
                stdout=out,
                stderr=err,
            )

    def printed(self, terminal: str = "") -> str:
        """What the server in a terminal has printed, once it has printed a login."""

        def look() -> str | None:
            server = self.servers[terminal]
            assert server.poll() is None, self._log(terminal, "err").read_text()
            text = self._log(terminal, "out").read_text()
            return text if re.search(r"^ +bailiwick login \S.*\n", text, re.M) else None

        return wait_for(look, "no login was printed", wait_s=self.patience_s)

    def interrupt(self, terminal: str = "") -> None:
        """End the server in a terminal, which must end well."""
        server = self.servers.pop(terminal)
        server.send_signal(signal.SIGINT)
        try:
            code = server.wait(WAIT_S)
        finally:
            server.kill()
        assert code == 0, self._log(terminal, "err").read_text()

    def leave(self) -> None:
        """End every server, whatever becomes of another, and then every job that still runs."""
        with ExitStack() as stack:
            stack.callback(self._end_jobs)
            stack.callback(self._end_noted)
            for terminal in [*self.servers]:
                stack.callback(self.interrupt, terminal)

    def _end_noted(self) -> None:
        """What a page starts beside the terminal has its number in a file."""
        for path in self.folder.glob("*.pid"):
            with suppress(ProcessLookupError, ValueError):
                os.kill(int(path.read_text()), signal.SIGKILL)

    def _end_jobs(self) -> None:
        """Jobs outlive their server. A page that was followed to its end has none left."""
        states = self.folder.parent.rglob(f"*/{STATE}")
        for root in {path.parent.parent for path in states}:
            executor = LocalExecutor(root)
            for lease_id in executor.leases():
                executor.tear_down(lease_id)

    def _log(self, terminal: str, name: str) -> Path:
        # Beside the folder, so that a page finds in it what it made itself.
        return self.folder.parent / f"{name}-{re.sub('[^a-z0-9]+', '-', terminal.lower())}"

    # -- commands that end ---------------------------------------------------------------------

    def type(self, command: str, terminal: str = "") -> subprocess.CompletedProcess[str]:
        """One command; the folder and the exported variables of the terminal are kept."""
        return self._run(command, terminal, stderr=subprocess.PIPE)

    def see(self, command: str, terminal: str = "") -> subprocess.CompletedProcess[str]:
        """The same, with everything on one screen."""
        return self._run(command, terminal, stderr=subprocess.STDOUT)

    def _run(self, command: str, terminal: str, *, stderr: int) -> subprocess.CompletedProcess[str]:
        kept = self._log(terminal, "shell")
        script = (
            f"if [ -f '{kept}' ]; then . '{kept}'; fi\n{self._where()}{command}\nended=$?\n"
            f"{{ export -p; printf 'cd %q\\n' \"$PWD\"; }} > '{kept}'\nexit $ended"
        )
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            timeout=WAIT_S,
            check=False,
        )
        print(f"$ {command}\n{done.stdout}{done.stderr or ''}[{done.returncode}]")
        return done

    def _where(self) -> str:
        """Where the server is now; a later one may have another port than a terminal knows."""
        server = self.env.get("BAILIWICK_SERVER")
        return f"export BAILIWICK_SERVER={server}\n" if server else ""

    # -- a whole page --------------------------------------------------------------------------

    def follow(self, steps: list[Step]) -> None:
        """Do all of it, and compare what is seen."""
        for step in steps:
            match step:
                case Saved(name, text):
                    (self.folder / name).write_text(text)
                case Interrupt(terminal):
                    self.interrupt(terminal)
                case Typed() if step.command == LAB or step.command.startswith("bailiwick up"):
                    self.known.pop("CODE", None)  # each start prints another
                    self.begin(step.command, step.terminal)
                    self._compare(step, self._as_usual(self.printed(step.terminal)))
                case Typed():
                    self._do(step)

    def _do(self, step: Typed) -> None:
        command = self._filled(step.command)

        def look() -> str | None:
            done = self.see(command, step.terminal)
            difference = self._difference(step, done)
            if difference is None:
                self._learn(step, self._as_usual(done.stdout))
            return difference

        difference = look()
        until = time.monotonic() + WAIT_S
        while difference is not None and step.is_look and time.monotonic() < until:
            time.sleep(0.5)
            difference = look()
        assert difference is None, f"$ {command}\n{difference}"

    def _filled(self, command: str) -> str:
        for word in PLACEHOLDERS:
            if re.search(rf"\b{word}\b", command):
                assert word in self.known, f"nobody told what {word} is: {command}"
                command = self.known[word].join(re.split(rf"\b{word}\b", command))
        return command

    def _difference(self, step: Typed, done: subprocess.CompletedProcess[str]) -> str | None:
        if done.returncode != step.exit_code:
            return f"ended with {done.returncode}, not {step.exit_code}:\n{done.stdout}"
        seen = self._as_usual(done.stdout)
        if step.shown and not match_shown(step.shown, seen, self.known):
            return "the page shows:\n" + "\n".join(step.shown) + f"\nand this was seen:\n{seen}"
        return None

    def _compare(self, step: Typed, seen: str) -> None:
        assert match_shown(step.shown, seen, self.known), f"{step.shown}\n{seen}"
        self._learn(step, seen)

    def _learn(self, step: Typed, seen: str) -> None:
        found = match_shown(step.shown, seen, self.known) if step.shown else None
        self.known |= found.groupdict() if found else {}

    def _as_usual(self, seen: str) -> str:
        """What would be seen if the server had its usual port."""
        for port in re.findall(r"listens on http://127\.0\.0\.1:(\d+)", seen):
            self.port = port
            # Whoever has the usual port need not say where the server is.
            self.env["BAILIWICK_SERVER"] = f"http://127.0.0.1:{port}"
        here, usual = (f"127.0.0.1:{port}" for port in (self.port, _PORT))
        return seen.replace(here, usual).replace(f"login --server http://{usual} ", "login ")


def match_shown(
    shown: tuple[str, ...], seen: str, known: Mapping[str, str] = NOTHING
) -> re.Match[str] | None:
    """Whether what is seen is what a page shows, with its placeholders."""
    pattern = "".join(_pattern(line) for line in shown if line.strip())
    told: set[str] = set()

    def place(found: re.Match[str]) -> str:
        word = found[0]
        if word in known:
            return re.escape(known[word])
        if word in told:
            return f"(?P={word})"
        told.add(word)
        return rf"(?P<{word}>\S+)"

    pattern = re.sub(rf"\b(?:{'|'.join(PLACEHOLDERS)})\b", place, pattern)
    lines = [" ".join(line.split()) for line in seen.splitlines()]
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in lines if line))


def _pattern(line: str) -> str:
    line = " ".join(line.split())
    if line == "...":
        return r"(?:.*\n)*?"
    if set(line) == {"─"}:
        return "─+\n"
    return re.escape(line).replace(r"\.\.\.", r".*?") + "\n"


def wait_for(look: Callable[[], str | None], why: str, *, wait_s: float = WAIT_S) -> str:
    """What a look finds, in the end."""
    until = time.monotonic() + wait_s
    while time.monotonic() < until:
        found = look()
        if found is not None:
            return found
        time.sleep(0.1)
    raise AssertionError(why)


def new_reader(folder: Path) -> Reader:
    """Somebody with an empty folder and an empty home, and the command on the path."""
    home, work = folder / "home", folder / "work"
    home.mkdir()
    work.mkdir()
    found = shutil.which("bailiwick", path=str(ROOT / ".venv/bin"))
    assert found is not None, "make setup puts the command there"
    env = {
        "HOME": str(home),
        "PATH": f"{Path(found).parent}:{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
    }
    return Reader(work, env)
