"""Reads a request that is spelled exactly as Karmada spells it, so only its object has to be examined.

So its question is known before its object is read, and only the parts of the object that the answer needs are read.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, Self, TypeAlias

import msgspec
import orjson

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import GVK, JSON, UNREAD, Projection, Read, reader
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.operations import SLOTS, Call, Operation, has_scripts_alone, projection_of
from karta_interpreter.webhook.wire.request import OPERATIONS, Request, call_about

_Find: TypeAlias = Callable[[GVK], Definition | None]
_Key: TypeAlias = tuple[bytes, bytes]
"""The bytes of a request that name its kind, and its operation."""

# Go writes the fields in the order of Karmada's types, and these values have no characters that it would escape.
_HEAD: Final = re.compile(
    rb'\{"kind":"ResourceInterpreterContext","apiVersion":"config\.karmada\.io/v1alpha1",'
    rb'"request":\{"uid":"([0-9A-Za-z-]{1,64})",'
    rb'("kind":\{"group":"([0-9a-z.-]{0,253})","version":"([0-9a-z]{1,63})","kind":"([0-9A-Za-z]{1,63})"\}),'
    rb'"name":"([0-9A-Za-z.:-]{0,253})",(?:"namespace":"([0-9a-z-]{1,63})",)?"operation":"([A-Za-z]{1,63})","object":'
)
_KIND_TEXT: Final = b'"kind":{"group":"%b","version":"%b","kind":"%b"}'
_UID, _KIND, _NAME, _NAMESPACE, _OPERATION = 1, 2, 6, 7, 8
_PARTS_OF_KIND: Final = (3, 4, 5)
# Go's encoder ends its text with a newline.
_BEFORE, _AFTER = len('"object":'), len("}\n")
_FIELDS: Final = {
    Operation.RETAIN: ("object", "observedObject", "replicas"),
    Operation.AGGREGATE_STATUS: ("object", "replicas", "aggregatedStatus"),
    Operation.REVISE_COMPONENTS: ("object", "replicas", "components"),
}
"""The fields that Karmada writes from the object on. All other operations have the object and ``replicas``."""
_OBJECTS: Final = frozenset(("object", "observedObject"))
# Skipping takes less than a nanosecond for each byte, and reading a hostile body of this size takes 30 ms.
_LONGEST: Final = 2**20
MOST_TYPES: Final = 16_384
"""The most types of parts, also of readers that are gone, until the collector finds these. Each takes 4 KB. The readers
of the catalogue have 1,300."""
_UNCLEAR: Final = (*UNREAD, InterpretationError)


# For the object of a script, this process only does the skipping.
_LONGEST_FOR_SCRIPT: Final = 2**17


class FastDecoded(msgspec.Struct, frozen=True):
    """A request, and the definition that answers it.

    It answers with its own expressions, all of which run in this process, or ``by_script``. Then the object of the call
    is its text, as a fragment. ``text`` is the JSON of all that was decoded.
    """

    request: Request
    definition: Definition
    text: bytes
    by_script: bool = False


class Question(msgspec.Struct, frozen=True):
    """The operation and kind that a head names, the identity of its object, and how the rest is read."""

    definition: Definition
    kind: str
    api_version: str
    operation: Operation
    operation_name: str
    fields: tuple[str, ...]
    read: Read
    by_script: bool

    @classmethod
    def of(cls, definition: Definition, operation: Operation, projection: Projection | None) -> Self:
        """Return the question about a projection of objects. Without a projection, it is about their text."""
        gvk, fields = definition.gvk, _FIELDS.get(operation, ("object", "replicas"))
        subject = definition, gvk.kind, gvk.api_version, operation, operation.value, fields
        if projection is None:
            return cls(*subject, _text_reader, by_script=True)
        projections = {field: projection if field in _OBJECTS else None for field in fields}
        is_strict = operation is Operation.AGGREGATE_STATUS
        return cls(*subject, reader(projections, is_strict=is_strict), by_script=False)

    def call(self, values: tuple[JSON, ...]) -> Call:
        """Return the call with the values of the fields. Raises InterpretationError."""
        if SLOTS[self.operation].more:
            request = dict(zip(self.fields, values, strict=True))
            return call_about(values[0], self.operation, request, self.definition.gvk, is_bounded=True)
        return Call(self.operation, values[1] if self.by_script else values[0])


class _Text(msgspec.Struct, forbid_unknown_fields=True):
    object: msgspec.Raw
    replicas: Any = None


class _Identity(msgspec.Struct):
    kind: str
    api_version: str = msgspec.field(name="apiVersion")


_TEXT: Final = msgspec.json.Decoder(_Text)
_IDENTITY: Final = msgspec.json.Decoder(_Identity)


def _text_reader(text: bytes) -> tuple[tuple[JSON, ...], bytes]:
    """Return the identity of an object and its text. Raises one of `UNREAD`."""
    if len(text) > _LONGEST_FOR_SCRIPT:
        raise msgspec.ValidationError("the object is too large")
    if not text.isascii():
        text.decode()  # msgspec does not check that skipped text is UTF-8
    raw = bytes(_TEXT.decode(text).object)
    identity = _IDENTITY.decode(raw)
    return ({"kind": identity.kind, "apiVersion": identity.api_version}, orjson.Fragment(raw)), raw


class NewQuestion(Exception):  # noqa: N818 - nothing is wrong
    """The first request for a definition and an operation: what is read of its objects takes long to find out."""

    def __init__(self, key: _Key, definition: Definition, operation: Operation) -> None:
        super().__init__()
        self.key, self.definition, self.operation = key, definition, operation

    def question(self) -> Question | None:
        """Return how such requests are read, None if they cannot be read in parts. Any thread may find it out."""
        definition, operation = self.definition, self.operation
        projection = projection_of(definition, operation)
        by_script = not SLOTS[operation].more and has_scripts_alone(definition, operation)
        has_room = count_types() < MOST_TYPES
        return Question.of(definition, operation, projection) if has_room and (projection or by_script) else None


class FastDecoder:
    """Reads requests for the definitions that ``find`` finds."""

    def __init__(self, find: _Find) -> None:
        self._find = find
        self._questions: dict[_Key, Question | None] = {}
        self._asked: dict[_Key, NewQuestion] = {}

    def use(self, find: _Find) -> None:
        """Read requests for the definitions that ``find`` finds. What was learned about those that stay is kept.

        Readers that are not kept are cyclic garbage, with types that no other reader shares.
        """
        self._find = find
        self._asked = {
            key: asked
            for key, asked in self._asked.items()
            if self._questions[key] and find(asked.definition.gvk) is asked.definition
        }
        self._questions = {key: self._questions[key] for key in self._asked}

    def learn(self, new: NewQuestion, question: Question | None) -> None:
        """Keep what was found out about a question, if its definition is still the one in use."""
        if self._find(new.definition.gvk) is new.definition:
            # The traceback of the first request has its body.
            self._questions[new.key], self._asked[new.key] = question, new.with_traceback(None)

    def new_question(self, request: Request) -> NewQuestion | None:
        """Return the question of a request that is spelled in another way, None if it is known or has no definition."""
        definition = self._find(request.gvk) if request.gvk and request.call else None
        if definition is None or request.call is None:
            return None
        parts = (part.encode() for part in (definition.gvk.group, definition.gvk.version, definition.gvk.kind))
        key = _KIND_TEXT % (*parts,), request.operation_name.encode()
        return None if key in self._questions else NewQuestion(key, definition, request.call.operation)

    def asked_anew(self, find: _Find) -> Iterator[tuple[NewQuestion, NewQuestion]]:
        """Yield the known questions for which ``find`` finds other definitions, each with the new question."""
        for asked in tuple(self._asked.values()):
            definition = find(asked.definition.gvk)
            if definition is not None and definition is not asked.definition:
                yield asked, NewQuestion(asked.key, definition, asked.operation)

    def read(self, body: bytes, *, learns: bool = True) -> FastDecoded | None:
        """Return the result of `decode`, but without unread parts of objects. Return None if `decode` has to look.

        Raises NewQuestion for the first request of its kind, unless it ``learns`` right away.
        """
        head = _HEAD.match(body)
        if head is None or not body.endswith(b"}\n") or len(body) > _LONGEST:
            return None
        uid, kind, name, namespace, operation = head.group(_UID, _KIND, _NAME, _NAMESPACE, _OPERATION)
        # By the bytes of kind and operation, which Karmada writes alike each time. `_learn` limits their number.
        question = self._questions.get((kind, operation)) or self._learned(head, learns=learns)
        if question is None:
            return None
        definition = question.definition
        try:
            values, text = question.read(b"{" + body[head.end() - _BEFORE : -_AFTER])
            obj = values[0]
            if obj.get("kind") != question.kind or obj.get("apiVersion") != question.api_version:
                return None
            call = question.call(values)
        except _UNCLEAR:
            return None  # `decode` finds the same and words it
        request = Request(
            uid.decode(),
            definition.gvk,
            namespace.decode() if namespace else "",
            name.decode(),
            question.operation_name,
            call=call,
        )
        return FastDecoded(request, definition, text, question.by_script)

    def _learned(self, head: re.Match[bytes], *, learns: bool) -> Question | None:
        """Return the question of a head that is not known. Return None if its request cannot be read in parts."""
        key = head.group(_KIND, _OPERATION)
        if key in self._questions:
            return None
        group, version, name = head.group(*_PARTS_OF_KIND)
        definition = self._find(GVK(group.decode(), version.decode(), name.decode()))
        asked_operation = OPERATIONS.get(key[1].decode())
        # Not remembered: a client can ask about any number of kinds that do not exist.
        if definition is None or asked_operation is None:
            return None
        new = NewQuestion((key[0], key[1]), definition, asked_operation)
        if not learns:
            raise new
        self.learn(new, new.question())
        return self._questions.get(new.key)


def count_types() -> int:
    """Count the types of parts that are read, also by readers that are gone: a decoder takes each for a dict."""
    return len(dict.__subclasses__())
