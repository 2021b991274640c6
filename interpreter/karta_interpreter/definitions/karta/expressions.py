"""The jq expressions of a definition: each is parsed, checked in its place, and examined without an object.

The examination finds how many results an expression gives, and whether it can be written through. For the latter the
expression is evaluated on an empty object. If the result depends on the elements of a list, or cannot be read there,
the expression is accepted.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from karta_interpreter.base.errors import (
    InterpretationError,
    QueryError,
    QueryEvaluationError,
    QuerySyntaxError,
    QueryWriteError,
)
from karta_interpreter.base.findings import Finding, Span, error, warning
from karta_interpreter.base.k8s import Object, Path, Projection, field_path, get, set_value
from karta_interpreter.definitions.karta.expression_text import PodQuery, count_places
from karta_interpreter.definitions.karta.identity import REFERENCES
from karta_interpreter.definitions.karta.model import KartaResource
from karta_interpreter.definitions.karta.rules import violation
from karta_interpreter.definitions.karta.schema_types import expressions_of
from karta_interpreter.languages.jq import (
    GENERATORS,
    PICKERS,
    Execution,
    OutputKind,
    Query,
    Reason,
    children,
    examine,
    key_of,
    mark_all,
    parse,
    parts_of,
    project,
    render,
    result_of,
    syntax as ast,
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A usable expression, its path, and the references that it may read."""

    path: Path
    text: str
    node: ast.Node
    variables: frozenset[str] = frozenset()

    @property
    def query(self) -> Query:
        """The expression, ready to use."""
        return Query.compile(self.text, self.variables)


def check_expressions(karta: KartaResource) -> tuple[list[Parsed], list[Finding]]:
    """Return the usable expressions of a definition, and the findings about all of them."""
    usable: list[Parsed] = []
    findings: list[Finding] = []
    names = [reference.name.removeprefix("$") for reference in karta.spec.structure_definition.references]
    for path, text in expressions_of(karta.spec, ("spec",)):
        readable = frozenset(names)
        if path[: len(REFERENCES)] == REFERENCES:
            # References are looked up in their order. The name of an object may be in one that was found before.
            readable = frozenset(names[: int(path[len(REFERENCES)])] if path[-1] == "nameExpression" else ())
        parsed, problems = check_expression(path, text, readable)
        later = {*names[int(path[len(REFERENCES)]) + 1 :]} if problems and path[-1] == "nameExpression" else ()
        findings += [
            replace(problem, hint=f"`{name}` is looked up after `{names[int(path[len(REFERENCES)])]}`: put it before")
            if problem.span and (name := problem.expression[problem.span.start + 1 : problem.span.end]) in later
            else problem
            for problem in problems
        ]
        if parsed is not None:
            usable.append(parsed)
    return usable, findings


def check_expression(
    path: Path, text: str, variables: frozenset[str] = frozenset()
) -> tuple[Parsed | None, list[Finding]]:
    """Check one expression, which may read ``variables``: does it parse, is it allowed, does it run in this process.

    Expressions about pods never run here, so they have no warning about where they would run. References are looked
    up for workloads only, so expressions about pods cannot read any.
    """
    about_pod, text = isinstance(text, PodQuery), str(text)
    variables = frozenset() if about_pod else variables
    try:
        node, vetting = examine(text, variables)
    except QuerySyntaxError as err:
        finding = _error("expression-syntax", path, text, err, Span(err.start, err.end))
        return None, [replace(finding, hint=json_path_hint(text) or finding.hint)]
    if vetting.refusals:
        refused = [_error("expression-refused", path, text, refusal, refusal.span) for refusal in vetting.refusals]
        # An expression alone, as `query` has it, stands at no path.
        if (
            path
            and path[-1] in ("nameExpression", "namespaceExpression")
            and re.fullmatch(r"[a-z0-9][-a-z0-9.]*", text)
        ):
            refused = [replace(refused[0], hint=f"""a text has quotes of its own: {path[-1]}: '"{text}"'""", span=None)]
        return None, refused
    parsed = Parsed(path, text, node, variables)
    if other := misread_path(text, node):
        return parsed, [replace(violation("path-misread", path, written=other[0], better=other[1]), expression=text)]
    if vetting.verdict is not Execution.BOUNDED or about_pod:
        return parsed, []
    reasons = "; ".join(dict.fromkeys(note.message for note in vetting.notes))
    message = f"a separate process answers this expression, under a time limit: {reasons}"
    finding = warning(
        "bounded-expression",
        path,
        message,
        "the answer changes with time, and Karmada asks when the object changes: read a condition or a phase instead"
        if any(isinstance(part, ast.FunctionCall) and part.name == "now" for part in parts_of(node))
        else "paths, `[]`, `//`, `select`, arithmetic and comparisons are answered at once",
    )
    return parsed, [replace(finding, expression=text, span=vetting.notes[0].span)]


