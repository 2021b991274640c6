"""Fights on real API servers: what overwrites Karmada's values is named by field and manager, and the line of
`retain` that is named with it ends it.

Each object of the member has a controller of its own that insists on a value, or Kubernetes' own autoscaler, and a
webhook that defaults and overwrites. Karmada's part is that of its objectwatcher: it writes the template through Retain
when the generation of the member's object is not the one that it has written. Legitimate series run next to the fights,
and must not be taken for one.
"""

import copy
import random
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta import catalogue_kinds
from tests.catalogue.writers import ORACLES
from tests.proofs.reality.ours import Ours, RejectedError
from tests.proofs.reality.run import API_SERVERS, Say, running
from tests.proofs.reality.template import prepared, template_of
from tests.proofs.rig import binaries
from tests.proofs.rig.api import ApiError, Object
from tests.proofs.rig.client import Watch
from tests.proofs.rig.cluster import Cluster
from tests.proofs.rig.podstatus import RUNNING
from tests.proofs.rig.webhook import install_webhook
from tests.webhook.answering import writes
from tests.webhook.answering.writes import KINDS, WRITES, pods, setter

_CRDS = Path(__file__).parents[1] / "e2e" / "crds"
_NAMESPACE = "ml"
_RETAIN = "karta-interpreter.io/retain"
_OPEN = GVK("milvus.io", "v1beta1", "Milvus"), GVK("argoproj.io", "v1alpha1", "Rollout")
"""Kinds whose operators write into the object itself, with a CRD that takes any object."""
_REVISION = "rollout.argoproj.io/revision"
_BETWEEN = 4.0, 8.0
"""Seconds between two looks of a controller, and of a user between two edits."""
_LATENCY = 0.5, 1.5
"""Seconds after which Karmada sees a change."""
_LEAST, _MOST = 150.0, 300.0
"""Seconds for which the legitimate series run, and within which fights are to be named."""
_SETTLE, _WATCHED = 15.0, 35.0
"""Seconds after new definitions until their effect is judged, and for which it is: the autoscaler looks every 15."""
_LINES = 5
_LATER = 8
"""The first write of a controller that also changes the later field."""
_BESIDE = "beside a webhook's default"
_NAMED, _ENDED = 0.95, 0.80
_CONFLICT = 409

_KARMADA, _OPERATOR, _AUTOSCALER, _UNKNOWN = (
    "karmada-controller-manager",
    "operator",
    "kube-controller-manager",
    "unknown",
)
_OWN = {"work.karmada.io/name": "w", "work.karmada.io/namespace": "karmada-es-member1"}

Edit = Callable[[Object, int], None]
"""Changes an object; also gets how often it has before."""


@dataclass(eq=False)
class Series:
    """One object, and who writes it.

    ``writes`` is what the member does, ``edit`` what the user does. ``fought`` is the field of a fight, empty for a
    legitimate series, and ``managers`` who may be named for it. ``later`` is a field that the same manager fights about
    from its write `_LATER` on.
    """

    object: Object
    writes: Edit | None = None
    edit: Edit | None = None
    fought: str = ""
    later: str = ""
    managers: tuple[str, ...] = (_OPERATOR,)
    more: tuple[Object, ...] = ()
    """Objects of the member that belong to it."""
    template: Object = field(default_factory=dict)
    moved: int = 0
    """How often Karmada's update has changed the object."""
    rests: bool = False
    """Whether the member has nothing more to write after the first time, since Retain keeps what it has written."""
    wrote: int = 0
    """How often the member has changed the object."""
    errors: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        name: str = self.object["metadata"]["name"]
        return name

    @cached_property
    def kind(self) -> GVK:
        return GVK.of(self.object)

    def begin(self, cluster: Cluster) -> None:
        """Store the object, and create its template in the member."""
        stored = cluster.karmada.request("POST", cluster.karmada.collection(self.object), self.object)
        self.template = template_of(stored)
        self.template["metadata"]["annotations"] |= _OWN
        path = f"{cluster.member.collection(self.object)}?fieldManager={_KARMADA}"
        cluster.member.request("POST", path, self.template)
        for thing in self.more:
            cluster.member.apply(thing)

    def write_as_member(self, cluster: Cluster, live: Object, number: int) -> None:
        """Let the controller do what it does."""
        if self.writes:
            changed = copy.deepcopy(live)
            self.writes(changed, number)
            part = "/status" if changed.get("status") != live.get("status") else ""
            if changed != live:
                path = f"{cluster.member.path(changed)}{part}?fieldManager={_OPERATOR}"
                cluster.member.request("PUT", path, changed)
                self.wrote += 1

    def write_as_karmada(self, cluster: Cluster, ours: Ours, observed: Object) -> int:
        """Write the template through Retain; return the generation of the outcome."""
        desired = prepared(self.template, observed)
        path = f"{cluster.member.path(desired)}?fieldManager={_KARMADA}"
        update = cluster.member.request("PUT", path, ours.retain(desired, observed))
        generation: int = update["metadata"]["generation"]
        self.moved += generation != observed["metadata"]["generation"]
        return generation


