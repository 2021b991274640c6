"""`diff --from bindings`: what a Karmada holds of its workloads, beside the answers of definitions.

The objects are as Karmada 1.18 writes them: ``pkg/detector`` the counts, ``pkg/dependenciesdistributor`` the
dependencies, ``pkg/controllers/status`` health and status, ``pkg/controllers/binding`` the Works.
"""

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from karta_interpreter.clusters import bindings
from karta_interpreter.engine.comparison import bindings as comparison
from tests.clusters.member_server import MemberServer, serving
from tests.engine.verification.member import Thing

pytestmark = pytest.mark.catalogue

Run = Callable[..., Result]

_ROOT = Path(__file__).parents[2]
_PAGE = _ROOT / "docs" / "compare.md"
_V1, _V2 = "/apis/work.karmada.io/v1alpha1", "/apis/work.karmada.io/v1alpha2"
_CONFIG = "/apis/config.karmada.io/v1alpha1"
_BINDINGS = f"{_V2}/resourcebindings"
_FLINKS = "/apis/flink.apache.org/v1beta1/flinkdeployments"
_CLUSTERS = "/apis/cluster.karmada.io/v1alpha1/clusters"
_RAY, _JOBSETS, _MILLS = "/apis/ray.io/v1/rayclusters", "/apis/jobset.x-k8s.io/v1alpha2/jobsets", "/apis/a.io/v1/mills"
_CUSTOMIZATIONS = f"{_CONFIG}/resourceinterpretercustomizations"
_WEBHOOKS = f"{_CONFIG}/resourceinterpreterwebhookconfigurations"
_KINDS = {
    _V1: {"works": "Work"},
    _V2: {"resourcebindings": "ResourceBinding", "clusterresourcebindings": "ClusterResourceBinding"},
    _CONFIG: {
        "resourceinterpretercustomizations": "ResourceInterpreterCustomization",
        "resourceinterpreterwebhookconfigurations": "ResourceInterpreterWebhookConfiguration",
    },
    "/apis/cluster.karmada.io/v1alpha1": {"clusters": "Cluster"},
    "/apis/ray.io/v1": {"rayclusters": "RayCluster"},
    "/apis/jobset.x-k8s.io/v1alpha2": {"jobsets": "JobSet"},
    "/apis/a.io/v1": {"mills": "Mill"},
    "/apis/flink.apache.org/v1beta1": {"flinkdeployments": "FlinkDeployment"},
    "/apis/apps/v1": {"deployments": "Deployment"},
    "/apis/leaderworkerset.x-k8s.io/v1": {"leaderworkersets": "LeaderWorkerSet"},
}
_LIMITS = {"cpu": "1", "memory": "4Gi", "nvidia.com/gpu": 1}
_PODS = {"template": {"spec": {"containers": [{"name": "main", "resources": {"limits": _LIMITS}}]}}}


def _object(api_version: str, kind: str, name: str, **fields: Any) -> Thing:
    metadata: Thing = {"name": name, "namespace": "team", "uid": f"{kind}-{name}", "generation": 4}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def _ray(name: str = "bert", **status: Any) -> Thing:
    """Return a RayCluster of 8 pods with a GPU each, and a head with another."""
    workers: Thing = {"groupName": "gpu", "replicas": 2, "numOfHosts": 4, **copy.deepcopy(_PODS)}
    workers["template"]["spec"]["volumes"] = [{"name": "data", "configMap": {"name": "corpus"}}]
    return _object(
        "ray.io/v1", "RayCluster", name, spec={"headGroupSpec": _PODS, "workerGroupSpecs": [workers]}, status=status
    )


def _item(cluster: str, health: str, **status: Any) -> Thing:
    return {"clusterName": cluster, "applied": True, "health": health, "status": status}


def _binding(template: Thing, *items: Thing, dependencies: str = "", **spec: Any) -> Thing:
    resource: Thing = {"apiVersion": template["apiVersion"], "kind": template["kind"]}
    resource |= {name: template["metadata"][name] for name in ("namespace", "name", "uid")}
    name = f"{template['metadata']['name']}-{template['kind'].lower()}"
    binding = _object("", "ResourceBinding", name, spec={"resource": resource, **spec})
    if dependencies:
        binding["metadata"]["annotations"] = {"resourcebinding.karmada.io/dependencies": dependencies}
    return {**binding, "status": {"aggregatedStatus": [*items]}}


def _work(cluster: str, binding: Thing, manifest: Thing, health: str, **status: Any) -> Thing:
    of = "resourcebinding.karmada.io"
    annotations = {f"{of}/namespace": "team", f"{of}/name": binding["metadata"]["name"]}
    metadata = {**manifest["metadata"]}
    del metadata["generation"], metadata["uid"]
    workload = {"manifests": [copy.deepcopy({**manifest, "metadata": metadata})]}
    work = _object("", "Work", f"{cluster}-{manifest['metadata']['name']}", spec={"workload": workload})
    work["metadata"] |= {"namespace": f"karmada-es-{cluster}", "annotations": annotations}
    return {**work, "status": {"manifestStatuses": [{"identifier": {}, "health": health, "status": status}]}}


