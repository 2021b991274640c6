"""Each place that a writer of any workload writes, in each kind that its source knows: Retain keeps it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pytest

from karta_interpreter.base.k8s import JSON, Object, Path, get, set_value
from karta_interpreter.definitions.karta import Definition
from tests.catalogue.entries import entries
from tests.catalogue.tables import with_version
from tests.catalogue.test_writers import retained_by
from tests.support.rows import rows

_PODS: Final[Object] = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {
        "initContainers": [{"name": "i", "image": "i:1"}, {"name": "j", "image": "j:1"}],
        "containers": [{"name": "c", "image": "c:1"}, {"name": "d", "image": "d:1"}],
        "volumes": [{"name": "e", "emptyDir": {}}, {"name": "v", "image": {"reference": "v:1"}}],
    },
}
_SERVED: Final[Object] = {"selector": {"matchLabels": {"a": "b"}}, "template": _PODS}
_SPECS: Final[Mapping[str, Object]] = {
    "apps/v1 Deployment": {"replicas": 2, **_SERVED},
    "apps/v1 StatefulSet": {"replicas": 2, "serviceName": "s", **_SERVED},
    "apps/v1 DaemonSet": _SERVED,
    "batch/v1 CronJob": {"schedule": "@daily", "jobTemplate": {"spec": {"template": _PODS}}},
    "batch/v1 Job": {"template": _PODS},
    "argoproj.io/v1alpha1 Rollout": {"replicas": 2, **_SERVED},
    "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet": {
        "replicas": 2,
        "leaderWorkerTemplate": {"size": 2, "leaderTemplate": _PODS, "workerTemplate": _PODS},
    },
}
_APPS: Final = ("apps/v1 Deployment", "apps/v1 StatefulSet", "apps/v1 DaemonSet")
_CRON: Final = "batch/v1 CronJob"
_TEMPLATE: Final = ("spec", "template")
_CRON_TEMPLATE: Final = ("spec", "jobTemplate", "spec", "template")


class Writer(NamedTuple):
    """Places that a writer writes in kinds with some metadata, each with a value."""

    name: str
    source: str
    kinds: Sequence[str]
    metadata: Object
    places: Mapping[Path, JSON]
    writes: bool = True
    """Whether it writes there. If not, the template's value goes out."""


def _below(pods: Path, places: Mapping[Path, JSON]) -> Mapping[Path, JSON]:
    return {(*pods, *place): value for place, value in places.items()}


_IMAGE: Final[Mapping[Path, JSON]] = {
    ("spec", "containers", 0, "image"): "c:9",
    ("spec", "containers", 1, "image"): "d:9",
}
_INIT: Final[Mapping[Path, JSON]] = {("spec", "initContainers", 1, "image"): "j:9"}
_VOLUME: Final[Mapping[Path, JSON]] = {("spec", "volumes", 1, "image", "reference"): "v:9"}
_KEEL: Final = "keel-hq/keel, checkForUpdate in provider/kubernetes/updates.go and internal/k8s/resource.go"
_KEEL_MARKS: Final = {"keel.sh/policy": "minor", "keel.sh/initContainers": "true", "keel.sh/imageVolumes": "true"}
_NOTE: Final[Path] = ("metadata", "annotations", "keel.sh/update-time")


