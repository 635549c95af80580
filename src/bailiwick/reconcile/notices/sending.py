"""One letter to one person: who may still know, what is sent, and what follows from a try.

Rules:

- Whether somebody may know is asked again before each try, of each thing that a letter tells. What
  he may not any more is left out. Where that is all, or he took the way back, the letter is gone.
- So is what he does not choose for this way any more: who unsubscribes is not sent what was on its
  way, and finds it in his inbox unless he wants to hear nothing of such things.
- What he may know only by groups at a provider is sent while that login is fresh.
- What he may know and no letter brings, because its way is gone or it is given up, is put into his
  inbox in the same instant.
- What is sent is made from facts each time: the same message under the same id in every try.
- A try is counted in the tables before anything is sent. What cannot be counted is not sent: a
  full disk must not send the same letter for ever. Tries that nobody lived to settle count too.
- When it is tried again, and when it is given up, is decided as for the webhooks of apps.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, assert_never

from bailiwick.events.cloud import SPEC_VERSION, source_of, spell_time
from bailiwick.events.retrying import (
    Answered,
    Delivered,
    GivenUp,
    NotReached,
    RetryPace,
    SendOutcome,
    TryAgain,
    fault_of,
    plan_after,
)
from bailiwick.events.signing import headers_of
from bailiwick.phrases.notices.texts import text_of, title_of
from bailiwick.ports import Clock
from bailiwick.reconcile.webhooks.sender import Sender
from bailiwick.runtime.replica import View
from bailiwick.runtime.runner import Runner
from bailiwick.services.notices.desk import NoticeDesk
from bailiwick.services.notices.letters import text_of_letter, title_of_letter
from bailiwick.services.notices.mail import MailHead, letter_mail
from bailiwick.services.notices.tidings import VOUCHED_MS, may_know, vouched_roles
from bailiwick.store.notices.people import NoticePerson
from bailiwick.store.notices.told import NoticeLetter, Tiding
from bailiwick.vocab.apps import DeliveryFault, DeliveryState
from bailiwick.vocab.notices import NoticeChannel

TYPE_PREFIX = "notices."
SEVERAL = "several"
"""The type of an event that tells of several things."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterTools:
    """What all letters share."""

    desk: NoticeDesk
    runner: Runner
    sender: Sender
    clock: Clock
    journal: str
    pace: RetryPace
    say: Callable[[str], None]
    dead: Callable[[str, str], None]
    """Is told of each letter that is given up: the way, and what it failed with."""


class ReaderShare(NamedTuple):
    """What of a letter its reader may know now."""

    sent: tuple[Tiding, ...]
    kept: tuple[Tiding, ...]
    """What does not go out by this way, and is in his inbox instead."""


async def deliver(letter: NoticeLetter, tools: LetterTools) -> None:
    """Try once, and write down what follows."""
    desk = tools.desk
    person = await asyncio.to_thread(desk.people.get, letter.principal)
    share = await _share(letter, person, tools)
    if not share.sent:
        await asyncio.to_thread(desk.post.withdraw, letter, inbox=share.kept)
        return
    if letter.tries >= tools.pace.tries_max:  # nobody wrote down what became of the last one
        await _settle(_given_up(letter, tools), share, tools)
        return
    pause_ms = tools.pace.pause_ms(letter.tries + 1, random.random())
    next_try_ms = tools.clock.now_ms() + pause_ms
    claimed = await asyncio.to_thread(desk.post.claim, letter, next_try_ms=next_try_ms)
    if claimed is None:
        return
    outcome = await _send(replace(claimed, tidings=share.sent), person, tools)
    await _settle(_after(claimed, outcome, tools), share, tools)


async def _share(letter: NoticeLetter, person: NoticePerson, tools: LetterTools) -> ReaderShare:
    is_fresh = tools.clock.now_ms() - person.login_ms < VOUCHED_MS
    providers = tools.desk.providers if is_fresh else frozenset[str]()

    def find(view: View) -> ReaderShare:
        directory, name = view.state.directory, letter.principal
        known = [t for t in letter.tidings if may_know(t, name, directory=directory)]
        roles = vouched_roles(name, directory, providers=providers)
        sent = tuple(
            each
            for each in known
            if person.leads_to(letter.channel)
            and person.wants(each.kind, letter.channel)
            and may_know(each, name, directory=directory, roles=roles)
        )
        rest = (each for each in known if each not in sent)
        return ReaderShare(sent, tuple(each for each in rest if person.hears_of(each.kind)))

    return await asyncio.to_thread(tools.runner.read, find)


