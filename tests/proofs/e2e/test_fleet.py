"""A fleet adopts our server: no change of what runs goes untold, and what is told comes, also after restarts."""

import json
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from tests.proofs.e2e.adopted import Fleet, Seen, fleet_of, new_kinds
from tests.proofs.e2e.flow import say
from tests.proofs.e2e.installed import SETTLE, Installed
from tests.proofs.e2e.test_diff import _OF_USER
from tests.proofs.e2e.told import Told
from tests.proofs.rig.api import Object, at_rest, named, until
from tests.proofs.rig.interpreter import Interpreter, run
from tests.proofs.rig.kubeconfig import write_kubeconfig
from tests.proofs.rig.plane import ControlPlane
from tests.support.waiting import HANG

_COMPONENTS = ("karmada-controller-manager", "karmada-scheduler", "karmada-webhook")
_NODES: Object = {
    "apiVersion": "config.karmada.io/v1alpha1",
    "kind": "ResourceInterpreterCustomization",
    "metadata": {"name": "of-nodes"},
    "spec": {
        "target": {"apiVersion": "slinky.slurm.net/v1beta1", "kind": "NodeSet"},
        "customizations": {
            # As the definition does.
            "replicaResource": {"luaScript": "function GetReplicas(obj)\n  return obj.spec.replicas or 1, nil\nend\n"}
        },
    },
}
_STEPS = {
    "statuses": "InterpretStatus,AggregateStatus",
    "what members own": "Retain",
    "dependencies": "InterpretDependency",
    "health": "InterpretHealth",
    "counts of a kind": "JobSet=InterpretReplica,ReviseReplica",
}
"""The steps of docs/adopt.md, each with the operations that it adds."""
_REST = 4.0


@pytest.fixture(scope="module", autouse=True)
def _kinds(plane: ControlPlane) -> Iterator[None]:
    with new_kinds(plane):
        yield


@contextmanager
def _adopting(plane: ControlPlane, installed: Installed, part: str, *things: Object, **gates: bool) -> Iterator[Fleet]:
    """Have a part of the fleet run without our server, with some feature gates."""
    run("unregister", "--kubeconfig", installed.kubeconfig)
    for thing in things:
        plane.karmada.apply(thing)
    plane.restart_components(**{"multiple_pod_templates": False} | gates)
    fleet = Fleet(plane, fleet_of(part))
    try:
        fleet.begin()
        yield fleet
    finally:
        plane.processes.stop(*[name for name in plane.processes.running if name.startswith("interpreter-")])
        run("unregister", "--kubeconfig", installed.kubeconfig)
        for thing in things:
            plane.karmada.delete(thing)
        fleet.end()
        plane.restart_components(multiple_pod_templates=False)


class _Adoption:
    """A fleet before the registration, and what was told of it."""

    def __init__(self, fleet: Fleet, installed: Installed) -> None:
        self.fleet, self.installed, plane = fleet, installed, fleet.plane
        self.kubeconfig = write_kubeconfig(plane.folder / "administrator.config", plane.karmada.port, plane.authority)
        fleet.edit("before")
        until("changes arrive", lambda: all(set(seen.edits.values()) <= {"before"} for seen in fleet.see().values()))
        self.before = at_rest("the fleet is as Karmada alone wants it", fleet.see, _REST)
        self.told = self.diff()

    def diff(self) -> Told:
        done = run("diff", "--from", "bindings", "--to", "catalogue", "--kubeconfig", self.kubeconfig, "-o", "json")
        assert done.stdout, done.stderr
        told = Told.of(json.loads(done.stdout))
        lines = [f"{name}: {effect['text']}" for name, effects in told.effects.items() for effect in effects]
        say("\n".join(f"  told: {line[:200]}" for line in lines))
        return told

    def serve(self, *options: str) -> Interpreter:
        """Start a server of the catalogue, and wait until Karmada knows it."""
        server = self.installed.serve("--catalogue", "--no-cluster", *options)

        def is_registered() -> bool:
            hooks = self.installed.registration()["webhooks"]
            return bool(hooks) and all(hook["clientConfig"].get("url") == server.url for hook in hooks)

        until(f"{server.url} is registered", is_registered)
        time.sleep(SETTLE)
        return server

    def comes(self, told: Told, what: str, before: Mapping[str, Seen], *, edit: str) -> dict[str, Seen]:
        """Wait until all that was told has come, and nothing else. Return what runs then."""
        last = list[str]()

        def wrong(seen: Mapping[str, Seen]) -> list[str]:
            asked = (told.missing, told.untold)
            return [text for ask in asked for name in before for text in ask(name, before[name], seen[name], edit)]

        def has_come() -> bool:
            # Karmada writes conditions some time after what they are about.
            last[:] = wrong(self.fleet.see())
            return not last

        try:
            until(f"all comes that is told: {what}", has_come)
        except AssertionError as error:
            raise AssertionError("\n".join([str(error)[:200], *last])) from None
        seen = at_rest(f"the fleet after {what}", self.fleet.see, _REST)
        assert wrong(seen) == []
        self.fleet.saw(what)
        return seen

    def stays(self, before: Mapping[str, Seen], what: str) -> dict[str, Seen]:
        """See that nothing that runs changes, but for health, which Karmada asks about anew.

        What Karmada could not count may come at any time, because Karmada tries again.
        """
        now = at_rest(what, self.fleet.see, _REST)
        changed = {
            name: seen.changes(now[name]) - {"health"} for name, seen in before.items() if not self.told.is_first(name)
        }
        assert {name: changes for name, changes in changed.items() if changes} == {}
        self.fleet.saw(what)
        return now


