"""Measures the console in a browser: ``python -m tests.web.console.browser.measure`` after ``make console-test``.

How long the answers take after a key in an object of 24 KB, and how long the page takes to paint.
"""

import shutil
import sys
from statistics import median
from typing import Any

import yaml
from playwright.sync_api import sync_playwright

from tests.web.console.browser.conftest import started
from tests.web.console.browser.test_workbench import put

_SIZE = 24_000
_KEYS = 40
_PAUSE = 150
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


def show(what: str, milliseconds: list[float]) -> None:
    """Print the median and the 90th and 99th percentile."""
    found = sorted(milliseconds)
    high = [found[min(int(len(found) * share), len(found) - 1)] for share in (0.9, 0.99)]
    sys.stdout.write(
        f"{what}: median {median(found):.2f} ms, 90 % {high[0]:.2f} ms, 99 % {high[1]:.2f} ms ({len(found)})\n"
    )


if __name__ == "__main__":
    main()