_QUOTED_PATH: Final = re.compile(r"\{?\.?((?:spec|status|metadata)[.\[].*?)\}?")
_MISWRITTEN_STEP: Final = re.compile(
    r"\.(?:Spec|Status|Metadata|Values)\b|^\.(?:labels|annotations)\b|(?<=[\w\])])\[(?:first|last)\]"
)


def misread_path(text: str, node: ast.Node) -> tuple[str, str] | None:
    """Return a part of an expression that jq does not read as the path that it seems to be, and what to write.

    >>> misread_path(".spec.a .spec.b", parse(".spec.a .spec.b"))
    ('.spec.a .spec.b', '.spec.a, .spec.b')
    >>> misread_path('"spec.n"', parse('"spec.n"')), misread_path(".Spec.n", parse(".Spec.n"))
    (('"spec.n"', '.spec.n'), ('.Spec', '.spec'))
    >>> misread_path("has(.spec.n)", parse("has(.spec.n)"))
    ('has(.spec.n)', '.spec | has("n")')
    >>> misread_path("if not .spec.a then 1 else 2 end", parse("if not .spec.a then 1 else 2 end"))
    ('if not .spec.a then 1 else 2 end', 'if (.spec.a | not) then 1 else 2 end')
    """
    match node:
        case ast.Literal(str() as value) if quoted := _QUOTED_PATH.fullmatch(value):
            return text, f".{quoted[1]}"
    if step := _MISWRITTEN_STEP.search(text):
        better = re.sub(r"^(?=\.(?:labels|annotations))", ".metadata", step[0].lower())
        return step[0], better.replace("values", "spec").replace("first", "0").replace("last", "-1")
    for descendant in parts_of(node) if "has" in text else ():
        match descendant:
            case ast.FunctionCall("has", (ast.Index(target, ast.Literal(str()) as key),)):
                return render(descendant), render(ast.Pipe(target, ast.FunctionCall("has", (key,))))
    steps = [descendant for descendant in parts_of(node) if isinstance(descendant, ast.Index)] if " ." in text else []
    ends = (step.target.span.end for step in steps if not isinstance(step.target, ast.Identity))
    end = next((end for end in ends if text[end : end + 1] == " "), None)
    if end is None:
        return None
    if negated := [step.span.end for step in steps if text[step.span.start : end] == "not"]:
        return text, f"{text[: end - 3]}({text[end : max(negated)].lstrip()} | not){text[max(negated) :]}"
    # PHP joins texts by a dot.
    return text, text[:end] + re.sub(r"^ +(?=[^ +])", ", ", re.sub(r'^ +\. +(?=")', " + ", text[end:]))


_JSON_PATH: Final = re.compile(r"\{(\.[\w.*\[\]-]+)\}")


def json_path_hint(text: str) -> str:
    """Return a hint for a path in kubectl's JSONPath, "" for any other text.

    >>> json_path_hint("{.status.phase}")
    "{ } around a path is kubectl's JSONPath; write `.status.phase`"
    """
    match = _JSON_PATH.fullmatch(text.strip())
    return f"{{ }} around a path is kubectl's JSONPath; write `{match[1].replace('[*]', '[]')}`" if match else ""