def test_fleet_changes_as_told_and_comes_back(plane: ControlPlane, installed: Installed) -> None:
    with _adopting(plane, installed, "workloads", _OF_USER, _NODES, FederatedQuotaEnforcement=False) as fleet:
        adoption = _Adoption(fleet, installed)
        assert {effect["effect"] for effects in adoption.told.effects.values() for effect in effects} >= {
            "divided", "first", "indivisible", "no_room", "refused", "status",
        }  # fmt: skip
        server = adoption.serve()
        registered = adoption.stays(adoption.before, "registration alone")
        plane.restart(_COMPONENTS[0])
        adoption.comes(adoption.told, "a restart of karmada-controller-manager", registered, edit="")
        adoption.fleet.edit("adopted")
        now = adoption.comes(adoption.told, "a change of each", registered, edit="adopted")
        again = adoption.diff()
        left = [each for of in (*again.rows.values(), *again.effects.values()) for each in of if "note" not in each]
        assert [each for each in left if not adoption.told.is_frozen(each.get("name") or each["object"])] == []
        for component in _COMPONENTS:
            plane.restart(component)
            now = adoption.stays(now, f"a restart of {component}")
        installed.stop(server)
        _goes_back(adoption)


def test_steps_of_adoption_change_what_they_say_and_quota_refuses_counts(
    plane: ControlPlane, installed: Installed
) -> None:
    quota = named("policy.karmada.io/v1alpha1", "FederatedResourceQuota", "small", "limited")
    plane.karmada.add_namespace("limited")
    with _adopting(plane, installed, "limited", quota | {"spec": {"overall": {"cpu": "10"}}}) as fleet:
        adoption = _Adoption(fleet, installed)
        now, chosen = adoption.before, list[str]()
        for step, operations in _STEPS.items():
            chosen.append(operations)
            server = adoption.serve(*(f"--operations={each}" for each in chosen))
            fleet.edit(step)
            kinds = ["JobSet"] if "=" in operations else []
            told = adoption.told.of_operations(operations.rpartition("=")[2].split(","), kinds)
            now = adoption.comes(told, step, now, edit=step)
            installed.stop(server)
        assert any(effect["effect"] == "refused" for effect in adoption.told.effects["limited/jobset-static"])


def test_components_change_as_told(plane: ControlPlane, installed: Installed) -> None:
    with _adopting(plane, installed, "components", multiple_pod_templates=True) as fleet:
        adoption = _Adoption(fleet, installed)
        server = adoption.serve("--multiple-pod-templates-scheduling")
        fleet.edit("adopted")
        now = adoption.comes(adoption.told, "a change of each", adoption.before, edit="adopted")
        plane.restart(_COMPONENTS[0])
        adoption.stays(now, "a restart of karmada-controller-manager")
        installed.stop(server)


def _goes_back(adoption: _Adoption) -> None:
    """Unregister, and see that a change brings back what ran; the commands for what stays end it."""
    kubeconfig = adoption.installed.kubeconfig
    dry = run("unregister", "--dry-run", "--kubeconfig", adoption.kubeconfig)
    assert dry.returncode == 0, dry.stderr
    assert run("unregister", "--kubeconfig", kubeconfig).returncode == 0
    time.sleep(SETTLE)
    adoption.fleet.edit("back")
    first = {name for name, effects in adoption.told.effects.items() if any(e["effect"] == "first" for e in effects)}

    def stale() -> dict[str, set[str]]:
        now = adoption.fleet.see()
        changed = {name: seen.changes(now[name]) - {"dependencies"} for name, seen in adoption.before.items()}
        late = {name for name, seen in now.items() if {*seen.edits.values()} != {"back"}}
        return {name: of for name, of in changed.items() if (of or name in late) and name not in first}

    last = dict[str, set[str]]()

    def is_back() -> bool:
        last.clear()
        last.update(stale())
        return not last

    try:
        until("what ran before runs again", is_back)
    except AssertionError:
        raise AssertionError(f"not as before: {last}") from None
    adoption.fleet.saw("what ran before runs again")
    _end_what_stays(adoption, dry.stdout)


def _end_what_stays(adoption: _Adoption, text: str) -> None:
    """Run the commands of `unregister --dry-run` with karmadactl, which has those of kubectl."""
    program = adoption.fleet.plane.layout.binaries / "karmadactl"
    commands = [line[line.index("kubectl ") :] for line in text.splitlines() if "kubectl " in line]
    assert commands, text
    for command in commands:
        verb, *words = shlex.split(command)[1:]
        done = subprocess.run(
            [program, verb, "--kubeconfig", adoption.kubeconfig, *words],
            capture_output=True, text=True, timeout=HANG, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}: {done.stderr}"

    def is_gone() -> bool:
        now = adoption.fleet.see()
        return all(now[name].dependencies == seen.dependencies for name, seen in adoption.before.items())

    until("what stayed is gone", is_gone)
    adoption.fleet.saw(f"{len(commands)} commands end what stays")
