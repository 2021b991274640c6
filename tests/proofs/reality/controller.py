"""What the experiment has to know about a controller: its kinds, its programs, and how it is started."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.proofs.reality.comparison import ANY
from tests.proofs.reality.programs import Program
from tests.proofs.rig.api import Object
from tests.proofs.rig.cluster import Cluster

_CASES = Path(__file__).parent / "cases"


def single(_: Object) -> str:
    """Return the component of every pod of a kind that has one component only."""
    return ANY


def labelled(*labels: str, otherwise: str = "?") -> Callable[[Object], str]:
    """Return a function that reads a pod's component from the first label that it has."""

    def component(pod: Object) -> str:
        found = pod["metadata"].get("labels", {})
        return next((found[label] for label in labels if label in found), otherwise)

    return component


def _every_pod(_: Object) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of workload.

    ``completes`` is whether it runs to completion: then it is healthy while it waits or starts. ``component`` gives the
    component of a pod as the product names it, ``ends`` whether a pod ends with the workload. ``children`` are further
    collections of objects that the controller makes, as ``/apis/GROUP/VERSION/PLURAL``. ``switch``
    is the path of the switch that suspends it, with the value ``suspended`` or ``resumed``. A kind without a
    ``status_subresource`` gets another generation with every status that its controller writes.
    """

    api_version: str
    name: str
    completes: bool
    component: Callable[[Object], str] = single
    ends: Callable[[Object], bool] = _every_pod
    children: tuple[str, ...] = ()
    switch: str = "spec.suspend"
    suspended: object = True
    resumed: object = False
    status_subresource: bool = True


@dataclass(frozen=True, slots=True)
class Controller:
    """A controller and its cases, ``cases/NAME.yaml``.

    ``start`` installs CRDs and webhooks and starts the programs. ``needs`` names controllers that have to run, too.
    ``ports`` are those that a program listens on whatever its flags are. One that is ``alone`` acts on the kinds of
    others: it gets a cluster for itself and those that it needs.
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
        """The file of its cases."""
        return _CASES / f"{self.name}.yaml"

    @property
    def version(self) -> str:
        """The versions of its programs."""
        return ", ".join(program.version for program in self.programs)

    def kind(self, thing: Object) -> Kind:
        """Return the kind of an object."""
        (found,) = (
            kind for kind in self.kinds if (kind.api_version, kind.name) == (thing["apiVersion"], thing["kind"])
        )
        return found
