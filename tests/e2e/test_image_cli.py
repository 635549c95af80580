"""Images, as whoever runs a machine fetches them and as a job runs in one."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from bailiwick.cli.main import main
from bailiwick.executors.local.modes import JobMode, can_sandbox
from tests.support.command_line import log_out
from tests.support.http_server import served_jobs
from tests.support.oci_images import folder, layer, pack, programs, row
from tests.support.small_registry import SECRET, USER, SmallRegistry, small_registry

ZSTD = "application/vnd.oci.image.layer.v1.tar+zstd"


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Cli = Callable[..., Ended]


@pytest.fixture
def cli(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Cli:
    """The command line in this process."""
    log_out(monkeypatch, tmp_path)

    def run(*words: str) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main([*words])
        told, code = capfdbinary.readouterr(), ended.value.code
        out, err = told.out.decode(), told.err.decode()
        assert SECRET not in out + err
        return Ended(code if isinstance(code, int) else 0, out, err)

    return run


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[SmallRegistry]:
    marks = [row("etc/mark", b"of the image\n"), folder("var/tmp"), folder("root")]
    layers = [layer(*programs("sh")), layer(*marks)]
    tools, packed = tmp_path / "there/tools", tmp_path / "there/packed"
    pack(tools, *layers, env=("PATH=/bin", "COLOUR=blue"))
    pack(packed, layers[1], media=ZSTD)
    with small_registry(tools=tools, packed=packed) as found:
        yield found


def digest_of(registry: SmallRegistry, name: str = "tools") -> str:
    index = json.loads((registry.layouts[name] / "index.json").read_text())
    return str(index["manifests"][0]["digest"])


def reference(registry: SmallRegistry, name: str = "tools") -> str:
    return f"{registry.host}/{name}@{digest_of(registry, name)}"


def credentials(at: Path, registry: SmallRegistry, mode: int = 0o600) -> str:
    told = base64.b64encode(f"{USER}:{SECRET}".encode()).decode()
    at.write_text(json.dumps({"auths": {registry.host: {"auth": told}}}))
    at.chmod(mode)
    return str(at)


def test_an_image_is_fetched_by_digest_shown_and_removed(
    cli: Cli, registry: SmallRegistry, tmp_path: Path
) -> None:
    registry.is_open = False
    data, pull = str(tmp_path / "data"), ("image", "pull", reference(registry))
    assert cli(*pull, "--data-dir", data).code == 2  # who asks is not said
    key = credentials(tmp_path / "auth.json", registry)
    found = cli(*pull, "--data-dir", data, "--credentials", key, "-o", "json")
    assert found.code == 0, found
    told = json.loads(found.out)
    assert (told["name"], told["digest"]) == ("tools", digest_of(registry))
    assert (told["layers"], told["env"]["COLOUR"]) == (2, "blue")
    count = len(registry.asked)
    assert cli(*pull, "--data-dir", data).code == 0  # it is there
    assert len(registry.asked) == count
    assert digest_of(registry)[:20] in cli("image", "list", "--data-dir", data).out
    assert "blue" in cli("image", "show", "tools", "--data-dir", data).out
    assert os.listdir(tmp_path / "data/images") == ["tools"]
    assert cli("image", "remove", "tools", "--data-dir", data).code == 0
    assert cli("image", "show", "tools", "--data-dir", data).code == 2
    assert os.listdir(tmp_path / "data/images") == []


def test_what_is_not_what_its_digest_says_is_not_kept(
    cli: Cli, registry: SmallRegistry, tmp_path: Path
) -> None:
    data, pull = str(tmp_path / "data"), ("image", "pull", reference(registry))
    manifest = registry.layouts["tools"] / "blobs/sha256" / digest_of(registry)[7:]
    first = json.loads(manifest.read_text())["layers"][0]
    for instead in (b"x" * first["size"], b"x" * (first["size"] + 1), b"x"):
        registry.instead = {first["digest"]: instead}
        assert cli(*pull, "--data-dir", data).code == 2
    registry.instead = {digest_of(registry): b"{}"}
    assert cli(*pull, "--data-dir", data).code == 2
    evil = json.dumps({"layers": [{**first, "digest": "sha256:../../x", "size": 1}]}).encode()
    digest = f"sha256:{hashlib.sha256(evil).hexdigest()}"
    registry.instead = {digest: evil}
    where = f"{registry.host}/tools@{digest}"
    assert cli("image", "pull", where, "--data-dir", data).code == 2
    assert os.listdir(tmp_path / "data/images") == []


def test_what_could_not_be_unpacked_is_refused_before_it_is_fetched(
    cli: Cli, registry: SmallRegistry, tmp_path: Path
) -> None:
    found = cli("image", "pull", reference(registry, "packed"), "--data-dir", str(tmp_path / "d"))
    assert found.code == 2
    assert "zstd" in found.err
    assert "gzip packs it again" in found.err
    assert not any("/blobs/" in path for path in registry.asked)


def test_another_image_under_a_name_and_a_file_that_others_read_are_refused(
    cli: Cli, registry: SmallRegistry, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    pack(data / "images/tools", layer(row("x", b"x")))
    pull = ("image", "pull", reference(registry), "--data-dir", str(data))
    assert "remove it, or give --as" in cli(*pull).err
    key = credentials(tmp_path / "auth.json", registry, 0o644)
    assert "only you can read" in cli(*pull, "--as", "own", "--credentials", key).err
    assert cli(*pull, "--as", "own").code == 0
    assert cli("image", "pull", "example.org/tools:latest").code == 2


@pytest.mark.parametrize("mode", [JobMode.SANDBOX, JobMode.TRUSTED])
def test_a_job_runs_in_an_image_that_was_fetched_or_is_refused_with_the_word(
    cli: Cli,
    registry: SmallRegistry,
    *,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mode: JobMode,
) -> None:
    if mode is JobMode.SANDBOX and not can_sandbox():
        pytest.skip("this machine and user cannot have a sandbox")
    with served_jobs(tmp_path / "all", mode=mode) as served:
        monkeypatch.setenv("BAILIWICK_SERVER", served.url)
        monkeypatch.setenv("BAILIWICK_TOKEN", served.token("ann"))
        monkeypatch.setenv("BAILIWICK_TENANT", "lab")
        pulled = cli("image", "pull", reference(registry), "--data-dir", str(tmp_path / "all"))
        assert pulled.code == 0, pulled
        image = f"tools@{digest_of(registry)}"
        text = "read mark < /etc/mark; echo $mark $COLOUR"
        ended = cli("submit", "--follow", "--image", image, "--", "sh", "-c", text)
        found = json.loads(cli("job", "list", "-o", "json").out)["items"][0]
    assert found["image"] == image
    if mode is JobMode.SANDBOX:
        assert (ended.code, ended.out) == (0, "of the image blue\n"), ended
    else:
        assert (ended.code, found["reason"]) == (1, "image_not_usable"), ended
