"""A name is resolved once, every answer is judged, one is dialled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from ghost_core.errors import DeniedError, FailedError
from ghost_hooks.address import judge, require, resolve, resolve_all


def _answers(*ips: str) -> Callable[[str, int], Awaitable[Sequence[str]]]:
    async def resolver(_: str, __: int) -> Sequence[str]:
        return ips

    return resolver


@pytest.mark.parametrize(
    "ip",
    [
        "169.254.169.254",
        "169.254.0.1",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "fd00:ec2::254",
        "fd20:ce::254",
        "0.0.0.0",
        "0.1.2.3",
        "::",
        "224.0.0.1",
        "ff02::1",
        "255.255.255.255",
        "240.0.0.1",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "::7f00:1",
        "64:ff9b::a00:1",
        "64:ff9b::a9fe:a9fe",
        "2002:a00:1::1",
        "2002:7f00:1::",
        "4000::1",
        "not an address",
    ],
)
def test_these_are_never_dialled_even_if_named(ip: str) -> None:
    allowed = [f"{ip}:443", f"[{ip}]:443", "name.example:443", ip]
    assert judge(ip, allowed=allowed, host="name.example", port=443)


@pytest.mark.parametrize(
    "ip",
    [
        "127.0.0.1",
        "10.0.0.5",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "::1",
        "fd12::1",
        "198.18.0.1",
    ],
)
def test_private_addresses_need_to_be_named_with_their_port(ip: str) -> None:
    shown = f"[{ip}]" if ":" in ip else ip
    assert judge(ip, allowed=[], host="name.example", port=8443)
    assert judge(ip, allowed=["name.example:8444"], host="name.example", port=8443)
    assert judge(ip, allowed=["name.example"], host="name.example", port=8443)
    assert judge(ip, allowed=["name.example:8443"], host="name.example", port=8443) is None
    assert judge(ip, allowed=[f"{shown}:8443"], host="name.example", port=8443) is None
    assert judge(ip, allowed=[shown], host="name.example", port=443) is None


@pytest.mark.parametrize(
    "ip", ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822", "::ffff:93.184.216.34"]
)
def test_public_addresses_are_dialled(ip: str) -> None:
    assert judge(ip, allowed=[], host="name.example", port=443) is None


def test_one_bad_answer_refuses_the_whole_name() -> None:
    resolver = _answers("93.184.216.34", "10.0.0.1")
    with pytest.raises(DeniedError) as caught:
        asyncio.run(resolve("name.example", 443, resolver=resolver))
    assert caught.value.code == "target.address"
    assert "name.example:443" in str(caught.value.hint)


def test_a_name_is_asked_once_and_its_first_answer_dialled() -> None:
    asked: list[str] = []

    async def resolver(host: str, _: int) -> Sequence[str]:
        asked.append(host)
        return ["93.184.216.34", "93.184.216.35", "93.184.216.34"]

    assert asyncio.run(resolve("name.example", 443, resolver=resolver)) == "93.184.216.34"
    assert asked == ["name.example"]


def test_all_answers_are_kept_in_order_without_doubles() -> None:
    resolver = _answers("93.184.216.35", "93.184.216.34", "93.184.216.35")
    found = asyncio.run(resolve_all("name.example", 443, resolver=resolver))
    assert found == ("93.184.216.35", "93.184.216.34")


def test_an_address_is_judged_without_asking_anybody() -> None:
    with pytest.raises(DeniedError):
        asyncio.run(resolve("127.0.0.1", 443, resolver=_answers()))
    with pytest.raises(DeniedError):
        asyncio.run(resolve("::1", 443, resolver=_answers()))
    found = asyncio.run(resolve("127.0.0.1", 8443, allow_private=["127.0.0.1:8443"]))
    assert found == "127.0.0.1"


def test_only_a_private_address_comes_with_the_way_to_allow_it() -> None:
    for ip, hint in (("::1", '["[::1]:443"]'), ("10.0.0.1", '["10.0.0.1:443"]')):
        with pytest.raises(DeniedError) as caught:
            require(ip, allowed=(), host=ip, port=443)
        assert hint in (caught.value.hint or "")
    with pytest.raises(DeniedError) as caught:
        require("169.254.169.254", allowed=("169.254.169.254",), host="a.example", port=443)
    assert "no setting allows" in (caught.value.hint or "")


def test_no_answer_and_a_failing_resolver_are_upstream_failures() -> None:
    async def broken(_: str, __: int) -> Sequence[str]:
        raise OSError("no such name")

    for resolver in (broken, _answers()):
        with pytest.raises(FailedError) as caught:
            asyncio.run(resolve("name.example", 443, resolver=resolver))
        assert caught.value.code == "target.unresolved"
        assert "getent hosts name.example" in (caught.value.hint or "")


def test_a_resolver_that_hangs_is_given_up() -> None:
    async def hanging(_: str, __: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    with pytest.raises(FailedError):
        asyncio.run(resolve("name.example", 443, resolver=hanging, timeout_seconds=0.05))


def test_the_system_resolver_finds_loopback_and_it_is_refused_unless_named() -> None:
    with pytest.raises(DeniedError):
        asyncio.run(resolve("localhost", 8443))
    found = asyncio.run(resolve("localhost", 8443, allow_private=["localhost:8443"]))
    assert found in {"127.0.0.1", "::1"}
