"""The shapes of an expression's outputs for an object of a CRD, and the contradictions to the schema on the way."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, product
from typing import Final

from msgspec.structs import replace

from karta_interpreter.base.findings import Finding, Span, closest, did_you_mean, error, warning
from karta_interpreter.base.k8s import QUANTITY
from karta_interpreter.definitions.openapi.check.expected import within
from karta_interpreter.definitions.openapi.check.shape import (
    ANY,
    BOOLEAN,
    NULL,
    NUMBER,
    TEXT,
    WRONG_TYPE,
    Shape,
    Shapes,
    TypeScope,
    list_of,
    literal,
    object_of,
    unique,
)
from karta_interpreter.languages.jq import Argument, OutputKind, children, function_of, is_merge, render, syntax as ast

_CONTAINERS: Final = ("array", "object")
_AMOUNTS: Final = ("cpu", "memory", "ephemeral-storage")
_OF_ELEMENTS: Final = (OutputKind.ELEMENT, OutputKind.SUM, OutputKind.ENTRIES)


def outputs(node: ast.Node, inputs: Shapes, scope: TypeScope) -> Shapes:  # noqa: C901, PLR0911, PLR0912 - one case each
    """Return the shapes of an expression's outputs. Add contradictions to the schema to ``scope.found``.

    A construct that is not followed yields `ANY`, which contradicts nothing.

    >>> from karta_interpreter.languages.jq import parse
    >>> root = Shape({"properties": {"spec": {"properties": {"size": {"type": "integer"}}}}}, ".")
    >>> scope = TypeScope()
    >>> outputs(parse(".spec.sizes // 1"), (root,), scope)[-1].noun
    'an integer'
    >>> [(contradiction.message, contradiction.hint) for contradiction in scope.found]
    [('the CRD has no field .spec.sizes', 'did you mean size?')]
    """
    match node:
        case ast.Pipe(left, right):
            return outputs(right, outputs(left, inputs, scope), scope)
        case ast.Comma(left, right):
            return unique((outputs(left, inputs, scope), outputs(right, inputs, scope)))
        case ast.Alternative(left, right):
            shapes = outputs(left, inputs, scope)
            _check_default(shapes, right, scope)
            if isinstance(right, ast.Array):
                shapes = tuple(map(_listed, shapes))
            return unique((shapes, outputs(right, inputs, scope)))
        case ast.Binary(_, left, right):
            return _operation(node, outputs(left, inputs, scope), outputs(right, inputs, scope), scope)
        case ast.Try(body, handler):
            tried = outputs(body, inputs, replace(scope, is_tried=True))
            return tried if handler is None else unique((tried, outputs(handler, (TEXT,), scope)))
        case ast.If(branches, otherwise):
            for condition, _ in branches:
                outputs(condition, inputs, scope)
            results = [otherwise or ast.Identity(), *(then for _, then in branches)]
            return unique(outputs(result, inputs, scope) for result in results)
        case ast.Variable(name):
            return scope.variables.get(name, (ANY,))
        case ast.Bind(source, (ast.VariablePattern(name),), body):
            variables = {**scope.variables, name: outputs(source, inputs, scope)}
            return outputs(body, inputs, replace(scope, variables=variables))
        case ast.Bind(source, _, body):  # the patterns name parts, and may hide variables of the same name
            outputs(source, inputs, scope)
            return outputs(body, inputs, replace(scope, variables={}))
        case ast.Reduce(source) | ast.Foreach(source):
            outputs(source, inputs, scope)
        case ast.Define(name, _, _, body):
            return outputs(body, inputs, replace(scope, functions=scope.functions | {name}))
        case ast.FunctionCall(name) if name not in scope.functions:
            return _called(node, inputs, scope)
        case _:
            return _read_or_made(node, inputs, scope)
    return (ANY,)


def _listed(shape: Shape) -> Shape:
    """Return the shape of a value whose default is a list, which then is a list."""
    return shape if shape.is_known else replace(shape, schema={"type": "array"})


def _read_or_made(node: ast.Node, inputs: Shapes, scope: TypeScope) -> Shapes:  # noqa: C901, PLR0911 - one case each
    """Return the shapes of the parts at a path, or of a new value."""
    match node:
        case ast.Identity():
            return inputs
        case ast.Literal(value):
            return (literal(value),)
        case ast.Index(target, ast.Literal(str() as name) as key):
            return _fields(outputs(target, inputs, scope), name, node, key, scope)
        case ast.Index(_, ast.Binary("==") as test):
            hint = f"entries are chosen by `PATH[] | select({render(test)})`"
            scope.add(error(WRONG_TYPE, (), "an index is a number or a name, not a comparison", hint, span=test.span))
        case ast.Index(target, key):
            keys = outputs(key, inputs, scope)
            is_position = bool(keys) and all("integer" in key.types and "string" not in key.types for key in keys)
            shapes = outputs(target, inputs, scope)
            return _elements(shapes, "an index reads a list", ("array",) if is_position else _CONTAINERS, node, scope)
        case ast.Iterate(target):
            return _elements(outputs(target, inputs, scope), "`[]` reads a list or an object", _CONTAINERS, node, scope)
        case ast.Array(body):
            return (list_of(() if body is None else outputs(body, inputs, scope)),)
        case ast.Object(entries):
            return (_made(entries, inputs, scope),)
        case ast.Text() | ast.Format() | ast.Negate() | ast.Assign() | ast.Slice():
            outputs_of_children = [outputs(child, inputs, scope) for child in children(node)]
            match node:
                case ast.Slice():
                    return outputs_of_children[0]
                case ast.Assign():
                    return inputs
                case ast.Negate():
                    return (NUMBER,)
            return (TEXT,)
    return (ANY,)


def _fields(shapes: Shapes, name: str, node: ast.Node, key: ast.Node, scope: TypeScope) -> Shapes:
    """Return the shapes of a field. It is a contradiction only if none of the objects can have the field."""
    field_shapes: list[Shapes] = []
    wrong: list[Finding] = []
    for shape in shapes:
        if shape == NULL:
            continue
        below = None
        if "object" in shape.types or not shape.is_known:
            below = shape.field(name)
        if below is not None:
            field_shapes.append(below)
        elif "object" not in shape.types:
            wrong.append(_wrong_type(shape, f"`.{name}` reads an object", node.span, scope))
        else:
            at = "" if shape.at == "." else shape.at
            message = f"{scope.schema} has no field {at}.{name}"
            span = key.span if key.span.end else node.span
            wrong.append(error("crd-unknown-field", (), message, _other_field(shape, name, scope), span=span))
    return _unless(field_shapes, wrong, scope)


def _other_field(shape: Shape, name: str, scope: TypeScope) -> str:
    """Return which field an object has instead."""
    is_of_pod = scope.schema == "a pod"
    if closest(name, shape.fields):
        return did_you_mean(name, shape.fields)
    if shape.at == ".spec" and is_of_pod:
        return 'the pods of a component have a label: `.metadata.labels["KEY"]`'
    if shape.at not in ("", ".") or is_of_pod:
        return did_you_mean(name, shape.fields)
    return within(shape, name)


def _elements(shapes: Shapes, wants: str, types: Sequence[str], node: ast.Node, scope: TypeScope) -> Shapes:
    """Return the shapes of entries. It is a contradiction only if no value has one of the ``types``."""
    typed = [shape for shape in shapes if shape != NULL]
    elements = [shape.each() for shape in typed if not shape.is_known or shape.types.intersection(types)]
    return _unless(elements, [_wrong_type(shape, wants, node.span, scope) for shape in typed], scope)


def _unless(below: Sequence[Shapes], wrong: Sequence[Finding], scope: TypeScope) -> Shapes:
    if below or not wrong:
        scope.visited.extend(chain(*below))
        return unique(below)
    scope.add(wrong[0])
    return (ANY,)


def _wrong_type(shape: Shape, wants: str, span: Span, scope: TypeScope, hint: str = "") -> Finding:
    message = f"{shape.at or 'this'} is {shape.noun} in {scope.schema}, and {wants}"
    return error(WRONG_TYPE, (), message, hint, span=span)


def _made(entries: Iterable[ast.Entry], inputs: Shapes, scope: TypeScope) -> Shape:
    members: dict[str, Shapes] = {}
    is_named = True
    for entry in entries:
        value = outputs(entry.value, inputs, scope)
        match entry.key:
            case ast.Literal(str() as name):
                members[name] = value
                if name in _AMOUNTS:
                    _check_amount(entry.value, scope)
                    _check_amount(getattr(entry.value, "right", None), scope)
            case key:
                outputs(key, inputs, scope)
                is_named = False
    return object_of(members) if is_named else Shape({"type": "object"})


def _check_amount(amount: ast.Node | None, scope: TypeScope) -> None:
    texts = _texts_of(amount)
    if texts and not any(map(QUANTITY.fullmatch, texts)):
        message = f'"{texts[0]}" is not a quantity such as 100m, 1.5 or 2Gi'
        scope.add(error(WRONG_TYPE, (), message, "its units are k, M, G, Ki, Mi, Gi and m"))


def _texts_of(amount: ast.Node | None) -> list[str]:
    """Return the texts that an amount may be: a value within it may be a number, and may have a unit."""
    match amount:
        case ast.Literal(str() as text):
            return [text]
        case ast.Text(parts, None):
            number, amount_with_unit = "", ""
            for part in parts:
                number += part if isinstance(part, str) else "1"
                amount_with_unit += part if isinstance(part, str) else "1G"
            return [number, amount_with_unit]
        case ast.Binary("+", _, ast.Literal(str() as unit)):
            return [f"1{unit}", f"1G{unit}"]
    return []


_RESULTS: Final[Mapping[OutputKind, Shape]] = {
    OutputKind.NUMBER: NUMBER,
    OutputKind.TEXT: TEXT,
    OutputKind.BOOLEAN: BOOLEAN,
    OutputKind.TEXTS: list_of((TEXT,)),
}


def _called(node: ast.FunctionCall, inputs: Shapes, scope: TypeScope) -> Shapes:
    match node:
        case ast.FunctionCall("has", (ast.Literal(str() as field) as key,)):
            # `has` fails on a wrong type, but is mostly used to find out. It can never find an unknown field.
            _fields(inputs, field, key, key, replace(scope, is_tried=True))
            return (BOOLEAN,)
        case ast.FunctionCall("error", ()):
            return ()
        case ast.FunctionCall(name) if _are_apart(inputs, _READ.get(name, ())):
            scope.add(_wrong_type(inputs[0], f"`{name}` does not read it", node.span, scope))
    function = function_of(node)
    if function is None:
        return (ANY,)
    if callable(function.code):
        return outputs(function.code(*node.arguments), inputs, scope)
    elements = inputs
    if function.arguments[:1] == (Argument.EACH,) or function.result in _OF_ELEMENTS:
        wants = f"`{node.name}` reads a list or an object"
        elements = _elements(inputs, wants, _CONTAINERS, ast.Identity(), scope)
    last = elements
    for argument, kind in zip(node.arguments, function.arguments, strict=True):
        if kind is not Argument.SINGLE:  # it is about the matches of a pattern
            last = outputs(argument, last if kind is Argument.EACH else inputs, scope)
    _check_search(node, inputs, last, scope)
    return _result(function.result, inputs, elements, last)


def _check_search(node: ast.FunctionCall, inputs: Shapes, last: Shapes, scope: TypeScope) -> None:
    """Find a search for what no value equals or contains."""
    if node.name == "IN" and len(node.arguments) == 1:
        _compared(inputs, last, node.arguments[0], "==", scope)
    elif node.name == "contains" and _are_apart(inputs, last):
        scope.add(_wrong_type(inputs[0], f"never contains {last[0].noun}", node.span, scope))


def _result(result: OutputKind, inputs: Shapes, elements: Shapes, last: Shapes) -> Shapes:  # noqa: PLR0911 - one case each
    """Return the shapes of a result. ``last`` are the shapes of the last argument."""
    match result:
        case OutputKind.NOTHING:
            return ()
        case OutputKind.INPUT:
            return inputs
        case OutputKind.ELEMENT:
            return elements
        case OutputKind.OUTPUT:
            return last
        case OutputKind.OUTPUTS:
            return (list_of(last),)
        case OutputKind.SUM:
            types = frozenset(chain(*(shape.types or _CONTAINERS for shape in elements)))
            if types <= {"integer", "number"}:
                return (NUMBER,)
            return (Shape({"type": next(iter(types))}) if len(types) == 1 else ANY,)
        case OutputKind.KEYS:
            return unique((list_of((TEXT if "object" in shape.types else ANY,)),) for shape in inputs)
        case OutputKind.ENTRIES:
            key_shapes = {frozenset(("object",)): TEXT, frozenset(("array",)): literal(0)}
            keys = unique((key_shapes.get(shape.types, ANY),) for shape in inputs)
            return (list_of((object_of({"key": keys, "value": elements}),)),)
    return (_RESULTS.get(result, ANY),)


# What functions can read.
_READ: Final[Mapping[str, Shapes]] = {
    **dict.fromkeys(("startswith", "endswith", "test", "split", "ascii_downcase", "ascii_upcase"), (TEXT,)),
    "length": (NULL, TEXT, list_of(()), object_of({})),
    "tonumber": (NUMBER, TEXT),
}
_COMPARISONS: Final = ("==", "!=", "<", "<=", ">", ">=", "and", "or")
# The types that an operator takes two values of.
_ALIKE: Final[Mapping[str, frozenset[str]]] = {
    "+": frozenset(("number", "string", "array", "object")),
    "-": frozenset(("number", "array")),
    "*": frozenset(("number", "object")),
    "/": frozenset(("number", "string")),
    "%": frozenset(("number",)),
}
_NOUNS: Final = {"number": "numbers", "string": "strings", "array": "lists", "object": "objects"}


def _operation(node: ast.Binary, lefts: Shapes, rights: Shapes, scope: TypeScope) -> Shapes:
    """Return the shapes of an operator's outputs. Add impossible operations to ``scope.found``."""
    operator = node.operator
    if operator in _COMPARISONS[:-2]:
        _compared(lefts, rights, node.right, operator, scope)
        _compared(rights, lefts, node.left, operator, scope)
    if operator in _COMPARISONS:
        return (BOOLEAN,)
    _operands(node, lefts, rights, scope)
    if operator == "*" and _are_apart(lefts, rights):
        return (TEXT,)  # jq repeats the text
    both = unique((lefts, rights))
    if all("number" in shape.types or "integer" in shape.types for shape in both):
        return (NUMBER,)
    if operator == "+" and all(shape.types == {"string"} for shape in both):
        return (TEXT,)
    lists = [shape for shape in both if shape.types == {"array"}]
    objects = [shape for shape in both if shape.types == {"object"} and shape.fields]
    if operator == "+" and lists:
        joined, alike = list_of(unique(shape.each() for shape in lists)), lists
    elif operator in ("+", "*") and objects:
        joined, alike = _merged(objects), objects
    else:
        return (ANY,)
    return (joined,) if all(shape in (*alike, NULL) for shape in both) else (joined, ANY)


