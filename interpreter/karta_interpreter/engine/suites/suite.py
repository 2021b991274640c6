"""Suites: text in Karmada's test format becomes cases that can be run, and answers become text of cases.

>>> (case,) = read_suite('''
... name: one pod
... desiredObj: {apiVersion: batch/v1, kind: Job}
... operation: interpretReplica
... output: {replica: 1}
... ''')
>>> case.call.operation.value, case.expected
('InterpretReplica', {'replica': 1})
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from karta_interpreter.base.errors import InterpretationError, ManifestError, SuiteError
from karta_interpreter.base.findings import BY_TYPES, PLACES, closest, did_you_mean, with_article
from karta_interpreter.base.k8s import GVK, JSON, Object, edit, type_name
from karta_interpreter.base.k8s.manifest import Document, read_documents
from karta_interpreter.base.k8s.yaml_writer import to_authored_yaml
from karta_interpreter.definitions.karta import is_definition
from karta_interpreter.definitions.sources.file_scan import read_file
from karta_interpreter.engine.operations import LIVE, SLOTS, Call, Operation, StatusItem, TargetComponent
from karta_interpreter.engine.suites.comparison import EXCLUDE, result_in_words_of

_KEYS = (
    *("name", "description", "desiredObj", "observedObj", "statusItems"),
    *("inputReplicas", "inputComponents", "operation", "references", "output", "filepath"),
)
_OF_CASE = ("operation", "output", "inputReplicas", "statusItems")
# The most bytes of a suite, and of an object that it names.
_LARGEST: Final = 2**26
_TESTDATA = "testdata"
OBJECTS = "objects"  # the folder of objects that cases share
OBJECT_KEYS = ("desiredObj", "observedObj")
# Some of Karmada's own cases give an item the head of the member's object, which has no effect there either.
_HEAD_KEYS = ("apiVersion", "kind", "metadata")
_HEAD: Final = (*_HEAD_KEYS, "spec", "status")
# The type of each result, and the fields that it, or each of its entries, can have.
_SHAPES: Final[Mapping[str, tuple[type, tuple[str, ...]]]] = {
    "replica": (int, ()),
    "requires": (dict, ("nodeClaim", "resourceRequest", "namespace", "priorityClassName")),
    "components": (list, ("name", "replicas", "replicaRequirements")),
    "dependencies": (list, ("apiVersion", "kind", "namespace", "name", "labelSelector")),
    "healthy": (bool, ()),
    "status": (dict, ()),
    **dict.fromkeys(("revised", "retained", "aggregatedStatus"), (dict, _HEAD)),
}


class Case(Struct, frozen=True):
    """One call and its expected result."""

    name: str
    description: str
    """The reason why the expected values are right."""
    call: Call
    expected: Mapping[str, JSON]
    """A value for each name of a result."""
    error: str | None
    """Text that the message of a refusal must contain, None if an answer is expected. Karmada's format has no call that
    must fail, so ``output: {error: ...}`` is our addition.
    """
    source: str
    line: int
    references: tuple[Object, ...] = ()
    """The objects that the definition may look up, also our addition."""


def find_suites(folder: Path) -> tuple[Path, ...]:
    """Return the suite files below a folder: every YAML or JSON file inside a directory called ``testdata``, sorted.

    Files in directories called ``objects`` are shared by cases and are not suites.
    """
    files = (*folder.rglob("*.yaml"), *folder.rglob("*.yml"), *folder.rglob("*.json"))
    # A folder that is itself called testdata counts. So does the current folder, though its path has no name.
    folder_names = (folder.name, folder.resolve().name)
    suites = []
    for path in files:
        folders = (*folder_names, *path.relative_to(folder).parts[:-1])
        if path.parent.name != OBJECTS and _TESTDATA in folders:
            suites.append(path)
    return tuple(sorted(suites))


def home_of(suite: Path) -> Path:
    """Return the folder with the definitions for a suite: the parent of ``testdata``, else the suite's own folder.

    >>> home_of(Path("kartas/batch/v1/Job/testdata/retain.yaml")).as_posix()
    'kartas/batch/v1/Job'
    """
    folders = (*suite.parents, *suite.absolute().parents)  # a relative path may begin inside testdata
    return next((folder.parent for folder in folders if folder.name == _TESTDATA), suite.parent)


def load_suite(path: Path) -> tuple[Case, ...]:
    """Return the cases of a suite file. Raises SuiteError if one cannot be read."""
    return _all_cases(scan_suite(path))


def read_suite(text: str, source: str = "suite") -> tuple[Case, ...]:
    """Return the cases of a suite's text. SuiteError names the file, the document's line and the problem."""
    return _all_cases(_scan(text, source))


def scan_suite(path: Path) -> list[Case | SuiteError]:
    """Return the cases of a suite file, with an error in place of each case that cannot be read."""
    try:
        text = read_file(path, _LARGEST).decode()
    except OSError as error:
        return [SuiteError(f"{path}: cannot read the suite: {error.strerror}")]
    except UnicodeDecodeError as error:
        return [SuiteError(f"{path}: cannot read the suite: not UTF-8 text, see byte {error.start}; save it as UTF-8")]
    return _scan(text, str(path))


def _scan(text: str, source: str) -> list[Case | SuiteError]:
    try:
        documents = read_documents(text, source)
    except ManifestError as error:
        return [SuiteError(f"{source}:{error.line}: {error}")]
    cases: list[Case | SuiteError] = []
    for document in documents:
        fields = document.value
        try:
            cases.append(read_case(document, fields))
        except InterpretationError as error:
            line = document.position(error.path)[0]
            cases.append(SuiteError(f"{document.source}:{line}: {_title(fields)}{error}"))
    return cases


def _title(fields: JSON) -> str:
    """Return the beginning of a message about a case with a name."""
    name = fields.get("name") if isinstance(fields, dict) else None
    if isinstance(name, str) and name:
        return f'case "{name}": '
    return ""


def _all_cases(loaded: Iterable[Case | SuiteError]) -> tuple[Case, ...]:
    cases = []
    for reading in loaded:
        if isinstance(reading, SuiteError):
            raise reading
        cases.append(reading)
    return tuple(cases)


def read_case(document: Document, fields: JSON) -> Case:
    """Return the case of a document, which reads no file without a source. Raises InterpretationError."""
    if not isinstance(fields, dict):
        raise InterpretationError(f"a case must be an object, but is {type_name(fields)}; write --- above each")
    if "kind" in fields and "operation" not in fields:
        home = _home(fields, document.source)
        raise InterpretationError(f"this is {with_article(fields['kind'])}, not a case of a suite: {home}")
    for key in OBJECT_KEYS:
        if fields.get(key, "") is None and "apiVersion" in fields:
            raise InterpretationError(f"{key} is empty: indent the lines of its object below it")
    _reject_unknown("case", fields, _KEYS)
    for key in OBJECT_KEYS:
        _reject_fields_of_case(key, fields)
    if missing := [key for key in ("name", "operation") if fields.get(key) in (None, "")]:
        raise InterpretationError(
            f"there is no {' and no '.join(missing)}: a case has name, operation, desiredObj or observedObj, and output"
        )
    fields = {**fields}
    for key in OBJECT_KEYS:
        if isinstance(file_name := fields.get(key), str):
            fields[key] = _shared_object(document, key, file_name) if document.source else {}
    name, operation = _typed(fields, "name", str), _operation(_typed(fields, "operation", str))
    expected, error = _output(fields, operation)
    return Case(
        name=name,
        description=_typed(fields, "description", str, ""),
        call=_call(fields, operation),
        expected=expected,
        error=error,
        source=document.source,
        line=document.line,
        references=_references(fields),
    )


def _home(fields: Object, source: str) -> str:
    """Return where an object belongs that is written in place of a case."""
    home = home_of(Path(source))
    if is_definition(fields) or fields["kind"] in _BESIDE:
        if home != Path(source).parent:
            return "move it beside the folder testdata"
        return PLACES.get(fields["kind"], PLACES["cases"])
    places = ["write it below desiredObj of a case", PLACES["draft"]]
    if source:
        old_tests = sorted(home.glob("*_tests.yaml"))[:1]
        places += [f"{path} is of an older Karmada, names no answers, and is not read" for path in old_tests]
    return "; ".join(places)


def _reject_fields_of_case(key: str, fields: Object) -> None:
    """Raise for an object that has fields which its case lacks."""
    if not isinstance(fields.get(key), dict):
        return
    if within := [name for name in _OF_CASE if name in fields[key] and name not in fields]:
        raise InterpretationError(f"{key} has {' and '.join(within)}, which a case has: indent it less")


def _operation(name: str) -> Operation:
    for operation in Operation:
        if operation.lower() == name.lower():
            return operation
    written = (f"write {operation}" for operation, slot in SLOTS.items() if slot.function == name)
    hint = next(written, did_you_mean(name, Operation))
    raise InterpretationError(f'there is no operation "{name}"; {hint}')


def _shared_object(suite: Document, key: str, name: str) -> JSON:
    """Read an object from a file, by its path from the suite. Karmada's cases have no such files: our addition."""
    if "\n" in name:
        raise InterpretationError(f"{key} is a text of several lines: remove the `|` or `>` behind it")
    try:
        # The objects of a linked suite are next to the link's target.
        place = Path(suite.source).resolve()
        path = (place.parent / name).resolve()
        if not path.is_relative_to(home_of(place)):
            raise ValueError("it is outside of the folder of the definition")  # noqa: TRY301 - worded below
        (document,) = read_documents(read_file(path, _LARGEST).decode(), name)
    except (OSError, ValueError, ManifestError) as error:
        raise InterpretationError(
            f"{key} must be an object or the file of one; a path begins at the folder of the suite; "
            f"cannot read {name}: {error}"
        ) from error
    return document.value


