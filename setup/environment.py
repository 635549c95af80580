"""Makes .venv and keeps it as the lock files say: `run` for running, `dev` for developing.

    setup/with-python.sh environment.py run

Rules:

- Wheels only, each with the hash that the lock names. No root, no apt, no compiler: where one is,
  the compiled core is built, and a line says so.
- What was done is written down in .venv and not done again until a lock file, the interpreter or
  the folder's own path changes.
- A fault is one line that says what to do, and leaves no half-made .venv behind.
- Standard library only: it runs before anything is installed.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / ".set-up.json"
LOCKS = ROOT / "requirements"
LAYERS = {
    "run": ["build.txt", "server.txt"],
    "dev": ["build.txt", "dev.txt", "docs.txt"],
}
"""Which lock files each way of working needs."""
WITHIN = {"server.txt": "dev.txt"}
"""A lock file whose packages another holds too, at the same versions."""
OWN_INPUTS = ["pyproject.toml", "hatch_build.py"]
"""What the installation of Bailiwick itself depends on: its metadata, not its modules."""
UV_VERSION_MIN = (0, 5)


class BadMachine(Exception):
    """This machine cannot have it; the message says why and what to do, in one line."""


@dataclass
class Done:
    """What .venv holds already, by the hash of what it was made from."""

    python: str
    root: str
    steps: dict[str, str] = field(default_factory=dict)

    def save(self) -> None:
        """Write it down in one step."""
        unfinished = STAMP.with_suffix(".new")
        unfinished.write_text(json.dumps(vars(self), indent=1))
        unfinished.replace(STAMP)


def main(arguments: list[str]) -> int:
    """Set up; on a fault remove what this call began."""
    if len(arguments) != 1 or arguments[0] not in LAYERS:
        print(f"usage: environment.py {'|'.join(LAYERS)}", file=sys.stderr)
        return 2
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
    begun = False
    try:
        done = load_done()
        if done is None:
            begun = True
            done = make_environment()
        set_up(done, LAYERS[arguments[0]])
        begun = False
        return 0
    except BadMachine as reason:
        print(f"cannot set up: {reason}", file=sys.stderr)
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
    except OSError as error:
        print(f"cannot set up: {explain_os_error(error)}", file=sys.stderr)
    finally:
        # Also for an interrupt that comes while a fault is being told: the installer was
        # interrupted with us, and may be heard of first.
        if begun:
            remove_unfinished()
    return 1


class Interrupted:
    """Whether somebody asked us to stop."""

    asked = False


def interrupt(*_: object) -> None:
    """Stop. It is written down too: Python drops what is raised while it tidies up an object."""
    Interrupted.asked = True
    raise KeyboardInterrupt


def remove_unfinished() -> None:
    """Remove .venv, whoever loses patience meanwhile."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    shutil.rmtree(VENV, ignore_errors=True)
    if VENV.exists():
        print(f"{VENV} is half made and could not be removed: remove it", file=sys.stderr)


def load_done() -> Done | None:
    """What is there already, or None where it must be made: absent, half made, moved, outdated."""
    try:
        done = Done(**json.loads(STAMP.read_text()))
    except (OSError, ValueError, TypeError):
        return None
    if done.root != str(ROOT) or done.python != sys.version:
        return None
    works = subprocess.run([venv_python(), "-c", ""], capture_output=True, check=False)
    return done if works.returncode == 0 else None


def venv_python() -> str:
    return str(VENV / "bin" / "python")


def say(what: str) -> None:
    """One line for the person who waits."""
    print(f"==> {what}", flush=True)


# --- the environment and its installer ---------------------------------------------------------


def make_environment() -> Done:
    """An empty .venv and a uv to fill it with."""
    say(f"making .venv with Python {sys.version.split()[0]}")
    if VENV.is_symlink() or VENV.is_file():
        raise BadMachine(f"{VENV} is not a folder: remove it")
    shutil.rmtree(VENV, ignore_errors=True)
    own = find_uv()
    if own is not None:
        quietly([own, "venv", "--quiet", "--no-project", "--python", sys.executable, str(VENV)])
        return Done(sys.version, str(ROOT))
    made = subprocess.run(venv_command(), capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise BadMachine(explain_venv(made.stdout + made.stderr))
    lock = LOCKS / "uv.txt"
    say(f"installing uv, which installs the rest{download_size(lock)}")
    pip = [*pip_command(), "--disable-pip-version-check", "-q", "install", "--only-binary", ":all:"]
    quietly([*pip, "--require-hashes", "-r", str(lock)])
    return Done(sys.version, str(ROOT))


def find_uv() -> str | None:
    """The machine's own uv, if it is one that knows what we ask of it."""
    found = shutil.which("uv")
    if found is None:
        return None
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=False)
    version = re.match(r"uv (\d+)\.(\d+)", told.stdout)
    is_new = version is not None and (int(version[1]), int(version[2])) >= UV_VERSION_MIN
    return found if is_new else None


