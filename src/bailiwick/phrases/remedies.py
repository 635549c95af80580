"""The one change that would clear the first obstacle."""

from __future__ import annotations

from typing import assert_never

from bailiwick.phrases.amounts import amount, plural, short_amount
from bailiwick.vocab.remedies import RemedyWord


def phrase_remedy(word: RemedyWord, *, value: int, unit: str) -> str:
    """The one change that would clear the first blocker."""
    by = f" by {amount(unit, value)}" if value else ""
    match word:
        case RemedyWord.NOTHING_NEEDED:
            return "nothing: it only has to wait its turn"
        case RemedyWord.DECLARE_GENERATION:
            return "name a GPU generation, such as --generation nvidia_hopper"
        case RemedyWord.CHANGE_REQUEST:
            less = f"ask for {amount(unit, value)} less"
            return less if value else "ask for something that there is"
        case RemedyWord.CHANGE_POLICY:
            return "an operator would have to open nodes to it"
        case RemedyWord.RAISE_QUOTA:
            return f"a higher quota{by}"
        case RemedyWord.RAISE_CEILING:
            return "ask for less, or a higher ceiling (bailiwick quota show)"
        case RemedyWord.FREE_OWN_LEASES:
            return f"end leases of your own{by}"
        case RemedyWord.OPEN_NODES:
            closed = "the one node is" if value == 1 else f"all {value} nodes are"
            return f"{closed} closed: to be opened, or to attest (bailiwick node list)"
        case RemedyWord.WAIT_OR_PREEMPT:
            return f"wait until others free {amount(unit, value)}" if by else "wait, or be urgent"
        case _:
            assert_never(word)


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
