"""The program of a child process that judges Kartas and explains answers (`karta_interpreter.console.answering`)."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import orjson

from karta_interpreter.console.answering import answering
from karta_interpreter.errors import InterpretationError
from karta_interpreter.explain import explain
from karta_interpreter.explain.explanation import pointer_to
from karta_interpreter.findings import Finding
from karta_interpreter.k8s.requirements import Counting
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.karta.definition import Definition
from karta_interpreter.karta.loading import load_object, unpack, unpack_known
from karta_interpreter.karta.reference_resolver import Known
from karta_interpreter.operations import Call, Operation, Options, StatusItem, interpret

if TYPE_CHECKING:
    from karta_interpreter.sandbox.child import Channel

JUDGE: Final = b"J"
INTERPRET: Final = b"I"

_DEFINITIONS: Final = 16
_CLUSTER: Final = "member1"


def start() -> "Callable[[Channel, bytes, bytes], None]":
    """Return the function that answers a request with the result of `judge` or of `interpret_all`."""
    return answering(_find)


def _find(letter: bytes, payload: bytes) -> JSON:
    asked = orjson.loads(payload)
    return judge(**asked) if letter == JUDGE else interpret_all(**asked)


def judge(group: str, kind: str, kartas: list[Object]) -> list[Object]:
    """The findings of all Kartas of a type, with pointers into the body that holds them."""
    return [finding for index, karta in enumerate(kartas) for finding in _findings(index, karta, group, kind)]


def _findings(index: int, karta: Object, group: str, kind: str) -> Iterator[Object]:
    loaded = load_object(karta, "")
    for finding in loaded.findings:
        yield finding_json(index, finding)
    if loaded.gvk:
        for field, wanted, found in (("group", group, loaded.gvk.group), ("kind", kind, loaded.gvk.kind)):
            if wanted != found:
                yield {
                    "severity": "error",
                    "rule": "other-kind",
                    "pointer": pointer_to(("resourceInterfaces", index, *_ROOT_KIND, field)),
                    "detail": f'the Karta defines the {field} "{found}", but the workload type is for "{wanted}"',
                    "hint": "",
                }


_ROOT_KIND: Final = ("spec", "structureDefinition", "rootComponent", "kind")


def finding_json(index: int, finding: Finding) -> Object:
    """A finding about the Karta at an index of a type."""
    return {
        "severity": str(finding.severity),
        "rule": finding.rule,
        "pointer": pointer_to(("resourceInterfaces", index, *finding.path)),
        "detail": finding.message,
        "hint": finding.hint,
    }


def interpret_all(definition: str, known: JSON, options: dict[str, Any], asked: Object, origin: str) -> list[Object]:
    """The explanation of each operation about an object; ``asked`` is an `Interpretation` as JSON."""
    compiled, reader = _definition(definition), unpack_known(known)
    chosen = Options(**options | {"pod_requests": Counting(options["pod_requests"])})
    return [
        explain(compiled, call, chosen, origin=origin, reader=reader).to_json()
        for call in calls(compiled, asked, chosen, reader)
        if compiled.answers(call.operation)
    ]


def calls(definition: Definition, asked: Object, options: Options, reader: Known) -> Iterator[Call]:
    """A call of each operation: Karmada asks about the template without its status, and about what members report."""
    obj = asked["object"]
    template = {field: value for field, value in obj.items() if field != "status"}
    observed = asked["observed"] or obj
    items = asked["items"]
    if items is None:
        items = [{"clusterName": _CLUSTER, "applied": True, "status": obj["status"]}] if "status" in obj else []
    replicas = asked["replicas"]
    if replicas is None:
        replicas = _present(definition, template, options, reader) + 1
    for operation in Operation:
        match operation:
            case Operation.RETAIN:
                yield Call(operation, template, observed=observed)
            case Operation.REVISE_REPLICA:
                yield Call(operation, template, replicas=replicas)
            case Operation.AGGREGATE_STATUS:
                read = (StatusItem.of(item, f"items[{index}]") for index, item in enumerate(items))
                yield Call(operation, template, items=tuple(read))
            case Operation.INTERPRET_STATUS | Operation.INTERPRET_HEALTH:
                yield Call(operation, observed)
            case _:
                yield Call(operation, template)


def _present(definition: Definition, template: Object, options: Options, reader: Known) -> int:
    with suppress(InterpretationError):
        call = Call(Operation.INTERPRET_REPLICA, template)
        return int(interpret(definition, call, options, reader=reader)["replica"])
    return 0


@lru_cache(_DEFINITIONS)
def _definition(packed: str) -> Definition:
    """Compile a definition, unless one with the same content is there."""
    return unpack(orjson.loads(packed))
