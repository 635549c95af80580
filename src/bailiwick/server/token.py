"""The shared secret of a server's port: where it lies, and who may read it.

Rules:

- Made once, from the system's randomness, in a file that only its owner can read; never replaced.
- A file that everybody on the machine can read is refused, and so is a secret that is too short.
"""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from bailiwick.vocab.errors import InvalidValue, NotFound

TOKEN_NAME = "token"
"""The name of the file in a data directory."""

CHARACTERS_MIN, CHARACTERS_MAX = 16, 1024


def load_token(path: Path) -> str:
    """The secret in a file."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(CHARACTERS_MAX + 2)
    except FileNotFoundError:
        raise NotFound("token file", str(path), hint="make one, mode 0600") from None
    except OSError as error:
        raise InvalidValue("token file", str(path), f"a file we can read ({error})") from None
    if mode & stat.S_IROTH:
        raise InvalidValue("token file", str(path), "a file not everybody can read; chmod 600 it")
    try:
        token = data.decode("ascii").strip()
    except UnicodeDecodeError:
        token = ""
    if not CHARACTERS_MIN <= len(token) <= CHARACTERS_MAX or not token.isprintable():
        wanted = f"one line of {CHARACTERS_MIN} to {CHARACTERS_MAX} ASCII characters in it"
        raise InvalidValue("token file", str(path), wanted)
    return token


def load_or_create_token(path: Path) -> str:
    """The secret in a file; where there is none, a new one is made."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return load_token(path)
    except OSError as error:
        raise InvalidValue("token file", str(path), f"a file we can make ({error})") from None
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_urlsafe(32) + "\n")
        file.flush()
        os.fsync(file.fileno())
    return load_token(path)
