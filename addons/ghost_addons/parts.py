"""The parts of the engine that we run: its Master and five addons, imported without the thirty beside them.

The package `mitmproxy.addons` imports all of its modules, and with them LDAP, a web framework and their kind:
two fifths of the engine's import and 15 MB, for code that never runs here. So while ours are imported it is
only a folder; whoever imports it later gets it whole.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec

_PACKAGE = "mitmproxy.addons"


@contextmanager
def _only_a_folder(name: str) -> Iterator[None]:
    spec = find_spec(name)
    if name in sys.modules or spec is None:
        yield
        return
    sys.modules[name] = module_from_spec(spec)  # its path, without its code
    try:
        yield
    finally:
        del sys.modules[name]


with _only_a_folder(_PACKAGE):
    from mitmproxy.addons import core, disable_h2c, next_layer, proxyserver, tlsconfig
    from mitmproxy.master import Master  # which takes one of them

__all__ = ["Master", "core", "disable_h2c", "next_layer", "proxyserver", "tlsconfig"]
