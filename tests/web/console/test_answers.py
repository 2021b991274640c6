"""The document of the page: findings, answers, explanations, and where everything stands in the texts."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

import pytest
import yaml

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s.requirements import Counting
from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.definitions.karta.loading import load_documents
from karta_interpreter.definitions.karta.reference_resolver import Known
from karta_interpreter.definitions.sources.snapshot import ServedDefinition, Snapshot
from karta_interpreter.engine.operations import Call, Operation, StatusItem, interpret
from karta_interpreter.engine.suites.comparison import compare_answers
from karta_interpreter.engine.suites.suite import read_suite
from karta_interpreter.web.console.answers import ORDER, PageOptions, PageQuestion, answer
from karta_interpreter.web.console.catalogue import examples, suites_next_to, text_of
from tests.support.examples import EXAMPLES, SWEEPS_ALL
from tests.support.rows import rows

pytestmark = pytest.mark.catalogue

KARTA = """\
apiVersion: run.ai/v1alpha1
kind: Karta
metadata:
  name: crawler
  annotations:
    karta-interpreter.io/retain: .spec.seed
spec:
  structureDefinition:
    rootComponent:
      name: crawler
      kind: {group: example.io, version: v1, kind: Crawler}
      specDefinition:
        podTemplateSpecPath: .spec.template
      scaleDefinition:
        replicasPath: .spec.replicas // 1
      statusDefinition:
        phaseDefinition:
          path: .status.phase
        statusMappings:
          running:
            - byPhase: Running
"""
OBJECT = """\
apiVersion: example.io/v1
kind: Crawler
metadata: {name: docs}
spec:
  replicas: 3
  seed: 1
  template: {spec: {containers: [{name: main}]}}
status: {phase: Running}
"""
ONE_LINE = "{apiVersion: example.io/v1, kind: Crawler, metadata: {name: docs}}"
CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crawlers.example.io}
spec:
  group: example.io
  names: {kind: Crawler}
  versions:
  - name: v1
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              replicas: {type: integer}
              seed: {type: integer}
              hosts: {type: array, items: {type: object, properties: {name: {type: string}}}}
              template: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, properties: {phase: {type: string}}}
"""
OBSERVED = OBJECT.replace("seed: 1", "seed: 7")
ITEMS = "".join(f"- {{clusterName: {name}, applied: true, status: {{phase: Running, pods: 1}}}}\n" for name in "ba")


def asked(**texts: Any) -> dict[str, Any]:
    return answer(PageQuestion(**({"karta": KARTA, "object": OBJECT} | texts)))


def one(page: dict[str, Any], operation: Operation) -> dict[str, Any]:
    (found,) = [each for each in page["answers"] if each["operation"] == operation]
    return dict(found)


def test_page_answers_eight_operations() -> None:
    page = asked(observed=OBSERVED, items=ITEMS)
    assert {*ORDER} == {*Operation} - {Operation.REVISE_COMPONENTS}, "the page has no field for components"
    assert [each["operation"] for each in page["answers"]] == list(ORDER)
    assert not [each["operation"] for each in page["answers"] if each.get("error") or each.get("missing")]


def test_count_has_places_of_expression_and_field() -> None:
    (fact,) = [each for each in one(asked(), Operation.INTERPRET_REPLICA)["facts"] if each["rule"] == "count"]
    (place,) = fact["places"]

    assert fact["answer"] == "/replica"
    assert lit(KARTA, fact["at"]) == ".spec.replicas // 1"
    assert (place["text"], lit(OBJECT, place["at"])) == ("object", "3")
    assert [lit(OBJECT, at) for at in fact["writesAt"]] == ["3"]


def lit(text: str, at: list[int]) -> str:
    """What begins at a place and ends with its line."""
    line, column = at
    return text.splitlines()[line - 1][column - 1 :]


def test_retained_value_has_place_in_object_of_member() -> None:
    found = one(asked(observed=OBSERVED), Operation.RETAIN)
    places = [place for fact in found["facts"] for place in fact.get("places", ())]

    assert found["patch"] == [{"op": "replace", "path": "/spec/seed", "value": 7, "old": 1}]
    assert ("observed", "7") in [(place["text"], lit(OBSERVED, place["at"])) for place in places]


