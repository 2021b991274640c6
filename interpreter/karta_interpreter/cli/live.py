"""Workloads on an API server, named as kubectl names them: RESOURCE/NAME."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

import click

from karta_interpreter.cli.options import control_plane
from karta_interpreter.cli.program import Problem, UsageProblem
from karta_interpreter.k8s.edit import get
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.sources.api_server import ApiServer


class Connection(TypedDict):
    """The values of the options that `live` adds."""

    namespace: str | None
    kubeconfig: Path | None
    context: str | None


def live(function: Callable[..., None]) -> Callable[..., None]:
    """Add the argument for a workload on an API server, and the options for the connection to it."""
    text = "Namespace of RESOURCE/NAME; default: that of the context."
    function = click.option("-n", "--namespace", metavar="NAME", help=text)(control_plane(function))
    return click.argument("target", required=False, metavar="[RESOURCE/NAME]")(function)


def read_live(target: str, **connection: Unpack[Connection]) -> Object:
    """Return the object that ``RESOURCE/NAME`` names; RESOURCE is in any form that kubectl knows."""
    resource, _, name = target.partition("/")
    if not resource or not name or "/" in name:
        raise UsageProblem(f"error: {target}: give RESOURCE/NAME, such as rayjob/demo, or a file with --object")
    return asyncio.run(_read(resource, name, connection))


async def _read(resource: str, name: str, connection: Connection) -> Object:
    async with ApiServer.of(connection["kubeconfig"], connection["context"]) as api:
        api_version, found = await _resource(api, resource)
        namespace = (connection["namespace"] or api.namespace) if found.get("namespaced") else ""
        parts = [_root(api_version), *(["namespaces", namespace] if namespace else []), str(found["name"]), name]
        obj = await api.find("/".join(parts))
        if obj is None:
            place = f" in namespace {namespace}" if namespace else ""
            raise Problem(f"error: {api.url} has no {found['kind']} {name}{place}")
        return obj


async def _resource(api: ApiServer, text: str) -> tuple[str, Object]:
    """The API version and the entry of its ``APIResourceList`` that a text names; the first one, as in kubectl."""
    word, _, group = text.lower().partition(".")
    groups = (await api.get("/apis")).get("groups")
    versions = ([] if group else ["v1"]) + list(_versions(groups, group))
    # All versions are asked at once; an aggregated API that is down must not hide the resources of others.
    lists = await asyncio.gather(*map(api.resources, versions), return_exceptions=True)
    errors = [each for each in lists if isinstance(each, BaseException)]
    for version, resources in zip(versions, lists, strict=True):
        for each in resources if not isinstance(resources, BaseException) else ():
            if word in _names(each) and "/" not in str(each["name"]):
                return version, each
    for error in errors:  # of an API that is not available, and may have the resource
        raise error
    raise Problem(f"error: {api.url} has no resource {text}")


def _versions(groups: JSON, wanted: str) -> Iterator[str]:
    """Yield the preferred API version of each group, or the version of the one that is wanted, with or without it."""
    for group in groups if isinstance(groups, list) else ():
        name = get(group, ("name",))
        for version in get(group, ("versions",)) or ():
            if wanted == f"{get(version, ('version',))}.{name}":
                yield str(get(version, ("groupVersion",)))
        if wanted in ("", name):
            yield str(get(group, ("preferredVersion", "groupVersion")))


def _names(resource: Object) -> Sequence[str]:
    short = resource.get("shortNames") or []
    return [str(each).lower() for each in (resource["name"], resource.get("singularName"), resource["kind"], *short)]


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
