"""The errors and zeros that made objects get, each with its reason by the controller's source."""

from collections.abc import Callable
from typing import Final, NamedTuple

from karta_interpreter.base.k8s.values import Object


class Expected(NamedTuple):
    """An outcome of some kinds: how it begins, the specs that have it, and the reason."""

    kinds: tuple[str, ...]
    outcome: str
    reason: str
    holds: Callable[[Object], object] = lambda _: True

    @property
    def text(self) -> str:
        """The row in words."""
        return f"{', '.join(self.kinds)}: {self.outcome}: {self.reason}"

    def explains(self, kind: str, operation: str, outcome: str, spec: Object) -> bool:
        """Return whether this is the reason for an outcome."""
        is_about = kind in self.kinds and outcome.startswith(self.outcome) and operation.startswith("Interpret")
        return bool(is_about and self.holds(spec))


def _lacks(*path: str) -> Callable[[Object], object]:
    """Return a test whether a spec lacks a value at a path. A star stands for any entry."""

    def is_missing(value: object, steps: tuple[str, ...]) -> bool:
        if not steps:
            return value in (None, {}, [], "")
        if steps[0] == "*":
            entries = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            return all(is_missing(entry, steps[1:]) for entry in entries)
        return not isinstance(value, dict) or is_missing(value.get(steps[0]), steps[1:])

    return lambda spec: is_missing(spec, path)


_NONE: Final = "0 pods"
_UNREAD: Final = "definition"

EXPECTED: Final[tuple[Expected, ...]] = (
    Expected(
        ("BroadcastJob",),
        _NONE,
        "one pod on each node: every cluster gets the whole, as Karmada gives it a DaemonSet",
    ),
    Expected(
        ("UnitedDeployment",),
        _NONE,
        "the webhook requires one template with pods",
        lambda spec: len(spec.get("template", {})) != 1 or "'template'" not in str(spec["template"]),
    ),
    Expected(
        ("InferenceService",),
        _UNREAD,
        "the webhook requires the name of a canary's predictor",
        lambda spec: any(not canary.get("predictor", {}).get("name") for canary in spec.get("canary") or ()),
    ),
    Expected(
        ("RayClusterFleet",),
        _NONE,
        "a RayCluster needs a head: the API server of the member rejects one without headGroupSpec",
        _lacks("template", "spec", "headGroupSpec"),
    ),
    Expected(
        ("Rollout",),
        _NONE,
        "the controller calls a spec invalid that has neither template nor workloadRef",
        lambda spec: not spec.get("template") and not spec.get("workloadRef"),
    ),
    Expected(("Workflow",), _NONE, "the controller fails a workflow without templates", _lacks("templates")),
    Expected(("Job",), _NONE, "a task without a number has no pods", _lacks("tasks", "*", "replicas")),
    Expected(("Job",), _NONE, "the webhook requires containers", _lacks("tasks", "*", "template")),
    Expected(("Elasticsearch",), _NONE, "a node set without a count has 0 nodes", _lacks("nodeSets", "*", "count")),
    Expected(("JobFlow",), _NONE, "it has no flows", _lacks("flows", "*", "name")),
    Expected(("JobSet",), _NONE, "a Job requires pods", _lacks("replicatedJobs", "*", "template", "spec")),
    Expected(
        ("JAXJob", "MPIJob", "PaddleJob", "PyTorchJob", "TFJob", "XGBoostJob"),
        _NONE,
        "the webhook knows no replica type a",
        lambda spec: any(value.keys() == {"a"} for key, value in spec.items() if key.endswith("ReplicaSpecs")),
    ),
    Expected(
        ("VirtualMachine", "VirtualMachineInstanceReplicaSet"),
        _NONE,
        "the webhook requires the spec of the template",
        _lacks("template", "spec"),
    ),
    Expected(
        ("RoleSet",), _NONE, "a role without a number has no pods (getRoleReplicas)", _lacks("roles", "*", "replicas")
    ),
    Expected(
        ("StormService",),
        _NONE,
        "a role without a number has no pods (getRoleReplicas)",
        _lacks("template", "spec", "roles", "*", "replicas"),
    ),
    Expected(("RoleSet",), _NONE, "the CRD of pods requires containers", _lacks("roles", "*", "template")),
    Expected(
        ("StormService",),
        _NONE,
        "the CRD of pods requires containers",
        _lacks("template", "spec", "roles", "*", "template"),
    ),
    Expected(
        ("RayJob",),
        _NONE,
        "the controller rejects a job without a cluster and a selector of one",
        _lacks("rayClusterSpec"),
    ),
    Expected(
        ("RayJob",),
        _NONE,
        "a job in a cluster that runs, sent by HTTP, has no pods of its own",
        lambda spec: spec.get("clusterSelector") and spec.get("submissionMode") == "HTTPMode",
    ),
    Expected(("Service",), _NONE, "the webhook requires a container", _lacks("template", "spec", "containers")),
    Expected(
        ("LLMInferenceService",),
        _UNREAD,
        "the number is in a config that is not there",
        lambda spec: "baseRefs" in spec,
    ),
    Expected(
        ("TaskRun",), _NONE, "the webhook requires a task", lambda spec: not {"taskRef", "taskSpec"} & spec.keys()
    ),
    Expected(
        ("PipelineRun",),
        _NONE,
        "the webhook requires a pipeline",
        lambda spec: not {"pipelineRef", "pipelineSpec"} & spec.keys(),
    ),
    Expected(
        ("TrainJob",),
        _NONE,
        "the webhook knows two kinds of runtimes",
        lambda spec: spec["runtimeRef"].get("kind") == "a",
    ),
    Expected(("AppWrapper",), _NONE, "it wraps no pods", lambda spec: "containers" not in str(spec)),
    Expected(("JobFlow", "TrainJob"), _UNREAD, "the number is in an object that is not there"),
    Expected(("VirtualMachine",), _UNREAD, "the webhook requires the spec of the template", _lacks("template", "spec")),
)
