"""Which texts are left out of a recorded call and of a saved folder: all that no operation of a definition reads."""

import base64
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import orjson
import pytest
import yaml

from karta_interpreter.base.k8s import GVK, Projection
from karta_interpreter.base.k8s.secret_holders import secret_texts
from karta_interpreter.clusters.saved import Saved, save
from karta_interpreter.definitions.karta import Definition
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.sources.files import load_catalogue
from karta_interpreter.engine.operations import reads_of_karta
from karta_interpreter.engine.redaction import Redaction
from karta_interpreter.engine.verification import Evidence
from karta_interpreter.languages.lua.script import Script, Scripts
from tests.support.rows import rows
from tests.support.secret_holders import HOLDERS, VALUE

pytestmark = pytest.mark.catalogue

_FILLER: Final = "Fk3" * 12
TOKENS: Final = {
    "a word": "hunter2",
    "a token of GitHub": f"ghp_{_FILLER}",
    "a fine-grained token of GitHub": f"github_pat_{_FILLER}",
    "a token of GitLab": f"glpat-{_FILLER}",
    "a token of Hugging Face": f"hf_{_FILLER}",
    "a key of OpenAI": f"sk-{_FILLER}",
    "a token of npm": f"npm_{_FILLER}",
    "a token of Docker Hub": f"dckr_pat_{_FILLER}",
    "a token of Slack": f"xoxb-{_FILLER}",
    "a key of AWS": f"AKIA{_FILLER}",
    "a key of Google": f"AIza{_FILLER}",
    "a JWT": f"eyJ{_FILLER}.eyJ{_FILLER}.{_FILLER}",
    "a private key": f"-----BEGIN PRIVATE KEY-----\n{_FILLER}\n-----END PRIVATE KEY-----",
    "a header": f"Authorization: Bearer {_FILLER}",
    "an address": f"postgres://me:{_FILLER}@db:5432/x?sslmode=require",
}
NAME: Final[dict[str, Any]] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "team"},
}


def _planted(token: str) -> dict[str, Any]:
    """Return a Deployment with a token in each place that no operation reads."""
    container = {
        "name": "main",
        "image": "registry/served",
        "args": [f"--token={token}", token],
        "command": ["sh", "-c", f"export TOKEN={token}"],
        "env": [
            {"name": "A", "value": token},
            {"name": "B", "valueFrom": {"secretKeyRef": {"name": "tls", "key": "k"}}},
        ],
        "livenessProbe": {"httpGet": {"port": 80, "httpHeaders": [{"name": "X", "value": token}]}},
        "lifecycle": {"preStop": {"exec": {"command": [token]}}},
        "resources": {"requests": {"cpu": "100m", "memory": "1Gi"}},
    }
    template = {
        # Retain reads its labels, which go with the selector.
        "metadata": {"annotations": {"note": token}, "labels": {"app": "served"}},
        "spec": {"containers": [container], "hostAliases": [{"hostnames": [token]}], "nodeSelector": {"zone": "a"}},
    }
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": f'{{"spec": "{token}"}}', "note": token}
    metadata = {**NAME["metadata"], "annotations": annotations, "labels": {"note": token}}
    return {**NAME, "metadata": metadata, "spec": {"replicas": 3, "template": template, "unknown": {"deep": [[token]]}}}


def _definition(kind: str) -> Definition:
    return next(entry.definition for entry in load_catalogue().entries if entry.definition.gvk.kind == kind)


def _call(obj: Any, **fields: Any) -> bytes:
    kind = {"group": "apps", "version": "v1", "kind": "Deployment"}
    about = {"uid": "1", "name": "web", "namespace": "team", "kind": kind, "operation": "Retain"}
    return orjson.dumps({"request": {**about, "object": obj, **fields}})


def _answer(**fields: Any) -> bytes:
    return orjson.dumps({"response": {"uid": "1", "successful": True, **fields}})


def _object(request: bytes) -> Any:
    return orjson.loads(request)["request"]["object"]


@rows("token", [pytest.param(token, id=reason) for reason, token in TOKENS.items()])
def test_recording_and_saved_folder_have_no_token_that_no_operation_reads(token: str, tmp_path: Path) -> None:
    definition, obj = _definition("Deployment"), _planted(token)
    pod = {**_planted(token)["spec"]["template"], "apiVersion": "v1", "kind": "Pod"}
    pod["metadata"] |= {"name": "web-0", "namespace": "team"}

    request, _ = Redaction(b"key").redacted(_call(obj, observedObject=obj), _answer(), definition)
    save(tmp_path, Saved(0), [(definition, Evidence(obj, (pod,), (obj,)))])

    saved = gzip.decompress((tmp_path / "workloads.jsonl.gz").read_bytes())
    for text in (request, saved):
        assert orjson.dumps(token)[1:-1] not in text
        assert _FILLER.encode() not in text
        for kept in (b'"web"', b'"team"', b'"apps/v1"', b'"100m"', b'"1Gi"', b'"tls"', b'"zone":"a"'):
            assert kept in text