def _error(rule: str, path: Path, text: str, wrong: QuerySyntaxError | Reason, span: Span) -> Finding:
    return replace(error(rule, path, wrong.message, wrong.hint), expression=text, span=span)


_SEVERAL: Final = (ast.Iterate, ast.Comma, ast.Foreach)


def several(node: ast.Node) -> bool:
    r"""Return whether an expression may yield more than one result.

    >>> several(parse(".spec.groups[].name")), several(parse("[.spec.groups[].name] | length"))
    (True, False)
    >>> several(parse(r'"\(.metadata.name)-\(.spec.groups[].name)"'))
    True
    """
    return any(
        key_of(stage) in GENERATORS if isinstance(stage, ast.FunctionCall) else isinstance(stage, _SEVERAL)
        for stage in parts_of(node, _flow)
    )


def selections(node: ast.Node) -> list[str]:
    """Return the `select(...)` calls that leave results out, as text.

    >>> selections(parse('.a[] | select(.on) | .b'))
    ['select(.on)']
    """
    texts: list[str] = []
    for stage in parts_of(node, _flow):
        match stage:
            case ast.FunctionCall("select", [_]):
                texts.append(render(stage))
            case ast.FunctionCall(_, [*_, picked]) if key_of(stage) in PICKERS:
                texts += selections(picked)
    return texts


def shared_default(node: ast.Node) -> tuple[str, str] | None:
    """Return a `//` with several results on its left side, and how to give each of them the default.

    ``X[].y // 1`` drops every unset y, and yields 1 only if all are unset: one default for the whole list.

    >>> shared_default(parse(".spec.groups[].replicas // 1"))
    ('.spec.groups[].replicas // 1', '.spec.groups[] | .replicas // 1')
    """
    for current in parts_of(node):
        if isinstance(current, ast.Alternative) and several(current.left):
            iterated, remainder = _split(current.left)
            return render(current), render(ast.Pipe(iterated, ast.Alternative(remainder, current.right)))
    return None


def compares_alternative(key: str) -> bool:
    """Return whether `KEY == value` compares the default of KEY with the value.

    >>> compares_alternative(".a // 1"), compares_alternative("(.a // 1)")
    (True, False)
    """
    with suppress(QuerySyntaxError):
        return isinstance(parse(f"{key} == 0"), ast.Alternative)
    return False


def useless_defaults(node: ast.Node, *, of_count: bool) -> list[str]:
    """Return each `// null`, as text, and for a count each `//` with a default that is not a count.

    After a list `// null` has an effect: it yields one null if all elements are absent.

    >>> useless_defaults(parse(".spec.n // null"), of_count=False), useless_defaults(parse(".n // -1"), of_count=True)
    (['.spec.n // null'], ['.n // -1'])
    """
    texts = []
    for current in parts_of(node, result_nodes if of_count else children):
        match current:
            case ast.Alternative(left, ast.Literal(value)) if not several(left):
                is_number = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
                if value is None or (of_count and not (is_number or (isinstance(value, str) and value.isdigit()))):
                    texts.append(render(current))
    return texts


def fields_read(node: ast.Node) -> frozenset[str]:
    """Return the fields of the object that an expression reads something of, none if it reads the object as a whole.

    >>> fields_read(parse(".status.replicas // 1")), fields_read(parse("length"))
    (frozenset({'status'}), frozenset())
    """
    projection = Projection()
    mark_all(project(node, (projection,)))
    return frozenset() if projection.is_whole else frozenset(projection.fields)


BOOLEAN: Final = frozenset({"==", "!=", "<", ">", "<=", ">=", "and", "or"})


def is_boolean(node: ast.Node) -> bool:
    """Return whether the output is always true or false.

    >>> is_boolean(parse(".spec.n > 1")), is_boolean(parse(".spec.on"))
    (True, False)
    """
    match node:
        case ast.Binary(operator):
            return operator in BOOLEAN
        case ast.FunctionCall():
            return result_of(node) is OutputKind.BOOLEAN
        case ast.Pipe(_, right):
            return is_boolean(right)
        case ast.Literal(value):
            return isinstance(value, bool)
    return False


