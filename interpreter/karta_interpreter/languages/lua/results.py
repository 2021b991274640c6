"""The results of a script, checked and read as Karmada's Lua VM does (``luavm/lua.go``), operation by operation.

The remarks are about results that Karmada takes, and that the author of the script hardly means.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias, final

from karta_interpreter.base.errors import LuaRunError, QuantityError
from karta_interpreter.base.k8s import (
    JSON,
    MOST_REPLICAS,
    NOTHING,
    Object,
    changes,
    field_path,
    get,
    grouped,
    implausible,
    parts_within,
    type_name,
)
from karta_interpreter.base.karmada import SLOTS, Results, by_operation
from karta_interpreter.languages.lua.empty_tables import restore_empty_tables
from karta_interpreter.languages.lua.gotypes.scalars import MismatchError
from karta_interpreter.languages.lua.gotypes.structs import rewrite
from karta_interpreter.languages.lua.script_dependencies import verify

Returned: TypeAlias = Sequence[JSON]
"""All results of a function. An empty table is ``[]`` or ``{}``, because Lua does not distinguish the two."""


@final
class NoJson:
    """A function of Lua, or a table that is not JSON, with the reason."""

    def __init__(self, problem: str = "") -> None:
        self.problem = problem


FUNCTION: Final = NoJson()
"""Any function."""

_LUA_TYPES = {type(None): "nil", bool: "boolean", str: "string", dict: "table", list: "table", NoJson: "table"}
# gopher-lua's `LValueType`, which Karmada prints as a number.
_LUA_TYPE_NUMBERS = {"nil": 0, "boolean": 1, "number": 2, "string": 3, "function": 4, "table": 7}
_SHOWN = 200
# The last name of a path in a script, and the text that it is compared with, or the last name of another path.
_COMPARED: Final = re.compile(
    r"""\.(\w{1,64}) *[=~]= *(?:["'](\w{1,64})["']|\w[\w.]{0,200}\.(\w{1,64})\b(?! *[.([\-+*/%]))"""
)
_LONGEST_NAME: Final = 32
# What to write for a name that requirements have not, or not there, in small letters.
_REQUIREMENTS: Final = {
    **dict.fromkeys(("resourcerequest", "resourcerequests", "resources", "requests"), "resourceRequest"),
    **dict.fromkeys(("priorityclass", "priorityclassname"), "priorityClassName"),
    **dict.fromkeys(("affinity", "nodeaffinity", "hardnodeaffinity"), "nodeClaim.hardNodeAffinity"),
    **dict.fromkeys(("toleration", "tolerations"), "nodeClaim.tolerations"),
    **dict.fromkeys(("nodeselector", "nodeselectors"), "nodeClaim.nodeSelector"),
}
_NAMESPACED: Final = ("ConfigMap", "Secret", "ServiceAccount", "PersistentVolumeClaim", "Service")
_ONLY_IN_MEMBER: Final = (("metadata", "uid"), ("metadata", "resourceVersion"), ("status",))


_MUST_RETURN: Final = by_operation(
    interpret_replica='a whole number, and then requirements or nil: `return 2, {resourceRequest = {cpu = "500m"}}`',
    interpret_component="a list: `return {{name = NAME, replicas = 2, replicaRequirements = REQUIREMENTS}}`",
    revise_replica="the changed object, whole: `return desiredObj`",
    revise_components="the changed object, whole: `return desiredObj`",
    retain="the changed object, whole: `return desiredObj`",
    aggregate_status="the changed object, whole: `desiredObj.status = STATUS`, and `return desiredObj`",
    interpret_status="the status, a table: `return {replicas = observedObj.status.replicas}`",
    interpret_health="true or false",
    interpret_dependency="a list: `return {{apiVersion = VERSION, kind = KIND, namespace = NAMESPACE, name = NAME}}`",
)


def read_results(operation: str, returned: Returned, references: Sequence[Object] = ()) -> Results:
    """Return the answer that the results of an operation's function mean, by Karmada's result names.

    ``references`` are the objects that show which empty tables of a changed object were lists. Raises LuaRunError in
    upstream's words, because users know the error by them. Its hint names the expected results.

    >>> read_results("InterpretReplica", (2.9, {"ResourceRequest": {"cpu": 0.5}}))
    {'replica': 2, 'requires': {'resourceRequest': {'cpu': '500m'}}}
    """
    try:
        return _READERS[operation](returned, references)
    except LuaRunError as err:
        err.hint = f"{must_return(operation)}{err.hint}"
        raise


def must_return(operation: str) -> str:
    """Return a sentence about the results that the function of an operation must return."""
    return f"{SLOTS[operation].function} must return {_MUST_RETURN[operation]}"


def dropped(value: JSON, read: JSON, path: str = "") -> list[str]:
    """Return the paths that Go leaves out of a value.

    >>> dropped({"requires": {"cpu": "1", "nodeClaim": {}}, "replica": 1.5}, {"requires": {}, "replica": 1})
    ['requires.cpu', 'the fraction of replica']
    """
    match value, read:
        # Karmada leaves nulls out of lists, so that their entries no longer pair up.
        case list(), list() if len(value) == len(read):
            entries = enumerate(zip(value, read, strict=True), start=1)
            return [line for number, pair in entries for line in dropped(*pair, f"{path}[{number}]")]
        case dict(), dict():
            fields = {name.lower(): field for name, field in read.items()}
            return [
                line
                for name, field in value.items()
                if field
                for line in (
                    dropped(field, fields[name.lower()], f"{path}.{name}")
                    if name.lower() in fields
                    else [f"{path}.{name}"[1:]]
                )
            ]
        case float(), int() if value != read:
            return [f"the fraction of {path[1:]}"]
    return []


def lua_type(value: JSON) -> str:
    """Return Lua's name for the type of a value.

    >>> lua_type([]), lua_type(2)
    ('table', 'number')
    """
    return "function" if value is FUNCTION else _LUA_TYPES.get(type(value), "number")


def read_table(go_type: str, table: JSON, read: Callable[[str, JSON], JSON] = rewrite) -> JSON:
    """Return the value that Go writes after reading a table as the type.

    ``read`` may be another function of `gotypes`. An empty table is the empty value. Raises LuaRunError if a table does
    not fit.
    """
    if not table:
        return [] if go_type.startswith("[]") else {}
    if isinstance(table, NoJson):
        raise LuaRunError(table.problem)
    try:
        return read(go_type, table)
    except MismatchError as err:
        raise LuaRunError(
            f"json unmarshal obj failed: {err}",
            hint='; a quantity is written as "512Mi" or "500m"' if isinstance(err.__cause__, QuantityError) else "",
        ) from err


def _replica(returned: Returned, _: Sequence[Object]) -> Results:
    replica, requires = _first(returned), returned[1] if len(returned) > 1 else None
    if lua_type(replica) != "number":
        raise _wrong_type(replica, "number")
    if not abs(replica) <= MOST_REPLICAS:  # NaN neither
        raise LuaRunError(f"GetReplicas returned {replica}, which is more than replicas can be: {MOST_REPLICAS}")
    if requires is None:
        return {"replica": int(replica), "requires": None}
    return {"replica": int(replica), "requires": read_table("ReplicaRequirements", _table(requires, "requires"))}


def _components(returned: Returned, _: Sequence[Object]) -> Results:
    components = _first(returned)
    if components is None:
        return {"components": None}
    if lua_type(components) != "table":
        raise LuaRunError(f"expected result type 'table' or 'nil' from GetComponents, but got '{lua_type(components)}'")
    try:
        return {"components": read_table("[]Component", components)}
    except LuaRunError as err:
        raise LuaRunError(f"failed to convert lua table for components: {err}", hint=err.hint) from err


def _changed(returned: Returned, references: Sequence[Object]) -> Object:
    table = _table(_first(returned), "requires")
    changed: Object = restore_empty_tables(table, references) if table else {}
    # Karmada's `Unstructured` rejects a list, and an object without a kind.
    if isinstance(changed, list):
        problem = "json: cannot unmarshal array into Go value of type map[string]interface {}"
        raise LuaRunError(f"json unmarshal obj failed: {problem}")
    kind, version = changed.get("kind"), changed.get("apiVersion")
    # A version of several slashes hides the kind as well.
    if not isinstance(kind, str) or not kind or (isinstance(version, str) and version.count("/") > 1):
        shown = json.dumps(changed, ensure_ascii=False, separators=(",", ":"))
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
        raise LuaRunError(f"json unmarshal obj failed: Object 'Kind' is missing in '{shown}'")
    return changed


def _status(returned: Returned, _: Sequence[Object]) -> Results:
    table = _table(_first(returned), "replica")
    return {"status": restore_empty_tables(table) if table else {}}


def _health(returned: Returned, _: Sequence[Object]) -> Results:
    healthy = _first(returned)
    if not isinstance(healthy, bool):
        raise _wrong_type(healthy, "bool")
    return {"healthy": healthy}


def _dependencies(returned: Returned, _: Sequence[Object]) -> Results:
    dependencies = read_table("[]DependentObjectReference", _table(_first(returned), "requires"))
    verify(dependencies)
    return {"dependencies": dependencies}


def _first(returned: Returned) -> JSON:
    return returned[0] if returned else None


def _table(value: JSON, noun: str) -> JSON:
    if lua_type(value) != "table":
        raise LuaRunError(f"expect the returned {noun} type is table but got {lua_type(value)}")
    return value


def _wrong_type(value: JSON, expected_type: str) -> LuaRunError:
    return LuaRunError(
        f"result type {_LUA_TYPE_NUMBERS[lua_type(value)]} is not {expected_type}, but {lua_type(value)}",
        hint="; an absent field is nil, and so is a bare `return`: return such as "
        f"{'`false`, or `x == true`' if expected_type == 'bool' else '`x or 1`'}"
        if value is None
        else "",
    )


_READERS: Final[Mapping[str, Callable[[Returned, Sequence[Object]], Results]]] = by_operation(
    interpret_replica=_replica,
    interpret_component=_components,
    revise_replica=lambda returned, like: {"revised": _changed(returned, like)},
    revise_components=lambda returned, like: {"revised": _changed(returned, like)},
    retain=lambda returned, like: {"retained": _changed(returned, like)},
    aggregate_status=lambda returned, like: {"aggregatedStatus": _changed(returned, like)},
    interpret_status=_status,
    interpret_health=_health,
    interpret_dependency=_dependencies,
)


def remarks(
    operation: str, arguments: Sequence[JSON], returned: Returned, results: Results, script: str = ""
) -> Iterator[str]:
    """Yield a sentence about each part of an answer, and of the script, that its author hardly means.

    >>> list(remarks("InterpretReplica", [{}], (-1, None), {"replica": -1, "requires": None}))
    ['GetReplicas: the number of replicas is -1, less than none']
    """
    names = _REQUIREMENTS if operation in ("InterpretReplica", "InterpretComponent") else {}
    for path in sorted(dropped(dict(zip(results, returned, strict=False)), results)):
        meant = names.get(path.rpartition(".")[2].lower())
        yield f"Karmada drops {path}: {f'write {meant} in the requirements' if meant else must_return(operation)}"
    texts = {
        (path[-1], part.lower()): part
        for path, part in parts_within([*arguments])
        if isinstance(part, str) and path[1:]
    }
    kinds = grouped((path[-1], type_name(part)) for path, part in parts_within([*arguments]) if path[1:])
    yield from dict.fromkeys(
        f'the script compares {name} with "{word}", and the object has "{text}"'
        if word
        else f"the script compares {name}, {kinds[name][0]}, with {other}, {kinds[other][0]}: they are never equal"
        for name, word, other in _COMPARED.findall(script)
        if (text := texts.get((name, word.lower()), word)) != word
        or (not word and name in kinds and other in kinds and set(kinds[name]).isdisjoint(kinds[other]))
    )
    yield from (
        f"{SLOTS[operation].function}: {text}"
        for text, holds in _REMARKS[operation](*arguments, *results.values()).items()
        if holds
    )


def _of_replicas(_: Object, replicas: int, requirements: JSON, name: str = "") -> Mapping[str, object]:
    return {
        f"{name}the number of replicas is {replicas}, less than none": replicas < 0,
        f"{name}the requirements are empty: no pod requests anything": requirements == {},
        **{f"{name}{text}": True for _, text in implausible((requirements or {}).get("resourceRequest", {}))},
    }


def _of_components(obj: Object, components: Sequence[Object] | None) -> Mapping[str, object]:
    times = Counter(component["name"] for component in components or ())
    return {
        "a component has no name": "" in times,
        **{f"{number} components are called {name}": name and number > 1 for name, number in times.items()},
        **{f"{name} has more than 32 characters, which Karmada rejects": len(name) > _LONGEST_NAME for name in times},
        **{
            text: holds
            for part in components or ()
            for text, holds in _of_replicas(
                obj, part["replicas"], part.get("replicaRequirements"), f"{part['name']}: "
            ).items()
        },
    }


def _of_change(template: Object, changed: Object) -> Mapping[str, object]:
    # A percentage may be written as a number, and the reverse.
    return {
        f"{field_path(path)} becomes {json.dumps(after)[:_LONGEST_NAME]}: write {type_name(before)}"
        f"{' without a fraction' if type(before) is int else ''}": (
            type(before) is not type(after)
            and not (type(before) in (float, str) and type(after) is int)
            and not str(after).endswith("%")
        )
        for path, before, after in changes(template, changed)
        if not {type(before), type(after)} & {type(None), type(NOTHING)}
    }


def _of_aggregation(_: Object, items: Sequence[Object] | None, aggregated: Object) -> Mapping[str, object]:
    reports = [item["status"] for item in items or () if isinstance(item.get("status"), dict) and item["status"]]
    status: JSON = aggregated.get("status")
    counts = {
        field: [report[field] for report in reports if report.get(field) is not None]
        for field in (status if reports and isinstance(status, dict) else ())
        if "replicas" in field.lower()
    }
    return {
        "no status is set, or an empty one: write desiredObj.status = STATUS": reports and not status,
        **{
            f"status.{field} is {type_name(status[field])}, and the clusters report {type_name(reported)}": True
            for field, reported in (reports[0].items() if reports and isinstance(status, dict) else ())
            if field in status and None not in (reported, status[field]) and type(reported) is not type(status[field])
        },
        "this is an item, and not the status in it: write its .status": isinstance(status, dict)
        and "clusterName" in status,
        **{
            f"status.{field} is {status[field]!r}, and the clusters report {' + '.join(map(str, reported))}": True
            for field, reported in counts.items()
            if reported and all(type(number) is int for number in reported) and status[field] != sum(reported)
        },
    }


def _of_dependencies(obj: Object, dependencies: Iterable[Object]) -> Mapping[str, object]:
    named = [(each["kind"], each["apiVersion"], each.get("namespace")) for each in dependencies]
    own_texts = {part for _, part in parts_within(obj) if isinstance(part, str)}
    return {
        **{
            f"{kind} is no kind: is {known} meant, as in manifests?": kind != known
            for kind, _, _ in named
            for known in _NAMESPACED
            if kind.lower() in (known.lower(), f"{known.lower()}s")
        },
        **{
            f"{kind} is in v1, and not in {version}": version != "v1"
            for kind, version, _ in named
            if kind in _NAMESPACED
        },
        **{
            f"a {kind} without a namespace is not found: write namespace = desiredObj.metadata.namespace": True
            for kind, _, namespace in named
            if kind in _NAMESPACED and not namespace
        },
        **{
            f"the namespace is the name of the object, {namespace}: write desiredObj.metadata.namespace": True
            for _, _, namespace in named
            if namespace and namespace == get(obj, ("metadata", "name")) != get(obj, ("metadata", "namespace"))
        },
        **{
            f"the namespace is {namespace}, which the object does not name: write desiredObj.metadata.namespace": (
                get(obj, ("metadata", "namespace")) is not None and namespace not in own_texts
            )
            for _, _, namespace in named
            if namespace
        },
    }


def _of_status(observed: Object, status: JSON) -> Mapping[str, object]:
    spec, own, named = (
        part if isinstance(part, dict) else {} for part in (observed.get("spec"), observed.get("status"), status)
    )
    return {
        "the status is a list: return an object, such as {conditions = …}": isinstance(status, list) and status,
        "the status is in a field status of the result: return it alone": [*named] == ["status"],
        "this is the whole object: return observedObj.status": {"kind", "spec"} <= named.keys(),
        **{
            f"{field} is {type_name(named[field])}, and the object has {type_name(own[field])} there": (
                {type(named[field]), type(own[field])} == {dict, list}
            )
            for field in sorted(named.keys() & own.keys())
        },
        f"{', '.join(sorted(named))} are fields of the spec, and a status is asked for": (
            named and own and named.keys() <= spec.keys() - own.keys()
        ),
    }


_REMARKS: Final[Mapping[str, Callable[..., Mapping[str, object]]]] = by_operation(
    interpret_replica=_of_replicas,
    interpret_component=_of_components,
    revise_replica=lambda template, wanted, revised: {
        **_of_change(template, revised),
        "the status is changed, which no cluster gets: change the spec": (
            "status" in revised and revised["status"] != template.get("status")
        ),
        **{
            f"{field_path(path)} is {'gone' if after is NOTHING else 'new, and no part of an object'}: "
            "change the count in the object, and return the object": True
            for path, before, after in changes(template, revised)
            if path != ("status",) and (after is NOTHING or (before is NOTHING and len(path) == 1))
        },
        **{
            f"{field_path(path)} is new, and spec.replicas stays as it was: change that": (
                get(revised, ("spec", "replicas")) == get(template, ("spec", "replicas")) not in (None, wanted)
            )
            for path, before, after in changes(template, revised)
            if before is NOTHING and after == wanted and not any(isinstance(part, int) for part in path)
        },
        **{
            f"{field_path(path)} becomes {before} + {wanted}: write {wanted}, the whole number": after
            == before + wanted
            for path, before, after in changes(template, revised)
            if before and type(before) is type(after) is int
        },
        **{
            f"{field_path(path)} becomes {after}, less than none: write {wanted}, the whole number": (
                type(after) is int and after < 0
            )
            for path, _, after in changes(template, revised)
        },
        **{
            f"{field_path(path)} is {wanted} in {times} entries, {times * wanted} in all": (
                times > 1 and wanted and revised != template
            )
            for path, times in Counter(
                tuple(step for step in path if not isinstance(step, int))
                for path, part in parts_within(revised)
                if part == wanted and path[-1] == "replicas"
            ).items()
        },
        f"nothing is changed, and {wanted} replicas are asked for": (
            revised == template and str(wanted) not in re.findall(r"\d+", json.dumps(template.get("spec")))
        ),
    },
    revise_components=lambda template, _, revised: _of_change(template, revised),
    retain=lambda template, observed, retained: {
        **_of_change(template, retained),
        **{
            f"{field_path(path)} is gone, and both objects have it": get(observed, path) is not None
            for path, _, after in changes(template, retained)
            if after is NOTHING
        },
        "this is the object of the member, without any change of the template: return the first": (
            retained == observed and any(get(template, path) != get(observed, path) for path in _ONLY_IN_MEMBER)
        ),
    },
    aggregate_status=_of_aggregation,
    interpret_status=_of_status,
    interpret_health=lambda *_: {},
    interpret_dependency=_of_dependencies,
)
