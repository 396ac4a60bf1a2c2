from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from ghost_cli.demo import certificate
from ghost_cli.demo.api import EMPTY_REPOSITORY, Api, Call
from ghost_core.secret import SecretBytes


@pytest.fixture
def files(tmp_path: Path) -> certificate.Certificate:
    return certificate.make(tmp_path)


@pytest.fixture
def api(files: certificate.Certificate) -> Iterator[Api]:
    with Api(files, SecretBytes(b"real")) as running:
        yield running


@pytest.fixture
def context(files: certificate.Certificate) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=files.certificate_file)


def get(api: Api, context: ssl.SSLContext, path: str, key: str) -> tuple[int, bytes]:
    headers = {"Authorization": f"Bearer {key}"}
    request = urllib.request.Request(f"{api.url}{path}", headers=headers)  # noqa: S310
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
    )
    try:
        with opener.open(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read()


def test_the_right_key_is_let_in(api: Api, context: ssl.SSLContext) -> None:
    status, body = get(api, context, "/v1/balance", "real")
    assert (status, json.loads(body)["currency"]) == (200, "eur")
    assert api.calls == (Call("GET", "/v1/balance", authorised=True),)


def test_a_placeholder_is_not_let_in(api: Api, context: ssl.SSLContext) -> None:
    status, _ = get(api, context, "/v1/balance", "placeholder")
    assert status == 401
    assert api.calls == (Call("GET", "/v1/balance", authorised=False),)


def test_the_api_sends_the_key_back_on_request(api: Api, context: ssl.SSLContext) -> None:
    _, body = get(api, context, "/v1/whoami", "real")
    assert json.loads(body) == {"you_sent": "Bearer real"}


def test_git_finds_a_repository_without_refs(api: Api, context: ssl.SSLContext) -> None:
    path = f"{EMPTY_REPOSITORY}/info/refs?service=git-upload-pack"
    assert get(api, context, path, "real") == (200, b"001e# service=git-upload-pack\n00000000")
