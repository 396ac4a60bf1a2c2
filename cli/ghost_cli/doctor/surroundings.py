"""Variables of this shell that lead clients around the proxy, away from its certificate, or leak keys.

`ghost run` and `possess --env` set or remove all of these for an agent; whoever starts an agent another
way meets them. Values are not shown but for paths and host names.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from ghost_agents.environment import BUNDLE_NAMES, PROXY_NAMES
from ghost_cli.doctor.check import Check, fail, ok, warn
from ghost_core import ids

_UNCHECKED = (
    ("NODE_TLS_REJECT_UNAUTHORIZED", "0"),
    ("PYTHONHTTPSVERIFY", "0"),
    ("GIT_SSL_NO_VERIFY", ""),
)
_ECH = re.compile(r"(?m)^\s*-{0,2}ech\b")
_CA_NAMES = (*BUNDLE_NAMES, "NODE_EXTRA_CA_CERTS", "SSL_CERT_DIR")


def examine(
    environ: Mapping[str, str],
    hosts: tuple[str, ...],
    ca: Path,
    *,
    proxy: tuple[str, int] = ("localhost", 9999),
) -> Iterator[Check]:
    """Yield what is set here that an agent would trip over; one `ok` where nothing is."""
    found = [
        *_exceptions(environ, hosts),
        *_proxies(environ),
        *_certificates(environ, ca),
        *_leaks(environ),
        *_ech(environ),
    ]
    yield from found or [ok("environment", "nothing in it leads around the proxy")]
    yield from _deaf(environ, *proxy)


def _exceptions(environ: Mapping[str, str], hosts: tuple[str, ...]) -> Iterator[Check]:
    """Judge `NO_PROXY`: hosts in it are called directly."""
    text = ",".join(environ.get(name, "") for name in ("NO_PROXY", "no_proxy"))
    if not text.strip(", "):
        return
    passed = [host for host in hosts if is_excepted(host, text)]
    mend = "unset NO_PROXY no_proxy"
    if not passed:
        yield warn("NO_PROXY", "is set; it names no host of a credential or tool", mend)
        return
    found = f"clients go past the proxy to {', '.join(passed[:5])}"
    inside = bool(environ.get("GHOST_SESSION_ID"))
    yield (fail if inside else warn)("NO_PROXY", found, mend)


def is_excepted(host: str, exceptions: str) -> bool:
    """Tell whether a client would leave the proxy out for a host; ports in the list are passed over."""
    for each in re.split(r"[,\s]+", exceptions.lower()):
        name = each if each.startswith("[") else each.partition(":")[0]
        name = name.removeprefix("*").strip("[].") if name != "*" else name
        if name == "*" or (name and (host.lower() == name or host.lower().endswith(f".{name}"))):
            return True
    return False


def _proxies(environ: Mapping[str, str]) -> Iterator[Check]:
    """Name proxies of somebody else; the address may hold a password, so only host and port are told."""
    others = sorted({_place(environ[name]) for name in PROXY_NAMES if _is_foreign(environ, name)})
    if others:
        names = " ".join(name for name in PROXY_NAMES if _is_foreign(environ, name))
        found = (
            f"this shell has another proxy, {', '.join(others)}; "
            "ghost replaces it for agents and calls the upstreams directly"
        )
        yield warn("proxy", found, f"unset {names}")


def _is_foreign(environ: Mapping[str, str], name: str) -> bool:
    value = environ.get(name, "")
    try:
        user = urlsplit(value).username or ""
    except ValueError:
        return True
    return bool(value) and not ids.is_session_id(user)


def _place(address: str) -> str:
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname or "?", parts.port or "?"
    except ValueError:
        return "an unreadable address"
    return f"{host}:{port}"


def _certificates(environ: Mapping[str, str], ca: Path) -> Iterator[Check]:
    """Name trust files that are set here: a client that keeps one does not know our certificate."""
    own = (str(ca / "bundle.pem"), str(ca / "ghost-ca-cert.pem"))
    foreign = [name for name in _CA_NAMES if environ.get(name) and environ[name] not in own]
    if not foreign:
        return
    gone = [name for name in foreign if not Path(environ[name]).exists()]
    mend = f"unset {' '.join(foreign)}"
    if gone:
        yield warn("trust", f"{_few(gone)}: no such file", mend)
    elif not environ.get("GHOST_SESSION_ID"):
        found = f"{_few(foreign)}: roots of their own; private ones belong into proxy.upstream_ca"
        yield warn("trust", found, f"{_upstream_ca(environ, foreign)}{mend}")


def _upstream_ca(environ: Mapping[str, str], names: list[str]) -> str:
    """Return the command that hands the roots to the proxy, where one of the names is a file of them."""
    files = (environ[name] for name in names if Path(environ[name]).is_file())
    return next((f"export GHOST_PROXY__UPSTREAM_CA={shlex.quote(each)}; " for each in files), "")


def _few(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _leaks(environ: Mapping[str, str]) -> Iterator[Check]:
    if environ.get("SSLKEYLOGFILE"):
        found = "clients write the keys of their connections to a file"
        yield warn("SSLKEYLOGFILE", found, "unset SSLKEYLOGFILE")
    off = [name for name, value in _UNCHECKED if _is_off(environ.get(name), value)]
    if off:
        found = f"{', '.join(off)} makes clients trust any certificate"
        yield warn("verification", found, f"unset {' '.join(off)}")


def _is_off(value: str | None, off: str) -> bool:
    return value is not None and (value == off or (not off and value not in {"0", "false"}))


def _ech(environ: Mapping[str, str]) -> Iterator[Check]:
    """Look for Encrypted Client Hello in curl's own file: it hides the name that the proxy must check."""
    folder = environ.get("CURL_HOME") or environ.get("HOME", "")
    file = Path(folder) / ".curlrc"
    try:
        text = file.read_text("utf-8", "replace") if folder else ""
    except OSError:
        return
    if _ECH.search(text):
        found = f"{file} asks for Encrypted Client Hello, which the proxy refuses"
        yield warn("ECH", found, f"sed -i '/^ *-*ech/d' {file}")


def _deaf(environ: Mapping[str, str], host: str, port: int) -> Iterator[Check]:
    """Name programs here that do not hear the environment, whatever is set."""
    path = environ.get("PATH", "")
    if shutil.which("java", path=path):
        found = "java ignores HTTPS_PROXY and goes past the proxy; it has roots of its own too"
        options = f"-Dhttps.proxyHost={host} -Dhttps.proxyPort={port}"
        yield warn("java", found, f"export JAVA_TOOL_OPTIONS='{options}'")
    if sys.platform == "darwin" and shutil.which("go", path=path):
        found = "Go programs on macOS ignore SSL_CERT_FILE"
        yield warn("go", found, "ghost ca export, then add the certificate to the keychain")
