"""What stays on a Karmada when a registration goes: attached dependencies, and statuses of templates."""

import shlex
from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import (
    GVK,
    Object,
    full_name,
    get,
    name as name_of,
    namespace as namespace_of,
    objects_in,
    request_path,
)
from karta_interpreter.base.karmada import GROUP, VERSION, Operation
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.engine.operations import natively_answered
from karta_interpreter.engine.registered.interpreters import kinds_of, read_webhooks

_BINDINGS: Final = ("resourcebinding", "clusterresourcebinding")
_REMOVED: Final = '{"status": null}'
_CONFIGURATIONS: Final = (GROUP, VERSION, "resourceinterpreterwebhookconfigurations")


class Remain(NamedTuple):
    """An object that stays, and the command that ends it, quoted: whoever writes a binding chooses the names in it."""

    what: str
    why: str
    command: str


async def read_remains(api: ApiServer, name: str) -> tuple[Remain, ...]:
    """Return what stays when the configuration with a name is deleted. Raises ClusterError."""
    configuration = await api.get(request_path(*_CONFIGURATIONS, name=name))
    kinds = kinds_of(read_webhooks(configuration))
    bindings = [
        binding
        for name in _BINDINGS
        for binding in await api.list(request_path("work.karmada.io", "v1alpha2", f"{name}s"))
    ]
    return tuple(remains_of(kinds, bindings))


def remains_of(kinds: Mapping[GVK, Collection[Operation]], bindings: Collection[Object]) -> Iterator[Remain]:
    """Yield what stays of some bindings when operations of kinds are not answered any more.

    Karmada attaches and detaches dependencies only while something answers InterpretDependency
    (``dependencies_distributor.go``), and writes statuses only while something answers AggregateStatus
    (``pkg/controllers/status/common.go``).
    """
    resources = {(namespace_of(binding), name_of(binding)): _kind(binding) for binding in bindings}
    for binding in bindings:
        resource = get(binding, ("spec", "resource")) or {}
        what = f"{resource.get('kind')} {full_name(resource)}"
        needed_by = [resources.get((str(by.get("namespace")), str(by.get("name")))) for by in _needed_by(binding)]
        if needed_by and all(_ends(kinds, gvk, Operation.INTERPRET_DEPENDENCY) for gvk in needed_by):
            owners = ", ".join(f"{by.get('name')}" for by in _needed_by(binding))
            command = _kubectl(namespace_of(binding), "delete", _BINDINGS[not namespace_of(binding)], name_of(binding))
            yield Remain(what, f"it stays attached to {owners}, also when nothing needs it", command)
            continue
        gvk, has_reports = _kind(binding), objects_in(get(binding, ("status", "aggregatedStatus")))
        if gvk and has_reports and _ends(kinds, gvk, Operation.AGGREGATE_STATUS):
            place = f"{gvk.kind}.{gvk.version}.{gvk.group}", str(resource.get("name"))
            change = "--subresource", "status", "--type", "merge", "-p", _REMOVED
            command = _kubectl(str(resource.get("namespace") or ""), "patch", *place, *change)
            yield Remain(what, "its status stays as it is", command)


def _kubectl(namespace: str, *arguments: str) -> str:
    """Return a command for a shell."""
    return shlex.join(["kubectl", *(("-n", namespace) if namespace else ()), *arguments])


def _ends(kinds: Mapping[GVK, Collection[Operation]], gvk: GVK | None, operation: Operation) -> bool:
    return gvk is not None and operation in kinds.get(gvk, ()) and gvk not in natively_answered(operation)


def _needed_by(binding: Object) -> list[Object]:
    return objects_in(get(binding, ("spec", "requiredBy")))


def _kind(binding: Object) -> GVK | None:
    try:
        return GVK.of(get(binding, ("spec", "resource")) or {})
    except InterpretationError:
        return None
