"""``bailiwick cost estimate``: what a job would cost by a server's card, a file's, or the list."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from bailiwick.billing.estimates import EstimateRequest, estimate
from bailiwick.billing.rates import LIST_PRICES
from bailiwick.cli.main import main
from bailiwick.vocab.values import GIB
from bailiwick.vocab.words import HardwareGeneration, LeaseClass
from tests.support.http_house import FOREIGN, OWN
from tests.support.http_server import Served, served_house

HOPPER = HardwareGeneration.NVIDIA_HOPPER
JOB = """
command: [python, train.py]
gpus: 2
cpus: 4
mem: 64GiB
ttl: 8h
class: spot
"""
WISH = EstimateRequest(
    gpu_milli=2_000,
    cpu_milli=4_000,
    mem_bytes=64 * GIB,
    ttl_ms=8 * 3_600_000,
    lease_class=LeaseClass.SPOT,
)


class Ended(NamedTuple):
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str


Cli = Callable[..., Ended]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command line where nobody is logged in."""
    for name in ("SERVER", "TOKEN", "TENANT", "PROJECT", "LEASE_TOKEN"):
        monkeypatch.delenv(f"BAILIWICK_{name}", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def run(*arguments: object) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments)])
        told = capsys.readouterr()
        code = ended.value.code
        return Ended(code if isinstance(code, int) else 0, told.out, told.err)

    return run


@pytest.fixture
def cost(cli: Cli) -> Cli:
    return partial(cli, "cost", "estimate")


@pytest.fixture
def job(tmp_path: Path) -> Path:
    path = tmp_path / "job.yaml"
    path.write_text(JOB, "utf-8")
    return path


def refused(ended: Ended, *words: str) -> None:
    assert (ended.code, ended.out) == (2, "")
    assert all(word in ended.err for word in words), ended.err


def test_an_open_generation_costs_between_the_cheapest_and_the_dearest(
    cost: Cli, job: Path
) -> None:
    done = cost("-f", job, "--list-prices")
    assert done.code == 0, done.err
    right = estimate(LIST_PRICES, WISH)
    rows = [line.split() for line in done.out.splitlines() if "nvidia" in line]
    for row, (word, found) in zip(
        rows, (("cheapest", right.low), ("dearest", right.high)), strict=True
    ):
        micros = (found.micros_per_hour, found.micros)
        assert row == [word, found.generation, *(f"{m / 10**6:.6f}" for m in micros)]
    assert "whole term (8h)" in done.out
    assert "spot leases pay 40.0% of the prices of the card list" in done.out


def test_an_option_beats_the_file_and_one_generation_has_one_price(cost: Cli, job: Path) -> None:
    options = ("--generation", "nvidia_hopper", "--guaranteed", "--list-prices")
    done = cost("-f", job, *options, "-o", "json")
    found = json.loads(done.out)
    wish = replace(WISH, lease_class=LeaseClass.GUARANTEED, generations=frozenset({HOPPER}))
    assert found["low"] == found["high"]
    assert found["high"]["micros_total"] == estimate(LIST_PRICES, wish).high.micros
    assert found["class_per_mille"] == 1_300
    assert cost("-f", job, *options).out.count("nvidia_hopper") == 1


def test_models_say_which_generations_would_do(cost: Cli) -> None:
    models = ("--model", "NVIDIA A100-SXM4-80GB", "--model", "NVIDIA H100 80GB HBM3")
    found = json.loads(cost("--gpus", 1, *models, "--list-prices", "-o", "json").out)
    assert [found[word]["generation"] for word in ("low", "high")] == [
        "nvidia_ampere",
        "nvidia_hopper",
    ]


def test_half_a_gpu_that_nobody_else_may_use_costs_a_whole_one(cost: Cli) -> None:
    asked = ("--generation", "nvidia_hopper", "--cpus", 0, "--mem", "1GiB", "--list-prices")
    half, alone, whole = (
        json.loads(cost(*gpus, *asked, "-o", "json").out)["high"]["micros_total"]
        for gpus in (
            ("--gpus", 0.5),
            ("--gpus", 0.5, "--exclusivity", "device_exclusive"),
            ("--gpus", 1),
        )
    )
    assert half < alone == whole


def test_every_member_of_a_gang_costs(cost: Cli) -> None:
    one, three = (
        json.loads(cost("--gpus", 1, *gang, "--list-prices", "-o", "json").out)["high"]
        for gang in ((), ("--gang", 3))
    )
    assert three["micros_total"] == 3 * one["micros_total"]


def test_work_without_gpus_has_no_generation(cost: Cli) -> None:
    done = cost("--cpus", 4, "--mem", "1GiB", "--list-prices", "--", "make", "--gpus", "9")
    assert "nvidia" not in done.out
    assert "0.082000" in done.out


def test_prices_come_from_a_file(cost: Cli, job: Path, tmp_path: Path) -> None:
    card = {
        "name": "ours",
        "currency": "EUR",
        "gpu_micros_per_hour": {each.value: 1_000_000 for each in HardwareGeneration},
        "core_micros_per_hour": 0,
        "mem_micros_per_gib_hour": 0,
        "block_micros_per_gib_hour": 0,
        "class_per_mille": {each.value: 1_000 for each in LeaseClass},
    }
    path = tmp_path / "rates.json"
    path.write_text(json.dumps(card), "utf-8")
    found = json.loads(cost("-f", job, "--rates", path, "-o", "json").out)
    assert (found["currency"], found["card"]["name"]) == ("EUR", "ours")
    assert found["low"]["micros_total"] == found["high"]["micros_total"] == 16_000_000
    del card["core_micros_per_hour"]
    path.write_text(json.dumps(card), "utf-8")
    refused(cost("-f", job, "--rates", path), "core_micros_per_hour")


def test_nobodys_prices_are_guessed(cost: Cli, job: Path, tmp_path: Path) -> None:
    refused(cost("-f", job), "--rates FILE, --list-prices, or a login")
    refused(cost("-f", job, "--rates", tmp_path / "none.yaml"), "--rates", "a file to read")
    refused(cost("-f", job, "--rates", job, "--list-prices"), "not together")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served_house(tmp_path_factory.mktemp("house")) as served:
        yield served


def test_a_server_says_the_card_that_holds_for_the_tenant(
    house: Served, cli: Cli, cost: Cli, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BAILIWICK_SERVER", house.url)
    monkeypatch.setenv("BAILIWICK_TOKEN", house.token("fleet_admin"))
    card = job.with_name("card.yaml")
    card.write_text("gpu_micros_per_hour: {nvidia_rubin: 9000000}\n", "utf-8")
    done = cli("rates", "set", "-f", card, "--tenant", OWN, "--name", "deal", "-y")
    assert done.code == 0, done.err
    found = {}
    for tenant in (OWN, FOREIGN):
        done = cost("-f", job, "--tenant", tenant, "-o", "json")
        assert done.code == 0, done.err
        found[tenant] = json.loads(done.out)
    assert [found[each]["card"]["name"] for each in (OWN, FOREIGN)] == ["deal", "list"]
    right = estimate(LIST_PRICES, WISH)
    assert found[FOREIGN]["high"]["micros_total"] == right.high.micros
    dearer = 8 * 2 * 4_000_000 * 400 // 1_000
    assert found[OWN]["high"]["micros_total"] == right.high.micros + dearer
    told = cost("-f", job, "--tenant", OWN).out
    assert f"40.0% of the prices of the card deal of {OWN}, since " in told