def _server(bound: list[Thing], templates: dict[str, list[Thing]], **others: Any) -> MemberServer:
    clusters = [{"metadata": {"name": name, "uid": name}} for name in ("member1", "member2")]
    return MemberServer(
        {_BINDINGS: bound, _CLUSTERS: clusters, **templates, **others}, karmada=True, kinds=_KINDS, faults={}
    )


def _diff(run: Run, server: MemberServer, folder: Path, *options: str) -> Result:
    with serving(server):
        return run(
            "diff", "--from", "bindings", "--to", "catalogue", "--kubeconfig", server.kubeconfig(folder), *options
        )


def _json(result: Result) -> Any:
    return json.loads(result.stdout)


def _answers(result: Result, operation: str) -> list[Any]:
    return [row for row in _json(result)["answers"] if row.get("operation") == operation]


def _jobset(name: str = "train") -> Thing:
    workers = {"name": "workers", "replicas": 3, "template": {"spec": {"parallelism": 2, **copy.deepcopy(_PODS)}}}
    return _object("jobset.x-k8s.io/v1alpha2", "JobSet", name, spec={"replicatedJobs": [workers]})


_FAILED = {"conditions": [{"type": "Failed", "status": "True", "reason": "FailedJobs"}]}
_CUSTOMIZATION: Thing = {
    "metadata": {"name": "mills", "uid": "mills"},
    "spec": {
        "target": {"apiVersion": "a.io/v1", "kind": "Mill"},
        "customizations": {"replicaResource": {"luaScript": "function GetReplicas(obj) return 1 end"}},
    },
}


def _webhook(name: str, operation: str, kind: str = "RayCluster") -> Thing:
    rule = {"apiGroups": ["ray.io"], "apiVersions": ["v1"], "kinds": [kind], "operations": [operation]}
    return {"metadata": {"name": name, "uid": name}, "webhooks": [{"name": "a.b.c", "rules": [rule]}]}


def _control_plane() -> MemberServer:
    """Return a Karmada that has no script to count RayClusters and none for JobSets, and one of a user for Mills."""
    ray, jobset, mill = _ray(), _jobset(), _object("a.io/v1", "Mill", "wind", spec={})
    reported = {"state": "ready"}
    bound = [
        _binding(ray, _item("member1", "Healthy", **reported), propagateDeps=True),
        _binding(jobset, _item("member1", "Healthy", **_FAILED)),
        _binding(mill, _item("member1", "Healthy"), replicas=1),
    ]
    works = [
        _work("member1", bound[0], ray, "Healthy", **reported),
        _work("member1", bound[1], jobset, "Healthy", **_FAILED),
        _work("member1", bound[2], mill, "Healthy"),
    ]
    ray["status"] = reported
    jobset["status"] = _FAILED
    entry = {"manager": "somebody", "operation": "Update", "subresource": "status"}
    jobset["metadata"]["managedFields"] = [entry]
    return _server(
        bound,
        {_RAY: [ray], _JOBSETS: [jobset], _MILLS: [mill]},
        **{f"{_V1}/works": works, _CUSTOMIZATIONS: [_CUSTOMIZATION]},
    )


def _with_works(template: Thing, health: str, **status: Any) -> MemberServer:
    """Return a Karmada that has a template, and the health and status of it in a member."""
    bound = _binding(template, _item("member1", health, **status), **_COUNTED)
    work = _work("member1", bound, template, health, **status)
    path = f"/apis/{template['apiVersion']}/{template['kind'].lower()}s"
    return _server([bound], {path: [template]}, **{f"{_V1}/works": [work]})


_COUNTED: Thing = {
    "replicas": 9,
    "replicaRequirements": {"resourceRequest": {"cpu": "1000m", "memory": "4Gi", "nvidia.com/gpu": "1"}},
}


def test_page_shows_what_is_printed(run: Run, tmp_path: Path) -> None:
    shown = _PAGE.read_text(encoding="utf-8").partition("```text\n")[2].partition("```")[0]
    result = _diff(run, _control_plane(), tmp_path)
    printed = result.stdout + result.stderr

    assert result.exit_code == 1
    for part in shown.split("...\n"):
        assert part in printed


def test_counts_of_binding_are_compared(run: Run, tmp_path: Path) -> None:
    template = _ray()
    # Nobody answers InterpretReplica for the kind: Karmada leaves both fields out.
    result = _diff(run, _server([_binding(template)], {_RAY: [template]}), tmp_path, "-o", "json")

    (row,) = _answers(result, "InterpretReplica")
    assert row["today"] == "nobody"
    assert {"path": "replica", "from": 0, "to": 9} in row["differences"]
    (kind,) = _json(result)["kinds"]
    assert kind["pods"] == {"from": 0, "to": 9}
    assert kind["requests"]["nvidia.com/gpu"] == {"from": "0", "to": "9"}
    assert result.exit_code == 1


