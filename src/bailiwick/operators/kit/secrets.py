"""Secrets in files: read only where nobody else could, and read again when they were renewed.

Rules:

- A file that its group or others could read or write is refused, and so is a link.
- Whoever renews a secret puts a new file in its place (rename). It is read at the next use.
- What is in it is never in a message, an error or a log.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from bailiwick.vocab.errors import InvalidValue

SECRET_BYTES_MAX: Final = 64 << 10


class SecretFile:
    """A secret that somebody keeps in a file for us."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._mark: tuple[int, int, int, int] | None = None
        self._text = ""

    def __repr__(self) -> str:
        return f"SecretFile({str(self.path)!r})"

    def read(self) -> str:
        """The secret as it is now, without the white space around it."""
        try:
            # A pipe must not keep us waiting.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
            file = os.fdopen(os.open(self.path, flags), "rb")
        except OSError as error:
            told = f"a file that can be read, and no link ({error.strerror})"
            raise InvalidValue("secret", str(self.path), told) from None
        with file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise InvalidValue("secret", str(self.path), "a file")
            if stat.S_IMODE(about.st_mode) & 0o077:
                told = "a file that only its owner can read (chmod 600)"
                raise InvalidValue("secret", str(self.path), told)
            mark = about.st_ino, about.st_mtime_ns, about.st_ctime_ns, about.st_size
            if mark != self._mark:
                self._text, self._mark = self._parse(file.read(SECRET_BYTES_MAX + 1)), mark
        return self._text

    def _parse(self, data: bytes) -> str:
        try:
            text = data.decode().strip()
        except UnicodeDecodeError:
            text = ""
        if not text or len(data) > SECRET_BYTES_MAX:
            told = f"1 to {SECRET_BYTES_MAX} bytes of text in it"
            raise InvalidValue("secret", str(self.path), told) from None
        return text

    def replace(self, text: str) -> None:
        """Have another secret be there, whole and on the disk."""
        scratch = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        scratch.unlink(missing_ok=True)
        try:
            with os.fdopen(os.open(scratch, flags, 0o600), "wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            scratch.replace(self.path)
        except OSError as error:
            told = f"a file that can be made ({error.strerror})"
            raise InvalidValue("secret", str(self.path), told) from None
        finally:
            scratch.unlink(missing_ok=True)
