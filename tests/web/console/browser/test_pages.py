"""Pages of catalogue and member, accessibility at every size and theme, and the pictures of the documentation."""

import os
from typing import Any

import pytest

from tests.web.console.browser.conftest import ROOT, Open, started, wait

AXE = ROOT / "interpreter" / "console" / "node_modules" / "axe-core" / "axe.min.js"
PICTURES = ROOT / "docs" / "console"
PAGES = ["/", "/catalogue", "/catalogue/ray.io/v1/RayCluster", "/member"]
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
    page.get_by_label("Search kinds").fill("ray.io/v1 kuberay cluster")
    wait(page, lambda: page.locator(".kinds tbody tr").count() == 1)
    page.get_by_role("link", name="RayCluster", exact=True).click()
    page.get_by_role("heading", name="Compared with real controllers").wait_for()
    assert page.get_by_role("rowheader", name="kuberay").count() == 1
    page.get_by_role("button", name="a suspended group").first.click()
    wait(page, lambda: "suspend" in page.locator("[data-text=object] .cm-content").inner_text())


def test_catalogue_is_filtered_by_group_and_operation(open_page: Open) -> None:
    page = open_page("/catalogue")
    page.get_by_label("Group").select_option("ray.io")
    wait(page, lambda: page.locator(".kinds tbody tr").count() == 4)
    page.get_by_label("Operation").select_option("InterpretComponent")
    wait(page, lambda: 0 < page.locator(".kinds tbody tr").count() <= 4)
    page.get_by_label("Operation").select_option("ReviseReplica")
    wait(page, lambda: 0 < page.locator(".kinds tbody tr").count() < 4)
    page.get_by_role("link", name="RayCluster", exact=True).click()
    page.get_by_text("with MultiplePodTemplatesScheduling InterpretComponent instead of").wait_for()


def test_row_of_the_catalogue_opens_where_it_is_clicked(open_page: Open) -> None:
    page = open_page("/catalogue?search=ray.io/v1+kuberay+cluster")
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


def test_small_screen_shows_one_part_at_a_time(open_page: Open) -> None:
    page = open_page(width=400, height=800)
    shown = page.get_by_role("group", name="Shown")
    for name, place in (("Karta", ".pane-karta"), ("Objects", ".pane-objects"), ("Answers", ".answers")):
        shown.get_by_role("button", name=name).click()
        parts = (".pane-karta", ".pane-objects", ".answers")
        assert [each for each in parts if page.locator(each).is_visible()] == [place]
        assert page.evaluate("document.querySelector('main').scrollHeight") <= 800


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


@pytest.mark.skipif(not os.environ.get("PICTURES"), reason="PICTURES=1 writes docs/console")
def test_picture_of_the_tree(open_page: Open) -> None:
    """The object of docs/cli.md, so that the page can be compared with what `tree` prints there."""
    with started("console", "--no-open", "--port", "0", "--object", "docs/examples/live/object.yaml") as address:
        page = open_page(address=address, width=1280, height=860)
        page.get_by_text("nvidia.com/gpu").first.wait_for()
        page.locator("[aria-labelledby=tree-title]").screenshot(path=PICTURES / "tree.png")


def test_search_without_a_kind_says_so(open_page: Open) -> None:
    page = open_page("/catalogue?search=ray.io+nothing")
    page.get_by_text("No kind has all of this").wait_for()
    assert not page.locator(".kinds").is_visible()


def test_versions_are_on_one_line(open_page: Open) -> None:
    page = open_page("/catalogue?search=apps.kruise.io/v1alpha1")
    page.locator(".kinds tbody tr").first.wait_for()
    heights = "[...document.querySelectorAll('.kinds tbody tr')].map(row => row.clientHeight)"
    assert max(page.evaluate(heights)) < 40


@pytest.mark.parametrize("path", ["/?kind=example.com/v1/Nothing", "/catalogue/example.com/v1/Nothing"])
def test_address_of_a_kind_without_a_definition_names_it(open_page: Open, errors: list[str], path: str) -> None:
    page = open_page(path)
    page.get_by_text("there is no definition for this kind").filter(has_text="example.com/v1/Nothing").wait_for()
    page.get_by_text("Loading").wait_for(state="hidden")
    assert all("404" in errors.pop() for _ in [*errors])  # the browser's own line about the answer


def test_kind_in_small_letters_leads_to_its_page(open_page: Open, errors: list[str]) -> None:
    page = open_page("/catalogue/apps/v1/deployment")
    page.get_by_role("link", name="apps/v1/Deployment").click()
    page.get_by_role("heading", name="Deployment apps/v1").wait_for()
    assert all("404" in errors.pop() for _ in [*errors])


def test_slash_at_the_end_of_an_address_changes_nothing(open_page: Open) -> None:
    open_page("/catalogue/").get_by_role("link", name="RayCluster", exact=True).wait_for()


def test_unknown_address_has_a_page(open_page: Open) -> None:
    page = open_page("/nowhere/at-all")
    page.wait_for_selector("text=There is no such page")
    page.get_by_role("link", name="the catalogue").click()
    page.get_by_role("link", name="RayCluster", exact=True).wait_for()
