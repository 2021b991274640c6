"""The workbench: what its user types, chooses, hovers over and shares."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from karta_interpreter.cli.program import program
from karta_interpreter.definitions.karta import catalogue_kinds
from karta_interpreter.engine.suites.suite import read_suite
from tests.web.console.browser.conftest import ROOT, Open, started, wait
from tests.web.console.test_answers import CRD, KARTA, OBJECT

TEN = [
    "batch/v1/Job",
    "apps/v1/StatefulSet",
    "ray.io/v1/RayCluster",
    "ray.io/v1/RayJob",
    "kubeflow.org/v1/PyTorchJob",
    "jobset.x-k8s.io/v1alpha2/JobSet",
    "leaderworkerset.x-k8s.io/v1/LeaderWorkerSet",
    "argoproj.io/v1alpha1/Workflow",
    "serving.kserve.io/v1beta1/InferenceService",
    "batch.volcano.sh/v1alpha1/Job",
]
ALL_LINES = """
    cards => Object.fromEntries(cards.map(card => [card.dataset.operation,
      Object.fromEntries([...card.querySelectorAll(".line")].map(line =>
        [line.dataset.pointer, line.querySelector(".value")?.textContent ?? ""]))]))
"""


STATUS = """\
- clusterName: member3
  applied: true
  status: {} # what is below status in the object of this cluster
"""
ACCEPTS = 200
"""Milliseconds after which the editor takes a key for an answer to its list, and not for a part of the text."""
PASTE = """
    (editor, text) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", text);
      editor.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }
