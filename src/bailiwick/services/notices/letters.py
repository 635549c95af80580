"""What a letter says: a title and a text, of one thing or of several.

Rules:

- A letter of several says how many, begins with what is urgent, and tells each with its own title.
- It says how many more there were that no letter tells, and where those are.

>>> from bailiwick.vocab.notices import NoticeKind
>>> told = [Tiding(message=f"m-{n}", kind=NoticeKind.NODE_DRAINED, at_ms=0, scope=FLEET,
...     facts={"node": f"n{n}"}) for n in (1, 2, 3)]
>>> title_of_letter(told)
'Node n1 is drained, and 2 more notices'
>>> title_of_letter(told[:1])
'Node n1 is drained'
"""

from __future__ import annotations

from collections.abc import Sequence

from bailiwick.iam import FLEET
from bailiwick.phrases.amounts import plural
from bailiwick.phrases.notices.texts import text_of, title_of
from bailiwick.store.notices.told import Tiding


def title_of_letter(tidings: Sequence[Tiding]) -> str:
    """What happened, in a few words."""
    first, *rest = tidings
    title = title_of(first.kind, first.facts)
    return f"{title}, and {plural(len(rest), 'more notice')}" if rest else title


def text_of_letter(tidings: Sequence[Tiding], *, withheld: int) -> str:
    """Each thing with its title, where it happened and what to look at next."""
    parts = [_part(each, is_alone=len(tidings) == 1) for each in tidings]
    if withheld:
        told = "was not sent" if withheld == 1 else "were not sent"
        more = f"{plural(withheld, 'more notice')} {told}, so that you are not flooded"
        parts.append(f"{more}. See: bailiwick inbox list --unread")
    return "\n\n".join(parts)


def _part(tiding: Tiding, *, is_alone: bool) -> str:
    lines = [f"{title_of(tiding.kind, tiding.facts)}."]
    if is_alone:
        lines.append("")
    lines.append(text_of(tiding.kind, tiding.facts, at_ms=tiding.at_ms))
    if tiding.scope != FLEET:
        lines.append(f"Where: {tiding.scope}")
    return "\n".join(lines)