def test_binding_about_an_object_of_another_namespace_is_judged_by_nobody(run: Run, tmp_path: Path) -> None:
    """Whoever may write bindings in a namespace can name the objects of others."""
    template = _ray()
    strange = _binding(template, _item("member1", "Healthy"), **_COUNTED)
    strange["metadata"] |= {"namespace": "tenant", "name": "a\x1b[2J", "uid": "strange"}
    cluster_scoped = _binding(template, **_COUNTED)
    del cluster_scoped["spec"]["resource"]["namespace"]
    cluster_scoped["metadata"] |= {"name": "wide", "uid": "wide"}
    server = _server([strange, cluster_scoped, _binding(template, **_COUNTED)], {_RAY: [template]})
    result = _diff(run, server, tmp_path, "-o", "json")

    (kind,) = _json(result)["kinds"]
    assert (kind["objects"], kind["pods"]) == (1, {"from": 9, "to": 9})
    reason = "which is not of its namespace: nobody judges it"
    assert _json(result)["problems"] == [
        f'ResourceBinding tenant/"a\\u001b[2J": spec.resource: it names RayCluster team/bert, {reason}',
        f"ResourceBinding team/wide: spec.resource: it names RayCluster bert, {reason}",
    ]
    assert result.exit_code == 1


def test_work_with_another_object_than_its_binding_has_is_not_read(run: Run, tmp_path: Path) -> None:
    """The agent of a member in Pull mode writes the Works of its cluster."""
    server = _with_works(_ray(), "Healthy", state="ready")
    (work,) = server.collections[f"{_V1}/works"]
    work["spec"]["workload"]["manifests"][0]["metadata"]["namespace"] = "kube-system"
    result = _diff(run, server, tmp_path, "-o", "json")

    assert _json(result)["problems"] == [
        "Work karmada-es-member1/member1-bert does not bring RayCluster team/bert, the object of its binding"
    ]


def test_refused_bindings_are_named_up_to_a_bound(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bindings, "MOST_NAMED", 2)
    template = _ray()
    strange = [_binding(template) for _ in range(5)]
    for number, binding in enumerate(strange):
        binding["metadata"] |= {"namespace": "tenant", "uid": f"strange{number}"}
    result = _diff(run, _server(strange, {_RAY: [template]}), tmp_path, "-o", "json")

    assert len(_json(result)["problems"]) == 3
    assert _json(result)["problems"][-1] == "3 more bindings and Works are not judged for such reasons"


def test_same_counts_are_no_difference(run: Run, tmp_path: Path) -> None:
    template = _ray()
    bound = _binding(template, **_COUNTED)
    result = _diff(run, _server([bound], {_RAY: [template]}), tmp_path)

    assert result.exit_code == 0, result.output
    assert result.stderr == "1 answer: 0 answers differ\n"
    row = " ".join(result.stdout.splitlines()[1].split())
    assert row == "RayCluster ray.io/v1 1 Karmada 9 same - - -"


def test_components_are_compared_if_karmada_asks_for_them(run: Run, tmp_path: Path) -> None:
    template = _ray()
    requirements = _COUNTED["replicaRequirements"]
    counts = {"ray-head": 1, "gpu": 7}
    components = [
        {"name": name, "replicas": number, "replicaRequirements": requirements} for name, number in counts.items()
    ]
    server = _server([_binding(template, components=components)], {_RAY: [template]})
    result = _diff(run, server, tmp_path, "-o", "json")

    (row,) = _json(result)["answers"]
    assert (row["operation"], row["today"]) == ("InterpretComponent", "Karmada")
    assert [(change["from"], change["to"]) for change in row["differences"] if "replicas" in change["path"]] == [(7, 8)]
    assert _json(result)["kinds"][0]["pods"] == {"from": 8, "to": 9}


def test_health_is_asked_about_the_manifest_of_the_work(run: Run, tmp_path: Path) -> None:
    jobset = _jobset()
    server = _with_works(jobset, "Unhealthy")
    # Only the template waits for another manager, and needs no status.
    jobset["spec"]["managedBy"] = "kueue.x-k8s.io/multikueue"
    result = _diff(run, server, tmp_path, "-o", "json")

    health = _json(result)["kinds"][0]["operations"]["InterpretHealth"]
    assert health == {"compared": 1, "different": 0}


def test_health_that_could_not_be_interpreted_equals_an_error(run: Run, tmp_path: Path) -> None:
    result = _diff(run, _with_works(_ray(), "Unknown", state="ready"), tmp_path, "-o", "json")

    (row,) = _answers(result, "InterpretHealth")
    assert row["differences"] == [{"path": "", "from": "error: Unknown", "to": {"healthy": True}}]