def has(module: str) -> bool:
    """Whether this Python can import it. Debian packages ensurepip and pip apart from Python."""
    asked = [sys.executable, "-c", f"import {module}"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def venv_command() -> list[str]:
    """How this Python makes an environment: with pip in it, or from outside with its own pip."""
    if not has("venv"):
        raise BadMachine(missing_venv())
    if has("ensurepip"):
        return [sys.executable, "-m", "venv", str(VENV)]
    if has("pip"):
        return [sys.executable, "-m", "venv", "--without-pip", str(VENV)]
    raise BadMachine(missing_venv())


def pip_command() -> list[str]:
    """The environment's pip, or this Python's own told to work on the environment."""
    if (VENV / "bin" / "pip").exists():
        return [venv_python(), "-m", "pip"]
    told = subprocess.run(
        [sys.executable, "-m", "pip", "--version"], capture_output=True, text=True, check=False
    )
    version = re.match(r"pip (\d+)\.(\d+)", told.stdout)
    if version is None or (int(version[1]), int(version[2])) < (22, 3):
        raise BadMachine(
            f"{told.stdout.split(' from ')[0].strip() or 'pip'} is too old to fill an environment "
            f"that has no pip of its own: install {debian_package()}, or uv, or a newer pip"
        )
    return [sys.executable, "-m", "pip", "--python", venv_python()]


def debian_package() -> str:
    return "python{}.{}-venv".format(*sys.version_info)


def missing_venv() -> str:
    return (
        f"{sys.executable} has no module to make environments with: install {debian_package()} "
        "(its name on Debian and Ubuntu), or uv"
    )


def explain_venv(output: str) -> str:
    return explain_output(output) or f"python -m venv failed: {last_line(output)}"


# --- filling it --------------------------------------------------------------------------------


def set_up(done: Done, locks: list[str]) -> None:
    """Every step that is not done yet."""
    uv = str(VENV / "bin" / "uv") if (VENV / "bin" / "uv").exists() else find_uv()
    if uv is None:
        raise BadMachine("the uv that made .venv is gone: `make clean`, then try again")
    for name in locks:
        if not (is_installed(done, name) or is_installed(done, WITHIN.get(name, name))):
            install_lock(uv, LOCKS / name)
            done.steps[name] = hash_files([LOCKS / name])
            done.save()
    built = subprocess.run([venv_python(), str(ROOT / "hatch_build.py")], cwd=ROOT, check=False)
    if built.returncode != 0:
        raise BadMachine(
            "the compiled core did not build (see above); BAILIWICK_PURE=1 goes without it"
        )
    hashed = hash_files([ROOT / name for name in OWN_INPUTS])
    if done.steps.get("bailiwick") != hashed:
        say("installing bailiwick from this folder")
        quietly([*uv_install(uv), "--no-deps", "--no-build-isolation", "-e", str(ROOT)])
        done.steps["bailiwick"] = hashed
        done.save()


def is_installed(done: Done, name: str) -> bool:
    """Whether .venv holds what this lock file says now."""
    return done.steps.get(name) == hash_files([LOCKS / name])


def install_lock(uv: str, lock: Path) -> None:
    """All packages of one lock file."""
    count = len(re.findall(r"^\w", lock.read_text(), re.MULTILINE))
    say(f"installing {count} packages of requirements/{lock.name}{download_size(lock)}")
    began = time.monotonic()
    command = [*uv_install(uv), "--only-binary", ":all:", "--require-hashes", "-r", str(lock)]
    quietly(command, shows_progress=True)
    print(f"    done in {time.monotonic() - began:.1f} s", flush=True)


def uv_install(uv: str) -> list[str]:
    """How uv is called."""
    return [uv, "pip", "install", "--quiet", "--python", venv_python(), "--no-config"]


def can_write_cache() -> bool:
    """Whether uv can keep what it downloads; a read-only home is no reason to stop."""
    named = os.environ.get("UV_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(named or os.path.join(base, "uv"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".probe-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError:
        return False
    return True


def download_size(lock: Path) -> str:
    """How much a lock file makes a machine with nothing download; `make lock` writes it down."""
    sizes = re.search(rf"^# download: .*\b{os.uname().machine} ([\d.]+ MB)", lock.read_text(), re.M)
    return f" ({sizes[1]} to download, less what is cached)" if sizes else ""


def hash_files(paths: list[Path]) -> str:
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()


# --- running, and telling what went wrong ------------------------------------------------------


def quietly(command: list[str], *, shows_progress: bool = False) -> None:
    """Run an installer; what it printed is read for a reason only if it fails."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | installer_settings(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    try:
        output = wait_for(process, shows_progress=shows_progress and sys.stdout.isatty())
    except BaseException:
        process.kill()
        process.wait()
        raise
    if process.returncode != 0:
        reason = explain_output(output) or last_line(output)
        raise BadMachine(f"{reason}{'' if os.environ.get('VERBOSE') else ' (VERBOSE=1 shows all)'}")


def wait_for(process: subprocess.Popen[str], *, shows_progress: bool) -> str:
    """Its output; on a terminal a running count of seconds shows that something happens."""
    began = time.monotonic()
    while True:
        if Interrupted.asked:
            raise KeyboardInterrupt
        try:
            output, _ = process.communicate(timeout=1)
        except subprocess.TimeoutExpired:
            if shows_progress:
                print(f"\r    {time.monotonic() - began:.0f} s", end="", flush=True)
            continue
        if shows_progress:
            print("\r", end="")
        if process.returncode != 0 and os.environ.get("VERBOSE"):
            print(output, file=sys.stderr)
        return output


@functools.cache
def installer_settings() -> dict[str, str]:
    """A mirror, certificates and a proxy that pip is configured with hold for uv too.

    A home that cannot be written means no cache, and nothing else.
    """
    asked = [sys.executable, "-m", "pip", "config", "list"]
    told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    found = dict(
        re.findall(r"^(?:global|install|:env:)\.([\w-]+)='([^'\n]*)'$", told, re.MULTILINE)
    )
    wanted = {
        "UV_DEFAULT_INDEX": found.get("index-url"),
        "SSL_CERT_FILE": found.get("cert"),
        "ALL_PROXY": found.get("proxy"),
        "UV_NO_CACHE": None if can_write_cache() else "1",
    }
    return {name: value for name, value in wanted.items() if value and name not in os.environ}


SIGNS = [
    (
        r"hash mismatch|do not match the hashes|hashes do not match",
        "a downloaded package is not the one that was locked: do not install it by another way; "
        "clear the cache of the mirror you use and try again",
    ),
    (r"no space left", "the disk is full: .venv needs about 200 MB"),
    (
        r"read-only file system|permission denied",
        "cannot write in {root}: check its owner and rights",
    ),
    (
        r"\b407\b|proxy authentication",
        "the proxy {proxy} wants a name and a password: put them into HTTPS_PROXY",
    ),
    (
        r"certificate|invalid peer|unknownissuer|ssl",
        "the package index shows a certificate that is not trusted here: set SSL_CERT_FILE to your "
        "organisation's certificates",
    ),
    (
        r"error sending request|failed to fetch|dns|name resolution|connection|connect|unreachable|"
        r"timed? ?out|could not fetch|newconnectionerror|from versions: none",
        "the package index cannot be reached{through}: check the network; behind a proxy set "
        "HTTPS_PROXY, with a mirror set UV_DEFAULT_INDEX",
    ),
    (
        r"no matching distribution|no wheels? with|wheels are required|no solution found",
        "no wheel for this platform or Python: {detail}",
    ),
]
"""What an installer prints on a bad machine, and the line for a person; the first holds."""


def explain_output(output: str) -> str | None:
    """The one line for what an installer printed, if it is something known."""
    proxy = next((os.environ[name] for name in PROXIES if os.environ.get(name)), "")
    shown = re.sub(r"//[^@/]*@", "//...@", proxy)
    for sign, line in SIGNS:
        if re.search(sign, output, re.IGNORECASE):
            through = f" through the proxy {shown}" if proxy else ""
            return line.format(root=ROOT, proxy=shown, through=through, detail=last_line(output))
    return None


PROXIES = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy"]


def explain_os_error(error: OSError) -> str:
    return explain_output(str(error)) or str(error)


def last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason was given"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
