"""One script of a definition, put together from its expressions and the functions of the library."""

from collections.abc import Sequence
from functools import partial

from karta_interpreter.base.errors import ExportError
from karta_interpreter.base.k8s.values import JSON
from karta_interpreter.definitions.karta.definition import Component, Definition, Fragments, PodSpec, PodTemplate
from karta_interpreter.export.comments import Comment
from karta_interpreter.export.expressions import Expressions
from karta_interpreter.export.library import used, words_of
from karta_interpreter.export.lua import constant, quoted, written

LARGEST = 64 * 1024
"""The bytes of a script, above which it is not exported, as Karmada compiles it at each call."""


class OperationScript(Expressions):
    """The functions of expressions, the components that have them, and what the operation does with these."""

    def __init__(self, definition: Definition, comments: Sequence[Comment] = (), *, traced: bool = False) -> None:
        super().__init__(definition, comments, traced=traced)
        self.features: set[str] = set()
        self._table = ""

    def components(self) -> str:
        """Write a table of the components with pods and the bounds of their counts, and return its name."""
        if not self._table:
            fields = [self.component(each, counted=True, bounds=True) for each in self.definition.leaves]
            body = "".join(f"  {line},\n" for line in fields)
            self._table = self.new("components")
            self.add(f"local {self._table} = {{\n{body}}}")
        return self._table

    def component(self, component: Component, *, counted: bool, bounds: bool = False) -> str:
        """Return the table of a component; its functions give lists of outputs."""
        name = component.name
        fields = {"name": quoted(name)}
        if component.instance_ids:
            fields["ids"] = self.list_of(component.instance_ids, f"{name} ids")
        match component.pods:
            case Fragments(queries):
                pieces = [(field.removesuffix("Path"), query) for field, query in queries]
                texts = [f"{piece} = {self.list_of(query, f'{name} {piece}')}" for piece, query in pieces]
                fields["pieces"] = f"{{{', '.join(texts)}}}"
                fields |= {"needs_no_piece": "true"} if component.needs_no_piece else {}
            case PodSpec(query, metadata):
                fields |= {"pods": self.list_of(query, f"{name} pod specs"), "is_spec": "true"}
                fields |= {"metadata": self.list_of(metadata, f"{name} metadata")} if metadata else {}
            case PodTemplate(query):
                fields["pods"] = self.list_of(query, f"{name} templates")
        if counted:
            fields |= self._counts(component, bounds=bounds)
        for added in self.definition.annotations.added_containers:
            if added.component == name and not bounds:
                fields["added"] = self.list_of(added.query, f"{name} added containers")
                fields |= {"adds_each": "true"} if added.each else {}
        self.features |= fields.keys()
        if bounds and (component.min_replicas or component.max_replicas):
            self.features.add("bounds")
        return f"{{{', '.join(f'{field} = {value}' for field, value in fields.items())}}}"

    def _counts(self, component: Component, *, bounds: bool) -> dict[str, str]:
        counts = {"replicas": component.replicas, "minimum": component.min_replicas}
        if bounds:
            counts["maximum"] = component.max_replicas
        # a function with places gives the numbers, too
        read = self.places_of if bounds else partial(self.list_of, of_counts=True)
        fields = {field: read(query, f"{component.name} {field}") for field, query in counts.items() if query}
        return fields | ({"has_default": "true"} if bounds and component.has_default_count else {})

    def text(self) -> str:
        """Return the whole script but for its header."""
        body = "\n\n".join(self.parts)
        library = used(body, self.features)
        kube = 'local kube = require("kube")' if "kube" in words_of(f"{library}\n{body}") else ""
        own = f"-- {self.definition.gvk.kind}.\n\n{body}"
        shared = f"-- Functions that exported scripts share.\n\n{library}" if library else ""
        return "\n\n".join(part for part in (kube, shared, own) if part) + "\n"


def check_size(text: str) -> str:
    """Return a script that is small enough; raise ExportError for another one."""
    size = len(text.encode())
    if size > LARGEST:
        raise ExportError(f"the script has {size} bytes, more than {LARGEST}")
    return text


def lua_value(value: JSON) -> str:
    """A JSON value as the text of Lua."""
    return written(constant(value))
