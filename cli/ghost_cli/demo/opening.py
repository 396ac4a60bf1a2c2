"""Before the agent works: an API with a key, a session, an environment without the key."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ghost_cli.demo.place import TOOL
from ghost_cli.demo.stage import expect, require

if TYPE_CHECKING:
    from ghost_cli.demo.stage import Stage

TTL_SECONDS = 300


def open_api(stage: Stage) -> str:
    """Put the API behind a tool; its key lies in one file."""
    stage.place.configure(stage.api)
    mode = stage.place.key_file.stat().st_mode & 0o777
    expect("mode of the key file", 0o600, mode)
    return f"{stage.api.url} wants a bearer key; it lies in one file, mode {mode:04o}"


def spawn(stage: Stage) -> str:
    """Open a session for the one tool."""
    words = ("--intent", "demo: pay an invoice", "--ttl", str(TTL_SECONDS), "--scope", TOOL)
    document = stage.ghost("spawn", *words).json()
    stage.session = str(document.get("session_id"))
    stage.public_key = str(document.get("ephemeral_key"))
    require("a session id", holds=stage.session.startswith("gh_"))
    require("a public key", holds=stage.public_key.startswith("ed25519_public_"))
    return f"{stage.session}, scope {TOOL}, {TTL_SECONDS} s"


def prepare_agent(stage: Stage) -> str:
    """Take the environment that ghost gives to an agent, and add the URL and a placeholder."""
    words = ("possess", "--env", "--shell", "json", "--session-id", stage.session)
    values = stage.ghost(*words).json().get("values")
    variables = {str(k): str(v) for k, v in values.items()} if isinstance(values, dict) else {}
    stage.environment = {
        **stage.place.bare,
        **variables,
        "DEMO_API_URL": stage.api.url,
        "DEMO_API_KEY": stage.place.placeholder,
    }
    require("a proxy in the environment", holds="HTTPS_PROXY" in stage.environment)
    stage.without_key("the environment", json.dumps(stage.environment).encode())
    return f"{len(variables)} variables for the agent; the key is in none of them"