@rows(
    ("before", "after", "change"),
    [
        pytest.param("{'0': 1}", "{'0': 7}", ["/spec/seed/0", 7, 1], id="a key that looks like an index"),
        pytest.param("{'²': 1}", "{'²': 7}", ["/spec/seed/²", 7, 1], id="a key of a digit that is not a number"),
        pytest.param("[3, 1]", "[3, 7]", ["/spec/seed/1", 7, 1], id="an index"),
    ],
)
def test_change_shows_the_value_that_it_replaces(before: str, after: str, change: list[Any]) -> None:
    texts = [OBJECT.replace("seed: 1", f"seed: {seed}") for seed in (before, after)]
    found = one(asked(object=texts[0], observed=texts[1]), Operation.RETAIN)
    assert [[each["path"], each["value"], each["old"]] for each in found["patch"]] == [change]


def test_annotation_has_its_place() -> None:
    found = one(asked(observed=OBSERVED), Operation.RETAIN)
    assert ".spec.seed" in [lit(KARTA, fact["at"]) for fact in found["facts"] if "at" in fact]


def test_health_is_that_of_the_members_object_where_there_is_one() -> None:
    page = asked(
        karta=f"{KARTA}          failed: [{{byPhase: Lost}}]\n",
        observed=OBJECT.replace("phase: Running", "phase: Lost"),
    )
    assert one(page, Operation.INTERPRET_HEALTH)["results"] == {"healthy": False}
    assert one(asked(), Operation.INTERPRET_HEALTH)["results"] == {"healthy": True}


def test_aggregated_field_has_places_of_its_clusters() -> None:
    found = one(asked(items=ITEMS), Operation.AGGREGATE_STATUS)
    (fact,) = [each for each in found["facts"] if each.get("answer") == "/aggregatedStatus/status/pods"]

    assert found["results"]["aggregatedStatus"]["status"] == {"phase": "Running", "pods": 2}
    assert {(place["cluster"], place["text"], place["at"][0]) for place in fact["places"]} == {
        ("a", "items", 2),
        ("b", "items", 1),
    }


def test_objects_that_nothing_looks_up_are_a_problem() -> None:
    problem = asked(references="{apiVersion: v1, kind: Secret, metadata: {name: a}}")["problems"]["references"]
    assert problem["message"] == "the definition looks up no objects: these change nothing"


def test_clusters_without_a_status_are_a_warning() -> None:
    silent = [asked(items=text) for text in ("- {clusterName: a}\n", ITEMS + "- {clusterName: c}\n")]
    facts = [fact for page in silent for fact in one(page, Operation.AGGREGATE_STATUS)["facts"]]
    found = [fact for fact in facts if fact["rule"] == "silent"]
    assert [fact.get("severity") for fact in found] == ["warning", None]
    assert [fact["places"][0]["text"] for fact in found] == ["items", "items"]


@pytest.mark.parametrize(("operation", "why"), [(Operation.RETAIN, "observed"), (Operation.AGGREGATE_STATUS, "items")])
def test_operation_names_the_text_that_it_needs(operation: Operation, why: str) -> None:
    assert one(asked(), operation)["missing"] == why


def test_replicas_are_revised_as_asked_or_to_one_more() -> None:
    patches = [one(asked(replicas=number), Operation.REVISE_REPLICA)["patch"] for number in (None, 5, 3)]
    assert [[change["value"] for change in patch] for patch in patches] == [[4], [5], []]


def test_crd_adds_what_it_contradicts_and_the_paths_of_its_fields() -> None:
    page = asked(karta=KARTA.replace(".status.phase", ".status.fase"), crd=CRD)
    found = {each["line"]: each["message"] for each in page["findings"]}

    assert found[18] == "the CRD has no field .status.fase"
    assert page["answers"], "they stay next to what a CRD contradicts"
    paths = [tuple(each) for each in page["paths"]]
    assert {(".spec.replicas", "integer"), (".spec.hosts[].name", "string"), (".status.phase", "string")} < {*paths}