@pytest.mark.parametrize(("generation", "differs"), [(4, True), (3, False), (None, False)])
def test_generation_in_the_member_is_the_one_that_karmada_keeps_in_the_status(
    run: Run, tmp_path: Path, generation: int | None, differs: bool
) -> None:
    # The generation of the template is 4, which says nothing of the member's.
    counters = {"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "observedGeneration": 3}
    status = {**counters, **({"generation": generation} if generation else {})}
    template = _object("apps/v1", "Deployment", "web", spec={"replicas": 1, **_PODS})
    result = _diff(run, _with_works(template, "Healthy", **status), tmp_path, "-o", "json")

    reasons = [row["reason"] for row in _answers(result, "InterpretHealth")]
    assert reasons == (["its status belongs to an older generation"] if differs else [])


def test_without_works_the_template_stands_for_the_manifest(run: Run, tmp_path: Path) -> None:
    server = _with_works(_jobset(), "Healthy", **_FAILED)
    server.faults[f"{_V1}/namespaces/karmada-es-member1/works"] = 403
    result = _diff(run, server, tmp_path, "-o", "json")

    (row,) = _answers(result, "InterpretHealth")
    assert (row["cluster"], row["reason"]) == ("member1", "status Failed")
    (problem,) = _json(result)["problems"]
    assert "karmada-es-member1/works" in problem
    assert result.stderr.startswith("warning: ")
    assert result.exit_code == 1


_CORPUS = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "team", "name": "corpus"}
_OLD = {"apiVersion": "v1", "kind": "Secret", "namespace": "team", "name": "old"}


@pytest.mark.parametrize(
    ("dependencies", "more", "less"),
    [
        pytest.param(json.dumps([_CORPUS]), 0, 0, id="the same"),
        pytest.param(json.dumps([_OLD]), 1, 1, id="others"),
        pytest.param("null", 1, 0, id="none, as Go writes it"),
        pytest.param("", 1, 0, id="nobody was asked"),
    ],
)
def test_dependencies_are_those_that_the_binding_records(
    run: Run, tmp_path: Path, dependencies: str, more: int, less: int
) -> None:
    template = _ray()
    bound = _binding(template, dependencies=dependencies, propagateDeps=True, **_COUNTED)
    result = _diff(run, _server([bound], {_RAY: [template]}), tmp_path, "-o", "json")

    assert _json(result)["kinds"][0]["dependencies"] == {"more": more, "less": less}
    assert len(_answers(result, "InterpretDependency")) == (1 if more else 0)


def test_dependencies_that_karmada_does_not_follow_are_not_compared(run: Run, tmp_path: Path) -> None:
    template = _ray()
    result = _diff(run, _server([_binding(template, **_COUNTED)], {_RAY: [template]}), tmp_path, "-o", "json")

    assert "InterpretDependency" not in _json(result)["kinds"][0]["operations"]


@pytest.mark.parametrize(("manager", "compared"), [("karmada-controller-manager", 1), ("ray-operator", 0)])
def test_status_of_template_is_compared_if_karmada_wrote_it(
    run: Run, tmp_path: Path, manager: str, compared: int
) -> None:
    template = _ray(state="failed")
    template["metadata"]["managedFields"] = [{"manager": manager, "subresource": "status", "operation": "Update"}]
    bound = _binding(template, _item("member1", "Healthy", state="ready"), **_COUNTED)
    result = _diff(run, _server([bound], {_RAY: [template]}), tmp_path, "-o", "json")

    changes = [row["differences"] for row in _answers(result, "AggregateStatus")]
    assert changes == [[{"path": "aggregatedStatus.status.state", "from": "failed", "to": "ready"}]] * compared


def test_customization_comes_before_webhooks_and_these_by_name(run: Run, tmp_path: Path) -> None:
    server = _control_plane()
    ours = copy.deepcopy(_CUSTOMIZATION)
    ours["metadata"] |= {"name": "rays", "uid": "rays"}
    ours["spec"]["target"] = {"apiVersion": "ray.io/v1", "kind": "RayCluster"}
    server.collections[_CUSTOMIZATIONS].append(ours)
    operations = ("InterpretReplica", "InterpretDependency")
    server.collections[_WEBHOOKS] = [_webhook(name, each) for name in ("z", "a") for each in operations]
    for number, webhook in enumerate(server.collections[_WEBHOOKS]):
        webhook["metadata"] = {"name": f"{webhook['metadata']['name']}{number}", "uid": str(number)}
    result = _diff(run, server, tmp_path, "-o", "json")

    (replica,) = [row for row in _answers(result, "InterpretReplica") if row["kind"] == "RayCluster"]
    (dependency,) = _answers(result, "InterpretDependency")
    assert replica["today"] == "customization rays"
    assert "once it is deleted" in replica["note"]
    assert dependency["today"] == "webhook a3"


def test_difference_from_script_of_karmada_has_its_known_reason(run: Run, tmp_path: Path) -> None:
    template = _ray(state="failed")
    bound = _binding(template, _item("member1", "Healthy", state="ready"), **_COUNTED)
    result = _diff(run, _server([bound], {_RAY: [template]}), tmp_path, "-o", "json")

    (row,) = _answers(result, "AggregateStatus")
    assert (row["today"], row["known"][:10]) == ("Karmada", "The script")


def test_known_reason_is_said_once(run: Run, tmp_path: Path) -> None:
    templates = [_ray(name, state="failed") for name in ("bert", "gpt")]
    bound = [_binding(template, _item("member1", "Healthy", state="ready"), **_COUNTED) for template in templates]
    result = _diff(run, _server(bound, {_RAY: templates}), tmp_path, "--details")

    assert result.stdout.count("  known: The script") == 1
    assert result.stdout.count("  known: the reason above\n") == 1
    assert result.stderr.endswith("2 with a known reason\n")


