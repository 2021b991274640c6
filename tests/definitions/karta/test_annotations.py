from collections.abc import Callable
from typing import Any

import pytest

from karta_interpreter.base.findings import Finding, Severity
from karta_interpreter.base.k8s import edit
from karta_interpreter.definitions.karta.annotation_records import Annotations
from karta_interpreter.definitions.karta.annotations import AggregateRule, ExtraDependency, Retained
from karta_interpreter.definitions.karta.identity import ROOT_STATUS
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.evaluation.status import Status
from karta_interpreter.languages.jq.syntax.printer import render
from tests.support.rows import rows

Raw = dict[str, Any]
FindingsOf = Callable[[Raw], list[Finding]]


def annotated(raw: Raw, **annotations: str) -> Raw:
    keyed = {f"karta-interpreter.io/{name}": text for name, text in annotations.items()}
    changed: Raw = edit.set_value(raw, ("metadata", "annotations"), keyed)
    return changed


def read(raw: Raw, **annotations: str) -> Annotations:
    return load_definition(annotated(raw, **annotations)).annotations


def test_without_annotations_nothing_is_said(orchestra: Raw) -> None:
    assert load_definition(orchestra).annotations == Annotations()


def test_annotations_of_others_are_theirs(orchestra: Raw, findings_of: FindingsOf) -> None:
    raw = edit.set_value(
        orchestra,
        ("metadata", "annotations"),
        {"example.com/elastic": "nothing", "retained": "?", "karta-interpreter.com/owner": "team"},
    )
    assert findings_of(raw) == []


def test_name_without_a_prefix_is_a_warning(orchestra: Raw, findings_of: FindingsOf) -> None:
    (finding,) = findings_of(edit.set_value(orchestra, ("metadata", "annotations"), {"retain": "?"}))
    assert (finding.severity, finding.rule) == (Severity.WARNING, "unknown-annotation")
    assert finding.hint == "did you mean karta-interpreter.io/retain?"


@rows("prefix", ["karta-interpreter/", "karta_interpreter.io/", "Karta-Interpreter.io/", "karta-interpreter.com/"])
def test_prefix_with_a_mistake_is_unknown_annotation(orchestra: Raw, findings_of: FindingsOf, prefix: str) -> None:
    key = f"{prefix}elastic"
    (finding,) = findings_of(edit.set_value(orchestra, ("metadata", "annotations"), {key: "section"}))
    assert (finding.severity, finding.rule) == (Severity.ERROR, "unknown-annotation")
    assert finding.path == ("metadata", "annotations", key)
    assert finding.hint == "did you mean karta-interpreter.io/elastic?"


def test_unit_that_multiplies_no_pods_is_a_warning(orchestra: Raw, findings_of: FindingsOf) -> None:
    (*_, finding) = findings_of(annotated(orchestra, unit=".spec.tours // 1"))
    assert finding.rule == "annotation-unit"
    assert finding.message.endswith("does not depend on `.spec.tours // 1`")
    assert read(orchestra, unit=".spec.tours // 1").unit is not None


def test_elastic(orchestra: Raw) -> None:
    assert read(orchestra, elastic=" section ,section,").elastic == ("section",)


def test_instances_may_be_elastic(orchestra: Raw) -> None:
    found = read(orchestra, elastic="section/violins, section/a/b")
    assert found.elastic == ("section/violins", "section/a/b")
    assert found.is_elastic("section", "a/b")
    assert not found.is_elastic("section", "flutes")


def test_elastic_none_is_indivisible(orchestra: Raw) -> None:
    found = read(orchestra, elastic=" none ")
    assert found.is_indivisible
    assert not found.is_elastic("section")
    assert not read(orchestra, elastic="section").is_indivisible
    assert not read(orchestra).is_indivisible


def test_component_named_none_can_be_elastic(orchestra: Raw) -> None:
    named = edit.set_value(orchestra, ("spec", "structureDefinition", "childComponents", 1, "name"), "none")
    assert read(named, elastic="none").elastic == ("none",)


