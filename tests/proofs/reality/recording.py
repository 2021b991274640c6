"""What ``verify --save`` saves of a case after each step, in words that are the same in every run.

A folder of `recorded` has the states of one controller. Ids, random names, addresses, folders and times of a run are
replaced: each step begins ten minutes after the one before, and a state is judged ten minutes after its own step.
"""

import asyncio
import gzip
import json
import re
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from karta_interpreter import Karta
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.clusters.member import WorkloadSelection
from karta_interpreter.clusters.reports import verify_member
from karta_interpreter.definitions.karta import Definition, Known, ReferenceReader, resolved
from karta_interpreter.definitions.sources.api_server import ApiServer
from tests.proofs.reality.case import state_name
from tests.proofs.reality.experiment import Experiment, GoneError
from tests.proofs.reality.findings import Finding, State
from tests.proofs.rig.api import Object
from tests.proofs.rig.cluster import Cluster
from tests.proofs.rig.podstatus import CRASHING
from tests.support.recorded import ABOUT, FOLDER, WORKLOADS

_CONNECTING = threading.Lock()
"""The client writes certificates to files of the process, and cases run in threads."""
NOW = 1_800_000_000
_STEP = 600
_LATER = 3600
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_RANDOM = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|redacted-[0-9a-f]{12}"
    # the suffix that an API server, and most controllers, give to a name, and the minute of a CronJob
    r"|(?<=-)[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9])|(?<=-)\d{8}(?![\w-])"
    # a folder of temporary files that a Go program makes
    r"|(?<=-)\d{8,10}(?=/)"
)
_ADDRESS = re.compile(r"\b10(?:\.\d{1,3}){3}\b")
_FOLDER = re.compile(r"/[\w./-]*/reality-\w+(?=/tmp/)")
_MEASURED = re.compile(r"\b\d+\.\d{3,}(?:ms|\\u00b5s|s)\b")
_VERSION = re.compile(r'("resourceVersion": )"\d+"')
_NODE = re.compile(r'("nodeName": )"[^"]*"')


@dataclass
class Recorder:
    """Records the states of one case. ``begun`` are the times at which its steps began."""

    experiment: Experiment
    states: list[State] = field(default_factory=list)
    begun: list[float] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def begin(self) -> None:
        self.begun.append(float(int(time.time())))

    def record(self, step: str) -> None:
        """Save the state after a step, unless it never rests, or the case was in the same one before."""
        if not self.experiment.steady():
            return
        try:
            self._add(step)
        except GoneError:
            return

    def crash(self) -> None:
        """Record what a workload with running pods is if none of their containers can start any more."""
        if any(pod.get("status", {}).get("phase") == "Running" for pod in self.experiment.pods):
            self.begin()
            self.experiment.want(CRASHING)
            self.record("crash")

    def _add(self, step: str) -> None:
        case = self.experiment.case
        workload, references = _saved(self.experiment)
        if workload is None:
            return
        state = state_name(case, len(self.begun), step)
        same = normalized({"workload": workload}, case.namespace, case.namespace, lambda _: "")
        if same in self._seen:
            return
        self._seen.add(same)
        own = [each for each in references if each["metadata"].get("namespace", case.namespace) == case.namespace]
        text = normalized({"workload": workload, "references": own}, case.namespace, state, self._time)
        document = json.loads(text)
        self.states.append(State(state, document["workload"], tuple(document["references"])))

    def _time(self, text: str) -> str:
        """Return the time at which a step began, by a time within the step."""
        found = datetime.fromisoformat(text).timestamp()
        step = sum(begun <= found for begun in self.begun)
        moment = NOW - _STEP * (len(self.begun) - step + 1) if found <= time.time() else NOW + _LATER
        return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _saved(experiment: Experiment) -> tuple[Object | None, list[Object]]:
    """Return what ``verify --save`` has saved of the object of a case, and what its definition looks up."""
    thing = experiment.live
    definition = Karta.for_object(thing).definition
    selection = WorkloadSelection(experiment.case.namespace, thing["kind"], thing["metadata"]["name"])
    folder = experiment.cluster.folder / "recorded" / experiment.case.namespace
    save_member(experiment.cluster, [definition], selection, folder)
    about = json.loads((folder / ABOUT).read_bytes())
    lines = gzip.decompress((folder / WORKLOADS).read_bytes()).splitlines()
    if not lines:
        return None, []
    workload = json.loads(lines[0])
    return {**workload, "now": NOW}, looked_up(definition, workload["object"], about["references"])


def save_member(
    cluster: Cluster, definitions: Sequence[Definition], selection: WorkloadSelection, folder: Path
) -> None:
    """Do what ``verify --save`` does."""

    async def save() -> None:
        async with ApiServer.of(cluster.kubeconfig) as api:
            await verify_member(api, definitions, selection, folder)

    with _CONNECTING:
        asyncio.run(save())


@dataclass
class _Asked(ReferenceReader):
    """A reader that takes note of the objects that it has given."""

    known: Known
    given: list[Mapping[str, Any]] = field(default_factory=list)

    def get(self, gvk: GVK, namespace: str, name: str) -> Mapping[str, Any] | None:
        found = self.known.get(gvk, namespace, name)
        self.given += [found] if found else []
        return found

    def list(self, gvk: GVK, namespace: str | None) -> Sequence[Mapping[str, Any]]:
        found = self.known.list(gvk, namespace)
        self.given += found
        return found


