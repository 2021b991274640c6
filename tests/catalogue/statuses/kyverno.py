"""Kyverno's policies."""

from karta_interpreter.base.k8s.values import GVK
from tests.catalogue.statuses.states import INITIALIZING, RUNNING, UNDEFINED, States

_POLICY = {
    "ready": RUNNING,
    "the webhooks are not configured yet": INITIALIZING,
    "ready, by an older Kyverno": RUNNING,
    "not ready, by an older Kyverno": INITIALIZING,
    "no status yet": UNDEFINED,
}

KYVERNO: States = {
    GVK("kyverno.io", "v1", "ClusterPolicy"): {**_POLICY, "the API server follows it": RUNNING},
    GVK("kyverno.io", "v1", "Policy"): _POLICY,
}
