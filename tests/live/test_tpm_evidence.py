"""Evidence and credentials against real TPMs in software (swtpm).

The cases of tests/vectors/attestation/tpm2 are made anew, and a TPM opens what the server makes.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from bailiwick.attestation.tpm.credential import CHANCE_BYTES, Credential, make_credential
from bailiwick.attestation.tpm.structures import read_public
from tests.support.attestation_cases import check, own
from tests.support.evidence_tpm2 import EKS, machines, write
from tests.support.paper_tpm import ak_public
from tests.support.tools import need

SECRET = bytes(range(32))


def test_a_software_tpm_makes_the_same_cases_again(tmp_path: Path) -> None:
    need("swtpm")
    write(tmp_path / "tpm2")
    made = _cases(tmp_path / "tpm2")
    for case in made:
        check(tmp_path / "tpm2", case)
    told = [(each["id"], each.get("expect"), each.get("reason")) for each in made]
    assert told == [
        (each["id"], each.get("expect"), each.get("reason")) for each in _cases(own("tpm2"))
    ]


def test_a_real_tpm_gives_the_secret_out_for_its_own_key_and_for_no_other() -> None:
    need("swtpm")
    with machines("alpha") as [alpha], alpha.talk() as talking:
        for kind in EKS:
            name, ak = talking.ak("p256", under=kind)
            public = talking.machine.made[name][0]
            ek = read_public(talking.machine.made[f"ek-{kind}"][0])
            for key, is_ours in ((public, True), (ak_public(), False)):
                made = make_credential(
                    ek, read_public(key).name, secret=SECRET, chance=os.urandom(CHANCE_BYTES)
                )
                assert _activated(talking, ak, kind, made=made) == (SECRET if is_ours else None)


def _activated(talking: Any, ak: Any, kind: str, *, made: Credential) -> bytes | None:
    tss, handle = talking.talk.tss, talking.ek(kind)
    try:
        secret: bytes = talking.talk.activate(
            ak, handle, blob=made.blob, secret=made.encrypted_secret
        )
    except tss.TSS2_Exception as error:
        if error.error != tss.TPM2_RC.INTEGRITY:
            raise
        return None
    finally:
        talking.talk.esys.flush_context(handle)
    return secret


def _cases(folder: Path) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads((folder / "cases.json").read_text())["cases"]
    return cases
