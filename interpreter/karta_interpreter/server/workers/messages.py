"""What a server and its workers say to each other."""

import json
from typing import Any, Final

from msgspec import Struct, msgpack

from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object
from karta_interpreter.pki.certificate import Certificate
from karta_interpreter.server.settings import Settings

Kind = tuple[str, str, str]
"""Group, version and kind."""

Sample = tuple[str, dict[str, str], float]
"""Name, labels and value of one thing that is counted."""


class Begin(Struct, frozen=True, tag=True):
    """To a new worker, before everything else: who it is; ``certificate`` is None for plain HTTP."""

    number: int
    settings: Settings
    certificate: Certificate | None


class Served(Struct, frozen=True):
    """A definition that is served; ``packed`` is JSON of what `karta_interpreter.karta.transfer` makes of it."""

    origin: str
    source: str
    packed: bytes


class Define(Struct, frozen=True, tag=True):
    """To a worker: another snapshot, by what is different in it."""

    generation: int
    gone: list[Kind]
    served: list[Served]


class Hold(Struct, frozen=True, tag=True):
    """To a worker: other objects of a kind that definitions refer to, by what is different.

    ``objects`` are JSON by namespace and name. ``problem`` says why there are none.
    """

    kind: Kind
    gone: list[str]
    objects: dict[str, bytes]
    problem: str


class Drop(Struct, frozen=True, tag=True):
    """To a worker: nothing refers to a kind any more."""

    kind: Kind


class Take(Struct, frozen=True, tag=True):
    """To a worker: the kinds that the cluster's Kartas define, and the names of these Kartas."""

    kinds: list[tuple[Kind, str]]


class Certify(Struct, frozen=True, tag=True):
    """To a worker: the certificate to serve from now on."""

    certificate: Certificate


class Drain(Struct, frozen=True, tag=True):
    """To a worker: have clients go elsewhere."""


class Finish(Struct, frozen=True, tag=True):
    """To a worker: finish the calls there are, and end; no more connections come."""


class Report(Struct, frozen=True, tag=True):
    """To a worker: say what you have counted."""


class Told(Struct, frozen=True, tag=True):
    """To a worker: the answer to what it has asked by that number."""

    number: int
    metrics: bytes
    objections: list[str]


class Family(Struct, frozen=True):
    """All that is counted under one name, as Prometheus has it."""

    name: str
    documentation: str
    kind: str
    samples: list[Sample]


class Ready(Struct, frozen=True, tag=True):
    """To the server: the worker answers from the snapshot of that generation."""

    generation: int


class Reported(Struct, frozen=True, tag=True):
    """To the server: what the worker has counted."""

    families: list[Family]


class Closed(Struct, frozen=True, tag=True):
    """To the server: one connection that was handed over has ended."""


class Ask(Struct, frozen=True, tag=True):
    """To the server: somebody wants to know about all of it, either all metrics or what speaks against it."""

    number: int
    metrics: bool


ToWorker = Begin | Define | Hold | Drop | Take | Certify | Drain | Finish | Report | Told
ToServer = Ready | Reported | Closed | Ask


def kind_of(gvk: GVK) -> Kind:
    """Return a kind as it is told."""
    return gvk.group, gvk.version, gvk.kind


def to_json(value: Object) -> bytes:
    """Return an object as JSON, with whatever numbers a YAML file may have."""
    return json.dumps(value).encode()


def encode(message: ToWorker | ToServer) -> bytes:
    """Return the bytes of a message."""
    return _ENCODER.encode(message)


def to_worker(data: bytes) -> ToWorker:
    """Return the message to a worker that bytes hold."""
    return _TO_WORKER.decode(data)


def to_server(data: bytes) -> ToServer:
    """Return the message to the server that bytes hold."""
    return _TO_SERVER.decode(data)


def _as_text(value: Any) -> str:  # noqa: ANN401 - msgspec's signature
    return str(value)


def _as_path(kind: type, value: Any) -> Any:  # noqa: ANN401 - msgspec's signature
    return kind(value)


_ENCODER: Final = msgpack.Encoder(enc_hook=_as_text)
_TO_WORKER: Final[msgpack.Decoder[ToWorker]] = msgpack.Decoder(ToWorker, dec_hook=_as_path)
_TO_SERVER: Final[msgpack.Decoder[ToServer]] = msgpack.Decoder(ToServer)
