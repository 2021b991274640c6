"""What an API server tells of itself: its API versions (``APIGroupList``) and their kinds (``APIResourceList``)."""

from collections.abc import Sequence

from karta_interpreter.base.k8s.edit import get
from karta_interpreter.base.k8s.values import Object, objects_in


def listed_versions(groups: Object) -> list[str]:
    """Return the versions of API groups, those that are preferred before others of their groups. The core has none.

    >>> v1, v2 = {"groupVersion": "batch/v1"}, {"groupVersion": "batch/v2"}
    >>> listed_versions({"groups": [{"preferredVersion": v2, "versions": [v1, v2]}]})
    ['batch/v2', 'batch/v1', 'batch/v2']
    """
    versions = list[str]()
    for group in objects_in(groups.get("groups")):
        for version in (group.get("preferredVersion"), *objects_in(group.get("versions"))):
            versions.append(str(get(version, ("groupVersion",))))
    return versions


def by_kind(resources: Sequence[Object]) -> dict[str, Object]:
    """Return the resources of an API version by kind, without subresources: their kinds may be those of others.

    >>> by_kind([{"name": "jobs", "kind": "Job"}, {"name": "jobs/scale", "kind": "Scale"}])
    {'Job': {'name': 'jobs', 'kind': 'Job'}}
    """
    return {
        resource["kind"]: resource
        for resource in resources
        if isinstance(resource.get("kind"), str) and "/" not in str(resource.get("name", "/"))
    }
