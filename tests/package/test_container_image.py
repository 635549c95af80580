"""The image is really built and really run, by an engine with a store of its own."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.package.building import NO_INDEX, ROOT, run
from tests.package.engine import Engine, engine_with_base
from tests.support.ports import free_port
from tests.support.waiting import WAIT_S, until

IMAGE = "localhost/bailiwick-test"
VOLUME = "/var/lib/bailiwick"
LIKE_COMPOSE = [
    *("--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL"),
    *("--security-opt", "no-new-privileges", "--volume", f"state:{VOLUME}"),
]

LOGIN = re.compile(r"^ +bailiwick (login .*)$", re.M)


@pytest.fixture
def engine() -> Iterator[Engine]:
    yield from engine_with_base()


def _build(engine: Engine) -> None:
    done = engine.build(ROOT, ROOT / "ops/Containerfile", tag=IMAGE)
    lacks_index = NO_INDEX.search(done.stdout + done.stderr) is not None
    if done.returncode != 0 and lacks_index and not os.environ.get("CI"):
        pytest.skip("no package index can be reached from a build")
    assert done.returncode == 0, done.stderr


def _start(engine: Engine, name: str, port: str) -> None:
    """Run the image as the compose file does, until its own health check is content."""
    engine.start(name, *LIKE_COMPOSE, "--env", f"BAILIWICK_PORT={port}", IMAGE)
    end = time.monotonic() + WAIT_S
    while engine.call("healthcheck", "run", name).returncode != 0:
        assert time.monotonic() < end, engine.call("logs", name).stdout
        time.sleep(1)


def _stop(engine: Engine, name: str) -> None:
    assert engine.call("stop", "--time", "60", name).returncode == 0
    ended = engine.call("inspect", name, "--format", "{{.State.ExitCode}}")
    assert ended.stdout == "0\n", engine.call("logs", name).stderr


@pytest.mark.timeout(1800)
def test_the_image_is_built_runs_as_nobody_special_and_keeps_its_volume(
    engine: Engine, tmp_path: Path
) -> None:
    _build(engine)
    (image,) = json.loads(engine.call("inspect", IMAGE).stdout)
    assert image["User"] == "10001:10001"
    assert list(image["Config"]["Volumes"]) == [VOLUME]
    assert image["Healthcheck"]["Test"][0] == "CMD"

    engine.find_way_to_run()
    port = str(free_port())
    _start(engine, "first", port)
    assert engine.call("exec", "first", "id", "-u").stdout == "10001\n"
    # It is healthy a moment before it prints for whom it was made.
    login = until(lambda: LOGIN.search(engine.call("logs", "first").stdout), "a login is printed")
    ca = tmp_path / "ca.pem"
    ca.write_text(engine.call("exec", "first", "cat", f"{VOLUME}/tls/ca.pem").stdout)
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    words = login[1].replace(f"{VOLUME}/tls/ca.pem", str(ca)).split()
    ours = [str(Path(sys.executable).with_name("bailiwick"))]
    assert run([*ours, *words], env=env).returncode == 0
    assert "admin" in run([*ours, "whoami"], env=env).stdout
    _stop(engine, "first")

    _start(engine, "second", port)
    assert "admin" in run([*ours, "whoami"], env=env).stdout, "the same keys, the same session"
    _stop(engine, "second")
