"""The web's sources and how they are built: locked, tested, small, and never in the way."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bailiwick.cli.main import app as cli
from setup import web
from tests.support.tools import need

ROOT = Path(__file__).resolve().parents[2]
FIRST_VIEW_BYTES_MAX = 300_000
LINES_MAX = 400
COLUMNS_MAX = 180
"""Of a line of markup; prose and logic keep to a hundred."""


def run_npm(*words: str, folder: Path = web.SOURCES) -> subprocess.CompletedProcess[str]:
    """What npm says, in the folder of the sources."""
    _, npm = web.find_node()
    return subprocess.run(
        [npm, "--silent", *words], cwd=folder, capture_output=True, text=True, check=False
    )


def sources(*suffixes: str) -> list[Path]:
    """Our own files."""
    return [path for path in web.source_files() if path.suffix in suffixes]


def test_the_types_are_those_of_the_committed_contract() -> None:
    need("web")
    node, _ = web.find_node()
    folder = web.SOURCES / "api-types"
    made = subprocess.run(
        [node, "generate.js", "--print"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    committed = (web.SOURCES / "src" / "api" / "schema.ts").read_text()
    assert made.stdout == committed, "npm run generate, in web/api-types"


def test_its_own_tests_pass() -> None:
    need("web")
    done = run_npm("test")
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_is_built_is_of_these_sources_and_has_twins() -> None:
    need("web")
    assert web.is_current(), "make web"
    scripts = sorted((web.BUILT / "assets").glob("*.js"))
    assert scripts
    assert [
        path.name for path in scripts if path.stat().st_size > 4_000 and not twin(path).exists()
    ] == []
    index = (web.BUILT / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=", index)


def twin(path: Path) -> Path:
    return path.with_name(f"{path.name}.br")


def test_the_first_view_is_small() -> None:
    """What an operator's home loads: the page, and every script that it names, and theirs."""
    need("web")
    wanted, seen, total = {"index.html"}, set[str](), 0
    while wanted:
        name = wanted.pop()
        seen.add(name)
        path = web.BUILT / name
        compressed = path.with_name(f"{path.name}.gz")
        total += (compressed if compressed.exists() else path).stat().st_size
        if name != "index.html" and not re.search(r"assets/(?:index|operator|page|list)-", name):
            continue
        text = path.read_text()
        near = r'(?:from|import)\s*"\./([\w.-]+\.js)"'
        linked = r'(?:src|href)="/(assets/[\w.-]+)"'
        found = {f"assets/{each}" for each in re.findall(near, text)} | set(
            re.findall(linked, text)
        )
        if "assets/index-" in name:
            found |= {
                f"assets/{each.name}" for each in (web.BUILT / "assets").glob("operator-*.js")
            }
        wanted |= found - seen
    assert total < FIRST_VIEW_BYTES_MAX
    assert any("operator-" in name for name in seen)


def test_locks_name_hashes_and_no_address() -> None:
    for folder in (web.SOURCES, web.SOURCES / "api-types"):
        text = (folder / "package-lock.json").read_text()
        packages = json.loads(text)["packages"]
        assert "resolved" not in text
        assert not re.search(r'"integrity": "(?!sha512-)', text)
        assert all("integrity" in row for name, row in packages.items() if name)
        wanted = json.loads((folder / "package.json").read_text())
        versions = wanted.get("dependencies", {}) | wanted["devDependencies"]
        assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in versions.values())
        settings = (folder / ".npmrc").read_text()
        assert {"omit-lockfile-registry-resolved=true", "ignore-scripts=true"} <= set(
            settings.splitlines()
        )


def test_files_are_small_and_say_nothing_of_elsewhere() -> None:
    for path in sources(".ts", ".tsx", ".css", ".js"):
        if path.name == "schema.ts":
            continue
        text = path.read_text()
        lines = text.splitlines()
        name = path.relative_to(ROOT).as_posix()
        assert len(lines) <= LINES_MAX, name
        assert max(map(len, lines)) <= COLUMNS_MAX, name
        assert "dangerouslySetInnerHTML" not in text, name
        assert not re.search(r"https?://(?!127\.0\.0\.1)", text), name