def _output(fields: Object, operation: Operation) -> tuple[Object, str | None]:
    results = SLOTS[operation].results
    output = _typed(
        fields,
        "output",
        dict,
        {},
        f"write below it {' and '.join(results)}, each with its value, or error with a part of the message",
    )
    if "error" in output:
        if len(output) > 1 or not isinstance(output["error"], str):
            raise InterpretationError("output.error must be a string and the only output")
        return {}, output["error"]
    _reject_unknown(f"output of {operation}", output, {*results, "error"}, "output")
    for name in output:
        if output[name] != EXCLUDE:
            _check_result(name, output)
    return output, None


def _check_result(name: str, output: Object) -> None:
    """Raise for a result of another type, or with fields that it cannot have."""
    shape, keys = _SHAPES[name]
    entry_form = f": - {{{': …, '.join(keys)}: …}}"
    if keys is _HEAD:
        value = _typed(output, name, shape, hint="write the whole object")
        if value and value.keys().isdisjoint(keys):
            raise InterpretationError(f"output.{name} is a whole object: write it with {', '.join(keys[:3])}, …")
        return
    entries = _typed(output, name, shape, [], hint=entry_form) if shape is list else [_typed(output, name, shape)]
    for entry in entries:
        if shape is list and isinstance(entry, str) and entry != EXCLUDE:
            raise InterpretationError(f"output.{name} has objects, not texts{entry_form}")
        if keys and isinstance(entry, dict):
            _reject_unknown(f"output.{name}", entry, keys, "output", name)


