"""The command line over a real server: every noun, every format, every exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import IO, NamedTuple

import pytest
from ruamel.yaml import YAML

from bailiwick import NodeCapacity
from bailiwick.agent.server import HttpServer
from bailiwick.cli.main import main
from bailiwick.cli.shared import jobs as job_waiting
from bailiwick.cli.shared import session as session_module
from bailiwick.cli.shared.completions import complete_leases, complete_nodes, complete_tenants
from bailiwick.client.errors import Refusal
from bailiwick.journal import VerifierKey, parse_vkey
from bailiwick.kernel import Settings
from bailiwick.store import load_or_create_key
from bailiwick.wire.base import Page
from bailiwick.wire.fleet import Node
from bailiwick.wire.jobs import Job
from bailiwick.wire.work import Lease
from tests.support.command_line import COMMAND, log_out
from tests.support.http_server import Served, served_house, served_jobs
from tests.support.waiting import WAIT_S, until


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Cli = Callable[..., Ended]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_house(tmp_path_factory.mktemp("house")) as served:
        yield served


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_jobs(tmp_path_factory.mktemp("jobs") / "all") as served:
        yield served


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command line in this process, with a home of its own."""
    log_out(monkeypatch, tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def run(*arguments: str) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        told = capsys.readouterr()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0, told.out, told.err)

    return run


def be(served: Served, who: str, monkeypatch: pytest.MonkeyPatch, tenant: str = "lab") -> None:
    """Be somebody, by the environment."""
    monkeypatch.setenv("BAILIWICK_SERVER", served.url)
    monkeypatch.setenv("BAILIWICK_TOKEN", served.token(who))
    monkeypatch.setenv("BAILIWICK_TENANT", tenant)


