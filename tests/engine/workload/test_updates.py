from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter import (
    ComponentNotFoundError,
    FragmentedPodSpec,
    InstanceCountMismatchError,
    Karta,
    PathNotWritableError,
    Workload,
    WorkloadError,
    WriteVerificationError,
)
from tests.support.rows import rows

Make = Callable[..., Workload]
Raw = Callable[[str], dict[str, Any]]


def sections(*names: str) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "main", "image": "a", "seat": 1}], "nodeName": "x"}, "own": 2}
    return {"sections": [{"name": name, "template": deepcopy(template)} for name in names], "hall": "big"}


def edited(workload: Workload, change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """The object with a change made by hand."""
    obj = deepcopy(dict(workload.object))
    change(obj)
    return obj


def test_template_update_merges_and_touches_nothing_else(make: Make) -> None:
    workload = make("Orchestra", sections("a", "b"))
    before = deepcopy(workload.object)
    new = {"metadata": {"labels": {"x": "y"}}, "spec": {"containers": [{"name": "main", "image": "b"}]}}

    updated = workload.component("section").update_pod_templates({"b": new})

    assert updated.component("section").pod_templates["b"] == {
        "spec": {"containers": [{"name": "main", "image": "b", "seat": 1}]},
        "own": 2,
        "metadata": {"labels": {"x": "y"}},
    }
    assert workload.object == before
    sections_before, sections_after = (each.object["spec"]["sections"] for each in (workload, updated))
    assert sections_after[0] is sections_before[0]
    assert updated.object["spec"]["hall"] == "big"
    assert updated.object["metadata"] is workload.object["metadata"]


def test_c35_writing_what_was_read_gives_the_same_workload(make: Make) -> None:
    workload = make("Orchestra", sections("a", "b"))
    component = workload.component("section")
    assert component.update_pod_templates(deepcopy(dict(component.pod_templates))) is workload
    harbor = make("Harbor", {"docks": {"a": {"scheduler": "x", "main": {"image": "i", "odd": None}}, "b": {}}})
    dock = harbor.component("dock")
    assert dock.update_fragmented_pod_specs(dock.fragmented_pod_specs) is harbor
    assert dock.update_fragmented_pod_specs({}) is harbor


def test_missing_template_is_created(make: Make) -> None:
    workload = make("Orchestra").component("conductor").update_pod_templates({"": {"spec": {"containers": []}}})
    assert workload.object["spec"] == {"conductor": {"template": {"spec": {"containers": []}}}}
    assert workload.component("conductor").instances[""].has_pods


def test_null_fits_every_type(make: Make) -> None:
    new = {
        "metadata": {"labels": {"a": None}, "annotations": None},
        "spec": {"containers": [{"name": "main", "image": None, "args": None}], "nodeSelector": None, "nodeName": None},
    }
    updated = make("Orchestra", sections("a")).component("section").update_pod_templates({"a": new})
    assert updated.component("section").pod_templates["a"] == {
        "metadata": {"labels": {"a": None}},
        "spec": {"containers": [{"name": "main", "seat": 1}]},
        "own": 2,
    }


def test_none_is_no_new_template(make: Make) -> None:
    with pytest.raises(WorkloadError, match="None removes nothing"):
        make("Orchestra", sections("a")).component("section").update_pod_templates({"a": None})
    with pytest.raises(PathNotWritableError, match="no such path"):
        make("Orchestra", sections("a")).component("section").update_pod_specs({"a": None})
    without = make("Orchestra")
    assert without.component("conductor").update_pod_templates({"": None}) is without


def test_spec_and_metadata_in_one_object_keep_each_other(make: Make) -> None:
    """Upstream's issue 346: writing one of them wiped the other one, and what the workload has next to them."""
    workload = make("Tavern", {"containers": [], "nodeName": "n", "labels": {"a": "b"}, "minReplicas": 2})
    written = workload.root.update_pod_specs({"": {"containers": [{"name": "bar"}]}})
    assert written.object["spec"] == {"containers": [{"name": "bar"}], "labels": {"a": "b"}, "minReplicas": 2}
    written = written.root.update_pod_metadata({"": {"annotations": {"c": "d"}}})
    assert written.object["spec"] == {"containers": [{"name": "bar"}], "minReplicas": 2, "annotations": {"c": "d"}}


def test_pieces_are_written_together(make: Make) -> None:
    sidecar = {"name": "log", "size": 3}
    workload = make("Harbor", {"docks": {"a": {"sidecars": [sidecar], "scheduler": "old"}, "b": {"grade": 1}}})
    updated = workload.component("dock").update_fragmented_pod_specs(
        {
            "a": FragmentedPodSpec(scheduler_name="kai", containers=[{"name": "log"}, {"name": "net"}], labels={}),
            "b": FragmentedPodSpec(image="crane:2", resource_claims=[{"name": "gpu"}]),
        }
    )
    assert updated.object["spec"]["docks"] == {
        "a": {"sidecars": [sidecar, {"name": "net"}], "scheduler": "kai", "labels": {}},
        "b": {"grade": 1, "main": {"image": "crane:2"}, "claims": [{"name": "gpu"}]},
    }


@rows(
    ("spec", "error", "message"),
    [
        pytest.param(FragmentedPodSpec(container={"name": "m"}, image="x"), PathNotWritableError,
            r"containerPath .* overlaps spec.docks.a.main.image of imagePath", id="a piece within another one"),
        pytest.param(FragmentedPodSpec(priority_class_name="high", scheduler_name="kai"), PathNotWritableError,
            "priorityClassNamePath .* computed", id="a computed piece"),
        pytest.param(FragmentedPodSpec(node_affinity={}, scheduler_name="kai"), PathNotWritableError,
            "nodeAffinityPath: the definition has no such path", id="a piece without a path"),
        pytest.param(
            FragmentedPodSpec(labels=[]),  # type: ignore[arg-type] # the wrong type is the point
            WorkloadError,
            "labelsPath: the new value must be an object, not list",
            id="a piece of another type",
        ),
        pytest.param(FragmentedPodSpec(container={"resources": {"requests": {"cpu": "1 core"}}}), WorkloadError,
            'containerPath: the new value cannot be stored: .*cpu: "1 core" is not a quantity',
            id="a unit that Kubernetes does not have"),
        pytest.param(FragmentedPodSpec(containers=[{"name": ("a",)}]), WorkloadError, "type tuple",
            id="what JSON does not have"),
    ],
)  # fmt: skip
def test_c22_one_piece_that_cannot_be_written_keeps_all_from_it(
    make: Make, spec: FragmentedPodSpec, error: type[Exception], message: str
) -> None:
    workload = make("Harbor", {"docks": {"a": {"main": {"name": "main", "image": "i"}}}})
    before = deepcopy(workload.object)
    with pytest.raises(error, match=message):
        workload.component("dock").update_fragmented_pod_specs({"a": spec})
    assert workload.object == before


def test_unchanged_fragment_does_not_overlap(make: Make) -> None:
    workload = make("Harbor", {"docks": {"a": {"main": {"name": "main", "image": "i"}}}})
    dock = workload.component("dock")
    spec = dock.fragmented_pod_specs["a"]
    updated = dock.update_fragmented_pod_specs({"a": FragmentedPodSpec(container=spec.container, image="j")})
    assert updated.object["spec"]["docks"]["a"]["main"] == {"name": "main", "image": "j"}


def test_missing_instance_is_not_updated(make: Make) -> None:
    workload = make("Orchestra", sections("violins"))
    with pytest.raises(ComponentNotFoundError, match='no instance "violin"; did you mean violins'):
        workload.component("section").update_pod_templates({"violin": {}})
    with pytest.raises(ComponentNotFoundError, match='its only instance is called ""'):
        workload.component("conductor").update_pod_templates({"conductor": {}})
    with pytest.raises(ComponentNotFoundError, match="there are none"):
        make("Orchestra").component("section").update_pod_templates({"a": {}})


def test_another_form_is_not_written_to(make: Make) -> None:
    section = make("Orchestra", sections("a")).component("section")
    for update in (section.update_pod_specs, section.update_pod_metadata):
        with pytest.raises(PathNotWritableError, match="the definition has no such path"):
            update({"a": {}})


def test_pieces_are_written_into_whole_templates() -> None:
    """The example of Karta's README: a scheduler and labels for the instances of a component with templates."""
    main = {"name": "main", "image": "a"}
    jobs = [
        {"name": name, "template": {"spec": {"template": {"spec": {"containers": [main], "nodeName": name}}}}}
        for name in ("master", "worker")
    ]
    jobset = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "bert"},
        "spec": {"replicatedJobs": jobs},
    }
    component = Workload(Karta.for_object(jobset), jobset).component("replicatedjob")

    written = component.update_fragmented_pod_specs(
        {
            "master": FragmentedPodSpec(scheduler_name="my-custom-scheduler", labels={"my-label": "true"}),
            "worker": FragmentedPodSpec(scheduler_name="my-custom-scheduler", image="b"),
        }
    )

    master, worker = (job["template"]["spec"]["template"] for job in written.object["spec"]["replicatedJobs"])
    assert master == {
        "metadata": {"labels": {"my-label": "true"}},
        "spec": {"containers": [main], "nodeName": "master", "schedulerName": "my-custom-scheduler"},
    }
    assert worker["spec"] == {
        "containers": [{"name": "main", "image": "b"}],
        "nodeName": "worker",
        "schedulerName": "my-custom-scheduler",
    }
    assert "metadata" not in worker


