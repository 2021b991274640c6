"""Which values are left out of a recorded call, and which are not: names of Secrets, and what answers depend on."""

import base64
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from karta_interpreter.base.errors import RecordingError
from karta_interpreter.webhook.wire.redaction import Redaction, shown
from tests.support.rows import rows

PLANTED = "hunter2-planted"

_ROWS = f"""
a variable: {{env: [{{name: A, value: {PLANTED}}}]}}
a variable of a list of texts: {{env: [A={PLANTED}]}}
a map of variables: {{envVars: {{A: {PLANTED}}}}}
a map of variables as objects: {{env: {{A: {{value: {PLANTED}}}}}}}
a variable whose value is an object: {{env: [{{name: A, value: {{nested: [{PLANTED}]}}}}]}}
variables of a Helm chart: {{values: {{extraEnv: [{{name: A, value: {PLANTED}}}]}}}}
variables with a prefix: {{workerEnvVars: {{A: {PLANTED}}}}}
variables of Spark as flat keys: {{sparkConf: {{spark.executorEnv.TOKEN_OF_A: {PLANTED}}}}}
environment variables in full: {{environmentVariables: {{A: {PLANTED}}}}}
a parameter of Argo: {{arguments: {{parameters: [{{name: a, value: {PLANTED}}}]}}}}
a parameter of Tekton: {{params: [{{name: a, value: {PLANTED}}}]}}
a list as parameter of Tekton: {{params: [{{name: a, value: [{PLANTED}]}}]}}
an object as parameter of Tekton: {{params: [{{name: a, value: {{b: {PLANTED}}}}}]}}
a password: {{rootPassword: {PLANTED}}}
pass: {{pass: {PLANTED}}}
a word within a name: {{keystore-pass: {PLANTED}}}
passwd: {{user_passwd: {PLANTED}}}
a passphrase: {{sshPassphrase: {PLANTED}}}
a token: {{token: {PLANTED}}}
a list of tokens: {{tokens: [{PLANTED}]}}
credentials: {{credentials: {PLANTED}}}
a client's secret: {{clientSecret: {PLANTED}}}
an api key: {{list: [{{api_key: {PLANTED}}}]}}
an API key: {{APIKey: {PLANTED}}}
an access key of S3: {{s3.access-key: {PLANTED}}}
an access key of Hadoop: {{flinkConfiguration: {{fs.s3a.access.key: {PLANTED}}}}}
a secret key of Hadoop: {{fs.s3a.secret.key: {PLANTED}}}
the id of an access key: {{accessKeyId: {PLANTED}}}
a private key: {{sshPrivateKey: {PLANTED}}}
an account key: {{storageAccountKey: {PLANTED}}}
an authorization: {{authorization: {PLANTED}}}
a header: {{httpHeaders: [{{name: Authorization, value: Bearer {PLANTED}}}]}}
a connection string: {{connectionString: {PLANTED}}}
a connection string by its form: {{url: "postgres://me:{PLANTED}@db:5432/x"}}
a connection string of JDBC: {{url: "jdbc:mysql://db/x?user=me&password={PLANTED}"}}
a connection string of Azure: {{storage: "AccountName=a;AccountKey={PLANTED};EndpointSuffix=b"}}
JAAS: {{sasl.jaas.config: 'x required username="a" password="{PLANTED}";'}}
JAAS without a secret word in its value: {{sasl.jaas.config: 'com.example.Login required id={PLANTED};'}}
JAAS in another field: {{kafka: 'x required username="a" password="{PLANTED}";'}}
an option of a command: {{args: [--password={PLANTED}]}}
an option and its value: {{command: [sh, -c, "run --api-key {PLANTED}"]}}
JSON in an annotation: {{annotations: {{x: '{{"password":"{PLANTED}"}}'}}}}
cloud-init: {{cloudInitNoCloud: {{userData: "{PLANTED}"}}}}
cloud-init in base64: {{cloudInitNoCloud: {{userDataBase64: {PLANTED}}}}}
the network of cloud-init: {{cloudInitNoCloud: {{networkData: {PLANTED}}}}}
a private key by its form: {{files: ["-----BEGIN PRIVATE KEY----- {PLANTED}"]}}
data of a Secret: {{kind: Secret, data: {{x: {PLANTED}}}}}
text of a Secret: {{list: [{{kind: Secret, stringData: {{x: {PLANTED}}}}}]}}
what kubectl applied: {{annotations: {{kubectl.kubernetes.io/last-applied-configuration: {PLANTED}}}}}
"""
_KEPT = """
a Secret of a volume: {volumes: [{name: a, secret: {secretName: training-data, optional: true}}]}
a Secret of a variable: {env: [{name: A, valueFrom: {secretKeyRef: {name: training-data, key: password}}}]}
Secrets to pull images: {imagePullSecrets: [{name: training-data}]}
a list of names of Secrets: {secrets: [training-data]}
a reference: {credentialsSecretRef: training-data}
a type: {secretType: GCPServiceAccount}
the path of a token: {tokenPath: /var/run/token}
a number of tokens: {maxTokens: 4096}
a taint that is tolerated: {tolerations: [{key: gpu, operator: Equal, value: training, effect: NoSchedule}]}
the name of a Secret that an object refers to: {authSecret: ngc, dependencies: [{kind: Secret, name: ngc}]}
the name of a Secret that a volume has, too: {authSecret: ngc, volumes: [{name: a, secret: {secretName: ngc}}]}
the names of Secrets in one text: {pullSecrets: "a,b", pods: [{imagePullSecrets: [{name: a}]}]}
a host and a port: {address: "auth.example.com:8080"}
a number of tokens of a model: {args: [--max-num-batched-tokens, "8192", --max-tokens=12]}
a tokenizer: {args: [--tokenizer=bert], tokenizer: bert}
a switch: {auth: "true", args: [--auth=false]}
a key of a topology: {topologyKey: zone, matchLabelKeys: [a], args: [--topology-key=zone]}
an environment variable in a text: {args: ["--password=$PASSWORD", "--token $(TOKEN)"]}
a digest: {image: "registry.example.com:5000/team/image:v1@sha256:abcdef"}
an address: {url: "https://example.com:8080/path"}
requests: {resources: {requests: {cpu: 100m, memory: 1Gi}}}
data of an object that is not a Secret: {template: {kind: ConfigMap, data: {mode: training}}}
"""


