"""One script of a definition, put together from its expressions and the functions of the library."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final, Literal

from karta_interpreter.base.errors import ExportError
from karta_interpreter.base.findings import format_path
from karta_interpreter.base.k8s import values
from karta_interpreter.definitions.karta import ComponentRules, Definition, Fragments, PodSpec, PodTemplate
from karta_interpreter.definitions.karta.expressions import is_boolean
from karta_interpreter.export.emitter import Emitter
from karta_interpreter.export.function_forms import FORMS
from karta_interpreter.export.library import LIBRARY, used, words_of
from karta_interpreter.export.lua import (
    FALSE,
    NIL,
    TRUE,
    Assignment,
    Expression,
    LocalFunction,
    Name,
    Not,
    Return,
    Table,
    call,
    calls_any,
    constant,
    flattened,
    lines_of,
    quoted,
    table,
    unused_name,
    written,
)
from karta_interpreter.export.lua_body import Value
from karta_interpreter.export.traits import is_large, name_of, repeated
from karta_interpreter.languages.jq import OutputSink, Query, Singles, syntax as ast

LARGEST = 64 * 1024
"""The bytes of a script, above which it is not exported, as Karmada compiles it at each call."""

# Names that functions of the script must not have: the script's own variables and Karmada's entry points.
_RESERVED = frozenset(
    {
        "GetReplicas",
        "kube",
        "matched",
        "healthy",
        "desired",
        "observed",
        "value",
        *["end", "and", "or", "not", "nil", "in", "if", "do", "for"],
    }
)

Form = Literal["first", "list", "place", "places", "condition"]

_OBJECT: Final = Name("obj")
_NO_PLACES: Final = table(parts=Table())


class OperationScript:
    """The functions of expressions, the components that have them, and their use in the operation.

    Each expression becomes a local function, named after the component and the field.
    """

    def __init__(self, definition: Definition, repeated: Collection[ast.Node] = ()) -> None:
        """``repeated``: the parts that become functions, because expressions have them more than once."""
        self.definition = definition
        self.parts: list[str] = []
        self.features: set[str] = set()
        self.names: set[str] = set()
        self._table = ""
        self._queries: list[Query] = []
        self._known: dict[tuple[str, str], str] = {}
        self._shared: dict[tuple[ast.Node, bool], str] = {}
        self._repeated = repeated
        self._null_makers: set[str] = set()

    def repeated(self) -> frozenset[ast.Node]:
        """Return the parts that the expressions of the script have more than once."""
        return repeated(query.node for query in self._queries)

    def add(self, text: str) -> None:
        """Add lines of Lua."""
        self.parts.append(text)

    def list_of(self, query: Query, name: str, parameter: str = "obj") -> str:
        """Return the name of a function that gives a list of all outputs of an expression."""
        variable = self._known.get((query.text, "places"), "")
        if variable and variable not in self._null_makers:
            return variable
        return self.function(query, name, "list", parameter)

    def condition_of(self, query: Query, name: str) -> Expression | None:
        """Return the condition that an expression holds for ``obj``, or nothing if it may have any other output."""
        if not self.has_one_output(query) or not is_boolean(query.node):
            return None
        in_place = self._in_place(query, name, Emitter.condition)
        return in_place or call(self.function(query, name, "condition"), _OBJECT)

    def value_of(self, query: Query, name: str) -> Expression:
        """Return Lua for the first output of an expression for ``obj``, or null if there is no output."""
        in_place = self._in_place(query, name, Emitter.code) if self.has_one_output(query) else None
        return in_place or call(self.function(query, name, "first"), _OBJECT)

    def has_one_output(self, query: Query) -> bool:
        """Return whether an expression has one output, whatever the object is."""
        return query.node in Singles()

    def _in_place(
        self, query: Query, name: str, write: Callable[[Emitter, ast.Node, Value], Expression]
    ) -> Expression | None:
        """Return Lua for an expression with one output, or nothing if it takes several lines or makes null."""
        emitter = self._emitter(name, traced=False)
        if query.is_plain:
            with suppress(ExportError):  # the error of the function names the field
                expression = write(emitter, query.node, Value(_OBJECT))
                if not emitter.body and not self._makes_null(expression):
                    self._queries.append(query)
                    return expression
        return None

    def inline(self, query: Query) -> str:
        """Return an expression with one output as one Lua expression, or nothing if it requires a function."""
        in_place = self._in_place(query, "", Emitter.code) if self.has_one_output(query) else None
        return written(in_place) if in_place else ""

    def has_place(self, query: Query) -> bool:
        """Return whether an expression with one output may be read from a place of the object."""
        # Written and thrown away: whether the emitter can follow a place shows only by doing so.
        emitter = Emitter(FORMS, traced=True)
        return emitter.follows(emitter.value(query.node, Value(_OBJECT, call("at"))))

    def function(self, query: Query, name: str, form: Form, parameter: str = "obj") -> str:
        """Return the name of a function of an expression. It is written once for each ``form``.

        ``first`` gives the first output or null, and whether there is an output. ``list`` gives all outputs, ``places``
        all outputs and the place of each that has one. ``place`` and ``condition`` are of an expression with one
        output: the output with its place, and whether it holds.
        """
        key = query.text, form
        if key not in self._known:
            self._queries.append(query)
            try:
                self._known[key] = self._written(query, self.new(name), form, parameter)
            except ExportError as error:
                raise ExportError(f"{field_of(self.definition.manifest, query.text) or name}: {error}") from error
        return self._known[key]

    def _written(self, query: Query, name: str, form: Form, parameter: str) -> str:
        if not query.is_plain:
            raise ExportError(f"`{query.text}`: it may run without an end, and a script has no process of its own")
        traced = form in ("place", "places")
        emitter = self._emitter(name, traced=traced)
        dot = Value(Name(parameter), call("at") if emitter.traced else None)
        match form:
            case "first":
                self._write_first(emitter, query, dot)
            case "condition":
                emitter.write(Return((emitter.condition(query.node, dot),)))
            case "place":
                placed = emitter.value(query.node, dot)
                emitter.write(Return((placed.code, placed.origin or NIL)))
            case "list":
                outputs = emitter.collected(query.node, dot).code
                makes_null = self._makes_null(emitter.body, outputs)
                emitter.write(Return((call("cleaned_all", outputs) if makes_null else outputs,)))
            case "places":
                placed = emitter.collected(query.node, dot)
                emitter.write(Return((placed.code, placed.origin or _NO_PLACES)))
                if self._makes_null(emitter.body):
                    self._null_makers.add(name)
        self._define(name, (parameter,), emitter)
        return name

    def _define(self, name: str, parameters: tuple[str, ...], emitter: Emitter) -> None:
        self.add("\n".join(lines_of(flattened((LocalFunction(name, parameters, tuple(emitter.body)),)))))

    def _write_first(self, emitter: Emitter, query: Query, dot: Value) -> None:
        if query.node in emitter.singles:
            output = emitter.code(query.node, dot)
            makes_null = self._makes_null(emitter.body, output)
            emitter.write(Return((call("cleaned", output) if makes_null else output, TRUE)))
            return
        # All results are computed: one that fails is an error, also behind the first.
        first, is_there = emitter.locals(("first", "is_there"), NIL, FALSE)

        def keep(output: Value) -> None:
            output = emitter.bind(output)
            with emitter.when(Not(is_there)):
                emitter.write(Assignment((first, is_there), (output.code, TRUE)))

        emitter.each(query.node, dot, OutputSink(keep, short=True))
        made = call("cleaned", first) if self._makes_null(emitter.body) else first
        emitter.write(Return((made, is_there)))

    def _emitter(self, name: str, *, traced: bool, own: ast.Node | None = None) -> Emitter:
        """Return an emitter that calls the functions of repeated parts, except for the part that it writes itself."""

        def share(node: ast.Node, traced: bool) -> str | None:
            if node is own or not is_large(node) or node not in self._repeated:
                return None
            key = node, traced
            if key not in self._shared:
                self._shared[key] = self._part(node, self.new(name_of(node, name)), traced=traced)
            return self._shared[key]

        return Emitter(FORMS, {"value", "origin"} if own else None, traced=traced, share=share)

    def _part(self, node: ast.Node, name: str, *, traced: bool) -> str:
        emitter = self._emitter(name, traced=traced, own=node)
        dot = Value(Name("value"), Name("origin") if traced else None)
        if is_boolean(node) and node in emitter.singles and not traced:
            result = Value(emitter.condition(node, dot))
        elif node in emitter.singles:
            result = emitter.value(node, dot)
        else:
            result = emitter.collected(node, dot)
        no_origin = NIL if node in emitter.singles else _NO_PLACES
        emitter.write(Return((result.code, *((result.origin or no_origin,) if traced else ()))))
        if self._makes_null(emitter.body):
            self._null_makers.add(name)
        self._define(name, ("value", "origin") if traced else ("value",), emitter)
        return name

    def _makes_null(self, *code: object) -> bool:
        """Return whether some code makes objects that may have null in them."""
        # Tables of Lua have no null: the library marks one, and `cleaned` removes it.
        return calls_any(code, frozenset({"or_null", "from_entries", *self._null_makers}))

    def new(self, hint: str) -> str:
        """Return a name for a function that the script does not have yet."""
        return unused_name(hint, self.names, _RESERVED, LIBRARY)

    def components(self) -> str:
        """Write a table of the components with pods and the bounds of their counts, and return its name."""
        if not self._table:
            fields = [self.component(component, counted=True, bounds=True) for component in self.definition.counted]
            body = "".join(f"  {line},\n" for line in fields)
            self._table = self.new("components")
            self.add(f"local {self._table} = {{\n{body}}}")
        return self._table

    def component(self, component: ComponentRules, *, counted: bool, bounds: bool = False) -> str:
        """Return the table of a component. Its functions give lists of outputs."""
        name = component.name
        fields = {"name": quoted(name)}
        if component.instance_ids:
            fields["ids"] = self.list_of(component.instance_ids, f"{name} ids")
        fields |= self._pods(component)
        if counted:
            fields |= self._counts(component, bounds=bounds)
        for added in self.definition.annotations.added_containers:
            if added.component == name and not bounds:
                fields["added"] = self.list_of(added.query, f"{name} added containers")
                if added.each:
                    fields["adds_each"] = "true"
        self.features |= fields.keys()
        if bounds and (component.min_replicas or component.max_replicas):
            self.features.add("bounds")
        return f"{{{', '.join(f'{field} = {value}' for field, value in fields.items())}}}"

    def _pods(self, component: ComponentRules) -> dict[str, str]:
        name, fields = component.name, dict[str, str]()
        match component.pods:
            case Fragments(queries):
                texts: list[str] = []
                for field, query in queries:
                    piece = field.removesuffix("Path")
                    texts.append(f"{piece} = {self.list_of(query, f'{name} {piece}')}")
                fields["pieces"] = f"{{{', '.join(texts)}}}"
                if component.needs_no_piece:
                    fields["needs_no_piece"] = "true"
            case PodSpec(query, metadata):
                fields |= {"pods": self.list_of(query, f"{name} pod specs"), "is_spec": "true"}
                if metadata:
                    fields["metadata"] = self.list_of(metadata, f"{name} metadata")
            case PodTemplate(query):
                fields["pods"] = self.list_of(query, f"{name} templates")
        return fields

    def _counts(self, component: ComponentRules, *, bounds: bool) -> dict[str, str]:
        counts = {"replicas": component.replicas, "minimum": component.min_replicas}
        if bounds:
            counts["maximum"] = component.max_replicas
        # a function with places gives the numbers, too
        read = partial(self.function, form="places") if bounds else self.list_of
        fields = {field: read(query, f"{component.name} {field}") for field, query in counts.items() if query}
        if bounds and component.has_default_count:
            fields["has_default"] = "true"
        return fields

    @contextmanager
    def in_units(self) -> Iterator[None]:
        """Write about the units of a definition that counts them, whose shares are never more than the whole."""
        definition, table = self.definition, self._table
        if definition.in_units:
            self.definition, self._table = definition.in_units, ""
            self.features.add("shares")
        yield
        self.definition, self._table = definition, table

    def text(self) -> str:
        """Return the whole script but for its header."""
        body = "\n\n".join(self.parts)
        library = used(body, self.features)
        kube = 'local kube = require("kube")' if "kube" in words_of(f"{library}\n{body}") else ""
        body_text = f"-- {self.definition.gvk.kind}.\n\n{body}"
        shared = f"-- Functions that exported scripts share.\n\n{library}" if library else ""
        return "\n\n".join(part for part in (kube, shared, body_text) if part) + "\n"


def check_size(text: str) -> str:
    """Return the script. Raises ExportError if it is too large."""
    size = len(text.encode())
    if size > LARGEST:
        raise ExportError(f"the script has {size} bytes, more than {LARGEST}")
    return text


def lua_value(value: values.JSON) -> str:
    """Return a JSON value as the text of Lua."""
    return written(constant(value))


def field_of(manifest: values.JSON, text: str) -> str:
    """Return the path of the first field of a Karta that has an expression, or nothing if no field has it.

    >>> field_of({"spec": {"parts": [{"path": ".a"}]}}, ".a")
    'spec.parts[0].path'
    """
    expression_text = " ".join(text.split())
    texts = ((path, part) for path, part in values.parts_within(manifest) if path and isinstance(part, str))
    for path, value in texts:
        expression = " ".join(value.split())
        # the value of an annotation is YAML, with expressions in it
        if expression == expression_text or (path[0] == "metadata" and expression_text in expression):
            return format_path(path)
    return ""