def test_variable_that_retain_copies_is_a_mark_in_object_and_answer() -> None:
    definition, member = _definition("Deployment"), _planted("secret-of-the-member")
    (container,) = member["spec"]["template"]["spec"]["containers"]
    env = [*container["env"], {"name": "STAKATER_DB_SECRET", "value": "hash-of-reloader"}]
    container["env"] = env
    patch = [{"op": "replace", "path": "/spec/template/spec/containers/0/env", "value": env}]
    answer = _answer(patchType="JSONPatch", patch=base64.b64encode(orjson.dumps(patch)).decode())

    request, answered = Redaction(b"key").redacted(_call(NAME, observedObject=member), answer, definition)

    steps = orjson.loads(base64.b64decode(orjson.loads(answered)["response"]["patch"]))
    observed = orjson.loads(request)["request"]["observedObject"]
    kept = observed["spec"]["template"]["spec"]["containers"][0]["env"]
    assert steps[0]["value"] == kept
    assert kept[-1]["name"] == "STAKATER_DB_SECRET"
    for text in ("secret-of-the-member", "hash-of-reloader"):
        assert text not in str(steps) + str(observed)


@rows("token", [pytest.param(token, id=reason) for reason, token in TOKENS.items()])
def test_object_without_definition_keeps_identity_and_structure(token: str) -> None:
    request, _ = Redaction(b"key").redacted(_call(_planted(token)), _answer(), None)

    written, planted = _object(request), _planted(token)
    assert {**written, "spec": 0, "metadata": 0} == {**NAME, "spec": 0, "metadata": 0}
    assert {name: written["metadata"][name] for name in ("name", "namespace")} == NAME["metadata"]
    assert [*_shape(written)] == [*_shape(planted)]
    assert token not in str([*_texts(written["spec"])])
    assert all(text.startswith("redacted-") for text in _texts(written["spec"]))


def _shape(value: Any) -> Iterator[Any]:
    """Yield all keys, numbers and booleans, and a mark for each text."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield key
            yield from _shape(part)
    elif isinstance(value, list):
        yield len(value)
        for part in value:
            yield from _shape(part)
    else:
        yield str if isinstance(value, str) else value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


@rows(
    ("operations", "is_kept"),
    [
        pytest.param("AggregateStatus", True, id="merged"),
        pytest.param("InterpretHealth", False, id="not read"),
    ],
)
def test_reported_status_stays_where_karta_merges_statuses(operations: str, *, is_kept: bool) -> None:
    raw = {**_definition("Deployment").manifest}
    raw["metadata"] = {"name": "web", "annotations": {"karta-interpreter.io/operations": operations}}
    items = [{"clusterName": "north", "status": {"message": "hunter2"}}]

    request, _ = Redaction(b"key").redacted(_call(NAME, aggregatedStatus=items), _answer(), load_definition(raw))

    assert (b"hunter2" in request) is is_kept


def test_karta_answers_from_what_it_reads_so_its_answer_stays() -> None:
    answer = _answer(patch=base64.b64encode(b'[{"op":"add","path":"/spec/x","value":"web"}]').decode())

    _, written = Redaction(b"key").redacted(_call(_planted("hunter2")), answer, _definition("Deployment"))

    assert orjson.loads(written) == orjson.loads(answer)


def test_answer_of_script_has_marks_for_what_the_request_has_marks_for() -> None:
    scripts = Scripts([Script("Retain", "function Retain(a, b) return a end", "mine")])
    definition = Definition.of_scripts(GVK("apps", "v1", "Deployment"), scripts)
    steps = [{"op": "add", "path": "/spec/note", "value": ["hunter2", "web", "new"]}]
    answer = _answer(patch=base64.b64encode(orjson.dumps(steps)).decode(), rawStatus={"note": "hunter2"})

    request, written = Redaction(b"key").redacted(_call(_planted("hunter2")), answer, definition)

    response = orjson.loads(written)["response"]
    ((mark, *others),) = (step["value"] for step in orjson.loads(base64.b64decode(response["patch"])))
    assert others == ["web", "new"]
    assert mark == response["rawStatus"]["note"] == _object(request)["metadata"]["annotations"]["note"]


def test_equal_texts_have_equal_marks_that_only_one_run_knows() -> None:
    spec = {"a": ["x", "y"], "b": "x", "c": ""}

    first, second = (
        _object(Redaction(key).redacted(_call({"spec": spec}), _answer(), None)[0])["spec"] for key in (b"1", b"2")
    )

    assert first["a"][0] == first["b"] != first["a"][1]
    assert first["b"] != second["b"]
    assert first["c"] == "", "an empty text tells nothing"


def test_text_that_is_equal_to_one_that_stays_stays() -> None:
    spec = {"serviceName": "web", "other": "x"}

    written = _object(Redaction(b"key").redacted(_call({**NAME, "spec": spec}), _answer(), None)[0])

    assert written["spec"]["serviceName"] == "web"
    assert written["spec"]["other"].startswith("redacted-")


def test_values_in_keys_of_managed_fields_stay_where_they_find_an_element() -> None:
    fields: dict[str, Any] = {"f:containers": {'k:{"name":"main"}': {"f:image": {}}}, 'v:"blue"': {}, "k:not json": {}}
    document = {"metadata": {"managedFields": [{"fieldsV1": fields}]}, "spec": [{"name": "main", "image": "x"}, "blue"]}

    Redaction(b"key").redact(document, [Projection()])

    (element, text) = document["spec"]
    assert (element["name"], text) == ("main", "blue")  # type: ignore[index]
    assert element["image"].startswith("redacted-")  # type: ignore[index]


REFERRING: Final = """
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: mill}
spec:
  structureDefinition:
    references:
      - {name: sizes, gvk: {group: "", version: v1, kind: ConfigMap}, lookup: {nameExpression: .spec.sizes}}
    rootComponent:
      name: mill
      kind: {group: example.io, version: v1, kind: Mill}
      specDefinition: {podTemplateSpecPath: $sizes.data.template}
      scaleDefinition: {replicasPath: $sizes.data.pods}
      statusDefinition: {phaseDefinition: {path: .status.phase}, statusMappings: {running: [{byPhase: Up}]}}
