"""Mail that somebody waits for: in threads of its own, few, and not for ever.

Rules:

- A mail server that hangs holds these threads and no others: whatever else the server does, its
  letters to other people too, goes on.
- When all are taken nobody queues up behind them: who comes then is told so at once.
- One person waits for one such mail at a time.
- Who waits is told after a while that it took too long. Its thread is free again once the mail
  server has answered or its own time is up.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Final

from bailiwick.events.retrying import NotReached, SendOutcome
from bailiwick.services.notices.mail import MailPost
from bailiwick.vocab.apps import DeliveryFault
from bailiwick.vocab.errors import Unavailable

PLACES: Final = 8
WAIT_S: Final = 30.0


@dataclass(slots=True)
class MailRoom:
    """Brings mail to the mail server while somebody waits; for one event loop."""

    wait_s: float = WAIT_S
    pool: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(PLACES, thread_name_prefix="mail-room")
    )
    under_way: dict[str, Future[SendOutcome]] = field(default_factory=dict)

    def check(self, person: str) -> None:
        """Refuse a person for whom there is no place now."""
        for name in [name for name, each in self.under_way.items() if each.done()]:
            del self.under_way[name]
        if person in self.under_way or len(self.under_way) >= PLACES:
            told = "the mail server has not answered earlier ones yet; ask again in a minute"
            raise Unavailable("mail", told)

    async def send(self, person: str, mail: MailPost, *, message: EmailMessage) -> SendOutcome:
        """What became of one try; refused while there is no place for it."""
        self.check(person)
        sent = self.under_way[person] = self.pool.submit(mail, message)
        told = asyncio.wrap_future(sent)
        done, _ = await asyncio.wait([told], timeout=self.wait_s)
        if done:
            return told.result()
        told.cancel()  # nobody waits for it; its thread goes on
        return NotReached(DeliveryFault.TIMEOUT)