@rows("operation", ORDER)
def test_answer_as_a_case_is_met_by_the_definition(operation: Operation) -> None:
    page = asked(observed=OBSERVED, items=ITEMS, case=str(operation))
    (case,) = read_suite(page["case"])
    definition = load_documents(KARTA, "")[0].usable()

    assert case.call.operation == operation
    assert list(compare_answers(case.expected, interpret(definition, case.call))) == []


def test_case_leaves_out_what_an_api_server_writes() -> None:
    written = "uid: u, resourceVersion: '7', creationTimestamp: t, selfLink: s, managedFields: [{}], generation: 2"
    text = OBJECT.replace("metadata: {name: docs}", f"metadata: {{name: docs, {written}}}")
    (case,) = read_suite(asked(object=text, observed=text, case="Retain")["case"])

    assert case.call.observed is not None
    kept = [each["metadata"].keys() for each in (case.call.object, case.call.observed, case.expected["retained"])]
    assert kept == [{"name", "generation"}] * 3


def test_without_a_crd_parts_of_the_karta_are_compared() -> None:
    page = asked(karta=KARTA.replace(".spec.replicas // 1", ".metadata.labels"))

    (finding,) = page["findings"]
    assert (finding["rule"], finding["line"]) == ("crd-wrong-type", 15)
    assert page["answers"]


def test_findings_have_the_line_of_the_text_and_leave_the_answers_out() -> None:
    page = asked(karta=KARTA.replace(".spec.replicas // 1", ".spec.replicas //"))
    (finding,) = page["findings"]

    assert (finding["severity"], finding["line"]) == ("error", 15)
    assert page["unanswered"] == "fix the errors to see answers"
    assert page["answers"] == []


@rows(
    ("texts", "expected"),
    [
        pytest.param(
            {"karta": ""}, "write a Karta for example.io/v1, Kind=Crawler, or choose a kind", id="nothing written yet"
        ),
        pytest.param({"karta": "kind: Karta"}, "fix the errors to see answers", id="errors"),
        pytest.param(
            {"object": KARTA},
            "the object is a definition: move it to the text of the Karta, and give an object of its kind",
            id="a definition as the object",
        ),
    ],
)
def test_without_a_definition_there_is_a_reason(texts: dict[str, str], expected: str) -> None:
    assert asked(**texts)["unanswered"] == expected


def test_karta_of_the_kind_answers_of_several() -> None:
    other = KARTA.replace("kind: Crawler", "kind: Other").replace("name: crawler", "name: other")
    page = asked(karta=f"{other}---\n{KARTA}")
    assert (page["definition"], page["findings"]) == ("crawler", [])


def test_second_karta_of_a_kind_is_an_error_at_its_line() -> None:
    (finding,) = asked(karta=f"{KARTA}---\n{KARTA}")["findings"]
    assert (finding["rule"], finding["line"]) == ("duplicate-kind", len(f"{KARTA}---\n".splitlines()) + 1)


def test_problem_of_text_leaves_others_usable() -> None:
    page = asked(items="- [")
    assert page["problems"].keys() == {"items"}
    assert one(page, Operation.INTERPRET_REPLICA)["results"]["replica"] == 3


@rows(
    ("text", "wrong", "line", "message"),
    [
        pytest.param("crd", OBJECT, 1, "in it, only Crawler; paste what `kubectl get crd", id="an object as the CRD"),
        pytest.param("observed", "apiVersion: v1\nkind: Pod\n", 2, "the member's object is v1, Kind=Pod",
            id="another kind"),
        pytest.param("observed", OBJECT.replace("name: docs", "name: other"), 3,
            "the member's object is called other, and the object docs", id="another name"),
        pytest.param("observed", "- a\n", 1, "paste the whole object", id="a list as the member's object"),
        pytest.param("items", "- clusterName: a\n- clusterName: a\n", 2, "the item is a second one of a",
            id="a cluster twice"),
        pytest.param("items", "- clusterName: a\n  applied: yes please\n", 1, "must be a boolean",
            id="a text for a switch"),
        pytest.param("references", "kind: Pod\n", 1, "apiVersion", id="a reference without a version"),
        pytest.param("object", f"spec: {{workload: {{manifests: [{ONE_LINE}]}}}}\n", 1,
            "in spec.workload.manifests[0]", id="a Work"),
        pytest.param("suite", "tests: []\n", 1, "unknown key", id="a list of cases"),
        pytest.param("suite", "name: a\n---\nname: [\n", 4, "", id="broken YAML as the suite"),
    ],
)  # fmt: skip
def test_mistake_in_a_side_text_is_a_problem_at_its_line(text: str, wrong: str, line: int, message: str) -> None:
    problem = asked(**{text: wrong})["problems"][text]
    assert problem["line"] == line
    assert message in problem["message"]


