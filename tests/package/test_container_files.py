"""Holds what the image file, the compose file and the units promise, by reading them."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

import bailiwick.cli.main  # noqa: F401  (knows the commands)
from bailiwick.cli.lazy import load_command
from tests.package.building import ROOT

ENTRY = ["/opt/bailiwick/bin/python", "-I", "/opt/bailiwick/container.py"]
VOLUME = "/var/lib/bailiwick"

Instruction = tuple[str, str]


def _stages() -> list[list[Instruction]]:
    """The instructions of the image file, stage by stage; what stands before the first is first."""
    text = (ROOT / "ops/Containerfile").read_text(encoding="utf-8")
    whole = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    stages: list[list[Instruction]] = [[]]
    for line in filter(None, map(str.strip, whole.splitlines())):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            stages.append([])
        stages[-1].append((word, " ".join(rest.split())))
    return stages


def _all(word: str, stage: list[Instruction]) -> list[str]:
    return [rest for name, rest in stage if name == word]


@pytest.fixture(scope="module")
def last() -> list[Instruction]:
    return _stages()[-1]


@pytest.fixture(scope="module")
def compose() -> Any:
    return YAML(typ="safe").load(ROOT / "ops/compose.yaml")


# --- the image ---------------------------------------------------------------------------------


def test_the_image_is_built_in_two_stages_on_bases_that_can_be_replaced() -> None:
    before, build, last = _stages()
    named = dict(rest.split("=", 1) for rest in _all("ARG", before))
    assert set(named) == {"BUILD_BASE", "BASE"}
    # By name and version alone: whoever builds says from where.
    assert all(re.fullmatch(r"python:3\.11[a-z-]*", base) for base in named.values())
    assert _all("FROM", build) == ["${BUILD_BASE} AS build"]
    assert _all("FROM", last) == ["${BASE}"]


def test_every_package_in_the_image_is_one_that_a_lock_names() -> None:
    runs = " && ".join(rest for stage in _stages() for rest in _all("RUN", stage))
    installs = [step for step in runs.split(" && ") if " pip " in step]
    assert len(installs) == 3
    for step in installs:
        assert "--require-hashes" in step or "--no-index" in step, step
    assert not re.search(r"\b(curl|wget|apt-get|git)\b", runs)
    assert not any(_all("ADD", stage) for stage in _stages())


def test_the_server_in_the_image_is_not_root(last: list[Instruction]) -> None:
    assert _all("USER", last) == ["10001:10001"]
    words = [word for word, _ in last]
    # Nothing is done as root after it, and nothing before it is what the image runs.
    assert "RUN" not in words[words.index("USER") :]
    assert words.index("USER") < words.index("ENTRYPOINT")


def test_the_image_has_one_volume_which_its_user_owns(last: list[Instruction]) -> None:
    assert _all("VOLUME", last) == [VOLUME]
    (prepared,) = _all("RUN", last)
    assert f"chown 10001:10001 {VOLUME}" in prepared
    assert f"HOME={VOLUME}" in _all("ENV", last)[0]
    # What is changed after a volume is declared is lost.
    words = [word for word, _ in last]
    assert words.index("RUN") < words.index("VOLUME")


def test_the_image_runs_without_a_shell_and_is_stopped_by_a_signal(last: list[Instruction]) -> None:
    (entry,) = _all("ENTRYPOINT", last)
    assert json.loads(entry) == ENTRY
    assert _all("CMD", last) == []
    assert _all("STOPSIGNAL", last) == ["SIGTERM"]
    assert _all("EXPOSE", last) == ["7077"]


def test_the_image_asks_the_server_itself_how_it_is(last: list[Instruction]) -> None:
    (check,) = _all("HEALTHCHECK", last)
    assert json.loads(check.partition("CMD ")[2]) == [*ENTRY, "health"]


def test_all_that_is_copied_is_there_and_nothing_else_is_sent() -> None:
    wanted = {
        source
        for stage in _stages()
        for rest in _all("COPY", stage)
        if not rest.startswith("--from")
        for source in rest.split()[:-1]
    }
    assert {name for name in wanted if not (ROOT / name).exists()} == set()
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    rules = [line for line in ignored if line and not line.startswith("#")]
    assert rules[0] == "*"
    sent = {line[1:] for line in rules if line.startswith("!")}
    assert {name.partition("/")[0] for name in wanted} == sent
    assert {"ops/secrets", "**/*.so", "**/__pycache__"} <= set(rules)


# --- the compose file --------------------------------------------------------------------------


def test_the_server_waits_for_a_healthy_database(compose: Any) -> None:
    services = compose["services"]
    assert set(services) == {"server", "database"}
    assert services["server"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert services["database"]["healthcheck"]["test"][:2] == ["CMD", "pg_isready"]


def test_each_service_has_one_volume_and_comes_back_after_a_restart(compose: Any) -> None:
    places = {"server": VOLUME, "database": "/var/lib/postgresql/data"}
    for name, service in compose["services"].items():
        assert service["volumes"] == [f"{name}:{places[name]}"]
        assert service["restart"] == "unless-stopped"
    assert set(compose["volumes"]) == set(compose["services"])


def test_no_password_is_in_the_compose_file(compose: Any) -> None:
    for service in compose["services"].values():
        for key, value in service["environment"].items():
            assert "PASSWORD" not in key or value == "/run/secrets/database_password", key
        assert service["secrets"] == ["database_password"]
    assert re.fullmatch(
        r"postgresql://\w+@database/\w+",
        compose["services"]["server"]["environment"]["BAILIWICK_DATABASE"],
    )
    file = compose["secrets"]["database_password"]["file"]
    ignored = ["git", "-C", str(ROOT), "check-ignore", "-q", str(ROOT / "ops" / file)]
    assert subprocess.run(ignored, check=False).returncode == 0


def test_the_server_is_told_only_what_it_listens_to(compose: Any) -> None:
    entry = (ROOT / "ops/container.py").read_text(encoding="utf-8")
    opening = entry.partition('"""\n\nfrom')[0]
    for name in compose["services"]["server"]["environment"]:
        assert name in opening
        assert f'"{name}"' in entry


