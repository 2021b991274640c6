from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.karta import is_definition, karta_api_group
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.karta.packing import pack, unpack
from karta_interpreter.definitions.karta.schema_export import custom_resource_definition
from karta_interpreter.definitions.openapi.draft import draft
from karta_interpreter.definitions.openapi.schema import CustomKind
from karta_interpreter.web.types_api.records import content
from tests.support.rows import rows

_GROUP = "workloads.example.com"
_KIND = GVK("example.io", "v1", "Job")
_COMPONENT = {
    "name": "job",
    "kind": {"group": "example.io", "version": "v1", "kind": "Job"},
    "statusDefinition": {"phaseDefinition": {"path": ".status.phase"}, "statusMappings": {"running": []}},
}


def _karta(group: str) -> dict[str, object]:
    spec = {"structureDefinition": {"rootComponent": _COMPONENT}}
    return {"apiVersion": f"{group}/v1alpha1", "kind": "Karta", "metadata": {"name": "job"}, "spec": spec}


def test_karta_of_any_group_is_read_as_one_of_run_ai() -> None:
    one, other = (unpack(pack(load_definition(_karta(group)))) for group in ("run.ai", _GROUP))

    assert (other.gvk, other.name) == (one.gvk, "job")


@rows(
    ("api_version", "kind", "expected"),
    [
        (f"{_GROUP}/v1alpha1", "Karta", True),
        ("optimization.nvidia.com/v1alpha1", "ResourceInterface", True),
        (f"{_GROUP}/v1alpha1", "ResourceInterface", False),
        (f"{_GROUP}/v1beta1", "Karta", False),
        ("v1alpha1", "Karta", False),
        (None, "Karta", False),
    ],
)
def test_definitions_are_known_by_their_type(api_version: str | None, kind: str, expected: bool) -> None:
    assert is_definition({"apiVersion": api_version, "kind": kind}) is expected


def test_crd_is_that_of_the_set_group() -> None:
    with karta_api_group(_GROUP):
        crd = custom_resource_definition()

    assert (crd["metadata"]["name"], crd["spec"]["group"]) == (f"kartas.{_GROUP}", _GROUP)


def test_karta_is_written_in_the_set_group() -> None:
    with karta_api_group(_GROUP):
        stored, drafted = content(_karta("run.ai")), draft(CustomKind("jobs.example.io", _KIND, {})).karta

    assert [each["apiVersion"] for each in (stored, drafted)] == [f"{_GROUP}/v1alpha1"] * 2
