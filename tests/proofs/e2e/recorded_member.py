"""A member without controllers that has what real ones have made: the recorded states of ``make reality``.

Each state has a namespace of its own. The API server gives the UIDs, so an object is created after its owners, which it
names by those.
"""

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple, Self, TypeVar

from tests.proofs.rig import commands
from tests.proofs.rig.api import ApiError, Object, named, until
from tests.proofs.rig.client import Client
from tests.proofs.rig.kubeconfig import write_kubeconfig
from tests.proofs.rig.layout import Layout
from tests.proofs.rig.processes import Processes
from tests.support.plurals import plural
from tests.support.recorded import ABOUT, FOLDER, WORKLOADS

T = TypeVar("T")
R = TypeVar("R")

_NAME = "member1"
_WRITERS = 4
_OF_SERVER = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "finalizers")
_OTHER_VERSIONS = {("ray.io", "RayJob"): "v1alpha1", ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): "v1alpha1"}
"""Versions that the member serves in addition to the recorded ones."""


class State(NamedTuple):
    """What a controller had made of one workload: the recorded objects, the workload first, with owners before pods."""

    controller: str
    objects: tuple[Object, ...]

    @property
    def workload(self) -> Object:
        return self.objects[0]

    @property
    def kind(self) -> str:
        """The version and the kind of the workload."""
        return f"{self.workload['apiVersion']}/{self.workload['kind']}"

    @property
    def namespace(self) -> str:
        """Its namespace on the member. The recorded one is not a valid name."""
        return self.recorded_namespace.replace(".", "-")

    @property
    def recorded_namespace(self) -> str:
        return str(self.workload["metadata"]["namespace"])


_REDACTED_POLICY: Final = re.compile(r'"\w+Policy": "redacted-\d+", |, "\w+Policy": "redacted-\d+"')
"""A choice of a pod that no operation reads, and so is not in the recording: the API server has a default for it."""


_REFUSALS: Final = {400, 422}
_MARK: Final = "redacted-"
_OF_SOURCES: Final = {"kruise-main", "kthena", "minicluster", "rbg"}
"""Controllers whose states lack times and choices that an API server judges: their redaction was stricter."""


def states() -> Iterator[State]:
    """Yield the recorded states that an API server takes."""
    for folder in sorted(folder for folder in FOLDER.iterdir() if folder.name not in _OF_SOURCES):
        for line in gzip.decompress((folder / WORKLOADS).read_bytes()).splitlines():
            saved = json.loads(line)
            objects = (saved["object"], *saved["owners"], *saved["pods"])
            # A pod that is the workload is among its pods, too.
            yield State(folder.name, tuple({obj["metadata"]["uid"]: obj for obj in objects}.values()))


def references() -> Iterator[Object]:
    """Yield the objects that definitions look up for the states, each once."""
    found: dict[tuple[str, str, str], Object] = {}
    for folder in sorted(FOLDER.iterdir()):
        for obj in json.loads((folder / ABOUT).read_bytes())["references"]:
            found[obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]] = obj
    yield from map(_readable, found.values())


def _readable(value: Any) -> Any:
    """Return a value without what the recording left out, but for images, which an API server wants."""
    if isinstance(value, list):
        return [*map(_readable, value)]
    if not isinstance(value, dict):
        return value
    fields = {name: _readable(field) for name, field in value.items()}
    return {name: field for name, field in fields.items() if name == "image" or not str(field).startswith(_MARK)}


