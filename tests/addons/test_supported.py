"""Settings that this version cannot honour."""

from __future__ import annotations

import asyncio

import pytest

from ghost_addons.proxy import Proxy
from ghost_core.errors import ConfigError
from ghost_core.paths import home


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("proxy.upstream_proxy", '[proxy]\nupstream_proxy = "http://corporate:3128"'),
        ("proxy.workers", "[proxy]\nworkers = 2"),
        ("ledger.witnesses: ", '[ledger]\nwitnesses = ["w+00000000+AAAA"]'),
        ("webhooks.a.secret", '[webhooks.a]\nurl = "https://ops.test"\non = ["action.denied"]'),
        (
            "webhooks.a.url",
            '[webhooks.a]\nurl = "http://ops.test"\non = ["action.denied"]\nsecret = "env:A"',
        ),
        (
            "credentials.a.rotate",
            '[credentials.a]\nsecret = "env:A"\nhosts = ["a.test"]\nrotate = { every_seconds = 60 }',
        ),
        ("credential 'a'", '[credentials.a]\nkind = "sigv4"\nsecret = "env:A"\nhosts = ["a.test"]'),
        (
            "credentials.a.issuer",
            '[credentials.a]\nsecret = "env:A"\nhosts = ["a.test"]\nissuer = "sts"',
        ),
    ],
)
def test_a_setting_that_cannot_be_honoured_is_refused(name: str, text: str) -> None:
    home().ensure().config.write_text(text, "utf-8")

    async def opened() -> None:
        Proxy.open(home())

    with pytest.raises(ConfigError) as caught:
        asyncio.run(opened())
    assert caught.value.message.startswith(name)
    assert caught.value.exit_code == 3