def _call(obj: Any) -> bytes:
    kind = {"group": "example.com", "version": "v1", "kind": "Training"}
    return orjson.dumps({"request": {"uid": "1", "name": "a", "namespace": "b", "kind": kind, "object": obj}})


def _answer(**fields: Any) -> bytes:
    return orjson.dumps({"response": {"uid": "1", "successful": True, **fields}})


def _rows(text: str) -> list[Any]:
    return [pytest.param(row, id=reason) for reason, row in yaml.safe_load(text).items()]


@rows("spec", _rows(_ROWS))
def test_redaction_leaves_no_planted_value_in_request_status_or_answer(spec: Any) -> None:
    steps = [{"op": "add", "path": "/spec", "value": spec}, {"op": "add", "path": "/note", "value": f"by {PLANTED}"}]
    patch = base64.b64encode(orjson.dumps(steps)).decode()
    obj = {"apiVersion": "example.com/v1", "kind": "Training", "spec": spec, "other": spec}

    request, answer = Redaction(b"key").redacted(_call(obj), _answer(patch=patch, rawStatus={"spec": spec}))

    assert PLANTED.encode() not in request + answer
    written = orjson.loads(base64.b64decode(orjson.loads(answer)["response"]["patch"]))
    assert written[0]["value"] == orjson.loads(request)["request"]["object"]["spec"], "question and answer agree"
    assert PLANTED not in str(written[0])


@rows("spec", _rows((Path(__file__).parent / "testdata" / "planted.yaml").read_text()))
def test_recording_and_saved_document_have_no_planted_value(spec: Any) -> None:
    spec = orjson.loads(orjson.dumps(spec).replace(b"PLANTED", PLANTED.encode()))
    redaction = Redaction(b"key")

    request, _ = redaction.redacted(_call({"kind": "Training", "spec": spec}), _answer())
    saved = redaction.redacted_document(orjson.dumps({"object": {"spec": spec}}))

    assert PLANTED.encode() not in request + saved
    assert orjson.loads(request)["request"]["object"]["spec"] == orjson.loads(saved)["object"]["spec"]


@rows(
    ("value", "message"),
    [
        pytest.param("--token={}", "by {} at 3", id="a value within its text"),
        pytest.param("https://me:{}@host/x", "login of me:{} failed", id="a part of an address"),
        pytest.param("--token={}", "{}{}", id="twice without a space"),
    ],
)
def test_redaction_finds_a_part_of_a_text_again(value: str, message: str) -> None:
    texts = {"args": [value.format(PLANTED)], "message": message.format(PLANTED, "." + PLANTED)}

    assert PLANTED not in str(Redaction(b"key").redacted_document(orjson.dumps(texts)))


