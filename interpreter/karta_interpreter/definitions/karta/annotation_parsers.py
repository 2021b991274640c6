"""The parsers of annotations. Each returns the value of a text, without unusable parts, and adds an error for each."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Final

from karta_interpreter.base.errors import InterpretationError, QuerySyntaxError
from karta_interpreter.base.findings import did_you_mean, hints
from karta_interpreter.base.k8s import (
    CORE_KINDS,
    DEPENDENCIES_READ,
    GVK,
    JSON,
    QUALIFIED_NAME,
    SELECTOR_FIELDS,
    Projection,
    is_cluster_scoped,
)
from karta_interpreter.base.karmada import SLOTS
from karta_interpreter.definitions.karta import annotations as values
from karta_interpreter.definitions.karta.annotation_text import AnnotationText
from karta_interpreter.definitions.karta.expressions import (
    fields_read,
    names_places,
    split_default,
    takes_number,
    whole_places,
)
from karta_interpreter.definitions.karta.model import ComponentDefinition
from karta_interpreter.definitions.karta.rules import violation
from karta_interpreter.definitions.karta.status_rules import AT_WORK, Status
from karta_interpreter.definitions.karta.versions import names_in
from karta_interpreter.languages.jq import (
    mark_all,
    owner_of,
    parse,
    plain_path,
    project,
    several,
    syntax as ast,
)
from karta_interpreter.languages.lua.reading import read_scripts
from karta_interpreter.languages.lua.script import Scripts

_PROJECT_AND_VERSION = r"[^\s,][^\n,]* v?[0-9][\w.+-]*"
_PROJECTS_AND_VERSIONS = re.compile(f"{_PROJECT_AND_VERSION}(, {_PROJECT_AND_VERSION})*")
# The value for an empty list in an annotation that takes names.
_NONE: Final = "none"
_NAMESPACED: Final = re.compile(r'"([-\w]+)/([-.\w]+)"')
_LONGEST_PATH: Final = 12
# The entries of ``dependencies`` that are not objects of a kind.
_OF_WORKLOAD: Final = ("pods", "claims", "parameters")
# Each is asked about every half minute.
_MOST_VERSIONS: Final = 8
_OF_PODS: Final = tuple(f"spec.{path}" for path in DEPENDENCIES_READ)
_EXPRESSIONS: Final = ("name", "namespace", "labelSelector", *_OF_WORKLOAD)


def parse_unit(annotation: AnnotationText) -> values.AnnotationQuery | None:
    """Return the expression of the number of units. Each number of pods has to be a multiple of it."""
    query = annotation.query(annotation.text)
    if query is None:
        return None
    if not takes_number(query):
        annotation.error(f"`{query.text}` is not a field with a number", "write it like .spec.replicas // 1")
        return None
    fields = _fields(query.node)
    for _, component in annotation.karta.spec.structure_definition.counted:
        if fields.isdisjoint(_fields_of_count(component)):
            message = f'the count of the component "{component.name}" does not depend on `{query.text}`'
            annotation.warn(message, "name the field that multiplies all pods, or remove the annotation")
    return query


def _fields_of_count(component: ComponentDefinition) -> frozenset[str]:
    scale = component.scale_definition
    with suppress(QuerySyntaxError):  # which is a finding of its own
        if scale and scale.replicas_path:
            return _fields(parse(scale.replicas_path))
    return frozenset()


def _fields(node: ast.Node) -> frozenset[str]:
    projection = Projection()
    mark_all(project(node, (projection,)))
    return frozenset() if projection.is_whole else frozenset(projection.paths(_LONGEST_PATH))


def parse_elastic(annotation: AnnotationText) -> tuple[str, ...]:
    """Return the names of the elastic components and instances (``component/instance``), empty for ``none``."""
    structure = annotation.karta.spec.structure_definition
    components = {by_name.name: by_name for _, by_name in structure.components}
    if annotation.items() == [_NONE] and _NONE not in components:
        return ()
    # A component name may contain a slash: then the whole item is meant, and no instance.
    items = [item for item in dict.fromkeys(annotation.items()) if item not in components]
    parts = dict[str, str]()
    for item in items:
        component, _, instance = item.partition("/")
        if component in components and instance not in ("", "*"):
            parts[item] = component
    names = annotation.names("component", [*components, *parts])
    counted = {component.name for _, component in structure.counted}
    for name in dict.fromkeys(parts.get(name, name) for name in names):
        scale = components[name].scale_definition
        if name not in counted:
            annotation.error(f'the component "{name}" has no pods', "name the component that has the pods")
        elif scale is None or (scale.replicas_path is None and scale.min_replicas_path is None):
            message = f'the component "{name}" has no number of replicas to change'
            annotation.error(message, "add scaleDefinition.replicasPath to it")
    for name, component in parts.items():
        if components[component].instance_id_path is None:
            annotation.error(f'{name}: the component "{component}" has no instanceIdPath', f"write {component}")
    return names


def parse_divided(annotation: AnnotationText) -> tuple[values.Divided, ...]:
    """Return the entries of ``divided``."""
    rules = []
    for index, entry in annotation.entries():
        name = "held" if "held" in entry else "minimum"
        value, of = annotation.query(entry[name], index, name), annotation.query(entry["of"], index, "of")
        if value is not None and of is not None:
            _check_place(annotation, value, index)
            rules.append(values.Divided(value, of, name == "held"))
    return tuple(rules)


def parse_completions(annotation: AnnotationText) -> tuple[values.Completion, ...]:
    """Return the entries of ``completions``."""
    rules = []
    for index, entry in annotation.entries():
        done, of = annotation.query(entry["done"], index, "done"), annotation.query(entry["of"], index, "of")
        if done is not None and of is not None:
            rules.append(values.Completion(done, of))
    return tuple(rules)


def parse_healthy_statuses(annotation: AnnotationText) -> frozenset[Status]:
    """Return the statuses. With the annotation ``health`` they do not decide InterpretHealth."""
    names = annotation.names("status", list(Status))
    rules = annotation.karta.spec.structure_definition.root_component.status_definition
    if "health" in annotation.parsed:
        annotation.warn(
            "does not decide InterpretHealth beside health; AggregateStatus and exports read it",
            "remove it unless the order of statuses should differ",
        )
    # A list with Completed may mean the end of a workload only.
    elif (
        rules
        and rules.status_mappings.running
        and not annotation.findings
        and {Status.RUNNING, Status.COMPLETED}.isdisjoint(names)
    ):
        better = ", ".join(status for status in Status if status in AT_WORK.union(names))
        annotation.warn(
            "leaves out Running, which the Karta maps: a running workload is unhealthy",
            f"the list replaces the default: write {better}",
        )
    return frozenset(map(Status, names))


def parse_dependencies(annotation: AnnotationText) -> tuple[values.Needed, ...]:
    """Return the entries of ``dependencies``."""
    needed: list[values.Needed] = []
    for index, entry in annotation.entries():
        queries = {field: _named(annotation, index, field, entry[field]) for field in _EXPRESSIONS if field in entry}
        names = [*map(str.strip, entry.get("apiVersion", "").split(","))]
        if len(names) > _MOST_VERSIONS:
            message = f"entry {index}: apiVersion has more than {_MOST_VERSIONS} versions"
            annotation.error(message, at=(index, "apiVersion"))
            continue
        versions = list[GVK]()
        for name in names if "kind" in entry else ():
            versions += _checked_kind(annotation, index, name, entry["kind"])
        match queries:
            case {"name": values.AnnotationQuery() as objects} | {"labelSelector": values.AnnotationQuery() as objects}:
                needed.append(
                    values.ExtraDependency(
                        names[0],
                        entry["kind"],
                        objects,
                        queries.get("namespace"),
                        tuple(dict.fromkeys(versions)) if len(names) > 1 else (),
                    )
                )
            case _:
                forms = ((form, query) for form, query in queries.items() if query and form in _OF_WORKLOAD)
                needed += [values.OfDependencies(form, query) for form, query in forms]
    return tuple(needed)


def _checked_kind(annotation: AnnotationText, index: int, api_version: str, kind: str) -> tuple[GVK, ...]:
    """Return a kind of the entry, nothing if it cannot be one."""
    try:
        gvk = GVK.parse(api_version, kind)
    except InterpretationError as err:
        annotation.error(f"entry {index}: {err}", at=(index, "apiVersion"))
        return ()
    if api_version == "v1" and kind not in CORE_KINDS:
        message = f"entry {index}: v1 has no kind {kind}, which is of another group"
        annotation.error(message, did_you_mean(kind, CORE_KINDS), (index, "kind"))
    elif is_cluster_scoped(api_version, kind):
        annotation.warn(
            f"entry {index}: {kind} has no namespace, and dependencies are objects in the workload's",
            "propagate it by a ClusterPropagationPolicy: as a dependency it goes with the first workload that ends",
            (index, "kind"),
        )
    return (gvk,)


def parse_unread(annotation: AnnotationText) -> tuple[values.UnknownPart, ...]:
    """Return the entries of ``unread``."""
    unread: list[values.UnknownPart] = []
    for index, entry in annotation.entries():
        if place := annotation.query(entry["unknown"], index, "unknown"):
            unread.append(values.UnknownPart(place, entry["reason"]))
    return tuple(unread)


def _named(annotation: AnnotationText, index: int, field: str, text: str) -> values.AnnotationQuery | None:
    gives = {"pods": dict, "labelSelector": dict, "parameters": dict}.get(field, str)
    reads = _OF_PODS if field == "pods" else ()
    query = annotation.query(text, index, field, gives=gives, reads=reads)
    if field == "name" and (parts := _NAMESPACED.fullmatch(text)):
        hint = f"""write namespace: '"{parts[1]}"', name: '"{parts[2]}"'"""
        annotation.error(f"entry {index}: a name has no `/`", hint, (index, field))
    # The fields of the selector that the expression makes, as far as its form shows them.
    made = query.node.entries if field == "labelSelector" and query and isinstance(query.node, ast.Object) else ()
    keys = {entry.key.value for entry in made if isinstance(entry.key, ast.Literal)}
    for name in (key for key in keys - SELECTOR_FIELDS if isinstance(key, str)):
        hint = "write {matchLabels: {…}} around the labels"
        annotation.error(f"entry {index}: a label selector has no field {name}", hint, (index, field))
    return query


def parse_added_containers(annotation: AnnotationText) -> tuple[values.AddedContainers, ...]:
    """Return the expressions of ``added-containers`` by component."""
    added: list[values.AddedContainers] = []
    components = annotation.karta.spec.structure_definition.components
    with_pods = dict.fromkeys(component.name for _, component in components if component.spec_definition)
    hint = hints(with_pods)
    for component, text in annotation.entries():
        if component not in with_pods:
            annotation.error(f'there is no component "{component}" that has pods', hint(component), (component,))
        elif query := annotation.query(text, component, gives=dict):
            added.append(values.AddedContainers(component, query, not query.is_plain or several(query.node)))
    return tuple(added)


def parse_aggregate(annotation: AnnotationText) -> Mapping[values.PathPattern, values.AggregateRule]:
    """Return the rules by the path of the status field."""
    rules: dict[values.PathPattern, values.AggregateRule] = {}
    for text, rule in annotation.entries():
        pattern = _pattern(annotation, text)
        if pattern is not None and rule == values.AggregateRule.COUNTER and None in pattern:
            annotation.error(f"{text}: a counter is one number, not one of a list", "write sum", (text,))
        elif pattern is not None:
            rules[pattern] = values.AggregateRule(rule)
    return rules


def parse_later_status(annotation: AnnotationText) -> tuple[values.LaterField, ...]:
    """Return fields of the status that only later releases write."""
    later: list[values.LaterField] = []
    for text, expression in annotation.entries():
        pattern = _pattern(annotation, text)
        if pattern is None:
            continue
        _, name, *below = pattern
        if below or name is None:
            annotation.error(
                f"{text}: this is not a field of the status itself", "write it like .status.ready", (text,)
            )
        elif query := annotation.query(expression, text):
            later.append(values.LaterField(name, query))
    return tuple(later)


def parse_required_status(annotation: AnnotationText) -> Mapping[tuple[str, ...], JSON]:
    """Return the values by the paths of the status fields, each object before its fields."""
    required: dict[tuple[str, ...], JSON] = {}
    for text, value in annotation.yaml().items():
        pattern = _pattern(annotation, text) or ()
        path = tuple(step for step in pattern if step is not None)
        if len(path) < len(pattern) or value is None:
            hint = "elements of lists have all of their fields, and null is not a value"
            annotation.error(f"{text}: this cannot be required", hint)
        elif path:
            required[path] = value
    return dict(sorted(required.items(), key=lambda item: len(item[0])))


def _pattern(annotation: AnnotationText, text: str) -> values.PathPattern | None:
    pattern: values.PathPattern = ()
    with suppress(QuerySyntaxError):
        node = parse(text)
        while isinstance(node, ast.Index | ast.Iterate):
            match node:
                case ast.Index(target, ast.Literal(str(key))):
                    node, pattern = target, (key, *pattern)
                case ast.Iterate(target):
                    node, pattern = target, (None, *pattern)
                case _:
                    break
        if isinstance(node, ast.Identity) and pattern[:1] == ("status",) and pattern[1:]:
            return pattern
    annotation.error(
        f"`{text}` is not a path below .status", "write it like .status.active or .status.jobs[].active", (text,)
    )
    return None


def parse_outcomes(annotation: AnnotationText) -> Mapping[str, str]:
    """Return the final conditions, each with the condition that announces it."""
    outcomes: dict[str, str] = {}
    status = annotation.karta.spec.structure_definition.root_component.status_definition
    matchers = (*status.status_mappings.completed, *status.status_mappings.failed) if status else ()
    # The condition types that, if true, mean that the workload has completed or failed.
    ends = {condition.type for matcher in matchers for condition in matcher.by_conditions if condition.status == "True"}
    for condition, announcement in annotation.entries():
        unmapped = [name for name in (condition, announcement) if name not in ends]
        for name in unmapped:
            hint = f'map {{type: {name}, status: "True"}} to one of them'
            annotation.error(f"no status mapping makes {name} completed or failed", hint, (condition,))
        if condition == announcement:
            hint = "name the condition that comes before it"
            annotation.error(f"{condition} cannot announce itself", hint, (condition,))
        elif not unmapped:
            outcomes[condition] = announcement
    return outcomes


def parse_lua(annotation: AnnotationText) -> Scripts:
    """Return the scripts of the operations that the annotation ``operations`` allows."""
    customizations = annotation.yaml()
    # The text is not a mapping: one finding about it is enough.
    if annotation.findings:
        return Scripts()
    reading = read_scripts(customizations, annotation.karta.name, annotation.path, agrees=True)
    for finding in reading.findings:
        annotation.report(finding, finding.path[len(annotation.path) :])
    allowed = annotation.parsed.get("operations", SLOTS)
    for operation in sorted(reading.scripts.operations.difference(allowed)):
        message = f"the script for {operation} is not run: the annotation operations leaves it out"
        annotation.warn(message, "name the operation there, or remove the script", at=(SLOTS[operation].field,))
    return Scripts(script for script in reading.scripts if script.operation in allowed)


def parse_written_from(annotation: AnnotationText) -> str:
    """Return the projects and their versions."""
    text = annotation.text.strip()
    if _PROJECTS_AND_VERSIONS.fullmatch(text):
        return text
    annotation.error(
        f'"{text}" is not a project and a version', "write it like KubeRay 1.4, or KubeRay 1.4, Kueue 0.17"
    )
    return ""


def parse_other_versions(annotation: AnnotationText) -> tuple[str, ...]:
    """Return the names of the other versions."""
    names, kind = names_in(annotation.text), annotation.karta.spec.structure_definition.root_component.kind
    if not names or (kind and kind.version in names):
        annotation.error("does not name other versions", "write one to 8 names, like v1beta1, v1alpha1")
    return names


# The conditions and values next to the path of a rule of ``retain``.
_BESIDE: Final = {"by", "if", "value", "while", "note"}


def parse_retain(annotation: AnnotationText) -> tuple[values.RetainRule, ...]:
    """Return the rules of ``retain``, which is a YAML list or has one path per line."""
    lines = annotation.parts(r"^[^\S\n]*([^\s#].*)$")
    # No jq path begins with a bracket or a dash: an array in jq is a new value and has no place.
    is_yaml = bool(lines) and lines[0].startswith(("[", "-"))
    if not lines:
        annotation.warn("names no path", "write one in each line, indented below the name of the annotation")
    rules: list[values.RetainRule] = []
    for at, entry in annotation.entries() if is_yaml else zip(lines, lines, strict=True):
        if isinstance(entry, str):
            rules += _retained_path(annotation, entry, at)
        else:
            rules += _retained_rule(annotation, entry, at)
    return tuple(rules)


def _retained_path(annotation: AnnotationText, entry: str, at: str | int) -> Iterator[values.RetainRule]:
    text, absent, drops = split_default(entry)
    query = annotation.query(text, at)
    if query is None:
        return
    _check_place(annotation, query, at)
    for whole in whole_places(query):
        kept = "the whole object" if whole == "." else f"all of {whole}"
        annotation.report(violation("retains-all", annotation.path, text=text, kept=kept), (at,))
    yield values.Retained(query, absent, drops)


def _retained_rule(annotation: AnnotationText, entry: Mapping[str, str], at: str | int) -> Iterator[values.RetainRule]:
    (key,) = entry.keys() - _BESIDE
    text, absent, drops = split_default(entry[key]) if key == "owned" else (entry[key], None, False)
    query = annotation.query(text, at, key)
    if query is None:
        return
    if key == "once":
        yield from _once(annotation, query, entry["note"], at)
        return
    _check_place(annotation, query, at)
    queries = _rule_queries(annotation, entry, key, query, at)
    if not all(queries.values()):
        return
    if key == "unset" and "value" in entry and owner_of(query.node) is None:
        message = f"`{query.text}` names several fields; a value is for one"
        annotation.error(message, "write an entry for each", (at,))
    match key:
        case "owned" if "while" in entry:
            yield values.Retained(query, absent, drops, queries["while"])
        case "replicas" | "quantities":
            yield values.RetainedCount(query) if key == "replicas" else values.KeepQuantityFormat(query)
        case "unset":
            yield values.Unset(query, queries.get("by"), queries.get("if"), queries.get("value"))
        case _:
            yield values.Immutable(query, queries.get("if"), key)


def _once(
    annotation: AnnotationText, query: values.AnnotationQuery, note: str, at: str | int
) -> Iterator[values.RetainRule]:
    if path := plain_path(query.node):
        yield values.Once(query, path, note)
    else:
        annotation.error(f"`{query.text}` is not a path of plain names", "write it like .spec.names", (at, "once"))


def _rule_queries(
    annotation: AnnotationText, entry: Mapping[str, str], key: str, place: values.AnnotationQuery, at: str | int
) -> Mapping[str, values.AnnotationQuery | None]:
    """Compile the expressions next to a path, by their fields."""
    owner, element = owner_of(place.node), ast.Iterate(place.node) if "by" in entry else place.node
    inputs = {"by": element, "if": element, "value": owner or values.WHOLE, "while": values.WHOLE}
    if key in ("owned", "immutable", "changeable", "fixed", "share"):
        inputs["if"] = values.BOTH
    return {field: annotation.query(entry[field], at, field, of=inputs[field]) for field in inputs.keys() & entry}


def _check_place(annotation: AnnotationText, query: values.AnnotationQuery, at: str | int) -> None:
    if not names_places(query):
        message = f"`{query.text}` computes a value; it names no place"
        annotation.error(message, "write a path, such as .spec.suspend", (at,))
    elif fields_read(query.node) == {"status"} and plain_path(query.node) != ("status",):
        annotation.report(violation("status-not-sent", annotation.path, text=query.text), (at,))


_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)


def parse_state(annotation: AnnotationText) -> tuple[values.PreservedState, ...]:
    """Return the entries of ``state``."""
    states: list[values.PreservedState] = []
    for index, entry in annotation.entries():
        path = _pattern(annotation, entry["status"])
        if path is None:
            continue
        if not all(step is not None and _PLAIN_KEY.fullmatch(step) for step in path):
            hint = "Karmada reads one value by JSONPath; write it like .status.job.id"
            annotation.error(f"`{entry['status']}` is not a path of plain names", hint, (index, "status"))
            continue
        texts = entry["spec"] if isinstance(entry["spec"], list) else [entry["spec"]]
        places = [annotation.query(text, index, "spec") for text in texts]
        for query in filter(None, places):
            _check_place(annotation, query, index)
        rules = tuple(values.Unset(query) for query in places if query)
        if len(rules) == len(texts):
            names = tuple(step for step in path if step is not None)
            states.append(values.PreservedState(names, entry["label"], rules))
    return tuple(states)


def parse_queue_labels(annotation: AnnotationText) -> tuple[str, ...]:
    """Return the labels of ``queue-labels``."""
    names = annotation.items()
    if names == [_NONE]:
        return ()
    wrong = [name for name in names if not QUALIFIED_NAME.fullmatch(name) or name == _NONE]
    for name in wrong:
        annotation.error(f'"{name}" is not the name of a label', "write it like kueue.x-k8s.io/queue-name", (name,))
    if not names:
        annotation.error("names no label", f"name one, or write {_NONE}")
    elif not wrong and not any(
        component.suspend_definition for _, component in annotation.karta.spec.structure_definition.components
    ):
        annotation.warn("a queue has nothing to do with a kind that has no suspendDefinition", "remove the annotation")
    return tuple(dict.fromkeys(names))
