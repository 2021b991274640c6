"""Runs tests in processes that are forked when all tests are collected.

Each process of pytest-xdist imports and collects all tests itself, which took a seventh of the time of all tests.
"""

import atexit
import mmap
import os
import struct
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any, NoReturn

import pytest
from _pytest.runner import runtestprotocol

_NUMBER = struct.Struct("i")
_STATE = struct.Struct("ii")
_NONE = -1


@dataclass
class _Process:
    pid: int
    state: mmap.mmap
    """The numbers of the test that it runs and of the last group that it has taken, which outlast a crash."""


class Forked:
    """Runs the tests in so many processes. Each takes the tests of one group after the other, until none is left."""

    def __init__(self, count: int, group_of: Callable[[pytest.Item], object]) -> None:
        self._count, self._group_of = count, group_of

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or not session.items:
            return None
        _Run(session, self._group_of).run(self._count)
        return True


class _Run:
    def __init__(self, session: pytest.Session, group_of: Callable[[pytest.Item], object]) -> None:
        self._session, self._config = session, session.config
        self._folder: Path = vars(session.config)["_tmp_path_factory"].getbasetemp()
        numbers = range(len(session.items))
        self._groups = [list(each) for _, each in groupby(numbers, lambda number: group_of(session.items[number]))]
        self._untaken, given = os.pipe()
        """The numbers of the groups that no process has taken."""
        os.write(given, b"".join(map(_NUMBER.pack, range(len(self._groups)))))
        os.close(given)
        self._processes: dict[Connection, _Process] = {}
        self._started = 0
        self._unreported = {item.nodeid for item in session.items}

    def run(self, count: int) -> None:
        if terminal := self._config.pluginmanager.get_plugin("terminalreporter"):
            terminal.showfspath = False  # reports of several files come by turns
        try:
            for _ in range(min(count, len(self._groups))):
                self._fork([])
            while self._processes:
                for reports in wait(self._processes):
                    assert isinstance(reports, Connection)
                    self._read(reports)
        finally:
            self._take_all()
            for process in self._processes.values():
                os.waitpid(process.pid, 0)
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)
        assert not self._unreported, f"tests that nothing is known of: {self._unreported}"

    def _take_all(self) -> None:
        """Leave nothing to processes that end the group that they have taken."""
        while os.read(self._untaken, 1 << 16):
            pass

    def _read(self, reports: Connection) -> None:
        try:
            self._report(self._config.hook.pytest_report_from_serializable(config=self._config, data=reports.recv()))
        except EOFError:
            reports.close()
            self._end(self._processes.pop(reports))

    def _report(self, report: pytest.TestReport) -> None:
        self._config.hook.pytest_runtest_logreport(report=report)
        self._unreported.discard(report.nodeid)
        if self._session.shouldfail or self._session.shouldstop:
            self._take_all()

    def _end(self, process: _Process) -> None:
        """Report the test that a process crashed in, and have another one run the rest of its group."""
        status = os.waitstatus_to_exitcode(os.waitpid(process.pid, 0)[1])
        number, taken = _STATE.unpack(process.state)
        if number == _NONE:
            assert status == 0, f"a process ended with status {status} beside its tests"
            return
        item = self._session.items[number]
        why = f"the process of the test ended with status {status}"
        self._report(pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call"))
        (group,) = (each for each, tests in enumerate(self._groups) if number in tests)
        rest = [each for each in self._groups[group] if each > number]
        if taken == group:
            self._fork(rest)
        else:
            self._fork([*rest, *self._groups[taken]], taken)

    def _fork(self, tests: list[int], taken: int = _NONE) -> None:
        """Start a process that runs tests before it takes others."""
        reports, sent = Pipe(duplex=False)
        state = mmap.mmap(-1, _STATE.size)
        state[:] = _STATE.pack(_NONE, taken)
        self._started += 1
        self._config.get_terminal_writer().flush()
        if pid := os.fork():
            sent.close()
            self._processes[reports] = _Process(pid, state)
            return
        for each in (reports, *self._processes):
            each.close()
        self._be_process(tests, sent, state)

    def _be_process(self, tests: list[int], reports: Connection, state: mmap.mmap) -> NoReturn:
        status = 1
        try:
            self._set_up(reports)
            try:
                self._run_tests(tests, state)
            finally:
                self._session._setupstate.teardown_exact(None)  # noqa: SLF001
                self._config._ensure_unconfigure()  # noqa: SLF001
                atexit._run_exitfuncs()  # noqa: SLF001
            status = 0
        except KeyboardInterrupt:
            pass  # the process that has forked this one says so
        except BaseException:  # noqa: BLE001 - the edge of a process
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)

    def _run_tests(self, tests: list[int], state: mmap.mmap) -> None:
        chosen = self._chosen(tests, state)
        number = next(chosen, _NONE)
        while number != _NONE:
            _NUMBER.pack_into(state, 0, number)
            item, following = self._session.items[number], next(chosen, _NONE)
            nextitem = None if following == _NONE else self._session.items[following]
            item.ihook.pytest_runtest_protocol(item=item, nextitem=nextitem)
            number = following
        _NUMBER.pack_into(state, 0, _NONE)

    def _chosen(self, tests: list[int], state: mmap.mmap) -> Iterator[int]:
        yield from tests
        while read := os.read(self._untaken, _NUMBER.size):
            (taken,) = _NUMBER.unpack(read)
            _NUMBER.pack_into(state, _NUMBER.size, taken)
            yield from self._groups[taken]

    def _set_up(self, reports: Connection) -> None:
        """Have a process write nothing into files or to the terminal that are those of other processes, too."""
        plugins = self._config.pluginmanager
        plugins.unregister(name="terminalreporter")
        plugins.register(_Reports(self._config, reports))
        if capture := plugins.get_plugin("capturemanager"):
            capture.stop_global_capturing()
            capture.start_global_capturing()
            capture.suspend_global_capture()
        folder = self._folder / f"process-{self._started}"
        folder.mkdir(mode=0o700)
        vars(vars(self._config)["_tmp_path_factory"])["_basetemp"] = folder


class _Reports:
    """Sends one report per test: how it ended, and what went wrong before or after."""

    def __init__(self, config: pytest.Config, reports: Connection) -> None:
        self._config, self._reports = config, reports

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                report.keywords = {}  # dozens of words, which only a JUnit file would hold
                item.ihook.pytest_runtest_logreport(report=report)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data: dict[str, Any] = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._reports.send(data)
