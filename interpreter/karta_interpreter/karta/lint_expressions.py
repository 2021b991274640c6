"""Warnings about expressions that are allowed and do not give the answer that they seem to give."""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence

from karta_interpreter.findings import Finding, Severity
from karta_interpreter.jq import Query
from karta_interpreter.k8s.values import Path
from karta_interpreter.karta.expression_traits import names_places, selections, several, shared_default, takes_number
from karta_interpreter.karta.expressions import Parsed
from karta_interpreter.karta.model import ComponentDefinition, Karta, ScaleDefinition

_PER_INSTANCE = ("specDefinition", "scaleDefinition")


def lint_expressions(karta: Karta, parsed: Sequence[Parsed], elastic: Container[str] | None) -> Iterator[Finding]:
    """Yield what is suspicious in the usable expressions of a definition; without ``elastic``, bounds make elastic."""
    components = dict(karta.spec.structure_definition.components)
    by_component = _by_component(parsed, components)
    for path, component in components.items():
        usable = {expression.path[len(path) :]: expression for expression in by_component[path]}
        for at, expression in usable.items():
            if at and at[0] in _PER_INSTANCE:
                yield from _per_instance(component, expression, usable.get(("instanceIdPath",)))
        yield from _suspend_places(usable)
        yield from _scale_places(component, elastic, usable)


def _by_component(parsed: Sequence[Parsed], paths: Collection[Path]) -> Mapping[Path, Sequence[Parsed]]:
    """The expressions of each component, in one pass: a definition may have thousands of components."""
    found: dict[Path, list[Parsed]] = {path: [] for path in paths}
    depths = {len(path) for path in paths}
    for expression in parsed:
        for depth in depths:
            if (path := expression.path[:depth]) in found:
                found[path].append(expression)
    return found


def _per_instance(component: ComponentDefinition, expression: Parsed, ids: Parsed | None) -> Iterator[Finding]:
    """Expressions that give one result for each instance of a component."""
    rewriting = shared_default(expression.node)
    if rewriting is not None:
        written, better = rewriting
        message = f"`{written}` drops every instance that leaves the value unset: the default is for the whole list"
        yield _warning("shared-default", expression, message, f"write `{better}`")
    if component.instance_id_path is None and several(expression.node):
        message = "the expression may give several results, but the component has no instanceIdPath to name them"
        hint = "add instanceIdPath, or pick one result with `first(...)`"
        yield _warning("several-without-ids", expression, message, hint)
    if ids is not None and selections(expression.node) != selections(ids.node):
        message = f"its `select` is not that of instanceIdPath `{ids.text}`: results and ids are paired by position"
        yield _warning("select-differs", expression, message, "leave the same instances out of both, or none")


def _suspend_places(usable: Mapping[Path, Parsed]) -> Iterator[Finding]:
    for at, expression in usable.items():
        if "suspendDefinition" in at and not names_places(_query(expression)):
            message = "the expression computes a value; nothing can be written there"
            yield _warning("suspend-path-not-writable", expression, message, "write a path, such as `.spec.suspend`")


def _scale_places(
    component: ComponentDefinition, elastic: Container[str] | None, usable: Mapping[Path, Parsed]
) -> Iterator[Finding]:
    """Components whose number of replicas Karmada is meant to change, and cannot."""
    scale = component.scale_definition or ScaleDefinition()
    bounded = scale.min_replicas_path is not None or scale.max_replicas_path is not None
    if not (bounded if elastic is None else component.name in elastic):
        return
    field = "replicasPath" if scale.replicas_path is not None else "minReplicasPath"
    expression = usable.get(("scaleDefinition", field))
    if expression is None or shared_default(expression.node) is not None:
        return
    if not takes_number(_query(expression)):
        message = f'the component "{component.name}" is elastic, but no number can be written through this expression'
        hint = "read the number from one place: `.spec.replicas // 1`, `.spec.groups[] | .replicas * .hosts`"
        yield _warning("replicas-not-writable", expression, message, hint)


def _query(expression: Parsed) -> Query:
    return Query.compile(expression.text, expression.variables)


def _warning(rule: str, expression: Parsed, message: str, hint: str) -> Finding:
    return Finding(Severity.WARNING, rule, expression.path, message, hint, expression=expression.text)
