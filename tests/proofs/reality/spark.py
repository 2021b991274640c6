"""Spark, as its operator sees it: a spark-submit that makes drivers, and drivers that make executors when they run.

The amounts follow BasicDriverFeatureStep, BasicExecutorFeatureStep and ResourceProfile of Spark 4.0.
"""

import copy
import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from pathlib import Path

import yaml

from tests.proofs.rig.api import ApiError, Object
from tests.proofs.rig.client import Client, Watch
from tests.proofs.rig.podstatus import ENDED, RUNNING
from tests.support.serving import answer, start

_SCRIPT = """#!{python} -SE
import http.client, json, sys
connection = http.client.HTTPConnection("127.0.0.1", {port})
connection.request("POST", "/", json.dumps(sys.argv[1:]))
sys.exit(connection.getresponse().read().decode() or 0)
"""
_CONFLICT = 409
_MIB = 2**20
_UNITS = {"b": 1, "k": 2**10, "m": _MIB, "g": 2**30, "t": 2**40, "p": 2**50}
_SIZE = re.compile(r"(\d+)([kmgtp]?b?)")
_ROLE, _SELECTOR, _ID = "spark-role", "spark-app-selector", "spark-exec-id"
_FACTOR = "spark.kubernetes.memoryOverheadFactor"
_DRIVERS = {"driver", "connect-server"}
_NOT_OF_THE_JVM = (".py", ".R", ".r")

Settings = Mapping[str, str]


@dataclass
class Driver:
    """What a driver knows: the settings of its application, and the executors that it has made."""

    settings: Settings
    template: Object
    selector: str
    factor: str
    python: bool = False
    made: int = 0


@dataclass
class Spark:
    """The drivers on the member, by namespace and name of their pods."""

    member: Client
    drivers: dict[tuple[str, str], Driver] = field(default_factory=dict)
    pods: dict[str, Object] = field(default_factory=dict)
    submissions: "Counter[tuple[str, str]]" = field(default_factory=Counter)

    def install(self, home: Path) -> Path:
        """Put a spark-submit into a folder, as SPARK_HOME has it; return the folder."""
        port = start(_Handler, spark=self)
        program = home / "bin" / "spark-submit"
        program.parent.mkdir(parents=True)
        program.write_text(_SCRIPT.format(python=sys.executable, port=port), encoding="utf-8")
        program.chmod(0o755)
        Watch(self.member, "/api/v1/pods", self.saw).start()
        return home

    def submit(self, arguments: Sequence[str]) -> str:
        """Make the pod of a driver; return what spark-submit says of an error."""
        settings = settings_of(arguments)
        name, namespace = settings["spark.kubernetes.driver.pod.name"], settings["spark.kubernetes.namespace"]
        self.submissions[namespace, name] += 1
        selector = f"spark-{name}-{self.submissions[namespace, name]}"
        program = program_of(arguments)
        of_the_jvm = not program.endswith(_NOT_OF_THE_JVM)
        pod = driver_pod(settings, _template(settings, "driver"), of_the_jvm=of_the_jvm)
        pod["metadata"] |= {"name": name, "namespace": namespace}
        pod["metadata"]["labels"][_SELECTOR] = selector
        executors, factor = _template(settings, "executor"), factor_of(settings, of_the_jvm=of_the_jvm)
        self.drivers[namespace, name] = Driver(settings, executors, selector, factor, program.endswith(".py"))
        try:
            self.member.request("POST", self.member.collection(pod), pod)
        except ApiError as error:
            return f"AlreadyExists: {error}" if error.status == _CONFLICT else str(error)
        return ""

    def saw(self, pod: Object, exists: bool) -> None:
        """Have the driver of a pod that changed make and remove executors."""
        metadata = pod["metadata"]
        role = metadata.get("labels", {}).get(_ROLE)
        if role is None:
            return
        if exists:
            self.pods[metadata["uid"]] = pod
        else:
            self.pods.pop(metadata["uid"], None)
        owners = {owner["uid"] for owner in metadata.get("ownerReferences", ())} | {metadata["uid"]}
        for driver in [self.pods[uid] for uid in owners if uid in self.pods]:
            if driver["metadata"]["labels"][_ROLE] in _DRIVERS:
                with suppress(ApiError, OSError):
                    self._act(driver)

    def _act(self, pod: Object) -> None:
        metadata, phase = pod["metadata"], pod.get("status", {}).get("phase")
        executors = [one for one in self.pods.values() if _is_executor_of(metadata["uid"], one)]
        if phase in ENDED or "deletionTimestamp" in metadata:
            # The garbage collector leaves them: a SparkApplication is their owner, too.
            for executor in executors:
                self.member.delete(executor)
        elif phase == RUNNING:
            driver = self._driver(pod)
            alive = sum(one.get("status", {}).get("phase") not in ENDED for one in executors)
            for _ in range(alive, executors_at_first(driver.settings)):
                self._make(pod, driver)

    def _driver(self, pod: Object) -> Driver:
        metadata = pod["metadata"]
        if metadata["labels"][_ROLE] == "driver":
            return self.drivers[metadata["namespace"], metadata["name"]]
        key = metadata["namespace"], metadata["uid"]
        if key not in self.drivers:
            self.drivers[key] = self._connected(pod)
        return self.drivers[key]

    def _connected(self, pod: Object) -> Driver:
        """Return the driver in a server's pod, which has its settings as arguments and a template in a ConfigMap."""
        container = next(one for one in pod["spec"]["containers"] if one.get("command") == ["bash", "-c"])
        settings = settings_of(shlex.split(container["args"][0]))
        maps = {volume["configMap"]["name"] for volume in pod["spec"]["volumes"] if "configMap" in volume}
        root = f"/api/v1/namespaces/{pod['metadata']['namespace']}/configmaps"
        found = [self.member.request("GET", f"{root}/{name}")["data"] for name in sorted(maps)]
        texts = [text for data in found for name, text in data.items() if name.endswith("template.yaml")]
        template = (
            yaml.safe_load(texts[0]) if texts and "spark.kubernetes.executor.podTemplateFile" in settings else None
        )
        return Driver(settings, template or {}, f"spark-{pod['metadata']['uid']}", factor_of(settings, of_the_jvm=True))

    def _make(self, pod: Object, driver: Driver) -> None:
        driver.made += 1
        executor = executor_pod(driver.settings, driver.template, factor=driver.factor, python=driver.python)
        prefix = driver.settings.get("spark.kubernetes.executor.podNamePrefix", driver.selector)
        metadata = executor["metadata"]
        metadata |= {"name": f"{prefix}-exec-{driver.made}", "namespace": pod["metadata"]["namespace"]}
        metadata["labels"] |= {_SELECTOR: driver.selector, _ID: str(driver.made)}
        owner = {"apiVersion": "v1", "kind": "Pod", "controller": True}
        owner |= {name: pod["metadata"][name] for name in ("name", "uid")}
        metadata["ownerReferences"] = [*metadata.get("ownerReferences", ()), owner]
        made = self.member.request("POST", self.member.collection(executor), executor)
        self.pods[made["metadata"]["uid"]] = made