@rows(
    ("text", "message"),
    [
        pytest.param("none, section", 'there is no component "none"', id="none and a component"),
        pytest.param("sektion/violins", 'there is no component "sektion/violins"', id="no component"),
        pytest.param("section/", 'there is no component "section/"', id="no instance"),
        pytest.param("conductor/first", 'the component "conductor" has no instanceIdPath', id="no instances"),
        pytest.param("orchestra/first", 'the component "orchestra" has no pods', id="no pods"),
    ],
)
def test_elastic_annotation_refuses_unusable_instances(
    orchestra: Raw, findings_of: FindingsOf, text: str, message: str
) -> None:
    found = findings_of(annotated(orchestra, elastic=text))
    assert message in " ".join(finding.message for finding in found if finding.rule == "annotation-elastic")


def test_operations(orchestra: Raw) -> None:
    found = read(orchestra, operations="InterpretStatus, InterpretHealth").operations
    assert found == frozenset({"InterpretStatus", "InterpretHealth"})


@rows(
    ("text", "paths"),
    [
        pytest.param(".spec.a", [".spec.a"], id="one path"),
        pytest.param(".spec.a\n\n  .spec.b[].c\n", [".spec.a", ".spec.b[].c"], id="one per line"),
        pytest.param("- .spec.a\n- .spec.b[].c\n", [".spec.a", ".spec.b[].c"], id="a YAML list"),
        pytest.param('[".spec.a", ".spec.b[].c"]', [".spec.a", ".spec.b[].c"], id="a JSON list"),
        pytest.param("", [], id="nothing"),
        pytest.param("[]", [], id="an empty list"),
    ],
)
def test_retain(orchestra: Raw, text: str, paths: list[str]) -> None:
    assert [str(retained) for retained in read(orchestra, retain=text).retain] == paths


@rows(
    ("text", "told"),
    [
        pytest.param("- unset: .spec.a", "unset .spec.a", id="unset"),
        pytest.param("- {unset: .spec.a, by: .name, if: .on}", "unset .spec.a, by .name, if .on", id="of a list"),
        pytest.param("- {unset: .spec.a, value: .b}", "unset .spec.a, value .b", id="a value of its own"),
        pytest.param("- quantities: .spec.a", "quantities .spec.a", id="quantities"),
        pytest.param("- replicas: .spec.a", "replicas .spec.a", id="replicas"),
        pytest.param("- {owned: .spec.a, while: .b}", "owned .spec.a, while .b", id="owned"),
        pytest.param("- {owned: .a // empty, while: .b}", "owned .a // empty, while .b", id="owned, dropped if absent"),
        pytest.param(".spec.a // empty", ".spec.a // empty", id="with nothing for absence"),
        pytest.param("- immutable: .spec.a", "immutable .spec.a", id="immutable"),
        pytest.param("- {owned: .a, if: .member.b}", "owned .a, if .member.b", id="owned, by both objects"),
        pytest.param("- {changeable: .spec.a.b, if: .member.c}", "changeable .spec.a.b, if .member.c", id="changeable"),
        pytest.param("- fixed: .spec.a", "fixed .spec.a", id="fixed"),
        pytest.param("- {share: .spec.a, if: .member.b}", "share .spec.a, if .member.b", id="share"),
    ],
)
def test_retain_by_rules(orchestra: Raw, findings_of: FindingsOf, text: str, told: str) -> None:
    assert [str(each) for each in read(orchestra, retain=text).retain] == [told]
    assert findings_of(annotated(orchestra, retain=text)) == []


@rows(
    ("text", "inputs"),
    [
        pytest.param("- {unset: .spec.a, value: .b}", {"value": ".spec"}, id="value, on the object of the field"),
        pytest.param("- {unset: .a, value: .b}", {"value": "."}, id="value, on the workload for a field of its own"),
        pytest.param(
            "- {unset: .spec.a, by: .name, if: .on}", {"by": ".spec.a[]", "condition": ".spec.a[]"}, id="elements"
        ),
        pytest.param("- {unset: .spec.a, if: .on}", {"condition": ".spec.a"}, id="condition, on the field"),
        pytest.param(
            "- {immutable: .spec.a, if: .member.b}", {"condition": "{template: ., member: .}"}, id="on both objects"
        ),
    ],
)
def test_expressions_of_retain_rules_have_their_own_inputs(orchestra: Raw, text: str, inputs: dict[str, str]) -> None:
    (rule,) = read(orchestra, retain=text).retain
    assert {field: render(getattr(rule, field).of) for field in inputs} == inputs


