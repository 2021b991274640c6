"""What stays on a Karmada when a registration goes: attached dependencies, and statuses of templates."""

from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from karta_interpreter.base.errors import InterpretationError
from karta_interpreter.base.k8s import (
    GVK,
    Object,
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

_BINDINGS: Final = request_path("work.karmada.io", "v1alpha2", "resourcebindings")
_CONFIGURATIONS: Final = (GROUP, VERSION, "resourceinterpreterwebhookconfigurations")


class Remain(NamedTuple):
    """An object that stays, and the command that ends it."""

    what: str
    why: str
    command: str


async def read_remains(api: ApiServer, name: str) -> tuple[Remain, ...]:
    """Return what stays when the configuration with a name is deleted. Raises ClusterError."""
    configuration = await api.get(request_path(*_CONFIGURATIONS, name=name))
    return tuple(remains_of(kinds_of(read_webhooks(configuration)), await api.list(_BINDINGS)))


def remains_of(kinds: Mapping[GVK, Collection[Operation]], bindings: Collection[Object]) -> Iterator[Remain]:
    """Yield what stays of some bindings when operations of kinds are not answered any more.

    Karmada attaches and detaches dependencies only while something answers InterpretDependency
    (``dependencies_distributor.go``), and writes statuses only while something answers AggregateStatus
    (``pkg/controllers/status/common.go``).
    """
    resources = {(namespace_of(binding), name_of(binding)): _kind(binding) for binding in bindings}
    for binding in bindings:
        namespace, resource = namespace_of(binding), get(binding, ("spec", "resource")) or {}
        what = f"{resource.get('kind')} {namespace}/{resource.get('name')}"
        needed_by = [resources.get((str(by.get("namespace")), str(by.get("name")))) for by in _needed_by(binding)]
        if needed_by and all(_ends(kinds, gvk, Operation.INTERPRET_DEPENDENCY) for gvk in needed_by):
            owners = ", ".join(f"{by.get('name')}" for by in _needed_by(binding))
            command = f"kubectl -n {namespace} delete resourcebinding {name_of(binding)}"
            yield Remain(what, f"it stays attached to {owners}, also when nothing needs it", command)
        elif objects_in(get(binding, ("status", "aggregatedStatus"))) and _ends(
            kinds, _kind(binding), Operation.AGGREGATE_STATUS
        ):
            patch = """--subresource status --type json -p '[{"op": "remove", "path": "/status"}]'"""
            command = f"kubectl -n {namespace} patch {resource.get('kind')} {resource.get('name')} {patch}"
            yield Remain(what, "its status stays as it is", command)


def _ends(kinds: Mapping[GVK, Collection[Operation]], gvk: GVK | None, operation: Operation) -> bool:
    return gvk is not None and operation in kinds.get(gvk, ()) and gvk not in natively_answered(operation)


def _needed_by(binding: Object) -> list[Object]:
    return objects_in(get(binding, ("spec", "requiredBy")))


def _kind(binding: Object) -> GVK | None:
    try:
        return GVK.of(get(binding, ("spec", "resource")) or {})
    except InterpretationError:
        return None
