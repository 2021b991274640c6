"""Who runs next to each other, and what they are asked."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.proofs.benchmarks.golang import Programs
from tests.proofs.benchmarks.load import Load, python_load
from tests.proofs.benchmarks.servers import Bay, Server
from tests.proofs.benchmarks.workload import Make, body_about, sized, variant

DEFINITIONS = Path(__file__).parent / "definitions"
_RAY_SCRIPTS = (
    "pkg/resourceinterpreter/default/thirdparty/resourcecustomizations/ray.io/v1/RayCluster/customizations.yaml"
)
_VARIANTS, _VARIANTS_OF_LARGE, _LARGE = 4, 2, 256 * 1024


@dataclass(frozen=True, slots=True)
class Peers:
    """Karmada's example webhook: as it is, without its log line per request, and that with GOGC=400.

    ``scripted`` is ours with Karmada's own scripts over the definition of RayCluster. ``blank`` knows our answers
    beforehand and reads no object: no webhook can be faster than that.
    """

    programs: Programs
    example: Server
    quiet: Server
    tuned: Server
    scripted: Server
    blank: Server

    @property
    def ray_scripts(self) -> Path:
        """The customization of RayCluster that Karmada bundles."""
        return self.programs.source / _RAY_SCRIPTS

    @property
    def examples(self) -> tuple[Server, ...]:
        """The three of them."""
        return self.example, self.quiet, self.tuned


@dataclass(frozen=True, slots=True)
class Field:
    """The servers, and the load that they get; without Go, ``peers`` is None, and the load is in Python.

    ``floor`` knows the answer: no server in Python can be faster.
    """

    ours: Server
    floor: Server
    peers: Peers | None
    load: Load
    bay: Bay
    folder: Path

    @property
    def servers(self) -> tuple[Server, ...]:
        """Ours, the floor, and the three of Karmada's."""
        return (self.ours, self.floor, *(self.peers.examples if self.peers else ()))

    def bodies(self, operation: str, size: int, make: Make) -> tuple[Path, ...]:
        """Return files with the bodies of requests about different objects, always the same ones."""
        count = _VARIANTS if size < _LARGE else _VARIANTS_OF_LARGE
        return tuple(self._body(operation, size, make, number) for number in range(count))

    def hot_bodies(self, size: int, make: Make, operations: tuple[str, ...]) -> tuple[Path, ...]:
        """Return the same for several operations, which take turns."""
        each = (self.bodies(operation, size, make) for operation in operations)
        return tuple(body for bodies in zip(*each, strict=True) for body in bodies)

    def _body(self, operation: str, size: int, make: Make, number: int) -> Path:
        file = self.folder / f"{operation}-{make.__name__}-{size}-{number}"
        if not file.exists():
            file.write_bytes(body_about(operation, _sized(size, make, number)))
        return file


@lru_cache(_VARIANTS)
def _sized(size: int, make: Make, number: int) -> dict[str, Any]:
    """Remember what several operations are asked about: finding the right number of parts takes seconds at 1 MB."""
    return sized(size, variant(number, make))


@contextmanager
def field(programs: Programs | None, folder: Path) -> Iterator[Field]:
    """Start all of them."""
    bay = Bay(folder)
    with ExitStack() as stack:
        start = stack.enter_context
        ours = start(bay.ours("this server", "--kartas", DEFINITIONS))
        yield Field(
            ours=ours,
            floor=start(bay.floor()),
            peers=_peers(programs, bay, stack, ours) if programs else None,
            load=start(Load(programs.load) if programs else python_load()),
            bay=bay,
            folder=folder,
        )


def _peers(programs: Programs, bay: Bay, stack: ExitStack, ours: Server) -> Peers:
    start = stack.enter_context
    known = {"ANSWERS_OF": f"https://{ours.address}{ours.path}", "AUTHORITY": bay.authority.decode()}
    return Peers(
        programs=programs,
        example=start(bay.peer("Go example", programs.webhook)),
        quiet=start(bay.peer("Go example, no log line", programs.quiet)),
        tuned=start(bay.peer("Go example, no log line, GOGC=400", programs.quiet, GOGC="400")),
        scripted=start(bay.ours("this server, Karmada's scripts", "--overrides", programs.source / _RAY_SCRIPTS)),
        blank=start(bay.peer("answers known beforehand", programs.blank, **known)),
    )
