"""One script of a definition, put together from its expressions and the functions of the library."""

from karta_interpreter.errors import ExportError
from karta_interpreter.export.functions import Functions
from karta_interpreter.export.library import LIBRARY, used, words_of
from karta_interpreter.export.writer import Sink, Value, lua_name, quoted
from karta_interpreter.jq import Query
from karta_interpreter.jq.syntax import Alternative, Index, Literal, Pipe
from karta_interpreter.k8s.values import JSON
from karta_interpreter.karta.definition import Component, Definition, Fragments, PodSpec

LARGEST = 640 * 1024
"""The bytes of a script, above which it is not exported."""


class Script:
    """Collects local functions; each expression becomes one, named after the component and the field."""

    def __init__(self, definition: Definition, comments: "dict[str, str] | None" = None) -> None:
        self.definition = definition
        self._parts: list[str] = []
        self._names: set[str] = set()
        self._known: dict[tuple[str, str], str] = {}
        self._comments = comments or {}

    def add(self, text: str) -> None:
        """Add lines of Lua."""
        self._parts.append(text)

    def list_of(self, query: Query, name: str, parameter: str = "obj") -> str:
        """A function that gives a list of all outputs of an expression."""
        return self._function(query, name, "list", parameter)

    def first_of(self, query: Query, name: str, parameter: str = "obj") -> str:
        """A function that gives the first output of an expression, null without one, and whether there is one."""
        return self._function(query, name, "first", parameter)

    def places_of(self, query: Query, name: str, parameter: str = "obj") -> str:
        """A function that gives the outputs of an expression, and the place of each that has one."""
        return self._function(query, name, "places", parameter)

    def _function(self, query: Query, name: str, form: str, parameter: str) -> str:
        key = query.text, form
        if key not in self._known:
            try:
                self._known[key] = self._written(query, self.new(name), form, parameter)
            except ExportError as error:
                raise ExportError(f"{name.replace('_', ' ')} {error}") from error
        return self._known[key]

    def _written(self, query: Query, name: str, form: str, parameter: str) -> str:
        if not query.is_plain:
            raise ExportError(f"`{query.text}`: it may run without an end, and a script has no process of its own")
        emitter = Functions(traced=form == "places")
        here = Value(parameter, "at()" if form == "places" else None)
        with emitter.block(f"local function {name}({parameter})"):
            if form == "first":
                _write_first(emitter, query, here)
            elif form == "list":
                found = emitter.collected(query.node, here).text
                makes_null = any("some(" in line or "from_entries(" in line for line in (*emitter.lines, found))
                emitter.line(f"return cleaned_all({found})" if makes_null else f"return {found}")
            else:
                placed = emitter.collected(query.node, here)
                emitter.line(f"return {placed.text}, {placed.origin or '{parts = {}}'}")
        comment = [f"-- {line}" for line in self._comments.get(query.text, "").splitlines()]
        self.add("\n".join([*comment, *emitter.lines]))
        return name

    def new(self, hint: str) -> str:
        """A name for a function that the script does not have yet."""
        name = lua_name(hint)
        found, number = name, 2
        while found in self._names or found in _RESERVED or found in LIBRARY:
            found, number = f"{name}_{number}", number + 1
        self._names.add(found)
        return found

    def components(self, *, counted: bool = True, bounds: bool = False) -> str:
        """Write a table of the components with pods, once; its name."""
        if "parts_of_workload" in self._names:
            return "parts_of_workload"
        self._names.add("parts_of_workload")
        fields = [self._component(each, counted=counted, bounds=bounds) for each in self.definition.leaves]
        body = "".join(f"  {line},\n" for line in fields)
        self.add(f"local parts_of_workload = {{\n{body}}}")
        return "parts_of_workload"

    def _component(self, component: Component, *, counted: bool, bounds: bool) -> str:  # noqa: C901 - a line for each field
        name = component.name
        if component.pods is None or isinstance(component.pods, Fragments):
            raise ExportError(f"component {name}: its pods are given in fragments")
        fields = {"name": quoted(name)}
        if component.instance_ids:
            fields["ids"] = self.list_of(component.instance_ids, f"{name} ids")
        is_spec = isinstance(component.pods, PodSpec)
        fields["pods"] = self.list_of(component.pods.query, f"{name} {'pod specs' if is_spec else 'templates'}")
        if isinstance(component.pods, PodSpec):
            fields["is_spec"] = "true"
            if component.pods.metadata:
                fields["metadata"] = self.list_of(component.pods.metadata, f"{name} metadata")
        if counted:
            counts = {"replicas": component.replicas, "minimum": component.min_replicas}
            if bounds:
                counts["maximum"] = component.max_replicas
            for field, query in counts.items():
                if query:  # a function with places gives the numbers, too
                    read = self.places_of if bounds else self.list_of
                    fields[field] = read(query, f"{name} {field}")
        if bounds and _has_default(component):
            fields["has_default"] = "true"
        for added in self.definition.annotations.added_containers:
            if added.component == name and not bounds:
                fields["added"] = self.first_of(added.query, f"{name} added containers")
        return f"{{{', '.join(f'{field} = {value}' for field, value in fields.items())}}}"

    def text(self, header: str) -> str:
        """The whole script."""
        body = "\n\n".join(self._parts)
        library = used(body)
        kube = 'local kube = require("kube")' if "kube" in words_of(f"{library}\n{body}") else ""
        text = "\n\n".join(part for part in (header.rstrip(), kube, library, body) if part) + "\n"
        size = len(text.encode())
        if size > LARGEST:
            raise ExportError(f"the script has {size} bytes, more than {LARGEST}")
        return text


_RESERVED = frozenset(
    {
        "GetReplicas",
        "parts_of_workload",
        "kube",
        "matched",
        "healthy",
        "desired",
        "observed",
        "value",
        *["end", "and", "or", "not", "nil", "in", "if", "do", "for"],
    }
)


def _has_default(component: Component) -> bool:
    """Whether the replicas are ``.spec.replicas // 1`` or alike: a field that has a default in its API."""
    node = component.replicas.node if component.replicas else None
    while isinstance(node, Pipe):
        node = node.right
    match node:
        case Alternative(Index(_, Literal("replicas")), Literal()):
            return True
    return False


def _write_first(emitter: Functions, query: Query, here: Value) -> None:
    if query.node in emitter.singles:
        text = emitter.value(query.node, here).text
        emitter.line(f"return cleaned({text}), true" if "some(" in text else f"return {text}, true")
        return
    # All results are computed: one that fails is an error, also behind the first.
    found, is_there = emitter.new("first"), emitter.new("is_there")
    emitter.line(f"local {found}, {is_there} = nil, false")

    def keep(output: Value) -> None:
        output = emitter.bind(output)
        with emitter.block(f"if not {is_there} then"):
            emitter.line(f"{found}, {is_there} = {output.text}, true")

    emitter.each(query.node, here, Sink(keep, short=True))
    made = f"cleaned({found})" if any("some(" in line for line in emitter.lines) else found
    emitter.line(f"return {made}, {is_there}")


def lua_value(value: JSON) -> str:
    """A JSON value as Lua.

    >>> lua_value({"a": [1, True]})
    '{["a"] = {1, true}}'
    """
    match value:
        case dict():
            return "{" + ", ".join(f"[{quoted(key)}] = {lua_value(part)}" for key, part in value.items()) + "}"
        case list() | tuple():
            return "{" + ", ".join(map(lua_value, value)) + "}"
        case str():
            return quoted(value)
        case bool():
            return "true" if value else "false"
        case None:
            return "nil"
    return str(value)
