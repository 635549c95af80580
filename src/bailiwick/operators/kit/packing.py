"""A member's program as one file, and the words by which a member waits for it and begins it.

An operator that delivers its program by itself needs nothing installed on the nodes for it.

Rules:

- The same sources give the same bytes, wherever and whenever they are packed: their digest is what
  a version names.
- A member begins nothing but what has the digest that the platform told it (``APP_ARTIFACT``). What
  was judged is what begins: it is run from memory.
- A program that was delivered in part is not there.
"""

from __future__ import annotations

import io
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Final

PROGRAM: Final = "member.pyz"
DELIVER: Final = ("/bin/sh", "-c", f"cat > .{PROGRAM}.$$ && mv .{PROGRAM}.$$ {PROGRAM}")
"""The command inside a member that takes the program from its input."""
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)

BOOTSTRAP: Final = f"""\
import hashlib, os, sys, time
data = b""
while "sha256:" + hashlib.sha256(data).hexdigest() != os.environ["APP_ARTIFACT"]:
    time.sleep(0.1)
    if os.path.exists("{PROGRAM}"):
        data = open("{PROGRAM}", "rb").read()
held = os.memfd_create("member", 0)
os.write(held, data)
os.execv(sys.executable, [sys.executable, "-I", "/proc/self/fd/%d" % held, *sys.argv[1:]])
"""
"""What a member runs (``python -c``) until its program is there; then it is that."""


ASK: Final = f"""\
import os, runpy, sys, time
told = sys.stdin.buffer
size = int(told.readline(16))
if size:
    new = ".{PROGRAM}.%d" % os.getpid()
    with open(new, "wb") as file:
        file.write(told.read(size))
    os.rename(new, "{PROGRAM}")
for _ in range(200):
    if os.path.exists("run/door"):
        break
    time.sleep(0.1)
runpy.run_path("run/ask.py", run_name="__main__")
"""
"""What is run (``python -c``) inside a member to ask it something: the size of its program, which
is 0 if it has it, the program, and what is asked. A member begins no other than it was told."""


def pack(folder: Path) -> bytes:
    """The package in this folder as a program; it begins with ``main`` of its module ``main``."""
    name = folder.name
    sources = {path.name: path.read_bytes() for path in folder.glob("*.py")}
    files = {f"{name}/{each}": data for each, data in sources.items() if each != "__main__.py"}
    files["__main__.py"] = f"from {name}.main import main\n\nmain()\n".encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, _EPOCH)
            entry.create_system, entry.external_attr = 3, 0o644 << 16
            archive.writestr(entry, files[path])
    return packed.getvalue()


def digest_of(program: bytes) -> str:
    """How a version names it."""
    return f"sha256:{sha256(program).hexdigest()}"
