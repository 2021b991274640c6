import copy
import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from karta_interpreter import GVK, DefinitionError, Karta, Severity, Status, Workload, WorkloadError, WorkloadTree
from karta_interpreter.engine.evaluation import match_status
from tests.support.examples import few
from tests.support.rows import rows

Raw = Callable[[str], dict[str, Any]]


def test_text_a_path_and_an_object_give_the_same(texts: dict[str, str], raw: Raw, tmp_path: Path) -> None:
    path = tmp_path / "orchestra.yaml"
    path.write_text(texts["Orchestra"], encoding="utf-8")
    loaded = [Karta.load(source) for source in (texts["Orchestra"], path, str(path), raw("Orchestra"))]
    assert {karta.name for karta in loaded} == {"orchestra"}
    assert {karta.gvk for karta in loaded} == {GVK("toys.example.com", "v1", "Orchestra")}
    assert all(karta.definition.components == loaded[0].definition.components for karta in loaded)


@rows(
    ("change", "name"),
    [
        pytest.param({"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": {"name": "x"}}, "x", id="Karta"),
        pytest.param(
            {"apiVersion": "optimization.nvidia.com/v1alpha1", "kind": "ResourceInterface", "metadata": {"name": "y"}},
            "y",
            id="C34 the older form loads",
        ),
        pytest.param({}, "orchestra", id="a bare spec is called after its root"),
    ],
)
def test_karta_resource_interface_and_bare_spec_load(raw: Raw, change: dict[str, Any], name: str) -> None:
    assert Karta.load({"spec": raw("Orchestra")["spec"], **change}).name == name


def test_karta_of_several_versions_answers_for_each(raw: Raw) -> None:
    karta = Karta.load({**raw("Orchestra"), "metadata": {"annotations": {"karta-interpreter.io/other-versions": "v2"}}})

    assert [gvk.version for gvk in karta.kinds] == ["v1", "v2"]
    other = karta.in_version("v2")
    assert (other.gvk.version, other.kinds, other.in_version("v1").gvk) == ("v2", karta.kinds, karta.gvk)
    assert pickle.loads(pickle.dumps(other)).gvk == other.gvk  # noqa: S301 - its own
    obj = {"apiVersion": "toys.example.com/v2", "kind": "Orchestra", "metadata": {"name": "a"}}
    assert Workload(other, obj).karta is other
    with pytest.raises(WorkloadError, match="v3"):
        karta.in_version("v3")


def test_catalogue_has_each_version() -> None:
    obj = {"apiVersion": "apps.kruise.io/v1alpha1", "kind": "StatefulSet", "metadata": {"name": "a"}, "spec": {}}
    assert Karta.for_object(obj).gvk == GVK.of(obj)
    assert "error" not in Karta.for_object(obj).answers(obj)["InterpretReplica"]


def test_json_in_one_line_is_text() -> None:
    with pytest.raises(DefinitionError, match="the field spec is missing"):
        Karta.load('{"apiVersion": "run.ai/v1alpha1", "kind": "Karta"}')


def test_broken_karta_raises_all_errors_with_places(texts: dict[str, str]) -> None:
    broken = texts["Orchestra"].replace("version: v1", "version: ''", 1).replace(".spec.paused", ".spec.pa-used.")
    with pytest.raises(DefinitionError, match="definition orchestra cannot be used") as caught:
        Karta.load(broken)
    errors = {finding.rule: finding for finding in caught.value.findings if finding.severity is Severity.ERROR}
    assert set(errors) == {"root-kind-incomplete", "expression-syntax"}
    assert broken.splitlines()[errors["root-kind-incomplete"].line - 1].strip().startswith("kind: {")
    assert Karta.check(broken) == caught.value.findings
    assert f"line {errors['root-kind-incomplete'].line}: " in str(caught.value)


