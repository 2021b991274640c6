"""``python -m tests.proofs.e2e.demo``: what Karmada knows of two workloads, before this server is registered and after.

A real control plane with two members runs on loopback. Only the controllers and pods of the members are imitated: a
status is written into the members' objects. At the end and at Ctrl-C all processes and the folder of the run go.
"""

import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from tests.proofs.e2e.flow import Flow, say
from tests.proofs.e2e.installed import SETTLE, Installed
from tests.proofs.e2e.kinds import Kind, kind_of
from tests.proofs.rig.api import Object, at_rest, until
from tests.proofs.rig.binaries import build_core, chosen
from tests.proofs.rig.installation import install
from tests.proofs.rig.interpreter import run, serve
from tests.proofs.rig.karmada import serves
from tests.proofs.rig.kubeconfig import kubeconfig, write_kubeconfig
from tests.proofs.rig.layout import MEMBERS
from tests.proofs.rig.ledger import Ledger
from tests.proofs.rig.nodes import add_node
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.policy import weighted
from tests.proofs.rig.processes import free_port
from tests.proofs.rig.toolchain import BuildError

NEEDS = """\
make demo runs a real Karmada with two members on this machine. It needs Go 1.25 or newer, 3 GB of memory, and for the
first build 10 to 30 minutes and several GB below ~/.cache and ~/go. Afterwards it takes minutes. Ctrl-C ends it.
"""
_CRDS = Path(__file__).parent / "crds"
_KINDS = (kind_of("RayCluster"), kind_of("JobSet"))
_WIDTHS = (26, 42)

Answers = Mapping[str, str]
"""What Karmada knows of a workload, by a name for each."""


def main() -> int:
    """Run the demo and return the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"  # everything is on loopback
    say(NEEDS)
    try:
        binaries = build_core(say, chosen())
        with TemporaryDirectory(prefix="karta-demo-") as folder, _running(Path(folder), binaries) as plane:
            _show(plane)
    except BuildError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("ended: nothing is left running")
        return 130
    return 0


@contextmanager
def _running(folder: Path, binaries: Path) -> Iterator[ControlPlane]:
    plane = ControlPlane.create(folder, binaries)
    try:
        plane.start(say)
        for api in (plane.karmada, *plane.members.values()):
            for kind in _KINDS:
                api.apply(yaml.safe_load((_CRDS / f"{kind.name.lower()}.yaml").read_text(encoding="utf-8")))
        for name, api in plane.members.items():
            add_node(api, f"{name}-node")
            for kind in _KINDS:
                until(f"{name} serves {kind.name}", partial(serves, plane.karmada, name, kind.api_version, kind.name))
        yield plane
    except AssertionError:
        say(plane.processes.tails())
        raise
    finally:
        plane.stop()


def _show(plane: ControlPlane) -> None:
    flows = [Flow.begin(plane, kind, kind.workload(f"demo-{kind.name.lower()}"), weighted(2, 1)) for kind in _KINDS]
    for flow in flows:
        for name in MEMBERS:
            until(f"{name} has {flow.name}", partial(flow.member, name))
        flow.report(**_states(flow.kind))
        until(f"Karmada has collected the statuses of {flow.name}", partial(_is_collected, flow))
    before = at_rest("Karmada has its own answers", lambda: [_answers(flow) for flow in flows])

    told = _told(plane)
    kinds = _register(plane)
    for flow in flows:
        flow.edited("interpreted")  # Karmada asks about what changes
        placed = flow.kind.stages[0]
        flow.members(dict.fromkeys(MEMBERS, placed.template) if flow.kind.stays else placed.members)
        flow.report(**_states(flow.kind))
        flow.health(
            **{name: "Healthy" if state == "running" else "Unhealthy" for name, state in _states(flow.kind).items()}
        )
    after = at_rest("Karmada has the answers of the server", lambda: [_answers(flow) for flow in flows])
    say(
        f"\nKarmada {chosen().karmada} with {' and '.join(MEMBERS)}, a policy of 2 to 1, and {kinds} kinds registered\n"
    )
    say(f"told before by diff --from bindings:\n{told}\n")
    for flow, old, new in zip(flows, before, after, strict=True):
        say(_table(flow.kind, old, new))


def _told(plane: ControlPlane) -> str:
    """Return what `diff --from bindings` says about what runs, before the server is registered."""
    config = write_kubeconfig(plane.folder / "administrator.config", plane.karmada.port, plane.authority)
    done = run("diff", "--from", "bindings", "--to", "catalogue", "--kubeconfig", config)
    return "\n".join(line for line in done.stdout.splitlines() if ": divided: " in line)


def _register(plane: ControlPlane) -> int:
    """Start the server with the whole catalogue, as a user would, and return how many kinds it has registered."""
    config = plane.folder / "interpreter.config"
    token = install(plane.karmada)
    config.write_text(kubeconfig(plane.karmada.port, plane.authority, {"token": token}), encoding="utf-8")
    installed = Installed(plane, config, Ledger())
    address = installed.host, free_port()
    url = f"https://{address[0]}:{address[1]}"
    options = ("--register", "--kubeconfig", config, "--public-url", url, "--certificate-name", address[0])
    serve(plane.processes, "interpreter", address, None, *options)
    webhooks = until("the catalogue is registered", lambda: installed.registration()["webhooks"])
    time.sleep(SETTLE)
    return len(webhooks)


def _answers(flow: Flow) -> Answers:
    binding = flow.binding()
    spec, status = binding["spec"], binding.get("status", {})
    clusters = {target["name"]: target.get("replicas", "no number") for target in spec.get("clusters", [])}
    requests = spec.get("replicaRequirements", {}).get("resourceRequest", {})
    followed = [thing["kind"] for thing in flow.dependencies() if _is_everywhere(flow, thing)]
    health = {item["clusterName"]: item.get("health", "Unknown") for item in status.get("aggregatedStatus", [])}
    return {
        "pods of the workload": str(spec.get("replicas") or "not known"),
        "requests of a pod": _listed(requests),
        "pods for each member": _listed(clusters),
        "counts in the members": _listed({name: flow.kind.counted(flow.member(name)) for name in MEMBERS}),
        "what follows the pods": ", ".join(followed) or "nothing",
        f"health ({', '.join(_states(flow.kind).values())})": _listed(health),
        "status of the template": "merged from the members" if flow.status() else "none",
    }


def _states(kind: Kind) -> Mapping[str, str]:
    """Return what the members report: the last one has failed, where the kind can fail."""
    *others, last = MEMBERS
    return dict.fromkeys(others, "running") | {last: "failed" if "failed" in kind.states else "running"}


def _is_collected(flow: Flow) -> bool:
    items = flow.binding().get("status", {}).get("aggregatedStatus", [])
    return [bool(item.get("status")) for item in items] == [True] * len(MEMBERS)


def _is_everywhere(flow: Flow, thing: Object) -> bool:
    return all(api.find(thing) is not None for api in flow.plane.members.values())


def _listed(values: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items()) or "not known"


def _table(kind: Kind, before: Answers, after: Answers) -> str:
    first, second = _WIDTHS
    rows = [
        (kind.name, "Karmada alone", "with karta-interpreter"),
        *((name, before[name], after[name]) for name in before),
    ]
    return "\n".join(f"{name:<{first}}{old:<{second}}{new}".rstrip() for name, old, new in rows) + "\n"


if __name__ == "__main__":
    sys.exit(main())