"""


def put(page: Any, name: str, text: str) -> None:
    """Paste a text over that of an editor."""
    editor = page.locator(f'.editor[data-text="{name}"] .cm-content')
    editor.focus()
    page.keyboard.press("Control+a")
    editor.evaluate(PASTE, text)


def text_of(page: Any, name: str) -> str:
    """The whole text of an editor, of which only the visible lines are in the page."""
    found: str = page.evaluate(
        f"""document.querySelector('.editor[data-text="{name}"] .cm-content').cmTile.view.state.doc.toString()"""
    )
    return found


def choose(page: Any, label: str, text: str) -> None:
    """Type what to choose, and choose what the list shows first."""
    page.get_by_label(label, exact=True).fill(text)
    page.keyboard.press("Enter")


def tab_to(page: Any, label: str) -> None:
    """Press Tab until the focus is where a label or a text says."""
    focused = "[document.activeElement.ariaLabel, document.activeElement.textContent]"
    for _ in range(200):
        if label in page.evaluate(focused):
            return
        page.keyboard.press("Escape")  # an editor keeps Tab for itself
        page.keyboard.press("Tab")
    raise AssertionError(f"no Tab leads to {label}")


def shared_by(page: Any, folder: Path) -> Path:
    """Share the texts of a page; the file."""
    with page.expect_download() as given:
        page.get_by_role("button", name="Share").press("Enter")
    file: Path = folder / given.value.suggested_filename
    given.value.save_as(file)
    return file


def card(page: Any, operation: str) -> Any:
    return page.locator(f'[data-operation="{operation}"]')


def lit(page: Any, name: str) -> list[str]:
    """The texts that are lit in an editor."""
    found: list[str] = page.locator(f'.editor[data-text="{name}"] .lit').all_inner_texts()
    return found


def test_mistake_shows_its_finding_while_typed(open_page: Open) -> None:
    page = open_page()
    put(page, "karta", KARTA)
    put(page, "object", OBJECT)
    page.wait_for_selector("text=no findings")
    line = page.locator('.editor[data-text="karta"] .cm-line', has_text="replicasPath")
    line.click()
    page.keyboard.press("End")
    page.keyboard.type(" | (", delay=5)

    page.locator(".findings .error").wait_for()
    assert page.locator(".findings .where").first.inner_text().startswith("15:")
    page.locator('.editor[data-text="karta"] .cm-lint-marker-error').first.wait_for()
    assert page.locator(".empty").inner_text().startswith("Karta, line 15: expected an expression")


def test_line_that_is_typed_in_stays_visible_above_its_findings(open_page: Open) -> None:
    page = open_page()
    choose(page, "Kind", "ray.io/v1/RayCluster")
    wait(page, lambda: "RayCluster" in text_of(page, "object"))
    page.locator('.editor[data-text="karta"] .cm-content').focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("spe", delay=5)
    page.locator(".pane-karta .findings .error").wait_for()

    def bottom(place: str) -> float:
        box = page.locator(f".pane-karta {place}").bounding_box()
        return float(box["y"] + box["height"])

    wait(page, lambda: bottom(".cm-cursor-primary") <= bottom(".editor"))


@pytest.mark.parametrize("kind", TEN)
def test_answers_are_those_of_the_command_line(open_page: Open, kind: str, tmp_path: Any) -> None:
    page = open_page()
    choose(page, "Kind", kind)
    name = kind.rpartition("/")[2]
    page.wait_for_selector(f'[role=status]:has-text("{name} by")')
    wait(page, lambda: f"kind: {name}\n" in text_of(page, "object"))
    wait(page, lambda: page.locator(".cards .card").count() > 8)
    while (more := page.locator(".lines button.link")).count():
        more.first.click()
    (tmp_path / "karta.yaml").write_text(text_of(page, "karta"))
    (tmp_path / "object.yaml").write_text(text_of(page, "object"))
    shown = page.eval_on_selector_all("[data-operation]", ALL_LINES)

    files = ["-f", str(tmp_path / "karta.yaml"), "--desired-file", str(tmp_path / "object.yaml"), "-o", "json"]
    result = CliRunner().invoke(program, ["interpret", *files])
    printed = json.loads(result.stdout)["operations"]
    assert len(printed) >= 4
    for operation, answer in printed.items():
        if "results" in answer:
            assert shown[operation] == lines(answer["results"]), operation


def lines(value: Any, pointer: str = "") -> dict[str, str]:
    """What the page shows of a value, by JSON Pointers."""
    children = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    found = {} if pointer == "" else {pointer: ""}
    for key, child in children:
        found |= lines(child, f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}")
    if children:
        return found
    text = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
    return {pointer: text if len(text) <= 160 else f"{text[:159]}…"}


def test_hovering_an_answer_lights_the_expression_and_the_place(open_page: Open) -> None:
    page = open_page()
    put(page, "karta", KARTA)
    put(page, "object", OBJECT)
    line = card(page, "InterpretReplica").locator('[data-pointer="/replica"]')
    line.hover()

    page.locator('.editor[data-text="karta"] .lit-expression').first.wait_for()
    assert lit(page, "karta") == [".spec.replicas // 1"]
    assert "3" in lit(page, "object")
    page.locator("h2", has_text="Answers").hover()
    wait(page, lambda: page.locator(".lit").count() == 0)


def test_keyboard_lights_and_pins_places(open_page: Open) -> None:
    page = open_page()
    put(page, "karta", KARTA)
    put(page, "object", OBJECT)
    line = card(page, "InterpretReplica").locator('[data-pointer="/replica"]')
    line.hover()
    # The answer is that to both texts: one that comes later would take the place of the line that has the focus.
    wait(page, lambda: lit(page, "karta") == [".spec.replicas // 1"] and "3" in lit(page, "object"))
    page.locator("h2", has_text="Answers").hover()
    wait(page, lambda: page.locator(".lit").count() == 0)
    line.focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.locator('.editor[data-text="karta"] .lit-expression').first.wait_for()
    page.keyboard.press("Escape")
    wait(page, lambda: page.locator(".lit").count() == 0)


def test_other_replicas_show_the_patch(open_page: Open) -> None:
    page = open_page()
    put(page, "karta", KARTA)
    put(page, "object", OBJECT)
    page.get_by_label("Revise to").fill("12")
    line = card(page, "ReviseReplica").locator('[data-pointer="/revised/spec/replicas"]')
    wait(page, lambda: line.locator(".value").all_inner_texts() == ["12"])
    assert line.locator("del").inner_text() == "3"


def test_statuses_of_chosen_clusters_are_aggregated(open_page: Open) -> None:
    page = open_page()
    choose(page, "Kind", "ray.io/v1/RayCluster")
    wait(page, lambda: "RayCluster" in text_of(page, "object"))
    page.get_by_role("tab", name="Clusters").click()
    page.get_by_role("button", name="Clear").click()
    card(page, "AggregateStatus").get_by_text("Choose clusters").wait_for()
    for _ in range(2):
        page.get_by_label("Add a cluster").click()
        page.get_by_role("listbox").get_by_role("option").nth(2).click()
    wait(page, lambda: card(page, "AggregateStatus").locator(".line").count() > 1)
    assert text_of(page, "items").count("clusterName: member") == 2
    card(page, "AggregateStatus").locator(".line").nth(1).hover()
    page.locator('.editor[data-text="items"] .lit').first.wait_for()


def test_fields_and_values_are_completed_from_the_schema(open_page: Open) -> None:
    page = open_page()
    put(
        page,
        "karta",
        "apiVersion: run.ai/v1alpha1\nkind: Karta\nspec:\n  structureDefinition:\n    rootComponent:\n      scaleD",
    )
    page.keyboard.press("Control+Space")
    page.locator(".cm-tooltip-autocomplete >> text=scaleDefinition").wait_for()
    page.wait_for_timeout(ACCEPTS)
    page.keyboard.press("Enter")
    page.keyboard.type("min")
    page.locator(".cm-tooltip-autocomplete >> text=minReplicasPath").wait_for()
    page.locator(".cm-completionInfo").wait_for()
    page.wait_for_timeout(ACCEPTS)
    page.keyboard.press("Enter")
    assert text_of(page, "karta").endswith("      scaleDefinition:\n        minReplicasPath: ")


def test_shared_file_is_opened_by_another_console_in_another_browser(open_page: Open, tmp_path: Path) -> None:
    page = open_page()
    put(page, "karta", KARTA)
    put(page, "object", OBJECT)
    page.get_by_label("Revise to").fill("5")
    file = shared_by(page, tmp_path)
    with started("console", "--no-open", "--port", "0") as address:
        other = open_page(address=address)
        choosers: list[Any] = []

        def keep(chooser: Any) -> None:
            choosers.append(chooser)

        other.on("filechooser", keep)  # before the keys: Playwright does not wait until the page is told
        tab_to(other, "Open a file as Karta")
        other.keyboard.press("Enter")
        wait(other, lambda: bool(choosers))
        choosers[0].set_files(file)
        wait(other, lambda: (text_of(other, "karta"), text_of(other, "object")) == (KARTA, OBJECT))
        assert other.get_by_label("Revise to").input_value() == "5"


def test_keyboard_types_a_kind_and_then_chooses_it(open_page: Open, requests: list[str]) -> None:
    page = open_page()
    before = text_of(page, "object")
    kind = page.get_by_label("Kind", exact=True)
    tab_to(page, "Kind")
    page.keyboard.type("RayCluster", delay=20)
    options = page.get_by_role("listbox").get_by_role("option")
    wait(page, lambda: options.count() == 2)
    assert options.all_inner_texts()[0].split() == ["RayCluster", "ray.io/v1"]
    assert text_of(page, "object") == before
    page.keyboard.press("Escape")
    wait(page, lambda: (options.count(), kind.input_value()) == (0, ""))
    for number in range(3):
        page.keyboard.press("ArrowDown")
        wait(page, lambda: kind.get_attribute("aria-activedescendant") == f"choice-Kind-{number}")  # noqa: B023 - at once
        assert page.locator('[role=option][aria-selected="true"]').get_attribute("id") == f"choice-Kind-{number}"
    page.keyboard.press("Tab")
    wait(page, lambda: options.count() == 0)
    assert text_of(page, "object") == before
    assert not [each for each in requests if "/api/kinds/" in each]

    tab_to(page, "Kind")
    page.keyboard.type("raycluster")
    page.keyboard.press("Enter")
    wait(page, lambda: "kind: RayCluster" in text_of(page, "object"))
    wait(page, lambda: kind.input_value() == "RayCluster")

    tab_to(page, "Example")
    page.keyboard.type("suspended group")
    page.keyboard.press("Enter")
    wait(page, lambda: "suspend: true" in text_of(page, "object"))
    for label in ("Open a file as Object", "Copy object.yaml", "Options", "Share"):
        tab_to(page, label)


def test_list_scrolls_to_the_choice_that_the_keyboard_reaches(open_page: Open) -> None:
    page = open_page()
    tab_to(page, "Kind")
    page.keyboard.press("ArrowDown")
    wait(page, lambda: page.get_by_role("listbox").get_by_role("option").count() == len(catalogue_kinds()))
    page.keyboard.press("ArrowUp")
    page.locator('[role=option][aria-selected="true"]:last-child').wait_for()
    last, whole = (
        page.get_by_role("listbox").get_by_role("option").last.bounding_box(),
        page.get_by_role("listbox").bounding_box(),
    )
    assert last["y"] + last["height"] <= whole["y"] + whole["height"] + 1


def test_long_findings_stay_in_their_place(open_page: Open) -> None:
    page = open_page()
    put(page, "karta", KARTA.replace("name: crawler", f"{'n' * 400}: crawler", 1))
    put(page, "object", OBJECT.replace("name: docs", f"name: {'d' * 400}"))
    page.locator(".findings li").first.wait_for()
    wider = "places => places.filter(each => each.scrollWidth > each.clientWidth).map(each => each.className)"
    assert page.eval_on_selector_all(".findings, .findings button, .card, .empty, .status.error-text", wider) == []


@pytest.mark.parametrize("way", ["a paste", "an insertion"])
def test_long_karta_is_taken_without_an_error_of_the_policy(open_page: Open, way: str) -> None:
    page = open_page()  # which fails at the end if there was one
    text = (ROOT / "kartas" / "milvus.io" / "v1beta1" / "Milvus" / "karta.yaml").read_text(encoding="utf-8")
    if way == "a paste":
        put(page, "karta", text)
    else:
        page.locator('.editor[data-text="karta"] .cm-content').focus()
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(text)
    wait(page, lambda: text_of(page, "karta") == text)
    page.keyboard.press("Control+Home")
    page.keyboard.press("Control+z")
    wait(page, lambda: "indexer" in text_of(page, "karta"))


def test_address_names_kind_object_and_operation(open_page: Open) -> None:
    page = open_page("/?kind=ray.io/v1/RayCluster&object=a+suspended+group&operation=InterpretReplica&tab=observed")
    page.wait_for_selector('.card.chosen[data-operation="InterpretReplica"] .step')
    assert "suspend" in text_of(page, "object")
    assert page.get_by_role("tab", name="Member's object").get_attribute("aria-selected") == "true"

    page.get_by_role("link", name="InterpretHealth").click()
    wait(page, lambda: "operation=InterpretHealth" in page.url)
    page.reload()
    page.wait_for_selector('.card.chosen[data-operation="InterpretHealth"]')

    put(page, "object", OBJECT)
    wait(page, lambda: "kind=" not in page.url)


@pytest.mark.parametrize(
    ("name", "tab", "text", "message"),
    [
        pytest.param("crd", "CRD", OBJECT, "there is no CustomResourceDefinition in it", id="an object as the CRD"),
        pytest.param("observed", "Member's object", "apiVersion: v1\nkind: Pod\n",
            "the member's object is v1, Kind=Pod", id="a Pod"),
        pytest.param("items", "Clusters", "member1: {}\n", "not what a cluster reports", id="a mapping of clusters"),
        pytest.param("suite", "Suite", "tests: []\n", "unknown key", id="a list of cases"),
    ],
)  # fmt: skip
def test_mistake_in_a_side_text_shows_at_its_line(
    open_page: Open, name: str, tab: str, text: str, message: str
) -> None:
    page = open_page()
    page.get_by_role("tab", name=tab).click()
    put(page, name, text)
    page.locator(f"#panel-{name} .findings .error", has_text=message).wait_for()
    page.locator(f'.editor[data-text="{name}"] .cm-lint-marker-error').first.wait_for()
    assert page.locator(f"#tab-{name} .dot.bad").count() == 1


def test_answer_without_its_text_names_what_is_wrong_with_that(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("tab", name="Member's object").click()
    put(page, "observed", "apiVersion: v1\nkind: Pod\n")
    card(page, "Retain").locator(".error-text", has_text="Member's object, line 2").wait_for()
    card(page, "InterpretHealth").locator(".chip.warn").wait_for()


def test_file_can_be_dropped_on_an_editor(open_page: Open) -> None:
    page = open_page()
    data = page.evaluate_handle(
        "text => { const data = new DataTransfer(); data.items.add(new File([text], 'o.yaml')); return data; }", OBJECT
    )
    page.dispatch_event('.editor[data-text="object"]', "drop", {"dataTransfer": data})
    page.wait_for_selector("text=the object is example.io/v1, Kind=Crawler")
    assert text_of(page, "object") == OBJECT


@pytest.mark.parametrize(("name", "tab"), [("karta", "Karta"), ("object", "Object"), ("suite", "Suite")])
def test_file_is_opened_in_each_pane(open_page: Open, tmp_path: Path, name: str, tab: str) -> None:
    (tmp_path / "a.yaml").write_text("kind: Opened\n")
    page = open_page()
    if name != "karta":
        page.get_by_role("tab", name=tab, exact=True).click()
    page.get_by_label(f"Open a file as {tab}").set_input_files(tmp_path / "a.yaml")
    wait(page, lambda: text_of(page, name) == "kind: Opened\n")


def test_file_that_is_not_a_text_leaves_the_editor_as_it_is(open_page: Open, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"\x89PNG\r\n\0")
    page = open_page()
    page.get_by_label("Open a file as Karta").set_input_files(tmp_path / "a.yaml")
    page.locator(".status.error-text", has_text="a.yaml is not a text").wait_for()
    assert "kind: Karta" in text_of(page, "karta")


def test_hostile_text_leaves_the_page_usable(open_page: Open) -> None:
    page = open_page()
    put(page, "object", "- [" + "a, " * 300_000 + "]")
    put(page, "object", OBJECT)
    put(page, "karta", KARTA)
    page.wait_for_selector('[role=status]:has-text("Crawler by crawler")')


def test_page_asks_no_other_host(open_page: Open, requests: list[str], url: str) -> None:
    page = open_page()
    for name in ("Catalogue", "Member", "Workbench"):
        page.get_by_role("link", name=name, exact=True).click()
    assert {urlsplit(each).netloc for each in requests} == {urlsplit(url).netloc}


def test_without_the_token_the_page_names_the_remedy(browser: Any, url: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(url.partition("#")[0])
    page.wait_for_selector("text=Open the URL that")
    context.close()


def test_number_can_be_typed_anew(open_page: Open) -> None:
    page = open_page()
    page.get_by_label("Revise to").click()
    for key in ("End", "Backspace", "7", "2"):
        page.keyboard.press(key)
    page.locator(".line.replaced .value", has_text="72").wait_for()


@pytest.mark.parametrize("replicas", ["1.5", "-1", "3000000000"])
def test_number_that_no_workload_can_have_is_marked(open_page: Open, replicas: str) -> None:
    page = open_page()
    words = page.get_by_text("a whole number from 0 to 2147483647")
    assert not words.is_visible()
    page.get_by_label("Revise to").fill(replicas)
    words.wait_for()
    # What is there of the number before is not about this one.
    parts = card(page, "ReviseReplica").locator(".chip, .line, .error-text, button, details").all()
    assert [part.inner_text() for part in parts if part.is_visible()] == [words.inner_text()]


@pytest.mark.parametrize(
    "end",
    [
        "?kind=example.com/v1/Nothing",
        "?kind=apps/v1/Deployment&object=nothing",
        "?operation=InterpretPods",
    ],
)
def test_address_that_leads_nowhere_says_so_next_to_the_first_example(
    open_page: Open, errors: list[str], url: str, end: str
) -> None:
    page = open_page()
    page.goto("about:blank")
    page.goto(f"{url.partition('#')[0]}{end}")
    page.wait_for_selector('[data-operation="InterpretReplica"]')
    assert page.locator(".status.error-text").inner_text() in {
        "example.com/v1/Nothing: there is no definition for this kind",
        'there is no operation "InterpretPods"',
        'apps/v1/Deployment has no example "nothing"',
    }
    put(page, "karta", KARTA)
    page.wait_for_selector(".status:not(.error-text)", state="attached")
    assert all("404" in errors.pop() for _ in [*errors])


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        pytest.param(lambda route: route.abort(), "start it again", id="the console was stopped"),
        pytest.param(lambda route: route.fulfill(status=413), "more than 4 MB", id="texts that are too large"),
    ],
)
def test_answer_that_fails_is_explained(open_page: Open, errors: list[str], answer: Any, words: str) -> None:
    page = open_page()
    page.route("**/api/answers", answer)
    put(page, "object", OBJECT)
    page.locator(".status.error-text").filter(has_text=words).wait_for()
    opacity = "getComputedStyle(document.querySelector('.cards')).opacity"
    assert float(page.evaluate(opacity)) < 1, "the answers are about other texts"
    page.unroute("**/api/answers")
    put(page, "karta", KARTA)
    page.wait_for_selector(".status:not(.error-text)", state="attached")
    assert all("Failed to load resource" in errors.pop() for _ in [*errors])


def test_kinds_of_catalogue_are_selectable(open_page: Open) -> None:
    page = open_page()
    page.get_by_label("Kind", exact=True).click()
    assert page.get_by_role("listbox").get_by_role("option").count() == len(catalogue_kinds())


def test_first_view_is_a_small_workload_whose_answers_are_all_good(open_page: Open) -> None:
    page = open_page()
    wait(page, lambda: page.locator(".cards .card").count() > 8)
    assert page.locator(".chip.bad").count() == 0
    assert page.locator(".chip.good", has_text="healthy").count() == 1
    assert "kind: Indexer" in text_of(page, "object")


def test_draft_survives_a_reload_and_is_replaced_only_when_its_author_agrees(open_page: Open) -> None:
    page = open_page()
    put(page, "karta", KARTA)
    put(page, "object", OBJECT)
    page.reload()
    page.locator('.editor[data-text="karta"] .cm-content').wait_for()
    wait(page, lambda: text_of(page, "karta") == KARTA)
    assert text_of(page, "object") == OBJECT

    asked: list[str] = []

    def decide(dialog: Any) -> None:
        asked.append(dialog.message)
        if len(asked) == 1:
            dialog.dismiss()
        else:
            dialog.accept()

    page.on("dialog", decide)
    choose(page, "Kind", "batch/v1/Job")
    wait(page, lambda: asked)
    assert text_of(page, "karta") == KARTA
    choose(page, "Kind", "apps/v1/StatefulSet")
    wait(page, lambda: "kind: StatefulSet" in text_of(page, "object"))


def test_shared_texts_are_replaced_only_when_their_reader_agrees(open_page: Open, tmp_path: Path) -> None:
    page = open_page()
    asked: list[str] = []

    def refuse(dialog: Any) -> None:
        asked.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    put(page, "object", OBJECT)
    file = shared_by(page, tmp_path)
    put(page, "object", OBJECT.replace("replicas: 3", "replicas: 7"))
    page.get_by_label("Open a file as Object").set_input_files(file)
    wait(page, lambda: asked)
    assert "replicas: 7" in text_of(page, "object")
    page.reload()
    page.wait_for_selector(".empty")
    choose(page, "Kind", "batch/v1/Job")
    wait(page, lambda: len(asked) > 1)
    assert "replicas: 7" in text_of(page, "object")


def test_each_tab_of_the_browser_keeps_its_own_draft(open_page: Open, url: str) -> None:
    page = open_page()
    put(page, "object", OBJECT)
    other = page.context.new_page()
    other.goto(url)
    other.wait_for_selector(".empty")
    put(other, "object", OBJECT.replace("replicas: 3", "replicas: 7"))
    page.reload()
    page.wait_for_selector(".empty")
    assert text_of(page, "object") == OBJECT


def test_cluster_of_an_own_kind_shows_where_its_status_goes(open_page: Open) -> None:
    page = open_page()
    page.get_by_role("tab", name="Clusters").click()
    choose(page, "Add a cluster", "with a status to write")
    wait(page, lambda: text_of(page, "items").endswith(STATUS))


@pytest.mark.parametrize("is_shared", [False, True], ids=["opened files", "a shared file"])
def test_edit_of_opened_texts_survives_a_reload(open_page: Open, tmp_path: Path, *, is_shared: bool) -> None:
    (tmp_path / "karta.yaml").write_text(KARTA)
    (tmp_path / "object.yaml").write_text(OBJECT)
    files = ["-f", str(tmp_path / "karta.yaml"), "--object", str(tmp_path / "object.yaml")]
    with started("console", "--no-open", "--port", "0", *files) as address:
        page = open_page(address=address)
        wait(page, lambda: page.get_by_label("Kind", exact=True).input_value() == "Crawler")
        if is_shared:
            page.get_by_label("Open a file as Karta").set_input_files(shared_by(page, tmp_path))
        put(page, "object", OBJECT.replace("replicas: 3", "replicas: 7"))
        page.reload()
        page.wait_for_selector('[data-operation="InterpretReplica"]')
        wait(page, lambda: "replicas: 7" in text_of(page, "object"))
        assert text_of(page, "karta") == KARTA


def test_console_that_has_ended_keeps_the_workbench_and_its_new_address_opens_it(
    open_page: Open, errors: list[str]
) -> None:
    with started("console", "--no-open", "--port", "0") as address:
        page = open_page(address=address)
        put(page, "object", OBJECT)
        page.wait_for_selector("text=the object is example.io/v1, Kind=Crawler")
    choose(page, "Kind", "batch/v1/Job")
    page.locator(".status.error-text").filter(has_text="start it again and open the new address").wait_for()
    page.get_by_role("link", name="Catalogue").click()
    page.get_by_role("link", name="RayCluster", exact=True).wait_for()
    page.go_back()
    wait(page, lambda: page.locator(".workbench").is_visible())
    assert text_of(page, "object") == OBJECT

    port = str(urlsplit(address).port)
    with started("console", "--no-open", "--port", port) as again:
        page.goto(again)  # the same address but for its fragment
        page.wait_for_selector("text=the object is example.io/v1, Kind=Crawler")
        assert text_of(page, "object") == OBJECT
    assert all("Failed to load resource" in errors.pop() for _ in [*errors])


def test_options_close_with_escape_and_elsewhere(open_page: Open) -> None:
    page = open_page(width=400, height=800)
    body = page.locator(".menu-body")
    elsewhere = page.locator("h2", has_text="Answers").click
    leaves: list[Callable[[], object]] = [lambda: page.keyboard.press("Escape"), elsewhere]
    for leave in leaves:
        page.locator("summary", has_text="Options").click()
        assert body.bounding_box()["x"] >= 0
        leave()
        wait(page, lambda: not body.is_visible())


def test_chosen_kind_is_named_while_its_karta_is_unchanged(open_page: Open) -> None:
    page = open_page()
    page.on("dialog", lambda dialog: dialog.accept())
    kind = page.get_by_label("Kind", exact=True)
    choose(page, "Kind", "batch/v1/Job")
    wait(page, lambda: kind.input_value() == "Job")
    written = text_of(page, "karta")
    put(page, "karta", f"{written}# mine\n")
    wait(page, lambda: kind.input_value() == "Job, edited")
    choose(page, "Kind", "batch/v1/Job")
    wait(page, lambda: text_of(page, "karta") == written)
    put(page, "karta", KARTA)
    put(page, "object", OBJECT)
    wait(page, lambda: kind.input_value() == "" and kind.get_attribute("placeholder") == "Choose a kind …")
    assert not page.get_by_label("Example", exact=True).is_visible()


def test_findings_and_tabs_leave_the_editors_where_they_are(open_page: Open) -> None:
    page = open_page()

    def top(name: str) -> float:
        box = page.locator(f'.editor[data-text="{name}"]').bounding_box()
        return float(box["y"])

    before = top("karta"), top("object")
    put(page, "karta", KARTA.replace("name: crawler", "nme: crawler"))
    page.locator(".findings li").first.wait_for()
    assert (top("karta"), top("object")) == before
    page.get_by_role("tab", name="CRD").click()
    assert top("crd") == before[1]


def test_object_of_another_kind_empties_what_clusters_and_members_have(open_page: Open) -> None:
    page = open_page()
    wait(page, lambda: "member2" in text_of(page, "items"))
    put(page, "object", OBJECT)
    wait(page, lambda: text_of(page, "items") == "")
    assert text_of(page, "observed") == ""


def test_last_answers_stay_in_grey_next_to_an_error(open_page: Open) -> None:
    page = open_page()
    put(page, "karta", KARTA)
    put(page, "object", OBJECT)
    page.wait_for_selector("text=no findings")
    put(page, "karta", KARTA.replace("kind: Karta", "kind: Kart"))
    page.locator(".empty").wait_for()
    assert page.locator(".stale .card").count() > 4


def test_karta_is_saved_as_a_file(open_page: Open) -> None:
    page = open_page()
    put(page, "karta", KARTA)
    with page.expect_download() as given:
        page.get_by_role("button", name="Save karta.yaml").click()
    assert given.value.suggested_filename == "karta.yaml"
    assert given.value.path().read_text() == KARTA


def findings(page: Any) -> list[str]:
    found: list[str] = page.locator(".findings li").all_inner_texts()
    return [" ".join(text.split()) for text in found]


def underlined(page: Any, name: str) -> list[str]:
    found: list[str] = page.locator(f'.editor[data-text="{name}"] .cm-lintRange').all_inner_texts()
    return found


def test_crd_contradicts_paths_and_completes_them(open_page: Open) -> None:
    page = open_page()
    put(page, "karta", KARTA.replace(".status.phase", ".status.fase"))
    put(page, "object", OBJECT.replace("status: {phase: Running}", ""))
    page.get_by_role("tab", name="CRD").click()
    put(page, "crd", CRD)
    wait(page, lambda: any("the CRD has no field .status.fase" in each for each in findings(page)))
    page.locator('.editor[data-text="karta"] .cm-lintRange-error', has_text="fase").wait_for()

    put(page, "karta", KARTA[: KARTA.index(".spec.replicas")] + ".spec.rep")
    page.keyboard.press("Control+Space")
    page.locator(".cm-tooltip-autocomplete >> text=.spec.replicas").wait_for()


def test_answers_become_cases_of_a_suite(open_page: Open) -> None:
    page = open_page()
    put(page, "karta", KARTA)
    put(page, "object", OBJECT)
    page.wait_for_selector('[role=status]:has-text("Crawler by crawler")')
    for operation in ("InterpretReplica", "InterpretHealth"):
        card(page, operation).get_by_role("button", name="Add as a case").click()
        editor = page.locator('.editor[data-text="suite"] .cm-content')
        editor.filter(has_text=f"operation: {operation}").wait_for()
    found = [(each.call.operation.value, each.expected) for each in read_suite(text_of(page, "suite"))]
    assert found == [("InterpretReplica", {"replica": 3, "requires": None}), ("InterpretHealth", {"healthy": True})]
    page.locator("#panel-suite .about", has_text="2 of 2 cases pass, 2 with TODO for the reason").wait_for()
    put(page, "suite", text_of(page, "suite").replace("replica: 3", "replica: 4"))
    page.locator("#panel-suite .findings .error", has_text="docs: replica: expected 4, got 3").wait_for()
    page.locator("#panel-suite .about", has_text="1 of 2 cases pass").wait_for()


def test_same_case_is_added_once_and_another_one_of_the_name_gets_a_number(open_page: Open) -> None:
    page = open_page()
    put(page, "karta", KARTA)
    for replicas, said in ((3, "The case is in"), (3, "has this case already"), (4, "The case is in")):
        page.locator("#tab-object").click()
        put(page, "object", OBJECT.replace("replicas: 3", f"replicas: {replicas}"))
        card(page, "InterpretReplica").locator(".chip", has_text=f"{replicas} pods").wait_for()
        card(page, "InterpretReplica").get_by_role("button", name="Add as a case").click()
        page.locator(".status").filter(has_text=said).wait_for()
    assert [each.name for each in read_suite(text_of(page, "suite"))] == ["docs", "docs 2"]


def test_case_has_no_field_that_an_api_server_writes(open_page: Open) -> None:
    page = open_page()
    put(page, "karta", KARTA)
    put(page, "object", OBJECT.replace("{name: docs}", "{name: docs, uid: u, resourceVersion: '7', generation: 2}"))
    page.wait_for_selector('[role=status]:has-text("Crawler by crawler")')
    card(page, "InterpretReplica").get_by_role("button", name="Add as a case").click()
    page.locator('.editor[data-text="suite"] .cm-content').filter(has_text="operation: InterpretReplica").wait_for()
    (case,) = read_suite(text_of(page, "suite"))
    assert case.call.object["metadata"] == {"name": "docs", "generation": 2}


def test_choosing_no_kind_asks_for_none(open_page: Open, requests: list[str]) -> None:
    page = open_page()
    choose(page, "Kind", "no such kind")
    page.keyboard.press("Escape")
    choose(page, "Kind", "batch/v1/Job")
    wait(page, lambda: "kind: Job" in text_of(page, "object"))
    assert [url for url in requests if "/api/kinds/" in url and not url.endswith("/batch/v1/Job")] == []


def test_mistake_of_yaml_is_underlined_and_told_with_the_line(open_page: Open) -> None:
    page = open_page()
    put(page, "object", OBJECT)
    put(page, "karta", KARTA.replace("      name: crawler", "      nme: crawler"))
    wait(page, lambda: "nme" in underlined(page, "karta"))
    put(page, "karta", KARTA.replace("name: crawler", "name: a: `b`", 1))
    page.get_by_role("alert").filter(has_text="Karta, line 4: mapping values are not allowed").wait_for()
    assert len(underlined(page, "karta")) == 1
    assert "`" not in page.locator(".answers").inner_text()


def test_document_of_the_kind_is_taken_of_several(open_page: Open) -> None:
    page = open_page()
    put(page, "karta", KARTA)
    put(page, "object", f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\n---\n{OBJECT}")
    page.wait_for_selector('[role=status]:has-text("Crawler by crawler")')
    assert card(page, "InterpretReplica").locator('[data-pointer="/replica"] .value').inner_text() == "3"
