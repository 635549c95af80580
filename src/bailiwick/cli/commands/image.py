"""``bailiwick image``: the images of this machine that jobs can run in.

They are those of the machine that the command runs on: of the server's data directory, or of an
agent's (``--data-dir``). No server is asked.
"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bailiwick.cli.commands.up import DATA_DIR
from bailiwick.cli.shared.ask import noun
from bailiwick.cli.shared.flags import Output, OutputOption
from bailiwick.cli.shared.output import draw_details, emit
from bailiwick.cli.shared.screen import make_console, print_rows
from bailiwick.phrases.amounts import size

if TYPE_CHECKING:
    from bailiwick.executors.images.folder import FoundImage

app = noun("Images of this machine, for jobs to run in.")
_FolderOption = Annotated[
    Path,
    typer.Option("--data-dir", metavar="DIR", help="Of the server, or of the agent, of here."),
]
_ImageName = Annotated[str, typer.Argument(metavar="IMAGE", help="As image list shows it.")]


def _folder(data_dir: Path) -> Path:
    return data_dir / "images"


def _tell(found: FoundImage, output: Output) -> None:
    if output is Output.JSON:
        emit(json.dumps(dataclasses.asdict(found)))
        return
    rows = [
        ("digest", found.digest or "-"),
        ("packed", size(found.bytes)),
        ("layers", str(found.layers)),
        *((name, value) for name, value in (found.env or {}).items()),
    ]
    if found.fault:
        rows = [("not usable", found.fault)]
    draw_details("image", found.name, rows=rows)


@app.command("pull")
def pull_image(
    reference: Annotated[
        str, typer.Argument(metavar="REGISTRY/NAME@sha256:DIGEST", help="Exactly which image.")
    ],
    data_dir: _FolderOption = DATA_DIR,
    *,
    name: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Call it so here.")
    ] = None,
    credentials: Annotated[
        Path | None,
        typer.Option(
            "--credentials",
            metavar="FILE",
            help="Who you are there: a config.json of container tools that only you can read.",
        ),
    ] = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Fetch an image from a registry into this machine's folder; all of it is checked by digest.

    Example: bailiwick image pull
    r.example/tools@sha256:4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865
    """
    from bailiwick.executors.images.folder import pull
    from bailiwick.executors.images.registry import load_credentials, parse_reference

    which = parse_reference(reference)
    who = None if credentials is None else load_credentials(credentials, which.host)
    found = pull(
        which,
        _folder(data_dir),
        name=name,
        credentials=who,
        say=lambda text: typer.echo(text, err=True),
    )
    _tell(found, output)


@app.command("list")
def list_images(data_dir: _FolderOption = DATA_DIR, *, output: OutputOption = Output.TABLE) -> None:
    """The images of this machine.

    Example: bailiwick image list
    """
    from bailiwick.executors.images import folder

    found = folder.list_images(_folder(data_dir))
    if output is Output.JSON:
        emit(json.dumps([dataclasses.asdict(each) for each in found]))
        return
    if not found:
        typer.echo("no image is there; bailiwick image pull fetches one", err=True)
        return
    print_rows(
        make_console(),
        ("image", "digest*", "packed", "layers"),
        rows=[
            (each.name, each.digest or each.fault, size(each.bytes), str(each.layers))
            for each in found
        ],
        numbers=("packed", "layers"),
    )


@app.command("show")
def show_image(
    image: _ImageName, data_dir: _FolderOption = DATA_DIR, *, output: OutputOption = Output.TABLE
) -> None:
    """One image: its digest, its size, and the environment that its jobs find.

    Example: bailiwick image show tools
    """
    from bailiwick.executors.images.folder import look

    _tell(look(_folder(data_dir), image), output)


@app.command("remove")
def remove_image(image: _ImageName, data_dir: _FolderOption = DATA_DIR) -> None:
    """Take an image away; jobs that run in it go on.

    Example: bailiwick image remove tools
    """
    from bailiwick.executors.images.folder import remove

    remove(_folder(data_dir), image)
    emit(f"image {image} is removed")