def settings_of(arguments: Sequence[str]) -> Settings:
    """Return the settings in the arguments of Spark's programs."""
    return dict(value.split("=", 1) for flag, value in pairwise(arguments) if flag == "--conf")


def program_of(arguments: Sequence[str]) -> str:
    """Return the file of the application, which is the first argument without a flag."""
    for flag in arguments[::2]:
        if not flag.startswith("--"):
            return flag
    return arguments[-1]


def driver_pod(settings: Settings, template: Object, *, of_the_jvm: bool) -> Object:
    """Return the pod of a driver, without a name."""
    memory = _mebibytes(settings.get("spark.driver.memory", "1g"))
    factor = settings.get("spark.driver.memoryOverheadFactor") or factor_of(settings, of_the_jvm=of_the_jvm)
    overhead = _overhead(settings, "driver", memory, factor)
    pod = _pod(settings, template, "driver", memory + overhead)
    account = settings.get("spark.kubernetes.authenticate.driver.serviceAccountName")
    if account:
        pod["spec"]["serviceAccountName"] = account
    return pod


def factor_of(settings: Settings, *, of_the_jvm: bool) -> str:
    """Return the share of their memory that pods have as overhead, which a driver hands on to its executors."""
    return settings.get(_FACTOR) or ("0.1" if of_the_jvm else "0.4")


def executor_pod(settings: Settings, template: Object, *, factor: str, python: bool) -> Object:
    """Return the pod of an executor, without a name."""
    memory = _mebibytes(settings.get("spark.executor.memory", "1g"))
    overhead = _overhead(settings, "executor", memory, settings.get("spark.executor.memoryOverheadFactor") or factor)
    of_python = _mebibytes(settings.get("spark.executor.pyspark.memory", "0")) if python else 0
    pod = _pod(settings, template, "executor", memory + overhead + of_python + _off_heap(settings))
    accounts = (
        settings.get(f"spark.kubernetes.authenticate.{role}.serviceAccountName") for role in ("executor", "driver")
    )
    account = next(filter(None, accounts), None)
    if account and not pod["spec"].get("serviceAccount"):
        pod["spec"]["serviceAccountName"] = account
    return pod


def executors_at_first(settings: Settings) -> int:
    instances = settings.get("spark.executor.instances")
    if settings.get("spark.dynamicAllocation.enabled") != "true":
        return int(instances or 2)
    least = settings.get("spark.dynamicAllocation.minExecutors", "0")
    return max(int(least), int(settings.get("spark.dynamicAllocation.initialExecutors", least)), int(instances or 0))


def _overhead(settings: Settings, role: str, memory: int, factor: str) -> int:
    said = settings.get(f"spark.{role}.memoryOverhead")
    if said:
        return _mebibytes(said)
    return max(int(memory * float(factor)), _mebibytes(settings.get(f"spark.{role}.minMemoryOverhead", "384m")))


def _off_heap(settings: Settings) -> int:
    is_used = settings.get("spark.memory.offHeap.enabled") == "true"
    return _mebibytes(settings.get("spark.memory.offHeap.size", "0"), "b") if is_used else 0