def _merged(objects: Sequence[Shape]) -> Shape:
    """Return the shape of an object with the fields of several."""
    names = dict.fromkeys(chain.from_iterable(shape.fields for shape in objects))
    members = dict[str, Shapes]()
    for name in names:
        members[name] = unique(shape.field(name) or () for shape in objects)
    return object_of(members)


def _operands(node: ast.Binary, lefts: Shapes, rights: Shapes, scope: TypeScope) -> None:
    takes, operands = _ALIKE.get(node.operator, frozenset()), (*lefts, *rights)
    are_known = all(shape.is_known and shape != NULL for shape in operands)
    is_possible = any(_go_together(node.operator, *pair) for pair in product(lefts, rights))
    if takes and lefts and rights and are_known and not is_possible:
        wrong, other = rights[0], lefts[0]
        if _kinds(wrong) == {"number"}:
            wrong, other = other, wrong
        wants = f"`{node.operator}` has {other.noun} next to it"
        hint = f"`{node.operator}` takes two {' or two '.join(noun for kind, noun in _NOUNS.items() if kind in takes)}"
        scope.add(_wrong_type(wrong, wants, node.span, scope, hint))
    elif node.operator == "*" and not is_merge(node) and {"object"} == frozenset().union(*map(_kinds, operands)):
        message = "`*` multiplies numbers, and merges objects only where the form of a side is that of an object"
        scope.add(warning(WRONG_TYPE, (), message, "write `{}` in front: `{} * A * B`", span=node.span))