@dataclass
class RecordedMember:
    """A running API server, with the states that it has."""

    layout: Layout
    processes: Processes
    api: Client
    states: list[State] = field(default_factory=list)

    @classmethod
    def create(cls, folder: Path, binaries: Path) -> Self:
        """Lay out the files; nothing runs yet."""
        layout = Layout.create(folder, binaries)
        api = Client(_NAME, layout.ports[_NAME], layout.context())
        return cls(layout, Processes(folder / "log"), api)

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of an administrator."""
        return write_kubeconfig(self.layout.folder / "member.config", self.api.port, self.layout.authority)

    @property
    def audit_log(self) -> Path:
        """What ServiceAccounts ask, a JSON object for each request."""
        return self.layout.folder / "audit.log"

    def start(self) -> None:
        policy = self.layout.folder / "audit.yaml"
        rules = [{"level": "Metadata", "userGroups": ["system:serviceaccounts"]}, {"level": "None"}]
        written = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": rules}
        policy.write_text(json.dumps(written), encoding="utf-8")
        auditing = {"audit-policy-file": str(policy), "audit-log-path": str(self.audit_log)}
        self.processes.start("etcd", *commands.command(self.layout, "etcd"))
        self.processes.start("apiserver", *commands.api_server(self.layout, _NAME, **auditing))
        until("the member is ready", self.api.ready)

    def load(self) -> None:
        """Create everything that was recorded."""
        self.states = [*states()]
        shared = [*references()]
        for crd in _crds([*shared, *(obj for state in self.states for obj in state.objects)]):
            self.api.apply(crd)
        self.for_each(self.api.add_namespace, sorted({state.namespace for state in self.states}))
        self.for_each(self._add_reference, shared)
        refused = {id(state) for state in self.for_each(self._refused, self.states) if state}
        self.states = [state for state in self.states if id(state) not in refused]

    def _refused(self, state: State) -> State | None:
        """Create a state. Return it if the redaction took what the API server judges, such as an address."""
        try:
            self.add(state)
        except ApiError as error:
            if error.status in _REFUSALS and "redacted-" in error.message:
                return state
            raise
        return None

    def stop(self) -> None:
        self.api.close()
        self.processes.stop_all()

    def for_each(self, function: Callable[[T], R], values: Sequence[T]) -> list[R]:
        """Call a function for each value, in several threads, and return the results in some order."""

        def work(share: Sequence[T]) -> list[R]:
            try:
                return list(map(function, share))
            finally:
                self.api.close()

        with ThreadPoolExecutor(_WRITERS) as pool:
            shares = pool.map(work, (values[number::_WRITERS] for number in range(_WRITERS)))
            return list(chain.from_iterable(shares))

    def create_object(self, obj: Object, namespace: str) -> Object:
        """Create an object as a controller does, then write its status, and return it."""
        metadata = {key: value for key, value in obj["metadata"].items() if key not in _OF_SERVER}
        wanted = {**obj, "metadata": {**metadata, "namespace": namespace}}
        if wanted["kind"] == "Job" and wanted["apiVersion"] == "batch/v1":
            # Else the API server makes a selector of its own from the new UID.
            wanted["spec"] = {**wanted["spec"], "manualSelector": True}
        until(f"{wanted['kind']} is served", partial(self.api.collection, wanted))
        created: Object = self.api.request("POST", self.api.collection(wanted), wanted)
        if "status" in obj and _is_built_in(obj):
            created = self.api.put_status(
                created | {"apiVersion": obj["apiVersion"], "kind": obj["kind"]}, obj["status"]
            )
        return created

    def _add_reference(self, obj: Object) -> None:
        self.create_object(obj, obj["metadata"].get("namespace", "").replace(".", "-"))

    def add(self, state: State, namespace: str = "", suffix: str = "") -> None:
        """Create the objects of a state in a namespace, by default its own, with a suffix to each name."""
        namespace = namespace or state.namespace
        uids: dict[str, str] = {}
        pending = list(state.objects)
        while pending:
            obj = next(obj for obj in pending if not _owners(obj) & {each["metadata"]["uid"] for each in pending})
            pending.remove(obj)
            text = _REDACTED_POLICY.sub("", json.dumps(_at_first_generation(obj))).replace(
                state.recorded_namespace, namespace
            )
            for before, now in uids.items():
                text = text.replace(before, now)
            renamed = json.loads(text)
            renamed["metadata"]["name"] += suffix
            uids[obj["metadata"]["uid"]] = self.create_object(renamed, namespace)["metadata"]["uid"]


def _owners(obj: Object) -> set[str]:
    return {owner["uid"] for owner in obj["metadata"].get("ownerReferences", ())}


def _is_built_in(obj: Object) -> bool:
    return "." not in str(obj["apiVersion"]).partition("/")[0]


def _at_first_generation(obj: Object) -> Object:
    """Return an object whose controller has seen as many generations less as it has now: a new object has the first."""
    fewer = obj["metadata"].get("generation", 1) - 1
    return {**obj, "status": _with_fewer(obj["status"], fewer)} if fewer and "status" in obj else obj


def _with_fewer(value: object, fewer: int) -> object:
    if isinstance(value, list):
        return [_with_fewer(item, fewer) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: max(item - fewer, 0) if key == "observedGeneration" and isinstance(item, int) else _with_fewer(item, fewer)
        for key, item in value.items()
    }


def _crds(objects: Iterable[Object]) -> Iterator[Object]:
    """Yield a CRD for each kind of these objects that Kubernetes has not."""
    by_kind: dict[tuple[str, str], list[Object]] = defaultdict(list)
    for obj in objects:
        if not _is_built_in(obj):
            by_kind[str(obj["apiVersion"]).partition("/")[0], str(obj["kind"])].append(obj)
    for (group, kind), of_kind in by_kind.items():
        versions = sorted({str(obj["apiVersion"]).partition("/")[2] for obj in of_kind})
        other = [_OTHER_VERSIONS[group, kind]] if (group, kind) in _OTHER_VERSIONS else []
        yield _crd(group, kind, [*other, *versions], namespaced="namespace" in of_kind[0]["metadata"])


def _crd(group: str, kind: str, versions: list[str], *, namespaced: bool) -> Object:
    """Return a CRD that takes any object. The last version is the stored one."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = [{"name": name, "served": True, "storage": name == versions[-1], "schema": schema} for name in versions]
    names = {"kind": kind, "plural": plural(kind)}
    scope = "Namespaced" if namespaced else "Cluster"
    definition = named("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"{names['plural']}.{group}")
    definition["metadata"]["annotations"] = {"api-approved.kubernetes.io": "unapproved, for a test"}
    return definition | {"spec": {"group": group, "names": names, "scope": scope, "versions": served}}
