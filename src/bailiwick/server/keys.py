"""Private keys on disk: where they lie, and who may read them.

Rules:

- Made once, from the system's randomness, in a file that only its owner can read; never replaced,
  and never seen half written.
- A file that others on the machine can read is refused, whatever is in it.
- Nothing of a key's content is ever put into an error.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

from bailiwick.vocab.errors import InvalidValue, NotFound

AUTHORITY_NAME = "authority.pem"
"""Signs tokens; in a data directory. Replicas on one database share it."""

CAPABILITY_NAME = "capability.key"
"""Signs tokens of leases; beside the authority's. Replicas on one database share it."""

SIGNER_NAME = "signer.key"
"""Signs checkpoints of the journal."""

BYTES_MAX = 4096


def load_key(path: Path) -> bytes:
    """The key in a file."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(BYTES_MAX + 1)
    except FileNotFoundError:
        hint = "copy the one of another replica, or let a server without --database make one"
        raise NotFound("key file", str(path), hint=hint) from None
    except OSError as error:
        raise InvalidValue("key file", str(path), f"a file we can read ({error})") from None
    if mode & (stat.S_IROTH | stat.S_IWOTH):
        raise InvalidValue("key file", str(path), "a file not everybody can read; chmod 600 it")
    if not data or len(data) > BYTES_MAX:
        raise InvalidValue("key file", str(path), f"1 to {BYTES_MAX} bytes in it")
    return data


def load_or_create_key(path: Path, make: Callable[[], bytes]) -> bytes:
    """The key in a file; where there is none, a new one is made.

    Replicas that start together share the first one made: a key appears whole under its name.
    """
    if not path.exists():
        try:
            _create(path, make())
        except FileExistsError:
            pass  # another replica was faster: its key is everybody's
        except OSError as error:
            raise InvalidValue("key file", str(path), f"a file we can make ({error})") from None
    return load_key(path)


def _create(path: Path, key: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(key)
            file.flush()
            os.fsync(file.fileno())
        os.link(scratch, path)  # unlike a rename, a link never replaces what is there
    finally:
        os.unlink(scratch)
