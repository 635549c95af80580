"""Why a login through a provider lets nobody in."""

from __future__ import annotations

from enum import StrEnum


class LoginRefusal(StrEnum):
    """Why a login through a provider lets nobody in, in the order of the checks."""

    LOGIN_STATE_MISMATCH = "login_state_mismatch"
    """This browser did not begin it, or too long ago."""
    LOGIN_PROVIDER_REFUSED = "login_provider_refused"
    """The provider says no: he was refused, gave up, or the code was used before."""
    LOGIN_PROVIDER_UNREACHABLE = "login_provider_unreachable"
    LOGIN_TOKEN_INVALID = "login_token_invalid"
    """What the provider says of him is not signed, not for us, not now, or not of this login."""
    LOGIN_NAME_UNUSABLE = "login_name_unusable"
    """The claim that names him is missing, or holds what no name can."""


class LoginRefused(Exception):
    """A login lets nobody in; ``told`` is for the operator's log."""

    def __init__(self, word: LoginRefusal, told: str) -> None:
        super().__init__(told)
        self.word = word