def test_warnings_are_kept_as_findings(texts: dict[str, str]) -> None:
    karta = Karta.load(texts["Tavern"].replace("byPhase: Open", ""))
    assert [(finding.rule, finding.severity) for finding in karta.findings] == [("matcher-empty", Severity.WARNING)]
    assert karta.findings == Karta.check(texts["Tavern"].replace("byPhase: Open", ""))


@rows("as_source", [pytest.param(str, id="a text"), pytest.param(yaml.safe_load, id="an object")])
def test_check_finds_parts_that_contradict_each_other(texts: dict[str, str], as_source: Callable[[str], Any]) -> None:
    by_labels = texts["Tavern"].replace(".spec.maxReplicas", ".metadata.labels")
    (finding,) = Karta.check(as_source(by_labels))
    assert (finding.rule, finding.message) == (
        "crd-wrong-type",
        ".metadata.labels is an object in this kind, not a number",
    )


@rows(
    ("source", "said"),
    [
        pytest.param(Path("nowhere/karta.yaml"), "No such file", id="no such file"),
        pytest.param("nowhere.yaml", f"No such file or directory; it is looked for in {Path.cwd()}", id="a short text"),
        pytest.param(Path(__file__).parent, "Is a directory", id="a folder"),
        pytest.param("a\0b", "no path at all", id="a path that cannot be"),
        pytest.param("", "the text is empty; a Karta has apiVersion, kind and spec", id="an empty text"),
        pytest.param("a: [\n", "", id="text that is not YAML"),
        pytest.param("spec: {}", "the field structureDefinition is missing", id="YAML in one line is not a path"),
        pytest.param({1: 2}, "keys of JSON objects are strings", id="keys that JSON does not have"),
        pytest.param({"spec": {"since": date(2024, 1, 1)}}, "type date", id="values that JSON does not have"),
        pytest.param({"kind": "Pod", "apiVersion": "v1"}, "not a Karta: apiVersion v1, kind Pod", id="another kind"),
        pytest.param(None, "", id="null"),
    ],
)
def test_bad_source_fails_load_and_not_check(source: Any, said: str) -> None:
    assert said in " ".join(map(str, Karta.check(source)))
    with pytest.raises(DefinitionError) as caught:
        Karta.load(source)
    assert caught.value.findings == Karta.check(source)


def test_answers_are_written_as_yaml_and_json() -> None:
    answers = Karta.for_object(JOB).answers(JOB)
    assert yaml.safe_load(yaml.safe_dump(answers)) == json.loads(json.dumps(answers)) == answers


def test_several_kartas_are_refused(texts: dict[str, str]) -> None:
    both = f"{texts['Orchestra']}\n---\n{texts['Tavern']}"
    with pytest.raises(DefinitionError, match="holds 2: give one of them"):
        Karta.load(both)
    with pytest.raises(DefinitionError, match=r"holds none$"):
        Karta.load("# nothing\n")


def test_catalogue_lists_kinds_and_reads_on_demand() -> None:
    catalogue = Karta.catalogue()
    job = GVK("batch", "v1", "Job")
    assert job in catalogue
    assert GVK("", "v1", "Pod") in catalogue
    assert catalogue[job] is Karta.catalogue()[job]
    assert len(list(catalogue)) == len(catalogue) > 20
    assert repr(catalogue) == f"<the catalogue, {len(catalogue)} kinds>"
    with pytest.raises(
        KeyError, match=r"no Karta for GVK.group='', version='v1', kind='Nothing'., and for no kind with a similar name"
    ):
        catalogue[GVK("", "v1", "Nothing")]
    key: Any = ("batch/v1", "", "Job")
    with pytest.raises(KeyError, match=r"did you mean GVK\(group='batch', version='v1', kind='Job'\)"):
        catalogue[key]
    short: Any = ("apps/v1", "Deployment")
    swapped: Any = ("Deployment", "v1", "apps")
    for key in (short, swapped):
        with pytest.raises(KeyError, match=r"did you mean GVK\(group='apps', version='v1', kind='Deployment'\)\?"):
            catalogue[key]