def looked_up(definition: Definition, thing: Object, references: Sequence[Object]) -> list[Object]:
    """Return those of the saved objects that a definition looks up for an object: `verify` saves all of their kinds."""
    reader = _Asked(Known.of(references, map(GVK.of, references)))
    resolved(definition, thing, reader)
    return [each for each in references if each in reader.given]


def normalized(document: Object, namespace: str, name: str, time_of: Callable[[str], str]) -> str:
    """Return a document as text, without what is another in each run."""
    workload = document["workload"]
    for thing in (workload["object"], *workload["owners"], *workload["pods"]):
        if managed := thing["metadata"].get("managedFields"):
            managed.sort(key=lambda each: (each.get("time", ""), _blank(each)))
    workload["owners"].sort(key=_blank)
    known = _numbers(_text([workload["object"], workload["owners"]]))
    workload["pods"].sort(key=lambda pod: (_blank(pod, known), _text(pod)))
    document.get("references", []).sort(key=_blank)
    text = _text({"object": workload["object"], "owners": workload["owners"], "pods": workload["pods"]})
    numbers = _numbers(text + _text(document))
    text = _RANDOM.sub(lambda match: numbers[match[0]], _text(document))
    return _plain(text, time_of).replace(namespace, name)


def _blank(value: Any, known: Mapping[str, str] | None = None) -> str:
    """Return the text of a value without random parts, except for those that are known."""
    return _plain(_RANDOM.sub(lambda match: (known or {}).get(match[0], ""), _text(value)), lambda _: "")


def _plain(text: str, time_of: Callable[[str], str]) -> str:
    text = _MEASURED.sub("1s", _FOLDER.sub("", _ADDRESS.sub("10.0.0.1", text)))
    text = _NODE.sub(r'\1"node"', _VERSION.sub(r'\1"1"', text))
    return _TIME.sub(lambda match: time_of(match[0]), text)


def _numbers(text: str) -> dict[str, str]:
    """Return a replacement of each random part: a number of the same form."""
    found = dict.fromkeys(_RANDOM.findall(text))
    return {part: _numbered(part, number) for number, part in enumerate(found, 1)}


def _numbered(part: str, number: int) -> str:
    if part.startswith("redacted-"):
        return f"redacted-{number:012}"
    if part.isdigit():
        return f"{10_000_000 + number}"
    return f"00000000-0000-0000-0000-{number:012}" if "-" in part else f"z{number:04}"


def _identity(thing: Object) -> tuple[str, ...]:
    metadata = thing["metadata"]
    return thing["apiVersion"], thing["kind"], metadata.get("namespace", ""), metadata["name"]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def differences(states: Sequence[State], folder: Path, racing: Collection[str] = ()) -> Iterator[Finding]:
    """Yield the states of a case that are not what the committed folder of its controller has, if there is one.

    A step that leaves a case in one of its other states has a record in one run and none in another. Those that are
    ``racing`` are not compared.
    """
    if not folder.is_dir():
        return
    cases = {_case_of(state.name) for state in states}
    found = {state.name: outline(state.workload) for state in states}
    known = {name: outline(each) for name, each in _written(folder).items() if _case_of(name) in cases}
    everywhere = {(_case_of(name), now) for name, now in found.items()} & {
        (_case_of(name), before) for name, before in known.items()
    }
    for name in sorted((found.keys() | known.keys()) - set(racing)):
        before, now = known.get(name), found.get(name)
        one_sided = before is None or now is None
        if before == now or (one_sided and (_case_of(name), before or now) in everywhere):
            continue
        yield Finding(f"recorded {name}", f"{before or 'nothing'} was recorded, {now or 'nothing'} is there now")


def _case_of(state: str) -> str:
    return state.partition(".")[0]


def outline(workload: Object) -> str:
    """Return what is the same in every run: the pods by state, the objects between, and the writers of the spec."""
    pods, kinds = Counter(map(_state_of, workload["pods"])), Counter(each["kind"] for each in workload["owners"])
    managed = workload["object"]["metadata"].get("managedFields", ())
    writers = {each["manager"]: sorted(each["fieldsV1"].get("f:spec", ())) for each in managed}
    return str([sorted(pods.items()), sorted(kinds.items()), sorted(writers.items())])


def _state_of(pod: Object) -> tuple[str, bool, bool]:
    status, metadata = pod.get("status") or {}, pod["metadata"]
    conditions = {each["type"]: each["status"] for each in status.get("conditions") or ()}
    return str(status.get("phase")), conditions.get("Ready") == "True", "deletionTimestamp" in metadata


def _written(folder: Path) -> dict[str, Object]:
    """Return the workloads of a folder by the name of their state."""
    file = folder / WORKLOADS
    lines = gzip.decompress(file.read_bytes()).splitlines() if file.exists() else ()
    workloads = map(json.loads, lines)
    return {each["object"]["metadata"]["namespace"]: each for each in workloads}


def write(name: str, states: Iterable[State], folder: Path = FOLDER) -> None:
    """Write the folder of a controller's states, which ``verify`` reads."""
    states = sorted(states, key=lambda state: state.name)
    # What has no namespace is the same object in all states.
    references = {_identity(each): each for state in states for each in state.references}
    target = folder / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    about = {"format": "karta-interpreter-member", "version": 1, "time": NOW, "problems": [], "crds": []}
    (target / ABOUT).write_text(
        json.dumps({**about, "references": list(references.values())}, separators=(",", ":")) + "\n", encoding="utf-8"
    )
    lines = (json.dumps(state.workload, separators=(",", ":"), sort_keys=True) for state in states)
    content = "".join(f"{line}\n" for line in lines).encode()
    (target / WORKLOADS).write_bytes(gzip.compress(content, 9, mtime=0))
