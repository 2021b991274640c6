"""What a definition reads is compared with the schema of its CRD."""

import json
from copy import deepcopy
from typing import Any

import pytest
import yaml

from karta_interpreter.base.findings import Finding, format_path
from karta_interpreter.base.k8s import edit
from karta_interpreter.definitions.karta.model import KartaResource
from karta_interpreter.definitions.karta.schema import read_karta
from karta_interpreter.definitions.openapi.check.check import check, known_contradictions
from tests.support.counting import calls
from tests.support.rows import rows

SCHEMA: dict[str, Any] = yaml.safe_load("""
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  spec:
    type: object
    required: [oven]
    properties:
      paused: {type: boolean}
      mode: {type: string, enum: [Eager, Lazy]}
      size: {x-kubernetes-int-or-string: true}
      oven:
        type: object
        required: [count]
        properties:
          count: {type: integer}
          template: &template
            type: object
            properties:
              metadata: {type: object, x-kubernetes-preserve-unknown-fields: true}
              spec: {type: object, properties: {containers: {type: array, items: {type: object, properties: {
                name: {type: string}, image: {type: string}}}}}}
      shops:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items:
          type: object
          required: [template]
          properties:
            name: {type: string}
            role: {type: string, enum: [Baker, Seller]}
            replicas: {type: integer}
            template: *template
      roles: {type: object, additionalProperties: {type: object, properties: {n: {}}}}
      extra: {type: object, x-kubernetes-preserve-unknown-fields: true}
  status:
    type: object
    properties:
      phase: {type: string, enum: [Baking, Sold]}
      conditions: {type: array, items: {type: object, properties: {
        type: {type: string, enum: [Ready, Burnt]}, status: {type: string, enum: ["True", "False", Unknown]}}}}
""")

_AT = "spec.structureDefinition"
_ROOT = f"{_AT}.rootComponent"
_OVEN = f"{_AT}.childComponents[0]"
_SHOP = f"{_AT}.childComponents[1]"


_KARTA = """
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: bakery, annotations: {}}
spec:
  structureDefinition:
    rootComponent:
      name: bakery
      kind: {group: example.io, version: v1, kind: Bakery}
      suspendDefinition:
        suspendActions: [{path: .spec.paused, value: "true"}]
        resumeActions: [{path: .spec.paused, value: "false"}]
      statusDefinition:
        phaseDefinition: {path: .status.phase}
        conditionsDefinition: {path: .status.conditions}
        statusMappings:
          running: [{byPhase: Baking}]
          failed: [{byConditions: [{type: Burnt, status: "True"}]}]
    childComponents:
      - name: oven
        ownerRef: bakery
        specDefinition: {podTemplateSpecPath: ".spec.oven.template // {spec: {}}"}
        scaleDefinition: {replicasPath: .spec.oven.count}
      - name: shop
        ownerRef: bakery
        instanceIdPath: .spec.shops[].name
        specDefinition: {podTemplateSpecPath: ".spec.shops[].template"}
        scaleDefinition: {replicasPath: ".spec.shops[].replicas // 1"}
"""


def _karta() -> Any:
    return yaml.safe_load(_KARTA)


def _findings(karta: dict[str, Any]) -> list[str]:
    read, wrong = read_karta(karta)
    assert read is not None, wrong
    return [str(finding) for finding in _checked(read, SCHEMA)]


def _checked(karta: KartaResource, schema: dict[str, Any]) -> list[Finding]:
    """Return the findings, except about parts that no expression reads (see test_unread.py)."""
    return [finding for finding in check(karta, schema) if finding.rule != "crd-unread"]


def _changed(path: str, value: object, base: dict[str, Any] | None = None) -> dict[str, Any]:
    karta = deepcopy(base or _karta())
    part: Any = karta
    *steps, last = path.replace("[", ".").replace("]", "").split(".")
    for step in steps:
        part = part[int(step)] if isinstance(part, list) else part[step]
    part[int(last) if isinstance(part, list) else last] = value
    return karta