@pytest.mark.parametrize(
    ("named", "is_known"),
    [
        pytest.param(["team/ConfigMap corpus", "flux-system/Secret charts"], True, id="more of another namespace"),
        pytest.param(
            ["team/ConfigMap corpus", "team/Secret charts", "flux-system/Secret charts"], False, id="and here"
        ),
        pytest.param(["flux-system/Secret charts"], False, id="less of its own"),
    ],
)
def test_dependency_of_another_namespace_is_a_known_difference(
    run: Run, tmp_path: Path, named: list[str], is_known: bool
) -> None:
    references = []
    for text in named:
        namespace, kind, name = re.split("[/ ]", text)
        references.append({"apiVersion": "v1", "kind": kind, "namespace": namespace, "name": name})
    template = _ray(state="ready")
    bound = _binding(
        template, _item("member1", "Healthy"), dependencies=json.dumps(references), propagateDeps=True, **_COUNTED
    )
    result = _diff(run, _server([bound], {_RAY: [template]}), tmp_path, "-o", "json")

    (row,) = _answers(result, "InterpretDependency")
    assert ("another namespace" in row.get("known", "")) is is_known


def test_kinds_of_nobody_and_of_users_are_named(run: Run, tmp_path: Path) -> None:
    wire = _json(_diff(run, _control_plane(), tmp_path, "-o", "json"))

    assert [kind["kind"] for kind in wire["nobodyToday"]] == ["JobSet"]
    assert [kind["kind"] for kind in wire["onlyOfUsers"]] == ["Mill"]
    assert {kind["kind"]: kind["objects"] for kind in wire["kinds"]} == {"Mill": 1, "JobSet": 1, "RayCluster": 1}


def test_object_that_cannot_be_read_is_a_row(run: Run, tmp_path: Path) -> None:
    server = _control_plane()
    server.collections[_RAY].clear()
    del server.collections[_JOBSETS]
    server.faults[_JOBSETS] = 403
    result = _diff(run, server, tmp_path, "-o", "json")

    rows = {row["name"]: row.get("notCompared") for row in _json(result)["answers"]}
    assert rows == dict.fromkeys(("team/bert", "team/train"), "its template was not read, or there is none")
    (problem,) = _json(result)["problems"]
    assert "jobsets" in problem
    assert result.exit_code == 1


def test_annotation_that_is_no_json_is_a_row(run: Run, tmp_path: Path) -> None:
    template = _ray()
    bound = _binding(template, dependencies="[", propagateDeps=True)
    result = _diff(run, _server([bound], {_RAY: [template]}), tmp_path, "-o", "json")

    (row,) = _json(result)["answers"]
    assert row["notCompared"]


def test_binding_of_the_cluster_has_a_template_and_works(run: Run, tmp_path: Path) -> None:
    template = _ray()
    bound = _binding(template, _item("member1", "Unhealthy", state="ready"))
    work = _work("member1", bound, template, "Unhealthy", state="ready")
    for obj in (bound, template, work["spec"]["workload"]["manifests"][0]):
        obj["metadata"].pop("namespace")
    bound["spec"]["resource"].pop("namespace")
    work["metadata"]["annotations"] = {"clusterresourcebinding.karmada.io/name": bound["metadata"]["name"]}
    server = _server([], {_RAY: [template]}, **{f"{_V2}/clusterresourcebindings": [bound], f"{_V1}/works": [work]})
    result = _diff(run, server, tmp_path, "-o", "json")

    (row,) = _answers(result, "InterpretHealth")
    assert (row["name"], row["differences"]) == ("bert", [{"path": "healthy", "from": False, "to": True}])


def test_no_more_bindings_are_read_than_the_bound(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bindings, "_MOST_BINDINGS", 3)
    templates = [_ray(f"bert-{number}") for number in range(7)]
    server = _server([_binding(template, **_COUNTED) for template in templates], {_RAY: templates})
    result = _diff(run, server, tmp_path, "-o", "json")

    assert _json(result)["kinds"][0]["objects"] == 3
    assert _json(result)["problems"] == ["there are more than 3 bindings: the rest is not read"]
    # In parts of two: the rest is not asked for.
    assert server.asked.count(_BINDINGS) == 2
    assert result.exit_code == 1


def test_rows_beyond_the_bound_are_counted(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "_MOST_KEPT", 1000)
    templates = [_ray(f"bert-{number}") for number in range(7)]
    result = _diff(
        run, _server([_binding(template) for template in templates], {_RAY: templates}), tmp_path, "-o", "json"
    )

    assert 0 < len(_json(result)["answers"]) < 7
    assert _json(result)["kinds"][0]["operations"]["InterpretReplica"] == {"compared": 7, "different": 7}
    assert "are kept to be shown" in result.stderr


@pytest.mark.parametrize("place", ["webhooks", "rules", "operations", "clientConfig"])
def test_webhook_of_another_shape_is_one_line(run: Run, tmp_path: Path, place: str) -> None:
    server = _control_plane()
    webhook = _webhook("odd", "Retain")
    owner = {"webhooks": webhook, "operations": webhook["webhooks"][0]["rules"][0]}.get(place, webhook["webhooks"][0])
    owner[place] = "odd"
    server.collections[_WEBHOOKS] = [webhook]
    result = _diff(run, server, tmp_path)

    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ResourceInterpreterWebhookConfiguration odd: webhooks")
    assert line.endswith(
        f"{place}: Expected `{'object' if place == 'clientConfig' else 'array'}`, got `str`; correct it"
    )