@dataclass
class Ring:
    """Runs series on a cluster, each of its two sides in a thread of its own."""

    cluster: Cluster
    ours: Ours
    series: list[Series]
    stopped: threading.Event = field(default_factory=threading.Event)
    live: dict[str, Object] = field(default_factory=dict)
    """The objects of the member by their names."""
    named: dict[str, dict[str, tuple[float, Object]]] = field(default_factory=lambda: defaultdict(dict))
    """By object and field: the time in seconds after which a fight was named, and the line of the log."""

    def start(self) -> None:
        """Create the objects, and let both sides begin."""
        for one in self.series:
            one.begin(self.cluster)
        path = self.cluster.member.collection
        for collection in {path(one.object) for one in self.series}:
            self.cluster.watches[collection] = Watch(self.cluster.member, collection, self._saw).start()
        for one in self.series:
            threading.Thread(target=self._member, args=(one,), daemon=True).start()
            threading.Thread(target=self._karmada, args=(one,), daemon=True).start()

    def read(self, seconds: float) -> None:
        """Take note of the fights that the server has logged."""
        for line in self.ours.server.fights():
            name = line["object"].removeprefix(f"{_NAMESPACE}/")
            self.named[name].setdefault(line["field"], (seconds, line))

    def _saw(self, thing: Object, _: bool) -> None:
        self.live[thing["metadata"]["name"]] = thing

    def _member(self, one: Series) -> None:
        number = 0
        while not self.stopped.wait(random.uniform(*_BETWEEN)):  # noqa: S311
            if live := self.live.get(one.name):
                self._attempt(one, partial(one.write_as_member, self.cluster, live, number))
                number += 1

    def _karmada(self, one: Series) -> None:
        written, number, edit_at = 1, 0, time.monotonic() + _BETWEEN[0]
        while not self.stopped.wait(random.uniform(*_LATENCY)):  # noqa: S311
            if one.edit and time.monotonic() >= edit_at:
                one.edit(one.template, number)
                number, written, edit_at = number + 1, 0, time.monotonic() + random.uniform(*_BETWEEN)  # noqa: S311
            live = self.live.get(one.name)
            if live and live["metadata"]["generation"] != written:
                found = self._attempt(one, partial(one.write_as_karmada, self.cluster, self.ours, live))
                written = written if found is None else found

    def _attempt(self, one: Series, write: Callable[[], int | None]) -> int | None:
        try:
            return write()
        except (ApiError, RejectedError, OSError, HTTPException) as error:
            if not self.stopped.is_set() and not (isinstance(error, ApiError) and error.status == _CONFLICT):
                one.errors.append(str(error)[:300])
            return None


