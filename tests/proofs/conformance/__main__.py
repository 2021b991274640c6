"""``python -m tests.proofs.conformance [PART…]``: our Lua engine, library and statuses, each with its oracle.

``--mutants N`` says how many changed copies are made of each case's object. ``--more FOLDER`` adds CRDs of kinds whose
module cannot be had. ``--bench`` measures instead, and writes the tables into figures.md.
"""

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from docs.tools.write_known import reasons
from karta_interpreter.languages.lua.machine import worker
from tests.catalogue.entries import entries
from tests.export.forms import pairs
from tests.proofs.benchmarks.report import fill
from tests.proofs.conformance import components, customizations, documents, ours, readme, samples
from tests.proofs.conformance.benchmark import benchmark, benchmark_exported
from tests.proofs.conformance.bundle import KINDS, Bundled, load_bundle, name_of
from tests.proofs.conformance.catalogue import compare_catalogue, complaints, describe
from tests.proofs.conformance.crds import answered, immutable, named, references, revised, sources, stored, validity
from tests.proofs.conformance.differential import compare, generated_questions
from tests.proofs.conformance.environment import environment_questions
from tests.proofs.conformance.gitops import built_in, health as argocd_health, law, tables
from tests.proofs.conformance.gojq import parity
from tests.proofs.conformance.known import stale
from tests.proofs.conformance.peer import Peer
from tests.proofs.conformance.report import show_failures
from tests.proofs.conformance.suite import failures, judge, summary
from tests.proofs.conformance.thirdparty import karmadas_test
from tests.proofs.conformance.toolchain import (
    argocd_source,
    build_crds,
    build_gitops,
    build_gojq,
    build_program,
    build_thirdparty,
    engine_source,
    karmada_source,
)
from tests.proofs.rig.toolchain import BuildError

FIGURES = Path(__file__).parent / "figures.md"
_MUTANTS = 24
_SCRIPT_SECONDS = 5.0
"""On a busy machine, a process may wait for longer than the second for which a script may run."""


class Tally(Protocol):
    """What a part has compared, which its text counts."""

    def failures(self) -> Iterator[str]:
        """Yield what is wrong."""


class Effort(NamedTuple):
    """How many changed copies are made of an object, and more CRDs than those of the modules."""

    mutants: int
    more: Sequence[Path]

    @property
    def of_workloads(self) -> int:
        """How many are made where each object has many questions."""
        return round(self.mutants / 8)

    @property
    def of_statuses(self) -> int:
        """How many are made where there are many objects."""
        return round(self.mutants / 3)

    @property
    def crds(self) -> list[Path]:
        """The files of CRDs."""
        return [*_crds(), *self.more]


class Part(NamedTuple):
    """One comparison: it counts in a tally, or prints and yields what is wrong. ``needs`` are built before it runs."""

    title: str
    compare: Callable[[Effort], Tally | Iterable[str]]
    needs: Sequence[Callable[[], object]] = ()


@cache
def _bundle() -> list[Bundled]:
    return load_bundle(karmada_source()[1])


@cache
def _crds() -> list[Path]:
    return list(sources.files())


def _suite(_: Effort) -> Iterator[str]:
    cases = [case for bundled in _bundle() for case in bundled.cases]
    scripts = sum(len(list(bundled.scripts)) for bundled in _bundle())
    _say(f"Karmada {karmada_source()[0]}: {len(_bundle())} kinds, {scripts} scripts, {len(cases)} cases")
    with Peer(build_program()) as peer:
        # Karmada itself has to pass: otherwise this reads or compares the cases in another way than upstream does.
        yield from (
            f"Karmada fails its own case {problem}"
            for problem in failures(judge(cases, peer.answers(case.question for case in cases)))
        )
    judged = judge(cases, [ours.ask(case.question) for case in cases])
    _say(summary(judged))
    yield from failures(judged)


def _readme(_: Effort) -> Iterator[str]:
    with Peer(build_program()) as peer:
        yield from readme.problems(peer, _bundle())