def test_it_only_reads_what_its_roles_allow(run: Run, tmp_path: Path) -> None:
    server = _control_plane()
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "team", "uid": "s"}}
    server.collections[_BINDINGS].append(_binding(secret))
    _diff(run, server, tmp_path)

    listed = set[tuple[str, str]]()
    for file in ("control-plane/clusterrole-diff.yaml", "member/clusterrole-verify.yaml"):
        for rule in yaml.safe_load((_ROOT / "deploy" / file).read_text(encoding="utf-8"))["rules"]:
            listed |= {(group, resource) for group in rule["apiGroups"] for resource in rule["resources"]}
    read = {path.removeprefix("/apis/") for path in server.asked if path.count("/") > 3}
    asked = {(path.split("/")[0], path.split("/")[4 if "namespaces" in path else 2]) for path in read}
    assert len(asked) > 5
    assert {each for each in asked if (each[0], "*") not in listed} <= listed
    assert not any("secrets" in path for path in server.asked)


def test_what_happens_to_what_runs_comes_first(run: Run, tmp_path: Path) -> None:
    pairs = (("member1", 2), ("member2", 1))
    weights = [{"targetCluster": {"clusterNames": [name]}, "weight": weight} for name, weight in pairs]
    scheduling = {"replicaSchedulingType": "Divided", "weightPreference": {"staticWeightList": weights}}
    spec: Thing = {
        "clusters": [{"name": "member1"}, {"name": "member2"}],
        "placement": {"replicaScheduling": scheduling},
        "failover": {"application": {}},
    }
    jobset = _jobset()
    bound = _binding(jobset, _item("member1", "Healthy", **_FAILED), **spec)
    works = [_work("member1", bound, jobset, "Healthy", **_FAILED)]
    server = _server([bound], {_JOBSETS: [jobset]}, **{f"{_V1}/works": works})

    shown = _diff(run, server, tmp_path).stdout
    effects = _json(_diff(run, server, tmp_path, "-o", "json"))["effects"]

    stays = "but it stays as it runs until it is made anew"
    assert (
        f"JobSet team/train: divided: member1, member2 run all 6 pods each now, and 4 + 2 afterwards, {stays}" in shown
    )
    assert "JobSet team/train: moved: out of member1, 300 s" in shown
    assert [effect["effect"] for effect in effects] == ["moved", "divided"]
    assert "InterpretHealth" not in shown
    assert len(shown.splitlines()) <= 25
    assert "InterpretHealth" in _diff(run, server, tmp_path, "--details").stdout


_LWS = "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets"


def _groups(*shares: int, groups: int = 4) -> MemberServer:
    """Return a Karmada with our registration, and groups of two pods with shares of members."""
    spec = {"replicas": groups, "leaderWorkerTemplate": {"size": 2, "workerTemplate": copy.deepcopy(_PODS["template"])}}
    template = _object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "chat", spec=spec)
    clusters = [{"name": f"member{number}", "replicas": share} for number, share in enumerate(shares, 1)]
    bound = _binding(template, replicas=sum(shares), clusters=clusters)
    rule = {"apiGroups": ["*"], "apiVersions": ["*"], "kinds": ["*"], "operations": ["*"]}
    ours = {"metadata": {"name": "karta-interpreter", "uid": "k"}, "webhooks": [{"name": "a.b.c", "rules": [rule]}]}
    return _server([bound], {_LWS: [template]}, **{_WEBHOOKS: [ours]})


def test_change_from_pods_to_groups_is_told_as_such(run: Run, tmp_path: Path) -> None:
    read = _json(_diff(run, _groups(4, 4), tmp_path, "-o", "json"))

    (kind,) = read["kinds"]
    assert kind["pods"] == {"from": 8, "to": 8}, "no pod is lost"
    (row,) = [row for row in read["answers"] if row["operation"] == "InterpretReplica"]
    assert row["note"] == "replicas are units (`.spec.replicas // 1`) instead of pods"
    (effect,) = read["effects"]
    assert effect["effect"] == "multiplied"
    assert "8 pods are 4 units of 2" in effect["text"]
    assert "member1 (4), member2 (4)" in effect["text"]


@pytest.mark.parametrize(
    ("shares", "effects"),
    [
        pytest.param((6, 2), ["multiplied"], id="one share could be groups"),
        pytest.param((8,), ["unit"], id="all in one member"),
        pytest.param((3, 1), [], id="groups already"),
        pytest.param((5, 1), ["indivisible"], id="a share of another number"),
    ],
)
def test_shares_of_today_are_told_that_no_change_would_reach(
    run: Run, tmp_path: Path, shares: tuple[int, ...], effects: list[str]
) -> None:
    read = _json(_diff(run, _groups(*shares), tmp_path, "-o", "json"))
    assert [effect["effect"] for effect in read["effects"]] == effects


