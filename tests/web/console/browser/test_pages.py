"""Catalogue and server pages, accessibility at every size and theme, and the pictures of the documentation."""

import json
import os
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.proofs.rig.processes import free_port
from tests.web.console.browser.conftest import ROOT, Open, started, wait
from tests.web.console.test_answers import KARTA
from tests.web.console.test_listener import REVIEW
from tests.web.types_api.types_server import TOKEN, TYPES, workload_type

AXE = ROOT / "interpreter" / "console" / "node_modules" / "axe-core" / "axe.min.js"
PICTURES = ROOT / "docs" / "console"
PAGES = ["/", "/catalogue", "/catalogue/ray.io/v1/RayCluster", "/server", "/member"]
SERVE = ["serve", "--console-port", "0", "--plain-http", "--grace-period", "0"]
SIZES = [(1280, 860), (400, 800)]


def loaded(page: Any, path: str) -> None:
    """Wait until a page shows what it is about."""
    page.wait_for_selector({"/": "[data-operation] .line"}.get(path, ".page h1"))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("path", PAGES)
def test_page_has_no_finding_of_axe(open_page: Open, path: str, size: tuple[int, int], theme: str) -> None:
    page = open_page(path, width=size[0], height=size[1], theme=theme)
    loaded(page, path)
    for details in page.locator("details.why").all():
        details.evaluate("each => { each.open = true; }")
    if path == "/":
        page.locator(".step").first.wait_for()
    assert violations(page) == []
    if path == "/":
        page.get_by_role("button", name="Compare").click()
        assert violations(page) == []


