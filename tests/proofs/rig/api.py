"""A small client of Kubernetes API servers, and waiting for what they will say."""

import http.client
import json
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tests.support.waiting import HANG

Object = dict[str, Any]
T = TypeVar("T")

_APPLY = "application/apply-patch+yaml"
_MERGE = "application/merge-patch+json"
_JSON = "application/json"
_CONFLICT, _NOT_FOUND = 409, 404
_PAUSE = 0.1


class ApiError(Exception):
    """An answer of an API server that is not a success."""

    def __init__(self, request: str, status: int, message: str) -> None:
        super().__init__(f"{request}: {status} {message}")
        self.status = status
        self.message = message


def until(what: str, question: Callable[[], T | None], seconds: float = HANG) -> T:
    """Ask until the answer is true, and return it.

    Raises AssertionError with the last answer after ``seconds``, by which it hangs.
    """
    deadline = time.monotonic() + seconds
    last: object = None
    while time.monotonic() < deadline:
        try:
            last = question()
        except (ApiError, OSError, LookupError, http.client.HTTPException) as error:
            last = error
        else:
            if last:
                return last
        time.sleep(_PAUSE)
    raise AssertionError(f"not within {seconds:.0f} s: {what}; last answer: {last!r}"[:3000])


def at_rest(what: str, count: Callable[[], T], seconds: float = 5.0) -> T:
    """Wait until a count stays the same for some seconds, and return it; raises AssertionError if it never does.

    A slow machine takes longer to come to rest. What goes on for ever does not.
    """
    last, since = count(), time.monotonic()

    def rests() -> bool:
        nonlocal last, since
        now = count()
        if now != last:
            last, since = now, time.monotonic()
        return time.monotonic() - since >= seconds

    until(what, rests)
    return last


def named(api_version: str, kind: str, name: str, namespace: str = "") -> Object:
    """Return an object that has a name and nothing else."""
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


@dataclass
class Api:
    """One API server."""

    name: str
    port: int
    context: ssl.SSLContext
    resources: dict[tuple[str, str], tuple[str, bool]] = field(default_factory=dict)

    def request(self, method: str, path: str, body: object = None, content_type: str = _JSON) -> Any:
        """Return the JSON of the answer, or its text when it is none; raises ApiError."""
        data = None if body is None else json.dumps(body).encode()
        answer, text = self._exchange(method, path, data, {"Content-Type": content_type, "Accept": _JSON})
        is_json = (answer.getheader("Content-Type") or "").startswith(_JSON)
        content = json.loads(text) if is_json else text
        if answer.status >= http.client.BAD_REQUEST:
            message = content.get("message", text) if isinstance(content, dict) else text
            raise ApiError(f"{self.name}: {method} {path}", answer.status, message)
        return content

    def _exchange(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]
    ) -> tuple[http.client.HTTPResponse, str]:
        connection = self.connect()
        try:
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            return answer, answer.read().decode()
        finally:
            connection.close()

    def connect(self) -> http.client.HTTPSConnection:
        """Return a new connection, which opens with its first request."""
        return http.client.HTTPSConnection("127.0.0.1", self.port, context=self.context, timeout=HANG / 2)

    def get(self, path: str) -> Object | None:
        """Return what is there, or None."""
        try:
            found: Object = self.request("GET", path)
        except ApiError as error:
            if error.status == _NOT_FOUND:
                return None
            raise
        return found

    def ready(self) -> bool:
        return bool(self.request("GET", "/readyz") == "ok")

    def path(self, thing: Object) -> str:
        """Where an object of this kind and name is."""
        return f"{self.collection(thing)}/{thing['metadata']['name']}"

    def collection(self, thing: Object) -> str:
        """Where objects of this kind and namespace are."""
        version, kind, metadata = thing["apiVersion"], thing["kind"], thing["metadata"]
        root = "/api/v1" if version == "v1" else f"/apis/{version}"
        plural, namespaced = self._resource(root, kind)
        namespace = f"/namespaces/{metadata.get('namespace', 'default')}" if namespaced else ""
        return f"{root}{namespace}/{plural}"

    def find(self, thing: Object) -> Object | None:
        """Return the object of the same kind and name as it is now, or None."""
        return self.get(self.path(thing))

    def apply(self, thing: Object) -> Object:
        """Apply on the server's side, and return the outcome."""
        applied: Object = self.request("PATCH", f"{self.path(thing)}?fieldManager=e2e&force=true", thing, _APPLY)
        return applied

    def merge(self, thing: Object, patch: Object) -> Object:
        merged: Object = self.request("PATCH", self.path(thing), patch, _MERGE)
        return merged

    def put(self, thing: Object, change: Callable[[Object], Object], part: str = "") -> Object:
        """Read the object, write what ``change`` makes of it, and do so again after a conflict."""
        while True:
            now = self.find(thing)
            assert now, f"{self.name} has no {self.path(thing)}"
            try:
                written: Object = self.request("PUT", self.path(thing) + part, change(now))
            except ApiError as error:
                if error.status != _CONFLICT:
                    raise
            else:
                return written

    def put_status(self, thing: Object, status: Object) -> Object:
        """Write the status, as a controller of the kind does."""
        return self.put(thing, lambda now: now | {"status": status}, "/status")

    def delete(self, thing: Object) -> None:
        """Delete the object of the same kind and name, if it is there."""
        try:
            self.request("DELETE", f"{self.path(thing)}?propagationPolicy=Background")
        except ApiError as error:
            if error.status != _NOT_FOUND:
                raise

    def token(self, name: str, namespace: str = "karmada-system") -> str:
        """Return a token of a ServiceAccount, for a day."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
        token: str = self.request("POST", path, request | {"spec": {"expirationSeconds": 86400}})["status"]["token"]
        return token

    def add_namespace(self, name: str) -> None:
        """Add a namespace if there is none of that name."""
        self.apply(named("v1", "Namespace", name))

    def _resource(self, root: str, kind: str) -> tuple[str, bool]:
        if (root, kind) not in self.resources:
            until(f"{self.name} serves {kind}", lambda: self._discover(root, kind))
        return self.resources[root, kind]

    def _discover(self, root: str, kind: str) -> bool:
        for resource in self.request("GET", root)["resources"]:
            if "/" not in resource["name"]:
                self.resources[root, resource["kind"]] = resource["name"], resource["namespaced"]
        return (root, kind) in self.resources
