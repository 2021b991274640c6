"""What a workload names in another namespace goes to members as its owner propagates it, and not with the workload.

Karmada puts the binding of a dependency into the namespace of the workload. The garbage collector of the control plane
deletes it if the dependency is in another one, and the Work, which the dependency's own binding shares, goes with it.
"""

import base64
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.proofs.e2e.flow import Story, say
from tests.proofs.e2e.installed import Installed
from tests.proofs.e2e.kinds import KINDS
from tests.proofs.rig.api import Object, at_rest, named, until
from tests.proofs.rig.karmada import serves
from tests.proofs.rig.layout import MEMBERS
from tests.proofs.rig.places import at, put
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import DUPLICATED, duplicated, propagation

_CATALOGUE = Path(__file__).parents[3] / "kartas"
_HELM, _KUSTOMIZE = "helm.toolkit.fluxcd.io/v2", "kustomize.toolkit.fluxcd.io/v1"
_SOURCE = "source.toolkit.fluxcd.io/v1"
_KINDS = (
    (_HELM, "HelmRelease", "helmreleases"),
    (_KUSTOMIZE, "Kustomization", "kustomizations"),
    (_SOURCE, "GitRepository", "gitrepositories"),
    (_SOURCE, "HelmRepository", "helmrepositories"),
)
_KARTAS = [f"--kartas={_CATALOGUE / api_version / kind / 'karta.yaml'}" for api_version, kind, _ in _KINDS[:2]]
_INTERVAL = ("spec", "interval")
_NAMED = ("metadata", "annotations", "resourcebinding.karmada.io/dependencies")


@pytest.fixture(scope="module")
def flux(plane: ControlPlane, installed: Installed) -> Iterator[ControlPlane]:
    """The control plane with the kinds of Flux, and a server that answers about them."""
    for api_version, kind, plural in _KINDS:
        for api in (plane.karmada, *plane.members.values()):
            api.apply(_crd(api_version, kind, plural))
    for member in plane.members:
        for api_version, kind, _ in _KINDS:
            until(f"{member} serves {kind}", partial(serves, plane.karmada, member, api_version, kind))
    server = installed.serve(*_KARTAS)
    installed.registered({"url": server.url}, len(KINDS) + len(_KARTAS))
    yield plane
    installed.stop(server)


def test_sources_of_another_namespace_stay_in_members(flux: ControlPlane) -> None:
    story = _begun("sources of flux-system")
    sources, releases = _sources("flux-system", "charts"), _releases("shop", "flux-system", "charts")
    with _propagated(flux, sources, DUPLICATED):
        until("the members have the sources", lambda: set(_counts(flux, sources).values()) == {len(sources)})
        with _propagated(flux, releases, DUPLICATED):
            _edit(flux, releases, MEMBERS)
            story.saw("the members have the sources by their own policies, and the edited releases")
            _wait_for_collector(flux, "shop", sources[0])
            story.saw("the garbage collector is done")
            assert at_rest("the sources", partial(_counts, flux, sources)) == dict.fromkeys(MEMBERS, len(sources))
            assert [_dependencies(flux, release) for release in releases] == ["[]", "[]"]


def test_tenant_moves_nothing_of_another_namespace(flux: ControlPlane) -> None:
    story = _begun("a tenant that names what a victim has")
    prey, releases = _sources("victim", "crown"), _releases("tenant", "victim", "crown")
    member, own = flux.members["member1"], _secret("victim", "crown", "of the member")
    flux.karmada.add_namespace("victim")
    until("member1 has the namespace of the victim", partial(member.find, named("v1", "Namespace", "victim")))
    member.apply(own)
    for thing in prey:
        flux.karmada.apply(thing)
    with _propagated(flux, releases, duplicated("member1"), conflictResolution="Overwrite"):
        _edit(flux, releases, ["member1"])
        story.saw("member1 has the edited releases")
        _wait_for_collector(flux, "tenant", prey[0])
        story.saw("the garbage collector is done")
        # The one is the Secret that the member has of its own.
        assert at_rest("what the victim has", partial(_counts, flux, prey)) == {"member1": 1, "member2": 0}
        assert at(member.find(own), ("data",)) == own["data"]
        assert [_dependencies(flux, release) for release in releases] == ["[]", "[]"]
    for thing in prey:
        flux.karmada.delete(thing)
    member.delete(own)


