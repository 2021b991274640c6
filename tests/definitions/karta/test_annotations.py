from collections.abc import Callable
from typing import Any

import pytest

from karta_interpreter.base.findings import Finding, Severity
from karta_interpreter.base.k8s import edit
from karta_interpreter.definitions.karta.annotation_records import Annotations
from karta_interpreter.definitions.karta.annotations import (
    AggregateRule,
    ControllerClaims,
    ExtraDependency,
    ExtraPodTemplates,
    LeftOut,
    Retained,
)
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.evaluation.status import Status

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
        {"example.com/elastic": "nothing", "retain": "?", "karta-interpreter.com/owner": "team"},
    )
    assert findings_of(raw) == []


@pytest.mark.parametrize(
    "prefix", ["karta-interpreter/", "karta_interpreter.io/", "Karta-Interpreter.io/", "karta-interpreter.com/"]
)
def test_prefix_with_a_mistake_is_unknown_annotation(orchestra: Raw, findings_of: FindingsOf, prefix: str) -> None:
    key = f"{prefix}elastic"
    (finding,) = findings_of(edit.set_value(orchestra, ("metadata", "annotations"), {key: "section"}))
    assert (finding.severity, finding.rule) == (Severity.ERROR, "unknown-annotation")
    assert finding.path == ("metadata", "annotations", key)
    assert finding.hint == "did you mean karta-interpreter.io/elastic?"


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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
    ],
)
def test_retain_by_rules(orchestra: Raw, findings_of: FindingsOf, text: str, told: str) -> None:
    assert [str(each) for each in read(orchestra, retain=text).retain] == [told]
    assert findings_of(annotated(orchestra, retain=text)) == []


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
    assert definition.queued, "its pods may be queued"
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
    assert (scores.api_version, scores.kind, scores.name.text) == ("v1", "ConfigMap", ".spec.scores[]")
    assert scores.namespace is None
    assert storage.namespace is not None
    assert storage.namespace.text == '""'


def test_added_containers(orchestra: Raw) -> None:
    added = read(orchestra, **{"added-containers": "section: '.spec.extra'"}).added_containers
    assert [(each.component, each.query.text) for each in added] == [("section", ".spec.extra")]


def test_dependencies_of_other_pods(orchestra: Raw) -> None:
    text = "[{pods: '.spec.more[].template'}, {claims: '.spec.volumeClaimTemplates[].metadata.name'}]"
    pods, claims = read(orchestra, dependencies=text).dependencies
    assert isinstance(pods, ExtraPodTemplates)
    assert pods.templates.text == ".spec.more[].template"
    assert isinstance(claims, ControllerClaims)
    assert claims.volumes.text == ".spec.volumeClaimTemplates[].metadata.name"


def test_dependencies_name_what_is_left_out(orchestra: Raw) -> None:
    [omission] = read(orchestra, dependencies="- {omit: .spec.backup, reason: data of one cluster}").dependencies
    assert isinstance(omission, LeftOut)
    assert (omission.place.text, omission.reason) == (".spec.backup", "data of one cluster")


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


@pytest.mark.parametrize("rule", list(AggregateRule))
def test_aggregate_rule_is_read(orchestra: Raw, rule: str) -> None:
    assert read(orchestra, aggregate=f".status.x: {rule}").aggregate == {("status", "x"): rule}


def ending(raw: Raw) -> Raw:
    """The same, with conditions that say how it ends."""
    mappings = ("spec", "structureDefinition", "rootComponent", "statusDefinition", "statusMappings")
    for status, *names in (("completed", "Bowing", "Applauded"), ("failed", "Booed"), ("running", "Playing")):
        matchers = [{"byConditions": [{"type": name, "status": "True"}]} for name in names]
        raw = edit.set_value(raw, (*mappings, status), matchers)
    return raw


@pytest.mark.parametrize("word", ["n", "Y", "on", "No", "OFF"])
def test_words_that_are_booleans_in_yaml_1_1_are_text(orchestra: Raw, word: str) -> None:
    mappings = ("spec", "structureDefinition", "rootComponent", "statusDefinition", "statusMappings", "failed")
    matchers = [{"byConditions": [{"type": name, "status": "True"}]} for name in (word, "Announced")]
    raw = edit.set_value(orchestra, mappings, matchers)
    assert read(raw, outcomes=f"{word}: Announced").outcomes == {word: "Announced"}
    assert read(raw, outcomes=f"Announced: {word}").outcomes == {"Announced": word}