def _go_together(operator: str, left: Shape, right: Shape) -> bool:
    """Return whether an operator takes two values."""
    ours, theirs = _kinds(left), _kinds(right)
    # jq repeats a text as many times as a number says.
    is_repeated = operator == "*" and {"number", "string"} <= ours | theirs
    return is_repeated or bool(ours & theirs & _ALIKE.get(operator, frozenset()))


def _check_default(shapes: Shapes, default: ast.Node, scope: TypeScope) -> None:
    """Find a text that stands for an absent number, or a number that stands for an absent text."""
    typed, value = [shape for shape in shapes if shape != NULL], getattr(default, "value", None)
    is_one_type = frozenset[str]().union(*map(_kinds, typed)) in ({"number"}, {"string"})
    if isinstance(value, str | int | float) and is_one_type and _are_apart(typed, (literal(value),)):
        shown = f"{typed[0].at or 'this'} is {typed[0].noun} in {scope.schema}"
        message, hint = f"{shown}, and its default is {literal(value).noun}", f"write {typed[0].noun} behind `//`"
        scope.add(warning(WRONG_TYPE, (), message, hint, span=default.span))


def _compared(shapes: Shapes, others: Shapes, node: ast.Node, operator: str, scope: TypeScope) -> None:
    """Find literals that no value can equal, or whose types alone decide the order."""
    typed = [shape for shape in shapes if shape != NULL]
    # null and "" are compared with an absent value, whatever the schema lists.
    made = list[Shape]()
    if isinstance(node, ast.Literal | ast.Comma | ast.Array):
        made = [shape for shape in others if shape not in (NULL, literal(""))]
    listed, never = listed_values(shapes), list[str]()
    for shape in made:
        if listed and not shape.at:
            never += [word for word in shape.values if word not in listed]
    if never:
        message = f'{typed[0].at or "this"} is never "{never[0]}" in {scope.schema}'
        hint = did_you_mean(never[0], listed)
        scope.add(warning("crd-unknown-value", (), message, hint, span=node.span))
    elif _are_apart(typed, made):
        outcome = "never equals" if operator in ("==", "!=") else f"`{operator}` decides by the types alone next to"
        message = f"{typed[0].at or 'this'} is {typed[0].noun} in {scope.schema}, and {outcome} {made[0].noun}"
        hint = f"compare it with {typed[0].noun}"
        if isinstance(node, ast.Array):
            hint = 'one of several values is written `path | IN("a", "b")`'
        elif "array" in typed[0].types and "integer" in made[0].types:
            hint = "compare the number of its entries: `(… | length)`"
        scope.add(warning(WRONG_TYPE, (), message, hint, span=node.span))


def _are_apart(shapes: Sequence[Shape], others: Sequence[Shape]) -> bool:
    """Return whether there are two sides, and no type of one is a type of the other."""
    kinds, other_kinds = frozenset(chain(*map(_kinds, shapes))), frozenset(chain(*map(_kinds, others)))
    return bool(shapes and others and not kinds & other_kinds) and all(shape.is_known for shape in (*shapes, *others))


def _kinds(shape: Shape) -> frozenset[str]:
    """Return the types of a shape. jq has one type of numbers."""
    return frozenset("number" if kind == "integer" else kind for kind in shape.types)


def listed_values(shapes: Shapes) -> list[str]:
    """Return all texts that a value may be, none if it may be any text."""
    listed = [shape.values for shape in shapes if shape != NULL]
    return [*chain.from_iterable(listed)] if all(listed) else []
