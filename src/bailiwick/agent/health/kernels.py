"""What a GPU is made to compute in a burn-in, and what must come out, computed here as well.

Rules:

- Every step is exact: integers, and fused multiply-adds of integers that their float holds without
  rounding. So one number is right, on every GPU and on the CPU, and any other is a fault.
- The GPU is given the right numbers, computes them again and again, and counts what differs.
- Memory is filled with words that follow from their place, read back, and filled with the opposite:
  a bit that sticks at either value is found, and so is an address that leads elsewhere.
- The code is PTX for the oldest GPUs that we test (7.0); a driver translates it for newer ones.

>>> hex(compute(0, rounds=3)), hex(word_at(5, salt=1, flip=0))
('0xfbc5020', '0xe624dc33')
"""

from __future__ import annotations

from functools import cache
from typing import Final

WORD: Final = 0xFFFFFFFF
CLASSES: Final = 64
"""How many different chains the threads of one pass compute."""
PASSES_APART: Final = 8
"""How many passes compute different chains, before the first comes again."""
CHAINS: Final = CLASSES * PASSES_APART
ROUNDS: Final = 512
"""Steps of one chain."""

PTX: Final = """
.version 6.0
.target sm_70
.address_size 64

.visible .entry bw_compute(
    .param .u64 expected,
    .param .u64 counters,
    .param .u32 passes,
    .param .u32 rounds
)
{
    .reg .pred %p<5>;
    .reg .b32 %r<24>;
    .reg .f32 %f<4>;
    .reg .f64 %d<4>;
    .reg .b64 %x<10>;

    ld.param.u64 %x1, [expected];
    ld.param.u64 %x2, [counters];
    ld.param.u32 %r1, [passes];
    ld.param.u32 %r2, [rounds];
    cvta.to.global.u64 %x3, %x1;
    cvta.to.global.u64 %x4, %x2;
    mov.u32 %r3, %tid.x;
    and.b32 %r4, %r3, 63;
    mov.u32 %r5, 0;
    mov.u64 %x5, 0;
PASS:
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra DONE;
    and.b32 %r6, %r5, 7;
    shl.b32 %r7, %r6, 6;
    or.b32 %r8, %r7, %r4;
    mad.lo.u32 %r9, %r8, 2654435761, 2135587861;
    mov.u32 %r10, 0;
ROUND:
    setp.ge.u32 %p2, %r10, %r2;
    @%p2 bra CHECK;
    mad.lo.u32 %r9, %r9, 1664525, 1013904223;
    shr.u32 %r11, %r9, 20;
    and.b32 %r12, %r9, 4095;
    cvt.rn.f32.u32 %f1, %r11;
    cvt.rn.f32.u32 %f2, %r12;
    fma.rn.f32 %f3, %f1, %f2, %f1;
    cvt.rzi.u32.f32 %r13, %f3;
    xor.b32 %r9, %r9, %r13;
    shr.u32 %r14, %r9, 6;
    and.b32 %r15, %r9, 67108863;
    cvt.rn.f64.u32 %d1, %r14;
    cvt.rn.f64.u32 %d2, %r15;
    fma.rn.f64 %d3, %d1, %d2, %d2;
    cvt.rzi.u64.f64 %x6, %d3;
    cvt.u32.u64 %r16, %x6;
    xor.b32 %r9, %r9, %r16;
    shl.b32 %r17, %r9, 7;
    shr.u32 %r18, %r9, 25;
    or.b32 %r9, %r17, %r18;
    add.u32 %r10, %r10, 1;
    bra ROUND;
CHECK:
    mul.wide.u32 %x7, %r8, 4;
    add.u64 %x8, %x3, %x7;
    ld.global.u32 %r19, [%x8];
    setp.ne.u32 %p3, %r9, %r19;
    @%p3 add.u64 %x5, %x5, 1;
    add.u32 %r5, %r5, 1;
    bra PASS;
DONE:
    setp.eq.u64 %p4, %x5, 0;
    @%p4 bra COUNTED;
    red.global.add.u64 [%x4], %x5;
COUNTED:
    mov.u64 %x9, 1;
    red.global.add.u64 [%x4+8], %x9;
    ret;
}

.visible .entry bw_fill(
    .param .u64 memory,
    .param .u64 words,
    .param .u32 salt,
    .param .u32 flip
)
{
    .reg .pred %p<2>;
    .reg .b32 %r<20>;
    .reg .b64 %x<12>;

    ld.param.u64 %x1, [memory];
    ld.param.u64 %x2, [words];
    ld.param.u32 %r1, [salt];
    ld.param.u32 %r2, [flip];
    cvta.to.global.u64 %x3, %x1;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mov.u32 %r6, %nctaid.x;
    mul.wide.u32 %x4, %r3, %r4;
    cvt.u64.u32 %x5, %r5;
    add.u64 %x4, %x4, %x5;
    mul.wide.u32 %x6, %r4, %r6;
NEXT:
    setp.ge.u64 %p1, %x4, %x2;
    @%p1 bra DONE;
    cvt.u32.u64 %r7, %x4;
    shr.u64 %x7, %x4, 32;
    cvt.u32.u64 %r8, %x7;
    mul.lo.u32 %r9, %r8, 2246822507;
    xor.b32 %r10, %r7, %r9;
    mad.lo.u32 %r11, %r10, 2654435761, %r1;
    shr.u32 %r12, %r11, 15;
    xor.b32 %r13, %r11, %r12;
    mul.lo.u32 %r14, %r13, 739982445;
    shr.u32 %r15, %r14, 13;
    xor.b32 %r16, %r14, %r15;
    xor.b32 %r17, %r16, %r2;
    shl.b64 %x8, %x4, 2;
    add.u64 %x9, %x3, %x8;
    st.global.u32 [%x9], %r17;
    add.u64 %x4, %x4, %x6;
    bra NEXT;
DONE:
    ret;
}

.visible .entry bw_check(
    .param .u64 memory,
    .param .u64 words,
    .param .u32 salt,
    .param .u32 flip,
    .param .u64 counters
)
{
    .reg .pred %p<4>;
    .reg .b32 %r<20>;
    .reg .b64 %x<16>;

    ld.param.u64 %x1, [memory];
    ld.param.u64 %x2, [words];
    ld.param.u32 %r1, [salt];
    ld.param.u32 %r2, [flip];
    ld.param.u64 %x10, [counters];
    cvta.to.global.u64 %x3, %x1;
    cvta.to.global.u64 %x11, %x10;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mov.u32 %r6, %nctaid.x;
    mul.wide.u32 %x4, %r3, %r4;
    cvt.u64.u32 %x5, %r5;
    add.u64 %x4, %x4, %x5;
    mul.wide.u32 %x6, %r4, %r6;
    mov.u64 %x12, 0;
NEXT:
    setp.ge.u64 %p1, %x4, %x2;
    @%p1 bra DONE;
    cvt.u32.u64 %r7, %x4;
    shr.u64 %x7, %x4, 32;
    cvt.u32.u64 %r8, %x7;
    mul.lo.u32 %r9, %r8, 2246822507;
    xor.b32 %r10, %r7, %r9;
    mad.lo.u32 %r11, %r10, 2654435761, %r1;
    shr.u32 %r12, %r11, 15;
    xor.b32 %r13, %r11, %r12;
    mul.lo.u32 %r14, %r13, 739982445;
    shr.u32 %r15, %r14, 13;
    xor.b32 %r16, %r14, %r15;
    xor.b32 %r17, %r16, %r2;
    shl.b64 %x8, %x4, 2;
    add.u64 %x9, %x3, %x8;
    ld.global.u32 %r18, [%x9];
    setp.ne.u32 %p2, %r18, %r17;
    @%p2 add.u64 %x12, %x12, 1;
    add.u64 %x4, %x4, %x6;
    bra NEXT;
DONE:
    setp.eq.u64 %p3, %x12, 0;
    @%p3 bra COUNTED;
    red.global.add.u64 [%x11], %x12;
COUNTED:
    mov.u64 %x13, 1;
    red.global.add.u64 [%x11+8], %x13;
    ret;
}
"""


def compute(chain: int, *, rounds: int) -> int:
    """What ``bw_compute`` computes for one chain."""
    word = (chain * 2654435761 + 2135587861) & WORD
    for _ in range(rounds):
        word = (word * 1664525 + 1013904223) & WORD
        high, low = word >> 20, word & 4095
        word ^= high * low + high  # as a 32-bit float holds it: below 2**24
        high, low = word >> 6, word & 67108863
        word ^= (high * low + low) & WORD  # as a 64-bit float holds it: below 2**52
        word = (word << 7 | word >> 25) & WORD
    return word


@cache
def expected_chains(rounds: int = ROUNDS) -> tuple[int, ...]:
    """What comes out of every chain."""
    return tuple(compute(chain, rounds=rounds) for chain in range(CHAINS))


def word_at(place: int, *, salt: int, flip: int) -> int:
    """The word that ``bw_fill`` writes at a place of memory, and ``bw_check`` looks for."""
    word = (place ^ (place >> 32) * 2246822507) & WORD
    word = (word * 2654435761 + salt) & WORD
    word ^= word >> 15
    word = word * 739982445 & WORD
    return word ^ word >> 13 ^ flip
