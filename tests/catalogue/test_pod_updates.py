"""What Retain sends for a pod is an update that an API server takes, whoever has written to the pod in its member.

What it takes is in ValidatePodUpdate (pkg/apis/core/validation/validation.go of Kubernetes 1.35).
"""

from typing import Any, Final

import pytest

from karta_interpreter.base.k8s.values import GVK, Object
from karta_interpreter.engine.operations import Call, Operation, interpret
from tests.catalogue.entries import entries
from tests.support.rows import rows

_POD: Final = GVK("", "v1", "Pod")
_RESOURCES: Final = {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}
_VARIABLE: Final = {"name": "TEAM", "value": "lab"}
_ADDED: Final = {"name": "AGENT", "value": "on"}


def _pod(container: Object, **spec: Any) -> Object:
    lab = {"name": "lab", "image": "lab:9", "resources": _RESOURCES, "env": [_VARIABLE], **container}
    containers = [lab, *spec.pop("more", ())]
    spec = {"nodeSelector": {"zone": "a"}, "tolerations": [{"key": "team"}], **spec}
    return {**_POD.type_meta, "metadata": {"name": "p", "namespace": "n"}, "spec": {**spec, "containers": containers}}


@rows(
    "written",
    [
        pytest.param(_pod({}), id="nobody"),
        pytest.param(_pod({"resources": {"requests": {"cpu": "3"}, "limits": {"cpu": "3"}}}), id="resized in place"),
        pytest.param(_pod({}, resources={"requests": {"cpu": "4"}}), id="resized as a whole"),
        pytest.param(_pod({"env": [_ADDED, _VARIABLE]}), id="a variable before those of the template"),
        pytest.param(_pod({"env": [_VARIABLE, _ADDED]}), id="a variable behind them"),
        pytest.param(_pod({}, more=[{"name": "mesh", "env": [_ADDED]}]), id="a container of a mesh"),
        pytest.param(_pod({}, initContainers=[{"name": "mesh", "restartPolicy": "Always"}]), id="a native sidecar"),
        pytest.param(_pod({"volumeMounts": [{"name": "token"}]}, volumes=[{"name": "token"}]), id="a token"),
        pytest.param(_pod({}, nodeSelector={"zone": "a", "gpu": "b"}, nodeName="node-1"), id="a queue and a scheduler"),
        pytest.param(_pod({}, tolerations=[{"key": "gpu"}, {"key": "team"}]), id="a toleration"),
        pytest.param(_pod({}, priority=0, readinessGates=[{"conditionType": "balanced"}]), id="fields of its own"),
    ],
)
def test_update_of_pod_changes_its_image_only(written: Object) -> None:
    (definition,) = [entry.definition for entry in entries() if entry.definition and entry.definition.gvk == _POD]
    desired = _pod({"image": "lab:10"}, nodeSelector={"zone": "a"})
    call = Call(Operation.RETAIN, desired, observed=written)
    first, *others = written["spec"]["containers"]
    expected = {**written["spec"], "containers": [{**first, "image": "lab:10"}, *others]}
    retained = interpret(definition, call)["retained"]["spec"]
    assert retained == expected