@pytest.mark.parametrize("read", [Karta.catalogue().__getitem__, Karta.catalogue().get, Karta.catalogue().__contains__])
def test_catalogue_rejects_key_that_is_no_kind(read: Callable[[Any], object]) -> None:
    assert read(("batch", "v1", "Job"))
    for key in ("JobSet", 3):
        with pytest.raises(TypeError, match=f"a key is a GVK of karta_interpreter, not {type(key).__name__}"):
            read(key)


@pytest.mark.parametrize("status", ["Running", Status.RUNNING])
def test_status_is_asked_by_in(status: str) -> None:
    match: Any = Workload(Karta.for_object(JOB), JOB | {"status": {"active": 1, "ready": 1}}).status
    assert (status in match, "Failed" in match) == (True, False)
    assert (match == match_status(Karta.for_object(JOB).definition, JOB), hash(match) == hash(match)) == (False, True)
    for compare in (match.__eq__, [match].__contains__, [match].count):
        with pytest.raises(TypeError, match=r'several .*; write "Running" in workload\.status'):
            compare(status)
    with pytest.raises(ValueError, match="there is no status 'running'; did you mean Running"):
        _ = "running" in match


def test_karta_is_found_for_object() -> None:
    assert Karta.for_object({"apiVersion": "batch/v1", "kind": "Job"}).gvk == GVK("batch", "v1", "Job")


@rows(
    ("obj", "message"),
    [
        pytest.param({"apiVersion": "batch/v2", "kind": "Job"},
            r"did you mean GVK\(group='batch', version='v1', kind='Job'\) or", id="another version"),
        pytest.param({"apiVersion": "example.com/v1", "kind": "Zzz"},
            r"and for no kind with a similar name. `Karta\.load` reads your own", id="unknown"),
        pytest.param({"apiVersion": "batch/v1"}, "kind", id="no kind at all"),
    ],
)  # fmt: skip
def test_object_without_karta_is_error_with_candidates(obj: dict[str, Any], message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        Karta.for_object(obj)


WRONG: Any = "batch/v1"


POD: dict[str, Any] = {"metadata": {"name": "sum-x7k2p"}}
OTHER: dict[str, Any] = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
JOB: dict[str, Any] = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "sum"},
    "spec": {"parallelism": 3, "template": {"spec": {"containers": [{"name": "main"}]}}},
}


