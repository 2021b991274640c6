"""The kinds under test: where their counts stand, and what Karmada has to make of them.

Every number here follows from the workload's file and from the kind's own documentation, not from an answer of ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.proofs.e2e import controllers
from tests.proofs.rig.api import Object

Place = tuple[str | int, ...]
Counts = tuple[int, ...]

_WORKLOADS = Path(__file__).parent / "workloads"


@dataclass(frozen=True, slots=True)
class Stage:
    """The template's counts, the pods that they mean, and the counts of both members at weights of 2 to 1."""

    template: Counts
    pods: int
    member1: Counts
    member2: Counts

    @property
    def members(self) -> Mapping[str, Counts]:
        return {"member1": self.member1, "member2": self.member2}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind: its workload, and what is to be seen of it."""

    api_version: str
    name: str
    counts: tuple[Place, ...]
    stages: tuple[Stage, Stage, Stage]
    """As in the workload's file, scaled up, and scaled down."""
    requires: Mapping[str, str]
    controller: Any
    """A class of `controllers`: what the kind's own controller writes in the members."""
    suspend: Place = ()
    """Where the kind is suspended; empty where it cannot be."""
    switch: tuple[Any, Any] = (False, True)
    """What stands there while it runs, and while it is suspended."""
    components: Mapping[str, int] = field(default_factory=dict)
    """The pods of each component, for kinds that have several."""
    file: str = ""
    """The name of its workload's file, where another kind has the same name."""

    in_processes: bool = False
    """Whether its answers are made in processes: a busy machine may start one later than Karmada waits."""

    @property
    def title(self) -> str:
        """A name that no other kind has."""
        return self.file or self.name

    def workload(self, name: str) -> Object:
        """Return the workload of the kind under that name."""
        return _read(self.title, name)

    def counted(self, thing: Object) -> Counts:
        """Return the counts that stand in an object."""
        return tuple(at(thing, place) for place in self.counts)

    def scaled(self, thing: Object, counts: Counts) -> Object:
        """Return the object with other counts."""
        for place, count in zip(self.counts, counts, strict=True):
            thing = put(thing, place, count)
        return thing

    def switched(self, thing: Object, *, suspended: bool) -> Object:
        """Return the object suspended, or resumed."""
        switched: Object = put(thing, self.suspend, self.switch[suspended])
        return switched

    def is_switched(self, thing: Object, *, suspended: bool) -> bool:
        """Whether the object is suspended, or resumed."""
        return bool(at(thing, self.suspend) == self.switch[suspended])

    def can_be(self, state: str) -> bool:
        """Whether the kind knows the state."""
        return hasattr(self.controller, state)

    def status(self, state: str, thing: Object) -> Object:
        """Return the status of a member's object in that state."""
        status: Object = getattr(self.controller, state)(thing)
        return status

    def condition(self, state: str) -> Object:
        """Return the status that shows the condition of a state."""
        return {"conditions": [{"type": self.controller.conditions[state], "status": "True"}]}

    def whole(self, things: list[Object]) -> Object:
        """Return what the template's status must show when all members run."""
        status: Object = self.controller.whole(things)
        return status


def training_runtime() -> Object:
    """Return what the TrainJob runs in."""
    return _read("TrainingRuntime")


def _read(title: str, name: str = "") -> Object:
    text = (_WORKLOADS / f"{title.lower()}.yaml").read_text(encoding="utf-8")
    loaded: Object = yaml.safe_load(text.replace("${name}", name))
    return loaded


def at(thing: Any, place: Place) -> Any:
    """Return what stands at a place, or None.

    >>> at({"spec": {"jobs": [{"replicas": 3}]}}, ("spec", "jobs", 0, "replicas"))
    3
    """
    for step in place:
        thing = (thing or {}).get(step) if isinstance(step, str) else thing[step]
    return thing


def put(thing: Any, place: Place, value: Any) -> Any:
    """Return a copy in which ``value`` stands at a place.

    >>> put({"spec": {"jobs": [{"replicas": 3}]}}, ("spec", "jobs", 0, "replicas"), 4)
    {'spec': {'jobs': [{'replicas': 4}]}}
    """
    if not place:
        return value
    step, rest = place[0], place[1:]
    if isinstance(step, str):
        return {**(thing or {}), step: put((thing or {}).get(step), rest, value)}
    return [put(item, rest, value) if index == step else item for index, item in enumerate(thing)]


