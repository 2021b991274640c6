import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.webhook.registration.control_plane import CONFIGURATIONS, ControlPlane, running

Run = Callable[..., Result]

NAME = "karta-interpreter"


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karta_interpreter.cli.unregister._SETTLED_SECONDS", 0.1)


@pytest.fixture
async def plane() -> AsyncIterator[ControlPlane]:
    async with running() as plane:
        yield plane


async def unregister(run: Run, plane: ControlPlane, folder: Path, *options: str) -> Result:
    # The command has an event loop of its own.
    arguments = ("unregister", "--kubeconfig", str(plane.kubeconfig(folder)), *options)
    return await asyncio.to_thread(run, *arguments)


async def test_unregister_twice_succeeds(run: Run, plane: ControlPlane, tmp_path: Path) -> None:
    plane.write(CONFIGURATIONS, NAME, {"webhooks": []})
    plane.write(CONFIGURATIONS, "another", {"webhooks": []})

    first = await unregister(run, plane, tmp_path)
    second = await unregister(run, plane, tmp_path)

    assert (first.exit_code, first.stdout, second.exit_code, second.stdout) == (0, "", 0, "")
    assert first.stderr == f"deleted ResourceInterpreterWebhookConfiguration {NAME} at {plane.url}\n"
    nothing = f"{plane.url} has no ResourceInterpreterWebhookConfiguration {NAME}: nothing to do"
    assert second.stderr == f"{nothing}; there is another, which --name takes\n"
    assert plane.collections[CONFIGURATIONS].keys() == {"another"}


async def test_dry_run_deletes_nothing_and_names_what_stays(run: Run, plane: ControlPlane, tmp_path: Path) -> None:
    rule = {**_RULE, "kinds": ["JobSet"], "operations": ["AggregateStatus", "InterpretDependency"]}
    plane.write(CONFIGURATIONS, NAME, {"webhooks": [{"name": "a.b.io", "rules": [rule]}]})
    plane.collections |= {_BINDINGS: {}, _OF_CLUSTER: {}}
    jobset = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "namespace": "ml", "name": "a"}
    secret = {"apiVersion": "v1", "kind": "Secret", "namespace": "ml", "name": "s"}
    needed_by = [{"namespace": "ml", "name": "a-jobset"}]
    reports = {"aggregatedStatus": [{"clusterName": "m1"}]}
    for name, spec, status in (
        ("a-jobset", {"resource": jobset}, reports),
        ("s-secret", {"resource": secret, "requiredBy": needed_by}, {}),
    ):
        plane.write(_BINDINGS, name, {"metadata": {"namespace": "ml"}, "spec": spec, "status": status})

    result = await unregister(run, plane, tmp_path, "--dry-run")

    assert result.exit_code == 0, result.output
    assert "kubectl delete --namespace=ml -- resourcebinding s-secret" in result.stdout
    assert "JobSet ml/a" in result.stdout
    assert result.stderr == "2 objects would stay as registered; counts, placement and health go back\n"
    assert plane.collections[CONFIGURATIONS].keys() == {NAME}


async def test_dry_run_names_strange_bindings_as_problems(run: Run, plane: ControlPlane, tmp_path: Path) -> None:
    rule = {**_RULE, "kinds": ["JobSet"], "operations": ["AggregateStatus", "InterpretDependency"]}
    plane.write(CONFIGURATIONS, NAME, {"webhooks": [{"name": "a.b.io", "rules": [rule]}]})
    plane.collections |= {_BINDINGS: {}, _OF_CLUSTER: {}}
    for name, namespace, resource in (
        ("option", "ml", "--server=https://elsewhere"),
        ("elsewhere", "kube-system", "victim"),
        ("good", "ml", "mine"),
    ):
        fields = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "namespace": namespace, "name": resource}
        status = {"aggregatedStatus": [{"clusterName": "m1"}]}
        obj = {"metadata": {"namespace": "ml"}, "spec": {"resource": fields}, "status": status}
        plane.write(_BINDINGS, name, obj)

    result = await unregister(run, plane, tmp_path, "--dry-run")

    assert result.exit_code == 1
    (_, row) = result.stdout.splitlines()
    assert row.endswith("-- JobSet.v1alpha2.jobset.x-k8s.io mine")
    elsewhere, option = sorted(result.stderr.splitlines()[1:])
    reason = "it names JobSet kube-system/victim, which is not of its namespace: nobody judges it"
    assert elsewhere == f"problem: ResourceBinding ml/elsewhere: {reason}"
    reason = '"--server=https://elsewhere" is not the name of an object: there is no command'
    what = 'JobSet ml/"--server=https://elsewhere" stays as it is'
    assert option == f"problem: ResourceBinding ml/option: {what}: {reason}"


_RULE = {"apiGroups": ["jobset.x-k8s.io"], "apiVersions": ["v1alpha2"]}
_BINDINGS = "/apis/work.karmada.io/v1alpha2/resourcebindings"
_OF_CLUSTER = "/apis/work.karmada.io/v1alpha2/clusterresourcebindings"


async def test_server_that_is_no_karmada_is_an_error(run: Run, plane: ControlPlane, tmp_path: Path) -> None:
    """The registration is somewhere else, and stays there."""
    del plane.collections[CONFIGURATIONS]

    result = await unregister(run, plane, tmp_path)

    assert result.exit_code == 1
    assert "404 the server could not find the requested resource; the server has no resourceinterp" in result.stderr


async def test_name_of_the_variable_of_serve(
    run: Run, plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plane.write(CONFIGURATIONS, NAME, {"webhooks": []})
    plane.write(CONFIGURATIONS, "mine", {"webhooks": []})
    monkeypatch.setenv("KARTA_INTERPRETER_REGISTRATION_NAME", "mine")

    assert (await unregister(run, plane, tmp_path)).exit_code == 0
    assert plane.collections[CONFIGURATIONS].keys() == {NAME}


async def test_name_that_is_not_there_needs_no_right_to_delete(run: Run, plane: ControlPlane, tmp_path: Path) -> None:
    """RBAC gives a server the right for its own name only: an error about rights would hide the typo."""
    plane.write(CONFIGURATIONS, NAME, {"webhooks": []})
    plane.refused["DELETE", CONFIGURATIONS] = 403

    result = await unregister(run, plane, tmp_path, "--name", "karta-interpretr")

    assert (result.exit_code, f"there is {NAME}, which --name takes" in result.stderr) == (0, True)


async def test_running_server_is_noticed(run: Run, plane: ControlPlane, tmp_path: Path) -> None:
    plane.write(CONFIGURATIONS, NAME, {"webhooks": []})
    plane.on_removal = lambda: plane.write(CONFIGURATIONS, NAME, {"webhooks": []})

    result = await unregister(run, plane, tmp_path)

    assert result.exit_code == 1
    assert "stop it first" in result.stderr


async def test_missing_right_is_named(run: Run, plane: ControlPlane, tmp_path: Path) -> None:
    plane.write(CONFIGURATIONS, NAME, {"webhooks": []})
    plane.refused["DELETE", CONFIGURATIONS] = 403

    result = await unregister(run, plane, tmp_path)

    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert '"verbs": ["delete"]' in result.stderr


def test_missing_kubeconfig_is_wrong_usage(run: Run, tmp_path: Path) -> None:
    result = run("unregister", "--kubeconfig", str(tmp_path / "none"))

    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert str(tmp_path / "none") in result.stderr
