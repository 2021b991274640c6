"""Reading a request that is spelled exactly as Karmada spells it: around its object nothing is left to be found out.

So what it asks is known before its object is read, and of that only what the answer needs.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from interpreter.errors import InterpretationError
from interpreter.k8s.gvk import GVK
from interpreter.karta.definition import Definition
from interpreter.operations import Call, Operation
from interpreter.operations.reading import extent_of
from interpreter.protocol.partial import UNREAD, Read, partial_reader
from interpreter.protocol.request import OPERATIONS, Request, check_object

# Go writes the fields in the order of Karmada's types, and the values here have nothing that it would escape.
_HEAD: Final = re.compile(
    rb'\{"kind":"ResourceInterpreterContext","apiVersion":"config\.karmada\.io/v1alpha1",'
    rb'"request":\{"uid":"([0-9A-Za-z-]{1,64})",'
    rb'("kind":\{"group":"([0-9a-z.-]{0,253})","version":"([0-9a-z]{1,63})","kind":"([0-9A-Za-z]{1,63})"\}),'
    rb'"name":"([0-9A-Za-z.:-]{0,253})",(?:"namespace":"([0-9a-z-]{1,63})",)?"operation":"([A-Za-z]{1,63})","object":'
)
_TAIL: Final = b',"replicas":0}}\n'
_NOT_AT_A_GLANCE: Final = (*UNREAD, InterpretationError)


class _Question(NamedTuple):
    """What a head asks, and how objects are read for that; None for in full."""

    gvk: GVK
    operation: Operation
    read: Read | None


class Glance:
    """Reads requests for the definitions that ``find`` finds."""

    def __init__(self, find: Callable[[GVK], Definition | None]) -> None:
        self._find = find
        self._questions: dict[tuple[bytes, bytes], _Question] = {}

    def request(self, body: bytes) -> Request | None:
        """Return what `decode` would, but that unread parts of the object are missing; None where that has to look."""
        head = _HEAD.match(body)
        if head is None or not body.endswith(_TAIL):
            return None
        uid, kind, group, version, name_of_kind, name, namespace, operation = head.groups()
        question = self._questions.get((kind, operation)) or self._learn(kind, operation, group, version, name_of_kind)
        if question is None or question.read is None:
            return None
        try:
            obj = question.read(body[head.end() : -len(_TAIL)])
            check_object(obj, question.gvk)
        except _NOT_AT_A_GLANCE:
            return None
        return Request(
            uid.decode(),
            question.gvk,
            namespace.decode() if namespace else "",
            name.decode(),
            question.operation.value,
            Call(question.operation, obj),
        )

    def _learn(self, kind: bytes, operation: bytes, *gvk: bytes) -> _Question | None:
        definition = self._find(GVK(*(part.decode() for part in gvk)))
        known = OPERATIONS.get(operation.decode())
        if definition is None or known is None:
            return None
        extent = extent_of(definition, known)
        question = _Question(definition.gvk, known, partial_reader(extent) if extent else None)
        self._questions[kind, operation] = question
        return question