def run_fights(say: Say) -> bool:
    """Run all series on a new cluster; return whether enough fights were named and ended, and no legitimate series."""
    folder = binaries.build_some(API_SERVERS, say, binaries.chosen())
    with TemporaryDirectory(prefix="reality-") as name:
        cluster = Cluster.create(Path(name), folder, {})
        with running(cluster, say):
            cluster.start()
            open_crds = cluster.temporary / "open-crds.yaml"
            open_crds.write_text(yaml.safe_dump_all(map(_open_crd, _OPEN)), encoding="utf-8")
            cluster.install_crds([*sorted(_CRDS.glob("*.yaml")), open_crds])
            cluster.add_namespace(_NAMESPACE)
            cluster.kubelet.want(_NAMESPACE, lambda _: RUNNING)
            ring = Ring(cluster, Ours(cluster.serve()), [*_fights(), *_legitimate()])
            install_webhook(cluster, _NAMESPACE, [one.object for one in ring.series if not one.rests], _mutate)
            try:
                return _judged(ring, say)
            finally:
                ring.stopped.set()


def promise() -> str:
    """Return the sentence of the page about what this proof asks for."""
    fights, others = len([*_fights()]), len([*_legitimate()])
    return (
        f"Of the fights of {fights} other writers with Karmada the server has to name at least {_NAMED:.0%}, "
        f"the lines of `retain` have to end at least {_ENDED:.0%}, and it may name none of {others} legitimate series. "
        "Operators that write into the object itself have nothing to write after the first time."
    ).replace("%", " %")


def _judged(ring: Ring, say: Say) -> bool:
    fights = [one for one in ring.series if one.fought]
    ring.start()
    begun = time.monotonic()
    while (seconds := time.monotonic() - begun) < _MOST:
        ring.read(seconds)
        if seconds >= _LEAST and all(_is_named(ring, one) for one in fights):
            break
        time.sleep(1)
    named = [one for one in fights if _is_named(ring, one)]
    others = [
        f"{one.name}: {found}"
        for one in fights
        for found in ring.named[one.name]
        if found not in (one.fought, one.later)
    ]
    alarms = [
        f"{one.name}: {[*ring.named[one.name]]}" for one in ring.series if not one.fought and ring.named[one.name]
    ]
    restless = [f"{one.name}: {one.wrote} writes" for one in ring.series if one.rests and one.wrote != 1]
    for one in fights:
        at, line = ring.named[one.name].get(one.fought, (0.0, {"manager": "", "retain": ""}))
        say(f"{one.name:<45} {f'{at:4.0f} s' if at else 'unnamed'}  {line['manager']}  {line['retain'] or 'no line'}")
    ended = [one for part in _parts(named) for one in _ended(ring, part)]
    for one in ring.series:
        for error in one.errors[:1]:
            say(f"{one.name}: {len(one.errors)} errors, the first: {error}")
    for what, found in (
        ("not ended", [one.name for one in named if one not in ended]),
        ("other fields", others),
        ("legitimate series that are taken for a fight", alarms),
        ("not at rest", restless),
    ):
        for each in found:
            say(f"{what}: {each}")
    say(
        f"{len(fights)} fights: {len(named)} named, {len(ended)} ended by the lines of `retain`; "
        f"{len(ring.series) - len(fights)} legitimate series: {len(alarms)} named, {len(restless)} not at rest"
    )
    return not alarms and not restless and len(named) >= _NAMED * len(fights) and len(ended) >= _ENDED * len(fights)


def _is_named(ring: Ring, one: Series) -> bool:
    lines = [ring.named[one.name].get(field) for field in (one.fought, one.later) if field]
    return all(line and line[1]["manager"] in one.managers and line[1]["cluster"] == "member1" for line in lines)


def _parts(named: list[Series]) -> Iterator[list[Series]]:
    """Yield some fights of each kind at a time: a definition gets no more lines than a user would add."""
    by_kind: dict[GVK, list[Series]] = defaultdict(list)
    for one in named:
        by_kind[one.kind].append(one)
    for at in range(0, max(map(len, by_kind.values())), _LINES):
        yield [one for fights in by_kind.values() for one in fights[at : at + _LINES]]


