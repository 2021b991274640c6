"""Error texts for an API server that rejects or cannot be reached: the request, what is wrong, and what to do."""

import errno
import json
import re
import socket
import ssl
from dataclasses import dataclass
from http import HTTPStatus

import orjson

from karta_interpreter.errors import ClusterError
from karta_interpreter.k8s.values import JSON, Object

_RESOURCE = re.compile(
    r"/(?:api|apis/(?P<group>[^/]+))/[^/]+(?:/namespaces/(?P<namespace>[^/]+))?"
    r"/(?P<resource>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<subresource>[^/]+))?)?"
)
_EXPIRED = 10
_NAMES_ANOTHER = (62, 64)
"""Results of OpenSSL's check: X509_V_ERR_CERT_HAS_EXPIRED, and ERR_HOSTNAME_ and ERR_IP_ADDRESS_MISMATCH."""

_HINTS = {
    HTTPStatus.UNAUTHORIZED: "it does not accept the credentials: renew the token or client certificate",
    HTTPStatus.CONFLICT: "another writer was faster, or owns these fields",
    HTTPStatus.GONE: "that version is too old: list again",
    HTTPStatus.TOO_MANY_REQUESTS: "it is overloaded: try again later",
}


@dataclass(frozen=True, slots=True)
class Request:
    """A request to an API server; ``verbs`` are what RBAC must allow for it, ``server`` is a URL."""

    method: str
    path: str
    verbs: tuple[str, ...]
    query: tuple[tuple[str, str], ...] = ()
    body: Object | None = None
    content_type: str = "application/json"
    server: str = ""

    def __str__(self) -> str:
        return f"{self.method} {self.server}{self.path}"


def refused(request: Request, status: int, content: bytes) -> ClusterError:
    """The error of an answer with a status of 400 or more, whose content is a Kubernetes ``Status`` or anything."""
    answer = _status_object(content)
    reason = answer.get("reason") or _phrase(status)
    message = answer.get("message") or _phrase(status)
    hint = _missing_rule(request) if status == HTTPStatus.FORBIDDEN else _hint(request, status)
    return ClusterError(f"{request}: {status} {message}{hint and f'; {hint}'}", status=status, reason=str(reason))


def expired(request: Request, event: JSON) -> ClusterError:
    """The error of a watch event of type ERROR, whose object is a ``Status``."""
    status = event.get("code")
    return refused(request, status if isinstance(status, int) else 500, json.dumps(event).encode())


def unreadable(request: Request, what: str) -> ClusterError:
    """The error of an answer that is not what API servers send."""
    return ClusterError(f"{request}: {what}; is this the URL of a Kubernetes API server?", reason="Unreadable")


def unreachable(request: Request, error: BaseException) -> ClusterError:
    """The error of a request that got no answer, or only a part of one."""
    reason, message = _why_unreachable(error)
    return ClusterError(f"{request}: {message}", reason=reason)


def unusable(source: str, error: BaseException) -> ClusterError:
    """The error of a configuration with which no request can be made."""
    hint = "check the file, the context, and the files and programs that it names"
    # The library takes the content for granted.
    what = "it is no kubeconfig" if isinstance(error, TypeError | AttributeError | KeyError) else _text(error)
    return ClusterError(f"{source} cannot be used: {what}; {hint}", reason="Configuration")


def _why_unreachable(error: BaseException) -> tuple[str, str]:
    cause = getattr(error, "os_error", error)
    certificate_error = getattr(error, "certificate_error", error)
    if isinstance(error, TimeoutError):
        return "Timeout", "no answer in time; the server is overloaded, or packets are dropped on the way"
    if isinstance(certificate_error, ssl.SSLCertVerificationError):
        return "Certificate", _certificate_message(certificate_error)
    if isinstance(error, ssl.SSLError) or isinstance(cause, ssl.SSLError):
        return "TLS", f"no TLS connection: {cause}; check the scheme and port of the server, and the client certificate"
    if isinstance(cause, socket.gaierror):
        return "UnknownHost", "the host name cannot be resolved; check the server in the kubeconfig, and DNS"
    if getattr(cause, "errno", None) == errno.ECONNREFUSED:
        return "Refused", "connection refused, nothing listens there; check that the server runs, and its port"
    return "ConnectionLost", f"the connection was lost: {_text(error)}"


def _certificate_message(error: ssl.SSLCertVerificationError) -> str:
    if error.verify_code in _NAMES_ANOTHER:
        hint = "dial a name that the certificate has, or set tls-server-name in the kubeconfig"
    elif error.verify_code == _EXPIRED:
        hint = "renew the server's certificate"
    else:
        hint = "put the CA that signed it into the kubeconfig as certificate-authority-data"
    return f"the server's certificate is not trusted: {error.verify_message.rstrip('.')}; {hint}"


def _text(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _status_object(content: bytes) -> dict[str, JSON]:
    try:
        answer = json.loads(content)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _hint(request: Request, status: int) -> str:
    place = _RESOURCE.fullmatch(request.path)
    if status == HTTPStatus.NOT_FOUND and place and not place["name"]:
        return f"the server has no {_qualified(place)}: is the CRD installed there?"
    return _HINTS.get(HTTPStatus(status), "") if status in _HINTS else ""


def _missing_rule(request: Request) -> str:
    place = _RESOURCE.fullmatch(request.path)
    if not place:
        return f"allow its user {', '.join(request.verbs)} on nonResourceURLs {json.dumps([request.path])}"
    role = f"a Role in {place['namespace']}" if place["namespace"] else "a ClusterRole"
    resource = "/".join(filter(None, (place["resource"], place["subresource"])))
    rule = {"apiGroups": [place["group"] or ""], "resources": [resource], "verbs": list(request.verbs)}
    return f"give its user {role} with {json.dumps(rule)}"


def _qualified(place: re.Match[str]) -> str:
    return ".".join(filter(None, (place["resource"], place["group"])))


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def read_object(request: Request, content: bytes) -> Object:
    """The JSON object that answers a request; raises ClusterError for anything else."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise unreadable(request, "the answer is not JSON") from error
    if not isinstance(value, dict):
        raise unreadable(request, "the answer is not a JSON object")
    return value


def read_event(request: Request, line: bytes) -> tuple[str, Object]:
    """Type and object of one line of a watch; raises ClusterError for an event of type ERROR, with its code."""
    event = read_object(request, line)
    kind, obj = event.get("type"), event.get("object")
    if not isinstance(kind, str) or not isinstance(obj, dict):
        raise unreadable(request, "a watch event has no type or no object")
    if kind == "ERROR":
        raise expired(request, obj)
    return kind, obj