def test_case_of_a_suite_names_a_file_that_is_not_read() -> None:
    case = "name: a\noperation: InterpretReplica\ndesiredObj: {}\noutput: {{replica: 1}}\n"
    assert asked(suite=case.format("/nowhere/a.yaml"))["problems"] == {}


def test_member_object_in_another_namespace_is_a_problem_if_both_name_one() -> None:
    own = OBJECT.replace("{name: docs}", "{name: docs, namespace: a}")
    for member, problems in ((own.replace("namespace: a", "namespace: b"), ["observed"]), (OBJECT, [])):
        assert [*asked(object=own, observed=member)["problems"]] == problems


def test_cases_of_a_suite_are_run_by_the_karta_while_it_can_be_used() -> None:
    case = f"name: a\noperation: InterpretReplica\ndesiredObj: {ONE_LINE}\noutput: {{replica: 0}}\n"
    others = (case.replace("replica: 0", "replica: 9"), case.replace("Crawler", "Other"))
    cases = asked(suite="---\n".join((case, *others)))["cases"]
    assert [(one["line"], one["failures"][:1]) for one in cases[:2]] == [(1, ()), (6, ("replica: expected 9, got 0",))]
    assert asked(suite=case, karta=KARTA.replace("name: crawler", "name: [", 1))["cases"] == []
    assert cases[2]["failures"][0].startswith("not run: the Karta is for another kind")


def test_revision_without_a_number_waits_for_one() -> None:
    unreadable = OBJECT.replace("{name: main}", "{name: main, resources: {requests: {memory: 1GB}}}")
    assert one(asked(object=unreadable), Operation.REVISE_REPLICA)["missing"] == "replicas"
    patch = one(asked(object=unreadable, replicas=5), Operation.REVISE_REPLICA)["patch"]
    assert [change["value"] for change in patch] == [5]


def test_object_without_name_has_answers_and_no_tree() -> None:
    page = asked(object=OBJECT.replace("metadata: {name: docs}", "metadata: {}"))
    assert one(page, Operation.INTERPRET_REPLICA)["results"]["replica"] == 3
    assert "needs metadata.name" in page["tree"]["error"]


def test_tree_is_there_without_the_objects_that_a_definition_refers_to(snapshot: Snapshot) -> None:
    entry = snapshot.entries[GVK("serving.kserve.io", "v1beta1", "InferenceService")]
    example = examples(entry.definition.gvk, suites_next_to(entry.definition.source))[0]
    page = answer(PageQuestion(karta=text_of(entry), object=example["object"]))
    assert page["references"]
    assert page["tree"]["root"]["name"] == "inferenceservice"


def test_tree_has_counts_and_no_pod_templates() -> None:
    assert asked()["tree"] == {
        "status": ["Running"],
        "replicas": 3,
        "root": {
            "name": "crawler",
            "kind": {"group": "example.io", "version": "v1", "kind": "Crawler"},
            "hasPodDefinition": True,
            "instances": [{"replicas": 3, "scale": {"replicas": 3}, "requirements": {}}],
        },
        "groups": [],
    }