@pytest.fixture
def admin(house: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    be(house, "fleet_admin", monkeypatch)
    return cli


@pytest.fixture
def ann(jobs: Served, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Cli:
    be(jobs, "ann", monkeypatch)
    return cli


def done(ended: Ended) -> str:
    assert ended.code == 0, ended
    return ended.out


def one_line(ended: Ended, code: int, *words: str) -> None:
    assert ended.code == code, ended
    assert ended.out == ""
    assert ended.err.startswith("bailiwick: ")
    assert ended.err.count("\n") == 1
    assert all(word in ended.err for word in words), ended.err


# -- sessions --------------------------------------------------------------------------------


def test_a_login_makes_a_session_that_only_its_owner_can_read(
    house: Served, admin: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = done(admin("token", "issue", "tenant_admin@lab", "--login-code")).strip()
    monkeypatch.delenv("BAILIWICK_TOKEN")
    monkeypatch.delenv("BAILIWICK_TENANT")
    told = done(admin("login", code, "--server", house.url))
    assert "you are tenant_admin@lab" in told
    assert "default tenant and project: lab/p" in told
    kept = session_module.contexts_path()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert json.loads(kept.read_text())["contexts"]["default"]["tenant"] == "lab"
    assert "tenant_admin  lab" in done(admin("whoami"))
    one_line(admin("login", code), 3, "lets nobody in", "correlation id")
    assert done(admin("logout")) == "logged out\n"
    one_line(admin("whoami"), 3, "bailiwick login CODE")
    assert done(admin("logout")) == "nobody is logged in\n"


def test_a_code_that_is_spent_is_not_answered_with_the_advice_to_log_in(admin: Cli) -> None:
    one_line(admin("login", "spent"), 3, "code lets nobody in", "--login-code", "correlation id")
    one_line(admin("login", "spent", "--ttl", "13h"), 2, "--ttl", "1s to 12h", "13h")


def test_whom_to_trust_is_a_file_that_is_there(cli: Cli, tmp_path: Path) -> None:
    no_pem = tmp_path / "no.pem"
    no_pem.write_text("nothing")
    for file in (no_pem, tmp_path / "absent"):
        words = ("login", "code", "--server", "https://127.0.0.1:9", "--ca-file", str(file))
        one_line(cli(*words), 2, "--ca-file", "certificates")


def test_a_role_is_given_where_it_belongs(admin: Cli) -> None:
    one_line(admin("member", "set", "eve", "project_viewer"), 2, "--project")
    one_line(admin("member", "set", "eve", "fleet_auditor"), 2, "--fleet")


def test_what_ends_work_needs_a_yes_where_nobody_can_be_asked(
    admin: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO())
    one_line(admin("node", "drain", "n1"), 2, "Drain n1?", "-y")


def test_the_public_key_of_a_server_is_told_from_its_folder(cli: Cli, tmp_path: Path) -> None:
    one_line(cli("journal", "vkey", str(tmp_path)), 2, "key file", "data directory of a server")
    assert [*tmp_path.iterdir()] == []
    signer = load_or_create_key(tmp_path / "signer.key", "bailiwick")
    told = done(cli("journal", "vkey", str(tmp_path))).strip()
    assert parse_vkey(told) == VerifierKey.of(signer)


def test_the_version_is_an_option_too(cli: Cli) -> None:
    assert done(cli("--version")) == done(cli("version"))


def test_the_context_is_shown_and_set(cli: Cli) -> None:
    done(cli("context", "--tenant", "lab", "--project", "p"))
    told = done(cli("context"))
    assert "lab" in told
    done(cli("context", "--tenant", "other"))
    kept = session_module.stored_session()
    assert (kept.tenant, kept.project) == ("other", None)


def test_a_new_server_is_not_shown_the_token_of_the_old(cli: Cli) -> None:
    session_module.save_session(session_module.Session(token="secret", tenant="lab"))
    done(cli("context", "--server", "https://elsewhere"))
    assert session_module.stored_session().token is None


def test_a_session_file_that_is_none_is_told(cli: Cli) -> None:
    path = session_module.session_path()
    path.parent.mkdir(parents=True)
    path.write_text("[1]")
    one_line(cli("context"), 2, "the session is damaged", "log in again")


def test_a_project_of_the_file_does_not_leak_into_another_tenant(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    session_module.save_session(session_module.Session(tenant="lab", project="p"))
    monkeypatch.setenv("BAILIWICK_TENANT", "rival")
    found = session_module.load_session()
    assert (found.tenant, found.project) == ("rival", None)


class Terminal(StringIO):
    """A person at a keyboard."""

    def isatty(self) -> bool:
        return True


def test_a_person_is_asked_and_may_say_no(admin: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    ended = admin("lease", "evict", "1")
    assert ended.code == 3
    assert "Evict lease-1?" in ended.err
    assert "nothing was changed" in ended.err
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    done(admin("tenant", "change", "rival", "--close"))
    done(admin("tenant", "change", "rival", "--open"))


# -- formats and lists -----------------------------------------------------------------------

LISTS = [
    ("tenant", "list"),
    ("project", "list"),
    ("member", "list"),
    ("member", "list", "--fleet"),
    ("account", "list"),
    ("token", "list"),
    ("node", "list"),
    ("lease", "list"),
    ("queue", "list"),
    ("job", "list"),
    ("decision", "list"),
    ("journal", "records"),
    ("budget", "list"),
    ("invoice", "list"),
]


def still(item: dict[str, object]) -> dict[str, object]:
    """What does not grow while leases run, from one call to the next."""
    return {
        name: value for name, value in item.items() if name not in ("spent_micros", "left_micros")
    }


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_a_list_is_a_table_a_document_and_names(admin: Cli, words: tuple[str, ...]) -> None:
    table = done(admin(*words)).splitlines()
    page = json.loads(done(admin(*words, "-o", "json")))
    names = done(admin(*words, "-o", "name")).split("\n")[:-1]
    assert page.keys() == {"items", "next"}
    assert len(page["items"]) == len(names) > 0
    rest = done(admin(*words, "--no-headers")).splitlines()
    assert len(rest) == len(table) - 2 or len(rest) < len(table)
    again = YAML(typ="safe").load(done(admin(*words, "-o", "yaml")))
    assert [still(item) for item in again["items"]] == [still(item) for item in page["items"]]
    assert again["next"] == page["next"]


def test_json_is_the_wire_model(admin: Cli) -> None:
    text = done(admin("node", "list", "-o", "json"))
    assert Page[Node].model_validate_json(text).items[0].node == "n1"
    text = done(admin("lease", "show", "lease-1", "-o", "json"))
    assert Lease.model_validate_json(text).lease_id == 1


SCREENS = [
    ("whoami",),
    ("tenant", "show", "lab"),
    ("project", "show", "p"),
    ("node", "show", "n1"),
    ("node", "show", "n1", "--topology"),
    ("lease", "show", "1"),
    ("queue", "show", "entry-1"),
    ("job", "show", "1"),
    ("quota", "show"),
    ("quota", "show", "--project", "p"),
    ("quota", "list"),
    ("share", "list"),
    ("share", "show"),
    ("share", "show", "--project", "p"),
    ("settings", "show"),
    ("usage", "report"),
    ("usage", "fleet"),
    ("rates", "show"),
    ("budget", "show"),
    ("budget", "show", "--project", "p"),
    ("invoice", "show"),
    ("explain", "entry-1"),
    ("explain", "lease-1"),
    ("explain", "--cpus", "100"),
    ("explain", "--cpus", "100", "--lease"),
]


@pytest.mark.parametrize("words", SCREENS, ids=" ".join)
def test_a_screen_is_for_people_and_a_document_for_programs(
    admin: Cli, words: tuple[str, ...]
) -> None:
    assert done(admin(*words)).strip()
    assert json.loads(done(admin(*words, "-o", "json")))


def test_the_fleet_is_told_by_generation(admin: Cli) -> None:
    done(admin("node", "register", "g1", "--cpus", "8", "--gpu", "2xnvidia_hopper:80GiB"))
    row = next(r for r in done(admin("fleet")).splitlines() if r.startswith("nvidia_hopper"))
    assert row.split()[1:6] == ["1", "2", "0", "2", "0"]
    assert row.endswith("2.40 credit")
    done(admin("node", "depart", "g1", "-y"))


def test_a_node_is_repartitioned_and_that_is_shown_and_called_off(admin: Cli) -> None:
    done(admin("node", "register", "g1", "--cpus", "8", "--gpu", "2xnvidia_hopper:80GiB"))
    halves = ("node", "mig", "g1", "--gpu", "0", "--profiles", "3g.71gb,4g.71gb")
    assert "nothing was changed" in done(admin(*halves, "--dry-run"))
    done(admin(*halves, "-y"))
    assert "3g.71gb, 4g.71gb" in done(admin("node", "show", "g1"))
    one_line(admin(*halves, "-y"), 3, "is being repartitioned")
    done(admin("node", "mig", "g1", "--cancel"))
    done(admin("node", "depart", "g1", "-y"))


def test_a_table_has_no_colour_in_a_file_and_text_does_not_steer_the_screen(admin: Cli) -> None:
    done(admin("tenant", "change", "rival", "--display-name", "a\x1b[31mb"))
    told = done(admin("tenant", "list"))
    assert "\x1b" not in told
    assert "a\\x1b[31mb" in told


# -- changes ---------------------------------------------------------------------------------


def test_people_are_made_changed_and_removed(admin: Cli) -> None:
    done(admin("tenant", "create", "new", "--display-name", "New"))
    done(admin("project", "create", "x", "--tenant", "new"))
    done(admin("member", "set", "eve", "project_member", "--tenant", "new", "--project", "x"))
    told = done(admin("member", "list", "--tenant", "new", "--project", "x"))
    assert "eve     project_member  new/x" in told
    done(admin("member", "remove", "eve", "--tenant", "new", "--project", "x"))
    assert "nobody has a role" in admin("member", "list", "--tenant", "new", "--project", "x").err
    done(admin("project", "change", "x", "--tenant", "new", "--close", "-y"))
    assert "closed" in done(admin("project", "show", "x", "--tenant", "new"))
    done(admin("account", "create", "bot", "--tenant", "new"))
    done(admin("account", "disable", "bot", "-y"))
    assert "disabled" in done(admin("account", "list"))
    done(admin("account", "enable", "bot"))


def test_a_token_is_alone_on_stdout_and_can_be_revoked(admin: Cli) -> None:
    ended = admin("token", "issue", "fleet_auditor", "--ttl", "10m", "--key", "journal.record.read")
    assert done(ended).count(".") == 2
    token_id = ended.err.split()[1]
    assert "journal.record.read" in done(admin("token", "list", "-o", "json"))
    done(admin("token", "revoke", token_id))
    one_line(admin("token", "revoke", ended.out.strip()), 2, "not the token")


def test_a_quota_is_set_word_by_word(admin: Cli) -> None:
    def shown() -> dict[str, object]:
        state = json.loads(done(admin("quota", "show", "-o", "json")))
        return {"is_default": state["is_default"], **state["quota"]}

    # What a new tenant may hold; to set one word keeps the others.
    most = Settings()
    limits = {
        "cpu_milli": most.tenant_cpu_milli,
        "mem_bytes": most.tenant_mem_bytes,
        "block_bytes": most.tenant_block_bytes,
        "gpu_count": most.tenant_gpu_count,
        "lease_count": most.tenant_lease_count,
    }
    ceiling = {
        "priority_max": most.priority_max.value,
        "lease_classes": [each.value for each in most.lease_classes],
        "term_max_ms": most.term_max_ms,
        "waiting_max": most.waiting_max,
    }
    rest: dict[str, object] = {"gpu_limits": {}, "burst": None, "ceiling": ceiling}
    assert shown() == {"is_default": True, "limits": limits, **rest}
    rest["ceiling"] = None  # nobody set one: that of the settings counts, whatever it will be
    done(admin("quota", "set", "gpus=8", "mem=64GiB", "nvidia_hopper=4"))
    limits |= {"gpu_count": 8, "mem_bytes": 2**36}
    rest["gpu_limits"] = {"nvidia_hopper": 4}
    assert shown() == {"is_default": False, "limits": limits, **rest}
    done(admin("quota", "set", "gpus=none"))
    del limits["gpu_count"]
    assert shown() == {"is_default": False, "limits": limits, **rest}
    done(admin("quota", "set", "--replace", "leases=1000"))
    rest["gpu_limits"] = {}
    assert shown() == {"is_default": False, "limits": {"lease_count": 1000}, **rest}
    one_line(admin("quota", "set", "gpu=1"), 2, "GPU generation")
    one_line(admin("quota", "set"), 2, "--burst")


def test_burst_credit_is_set_in_gpus_and_hours_and_taken_away_again(admin: Cli) -> None:
    def burst() -> object:
        return json.loads(done(admin("quota", "show", "-o", "json")))["quota"]["burst"]

    one_line(admin("quota", "set", "leases=5", "--replace", "--burst", "gpus=2:1h"), 2, "burst")
    done(admin("quota", "set", "gpus=8", "--burst", "gpus=2:1h:1d"))
    numbers = {"capacity": 7_200_000, "refill_per_s": 84, "ceiling": 2_000}
    assert burst() == {"dimension": "gpu_count", **numbers}
    assert "burst credit now: 2 GPUs for an hour" in done(admin("quota", "show"))
    assert "2 GPUs for an hour" in done(admin("quota", "list"))
    done(admin("quota", "set", "mem=1TiB"))  # what is not named stays
    assert burst() == {"dimension": "gpu_count", **numbers}
    done(admin("quota", "set", "--burst", "none"))
    assert burst() is None
    one_line(admin("quota", "set", "--burst", "gpus=2"), 2, "gpus=2:1h:1d")
    done(admin("quota", "set", "leases=1000", "--replace"))  # as the other tests know it


def test_settings_are_changed_one_at_a_time_and_only_as_they_were_seen(admin: Cli) -> None:
    done(admin("settings", "set", "grace_ms=45s", "preempt_from=critical"))
    told = json.loads(done(admin("settings", "show", "-o", "json")))
    assert (told["grace_ms"], told["preempt_from"]) == (45_000, "critical")
    stale = '"' + "0" * 64 + '"'
    one_line(admin("settings", "set", "grace_ms=1s", "--if-match", stale), 6, "correlation id")
    one_line(admin("settings", "set", "grase_ms=1s"), 2, "such as grace_ms")
    done(admin("settings", "set", "grace_ms=30s", "preempt_from=high"))


def test_a_node_goes_through_its_modes(admin: Cli) -> None:
    done(admin("node", "register", "m1", "--cpus", "4", "--mem", "8GiB", "--label", "zone=a"))
    done(admin("node", "cordon", "m1"))
    assert "cordoned" in done(admin("node", "show", "m1"))
    done(admin("node", "uncordon", "m1"))
    one_line(admin("node", "clear-fence", "m1"), 2, "fence_lost")
    done(admin("node", "drain", "m1", "-y"))
    done(admin("node", "maintenance", "m1"))
    done(admin("node", "uncordon", "m1"))  # by every edge of the way
    done(admin("node", "drain", "m1", "-y"))
    done(admin("node", "return", "m1"))
    done(admin("node", "uncordon", "m1"))
    done(admin("node", "quarantine", "m1", "odd", "-y"))
    assert "quarantined" in done(admin("node", "show", "m1"))
    done(admin("node", "trust", "m1"))
    one_line(admin("node", "return", "m1"), 3, "accepting -> returning is not allowed")
    done(admin("node", "depart", "m1", "-y"))


def test_a_lease_is_asked_for_renewed_saved_and_given_back(admin: Cli) -> None:
    ended = admin("lease", "request", "--cpus", "1", "--no-wait", "-o", "name", "--project", "p")
    name = done(ended).strip()
    done(admin("lease", "renew", name, "--ttl", "2h", "--generation", "1"))
    one_line(admin("lease", "renew", name, "--generation", "7"), 6, "generation")
    done(admin("lease", "checkpoint", name))
    assert "admission_approved" in done(admin("lease", "explain", name))
    done(admin("lease", "release", name))
    ended = admin("lease", "request", "--cpus", "1", "--no-wait", "-o", "name")
    done(admin("lease", "evict", done(ended).strip(), "-y", "--grace", "0s"))


def test_a_request_that_waits_ends_with_4_and_can_be_cancelled(admin: Cli) -> None:
    ended = admin("lease", "request", "--cpus", "64", "-o", "name", "--project", "p")
    assert ended.code == 4
    assert "would wait" in admin("lease", "request", "--cpus", "64", "--dry-run").out
    done(admin("queue", "cancel", ended.out.strip()))


def test_inside_a_job_its_own_lease_is_meant(
    house: Served, admin: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    terms = ("--cpus", "2", "--ttl", "1h", "--no-wait", "-o", "name")
    own = done(admin("lease", "request", "--tenant", "rival", *terms)).strip()
    session_module.save_session(session_module.Session(token="a person's"))
    monkeypatch.delenv("BAILIWICK_TOKEN")
    monkeypatch.setenv("BAILIWICK_LEASE_TOKEN", house.token("fleet_admin"))
    monkeypatch.setenv("BAILIWICK_LEASE_ID", own.removeprefix("lease-"))
    assert own in done(admin("lease", "checkpoint"))
    assert own in done(admin("lease", "renew", "--ttl", "2h"))
    renewed = json.loads(done(admin("lease", "show", own, "-o", "json")))
    assert renewed["expires_ms"] - renewed["granted_ms"] >= 2 * 3_600_000
    # Requests for 63 of 64 cores wait for leases of 5d 18h: none starts while this holds 2. The
    # first of them is another tenant's, so the renewal may not put it off.
    put_off = admin("lease", "renew", "--ttl", "6d")
    one_line(put_off, 3, "refused: 6d asked, but a request that waits is to start by", "5d 18h")
    kept = json.loads(done(admin("lease", "show", own, "-o", "json")))
    assert kept["expires_ms"] == renewed["expires_ms"]
    done(admin("lease", "release", own))


MUTATIONS = [
    ("tenant", "create", "dry"),
    ("tenant", "change", "lab", "--close"),
    ("project", "create", "dry"),
    ("member", "set", "dry", "tenant_admin"),
    ("member", "remove", "tenant_admin@lab"),
    ("account", "create", "dry"),
    ("account", "disable", "bot-lab"),
    ("quota", "set", "gpus=1"),
    ("share", "set", "7"),
    ("settings", "set", "grace_ms=1s"),
    ("node", "register", "dry", "--cpus", "1"),
    ("node", "label", "n1", "pool=dry"),
    ("node", "note", "n1", "dry"),
    ("node", "cordon", "n1"),
    ("node", "drain", "n1"),
    ("node", "quarantine", "n1", "odd"),
    ("node", "depart", "n1"),
    ("lease", "release", "1"),
    ("lease", "renew", "1"),
    ("lease", "evict", "1"),
    ("queue", "cancel", "1"),
]


def journal_size(cli: Cli) -> int:
    return int(done(cli("journal", "checkpoint")).splitlines()[1])


@pytest.mark.parametrize("words", MUTATIONS, ids=" ".join)
def test_a_dry_run_asks_nobody_and_changes_nothing(admin: Cli, words: tuple[str, ...]) -> None:
    before = journal_size(admin)
    assert "(dry run: nothing was changed)" in done(admin(*words, "--dry-run"))
    assert json.loads(done(admin(*words, "--dry-run", "-o", "json")))["seq"] is None
    assert journal_size(admin) == before


def test_nothing_of_others_is_ended_unasked(admin: Cli) -> None:
    one_line(admin("node", "drain", "n1"), 2, "-y")


# -- exit codes ------------------------------------------------------------------------------


def test_every_refusal_has_its_exit_code(
    house: Served, admin: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    one_line(admin("tenant", "create", "lab"), 3, "exists already", "correlation id")
    one_line(admin("lease", "show", "999"), 2, "no such thing", "correlation id")
    one_line(admin("lease", "show", "x"), 2, "lease-7 or 7")
    one_line(admin("node", "show", "a/b"), 2, "NODE")
    one_line(admin("tenant", "change", "lab", "--open", "--if-revision", "9"), 6, "generation")
    one_line(admin("lease", "request", "--gpus", "9", "--no-wait"), 3, "refused: no node")
    be(house, "project_viewer@lab", monkeypatch)
    one_line(admin("node", "cordon", "n1"), 3, "scheduler.node.operate is needed", "role")
    monkeypatch.setenv("BAILIWICK_TOKEN", "nonsense")
    one_line(admin("tenant", "list"), 3, "bailiwick login CODE")
    monkeypatch.setattr("bailiwick.client.connection.PAUSE_S", 0.001)
    monkeypatch.setenv("BAILIWICK_SERVER", "http://127.0.0.1:9")
    one_line(admin("tenant", "list"), 5, "does not answer", "correlation id")
    monkeypatch.setenv("BAILIWICK_SERVER", "http://10.1.2.3:9")
    one_line(admin("tenant", "list"), 2, "https://")


def test_without_a_tenant_it_is_asked_for(admin: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BAILIWICK_TENANT")
    one_line(admin("quota", "show"), 2, "--tenant", "bailiwick context")


def test_a_break_of_glass_needs_a_reason_and_is_sealed(admin: Cli) -> None:
    one_line(admin("break-glass", "why", "-y"), 2, "reason")
    one_line(admin("break-glass", "the pager is on fire"), 2, "-y")
    assert done(admin("break-glass", "the pager is on fire", "-y")).count(".") == 2
    told = done(admin("watch", "--until-end", "--after", "0"))
    assert "the pager is on fire" in told


# -- the journal, the feed, the trace --------------------------------------------------------


def test_a_proof_from_the_server_is_checked_without_trusting_it(admin: Cli, tmp_path: Path) -> None:
    file = tmp_path / "proof"
    done(admin("journal", "proof", "2", "--out", str(file)))
    assert file.read_text().startswith("c2sp.org/tlog-proof")


def test_the_feed_is_a_line_or_a_document_for_each_record(admin: Cli) -> None:
    lines = done(admin("watch", "--until-end", "--kind", "tenant_created")).splitlines()
    assert "tenant_created" in lines[0]
    text = done(admin("watch", "--until-end", "--tenant", "rival", "-o", "json"))
    assert {json.loads(line)["tenant"] for line in text.splitlines()} == {"rival"}
    one_line(admin("watch", "-o", "yaml"), 2, "table or json")


def test_a_trace_tells_what_a_request_led_to(admin: Cli) -> None:
    done(admin("tenant", "create", "traced"))
    page = json.loads(done(admin("journal", "records", "--tenant", "traced", "-o", "json")))
    name = page["items"][0]["correlation_id"]
    assert "tenant_created" in done(admin("trace", name))
    one_line(admin("trace", "a b"), 2, "CORRELATION_ID")


# -- completion ------------------------------------------------------------------------------


def test_names_are_completed_from_the_server_and_kept_for_a_moment(
    house: Served, admin: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert done(admin("context"))
    assert complete_nodes("n") == ["n1"]
    assert "lease-1" in complete_leases("lease-")
    assert "lab" in complete_tenants("")
    monkeypatch.setattr("bailiwick.cli.shared.completions._asked", None)
    assert "lab" in complete_tenants("")  # from the cache
    monkeypatch.setenv("BAILIWICK_SERVER", "http://127.0.0.1:9")
    assert complete_tenants("") == []


# -- jobs ------------------------------------------------------------------------------------


def test_a_job_runs_and_its_output_and_outcome_come_through(ann: Cli, tmp_path: Path) -> None:
    ended = ann("submit", "--follow", "--cwd", str(tmp_path), "--", "sh", "-c", "pwd; echo $A")
    assert (ended.code, ended.out.splitlines()[0]) == (0, str(tmp_path))
    assert "succeeded" in ended.err
    failed = ann("submit", "--follow", "--env", "A=7", "--", "sh", "-c", "echo $A; exit 3")
    assert (failed.code, failed.out) == (1, "7\n")
    assert "failed, exit code 3" in failed.err
    name = done(ann("job", "list", "-o", "name")).split()[0]
    assert done(ann("logs", name)) == "7\n"
    assert done(ann("job", "logs", name, "-f")) == "7\n"
    assert "failed" in done(ann("explain", name))


def test_what_a_submit_says_leads_on(ann: Cli) -> None:
    ended = ann("submit", "--name", "nap", "--tag", "t-1", "--", "sleep", "1000")
    name = done(ended).split()[0]
    assert f"bailiwick logs -f {name}" in ended.err
    assert f"bailiwick explain {name}" in ended.err
    assert "nap" in done(ann("job", "show", name))
    one_line(ann("submit", "--cpus", "64", "--", "true"), 3, "refused: 64 cores asked")
    waiting = ann("submit", "--wait", "--timeout", "1s", "--cpus", "4", "-o", "json", "--", "true")
    assert waiting.code == 4
    job = Job.model_validate_json(waiting.out)
    assert "first: it waits for free capacity" in done(ann("explain", f"job-{job.job_id}"))
    done(ann("job", "cancel", str(job.job_id)))
    done(ann("job", "cancel", name))
    until(lambda: "cancelled" in done(ann("job", "show", name)), "it is cancelled")


def test_a_request_is_explained_as_a_job_or_as_a_lease(ann: Cli) -> None:
    assert "asked, the largest node has 2 GPUs" in done(ann("explain", "--gpus", "3"))
    assert "asked, the largest node has 2 GPUs" in done(ann("explain", "--gpus", "3", "--lease"))
    assert "no such" not in done(ann("explain", "--cpus", "1"))
    one_line(ann("explain"), 2, "job-7, lease-12, entry-3")
    one_line(ann("explain", "node-3"), 2, "job-7, lease-12, entry-3")


def test_a_plan_tells_the_place_and_the_price_and_changes_nothing(ann: Cli) -> None:
    told = done(ann("plan", "--gpus", "2", "--generation", "nvidia_hopper", "--ttl", "2h"))
    assert "on here" in told
    assert "9.65 credit for the whole term" in told or "credit for the whole term" in told
    before = done(ann("job", "list", "-o", "name"))
    assert ann("submit", "--dry-run", "--gpus", "3", "--", "true").code == 3
    assert done(ann("job", "list", "-o", "name")) == before


def test_a_job_file_is_run_and_an_option_beats_it(ann: Cli, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text("command: sh -c 'echo $WHO'\nenv:\n  WHO: file\ncpus: 1\nmem: 64MiB\n")
    assert done(ann("submit", "--follow", "-f", str(file))) == "file\n"
    assert done(ann("submit", "--follow", "-f", str(file), "--env", "WHO=me")) == "me\n"
    file.write_text("gpu: 2\ncpus: many\n")
    ended = ann("submit", "-f", str(file), "--", "true")
    assert ended.code == 2
    assert ended.err.splitlines() == [
        f"bailiwick: {file}:1:1: gpu: no such word; did you mean gpus?",
        f"bailiwick: {file}:2:7: cpus: expected 0 to 1000000 cores, such as 4 or 0.5, got 'many'",
    ]


def test_options_after_the_command_are_the_commands_own(ann: Cli) -> None:
    assert done(ann("submit", "--follow", "echo", "--gpus", "9", "-o")) == "--gpus 9 -o\n"


def test_a_job_without_a_command_or_with_two_classes_is_told(ann: Cli) -> None:
    one_line(ann("submit"), 2, "bailiwick submit -- python train.py")
    one_line(ann("submit", "--spot", "--guaranteed", "--", "true"), 2, "one class")
    one_line(ann("submit", "--env", "NOT_SET_HERE", "--", "true"), 2, "NAME=VALUE")


def test_a_follower_finds_its_server_again(
    ann: Cli, jobs: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_waiting, "PATIENCE_S", WAIT_S)
    go = tmp_path / "go"
    script = f"echo one; until [ -e {go} ]; do sleep 0.05; done; echo two"
    name = done(ann("submit", "-o", "name", "--", "sh", "-c", script)).strip()

    def interrupt() -> None:
        time.sleep(0.5)
        jobs.close()
        go.touch()
        jobs.open()

    thread = threading.Thread(target=interrupt)
    thread.start()
    told = done(ann("logs", "-f", name))
    thread.join()
    assert told == "one\ntwo\n"


# -- processes -------------------------------------------------------------------------------


def environment(served: Served, who: str, tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        "BAILIWICK_SERVER": served.url,
        "BAILIWICK_TOKEN": served.token(who),
        "BAILIWICK_TENANT": "lab",
        "XDG_CONFIG_HOME": str(tmp_path),
    }


@contextmanager
def watching(served: Served, tmp_path: Path, *words: str, **env: str) -> Iterator[IO[str]]:
    """What a watched list of the nodes prints; afterwards Ctrl-C must end it well."""
    # A test run in the background ignores Ctrl-C, as a shell has it, and so would its children.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(
            [str(COMMAND), "node", "list", "--watch", *words],
            env=environment(served, "fleet_admin", tmp_path) | env,
            stdout=subprocess.PIPE,
            text=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        assert process.stdout is not None
        yield process.stdout
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_S) == 0
    finally:
        process.kill()
        process.wait(WAIT_S)


def test_a_watched_list_is_a_document_a_line_until_ctrl_c(house: Served, tmp_path: Path) -> None:
    with watching(house, tmp_path, "-o", "json") as told:
        first = json.loads(told.readline())
        assert first["items"][0]["node"] == "n1"


def test_a_watched_table_is_redrawn_on_a_terminal(house: Served, tmp_path: Path) -> None:
    with watching(house, tmp_path, FORCE_COLOR="1") as lines:
        told = ""
        while "accepting" not in told:
            part = lines.read(1)
            assert part, f"it ended after {told!r}"
            told += part


@pytest.fixture
def own_house(tmp_path: Path) -> Iterator[Served]:
    """One that a machine of any size may join: the requests that wait elsewhere wait on."""
    folder = tmp_path / "house"
    folder.mkdir()
    with served_house(folder) as served:
        yield served


def test_an_agent_reports_beats_and_stops_on_a_signal(own_house: Served, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(own_house.token("node_agent") + "\n")
    words = [str(COMMAND), "agent", "run", "--server", own_house.url, "--token-file", str(token)]
    ended = subprocess.run(
        [*words, "--node", "real-1", "--once"],
        capture_output=True,
        text=True,
        check=False,
        timeout=WAIT_S,
    )
    assert ended.returncode == 0, ended.stderr
    assert "real-1 is reported" in ended.stderr
    process = subprocess.Popen([*words, "--node", "real-1"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "real-1" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    assert process.wait(WAIT_S) == 0


def test_an_agent_takes_up_a_token_that_was_written_meanwhile(
    own_house: Served, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text(own_house.token("project_viewer@lab"))
    capacity = NodeCapacity(cpu_cores=2, mem_bytes=2**30)
    with HttpServer(own_house.url, token) as server:
        with pytest.raises(Refusal):
            server.report("real-2", capacity)
        token.write_text(own_house.token("node_agent"))
        server.report("real-2", capacity)
        token.write_text("")  # just being written
        assert server.beat("real-2").beat_ms > 0


def test_an_agent_that_may_not_ends_and_one_without_a_server_says_so(
    house: Served, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text(house.token("project_viewer@lab"))
    words = [str(COMMAND), "agent", "run", "--token-file", str(token), "--node", "x", "--once"]
    for server, code in ((house.url, 3), ("http://127.0.0.1:9", 5)):
        ended = subprocess.run(
            [*words, "--server", server], capture_output=True, text=True, check=False
        )
        assert ended.returncode == code, ended.stderr
