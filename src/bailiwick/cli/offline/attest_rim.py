"""The command ``bailiwick attest rim``: golden values for a policy, from the vendor's manifests.

Rules:

- Only what a pinned root vouches for at the given time is printed; one bad file, and nothing is.
- As JSON it is the list ``golden`` of a policy's section ``gpu_cc``, as it stands there; as a table
  only what it is of and how long it holds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bailiwick.cli import ExitCode
from bailiwick.cli.offline.journal_screen import print_table
from bailiwick.cli.shared.flags import Output, OutputOption
from bailiwick.vocab.errors import InvalidValue

FILE_BYTES_MAX = 4 * 2**20

HELP = (
    "Golden values of NVIDIA drivers and VBIOSes, from their signed manifests.\n\n"
    "Example: bailiwick attest rim driver.swidtag vbios.swidtag --root nvidia-rim-root.pem\n\n"
    "Prints the list for the field golden of a policy's section gpu_cc. Ends with 3, and prints "
    "nothing, if a manifest is not the vendor's."
)


def rim(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Manifests (.swidtag).", exists=True, dir_okay=False),
    ],
    *,
    root: Annotated[
        Path,
        typer.Option(
            "--root",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="The root to trust, in PEM or DER.",
        ),
    ],
    at: Annotated[str, typer.Option("--at", metavar="TIME", help="Judged at this time.")] = "now",
    output: OutputOption = Output.JSON,
) -> None:
    """Print golden values."""
    import json

    from bailiwick.attestation.formats.certificates import read_certificates
    from bailiwick.attestation.gpu.rim import read_rim
    from bailiwick.attestation.verdict import EvidenceError
    from bailiwick.cli.shared.periods import parse_time
    from bailiwick.cli.shared.screen import printable

    at_ms = parse_time("--at", at)
    try:
        roots = read_certificates(read_file("--root", root, limit=FILE_BYTES_MAX))
    except EvidenceError as error:
        raise InvalidValue("--root", str(root), f"a certificate ({error.where})") from None
    found = []
    for path in files:
        try:
            raw = read_file("FILE", path, limit=FILE_BYTES_MAX)
            golden = read_rim(raw, roots=roots, at_ms=at_ms)
        except EvidenceError as error:
            typer.echo(f"bailiwick: {path}: {printable(str(error))}", err=True)
            raise typer.Exit(ExitCode.DENIED) from None
        found.append(golden.document())
    if output is Output.JSON:
        typer.echo(json.dumps(found, indent=2))
        return
    headings = ("name", "kind", "version", "values", "valid until")
    print_table(headings, [_row(golden) for golden in found])


def _row(golden: dict[str, Any]) -> tuple[str, ...]:
    from bailiwick.phrases.times import clock

    until = clock(golden["valid_until_ms"])
    return (
        golden["name"],
        golden["kind"],
        golden["version"],
        str(len(golden["measurements"])),
        until,
    )


def read_file(option: str, path: Path, *, limit: int) -> bytes:
    """The file that an option names, if it can be read and is not too large."""
    try:
        with path.open("rb") as file:
            raw = file.read(limit + 1)
    except OSError as error:
        raise InvalidValue(option, str(path), f"a file to read ({error.strerror})") from None
    if len(raw) > limit:
        raise InvalidValue(option, str(path), f"a file of at most {limit} bytes")
    return raw
