"""What the stand-ins of sources serve, asked as source-controller asks: by an HTTP proxy."""

import hashlib
import json
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.proofs.reality.sources import Sources


@pytest.fixture
def sources(tmp_path: Path) -> Iterator[tuple[Sources, HTTPConnection]]:
    served = Sources(tmp_path / "sources")
    connection = HTTPConnection("127.0.0.1", served.start())
    yield served, connection
    connection.close()


def _get(connection: HTTPConnection, url: str) -> tuple[int, bytes]:
    connection.request("GET", url)
    answer = connection.getresponse()
    return answer.status, answer.read()


@pytest.mark.parametrize(
    "url",
    [
        pytest.param(
            "http://git.example/t-shop/shop/info/refs?service=git-upload-pack", id="the branches of a repository"
        ),
        pytest.param("http://charts.example/t-shop/index.yaml", id="the index of a chart repository"),
        pytest.param("http://s3.example/t-shop/?list-type=2", id="the objects of a bucket"),
        pytest.param("http://registry.example/v2/t-shop/files/manifests/main", id="an artifact of a registry"),
    ],
)
def test_each_namespace_has_a_server_of_its_own(sources: tuple[Sources, HTTPConnection], url: str) -> None:
    served, connection = sources
    first = _get(connection, url)
    served.told("t-shop", "changed")
    second = _get(connection, url)
    served.told("t-shop", "away")
    away = _get(connection, url)
    other = _get(connection, url.replace("t-shop", "t-book"))
    served.told("t-shop", "here")

    assert (first[0], second[0], away[0]) == (200, 200, 502)
    assert first[1] != second[1]
    assert other[1] == first[1].replace(b"t-shop", b"t-book")
    assert _get(connection, url) == second


def test_contents_have_their_digests(sources: tuple[Sources, HTTPConnection]) -> None:
    _, connection = sources
    index = json.loads(_get(connection, "http://charts.example/t-shop/index.yaml")[1])
    manifest = json.loads(_get(connection, "http://registry.example/v2/t-shop/shop/manifests/1.0.0")[1])
    (chart,), (layer,) = index["entries"]["shop"], manifest["layers"]
    packed = _get(connection, f"http://charts.example/t-shop/{chart['urls'][0]}")[1]

    assert hashlib.sha256(packed).hexdigest() == chart["digest"]
    assert _get(connection, f"http://registry.example/v2/t-shop/shop/blobs/{layer['digest']}")[1] == packed