_SCHEDULED: Thing = {
    "replicas": 9,
    "clusters": [{"name": "member1", "replicas": 9}],
    "replicaRequirements": {"resourceRequest": {"cpu": "500m", "memory": "4Gi", "nvidia.com/gpu": "1"}},
}
_COUNTS_RAYS = {
    "metadata": {"name": "rays", "uid": "rays"},
    "spec": {
        "target": {"apiVersion": "ray.io/v1", "kind": "RayCluster"},
        "customizations": {"replicaResource": {"luaScript": "function GetReplicas(obj) return 9 end"}},
    },
}


@pytest.mark.parametrize(
    ("spec", "cpu", "others", "told"),
    [
        pytest.param(_SCHEDULED, "8", [], 1, id="of 9 CPUs instead of 4.5 there is no room for all"),
        pytest.param(_SCHEDULED, "9", [], 0, id="within the limit"),
        pytest.param(_SCHEDULED, "8", [_COUNTS_RAYS], 0, id="a customization goes on counting"),
        pytest.param({**_SCHEDULED, **_COUNTED}, "1", [], 0, id="beyond it already, and nothing changes"),
        pytest.param({**_COUNTED, "clusters": [{"name": "member1"}]}, "1", [], 0, id="refused already, and no change"),
    ],
)
def test_usage_that_changes_is_compared_with_the_quota(
    run: Run, tmp_path: Path, spec: Thing, cpu: str, others: list[Thing], told: int
) -> None:
    template = _ray()
    policies = "/apis/policy.karmada.io/v1alpha1"
    quota = _object("", "FederatedResourceQuota", "small", spec={"overall": {"cpu": cpu}})
    quota["status"] = {"overallUsed": {"cpu": "4500m"}}
    collections = {f"{policies}/federatedresourcequotas": [quota], _CUSTOMIZATIONS: others}
    server = _server([_binding(template, **spec)], {_RAY: [template]}, **collections)
    server.kinds = {**_KINDS, policies: {"federatedresourcequotas": "FederatedResourceQuota"}}

    effects = _json(_diff(run, server, tmp_path, "-o", "json"))["effects"]

    assert [(each["object"], each["effect"]) for each in effects] == [("team/bert", "refused")] * told


def test_workload_that_cannot_be_counted_is_told(run: Run, tmp_path: Path) -> None:
    """Karmada writes no binding then, so no change arrives."""
    jobset = _jobset()
    jobset["spec"]["replicatedJobs"][0]["replicas"] = "three"
    server = _server([_binding(jobset, clusters=[{"name": "member1"}])], {_JOBSETS: [jobset]})

    (effect,) = _json(_diff(run, server, tmp_path, "-o", "json"))["effects"]

    assert (effect["object"], effect["effect"]) == ("team/train", "refused")
    assert "cannot be counted" in effect["text"]


def test_half_that_another_interpreter_answers_is_named(run: Run, tmp_path: Path) -> None:
    """Nobody divides the JobSet today, and a customization counts something else than its pods."""
    target = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet"}
    scripts = {"replicaResource": {"luaScript": "function GetReplicas(obj) return 1, nil end"}}
    customization = {**_CUSTOMIZATION, "spec": {"target": target, "customizations": scripts}}
    scheduling = {"replicaScheduling": {"replicaSchedulingType": "Divided"}}
    jobset, clusters = _jobset(), [{"name": "member1"}, {"name": "member2"}]
    bound = _binding(jobset, replicas=1, clusters=clusters, placement=scheduling)
    server = _server([bound], {_JOBSETS: [jobset]}, **{_CUSTOMIZATIONS: [customization]})

    result = _json(_diff(run, server, tmp_path, "-o", "json"))

    (kind,) = result["kinds"]
    assert "ReviseReplica" in kind["notRegistered"]
    assert result["effects"] == []
    assert "JobSet: ReviseReplica is not registered" in _diff(run, server, tmp_path).stdout


def test_other_api_server_is_an_error(run: Run, tmp_path: Path) -> None:
    server = MemberServer(kinds={}, faults={_V2: 404})
    result = _diff(run, server, tmp_path)

    assert result.exit_code == 1
    assert "is not karmada-apiserver" in result.stderr


