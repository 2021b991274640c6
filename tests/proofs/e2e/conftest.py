"""The control plane that all end-to-end tests share; they run with ``make e2e`` only."""

import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import yaml

from tests.proofs.e2e.accounts import account, bound
from tests.proofs.e2e.flow import say
from tests.proofs.e2e.installed import SERVICE, Installed
from tests.proofs.e2e.kartas import kartas
from tests.proofs.e2e.kinds import KINDS, WHOLE, Kind
from tests.proofs.e2e.live_tree import kubeconfig
from tests.proofs.e2e.recorded_member import RecordedMember
from tests.proofs.rig.api import until
from tests.proofs.rig.binaries import build, build_core, build_some, chosen
from tests.proofs.rig.installation import install
from tests.proofs.rig.interpreter import Interpreter
from tests.proofs.rig.karmada import serves
from tests.proofs.rig.kubeconfig import write_kubeconfig
from tests.proofs.rig.ledger import Ledger
from tests.proofs.rig.nodes import add_node
from tests.proofs.rig.plane import ControlPlane
from tests.proofs.rig.service import Service
from tests.proofs.rig.toolchain import BuildError

_HERE = Path(__file__).parent
_MEMBER_ROLE = _HERE.parents[2] / "deploy" / "member" / "clusterrole-verify.yaml"

if not os.environ.get("RUN_E2E"):
    collect_ignore_glob = ["*"]


@pytest.fixture(scope="session")
def plane(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A Karmada with two members that have nodes and know the kinds."""
    # Both end the run in order: pytest stops at a KeyboardInterrupt.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        make = build_core if os.environ["RUN_E2E"] == "core" else build
        binaries = make(say, chosen())
    except BuildError as error:
        pytest.skip(str(error))
    failures = 1
    plane = ControlPlane.create(tmp_path_factory.mktemp("e2e"), binaries)
    try:
        plane.start(say)
        teach(plane)
        yield plane
        failures = request.session.testsfailed
    finally:
        if failures:
            say(f"\n{plane.processes.tails()}\nall of it is in {plane.processes.folder}")
        plane.stop()


def teach(plane: ControlPlane) -> None:
    """Install the CRDs of the kinds everywhere, and give the members nodes and what they refuse."""
    for api in (plane.karmada, *plane.members.values()):
        for file in sorted((_HERE / "crds").glob("*.yaml")):
            api.apply(yaml.safe_load(file.read_text(encoding="utf-8")))
    policies = list(yaml.safe_load_all((_HERE / "policies.yaml").read_text(encoding="utf-8")))
    for name, api in plane.members.items():
        for policy in policies:
            api.apply(policy)
        add_node(api, f"{name}-node")
        for kind in (*KINDS, *WHOLE):
            until(f"{name} serves {kind.title}", partial(serves, plane.karmada, name, kind.api_version, kind.name))


@pytest.fixture(scope="session")
def installed(plane: ControlPlane) -> Iterator[Installed]:
    """Our manifests and Kartas on the control plane; a table of all calls at the end."""
    user = {"token": install(plane.karmada)}
    for karta in kartas():
        plane.karmada.apply(karta)
    config = write_kubeconfig(plane.folder / "interpreter.config", plane.karmada.port, plane.authority, user)
    installed = Installed(plane, config, Ledger())
    yield installed
    say(f"\n{installed.ledger.table()}\n")
    for host in (installed.host, SERVICE):
        say(f"karmada-controller-manager got from {host}: {dict(plane.requests_seen(host))}")
    say(f"slower than 500 ms by its own traces: {plane.slow_calls()}")


@pytest.fixture(scope="module")
def interpreter(installed: Installed) -> Iterator[Interpreter]:
    """Our server, which takes its Kartas from the control plane and registers itself there."""
    with installed.serving() as server:
        yield server


@pytest.fixture
def front(plane: ControlPlane, tmp_path: Path) -> Iterator[Service]:
    """A Service without endpoints."""
    yield Service.start(plane.processes, tmp_path)
    plane.processes.stop("service")


@pytest.fixture(scope="session")
def member(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordedMember]:
    """An API server with the objects and pods that controllers have made."""
    try:
        binaries = build_some(("etcd", "kube-apiserver"), say, chosen())
    except BuildError as error:
        pytest.skip(str(error))
    recorded = RecordedMember.create(tmp_path_factory.mktemp("member"), binaries)
    try:
        recorded.start()
        recorded.load()
        yield recorded
    finally:
        recorded.stop()


@pytest.fixture(scope="session")
def reader(member: RecordedMember) -> Path:
    """The kubeconfig of an account with the ClusterRole of deploy/member."""
    subject, token = account(member.api, "reader")
    allowed = yaml.safe_load(_MEMBER_ROLE.read_text(encoding="utf-8"))
    for each in (allowed, bound(allowed, subject)):
        member.api.apply(each)
    return kubeconfig(member, "reader", token)


@pytest.fixture(params=KINDS, ids=[kind.name for kind in KINDS])
def kind(request: pytest.FixtureRequest) -> Kind:
    param: Kind = request.param
    return param
