"""InterpretDependency: the objects that a workload's pods need next to them in every cluster."""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from textwrap import shorten
from typing import Final

from karta_interpreter.base.errors import InterpretationError, LuaRunError, QueryResultsError, is_of_object
from karta_interpreter.base.k8s import (
    DEPENDENCIES_READ,
    JSON,
    SELECTOR_FIELDS,
    Dependency,
    Object,
    Projection,
    claim_dependencies,
    get,
    is_cluster_scoped,
    namespace as namespace_of,
    objects_text,
    parts_within,
    pod_dependencies,
    set_value,
)
from karta_interpreter.definitions.karta import AnnotationQuery, ComponentRules, Definition, ExtraDependency
from karta_interpreter.engine.evaluation import pod_templates, template_reads
from karta_interpreter.languages.lua.gotypes.structs import rewrite
from karta_interpreter.languages.lua.script_dependencies import verify

ELSEWHERE: Final = "it is in another namespace, so its owner has to propagate it"

# A name or namespace that an object can have, or none.
_NAME: Final = re.compile(r"([A-Za-z0-9][\w.:-]{0,252})?", re.ASCII)

_PARAMETER: Final = re.compile(r"\{\{.*?\}\}|\$\(.*?\)")
MOST_NAMES: Final = 16
"""Names that one name with parameters may yield. Without a bound they multiply with the values."""
_MOST_ROUNDS: Final = 4
_STEP: Final = re.compile(r"""[^\s.\[\]"'=(){}$]+""")


def interpret_dependency(definition: Definition, obj: Object) -> list[Dependency]:
    """Return the objects that the pod templates and the ``dependencies`` annotation name, sorted, once each.

    Karmada compares answers as text (``dependencies_distributor.go``), so their order must not vary.
    """
    own = namespace_of(obj)
    if not _NAME.fullmatch(own):
        return []
    return [
        named
        for named in named_objects(definition, obj, [])
        # Nearly all are of the namespace: they cost no call.
        if (named.namespace == own and _NAME.fullmatch(named.name)) or not why_left_out(own, *named[:4])
    ]


def why_left_out(own_namespace: str, api_version: str, kind: str, namespace: str, name: str) -> str:
    """Return why an answer about an object of the first namespace leaves a dependency out, "" if it does not.

    What a Karta names and what scripts name passes here, so that nobody decides about objects of other namespaces.
    Karmada makes the binding of a dependency in the namespace of the workload's binding, and the dependency is its
    owner (``buildAttachedBinding`` in ``dependencies_distributor.go``). The garbage collector of the control plane
    deletes what has an owner in another namespace. The Work, which the dependency's own binding has, too, goes with it:
    such a dependency disappears from the members in any case. An owner without a namespace is allowed. Of workloads
    without a namespace Karmada follows no dependencies, and what they may name has none either.

    Karmada's client refuses names such as ``a/b`` before it asks the API server, and Karmada then tries again without
    end. Without a namespace its cache finds ``a/b`` in the namespace ``a``, and a selector matches in all namespaces.
    """
    if not (_NAME.fullmatch(name) and _NAME.fullmatch(namespace)):
        return "no object can have this name"
    if namespace == own_namespace:
        return ""
    if namespace:
        return ELSEWHERE
    # An API server finds nothing of a namespace by its name only, and all kinds of the core group are known.
    if is_cluster_scoped(api_version, kind) or (name and "/" in api_version):
        return ""
    return "it has no namespace, so it may be of any"


def left_out_text(reference: Object, why: str) -> str:
    """Return a sentence about a dependency that an answer leaves out."""
    place = f"{reference.get('namespace', '')}/{objects_text(reference)}".removeprefix("/")
    return f"{reference['kind']} {shorten(place, 60, placeholder=' …')} is left out: {why}"


def named_objects(definition: Definition, obj: Object, failures: list[str]) -> list[Dependency]:
    """Return all dependencies that are named, also by names that no object can have.

    A part of the definition that fails on the object names nothing, and costs no other name: its error is appended to
    ``failures``. Raises other errors: Karmada removes what an answer leaves out from all members.
    """
    annotations = definition.annotations
    claimed: set[str] = set()
    dependencies: list[Dependency] = []
    for query in annotations.of_dependencies("claims"):
        try:
            claimed |= {name for name in query.evaluate(obj) if name}
        except InterpretationError as error:
            failures.append(_failure(definition, "claims", error))
    sources: list[ComponentRules | AnnotationQuery] = [*definition.components, *annotations.of_dependencies("pods")]
    for source in sources:
        try:
            dependencies += _named_by_pods(definition, obj, source, claimed)
        except InterpretationError as error:
            part = f"pod template of {source.name}" if isinstance(source, ComponentRules) else "pods"
            failures.append(_failure(definition, part, error))
    for rule in (extra for extra in annotations.dependencies if isinstance(extra, ExtraDependency)):
        try:
            dependencies += _named_by(rule, obj)
        except InterpretationError as error:
            # A selector that API servers refuse is a mistake of the definition.
            failures.append(_failure(definition, rule.kind, error, is_mistake=rule.by_labels))
    for query in annotations.of_dependencies("parameters"):
        try:
            for values in filter(None, query.evaluate(obj)):
                dependencies = list(_with_values(dependencies, values))
        except InterpretationError as error:
            failures.append(_failure(definition, "parameters", error))
    return list(dict.fromkeys(sorted(dependencies)))  # Karmada itself sorts only what customizations answer