def _mebibytes(text: str, unit: str = "m") -> int:
    found = _SIZE.fullmatch(text.lower())
    if found is None:
        raise ValueError(f"{text!r} is not a size")
    number, written = found.groups()
    return int(number) * _UNITS[(written or unit)[0]] // _MIB


def _template(settings: Settings, role: str) -> Object:
    file = settings.get(f"spark.kubernetes.{role}.podTemplateFile")
    return yaml.safe_load(Path(file).read_text(encoding="utf-8")) if file else {}


def _pod(settings: Settings, template: Object, role: str, memory: int) -> Object:
    pod: Object = {"apiVersion": "v1", "kind": "Pod", **copy.deepcopy(template)}
    prefix = f"spark.kubernetes.{role}"
    spec, metadata = pod.setdefault("spec", {}), pod.setdefault("metadata", {})
    metadata["labels"] = {**(metadata.get("labels") or {}), **_below(settings, f"{prefix}.label."), _ROLE: role}
    metadata["annotations"] = {**(metadata.get("annotations") or {}), **_below(settings, f"{prefix}.annotation.")}
    own, others = _containers(spec.get("containers") or [{}], f"spark-kubernetes-{role}")
    image = settings.get(f"{prefix}.container.image") or settings.get("spark.kubernetes.container.image")
    own |= {"image": image, "resources": _resources(settings, own.get("resources") or {}, role, memory)}
    own.setdefault("name", f"spark-kubernetes-{role}")
    own["env"] = [*own.get("env", ()), *_environment(settings, role)]
    spec |= {"containers": [*others, own], "restartPolicy": "Never"}
    spec["nodeSelector"] = {
        **spec.get("nodeSelector", {}),
        **_below(settings, "spark.kubernetes.node.selector."),
        **_below(settings, f"{prefix}.node.selector."),
    }
    secrets = filter(None, settings.get("spark.kubernetes.container.image.pullSecrets", "").split(","))
    spec["imagePullSecrets"] = [*spec.get("imagePullSecrets", ()), *({"name": name} for name in secrets)]
    spec["volumes"] = [*spec.get("volumes", ()), *_volumes(settings, prefix)]
    return pod


def _containers(containers: Sequence[Object], name: str) -> tuple[Object, list[Object]]:
    """Return the container of Spark, which is the first one unless one has its name, and the others."""
    own = next((one for one in containers if one.get("name") == name), containers[0])
    return own, [one for one in containers if one is not own]


def _resources(settings: Settings, resources: Object, role: str, memory: int) -> Object:
    cores = settings.get(f"spark.{role}.cores", "1")
    cpu = settings.get(f"spark.kubernetes.{role}.request.cores", cores)
    limits = {"memory": f"{memory}Mi"}
    limit = settings.get(f"spark.kubernetes.{role}.limit.cores")
    if limit:
        limits["cpu"] = limit
    for key, vendor in settings.items():
        found = re.fullmatch(rf"spark\.{role}\.resource\.(\w+)\.vendor", key)
        if found:
            amount = settings.get(f"spark.{role}.resource.{found[1]}.amount", "0")
            limits[f"{vendor}/{found[1]}"] = amount
    return {
        **resources,
        "requests": {**(resources.get("requests") or {}), "cpu": cpu, "memory": f"{memory}Mi"},
        "limits": {**(resources.get("limits") or {}), **limits},
    }


def _environment(settings: Settings, role: str) -> list[Object]:
    plain = "spark.kubernetes.driverEnv." if role == "driver" else "spark.executorEnv."
    found: list[Object] = [{"name": name, "value": value} for name, value in _below(settings, plain).items()]
    for name, value in _below(settings, f"spark.kubernetes.{role}.secretKeyRef.").items():
        secret, key = value.split(":")
        found.append({"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}})
    return found


def _volumes(settings: Settings, prefix: str) -> list[Object]:
    found = [
        {"name": f"{name}-volume", "secret": {"secretName": name}} for name in _below(settings, f"{prefix}.secrets.")
    ]
    claims = f"{prefix}.volumes.persistentVolumeClaim."
    for key, value in _below(settings, claims).items():
        name, _, option = key.partition(".")
        if option == "options.claimName":
            found.append({"name": name, "persistentVolumeClaim": {"claimName": value}})
    return found


def _below(settings: Settings, prefix: str) -> dict[str, str]:
    return {key.removeprefix(prefix): value for key, value in settings.items() if key.startswith(prefix)}


def _is_executor_of(uid: str, pod: Object) -> bool:
    metadata = pod["metadata"]
    return metadata["labels"][_ROLE] == "executor" and any(
        owner["uid"] == uid for owner in metadata.get("ownerReferences", ())
    )


class _Handler(BaseHTTPRequestHandler):
    spark: Spark

    def do_POST(self) -> None:
        arguments = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            said = self.spark.submit(arguments)
        except (OSError, ValueError, LookupError) as error:
            said = repr(error)
        answer(self, said.encode(), "text/plain")
