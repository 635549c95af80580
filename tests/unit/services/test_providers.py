"""How an operator names providers: strictly, so that no provider can name our own people."""

from __future__ import annotations

from pathlib import Path

import pytest

from bailiwick import InvalidValue
from bailiwick.server.login_files import check_public_url, load_providers
from bailiwick.services.logins.providers import read_providers

GOOD = 'issuer = "https://id.example"\nclient_id = "bailiwick"\n'


@pytest.mark.parametrize(
    "name", ["node", "app", "runtime", "kernel", "http-door", "admin", "Campus", "a:b", "a.b", "-a"]
)
def test_a_provider_has_a_plain_name_that_is_none_of_the_servers(name: str) -> None:
    with pytest.raises(InvalidValue):
        read_providers(f'["{name}"]\n{GOOD}')


@pytest.mark.parametrize(
    "text",
    [
        "[campus",
        "campus = 7",
        '[campus]\nclient_id = "x"',
        '[campus]\nissuer = "http://id.example"\nclient_id = "x"',
        '[campus]\nissuer = "https://id.example?x=1"\nclient_id = "x"',
        '[campus]\nissuer = "https://me@id.example"\nclient_id = "x"',
        f"[campus]\n{GOOD}isuer = 1",
        f"[campus]\n{GOOD}scopes = 'openid'",
        f"[campus]\n{GOOD}name_claim = 7",
        f"[campus]\n{GOOD}roles = 7",
        f"[campus]\n{GOOD}[[campus.roles]]\ngroup = 'a'\nrole = 'fleet_admin'\ntenant = 'lab'",
        f"[campus]\n{GOOD}[[campus.roles]]\ngroup = 'a'\nrole = 'tenant_admin'",
        f"[campus]\n{GOOD}[[campus.roles]]\ngroup = 'a'\nrole = 'node_agent'",
        f"[campus]\n{GOOD}[[campus.roles]]\ngroup = 'a'\nrole = 'x'\nproject = 'p'",
        f"[campus]\n{GOOD}[[campus.roles]]\nrole = 'fleet_admin'",
        f"[campus]\n{GOOD}client_secret_file = 'secret'",
    ],
)
def test_what_is_not_as_it_should_be_is_refused_at_the_start(text: str) -> None:
    with pytest.raises(InvalidValue):
        read_providers(text)


def test_of_several_roles_at_one_scope_the_first_in_the_file_counts() -> None:
    roles = "".join(
        f"[[campus.roles]]\ngroup = '{group}'\nrole = '{role}'\ntenant = 'lab'\n"
        for group, role in (("heads", "tenant_admin"), ("all", "tenant_auditor"))
    )
    campus = read_providers(f"[campus]\n{GOOD}{roles}")["campus"]
    assert campus.roles_of(["all", "heads", "choir"]) == ("lab=tenant_admin",)
    assert campus.roles_of(["all"]) == ("lab=tenant_auditor",)
    assert campus.roles_of(["choir"]) == ()


def test_a_secret_lies_beside_the_file_where_not_everybody_reads_it(tmp_path: Path) -> None:
    settings, secret = tmp_path / "providers.toml", tmp_path / "secret"
    settings.write_text(f"[campus]\n{GOOD}client_secret_file = 'secret'\n")
    secret.write_text("hush\n")
    secret.chmod(0o644)
    with pytest.raises(InvalidValue):
        load_providers(settings)
    secret.chmod(0o600)
    (campus,) = load_providers(settings)
    assert campus.client_secret == "hush"
    assert "hush" not in repr(campus)
    assert load_providers(None) == ()
    with pytest.raises(InvalidValue):
        load_providers(tmp_path / "none.toml")


@pytest.mark.parametrize("url", ["http://gpu.example", "https://gpu.example/x", "gpu.example"])
def test_browsers_are_sent_back_to_a_safe_address_alone(url: str) -> None:
    assert check_public_url("https://gpu.example") == "https://gpu.example"
    with pytest.raises(InvalidValue):
        check_public_url(url)
