"""What a person can do where a shared runtime says no."""

from __future__ import annotations

from typing import Final

from bailiwick.vocab.shared import SharedRefusal, SubmitDenial

SHARED_FIXES: Final[dict[SharedRefusal | SubmitDenial, str]] = {
    SharedRefusal.ENVIRONMENT_TAKEN: "use that one, or name another --environment",
    SharedRefusal.BILLING_RULE_NOT_ACCEPTED: (
        "read who pays with bailiwick shared plan and the same words, and accept the digest it ends"
        " with"
    ),
    SharedRefusal.NODES_GIVE_ROOT: "it needs nodes whose agents run without --trust-jobs",
    SharedRefusal.SAME_PERSON: "have somebody else of the project accept it",
    SharedRefusal.ROLE_NOT_CONTRIBUTED: "bailiwick shared plan says what can be contributed",
    SharedRefusal.BACKS_A_RUNTIME: "it is ended with bailiwick shared delete, and asked with call",
    SubmitDenial.RUNTIME_LEAVING: "it is being deleted; bailiwick shared list shows others",
    SubmitDenial.NOT_ATTACHED: (
        "the tenant's administrator allows it with bailiwick shared attach, and the project accepts"
        " it with bailiwick shared accept"
    ),
    SubmitDenial.OWNER_NOT_ATTACHED: "that project has to be attached first",
    SubmitDenial.POLICY_ENDED: "ask an administrator of that project to set it anew",
    SubmitDenial.NO_POLICY: (
        "ask an administrator of that project for one: bailiwick shared policy"
    ),
}
"""By the word of a refusal; a word that both enumerations have means the same in both."""


def fix_of_shared(word: object) -> str:
    """What would help, by the word that was told; nothing for a word of another version.

    >>> fix_of_shared("owner_not_attached"), fix_of_shared("new")
    ('that project has to be attached first', '')
    """
    return next((fix for each, fix in SHARED_FIXES.items() if each.value == word), "")
