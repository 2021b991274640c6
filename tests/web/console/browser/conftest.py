"""The real console in a real headless Chromium; `make console-test` builds the page and runs these tests.

They are left out of `make test`, which needs neither npm nor a browser.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from karta_interpreter.web.console.application import STATIC
from tests.support.waiting import HANG

ROOT = Path(__file__).parents[4]
collect_ignore = ["measure.py"]  # a program, with no examples in it
_ASKED = "CONSOLE_TEST"
_ARGUMENTS = ["--no-sandbox"]  # in a container there is often no user namespace for its sandbox

Open = Callable[..., Any]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of this folder, unless `make console-test` asks for them."""
    if os.environ.get(_ASKED):
        return
    folder = str(Path(__file__).parent)
    for item in items:
        if str(item.path).startswith(folder):  # of thousands: paths themselves take long to compare
            item.add_marker(pytest.mark.skip(reason="`make console-test` runs it"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only where it is installed

    assert (STATIC / "index.html").is_file(), "run `make console` before"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=_ARGUMENTS)
        yield chromium
        chromium.close()


def wait(page: Any, holds: Callable[[], object]) -> None:
    """Return when something holds in a page, whose policy allows no script of a test to wait there."""
    end = time.monotonic() + HANG
    while not holds():
        assert time.monotonic() < end, holds
        page.wait_for_timeout(20)


@contextmanager
def started(*arguments: str) -> Iterator[str]:
    """A process of the program; the address of its console, which it prints."""
    command = [sys.executable, "-m", "karta_interpreter", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT) as process:
        assert process.stdout
        try:
            yield _address(process.stdout)
        finally:
            process.terminate()
            process.wait(HANG)


def _address(lines: Iterable[str]) -> str:
    printed = []
    for line in lines:
        printed.append(line)
        if found := re.search(r"http://[^\s\"]*#token=[\w-]+", line):
            return found[0]
    raise AssertionError("".join(printed))


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """The address of a console with a saved folder."""
    with started("console", "--no-open", "--port", "0", "--from", "docs/examples/member") as address:
        yield address


@pytest.fixture
def errors() -> list[str]:
    """What the pages of a test have logged as errors, violations of the Content-Security-Policy among them."""
    return []


@pytest.fixture
def requests() -> list[str]:
    """The addresses that the pages of a test have asked for."""
    return []


@pytest.fixture
def open_page(browser: Any, url: str, errors: list[str], requests: list[str]) -> Iterator[Open]:
    """Open a page of the console; at the end, it must have logged no error."""
    contexts = []

    def opened(
        path: str = "/", *, address: str = url, width: int = 1280, height: int = 860, theme: str = "light"
    ) -> Any:
        size = {"width": width, "height": height}
        context = browser.new_context(viewport=size, color_scheme=theme, reduced_motion="reduce")
        context.set_default_timeout(HANG * 1000)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        page.wait_for_selector('[data-operation="InterpretReplica"]')
        if path != "/":
            page.goto(address.partition("/#")[0] + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []
