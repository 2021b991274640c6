"""Parts of objects that hold a Secret, and parts that only name one."""

import json
from typing import Any, Final

VALUE: Final = "aHVudGVyMg-of-a-secret"
SECRET: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "keys", "namespace": "team"},
    "data": {"password": VALUE},
}
_PLAIN: Final = {
    **{name: SECRET[name] for name in ("apiVersion", "kind", "metadata")},
    "stringData": {"password": VALUE},
}
_LIST: Final = {"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Pod"}, SECRET]}
_SECRETS: Final = {"apiVersion": "v1", "kind": "SecretList", "items": [{"metadata": {}, "data": {"password": VALUE}}]}
_YAML: Final = f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: keys\nstringData:\n  password: {VALUE}\n"
_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"

HOLDERS: Final[dict[str, Any]] = {
    "manifests of a Work": {"workload": {"manifests": [SECRET]}},
    "the second manifest of a Work": {"workload": {"manifests": [{"apiVersion": "v1", "kind": "Pod"}, SECRET]}},
    "values that are not encoded": {"manifest": _PLAIN},
    "items of a List": {"snapshot": _LIST},
    "items of a SecretList": {"snapshot": _SECRETS},
    "a map of objects": {"objects": {"team/keys": {"object": SECRET}}},
    "what was applied": {"annotations": {_APPLIED: json.dumps(SECRET)}},
    "what was applied to a Work": {"annotations": {_APPLIED: json.dumps({"spec": {"manifests": [SECRET]}}, indent=1)}},
    "an annotation within an annotation": {"a": json.dumps({"annotations": {_APPLIED: json.dumps(SECRET)}})},
    "a file in YAML": {"files": {"keys.yaml": f"kind: ConfigMap\n---\n{_YAML}"}},
    "a file in YAML with quotes": {"files": [_YAML.replace("kind: Secret", "'kind': \"Secret\"")]},
    "a file of JSON lines": {"files": f"{json.dumps({'kind': 'Pod'})}\n{json.dumps(SECRET)}"},
}
"""Parts that hold `VALUE`, by what they are."""

OTHERS: Final[dict[str, Any]] = {
    "a reference": {"resource": {"apiVersion": "v1", "kind": "Secret", "namespace": "team", "name": "keys"}},
    "an owner": {"ownerReferences": [{"apiVersion": "v1", "kind": "Secret", "name": "keys", "uid": "1"}]},
    "a selector of a policy": {"resourceSelectors": [{"apiVersion": "v1", "kind": "Secret"}]},
    "a policy in an annotation": {_APPLIED: json.dumps({"spec": {"resource": {"apiVersion": "v1", "kind": "Secret"}}})},
    "a kind of another group": {"manifest": {**SECRET, "apiVersion": "example.io/v1"}},
    "a kind that is an object": {"kind": {"kind": "Secret"}, "apiVersion": ["v1"]},
    "a variable": {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "password"}}}]},
    "a sentence": {"message": "the kind: Secret is not read"},
}
"""Parts without the content of a Secret, by what they are."""
