"""What leases count for in quota: the pure engine's reading and writing of the quota table.

Rules:

- A lease counts for what its shape takes, and for the devices that it got: their generations, and
  their memory by the share of it that is held (of each device rounded up to whole bytes).
- Before a place is sought, a shape is held against the limits by the least its devices may count
  for; afterwards the very devices are (``bears_vram``).
- A row whose limits are not all there is to it (``ASK_PYTHON``) is left to whoever keeps the table.
"""

from __future__ import annotations

from array import array

from bailiwick.scheduler.engine.protocol import ASK_PYTHON, KINDS_MAX, OVER_QUOTA
from bailiwick.scheduler.engine.tables import ShapeRecord, bits
from bailiwick.vocab.values import MILLI

# Rows of the quota table; the layout is documented in scheduler/quota_rows.py.
_WIDTH, _FLAGS, _USED, _LIMIT, _GEN_USED, _GEN_LIMIT, _VRAM = 48, 1, 2, 8, 14, 30, 4
_FLAG_ASK, _FLAG_GENERATIONS = 1, 2


class Charges:
    """The quota table, and what each kind of device counts for in it."""

    def __init__(self) -> None:
        self.generation_of_kind = [0] * KINDS_MAX
        self.vram_of_kind = [0] * KINDS_MAX
        self.table: array[int] = array("q")

    def check(self, row: int, shape: ShapeRecord) -> int:
        """0 if the row and its parent take one more of the shape, else why not."""
        gpu = shape.count * shape.milli
        need = (shape.cpu, shape.mem, shape.block, gpu, shape.vram, 1)
        table = self.table
        while row >= 0:
            at = row * _WIDTH
            flags = table[at + _FLAGS]
            if flags & _FLAG_ASK:
                return ASK_PYTHON
            for d, amount in enumerate(need):
                if amount and table[at + _USED + d] + amount > table[at + _LIMIT + d]:
                    return OVER_QUOTA
            if flags & _FLAG_GENERATIONS and shape.count:
                g = shape.generation
                if g < 0 or table[at + _GEN_USED + g] + gpu > table[at + _GEN_LIMIT + g]:
                    return OVER_QUOTA
            row = table[at]
        return 0

    def bears_vram(self, row: int, kinds: bytes, devices: int, *, milli: int) -> bool:
        """Whether the row and its parent take the memory of these devices of a machine."""
        more = self._vram(kinds, devices, milli)
        table = self.table
        while more and row >= 0:
            at = row * _WIDTH + _VRAM
            if table[at + _USED] + more > table[at + _LIMIT]:
                return False
            row = table[row * _WIDTH]
        return True

    def charge(
        self, row: int, shape: ShapeRecord, kinds: bytes, *, devices: int, sign: int
    ) -> None:
        """Count one lease of the shape, on these devices of a machine, or count it no more."""
        vram = self._vram(kinds, devices, shape.milli)
        need = (shape.cpu, shape.mem, shape.block, shape.count * shape.milli, vram, 1)
        table = self.table
        while row >= 0:
            at = row * _WIDTH
            for d, amount in enumerate(need):
                table[at + _USED + d] += sign * amount
            for i in bits(devices) if devices else ():
                table[at + _GEN_USED + self.generation_of_kind[kinds[i]]] += sign * shape.milli
            row = table[at]

    def _vram(self, kinds: bytes, devices: int, milli: int) -> int:
        """What these devices of a machine count for in GPU memory, held by that share."""
        if not devices:
            return 0
        return sum(-(-self.vram_of_kind[kinds[i]] * milli // MILLI) for i in bits(devices))
