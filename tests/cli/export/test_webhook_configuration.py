from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from tests.webhook.registration.admission_rules import objections

Run = Callable[..., Result]

pytestmark = pytest.mark.catalogue

EXPORT = ("export", "webhook-configuration")
URL = ("--url", "https://interpreter.example:8443")
MINE = ("--no-catalogue", "--kartas", "karta.yaml")

CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: jobs.example.io}}
spec:
  group: example.io
  names: {{kind: Job, plural: jobs}}
  scope: Namespaced
  versions:
  - {{name: {version}, served: true, storage: true, subresources: {{}}}}
"""


def webhooks(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    configuration = yaml.safe_load(result.stdout)
    assert objections(configuration) == []
    return configuration["webhooks"]


def test_catalogue_is_exported_for_url(run: Run) -> None:
    result = run(*EXPORT, *URL)

    assert {hook["clientConfig"]["url"] for hook in webhooks(result)} == {"https://interpreter.example:8443/interpret"}
    assert "raycluster.v1.ray.io.karta-interpreter.io" in {hook["name"] for hook in webhooks(result)}
    assert "the certificate for interpreter.example must be signed by a CA of Karmada's own system" in result.stderr


def test_kinds_can_be_left_out(run: Run) -> None:
    result = run(*EXPORT, *URL, "--kinds", "Job", "--kinds", "Deploymnt", "--without", "batch/v1/*")

    assert [hook["name"] for hook in webhooks(result)] == ["job.v1alpha1.batch.volcano.sh.karta-interpreter.io"]
    assert "--kinds Deploymnt: there is no definition for it" in result.stderr
    assert "did you mean Deployment?" in result.stderr


def test_configuration_without_a_kind_is_not_printed(run: Run) -> None:
    """To apply it would remove all that is registered."""
    result = run(*EXPORT, *URL, "--kinds", "Deploymnt")

    assert (result.exit_code, result.stdout) == (1, "")
    assert "--kinds Deploymnt: there is no definition for it" in result.stderr
    assert "a configuration without webhooks would remove all of them" in result.stderr


@pytest.mark.usefixtures("files")
def test_own_definitions_at_a_service(run: Run) -> None:
    options = ("--service", "system/interpreter:8443", "--name", "mine", "--webhook-timeout", "9")

    result = run(*EXPORT, *MINE, *options)

    (hook,) = webhooks(result)
    service = {"namespace": "system", "name": "interpreter", "port": 8443, "path": "/interpret"}
    assert hook["clientConfig"] == {"service": service}
    assert hook["rules"][0]["apiGroups"] == ["example.io"]
    assert hook["timeoutSeconds"] == 9
    assert yaml.safe_load(result.stdout)["metadata"]["name"] == "mine"
    assert result.stderr.startswith("1 kind, 7 operations; the certificate for interpreter.system.svc")


def test_kind_with_only_a_script_is_exported(run: Run, files: Path) -> None:
    (files / "customization.yaml").write_text(
        """\
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: thing}
spec:
  target: {apiVersion: example.io/v1, kind: Thing}
  customizations:
    healthInterpretation:
      luaScript: function InterpretHealth(obj) return true end
"""
    )
    result = run(*EXPORT, "--no-catalogue", "--overrides", str(files / "customization.yaml"), *URL)

    (hook,) = webhooks(result)
    assert (hook["rules"][0]["kinds"], hook["rules"][0]["operations"]) == (["Thing"], ["InterpretHealth"])


@pytest.mark.parametrize("from_stdin", [False, True])
def test_crds_are_looked_at(run: Run, files: Path, from_stdin: bool) -> None:
    text = CRD.format(version="v1")
    (files / "crds").mkdir()
    (files / "crds" / "job.yaml").write_text(text)
    listed = yaml.safe_dump({"kind": "List", "items": [{"kind": "Namespace"}, yaml.safe_load(text)]})

    result = run(*EXPORT, *MINE, *URL, "--crds", "-" if from_stdin else "crds", stdin=listed)

    assert "AggregateStatus" not in webhooks(result)[0]["rules"][0]["operations"]


def test_unserved_version_is_reported(run: Run, files: Path) -> None:
    (files / "crd.yaml").write_text(CRD.format(version="v2"))

    result = run(*EXPORT, *MINE, *URL, "--crds", "crd.yaml")

    assert (result.exit_code, result.stdout) == (1, "")
    assert "[version-not-served]" in result.stderr
    assert "versions it serves: v2" in result.stderr


def test_broken_definition_prints_nothing(run: Run, files: Path, karta: Callable[..., str]) -> None:
    (files / "bad.yaml").write_text(karta("Bad", replicas=".a |"))

    result = run(*EXPORT, *URL, "--kartas", "bad.yaml")

    assert (result.exit_code, result.stdout) == (1, "")
    assert "bad.yaml:16:" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("error: 1 definition cannot be used;")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param((), "either --url or --service", id="no place"),
        pytest.param((*URL, "--service", "a/b"), "either --url or --service", id="two places"),
        pytest.param(("--url", "http://a.example"), "https://HOST", id="no TLS"),
        pytest.param(
            (*URL, "--ca-file", "karta.yaml"), "the CA file karta.yaml holds no PEM certificate", id="a CA that is none"
        ),
    ],
)
@pytest.mark.usefixtures("files")
def test_wrong_usage_is_exit_code_2(run: Run, arguments: tuple[str, ...], message: str) -> None:
    result = run(*EXPORT, *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