LETTERS: Final = {"ascii_downcase": str.lower, "ascii_upcase": str.upper}


def matching_text(node: ast.Node, text: str) -> str:
    """Return a text as a result of an expression is written. It is the same text, unless no result can have it.

    >>> matching_text(parse(".status.ready // 0"), "7.0"), matching_text(parse(".status.on // false"), "True")
    ('7', 'true')
    >>> matching_text(parse(".status.version"), "7.0"), matching_text(parse(".status.phase"), '"Ready"')
    ('7.0', 'Ready')
    """
    results = [*parts_of(node, result_nodes)]
    types = {type(result.value) for result in results if isinstance(result, ast.Literal)}
    if int in types and str not in types and re.fullmatch(r"[-+]?[0-9]{1,15}(\.[0-9]+)?", text):
        return f"{float(text):.15g}"
    if is_boolean(node) or (types == {bool} and text.lower() in ("true", "false")):
        return "false" if text.lower() == "false" else "true"
    return (
        re.sub(r'^["“]([^"“”]*)["”]$|^(\w+)\|.*', r"\1\2", text)
        if isinstance(results[-1], ast.Index) or types == {bool}
        else LETTERS.get(getattr(results[-1], "name", ""), str)(text)
    )


def in_one_word(text: str) -> str:
    """Return a text as the types and reasons of conditions are written, which have no spaces.

    >>> in_one_word("Nodes are lost "), in_one_word("example.com/ready")
    ('NodesAreLost', 'example.com/ready')
    """
    return re.sub(r"\s+(\S?)", lambda begin: begin[1].upper(), re.sub(r"[|*=].*|!", "", text).strip())


def open_choices(node: ast.Node) -> list[str]:
    """Return each `if` without `else` that gives the whole object it asks about, unless its condition holds, as text.

    >>> open_choices(parse(".spec | if .on then .n end"))
    ['if .on then .n end']
    >>> open_choices(parse(".spec.n | if . == null then 1 end"))
    []
    """
    return [
        render(choice)
        for choice in parts_of(node)
        if isinstance(choice, ast.If)
        and choice.otherwise is None
        and any(plain_path(part) for condition, _ in choice.branches for part in parts_of(condition))
        and any(isinstance(then, ast.Literal | ast.Index | ast.Alternative) for _, then in choice.branches)
    ]


def without_default(node: ast.Node) -> ast.Node:
    """Return the expression before a default, or any other expression as it is."""
    return node.left if isinstance(node, ast.Alternative) else node


def result_nodes(node: ast.Node) -> tuple[ast.Node, ...]:
    """Return the nodes with results that become the result of the whole expression in any case, or a factor of it."""
    match node:
        case ast.Pipe(_, right) | ast.Alternative(_, right):
            return (right,)
        case ast.Binary("*", left, right):
            return (left, right)
        case ast.If(branches, otherwise):
            return (*(then for _, then in branches), *filter(None, (otherwise,)))
    return ()


def _split(node: ast.Node) -> tuple[ast.Node, ast.Node]:
    """Split a path into the part that yields several results and the part that reads each of them."""
    match node:
        case ast.Index(target, key) if several(target):
            iterated, remainder = _split(target)
            return iterated, ast.Index(remainder, key)
        case ast.Pipe(left, right) if several(left) and not several(right):
            return left, right
    return node, ast.Identity()


def _flow(node: ast.Node) -> tuple[ast.Node, ...]:
    """Return the nodes below that determine the number of results of the whole expression."""
    match node:
        case ast.Pipe(left, right) | ast.Alternative(left, right) | ast.Binary(_, left, right):
            return left, right
        case ast.Index(target, key):
            return target, key
        case ast.Slice(target, _, _) | ast.Iterate(target):
            return (target,)
        case ast.Try(body, _) | ast.Negate(body) | ast.Label(_, body) | ast.Define(_, _, _, body):
            return (body,)
        case ast.Bind(source, _, body):
            return source, body
        case ast.Text(pieces):
            return tuple(piece for piece in pieces if not isinstance(piece, str))
        case ast.If(branches, otherwise):
            stages = tuple(stage for branch in branches for stage in branch)
            return stages if otherwise is None else (*stages, otherwise)
    return ()


