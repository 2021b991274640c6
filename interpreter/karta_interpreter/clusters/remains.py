"""What stays on a Karmada when a registration goes: attached dependencies, and statuses of templates."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Final, NamedTuple

from karta_interpreter.base.command_line import command_line, shown
from karta_interpreter.base.errors import ClusterError, InterpretationError, WordError
from karta_interpreter.base.k8s import (
    GVK,
    Object,
    by_kind,
    get,
    name as name_of,
    namespace as namespace_of,
    objects_in,
    request_path,
)
from karta_interpreter.base.karmada import GROUP, VERSION, Operation
from karta_interpreter.clusters.resource import Resource, binding_name, resource_of
from karta_interpreter.definitions.sources.api_server import ApiServer
from karta_interpreter.engine.operations import natively_answered
from karta_interpreter.engine.registered.interpreters import kinds_of, read_webhooks

_BINDINGS: Final = ("ResourceBinding", "ClusterResourceBinding")
_PATCH: Final = """--subresource=status --type=merge '--patch={{"status": null}}'"""
_CONFIGURATIONS: Final = (GROUP, VERSION, "resourceinterpreterwebhookconfigurations")


class Remain(NamedTuple):
    """An object that stays, and the command that ends it. Without a command it says ``why`` there is none."""

    what: str
    why: str
    command: str = ""


async def read_remains(api: ApiServer, name: str) -> tuple[Remain, ...]:
    """Return what stays when the configuration with a name is deleted. Raises ClusterError."""
    configuration = await api.get(request_path(*_CONFIGURATIONS, name=name))
    kinds = kinds_of(read_webhooks(configuration))
    bindings = [
        binding
        for kind in _BINDINGS
        for binding in await api.list(request_path("work.karmada.io", "v1alpha2", f"{kind.lower()}s"))
    ]
    resources = [get(binding, ("spec", "resource")) for binding in bindings]
    bound = {(str(get(named, ("apiVersion",))), str(get(named, ("kind",)))) for named in resources}
    are_namespaced = await _are_namespaced(api, [gvk for gvk in kinds if (gvk.api_version, gvk.kind) in bound])
    return tuple(remains_of(kinds, bindings, are_namespaced))


async def _are_namespaced(api: ApiServer, kinds: Collection[GVK]) -> dict[GVK, bool]:
    """Return whether the objects of kinds have namespaces, as far as the API server says."""
    are_namespaced = dict[GVK, bool]()
    for api_version in sorted({gvk.api_version for gvk in kinds}):
        with suppress(ClusterError):
            served = by_kind(await api.resources(api_version))
            for gvk in kinds:
                if gvk.api_version == api_version and gvk.kind in served:
                    are_namespaced[gvk] = bool(served[gvk.kind].get("namespaced"))
    return are_namespaced


def remains_of(
    kinds: Mapping[GVK, Collection[Operation]],
    bindings: Collection[Object],
    are_namespaced: Mapping[GVK, bool] = MappingProxyType({}),
) -> Iterator[Remain]:
    """Yield what stays of some bindings when operations of kinds are not answered any more.

    Karmada attaches and detaches dependencies only while something answers InterpretDependency
    (``dependencies_distributor.go``), and writes statuses only while something answers AggregateStatus
    (``pkg/controllers/status/common.go``).
    """
    resources = dict[tuple[str, str], Resource]()
    for binding in bindings:
        what = binding_name(_BINDINGS[not namespace_of(binding)], binding)
        try:
            resource = resource_of(binding)
        except InterpretationError as error:
            if get(binding, ("spec", "resource")):
                yield Remain(what, str(error))
            continue
        # kubectl takes a cluster-scoped object with any namespace, and for another the namespace of its context.
        if are_namespaced.get(resource.gvk, bool(resource.namespace)) is not bool(resource.namespace):
            has = "no namespace" if resource.namespace else "a namespace"
            yield Remain(what, f"it names {resource}, although an object of this kind has {has}: nobody judges it")
            continue
        resources[namespace_of(binding), name_of(binding)] = resource
    for binding in bindings:
        if judged := resources.get((namespace_of(binding), name_of(binding))):
            yield from _remains_of(kinds, resources, binding, judged)


def _remains_of(
    kinds: Mapping[GVK, Collection[Operation]],
    resources: Mapping[tuple[str, str], Resource],
    binding: Object,
    resource: Resource,
) -> Iterator[Remain]:
    """Yield what stays of a binding, at most one object."""
    namespace, gvk = namespace_of(binding), resource.gvk
    place = {"namespace": namespace} if namespace else {}
    options = "--namespace={namespace}" if namespace else ""
    needed_by = [resources.get((str(by.get("namespace") or ""), str(by.get("name")))) for by in _needed_by(binding)]
    reports = objects_in(get(binding, ("status", "aggregatedStatus")))
    try:
        if needed_by and all(owner and _ends(kinds, owner.gvk, Operation.INTERPRET_DEPENDENCY) for owner in needed_by):
            owners = ", ".join(shown("name", by.get("name")) for by in _needed_by(binding))
            delete = f"kubectl delete {options} -- {_BINDINGS[not namespace].lower()} {{name}}"
            command = command_line(delete, **place, name=name_of(binding))
            yield Remain(str(resource), f"it stays attached to {owners}, also when nothing needs it", command)
        elif reports and _ends(kinds, gvk, Operation.AGGREGATE_STATUS):
            named = {form: word for form, word in gvk._asdict().items() if word}
            kind = ".".join(f"{{{form}}}" for form in ("kind", "version", "group") if form in named)
            patch = f"kubectl patch {options} {_PATCH} -- {kind} {{name}}"
            command = command_line(patch, **place, **named, name=resource.name)
            yield Remain(str(resource), "its status stays as it is", command)
    except WordError as error:
        yield Remain(binding_name(_BINDINGS[not namespace], binding), f"{resource} stays as it is: {error}")


def _ends(kinds: Mapping[GVK, Collection[Operation]], gvk: GVK, operation: Operation) -> bool:
    return operation in kinds.get(gvk, ()) and gvk not in natively_answered(operation)


def _needed_by(binding: Object) -> list[Object]:
    return objects_in(get(binding, ("spec", "requiredBy")))
