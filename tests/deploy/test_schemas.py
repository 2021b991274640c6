import pytest

from tests.deploy import rendered
from tests.deploy.openapi import Document

PATH = rendered.openapi()
needs_openapi = pytest.mark.skipif(not PATH, reason="Kubernetes' OpenAPI is missing: run `make tools`")


@pytest.fixture(scope="module")
def document() -> Document:
    assert PATH
    return Document.read(PATH)


@needs_openapi
@rendered.needs_helm
@pytest.mark.parametrize("case", rendered.VALUES)
def test_rendered_resources_are_what_kubernetes_knows(document: Document, case: str) -> None:
    known = [resource for resource in rendered.of(case) if document.knows(resource)]
    assert known
    assert [text for resource in known for text in document.complaints(resource)] == []


@needs_openapi
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        pytest.param({"sepc": {}}, "Service.sepc is unknown", id="a typo"),
        pytest.param(
            {"spec": {"ports": [{"port": "443"}]}}, "Service.spec.ports[0].port: '443' is not an integer", id="type"
        ),
        pytest.param({"spec": {"ports": [{}]}}, "Service.spec.ports[0].port is missing", id="a field that is needed"),
        pytest.param(
            {"spec": {"publishNotReadyAddresses": 1}},
            "Service.spec.publishNotReadyAddresses: 1 is not a boolean",
            id="1",
        ),
    ],
)
def test_schema_check_finds_complaint(document: Document, change: dict[str, object], complaint: str) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}
    assert document.complaints(service) == []
    assert document.complaints({**service, **change}) == [complaint]
