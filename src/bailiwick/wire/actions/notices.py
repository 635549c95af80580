"""What one is told: by which ways, and one's inbox."""

from __future__ import annotations

from bailiwick.wire.actions.action import NOTHING, Action, Where
from bailiwick.wire.notices import (
    InboxNotices,
    InboxRead,
    InboxReading,
    NoticeChange,
    NoticeCode,
    NoticeSettings,
    NoticeTested,
)

_W = Where

# fmt: off
NOTICE_READ = Action(
    "notice.read", "Read how you are told of things", "GET", "/v1/notices",
    None, _W.SELF, NOTHING, NoticeSettings)
NOTICE_SET = Action(
    "notice.set", "Set how you are told of things", "PUT", "/v1/notices",
    None, _W.SELF, NoticeChange, NoticeSettings, once=True)
NOTICE_VERIFY = Action(
    "notice.verify", "Show that an address is yours", "POST", "/v1/notices/verify",
    None, _W.SELF, NoticeCode, NoticeSettings)
NOTICE_ROTATE = Action(
    "notice.rotate", "Replace your webhook's secret", "POST", "/v1/notices/rotate",
    None, _W.SELF, NOTHING, NoticeSettings, once=True)
NOTICE_TEST = Action(
    "notice.test", "Send yourself a test notice", "POST", "/v1/notices/test",
    None, _W.SELF, NOTHING, NoticeTested)
INBOX_LIST = Action(
    "inbox.list", "List what you were told", "GET", "/v1/inbox",
    None, _W.SELF, NOTHING, InboxNotices)
INBOX_READ = Action(
    "inbox.read", "Have notices be read", "POST", "/v1/inbox/read",
    None, _W.SELF, InboxReading, InboxRead)
# fmt: on
