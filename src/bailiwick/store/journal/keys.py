"""The key that signs checkpoints, kept in a file that only its owner can read.

Rules:

- The file has the form of Go's ``sumdb/note``: ``PRIVATE+KEY+name+id+base64(1 || seed)``.
- A file that others may read is refused, and no error quotes what is in it.
- Of two that create it at once, both end up with the same key.
"""

from __future__ import annotations

import os
import re
import secrets
from base64 import b64decode, b64encode
from contextlib import suppress
from pathlib import Path

from bailiwick.journal import SeedSigner, VerifierKey
from bailiwick.journal.keys import KeyAlgorithm, check_key_name
from bailiwick.store.journal.files import read_small, sync_directory
from bailiwick.vocab.errors import InvalidValue

_KEY_FILE = re.compile(r"PRIVATE\+KEY\+([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})\n?")


def load_or_create_key(path: Path, name: str) -> SeedSigner:
    """The signer whose key lies in a file of its owner alone; made on first use."""
    check_key_name("name", name)
    if not path.exists():
        _create_key(path, name)
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        raise InvalidValue("key file mode", oct(mode), "0o600: nobody but its owner may read it")
    found = _KEY_FILE.fullmatch(read_small(path).decode("ascii", "replace"))
    # The value is never quoted: it is the secret.
    if found is None or found[1] != name:
        raise InvalidValue("key file", str(path), f"a private key named {name}")
    packed = b64decode(found[3])
    if packed[:1] != bytes((KeyAlgorithm.ED25519,)):
        raise InvalidValue("key file", str(path), "an Ed25519 key")
    signer = SeedSigner(name, packed[1:])
    if VerifierKey.of(signer).id.hex() != found[2]:
        raise InvalidValue("key file", str(path), "a key whose id is that of its name and key")
    return signer


def _create_key(path: Path, name: str) -> None:
    seed = secrets.token_bytes(32)
    public = SeedSigner(name, seed).public_key
    identity = VerifierKey(name, public).id.hex()
    packed = b64encode(bytes((KeyAlgorithm.ED25519,)) + seed).decode("ascii")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, f"PRIVATE+KEY+{name}+{identity}+{packed}\n".encode("ascii"))
        os.fsync(handle)
        with suppress(FileExistsError):  # someone was faster: theirs is used
            os.link(temporary, path)
    finally:
        os.close(handle)
        temporary.unlink()
    sync_directory(path.parent)