def test_every_command_that_a_page_shows_is_one_of_the_command_line() -> None:
    found = set()
    for path in sources(".ts", ".tsx"):
        found |= set(re.findall(r"bailiwick ([a-z-]+(?: [a-z][a-z-]*)?)", _shown(path.read_text())))
    assert len(found) > 6
    for words in sorted(found):
        # A group that does not know the verb says so before it looks for --help.
        told = CliRunner().invoke(cli, [*words.split(), "--help"])
        assert told.exit_code == 0, (words, told.output)


def _shown(text: str) -> str:
    """Commands stand in strings or in code elements."""
    strings = re.findall(r'command=(?:"([^"]+)"|\{`([^`]+)`\})', text)
    codes = re.findall(r"<code[^>]*>([^<]+)</code>", text)
    return "\n".join(["".join(each) for each in strings] + codes)


def test_without_node_a_run_goes_on_and_a_build_that_must_be_says_why(tmp_path: Path) -> None:
    """A copy of the script over other sources, on a machine that has no Node."""
    (tmp_path / "setup").mkdir()
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "package.json").write_text("{}")
    script = tmp_path / "setup" / "web.py"
    script.write_bytes((ROOT / "setup" / "web.py").read_bytes())
    environment = {**os.environ, "PATH": str(tmp_path)}
    ends = []
    for how in ("run", "must"):
        done = subprocess.run(
            [sys.executable, str(script), how],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        ends.append(done.returncode)
        assert done.stderr.startswith("==> the web is not built: no Node with npm here")
        assert done.stderr.count("\n") == 1
    assert ends == [0, 1]
    assert not (tmp_path / "src").exists()


STUB = """#!/bin/sh
case "$1" in
venv) mkdir -p {node}/bin;;
pip) {pip};;
esac
"""
"""A stranger's installer, as far as it matters here."""
GIVES = """for name in node npm; do cp {here}/$name {node}/bin/; done"""


@pytest.mark.parametrize("is_reached", [True, False])
def test_without_node_the_locked_one_is_installed_where_it_can_be(
    tmp_path: Path, is_reached: bool
) -> None:
    """PATH has no Node, but the installer; the registry of Python packages answers, or does not."""
    for folder in ("setup", "web", "requirements", "bin"):
        (tmp_path / folder).mkdir()
    for name in ("package.json", "package-lock.json"):
        (tmp_path / "web" / name).write_text("{}")
    shutil.copy(ROOT / "requirements" / "node.txt", tmp_path / "requirements")
    script = Path(shutil.copy(ROOT / "setup" / "web.py", tmp_path / "setup"))
    node, here = tmp_path / ".node", tmp_path / "kept"
    here.mkdir()
    pip = GIVES.format(here=here, node=node) if is_reached else "echo 'error: no route'; exit 2"
    programs = {
        tmp_path / "bin" / "uv": STUB.format(node=node, pip=pip),
        here / "node": "#!/bin/sh\necho v24.0.0\n",
        here / "npm": "#!/bin/sh\necho 'npm error stub says no'; exit 1\n",
    }
    for path, text in programs.items():
        path.write_text(text)
        path.chmod(0o755)
    for tool in ("mkdir", "cp"):
        (tmp_path / "bin" / tool).symlink_to(str(shutil.which(tool)))
    done = subprocess.run(
        [sys.executable, str(script), "run"],
        env={**os.environ, "PATH": str(tmp_path / "bin")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert "installing Node of requirements/node.txt" in done.stdout
    assert done.stderr.count("\n") == 1
    if is_reached:
        assert "npm install --no-save failed: npm error stub says no" in done.stderr
        assert (node / ".locked").is_file()
    else:
        assert "none could be installed: uv pip install failed: error: no route" in done.stderr
        assert not node.exists()


def test_an_install_that_does_not_agree_with_the_lock_is_refused(tmp_path: Path) -> None:
    (tmp_path / "node_modules").mkdir()
    row = {"packages": {"node_modules/left": {"integrity": "sha512-a"}}}
    (tmp_path / "package-lock.json").write_text(json.dumps(row))
    hidden = tmp_path / "node_modules" / ".package-lock.json"
    hidden.write_text(json.dumps(row))
    web.check_hashes(tmp_path)
    row["packages"]["node_modules/right"] = {"integrity": "sha512-b"}
    hidden.write_text(json.dumps(row))
    with pytest.raises(web.NotBuilt, match="node_modules/right is not in the lock"):
        web.check_hashes(tmp_path)
    assert not (tmp_path / "node_modules").exists()
