from __future__ import annotations

from pathlib import Path

import pytest

from ghost_cli.doctor import surroundings
from ghost_cli.doctor.check import Check
from ghost_cli.doctor.surroundings import is_excepted

CA = Path("/ghost/ca")
SID = "gh_" + "0" * 32
HOSTS = ("api.shop.example", "wiki.example")


def look(**environ: str) -> list[Check]:
    return list(surroundings.examine({"PATH": "/nowhere", **environ}, HOSTS, CA))


def test_a_clean_shell_is_one_line() -> None:
    assert [each.status for each in look()] == ["ok"]


def test_what_our_own_block_sets_is_no_trap(tmp_path: Path) -> None:
    url = f"http://{SID}:ghtoken_x@localhost:9999"
    values = {"HTTPS_PROXY": url, "NO_PROXY": "", "SSL_CERT_FILE": str(CA / "bundle.pem")}
    values["NODE_EXTRA_CA_CERTS"] = str(CA / "ghost-ca-cert.pem")
    assert [each.status for each in look(GHOST_SESSION_ID=SID, **values)] == ["ok"]


@pytest.mark.parametrize(
    ("exceptions", "excepted"),
    [
        ("*", True),
        ("api.shop.example", True),
        ("localhost, .shop.example", True),
        ("shop.example:8443", True),
        ("*.shop.example", True),
        ("API.Shop.Example", True),
        ("op.example", False),
        ("localhost,[::1]", False),
        ("", False),
        (" , ", False),
    ],
)
def test_an_exception_list_is_read_as_clients_do(exceptions: str, excepted: bool) -> None:
    assert is_excepted("api.shop.example", exceptions) is excepted


def test_an_ipv6_exception_is_no_other_host() -> None:
    assert is_excepted("::1", "[::1]")


def test_an_exception_for_a_bound_host_is_named() -> None:
    (found,) = look(no_proxy="wiki.example,localhost")
    assert (found.name, found.status) == ("NO_PROXY", "warn")
    assert "wiki.example" in found.found
    assert "shop" not in found.found


def test_inside_a_session_such_an_exception_fails() -> None:
    (found,) = look(NO_PROXY="*", GHOST_SESSION_ID=SID)
    assert found.status == "fail"


def test_an_exception_for_other_hosts_is_a_warning_even_inside() -> None:
    (found,) = look(NO_PROXY="localhost", GHOST_SESSION_ID=SID)
    assert (found.name, found.status) == ("NO_PROXY", "warn")


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://user:hunter2secret@proxy.example:3128", "proxy.example:3128"),
        ("proxy.example:3128", "proxy.example:3128"),
        ("http://[::1", "an unreadable address"),
        ("http://proxy.example:hunter2secret", "an unreadable address"),
    ],
)
def test_another_proxy_is_named_without_its_password(address: str, shown: str) -> None:
    (found,) = look(https_proxy=address)
    assert (found.status, shown in found.found) == ("warn", True)
    assert "hunter2secret" not in found.line(1)
    assert found.mend == "unset https_proxy"


def test_roots_of_somebody_else_are_named(tmp_path: Path) -> None:
    roots = tmp_path / "roots.pem"
    roots.touch()
    (found,) = look(CURL_CA_BUNDLE=str(roots), SSL_CERT_FILE=str(CA / "bundle.pem"))
    mend = f"export GHOST_PROXY__UPSTREAM_CA={roots}; unset CURL_CA_BUNDLE"
    assert (found.name, found.mend) == ("trust", mend)
    assert "proxy.upstream_ca" in found.found


def test_roots_that_do_not_exist_are_named_even_inside_a_session() -> None:
    (found,) = look(SSL_CERT_DIR="/no/such", GHOST_SESSION_ID=SID)
    assert "no such file" in found.found


def test_the_roots_of_a_run_are_its_own(tmp_path: Path) -> None:
    """`ghost run` has an authority for itself, in a folder that no one else knows."""
    assert [each.status for each in look(PIP_CERT=str(tmp_path), GHOST_SESSION_ID=SID)] == ["ok"]


def test_many_names_are_cut_but_the_command_has_all(tmp_path: Path) -> None:
    names = ["SSL_CERT_FILE", "CURL_CA_BUNDLE", "PIP_CERT", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE"]
    (found,) = look(**dict.fromkeys(names, str(tmp_path)))
    assert "and 2 more" in found.found
    assert all(name in found.mend for name in names)


def test_a_key_log_is_named() -> None:
    (found,) = look(SSLKEYLOGFILE="/tmp/keys")
    assert (found.status, found.mend) == ("warn", "unset SSLKEYLOGFILE")


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("NODE_TLS_REJECT_UNAUTHORIZED", "0", True),
        ("NODE_TLS_REJECT_UNAUTHORIZED", "1", False),
        ("PYTHONHTTPSVERIFY", "0", True),
        ("GIT_SSL_NO_VERIFY", "1", True),
        ("GIT_SSL_NO_VERIFY", "", True),
        ("GIT_SSL_NO_VERIFY", "false", False),
    ],
)
def test_verification_that_is_off_is_named(name: str, value: str, told: bool) -> None:
    (found,) = look(**{name: value})
    assert (found.name == "verification") is told


@pytest.mark.parametrize(
    ("text", "told"), [("ech = hard", True), ("--ech true", True), ("echo", False)]
)
def test_a_hidden_server_name_in_curls_file_is_told(tmp_path: Path, text: str, told: bool) -> None:
    (tmp_path / ".curlrc").write_text(f"silent\n{text}\n")
    (found,) = look(HOME=str(tmp_path))
    assert (found.name == "ECH") is told


def test_programs_that_do_not_hear_the_environment_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("java", "go"):
        (tmp_path / name).touch(mode=0o755)
    assert [each.name for each in look(PATH=str(tmp_path))] == ["environment", "java"]
    monkeypatch.setattr("sys.platform", "darwin")
    assert [each.name for each in look(PATH=str(tmp_path))] == ["environment", "java", "go"]


def test_java_is_told_the_address_of_this_homes_proxy(tmp_path: Path) -> None:
    (tmp_path / "java").touch(mode=0o755)
    *_, found = surroundings.examine({"PATH": str(tmp_path)}, (), CA, proxy=("localhost", 4711))
    options = "-Dhttps.proxyHost=localhost -Dhttps.proxyPort=4711"
    assert found.mend == f"export JAVA_TOOL_OPTIONS='{options}'"
