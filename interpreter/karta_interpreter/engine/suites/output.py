"""Writes answers into suites: the ``output`` of a case, without changing the lines around it."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from karta_interpreter.base.errors import ManifestError, SuiteError
from karta_interpreter.base.k8s import JSON, Object, edit
from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.base.k8s.yaml_writer import to_authored_yaml
from karta_interpreter.engine.operations import LIVE, Call
from karta_interpreter.engine.suites.comparison import result_in_words_of
from karta_interpreter.engine.suites.suite import Case

_KEY: Final = re.compile(r"(output|operation)\s*:")
_WITHIN: Final = re.compile(r"\s|#|$")
"""The beginning of a line that continues the value of a key."""
_SERVER_FIELDS: Final = ("managedFields", "uid", "resourceVersion", "creationTimestamp", "selfLink")
_TODO: Final = "TODO: say why this is right, by the documentation of the kind."


def case_of(name: str, call: Call, output: Object, references: Sequence[Object] = ()) -> Object:
    """Return the fields of a new case in their order. A TODO stands for the reason that a person has to find."""
    fields = {
        "desiredObj": None if call.operation in LIVE else call.object,
        "observedObj": call.object if call.operation in LIVE else call.observed,
        "statusItems": [item.to_json() for item in call.items] or None,
        "inputReplicas": call.replicas,
        "inputComponents": [component._asdict() for component in call.components or ()] or None,
        "references": list(references) or None,
        "operation": str(call.operation),
        "output": output,
    }
    return {"name": name, "description": _TODO, **{key: value for key, value in fields.items() if value is not None}}


def without_server_fields(obj: Object) -> Object:
    """Return an object without the metadata that API servers write and no answer depends on."""
    for field in _SERVER_FIELDS:
        obj = edit.remove(obj, ("metadata", field))
    return obj


def answer_of(case: Case, results: Mapping[str, JSON]) -> Object:
    """Return the output that a case should expect: the results that it names, or all if it names none.

    Excluded values stay excluded, and a met value keeps its spelling.
    """
    names = [name for name in case.expected if name in results] or [*results]
    return {name: result_in_words_of(name, case.expected.get(name), results[name]) for name in names}


def with_outputs(text: str, source: str, outputs: Mapping[int, Object]) -> str:
    r"""Return a suite's text with other outputs, each by the first line of its case's document.

    A case without an output gets it behind its operation. Raises SuiteError if neither is a key at the beginning of a
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
    expected = [
        {**document.value, "output": outputs[document.line]} if document.line in outputs else document.value
        for document in documents
    ]
    # Lines are replaced by their form. Reading the result again shows whether the right values were replaced.
    with suppress(ManifestError):
        if [document.value for document in read_documents(written, source)] == expected:
            return written
    raise SuiteError(f"{source}: the outputs of this suite cannot be replaced line by line: edit them")


def _replaced(lines: list[str], where: str, output: JSON) -> list[str]:
    """Replace the output of a case from its key to its last indented line. Comments below that line stay."""
    keys = {match[1]: index for index, line in enumerate(lines) if (match := _KEY.match(line))}
    if not keys:
        raise SuiteError(f"{where}: the output of this case is not a key at the beginning of a line: edit it")
    at = keys["output"] if "output" in keys else keys["operation"] + 1
    after = end = at + ("output" in keys)
    while "output" in keys and end < len(lines) and _WITHIN.match(lines[end]):
        is_blank, is_comment = not lines[end].strip(), lines[end].startswith("#")
        if not is_comment and (not is_blank or after == end):
            after = end + 1
        end += 1
    written = to_authored_yaml({"output": output})
    return [*lines[:at], written.replace("\n", "\r\n") if lines[0].endswith("\r\n") else written, *lines[after:]]
