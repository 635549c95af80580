"""``bailiwick attest`` as a person meets it: what it prints, and how it ends."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.support import evidence_ed25519, evidence_nitro
from tests.support.attestation_cases import OWN, own
from tests.support.certificates import AT_MS, pem
from tests.support.command_line import Ended, call, run

TOPICS = ("ed25519", "tpm2", "dice", "nitro", "gpu-cc", "snp-tdx", "tlog")
AT = "2026-11-15T12:00:00Z"


def attest(*arguments: object) -> Ended:
    return call("attest", *arguments, COLUMNS="160", TZ="UTC")


def write_json(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value))
    return path


# --- one piece of evidence -----------------------------------------------------------------------


@pytest.fixture
def nitro(tmp_path: Path) -> dict[str, Path]:
    """A good document, a section to judge it by, and a policy with that section in a pool."""
    (tmp_path / "doc.cbor").write_bytes(evidence_nitro.document())
    section = {
        "roots": [pem(evidence_nitro.root())],
        "pcrs": {"0": [evidence_nitro.PCRS[0].hex()]},
    }
    pool = {"nodes": ["enclave-*"], "require": "nitro", "max_age_s": 600, "nitro": section}
    return {
        "document": tmp_path / "doc.cbor",
        "section": write_json(tmp_path / "section.json", section),
        "policy": write_json(tmp_path / "policy.json", {"pools": {"enclaves": pool}}),
    }


def judge_nitro(
    nitro: dict[str, Path], *more: object, policy: str = "section", nonce: bytes | None = None
) -> Ended:
    asked = (evidence_nitro.NONCE if nonce is None else nonce).hex()
    files = ("--part", f"document={nitro['document']}", "--policy", nitro[policy])
    return attest("verify", "--kind", "nitro", *files, "--nonce", asked, "--at", AT, *more)


def test_trusted_evidence_shows_its_claims_and_its_end_and_ends_with_0(
    nitro: dict[str, Path],
) -> None:
    done = judge_nitro(nitro)
    assert done.returncode == 0, done.stderr
    for told in (
        "nitro trusted",
        f"claim pcr0 {evidence_nitro.PCRS[0].hex()[:32]}",
        "valid until 2026-11-15 12:05:00Z (5m)",
        "judged at 2026-11-15 12:00:00Z",
    ):
        assert told in " ".join(done.stdout.split())


def test_untrusted_evidence_tells_the_reason_and_where_and_ends_with_3(
    nitro: dict[str, Path],
) -> None:
    done = judge_nitro(nitro, nonce=b"another nonce")
    assert done.returncode == 3
    told = " ".join(done.stdout.split())
    assert "nitro untrusted" in told
    assert "reason nonce_mismatch where the document has another nonce" in told


def test_json_is_one_document_of_the_verdict(nitro: dict[str, Path]) -> None:
    good = json.loads(judge_nitro(nitro, "-o", "json").stdout)
    assert good["verdict"] == "trusted"
    assert good["reason"] is None
    assert good["valid_until_ms"] == AT_MS + 300_000
    assert good["claims"]["module"].startswith("i-0a1b2c3d")
    assert len(good["evidence"]) == 64
    bad = json.loads(judge_nitro(nitro, "-o", "json", nonce=b"x").stdout)
    assert (bad["verdict"], bad["reason"]) == ("untrusted", "nonce_mismatch")
    assert (bad["claims"], bad["valid_until_ms"]) == ({}, None)


def test_a_whole_policy_judges_by_the_nodes_pool_or_a_named_one(nitro: dict[str, Path]) -> None:
    own_pool = judge_nitro(nitro, "--node", "enclave-7", "-o", "json", policy="policy")
    assert json.loads(own_pool.stdout)["valid_until_ms"] == AT_MS + 600_000
    named = judge_nitro(nitro, "--node", "x", "--pool", "enclaves", policy="policy")
    assert named.returncode == 0


@pytest.mark.parametrize(
    ("more", "policy", "told"),
    [
        (("--node", "login-1"), "policy", "no pool of node 'login-1' (--pool takes one of: encla"),
        (("--pool", "gpus"), "policy", "no pool 'gpus' (the policy has: enclaves)"),
        (("--pool", "gpus"), "section", "--pool: expected no pool: the policy is one section"),
        (("--part", "document=x"), "section", "--part: expected each name once, got 'document'"),
        (("--enrolled", "key"), "section", "--enrolled: expected NAME=FILE, such as signature"),
        (("--enrolled", "key=/none"), "section", "--enrolled: expected a file to read (No such"),
        (("--at", "yesterday"), "section", "--at: expected a time in UTC such as 2026-11-01"),
        (("--nonce", "xyz"), "section", "--nonce: expected some bytes in hexadecimal, got 'xyz'"),
    ],
)
def test_what_was_mistyped_is_told_in_one_line(
    nitro: dict[str, Path], more: tuple[str, ...], policy: str, told: str
) -> None:
    done = judge_nitro(nitro, *more, policy=policy)
    assert done.returncode == 2
    assert done.stderr.startswith(f"bailiwick: {told}")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("{", "--policy: expected JSON ("),
        ("[]", "policy: expected a map"),
        ('{"roots": []}', "pools.file.nitro.roots: expected at least one root"),
        ('{"rots": []}', "pools.file.nitro.roots: expected at least one root"),
    ],
)
def test_a_fault_in_the_policy_names_the_field(
    nitro: dict[str, Path], body: str, told: str
) -> None:
    nitro["section"].write_text(body)
    done = judge_nitro(nitro)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_kind_that_the_pool_does_not_require_is_told(nitro: dict[str, Path]) -> None:
    files = ("--part", f"quote={nitro['document']}", "--policy", nitro["policy"])
    done = attest(
        "verify", "--kind", "tdx", *files, "--nonce", "00", "--pool", "enclaves", "--at", AT
    )
    assert done.returncode == 2
    assert "--kind: expected a kind that the pool enclaves requires (nitro)" in done.stderr


def test_enrolled_keys_come_from_files_too(tmp_path: Path) -> None:
    made = evidence_ed25519
    for name, raw in made.evidence().parts.items():
        (tmp_path / name).write_bytes(raw)
    (tmp_path / "key").write_bytes(made.public_of("a"))
    section = {"keys": [made.public_of("a").hex()], "firmware": [made.FIRMWARE.hex()]}
    policy = write_json(tmp_path / "policy.json", section)
    parts = [f"--part={name}={tmp_path / name}" for name in ("statement", "signature")]
    fixed = ("--kind", "ed25519", *parts, "--policy", policy, "--nonce", made.NONCE.hex())
    enrolled = ("--enrolled", f"public_key={tmp_path / 'key'}", "--at", AT)
    assert attest("verify", *fixed, *enrolled, "--node", made.NODE).returncode == 0
    other = attest("verify", *fixed, *enrolled, "--node", "node-18", "-o", "json")
    assert json.loads(other.stdout)["reason"] == "identity_mismatch"
    none = attest("verify", *fixed, "--node", made.NODE, "--at", AT, "-o", "json")
    assert json.loads(none.stdout)["reason"] == "not_enrolled"


# --- folders of cases ----------------------------------------------------------------------------


def test_a_folder_is_told_case_by_case_with_totals_at_the_end() -> None:
    done = run("attest", "check-cases", own("ed25519"), COLUMNS="160", TZ="UTC")
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["case", "expected", "verdict", "matches", "note"]
    assert "good trusted trusted yes" in " ".join(lines[2].split())
    assert done.stderr == f"{len(lines) - 2} cases, {len(lines) - 2} as expected, 0 not\n"


def test_a_folder_of_folders_is_walked_and_totalled_by_each() -> None:
    done = attest("check-cases", OWN)
    named = sorted(path.parent.name for path in OWN.glob("*/cases.json"))
    totals = done.stderr.splitlines()
    assert [line.partition(": ")[0].rpartition("/")[2] for line in totals] == [*named, "all"]
    assert "0 not" in totals[named.index("nitro")]


def test_the_same_folder_named_twice_is_judged_once() -> None:
    done = attest("check-cases", own("ed25519"), own("ed25519") / ".." / "ed25519", "-o", "json")
    ids = [row["case"] for row in json.loads(done.stdout)]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("topic", TOPICS)
def test_the_shared_cases_are_judged_as_expected(shared_dir: Path, topic: str) -> None:
    done = attest("check-cases", shared_dir / "vectors" / topic, "-o", "json")
    rows = json.loads(done.stdout)
    assert [row for row in rows if row["matches"] != "yes"] == []
    assert done.returncode == 0
    assert rows


def case(**changes: object) -> dict[str, object]:
    first = json.loads((own("ed25519") / "cases.json").read_text())["cases"][0]
    return {**first, **changes}


def write_cases(folder: Path, *cases: object, form: str = "attestation-lab/ed25519/1") -> Path:
    write_json(folder / "cases.json", {"format": form, "cases": cases})
    return folder


@pytest.mark.parametrize(
    ("changes", "verdict", "note"),
    [
        ({"expect": "untrusted", "reason": "weak_key"}, "trusted", ""),
        ({"public_key": "00" * 32}, "untrusted: weak_key", "small order"),
        ({"kind": "unheard"}, "no case", "kind: expected one of ed25519, quote"),
        ({"kind": None}, "no case", "kind: expected one of"),
        ({"message": "xyz"}, "no case", "message: expected bytes in hexadecimal"),
        ({"message": 5}, "no case", "message: expected a text"),
    ],
)
def test_a_case_that_differs_is_told_and_ends_with_3(
    tmp_path: Path, changes: dict[str, object], verdict: str, note: str
) -> None:
    done = attest("check-cases", write_cases(tmp_path, case(), case(**changes)), "-o", "json")
    assert done.returncode == 3
    good, bad = json.loads(done.stdout)
    assert good["matches"] == "yes"
    assert (bad["matches"], bad["verdict"]) == ("NO", verdict)
    assert note in bad["note"]
    assert done.stderr == "2 cases, 1 as expected, 1 not\n"


def test_fields_that_no_check_looked_at_are_told(tmp_path: Path) -> None:
    done = attest("check-cases", write_cases(tmp_path, case(revoked=True)))
    assert done.returncode == 0
    assert "not looked at: revoked" in done.stdout


def test_of_two_reasons_either_will_do(tmp_path: Path) -> None:
    either = case(public_key="00" * 32, expect="untrusted", reason="weak_key_or_bad_signature")
    assert attest("check-cases", write_cases(tmp_path, either)).returncode == 0


@pytest.mark.parametrize("path", ["../secret", "/etc/hostname", "link", "docs/../../secret", ""])
def test_only_files_inside_the_folder_are_read(tmp_path: Path, path: str) -> None:
    folder = tmp_path / "cases"
    shutil.copytree(own("nitro"), folder)
    (tmp_path / "secret").write_bytes(b"secret")
    (folder / "link").symlink_to(tmp_path / "secret")
    first = json.loads((folder / "cases.json").read_text())["cases"][0]
    write_cases(folder, first | {"document": path})
    done = attest("check-cases", folder, "-o", "json")
    assert done.returncode == 3
    row = json.loads(done.stdout)[0]
    assert row["verdict"] == "no case"
    assert "a path inside the folder" in row["note"]


@pytest.mark.parametrize("kind", ["absent", "folder", "pipe"])
def test_what_is_no_regular_file_is_not_read(tmp_path: Path, kind: str) -> None:
    shutil.copytree(own("nitro"), tmp_path / "cases")
    folder = tmp_path / "cases"
    if kind == "folder":
        (folder / "folder").mkdir()
    elif kind == "pipe":
        os.mkfifo(folder / "pipe")
    first = json.loads((folder / "cases.json").read_text())["cases"][0]
    done = attest("check-cases", write_cases(folder, first | {"root": kind}), "-o", "json")
    assert f"no file '{kind}'" in json.loads(done.stdout)[0]["note"]


def test_no_cases_are_no_success(tmp_path: Path) -> None:
    done = attest("check-cases", write_cases(tmp_path))
    assert done.returncode == 3
    assert "0 cases" in done.stderr


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (None, "no cases.json in"),
        ("{", "expected JSON"),
        ("[" * 100_000, "expected JSON"),
        ("[]", "expected cases in a format attestation-lab/TOPIC/1"),
        ('{"format": "other/1", "cases": []}', "expected cases in a format"),
        ('{"format": "attestation-lab/x/1", "cases": {}}', "expected a list of objects as cases"),
        ('{"format": "attestation-lab/x/1", "cases": [5]}', "expected a list of objects as cases"),
    ],
)
def test_a_folder_that_holds_no_cases_is_a_usage_error(
    tmp_path: Path, body: str | None, told: str
) -> None:
    if body is not None:
        (tmp_path / "cases.json").write_text(body)
    done = attest("check-cases", tmp_path)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_case_cannot_steer_the_terminal(tmp_path: Path) -> None:
    done = attest("check-cases", write_cases(tmp_path, case(id="\x1b[31mred")))
    assert "\x1b" not in done.stdout
    assert "\\x1b[31mred" in done.stdout


def test_a_leaf_is_judged_at_the_time_that_is_given(nitro: dict[str, Path]) -> None:
    done = judge_nitro(nitro, "--at", "2026-11-15T15:00:01Z", "-o", "json")
    assert json.loads(done.stdout)["reason"] == "chain"


# --- golden values -------------------------------------------------------------------------------

GPU = own("gpu-cc")


def rim(*names: str, root: str = "rim", at: str = AT) -> Ended:
    files = [GPU / "rims" / f"{name}.swidtag" for name in names]
    return attest("rim", *files, "--root", GPU / "roots" / f"{root}.pem", "--at", at)


def test_manifests_become_golden_values_by_which_a_report_is_judged(tmp_path: Path) -> None:
    made = rim("hopper-with-rims-driver", "hopper-with-rims-vbios")
    assert made.returncode == 0, made.stderr
    golden = json.loads(made.stdout)
    assert [each["kind"] for each in golden] == ["driver", "vbios"]
    section = {
        "roots": [(GPU / "roots" / "device.pem").read_text()],
        "golden": golden,
        "require_golden": True,
    }
    policy = write_json(tmp_path / "policy.json", section)
    cases = json.loads((GPU / "cases.json").read_text())["cases"]
    nonce = next(each["nonce"] for each in cases if each["id"] == "hopper-with-rims")
    parts = [
        f"--part=report={GPU}/reports/hopper.bin",
        f"--part=certificates={GPU}/chains/hopper.pem",
    ]
    fixed = ("verify", "--kind", "gpu_cc", *parts, "--nonce", nonce, "--at", AT, "-o", "json")
    told = json.loads(attest(*fixed, "--policy", policy).stdout)
    assert (told["verdict"], told["claims"].get("golden")) == ("trusted", "driver-vbios")
    for value in golden[0]["measurements"].values():
        value[:] = ["00" * 48]
    write_json(policy, section)
    assert json.loads(attest(*fixed, "--policy", policy).stdout)["reason"] == "measurement_mismatch"


@pytest.mark.parametrize(
    ("name", "root", "told"),
    [
        ("rim-edited-driver", "rim", "rim_signature"),
        ("rim-by-own-root-driver", "rim", "rim_chain"),
        ("rim-not-xml-driver", "rim", "malformed"),
        ("hopper-with-rims-driver", "device", "rim_chain"),
    ],
)
def test_a_manifest_that_is_not_the_vendors_gives_nothing(name: str, root: str, told: str) -> None:
    done = rim("hopper-with-rims-vbios", name, root=root)
    assert done.returncode == 3
    assert done.stdout == ""
    assert told in done.stderr


def test_a_root_that_is_no_certificate_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "root.pem").write_text("hello")
    file = GPU / "rims" / "hopper-with-rims-driver.swidtag"
    done = attest("rim", file, "--root", tmp_path / "root.pem")
    assert done.returncode == 2
    assert "--root: expected a certificate" in done.stderr