KINDS = (
    Kind(
        "apps/v1",
        "Deployment",
        counts=(("spec", "replicas"),),
        stages=(Stage((6,), 6, (4,), (2,)), Stage((9,), 9, (6,), (3,)), Stage((3,), 3, (2,), (1,))),
        requires={"cpu": "250m", "memory": "128Mi"},
        controller=controllers.Deployment,
    ),
    Kind(
        # Karmada itself divides the completions: 12 are 8 and 4.
        "batch/v1",
        "Job",
        counts=(("spec", "parallelism"),),
        stages=(Stage((6,), 6, (4,), (2,)), Stage((9,), 9, (6,), (3,)), Stage((3,), 3, (2,), (1,))),
        requires={"cpu": "1", "memory": "1Gi"},
        controller=controllers.Job,
        suspend=("spec", "suspend"),
    ),
    Kind(
        # The driver stays in every member; the workers share what is left of 6 and 3, of 8 and 4, of 4 and 2.
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        counts=(("spec", "replicatedJobs", 0, "replicas"), ("spec", "replicatedJobs", 1, "replicas")),
        stages=(
            Stage((1, 8), 9, (1, 5), (1, 2)),
            Stage((1, 11), 12, (1, 7), (1, 3)),
            Stage((1, 5), 6, (1, 3), (1, 1)),
        ),
        requires={"cpu": "2", "memory": "4Gi"},
        controller=controllers.JobSet,
        suspend=("spec", "suspend"),
        components={"driver": 1, "workers": 8},
    ),
    Kind(
        # One master in every member; a member may be left without workers.
        "kubeflow.org/v1",
        "PyTorchJob",
        counts=(
            ("spec", "pytorchReplicaSpecs", "Master", "replicas"),
            ("spec", "pytorchReplicaSpecs", "Worker", "replicas"),
        ),
        stages=(
            Stage((1, 5), 6, (1, 3), (1, 1)),
            Stage((1, 8), 9, (1, 5), (1, 2)),
            Stage((1, 2), 3, (1, 1), (1, 0)),
        ),
        requires={"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": "1"},
        controller=controllers.PyTorchJob,
        suspend=("spec", "runPolicy", "suspend"),
        components={"master": 1, "worker": 5},
    ),
    Kind(
        # The head takes one pod of each member's share; the groups divide the rest as they are to one another,
        # 3:2, then 5:3, then 2:0, the larger remainder first.
        "ray.io/v1",
        "RayCluster",
        counts=(("spec", "workerGroupSpecs", 0, "replicas"), ("spec", "workerGroupSpecs", 1, "replicas")),
        stages=(
            Stage((3, 2), 6, (2, 1), (1, 0)),
            Stage((5, 3), 9, (3, 2), (1, 1)),
            Stage((2, 0), 3, (1, 0), (0, 0)),
        ),
        requires={"cpu": "4", "memory": "4Gi"},
        controller=controllers.RayCluster,
        suspend=("spec", "suspend"),
        components={"head": 1, "small": 3, "big": 2},
    ),
    Kind(
        # A group is two pods: 6 of them are three groups, and a member's 4 are two.
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        counts=(("spec", "replicas"),),
        stages=(Stage((3,), 6, (2,), (1,)), Stage((6,), 12, (4,), (2,)), Stage((3,), 6, (2,), (1,))),
        requires={"cpu": "3", "memory": "8Gi"},
        controller=controllers.LeaderWorkerSet,
        components={"leader": 3, "worker": 3},
    ),
)


def _whole(counts: Counts, pods: int) -> Stage:
    """Return the stage of a kind that is placed in one cluster only."""
    return Stage(counts, pods, counts, counts)


FLINK_DEPLOYMENT = Kind(
    # A JobManager, and a TaskManager for each slot that the job's parallelism takes.
    "flink.apache.org/v1beta1",
    "FlinkDeployment",
    counts=(("spec", "job", "parallelism"),),
    stages=(_whole((2,), 3), _whole((4,), 5), _whole((1,), 2)),
    requires={"cpu": "1", "memory": "2Gi"},
    controller=controllers.FlinkDeployment,
    suspend=("spec", "job", "state"),
    switch=("running", "suspended"),
    components={"jobmanager": 1, "taskmanager": 2},
    in_processes=True,
)

WHOLE = (
    FLINK_DEPLOYMENT,
    Kind(
        "batch.volcano.sh/v1alpha1",
        "Job",
        counts=(("spec", "tasks", 1, "replicas"),),
        stages=(_whole((4,), 5), _whole((7,), 8), _whole((2,), 3)),
        requires={"cpu": "2", "memory": "4Gi"},
        controller=controllers.VolcanoJob,
        components={"master": 1, "worker": 4},
        file="VolcanoJob",
    ),
    Kind(
        # What its pods are stands in the runtime: so many nodes, and a job that fetches the data before.
        "trainer.kubeflow.org/v1alpha1",
        "TrainJob",
        counts=(("spec", "trainer", "numNodes"),),
        stages=(_whole((3,), 4), _whole((6,), 7), _whole((2,), 3)),
        requires={"cpu": "4", "memory": "8Gi"},
        controller=controllers.TrainJob,
        suspend=("spec", "suspend"),
        components={"node": 3, "dataset-initializer": 1},
        in_processes=True,
    ),
    Kind(
        "kubeflow.org/v2beta1",
        "MPIJob",
        counts=(("spec", "mpiReplicaSpecs", "Worker", "replicas"),),
        stages=(_whole((4,), 5), _whole((6,), 7), _whole((1,), 2)),
        requires={"cpu": "4", "memory": "8Gi"},
        controller=controllers.MPIJob,
        suspend=("spec", "runPolicy", "suspend"),
        components={"launcher": 1, "worker": 4},
    ),
)
"""Kinds that are tested where a workload goes to one cluster, and nowhere else."""


def kind_of(name: str) -> Kind:
    """Return the kind of that name."""
    (found,) = (kind for kind in (*KINDS, *WHOLE) if kind.title == name)
    return found