def _small_scripts(_: Effort) -> Iterator[str]:
    with Peer(build_program()) as peer:
        tally = compare(peer, environment_questions())
        _say(str(tally))
        yield from show_failures(tally)
    for script in stale(chain.from_iterable(tally.excused.values())):
        yield f"{script}\nis answered as Karmada does: remove its reason from known.yaml"


def _generated(effort: Effort) -> Iterator[str]:
    with Peer(build_program()) as peer:
        tally = compare(peer, generated_questions(_bundle(), effort.mutants))
        _say(str(tally))
        yield from show_failures(tally)


def _catalogue(_: Effort) -> Iterator[str]:
    found = {name_of(bundled.gvk) for bundled in _bundle()}
    yield from (f"{kind} is bundled, or bundle.yaml has it, and not both" for kind in sorted(found ^ KINDS))
    with Peer(build_program()) as peer:
        compared = compare_catalogue(peer, _bundle())
    known = reasons()
    for line in describe(compared, known):
        _say(line)
    yield from complaints(compared, known)


def _customizations(effort: Effort) -> Tally:
    with Peer(build_program()) as peer:
        return customizations.compare(peer, effort.of_workloads, pairs())


def _components(effort: Effort) -> Tally:
    with Peer(build_program()) as peer:
        return components.compare(peer, effort.mutants // 2)


def _answered(effort: Effort) -> Tally:
    return answered.compare(build_crds(), effort.crds)


def _statuses(effort: Effort) -> Tally:
    return validity.compare(build_crds(), effort.crds, _bundle(), effort.of_statuses)


def _stored(effort: Effort) -> Tally:
    return stored.compare(build_crds(), _crds(), effort.more)


def _revised(effort: Effort) -> Tally:
    return revised.compare(build_crds(), effort.crds)


def _references(effort: Effort) -> Tally:
    return references.compare(effort.crds)


def _named(effort: Effort) -> Tally:
    return named.compare(effort.crds)


def _immutable(effort: Effort) -> Tally:
    return immutable.compare(effort.crds)


def _documents(_: Effort) -> Iterator[str]:
    return documents.compare(karmada_source()[1])


def _thirdparty(_: Effort) -> Tally:
    return karmadas_test.compare(build_thirdparty(), karmada_source()[1])


def _gojq(effort: Effort) -> Tally:
    return parity.compare(build_gojq(), effort.of_workloads)


def _gitops(_: Effort) -> Tally:
    return law.compare(build_gitops())


def _argocd(effort: Effort) -> Tally:
    return argocd_health.compare(build_gitops(), effort.mutants)


def _tables(_: Effort) -> Tally:
    return tables.compare(build_gitops(), argocd_source()[1], engine_source()[1])


def _built_in(_: Effort) -> Iterator[str]:
    return built_in.compare(build_gitops(), argocd_source(), engine_source()[1])


_VM: Final = (_bundle, build_program)
_VALIDATOR: Final = (_crds, build_crds)
_ARGO_CD: Final = (argocd_source, engine_source, build_gitops)

PARTS: Final[dict[str, Part]] = {
    "generated": Part("Karmada's Lua VM: bundled scripts on generated objects", _generated, _VM),
    "answered": Part("Users: objects made from CRDs are answered", _answered, _VALIDATOR),
    "crds": Part("API servers: aggregated statuses are valid for the CRDs", _statuses, (*_VALIDATOR, _bundle)),
    "suite": Part("Karmada's own cases", _suite, _VM),
    "readme": Part("Readers: what the README says about Karmada's scripts", _readme, _VM),
    "scripts": Part("Karmada's Lua VM: small scripts", _small_scripts, _VM),
    "documents": Part("Documents: Karmada's commands of karmadactl, and its webhook in Go", _documents),
    "catalogue": Part("Kartas and bundled scripts", _catalogue, _VM),
    "customizations": Part("Exported customizations: Karta, our Lua engine, Karmada's Lua VM", _customizations, _VM),
    "components": Part("The contract of components: exported scripts in Karmada's Lua VM", _components, _VM),
    "thirdparty": Part("Exported folders in Karmada's own test of its folder", _thirdparty, (build_thirdparty,)),
    "gojq": Part("gojq: which expressions there are, what they give and where they write", _gojq, (build_gojq,)),
    "gitops": Part("GitOps: verdicts on aggregated statuses and on the members'", _gitops, (build_gitops,)),
    "argocd": Part("Argo CD: exported health checks and the statuses of Kartas", _argocd, (build_gitops,)),
    "tables": Part("Argo CD: exported health checks and its own tables", _tables, _ARGO_CD),
    "built-in": Part("Argo CD: the kinds that it judges itself", _built_in, _ARGO_CD),
    "samples": Part("Controllers: upstream's own samples and CRDs", lambda _: samples.compare(), (_crds,)),
    "references": Part("CRDs: what they name, and dependencies do not", _references, (_crds,)),
    "named": Part("CRDs: fields that can name objects are named, or a reason says why not", _named, (_crds,)),
    "immutable": Part("Members: what they refuse to change is in the facts, and kept", _immutable, (_crds,)),
    "revised": Part("API servers: revisions are within the bounds of the CRDs", _revised, _VALIDATOR),
    "stored": Part("API servers: the objects of the suites are valid for the CRDs", _stored, _VALIDATOR),
}


def main() -> int:
    """Run the parts and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.proofs.conformance", description=__doc__)
    parser.add_argument("parts", metavar="PART", nargs="*", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--bench", action="store_true", help="measure, and write the tables into figures.md")
    parser.add_argument("--mutants", type=int, default=_MUTANTS, help="changed copies per case (%(default)s)")
    parser.add_argument("--more", type=Path, metavar="FOLDER", help="CRDs of kinds whose module cannot be had")
    options = parser.parse_args()
    if unknown := {*options.parts} - PARTS.keys():
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    if not shutil.which("go"):
        _say("make conformance is skipped: it needs Go to build Karmada's Lua VM")
        return 0
    begun = time.monotonic()
    worker.SECONDS = _SCRIPT_SECONDS  # type: ignore[misc]
    chosen = dict.fromkeys(options.parts or PARTS)
    needs = _VM if options.bench else chain.from_iterable(PARTS[name].needs for name in chosen)
    try:
        for build in needs:
            build()  # once: what is built is kept, and the processes are forked with it
    except BuildError as error:
        _say(str(error))
        return 1
    if options.bench:
        with Peer(build_program()) as peer:
            for measure, place in ((benchmark, "lua"), (benchmark_exported, "lua-exported")):
                measured = measure(peer, _bundle())
                _say(measured)
                FIGURES.write_text(fill(FIGURES.read_text(), {place: measured}))
        return 0
    effort = Effort(options.mutants, sorted(options.more.glob("*.yaml")) if options.more else ())
    failed = _run_all(chosen, effort)
    _say(f"\n{failed} failures, {time.monotonic() - begun:.0f} s")
    return 1 if failed else 0


def _run_all(names: Iterable[str], effort: Effort) -> int:
    """Run the parts, one for each processor at a time, show each when it is done, and count the failures."""
    entries()  # the processes are forked with the catalogue
    failed = 0
    with ProcessPoolExecutor(os.cpu_count(), get_context("fork")) as processes:
        for done in as_completed([processes.submit(_run, name, effort) for name in names]):
            text, failures = done.result()
            _say(text)
            failed += failures
    return failed


def _run(name: str, effort: Effort) -> tuple[str, int]:
    """Run a part; return what it shows, and how many failures there are."""
    begun, part = time.monotonic(), PARTS[name]
    with redirect_stdout(StringIO()) as shown:
        _say(f"\n{part.title} ({name})\n{'=' * len(part.title)}")
        found = part.compare(effort)
        if not isinstance(found, Iterable):
            _say(str(found))
            found = found.failures()
        failed = 0
        for problem in found:
            _say(f"\nFAILED {problem}")
            failed += 1
        _say(f"{time.monotonic() - begun:.0f} s")
    return shown.getvalue(), failed


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
