"""How all tests run: nothing about them depends on how fast the machine is, or on luck.

`EXAMPLES=1000 make laws` tries each law with so many examples; every run tries others.
"""

import gc
import os
from collections.abc import Generator, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
import yaml
from _pytest.doctest import DoctestModule
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings

from karta_interpreter.base.sandbox import process
from karta_interpreter.languages.jq.bounded import evaluation
from karta_interpreter.languages.lua.machine import worker
from tests.support.catalogue_once import share_definitions, sharing
from tests.support.examples import EXAMPLES
from tests.support.forking import forking, write_program
from tests.support.rows import KINDS, choose, has_rows, is_chosen
from tests.support.waiting import HANG, Clock

# A busy machine takes long for some example, and a run may begin with many that a law is not about. A profile of
# Hypothesis' own, as for CI, stays what it is otherwise.
_MATTERS_OF_CHANCE = (HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large)
settings.register_profile(
    "suite", settings.default, deadline=None, max_examples=EXAMPLES, suppress_health_check=_MATTERS_OF_CHANCE
)
settings.load_profile("suite")

# Tests read hundreds of documents: libyaml takes a tenth of the time of the parser in Python.
yaml.SafeLoader = yaml.CSafeLoader  # type: ignore[misc, assignment]

share_definitions()

_TESTS = Path(__file__).parent
_CATALOGUE_TESTS, _SLOW = _TESTS / "catalogue", _TESTS / "proofs"
_WHOLE_CATALOGUE = {"entries", "load_catalogue", "swept_cases"}
"""What modules import that read the definitions of all kinds, or their suites."""

# On a busy machine the process for an expression, or a script, takes longer to start than that may take.
evaluation.EXPRESSION_SECONDS = 20.0  # type: ignore[misc]
worker.SECONDS = 20.0  # type: ignore[misc]
vars(process).update(_START_SECONDS=HANG)


@pytest.fixture
async def clock() -> Clock:
    """The clock of the test's event loop."""
    return Clock()


@pytest.fixture(scope="session")
def forks() -> Iterator[str]:
    """The address of a process that has imported all commands which need libraries of the base install only."""
    names = "catalogue create diff explain export interpret query replay test tree unregister validate verify"
    commands = (f"karta_interpreter.cli.{name}" for name in names.split())
    with forking("click.testing", *commands, "tests.support.first_definition") as address:
        yield address


@pytest.fixture(scope="session")
def commands(forks: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PATH with a `karta-interpreter` that is forked."""
    folder = tmp_path_factory.mktemp("commands")
    write_program(folder / "karta-interpreter", forks, "from karta_interpreter.cli import main; main()")
    return folder


def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are processors: some tests wait for a moment to pass, or for another process."""
    return (os.cpu_count() or 1) + 1


class Doctests:
    """Has pytest look for doctests in modules that have some; it would import all others for nothing."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        found = yield
        has_doctests = file_path.suffix != ".py" or b">>> " in file_path.read_bytes()
        return found if has_doctests else [each for each in found if not isinstance(each, DoctestModule)]


class WithoutSlow:
    """Collects no slow tests in a run without them, instead of collecting and dropping as many as it runs."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        return collection_path == _SLOW or None

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self, obj: object) -> list[pytest.Item] | None:
        is_slow = any(mark.name == "slow" for mark in getattr(obj, "pytestmark", ()))
        return [] if is_slow else None


class Reports:
    """Sends one report per test from the process that runs it: how it ended, and what went wrong before or after.

    Each test would be five messages, most of which only report that its set-up and its end went well. They took more
    time than many of the tests.
    """

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                report.keywords = {}  # dozens of words, which only a JUnit file would hold
                item.ihook.pytest_runtest_logreport(report=report)
        return True


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "try only the rows of tables with this word in their names, such as a kind, and no test without a table"
    parser.addoption("--rows", default="", metavar="WORD", help=text)


def pytest_configure(config: pytest.Config) -> None:
    choose(config.getoption("rows"))
    # A hook of this file itself is only called for files below its folder.
    config.pluginmanager.register(Doctests())
    if config.getoption("markexpr") == "not slow":
        config.pluginmanager.register(WithoutSlow())
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(Reports())


def pytest_collection() -> None:
    """Look for no garbage while tests are collected; it took a quarter of that time."""
    gc.disable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put tests that read the whole catalogue first: then one process reads it, and the others need not."""
    items.sort(key=lambda item: not _reads_catalogue(item))
    if config.getoption("rows"):
        items[:] = [item for item in items if _has_chosen_rows(item)]


def _has_chosen_rows(item: pytest.Item) -> bool:
    """Return whether a test has a table, or is the row of one (`make laws` makes a test of each)."""
    row = getattr(getattr(item, "callspec", None), "id", None)
    return has_rows(getattr(item, "obj", None)) or (row is not None and (KINDS in row or is_chosen(row)))


def _reads_catalogue(item: pytest.Item) -> bool:
    names = vars(getattr(item, "module", None) or object).keys()
    if item.get_closest_marker("catalogue") or item.path.parent == _CATALOGUE_TESTS:
        return True
    return not names.isdisjoint(_WHOLE_CATALOGUE)


def pytest_collection_finish() -> None:
    """Leave thousands of tests alone when garbage is looked for; it took a tenth of the time."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Load each made-up definition once for tests of what is done with definitions, and that replace no part of it."""
    is_given = item.path.is_relative_to(_TESTS / "engine") or item.path.is_relative_to(_TESTS / "export")
    with sharing() if is_given and "monkeypatch" not in getattr(item, "fixturenames", ()) else nullcontext():
        yield


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Leave alone what earlier files keep: each server in this process collects garbage, for 0.1 s without this."""
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()
