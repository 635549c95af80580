"""Nagini as a thing to ask: one process for many questions, and what its answers depend on.

Rules it keeps:
- The process starts at the first question and ends with the `with` block, its solvers too.
- No answer within the time limit is no proof. The process is ended; the next question starts a new
  one.
- What could change an answer from outside is not passed on: another solver, options for Java.
"""

from __future__ import annotations

import json
import os
import platform
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from proven import hash_of, hashes_of  # noqa: E402

ROOT = HERE.parents[1]
ENVIRONMENT = ROOT / ".nagini"
PYTHON = ENVIRONMENT / "bin" / "python"
SITE = next(ENVIRONMENT.glob("lib/python*/site-packages"), ENVIRONMENT)
LOCKED = ROOT / "requirements" / "nagini.txt"

# A session lasts minutes: to compile well, or to collect in parallel, costs more than it saves.
JAVA_OPTIONS = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
PASSED_ON = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")


class ToolMissing(Exception):
    """Nagini cannot run here."""


@dataclass(frozen=True)
class Said:
    """Nagini's answer. No words: there was none within the time limit."""

    is_verified: bool
    words: str
    took_s: float

    @property
    def is_refused(self) -> bool:
        """It found a fault: not the same as to find no proof."""
        return not self.is_verified and self.words.startswith("Verification failed")

    @property
    def is_out_of_time(self) -> bool:
        """It neither proved nor refused."""
        return not self.is_verified and not self.words


class Nagini:
    """The verifier, from its first question to the end of a `with` block."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: TemporaryDirectory[str] | None = None

    def __enter__(self) -> Nagini:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def verify(self, text: str, member: str, *, limit_s: float) -> Said:
        """Verify one member of a module."""
        start = time.monotonic()
        question = json.dumps({"text": text, "member": member}).encode() + b"\n"
        try:
            answer = json.loads(self._ask(question, start + limit_s))
        except TimeoutError:
            self.end()
            return Said(False, "", time.monotonic() - start)
        except EOFError:
            return Said(False, f"Nagini died\n{self.end()}", time.monotonic() - start)
        except BaseException:
            self.end()
            raise
        words = str(answer["said"]).strip()
        is_verified = answer["is_verified"] is True and words.startswith("Verification successful")
        return Said(is_verified, words, time.monotonic() - start)

    def end(self) -> str:
        """Its solvers are processes too: all of its session ends. What it last complained of."""
        process, folder = self._process, self._folder
        self._process = self._folder = None
        if process is not None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            with suppress(OSError), process:  # waits, and closes what is open
                pass
        if folder is None:
            return ""
        complaint = Path(folder.name, "stderr").read_text(errors="replace")
        folder.cleanup()
        return complaint[-2000:]

    def _start(self) -> subprocess.Popen[bytes]:
        environment = passed_on() | {
            "JAVA_HOME": str(java()[0]),
            "JAVA_TOOL_OPTIONS": JAVA_OPTIONS,
            "LC_ALL": "C.UTF-8",
        }
        self._folder = TemporaryDirectory()
        work = Path(self._folder.name, "work")
        work.mkdir()
        with Path(self._folder.name, "stderr").open("wb") as stderr:
            return subprocess.Popen(
                [PYTHON, "-I", HERE / "session.py", str(os.getpid())],
                cwd=work,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
            )

    def _ask(self, question: bytes, deadline: float) -> bytes:
        """A line for a line. EOFError: it died. TimeoutError: it has not answered."""
        self._process = process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(question)
            process.stdin.flush()
        except BrokenPipeError:
            raise EOFError from None
        answer = b""
        while not answer.endswith(b"\n"):
            left_s = deadline - time.monotonic()
            if left_s <= 0 or not select.select([process.stdout], [], [], left_s)[0]:
                raise TimeoutError
            more = os.read(process.stdout.fileno(), 65_536)
            if not more:
                raise EOFError
            answer += more
        return answer


def passed_on() -> dict[str, str]:
    """The part of our environment that the tools see."""
    return {each: os.environ[each] for each in PASSED_ON if each in os.environ}


@cache
def java() -> tuple[Path, str]:
    """The home and the version of the Java that Nagini will run on."""
    home = os.environ.get("JAVA_HOME", "")
    command = f"{home}/bin/java" if home else shutil.which("java")
    if not command or not Path(command).exists():
        raise ToolMissing("Java is not installed")
    told = subprocess.run(
        [command, "-XshowSettings:properties", "-version"],
        text=True,
        capture_output=True,
        env=passed_on(),
        check=True,
    )
    found = dict(re.findall(r"^ +(\S+) = (.*)$", told.stderr, re.MULTILINE))
    version = f"{found['java.vm.name']} {found['java.vm.version']}"
    return Path(found["java.home"]), version


def packages() -> str:
    """Each package in Nagini's environment with its version, and the Python there."""
    if not PYTHON.exists():
        raise ToolMissing("Nagini is not installed")
    names = [each.name.lower() for each in SITE.glob("*.dist-info")]
    settings = (ENVIRONMENT / "pyvenv.cfg").read_text()
    python = re.findall(r"^version(?:_info)? *= *(.*)$", settings, re.MULTILINE)
    return " ".join([*python, *sorted(names)])


def contents() -> str:
    """One hash of the translator, the verifier and the solver as they lie there."""
    folders = (SITE / "nagini_translation", SITE / "nagini_contracts")
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    sources = [path for path in found if "__pycache__" not in path.parts]
    hashes = hashes_of(ENVIRONMENT, [*sources, ENVIRONMENT / "bin" / "z3"])
    return hash_of(json.dumps(hashes, sort_keys=True))


@cache
def versions() -> dict[str, str]:
    """All that an answer depends on beside the question and our own scripts."""
    return {
        "java": java()[1],
        "packages": packages(),
        "contents": contents(),
        "machine": f"{platform.system()} {platform.machine()}",
    }