def _call(fields: Object, operation: Operation) -> Call:
    desired, observed = _typed(fields, "desiredObj", dict), _typed(fields, "observedObj", dict)
    if operation is Operation.RETAIN:
        if desired is None or observed is None:
            raise InterpretationError("Retain needs both desiredObj and observedObj")
        return Call(operation, desired, observed=observed)
    if desired is not None and observed is not None:
        raise InterpretationError(f"{operation} takes one object: give desiredObj or observedObj, not both")
    subject = desired if desired is not None else observed
    if subject is None:
        raise InterpretationError(f"{operation} needs desiredObj or observedObj")
    replicas = _typed(fields, "inputReplicas", int) if operation is Operation.REVISE_REPLICA else None
    if operation is Operation.REVISE_REPLICA and replicas is None:
        # Karmada's harness takes Go's zero value and asks for 0 replicas.
        raise InterpretationError("ReviseReplica needs inputReplicas, the number of replicas after it")
    call = Call(operation, subject, replicas=replicas, items=_items(fields))
    if operation is not Operation.REVISE_COMPONENTS:
        return call
    return structs.replace(call, components=TargetComponent.several(fields.get("inputComponents"), "inputComponents"))


def _items(fields: Object) -> tuple[StatusItem, ...]:
    items, clusters = list[StatusItem](), set[str]()
    written = _typed(fields, "statusItems", list, [], ": - {clusterName: NAME, status: {…}}")
    for index, item in enumerate(written):
        fields_of_item = item
        if isinstance(item, dict):
            fields_of_item = {key: field for key, field in item.items() if key not in _HEAD_KEYS}
        items.append(StatusItem.written(fields_of_item, f"statusItems[{index}]", clusters, needs_cluster=False))
    return tuple(items)


