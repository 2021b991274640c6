"""A client that writes the bytes it is told to, on one connection."""

import asyncio
import json
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from tests.support.waiting import HANG, PAUSE

PATIENT = f"/interpret?timeout={HANG:.0f}s"
"""Karmada says "3s", in which a busy machine may not get a process started: only tests of deadlines say so."""


def as_karmada(data: bytes) -> bytes:
    """Leave a request as it is, so that it gets into the fast lane if it is one for it."""
    return data


def as_others(data: bytes) -> bytes:
    """Spell a request so that it means the same and never gets into the fast lane."""
    return data.replace(b"\r\nHost: ", b"\r\nhost: ")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def response(self) -> Any:
        return self.json["response"]


@dataclass
class Client:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    spell: Callable[[bytes], bytes]

    @classmethod
    async def connect(
        cls, port: int, context: ssl.SSLContext | None, spell: Callable[[bytes], bytes] = as_karmada
    ) -> Self:
        name = "localhost" if context else None
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name)
        return cls(reader, writer, spell)

    async def send(self, data: bytes) -> None:
        self.writer.write(self.spell(data))
        await self.writer.drain()

    async def receive(self) -> Answer:
        async with asyncio.timeout(HANG):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
            status, *lines = head.rstrip().split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines)
            body = await self.reader.readexactly(int(headers.get("content-length", 0)))
            return Answer(int(status.split()[1]), headers, body)

    async def ask(self, data: bytes) -> Answer:
        await self.send(data)
        return await self.receive()

    async def ask_until(self, data: bytes, seen: Callable[[Answer], bool]) -> None:
        """Ask again and again, until an answer shows what is expected."""
        async with asyncio.timeout(HANG):
            while not seen(await self.ask(data)):  # noqa: ASYNC110 - there is no event to wait for
                await asyncio.sleep(PAUSE)

    async def remainder(self) -> bytes:
        """Return what comes until the server closes the connection."""
        async with asyncio.timeout(HANG):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""

    @property
    def peer_certificate(self) -> bytes:
        tls: ssl.SSLObject = self.writer.get_extra_info("ssl_object")
        return tls.getpeercert(binary_form=True) or b""

    async def close(self) -> None:
        self.writer.transport.abort()
        await asyncio.sleep(0)


def trusting(authority: bytes) -> ssl.SSLContext:
    """Return a context as Karmada's client has it: this authority, this name, HTTP/1.1."""
    context = ssl.create_default_context(cadata=authority.decode())
    context.set_alpn_protocols(["http/1.1"])
    return context


def post(body: bytes, path: str = PATIENT, headers: dict[str, str] | None = None) -> bytes:
    """Return a request as Karmada sends it; ``headers`` replace its headers, an empty one is left out."""
    sent = {
        "Host": "localhost",
        "User-Agent": "kube-apiserver-admission",
        "Content-Length": str(len(body)),
        "Accept": "application/json, */*",
        "Content-Type": "application/json",
        "Accept-Encoding": "gzip",
    } | (headers or {})
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items() if value)]
    return "\r\n".join([*lines, "", ""]).encode() + body


def get(path: str, method: str = "GET") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def question(kind: str = "GrainMill", operation: str = "InterpretReplica", /, **fields: Any) -> bytes:
    """Return the body of a call about a small object of a kind; ``fields`` replace those of the request."""
    obj = {
        "apiVersion": "mill.example.org/v1",
        "kind": kind,
        "metadata": {"name": "rye", "namespace": "bakery"},
        "spec": {"stones": 3, "template": {"spec": {"containers": [{"name": "stone", "image": "mill"}]}}},
    }
    request = {
        "uid": "3f1d8f0e-6a0b-4f4e-9c1d-000000000001",
        "kind": {"group": "mill.example.org", "version": "v1", "kind": kind},
        "name": "rye",
        "namespace": "bakery",
        "operation": operation,
        "object": obj,
        "replicas": 0,
    } | fields
    context = {"kind": "ResourceInterpreterContext", "apiVersion": "config.karmada.io/v1alpha1"}
    return json.dumps(context | {"request": request}).encode() + b"\n"
