"""Handlers for those who run the fleet: nodes' own reports, leases' ends, settings, broken glass.

Rules:

- A principal of the kind ``node`` is named ``node:NAME`` and reports for the node ``NAME`` alone.
  Anybody else with the key to report may do so for every node.
- A heartbeat is kept in memory, by the leader; nothing is recorded until a node falls silent.
- Break-glass gives nobody what his roles do not: it hands out, for minutes, a token that carries
  all of them to somebody whose own token is narrowed, after the reason was recorded. No other
  endpoint knows of it, and no boundary is open to it that is closed to its holder.
"""

from __future__ import annotations

from fastapi import Response

from bailiwick.iam import FLEET, Permission
from bailiwick.kernel import ChangeSettings
from bailiwick.kernel import Settings as KernelSettings
from bailiwick.kernel.events import Owner, SettingsChanged
from bailiwick.kernel.iam_commands import BreakGlass
from bailiwick.kernel.precondition import settings_digest
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import IfMatchDigest, digest_in
from bailiwick.server.http.tokens import spell_issued
from bailiwick.services.authority import Terms
from bailiwick.wire import people
from bailiwick.wire.answers import Done
from bailiwick.wire.settings import Settings

# -- settings --------------------------------------------------------------------------------


@answers("settings.read")
async def read_settings(asked: Here, response: Response) -> Settings:
    """How the scheduler works now; the ``ETag`` is a digest of it."""
    asked.require(FLEET)
    found = await asked.read(lambda view: view.state.settings)
    response.headers["etag"] = f'"{settings_digest(found)}"'
    body = SettingsChanged(found).body()
    return Settings.model_validate(body | {"confirm_teardown": found.confirm_teardown})


@answers("settings.set")
async def set_settings(asked: Changing, body: Settings, *, if_match: IfMatchDigest = None) -> Done:
    """Replace all settings; they count from now on and judge nothing again."""
    asked.require(FLEET)
    plain = body.model_dump(mode="json", exclude_none=True)
    settings: KernelSettings = SettingsChanged.read(plain, Owner()).settings
    return await asked.do(ChangeSettings(settings, digest_in(if_match)))


# -- break-glass -----------------------------------------------------------------------------


@answers("glass.break")
async def break_glass(
    asked: Changing, body: people.BreakGlass, *, response: Response
) -> people.IssuedToken:
    """A token with all that your roles allow, for a few minutes; your reason is recorded first."""
    asked.require(FLEET)
    house, who = asked.house, asked.principal
    # Not the key itself (minutes stay minutes), nor what would make or free other tokens.
    kept = {Permission.BREAK_GLASS, Permission.TOKEN_ISSUE, Permission.TOKEN_REVOKE}
    minted = house.door.authority.mint(
        who.name,
        who.kind,
        token_id=house.ids(),
        now_ms=house.door.clock.now_ms(),
        ttl_s=body.ttl_s,
        terms=Terms(keys=tuple(sorted(set(Permission) - kept)), within=who.within),
    )
    issue = minted.command
    await asked.do(
        BreakGlass("session", issue.token_id, body.reason, body.tenant, issue.expires_ms)
    )
    asked.key = None  # the record has it; the token is another command
    await asked.do(issue)
    response.headers["cache-control"] = "no-store"
    return spell_issued("" if asked.dry_run else minted.token, issue)
