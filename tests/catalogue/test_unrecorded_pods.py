"""Pods of operators of which nothing is recorded, with the labels that their sources write."""

from typing import Any, Final

import pytest

from karta_interpreter import Attribution, Karta, Workload
from tests.support.rows import rows

pytestmark = pytest.mark.catalogue

_TEMPLATE: Final = {"spec": {"containers": [{"name": "main"}]}}
_ROLES: Final = [
    {"name": "router", "standalonePattern": {"template": _TEMPLATE}},
    {"name": "decode", "leaderWorkerPattern": {"size": 2, "template": _TEMPLATE}},
    {"name": "cache", "customComponentsPattern": {"components": [{"name": "cache", "template": _TEMPLATE}]}},
]
_GROUP: Final = {
    "apiVersion": "workloads.x-k8s.io/v1alpha2",
    "kind": "RoleBasedGroup",
    "metadata": {"name": "llm"},
    "spec": {"roles": _ROLES},
}


def _pod(name: str, role: str, **labels: str) -> dict[str, Any]:
    own = {f"rbg.workloads.x-k8s.io/{label.replace('_', '-')}": value for label, value in labels.items()}
    return {"metadata": {"name": name, "labels": {"rbg.workloads.x-k8s.io/role-name": role, **own}}}


def _pod_of_lws(name: str, role: str, index: str) -> dict[str, Any]:
    pod = _pod(name, role)
    pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/worker-index"] = index
    return pod


@rows(
    ("pod", "component", "instance"),
    [
        # RBG 0.7, InitComponentPodLabels and FormatComponentPodName in pkg/reconciler/roleinstance/utils: the component
        # of a standalone role has the name of the role, and the pod that of its instance.
        pytest.param(
            _pod("llm-router-0", "router", role_instance_name="llm-router-0", component_name="router"),
            "role",
            "router",
            id="standalone",
        ),
        pytest.param(
            _pod("llm-cache-0-cache-0", "cache", role_instance_name="llm-cache-0", component_name="cache"),
            "role",
            "cache-cache",
            id="a component with the name of its role",
        ),
        pytest.param(
            _pod("llm-decode-0-0", "decode", component_name="leader", component_index="0"),
            "leader",
            "decode-leader",
            id="a leader",
        ),
        pytest.param(
            _pod("llm-decode-0-1", "decode", component_name="worker", component_index="1"),
            "role",
            "decode-worker",
            id="a worker",
        ),
        # The pods of a LeaderWorkerSet, whose templates have the labels of the role (constructLWSApplyConfiguration in
        # pkg/reconciler/lws_reconciler.go).
        pytest.param(_pod_of_lws("llm-decode-0", "decode", "0"), "leader", "decode-leader", id="of LWS, a leader"),
        pytest.param(_pod_of_lws("llm-decode-0-1", "decode", "1"), "role", "decode-worker", id="of LWS, a worker"),
    ],
)
def test_pods_of_a_role_based_group(pod: dict[str, Any], component: str, instance: str) -> None:
    assert Workload(Karta.for_object(_GROUP), _GROUP).attribute([pod]) == (Attribution(component, instance),)
