"""The environment block that sends an agent's clients through the proxy.

Every client reads other names, some in lower case only, so the block sets all of them. It is
advice, not enforcement: a client that ignores its environment goes direct, and then holds a
stand-in where the key would be.
"""

from __future__ import annotations

import os
import re
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from ghost_core.errors import ConfigError

PROXY_NAMES: Final = (
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "ALL_PROXY",
    "https_proxy",
    "http_proxy",
    "all_proxy",
)
BUNDLE_NAMES: Final = (
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "PIP_CERT",
    "npm_config_cafile",
    "HTTPLIB2_CA_CERTS",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
    "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
    "NIX_SSL_CERT_FILE",
)
UNSET_NAMES: Final = ("SSL_CERT_DIR", "SSLKEYLOGFILE")

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True, slots=True)
class Environment:
    """Names to set, in order, and names to remove; the values hold the token, so are not shown."""

    values: tuple[tuple[str, str], ...] = field(repr=False)
    unset: tuple[str, ...] = UNSET_NAMES

    def __post_init__(self) -> None:
        for name, value in self.values:
            if not _NAME.match(name) or "\0" in value:
                raise ConfigError(
                    f"environment variable {name!r}: its name or value cannot be set",
                    code="environment.name",
                )

    def over(self, inherited: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return a child's whole environment: what it inherits, ours by default, and the block."""
        base = dict(os.environ if inherited is None else inherited)
        for name in self.unset:
            base.pop(name, None)
        return base | dict(self.values)


@dataclass(frozen=True, slots=True)
class JavaTrust:
    """The trust store that Java needs: a PKCS #12 file and its password, which protects nothing."""

    store: Path
    password: str


def block(
    *,
    proxy_url: str,
    session_id: str,
    bundle: Path,
    authority: Path,
    wgetrc: Path,
    placeholders: Mapping[str, str] | None = None,
    no_proxy: str = "",
    java: JavaTrust | None = None,
) -> Environment:
    """Return the block for one session.

    `proxy_url` carries session and token. `bundle` holds the system's roots and our certificate,
    `authority` ours only, `wgetrc` a file with the text of `wgetrc_text`. `no_proxy` is a list that
    the user gave now: an inherited one would be a way around the proxy. Java's variable is set only
    on request, because Java then prints a line.

    Raises:
        ConfigError: a placeholder's name cannot be set or is one that the block itself needs.
    """
    values = [("GHOST_SESSION_ID", session_id)]
    values += [(name, proxy_url) for name in PROXY_NAMES]
    values += [("NO_PROXY", no_proxy), ("no_proxy", no_proxy)]
    values += [(name, str(bundle)) for name in BUNDLE_NAMES]
    values += [("NODE_EXTRA_CA_CERTS", str(authority)), ("NODE_USE_ENV_PROXY", "1")]
    values += [("WGETRC", str(wgetrc)), ("AWS_EC2_METADATA_DISABLED", "true")]
    if java is not None:
        values.append(("JAVA_TOOL_OPTIONS", _java_options(proxy_url, java)))
    stand_ins = placeholders or {}
    _refuse_clashes(stand_ins, {*UNSET_NAMES, *(name for name, _ in values)})
    return Environment((*values, *stand_ins.items()))


def wgetrc_text(bundle: Path) -> str:
    """Return the content of the file that `WGETRC` names.

    Raises:
        ConfigError: the path has a line break, which that file cannot express.
    """
    if any(mark in str(bundle) for mark in "\r\n"):
        raise ConfigError(
            f"certificate bundle {str(bundle)!r}: wget cannot read a path with a line break",
            code="environment.path",
            hint="set GHOST_HOME to another folder",
        )
    return f"ca_certificate = {bundle}\n"


@dataclass(frozen=True, slots=True)
class Reach:
    """How a client in our own environment gets out: the proxy, with the token, and the roots to trust."""

    proxy_url: str = field(repr=False)
    bundle: Path

    def trust(self) -> ssl.SSLContext:
        """Return a TLS context that trusts the bundle and nothing else."""
        return ssl.create_default_context(cafile=self.bundle)


def reach(inherited: Mapping[str, str] | None = None) -> Reach:
    """Return the proxy and the bundle that our own environment names.

    Raises:
        ConfigError: code `environment.none`, it was not set up for a session.
    """
    base = os.environ if inherited is None else inherited
    url, bundle = base.get(PROXY_NAMES[0]), base.get(BUNDLE_NAMES[0])
    if not base.get("GHOST_SESSION_ID") or not url or not bundle:
        raise ConfigError(
            "environment: no session's proxy in it",
            code="environment.none",
            hint='eval "$(ghost possess --env --session-id ID)"',
        )
    return Reach(url, Path(bundle))


def variable(name: str) -> str | None:
    """Return one variable of our own environment, such as the stand-in that an agent holds."""
    return os.environ.get(name)


def _refuse_clashes(names: Iterable[str], taken: set[str]) -> None:
    for name in names:
        if name in taken:
            raise ConfigError(
                f"environment variable {name!r}: the proxy needs it, so no credential can be in it",
                code="environment.clash",
                hint="name another variable in the credential's secret",
            )


def _java_options(proxy_url: str, java: JavaTrust) -> str:
    proxy = urlsplit(proxy_url)
    options = (
        f"-Dhttps.proxyHost={proxy.hostname}",
        f"-Dhttps.proxyPort={proxy.port}",
        f"-Djavax.net.ssl.trustStore={java.store}",
        f"-Djavax.net.ssl.trustStorePassword={java.password}",
        "-Djdk.http.auth.tunneling.disabledSchemes=",
    )
    return " ".join(_java_quoted(option) for option in options)


def _java_quoted(option: str) -> str:
    """Quote as the launcher splits: at white space, with either quote, and no escapes."""
    if not re.search(r"[\s\"']", option):
        return option
    quote = "'" if '"' in option else '"'
    if quote in option:
        raise ConfigError(
            "java option: a path with both kinds of quotes cannot be passed",
            code="environment.path",
        )
    return f"{quote}{option}{quote}"