def test_outcomes(orchestra: Raw) -> None:
    assert read(ending(orchestra), outcomes="Applauded: Bowing").outcomes == {"Applauded": "Bowing"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("Applauded: Playing", "no status mapping makes Playing completed or failed", id="no end"),
        pytest.param("Applause: Bowing", "no status mapping makes Applause completed or failed", id="a slip"),
        pytest.param("Applauded: [Bowing]", "no status mapping makes ['Bowing'] completed or failed", id="a list"),
        pytest.param("Booed: Booed", "Booed cannot announce itself", id="itself"),
        pytest.param("Booed", "must be an object in YAML or JSON, not a string", id="only one"),
        pytest.param("a: b\n---\nc: d", "must be an object in YAML or JSON, not 2 documents", id="two documents"),
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


def test_healthy_statuses_beside_an_expression_have_no_effect(orchestra: Raw, findings_of: FindingsOf) -> None:
    raw = annotated(orchestra, health=".status.fine", **{"healthy-statuses": "Running"})
    (finding,) = findings_of(raw)
    assert (finding.severity, finding.rule) == (Severity.WARNING, "annotation-healthy-statuses")
    assert "the annotation health decides" in finding.message


def test_expressions_of_annotations_count_as_bounded(orchestra: Raw) -> None:
    assert not load_definition(annotated(orchestra, health=".status.x")).uses_bounded
    bounded = annotated(orchestra, health="reduce .x[] as $x (true; . and $x)")
    assert load_definition(bounded).uses_bounded


@pytest.mark.parametrize(
    ("name", "text", "rule", "message", "hint"),
    [
        pytest.param(
            "elastic", "sections", "annotation-elastic", 'there is no component "sections"',
            "did you mean section?", id="elastic: a component that does not exist",
        ),
        pytest.param(
            "elastic", " , ", "annotation-elastic", "names no component", "remove", id="elastic: nobody"
        ),
        pytest.param(
            "elastic", "orchestra", "annotation-elastic", 'the component "orchestra" has no pods',
            "name the component", id="elastic: a component without pods",
        ),
        pytest.param(
            "elastic", "conductor", "annotation-elastic", "has no number of replicas to change",
            "replicasPath", id="elastic: a component without a scale",
        ),
        pytest.param(
            "operations", "Retain,InterpretHelth", "annotation-operations",
            'there is no operation "InterpretHelth"', "did you mean InterpretHealth?",
            id="operations: one that does not exist",
        ),
        pytest.param(
            "operations", "", "annotation-operations", "names no operation", "", id="operations: none"
        ),
        pytest.param(
            "retain", ".spec.a +", "expression-syntax", "", "", id="retain: not jq"
        ),
        pytest.param(
            "retain", "del(.spec.a)", "expression-refused", "", "", id="retain: refused"
        ),
        pytest.param(
            "retain", ".spec.a + 1", "annotation-retain", "`.spec.a + 1` computes a value",
            "write a path", id="retain: computed",
        ),
        pytest.param(
            "retain", ".spec.a, .spec.b // 1", "annotation-retain", "computes a value", "write a path",
            id="retain: a default of one place among several",
        ),
        pytest.param(
            "retain", ".spec.a // .spec.b + 1", "annotation-retain", "computes a value", "write a path",
            id="retain: a default that is computed",
        ),
        pytest.param(
            "retain", ".spec | keys", "annotation-retain", "`.spec | keys` computes a value", "write a path",
            id="retain: computed, where there is a spec",
        ),
        pytest.param(
            "retain", "- 1", "annotation-retain", "an entry is a number where a jq path belongs", "",
            id="retain: a number",
        ),
        pytest.param(
            "state", "- {status: .spec.a, label: a.io/b, spec: .spec.c}", "annotation-state",
            "`.spec.a` is not a path below .status", "write it like", id="state: not of the status"
        ),
        pytest.param(
            "state", "- {status: '.status.jobs[].id', label: a.io/b, spec: .spec.c}", "annotation-state",
            "is not a path of plain names", ".status.job.id", id="state: of a list"
        ),
        pytest.param(
            "state", "- {status: .status.a, label: a b, spec: .spec.c}", "annotation-state",
            '"a b" is not the name of a label', "example.io/replaced-job", id="state: not a label"
        ),
        pytest.param(
            "state", "- {status: .status.a, label: a.io/b}", "annotation-state", "the field spec is missing", "",
            id="state: without a place"
        ),
        pytest.param(
            "state", "- {status: .status.a, label: a.io/b, specs: .spec.c, spec: .spec.c}", "annotation-state",
            "there is no field specs", "spec", id="state: an unknown field"
        ),
        pytest.param(
            "state", "- {status: .status.a, label: a.io/b, spec: .spec.c + 1}", "annotation-state",
            "`.spec.c + 1` computes a value", "write a path", id="state: a computed place"
        ),
        pytest.param(
            "state", "- {status: .status.a, label: a.io/b, spec: [0]}", "annotation-state", "spec must be a string",
            "quotes", id="state: numbers"
        ),
        pytest.param("state", "- .spec.a", "annotation-state", "must be an object", "", id="state: a path alone"),
        pytest.param(
            "queue-labels", "", "annotation-queue-labels", "names no label", "none", id="queue-labels: nothing"
        ),
        pytest.param(
            "queue-labels", "none, example.io/queue", "annotation-queue-labels", '"none" is not the name of a label',
            "kueue.x-k8s.io/queue-name", id="queue-labels: none and some"
        ),
        pytest.param(
            "queue-labels", ".metadata.labels.queue", "annotation-queue-labels", "is not the name of a label",
            "kueue.x-k8s.io/queue-name", id="queue-labels: a path"
        ),
        pytest.param(
            "retain", "- by: .name", "annotation-retain", "the field unset is missing", "",
            id="retain: no path",
        ),
        pytest.param(
            "retain", "- {unset: .spec.a, when: .b}", "annotation-retain", "there is no field when",
            "there are: unset, by, if, value", id="retain: another field",
        ),
        pytest.param(
            "retain", "- {unset: .spec.a, if: true}", "annotation-retain", "if must be a string, not a boolean", "",
            id="retain: a condition that is not a text",
        ),
        pytest.param(
            "retain", "- {unset: .spec.a, by: .b, value: .c}", "annotation-retain", "by is for lists",
            "write two entries", id="retain: a list and a value",
        ),
        pytest.param(
            "retain", "- {unset: '.spec | .a, .b', value: .c}", "annotation-retain", "names several fields",
            "write an entry for each", id="retain: one value for two",
        ),
        pytest.param(
            "retain", "- owned: .spec.a", "annotation-retain",
            "the field while is missing", "", id="retain: owned without while",
        ),
        pytest.param(
            "retain", "- {replicas: .spec.a, while: .b}", "annotation-retain",
            "there is no field while", "there are: replicas", id="retain: replicas with a condition",
        ),
        pytest.param(
            "retain", "- {quantities: .spec.a, unset: .spec.b}", "annotation-retain",
            "there is no field unset", "there are: quantities", id="retain: two rules in one entry",
        ),
        pytest.param(
            "retain", "- {unset: .spec.a + 1}", "annotation-retain", "computes a value", "write a path",
            id="retain: unset, but computed",
        ),
        pytest.param(
            "retain", "- {unset: .spec.a, if: .b +}", "expression-syntax", "", "", id="retain: a broken condition"
        ),
        pytest.param(
            "retain", "[.spec.a", "annotation-retain", "is not YAML", "", id="retain: an open list"
        ),
        pytest.param(
            "dependencies", "v1/ConfigMap", "annotation-dependencies",
            "must be a list in YAML or JSON, not a string", "", id="dependencies: text",
        ),
        pytest.param(
            "dependencies", "", "annotation-dependencies", "must be a list in YAML or JSON, not null", "",
            id="dependencies: nothing",
        ),
        pytest.param(
            "dependencies", "- x", "annotation-dependencies", "entry 0: must be an object, not a string", "",
            id="dependencies: an entry of text",
        ),
        pytest.param(
            "dependencies", "- {apiVersion: v1, kind: Secret}", "annotation-dependencies",
            "entry 0: the field name is missing", "", id="dependencies: nameless",
        ),
        pytest.param(
            "dependencies", "- {apiVersion: v1, kind: Secret, name: .a, nmespace: .b}",
            "annotation-dependencies", "entry 0: there is no field nmespace", "did you mean namespace?",
            id="dependencies: a slip",
        ),
        pytest.param(
            "dependencies", "- {pods: .a, kind: Pod}", "annotation-dependencies", "entry 0: kind does not go with pods",
            "write two entries", id="dependencies: pods of a kind",
        ),
        pytest.param(
            "dependencies", "- {omit: .a}", "annotation-dependencies", "entry 0: the field reason is missing", "",
            id="dependencies: left out without a reason",
        ),
        pytest.param(
            "dependencies", "- {claims: .b, omit: .a}", "annotation-dependencies",
            "entry 0: omit does not go with claims", "write two entries", id="dependencies: claims that are left out",
        ),
        pytest.param(
            "dependencies", "- {claims: [a]}", "annotation-dependencies", "entry 0: claims must be a string", "",
            id="dependencies: a list of claims",
        ),
        pytest.param(
            "dependencies", "- {pods: .a, more: .b}", "annotation-dependencies", "entry 0: there is no field more", "",
            id="dependencies: another field next to pods",
        ),
        pytest.param(
            "dependencies", "- {apiVersion: 1, kind: Secret, name: .a}", "annotation-dependencies",
            "entry 0: apiVersion must be a string, not a number", "write it in quotes",
            id="dependencies: a number as version",
        ),
        pytest.param(
            "dependencies", "- {apiVersion: v1, kind: Secret, name: .a, namespace: n}", "expression-refused",
            "namespace is jq, in which n is not a text", """write namespace: '"n"'""",
            id="dependencies: a word that YAML 1.1 reads as false",
        ),
        pytest.param(
            "dependencies", "- {apiVersion: v1, kind: Secret, name: .a, namespace: true}", "annotation-dependencies",
            "entry 0: namespace must be a string, not a boolean", "write it in quotes", id="dependencies: a boolean",
        ),
        pytest.param(
            "added-containers", "section: {containers: [.spec.extra]}", "annotation-added-containers",
            "section: an object where an expression belongs", "write it in quotes", id="added-containers: no quotes",
        ),
        pytest.param(
            "dependencies", "- {apiVersion: a/b/c, kind: Secret, name: .a}", "annotation-dependencies",
            'entry 0: apiVersion "a/b/c"', "", id="dependencies: no apiVersion",
        ),
        pytest.param(
            "dependencies", "- {apiVersion: v1, kind: Secret, name: '.a['}", "expression-syntax", "", "",
            id="dependencies: not jq",
        ),
        pytest.param(
            "added-containers", "sections: .a", "annotation-added-containers",
            'there is no component "sections" that has pods', "did you mean section?",
            id="added-containers: a component that does not exist",
        ),
        pytest.param(
            "added-containers", "orchestra: .a", "annotation-added-containers",
            'there is no component "orchestra" that has pods', "conductor",
            id="added-containers: a component without pods",
        ),
        pytest.param(
            "added-containers", "section: {containers: []}", "annotation-added-containers",
            "section: an object where an expression belongs", "", id="added-containers: no expression",
        ),
        pytest.param(
            "added-containers", "section: .a[", "expression-syntax", "", "", id="added-containers: not jq"
        ),
        pytest.param(
            "added-containers", "- section", "annotation-added-containers", "must be an object in YAML", "",
            id="added-containers: a list",
        ),
        pytest.param(
            "aggregate", "- .status.a", "annotation-aggregate", "must be an object in YAML", "",
            id="aggregate: a list",
        ),
        pytest.param(
            "aggregate", ".status.a: {", "annotation-aggregate", "is not YAML", "", id="aggregate: not YAML"
        ),
        pytest.param(
            "aggregate", ".status.a: summ", "annotation-aggregate", ".status.a: there is no rule summ",
            "did you mean sum?", id="aggregate: a rule that does not exist",
        ),
        pytest.param(
            "aggregate", ".status.a: 1", "annotation-aggregate", "there is no rule 1", "there are: sum",
            id="aggregate: a number as rule",
        ),
        pytest.param(
            "aggregate", ".status.a[].b: counter", "annotation-aggregate", "a counter is one number", "write sum",
            id="aggregate: a counter for each element of a list",
        ),
        pytest.param(
            "required-status", ".status.a[].b: 1", "annotation-required-status", "this cannot be required",
            "elements of lists have all of their fields", id="required-status: in a list",
        ),
        pytest.param(
            "required-status", ".status.a: null", "annotation-required-status", "this cannot be required",
            "null is not a value", id="required-status: null",
        ),
        pytest.param(
            "aggregate", ".spec.a: sum", "annotation-aggregate", "`.spec.a` is not a path below .status",
            ".status.active", id="aggregate: outside of the status",
        ),
        pytest.param(
            "aggregate", ".status: first", "annotation-aggregate", "`.status` is not a path below .status",
            "", id="aggregate: the whole status",
        ),
        pytest.param(
            "aggregate", ".status.a | .b: sum", "annotation-aggregate", "is not a path below .status", "",
            id="aggregate: more than a path",
        ),
        pytest.param(
            "aggregate", "status.a: sum", "annotation-aggregate", "`status.a` is not a path below .status",
            "", id="aggregate: without the leading dot",
        ),
        pytest.param(
            "aggregate", "'.status[': sum", "annotation-aggregate", "`.status[` is not a path below", "",
            id="aggregate: not jq",
        ),
        pytest.param("health", ".status.", "expression-syntax", "", "", id="health: not jq"),
        pytest.param(
            "healthy-statuses", "Running, Initialising", "annotation-healthy-statuses",
            'there is no status "Initialising"', "did you mean Initializing?",
            id="healthy-statuses: one that does not exist",
        ),
        pytest.param(
            "healthy-statuses", "", "annotation-healthy-statuses", "names no status", "remove the annotation",
            id="healthy-statuses: none",
        ),
        pytest.param(
            "written-from", "Garage", "annotation-written-from", '"Garage" is not a project and a version',
            "write it like KubeRay 1.4", id="written-from: no version",
        ),
        pytest.param(
            "written-from", "1.4", "annotation-written-from", '"1.4" is not a project and a version', "",
            id="written-from: no project",
        ),
        pytest.param(
            "written-from", "Garage 1.4\nof 2025", "annotation-written-from", "is not a project and a version", "",
            id="written-from: several lines",
        ),
        pytest.param(
            "dependencies", "- {apiVersion: v1, kind: Secret, name: my-secret}", "expression-refused",
            "name is jq, in which my-secret is not a text", """write name: '"my-secret"'""",
            id="dependencies: a name as it is",
        ),
        pytest.param(
            "dependencies", "- {apiVersion: v1, kind: Secret, name: .spec.name, namespace: kube-system}",
            "expression-refused", "namespace is jq", """write namespace: '"kube-system"'""",
            id="dependencies: a namespace as it is",
        ),
        pytest.param(
            "dependencies", "- {apiVersion: v1, kind: Secret, name: 2fa-key}", "expression-syntax",
            "2fa-key is not a text", """'"2fa-key"'""", id="dependencies: a name that begins with a digit",
        ),
        pytest.param("health", "", "expression-syntax", "", "", id="health: nothing"),
        pytest.param(
            "retian", ".a", "unknown-annotation", "there is no annotation retian",
            "did you mean karta-interpreter.io/retain?", id="a slip",
        ),
    ],
)  # fmt: skip
def test_errors(
    orchestra: Raw,
    findings_of: FindingsOf,
    name: str,
    text: str,
    rule: str,
    message: str,
    hint: str,
) -> None:
    (finding,) = findings_of(annotated(orchestra, **{name: text}))
    assert (finding.severity, finding.rule) == (Severity.ERROR, rule)
    assert finding.path == ("metadata", "annotations", f"karta-interpreter.io/{name}")
    assert message in finding.message
    assert hint in finding.hint


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("text", ["KubeRay 1.4", " Kubeflow Training Operator v1.9.2 ", "Grove 0.1.0-alpha.3"])
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


@pytest.mark.parametrize(
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
    findings = findings_of(annotated(orchestra, dependencies="- {kind: 1}\n- {apiVersion: v1, kind: A, name: '..'}"))
    assert [finding.message for finding in findings][:3] == [
        "entry 0: kind must be a string, not a number",
        "entry 0: the field apiVersion is missing",
        "entry 0: the field name is missing",
    ]
    assert findings[3].rule == "expression-refused"