@contextmanager
def _propagated(plane: ControlPlane, things: Sequence[Object], placement: Object, **fields: str) -> Iterator[None]:
    """Have objects on the control plane during the block, each with a policy that propagates what it depends on."""
    policies = [propagation(thing, placement) for thing in things]
    for namespace in {thing["metadata"]["namespace"] for thing in things}:
        plane.karmada.add_namespace(namespace)
    for thing in (*(policy | {"spec": policy["spec"] | fields} for policy in policies), *things):
        plane.karmada.apply(thing)
    yield
    for thing in (*things, *policies):
        plane.karmada.delete(thing)
    until("the members have none of it", lambda: not any(_counts(plane, things).values()))


def _edit(plane: ControlPlane, releases: Sequence[Object], members: Sequence[str]) -> None:
    """Change releases once the members have them, and wait until these have that, too."""
    for interval in ("5m", "7m"):
        for release in releases:
            plane.karmada.apply(put(release, _INTERVAL, interval))
        until(f"members have {interval}", partial(_have, plane, releases, members, interval))


def _have(plane: ControlPlane, releases: Sequence[Object], members: Sequence[str], interval: str) -> bool:
    found = [at(plane.members[name].find(release), _INTERVAL) for name in members for release in releases]
    return set(found) == {interval}


def _wait_for_collector(plane: ControlPlane, namespace: str, owner: Object) -> None:
    """Wait until the collector has deleted an object with an owner in another namespace, as a binding would be."""
    found = plane.karmada.find(owner)
    assert found
    kind = {field: owner[field] for field in ("apiVersion", "kind")}
    reference = kind | {field: found["metadata"][field] for field in ("name", "uid")}
    canary = named("v1", "ConfigMap", "canary", namespace)
    plane.karmada.apply(put(canary, ("metadata", "ownerReferences"), [reference]))
    until("the garbage collector deletes what has an owner elsewhere", lambda: plane.karmada.find(canary) is None)


def _dependencies(plane: ControlPlane, release: Object) -> str | None:
    """Return what Karmada has been told that the object depends on."""
    metadata = release["metadata"]
    name = f"{metadata['name']}-{release['kind'].lower()}"
    binding = named("work.karmada.io/v1alpha2", "ResourceBinding", name, metadata["namespace"])
    named_by: str | None = at(plane.karmada.find(binding), _NAMED)
    return named_by


def _counts(plane: ControlPlane, things: Sequence[Object]) -> dict[str, int]:
    """Return how many of the objects each member has."""
    return {name: sum(api.find(thing) is not None for thing in things) for name, api in plane.members.items()}


def _begun(title: str) -> Story:
    say(f"\n{title}")
    return Story()


def _sources(namespace: str, name: str) -> list[Object]:
    repositories = [named(_SOURCE, kind, name, namespace) for kind in ("HelmRepository", "GitRepository")]
    url = {"url": "https://example.com/shop", "interval": "5m"}
    return [*(repository | {"spec": url} for repository in repositories), _secret(namespace, name, "of the platform")]


def _releases(namespace: str, owner: str, name: str) -> list[Object]:
    """Return a HelmRelease and a Kustomization that name the sources and a Secret of another namespace."""
    charts = {"kind": "HelmRepository", "name": name, "namespace": owner}
    chart = {"chart": "web", "sourceRef": charts, "verify": {"provider": "cosign", "secretRef": {"name": name}}}
    source = {"kind": "GitRepository", "name": name, "namespace": owner}
    return [
        named(_HELM, "HelmRelease", "web", namespace) | {"spec": {"interval": "3m", "chart": {"spec": chart}}},
        named(_KUSTOMIZE, "Kustomization", "web", namespace)
        | {"spec": {"interval": "3m", "prune": True, "sourceRef": source}},
    ]


def _secret(namespace: str, name: str, owner: str) -> Object:
    return named("v1", "Secret", name, namespace) | {"data": {"owner": base64.b64encode(owner.encode()).decode()}}


def _crd(api_version: str, kind: str, plural: str) -> Object:
    """Return a CRD that takes any fields."""
    group, version = api_version.split("/")
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {
        "group": group,
        "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
        "scope": "Namespaced",
        "versions": [served | {"subresources": {"status": {}}}],
    }
    return named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{plural}.{group}") | {"spec": spec}
