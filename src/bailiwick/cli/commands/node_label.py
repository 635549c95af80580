"""Labels that operators give nodes, as a verb of ``bailiwick node``."""

from __future__ import annotations

from typing import Annotated

import typer

from bailiwick.cli.shared.ask import Ask, path_word, verb
from bailiwick.cli.shared.completions import complete_nodes
from bailiwick.vocab.errors import InvalidValue

_NodeName = Annotated[
    str, typer.Argument(metavar="NODE", help="Its name.", autocompletion=complete_nodes)
]


def add_label_verb(nodes: typer.Typer) -> None:
    """What ``bailiwick node`` says about labels."""
    verb(nodes, "label", changes=True)(label_node)


def label_node(
    ask: Ask,
    node: _NodeName,
    *,
    labels: Annotated[
        list[str],
        typer.Argument(metavar="KEY=VALUE|KEY-...", help="pool=a gives a label, pool- takes it."),
    ],
) -> None:
    """Give a node labels that requests can ask for (--label), or take them away again.

    They count more than what the machine says itself. What runs there goes on.

    Example: bailiwick node label n1 pool=fast tier- --dry-run
    """
    from bailiwick.client.bodies import make_body
    from bailiwick.wire.actions.nodes import NODE_LABEL
    from bailiwick.wire.fleet import NodeLabels

    put = [text for text in labels if "=" in text]
    drop = [text.removesuffix("-") for text in labels if "=" not in text and text.endswith("-")]
    if len(put) + len(drop) < len(labels):
        wrong = next(text for text in labels if "=" not in text and not text.endswith("-"))
        raise InvalidValue("KEY=VALUE", wrong, "a label such as pool=a, or pool- to take it away")
    body = make_body(NodeLabels, put=put, drop=drop)
    path = {"node": path_word("NODE", node)}
    ask.change(NODE_LABEL, path=path, body=body, told=f"labels of {node} are changed")