"""


def test_what_definitions_read_of_looked_up_objects_is_known() -> None:
    reads = reads_of_karta(load_definition(yaml.safe_load(REFERRING)))

    assert reads.at("spec", "sizes").is_whole
    assert "data.pods" in reads.variables["sizes"].paths(2)
    assert not reads.variables["sizes"].at("data", "template").is_whole
    assert "data.template.spec.containers[].resources" in reads.variables["sizes"].paths(6)


_WRAPPER: Final = """
apiVersion: run.ai/v1alpha1
kind: Karta
metadata: {name: wrapper}
spec:
  structureDefinition:
    rootComponent:
      name: wrapper
      kind: {group: example.io, version: v1, kind: Wrapper}
      specDefinition: {podTemplateSpecPath: "{spec: (.spec | tojson | {containers: [{name: ., image: .}]})}"}
      scaleDefinition: {replicasPath: .spec.replicas}
      statusDefinition: {phaseDefinition: {path: .spec | tojson}, statusMappings: {}}
"""


@pytest.mark.parametrize("part", HOLDERS.values(), ids=HOLDERS)
@pytest.mark.parametrize("operation", ["InterpretStatus", "Retain"])
def test_recording_has_nothing_that_a_secret_keeps_although_the_definition_reads_it(part: Any, operation: str) -> None:
    definition = load_definition(yaml.safe_load(_WRAPPER))
    obj = {"apiVersion": "example.io/v1", "kind": "Wrapper", "metadata": {"name": "a"}, "spec": {**part, "replicas": 1}}
    request = _call(obj, operation=operation)
    plain, _ = Redaction(b"key").redacted(_call({**obj, "spec": {"note": VALUE}}), _answer(), definition)
    assert VALUE.encode() in plain, "the definition reads the whole spec"

    texts = [text for *_, text in secret_texts(obj)]
    recorded, answer = Redaction(b"key").redacted(request, _answer(status={"taken": texts}), definition)
    for written in (recorded, answer):
        assert VALUE.encode() not in written
    assert orjson.loads(recorded)["request"]["operation"] == operation


def test_text_that_stands_elsewhere_stays_there() -> None:
    """Whoever writes an object cannot damage its recording by a Secret with the words of a request."""
    secret = {"apiVersion": "v1", "kind": "Secret", "stringData": {"a": "apps/v1", "b": "Retain"}}
    recorded, answer = Redaction(b"key").redacted(
        _call({**NAME, "spec": {"extra": secret}}), _answer(status={"a": "apps/v1"}), _definition("Deployment")
    )
    assert orjson.loads(recorded)["request"]["operation"] == "Retain"
    assert _object(recorded)["apiVersion"] == "apps/v1"
    assert orjson.loads(answer)["response"]["status"] == {"a": "apps/v1"}
