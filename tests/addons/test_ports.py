from __future__ import annotations

import errno
import os
import socket

import pytest

from ghost_addons import ports
from ghost_core.errors import UnavailableError

LOOPBACKS = ("127.0.0.1", "::1")


def refused(hosts: tuple[str, ...], port: int) -> UnavailableError:
    with pytest.raises(UnavailableError) as caught:
        ports.free(hosts, port)
    return caught.value


def test_localhost_means_both_loopbacks() -> None:
    assert ports.addresses("127.0.0.1") == ("127.0.0.1",)
    assert ports.addresses("localhost") == LOOPBACKS


def test_a_port_is_free_on_all_addresses() -> None:
    hosts, port = ports.free(LOOPBACKS, 0)
    assert hosts == LOOPBACKS
    assert ports.free(hosts, port) == (hosts, port)


def test_an_address_that_is_not_here_is_left_out() -> None:
    assert ports.free(("127.0.0.1", "192.0.2.1"), 0)[0] == ("127.0.0.1",)


def test_a_port_that_is_busy_on_one_loopback_is_busy() -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as taken:
        port = taken.getsockname()[1]
        error = refused(LOOPBACKS, port)
    assert error.code == "port.busy"
    assert str(port) in error.message
    assert f"--port {port + 1}" in (error.hint or "")


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.name.invalid"])
def test_an_address_that_is_not_ours_is_told(host: str) -> None:
    assert refused((host,), 0).code == "proxy.address"


def test_addresses_that_are_not_ours_are_named() -> None:
    hosts = ("192.0.2.1", "2001:db8::1")
    assert refused(hosts, 0).message == "address 192.0.2.1, 2001:db8::1: is none of this machine"


def test_no_port_that_is_free_on_all_addresses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_bindable", lambda _, port: port == 0)
    assert refused(LOOPBACKS, 0).code == "port.busy"


def test_a_port_that_needs_a_privilege_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object) -> socket.socket:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(ports, "_bound", forbidden)
    assert refused(("127.0.0.1",), 80).code == "proxy.address"


@pytest.mark.parametrize(
    ("cause", "code"),
    [
        (OSError(errno.EADDRINUSE, "in use"), "port.busy"),
        (OSError(errno.EIO, "broken"), "proxy.address"),
        (None, "proxy.address"),
    ],
)
def test_a_listener_that_did_not_come_up_is_explained(cause: OSError | None, code: str) -> None:
    assert ports.not_listening(9999, cause).code == code
