"""What the experiment has to know about a controller: its kinds, its programs, and how it is started."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.proofs.reality.comparison import ANY
from tests.proofs.reality.programs import Program
from tests.proofs.rig.api import Object
from tests.proofs.rig.cluster import Cluster

_CASES = Path(__file__).with_name("cases")


def single(_: Object) -> str:
    """Return the component of every pod of a kind that has one component only."""
    return ANY


def labelled(label: str) -> Callable[[Object], str]:
    """Return a function that reads a pod's component from a label."""
    return lambda pod: str(pod["metadata"].get("labels", {}).get(label, "?"))


def _every_pod(_: Object) -> bool:
    return True


def _no_pod(_: Object) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of workload, as ``controllers.yaml`` says."""

    api_version: str
    name: str
    completes: bool
    component: Callable[[Object], str] = single
    ends: Callable[[Object], bool] = _every_pod
    prepares: Callable[[Object], bool] = _no_pod
    children: tuple[str, ...] = ()
    switch: str = "spec.suspend"
    suspended: object = True
    resumed: object = False
    status_subresource: bool = True


@dataclass(frozen=True, slots=True)
class Controller:
    """A controller and its cases, as ``controllers.yaml`` says.

    ``start`` installs CRDs and webhooks and starts the programs. One that is ``alone`` acts on the kinds of others.
    """

    name: str
    kinds: tuple[Kind, ...]
    start: Callable[[Cluster], None]
    programs: tuple[Program, ...] = ()
    needs: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    alone: bool = False

    @property
    def cases(self) -> Path:
        return _CASES / f"{self.name}.yaml"

    @property
    def version(self) -> str:
        return ", ".join(program.version for program in self.programs)

    def kind(self, thing: Object) -> Kind:
        (found,) = (
            kind for kind in self.kinds if (kind.api_version, kind.name) == (thing["apiVersion"], thing["kind"])
        )
        return found
