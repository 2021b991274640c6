import json
from collections.abc import Callable
from typing import Any

import pytest

from karta_interpreter import GVK, Karta, Status, Workload, WorkloadError, WorkloadTree
from karta_interpreter.engine.workload import PodNode
from tests.support.rows import rows

Make = Callable[..., Workload]

ORCHESTRA: dict[str, Any] = {
    "conductor": {"template": {"spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}]}}},
    "sections": [
        {"name": "violins", "desks": 4, "players": 2, "least": 6, "template": {"spec": {"containers": []}}},
        {"name": "flutes", "players": 3, "template": {"metadata": {"labels": {"wind": "yes"}}, "spec": {}}},
    ],
}


def pod(name: str, *, ready: bool = False, **labels: str) -> dict[str, Any]:
    conditions = [{"type": "Initialized", "status": "True"}, {"type": "Ready", "status": str(ready)}]
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {"nodeName": "stage"},
        "status": {"phase": "Running", "conditions": conditions},
    }


def shape(tree: WorkloadTree) -> list[tuple[str, list[tuple[str, int]]]]:
    return [
        (node.name, [(each.instance.id, each.instance.replicas) for each in node.instances])
        for node in tree.components()
    ]


def test_components_come_before_those_that_belong_to_them(make: Make) -> None:
    tree = WorkloadTree.build(make("Orchestra", ORCHESTRA))

    assert shape(tree) == [
        ("orchestra", [("", 1)]),
        ("conductor", [("", 1)]),
        ("section", [("violins", 8), ("flutes", 3)]),
        ("chair", [("", 1)]),
    ]
    assert tree.root.kind == GVK("toys.example.com", "v1", "Orchestra")
    assert [node.has_pods for node in tree.components()] == [False, True, True, False]


def test_children_are_there_once_however_many_instances_their_owner_has(make: Make) -> None:
    section = WorkloadTree.build(make("Orchestra", ORCHESTRA)).root.children[1]
    assert (len(section.instances), [child.name for child in section.children]) == (2, ["chair"])

    nobody = WorkloadTree.build(make("Orchestra", {"sections": []})).root.children[1]
    assert (len(nobody.instances), [child.name for child in nobody.children]) == (0, ["chair"])


@rows(
    ("spec", "expected"),
    [
        pytest.param(ORCHESTRA, 12, id="only what has pods counts: 1 + 8 + 3"),
        pytest.param({"sections": ORCHESTRA["sections"]}, 11, id="a conductor that is not there is not counted"),
        pytest.param(None, 0, id="nothing is there"),
    ],
)
def test_replicas_of_the_whole(make: Make, spec: Any, expected: int) -> None:
    assert WorkloadTree.build(make("Orchestra", spec)).replicas == expected


def test_requirements_are_those_of_one_pod(make: Make) -> None:
    conductor, section = WorkloadTree.build(make("Orchestra", ORCHESTRA)).root.children

    (only,) = conductor.instances
    assert only.requirements is not None
    assert only.requirements.to_json() == {"resourceRequest": {"cpu": "1"}}
    assert [each.requirements and each.requirements.to_json() for each in section.instances] == [None, None]


@rows(
    ("status", "expected"),
    [
        pytest.param({"phase": "Playing"}, (Status.RUNNING,), id="a phase"),
        pytest.param(
            {"phase": "Playing", "conditions": [{"type": "OutOfTune", "status": "True"}]},
            (Status.RUNNING, Status.DEGRADED),
            id="all that match",
        ),
        pytest.param({}, (Status.UNDEFINED,), id="none that matches"),
    ],
)
def test_status(make: Make, status: Any, expected: tuple[Status, ...]) -> None:
    tree = WorkloadTree.build(make("Orchestra", ORCHESTRA, status=status))

    assert tree.status.matched == expected
    assert tree.to_json()["status"] == {"phases": [str(status) for status in expected]}


def test_pods_are_where_they_belong_and_strays_say_why_they_do_not(make: Make) -> None:
    pods = [
        pod("v-1", ready=True, part="section", section="violins"),
        pod("c", part="conductor"),
        pod("v-2", part="section", section="violins"),
        pod("x", part="audience"),
        pod("gone", part="section", section="harps"),
    ]
    tree = WorkloadTree.build(make("Orchestra", ORCHESTRA), pods)

    conductor, section = tree.root.children
    assert [[each.pod["metadata"]["name"] for each in node.pods] for node in conductor.instances] == [["c"]]
    assert [[each.is_ready for each in node.pods] for node in section.instances] == [[True, False], []]
    assert [stray.pod["metadata"]["name"] for stray in tree.strays] == ["x", "gone"]
    assert "none of the components that have pods (conductor, section)" in tree.strays[0].reason
    assert "harps" in tree.strays[1].reason


@rows(
    ("status", "ready"),
    [
        pytest.param({"conditions": [{"type": "Ready", "status": "True"}]}, True, id="ready"),
        pytest.param({"conditions": [{"type": "Ready", "status": "False"}]}, False, id="not ready"),
        pytest.param({"conditions": ["Ready"]}, False, id="a condition of another type"),
        pytest.param({"conditions": {"Ready": "True"}}, False, id="conditions of another type"),
        pytest.param({"conditions": 1}, False, id="conditions that are none"),
        pytest.param(None, False, id="no status"),
    ],
)
def test_pod_is_ready_by_its_condition(status: Any, ready: bool) -> None:
    assert PodNode({"status": status}).is_ready is ready


def test_json_has_the_names_of_karta_and_nothing_that_is_not_there(make: Make) -> None:
    workload = make("Orchestra", {"sections": ORCHESTRA["sections"][1:]}, status={"phase": "Playing"})
    tree = WorkloadTree.build(workload, [pod("f-1", part="section", section="flutes"), pod("x")])

    assert tree.to_json() == {
        "apiVersion": "toys.example.com/v1",
        "kind": "Orchestra",
        "metadata": {"name": "toy"},
        "definition": "orchestra",
        "replicas": 3,
        "status": {"phases": ["Running"]},
        "root": {
            "name": "orchestra",
            "kind": {"group": "toys.example.com", "version": "v1", "kind": "Orchestra"},
            "hasPodDefinition": False,
            "instances": [{"replicas": 1}],
            "children": [
                {
                    "name": "conductor",
                    "kind": {"group": "", "version": "v1", "kind": "Pod"},
                    "hasPodDefinition": True,
                    "selector": {"matchLabels": {"part": "conductor"}},
                    "instances": [{"replicas": 0}],
                },
                {
                    "name": "section",
                    "hasPodDefinition": True,
                    "selector": {"matchLabels": {"part": "section"}},
                    "instances": [
                        {
                            "instanceKey": "flutes",
                            "replicas": 3,
                            "scale": {"replicas": 3},
                            "extractedInstance": {
                                "podTemplateSpec": {"metadata": {"labels": {"wind": "yes"}}, "spec": {}}
                            },
                            "requirements": {},
                            "selector": {"matchLabels": {"part": "section", "section": "flutes"}},
                            "currentReplicas": 1,
                            "readyReplicas": 0,
                            "totalRequests": {},
                            "pods": [{"name": "f-1", "phase": "Running", "node": "stage", "ready": False}],
                        }
                    ],
                    "children": [{"name": "chair", "hasPodDefinition": False, "instances": [{"replicas": 1}]}],
                },
            ],
        },
        "strayPods": [{"name": "x", "reason": tree.strays[0].reason}],
    }


def test_json_of_fragments_and_bounds(make: Make) -> None:
    docks = {"north": {"cranes": 2, "scheduler": "kai", "labels": {"a": "b"}, "main": {"image": "i"}, "grade": 1}}
    (dock,) = WorkloadTree.build(make("Harbor", {"docks": docks})).to_json()["root"]["children"]
    assert dock["instances"][0]["extractedInstance"] == {
        "fragmentedPodSpec": {
            "schedulerName": "kai",
            "labels": {"a": "b"},
            "container": {"image": "i"},
            "image": "i",
            "priorityClassName": "p-1",
        }
    }
    tavern = WorkloadTree.build(make("Tavern", {"containers": [], "minReplicas": 2, "maxReplicas": 5}))
    (only,) = tavern.to_json()["root"]["instances"]
    assert (only["replicas"], only["scale"]) == (2, {"minReplicas": 2, "maxReplicas": 5})
    assert only["extractedInstance"].keys() == {"podSpec", "metadata"}


def test_json_is_json(make: Make) -> None:
    wire = WorkloadTree.build(make("Orchestra", ORCHESTRA), [pod("c", part="conductor")]).to_json()
    assert json.loads(json.dumps(wire)) == wire


@rows(
    ("spec", "pods", "message"),
    [
        pytest.param({"sections": [{"name": 1}]}, [], "section", id="an id that is not a text"),
        pytest.param(
            {
                "sections": [
                    {"name": "a", "template": {"spec": {"containers": [{"resources": {"limits": {"cpu": "x"}}}]}}}
                ]
            },
            [],
            "cpu",
            id="resources that are none",
        ),
        pytest.param(ORCHESTRA, ["pod"], "a pod is a dict", id="a pod that is none"),
    ],
)
def test_unanswerable_tree_is_workload_error(make: Make, spec: Any, pods: Any, message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        WorkloadTree.build(make("Orchestra", spec), pods)


def test_groups_are_known_as_far_as_pods_are(make: Make, raw: Callable[[str], dict[str, Any]]) -> None:
    written = raw("Orchestra")
    members = [{"componentName": "section", "groupByKeyPaths": [".metadata.labels.section"]}]
    gang = {
        "podGroups": [
            {"name": "sections", "members": members},
            {"name": "rest", "members": [{"componentName": "conductor"}]},
        ]
    }
    written["spec"]["optimizationInstructions"] = {"gangScheduling": gang}
    orchestra = Workload(Karta.load(written), make("Orchestra", ORCHESTRA).object)
    flute = pod("flute-0", part="section", section="flutes")

    tree = WorkloadTree.build(orchestra, [flute, pod("flute-1", part="section", section="flutes")])

    assert tree.to_json()["podGroups"] == [
        {
            "name": "sections",
            "members": ["section"],
            "groupBy": [".metadata.labels.section"],
            "minimum": 3,
            "pods": ["flute-0", "flute-1"],
            "running": 2,
            "minimumRuns": False,
            "keys": ["flutes"],
            "subGroups": [],
        },
        {"name": "rest", "members": ["conductor"], "groupBy": []},
    ]
    assert tree.ungrouped == ()
