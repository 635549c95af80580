"""Which hardware generation a device belongs to, from the name its driver reports.

Rules:

- The most specific marketing name wins ("GH200" is Hopper, "RTX 6000 Ada" is Ada).
- An unknown name is ``other``, never a guess: a quota that does not list ``other`` then refuses it.

>>> generation_of("NVIDIA H100 80GB HBM3").value
'nvidia_hopper'
>>> generation_of("Tesla P100-PCIE-16GB").value
'other'
"""

from __future__ import annotations

import re
from functools import cache

from bailiwick.vocab.values import check_kind
from bailiwick.vocab.words import HardwareGeneration as G

# First match wins, so a longer name stands before the shorter one it contains.
_NAMES: tuple[tuple[str, G], ...] = (
    (r"VR200|RUBIN|R100", G.NVIDIA_RUBIN),
    (
        r"GB200|GB300|B100|B200|B300|RTX PRO [0-9]+ BLACKWELL|RTX 50[5-9]0|BLACKWELL\b",
        G.NVIDIA_BLACKWELL,
    ),
    (r"GH200|H100|H200|H800|H20|HOPPER", G.NVIDIA_HOPPER),
    (r"RTX [0-9]+ ADA|L40S|L40|L20|L4|RTX 40[5-9]0|ADA\b", G.NVIDIA_ADA),
    (r"A100X?|A800|A40|A30X?|A16|A10[GM]?|A2|RTX A[0-9]+|RTX 30[5-9]0|AMPERE", G.NVIDIA_AMPERE),
    (r"T4G?|RTX 20[0-9]0|QUADRO RTX [0-9]+|TITAN RTX|TURING", G.NVIDIA_TURING),
    (r"V100S?|TITAN V|GV100|VOLTA", G.NVIDIA_VOLTA),
    (r"MI350X?|MI355X?", G.AMD_MI350),
    (r"MI300[XAC]?|MI308X?|MI325X?", G.AMD_MI300),
    (r"MI2[0-9]0X?", G.AMD_MI200),
    (r"GAUDI ?3|HL-3[0-9]+", G.INTEL_GAUDI3),
    (r"GAUDI ?2[A-Z]?|HL-2[2-9][0-9]", G.INTEL_GAUDI2),
    (r"TPU[ -]?V6[EP]?|TRILLIUM", G.GOOGLE_TPU_V6),
    (r"TPU[ -]?V5[EP]?(?:LITEPOD)?", G.GOOGLE_TPU_V5),
    (r"TRAINIUM ?2|TRN2", G.AWS_TRAINIUM2),
)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], G], ...]:
    # Compiled at the first name, not at import: a library that is only imported should not pay.
    return tuple(
        (re.compile(rf"(?<![A-Z0-9])(?:{names})(?![0-9])"), generation)
        for names, generation in _NAMES
    )


def generation_of(device_name: str) -> G:
    """The generation of a device by its reported name; ``other`` when no rule knows it."""
    name = check_kind("device_name", device_name, str).upper().replace("_", " ")
    for pattern, generation in _patterns():
        if pattern.search(name):
            return generation
    return G.OTHER
