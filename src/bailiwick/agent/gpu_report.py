"""Reports of this machine's GPUs in confidential mode, as the driver hands them out.

Rules:

- Each GPU is asked with the same nonce; its report and its certificates are passed on as they are.
  Judging them is the server's business.
- If no GPU can report and the driver says that confidential computing is off (or cannot say), that
  is told as such, once for the machine: it is no failure and no proof.
- If some GPU cannot report although the others do, or although the driver says that it is on, the
  machine cannot attest: leaving one out would prove less than it seems.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from bailiwick.agent.machine.nvml import DEVICES_ASKED_MAX, NvmlSession, open_session
from bailiwick.agent.words import CannotAttest
from bailiwick.attestation.evidence import Evidence
from bailiwick.attestation.gpu.spdm import CC_OFF, NONCE_BYTES
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.trust import EvidenceKind

_IS_ON = 1


def gpu_reports(nonce: bytes, *, library: Any = None) -> Sequence[Evidence]:
    """One piece for each GPU, or one that says that confidential computing is off.

    None at all on a machine without GPUs. Raises ``CannotAttest``.
    """
    if len(nonce) != NONCE_BYTES:
        raise InvalidValue("nonce", len(nonce), f"{NONCE_BYTES} bytes")
    session, why_not = open_session(library)
    if session is None:
        raise CannotAttest(f"the GPUs cannot be asked: {why_not['state']}")
    try:
        return _ask_all(session, nonce)
    finally:
        session.close()


def _ask_all(session: NvmlSession, nonce: bytes) -> Sequence[Evidence]:
    nvml = session.library
    if not session.ask("count", lambda: int(nvml.nvmlDeviceGetCount())):
        raise CannotAttest(f"the GPUs cannot be counted: {_told(session, 'count')}")
    count = session.values["count"]
    if count > DEVICES_ASKED_MAX:
        raise CannotAttest(f"{count} GPUs; at most {DEVICES_ASKED_MAX} can be asked")
    found, failed = [], []
    for index in range(count):
        name = f"GPU {index}"
        if session.ask(name, partial(_ask_one, nvml, index, nonce)):
            found.append(Evidence(EvidenceKind.GPU_CC, session.values[name]))
        else:
            failed.append(f"{name}: {_told(session, name)}")
    if failed and not found and not _is_on(session):
        return [Evidence(EvidenceKind.GPU_CC, {"state": CC_OFF})]
    if failed:
        raise CannotAttest(f"no report of {'; '.join(failed)}")
    return found


def _ask_one(nvml: Any, index: int, nonce: bytes) -> dict[str, bytes]:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    certificates = nvml.nvmlDeviceGetConfComputeGpuCertificate(handle)
    report = nvml.nvmlDeviceGetConfComputeGpuAttestationReport(handle, nonce)
    return {
        "report": _cut(report.attestationReport, report.attestationReportSize),
        "certificates": _cut(
            certificates.attestationCertChain, certificates.attestationCertChainSize
        ),
    }


def _cut(buffer: Any, size: int) -> bytes:
    """The part of the driver's buffer that it says is filled."""
    raw = bytes(buffer)
    if not 0 < size <= len(raw):
        raise ValueError(size)
    return raw[:size]


def _is_on(session: NvmlSession) -> bool:
    nvml = session.library
    asked = session.ask("state", lambda: int(nvml.nvmlSystemGetConfComputeState().ccFeature))
    return asked and session.values["state"] == _IS_ON


def _told(session: NvmlSession, name: str) -> str:
    return f"NVML error {session.errors[name]}"