def test_definition_that_fits_schema_has_no_finding() -> None:
    assert _findings(_karta()) == []


@pytest.mark.parametrize("field", ["nameExpression", "namespaceExpression"])
@pytest.mark.parametrize(
    ("expression", "found"),
    [
        pytest.param(".spec.mode", 0, id="a name"),
        pytest.param("[.spec.shops[].name]", 0, id="a list of names"),
        pytest.param(".spec.oven.count", 1, id="a number"),
    ],
)
def test_names_and_namespaces_of_references_are_strings_or_lists(field: str, expression: str, found: int) -> None:
    gvk = {"group": "example.io", "version": "v1", "kind": "Flour"}
    lookup = {"nameExpression": expression if field == "nameExpression" else ".spec.mode"}
    references = [{"name": "flour", "gvk": gvk, "lookup": lookup, **({} if field in lookup else {field: expression})}]
    findings = _findings(_changed(f"{_AT}.references", references))
    assert len(findings) == found
    assert all("an integer in the CRD, not a string or a list of strings" in each for each in findings)


@rows(
    ("path", "value", "severity", "rule", "place"),
    [
        pytest.param(f"{_OVEN}.scaleDefinition.replicasPath", ".spec.ovn.count", "error", "crd-unknown-field", "",
            id="a typo in a field"),
        pytest.param(f"{_OVEN}.scaleDefinition.replicasPath", ".oven.count", "error", "crd-unknown-field", "",
            id="a path without spec"),
        pytest.param(f"{_SHOP}.specDefinition.podTemplateSpecPath", ".spec.shops.template", "error", "crd-wrong-type",
            "", id="a list read as an object"),
        pytest.param(f"{_OVEN}.scaleDefinition.replicasPath", ".spec.oven.count[]", "error", "crd-wrong-type", "",
            id="entries of a number"),
        pytest.param(f"{_OVEN}.scaleDefinition.replicasPath", ".spec.mode", "error", "crd-wrong-type", "",
            id="a count that is a text"),
        pytest.param(f"{_OVEN}.specDefinition.podTemplateSpecPath", ".spec.oven.template.spec", "error",
            "crd-wrong-type", "", id="a pod spec where a template is asked for"),
        pytest.param(f"{_SHOP}.instanceIdPath", ".spec.shops | to_entries[] | .key", "error", "crd-wrong-type", "",
            id="ids that are positions in a list"),
        pytest.param(f"{_SHOP}.scaleDefinition.replicasPath", '.spec.shops[] | select(.role == "baker") | .replicas',
            "warning", "crd-unknown-value", "", id="a comparison with a text that the schema does not list"),
        pytest.param(f"{_ROOT}.statusDefinition.statusMappings.running[0].byPhase", "baking", "warning",
            "crd-unknown-value", "", id="an unknown phase"),
        pytest.param(f"{_ROOT}.statusDefinition.conditionsDefinition.path", ".status.phase", "error",
            "crd-wrong-type", "", id="conditions that are no list"),
        pytest.param(f"{_ROOT}.suspendDefinition.suspendActions[0]", {"path": ".spec.mode", "value": "true"}, "error",
            "crd-wrong-type", ".value", id="a value of another type than the field it is written to"),
        pytest.param(f"{_ROOT}.suspendDefinition.suspendActions[0]", {"path": ".spec.mode", "value": '"lazy"'},
            "error", "crd-unknown-value", ".value", id="a value that the schema does not list"),
        pytest.param("metadata.annotations", {"karta-interpreter.io/retain": "- .spec.modes\n"}, "error",
            "crd-unknown-field", '["karta-interpreter.io/retain"]', id="a path that belongs to members"),
        pytest.param("metadata.annotations", {"karta-interpreter.io/health": ".status.phase"}, "error",
            "crd-wrong-type", '["karta-interpreter.io/health"]', id="health that is a text"),
        pytest.param(f"{_OVEN}.scaleDefinition.replicasPath", "[.spec.oven.count] * .spec.oven.count", "error",
            "crd-wrong-type", "", id="a list that is multiplied, on the left"),
        pytest.param(f"{_OVEN}.specDefinition.podTemplateSpecPath",
            ".spec.oven.template * (if .spec.mode then {spec: {hostNetwork: true}} else {} end)", "warning",
            "crd-wrong-type", "", id="two objects that are multiplied"),
        pytest.param(f"{_OVEN}.scaleDefinition.replicasPath", '.spec.oven.count // "1"', "warning", "crd-wrong-type",
            "", id="a default of another type"),
        pytest.param(f"{_OVEN}.scaleDefinition.replicasPath",
            'if .spec.paused == "true" then 0 else .spec.oven.count end', "warning", "crd-wrong-type", "",
            id="a comparison with a value of another type"),
        pytest.param(f"{_SHOP}.podSelector", {"componentInstanceSelector": {"idPath": ".metadata.label.shop"}},
            "error", "crd-unknown-field", ".componentInstanceSelector.idPath", id="a field that pods do not have"),
        pytest.param("metadata.annotations", {"karta-interpreter.io/aggregate": ".status.phase: sum\n"}, "error",
            "crd-wrong-type", '["karta-interpreter.io/aggregate"]', id="a sum of texts that are no amounts"),
        pytest.param("metadata.annotations",
            {"karta-interpreter.io/dependencies": "- {apiVersion: v1, kind: Secret, name: .spec.oven}\n"}, "error",
            "crd-wrong-type", '["karta-interpreter.io/dependencies"]', id="a name that is an object"),
        pytest.param(f"{_OVEN}.scaleDefinition.replicasPath", ".spec.shops | with_entries(.value.nam) | length",
            "error", "crd-unknown-field", "", id="a typo in the value of an entry"),
    ],
)  # fmt: skip
def test_contradiction_is_named_with_its_place(path: str, value: object, severity: str, rule: str, place: str) -> None:
    karta, wrong = read_karta(_changed(path, value))
    assert karta is not None, wrong
    (finding,) = _checked(karta, SCHEMA)
    assert (finding.severity, finding.rule, format_path(finding.path)) == (severity, rule, f"{path}{place}")


