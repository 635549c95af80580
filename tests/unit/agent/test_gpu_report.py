"""Reports of GPUs as the driver hands them out: all of them, or a word about why not."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.agent.gpu_report import gpu_reports
from bailiwick.agent.words import CannotAttest
from bailiwick.attestation.evidence import device_nonce
from bailiwick.attestation.gpu.spdm import CC_OFF
from bailiwick.attestation.gpu.verifier import GpuCcVerifier
from bailiwick.attestation.verdict import Trusted, Unsupported
from bailiwick.vocab.errors import InvalidValue
from tests.support import evidence_gpu as made
from tests.support.simulated_nvml import NvmlError, SimulatedGpu, SimulatedNvml

NONCE = device_nonce(b"n" * 32, b"identity")
VERIFIER = GpuCcVerifier(roots=(made.root(),), max_age_ms=1000)


def confidential(number: int = 0, **answers: Any) -> SimulatedGpu:
    device = made.HOPPER
    return SimulatedGpu.numbered(
        number, report=device.report, certificates=device.certificates, answers=answers
    )


def test_each_gpu_is_asked_with_the_nonce_and_the_server_trusts_what_it_says() -> None:
    library = SimulatedNvml(confidential(0), confidential(1), cc_feature=1)
    found = gpu_reports(NONCE, library=library)
    assert len(found) == 2
    for piece in found:
        assert isinstance(VERIFIER.verify(piece, made.asked(nonce=NONCE)), Trusted)
    assert not library.is_open


@pytest.mark.parametrize("feature", [0, NvmlError(3)])
def test_confidential_computing_off_is_told_once_for_the_machine(feature: Any) -> None:
    library = SimulatedNvml(SimulatedGpu(), SimulatedGpu(), cc_feature=feature)
    (piece,) = gpu_reports(NONCE, library=library)
    assert dict(piece.parts) == {"state": CC_OFF}
    assert isinstance(VERIFIER.verify(piece, made.asked(nonce=NONCE)), Unsupported)


def test_reports_are_passed_on_in_protected_pcie_mode_where_the_feature_reads_off() -> None:
    assert len(gpu_reports(NONCE, library=SimulatedNvml(confidential(), cc_feature=0))) == 1


@pytest.mark.parametrize(
    "library",
    [
        SimulatedNvml(SimulatedGpu(), cc_feature=1),
        SimulatedNvml(confidential(), SimulatedGpu(), cc_feature=0),
        SimulatedNvml(confidential(report_size=0), cc_feature=1),
        SimulatedNvml(confidential(report_size=0x2001), cc_feature=1),
        SimulatedNvml(confidential(certificates_size=-1), cc_feature=1),
        SimulatedNvml(confidential(handle=NvmlError(15)), cc_feature=1),
        SimulatedNvml(confidential(), count=65),
        SimulatedNvml(count=NvmlError(999)),
        SimulatedNvml(init=NvmlError(9)),
    ],
)
def test_a_gpu_that_cannot_report_where_it_should_stops_the_machines_attestation(
    library: SimulatedNvml,
) -> None:
    with pytest.raises(CannotAttest, match="GPU"):
        gpu_reports(NONCE, library=library)


def test_a_machine_without_gpus_has_nothing_to_report() -> None:
    assert gpu_reports(NONCE, library=SimulatedNvml()) == []


def test_a_nonce_of_another_size_is_refused_before_the_driver_is_asked() -> None:
    with pytest.raises(InvalidValue, match="nonce"):
        gpu_reports(b"short", library=SimulatedNvml())
