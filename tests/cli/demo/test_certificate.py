from __future__ import annotations

import socket
import ssl
import threading
from pathlib import Path

from ghost_cli.demo import certificate


def test_a_strict_client_accepts_it_for_localhost(tmp_path: Path) -> None:
    made = certificate.make(tmp_path)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(made.certificate_file, made.key_file)
    client = ssl.create_default_context(cafile=str(made.certificate_file))
    one, other = socket.socketpair()
    serving = threading.Thread(target=lambda: server.wrap_socket(one, server_side=True).close())
    serving.start()
    with client.wrap_socket(other, server_hostname="localhost") as secured:
        assert secured.getpeercert()
    serving.join(5)


def test_its_key_is_private(tmp_path: Path) -> None:
    made = certificate.make(tmp_path)
    assert made.key_file.stat().st_mode & 0o777 == 0o600