@rows(
    "expression",
    [
        pytest.param(".spec.extra.anything.at[0].all", id="the API server keeps unknown fields there"),
        pytest.param(".spec.oven.count // .spec.size", id="an integer or a string may be a count"),
        pytest.param(".spec.roles | to_entries | map(.value.n) | add", id="values of a map"),
        pytest.param(".spec.shops | to_entries[] | .key + 1", id="the key of a list's entry is its position"),
        pytest.param(".spec.extra.any | to_entries[] | .key + 1", id="the key of an entry of anything"),
        pytest.param('.spec.roles["any name"].n', id="a name in a map"),
        pytest.param('.metadata.annotations["example.io/size"]', id="an annotation holds a count as text"),
        pytest.param("(.spec.shops // []) | map(.replicas // 1) | add", id="a sum over a list"),
        pytest.param("[.spec.oven, .spec.shops] | .[0].count", id="one of two values has the field"),
        pytest.param(".spec.mode.deeper? // 1", id="an error that is caught"),
        pytest.param('if .spec.mode == "Lazy" then 0 else .spec.oven.count end', id="a text that is listed"),
        pytest.param(".spec.shops[] as $shop | $shop.replicas", id="a variable"),
        pytest.param("reduce .spec.shops[] as $shop (0; . + $shop.unknown)", id="what is not followed has no finding"),
        pytest.param('.spec.size // "1" | tonumber', id="a text may stand for an integer or a string"),
        pytest.param(".spec.extra.factor * .spec.oven.count", id="a factor of which nothing is known"),
        pytest.param(".metadata.name * .spec.oven.count | length", id="a text that is repeated"),
        pytest.param("(.spec.size // empty) == 3 | if . then 1 else 2 end", id="one of two types is equal"),
        pytest.param("def size: .count; .spec.oven | size", id="a function of its own is not followed"),
        pytest.param('.spec.mode | ascii_downcase | if . == "lazy" then 1 else 2 end', id="a changed text is any text"),
        pytest.param('.spec.mode | sub("(?<d>[0-9])"; .d) | length', id="a replacement is about what was found"),
        pytest.param('.spec.oven | with_entries(select(.key == "count")) | .count', id="entries have a key"),
        pytest.param(".spec.size | {Ki: 1024, Mi: 2048}[.[-2:]]", id="a key that is cut out of a number or a text"),
    ],
)
def test_expression_that_schema_allows_has_no_finding(expression: str) -> None:
    assert _findings(_changed(f"{_OVEN}.scaleDefinition.replicasPath", expression)) == []


