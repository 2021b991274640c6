from typing import Any

import pytest

from karta_interpreter.engine.registered.interpreters import Client, Service
from karta_interpreter.webhook.doctor.connection import DialAddress, address_of
from karta_interpreter.webhook.doctor.result import CheckResult, Level
from tests.support.rows import rows

NAME = "karta-interpreter.karmada-system.svc"
REFERENCE = Service("karmada-system", "karta-interpreter", 8443, "/interpret")


def of_service(spec: Any, *, port: int = 8443) -> DialAddress | CheckResult:
    reference = Service(REFERENCE.namespace, REFERENCE.name, port, REFERENCE.path)
    return address_of(Client("", reference), None if spec is None else {"spec": spec})


@rows(
    ("url", "host", "port", "path"),
    [
        pytest.param("https://a.test:8443/interpret", "a.test", 8443, "/interpret", id="all said"),
        pytest.param("https://a.test/interpret/", "a.test", 443, "/interpret", id="port by default, slash dropped"),
        pytest.param("https://a.test", "a.test", 443, "/", id="no path"),
        pytest.param("https://a.test/mühle/%2F", "a.test", 443, "/m%C3%BChle/%2F", id="a path that is not ASCII"),
        pytest.param("https://[::1]:8443/interpret", "::1", 8443, "/interpret", id="IPv6"),
    ],
)
def test_url_is_dialled_as_it_is(url: str, host: str, port: int, path: str) -> None:
    address = address_of(Client(url))

    assert isinstance(address, DialAddress)
    assert (address.host, address.port, address.server_name, address.path) == (host, port, host, path)


@rows(
    "url",
    [
        pytest.param("", id="nothing"),
        pytest.param("http://a.test/", id="no TLS"),
        pytest.param("https:///interpret", id="no host"),
        pytest.param("https://user@a.test/", id="a user"),
        pytest.param("https://a.test/?timeout=3s", id="a query"),
        pytest.param("https://a.test:99999/", id="no port"),
    ],
)
def test_other_urls_are_called_by_nobody(url: str) -> None:
    result = address_of(Client(url))

    assert isinstance(result, CheckResult)
    assert result.level is Level.PROBLEM


@rows(
    ("spec", "host"),
    [
        pytest.param({"type": "ClusterIP", "clusterIP": "10.0.0.7", "ports": [{"port": 8443}]}, "10.0.0.7",
            id="ClusterIP"),
        pytest.param({"type": "NodePort", "clusterIP": "fd00::7", "ports": [{"port": 1}, {"port": 8443}]}, "fd00::7",
            id="NodePort"),
        pytest.param({"type": "LoadBalancer", "clusterIP": "10.0.0.7", "ports": [{"port": 8443}]}, "10.0.0.7",
            id="LoadBalancer: not its own address"),
        pytest.param({"type": "ExternalName", "externalName": f"{NAME}.cluster.local"}, f"{NAME}.cluster.local",
            id="ExternalName needs no port"),
        pytest.param(None, NAME, id="no Service: by DNS"),
    ],
)  # fmt: skip
def test_service_is_resolved_as_karmada_does(spec: Any, host: str) -> None:
    address = of_service(spec)

    assert isinstance(address, DialAddress)
    assert (address.host, address.port, address.server_name, address.path) == (host, 8443, NAME, "/interpret")
    assert address.reason
    assert address.advice


@rows(
    ("spec", "found"),
    [
        pytest.param({"clusterIP": "None", "ports": [{"port": 8443}]}, "headless", id="headless"),
        pytest.param({"ports": [{"port": 8443}]}, "headless", id="no address"),
        pytest.param(
            {"clusterIP": "10.0.0.7", "ports": [{"port": 443}]}, "no port 8443, it has 443", id="another port"
        ),
        pytest.param({"clusterIP": "10.0.0.7"}, "no port 8443, it has none", id="no ports"),
        pytest.param({"type": "Odd", "clusterIP": "10.0.0.7"}, "unknown type Odd", id="a new type"),
    ],
)
def test_services_that_karmada_cannot_dial(spec: Any, found: str) -> None:
    result = of_service(spec)

    assert isinstance(result, CheckResult)
    assert result.level is Level.PROBLEM
    assert found in result.found
    assert result.advice


def test_port_is_443_without_reference() -> None:
    address = address_of(Client("", Service("n", "s")), {"spec": {"clusterIP": "10.0.0.7", "ports": [{"port": 443}]}})

    assert isinstance(address, DialAddress)
    assert str(address) == "10.0.0.7:443"
    assert address.path == "/"


def test_url_with_service_is_a_problem() -> None:
    assert isinstance(address_of(Client("https://a.test/", REFERENCE)), CheckResult)


def test_forwarded_port_keeps_expected_name() -> None:
    registered, forwarded = of_service(None), address_of(Client("https://localhost:9443"))
    assert isinstance(registered, DialAddress)
    assert isinstance(forwarded, DialAddress)

    address = registered.dialled_at(forwarded)

    assert (str(address), address.server_name, address.path) == ("localhost:9443", NAME, "/interpret")
