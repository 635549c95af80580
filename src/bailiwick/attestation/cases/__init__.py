"""Published cases of evidence, judged: one module per kind of case, and the table of kinds.

The format is that of ``attestation-lab/<topic>/1``: a list of cases, each with a ``kind``, what is
to be judged (in hexadecimal, or as paths of files), the time, and the verdict to expect.

Rules:

- A case goes through the verifiers that the gate uses; nothing is checked only here.
- A kind is loaded when it is met, because each brings its own parsers.
- A case that is no case is an error, not a verdict. Fields that no check looked at are told.

>>> weak = {"id": "x", "kind": "ed25519", "public_key": "00" * 32, "message": "", "signature": ""}
>>> judge_case(weak, str.encode).reason
'weak_key'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from bailiwick.attestation.cases.reading import CaseFields, CaseOutcome, Read
from bailiwick.vocab.errors import InvalidValue

_MODULES = {
    "ed25519": "ed25519",
    "quote": "tpm2",
    "eventlog": "tpm2",
    "names": "tpm2",
    "dice-chain": "dice",
    "nitro-document": "nitro",
    "nvidia-spdm-report": "gpu_cc",
    "snp-report": "snp_tdx",
    "tdx-quote": "snp_tdx",
}
KINDS = tuple(_MODULES)
"""The kinds of case that can be judged."""


def judge_case(case: Mapping[str, Any], read: Read) -> CaseOutcome:
    """What the case turns out to be, whatever it says to expect; ``read`` gives a file's bytes."""
    kind = case.get("kind")
    if not isinstance(kind, str) or kind not in _MODULES:
        raise InvalidValue("kind", kind, f"one of {', '.join(KINDS)}")
    judges = import_module(f"{__name__}.{_MODULES[kind]}").KINDS
    fields = CaseFields(case, read)
    judged: CaseOutcome = judges[kind](fields)
    return replace(judged, unused=fields.unused)


def is_as_expected(case: Mapping[str, Any], judged: CaseOutcome) -> bool:
    """Whether verdict and reason are those of the case; ``a_or_b`` leaves the choice.

    A case that says nothing to expect holds what it expects in its fields, so it must be trusted.
    """
    reason = case.get("reason") or None
    allowed = (reason, *reason.split("_or_")) if isinstance(reason, str) else (reason,)
    return judged.verdict == case.get("expect", "trusted") and judged.reason in allowed