def _keel() -> Iterator[Writer]:
    every = {**_IMAGE, **_INIT, **_VOLUME}
    marked = {"annotations": _KEEL_MARKS}
    yield Writer("Keel", _KEEL, _APPS, marked, _below(_TEMPLATE, {**every, _NOTE: "now"}))
    # GetSpecAnnotations: of a CronJob it is the metadata of the Jobs.
    noted: Mapping[Path, JSON] = {**_below(_CRON_TEMPLATE, every), ("spec", "jobTemplate", *_NOTE): "now"}
    yield Writer("Keel", _KEEL, (_CRON,), marked, noted)
    for kinds, pods in ((_APPS, _TEMPLATE), ((_CRON,), _CRON_TEMPLATE)):
        # getPolicyFromLabels reads annotations first, then labels, and an older name of each.
        for metadata in (
            {"labels": {"keel.sh/policy": "force"}},
            {"labels": {"keel.observer/policy": "all"}},
            {"annotations": {"keel.observer/policy": "glob:1.*"}},
            {"annotations": {"keel.sh/policy": "all"}, "labels": {"keel.sh/policy": "never"}},
        ):
            yield Writer("Keel", _KEEL, kinds, metadata, _below(pods, _IMAGE))
        # getImageVolumeTrackingFromMeta reads labels first.
        for metadata in (
            {"labels": {"keel.sh/policy": "all", "keel.sh/imageVolumes": "true"}},
            {
                "annotations": {"keel.sh/policy": "all", "keel.sh/imageVolumes": "false"},
                "labels": {"keel.sh/imageVolumes": "true"},
            },
        ):
            yield Writer("Keel", _KEEL, kinds, metadata, _below(pods, _VOLUME))
        yield Writer("Keel, only containers", _KEEL, kinds, {"annotations": {"keel.sh/policy": "all"}},
                     _below(pods, {**_INIT, **_VOLUME}), writes=False)  # fmt: skip
        # Init containers are written by the annotation alone.
        label = {"annotations": {"keel.sh/policy": "all"}, "labels": {"keel.sh/initContainers": "true"}}
        yield Writer("Keel, a label of init containers", _KEEL, kinds, label, _below(pods, _INIT), writes=False)
        for policy in ("never", ""):
            off = {"annotations": {**_KEEL_MARKS, "keel.sh/policy": policy}, "labels": {"keel.sh/policy": "all"}}
            yield Writer("Keel, no policy", _KEEL, kinds, off, _below(pods, every), writes=False)
        without = {"annotations": {"keel.sh/initContainers": "true", "keel.sh/imageVolumes": "true"}}
        yield Writer("Keel, marks without a policy", _KEEL, kinds, without, _below(pods, every), writes=False)


_OPENSHIFT: Final = "openshift/library-go, UpdateObjectFromImages in pkg/image/trigger/annotations.go"


def _openshift() -> Iterator[Writer]:
    for kinds, pods in ((_APPS, _TEMPLATE), ((_CRON,), _CRON_TEMPLATE)):
        at = f"{'.'.join(pods)}.spec"
        for paths, place in (
            ((f"{at}.containers[0].image", f'{at}.containers[?(@.name=="c")].image'), ("containers", 0)),
            ((f"{at}.initContainers[1].image", f'{at}.initContainers[?(@.name=="j")].image'), ("initContainers", 1)),
            # GetContainerByName looks in both lists.
            ((f'{at}.containers[?(@.name=="j")].image',), ("initContainers", 1)),
        ):
            written: Path = (*pods, "spec", *place, "image")
            for path in paths:
                for paused, spaced in ((False, False), (True, False), (True, True)):
                    triggers: list[Object] = [
                        {"from": {"kind": "ImageStreamTag", "name": "x:1"}, "fieldPath": field}
                        for field in (path, f"{at}.containers[1].image")
                    ]
                    if paused:  # as `oc set triggers --manual` pauses them
                        triggers = [{**trigger, "paused": True} for trigger in triggers]
                    text = json.dumps(triggers, separators=None if spaced else (",", ":"))
                    metadata = {"annotations": {"image.openshift.io/triggers": text}}
                    name = f"OpenShift{', paused' * paused}{', with spaces' * spaced}"
                    yield Writer(name, _OPENSHIFT, kinds, metadata, {written: "x@sha256:9"}, writes=not paused)


_RELOADER: Final = "stakater/Reloader, internal/pkg/handler/upgrade.go and internal/pkg/callbacks/rolling_upgrade.go"
_ROLLOUT: Final = "argoproj.io/v1alpha1 Rollout"


def _reloader() -> Iterator[Writer]:
    variables = [{"name": "STAKATER_IT_CONFIGMAP", "value": "5f"}, {"name": "STAKATER_ITS_SECRET", "value": "6f"}]
    restarted: Mapping[Path, JSON] = {
        ("metadata", "annotations", "reloader.stakater.com/last-reloaded-from"): "{}",
        ("spec", "containers", 1, "env"): variables,
    }
    # It makes a Job again, with the note, and as the Job of the same template.
    yield Writer("Reloader", _RELOADER, (*_APPS, _ROLLOUT, "batch/v1 Job"), {}, _below(_TEMPLATE, restarted))
    yield Writer("Reloader", _RELOADER, (_ROLLOUT,), {}, {("spec", "restartAt"): "2026-08-10T10:51:06Z"})
    paused = {"annotations": {"deployment.reloader.stakater.com/paused-at": "now"}}
    yield Writer("Reloader", _RELOADER, _APPS[:1], paused, {("spec", "paused"): True})
    yield Writer("Reloader, nothing in init containers", _RELOADER, _APPS, {},
                 _below(_TEMPLATE, {("spec", "initContainers", 1, "env"): variables}), writes=False)  # fmt: skip


