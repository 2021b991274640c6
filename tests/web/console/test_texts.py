"""The texts of the page: what they hold, and where."""

import pytest

from karta_interpreter.base.errors import ManifestError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.engine.operations.status_items import read_items
from karta_interpreter.web.console.texts import read_object, read_objects
from tests.support.rows import rows

WRONG = [
    pytest.param("a: [", 2, id="no YAML: where it ends"),
    pytest.param("- a\n", 1, id="a list"),
    pytest.param("kind: Job\n", 1, id="no apiVersion"),
    pytest.param("apiVersion: v1\nkind: Pod\n---\n# second\nkind: Pod\n", 5, id="two objects: the second one's line"),
    pytest.param("apiVersion: [1]\nkind: Pod\n", 1, id="an apiVersion that is not a text"),
]


@rows(("text", "line"), WRONG)
def test_text_without_one_object_has_reason_and_line(text: str, line: int) -> None:
    with pytest.raises(ManifestError) as found:
        read_object(text)
    assert str(found.value)
    assert found.value.line == line


def test_object_without_kind_of_several_has_its_line() -> None:
    with pytest.raises(ManifestError) as found:
        read_objects("apiVersion: v1\nkind: Pod\n---\nkind: Pod\n")
    assert found.value.line == 4


def test_objects_may_stand_in_a_list() -> None:
    text = "- {apiVersion: v1, kind: Pod}\n- {apiVersion: batch/v1, kind: Job}\n"
    assert [each["kind"] for each in read_objects(text)] == ["Pod", "Job"]
    with pytest.raises(ManifestError) as found:
        read_objects(f"{text}- {{kind: Pod}}\n")
    assert found.value.line == 3


def test_object_of_the_kind_is_taken_of_several() -> None:
    text = "apiVersion: v1\nkind: Pod\n---\napiVersion: batch/v1\nkind: Job\n"
    place = read_object(text, [GVK("batch", "v1", "Job")])
    assert place is not None
    assert place.value["kind"] == "Job"
    with pytest.raises(ManifestError, match="contains 2 objects, none of them of the definition's kind"):
        read_object(text, [GVK("apps", "v1", "Deployment")])


@rows("text", ["", "\n", "# nothing yet\n", "---\n"])
def test_empty_text_is_not_an_error(text: str) -> None:
    assert read_object(text) is None


def test_list_without_items_is_an_error() -> None:
    for read in (read_object, read_objects):
        with pytest.raises(ManifestError, match="the list has no items"):
            read("apiVersion: v1\nkind: List\nitems: []\n")


def test_object_of_list_has_places_of_the_text() -> None:
    place = read_object("kind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  spec:\n    nodeName: a\n")
    assert place is not None
    assert place.position(("spec", "nodeName")) == (6, 15)
    assert place.position(("spec", "absent", "deep")) == (6, 5), "the nearest ancestor"


@pytest.mark.parametrize(
    "text",
    [
        "- clusterName: a\n  status: {ready: 1}\n- clusterName: b\n",
        "clusterName: a\nstatus: {ready: 1}\n---\nclusterName: b\n",
        '[{"clusterName": "a", "status": {"ready": 1}}, {"clusterName": "b"}]',
    ],
    ids=["a list", "documents", "JSON"],
)
def test_items_are_elements_or_documents(text: str) -> None:
    assert [(item.cluster, item.status) for _, item in read_items(text, "", set())] == [
        ("a", {"ready": 1}),
        ("b", None),
    ]


def test_item_of_wrong_type_has_its_line() -> None:
    with pytest.raises(ManifestError) as found:
        list(read_items("- clusterName: a\n- clusterName: [b]\n", "", set()))
    assert (found.value.line, str(found.value)) == (2, "the item.clusterName must be a string, but is a list")
