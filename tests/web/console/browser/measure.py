"""Measures the console in a browser: ``python -m tests.web.console.browser.measure`` after ``make console-test``.

How long the answers take after a key in an object of 24 KB, how long the page takes to paint, and the latency of the
webhook of a server while its console is used, in turns with none.
"""

import http.client
import json
import shutil
import socket
import sys
import threading
import time
from statistics import median
from typing import Any

import yaml
from playwright.sync_api import sync_playwright

from tests.web.console.browser.conftest import started
from tests.web.console.browser.test_workbench import put
from tests.web.console.test_listener import REVIEW

_SIZE = 24_000
_KEYS = 40
_PAUSE = 150
_TURNS = 5
_CALLS = 1500
_GROUP = {"groupName": "g", "replicas": 2, "minReplicas": 0, "maxReplicas": 9, "rayStartParams": {"num-gpus": "1"}}


def large_object() -> str:
    """A RayCluster of 24 KB."""
    groups: list[Any] = []
    obj: Any = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "large", "namespace": "ml"}}
    text = ""
    while len(text) < _SIZE:
        container = {
            "name": "ray-worker",
            "image": "registry.example/ray:2.46.0",
            "env": [{"name": f"SETTING_{number}", "value": f"value-{number}"} for number in range(6)],
            "resources": {"requests": {"cpu": str(len(groups) + 1), "memory": "8Gi"}, "limits": {"nvidia.com/gpu": 1}},
        }
        template = {"spec": {"containers": [container], "serviceAccountName": "ray"}}
        groups.append({**_GROUP, "groupName": f"group-{len(groups)}", "template": template})
        obj["spec"] = {"headGroupSpec": {"rayStartParams": {}, "template": template}, "workerGroupSpecs": groups}
        text = yaml.safe_dump(obj, sort_keys=False)
    return text


def main() -> None:
    """Print what was measured."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with started("console", "--no-open", "--port", "0") as url:
            page = opened(browser, url)
            paints = []
            for _ in range(5):
                page.reload()
                page.wait_for_selector("[data-operation] .line")
                paints.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
            show("first paint", paints)
            show(f"answers after a key, object of {_SIZE // 1000} KB", typed(page))
        measure_webhook(browser)
        browser.close()


def opened(browser: Any, url: str) -> Any:
    """A page with the large object."""
    page = browser.new_page()
    page.goto(url)
    page.wait_for_selector("[data-operation] .line")
    put(page, "object", large_object())
    page.locator(".box", has_text="group-0").wait_for()
    page.wait_for_timeout(1500)
    return page


def typed(page: Any, keys: int = _KEYS) -> list[float]:
    """Type into the object; milliseconds from each key to its answers on the page."""
    page.locator('.editor[data-text="object"] .cm-line', has_text="name: large").first.click()
    page.keyboard.press("End")
    page.evaluate("performance.clearMeasures('answer')")
    for _ in range(keys):
        page.keyboard.type("x")
        page.wait_for_timeout(_PAUSE)
    found: list[float] = page.evaluate("performance.getEntriesByName('answer').map(each => each.duration)")
    return found


def measure_webhook(browser: Any) -> None:
    """Ask a server in turns with and without a user of its console."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    arguments = [
        "--port",
        str(port),
        "--plain-http",
        "--console-port",
        "0",
        "--grace-period",
        "0",
    ]
    with started("serve", *arguments) as url:
        page = opened(browser, url)
        quiet: list[float] = []
        used: list[float] = []
        for _ in range(_TURNS):
            quiet += calls(port)
            results: list[float] = []
            thread = threading.Thread(target=lambda: results.extend(calls(port)))  # noqa: B023 - joined below
            thread.start()
            while thread.is_alive():
                page.keyboard.type("x")
                page.wait_for_timeout(100)
            thread.join()
            used += results
        show("webhook, idle console", quiet)
        show("webhook, typing in the console", used)


def calls(port: int) -> list[float]:
    """Milliseconds of calls one after the other on one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    body, found = json.dumps(REVIEW), []
    for _ in range(_CALLS):
        begin = time.perf_counter()
        connection.request("POST", "/interpret", body, {"Content-Type": "application/json"})
        connection.getresponse().read()
        found.append(1000 * (time.perf_counter() - begin))
    connection.close()
    return found


def show(what: str, milliseconds: list[float]) -> None:
    """Print the median and the 90th and 99th percentile."""
    found = sorted(milliseconds)
    high = [found[min(int(len(found) * share), len(found) - 1)] for share in (0.9, 0.99)]
    sys.stdout.write(
        f"{what}: median {median(found):.2f} ms, 90 % {high[0]:.2f} ms, 99 % {high[1]:.2f} ms ({len(found)})\n"
    )


if __name__ == "__main__":
    main()
