"""Build the documentation site: ``python -m docs.tools.build`` writes ``build/site``.

Rules:

- A broken link, a broken anchor or a page that the navigation lacks fails the build, and the site
  that was there before stays as it was.
- The site asks no other host for anything. The two scripts that it needs come from npm, by the
  hashes in ``package-lock.json``, and are kept under ``build/`` until that file changes.
- Nothing is written outside ``build/``.
- What stands in the way (no npm, no Zensical, no network) is told in one line.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from docs.tools.check_site import find_faults

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "docs" / "tools"
WORK = ROOT / "build" / "docs"

VENDOR = {
    "mermaid.js": "@mermaid-js/tiny/dist/mermaid.tiny.js",
    "iframe-worker.js": "iframe-worker/shim/index.js",
}
"""The scripts that the site brings along, and where npm puts them."""

NPM_S_MAX = 600
OTHER_HOSTS = re.compile(rb"https://(?:unpkg\.com|cdn\.jsdelivr\.net)/[^\"'` ]*")
"""From where the theme's own script would load what a page might need; ours need nothing."""

COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class CannotBuild(Exception):
    """What stands in the way, in one line for a person."""


def build_site(out: Path, *, root: Path = ROOT) -> None:
    """Build the pages of ``root`` into the folder ``out``."""
    stage = WORK / f"stage-{hashlib.sha256(str(out.resolve()).encode()).hexdigest()[:12]}"
    shutil.rmtree(stage, ignore_errors=True)
    try:
        _copy_sources(root, stage)
        site = _run_zensical(stage)
        _forget_other_hosts(site)
        faults = find_faults(site, stage / "mkdocs.yml", stage / "docs")
        if faults:
            raise CannotBuild(
                "the site is not whole:\n" + "\n".join(f"  {each}" for each in faults)
            )
        shutil.rmtree(out, ignore_errors=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(site, out)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def fetch_scripts() -> Path:
    """The folder with the packages of ``package-lock.json``, as npm checked them."""
    lock = (TOOLS / "package-lock.json").read_bytes()
    folder = WORK / f"npm-{hashlib.sha256(lock).hexdigest()[:16]}"
    if not folder.is_dir():
        WORK.mkdir(parents=True, exist_ok=True)
        # Whole or not there at all, whoever else may be fetching.
        with tempfile.TemporaryDirectory(dir=WORK, ignore_cleanup_errors=True) as part:
            _run_npm(Path(part))
            with contextlib.suppress(OSError):  # somebody else was faster
                Path(part).rename(folder)
    return folder / "node_modules"


def _run_npm(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise CannotBuild("npm is needed for the diagrams: install Node.js, then try again")
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(TOOLS / name, folder)
    done = subprocess.run(
        [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=NPM_S_MAX,
        check=False,
    )
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or ["no reason told"]
        raise CannotBuild(f"npm could not fetch the scripts of the diagrams: {lines[0]}")


def _copy_sources(root: Path, stage: Path) -> None:
    """What the site is made of, in a folder where the tool may leave its traces."""
    shutil.copytree(root / "docs", stage / "docs", ignore=shutil.ignore_patterns("tools"))
    shutil.copy(root / "mkdocs.yml", stage)
    modules = fetch_scripts()
    vendor = stage / "docs" / "assets" / "vendor"
    vendor.mkdir()
    for name, path in VENDOR.items():
        shutil.copy(modules / path, vendor / name)


def _run_zensical(stage: Path) -> Path:
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean"],
        cwd=stage,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    told = COLOURS.sub("", done.stdout)
    if "No module named zensical" in told:
        raise CannotBuild("zensical is needed: pip install -r requirements/docs.txt")
    if done.returncode != 0:
        raise CannotBuild("Zensical refuses:\n" + told.partition("Traceback")[0].rstrip())
    return stage / "build" / "site"


def _forget_other_hosts(site: Path) -> None:
    """Take the addresses of other hosts out of the theme's script."""
    for script in site.rglob("*.js"):
        text = script.read_bytes()
        if OTHER_HOSTS.search(text):
            script.write_bytes(OTHER_HOSTS.sub(b"about:blank", text))


def main() -> int:
    """Build, and say where; what stands in the way is told, with exit code 1."""
    parser = argparse.ArgumentParser(prog="python -m docs.tools.build", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="build/site")
    parser.add_argument("--fetch", action="store_true", help="only fetch the scripts, for later")
    arguments = parser.parse_args()
    out = arguments.out
    try:
        if arguments.fetch:
            fetch_scripts()
            return 0
        build_site(out)
    except CannotBuild as why:
        print(f"docs: {why}", file=sys.stderr)
        return 1
    print(f"the documentation is in {out}: open {out / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
