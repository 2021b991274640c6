"""Names with line breaks and control characters: no command prints them as they are."""

import gzip
import json
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
import yaml
from click.testing import Result

from karta_interpreter.cli import render
from karta_interpreter.clusters.saved import Saved, save
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.engine.operations import DEFAULT_OPTIONS
from karta_interpreter.engine.verification import Evidence
from karta_interpreter.webhook.wire.recording import head, line
from tests.support.serving import serving

_FORGED = "forged: no such thing"
_NAME = f"a\\n{_FORGED}\\e[2J\\x9b\\u202e\\n  ::error::x ##[stop-commands]x"
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
_WRONG_SUITE = (
    f'name: a\noperation: "{_NAME}"\ndesiredObj: {{apiVersion: example.io/v1, kind: Job}}\noutput: {{replica: 4}}\n'
)
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
    (files / "wrong" / "testdata").mkdir(parents=True)
    (files / "wrong" / "testdata" / "job.yaml").write_text(_WRONG_SUITE)
    text = yaml.safe_load(f'"{_NAME}"')
    metadata = {"name": text, "namespace": text, "uid": "it", "creationTimestamp": "2026-01-01T00:00:00Z"}
    template = {"spec": {"containers": [{"name": text, "image": "x", "resources": {"requests": {"cpu": "1"}}}]}}
    obj = {"apiVersion": "example.io/v1", "kind": "Job", "metadata": metadata, "spec": {"replicas": 3, "template": {}}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata | {"labels": {text: text}}, **template}
    shown = load_definition(yaml.safe_load(karta)), Evidence(obj, (pod,), now=2_000_000_000)
    save(files / "shown", Saved(0, problems=(text,)), [shown])
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
        pytest.param("interpret -f karta.yaml --override script.yaml --desired-file job.yaml", id="a script over it"),
        pytest.param("tree --object object.yaml -f unnamed.yaml", id="a tree"),
        pytest.param(f"tree --object {_RAY} --pods pods.yaml", id="a pod that belongs nowhere"),
        pytest.param("create karta --crd crd.yaml", id="a CRD"),
        pytest.param("test suite", id="a case of a suite"),
        pytest.param("test -f karta.yaml wrong", id="an operation that there is not"),
        pytest.param("verify shown -f unnamed.yaml", id="pods of a folder"),
        pytest.param("explain -f unnamed.yaml object.yaml", id="an explanation"),
        pytest.param("diff --from karta.yaml --to unnamed.yaml object.yaml", id="two definitions"),
        pytest.param("query .metadata.name object.yaml", id="a value"),
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
    assert not [line for line in lines if line.strip().startswith((_FORGED, "::")) or "##[" in line]
    assert not [line for line in lines if not line.isprintable()]


def test_command_writes_by_the_one_writer() -> None:
    folder = Path(render.__file__).parent
    allowed = {"render.py", "program.py", "__init__.py"}
    assert {path.name for path in folder.glob("*.py") if "click.echo" in path.read_text()} == allowed


def _request(name: str) -> bytes:
    obj = {"apiVersion": "example.io/v1", "kind": "Job", "metadata": {"name": name, "namespace": name}}
    spec = {"replicas": 3, "template": {"spec": {"containers": [{"name": name}]}}}
    kind = {"group": "example.io", "version": "v1", "kind": "Job"}
    asked = {"uid": name, "kind": kind, "name": name, "namespace": name, "operation": "InterpretReplica"}
    return json.dumps({"request": asked | {"object": obj | {"spec": spec}}}).encode()


@pytest.mark.usefixtures("_hostile")
@pytest.mark.parametrize("message", ["", yaml.safe_load(f'"{_NAME}"')], ids=["another answer", "another error"])
def test_hostile_recording_forges_no_line(run: Callable[..., Result], message: str) -> None:
    name = yaml.safe_load(f'"{_NAME}"')
    failure = {"successful": False, "status": {"code": 422, "message": message}}
    answer = {"response": {"uid": name, **(failure if message else {"successful": True, "replicas": 7})}}
    written = head(DEFAULT_OPTIONS) + line(1.0, _request(name), json.dumps(answer).encode())
    Path("recordings").mkdir()
    Path("recordings", "calls-20260101T000000Z-00000001.jsonl.gz").write_bytes(gzip.compress(written))
    for options in ("", " --full"):
        test_hostile_name_forges_no_line(run, f"replay recordings --to karta.yaml{options}")