def test_options_change_answers() -> None:
    one_cpu = "resources: {requests: {cpu: 1}}"
    sidecar = f"initContainers: [{{name: s, restartPolicy: Always, {one_cpu}}}], containers: [{{name: m, {one_cpu}}}]"
    obj = OBJECT.replace("containers: [{name: main}]", sidecar)
    cpu = [
        one(asked(object=obj, page_options=options), Operation.INTERPRET_REPLICA)["results"]["requires"][
            "resourceRequest"
        ]
        for options in (PageOptions(), PageOptions(pod_requests=Counting.KARMADA))
    ]
    assert cpu == [{"cpu": "2"}, {"cpu": "1"}]


@rows("body", [[], {"karta": 1}, {"unknown": ""}, {"replicas": "3"}, {"replicas": True}, {"options": []}])
def test_body_of_another_shape_is_rejected(body: Any) -> None:
    with pytest.raises(ValueError, match=r"^(Expected|Object contains unknown)"):
        PageQuestion.of(body)


_CHANGING = (Operation.RETAIN, Operation.REVISE_REPLICA, Operation.AGGREGATE_STATUS)
_WITH_MORE = {Operation.INTERPRET_HEALTH: "object", Operation.RETAIN: "observed", Operation.AGGREGATE_STATUS: "items"}
"""Operations whose cases have a status or a further text, and the text that has it."""


def examples_of(entry: ServedDefinition) -> Sequence[Object]:
    return examples(entry.definition.gvk, suites_next_to(entry.definition.source))


def cases(snapshot: Snapshot) -> Iterator[tuple[ServedDefinition, dict[str, Any]]]:
    """For each sixth definition a case of one of these operations in turn; with 100 examples three of each, of all."""
    asked = list(snapshot.entries.values())[:: 1 if SWEEPS_ALL else 6]
    for wanted, entry in zip(cycle(_WITH_MORE), asked, strict=False):
        taken = Counter[str]()
        of_kind = examples_of(entry)
        for example in sorted(of_kind, key=lambda each: not each[_WITH_MORE.get(each["operation"], "object")]):
            taken[example["operation"]] += 1
            if taken[example["operation"]] <= max(example["operation"] == wanted, EXAMPLES // 30):
                yield entry, dict(example)


@pytest.mark.slow
@pytest.mark.sweep
def test_examples_of_the_catalogue_have_the_answers_of_their_definitions(snapshot: Snapshot) -> None:
    differing, seen = [], Counter[str]()
    for entry, example in cases(snapshot):
        texts = {name: example[name] for name in ("object", "observed", "items", "references", "replicas")}
        page = answer(PageQuestion(karta=text_of(entry), **texts))
        assert not page["findings"], entry.definition.name
        assert not page["problems"], (entry.definition.name, example["name"])
        inputs = read(example)
        for found in page["answers"]:
            if "missing" not in found:
                seen[found["operation"]] += 1
                if shown(found) != expected(entry, found["operation"], page["replicas"], *inputs):
                    differing.append((entry.definition.name, example["name"], found["operation"]))
    assert seen.keys() == set(ORDER)
    assert min(seen.values()) >= (20 if SWEEPS_ALL else 3)
    assert differing == []


def read(example: dict[str, Any]) -> tuple[Any, Any, tuple[StatusItem, ...], Known]:
    """What the texts of a case hold, as read by other code."""
    obj, observed, listed = (yaml.load(example[name], yaml.CSafeLoader) for name in ("object", "observed", "items"))
    references = yaml.load_all(example["references"], yaml.CSafeLoader)
    items = tuple(StatusItem.of(item, "item") for item in listed or ())
    return obj, observed or obj, items, Known.of(each for each in references if isinstance(each, dict))


def shown(found: dict[str, Any]) -> Any:
    """What the page shows of an answer: the error, the results, or that there is a patch."""
    return found.get("error") or ("patch" in found or found["results"])


def expected(
    entry: ServedDefinition,
    operation: str,
    replicas: int,
    obj: Any,
    observed: Any,
    items: tuple[StatusItem, ...],
    known: Known,
) -> Any:
    """What the definition answers, in the form of the page."""
    call = Call.of(Operation(operation), obj, observed, replicas, items)
    try:
        results = interpret(entry.definition, call, reader=known)
    except InterpretationError as error:
        return str(error)
    return operation in _CHANGING or results
