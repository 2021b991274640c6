from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.karta.loading import CORE, catalogue_files
from karta_interpreter.sources.files import find_in_catalogue, load_catalogue


def test_every_definition_stands_in_the_folder_of_its_kind() -> None:
    layer = load_catalogue()
    places = [tuple(path.parts[-4:-1]) for path in catalogue_files()]

    kinds = [entry.definition.gvk for entry in layer.entries]
    assert [(gvk.group or CORE, gvk.version, gvk.kind) for gvk in kinds] == places
    assert places


def test_nothing_is_quarantined() -> None:
    assert [str(finding) for each in load_catalogue().quarantined for finding in each.findings] == []


def test_one_definition_is_found_without_the_others() -> None:
    for entry in load_catalogue().entries:
        found = find_in_catalogue(entry.definition.gvk)
        assert found is not None
        assert (found.definition.name, found.origin) == (entry.definition.name, "catalogue")


def test_a_kind_without_a_definition_is_not_found() -> None:
    assert find_in_catalogue(GVK("..", "..", "..")) is None
    assert find_in_catalogue(GVK("*", "*", "*")) is None