_KUEUE: Final = "kubernetes-sigs/kueue, pkg/controller/jobs/*/*_webhook.go"


def _kueue() -> Iterator[Writer]:
    queued = {"labels": {"kueue.x-k8s.io/queue-name": "q", "kueue.x-k8s.io/priority-class": "p"}}
    parent: Mapping[Path, JSON] = {("metadata", "annotations", "kueue.x-k8s.io/pod-suspending-parent"): "it"}
    labels: Mapping[Path, JSON] = {
        ("metadata", "labels", "kueue.x-k8s.io/queue-name"): "q",
        ("metadata", "labels", "kueue.x-k8s.io/priority-class"): "p",
    }
    managed: Mapping[Path, JSON] = {("metadata", "labels", "kueue.x-k8s.io/managed"): "true"}
    yield Writer("Kueue", _KUEUE, _APPS[:1], queued, _below(_TEMPLATE, {**parent, **labels, **managed}))
    yield Writer("Kueue", _KUEUE, _APPS[1:2], queued, _below(_TEMPLATE, parent))
    served: Mapping[Path, JSON] = {("metadata", "annotations", "kueue.x-k8s.io/pod-group-serving"): "true"}
    offset: Mapping[Path, JSON] = {("metadata", "annotations", "kueue.x-k8s.io/pod-index-offset"): "1"}
    for template in ("leaderTemplate", "workerTemplate"):
        places = {**parent, **labels, **served, **(offset if template == "workerTemplate" else {})}
        pods = ("spec", "leaderWorkerTemplate", template)
        yield Writer("Kueue", _KUEUE, ("leaderworkerset.x-k8s.io/v1 LeaderWorkerSet",), queued, _below(pods, places))


_UPDATER: Final = (
    "argoproj-labs/argocd-image-updater, pkg/argocd: it writes Applications, and reads annotations of these"
)


def _updater() -> Iterator[Writer]:
    marked = {"annotations": {"argocd-image-updater.argoproj.io/image-list": "c=c"}}
    for kinds, pods in ((_APPS, _TEMPLATE), ((_CRON,), _CRON_TEMPLATE)):
        yield Writer("Argo CD Image Updater", _UPDATER, kinds, marked, _below(pods, {**_IMAGE, **_INIT}), writes=False)


def _table() -> Iterator[Any]:
    for writer in (*_keel(), *_openshift(), *_reloader(), *_kueue(), *_updater()):
        for kind in writer.kinds:
            for place, value in writer.places.items():
                named = ".".join(map(str, place))
                name = f"{writer.name}: {kind}, {named}, {json.dumps(writer.metadata)}"
                yield pytest.param(kind, writer.metadata, place, value, writer.writes, id=name)


def _definition(kind: str) -> Definition:
    every = (entry.definition for entry in entries())
    return next(one for one in every if one and f"{one.gvk.api_version} {one.gvk.kind}" == kind)


@rows(("kind", "metadata", "place", "value", "writes"), _table())
def test_place_of_a_writer_is_kept_and_no_other(
    kind: str, metadata: Object, place: Path, value: JSON, writes: bool
) -> None:
    definition = _definition(kind)
    template = with_version({"metadata": metadata, "spec": _SPECS[kind]}, definition.gvk)
    member = set_value(template, place, value)
    edited = set_value(template, ("metadata", "labels", "edited"), "true")

    retained = retained_by(definition, edited, member)

    assert get(retained, place) == (value if writes else get(template, place))
    assert retained["spec"] == (member if writes else template)["spec"]
    assert get(retained, ("metadata", "labels", "edited")) == "true"
    assert retained_by(definition, retained, retained) == retained


def test_template_without_leaders_gets_none() -> None:
    kind = "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet"
    definition = _definition(kind)
    metadata = {"labels": {"kueue.x-k8s.io/queue-name": "q"}}
    member = with_version({"metadata": metadata, "spec": _SPECS[kind]}, definition.gvk)
    noted: Path = ("metadata", "annotations", "kueue.x-k8s.io/pod-suspending-parent")
    member = set_value(member, ("spec", "leaderWorkerTemplate", "leaderTemplate", *noted), "leaderworkerset")
    alone = {"size": 2, "workerTemplate": _PODS}
    template = with_version({"metadata": metadata, "spec": {"leaderWorkerTemplate": alone}}, definition.gvk)

    assert "leaderTemplate" not in retained_by(definition, template, member)["spec"]["leaderWorkerTemplate"]