def _references(fields: Object) -> tuple[Object, ...]:
    references = _typed(fields, "references", list, [])
    for index, reference in enumerate(references):
        try:
            GVK.of(reference if isinstance(reference, dict) else {})
        except InterpretationError as error:
            raise InterpretationError(f"references[{index}]: {error}") from error
    return tuple(references)


def _typed(fields: Object, key: str, expected: type, default: JSON = None, hint: str = "") -> JSON:
    value = fields.get(key)
    if value is None:
        return default
    if type(value) is not expected:
        types = type_name(expected()), type_name(value)
        if expected is list:
            hint = f"write each entry after a dash{hint}"
        hint = hint or BY_TYPES.get(types, "")
        raise InterpretationError(f"{key} must be {types[0]}, but is {types[1]}{hint and '; '}{hint}")
    return value


def _reject_unknown(where: str, fields: Object, allowed: Collection[str], *path: str) -> None:
    """Raise for unknown keys below a path: a misspelt key would make a case pass that checks nothing."""
    wrong = [f'"{key}" ({_what_is(key, allowed)})' for key in fields if key not in allowed]
    if wrong:
        others = f" and {len(wrong[3:])} more" if wrong[3:] else ""
        keys = "keys" if wrong[1:] else "key"
        # A list or an object begins with its first entry, which may stand lines below the key.
        placed = [key for key in fields if key not in allowed and not isinstance(fields[key], list | dict)]
        raise InterpretationError(
            f"{where} has the unknown {keys} {', '.join(wrong[:3])}{others}", path=(*path, *placed[:1])
        )


def _what_is(key: str, allowed: Collection[str]) -> str:
    """Return what an unknown key is, or what to write instead."""
    operations = {name: operation for operation, slot in SLOTS.items() for name in slot.results}
    if key in operations and not closest(key, allowed):
        return f"of the operation {operations[key]}"
    return _OTHER_KEYS.get(key) or did_you_mean(key, sorted(allowed))


_OTHER_KEYS: Final = {
    "cases": "each case is a document of its own, with --- above it",
    "tests": "of an older Karmada, or cases in a list: a case is a document of its own, and `create suite` drafts some",
    **dict.fromkeys(("cpu", "memory", "nvidia.com/gpu"), "write it below resourceRequest"),
    **dict.fromkeys(("clusterName", "applied"), "write it below statusItems of a case"),
    **dict.fromkeys(("desiredInputPath", "observedInputPath"), "write desiredObj or observedObj, with the path"),
    **dict.fromkeys(("desiredReplica", "desiredReplicas"), "write inputReplicas"),
    **dict.fromkeys(("input", "object", "workload", "given"), "write desiredObj or observedObj"),
    **dict.fromkeys(("expected", "expect", "want", "result", "results"), "write output"),
    "error": "write output: {error: TEXT}, a part of the message of a refusal",
    **dict.fromkeys(("items", "aggregatedStatusItems", "statuses"), "write statusItems"),
}
# Kinds that stand beside the folder with the cases, as Kartas do.
_BESIDE: Final = ("ResourceInterpreterCustomization", "CustomResourceDefinition")
_KEY: Final = re.compile(r"(output|operation)\s*:")
# The beginning of a line that continues the value of a key.
_WITHIN: Final = re.compile(r"\s|#|$")
_SERVER_FIELDS: Final = (
    *(("managedFields",), ("uid",), ("resourceVersion",), ("creationTimestamp",), ("selfLink",)),
    ("annotations", "kubectl.kubernetes.io/last-applied-configuration"),
)
_TODO: Final = "TODO: say why this is right, by the documentation of the kind."