def test_pieces_of_spec_and_metadata_in_one_object_are_written_together(make: Make) -> None:
    pods = {"containers": [{"name": "bar"}, {"name": "log"}], "labels": {"a": "b"}, "minReplicas": 2}
    spec = FragmentedPodSpec(priority_class_name="high", labels={}, annotations={"c": "d"})
    written = make("Tavern", pods).root.update_fragmented_pod_specs({"": spec})
    assert written.object["spec"] == {**pods, "priorityClassName": "high", "labels": {}, "annotations": {"c": "d"}}


@rows(
    ("definition", "workload_spec", "spec", "message"),
    [
        pytest.param("Orchestra",
            {"sections": [{"name": "a", "template": {"spec": {"containers": [{"name": "b"}, {"name": "c"}]}}}]},
            FragmentedPodSpec(image="d"), "imagePath: the pods have other than one container; write containers",
            id="nobody can say which container gets the image"),
        pytest.param("Orchestra", {"sections": [{"name": "a"}]}, FragmentedPodSpec(scheduler_name="kai"),
            "the workload has no pods of a to change", id="a scheduler alone is no pod"),
        pytest.param("Orchestra", sections("a"),
            FragmentedPodSpec(image="b", containers=[{"name": "main", "image": "c"}]),
            "containersPath .*overlaps|podTemplateSpecPath .*overlaps", id="an image within the containers"),
    ],
)  # fmt: skip
def test_piece_of_whole_pods_that_cannot_be_written_changes_nothing(
    make: Make, definition: str, workload_spec: dict[str, Any], spec: FragmentedPodSpec, message: str
) -> None:
    component = make(definition, workload_spec).component("section")
    with pytest.raises(WorkloadError, match=message):
        component.update_fragmented_pod_specs({"a": spec})