@pytest.mark.slow
def test_redaction_with_values_of_equal_words_is_given_up() -> None:
    env = [{"name": "A", "value": "a " * number} for number in range(4, 1_000)]

    with pytest.raises(RecordingError, match="too many values"):
        Redaction(b"key").redacted_document(orjson.dumps({"env": env, "x": ["a " * 100_000]}))


def test_redaction_finds_a_value_again_in_the_status_and_in_messages() -> None:
    message = f"cannot log in with {PLANTED}"
    obj = {"spec": {"env": [{"name": "A", "value": PLANTED}]}, "status": {"message": message}}

    request, answer = Redaction(b"key").redacted(_call(obj), _answer(status={"message": message}))

    assert PLANTED.encode() not in request + answer
    assert b"cannot log in with redacted-" in request
    assert b"cannot log in with redacted-" in answer


@rows("spec", _rows(_KEPT))
def test_redaction_keeps_what_is_not_secret(spec: Any) -> None:
    request, answer = _call({"kind": "Training", "spec": spec}), _answer(patch=base64.b64encode(b"[]").decode())

    assert Redaction(b"key").redacted(request, answer) == (request, answer)


def test_redaction_of_a_value_that_is_a_name_keeps_names_and_fields() -> None:
    env = [{"name": name, "value": name} for name in ("Training", "example.com/v1", "replicas")]
    obj = {"apiVersion": "example.com/v1", "kind": "Training", "spec": {"replicas": 3, "env": env}}

    request, _ = Redaction(b"key").redacted(_call(obj), _answer())

    written = orjson.loads(request)["request"]["object"]
    assert (written["apiVersion"], written["kind"], written["spec"]["replicas"]) == ("example.com/v1", "Training", 3)


def test_short_value_in_document_is_replaced_only_in_its_variable() -> None:
    spec = {"env": [{"name": "LEVEL", "value": "warn"}], "args": ["--level=warn"]}

    written = orjson.loads(Redaction(b"").redacted_document(orjson.dumps({"spec": spec})))["spec"]

    assert written["args"] == ["--level=warn"]
    assert written["env"][0]["value"].startswith("redacted-")


def test_document_keeps_names_and_labels_that_variables_repeat() -> None:
    variables = {"ROLE": "launcher", "A": PLANTED, "B": "settings-2"}
    env = [{"name": name, "value": value} for name, value in variables.items()]
    metadata = {"name": "the-launcher-1", "labels": {"role": "launcher", "token": PLANTED}}
    volumes = [{"configMap": {"name": "settings-2"}}, {"secret": {"secretName": "tls-secret"}}]
    spec = {"env": env, "args": ["launcher", PLANTED], "volumes": volumes}

    (pod,) = orjson.loads(
        Redaction(b"").redacted_document(orjson.dumps({"pods": [{"metadata": metadata, "spec": spec}]}))
    )["pods"]
    assert (pod["metadata"]["name"], pod["metadata"]["labels"]["role"]) == ("the-launcher-1", "launcher")
    assert pod["spec"]["volumes"] == volumes
    assert pod["spec"]["args"][0] == "launcher"
    assert "launcher" not in [each["value"] for each in pod["spec"]["env"]]
    assert PLANTED not in str(pod)


@rows(
    ("field", "value", "is_shown"),
    [
        pytest.param(".spec.replicas", 3, True, id="a number"),
        pytest.param(".spec.image", "busybox", True, id="a text"),
        pytest.param(".spec.secretName", "tls", True, id="the name of a Secret"),
        pytest.param(".spec.topologyKey", "zone", True, id="a key that is a label"),
        pytest.param(".spec.auth", PLANTED, False, id="a word for a secret"),
        pytest.param(".spec.requirepass", PLANTED, False, id="a word that recordings know"),
        pytest.param(".spec.env[].value", PLANTED, False, id="an environment"),
        pytest.param(".spec.containers[].args[0]", PLANTED, False, id="an argument"),
        pytest.param(".spec.parameters[].value", PLANTED, False, id="a value with a name"),
        pytest.param(".metadata.annotations.owner", PLANTED, False, id="an annotation"),
        pytest.param('.spec.config["db.password"]', PLANTED, False, id="a name between brackets"),
        pytest.param(".spec.url", f"https://{PLANTED}@host/x", False, id="the form of a secret"),
        pytest.param(".spec.note", "x" * 65, False, id="a long text"),
    ],
)
def test_log_shows_what_recordings_keep(field: str, value: Any, is_shown: bool) -> None:
    assert (shown(field, value) == orjson.dumps(value).decode()) is is_shown