@rows(
    ("ask", "message"),
    [
        pytest.param(lambda _: Karta.for_object(WRONG), "an object is a dict of JSON values, not str", id="no object"),
        pytest.param(lambda job: job.root.scale_to(3), 'a value for each instance, {"": …}, not int', id="one count"),
        pytest.param(lambda job: job.root.scale_to({3: 3}), 'there is no instance "3"', id="an id that is a number"),
        pytest.param(lambda job: job.with_references(3), "references are a list of objects, not int", id="a reference"),
        pytest.param(lambda job: job.karta.explain("ReviseComponents", JOB, components={"job": 8}),
            'a whole number of replicas each, as [{"name": "worker", "replicas": 8}]', id="components by name"),
        pytest.param(lambda job: job.karta.answers([JOB]), "an object is a dict", id="answers about a list"),
        pytest.param(lambda job: job.karta.explain("InterpretHealth", OTHER), "the object is a apps/v1",
            id="another kind"),
        pytest.param(lambda _: WorkloadTree.build(WRONG), "a Workload(karta, object), not str", id="no workload"),
        *(
            pytest.param(
                lambda job, value=value: job.karta.explain("ReviseReplica", JOB, replicas=value), message, id=message
            )
            for value, message in (
                ("3", "replicas are a whole number from 0, not '3'"),
                (True, "replicas are a whole number from 0, not True"),
                (2.0, "replicas are a whole number from 0, not 2.0"),
                (-1, "replicas are a whole number from 0, not -1"),
            )
        ),
        pytest.param(lambda job: job.karta.explain("replica", JOB), "there are: InterpretReplica, ",
            id="a word for an operation"),
        pytest.param(lambda job: job.attribute(JOB), "pods are a list of objects, not dict", id="one pod"),
        pytest.param(lambda job: job.root.update_pod_templates({"": {"containers": []}}),
            "a pod template has its pod in spec", id="an empty pod spec for a template"),
        pytest.param(lambda job: job.root.update_pod_specs({"": {}}),
            "the definition has no such path to write to; it has podTemplateSpecPath", id="another form of pods"),
        pytest.param(lambda job: job.karta.explain("AggregateStatus", JOB, statuses=[{"status": {}}]),
            "statuses[0] has no clusterName", id="a status of no cluster"),
        pytest.param(lambda job: job.karta.explain("AggregateStatus", JOB,
            statuses=[{"clusterName": "a"}, {"clusterName": "a"}]),
            "statuses[1] is a second one of a: each cluster has one", id="two statuses of one cluster"),
        *(
            pytest.param(
                lambda job, operation=operation, more=more: job.karta.explain(operation, JOB, **more),
                f"{operation} does not read {next(iter(more))}: leave the argument out",
                id=f"{next(iter(more))} for {operation}",
            )
            for operation, more in (
                ("InterpretReplica", {"replicas": 0}),
                ("InterpretHealth", {"observed": JOB}),
                ("InterpretStatus", {"statuses": [{"clusterName": "a"}]}),
                ("Retain", {"replicas": 3, "observed": JOB}),
            )
        ),
        *(
            pytest.param(
                lambda job, field=field: job.karta.explain(
                    "Retain", JOB, observed={**JOB, "metadata": {**JOB["metadata"], field: "another"}}
                ),
                f"observed has another {field} than the object",
                id=f"an observed object with another {field}",
            )
            for field in ("name", "namespace")
        ),
        pytest.param(lambda job: job.karta.explain("Retain", JOB, observed=OTHER), "the object is a apps/v1",
            id="an observed object of another kind"),
        pytest.param(lambda job: job.karta.explain("AggregateStatus", JOB, statuses=3),
            "statuses are a list of objects, not int", id="a number for statuses"),
        pytest.param(lambda job: job.verify([POD], crd=JOB), "of kind CustomResourceDefinition, not Job",
            id="the object as a CRD"),
        pytest.param(lambda job: job.verify([POD], crd={"spec": {"names": {"kind": "RayJob"}}}),
            "the CRD is of the kind RayJob, but the Karta is for batch/v1, Kind=Job", id="the CRD of another kind"),
        pytest.param(lambda job: job.minimum_members("job", "jbo"),
            'component job: there is no instance "jbo"; its only instance is called ""', id="no such instance"),
        *(
            pytest.param(
                lambda job, spec=spec: job.root.update_pod_templates({"": {"spec": spec}}),
                f"the new value cannot be stored: spec.containers{message}",
                id=f"containers that Kubernetes does not take: {message}",
            )
            for spec, message in (
                ({"containers": {"name": "main"}}, " needs a list"),
                (
                    {"containers": [{"name": "main", "resources": {"requests": {"memory": "1GB"}}}]},
                    '[0].resources.requests.memory: "1GB" is not a quantity',
                ),
            )
        ),
        pytest.param(lambda job: job.root.update_fragmented_pod_specs({"": 3}),
            "give a FragmentedPodSpec for an instance, not int", id="a number for pieces"),
    ],
)  # fmt: skip
def test_wrong_type_is_a_workload_error(ask: Callable[[Any], object], message: str) -> None:
    with pytest.raises(WorkloadError) as caught:
        ask(Workload(Karta.for_object(JOB), JOB))
    assert message in str(caught.value)


def test_type_error_inside_a_call_is_left_as_it_is() -> None:
    def pods() -> Iterator[dict[str, Any]]:
        raise TypeError("mine")
        yield {}

    with pytest.raises(TypeError, match=r"^mine$"):
        Workload(Karta.for_object(JOB), JOB).attribute(pods())