@rows(
    ("phase", "rules"),
    [
        pytest.param({"oneOf": [{"enum": ["Sold"]}, {"enum": ["Eaten"]}]}, ["crd-unknown-value"], id="in no branch"),
        pytest.param({"anyOf": [{"enum": ["Sold"]}, {"enum": ["Baking"]}]}, [], id="in one branch"),
        pytest.param({"anyOf": [{"enum": ["Sold"]}, {"pattern": "^B"}]}, [], id="a branch for any text"),
        pytest.param({"anyOf": [{"enum": ["Sold"]}, {"type": "integer"}]}, ["crd-unknown-value"], id="a number"),
        pytest.param(
            {"enum": ["Sold", "Baking"], "allOf": [{"enum": ["Sold"]}, {"maxLength": 9}]},
            ["crd-unknown-value"],
            id="not in all parts",
        ),
        pytest.param({"anyOf": "Sold", "allOf": [1]}, [], id="no schemas"),
    ],
)
def test_phases_of_a_combined_schema(phase: dict[str, Any], rules: list[str]) -> None:
    schema = deepcopy(SCHEMA)
    schema["properties"]["status"]["properties"]["phase"] = {"type": "string", **phase}
    karta, _ = read_karta(_karta())
    assert karta is not None
    assert [finding.rule for finding in _checked(karta, schema)] == rules


@rows(
    "path",
    [
        pytest.param(f"{_SHOP}.instanceIdPath", id="instance ids"),
        pytest.param(f"{_SHOP}.specDefinition.podTemplateSpecPath", id="templates"),
        pytest.param(f"{_OVEN}.scaleDefinition.replicasPath", id="counts"),
        pytest.param(f"{_ROOT}.suspendDefinition.suspendActions[0].path", id="a switch"),
        pytest.param(f"{_ROOT}.statusDefinition.phaseDefinition.path", id="the phase"),
        pytest.param(f"{_ROOT}.statusDefinition.conditionsDefinition.path", id="conditions"),
    ],
)
def test_check_ignores_invalid_jq(path: str) -> None:
    assert _findings(_changed(path, ".spec |")) == []


def test_field_with_hyphen_is_not_a_subtraction() -> None:
    rule = {"karta-interpreter.io/aggregate": '.status["used-up"]: sum\n'}
    [finding] = _findings(_changed("metadata.annotations", rule))
    assert finding.endswith("the CRD has no field .status.used-up (there are: phase, conditions) [crd-unknown-field]")


def test_condition_type_is_not_a_field_of_the_list() -> None:
    rules = {"karta-interpreter.io/aggregate": '.status.conditions["Baking"]: any\n'}
    assert _findings(_changed("metadata.annotations", rules)) == []


