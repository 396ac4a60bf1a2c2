"""Attacks the nearest peers and ghost alike, from outside: what reached the upstream, what came back.

usage: python bench/battery.py [--save]

Each peer holds one secret for one host and may use it below `/public`; the client holds a placeholder. Peers:
`ghost possess`, keys-on-the-wire from the package index, and mitmdump with the addon that people write
first. What a peer does not claim to do is counted all the same: a reader wants to know, not to judge.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from process import Files, SkippedError, free_port, running
from run import HERE, heading

from attacks import ATTACKS, HELD, Target
from support.certs import Certs, make_certs
from support.home import SECRET, ghost_home
from support.processes import possess, succeed
from support.upstream import Upstream

RIVAL = "keys-on-the-wire==1.1.1"
NAIVE = f"""\
def requestheaders(flow):
    request, headers = flow.request, flow.request.headers
    if request.pretty_host == "localhost" and request.path.startswith("/public"):
        headers["authorization"] = headers.get("authorization", "").replace("{HELD}", "{SECRET}")
"""
BINDINGS = """\
version: 1
binding_source: file
backend: {{ type: static, config: {{ path: "{secrets}" }} }}
audit: {{ path: "{audit}" }}
secrets:
  BENCH:
    placeholder: "{held}"
    inject: {{ type: header, header: Authorization, format: "Bearer {{BENCH}}" }}
    bindings: [{{ host: localhost, paths: ["/public/**"] }}]
"""


@dataclass(frozen=True, slots=True)
class Scene:
    """What a peer is started with: a folder, certificates, two upstreams, and who stops it."""

    folder: Path
    certs: Certs
    up: Upstream
    other: Upstream
    stack: ExitStack


type Start = Callable[[Scene], Target]


def main() -> None:
    """Attack every peer and print the table."""
    save = arguments().save
    found: dict[str, list[str]] = {}
    skipped: list[str] = []
    for start in (ghost, rival, naive):
        try:
            with standing(start) as target:
                found[target.name] = [attack(target) for _, attack in ATTACKS]
        except SkippedError as error:
            skipped.append(f"Skipped: {error}")
    text = "\n".join([f"## battery: {heading(1)}", "", *table(found), "", *skipped])
    print(text)
    if save:
        with (HERE / "results.md").open("a", encoding="utf-8") as into:
            into.write("\n" + text)


@contextmanager
def standing(start: Start) -> Iterator[Target]:
    """Start two upstreams and a peer in a folder of their own."""
    with tempfile.TemporaryDirectory(prefix="ghost-battery-") as name, ExitStack() as stack:
        folder = Path(name)
        (folder / "certs").mkdir()
        certs = make_certs(folder / "certs")
        up, other = (stack.enter_context(Upstream(certs)) for _ in range(2))
        yield start(Scene(folder, certs, up, other, stack))


def ghost(scene: Scene) -> Target:
    """`ghost possess` with a scope for `/public/**`; the other upstream may be dialled."""
    tables = {
        "credentials": {"demo": {"placeholder": HELD}},
        "proxy": {"allow_private": [scene.up.authority, scene.other.authority]},
    }
    home = scene.stack.enter_context(ghost_home(scene.folder, scene.up, scene.certs, **tables))
    words = ["spawn", "--intent", "battery", "--scope", f"GET,POST {scene.up.url}/public/**"]
    made = succeed(home, *words, timeout=30).json
    proxy = scene.stack.enter_context(possess(home))
    auth = (made["session_id"], made["token"])
    ca = home.root / "ca" / "ghost-ca-cert.pem"
    return Target("ghost", proxy.port, ca, auth, scene.up, scene.other)


def rival(scene: Scene) -> Target:
    """keys-on-the-wire with a binding for `/public/**`, in a venv of its own."""
    program = installed(RIVAL)
    secrets = scene.folder / "secrets.yaml"
    secrets.write_text(f'secrets: {{ BENCH: "{SECRET}" }}\n', "utf-8")
    secrets.chmod(0o600)
    config = scene.folder / "bindings.yaml"
    text = BINDINGS.format(secrets=secrets, audit=scene.folder / "audit.jsonl", held=HELD)
    config.write_text(text, "utf-8")
    options = ("--set", f"kow_config={config}")
    return mitmproxied(RIVAL, [str(program)], scene, options=options)


def naive(scene: Scene) -> Target:
    """Mitmdump with an addon that swaps the header."""
    addon = scene.folder / "swap.py"
    addon.write_text(NAIVE, "utf-8")
    command = [str(Path(sys.executable).with_name("mitmdump")), "-s", str(addon)]
    name = "mitmdump and a header swap"
    return mitmproxied(name, command, scene)


def mitmproxied(
    name: str, command: list[str], scene: Scene, *, options: tuple[str, ...] = ()
) -> Target:
    """Run a peer that takes mitmdump's options."""
    port, confdir = free_port(), scene.folder / "confdir"
    words = [
        *command,
        *("--listen-host", "127.0.0.1", "--listen-port", str(port)),
        *(
            "--set",
            f"confdir={confdir}",
            "--set",
            f"ssl_verify_upstream_trusted_ca={scene.certs.ca}",
        ),
        *options,
    ]
    files = Files(scene.folder, scene.folder, scene.up.port, scene.certs.ca)
    environment = {"PATH": os.defpath, "HOME": str(scene.folder), "LC_ALL": "C.UTF-8"}
    scene.stack.enter_context(running("peer", words, port, files, environment))
    return Target(name, port, confdir / "mitmproxy-ca-cert.pem", None, scene.up, scene.other)


def installed(requirement: str) -> Path:
    """Install a peer in a venv that is kept, and return its program."""
    folder = HERE / "out" / requirement.partition("=")[0]
    program = folder / "bin" / "keys-on-the-wire"
    if program.exists():
        return program
    try:
        for words in (
            [sys.executable, "-m", "venv", str(folder)],
            [str(folder / "bin" / "pip"), "install", "-q", requirement],
        ):
            subprocess.run(words, check=True, capture_output=True, timeout=300)
    except (OSError, subprocess.SubprocessError) as error:
        raise SkippedError(f"{requirement}: cannot be installed, {error}") from error
    return program


def table(found: dict[str, list[str]]) -> list[str]:
    """Write a column for each peer."""
    lines = [f"| attack | {' | '.join(found)} |", "|---" * (len(found) + 1) + "|"]
    for number, (name, _) in enumerate(ATTACKS):
        lines.append(f"| {name} | {' | '.join(each[number] for each in found.values())} |")
    return lines


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help="append to bench/results.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
