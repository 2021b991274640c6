"""Warnings about expressions that are allowed and do not give the answer that they seem to give."""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence

from karta_interpreter.findings import Finding, Severity
from karta_interpreter.jq import Query
from karta_interpreter.k8s.values import Path
from karta_interpreter.karta.cardinality import selections, several, shared_default
from karta_interpreter.karta.expressions import Parsed
from karta_interpreter.karta.model import ComponentDefinition, Karta, ScaleDefinition
from karta_interpreter.karta.writability import names_places, takes_number


def lint_expressions(karta: Karta, parsed: Sequence[Parsed], elastic: Container[str] | None) -> Iterator[Finding]:
    """Yield what is suspicious in the usable expressions of a definition; without ``elastic``, bounds make elastic."""
    components = dict(karta.spec.structure_definition.components)
    by_component = _by_component(parsed, components)
    for path, component in components.items():
        usable = {expression.path: expression for expression in by_component[path]}
        for expression in _read_per_instance(path, usable):
            yield from _shared_default(expression)
            yield from _instances(path, component, expression, usable)
        yield from _suspend_places(usable)
        yield from _scale_places(path, component, elastic, usable)


def _by_component(parsed: Sequence[Parsed], paths: Collection[Path]) -> Mapping[Path, Sequence[Parsed]]:
    """The expressions of each component, in one pass: a definition may have thousands of components."""
    found: dict[Path, list[Parsed]] = {path: [] for path in paths}
    depths = {len(path) for path in paths}
    for expression in parsed:
        for depth in depths:
            if (path := expression.path[:depth]) in found:
                found[path].append(expression)
    return found


def _read_per_instance(path: Path, usable: Mapping[Path, Parsed]) -> list[Parsed]:
    """The expressions of a component that give one result for each of its instances."""
    parts = ("specDefinition", "scaleDefinition")
    depth = len(path)
    return [expression for at, expression in usable.items() if len(at) > depth and at[depth] in parts]


def _shared_default(expression: Parsed) -> Iterator[Finding]:
    rewriting = shared_default(expression.node)
    if rewriting is not None:
        written, better = rewriting
        yield _warning(
            "shared-default",
            expression,
            f"`{written}` drops every instance that leaves the value unset: the default is for the whole list",
            f"write `{better}`",
        )


def _instances(
    path: Path, component: ComponentDefinition, expression: Parsed, usable: Mapping[Path, Parsed]
) -> Iterator[Finding]:
    ids = usable.get((*path, "instanceIdPath"))
    if component.instance_id_path is None and several(expression.node):
        yield _warning(
            "several-without-ids",
            expression,
            "the expression may give several results, but the component has no instanceIdPath to name them",
            "add instanceIdPath, or pick one result with `first(...)`",
        )
    if ids is not None and selections(expression.node) != selections(ids.node):
        yield _warning(
            "select-differs",
            expression,
            f"its `select` is not that of instanceIdPath `{ids.text}`: results and ids are paired by position",
            "leave the same instances out of both, or none",
        )


def _suspend_places(usable: Mapping[Path, Parsed]) -> Iterator[Finding]:
    for at, expression in usable.items():
        if "suspendDefinition" in at and not names_places(_query(expression)):
            yield _warning(
                "suspend-path-not-writable",
                expression,
                "the expression computes a value; nothing can be written there",
                "write a path, such as `.spec.suspend`",
            )


def _scale_places(
    path: Path, component: ComponentDefinition, elastic: Container[str] | None, usable: Mapping[Path, Parsed]
) -> Iterator[Finding]:
    """Components whose number of replicas Karmada is meant to change, and cannot."""
    scale = component.scale_definition or ScaleDefinition()
    bounded = scale.min_replicas_path is not None or scale.max_replicas_path is not None
    if not (bounded if elastic is None else component.name in elastic):
        return
    field = "replicasPath" if scale.replicas_path is not None else "minReplicasPath"
    expression = usable.get((*path, "scaleDefinition", field))
    if expression is None or shared_default(expression.node) is not None:
        return
    if not takes_number(_query(expression)):
        yield _warning(
            "replicas-not-writable",
            expression,
            f'the component "{component.name}" is elastic, but no number can be written through this expression',
            "read the number from one place: `.spec.replicas // 1`, `.spec.groups[] | .replicas * .hosts`",
        )


def _query(expression: Parsed) -> Query:
    return Query.compile(expression.text, expression.variables)


def _warning(rule: str, expression: Parsed, message: str, hint: str) -> Finding:
    return Finding(Severity.WARNING, rule, expression.path, message, hint, expression=expression.text)