def test_explain_revises_components() -> None:
    found = Karta.for_object(JOB).explain("ReviseComponents", JOB, components=[{"name": "job", "replicas": 5}])
    assert found.results
    assert found.results["revised"]["spec"]["parallelism"] == 5
    assert Karta.for_object(JOB).explain("ReviseComponents", JOB).error.startswith("ReviseComponents needs components")


def test_values_are_frozen_by_the_usual_error() -> None:
    job = Workload(Karta.for_object(JOB), JOB)
    values: tuple[Any, ...] = job, job.karta, job.root, job.root.instances[""], WorkloadTree.build(job)
    for value in values:
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'replicas'"):
            value.replicas = 12
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'object'"):
            del value.object


def test_answers_are_those_of_the_operations_that_an_object_alone_allows() -> None:
    karta = Karta.for_object(JOB)
    found = karta.answers(JOB)
    assert {name: karta.explain(name, JOB).results for name in found} == found
    assert set(found) == {
        *("InterpretReplica", "InterpretComponent", "InterpretStatus", "InterpretHealth", "InterpretDependency")
    }
    assert found["InterpretReplica"]["replica"] == 3


def test_changed_answer_changes_no_later_one() -> None:
    """Requirements are remembered for equal pod templates."""
    karta, template = Karta.for_object(JOB), {"spec": {"nodeSelector": {"gpu": "a100"}, "containers": []}}
    obj = {**JOB, "spec": {"parallelism": 3, "template": template}}
    for _ in range(2):
        claim: Any = karta.answers(copy.deepcopy(obj))["InterpretReplica"]["requires"]["nodeClaim"]
        assert claim == {"nodeSelector": {"gpu": "a100"}}
        claim["nodeSelector"]["gpu"] = "h100"


def test_failing_answer_leaves_the_others() -> None:
    found = Karta.for_object(JOB).answers(JOB | {"spec": {"parallelism": "many", "template": {"spec": {}}}})
    assert "not a whole number" in found["InterpretReplica"].get("error", "")
    assert found["InterpretHealth"] == {"healthy": False}


def test_answers_read_references_and_leave_out_what_the_definition_does() -> None:
    obj = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "t", "namespace": "n"},
        "spec": {"runtimeRef": {"name": "r"}, "trainer": {"numNodes": 2}},
    }
    trainjob = Karta.for_object(obj)
    assert trainjob.answers(obj)["InterpretReplica"] == {"replica": 2, "requires": None}
    unknown = {**obj, "spec": {"runtimeRef": {"name": "r"}}}
    assert "error" in trainjob.answers(unknown)["InterpretReplica"], "its runtime is not known"
    raw = copy.deepcopy(dict(trainjob.definition.manifest))
    raw["metadata"]["annotations"]["karta-interpreter.io/operations"] = "InterpretHealth"
    assert set(Karta.load(raw).answers(obj)) == {"InterpretHealth"}


def _pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - what the line itself wrote


@pytest.mark.slow
@pytest.mark.sweep
@pytest.mark.parametrize("copied", [copy.deepcopy, _pickled], ids=["copy", "pickle"])
def test_karta_and_workload_can_be_copied(copied: Callable[[Any], Any], texts: dict[str, str]) -> None:
    some = map(Karta.catalogue().__getitem__, few([*Karta.catalogue()], "copied"))
    for karta in (Karta.load(texts["Orchestra"]), *some):
        again = copied(karta)
        assert again == karta
        assert again.definition.annotations == karta.definition.annotations
    workload = Workload(Karta.for_object(JOB), JOB)
    again = copied(workload)
    assert again == workload
    assert again.object is not workload.object
    assert again.root.scale_to({"": 5}).object["spec"]["parallelism"] == 5
    assert copied(workload.root) == workload.root
