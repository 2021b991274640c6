"""The devices that the resource claims of pods request, as amounts of extended resources.

A claim is the pod's: it counts once, whatever containers use it. Follows Kueue (``pkg/dra/claims.go``), which counts
the devices of templates of claims by class, and Kubernetes' defaults (``pkg/apis/resource/v1/defaults.go``). A claim
that pods may share counts for none of them. What Kueue refuses stays unknown here, and the rest is counted.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from karta_interpreter.base.errors import InterpretationError, QueryAbsentError
from karta_interpreter.base.k8s import (
    CLAIM_TEMPLATES,
    DEVICE_CLASSES,
    Counting,
    Object,
    Path,
    PodRequirements,
    field_path,
    is_extended,
    object_field,
    objects_field,
    pod_requirements,
    refuse,
    text_field,
    with_devices,
)
from karta_interpreter.definitions.karta import Definition, DeviceCounting
from karta_interpreter.engine.evaluation.pods import pod_templates

MOST_CLAIMS: Final = 256
"""Claims of one pod."""
MOST_REQUESTS: Final = 32
"""Requests of one claim, as in Kubernetes (``DeviceRequestsMaxSize``)."""
MOST_ALTERNATIVES: Final = 8
"""Alternatives of one request, as in Kubernetes (``FirstAvailableDeviceRequestMaxSize``)."""
_EXACT_COUNT: Final = "ExactCount"


class DeviceRequest(NamedTuple):
    """A request of a pod's claim: the devices of a class that it asks for, and what they count as."""

    path: Path
    """The place of the claim in the spec of the pod."""
    claim: str
    """The claim in words, with its template."""
    device_class: str = ""
    resource: str = ""
    amount: int = 0
    why: str = ""
    """Why it counts nothing."""
    is_known: bool = True
    """False if the pod may need more than what is counted."""


def counted_requirements(definition: Definition, template: Object, counting: Counting) -> PodRequirements:
    """Return the requests of one replica of a pod template, with the devices of its claims.

    Raises InterpretationError as `pod_requirements`, and for a claim that cannot be looked up now.
    """
    requirements = pod_requirements(template, counting)
    if definition.devices is None:
        return requirements
    devices = [
        (request.resource, request.amount) for request in device_requests(definition, template) if request.amount
    ]
    return with_devices(requirements, devices)


def unknown_devices(definition: Definition, obj: Object) -> Iterator[str]:
    """Yield why claims of an object's pods count nothing. Raises InterpretationError."""
    if definition.devices is None:
        return
    for component, _, template in pod_templates(definition, obj):
        for request in device_requests(definition, template):
            if not request.is_known:
                yield f"{component.name}: {request.claim}: {request.why}"


def device_requests(definition: Definition, template: Object) -> Iterator[DeviceRequest]:
    """Yield what the claims of a pod request, in the order of the pod. Raises InterpretationError."""
    spec, path = object_field(template, "spec", ()), ("spec",)
    if definition.devices is None:
        return
    for index, claim in enumerate(_listed(spec, "resourceClaims", path, MOST_CLAIMS)):
        yield from _of_claim(definition.devices, claim, ("resourceClaims", index))


def _of_claim(devices: DeviceCounting, claim: Object, path: Path) -> Iterator[DeviceRequest]:
    place = ("spec", *path)
    title = f"claim {text_field(claim, 'name', place) or field_path(path)}"
    if shared := text_field(claim, "resourceClaimName", place):
        why = "pods may share it, so no pod counts it"
        yield DeviceRequest(path, f"{title} of ResourceClaim {shared}", why=why, is_known=False)
        return
    name = text_field(claim, "resourceClaimTemplateName", place)
    if not name:
        # A definition may give the spec of a template that the operator makes in the member.
        for request in _requests({"spec": claim}):
            yield _counted(devices, request, DeviceRequest(path, title))
        return
    try:
        found = devices.look_up(CLAIM_TEMPLATES, name)
    except QueryAbsentError as error:
        yield DeviceRequest(path, title, why=str(error), is_known=False)
        return
    try:
        for request in _requests(found):
            yield _counted(devices, request, DeviceRequest(path, f"{title} of ResourceClaimTemplate {name}"))
    except InterpretationError as error:
        raise type(error)(f"ResourceClaimTemplate {name}: {error}") from error


def _requests(template: Object) -> list[Object]:
    path: Path = ()
    for field in ("spec", "spec", "devices"):
        template, path = object_field(template, field, path), (*path, field)
    return _listed(template, "requests", path, MOST_REQUESTS)


def _listed(parent: Object, name: str, path: Path, most: int) -> list[Object]:
    listed = objects_field(parent, name, path)
    if len(listed) > most:
        raise InterpretationError(f"{field_path((*path, name))} has more than {most} elements")
    return listed


def _counted(devices: DeviceCounting, request: Object, title: DeviceRequest) -> DeviceRequest:
    """Return what a request counts as: that of its only form, or that of all its alternatives if they agree."""
    alternatives = _listed(request, "firstAvailable", (), MOST_ALTERNATIVES)
    if not alternatives:
        # The request of v1beta1 has the fields of `exactly` itself.
        return _exactly(devices, object_field(request, "exactly", ()) or request, title)
    several = [_exactly(devices, alternative, title) for alternative in alternatives]
    for one in several:
        if not one.is_known:
            return one
    amounts = dict.fromkeys(f"{one.amount} {one.resource}" for one in several)
    if len(amounts) == 1:
        return several[0]
    return title._replace(why=f"firstAvailable may give {' or '.join(amounts)}", is_known=False)


def _exactly(devices: DeviceCounting, request: Object, title: DeviceRequest) -> DeviceRequest:
    name = text_field(request, "deviceClassName", ())
    of_class = title._replace(device_class=name)
    if request.get("adminAccess") is True:
        return of_class._replace(why="adminAccess takes no device from others")
    mode = text_field(request, "allocationMode", ()) or _EXACT_COUNT
    if mode != _EXACT_COUNT:
        return of_class._replace(why=f"allocationMode {mode} of class {name} has no number", is_known=False)
    amount = request.get("count") or 1  # the default of API servers, also of 0
    if type(amount) is not int or amount < 0:
        refuse(amount, "a positive whole number", ("count",))
    resource, why = _resource(devices, name) if name else ("", "a request has no deviceClassName")
    return of_class._replace(resource=resource, amount=amount if resource else 0, why=why, is_known=not why)


def _resource(devices: DeviceCounting, name: str) -> tuple[str, str]:
    """Return the resource that a class stands for, or "" and the reason."""
    if resource := devices.resources.get(name):
        return resource, ""
    try:
        device_class = devices.look_up(DEVICE_CLASSES, name)
    except QueryAbsentError as error:
        return "", f"--device-class does not name the class {name}, and {error}"
    resource = text_field(object_field(device_class, "spec", ()), "extendedResourceName", ("spec",))
    if is_extended(resource):
        return resource, ""
    return "", f"--device-class does not name the class {name}, and its DeviceClass has no extendedResourceName"
