"""Which generation a device belongs to, by the name its driver, its vendor or a cloud gives it."""

from __future__ import annotations

import pytest

from bailiwick.fleet.generation import generation_of
from bailiwick.fleet.node import GpuDevice
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import HardwareGeneration as G

KNOWN: dict[G, list[str]] = {
    G.NVIDIA_VOLTA: [
        "V100", "Tesla V100-SXM2-16GB", "Tesla V100-PCIE-32GB", "Tesla V100S-PCIE-32GB",
        "GRID V100D-8Q", "NVIDIA TITAN V", "Quadro GV100",
    ],
    G.NVIDIA_TURING: [
        "T4", "Tesla T4", "NVIDIA T4", "NVIDIA T4G", "Quadro RTX 6000", "Quadro RTX 8000",
        "Quadro RTX 5000", "Quadro RTX 4000", "Quadro RTX 3000", "NVIDIA GeForce RTX 2080 Ti",
        "NVIDIA TITAN RTX",
    ],
    G.NVIDIA_AMPERE: [
        "A100", "NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB PCIe",
        "NVIDIA A100-PCIE-40GB", "A100X", "NVIDIA A800-SXM4-80GB", "A40", "NVIDIA A40",
        "NVIDIA A40-48Q", "A10G", "NVIDIA A10G", "NVIDIA A10", "NVIDIA A10M", "NVIDIA A16",
        "NVIDIA A2", "NVIDIA A30", "RTX A6000", "NVIDIA RTX A6000", "NVIDIA RTX A4000",
        "NVIDIA RTX A2000 12GB", "NVIDIA GeForce RTX 3090", "NVIDIA GeForce RTX 3080 Ti",
        "NVIDIA GeForce RTX 3050",
    ],
    G.NVIDIA_ADA: [
        "L4", "NVIDIA L4", "L40S", "NVIDIA L40S", "NVIDIA L40", "NVIDIA L20",
        "RTX 6000 Ada", "NVIDIA RTX 6000 Ada Generation", "NVIDIA RTX 5000 Ada Generation",
        "NVIDIA RTX 4000 Ada Generation", "NVIDIA RTX 4000 SFF Ada Generation",
        "NVIDIA RTX 2000 Ada Generation", "NVIDIA RTX 5880 Ada Generation",
        "NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4060 Ti",
    ],
    G.NVIDIA_HOPPER: [
        "H100", "NVIDIA H100 80GB HBM3", "NVIDIA H100 PCIe", "NVIDIA H100 NVL",
        "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "NVIDIA-H100-80GB-HBM3", "nvidia_h100_80gb_hbm3",
        "H200", "NVIDIA H200", "NVIDIA H200 NVL", "GH200", "NVIDIA GH200 480GB",
        "NVIDIA GH200 144G HBM3e", "NVIDIA H800", "NVIDIA H20",
    ],
    G.NVIDIA_BLACKWELL: [
        "B200", "NVIDIA B200", "B100", "B300", "NVIDIA B300 SXM6", "GB200", "NVIDIA GB200",
        "GB200 NVL72", "NVIDIA GB300", "NVIDIA RTX PRO 6000 Blackwell Server Edition",
        "NVIDIA RTX PRO 5000 Blackwell", "NVIDIA GeForce RTX 5090", "NVIDIA GeForce RTX 5070 Ti",
    ],
    G.NVIDIA_RUBIN: ["VR200", "NVIDIA VR200 NVL144", "NVIDIA R100", "NVIDIA Rubin"],
    G.AMD_MI200: [
        "MI210", "AMD Instinct MI210", "AMD Instinct MI250", "MI250X", "AMD Instinct MI250X",
        "AMD_Instinct_MI250X", "AMD Instinct MI250X/MI250",
    ],
    G.AMD_MI300: [
        "MI300X", "AMD Instinct MI300X", "AMD_Instinct_MI300X_OAM", "AMD Instinct MI300A",
        "AMD Instinct MI308X", "MI325X", "AMD Instinct MI325X",
    ],
    G.AMD_MI350: ["MI350X", "MI355X", "AMD Instinct MI355X"],
    G.INTEL_GAUDI2: ["Gaudi2", "Intel Gaudi 2", "Habana Gaudi2", "HL-225H", "HL-225B", "Gaudi2D"],
    G.INTEL_GAUDI3: ["Gaudi3", "Intel Gaudi 3", "HL-325L", "HL-328"],
    G.GOOGLE_TPU_V5: [
        "TPU v5e", "TPU v5p", "TPU v5 lite", "tpu-v5p-slice", "tpu-v5-lite-podslice",
        "TPU v5litepod-16", "tpu_v5e",
    ],
    G.GOOGLE_TPU_V6: ["TPU v6e", "tpu-v6e-slice", "TPU V6", "Trillium"],
    G.AWS_TRAINIUM2: ["Trainium2", "AWS Trainium 2", "AWS Trainium2", "trn2.48xlarge", "Trn2"],
}  # fmt: skip

OTHER = [
    # real, and of no generation that is listed
    "Tesla P100-PCIE-16GB", "P100", "Tesla P40", "Tesla P4", "Tesla K80", "Tesla M60",
    "NVIDIA GeForce GTX 1080 Ti", "NVIDIA GeForce GTX 1660", "NVIDIA TITAN Xp",
    "AMD Instinct MI100", "AMD Instinct MI25", "Radeon RX 7900 XTX", "HL-205", "Gaudi",
    "TPU v4", "TPU v2", "TPU v3", "AWS Trainium", "Trn1", "Inferentia2", "Intel Arc A770",
    "Intel Data Center GPU Max 1550",
    # not accelerators at all
    "Microsoft Basic Display Adapter", "Matrox G200eW3 Graphics Adapter", "ADATA SX8200",
    "llvmpipe (LLVM 15.0.7, 256 bits)", "ASPEED AST2500",
    # nonsense
    "", " ", "\n", "gpu", "nvidia", "x" * 10_000, "H1000", "XH100", "1A100", "A1000", "L400",
    "B2000", "MI3000", "RTX", "100", "日本語", "T", "🦄",
]  # fmt: skip

CASES = [(name, generation) for generation, names in KNOWN.items() for name in names]


@pytest.mark.parametrize(("name", "generation"), CASES)
def test_a_device_that_exists_is_put_in_its_generation(name: str, generation: G) -> None:
    assert generation_of(name) is generation


@pytest.mark.parametrize("name", OTHER, ids=range(len(OTHER)))
def test_an_unknown_name_is_other_and_never_a_guess(name: str) -> None:
    assert generation_of(name) is G.OTHER


@pytest.mark.parametrize(("name", "generation"), CASES)
def test_the_case_in_which_a_name_is_written_does_not_matter(name: str, generation: G) -> None:
    assert generation_of(name.lower()) is generation_of(name.upper()) is generation


def test_every_generation_but_other_has_names_here() -> None:
    assert set(KNOWN) == set(G) - {G.OTHER}


@pytest.mark.parametrize("name", [None, 5, True, 1.5, b"H100", ["H100"]])
def test_what_is_not_a_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        generation_of(name)
    assert refused.value.field == "device_name"


def test_a_device_made_from_its_name_keeps_the_name_as_its_model() -> None:
    device = GpuDevice.named("NVIDIA H100 80GB HBM3", vram_bytes=80, fabric="nvlink-0")
    assert device == GpuDevice(G.NVIDIA_HOPPER, 80, "NVIDIA H100 80GB HBM3", "nvlink-0")


def test_a_device_made_from_an_unknown_name_is_other() -> None:
    assert GpuDevice.named("Tesla P100-PCIE-16GB").generation is G.OTHER