def _ended(ring: Ring, fights: list[Series]) -> list[Series]:
    """Add the lines; return the fights in which Karmada's updates succeed, and change nothing any more."""
    lines: dict[GVK, dict[str, None]] = {one.kind: {} for one in fights}
    for one in fights:
        fields = [field for field in (one.fought, one.later) if field]
        lines[one.kind] |= dict.fromkeys(ring.named[one.name][field][1]["retain"] for field in fields)
    for kind, added in lines.items():
        karta = yaml.safe_load(catalogue_kinds()[kind].read_text(encoding="utf-8"))
        annotations = karta["metadata"].setdefault("annotations", {})
        annotations[_RETAIN] = "".join([annotations.get(_RETAIN, ""), *(f"{line}\n" for line in added)])
        ring.cluster.karmada.apply(karta)
    time.sleep(_SETTLE)
    before = {one.name: (one.moved, len(one.errors)) for one in fights}
    time.sleep(_WATCHED)
    return [one for one in fights if (one.moved, len(one.errors)) == before[one.name]]


def _fights() -> Iterator[Series]:
    for kind, (_, path, _) in KINDS.items():
        if kind == "Notebook":  # there is no CRD of it here
            continue
        for name, (change, found) in WRITES.items():
            if kind == "Deployment" and name in _NORMAL:
                continue
            # Whoever removes a field has written what is left of an atomic list, and nothing of another one.
            managers = (_OPERATOR, _UNKNOWN) if name == "a dropped field" else (_OPERATOR,)
            yield Series(_thing(kind, name), _of_pods(kind, change), fought=path + found, managers=managers)
    scaled = _thing("Deployment", "an autoscaler", replicas=2)
    yield Series(scaled, fought=".spec.replicas", managers=(_AUTOSCALER,), more=(_autoscaler(scaled),))
    pinned, image = WRITES["a pinned image"]
    for kind, (number, count) in _COUNTS.items():
        yield Series(_thing(kind, "a replica"), count, fought=number)
        # The pods of a JobSet are in a list without keys.
        both, later = partial(_in_turn, kind, pinned), KINDS[kind][1] + image
        yield Series(_thing(kind, "a later field"), both, fought=number, later=later)
    yield Series(_thing("JobSet", _BESIDE), _COUNTS["JobSet"][1], fought=_COUNTS["JobSet"][0])


