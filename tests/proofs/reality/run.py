"""Run cases, some at a time, on clusters with the controllers that they need."""

import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.proofs.reality.case import Case, numbers
from tests.proofs.reality.controller import Controller
from tests.proofs.reality.experiment import Experiment
from tests.proofs.reality.findings import Finding, Outcome
from tests.proofs.reality.ours import Ours
from tests.proofs.reality.programs import build
from tests.proofs.reality.recording import Recorder
from tests.proofs.reality.schemas import compare_schemas
from tests.proofs.reality.steps import run_step
from tests.proofs.rig import binaries
from tests.proofs.rig.activity import StoppedError
from tests.proofs.rig.api import ApiError
from tests.proofs.rig.cluster import Cluster
from tests.proofs.rig.processes import listens
from tests.proofs.rig.toolchain import locked

Say = Callable[[str], None]

_AT_A_TIME = 12
API_SERVERS = ("etcd", "kube-apiserver", "kube-controller-manager")
_GROUPS = {"feature-gates": "GenericWorkload=true", "runtime-config": "scheduling.k8s.io/v1beta1=true"}
"""Has an API server take PodGroups and pods that name one, which it does not by itself."""
_GROUPS_SINCE = (1, 37)


class RunError(Exception):
    """A controller cannot be started, or has ended."""


def rounds(controllers: Sequence[Controller]) -> list[list[Controller]]:
    """Divide controllers so that no two in a round want the same port, nor one of them to be alone.

    Those that a controller needs are in its round.
    """
    divided: list[list[Controller]] = []
    for controller in controllers:
        fitting = (one for one in divided if _fits(controller, one))
        found = next(fitting, None)
        if found is None:
            divided.append([controller])
        else:
            found.append(controller)
    return divided


def with_needed(controllers: Iterable[Controller], known: Sequence[Controller]) -> list[Controller]:
    """Return controllers with those that they need, in the order of ``known``."""
    wanted = {controller.name for controller in controllers}
    wanted |= {name for controller in known if controller.name in wanted for name in controller.needs}
    return [controller for controller in known if controller.name in wanted]


def run_round(controllers: Sequence[Controller], cases: Sequence[Case], say: Say) -> list[Outcome]:
    """Run cases on a new cluster with these controllers; raises BuildError or RunError."""
    versions = binaries.chosen()
    folder = binaries.build_some(API_SERVERS, say, versions)
    programs = build([program for controller in controllers for program in controller.programs], say)
    lock = binaries.NEWEST.folder / "reality" / "ports"
    with ports_taken(controllers, lock), TemporaryDirectory(prefix="reality-") as name:
        cluster = Cluster.create(Path(name), folder, programs)
        with running(cluster, say):
            ours = _start(cluster, controllers, numbers(versions.kubernetes), say)
            outcomes = [*compare_schemas(cluster.crds, controllers), *_run(cluster, ours, cases, say)]
            outcomes += _taken_for_fights(ours, cases)
            for process in cluster.processes.running.values():
                if not process.alive:
                    raise RunError(f"{process.name} has ended by itself")
            if cluster.kubelet.errors:
                say(f"the kubelet met {len(cluster.kubelet.errors)} errors, the last: {cluster.kubelet.errors[-1]}")
            return outcomes


@contextmanager
def ports_taken(controllers: Sequence[Controller], lock: Path) -> Iterator[None]:
    """Wait for another run that uses such ports; raises RunError where another program does."""
    if not _ports(controllers):
        yield
        return
    with locked(lock):
        for controller in controllers:
            for port in filter(listens, controller.ports):
                raise RunError(f"port {port} is in use, and {controller.name} listens on no other: stop what uses it")
        yield


@contextmanager
def running(cluster: Cluster, say: Say) -> Iterator[None]:
    """Stop a cluster after a block, and show what its programs said last where it fails."""
    try:
        yield
    except Exception:
        say(cluster.processes.tails())
        raise
    finally:
        cluster.stop()


def _start(cluster: Cluster, controllers: Sequence[Controller], release: tuple[int, ...], say: Say) -> Ours:
    begun = time.monotonic()

    def step(what: str) -> None:
        say(f"+{time.monotonic() - begun:5.1f} s  {what}")

    cluster.start(**(_GROUPS if release >= _GROUPS_SINCE else {}))
    step("API servers and kube-controller-manager")
    for controller in controllers:
        controller.start(cluster)
        step(f"{controller.name} {controller.version}")
    ours = Ours(cluster.serve())
    step("karta-interpreter")
    return ours


def _run(cluster: Cluster, ours: Ours, cases: Sequence[Case], say: Say) -> Iterator[Outcome]:
    pool = ThreadPoolExecutor(_AT_A_TIME)
    try:
        futures = [pool.submit(_run_case, case, cluster, ours) for case in cases]
        for future in as_completed(futures):
            outcome = future.result()
            say(f"{outcome.case} ({outcome.seconds:.0f} s)")
            for finding in outcome.problems():
                say(f"    {finding.what}: {finding.problem}")
            yield outcome
    finally:
        cluster.activity.stop()
        pool.shutdown(cancel_futures=True)


def _run_case(case: Case, cluster: Cluster, ours: Ours) -> Outcome:
    outcome = Outcome(case.name, case.controller.name, case.kind.name, case.kind.api_version, racing=case.racing)
    experiment, begun = Experiment(case, cluster, ours, outcome, replicas=case.replicas), time.monotonic()
    try:
        recorder = Recorder(experiment)
        recorder.begin()
        if experiment.begin():
            for number, step in enumerate(case.steps):
                if number:
                    recorder.begin()
                run_step(experiment, step)
                recorder.record(step)
            recorder.crash()
        # Whatever a newer release adds is not in the folders of states, which are those of the default release.
        outcome.states = [] if case.since else recorder.states
    except StoppedError:
        raise
    except Exception as error:  # noqa: BLE001 - the other cases go on
        where = traceback.extract_tb(error.__traceback__)[-1]
        outcome.findings.append(Finding("experiment", f"{type(error).__name__} in {where.name}: {error}"[:600]))
    with suppress(ApiError, OSError):
        experiment.end()
    outcome.seconds = time.monotonic() - begun
    return outcome


def _taken_for_fights(ours: Ours, cases: Sequence[Case]) -> Iterator[Outcome]:
    """Yield an outcome for each fight that the server has named: no case has any."""
    by_namespace = {case.namespace: case for case in cases}
    for line in ours.server.fights():
        case = by_namespace[line["object"].partition("/")[0]]
        found = [Finding("fights", f"{line['field']} is taken for a fight")]
        yield Outcome(case.name, case.controller.name, case.kind.name, case.kind.api_version, found)


def _fits(controller: Controller, others: Sequence[Controller]) -> bool:
    alone = controller.alone or any(other.alone for other in others)
    return not alone and not _ports(others) & set(controller.ports)


def _ports(controllers: Iterable[Controller]) -> set[int]:
    return {port for controller in controllers for port in controller.ports}