class _ApiServer(BaseHTTPRequestHandler):
    """An API server whose answers have hostile names, or are errors with hostile messages."""

    status: int

    def do_GET(self) -> None:
        name = yaml.safe_load(f'"{_NAME}"')
        container = {"name": name, "image": name, "resources": {"requests": {"cpu": "1"}}}
        metadata = {"name": name, "namespace": "team", "uid": "it", "creationTimestamp": "2026-01-01T00:00:00Z"}
        spec = {"replicas": 3, "template": {"spec": {"containers": [container]}}, "containers": [container]}
        crd = {"names": {"kind": "Job", "plural": "jobs"}, "versions": [{"name": "v1", "served": True, "schema": {}}]}
        spec |= crd | {"group": "example.io", "scope": "Namespaced"}
        client = {"url": "https://127.0.0.1:1/interpret"}
        rules = [{"apiGroups": [name], "apiVersions": ["v1"], "kinds": [name], "operations": [name]}]
        webhooks = [{"name": name, "clientConfig": client, "rules": rules, "interpreterContextVersions": [name]}]
        item = {"metadata": metadata, "spec": spec, "webhooks": webhooks}
        if "webhookconfigurations" in self.path:
            item["metadata"] = {"name": "karta-interpreter"}
        version = {"groupVersion": "example.io/v1", "version": "v1"}
        answer = {
            "gitVersion": name,
            "groups": [{"name": "example.io", "versions": [version], "preferredVersion": version}],
            "versions": [version],
            "resources": [{"name": "jobs", "singularName": "job", "kind": "Job", "namespaced": True}],
            "items": [item],
            "apiVersion": "example.io/v1",
            "kind": "Job",
            "metadata": metadata,
            "spec": spec,
        }
        failure = {"kind": "Status", "message": name, "reason": name, "code": self.status}
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer if self.status == HTTPStatus.OK else failure).encode())

    def do_DELETE(self) -> None:
        self.do_GET()


@pytest.mark.usefixtures("_hostile")
@pytest.mark.parametrize(
    "command",
    [
        "doctor",
        "doctor --name \x1b[2J",
        "unregister",
        pytest.param("verify --all-namespaces", marks=pytest.mark.catalogue),
        "verify -A -f karta.yaml",
        "interpret job/x -n team -f karta.yaml",
        "tree job/x -n team -f karta.yaml",
    ],
)
@pytest.mark.parametrize("status", [200, pytest.param(403, marks=pytest.mark.slow)])
def test_hostile_api_server_forges_no_line(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, command: str, status: int
) -> None:
    monkeypatch.setattr("karta_interpreter.cli.unregister._SETTLED_SECONDS", 0)
    with serving(_ApiServer, status=status) as url:
        config = {
            "current-context": "it",
            "contexts": [{"name": "it", "context": {"cluster": "it", "user": "u"}}],
            "clusters": [{"name": "it", "cluster": {"server": url}}],
            "users": [{"name": "u", "user": {"token": "token"}}],
        }
        Path("config").write_text(yaml.safe_dump(config))
        result = run(*command.split(), "--kubeconfig", "config")
    assert isinstance(result.exception, SystemExit | None), result.exception
    lines = result.output.split("\n")
    assert not [line for line in lines if line.strip().startswith((_FORGED, "::")) or "##[" in line]
    assert not [line for line in lines if not line.isprintable()]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("{}",), id="a command that there is not"),
        pytest.param(("export", "{}"), id="a command below another"),
        pytest.param(("help", "{}"), id="help about it"),
        pytest.param(("--{}",), id="an option of the program"),
        pytest.param(("tree", "--{}"), id="an option of a command"),
        pytest.param(("interpret", "a", "b", "{}"), id="arguments that are too many"),
        pytest.param(("verify", "-o", "{}"), id="a choice"),
        pytest.param(("verify", "{}"), id="a folder"),
        pytest.param(("serve", "--port", "{}"), id="a number"),
    ],
)
def test_hostile_argument_forges_no_line(run: Callable[..., Result], command: tuple[str, ...]) -> None:
    text = yaml.safe_load(f'"{_NAME}"')
    result = run(*(part.format(text) for part in command))
    assert result.exit_code == 2
    assert not [line for line in result.output.split("\n") if not line.isprintable() or "##[" in line]
    assert not [line for line in result.output.split("\n") if line.strip().startswith((_FORGED, "::"))]


@pytest.mark.usefixtures("_hostile")
@pytest.mark.parametrize("form", ["table", "yaml", "json"])
def test_answer_with_hostile_text_forges_no_command(run: Callable[..., Result], form: str) -> None:
    job = (
        Path("job.yaml")
        .read_text()
        .replace("phase: Running", f'phase: "{_NAME}", note: "{_NAME}"'.replace(", ", "\n  "))
    )
    Path("status.yaml").write_text(job)
    for operation in ("InterpretStatus", "ReviseReplica", "Retain"):
        options = ("--desired-replica", "2") if operation == "ReviseReplica" else ()
        given = ("--observed-file", "status.yaml") if operation == "Retain" else ()
        result = run(
            "interpret", "-f", "karta.yaml", "--desired-file", "status.yaml", "--operation", operation, "-o", form,
            *options, *given,
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        assert ("stop-commands" in result.output) == (form != "table" or operation == "InterpretStatus")
        assert "##[" not in result.output
        assert not [line for line in result.output.split("\n") if line.strip().startswith("::")]
