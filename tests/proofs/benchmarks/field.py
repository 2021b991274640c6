"""Who runs next to each other."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.proofs.benchmarks.day import recorded
from tests.proofs.benchmarks.golang import Programs
from tests.proofs.benchmarks.load import Load
from tests.proofs.benchmarks.rounds import sampled
from tests.proofs.benchmarks.servers import ROOT, Bay, Server

_DEFINITIONS = Path(__file__).parent / "definitions"
_EXAMPLE = ROOT / "docs" / "examples" / "webhook" / "karta.yaml"
_WARM_UP = 600


@dataclass(frozen=True, slots=True)
class Field:
    """The servers, and the load that they get.

    ``floor`` knows the answer: no server in Python can be faster. ``before`` is this server at another commit, and
    this one where none was named. ``example`` is Karmada's, and the floor where it is not compared.
    """

    ours: Server
    floor: Server
    before: Server
    example: Server
    load: Load
    bay: Bay
    programs: Programs


@contextmanager
def field(programs: Programs, folder: Path, *, before: str = "", with_example: bool = False) -> Iterator[Field]:
    """Start all of them; whoever is the first to ask about a kind pays for its definition, which is not measured."""
    bay = Bay(folder)
    options = "--kartas", _DEFINITIONS, "--kartas", _EXAMPLE
    with ExitStack() as stack:
        start = stack.enter_context
        ours, floor = start(bay.ours("this server", *options)), start(bay.floor())
        made = Field(
            ours=ours,
            floor=floor,
            before=start(bay.of_commit(before, *options)) if before else ours,
            example=start(bay.peer("Go example", programs.webhook)) if with_example else floor,
            load=start(Load(programs.load)),
            bay=bay,
            programs=programs,
        )
        with sampled(recorded(), 1, _WARM_UP, 10_000) as files:
            for server in {made.ours.pid: made.ours, made.before.pid: made.before}.values():
                made.load.run(server, files, 0)
        yield made
