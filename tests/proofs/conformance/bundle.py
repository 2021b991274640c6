"""The customizations that Karmada bundles, with their cases, as Karmada's own test reads them.

The source of the rules is ``pkg/resourceinterpreter/default/thirdparty/thirdparty_test.go``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from karta_interpreter.base.k8s.manifest import read_documents
from karta_interpreter.base.k8s.values import GVK, JSON
from karta_interpreter.base.karmada import SLOTS
from karta_interpreter.languages.lua.customization import load_customizations
from karta_interpreter.languages.lua.script import Scripts
from tests.proofs.conformance.question import Question

_FOLDER = "pkg/resourceinterpreter/default/thirdparty/resourcecustomizations"
_ITEM_KEYS = ("status", "applied", "appliedMessage", "health")
_OPERATIONS = {operation.lower(): operation for operation in SLOTS}

KINDS: Final = frozenset({
    "apps.kruise.io/v1alpha1 AdvancedCronJob",
    "apps.kruise.io/v1alpha1 BroadcastJob",
    "apps.kruise.io/v1alpha1 CloneSet",
    "apps.kruise.io/v1alpha1 DaemonSet",
    "apps.kruise.io/v1alpha1 SidecarSet",
    "apps.kruise.io/v1alpha1 UnitedDeployment",
    "apps.kruise.io/v1beta1 StatefulSet",
    "argoproj.io/v1alpha1 Workflow",
    "batch.volcano.sh/v1alpha1 Job",
    "flink.apache.org/v1beta1 FlinkDeployment",
    "helm.toolkit.fluxcd.io/v2beta1 HelmRelease",
    "kubeflow.org/v1 Notebook",
    "kubeflow.org/v1 PyTorchJob",
    "kubeflow.org/v1 TFJob",
    "kubeflow.org/v2beta1 MPIJob",
    "kustomize.toolkit.fluxcd.io/v1 Kustomization",
    "kyverno.io/v1 ClusterPolicy",
    "kyverno.io/v1 Policy",
    "ray.io/v1 RayCluster",
    "ray.io/v1 RayJob",
    "ray.io/v1 RayService",
    "source.toolkit.fluxcd.io/v1 GitRepository",
    "source.toolkit.fluxcd.io/v1beta2 Bucket",
    "source.toolkit.fluxcd.io/v1beta2 HelmChart",
    "source.toolkit.fluxcd.io/v1beta2 HelmRepository",
    "source.toolkit.fluxcd.io/v1beta2 OCIRepository",
    "sparkoperator.k8s.io/v1beta2 SparkApplication",
})  # fmt: skip
"""What is bundled, so that it is known without Karmada's source, too."""


class Later(NamedTuple):
    """The version of a kind that the catalogue answers in place of a bundled one, and why not that one."""

    version: str
    reason: str


_SOURCES: Final = Later("v1", "source-controller serves v1beta2 until 1.7")
LATER: Final[Mapping[str, Later]] = {
    "helm.toolkit.fluxcd.io/v2beta1 HelmRelease": Later("v2", "helm-controller serves v2beta1 until 1.3"),
    "source.toolkit.fluxcd.io/v1beta2 Bucket": _SOURCES,
    "source.toolkit.fluxcd.io/v1beta2 HelmChart": _SOURCES,
    "source.toolkit.fluxcd.io/v1beta2 HelmRepository": _SOURCES,
    "source.toolkit.fluxcd.io/v1beta2 OCIRepository": _SOURCES,
}
"""Bundled kinds whose version members serve no more; Karmada's scripts go on answering it."""


def name_of(gvk: GVK) -> str:
    """Return a kind as the tables have it.

    >>> name_of(GVK("kyverno.io", "v1", "Policy"))
    'kyverno.io/v1 Policy'
    """
    return f"{gvk.api_version} {gvk.kind}"


def answered(gvk: GVK) -> GVK:
    """Return the kind of the catalogue that stands for a bundled one: nearly always the same."""
    later = LATER.get(name_of(gvk))
    return gvk if later is None else GVK(gvk.group, later.version, gvk.kind)


@dataclass(frozen=True, slots=True)
class Case:
    """One question, and the results that upstream expects of it."""

    name: str
    source: str
    line: int
    question: Question
    expected: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Bundled:
    """The customization of one kind, with its cases."""

    gvk: GVK
    scripts: Scripts
    cases: tuple[Case, ...]


def load_bundle(karmada: Path) -> list[Bundled]:
    """Read the whole bundle from the folder of Karmada's source, sorted by kind."""
    found = [bundled for file in sorted((karmada / _FOLDER).rglob("customizations.yaml")) for bundled in _load(file)]
    return sorted(found, key=lambda bundled: str(bundled.gvk))


def _load(file: Path) -> Iterator[Bundled]:
    for loaded in load_customizations(file.read_text(), str(file)):
        assert loaded.gvk, f"{file} has no target"
        assert not [finding for finding in loaded.findings if finding.severity == "error"], loaded.findings
        cases = [
            case
            for suite in sorted((file.parent / "testdata").rglob("*.yaml"))
            for case in _cases(suite, loaded.scripts)
        ]
        yield Bundled(loaded.gvk, loaded.scripts, tuple(cases))


def _cases(file: Path, scripts: Scripts) -> Iterator[Case]:
    # Not karta_interpreter.engine.suites: it refuses keys that it does not know, and two upstream files have such.
    for document in read_documents(file.read_text(), str(file)):
        fields = document.value
        yield Case(fields["name"], str(file), document.line, _question(fields, scripts), fields.get("output") or {})


def _question(fields: dict[str, JSON], scripts: Scripts) -> Question:
    operation = _OPERATIONS[fields["operation"].lower()]
    objects = [fields[key] for key in ("desiredObj", "observedObj") if fields.get(key) is not None]
    assert len(objects) == (2 if operation == "Retain" else 1), "one object, and two for Retain"
    items = fields.get("statusItems")
    return Question(
        scripts=scripts.of(operation),
        object=objects[0],
        observed=objects[1] if operation == "Retain" else None,
        replicas=fields.get("inputReplicas", 0) if operation == "ReviseReplica" else None,
        items=None if items is None else tuple(map(_item, items)),
    )


def _item(item: dict[str, JSON]) -> JSON:
    """Give the item as it leaves Go's ``AggregatedStatusItem``: known keys only, and all but the first if not empty."""
    kept = {key: item[key] for key in _ITEM_KEYS if item.get(key) not in (None, "", False)}
    return {"clusterName": item.get("clusterName", ""), **kept}