async def _send(letter: NoticeLetter, person: NoticePerson, tools: LetterTools) -> SendOutcome:
    desk, now_ms = tools.desk, tools.clock.now_ms()
    match letter.channel:
        case NoticeChannel.EMAIL:
            if desk.mail is None:
                return _no_way()
            head = MailHead(desk.sender, str(person.email), now_ms)
            message = letter_mail(letter, head, address=desk.address)
            return await asyncio.to_thread(desk.mail, message)
        case NoticeChannel.WEBHOOK:
            event = notice_event(letter, journal=tools.journal)
            body = json.dumps(event, ensure_ascii=True, separators=(",", ":")).encode()
            name = person.principal
            secrets = [desk.secret(name, each) for each in person.secret_ids(now_ms)]
            message_id, at_s = letter.message, now_ms // 1000
            headers = headers_of(message_id, at_s=at_s, body=body, secrets=secrets)
            url, asker = str(person.webhook_url), ("notices", name)
            return await tools.sender.send(asker, url, headers=headers, body=body)
        case NoticeChannel.INBOX:  # never a letter
            return _no_way()
        case _:
            assert_never(letter.channel)


def _no_way() -> SendOutcome:
    return NotReached(DeliveryFault.NO_CONNECTION)


def notice_event(letter: NoticeLetter, *, journal: str) -> dict[str, Any]:
    """What a person is told, as CloudEvents 1.0 spells it; of several things, as one event."""
    first, *rest = letter.tidings
    told = _told(first)
    if rest:
        told = {
            "title": title_of_letter(letter.tidings),
            "text": text_of_letter(letter.tidings, withheld=letter.withheld),
            "notices": [{"kind": each.kind.value, **_told(each)} for each in letter.tidings],
        }
    if letter.withheld:
        told["withheld"] = letter.withheld
    return {
        "specversion": SPEC_VERSION,
        "id": letter.message,
        "source": source_of(journal),
        "type": TYPE_PREFIX + (SEVERAL if rest else first.kind.value),
        "time": spell_time(max(each.at_ms for each in letter.tidings)),
        "datacontenttype": "application/json",
        "data": told,
    }


def _told(tiding: Tiding) -> dict[str, Any]:
    return {
        "title": title_of(tiding.kind, tiding.facts),
        "text": text_of(tiding.kind, tiding.facts, at_ms=tiding.at_ms),
        "tenant": tiding.scope.tenant,
        "project": tiding.scope.project,
        **tiding.facts,
    }


def _after(letter: NoticeLetter, outcome: SendOutcome, tools: LetterTools) -> NoticeLetter:
    now_ms, pace = tools.clock.now_ms(), tools.pace
    step = plan_after(outcome, tries=letter.tries, now_ms=now_ms, chance=random.random(), pace=pace)
    states = {Delivered: DeliveryState.DELIVERED, GivenUp: DeliveryState.DEAD}
    return replace(
        letter,
        state=states.get(type(step), DeliveryState.RETRYING),
        tried_ms=now_ms,
        status=outcome.status if isinstance(outcome, Answered) else None,
        fault=fault_of(outcome),
        next_try_ms=step.at_ms if isinstance(step, TryAgain) else None,
    )


def _given_up(letter: NoticeLetter, tools: LetterTools) -> NoticeLetter:
    return replace(
        letter,
        state=DeliveryState.DEAD,
        tried_ms=tools.clock.now_ms(),
        fault=letter.fault or DeliveryFault.NO_CONNECTION,
        next_try_ms=None,
    )


async def _settle(letter: NoticeLetter, share: ReaderShare, tools: LetterTools) -> None:
    """Write down what became of a letter, and say so if it is given up."""
    inbox = {
        DeliveryState.RETRYING: (),
        DeliveryState.DELIVERED: share.kept,
        DeliveryState.DEAD: share.sent + share.kept,
    }
    post, kept = tools.desk.post, inbox[letter.state]
    is_ours = await asyncio.to_thread(post.settle, letter, inbox=kept)
    if is_ours and letter.state is DeliveryState.DEAD and letter.fault is not None:
        told = f"notice {letter.message} does not reach {letter.principal}"
        tools.say(f"{told} by {letter.channel}: {letter.fault} after {letter.tries} tries")
        tools.dead(letter.channel.value, letter.fault.value)
