"""Webhooks in the kernel: what is set, refused, kept of secrets, and found again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bailiwick.apps.webhooks import OVERLAP_MS, Webhook, check_url, read_url
from bailiwick.iam import Scope
from bailiwick.kernel import State, decode, digest_of, encode
from bailiwick.kernel.apps.webhooks import rules as webhook_rules
from bailiwick.kernel.apps.webhooks.commands import DeleteWebhook, SetWebhook
from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached, NotFound, Stale
from tests.unit.kernel.test_apps import Desk, desk

__all__ = ["desk"]

URL = "https://hooks.example/in"
LAB = Scope("lab")


def hook(name: str = "w", **more: object) -> SetWebhook:
    return replace(SetWebhook(name, "lab", URL, secret_id="s1"), **more)


def held(desk: Desk, name: str = "w", scope: Scope = LAB) -> Webhook:
    return desk.book.webhooks[scope, name]


def test_a_webhook_is_told_of_what_comes_after_the_record_that_made_it(desk: Desk) -> None:
    size = desk.kernel.state.size
    (told,) = desk.do(hook(types=("apps.instance.*",)))
    assert told["url"] == URL
    assert held(desk).since_seq == size
    desk.do(hook(secret_id=None, is_enabled=False))
    assert (held(desk).since_seq, held(desk).types, held(desk).revision) == (size, (), 2)
    desk.do(DeleteWebhook("w", "lab"), hook())
    assert held(desk).since_seq == desk.kernel.state.size - 1


def test_another_secret_keeps_the_one_before_for_a_while(desk: Desk) -> None:
    desk.do(hook())
    with pytest.raises(Conflict, match="like that already"):
        desk.do(hook(secret_id=None))
    (told,) = desk.do(hook(secret_id="s2"))
    assert told["change"] == "rotated"
    at_ms = held(desk).rotated_ms
    assert at_ms is not None
    assert held(desk).secret_ids(at_ms) == ("s2", "s1")
    assert held(desk).secret_ids(at_ms + OVERLAP_MS - 1) == ("s2", "s1")
    assert held(desk).secret_ids(at_ms + OVERLAP_MS) == ("s2",)
    desk.do(hook(secret_id=None, url=URL + "2"))
    assert held(desk).secret_ids(at_ms) == ("s2", "s1")


def test_what_is_not_as_the_caller_thinks_is_refused(desk: Desk) -> None:
    with pytest.raises(InvalidValue, match="secret_id"):
        desk.do(hook(secret_id=None))
    desk.do(hook(revision=0))
    for command in (hook(revision=0), DeleteWebhook("w", "lab", revision=2)):
        with pytest.raises(Stale):
            desk.do(command)
    with pytest.raises(NotFound):
        desk.do(DeleteWebhook("w", "lab", "vision"))
    with pytest.raises(NotFound):
        desk.do(hook(tenant="nobody"))


def test_webhooks_are_few(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook_rules, "WEBHOOKS_EACH_MAX", 1)
    desk.do(hook())
    desk.do(hook(project="vision"))
    with pytest.raises(LimitReached, match="webhooks of lab"):
        desk.do(hook("other"))
    monkeypatch.setattr(webhook_rules, "WEBHOOKS_EACH_MAX", 16)
    monkeypatch.setattr(webhook_rules, "WEBHOOKS_TENANT_MAX", 2)
    for project in (None, "vision"):
        with pytest.raises(LimitReached, match="webhooks of lab:"):
            desk.do(hook("third", project=project))
    monkeypatch.setattr(webhook_rules, "WEBHOOKS_MAX", 2)
    with pytest.raises(LimitReached):
        desk.do(hook(tenant="firm"))


def test_webhooks_are_in_the_snapshot_and_in_no_snapshot_without_them(desk: Desk) -> None:
    assert "webhooks" not in str(encode(desk.kernel.state))
    desk.do(hook(types=("apps.*",)), hook(secret_id="s2"), hook(project="vision"))
    state = desk.kernel.state
    again: State = decode(encode(state), digest_of(state))
    assert again.apps.webhooks == desk.book.webhooks
    assert digest_of(again) == digest_of(desk.kernel.state)


@pytest.mark.parametrize(
    "url",
    [
        *("http://hooks.example/", "ftp://x/", "https:///x", "https://a@b/", "https://a:b@c/"),
        *("https://x/#f", "https://x/ y", "https://x\r\nHost: y/", "https://x:99999/", "//x"),
        *("https://[nope]/", "http://169.254.169.254/", "https://" + "a" * 600, "https://x\\@y/"),
        *("http://localhost.evil.example/", "http://127.0.0.1.evil.example/", "https://-x/"),
    ],
)
def test_an_address_that_cannot_be_a_webhooks_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        check_url(url)
    assert url not in str(caught.value)


def test_an_address_is_taken_apart() -> None:
    found = read_url("https://[2001:db8::1]:8443/a?b=c")
    assert (found.host, found.port, found.path) == ("2001:db8::1", 8443, "/a?b=c")
    assert found.authority == "[2001:db8::1]:8443"
    assert read_url("https://x").authority == "x"
    assert read_url("http://localhost:80").path == "/"