@rows(
    ("new", "message"),
    [
        pytest.param({"apiVersion": "v2"}, "would change apiVersion", id="another version"),
        pytest.param({"kind": "Job"}, "would change kind", id="another kind"),
        pytest.param({"status": {}}, "would change status", id="what is reported"),
        pytest.param({"metadata": {"name": "other"}}, "would change metadata.name", id="another name"),
        pytest.param({"metadata": {"name": "toy", "namespace": "a"}}, "would change metadata.uid", id="another object"),
        pytest.param({"metadata": {"name": "toy", "namespace": "b", "uid": "1"}}, "would change metadata.namespace",
            id="another namespace"),
        pytest.param({"metadata": {"name": "toy", "uid": "1"}}, "would change metadata.namespace",
            id="a namespace left out"),
    ],
)  # fmt: skip
def test_pod_keeps_its_identity(make: Make, new: dict[str, Any], message: str) -> None:
    metadata = {"name": "toy", "namespace": "a", "uid": "1"}
    workload = make("Pod", {"nodeName": "n"}, metadata=metadata, status={"phase": "Running"})
    with pytest.raises(PathNotWritableError, match=message):
        workload.root.update_pod_templates({"": {"metadata": metadata, "spec": {}, **new}})


def test_pod_labels_and_spec_can_change(make: Make) -> None:
    workload = make("Pod", {"nodeName": "n"}, status={"phase": "Running"})
    new = {"metadata": {"name": "toy", "labels": {"a": "b"}}, "spec": {"hostname": "h"}}
    assert workload.root.update_pod_templates({"": new}).object == {**workload.object, **new}


def with_templates(make: Make, raw: Raw, expression: str, spec: dict[str, Any]) -> Workload:
    definition = raw("Orchestra")
    child = definition["spec"]["structureDefinition"]["childComponents"][1]
    child["specDefinition"]["podTemplateSpecPath"] = expression
    return Workload(Karta.load(definition), make("Orchestra", spec).object)


