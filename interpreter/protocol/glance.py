"""Reading a request that is spelled exactly as Karmada spells it: around its object nothing is left to be found out.

So what it asks is known before its object is read, and of that only what the answer needs.
"""

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from interpreter.k8s.gvk import GVK
from interpreter.karta.definition import Definition
from interpreter.operations import Call, Operation
from interpreter.operations.reading import extent_of
from interpreter.protocol.partial import UNREAD, Read, partial_reader
from interpreter.protocol.request import OPERATIONS, Request

# Go writes the fields in the order of Karmada's types, and the values here have nothing that it would escape.
_HEAD: Final = re.compile(
    rb'\{"kind":"ResourceInterpreterContext","apiVersion":"config\.karmada\.io/v1alpha1",'
    rb'"request":\{"uid":"([0-9A-Za-z-]{1,64})",'
    rb'("kind":\{"group":"([0-9a-z.-]{0,253})","version":"([0-9a-z]{1,63})","kind":"([0-9A-Za-z]{1,63})"\}),'
    rb'"name":"([0-9A-Za-z.:-]{0,253})",(?:"namespace":"([0-9a-z-]{1,63})",)?"operation":"([A-Za-z]{1,63})","object":'
)
_UID, _KIND, _NAME, _NAMESPACE, _OPERATION = 1, 2, 6, 7, 8
_PARTS_OF_KIND: Final = (3, 4, 5)
_TAIL: Final = b',"replicas":0}}\n'
# Skipping takes less than a nanosecond for each byte, and what is read of a hostile body of this size 30 ms.
_LONGEST: Final = 2**20


class _Question(NamedTuple):
    """What a head asks, what an object of that kind says of itself, and how it is read."""

    gvk: GVK
    api_version: str
    operation: Operation
    operation_name: str
    read: Read


class Glance:
    """Reads requests for the definitions that ``find`` finds."""

    def __init__(self, find: Callable[[GVK], Definition | None]) -> None:
        self._find = find
        self._questions: dict[tuple[bytes, bytes], _Question | None] = {}

    def request(self, body: bytes) -> Request | None:
        """Return what `decode` would, but that unread parts of the object are missing; None where that has to look."""
        head = _HEAD.match(body)
        if head is None or not body.endswith(_TAIL) or len(body) > _LONGEST:
            return None
        uid, kind, name, namespace, operation = head.group(_UID, _KIND, _NAME, _NAMESPACE, _OPERATION)
        question = self._questions.get((kind, operation)) or self._learn(head)
        if question is None:
            return None
        try:
            obj = question.read(body[head.end() : -len(_TAIL)])
        except UNREAD:
            return None
        if obj.get("kind") != question.gvk.kind or obj.get("apiVersion") != question.api_version:
            return None
        return Request(
            uid.decode(),
            question.gvk,
            namespace.decode() if namespace else "",
            name.decode(),
            question.operation_name,
            Call(question.operation, obj),
        )

    def _learn(self, head: re.Match[bytes]) -> _Question | None:
        """Find out what a head asks, once; None when that is nothing to be read in parts."""
        kind, operation = head.group(_KIND, _OPERATION)
        if (kind, operation) in self._questions:
            return None
        group, version, name = head.group(*_PARTS_OF_KIND)
        definition = self._find(GVK(group.decode(), version.decode(), name.decode()))
        known = OPERATIONS.get(operation.decode())
        if definition is None or known is None:
            return None
        question = None
        if extent := extent_of(definition, known):
            gvk = definition.gvk
            question = _Question(gvk, gvk.api_version, known, known.value, partial_reader(extent))
        self._questions[kind, operation] = question
        return question
