"""Requests to an API server, and the errors of failed ones: the request, the failure, and advice."""

import errno
import json
import re
import socket
import ssl
from http import HTTPStatus
from http.client import responses

import orjson
from msgspec import Struct

from karta_interpreter.base.errors import NO_KUBECONFIG, ClusterError
from karta_interpreter.base.k8s import NewObject, Object

_RESOURCE = re.compile(
    r"/(?:api|apis/(?P<group>[^/]+))/[^/]+(?:/namespaces/(?P<namespace>[^/]+))?"
    r"/(?P<resource>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<subresource>[^/]+))?)?"
)
_OTHER_CA = "put the CA that signed it into the kubeconfig as certificate-authority-data"
_OTHER_NAME = "dial a name that the certificate has, or set tls-server-name in the kubeconfig"
# By result of OpenSSL: X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH.
_CERTIFICATE_HINTS = {10: "renew the server's certificate", 62: _OTHER_NAME, 64: _OTHER_NAME}


_STATUS_HINTS: dict[int, str] = {
    HTTPStatus.UNAUTHORIZED: "it does not accept the credentials: renew the token or client certificate",
    HTTPStatus.CONFLICT: "another writer was faster, or owns these fields",
    HTTPStatus.GONE: "that version is too old: list again",
    HTTPStatus.TOO_MANY_REQUESTS: "it is overloaded: try again later",
}


class ApiRequest(Struct, frozen=True):
    """A request to an API server. RBAC must allow its ``verbs``. ``server`` is a URL."""

    method: str
    path: str
    verbs: tuple[str, ...]
    query: tuple[tuple[str, str], ...] = ()
    body: Object | None = None
    content_type: str = "application/json"
    server: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.server}{self.path}"


