"""Looks up the references of a definition: from a workload and a reader to a definition with the values.

>>> found = Known.of([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "sizes"}, "data": {"pods": "3"}}])
>>> found.get(GVK("", "v1", "ConfigMap"), "team", "sizes")["data"]
{'pods': '3'}
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any, Final, Protocol, Self

from msgspec.structs import replace

from karta_interpreter.base.errors import (
    InterpretationError,
    QueryAbsentError,
    QueryEvaluationError,
    QueryReferenceError,
    QueryStoppedError,
    WordError,
    is_of_object,
)
from karta_interpreter.base.findings import PLACES, did_you_mean
from karta_interpreter.base.k8s import GVK, JSON, Object, edit, grouped, namespace as namespace_of, type_name
from karta_interpreter.definitions.karta.definition import (
    Definition,
    DeviceCounting,
    LabelOperator,
    LabelRule,
    Reference,
    absent_if_unknown,
)
from karta_interpreter.languages.jq import Absent, Query, Unresolved, order_key


class ObjectNames:
    """The names that objects of a kind have by a reference's ``namesExpression``, with ranks by which one is chosen.

    It finds an object by one of these names, or by several, without a look at the objects that lack them.

    >>> names = ObjectNames(Query.compile("{name: .metadata.name}, (.spec.serves[] | {name: ., rank: 1})"))
    >>> hall = {"metadata": {"name": "great"}, "spec": {"serves": ["opera", "ballet"]}}
    >>> _ = names.add(hall)
    >>> names.first("town", "ballet, opera")
    'great'
    """

    def __init__(self, expression: Query) -> None:
        self._expression = expression
        # By namespace (empty without one) and name: what sorts as the ranks of the objects that have the name.
        self._ranks: defaultdict[tuple[str, str], dict[str, tuple[Any, ...]]] = defaultdict(dict)
        self._offered: dict[tuple[str, str], list[str]] = {}

    def add(self, obj: Object) -> list[JSON]:
        """Add an object, and return what the expression gives for it. Adding it again changes nothing.

        Raises QueryReferenceError with the object's name if its names cannot be known: it may have any.
        """
        namespace, object_name = namespace_of(obj), str(edit.get(obj, ("metadata", "name")))
        try:
            offers = self._expression.evaluate(obj)
        except QueryStoppedError:
            raise
        except QueryEvaluationError as error:
            owner = f"{namespace}/{object_name}" if namespace else object_name
            raise QueryReferenceError(f"the names that {owner} has are not known: {error}") from error
        offered = self._offered[namespace, object_name] = list[str]()
        for offer in offers:
            if isinstance(offer, dict):
                name = str(offer.get("name"))
                offered.append(name)
                self._ranks[namespace, name][object_name] = order_key(offer.get("rank"))
        return offers

    def remove(self, namespace: str, object_name: str) -> None:
        """Remove an object, if it was added."""
        for name in self._offered.get((namespace, object_name), ()):
            objects = self._ranks[namespace, name]
            objects.pop(object_name, None)
            if not objects:
                del self._ranks[namespace, name]
        self._offered.pop((namespace, object_name), None)

    def first(self, namespace: str, name: str) -> str | None:
        """Return the own name of the object that offers a name, or all of several names with commas between them.

        Objects of the namespace and cluster-scoped objects count. The greatest ranks win, then the first own name.
        """
        ranked: list[tuple[list[Any], str]] = []
        for scope in {namespace, ""}:
            rows = [self._ranks.get((scope, one), {}) for one in name.split(", ")]
            names = [object_name for object_name in min(rows, key=len) if all(object_name in row for row in rows)]
            ranked += [([row[object_name] for row in rows], object_name) for object_name in names]
        greatest = max((ranks for ranks, _ in ranked), default=None)
        return min((object_name for ranks, object_name in ranked if ranks == greatest), default=None)


NOWHERE: Final = (
    "nothing is read from the control plane of Karmada; create it there, and start the server with --cluster"
)
"""Why nothing can be looked up without a reader."""


MOST_BYTES: Final = 2**22
"""Bytes of all objects that one call of a server looks up. An object that etcd stores has less."""
MOST_OBJECTS: Final = 1000
"""Look-ups of one call of a server, or the objects that they find if those are more."""


class LargeLookUpError(Exception):
    """A look-up finds more than this process decodes. A child process can decode it."""


class ReferenceReader(Protocol):
    """Looks up other objects.

    All methods raise QueryReferenceError if an object cannot be looked up now, and QueryAbsentError if that is going to
    last.

    ``namespace`` belongs to the workload or the reference. It is ignored for cluster-scoped objects.
    """

    def get(self, gvk: GVK, namespace: str, name: str) -> Object | None:
        """Return the object of that name, None if it does not exist."""

    def list(self, gvk: GVK, namespace: str) -> Sequence[Object]:
        """Return the objects of a kind in a namespace."""

    def texts(self, gvk: GVK, namespace: str, name: str | None = None) -> Sequence[bytes]:
        """Return the object of that name, or all of a namespace, as JSON, for another process.

        Raise LargeLookUpError if they are more than `MOST_OBJECTS`, or have more than `MOST_BYTES`.
        """
        objects = self.list(gvk, namespace) if name is None else [self.get(gvk, namespace, name)]
        return [json.dumps(obj).encode() for obj in objects if obj is not None]

    def served(self, kinds: Sequence[GVK]) -> GVK:
        """Return the first of some versions of a kind that the server of the objects serves, the first if none is.

        Without such a server it is the first.
        """
        return kinds[0]

    def names(self, gvk: GVK, namespace: str, expression: Query) -> ObjectNames:
        """Return the names that an expression gives for the objects of a kind, at least for those in a namespace."""
        names = ObjectNames(expression)
        for obj in self.list(gvk, namespace):
            names.add(obj)
        return names


@dataclass(frozen=True, slots=True)
class Known(ReferenceReader):
    """A reader of given objects.

    The objects of ``complete`` kinds are all that exist. An object of another kind may exist even if it is not given,
    so looking it up is an error.
    """

    objects: Mapping[GVK, Sequence[Object]]
    complete: frozenset[GVK] = frozenset()

    @classmethod
    def of(cls, objects: Iterable[Object], complete: Iterable[GVK] = ()) -> Self:
        """Return the reader of some objects. Raise InterpretationError for an object without apiVersion and kind."""
        return cls(grouped((GVK.of(obj), obj) for obj in objects), frozenset(complete))

    def get(self, gvk: GVK, namespace: str, name: str) -> Object | None:
        """Return the object of that name."""
        for obj in self.list(gvk, namespace):
            if edit.get(obj, ("metadata", "name")) == name:
                return obj
        if gvk in self.complete:
            return None
        reason = f"it is not among the references that were given, {PLACES['references']}"
        if hint := self._elsewhere(gvk, name):
            reason += f"; {hint}"
        raise QueryAbsentError(reason)

    def _elsewhere(self, gvk: GVK, name: str) -> str:
        """Return what other objects of a kind are there instead of one of that name, "" if there are none."""
        names = list[str]()
        for obj in self.list(gvk, None):
            own, namespace = str(edit.get(obj, ("metadata", "name"), "")), namespace_of(obj)
            if own == name and namespace:
                return f"one is in the namespace {namespace}: namespaceExpression gives another"
            names.append(own)
        if any(names):
            return did_you_mean(name, names)
        return "one of its kind has no metadata.name" if names else ""

    def list(self, gvk: GVK, namespace: str | None) -> Sequence[Object]:
        """Return the objects of a kind. An object without a namespace is in every namespace."""
        listed = self.objects.get(gvk, ())
        return [obj for obj in listed if namespace is None or namespace_of(obj) in ("", namespace)]


def _present(reader: ReferenceReader | None) -> ReferenceReader:
    if reader is None:
        raise QueryAbsentError(NOWHERE)
    return reader


def resolved(
    definition: Definition, obj: Object, reader: ReferenceReader | None, devices: Mapping[str, str] | None = None
) -> Definition:
    """Return the definition with the values of its references. A failed look-up is an error when the value is read.

    ``devices`` has the resource of each class of devices whose claims count, None if no claims do.
    """
    if devices is not None and definition.devices is None:
        look_up = cache(partial(_of_any_version, reader, namespace_of(obj)))
        definition = definition.counting(DeviceCounting(devices, look_up))
    if not definition.references:
        return definition
    values: dict[str, JSON | Unresolved | Absent] = {}
    for reference in definition.references:
        values[reference.name] = _value(reference, obj, reader, values)
    return definition.bound(values)


def _value(
    reference: Reference, obj: Object, reader: ReferenceReader | None, before: Mapping[str, Any]
) -> JSON | Unresolved | Absent:
    missing: list[str] = []
    if reference.lookup is not None and reference.lookup.variables:
        values = {name: absent_if_unknown(value) for name, value in before.items()}
        reference = replace(reference, lookup=reference.lookup.bound(values))
    try:
        value = _looked_up(reference, obj, reader, missing)
    except InterpretationError as error:
        # Not raised: most operations do not read the reference, and need an answer without it.
        kind = QueryAbsentError if is_of_object(error) else QueryReferenceError
        if reference.is_optional and kind is QueryAbsentError:
            return None
        return Unresolved(f"the reference ${reference.name} has no value: {error}", kind)
    return Absent("; ".join(missing), value) if missing else value


def _of_any_version(reader: ReferenceReader | None, namespace: str, versions: tuple[GVK, ...], name: str) -> Object:
    """Return the object of that name in the newest version that is known. Raises as `DeviceCounting` says."""
    errors = list[QueryReferenceError]()
    for gvk in versions:
        try:
            with _naming(f"{gvk.kind} {name}"):
                found = _present(reader).get(gvk, namespace, name)
        except QueryReferenceError as error:
            errors.append(error)
            continue
        if found is None:
            raise QueryAbsentError(_not_there(gvk, name))
        return found
    # It may be there in a version that is not known yet.
    raise next((error for error in errors if not isinstance(error, QueryAbsentError)), errors[0])


def _not_there(gvk: GVK, name: str, form: str = "name") -> str:
    from karta_interpreter.base.command_line import shown  # noqa: PLC0415 - most answers need no message

    return (
        f"there is no {shown('kind', gvk.kind)} {shown(form, name)}; create it on the control plane of Karmada, "
        f"or give commands --reference-file with {_printed(gvk.kind)}"
    )


@lru_cache(64)
def _printed(kind: str) -> str:
    """Return what prints the objects of a kind of a definition."""
    from karta_interpreter.base.command_line import command_line  # noqa: PLC0415 - as above

    try:
        return f"what `{command_line('kubectl get --output=yaml -- {kind}', kind=kind)}` prints"
    except WordError:
        return "its manifest"


def _looked_up(reference: Reference, obj: Object, reader: ReferenceReader | None, missing: list[str]) -> JSON:
    namespaces = _namespaces(reference, obj)
    query = reference.lookup
    if query is None:
        rules = [_with_texts(rule, obj) for rule in reference.labels]
        listed = list[Object]()
        with _naming(str(reference.gvk)):
            for namespace in namespaces:
                listed += _present(reader).list(reference.gvk, namespace)
        return [candidate for candidate in listed if all(_follows(rule, candidate) for rule in rules)]

    def named(name: JSON) -> JSON:
        text = _checked_text(query, name)
        # A workload that names no object needs no reader. Without one, only a name or labels to look up are an error.
        if text is None:
            return None
        with _naming(f"{reference.gvk} {text}"):
            target = _first(_present(reader), reference, namespaces, text)
        if target is None and not reference.is_optional:
            missing.append(_not_there(reference.gvk, text, "names" if reference.names else "name"))
        return target

    def listed_name(name: JSON) -> JSON:
        try:
            return named(name)
        except QueryAbsentError as error:
            if not reference.is_optional:
                missing.append(str(error))
            return None

    names = _one(query, obj, "nameExpression", f"; `[{query.text}]` looks up a list")
    return [listed_name(name) for name in names] if isinstance(names, list) else named(names)


def _with_texts(rule: LabelRule, obj: Object) -> LabelRule:
    """Return the rule with the texts that its expressions give for a workload."""
    texts = list[str]()
    for value in rule.values:
        if isinstance(value, str):
            texts.append(value)
        elif (text := _checked_text(value, _one(value, obj, f"the label {rule.key}"))) is not None:
            texts.append(text)
    return replace(rule, values=tuple(texts))


@contextmanager
def _naming(what: str) -> Iterator[None]:
    """Name what cannot be looked up."""
    try:
        yield
    except QueryReferenceError as error:
        raise type(error)(f"{what} cannot be looked up: {error}") from error


def _namespaces(reference: Reference, obj: Object) -> list[str]:
    """Return the namespaces in which an object may be, in the order in which they are searched."""
    if reference.namespace is None:
        return [namespace_of(obj)]
    value = _one(reference.namespace, obj, "namespaceExpression", f"; `[{reference.namespace.text}]` is a list")
    names = value if isinstance(value, list) else [value]
    return [_checked_text(reference.namespace, name) or "" for name in names]


def _first(reader: ReferenceReader, reference: Reference, namespaces: Sequence[str], name: str) -> Object | None:
    """Return the object of that name in the first namespace that has it."""
    for namespace in namespaces[:-1]:
        # A reader of files may know the object of the next namespace only.
        with suppress(QueryAbsentError):
            if (match := _named(reader, reference, namespace, name)) is not None:
                return match
    return _named(reader, reference, namespaces[-1], name) if namespaces else None


def _named(reader: ReferenceReader, reference: Reference, namespace: str, name: str) -> Object | None:
    """Return the object of that name, or of several names with commas between them: the first one by their ranks."""
    if reference.names is None:
        return reader.get(reference.gvk, namespace, name)
    object_name = reader.names(reference.gvk, namespace, reference.names).first(namespace, name)
    return None if object_name is None else reader.get(reference.gvk, namespace, object_name)


def _one(query: Query, obj: Object, field: str, hint: str = "") -> JSON:
    """Return the result of an expression for a workload, None for nothing."""
    outputs = query.evaluate(obj)
    if len(outputs) > 1:
        raise InterpretationError(f"{field} `{query.text}` gives {len(outputs)} results where one belongs{hint}")
    return outputs[0] if outputs else None


def _checked_text(query: Query, value: JSON) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InterpretationError(f"`{query.text}` gives {type_name(value)} where text belongs")
    return value


def _follows(rule: LabelRule, obj: Object) -> bool:
    labels = edit.get(obj, ("metadata", "labels"))
    value = labels.get(rule.key) if isinstance(labels, dict) else None
    follows = {
        LabelOperator.IN: value in rule.values,
        # As in Kubernetes an object without the label matches, too.
        LabelOperator.NOT_IN: value not in rule.values,
        LabelOperator.EXISTS: value is not None,
        LabelOperator.DOES_NOT_EXIST: value is None,
    }
    return follows[rule.operator]