@rows(
    ("text", "path", "absent"),
    [
        pytest.param(".spec.suspend // false", ".spec.suspend", False, id="a switch"),
        pytest.param(".spec.a // 1.5", ".spec.a", 1.5, id="a number"),
        pytest.param('.spec.a // "//"', ".spec.a", "//", id="text that looks like the operator"),
        pytest.param("select(.a // 1) | .b // true", "select(.a // 1) | .b", True, id="at the end of a pipe"),
        pytest.param(".spec.a // null", ".spec.a", None, id="null, which says nothing"),
        pytest.param(".spec.a[.b // 0]", ".spec.a[.b // 0]", None, id="one inside of the path"),
    ],
)
def test_retain_with_what_is_meant_by_absence(orchestra: Raw, text: str, path: str, absent: Any) -> None:
    (retained,) = read(orchestra, retain=text).retain
    assert isinstance(retained, Retained)
    assert (retained.place.text, retained.absent) == (path, absent)


_STATE = "- {status: .status.job.id, label: example.io/job, spec: %s}"


@pytest.mark.parametrize(
    ("spec", "kept"),
    [
        pytest.param(".spec.from", ["unset .spec.from"], id="one field"),
        pytest.param("[.spec.from, .spec.mode]", ["unset .spec.from", "unset .spec.mode"], id="several fields"),
    ],
)
def test_state_travels_by_label_and_is_retained(
    orchestra: Raw, findings_of: FindingsOf, spec: str, kept: list[str]
) -> None:
    found = read(orchestra, state=_STATE % spec, retain=".spec.seed")
    (state,) = found.state
    assert (state.json_path, state.label) == ("{ .job.id }", "example.io/job")
    assert [str(rule) for rule in found.retained] == [".spec.seed", *kept]
    assert findings_of(annotated(orchestra, state=_STATE % spec)) == []


SUSPENSION = {
    "suspendActions": [{"path": ".spec.suspend", "value": "true"}],
    "resumeActions": [{"path": ".spec.suspend", "value": "false"}],
}


def suspendable(raw: Raw) -> Raw:
    changed: Raw = edit.set_value(
        raw, ("spec", "structureDefinition", "rootComponent", "suspendDefinition"), SUSPENSION
    )
    return changed


@rows(
    ("text", "labels"),
    [
        pytest.param("example.io/queue", ("example.io/queue",), id="another queue"),
        pytest.param(
            "kueue.x-k8s.io/queue-name, queue,queue", ("kueue.x-k8s.io/queue-name", "queue"), id="several, once each"
        ),
        pytest.param("none", (), id="no queue"),
    ],
)
def test_queue_labels(orchestra: Raw, findings_of: FindingsOf, text: str, labels: tuple[str, ...]) -> None:
    raw = annotated(suspendable(orchestra), **{"queue-labels": text})
    assert load_definition(raw).annotations.queue_labels == labels
    assert findings_of(raw) == findings_of(suspendable(orchestra))


def test_without_queue_labels_it_is_kueues(orchestra: Raw) -> None:
    definition = load_definition(suspendable(orchestra))
    assert definition.annotations.queue_labels == ("kueue.x-k8s.io/queue-name",)
    fields = [(fields.missing, fields.while_held) for fields in definition.queued]
    assert fields == 2 * [(2, False), (1, False), (1, True)], "labels, flavor and gate of both components"
    assert not load_definition(orchestra).queued, "nothing suspends this kind"


def test_queue_labels_of_what_no_queue_suspends(orchestra: Raw, findings_of: FindingsOf) -> None:
    [finding] = findings_of(annotated(orchestra, **{"queue-labels": "example.io/queue"}))
    assert (finding.severity, finding.rule) == (Severity.WARNING, "annotation-queue-labels")
    assert "no suspendDefinition" in finding.message