def test_every_setting_of_the_image_is_in_the_manual() -> None:
    entry = (ROOT / "ops/container.py").read_text(encoding="utf-8")
    manual = (ROOT / "docs/install.md").read_text(encoding="utf-8")
    names = set(re.findall(r'"(BAILIWICK_\w+)"', entry))
    names |= {f"BAILIWICK_TLS_{word}" for word in ("CERT", "KEY", "CA")}
    assert len(names) >= 8
    assert {name for name in names if f"`{name}`" not in manual} == set()


def test_the_server_in_compose_has_no_more_than_it_needs(compose: Any) -> None:
    server, database = compose["services"]["server"], compose["services"]["database"]
    assert server["read_only"] is True
    assert server["cap_drop"] == ["ALL"]
    assert server["security_opt"] == ["no-new-privileges:true"]
    assert database["networks"] == ["inside"]
    assert compose["networks"]["inside"] == {"internal": True}
    assert "ports" not in database
    # Unless somebody says otherwise, only this machine reaches it.
    assert server["ports"] == ["${BAILIWICK_LISTEN:-127.0.0.1:7077}:7077"]
    build = server["build"]
    assert (ROOT / "ops" / build["context"] / build["dockerfile"]).exists()


# --- the units ---------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["bailiwick.service", "bailiwick-agent.service"])
def test_units_for_systemd_say_options_that_exist(unit: str) -> None:
    text = (ROOT / "ops/systemd" / unit).read_text(encoding="utf-8").replace("\\\n", " ")
    (line,) = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
    program, name, *words = shlex.split(line)
    assert Path(program).name == "bailiwick"
    command = load_command(name)
    if words and not words[0].startswith("-"):
        command = command.commands[words.pop(0)]
    known = {option for each in command.params for option in each.opts}
    assert {word for word in words if word.startswith("--")} - known == set()
