"""The one change that would clear the first obstacle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, assert_never

from bailiwick.phrases.amounts import plural, short_amount
from bailiwick.phrases.templates import fill
from bailiwick.vocab.remedies import RemedyWord

_BY: Final = "[amount? by {amount:amount unit}]"
_OWN: Final = "[lease_ids? ({lease_ids:leases})]"

REMEDIES: Final[Mapping[RemedyWord, str]] = {
    RemedyWord.NOTHING_NEEDED: "nothing: it only has to wait its turn",
    RemedyWord.DECLARE_GENERATION: "name a GPU generation, such as --generation nvidia_hopper",
    RemedyWord.CHANGE_REQUEST: (
        "[amount?ask for {amount:amount unit} less|ask for something that there is]"
    ),
    RemedyWord.CHANGE_POLICY: "an operator would have to open nodes to it",
    RemedyWord.RAISE_QUOTA: f"a higher quota{_BY}",
    RemedyWord.RAISE_CEILING: "ask for less, or a higher ceiling (bailiwick quota show)",
    RemedyWord.FREE_OWN_LEASES: f"end leases of your own{_BY}{_OWN}",
    RemedyWord.OPEN_NODES: (
        "[amount=1?the one node is|all {amount} nodes are] closed: to be opened, or to attest "
        "(bailiwick node list)"
    ),
    RemedyWord.WAIT_OR_PREEMPT: (
        "[amount?wait until others free {amount:amount unit}|wait, or be urgent]"
    ),
}
"""The one change that would clear the first blocker."""


def phrase_remedy(facts: Mapping[str, Any]) -> str:
    """The one change that would clear the first blocker; ``remedy`` says which."""
    return fill(REMEDIES[RemedyWord(facts["remedy"])], facts)


def remedy_beside(word: RemedyWord, *, value: int, unit: str) -> str:
    """The same, to stand beside the word."""
    what = f"{short_amount(unit, value)} {unit}".strip()
    match word:
        case RemedyWord.NOTHING_NEEDED:
            return "nothing stands in the way"
        case RemedyWord.DECLARE_GENERATION:
            return "name the GPU generation"
        case RemedyWord.CHANGE_REQUEST:
            return "ask for something this fleet has"
        case RemedyWord.CHANGE_POLICY:
            return f"a policy that opens some of {what}"
        case RemedyWord.RAISE_QUOTA:
            return f"a limit higher by {what}"
        case RemedyWord.RAISE_CEILING:
            return "ask for less, or be allowed more"
        case RemedyWord.FREE_OWN_LEASES:
            return f"give back {what} of its own"
        case RemedyWord.OPEN_NODES:
            return f"{what} that could serve it must attest, or be opened by an operator"
        case RemedyWord.WAIT_OR_PREEMPT:
            if unit == "members":
                return f"wait until {plural(value, 'more member')} can be placed, or evict"
            return f"wait until {what} more come free, or evict"
        case _:
            assert_never(word)