def test_dependencies(orchestra: Raw) -> None:
    text = """
    - apiVersion: v1
      kind: ConfigMap
      name: .spec.scores[]
    - {apiVersion: storage.k8s.io/v1, kind: StorageClass, name: .spec.class, namespace: '""'}
    """
    scores, storage = read(orchestra, dependencies=text).dependencies
    assert isinstance(scores, ExtraDependency)
    assert isinstance(storage, ExtraDependency)
    assert (scores.api_version, scores.kind, scores.objects.text) == ("v1", "ConfigMap", ".spec.scores[]")
    assert scores.namespace is None
    assert storage.namespace is not None
    assert storage.namespace.text == '""'


def test_dependencies_by_labels(orchestra: Raw) -> None:
    text = "- {apiVersion: v1, kind: Service, labelSelector: '{matchLabels: .spec.labels}', namespace: .spec.place}"
    (services,) = read(orchestra, dependencies=text).dependencies
    assert isinstance(services, ExtraDependency)
    assert (services.kind, services.by_labels) == ("Service", True)
    assert services.objects.text == "{matchLabels: .spec.labels}"
    assert services.namespace is not None


def test_divided(orchestra: Raw) -> None:
    text = "[{minimum: .spec.quorum, of: .spec.replicas // 1}, {held: .spec.partition, of: .spec.replicas // 1}]"
    found = read(orchestra, divided=text).divided
    assert [(rule.value.text, rule.of.text, rule.is_held) for rule in found] == [
        (".spec.quorum", ".spec.replicas // 1", False),
        (".spec.partition", ".spec.replicas // 1", True),
    ]


def test_completions(orchestra: Raw) -> None:
    found = read(orchestra, completions="- {done: .status.played, of: .spec.concerts}").completions
    assert [(each.done.text, each.of.text) for each in found] == [(".status.played", ".spec.concerts")]


def test_added_containers(orchestra: Raw) -> None:
    added = read(orchestra, **{"added-containers": "section: '.spec.extra'"}).added_containers
    assert [(each.component, each.query.text) for each in added] == [("section", ".spec.extra")]


def test_dependencies_of_other_pods(orchestra: Raw) -> None:
    text = "[{pods: '.spec.more[].template'}, {claims: '.spec.volumeClaimTemplates[].metadata.name'}]"
    found = read(orchestra, dependencies=text)
    assert [query.text for query in found.of_dependencies("pods")] == [".spec.more[].template"]
    assert [query.text for query in found.of_dependencies("claims")] == [".spec.volumeClaimTemplates[].metadata.name"]
    assert found.of_dependencies("parameters") == []


def test_unread_names_parts_with_their_reasons(orchestra: Raw) -> None:
    [part] = read(orchestra, unread="- {unknown: .spec.patch, reason: a patch is text}").unread
    assert (part.place.text, part.reason) == (".spec.patch", "a patch is text")
    assert part.place.read_by == frozenset()


def test_aggregate(orchestra: Raw) -> None:
    text = """
    .status.desiredCPU: sum
    .status.jobs[].active: max
    .status["a.b"].done: all
    """
    assert read(orchestra, aggregate=text).aggregate == {
        ("status", "desiredCPU"): AggregateRule.SUM,
        ("status", "jobs", None, "active"): AggregateRule.MAX,
        ("status", "a.b", "done"): AggregateRule.ALL,
    }


def test_aggregate_keeps_its_order(orchestra: Raw) -> None:
    found = read(orchestra, aggregate='{".status.b": "first", ".status.a": "concat"}').aggregate
    assert list(found) == [("status", "b"), ("status", "a")]


@rows("rule", list(AggregateRule))
def test_aggregate_rule_is_read(orchestra: Raw, rule: str) -> None:
    assert read(orchestra, aggregate=f".status.x: {rule}").aggregate == {("status", "x"): rule}


def ending(raw: Raw) -> Raw:
    """The same, with conditions that say how it ends."""
    mappings = ("spec", "structureDefinition", "rootComponent", "statusDefinition", "statusMappings")
    for status, *names in (("completed", "Bowing", "Applauded"), ("failed", "Booed"), ("running", "Playing")):
        matchers = [{"byConditions": [{"type": name, "status": "True"}]} for name in names]
        raw = edit.set_value(raw, (*mappings, status), matchers)
    return raw