@pytest.mark.parametrize(
    ("name", "findings"),
    [
        pytest.param(
            None,
            ['has no field status in the CRD (there are: type; statusFieldName: "" is for none) [crd-unknown-field]'],
            id="a status is expected",
        ),
        pytest.param("", [], id="no status is expected"),
    ],
)
def test_conditions_without_a_status(name: str | None, findings: list[str]) -> None:
    at = ("spec", "structureDefinition", "rootComponent", "statusDefinition")
    karta = edit.set_value(_karta(), (*at, "conditionsDefinition", "statusFieldName"), name)
    karta = edit.set_value(karta, (*at, "statusMappings", "failed"), [{"byConditions": [{"type": "Burnt"}]}])
    status = ("properties", "status", "properties", "conditions", "items", "properties", "status")
    read, _ = read_karta(karta)
    assert read is not None
    found = [str(finding) for finding in _checked(read, edit.remove(SCHEMA, status))]
    assert len(found) == len(findings)
    assert all(text in each for each, text in zip(found, findings, strict=True))


_OF_DRIVER = {"type": "object", "properties": {"id": {"type": "string"}, "n": {"type": "integer"}}}


@rows(
    ("status", "annotations", "rules"),
    [
        pytest.param({"driver": {"type": "object"}}, {}, ["crd-required-status"], id="a required object"),
        pytest.param({"driver": {"type": "object", "default": {}}}, {}, ["crd-required-status"],
                     id="a default, which an API server writes"),
        pytest.param({"driver": {"type": "object"}}, {"required-status": ".status.driver: {}"}, [], id="with a value"),
        pytest.param(
            {"driver": {"type": "object"}}, {"aggregate": ".status.driver: worst"}, ["crd-required-status"],
            id="a rule gives nothing without clusters",
        ),
        pytest.param({"driver": {"type": "object"}}, {"operations": "InterpretHealth"}, [], id="not aggregated"),
        pytest.param({"driver": {"type": "string"}}, {"required-status": ".status.driver: 1"}, ["crd-wrong-type"],
                     id="a value of another type"),
        pytest.param(
            {"driver": {**_OF_DRIVER, "required": ["id"]}},
            {"required-status": '.status.driver: {"id": ""}'}, [], id="within an object that is given whole",
        ),
        pytest.param(
            {"driver": {**_OF_DRIVER, "required": ["id"]}},
            {"required-status": ".status.driver: {}"}, ["crd-required-status"], id="within an object without it",
        ),
        pytest.param({"driver": {"type": "array"}}, {}, [], id="lists and numbers are always there"),
    ],
)  # fmt: skip
def test_aggregate_annotation_is_compared_with_schema(
    status: dict[str, Any], annotations: dict[str, str], rules: list[str]
) -> None:
    schema = deepcopy(SCHEMA)
    described = schema["properties"]["status"]
    described |= {"required": ["driver"], "properties": {**described["properties"], **status}}
    written = {f"karta-interpreter.io/{name}": text for name, text in annotations.items()}
    karta, _ = read_karta(_changed("metadata.annotations", written))
    assert karta is not None
    assert [finding.rule for finding in _checked(karta, schema)] == rules


@pytest.mark.parametrize(
    ("origin", "severity"),
    [
        pytest.param("Oven 1.0, Flour 2.0", "error", id="a release of each project"),
        pytest.param("Oven 1.0, Oven 0.9, Flour 2.0", "warning", id="two releases of the first project"),
    ],
)
def test_unknown_field_is_a_warning_where_another_release_may_have_it(origin: str, severity: str) -> None:
    changed = _changed(f"{_OVEN}.scaleDefinition.replicasPath", ".spec.oven.count // .spec.ovens")
    changed["metadata"]["annotations"] = {"karta-interpreter.io/written-from": origin}
    (finding,) = _findings(changed)
    assert finding.startswith(f"{severity}: ")
    assert finding.endswith("[crd-unknown-field]")


_COUNT = f"{_OVEN}.scaleDefinition.replicasPath"
_SUSPEND = f"{_ROOT}.suspendDefinition"


