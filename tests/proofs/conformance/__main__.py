"""``python -m tests.proofs.conformance``: our Lua engine, library and statuses, each with its oracle.

``--mutants N`` says how many changed copies are made of each case's object. ``--only PART`` runs one part alone.
``--bench`` measures instead, and writes the tables into figures.md.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

from docs.tools.write_known import REASONS, read_reasons
from karta_interpreter.languages.lua.machine import worker
from tests.catalogue.entries import entries
from tests.export.forms import pairs
from tests.proofs.conformance import components, customizations, documents, ours, readme, samples, upstream
from tests.proofs.conformance.benchmark import benchmark, benchmark_exported, write
from tests.proofs.conformance.bundle import KINDS, Bundled, load_bundle, name_of
from tests.proofs.conformance.catalogue import compare_catalogue, complaints, describe
from tests.proofs.conformance.crds import answered, references, sources, stored, validity
from tests.proofs.conformance.differential import compare, generated_questions
from tests.proofs.conformance.environment import environment_questions
from tests.proofs.conformance.gitops import built_in, health as argocd_health, law, tables
from tests.proofs.conformance.gojq import parity
from tests.proofs.conformance.known import stale
from tests.proofs.conformance.peer import Peer
from tests.proofs.conformance.report import show_failures
from tests.proofs.conformance.suite import failures, judge, table
from tests.proofs.conformance.thirdparty import karmadas_test
from tests.proofs.conformance.toolchain import (
    ToolchainError,
    argocd_source,
    build_crds,
    build_gitops,
    build_gojq,
    build_program,
    build_thirdparty,
    engine_source,
    has_go,
    karmada_source,
)
from tests.proofs.rig.toolchain import BuildError

FIGURES = Path(__file__).parent / "figures.md"
_MUTANTS = 24
_MUTANTS_OF_WORKLOADS = 1 / 8
"""How many of them are made where each object has many questions."""
_MUTANTS_OF_STATUSES = 1 / 3
"""How many where there are many objects."""
_SCRIPT_SECONDS = 5.0
"""On a busy machine, a process may wait for longer than the second for which a script may run."""


def main() -> int:
    """Run everything and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.proofs.conformance", description="Our Lua engine compared with Karmada's."
    )
    parser.add_argument(
        "--bench",
        action="store_true",
        help="measure instead of comparing, and write the tables into figures.md",
    )
    parser.add_argument("--mutants", type=int, default=_MUTANTS, help="changed copies per case (%(default)s)")
    parser.add_argument("--only", choices=["samples"], help="run this part alone")
    options = parser.parse_args()
    if not has_go():
        _say("make conformance is skipped: it needs Go to build Karmada's Lua VM")
        return 0
    if options.only:
        return 1 if list(_shown(_samples())) else 0
    begun = time.monotonic()
    worker.SECONDS = _SCRIPT_SECONDS  # type: ignore[misc]
    try:
        version, folder = karmada_source()
        program, gojq, gitops = build_program(), build_gojq(), build_gitops()
        argocd, (_, engine) = argocd_source(), engine_source()
        validator, crds, thirdparty_test = build_crds(), list(sources.files()), build_thirdparty()
    except (ToolchainError, BuildError) as error:
        _say(str(error))
        return 1
    bundle = load_bundle(folder)
    if options.bench:
        with Peer(program) as peer:
            for measure, place in ((benchmark, "lua"), (benchmark_exported, "lua-exported")):
                measured = measure(peer, bundle)
                _say(measured)
                write(measured, FIGURES, place)
        return 0
    copies = round(options.mutants * _MUTANTS_OF_WORKLOADS)
    failed = _run_all(
        [
            partial(_generated, program, bundle, options.mutants),
            partial(_answered, validator, crds),
            partial(_crds, validator, crds, bundle, round(options.mutants * _MUTANTS_OF_STATUSES)),
            partial(_suite, program, bundle, version),
            partial(_readme, program, bundle),
            partial(_small_scripts, program),
            partial(_documents, folder),
            partial(_catalogue, program, bundle),
            partial(_customizations, program, copies),
            partial(_components, program, options.mutants // 2),
            _upstream,
            partial(_thirdparty, thirdparty_test, folder),
            partial(_gojq, gojq, copies),
            partial(_gitops, gitops),
            partial(_argocd, gitops, options.mutants),
            partial(_tables, gitops, argocd[1], engine),
            partial(built_in.compare, gitops, argocd, engine),
            _samples,
            partial(_references, crds),
            partial(_stored, validator, crds),
        ]
    )
    _say(f"\n{failed} failures, {time.monotonic() - begun:.0f} s")
    return 1 if failed else 0


def _run_all(parts: Iterable[Callable[[], Iterable[str]]]) -> int:
    """Run the parts, one for each processor at a time, show each when it is done, and count the failures."""
    entries()  # the processes are forked with the catalogue
    failed = 0
    with ProcessPoolExecutor(os.cpu_count(), get_context("fork")) as processes:
        for done in as_completed([processes.submit(_captured, part) for part in parts]):
            text, failures = done.result()
            _say(text)
            failed += failures
    return failed


def _captured(part: Callable[[], Iterable[str]]) -> tuple[str, int]:
    begun = time.monotonic()
    with redirect_stdout(StringIO()) as shown:
        failures = len(list(_shown(part())))
        _say(f"{time.monotonic() - begun:.0f} s")
    return shown.getvalue(), failures


def _suite(program: Path, bundle: list[Bundled], version: str) -> Iterator[str]:
    cases = [case for bundled in bundle for case in bundled.cases]
    scripts = sum(len(list(bundled.scripts)) for bundled in bundle)
    _title(f"Karmada {version}: {len(bundle)} kinds, {scripts} scripts, {len(cases)} cases")
    with Peer(program) as peer:
        # Karmada itself has to pass: otherwise this reads or compares the cases in another way than upstream does.
        yield from (
            f"Karmada fails its own case {problem}"
            for problem in failures(judge(cases, peer.ask(case.question for case in cases)))
        )
        judged = judge(cases, [ours.ask(case.question) for case in cases])
        _say(table(bundle, judged))
        yield from failures(judged)


def _readme(program: Path, bundle: list[Bundled]) -> Iterator[str]:
    _title("To readers: what the README says about Karmada's scripts")
    with Peer(program) as peer:
        yield from readme.problems(peer, bundle)


def _small_scripts(program: Path) -> Iterator[str]:
    _title("Beside Karmada's Lua VM: small scripts")
    with Peer(program) as peer:
        tally = compare(peer, environment_questions())
        _say(str(tally))
        yield from show_failures(peer, tally)
        for script in stale(chain.from_iterable(tally.excused.values())):
            yield f"{script}\nis answered as Karmada does: remove its reason from known.yaml"


def _documents(karmada: Path) -> Iterator[str]:
    _title("The documents' own examples: Karmada's commands of karmadactl, and its webhook in Go")
    yield from documents.compare(karmada)


def _generated(program: Path, bundle: list[Bundled], mutants: int) -> Iterator[str]:
    _title("Beside Karmada's Lua VM: bundled scripts on generated objects")
    with Peer(program) as peer:
        tally = compare(peer, generated_questions(bundle, mutants))
        _say(str(tally))
        yield from show_failures(peer, tally)


def _catalogue(program: Path, bundle: list[Bundled]) -> Iterator[str]:
    _title("Kartas and bundled scripts")
    with Peer(program) as peer:
        found = {name_of(bundled.gvk) for bundled in bundle}
        yield from (f"{kind} is bundled, or bundle.yaml has it, and not both" for kind in sorted(found ^ KINDS))
        pairs, reasons = compare_catalogue(peer, bundle), read_reasons(REASONS.read_text(encoding="utf-8"))
        for line in describe(pairs, reasons):
            _say(line)
        yield from complaints(pairs, reasons)


def _customizations(program: Path, copies: int) -> Iterator[str]:
    _title("Exported customizations: Karta, our Lua engine, Karmada's Lua VM")
    with Peer(program) as peer:
        tally = customizations.compare(peer, copies, pairs())
        _say(str(tally))
        yield from tally.failures()


def _upstream() -> Iterator[str]:
    _title("Definitions of Workload-Map, read by our loader")
    folder = upstream.checkout()
    if folder is None:
        _say(f"skipped: {upstream.VARIABLE} names no checkout, and Go's module proxy has no release of it")
        return
    found = upstream.load_all(folder)
    _say(f"{found.definitions} definitions")
    yield from found.problems


def _thirdparty(test: Path, source: Path) -> Iterator[str]:
    _title("To Karmada's folder: exported folders of third-party interpreters in Karmada's own test")
    tally = karmadas_test.compare(test, source)
    _say(str(tally))
    yield from tally.failures()


def _components(program: Path, changes: int) -> Iterator[str]:
    _title("The contract of components: exported scripts in Karmada's Lua VM, before and after changes")
    with Peer(program) as peer:
        tally = components.compare(peer, changes)
        _say(str(tally))
        yield from tally.failures()


def _gojq(program: Path, mutants: int) -> Iterator[str]:
    _title("Next to gojq: which expressions there are, what they give, and where they write")
    found = parity.compare(program, mutants)
    _say(str(found))
    yield from found.failures()


def _gitops(program: Path) -> Iterator[str]:
    _title("To GitOps: verdicts on aggregated statuses compared with those on the members'")
    tally = law.compare(program)
    _say(str(tally))
    yield from tally.failures()


def _argocd(program: Path, mutants: int) -> Iterator[str]:
    _title("To Argo CD: exported health checks compared with the statuses of Kartas")
    tally = argocd_health.compare(program, mutants)
    _say(str(tally))
    yield from tally.failures()


def _tables(program: Path, argocd: Path, engine: Path) -> Iterator[str]:
    _title("To Argo CD: exported health checks compared with its own tables")
    tally = tables.compare(program, argocd, engine)
    _say(str(tally))
    yield from tally.failures()


def _references(crds: list[Path]) -> Iterator[str]:
    _title("References: what the CRDs name, and dependencies do not")
    tally = references.compare(crds)
    _say(str(tally))
    yield from tally.failures()


def _answered(program: Path, crds: list[Path]) -> Iterator[str]:
    _title("To users: objects made from the CRDs are answered, whatever is unknown about them")
    tally = answered.compare(program, crds)
    _say(str(tally))
    yield from tally.failures()


def _stored(program: Path, crds: list[Path]) -> Iterator[str]:
    _title("To API servers: the objects of the suites, validated against the CRDs of their kinds")
    tally = stored.compare(program, crds)
    _say(str(tally))
    yield from tally.failures()


def _crds(program: Path, crds: list[Path], bundle: list[Bundled], mutants: int) -> Iterator[str]:
    _title("To API servers: aggregated statuses, validated against the CRDs of their kinds")
    tally = validity.compare(program, crds, bundle, mutants)
    _say(str(tally))
    yield from tally.failures()


def _samples() -> Iterator[str]:
    _title("To controllers: upstream's own samples and CRDs")
    tally = samples.compare()
    _say(str(tally))
    yield from tally.failures()


def _shown(problems: Iterable[str]) -> Iterator[str]:
    for problem in problems:
        _say(f"\nFAILED {problem}")
        yield problem


def _title(text: str) -> None:
    _say(f"\n{text}\n{'=' * len(text)}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