def read_object(request: ApiRequest, content: bytes) -> Object:
    """Return the JSON object that answers a request. Raise ClusterError for any other answer."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise unreadable(request, "the answer is not JSON") from error
    if not isinstance(value, dict):
        raise unreadable(request, "the answer is not a JSON object")
    return value


def read_event(request: ApiRequest, line: bytes) -> tuple[str, Object]:
    """Return type and object of one line of a watch. Raise ClusterError with its code for an event of type ERROR."""
    event = read_object(request, line)
    kind, obj = event.get("type"), event.get("object")
    if not isinstance(kind, str) or not isinstance(obj, dict):
        raise unreadable(request, "a watch event has no type or no object")
    if kind == "ERROR":
        status = obj.get("code")
        raise rejected(request, status if isinstance(status, int) else 500, orjson.dumps(obj))
    return kind, obj


def rejected(request: ApiRequest, status: int, content: bytes) -> ClusterError:
    """Return the error of an answer with a status of 300 or more. The content should be a Kubernetes ``Status``."""
    try:
        decoded = orjson.loads(content)
    except orjson.JSONDecodeError:
        decoded = None
    answer: NewObject = decoded if isinstance(decoded, dict) else {}
    phrase, hint = responses.get(status, ""), _status_hint(request, status, bool(answer.get("reason")))
    message = f"{request}: {status} {answer.get('message') or phrase}{hint and f'; {hint}'}"
    return ClusterError(message, status=status, reason=str(answer.get("reason") or phrase))


def too_large(request: ApiRequest, most: int) -> ClusterError:
    """Return the error of an answer that is longer than ``most`` bytes."""
    return ClusterError(f"{request}: the answer has more than {most} bytes", reason="TooLarge")


def unreachable(request: ApiRequest, error: BaseException) -> ClusterError:
    """Return the error of a request that got no answer, or only a part of one."""
    reason, message = _why_unreachable(error)
    return ClusterError(f"{request}: {message}", reason=reason)


def unusable(source: str, error: BaseException) -> ClusterError:
    """Return the error of a configuration that allows no request.

    Its reason is NoKubeconfig, NoContext or, for anything else, Configuration.
    """
    # Without a number the error is about the kubeconfig (`_check_there`), else about a file named in it.
    if isinstance(error, FileNotFoundError) and error.errno is None:
        return ClusterError(f"{source} cannot be used: {error}; name one with --kubeconfig", reason=NO_KUBECONFIG)
    # kubernetes_asyncio has one exception for all faults of a kubeconfig. Only its text distinguishes them.
    reason = "NoContext" if type(error) is LookupError or "/contexts list" in str(error) else "Configuration"
    hint = (
        "`kubectl config get-contexts` lists those of a kubeconfig"
        if reason == "NoContext"
        else "where it is, `kubectl config view --raw --flatten` prints a kubeconfig that names no files"
        if "File does not exist" in str(error)  # in the words of kubernetes_asyncio, as below
        else "check the file, the context, and the files and programs that it names"
    )
    # The library does not check the structure of the file.
    what = (
        "it is not a kubeconfig"
        if isinstance(error, TypeError | AttributeError | KeyError)
        else "a certificate or key in it is not PEM in base64"
        if isinstance(error, ssl.SSLError) or type(error).__module__ == "binascii"
        else _text(error).replace("File does not exists:", "it names a file that does not exist here:")
    )
    return ClusterError(f"{source} cannot be used: {what}; {hint}", reason=reason)


def unreadable(request: ApiRequest, what: str) -> ClusterError:
    """Return the error of an answer that is not what it should be."""
    return ClusterError(f"{request}: {what}; is this the URL of a Kubernetes API server?", reason="Unreadable")


def _why_unreachable(error: BaseException) -> tuple[str, str]:
    # Attributes of aiohttp's errors about connections. This module must not import aiohttp itself.
    cause = getattr(error, "os_error", error)
    certificate_error = getattr(error, "certificate_error", error)
    if isinstance(error, TimeoutError):
        return "Timeout", "no answer in time; the server is overloaded, or packets are dropped on the way"
    if isinstance(certificate_error, ssl.SSLCertVerificationError):
        what = certificate_error.verify_message.rstrip(".")
        hint = _CERTIFICATE_HINTS.get(certificate_error.verify_code, _OTHER_CA)
        return "Certificate", f"the server's certificate is not trusted: {what}; {hint}"
    if isinstance(error, ssl.SSLError) or isinstance(cause, ssl.SSLError):
        return "TLS", f"no TLS connection: {cause}; check the scheme and port of the server, and the client certificate"
    # Python encodes a host name as IDNA before it asks for its address.
    if isinstance(cause, socket.gaierror | UnicodeError):
        return "UnknownHost", "the host name cannot be resolved; check the server in the kubeconfig, and DNS"
    if getattr(cause, "errno", None) == errno.ECONNREFUSED:
        return "Refused", "connection refused, nothing listens there; check that the server runs, and its port"
    return "ConnectionLost", f"the connection was lost: {_text(error)}"


def _text(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _status_hint(request: ApiRequest, status: int, is_about_object: bool) -> str:
    resource_path = _RESOURCE.fullmatch(request.path)
    if status == HTTPStatus.FORBIDDEN and not resource_path:
        return f"allow its user {', '.join(request.verbs)} on nonResourceURLs {json.dumps([request.path])}"
    if status == HTTPStatus.FORBIDDEN and resource_path:
        role = f"a Role in {resource_path['namespace']}" if resource_path["namespace"] else "a ClusterRole"
        resource = "/".join(filter(None, (resource_path["resource"], resource_path["subresource"])))
        rule = {"apiGroups": [resource_path["group"] or ""], "resources": [resource], "verbs": list(request.verbs)}
        return f"give its user {role} with {json.dumps(rule)}"
    if status == HTTPStatus.NOT_FOUND and resource_path and not (resource_path["name"] and is_about_object):
        resource = ".".join(filter(None, (resource_path["resource"], resource_path["group"])))
        return f"the server has no {resource}: is the CRD installed there, and is it the cluster that you mean?"
    # What a server of Go answers where it expects TLS.
    is_plain = status == HTTPStatus.BAD_REQUEST and request.server.startswith("http:")
    return "does it speak TLS? Then write https: into the kubeconfig" if is_plain else _STATUS_HINTS.get(status, "")
