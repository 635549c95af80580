"""The member's program as one file, and the words by which a member gets and begins it.

Rules:

- The same sources give the same bytes, wherever and whenever it is packed: its digest is what a
  version names.
- A member begins with a few words that wait for the program, begin it once its digest is the one
  that the platform told the member, and never begin anything else.
"""

from __future__ import annotations

import io
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Final

PROGRAM: Final = "member.pyz"
_MEMBER: Final = Path(__file__).parent / "member"
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_BEGIN: Final = "from member.main import main\nmain()\n"

# It reads the program that it runs from memory: what was judged is what begins.
BOOTSTRAP: Final = """
import hashlib, os, sys, time
while True:
    try: data = open("member.pyz", "rb").read()
    except FileNotFoundError: data = b""
    if "sha256:" + hashlib.sha256(data).hexdigest() == os.environ["APP_ARTIFACT"]: break
    time.sleep(0.05)
held = os.memfd_create("member")
os.write(held, data)
os.set_inheritable(held, True)
os.execv(sys.executable, [sys.executable, "-I", f"/proc/self/fd/{held}", "run"])
""".strip()


def pack_member() -> bytes:
    """The program."""
    sources = {path.name: path.read_bytes() for path in _MEMBER.glob("*.py")}
    files = {f"member/{name}": data for name, data in sources.items() if name != "__main__.py"}
    files["__main__.py"] = _BEGIN.encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, files[name])
    return packed.getvalue()


def digest_of(program: bytes) -> str:
    """How a version names it."""
    return f"sha256:{sha256(program).hexdigest()}"