@pytest.mark.parametrize(
    "options",
    [
        ("--from", "bindings", "--from", "catalogue", "--to", "catalogue"),
        ("--from", "bindings"),
        ("--from", "bindings", "--to", "catalogue", "objects.yaml"),
        ("--from", "bindings", "--to", "catalogue", "--desired-replica", "3"),
        ("--from", "catalogue", "--to", "catalogue", "--context", "karmada", "objects.yaml"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(run: Run, options: tuple[str, ...]) -> None:
    result = run("diff", *options)

    assert result.exit_code == 2
    assert "--from bindings" in result.stderr


def test_folder_of_that_name_is_a_side_like_others(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bindings").write_text("a: 1", encoding="utf-8")
    result = run("diff", "--from", "bindings", "--to", "catalogue")

    assert result.exit_code == 2
    assert "give the object" in result.stderr


_FAILING: Thing = {
    "metadata": {"name": "flinks", "uid": "flinks"},
    "spec": {
        "target": {"apiVersion": "flink.apache.org/v1beta1", "kind": "FlinkDeployment"},
        "customizations": {"replicaResource": {"luaScript": "function GetReplicas(obj) error('it fails') end"}},
    },
}


def _flink() -> Thing:
    """Return a FlinkDeployment that Karmada's script fails on: its memory has a unit of Flink."""
    resource = {"cpu": 1, "memory": "2g"}
    spec: Thing = {
        "flinkVersion": "v1_20",
        "jobManager": {"replicas": 1, "resource": resource},
        "taskManager": {"replicas": 2, "resource": resource},
    }
    return _object("flink.apache.org/v1beta1", "FlinkDeployment", "words", spec=spec)


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        pytest.param({"propagationpolicy.karmada.io/name": "all"}, 1, id="a policy selects it"),
        pytest.param({"clusterpropagationpolicy.karmada.io/name": "all"}, 1, id="a policy of the cluster"),
        pytest.param({}, 0, id="nobody propagates it"),
    ],
)
def test_object_that_karmada_cannot_count_runs_for_the_first_time(
    run: Run, tmp_path: Path, annotations: dict[str, str], expected: int
) -> None:
    obj = _flink()
    obj["metadata"]["annotations"] = annotations
    result = _diff(run, _server([], {_FLINKS: [obj]}), tmp_path, "-o", "json")

    effects = [(each["object"], each["effect"], each["text"]) for each in _json(result)["effects"]]
    text = "runs for the first time, if Karmada fails to count it: policy all selects it, and it has no binding"
    assert effects == [("team/words", "first", text)] * expected


def test_binding_of_another_version_is_one(run: Run, tmp_path: Path) -> None:
    older, newer = "/apis/kubeflow.org/v1beta1", "/apis/kubeflow.org/v1"
    bound = _object("kubeflow.org/v1beta1", "Notebook", "lab", spec=copy.deepcopy(_PODS))
    bound["metadata"]["annotations"] = {"propagationpolicy.karmada.io/name": "all"}
    same = {**bound, "apiVersion": "kubeflow.org/v1"}
    kinds = {older: {"notebooks": "Notebook"}, newer: {"notebooks": "Notebook"}}

    def told(*bindings: Thing) -> list[str]:
        server = _server([*bindings], {f"{older}/notebooks": [bound], f"{newer}/notebooks": [same]})
        server.kinds = {**_KINDS, **kinds}
        effects = _json(_diff(run, server, tmp_path, "-o", "json"))["effects"]
        return [each["object"] for each in effects if each["effect"] == "first"]

    assert (told(), told(_binding(bound))) == (["team/lab"], [])


def test_object_of_which_the_definition_fails_too_is_not_told(run: Run, tmp_path: Path) -> None:
    obj = _flink()
    obj["metadata"]["annotations"] = {"propagationpolicy.karmada.io/name": "all"}
    obj["spec"]["jobManager"]["replicas"] = "two"
    assert not _json(_diff(run, _server([], {_FLINKS: [obj]}), tmp_path, "-o", "json"))["effects"]


def test_customization_that_fails_still_fails(run: Run, tmp_path: Path) -> None:
    obj = _flink()
    obj["metadata"]["annotations"] = {"propagationpolicy.karmada.io/name": "all"}
    server = _server([], {_FLINKS: [obj]}, **{_CUSTOMIZATIONS: [_FAILING]})
    assert not _json(_diff(run, server, tmp_path, "-o", "json"))["effects"]


def test_status_of_which_karmada_keeps_a_part_is_told_once(run: Run, tmp_path: Path) -> None:
    web = _object("apps/v1", "Deployment", "web", spec={"replicas": 1, **copy.deepcopy(_PODS)})
    other = {**web, "metadata": {**web["metadata"], "name": "api", "uid": "api"}}
    counted = {"replicas": 1, "replicaRequirements": _COUNTED["replicaRequirements"]}
    bound = [_binding(obj, **counted) for obj in (web, other)]
    server = _server(bound, {"/apis/apps/v1/deployments": [web, other]})

    effects = _json(_diff(run, server, tmp_path, "-o", "json"))["effects"]
    assert [(each["kind"], each["object"], each["effect"]) for each in effects] == [("Deployment", "", "status")]
    assert "Deployment: status: Karmada keeps chosen fields" in _diff(run, server, tmp_path).stdout


def test_status_that_a_user_reflects_is_not_told(run: Run, tmp_path: Path) -> None:
    web = _object("apps/v1", "Deployment", "web", spec={"replicas": 1, **copy.deepcopy(_PODS)})
    script = {"statusReflection": {"luaScript": "function ReflectStatus(obj) return obj.status end"}}
    own = {
        "metadata": {"name": "own", "uid": "own"},
        "spec": {"target": {"apiVersion": "apps/v1", "kind": "Deployment"}, "customizations": script},
    }
    server = _server([_binding(web)], {"/apis/apps/v1/deployments": [web]}, **{_CUSTOMIZATIONS: [own]})
    effects = _json(_diff(run, server, tmp_path, "-o", "json"))["effects"]
    assert "status" not in [each["effect"] for each in effects]
