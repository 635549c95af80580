"""Every published case of a TPM, ours and the shared ones, yields its verdict and reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.attestation_cases import cases_of, check, own, shared


@pytest.mark.parametrize("case", cases_of(own("tpm2")))
def test_own_case(case: dict[str, Any]) -> None:
    check(own("tpm2"), case)


@pytest.mark.parametrize("case", cases_of(shared("tpm2")))
@pytest.mark.filterwarnings("ignore:Attribute's length:UserWarning")
def test_shared_case(case: dict[str, Any]) -> None:
    check(shared("tpm2"), case)


def test_our_cases_name_every_reason_that_a_quote_can_be_refused_for() -> None:
    told = {case["reason"] for case in _cases(own("tpm2")) if case.get("expect") == "untrusted"}
    assert told == {
        *("ak_attributes", "ak_chain", "bad_magic", "bad_signature", "clock_rollback", "ek_chain"),
        *("eventlog_digest_mismatch", "eventlog_malformed", "eventlog_missing"),
        *("eventlog_replay_mismatch", "firmware_version_changed", "identity_mismatch"),
        *("malformed", "nonce_mismatch", "not_a_quote", "pcr_digest_mismatch", "pcr_policy"),
        *("pcr_selection", "reset_count_changed", "restart_count_changed", "scheme_mismatch"),
        "weak_bank",
    }


def _cases(folder: Path) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((folder / "cases.json").read_text())["cases"]
    return cases