def violations(page: Any) -> list[Any]:
    """What axe finds on a page, of any impact."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run({resultTypes: ['violations']}).then(found => found.violations)")
    return [(each["id"], [node["html"][:120] for node in each["nodes"][:3]]) for each in found]


@pytest.mark.parametrize("path", PAGES)
def test_pages_fit_a_small_screen(open_page: Open, path: str) -> None:
    page = open_page(path, width=400, height=800)
    loaded(page, path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    assert page.evaluate("document.querySelector('main').scrollWidth") <= 400


def test_catalogue_is_searched(open_page: Open) -> None:
    page = open_page("/catalogue")
    page.get_by_label("Search kinds").fill("kuberay cluster")
    wait(page, lambda: page.locator(".kinds tbody tr").count() == 1)
    page.get_by_role("link", name="RayCluster").click()
    page.get_by_role("heading", name="Compared with real controllers").wait_for()
    assert page.get_by_role("rowheader", name="kuberay").count() == 1
    page.get_by_role("button", name="a suspended group").first.click()
    wait(page, lambda: "suspend" in page.locator("[data-text=object] .cm-content").inner_text())


def test_catalogue_is_filtered_by_group_and_operation(open_page: Open) -> None:
    page = open_page("/catalogue")
    page.get_by_label("Group").select_option("ray.io")
    wait(page, lambda: page.locator(".kinds tbody tr").count() == 4)
    page.get_by_label("Operation").select_option("ReviseReplica")
    wait(page, lambda: 0 < page.locator(".kinds tbody tr").count() < 4)
    page.get_by_role("link", name="RayCluster").click()
    page.get_by_text("with MultiplePodTemplatesScheduling InterpretComponent instead of").wait_for()


def test_row_of_the_catalogue_opens_where_it_is_clicked(open_page: Open) -> None:
    page = open_page("/catalogue?search=kuberay+cluster")
    wait(page, lambda: page.locator(".kinds tbody tr").count() == 1)
    page.locator(".kinds tbody td").first.click()
    page.get_by_role("heading", name="Compared with real controllers").wait_for()
    page.go_back()
    wait(page, lambda: page.locator(".kinds tbody tr").count() == 1)


def test_columns_of_tables_fit_a_small_screen(open_page: Open) -> None:
    page = open_page("/catalogue/ray.io/v1/RayCluster", width=400, height=800)
    page.locator(".scroll").first.wait_for()
    assert [
        box
        for box in page.evaluate("[...document.querySelectorAll('.scroll')].map(b => b.scrollWidth - b.clientWidth)")
        if box > 0
    ] == []
    assert page.locator("td[data-label=cases]").first.is_visible()


def test_saved_folder_is_shown_with_its_differences(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("link", name="Member").click()
    page.get_by_role("heading", name="Causes of differences: 3").wait_for()
    assert page.get_by_role("region", name="Results").get_by_text("differs").count() == 6


def test_bar_of_failing_calls_is_not_green(open_page: Open) -> None:
    port = free_port()
    with started(*SERVE, "--port", str(port)) as address:
        failing = json.loads(json.dumps(REVIEW).replace('"parallelism": 2', '"parallelism": "x"'))
        assert posted(f"http://127.0.0.1:{port}/interpret", failing, {"Content-Type": "application/json"}) == 200
        page = open_page("/server", address=address)
        assert page.locator("meter").first.evaluate("meter => meter.high < meter.value && meter.optimum < meter.low")
        page.close()


def test_small_screen_shows_one_part_at_a_time(open_page: Open) -> None:
    page = open_page(width=400, height=800)
    shown = page.get_by_role("group", name="Shown")
    for name, place in (("Karta", ".pane-karta"), ("Objects", ".pane-objects"), ("Answers", ".answers")):
        shown.get_by_role("button", name=name).click()
        parts = (".pane-karta", ".pane-objects", ".answers")
        assert [each for each in parts if page.locator(each).is_visible()] == [place]
        assert page.evaluate("document.querySelector('main').scrollHeight") <= 800


def test_kind_added_to_server_shows_up(open_page: Open, tmp_path: Path) -> None:
    with started(*SERVE, "--port", "0", "--kartas", str(tmp_path)) as address:
        page = open_page("/catalogue", address=address)
        page.get_by_label("Search kinds").fill("crawler")
        page.wait_for_selector("text=0 of")
        (tmp_path / "crawler.yaml").write_text(KARTA)
        (tmp_path / "broken.yaml").write_text(KARTA.replace("kind: Crawler", "kind: Broken").replace("// 1", "//"))
        page.get_by_role("link", name="Server", exact=True).click()
        page.wait_for_selector("text=Quarantined: 1")
        page.get_by_role("link", name="Catalogue", exact=True).click()
        page.get_by_label("Search kinds").fill("crawler")
        page.get_by_role("link", name="Crawler").wait_for()


def test_registered_type_shows_up(open_page: Open, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(f"{TOKEN} ada\n")
    (tmp_path / "types").mkdir()
    port = free_port()
    stored = ["--types-folder", str(tmp_path / "types"), "--types-token-file", str(tmp_path / "tokens")]
    with started(*SERVE, "--port", "0", "--types-api", f"127.0.0.1:{port}", *stored) as address:
        page = open_page("/catalogue", address=address)
        page.get_by_label("Search kinds").fill("GrainMill")
        page.wait_for_selector("text=0 of")
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        assert posted(f"http://127.0.0.1:{port}{TYPES}", workload_type(), headers) == 201
        page.get_by_role("link", name="Server", exact=True).click()
        page.get_by_role("link", name="Catalogue", exact=True).click()
        page.get_by_label("Search kinds").fill("GrainMill")
        page.get_by_role("link", name="GrainMill").click()
        page.get_by_role("button", name="Open in the workbench").click()
        wait(page, lambda: "GrainMill" in page.locator("[data-text=karta] .cm-content").inner_text())


def posted(url: str, body: Any, headers: dict[str, str]) -> int:
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 - our own server
    with urllib.request.urlopen(request) as response:  # noqa: S310
        status: int = response.status
        return status


def test_calls_of_a_server_show_up(open_page: Open) -> None:
    port = free_port()
    with started(*SERVE, "--port", str(port)) as address:
        assert posted(f"http://127.0.0.1:{port}/interpret", REVIEW, {"Content-Type": "application/json"}) == 200
        page = open_page("/server", address=address)
        page.get_by_role("rowheader", name="batch/v1/Job").wait_for()
        page.close()  # it asks the server again and again


@pytest.mark.skipif(not os.environ.get("PICTURES"), reason="PICTURES=1 writes docs/console")
def test_pictures(open_page: Open) -> None:
    PICTURES.mkdir(exist_ok=True)
    for name, path, theme, (width, height) in (
        ("workbench", "/", "light", (1280, 800)),
        ("workbench-dark", "/", "dark", (1280, 800)),
        ("kind", "/catalogue/ray.io/v1/RayCluster", "light", (1280, 800)),
        ("small", "/", "dark", (400, 800)),
    ):
        page = open_page(path, width=width, height=height, theme=theme)
        loaded(page, path)
        if path == "/" and width > 400:
            page.locator('[data-pointer="/replica"]').hover()
        page.screenshot(path=PICTURES / f"{name}.png")


def test_unknown_address_has_a_page(open_page: Open) -> None:
    page = open_page()
    page.evaluate("history.pushState(null, '', '/nowhere'); dispatchEvent(new PopStateEvent('popstate'))")
    page.wait_for_selector("text=There is no such page")
    page.get_by_role("link", name="the catalogue").click()
    page.get_by_role("link", name="RayCluster").wait_for()