def _legitimate() -> Iterator[Series]:
    """Edits, roll-outs, scales, autoscalers that Retain serves, and statuses."""
    for kind, (_, count) in _COUNTS.items():
        yield Series(_thing(kind, "is scaled"), edit=count)
        once = _thing(kind, "is changed once")
        yield Series(once, partial(_once, count))
        both = _thing(kind, "back and forth")
        yield Series(both, edit=partial(_back_and_forth, count))
        image = setter("spec", "containers[]", "image", value=lambda number: f"train:{number % 3}")
        rolled = _thing(kind, "rolls")
        yield Series(rolled, _status, edit=_of_pods(kind, image))
    labelled = _thing("Deployment", "an autoscaler with its label", replicas=2)
    labelled["metadata"]["labels"]["resourcetemplate.karmada.io/retain-replicas"] = "true"
    yield Series(labelled, more=(_autoscaler(labelled),))
    ray = _thing("RayCluster", "its autoscaler", enableInTreeAutoscaling=True)
    yield Series(ray, _COUNTS["RayCluster"][1])
    queued = _thing("JobSet", "a queue")
    queued["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "q"
    yield Series(queued, lambda thing, number: thing["spec"].update(suspend=number % 2 == 0))
    yield from _resting()


def _resting() -> Iterator[Series]:
    """Operators that write their own defaults, and a number over one of the template, while the user edits."""
    milvus = {"apiVersion": "milvus.io/v1beta1", "kind": "Milvus", "spec": {"mode": "cluster", "components": {}}}
    image = setter("spec", "components", "image", value=lambda number: f"milvus:{number % 3}")
    yield Series(_named(milvus, "its operator"), _milvus_defaults, edit=image, rests=True)
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "main", "image": "train"}]}}
    spec = {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "strategy": {"canary": {}}, "template": template}
    rollout = _named({"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "spec": spec}, "exported")
    rollout["metadata"]["annotations"] = {_REVISION: "7"}
    yield Series(rollout, _revision, edit=_replicas, rests=True)


def _named(thing: Object, name: str) -> Object:
    return {**thing, "metadata": {"name": _slug(f"{thing['kind']} {name}"), "namespace": _NAMESPACE}}


def _milvus_defaults(thing: Object, _: int) -> None:
    thing.update(ORACLES["milvus_defaults"](copy.deepcopy(thing)))


def _revision(thing: Object, _: int) -> None:
    thing["metadata"]["annotations"][_REVISION] = "8"


def _open_crd(gvk: GVK) -> Object:
    """Return a CRD that takes any object of a kind."""
    plural = f"{gvk.kind.lower()}s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": gvk.version, "served": True, "storage": True, "schema": schema, "subresources": {"status": {}}}
    spec = {
        "group": gvk.group,
        "names": {"kind": gvk.kind, "plural": plural},
        "scope": "Namespaced",
        "versions": [version],
    }
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    return {**kind, "metadata": {"name": f"{plural}.{gvk.group}"}, "spec": spec}


def _thing(kind: str, name: str, **spec: object) -> Object:
    made = writes.template(kind, **spec)
    made["metadata"] |= {"name": _slug(f"{kind} {name}"), "namespace": _NAMESPACE}
    if kind == "Deployment" and "replicas" not in spec:
        made["spec"] |= {"replicas": 0}
    return made


def _of_pods(kind: str, change: Edit) -> Edit:
    return lambda thing, number: change(pods(kind, thing), number)


def _mutate(thing: Object) -> None:
    """Default a field of the pods that no series is about, and overwrite one of the template."""
    pod = pods(thing["kind"], thing)
    # The jobs of a JobSet have no keys here: a webhook's part of them belongs to the controller, too.
    is_whole = thing["kind"] == "JobSet"
    if not is_whole or thing["metadata"]["name"] == _slug(f"JobSet {_BESIDE}"):
        pod["spec"].setdefault("automountServiceAccountToken", False)
    if not is_whole:
        pod.setdefault("metadata", {}).setdefault("annotations", {})["team"] = "platform"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower())


def _autoscaler(thing: Object) -> Object:
    target = {"apiVersion": thing["apiVersion"], "kind": thing["kind"], "name": thing["metadata"]["name"]}
    cpu = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
    spec = {"scaleTargetRef": target, "minReplicas": 4, "maxReplicas": 5, "metrics": [cpu]}
    metadata = {"name": target["name"], "namespace": _NAMESPACE}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata, "spec": spec}


def _status(thing: Object, number: int) -> None:
    if number % 2:
        thing["status"] = {**thing.get("status", {}), "observedGeneration": thing["metadata"]["generation"]}


def _back_and_forth(count: Edit, thing: Object, number: int) -> None:
    count(thing, number % 2)


def _once(count: Edit, thing: Object, number: int) -> None:
    if number == 1:
        count(thing, 5)


def _in_turn(kind: str, change: Edit, thing: Object, number: int) -> None:
    _COUNTS[kind][1](thing, number)
    if number >= _LATER:
        change(pods(kind, thing), number)


def _replicas(thing: Object, number: int) -> None:
    thing["spec"]["replicas"] = number % 4 + 1


def _workers(thing: Object, number: int) -> None:
    thing["spec"]["workerGroupSpecs"][0]["replicas"] = number % 4 + 3


def _jobs(thing: Object, number: int) -> None:
    thing["spec"]["replicatedJobs"][0]["replicas"] = number % 4 + 3


_COUNTS: dict[str, tuple[str, Edit]] = {
    "Deployment": (".spec.replicas", _replicas),
    "LeaderWorkerSet": (".spec.replicas", _replicas),
    "RayCluster": (".spec.workerGroupSpecs[].replicas", _workers),
    "JobSet": (".spec.replicatedJobs[].replicas", _jobs),
}
_NORMAL = {"a default of pods"}
"""Of a Deployment both API servers make the same."""
