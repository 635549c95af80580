"""Trust on the command line, over a real server: the policy, a node's standing, lease tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.test_trust import Machine, document, register
from tests.e2e.test_client_cli import Cli, be, cli, done, one_line
from tests.support.http_house import HttpHouse, http_house
from tests.support.http_server import Served

__all__ = ["cli"]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpHouse]:
    with http_house(tmp_path_factory.mktemp("trust")) as made:
        register(made, "t-1")
        yield made


@pytest.fixture(scope="module")
def served(house: HttpHouse) -> Iterator[Served]:
    found = Served(house.app, house.token)
    found.open()
    try:
        yield found
    finally:
        found.close()


@pytest.fixture
def admin(served: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    be(served, "fleet_admin", monkeypatch)
    return cli


@pytest.fixture
def policy(admin: Cli, tmp_path: Path) -> Path:
    """A policy that counts, in a file."""
    path = tmp_path / "policy.json"
    path.write_text(document())
    done(admin("attest", "policy", "set", str(path), "-y"))
    return path


def test_a_policy_is_shown_as_it_was_set_and_can_be_tried_first(
    admin: Cli, policy: Path, tmp_path: Path
) -> None:
    shown = done(admin("attest", "policy", "show"))
    assert json.loads(shown) == json.loads(policy.read_text())
    other = tmp_path / "other.json"
    other.write_text(document(max_age_s=60))
    told = done(admin("attest", "policy", "set", str(other), "--dry-run"))
    assert "dry run" in told
    assert done(admin("attest", "policy", "show")) == shown
    digest = json.loads(done(admin("attest", "policy", "show", "-o", "json")))["digest"]
    assert done(admin("attest", "policy", "show", "-o", "name")).strip() == digest


def test_a_mistake_in_a_policy_is_told_with_its_field(admin: Cli, tmp_path: Path) -> None:
    path = tmp_path / "policy.json"
    for text, field in (
        (document(require="ed25519 and tpm2"), "pools.test.tpm2"),
        (document(max_age=300), "pools.test"),
        ("{}}", "policy"),
    ):
        path.write_text(text)
        one_line(admin("attest", "policy", "set", str(path), "-y"), 2, field, "correlation id")
    one_line(admin("attest", "policy", "set", str(tmp_path / "none"), "-y"), 2, "FILE")
    path.write_bytes(b"\xff\xfe")
    one_line(admin("attest", "policy", "set", str(path), "-y"), 2, "UTF-8")
    path.write_text(" " * 50_000)
    one_line(admin("attest", "policy", "set", str(path), "-y"), 2, "at most")


def test_a_nodes_standing_is_told_and_its_quarantine_lifted(
    admin: Cli, house: HttpHouse, policy: Path
) -> None:
    del policy
    told = done(admin("node", "attestation", "t-1"))
    assert "unattested" in told
    assert "ed25519, every 5m (pool test)" in " ".join(told.split())
    machine = Machine(house)
    machine.enrol()
    machine.attest()
    told = done(admin("node", "attestation", "t-1"))
    assert all(word in told for word in ("trusted", "firmware=", "ed25519"))
    machine.attest(label="b")
    assert "bad_signature" in done(admin("node", "attestation", "t-1"))
    one_line(admin("node", "lift", "t-1"), 3, "has not proven", "override")
    one_line(admin("node", "lift", "t-1", "--override"), 2, "--note")
    machine.attest()
    assert done(admin("node", "lift", "t-1")) == "node t-1 is trusted again\n"
    machine.attest(label="b")
    told = done(admin("node", "lift", "t-1", "--override", "--note", "seen myself", "-y"))
    assert "trusted" not in told
    assert "takes no lease before" in told
    assert "no: unattested" in done(admin("node", "list"))
    assert house.records("node_quarantine_lifted")[-1]["note"] == "seen myself"
    gone = admin("node", "enrolment-withdraw", "t-1", "--kind", "ed25519", "-y")
    assert "count no more" in done(gone)
    again = admin("node", "enrolment-withdraw", "t-1", "--kind", "ed25519", "-y")
    one_line(again, 2, "no enrolment")
    assert "no pool names it" in done(admin("node", "attestation", "n1"))


def test_a_lease_token_is_printed_once_and_a_refusal_is_told_in_words(
    admin: Cli, house: HttpHouse, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    be(served, "project_member@lab", monkeypatch)
    ended = admin("lease", "token", "lease-1", "--operation", "mem_read", "--ttl", "1m")
    assert done(ended).startswith("bwb1.")
    assert "kept nowhere" in ended.err
    before = len(house.records("token_issued"))
    dry = done(admin("lease", "token", "1", "--operation", "mem_read", "--dry-run"))
    assert "dry run" in dry
    told = json.loads(done(admin("lease", "token", "1", "--operation", "mem_read", "-o", "json")))
    assert told["claims"]["resource"] == "lease-1"
    assert len(house.records("token_issued")) == before + 1
    for more, word in (
        (("--ttl", "10m"), "5 minutes"),
        (("--audience", "n9"), "not on that node"),
        (("--generation", "5"), "renewed"),
    ):
        ended = admin("lease", "token", "1", "--operation", "mem_read", *more)
        one_line(ended, 3, "no token", word)
    assert admin("lease", "token", "1", "--operation", "fly").code == 2
    one_line(admin("lease", "token", "2", "--operation", "mem_read"), 2, "not yours")
