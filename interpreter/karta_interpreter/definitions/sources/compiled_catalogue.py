"""The catalogue in a form that takes a tenth of the time of its texts to read: one file, made with the package.

The file has the definitions that are made of the texts, as data for `pickle`, without code of Python. It counts for
the texts and the program that it was made of. Otherwise, and without it, the texts are read. No server writes it.

It begins with the digest and the length of its head, which has place and digest of the definitions of each text.
Nothing is unpacked before its digest was compared: a changed byte could be another number.
"""

import logging
import pickle
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from struct import Struct
from typing import IO, Any, Final, NamedTuple

from karta_interpreter.base.files import replace_file
from karta_interpreter.base.findings import Span
from karta_interpreter.definitions.karta.schema_types import Schema
from karta_interpreter.definitions.sources.file_scan import name_of
from karta_interpreter.definitions.sources.snapshot import ServedDefinition
from karta_interpreter.languages.jq.syntax import Node

_PACKAGE: Final = Path(__file__).parents[2]
_ROOMS: Final = ("base", "definitions", "languages")
_PROTOCOL: Final = 5
"""Every version of Python that the package supports reads it."""
_FIRST: Final = Struct("<32sI")
_LONGEST_HEAD: Final = 2**24

FORM = _PACKAGE / "catalogue.bin"


_logger = logging.getLogger(__name__)


class _Place(NamedTuple):
    begin: int
    length: int
    digest: bytes


def read_definitions(path: Path) -> tuple[ServedDefinition, ...] | None:
    """Return the definitions of a text of the catalogue, None if the file does not have them."""
    place = _places().get(_digest(path))
    if place is None:
        return None
    try:
        with FORM.open("rb") as file:
            file.seek(place.begin)
            data = file.read(place.length)
    except OSError:
        data = b""
    if sha256(data).digest() != place.digest:
        _say_damaged()
        return None
    definitions: tuple[ServedDefinition, ...] = _Unpickler(BytesIO(data), name_of(path)).load()
    return definitions


def write(definitions: Mapping[Path, tuple[ServedDefinition, ...]]) -> None:
    """Write the file, with the definitions of each text. Equal texts and programs make equal files."""
    packed = {path: _packed(served, name_of(path)) for path, served in definitions.items()}
    places, end = dict[bytes, tuple[int, int, bytes]](), 0
    for path, data in packed.items():
        places[_digest(path)] = end, len(data), sha256(data).digest()
        end += len(data)
    head = pickle.dumps((_program(), places), _PROTOCOL)
    replace_file(FORM, b"".join((_FIRST.pack(sha256(head).digest(), len(head)), head, *packed.values())))


@cache
def _places() -> Mapping[bytes, _Place]:
    """Return where the definitions of each text are, by its digest, if this program made them."""
    try:
        with FORM.open("rb") as file:
            first = file.read(_FIRST.size).ljust(_FIRST.size, b"\0")
            digest, length = _FIRST.unpack(first)
            head = file.read(min(length, _LONGEST_HEAD))
    except OSError:  # such as a checkout that has made none
        return {}
    if sha256(head).digest() != digest:
        _say_damaged()
        return {}
    program, places = pickle.loads(head)  # noqa: S301 - it comes with the package, as the code does
    if program != _program():
        return {}
    begin = len(first) + len(head)
    return {text: _Place(begin + at, length, digest) for text, (at, length, digest) in places.items()}


@cache
def _say_damaged() -> None:
    _logger.warning("%s is damaged, so the texts of the catalogue are read: install the package again", FORM)


def _program() -> bytes:
    """Return the digest of all code that makes definitions of texts."""
    files = sorted(file for room in _ROOMS for file in (_PACKAGE / room).rglob("*.py"))
    return sha256(b"".join(map(_digest, files))).digest()


def _digest(path: Path) -> bytes:
    return sha256(path.read_bytes()).digest()


def _packed(definitions: tuple[ServedDefinition, ...], source: str) -> bytes:
    buffer = BytesIO()
    _Pickler(buffer, source).dump(definitions)
    return buffer.getvalue()


class _Pickler(pickle.Pickler):
    """Writes definitions without what another process has otherwise: the path of the text, and hashes of nodes."""

    def __init__(self, file: IO[bytes], source: str) -> None:
        super().__init__(file, _PROTOCOL)
        self._source = source

    def persistent_id(self, obj: object) -> bool | None:
        """Return that a text is the path of the definition."""
        return True if obj == self._source else None

    def reducer_override(self, obj: object) -> Any:  # noqa: ANN401 - as in the base class
        """Return how a node and a model are made again."""
        if isinstance(obj, Node):
            parts = [getattr(obj, name) for name in type(obj).__match_args__]
            return _node, (type(obj), obj.span.start, obj.span.end, *parts)
        if isinstance(obj, Schema):
            return _schema, (type(obj), dict(obj), sorted(obj.model_fields_set))
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: IO[bytes], source: str) -> None:
        super().__init__(file)
        self._source = source

    def persistent_load(self, _: object) -> str:
        return self._source


def _node(kind: type[Node], start: int, end: int, *parts: object) -> Node:
    return kind(*parts, span=Span(start, end))


def _schema(kind: type[Schema], values: dict[str, Any], given: list[str]) -> Schema:
    return kind.model_construct({*given}, **values)
