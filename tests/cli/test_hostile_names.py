"""Names with line breaks and control characters: no command prints them as they are."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

_FORGED = "forged: no such thing"
_NAME = f"a\\n{_FORGED}\\e[2J\\x9b"
"""As YAML writes it between quotes."""

_CUSTOMIZATION = f"""\
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {{name: "{_NAME}"}}
spec:
  target: {{apiVersion: example.io/v1, kind: Job}}
  customizations:
    replicaResource: {{luaScript: "function GetReplicas(o) return 3, nil end"}}
"""
_SUITE = f"""\
name: "{_NAME}"
description: "a\\x9b"
operation: InterpretReplica
desiredObj: {{apiVersion: example.io/v1, kind: Job, spec: {{replicas: 3, template: {{spec: {{containers: []}}}}}}}}
output: {{replica: 4}}
"""
_PODS = f"""\
{{apiVersion: v1, kind: Pod, metadata: {{name: "{_NAME}", labels: {{ray.io/node-type: worker, ray.io/group: gone}}}}}}
"""
_CRD = f"""\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: "{_NAME}"}}
spec:
  group: example.io
  names: {{kind: "{_NAME}"}}
  versions:
  - {{name: v1, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}
"""
_RAY = Path(__file__).parents[2] / "tests" / "catalogue" / "manifests" / "raycluster.yaml"


@pytest.fixture
def _hostile(files: Path) -> None:
    karta, job = (files / "karta.yaml").read_text(), (files / "job.yaml").read_text()
    name = karta.split("metadata:\n  name: ")[1].split("\n")[0]
    (files / "named.yaml").write_text(karta.replace(f"name: {name}", f'name: "{_NAME}"', 1))
    (files / "unnamed.yaml").write_text(
        karta[karta.index("spec:") :].replace("name: main", f'name: "{_NAME}"')  # called after its root
    )
    (files / "object.yaml").write_text(job.replace("name: demo", f'name: "{_NAME}"'))
    (files / "pods.yaml").write_text(_PODS)
    (files / "crd.yaml").write_text(_CRD)
    (files / "script.yaml").write_text(_CUSTOMIZATION)
    suite = files / "suite" / "testdata" / "job.yaml"
    suite.parent.mkdir(parents=True)
    suite.write_text(_SUITE)
    (suite.parent.parent / "karta.yaml").write_text(karta)
    (files / "field.yaml").write_text(f'{karta}  "{_NAME}": 1\n')
    (files / f"a\n{_FORGED}.yaml").write_text("kind: {{")


@pytest.mark.usefixtures("_hostile")
@pytest.mark.parametrize(
    "command",
    [
        pytest.param("validate named.yaml", id="a name that is wrong"),
        pytest.param("validate field.yaml", id="a field that there is not"),
        pytest.param("validate .", id="the name of a file"),
        pytest.param("interpret -f unnamed.yaml --desired-file object.yaml", id="an object, a definition"),
        pytest.param("interpret -f named.yaml --desired-file object.yaml", id="a definition that is wrong"),
        pytest.param("interpret -f script.yaml --desired-file object.yaml", id="a script"),
        pytest.param("interpret -f script.yaml --check", id="the check of a script"),
        pytest.param("interpret -f karta.yaml --override script.yaml --desired-file job.yaml", id="a script over it"),
        pytest.param("tree --object object.yaml -f unnamed.yaml", id="a tree"),
        pytest.param("tree --object object.yaml -f unnamed.yaml -o table", id="a tree as a table"),
        pytest.param(f"tree --object {_RAY} --pods pods.yaml", id="a pod that belongs nowhere"),
        pytest.param("create karta --crd crd.yaml", id="a CRD"),
        pytest.param("test suite", id="a case of a suite"),
        pytest.param("catalogue list --no-catalogue --kartas unnamed.yaml", id="the list of kinds"),
        pytest.param("catalogue show Job --no-catalogue --kartas unnamed.yaml", id="a kind"),
        pytest.param(
            "export webhook-configuration --no-catalogue --kartas named.yaml --kartas karta.yaml --service a/b",
            id="what is left out of a registration",
        ),
    ],
)
def test_hostile_name_forges_no_line(run: Callable[..., Result], command: str) -> None:
    result = run(*command.split())
    lines = result.output.split("\n")
    assert _FORGED in result.output
    assert not [line for line in lines if line.strip().startswith(_FORGED)]
    assert not [line for line in lines if not line.isprintable()]