@rows(
    "changes",
    [
        pytest.param({}, id="the definition as it is"),
        pytest.param({f"{_SUSPEND}.suspendActions[0].value": "null"}, id="a switch that is removed"),
        pytest.param({f"{_SUSPEND}.resumeActions[0].value": "null"}, id="a switch whose removal resumes"),
        pytest.param({f"{_SUSPEND}.suspendActions[0].value": "0", f"{_SUSPEND}.resumeActions[0].value": "1.5"},
            id="two numbers of a switch"),
        pytest.param({f"{_ROOT}.statusDefinition.statusMappings.failed[0]": {"byPhase": "baking"}},
            id="a phase in both spellings"),
        pytest.param({_COUNT: 'if .status.phase == "baking" then 0 else 1 end',
            f"{_ROOT}.statusDefinition.statusMappings.failed[0]": {"byPhase": "baking"}},
            id="one of both spellings in an expression"),
        pytest.param({_COUNT: 'if .status.phase | ascii_downcase | IN("baking", "sold") then 0 else 1 end'},
            id="a phase in small letters"),
        pytest.param({_COUNT: 'if .spec.mode | IN("on", true) then 0 else 1 end'}, id="a text or a boolean"),
        pytest.param({_COUNT: 'if .status.phase == "" or .status.conditions == [] then 0 else 1 end'},
            id="nothing in a phase and in conditions"),
        pytest.param({_COUNT: ".operation.ovens // 1"}, id="a field of the kind beside spec"),
        pytest.param({_COUNT: 'if .status.phase | contains("ak") then 0 else 1 end'}, id="a part of a phase"),
    ],
)  # fmt: skip
def test_right_definition_has_no_finding_without_crd(changes: dict[str, object]) -> None:
    karta = _karta()
    for path, value in changes.items():
        karta = _changed(path, value, karta)

    read, wrong = read_karta(karta)

    assert read is not None, wrong
    assert known_contradictions(read, None) == []


@rows(
    ("expression", "messages"),
    [
        ('{containers: {name: "bell"}}', ["containers is an object in this kind, not a list"]),
        ('.spec | {initContainers: "bell"}', ["initContainers is a string in this kind, not a list"]),
        ('{firstInitContainers: {name: "bell"}}', ["firstInitContainers is an object in this kind, not a list"]),
        ('{containers: [{name: "bell"}], initContainers: null}', []),
        ("{containers: .spec.more}", []),
        ('{containers: (if .spec.bell then [{name: "bell"}] else {} end)}', []),
    ],
)
def test_containers_to_add_are_lists(expression: str, messages: list[str]) -> None:
    karta = _karta()
    name = karta["spec"]["structureDefinition"]["rootComponent"]["name"]
    components = karta["spec"]["structureDefinition"]["childComponents"]
    name = next((child["name"] for child in components if "specDefinition" in child), name)
    annotations = {"karta-interpreter.io/added-containers": json.dumps({name: expression})}

    read, wrong = read_karta(edit.set_value(karta, ("metadata", "annotations"), annotations))

    assert read is not None, wrong
    found = known_contradictions(read, None)
    assert [finding.message for finding in found] == messages
    assert all(finding.hint.endswith(": [{…}]") for finding in found)


def test_kind_without_spec_has_its_fields_at_the_top() -> None:
    text = json.dumps(_karta()).replace(".spec.", ".")

    read, wrong = read_karta(json.loads(text))

    assert read is not None, wrong
    assert known_contradictions(read, None) == []


@rows("function", ["contains", "IN", "startswith", "has"])
def test_argument_is_followed_once(function: str) -> None:
    def work(depth: int) -> int:
        nested = ".spec.mode"
        for _ in range(depth):
            nested = f".spec.mode | {function}({nested})"
        read, _ = read_karta(_changed(_COUNT, nested))
        assert read is not None
        return calls(lambda: known_contradictions(read, None))

    work(1)  # imports
    few, some, more = work(2), work(6), work(10)
    assert more - some <= 1.2 * (some - few)
