"""What the README says about Karmada's scripts: how many there are, and their answers for a group of a RayCluster."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.base.karmada import Operation
from tests.proofs.conformance import ours
from tests.proofs.conformance.bundle import Bundled
from tests.proofs.conformance.peer import Peer
from tests.proofs.conformance.question import Outcome, Question

README = Path(__file__).parents[3] / "README.md"
RAY_CLUSTER = GVK("ray.io", "v1", "RayCluster")
_GROUP = "workers"
_ROW = re.compile(r"^\| `(.+)` \| (\d+) pods \| (\d+) pods \|$", re.MULTILINE)
_TEMPLATE: Object = {"spec": {"containers": [{"name": "ray", "image": "registry.example/ray:1"}]}}


class Row(NamedTuple):
    """A row of the README: the RayCluster with this group, and the pods of the group."""

    cluster: Object
    script: int
    karta: int


def rows() -> list[Row]:
    """Return the rows of the README."""
    found = _ROW.findall(README.read_text(encoding="utf-8"))
    return [Row(_cluster(yaml.safe_load(f"{{{fields}}}")), int(script), int(karta)) for fields, script, karta in found]


def pods(results: Any) -> int:
    """Return the pods of the group in an answer to InterpretComponent."""
    (count,) = [each["replicas"] for each in results["components"] if each["name"] == _GROUP]
    return int(count)


def problems(peer: Peer, bundle: Sequence[Bundled]) -> Iterator[str]:
    """Name what Karmada's scripts contradict, in its own Lua machine and in ours."""
    scripts = sum(len(bundled.scripts.operations) for bundled in bundle)
    if (said := f"{scripts} scripts for {len(bundle)} kinds") not in README.read_text(encoding="utf-8"):
        yield f"Karmada bundles {said}, and the README says something else"
    (bundled,) = [each for each in bundle if each.gvk == RAY_CLUSTER]
    questions = [Question(bundled.scripts.of(Operation.INTERPRET_COMPONENT), row.cluster) for row in rows()]
    for machine, outcomes in (("Karmada", peer.answers(questions)), ("our machine", map(ours.ask, questions))):
        for row, outcome in zip(rows(), outcomes, strict=True):
            yield from _contradiction(machine, row, outcome)


def _contradiction(machine: str, row: Row, outcome: Outcome) -> Iterator[str]:
    if outcome.results is None:
        yield f"{machine} answers no row of the README: {outcome.error}"
    elif (found := pods(outcome.results)) != row.script:
        yield f"{machine} counts {found} pods, and the README {row.script}: {row.cluster}"


def _cluster(fields: Object) -> Object:
    head: Object = {"rayStartParams": {}, "template": _TEMPLATE}
    return {
        "apiVersion": RAY_CLUSTER.api_version,
        "kind": RAY_CLUSTER.kind,
        "metadata": {"name": "example", "namespace": "default"},
        "spec": {"headGroupSpec": head, "workerGroupSpecs": [{"groupName": _GROUP, "template": _TEMPLATE, **fields}]},
    }