def _with_values(dependencies: Iterable[Dependency], values: Object) -> Iterator[Dependency]:
    """Yield dependencies by the names that the values of parameters make."""
    for dependency in dependencies:
        for number, name in enumerate(_filled(dependency.name, values)):
            if number == MOST_NAMES:
                raise QueryResultsError(f"the name {dependency.name} with parameters has more than {MOST_NAMES} values")
            if name or dependency.label_selector:
                yield dependency._replace(name=name)


def _named_by(rule: ExtraDependency, obj: Object) -> list[Dependency]:
    own = namespace_of(obj)
    places = rule.namespace.evaluate(obj) if rule.namespace else ()
    of_kind = Dependency(rule.api_version, rule.kind, next(filter(None, places), own), "")
    if rule.by_labels:
        selectors = [dependency_selector(rule, output) for output in rule.objects.evaluate(obj)]
        return [of_kind._replace(label_selector=selector) for selector in selectors if selector]
    names = rule.objects.evaluate(obj)
    if len(names) == len(places) > 1:  # one for each
        return [
            of_kind._replace(namespace=place or own, name=name)
            for name, place in zip(names, places, strict=True)
            if name
        ]
    return [of_kind._replace(name=name) for name in names if name]


def _failure(definition: Definition, part: str, error: InterpretationError, *, is_mistake: bool = False) -> str:
    """Return what to tell about a part that fails on the object. Raises errors of other causes, and mistakes."""
    if is_mistake or not is_of_object(error):
        raise error
    return f"definition {definition.name}, {part}: {error}"


def _filled(name: str, values: Object, rounds: int = _MOST_ROUNDS) -> Iterator[str]:
    """Yield the names that a name with parameters stands for: one for each value of a list, none for "".

    >>> list(_filled("$(params.user)-key", {"params": {"user": ["ann", "bob"]}})), list(_filled("key", {}))
    (['ann-key', 'bob-key'], ['key'])
    """
    token = next(iter(_PARAMETER.findall(name)), "") if name == name[:253] else ""
    path = tuple(int(step) if step.isdecimal() else step for step in _STEP.findall(token))
    value = get(values, path, get(values, path[:1]))  # one text may stand for all that begins so
    entries = value[: MOST_NAMES + 1] if isinstance(value, list) else [value]
    # A parameter in its own value has no end, and no object has such a name.
    texts = [text[:254] for text in entries if isinstance(text, str) and token not in text]
    if texts and not rounds:
        raise QueryResultsError(f"a name has more than {_MOST_ROUNDS} parameters, or one within another, up to {name}")
    for text in texts:
        yield from _filled(name.replace(token, text), values, rounds - 1)
    if not texts:
        yield name


def dependency_selector(rule: ExtraDependency, output: JSON) -> str:
    """Return a label selector that a rule gives as JSON, or "" for a label that is null: no object has it.

    Raises InterpretationError for what API servers do not take as a selector.
    """
    if any(part is None for _, part in parts_within(output)):
        return ""
    if unknown := sorted(output.keys() - SELECTOR_FIELDS):
        raise rule.objects.unusable(f"gives a label selector with a field {unknown[0]}")
    try:
        selector = rewrite("LabelSelector", output)
        verify([{"apiVersion": rule.api_version, "kind": rule.kind, "labelSelector": selector}])
    except LuaRunError as error:
        raise rule.objects.unusable(f"gives a label selector that is invalid: {error}") from error
    return json.dumps(selector, sort_keys=True)


def dependency_reads(definition: Definition, projection: Projection) -> None:
    """Mark what InterpretDependency reads of an object."""
    projection.take("metadata.namespace")
    template_reads(definition, projection, *DEPENDENCIES_READ)


def _named_by_pods(
    definition: Definition, obj: Object, source: ComponentRules | AnnotationQuery, claimed: Collection[str]
) -> Iterator[Dependency]:
    templates: Iterable[Object]
    if isinstance(source, ComponentRules):
        templates = (template for _, _, template in pod_templates(definition, obj, [source]))
    else:
        templates = filter(None, source.evaluate(obj))
    namespace = namespace_of(obj)
    for template in templates:
        yield from pod_dependencies(_without(template, claimed), namespace)
        yield from claim_dependencies(template, namespace)  # resource claims are no volumes: none is left out


def _without(template: Object, volumes: Collection[str]) -> Object:
    """Return a template without the volumes with these names."""
    listed = get(template, ("spec", "volumes"))
    if not volumes or not isinstance(listed, list):
        return template
    remaining = []
    for volume in listed:
        name = get(volume, ("name",))
        if not isinstance(name, str) or name not in volumes:
            remaining.append(volume)
    return set_value(template, ("spec", "volumes"), remaining)