def case_of(name: str, call: Call, output: Object, references: Sequence[Object] = ()) -> Object:
    """Return the fields of a new case in their order. A TODO stands for the reason that a person has to find."""
    objects = (None, call.object) if call.operation in LIVE else (call.object, call.observed)
    fields = {
        **dict(zip(OBJECT_KEYS, objects, strict=True)),
        "statusItems": [item.to_json() for item in call.items] or None,
        "inputReplicas": call.replicas,
        "inputComponents": [component._asdict() for component in call.components or ()] or None,
        "references": list(references) or None,
        "operation": str(call.operation),
        "output": output,
    }
    return {"name": name, "description": _TODO, **{key: value for key, value in fields.items() if value is not None}}


def without_server_fields(obj: Object) -> Object:
    """Return an object without the metadata that API servers and kubectl write and no answer depends on."""
    for path in _SERVER_FIELDS:
        obj = edit.remove(obj, ("metadata", *path))
    return obj


def answer_of(case: Case, results: Mapping[str, JSON]) -> Object:
    """Return the output that a case should expect: the results that it names, or all if it names none.

    Excluded values stay excluded, and a met value keeps its spelling.
    """
    names = [name for name in case.expected if name in results] or [*results]
    return {name: result_in_words_of(name, case.expected.get(name), results[name]) for name in names}


def with_outputs(text: str, source: str, outputs: Mapping[int, Object]) -> str:
    r"""Return a suite's text with other outputs, each by the first line of its case's document.

    A case without an output gets it after its operation. Raises SuiteError if neither is a key at the beginning of a
    line, or if an output shares lines with another key.

    >>> suite = "name: a\noutput:\n  replica: 1 # one\n# b\n---\nname: b\n"
    >>> print(with_outputs(suite, "suite", {1: {"replica": 2}}), end="")
    name: a
    output:
      replica: 2
    # b
    ---
    name: b
    """
    lines = (text.removesuffix("\n") + "\n").splitlines(keepends=True)
    documents = read_documents(text, source)
    begins = [document.line for document in documents]
    # From the last document to the first, so that the lines of earlier documents keep their numbers.
    for begin, end in reversed([*zip(begins, [*begins[1:], len(lines) + 1], strict=True)]):
        if begin in outputs:
            lines[begin - 1 : end - 1] = _replaced(lines[begin - 1 : end - 1], f"{source}:{begin}", outputs[begin])
    written = "".join(lines)
    expected = [document.value for document in documents]
    for number, document in enumerate(documents):
        if document.line in outputs:
            expected[number] = {**document.value, "output": outputs[document.line]}
    # Lines are replaced by their form. Reading the result again shows whether the right values were replaced.
    with suppress(ManifestError):
        if [document.value for document in read_documents(written, source)] == expected:
            return written
    raise SuiteError(f"{source}: the outputs of this suite cannot be replaced line by line: edit them")


def _replaced(lines: list[str], where: str, output: JSON) -> list[str]:
    """Replace the output of a case from its key to its last indented line. Comments below that line stay."""
    keys = dict[str, int]()
    for index, line in enumerate(lines):
        if match := _KEY.match(line):
            keys[match[1]] = index
    if not keys:
        raise SuiteError(f"{where}: the output of this case is not a key at the beginning of a line: edit it")
    at = keys["output"] if "output" in keys else keys["operation"] + 1
    after = end = at + ("output" in keys)
    while "output" in keys and end < len(lines) and _WITHIN.match(lines[end]):
        is_blank, is_comment = not lines[end].strip(), lines[end].startswith("#")
        if not is_comment and (not is_blank or after == end):
            after = end + 1
        end += 1
    text = to_authored_yaml({"output": output})
    return [*lines[:at], text.replace("\n", "\r\n") if lines[0].endswith("\r\n") else text, *lines[after:]]
