"""Lua that goes through the pods of a workload, component by component."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from karta_interpreter.definitions.karta import ComponentRules, Definition, PodSpec, PodTemplate
from karta_interpreter.engine.evaluation import LONGEST
from karta_interpreter.export.lua import Constant, laid_out, path_in, quoted, table_of, text, written
from karta_interpreter.export.paths import plain_path
from karta_interpreter.export.script import OperationScript
from karta_interpreter.export.traits import is_present


class Pods(NamedTuple):
    """The pods of a component without instances, as expressions of Lua: its name, its count and its pod spec."""

    name: str
    replicas: str
    spec: str


Use = Callable[[Pods], str]
"""Return the statement about the pods of a component without instances."""


def each_component(
    script: OperationScript,
    use: Use,
    instances: str,
    components: Iterable[ComponentRules] | None = None,
    *,
    counted: bool = True,
) -> Iterator[str]:
    """Yield the lines of a function of ``obj`` that goes through all pods that exist, and reads their specs.

    ``instances`` is the statement about a component if the object may have several instances of it, or if its
    expressions may have several outputs. The component's table replaces ``{}`` in the statement. Without ``components``
    those that count are gone through.
    """
    for component in script.definition.counted if components is None else components:
        if has_one(script, component):
            yield from lone_component(script, component, use, counted=counted, reads_spec=True)
        else:
            yield f"  {instances.format(script.component(component, counted=counted))}"


def has_computed_names(definition: Definition) -> bool:
    """Return whether a name of a component depends on the object, or is too long for Karmada."""
    return any(leaf.instance_ids or len(leaf.name) > LONGEST for leaf in definition.leaves)


def has_one(script: OperationScript, component: ComponentRules) -> bool:
    """Return whether a component has no instances, and expressions that each have one output."""
    pods = component.pods
    if component.instance_ids or not isinstance(pods, PodSpec | PodTemplate):
        return False
    metadata = pods.metadata if isinstance(pods, PodSpec) else None
    queries = (pods.query, metadata, component.replicas, component.min_replicas)
    added = script.definition.annotations.added_containers
    for containers in added:
        if containers.each and containers.component == component.name:
            return False
    return all(query is None or script.has_one_output(query) for query in queries)


def lone_component(
    script: OperationScript, component: ComponentRules, use: Use, *, counted: bool = True, reads_spec: bool = False
) -> Iterator[str]:
    """Yield the lines about the pods of a component that `has_one`.

    ``reads_spec``: ``use`` reads the pod spec, with the operator's containers, by `get`, which fails over anything but
    an object.
    """
    name, pods = component.name, component.pods
    if not isinstance(pods, PodSpec | PodTemplate):
        return
    is_spec = isinstance(pods, PodSpec)
    spec = script.new(f"{name} spec")
    value = script.value_of(pods.query, spec if is_spec else f"{name} template")
    spec_text = written(value if is_spec else path_in(value, [text("spec")]))
    yield f"  local {spec} = {spec_text if reads_spec else f'check_object({quoted(name)}, {spec_text})'}"
    if isinstance(pods, PodSpec) and pods.metadata:
        yield f"  check_object({quoted(name)}, {written(script.value_of(pods.metadata, f'{name} metadata'))})"
    yield f"  if {spec} ~= nil then"
    for containers in script.definition.annotations.added_containers if reads_spec else ():
        if containers.component == name:
            lists = written(script.value_of(containers.query, f"{name} added containers"))
            spec = f"with_added({quoted(name)}, {spec}, {lists})"
    yield f"    {use(Pods(quoted(name), _count(script, component) if counted else '', spec))}"
    yield "  end"


def _count(script: OperationScript, component: ComponentRules) -> str:
    """Return the number of pods of a component without instances: of the first field that has one, else 1."""
    choices: list[str] = []
    for query, field in ((component.replicas, "replicas"), (component.min_replicas, "minimum")):
        if query:
            value = script.value_of(query, f"{component.name} {field}")
            is_number = isinstance(value, Constant) and value.text.isdigit()
            choices.append(written(value) if is_number else f"count({quoted(component.name)}, {written(value)})")
            if is_present(query.node):  # always a number, so that what follows would never be reached
                return " or ".join(choices)
    return " or ".join([*choices, "1"])


def bounds_of(script: OperationScript, component: ComponentRules) -> dict[str, str]:
    """Return the bounds of the count of a component without instances."""
    bounds = dict[str, str]()
    for name, query in {"minimum": component.min_replicas, "maximum": component.max_replicas}.items():
        if query:
            bounds[name] = written(script.value_of(query, f"{component.name} {name}"))
    return bounds


def has_plain_count(script: OperationScript, component: ComponentRules) -> bool:
    """Return whether a component without instances has its count at a path through objects, or at no place."""
    query = component.replicas
    if not has_one(script, component):
        return False
    bounds = [bound for bound in (component.min_replicas, component.max_replicas) if bound]
    if query is None:
        return not bounds
    path = plain_path(query.node)
    if path is None:
        return not bounds and query.is_plain and not script.has_place(query)
    is_number = path.steps[0] == "spec" and not path.default.startswith('"')
    return is_number and all(script.has_one_output(bound) for bound in bounds)


def has_lone_count(script: OperationScript, component: ComponentRules) -> bool:
    """Return whether a component has no instances, and counts that each have one output."""
    return has_one(script, component) and (
        component.max_replicas is None or script.has_one_output(component.max_replicas)
    )


def lone_pod_sets(script: OperationScript, *, asked: bool = False) -> str:
    """Write the function that gives the pod sets of components without instances, and return its name.

    ``asked``: the function can also be asked about one component, and whether it has pods. It then reads no count.
    """
    script.features.add("lone")
    lines = [f"local function pod_sets_of(obj{', only, is_asked' if asked else ''})", "  local found = {}"]
    for leaf in script.definition.counted:
        own = [*lone_component(script, leaf, lambda pods: pods.name, counted=False)]
        own[-2:-1] = [f"    {line}" for line in _lone_pod_set(script, leaf)]
        if asked:
            start = next(at for at, line in enumerate(own) if line.startswith("  if ")) + 1
            own.insert(start, "    if is_asked then return true end")
        if asked and len(script.definition.counted) > 1:
            own = [f"  if not only or only == {quoted(leaf.name)} then", *(f"  {line}" for line in own), "  end"]
        lines += own
    script.add(laid_out([*lines, "  return found", "end"]))
    return "pod_sets_of"


def _lone_pod_set(script: OperationScript, component: ComponentRules) -> Iterator[str]:
    """Yield the lines that append the pod set of a component without instances."""
    name = quoted(component.name)
    queries = {"replicas": component.replicas, "minimum": component.min_replicas, "maximum": component.max_replicas}
    traits, numbers, place_of = {"name": name}, dict[str, str](), dict[str, str]()
    counts, places = list[str](), list[str]()
    for field, query in queries.items():
        if query is None:
            continue
        yield f"local {field}, {field}_place = {script.function(query, f'{component.name} {field}', 'place')}(obj)"
        number, place = f"count({name}, {field})", f"known_place({field}_place)"
        place_of[f"{field}_place"] = place
        if field != "replicas":
            traits[field] = "true"
            numbers[field] = number
        if field != "maximum":
            counts.append(number)
            places.append(place)
    if component.has_default_count:
        traits["has_default"] = "true"
    if component.min_replicas or component.max_replicas:
        script.features.add("bounds")
    script.features |= traits.keys()
    of_component = ", ".join(f"{key} = {value}" for key, value in traits.items())
    fields = {"component": f"{{{of_component}}}", "instance": '""', **numbers, **place_of}
    fields["pods"] = " or ".join([*counts, "1"])
    if places:
        fields["place"] = f" or not {counts[0]} and ".join(places)
    yield f"found[#found + 1] = {table_of([f'{key} = {value}' for key, value in fields.items()])}"
