"""The accounting as one file, and back: what jobs used, whose they were, accounts and limits.

Rules:

- A backup is made while everything runs, and is of one moment: all tables in one transaction.
- It is a plain archive: how each table is made, and its rows as text. It does not depend on the
  version of the database.
- A file that is not whole, is no such archive, or that the database does not take, changes nothing.
- What is restored replaces all that was there. The accounting and the controller are away for it,
  jobs go on, and what ended meanwhile is told afterwards.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import tarfile
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from .home import Home, MemberError
from .processes import call

PIECE_BYTES_MAX: Final = 384 * 1_024
_BYTES_MAX: Final = 2**30
_WAIT_S: Final = 100.0
_TABLE: Final = re.compile(r"[A-Za-z0-9_]{1,64}\Z")
_MADE: Final = "tables.json"


def backup(home: Home) -> dict[str, Any]:
    """Make one; how large it is, and its digest."""
    folder = Path(tempfile.mkdtemp(prefix="backup-", dir=home.root))
    try:
        listed = "select table_name from information_schema.tables where table_schema = 'slurm'"
        made = {name: _how_made(home, name) for name in sorted(sql(home, listed).split())}
        rows = [
            f"select * into outfile '{folder}/{name}.rows' character set binary from `{name}`"
            for name in made
        ]
        begin = "use slurm; start transaction with consistent snapshot"
        sql(home, "; ".join([begin, *rows, "commit"]))
        (folder / _MADE).write_text(json.dumps(made))
        scratch = folder / "all"
        with tarfile.open(scratch, "w:gz") as archive:
            for name in (_MADE, *(f"{name}.rows" for name in made)):
                archive.add(folder / name, name)
        scratch.replace(_file(home))
    finally:
        shutil.rmtree(folder)
    return {"size": _file(home).stat().st_size, "digest": _digest(_file(home))}


def read_piece(home: Home, offset: int) -> bytes:
    """A piece of the last backup."""
    with _file(home).open("rb") as file:
        file.seek(offset)
        return file.read(PIECE_BYTES_MAX)


def write_piece(home: Home, offset: int, *, data: bytes) -> None:
    """A piece of a backup that is brought back, the first first."""
    path = _brought(home)
    have = path.stat().st_size if offset and path.exists() else 0
    if offset != have or offset + len(data) > _BYTES_MAX:
        raise MemberError(f"{have} bytes are here, this begins at {offset}")
    with path.open("ab" if offset else "wb") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(data)


def check_brought(home: Home, digest: str) -> None:
    """Refuse what is not whole."""
    path = _brought(home)
    if not path.exists() or _digest(path) != digest:
        raise MemberError("the backup did not arrive as a whole")
    try:
        with gzip.open(path) as packed:
            while packed.read(2**20):  # to its end: what was cut off shows only there
                pass
        with tarfile.open(path, "r:gz") as archive:
            _tables_in(archive)
    except (OSError, tarfile.TarError, ValueError, LookupError, EOFError) as error:
        raise MemberError(f"this is no backup of an accounting: {error}") from None


def restore(home: Home) -> None:
    """Have the accounting be what was brought; neither it nor the controller may run."""
    folder = Path(tempfile.mkdtemp(prefix="restore-", dir=home.root))
    try:
        made = _unpack(_brought(home), folder)
        # All of it is there before anything of the old is gone.
        steps = ["drop database if exists coming", "create database coming", "use coming"]
        steps.append("set sql_mode = 'NO_AUTO_VALUE_ON_ZERO'")
        for name, how in made.items():
            steps.append(how)
            rows = f"{folder}/{name}.rows"
            steps.append(f"load data infile '{rows}' into table `{name}` character set binary")
        steps += ["drop database if exists slurm", "create database slurm"]
        steps += [f"rename table coming.`{name}` to slurm.`{name}`" for name in made]
        sql(home, ";\n".join([*steps, "drop database coming"]))
        _brought(home).unlink()
    finally:
        shutil.rmtree(folder)


def _unpack(file: Path, folder: Path) -> dict[str, str]:
    """Have the rows in a folder; how each table is made."""
    with tarfile.open(file, "r:gz") as archive:
        made = _tables_in(archive)
        for name in made:
            held = archive.extractfile(f"{name}.rows")
            assert held is not None  # it was looked at
            with (folder / f"{name}.rows").open("wb") as rows:
                shutil.copyfileobj(held, rows)
    return made


def sql(home: Home, text: str) -> str:
    """What the database says to this; the words go in by stdin, so no list of processes has it."""
    where = f"--socket={home.root}/run/mysql.sock"
    words = ("mariadb", "--no-defaults", where, "-uroot", "--batch", "--raw", "-N")
    done = call(home, words, data=text.encode(), wait_s=_WAIT_S)
    if done.returncode:
        raise MemberError(f"the database: {done.stderr.decode(errors='replace').strip()[-300:]}")
    return done.stdout.decode()


def _how_made(home: Home, name: str) -> str:
    if not _TABLE.match(name):
        raise MemberError(f"{name} is no table of the accounting")
    return sql(home, f"show create table slurm.`{name}`").partition("\t")[2].strip()


def _tables_in(archive: tarfile.TarFile) -> dict[str, str]:
    """How each table is made; refused if one is not as a backup has it."""
    held = archive.extractfile(_MADE) if _MADE in archive.getnames() else None
    made = json.loads(held.read()) if held is not None else None
    if not isinstance(made, dict) or not made:
        raise ValueError("no tables are in it")
    for name, how in made.items():
        is_own = _TABLE.match(name) and str(how).startswith(f"CREATE TABLE `{name}` (")
        if not is_own or not archive.getmember(f"{name}.rows").isfile():
            raise ValueError(f"{name} is no table of the accounting")
    return made


def _file(home: Home) -> Path:
    return home.root / "accounting.backup"


def _brought(home: Home) -> Path:
    return home.root / "accounting.brought"


def _digest(path: Path) -> str:
    found = sha256()
    with path.open("rb") as file:
        while piece := file.read(2**20):  # bounded by the file
            found.update(piece)
    return found.hexdigest()