@rows("word", ["n", "Y", "on", "No", "OFF"])
def test_words_that_are_booleans_in_yaml_1_1_are_text(orchestra: Raw, word: str) -> None:
    mappings = ("spec", "structureDefinition", "rootComponent", "statusDefinition", "statusMappings", "failed")
    matchers = [{"byConditions": [{"type": name, "status": "True"}]} for name in (word, "Announced")]
    raw = edit.set_value(orchestra, mappings, matchers)
    assert read(raw, outcomes=f"{word}: Announced").outcomes == {word: "Announced"}
    assert read(raw, outcomes=f"Announced: {word}").outcomes == {"Announced": word}


def test_outcomes(orchestra: Raw) -> None:
    assert read(ending(orchestra), outcomes="Applauded: Bowing").outcomes == {"Applauded": "Bowing"}


@rows(
    ("text", "message"),
    [
        pytest.param("Applauded: Playing", "no status mapping makes Playing completed or failed", id="no end"),
        pytest.param("Applause: Bowing", "no status mapping makes Applause completed or failed", id="a slip"),
        pytest.param("Booed: Booed", "Booed cannot announce itself", id="itself"),
        pytest.param("Booed", "must be an object in YAML or JSON, not a string", id="only one"),
    ],
)
def test_outcomes_that_are_none(orchestra: Raw, findings_of: FindingsOf, text: str, message: str) -> None:
    (finding,) = findings_of(annotated(ending(orchestra), outcomes=text))
    assert (finding.severity, finding.rule) == (Severity.ERROR, "annotation-outcomes")
    assert message in finding.message


def test_outcomes_without_a_status_definition(orchestra: Raw, findings_of: FindingsOf) -> None:
    raw = edit.remove(orchestra, ("spec", "structureDefinition", "rootComponent", "statusDefinition"))
    messages = [finding.message for finding in findings_of(annotated(raw, outcomes="A: B"))]
    assert "no status mapping makes A completed or failed" in messages


def test_health(orchestra: Raw) -> None:
    found = read(orchestra, health='.status.mood == "fine"').health
    assert found is not None
    assert found.evaluate({"status": {"mood": "fine"}}) == [True]


def test_healthy_statuses(orchestra: Raw) -> None:
    found = read(orchestra, **{"healthy-statuses": "Running, Initializing"}).healthy_statuses
    assert found == frozenset({Status.RUNNING, Status.INITIALIZING})


def test_healthy_statuses_beside_an_expression_only_order_statuses(orchestra: Raw, findings_of: FindingsOf) -> None:
    raw = annotated(orchestra, health=".status.fine", **{"healthy-statuses": "Running"})
    (finding,) = findings_of(raw)
    assert (finding.severity, finding.rule) == (Severity.WARNING, "annotation-healthy-statuses")
    assert "does not decide InterpretHealth beside health; AggregateStatus and exports read it" in finding.message


@rows(
    ("statuses", "mapped"),
    [
        pytest.param("Initializing, Running", "running", id="Running"),
        pytest.param("Completed", "running", id="the end of a workload"),
        pytest.param("Initializing", "degraded", id="a Karta without Running"),
    ],
)
def test_healthy_statuses_may_leave_out(orchestra: Raw, findings_of: FindingsOf, statuses: str, mapped: str) -> None:
    mappings = {mapped: [{"byConditions": [{"type": "Playing", "status": "True"}]}]}
    raw = edit.set_value(orchestra, (*ROOT_STATUS, "statusMappings"), mappings)
    assert findings_of(annotated(raw, **{"healthy-statuses": statuses})) == []


def test_expressions_of_annotations_count_as_bounded(orchestra: Raw) -> None:
    assert not load_definition(annotated(orchestra, health=".status.x")).uses_bounded
    bounded = annotated(orchestra, health="reduce .x[] as $x (true; . and $x)")
    assert load_definition(bounded).uses_bounded


