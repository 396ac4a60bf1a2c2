"""The life of a session outside the proxy: token, custody, owner socket, spawn, sweep, scan."""
