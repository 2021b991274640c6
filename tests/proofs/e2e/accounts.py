"""Accounts of an API server, and their rights."""

from tests.proofs.rig.api import Api, Object, named

_RBAC = "rbac.authorization.k8s.io"


def account(api: Api, name: str) -> tuple[Object, str]:
    """Make a ServiceAccount; return it as a subject, and a token of it."""
    api.apply(named("v1", "ServiceAccount", name, "default"))
    return {"kind": "ServiceAccount", "namespace": "default", "name": name}, api.token(name, "default")


def role(name: str, *rules: Object) -> Object:
    return {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": [*rules]}


def bound(role: Object, subject: Object) -> Object:
    """Return what gives a subject a ClusterRole."""
    reference = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role["metadata"]["name"]}
    binding = {"apiVersion": f"{_RBAC}/v1", "kind": "ClusterRoleBinding", "roleRef": reference}
    return binding | {"metadata": {"name": f"{reference['name']}-{subject['name']}"}, "subjects": [subject]}
