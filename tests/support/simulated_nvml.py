"""A driver for GPUs that do not exist: an object with the functions of ``pynvml`` that we call.

Every answer can be replaced: by a value, however absurd, or by an exception.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

GIB = 2**30
NOT_SUPPORTED = 3
UNKNOWN = 999


class NvmlError(Exception):
    """An error of the driver, with NVML's own number."""

    def __init__(self, value: object) -> None:
        super().__init__(f"NVML error {value}")
        self.value = value


@dataclass
class SimulatedGpu:
    """One GPU; ``answers`` replaces what a function says of it."""

    name: Any = "NVIDIA H100 80GB HBM3"
    uuid: Any = "GPU-00000000-0000-0000-0000-000000000000"
    bus_id: Any = "00000000:1B:00.0"
    vram_bytes: Any = 80 * GIB
    mig: Any = (0, 0)
    links: tuple[tuple[int, str], ...] = ()  # (type of the far end, its address)
    cluster: bytes = bytes(16)
    clique: int = 0
    accounting_mode: Any = 0
    accounted: dict[int, dict[str, Any]] = field(default_factory=dict)  # by process
    report: Any = None  # from a nonce, the report's bytes; None where confidential mode is off
    certificates: bytes = b""
    answers: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def numbered(cls, number: int, **given: Any) -> SimulatedGpu:
        """One of several, with a UUID and an address of its own."""
        return cls(
            uuid=f"GPU-{number:08x}-0000-0000-0000-000000000000",
            bus_id=f"00000000:{number + 0x10:02X}:00.0",
            **given,
        )


class FabricInfo(ctypes.Structure):
    """As ``c_nvmlGpuFabricInfoV_t``, as far as it is read."""

    _fields_ = (
        ("clusterUuid", ctypes.c_uint8 * 16),
        ("status", ctypes.c_uint),
        ("cliqueId", ctypes.c_uint32),
        ("state", ctypes.c_uint),
    )


class SimulatedNvml:
    """The library; ``answers`` replaces what a function of the whole system says."""

    c_nvmlGpuFabricInfoV_t = FabricInfo

    def __init__(self, *gpus: SimulatedGpu, **answers: Any) -> None:
        self.gpus, self.answers = gpus, answers
        self.is_open = False

    def nvmlInit(self) -> None:
        _told(self.answers, "init", None)
        self.is_open = True

    def nvmlShutdown(self) -> None:
        self.is_open = False

    def nvmlSystemGetDriverVersion(self) -> Any:
        return _told(self.answers, "driver", "580.159.03")

    def nvmlSystemGetCudaDriverVersion_v2(self) -> Any:
        return _told(self.answers, "cuda", 13020)

    def nvmlSystemGetNVMLVersion(self) -> Any:
        return _told(self.answers, "nvml", "13.580.159.03")

    def nvmlDeviceGetCount(self) -> Any:
        return _told(self.answers, "count", len(self.gpus))

    def nvmlDeviceGetHandleByIndex(self, index: int) -> SimulatedGpu:
        assert self.is_open
        _told(self.gpus[index].answers, "handle", None)
        return self.gpus[index]

    def nvmlDeviceGetName(self, gpu: SimulatedGpu) -> Any:
        return _told(gpu.answers, "name", gpu.name)

    def nvmlDeviceGetUUID(self, gpu: SimulatedGpu) -> Any:
        return _told(gpu.answers, "uuid", gpu.uuid)

    def nvmlDeviceGetMemoryInfo(self, gpu: SimulatedGpu) -> Any:
        return SimpleNamespace(total=_told(gpu.answers, "vram_bytes", gpu.vram_bytes))

    def nvmlDeviceGetPciInfo(self, gpu: SimulatedGpu) -> Any:
        return SimpleNamespace(busId=_told(gpu.answers, "bus_id", gpu.bus_id))

    def nvmlDeviceGetMigMode(self, gpu: SimulatedGpu) -> Any:
        if gpu.mig is None:
            raise NvmlError(NOT_SUPPORTED)
        return _told(gpu.answers, "mig", gpu.mig)

    def nvmlDeviceGetCudaComputeCapability(self, gpu: SimulatedGpu) -> Any:
        return _told(gpu.answers, "capability", (9, 0))

    def nvmlDeviceGetGpuFabricInfoV(self, gpu: SimulatedGpu, info: Any) -> None:
        _told(gpu.answers, "fabric", None)
        info.contents.clusterUuid[:] = list(gpu.cluster)
        info.contents.cliqueId = gpu.clique
        info.contents.state = 3

    def nvmlDeviceGetNvLinkState(self, gpu: SimulatedGpu, link: int) -> Any:
        if link >= len(gpu.links):
            raise NvmlError(NOT_SUPPORTED)
        return _told(gpu.answers, "active", 1)

    def nvmlDeviceGetNvLinkRemoteDeviceType(self, gpu: SimulatedGpu, link: int) -> Any:
        return _told(gpu.answers, "remote_type", gpu.links[link][0])

    def nvmlDeviceGetNvLinkRemotePciInfo(self, gpu: SimulatedGpu, link: int) -> Any:
        return SimpleNamespace(busId=_told(gpu.answers, "remote_bus_id", gpu.links[link][1]))

    def nvmlSystemGetConfComputeState(self) -> Any:
        return SimpleNamespace(ccFeature=_told(self.answers, "cc_feature", 0))

    def nvmlDeviceGetConfComputeGpuCertificate(self, gpu: SimulatedGpu) -> Any:
        if gpu.report is None:
            raise NvmlError(UNKNOWN)
        size = _told(gpu.answers, "certificates_size", len(gpu.certificates))
        buffer = (ctypes.c_uint8 * 0x1400).from_buffer_copy(gpu.certificates.ljust(0x1400, b"\0"))
        return SimpleNamespace(attestationCertChain=buffer, attestationCertChainSize=size)

    def nvmlDeviceGetConfComputeGpuAttestationReport(self, gpu: SimulatedGpu, nonce: Any) -> Any:
        if gpu.report is None:
            raise NvmlError(UNKNOWN)
        raw = _told(gpu.answers, "report", gpu.report(bytes(nonce)))
        size = _told(gpu.answers, "report_size", len(raw))
        buffer = (ctypes.c_uint8 * 0x2000).from_buffer_copy(raw.ljust(0x2000, b"\0"))
        return SimpleNamespace(attestationReport=buffer, attestationReportSize=size)

    def nvmlDeviceGetAccountingMode(self, gpu: SimulatedGpu) -> Any:
        if gpu.accounting_mode is None:
            raise NvmlError(NOT_SUPPORTED)
        return _told(gpu.answers, "accounting_mode", gpu.accounting_mode)

    def nvmlDeviceGetAccountingPids(self, gpu: SimulatedGpu) -> Any:
        return _told(gpu.answers, "accounting_pids", list(gpu.accounted))

    def nvmlDeviceGetAccountingStats(self, gpu: SimulatedGpu, pid: int) -> Any:
        _told(gpu.answers, "accounting_stats", None)
        return SimpleNamespace(**gpu.accounted[pid])


def _told(answers: dict[str, Any], name: str, usual: Any) -> Any:
    answer = answers.get(name, usual)
    if isinstance(answer, Exception):
        raise answer
    return answer
