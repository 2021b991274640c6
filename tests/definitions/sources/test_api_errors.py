import binascii
import json
import socket
import ssl
from typing import Any

import pytest

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.definitions.sources.api_errors import (
    ApiRequest,
    read_event,
    rejected,
    unreachable,
    unusable,
)
from tests.support.rows import rows


def _request(path: str = "/apis/run.ai/v1alpha1/kartas", *verbs: str) -> ApiRequest:
    return ApiRequest("GET", path, verbs or ("list",), server="https://karmada")


def _status(**fields: Any) -> bytes:
    return json.dumps({"kind": "Status", **fields}).encode()


def _certificate_error(code: int) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError("failed")
    error.verify_code, error.verify_message = code, "the message of OpenSSL"
    return error


def _caused_by(cause: OSError) -> OSError:
    """An error as the HTTP client raises it: the true one is inside."""
    error = OSError("cannot connect")
    error.os_error = cause  # type: ignore[attr-defined] # as aiohttp adds it
    return error


@rows(
    ("path", "verbs", "rule"),
    [
        pytest.param("/apis/run.ai/v1alpha1/kartas", ("list",),
            'a ClusterRole with {"apiGroups": ["run.ai"], "resources": ["kartas"], "verbs": ["list"]}',
            id="a collection of a group"),
        pytest.param("/apis/run.ai/v1alpha1/kartas/job/status", ("patch",),
            'a ClusterRole with {"apiGroups": ["run.ai"], "resources": ["kartas/status"], "verbs": ["patch"]}',
            id="a subresource"),
        pytest.param("/api/v1/namespaces/default/events", ("create",),
            'a Role in default with {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]}',
            id="in a namespace, of the core group"),
        pytest.param("/api/v1/namespaces/default", ("get",),
            'a ClusterRole with {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]}',
            id="a namespace itself"),
        pytest.param("/apis/a.io/v1/things/x", ("create", "patch"), '"verbs": ["create", "patch"]',
            id="server-side apply needs two verbs"),
        pytest.param("/version", ("get",), 'get on nonResourceURLs ["/version"]', id="no resource"),
    ],
)  # fmt: skip
def test_forbidden_request_names_missing_rule(path: str, verbs: tuple[str, ...], rule: str) -> None:
    error = rejected(_request(path, *verbs), 403, _status(message="no", reason="Forbidden"))

    assert rule in str(error)
    assert (error.status, error.reason) == (403, "Forbidden")


@rows(
    ("status", "content", "reason", "text"),
    [
        pytest.param(500, b"<html>", "Internal Server Error", "500 Internal Server Error", id="a page of a proxy"),
        pytest.param(500, b"[1]", "Internal Server Error", "500 Internal Server Error", id="JSON, but no status"),
        pytest.param(599, b"", "", "599", id="a number without a name"),
        pytest.param(404, _status(message="kartas not found"), "Not Found", "is the CRD installed", id="no collection"),
        pytest.param(409, _status(message="busy", reason="Conflict"), "Conflict", "another writer", id="a conflict"),
    ],
)
def test_rejection_is_reported_with_any_content(status: int, content: bytes, reason: str, text: str) -> None:
    error = rejected(_request(), status, content)

    assert (error.status, error.reason) == (status, reason)
    assert str(error).startswith("GET https://karmada/apis/run.ai/v1alpha1/kartas: ")
    assert text in str(error)


@rows(("event", "status"), [({"code": 410, "reason": "Expired"}, 410), ({}, 500), ({"code": "x"}, 500)])
def test_error_event_has_code_of_its_status(event: Any, status: int) -> None:
    with pytest.raises(ClusterError) as caught:
        read_event(_request(), json.dumps({"type": "ERROR", "object": event}).encode())
    assert caught.value.status == status


@rows(
    ("error", "reason", "hint"),
    [
        pytest.param(TimeoutError(), "Timeout", "no answer in time", id="too slow"),
        pytest.param(
            _caused_by(ConnectionRefusedError(111, "refused")), "Refused", "nothing listens there", id="nothing listens"
        ),
        pytest.param(_caused_by(socket.gaierror(-2, "unknown")), "UnknownHost", "DNS", id="an unknown name"),
        pytest.param(_certificate_error(19), "Certificate", "certificate-authority-data", id="another CA"),
        pytest.param(_certificate_error(62), "Certificate", "tls-server-name", id="another name"),
        pytest.param(_certificate_error(10), "Certificate", "renew", id="an expired certificate"),
        pytest.param(ssl.SSLError(1, "wrong version"), "TLS", "scheme and port", id="no TLS"),
    ],
)
def test_unreachable_server_is_reported_with_hint(error: Exception, reason: str, hint: str) -> None:
    reported = unreachable(_request(), error)

    assert (reported.status, reported.reason) == (0, reason)
    assert hint in str(reported)


@rows(
    ("error", "reason"),
    [
        pytest.param(FileNotFoundError("there is no such file"), "NoKubeconfig", id="no kubeconfig"),
        pytest.param(binascii.Error("Incorrect padding"), "Configuration", id="a certificate that is not base64"),
        pytest.param(FileNotFoundError(2, "No such file", "login"), "Configuration", id="a program that it names"),
        pytest.param(ValueError("Expected object with name b in x/contexts list"), "NoContext", id="no such context"),
    ],
)
def test_unusable_configuration_has_a_reason(error: Exception, reason: str) -> None:
    found = unusable("the kubeconfig x", error)

    assert found.reason == reason
    assert ("`kubectl config get-contexts` lists" in str(found)) is (reason == "NoContext")
