"""One target under atheris, in a process of its own, with bounds on runs, time and memory.

Rules:

- The modules under test are instrumented as they are imported, so the child imports them first.
- What ends a run other than its bounds is a finding: another exception, one input that takes too
  long, too much memory. The input is kept, and told in hexadecimal if it is short.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz import load_targets

INSTRUMENTED = ["bailiwick.attestation", "bailiwick.capability"]
INPUT_BYTES_MAX = 64 * 1024
ROOT = Path(__file__).resolve().parents[2]
_SPARE_S = 240
"""For the child to start, to instrument, and to go through the seeds."""
_SHOWN_BYTES = 512
_KILLED = (-9, 124, 137)
"""How ``timeout`` ends when its child was killed."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one run may do."""

    runs: int = 20_000
    seconds: int = 60
    input_s: int = 10
    """One input; a parser needs far under a second."""
    rss_mb: int = 1024
    seed: int = 0
    """Zero lets libFuzzer choose."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What went wrong, and the input that shows it, if libFuzzer could keep it."""

    told: str
    data: bytes | None


def has_atheris() -> bool:
    """Whether the fuzzer is installed."""
    return find_spec("atheris") is not None


def fuzz(module: str, key: str, bounds: Bounds) -> Finding | None:
    """Run one target; None if nothing was found."""
    with TemporaryDirectory(prefix="bailiwick-fuzz-") as folder:
        kept = Path(folder) / "kept"
        kept.mkdir()
        values = (bounds.runs, bounds.seconds, bounds.input_s, bounds.rss_mb, bounds.seed)
        child = [sys.executable, "-m", __name__, module, key, folder, *map(str, values)]
        # A process begins with the peak of memory of the one that made it, and libFuzzer goes by
        # the peak. So a small one stands between: the one that ends a child that does not end.
        limit_s = bounds.seconds + bounds.input_s + _SPARE_S
        done = subprocess.run(
            ["timeout", "--signal=KILL", str(limit_s), *child],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode == 0:
            return None
        if done.returncode in _KILLED:
            return Finding(f"the run did not end: {_tail(done.stdout)}", None)
        data = next((path.read_bytes() for path in sorted(kept.iterdir())), None)
        return Finding(_told(done.returncode, done.stdout, data), data)


def _told(code: int, output: bytes, data: bytes | None) -> str:
    shown = "no input was kept"
    if data is not None:
        more = " ..." if len(data) > _SHOWN_BYTES else ""
        shown = f"{len(data)} bytes: {data[:_SHOWN_BYTES].hex()}{more}"
    return f"exit code {code}\n{_tail(output)}\ninput of {shown}"


def _tail(output: bytes) -> str:
    return "\n".join(output.decode("utf-8", "replace").splitlines()[-25:])


def _run_child(module: str, key: str, folder: str, *bounds: str) -> None:
    """In the child: write the seeds, then fuzz until a bound is reached. Does not return."""
    import atheris

    with atheris.instrument_imports(include=[*INSTRUMENTED, module]):
        targets = {target.key: target for target in load_targets(module)}
    runs, seconds, input_s, rss_mb, seed = bounds
    corpus = Path(folder) / "corpus"
    corpus.mkdir()
    for number, raw in enumerate(targets[key].seeds):
        (corpus / str(number)).write_bytes(raw)
    options = [
        f"-runs={runs}",
        f"-max_total_time={seconds}",
        f"-timeout={input_s}",
        f"-rss_limit_mb={rss_mb}",
        f"-max_len={INPUT_BYTES_MAX}",
        f"-seed={seed}",
        f"-artifact_prefix={folder}/kept/",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *options, str(corpus)], targets[key].feed)
    atheris.Fuzz()


if __name__ == "__main__":
    _run_child(*sys.argv[1:])