_BARE: Final[Object] = {"metadata": {"labels": {}, "annotations": {}}, "spec": {}, "status": {}}
_WHOLE: Final[frozenset[Path]] = frozenset(
    {(), ("metadata",), ("spec",), ("metadata", "labels"), ("metadata", "annotations")}
)


def names_places(query: Query) -> bool:
    """Return whether all results are values at some path.

    >>> names_places(Query.compile(".spec.groups[].name")), names_places(Query.compile(".spec.n - .spec.m"))
    (True, False)
    """
    # An expression such as `.spec | keys` fails on an empty object, which decides nothing.
    return not any(isinstance(result, ast.Binary) for result in parts_of(query.node, result_nodes)) and all(
        _places(query.paths, value) is not False for value in ({}, _BARE)
    )


def takes_number(query: Query) -> bool:
    """Return whether a number can be written so that it becomes the result.

    >>> takes_number(Query.compile("(.spec.n // 1) * 2")), takes_number(Query.compile("1"))
    (True, False)
    """
    # Reading `.n * .m` fails on an empty object, which decides nothing. With a number in both fields it has places.
    filled: Object = {}
    for path in filter(None, map(plain_path, parts_of(query.node))):
        with suppress(InterpretationError):  # another path continues below a number
            filled = set_value(filled, path, get(filled, path) or 1)
    results = [_places(partial(count_places, query), value) for value in ({}, filled)]
    return True in results or False not in results


def reads_object(node: ast.Node) -> bool:
    """Return whether an expression reads anything of its input.

    >>> reads_object(parse(".spec.n + 1")), reads_object(parse("2 * 3"))
    (True, False)
    """
    return any(isinstance(inner, ast.Identity) for inner in parts_of(node))


def plain_path(node: ast.Node) -> Path | None:
    """Return the path if a node only reads fields of the input, None for any other node."""
    match node:
        case ast.Identity():
            return ()
        case ast.Index(target, ast.Literal(str(key))):
            path = plain_path(target)
            return None if path is None else (*path, key)
    return None


def _places(places: Callable[[Object], Sequence[object]], value: Object) -> bool | None:
    """Return whether every result has a place, None if the expression cannot be evaluated on this value."""
    try:
        return None not in places(value)
    except QueryWriteError:
        return False
    except QueryEvaluationError:
        return None


def whole_places(query: Query) -> list[str]:
    """Return the results that cannot be meant as a path: the whole object, its metadata, or its spec.

    >>> whole_places(Query.compile(".[]")), whole_places(Query.compile(".spec.n"))
    (['metadata', 'spec'], [])
    """
    try:
        return [field_path(path) for path in query.paths(_BARE) if path in _WHOLE]
    except QueryError:
        return []


def split_default(text: str) -> tuple[str, str | float | bool | None, bool]:
    """Return a path, the literal of the default after it (None without one), and whether the default is ``empty``.

    >>> split_default("select(.a // 1) | .spec.suspend // false")
    ('select(.a // 1) | .spec.suspend', False, False)
    >>> split_default(".spec.gates // empty")
    ('.spec.gates', None, True)
    """
    try:
        last = parse(text)
        while isinstance(last, ast.Pipe):
            last = last.right
        if isinstance(last, ast.Alternative) and isinstance(last.right, ast.Literal | ast.FunctionCall):
            path = text[: last.left.span.end]
            parse(path)  # parentheses around the whole would leave an open one in the text before the default
            match last.right:
                case ast.Literal(value):
                    return path, value, False
                case ast.FunctionCall("empty", ()):
                    return path, None, True
    except QuerySyntaxError:
        pass  # reported by the check of the whole expression
    return text, None, False