@rows(
    ("text", "kept"),
    [
        pytest.param(".", ["the whole object"], id="the object"),
        pytest.param(".spec", ["all of spec"], id="the spec"),
        pytest.param(".metadata", ["all of metadata"], id="the metadata, labels of Karmada among them"),
        pytest.param(".[]", ["all of metadata", "all of spec"], id="what comes to the same"),
        pytest.param(".status", [], id="a status that the controller reads back is the member's"),
        pytest.param("select(.spec.owned) | .spec", [], id="on a condition it may be meant"),
    ],
)
def test_retaining_everything(orchestra: Raw, findings_of: FindingsOf, text: str, kept: list[str]) -> None:
    found = findings_of(annotated(orchestra, retain=text))
    assert {(finding.severity, finding.rule) for finding in found} <= {(Severity.WARNING, "retains-all")}
    assert [finding.message for finding in found] == [
        f"`{text}` keeps {whole} of the member: what changes there in the template never arrives" for whole in kept
    ]


@rows(
    "text",
    [
        "KubeRay 1.4",
        " Kubeflow Training Operator v1.9.2 ",
        "Grove 0.1.0-alpha.3",
        "OpenKruise 1.9+07169cf, OpenKruise Rollouts 0.6",
    ],
)
def test_written_from(orchestra: Raw, text: str) -> None:
    assert read(orchestra, **{"written-from": text}).written_from == text.strip()


def test_unknown_name_is_a_warning_without_hint(orchestra: Raw, findings_of: FindingsOf) -> None:
    (finding,) = findings_of(annotated(orchestra, colour="x"))
    assert (finding.severity, finding.rule) == (Severity.WARNING, "unknown-annotation")
    assert finding.message == "there is no annotation colour"


LUA = """\
healthInterpretation:
  luaScript: |
    function InterpretHealth(obj)
      return true
    end
retention:
  luaScript: "function Retain(desired, observed) return desired end"
"""


def test_lua(orchestra: Raw) -> None:
    definition = load_definition(annotated(orchestra, lua=LUA))
    assert definition.scripts == definition.annotations.lua
    assert definition.scripts.operations == {"InterpretHealth", "Retain"}
    (health,) = definition.scripts.of("InterpretHealth")
    assert (health.name, health.line_text(2)) == ("orchestra", "return true")
    assert not definition.uses_bounded


def test_lua_is_yaml_or_json(orchestra: Raw) -> None:
    as_json = '{"retention": {"luaScript": "function Retain(desired, observed) return desired end"}}'
    assert read(orchestra, lua=as_json).lua.operations == {"Retain"}


@rows(
    ("text", "rule", "message"),
    [
        pytest.param("retention: {", "annotation-lua", "is not YAML", id="not YAML"),
        pytest.param("return 1", "annotation-lua", "must be an object in YAML", id="the script itself"),
        pytest.param(
            "retention: {luaScript: function Retain(a b) end}", "lua-syntax", "line 1 of the script", id="not Lua"
        ),
        pytest.param("retention: {luaScript: local a = 1}", "missing-function", "Retain", id="no such function"),
        pytest.param("retetion: {luaScript: ''}", "unknown-field", "there is no field retetion", id="a slip"),
    ],
)
def test_lua_that_cannot_be_used(orchestra: Raw, findings_of: FindingsOf, text: str, rule: str, message: str) -> None:
    wrong = [finding for finding in findings_of(annotated(orchestra, lua=text)) if finding.severity is Severity.ERROR]
    assert [finding.rule for finding in wrong] == [rule]
    assert message in wrong[0].message
    assert wrong[0].path[:3] == ("metadata", "annotations", "karta-interpreter.io/lua")


def test_lua_for_an_operation_that_is_not_answered_is_not_run(orchestra: Raw, findings_of: FindingsOf) -> None:
    raw = annotated(orchestra, lua=LUA, operations="InterpretHealth")
    (finding,) = findings_of(raw)
    assert (finding.severity, finding.rule) == (Severity.WARNING, "annotation-lua")
    assert "the script for Retain is not run" in finding.message
    assert load_definition(raw).scripts.operations == {"InterpretHealth"}


def test_faults_of_a_dependency_are_all_reported(orchestra: Raw, findings_of: FindingsOf) -> None:
    findings = findings_of(annotated(orchestra, dependencies="- {kind: 1}\n- {apiVersion: v1, kind: Pod, name: '..'}"))
    assert [finding.message for finding in findings][:3] == [
        "entry 0: kind must be a string, not a number",
        "entry 0: the field apiVersion is missing",
        "entry 0: the field name is missing",
    ]
    assert findings[3].rule == "expression-refused"
