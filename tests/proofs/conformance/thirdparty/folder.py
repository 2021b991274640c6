"""The folder of a kind among Karmada's third-party interpreters: a customization, and a suite that Karmada's test runs.

Source: ``pkg/resourceinterpreter/default/thirdparty/thirdparty_test.go``, which reads every file below ``testdata``.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from karta_interpreter.base.errors import ExportError, InterpretationError
from karta_interpreter.base.k8s import GVK, JSON, Object
from karta_interpreter.base.k8s.yaml_writer import to_authored_yaml
from karta_interpreter.base.karmada import CHANGED, LIVE
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.engine.operations import SLOTS, Operation, interpret
from karta_interpreter.engine.suites.comparison import EXCLUDE, differences
from karta_interpreter.engine.suites.suite import Case
from karta_interpreter.languages.lua.script import Script, Scripts


class ThirdParty(NamedTuple):
    """The files of a kind by their paths below ``resourcecustomizations``, and how many cases are in them.

    ``left_out`` has the reason of each case that is in none, and of each operation without a script.
    """

    files: Mapping[str, str]
    cases: int
    left_out: Mapping[str, str]


def folder_of(gvk: GVK) -> str:
    """Return the folder of a kind below ``resourcecustomizations``. Raises ExportError for a kind of the core group."""
    if not gvk.group:
        raise ExportError("Karmada names the folder after the group, and the core group has no name")
    return f"{gvk.group}/{gvk.version}/{gvk.kind}"


def third_party(gvk: GVK, customization: Object, cases: Iterable[Case]) -> ThirdParty:
    """Return the folder of a kind, with the cases that fit Karmada's format and that the scripts pass.

    The scripts answer each case here. If they lose empty values or nulls, as all scripts do in Karmada, the case
    expects the remaining values.
    """
    folder = folder_of(gvk)
    texts = customization["spec"]["customizations"]
    scripts = Scripts(
        Script(operation, texts[slot.field]["luaScript"], customization["metadata"]["name"])
        for operation, slot in SLOTS.items()
        if slot.field in texts
    )
    scripted = Definition.of_scripts(gvk, scripts)
    suites: dict[Operation, dict[str, None]] = {}
    left_out: dict[str, str] = {}
    for case in cases:
        operation = case.call.operation
        if not scripts.of(operation):
            left_out[operation] = "the customization does not answer it"
            continue
        try:
            document = to_authored_yaml(_document(case, _output(scripted, case)))
        except ExportError as error:
            left_out[f"{operation}: {case.name}"] = str(error)
        else:
            suites.setdefault(operation, {})[document] = None  # each once: the folder may have been exported before
    files = {f"{folder}/customizations.yaml": to_authored_yaml(customization)}
    for operation, documents in suites.items():
        files[f"{folder}/testdata/{operation.lower()}-test.yaml"] = "---\n".join(documents)
    return ThirdParty(files, sum(map(len, suites.values())), left_out)


def _output(scripted: Definition, case: Case) -> Object:
    """Return the output that Karmada's test expects. Raises ExportError if the test cannot run or would fail."""
    if case.error is not None:
        raise ExportError("Karmada's format has no call that has to fail")
    if case.references:
        raise ExportError("Karmada's format has no references to other objects")
    if any(EXCLUDE in _texts(value) for name, value in case.expected.items() if name not in CHANGED):
        raise ExportError(f"Karmada's format has {EXCLUDE} in whole objects only")
    try:
        results: Mapping[str, JSON] = interpret(scripted, case.call)
    except InterpretationError as error:
        raise ExportError(f"the script fails: {error}") from error
    # Karmada's test cannot tell that there are to be no requirements.
    expected = {name: value for name, value in case.expected.items() if name != "requires" or _without_empty(value)}
    return {name: _expected(name, value, results[name]) for name, value in expected.items()}


def _expected(name: str, value: JSON, answer: JSON) -> JSON:
    different = differences(name, value, answer)
    if different and _without_empty(value) != _without_empty(answer):
        raise ExportError(f"the script answers otherwise: {different[0]}")
    if name == "aggregatedStatus":
        # Karmada takes only the status of this object. Its test also compares the other fields, which have passed Lua.
        rest = dict.fromkeys(answer, EXCLUDE)
        rest |= {key: part if _without_empty([part]) == [part] else EXCLUDE for key, part in value.items()}
        status = {key: part for key, part in (answer if different else value).items() if key == "status"}
        return {key: part for key, part in rest.items() if key != "status"} | status
    return answer if different or name == "requires" else value


def _document(case: Case, output: Object) -> Object:
    call = case.call
    fields: dict[str, JSON] = {
        "name": case.name,
        "description": case.description.strip(),
        "observedObj" if call.operation in LIVE else "desiredObj": call.object,
        "statusItems": [item.to_json() for item in call.items],
        "operation": call.operation.value,
        "output": output,
    }
    if call.observed is not None:
        fields["observedObj"] = call.observed
    if call.replicas is not None:
        fields["inputReplicas"] = call.replicas
    return {name: value for name, value in fields.items() if value not in ("", [])}


def _texts(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(part)


def _without_empty(value: JSON) -> JSON:
    """Return the value without nulls and empty values, which Lua cannot keep."""
    if isinstance(value, dict):
        return {key: kept for key, part in value.items() if (kept := _without_empty(part)) not in (None, {}, [])}
    if isinstance(value, list):
        return [kept for part in value if (kept := _without_empty(part)) not in (None, {}, [])]
    return value
