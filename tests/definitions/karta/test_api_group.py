import pytest

from karta_interpreter.base.findings import DefinitionError
from karta_interpreter.definitions.karta.loading import load_definition, pack, unpack
from karta_interpreter.definitions.karta.schema import karta_api_group

_GROUP = "workloads.example.com"
_COMPONENT = {
    "name": "job",
    "kind": {"group": "example.io", "version": "v1", "kind": "Job"},
    "statusDefinition": {"phaseDefinition": {"path": ".status.phase"}, "statusMappings": {"running": []}},
}


def _karta(group: str) -> dict[str, object]:
    spec = {"structureDefinition": {"rootComponent": _COMPONENT}}
    return {"apiVersion": f"{group}/v1alpha1", "kind": "Karta", "metadata": {"name": "job"}, "spec": spec}


@pytest.mark.parametrize("group", ["run.ai", _GROUP])
def test_karta_of_set_group_is_read_next_to_run_ai(group: str) -> None:
    with karta_api_group(_GROUP):
        definition = load_definition(_karta(group))

    assert unpack(pack(definition)).name == "job", "in another process without the setting"


def test_karta_of_another_group_is_refused_with_the_groups_that_are_read() -> None:
    with karta_api_group(_GROUP), pytest.raises(DefinitionError) as refused:
        load_definition(_karta("kartas.example.com"))

    (finding,) = refused.value.findings
    assert finding.message == f"the API group kartas.example.com is not one of Kartas here: run.ai and {_GROUP}"
    assert "--karta-api-group" in str(finding.hint)
