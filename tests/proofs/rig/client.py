"""A client that keeps one connection per thread, and a watch of a collection."""

import http.client
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.proofs.rig.api import Api, ApiError, Object

Changed = Callable[[Object, bool], None]
"""Gets an object, and whether it exists."""

_PAUSE = 0.2


@dataclass
class Client(Api):
    """An API server that is asked often, by many threads."""

    local: threading.local = field(default_factory=threading.local)

    def _exchange(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]
    ) -> tuple[http.client.HTTPResponse, str]:
        kept: http.client.HTTPSConnection | None = getattr(self.local, "connection", None)
        connection = kept or self.connect()
        self.local.connection = None
        try:
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException):
            connection.close()
            if kept is None or method == "POST":
                raise
            # The server may have closed it since the last request.
            return self._exchange(method, path, data, headers)
        self.local.connection = connection
        return answer, text

    def close(self) -> None:
        """Close the connection that this thread keeps."""
        kept: http.client.HTTPSConnection | None = getattr(self.local, "connection", None)
        if kept:
            kept.close()
        self.local.connection = None


@dataclass
class Watch:
    """Follows a collection of all namespaces in a thread of its own."""

    api: Api
    path: str
    changed: Changed
    ended: threading.Event = field(default_factory=threading.Event)
    known: dict[str, Object] = field(default_factory=dict)

    def start(self) -> "Watch":
        threading.Thread(target=self._follow, name=f"watch {self.path}", daemon=True).start()
        return self

    def _follow(self) -> None:
        while not self.ended.is_set():
            try:
                self._events(self._list())
            except (ApiError, OSError, ValueError, http.client.HTTPException):
                self.ended.wait(_PAUSE)

    def _list(self) -> str:
        answer = self.api.request("GET", self.path)
        kind = {"apiVersion": answer["apiVersion"], "kind": answer["kind"].removesuffix("List")}
        listed = {item["metadata"]["uid"]: {**item, **kind} for item in answer["items"]}
        for uid, thing in list(self.known.items()):
            if uid not in listed:
                self._tell(thing, exists=False)
        for thing in listed.values():
            self._tell(thing, exists=True)
        version: str = answer["metadata"]["resourceVersion"]
        return version

    def _events(self, version: str) -> None:
        connection = self.api.connect()
        connection.timeout = None
        try:
            query = f"watch=1&allowWatchBookmarks=true&resourceVersion={version}"
            connection.request("GET", f"{self.path}?{query}", headers={"Accept": "application/json"})
            answer = connection.getresponse()
            for line in answer:
                event = json.loads(line)
                if event["type"] == "ERROR" or self.ended.is_set():
                    return
                if event["type"] != "BOOKMARK":
                    self._tell(event["object"], exists=event["type"] != "DELETED")
        finally:
            connection.close()

    def _tell(self, thing: Object, *, exists: bool) -> None:
        if exists:
            self.known[thing["metadata"]["uid"]] = thing
        else:
            self.known.pop(thing["metadata"]["uid"], None)
        self.changed(thing, exists)
