"""Helpers that send one Python client through the proxy; they change this client and nothing else.

They are for clients that ignore their environment. Nothing is monkey-patched, and they are no
boundary: a program that does not call them goes where it likes, with a stand-in for a key. The
libraries are the caller's own; none is imported here.
"""

from __future__ import annotations

from typing import Any, Protocol

from ghost_agents.environment import Reach, reach, variable
from ghost_agents.profile import VENDORS
from ghost_core.errors import UsageError

_UNNAMED = "ghost_placeholder"


class RequestsSession(Protocol):
    """What is changed of a `requests.Session`."""

    proxies: Any  # a mapping type of the library's own
    verify: Any  # a path or a flag
    trust_env: bool


def possess_requests[S: RequestsSession](session: S, *, through: Reach | None = None) -> S:
    """Send a `requests.Session` through the proxy of our environment, and return it.

    It no longer reads its environment: an exception list or a .netrc would go around the proxy.

    Raises:
        ConfigError: code `environment.none`, we run outside a session's environment.
    """
    found = through or reach()
    session.trust_env = False
    session.proxies = {"http": found.proxy_url, "https": found.proxy_url}
    session.verify = str(found.bundle)
    return session


def possess_openai(client: Any, *, through: Reach | None = None) -> Any:
    """Return a copy of an OpenAI or Anthropic client, sync or async, that goes through the proxy.

    The copy holds the stand-in of our environment in place of the key, and a connection pool of its
    own, which `close` ends.

    Raises:
        ConfigError: code `environment.none`, we run outside a session's environment.
        UsageError: code `agent.client`, not such a client.
    """
    pool = getattr(client, "_client", None)
    if pool is None or not hasattr(client, "with_options"):
        raise _not_ours(client)
    found = through or reach()
    options = {"timeout": client.timeout} if hasattr(client, "timeout") else {}
    return client.with_options(
        api_key=_stand_in(client),
        http_client=_pool_kind(client, pool)(
            proxy=found.proxy_url,
            verify=found.trust(),
            trust_env=False,
            follow_redirects=True,
            **options,
        ),
    )


def possess_langchain(model: Any, *, through: Reach | None = None) -> Any:
    """Send a LangChain chat model of OpenAI or Anthropic through the proxy, and return it.

    Raises:
        ConfigError: code `environment.none`, we run outside a session's environment.
        UsageError: code `agent.client`, a model of another kind.
    """
    if getattr(model, "root_client", None) is not None:
        model.root_client = possess_openai(model.root_client, through=through)
        model.client = model.root_client.chat.completions
        if getattr(model, "root_async_client", None) is not None:
            model.root_async_client = possess_openai(model.root_async_client, through=through)
            model.async_client = model.root_async_client.chat.completions
        return model
    names = [name for name in ("_client", "_async_client") if hasattr(type(model), name)]
    if not names:
        raise _not_ours(model)
    for name in names:  # cached properties: what lies in the dictionary is taken from there
        vars(model)[name] = possess_openai(getattr(model, name), through=through)
    return model


def _pool_kind(client: object, pool: object) -> Any:
    """Return the plain pool class that the library builds on, whatever its package is called."""
    for kind in type(pool).__mro__:
        if kind.__name__ in {"Client", "AsyncClient"} and kind.__module__.startswith("httpx"):
            return kind
    raise _not_ours(client)


def _stand_in(client: object) -> str:
    vendor = VENDORS.get(type(client).__module__.partition(".")[0])
    return (variable(vendor.key_name) if vendor else None) or _UNNAMED


def _not_ours(client: object) -> UsageError:
    return UsageError(
        f"client of type {type(client).__name__}: expected one of OpenAI or Anthropic",
        code="agent.client",
        hint="give its HTTP library the proxy and the certificate bundle of ghost possess --env",
    )