@rows(
    ("expression", "error", "message"),
    [
        pytest.param(".spec.sections[] | {spec: .template.spec}", PathNotWritableError, "result 1 is computed",
            id="C20 a new object"),
        pytest.param(".spec.sections[:2][] | .template", PathNotWritableError, "computed", id="a slice"),
        pytest.param(".spec.sections | map(.template) | reverse | .[]", PathNotWritableError, "computed",
            id="another order"),
        pytest.param(".spec.sections[0, 0].template", PathNotWritableError, r"overlaps spec.sections\[0\]",
            id="one place twice"),
        pytest.param('.spec.sections[] | select(.template.spec.containers[0].image == "a") | .template',
            WriteVerificationError, "finds other instances after the change",
            id="a place that the written value hides"),
        pytest.param('.spec.sections[] | if .template.spec.containers[0].image == "b" then {} else .template end',
            WriteVerificationError, r"does not read spec.sections\[0\].template back",
            id="a place that the written value makes another one"),
        pytest.param(".spec.sections[] | .template | if .spec.nodeName then . else .own.none end",
            WriteVerificationError, "fails after the change", id="a place that cannot be read any more"),
    ],
)  # fmt: skip
def test_places_that_do_not_hold_what_is_written_are_refused(
    make: Make, raw: Raw, expression: str, error: type[Exception], message: str
) -> None:
    workload = with_templates(make, raw, expression, sections("a", "b"))
    before = deepcopy(workload.object)
    new = {"spec": {"containers": [{"name": "main", "image": "b"}]}}
    with pytest.raises(error, match=message):
        workload.component("section").update_pod_templates({"a": new, "b": new})
    assert workload.object == before


@pytest.mark.parametrize(
    "expression",
    [
        pytest.param(".spec.sections[0].template, .spec.sections[0].template", id="one place for both"),
        pytest.param(".spec.sections[0] | .template, {spec: .template.spec}", id="one is computed from the other's"),
    ],
)
def test_update_that_changes_other_instances_is_refused(make: Make, raw: Raw, expression: str) -> None:
    section = with_templates(make, raw, expression, sections("a", "b")).component("section")
    with pytest.raises(WriteVerificationError, match="would change for b too; nothing was changed"):
        section.update_pod_templates({"a": {"spec": {"hostname": "h"}}})


@rows(
    "expression",
    [
        pytest.param(".spec.sections[] | select(.template.spec) | .template", id="C21 a selection"),
        pytest.param(".spec.sections | to_entries[] | .value.template", id="entries"),
        pytest.param(".spec.sections[] | .template // {}", id="a default that is not needed"),
        pytest.param(".spec.sections | .[-2].template, .[-1].template", id="places counted from the end"),
    ],
)
def test_places_are_found_through_other_expressions(make: Make, raw: Raw, expression: str) -> None:
    workload = with_templates(make, raw, expression, sections("a", "b"))
    updated = workload.component("section").update_pod_templates({"b": {"spec": {"hostname": "h"}}})

    def change(obj: dict[str, Any]) -> None:
        obj["spec"]["sections"][1]["template"]["spec"] = {"hostname": "h"}

    assert updated.object == edited(workload, change)


def test_c16_values_and_places_must_pair_up(make: Make, raw: Raw) -> None:
    workload = with_templates(make, raw, ".spec.sections[0].template", sections("a", "b"))
    with pytest.raises(InstanceCountMismatchError, match="gives 1 result for 2 instance"):
        workload.component("section").update_pod_templates({"a": {}})


def test_update_that_renames_instances_is_refused(make: Make, raw: Raw) -> None:
    definition = raw("Orchestra")
    child = definition["spec"]["structureDefinition"]["childComponents"][1]
    child["instanceIdPath"] = ".spec.sections[].template.spec.nodeName"
    workload = Workload(Karta.load(definition), make("Orchestra", sections("a")).object)
    with pytest.raises(WriteVerificationError):
        workload.component("section").update_pod_templates({"x": {"spec": {"nodeName": "y"}}})


_JOBSET = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "metadata": {"name": "ai"},
    "spec": {
        "replicatedJobs": [
            {"name": "w", "template": {"spec": {"template": {"spec": {"containers": [{"name": "a", "image": "b"}]}}}}}
        ]
    },
}


@rows(
    "update",
    [
        lambda jobs: jobs.update_fragmented_pod_specs({"w": FragmentedPodSpec(scheduler_name="kai")}),
        lambda jobs: jobs.update_fragmented_pod_specs({"w": FragmentedPodSpec(labels={"team": "ai"})}),
        lambda jobs: jobs.update_pod_templates({"w": {"spec": {"schedulerName": "kai"}}}),
    ],
)
def test_template_of_a_job_is_refused_as_pods(update: Callable[..., Workload]) -> None:
    document = Path(__file__).parents[2] / "cli" / "documents" / "resourceinterface-jobset.yaml"
    jobs = Workload(Karta.load(document.read_text()), _JOBSET).component("replicatedjob")
    with pytest.raises(PathNotWritableError, match=r"this is no pod: its spec\.template is one level further in"):
        update(jobs)
    assert jobs.update_fragmented_pod_specs(jobs.fragmented_pod_specs).object == _JOBSET
