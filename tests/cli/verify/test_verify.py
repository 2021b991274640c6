import gzip
import json
import re
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from karta_interpreter import Karta
from karta_interpreter.base.k8s import GVK
from karta_interpreter.clusters.member import WorkloadSelection
from karta_interpreter.clusters.reports import verify_folder
from karta_interpreter.clusters.saved import Saved, save
from karta_interpreter.definitions.karta import kartas_path
from karta_interpreter.definitions.sources import api_server
from tests.clusters.evidence import deep, defined, deployments, written_by_version_0_1
from tests.clusters.member_server import DEPLOYMENTS, PODS, MemberServer, serving, shops
from tests.engine.verification.member import NOW, container, evidence, pod, workload
from tests.support.rows import rows
from tests.support.secret_holders import HOLDERS, VALUE

pytestmark = pytest.mark.catalogue

Run = Callable[..., Result]

MEMBER = Path(__file__).parents[3] / "docs/examples/member"
_SEND = api_server._send  # noqa: SLF001
_PROXY = "container istio-proxy, 100m cpu, added by a webhook, is not counted"


@pytest.fixture(autouse=True)
def _at_the_time_of_the_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: NOW)


def _verify(run: Run, member: MemberServer, folder: Path, *options: str) -> Result:
    return run("verify", "--kubeconfig", member.kubeconfig(folder), "--kinds", "apps/v1/Deployment", *options)


def _json(result: Result) -> Any:
    return json.loads(result.stdout)


def test_pods_are_found_through_objects_between(run: Run, tmp_path: Path) -> None:
    with serving(MemberServer(shops("a", "b", "c", proxied=False))) as member:
        result = _verify(run, member, tmp_path, "-o", "json")

    assert {each["verdict"] for each in _json(result)["results"] if each["question"] == "InterpretReplica"} == {"ok"}
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("3 objects of 1 kind: ")


def test_secrets_are_never_read(run: Run, tmp_path: Path) -> None:
    with serving(MemberServer(shops("a"))) as member:
        _verify(run, member, tmp_path, "-A")

    assert member.asked
    assert not [path for path in member.asked if "secret" in path]


def test_cause_that_all_objects_share_is_shown_once(run: Run, tmp_path: Path) -> None:
    with serving(MemberServer(shops("a", "b"))) as member:
        result = _verify(run, member, tmp_path, "-o", "json")
        shown = _verify(run, member, tmp_path, "--fail-only")

    (cause,) = _json(result)["causes"]
    assert (cause["reason"], cause["objects"], cause["of"]) == (_PROXY, ["team/a", "team/b"], 2)
    assert f"all 2 Deployments: requirements: {_PROXY}" in shown.stdout
    assert result.exit_code == shown.exit_code == 1


def test_object_of_a_cluster_that_is_nested_too_deeply_is_named(run: Run, tmp_path: Path) -> None:
    with serving(MemberServer(shops("a", "b"))) as member:
        member.collections[DEPLOYMENTS][0]["status"]["in"] = deep(400)
        result = _verify(run, member, tmp_path)

    assert "Deployment a: it is nested too deeply to be judged" in result.stderr


@pytest.mark.parametrize(
    ("options", "names"),
    [
        pytest.param((), {"team/a"}, id="the-namespace-of-the-context"),
        pytest.param(("-A",), {"team/a", "ml/b"}, id="all-namespaces"),
        pytest.param(("-n", "ml"), {"ml/b"}, id="another-namespace"),
        pytest.param(("-A", "--object", "deployment/b"), {"ml/b"}, id="one-object"),
    ],
)
def test_objects_are_chosen(run: Run, tmp_path: Path, options: tuple[str, ...], names: set[str]) -> None:
    collections = shops("a", "b")
    for each in (each for found in collections.values() for each in found if each["metadata"]["uid"].startswith("b")):
        each["metadata"]["namespace"] = "ml"
    with serving(MemberServer(collections)) as member:
        result = _verify(run, member, tmp_path, "-o", "json", *options)

    assert {each["object"] for each in _json(result)["results"]} == names


def test_folder_gives_the_report_of_the_cluster_without_secret_values(run: Run, tmp_path: Path) -> None:
    folder = str(tmp_path / "evidence")
    with serving(MemberServer(shops("a", "b"))) as member:
        live = _verify(run, member, tmp_path, "-o", "json", "--save", folder)
    saved = run("verify", folder, "-o", "json", "--kinds", "apps/v1/Deployment")

    assert {stat.S_IMODE(path.stat().st_mode) for path in Path(folder).iterdir()} == {0o600}
    assert _json(saved) == _json(live)
    assert saved.exit_code == live.exit_code == 1
    text = gzip.decompress((tmp_path / "evidence" / "workloads.jsonl.gz").read_bytes())
    assert b"redacted-" in text
    assert b"hidden-value" not in text
    assert b"TOKEN" not in text


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        pytest.param(WorkloadSelection(), ["d1", "d2"], id="everything"),
        pytest.param(WorkloadSelection(kind="deployment", name="d1"), ["d1"], id="one object"),
        pytest.param(WorkloadSelection(kind="apps/v1/deployment"), ["d1", "d2"], id="a kind with its version"),
        pytest.param(WorkloadSelection(kind="statefulset", name="d1"), [], id="another kind of that name"),
        pytest.param(WorkloadSelection(namespace="elsewhere"), [], id="another namespace"),
    ],
)
def test_folder_is_verified_for_the_selected_objects(
    tmp_path: Path, selection: WorkloadSelection, names: list[str]
) -> None:
    saved = deployments(1, 2)
    save(tmp_path, Saved(NOW), defined(*saved))

    report = verify_folder(tmp_path, [Karta.for_object(saved[0].object).definition], selection)

    assert sorted({result.name.rpartition("/")[2] for result in report.results if result.name}) == names


def test_pod_with_name_of_selected_object_is_not_verified(run: Run, tmp_path: Path) -> None:
    member = MemberServer(shops("a"))
    member.collections[PODS][0]["metadata"] |= {"name": "a", "ownerReferences": []}
    with serving(member):
        result = run("verify", "--kubeconfig", member.kubeconfig(tmp_path), "--object", "deployment/a", "-o", "json")

    assert {each["kind"] for each in _json(result)["results"]} == {"Deployment"}


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        pytest.param(PODS, 403, "403 no", id="pods-are-forbidden-half-way"),
        pytest.param(PODS, 0, "connection was lost", id="the-connection-is-lost-half-way"),
        pytest.param(PODS, -1, "no answer in time", id="the-server-is-slow"),
        pytest.param(PODS, 429, "429 no; it is overloaded", id="the-server-is-overloaded"),
    ],
)
def test_pods_that_are_not_all_read_are_not_judged(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, status: int, message: str
) -> None:
    if status < 0:
        monkeypatch.setattr(api_server, "_send", _impatient_with_pods)
    with serving(MemberServer(shops("a", "b"))) as member:
        member.faults[path.replace("/pods", "/namespaces/team/pods")] = status
        member.collections[path.replace("/pods", "/namespaces/team/pods")] = []
        result = _verify(run, member, tmp_path, "-o", "json")

    found = _json(result)
    assert {each["verdict"] for each in found["results"] if each["question"] == "requirements"} == {"unjudged"}
    assert {each["verdict"] for each in found["results"] if each["question"] == "AggregateStatus"} == {"ok"}
    assert message in result.stderr
    assert result.exit_code == 1


async def _impatient_with_pods(client: Any, request: Any, silence: float | None) -> Any:
    """Send a request, and end the one that gets no answer early."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api_server, "_SECONDS", 0.1 if "pods" in request.path else 10.0)
        return await _SEND(client, request, silence)


def test_objects_that_are_forbidden_are_named_with_the_missing_rule(run: Run, tmp_path: Path) -> None:
    with serving(MemberServer(shops("a"), faults={"/apis/apps/v1/namespaces/team/replicasets": 403})) as member:
        result = _verify(run, member, tmp_path)

    assert '{"apiGroups": ["apps"], "resources": ["replicasets"], "verbs": ["list"]}' in result.stderr
    assert result.exit_code == 1


def test_definition_looks_objects_up_without_the_right_to_read_crds(run: Run, tmp_path: Path) -> None:
    template = {"spec": {"containers": [container()]}}
    tasks = [{"name": "a", "replicas": 1, "template": template}]
    things = {
        "jobflows": workload("flow.volcano.sh/v1alpha1", "JobFlow", {"flows": [{"name": "extract"}]}),
        "jobtemplates": workload("flow.volcano.sh/v1alpha1", "JobTemplate", {"tasks": tasks}, name="extract", uid="t"),
    }
    collections = {f"/apis/flow.volcano.sh/v1alpha1/{name}": [thing] for name, thing in things.items()}
    crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/jobflows.flow.volcano.sh"
    with serving(MemberServer(collections, faults={crd: 403})) as member:
        result = run("verify", "--kubeconfig", member.kubeconfig(tmp_path), "--kinds", "JobFlow", "-o", "json")

    reasons = {each["question"]: each.get("reason") for each in _json(result)["results"]}
    assert reasons["InterpretReplica"] == "it has no pods at present"
    assert '"resources": ["customresourcedefinitions"], "verbs": ["get"]' in result.stderr


@pytest.mark.parametrize("part", HOLDERS.values(), ids=HOLDERS)
def test_nothing_that_a_secret_keeps_is_judged_or_saved(run: Run, tmp_path: Path, part: Any) -> None:
    """Whoever may read objects with Secrets in them may not be allowed to read Secrets."""
    tasks = [{"name": "a", "replicas": 1, "template": {"spec": {"containers": [container()]}}}]
    flow = workload("flow.volcano.sh/v1alpha1", "JobFlow", {"flows": [{"name": "extract"}], "note": part})
    template = workload(
        "flow.volcano.sh/v1alpha1", "JobTemplate", {"tasks": tasks, "note": part}, name="extract", uid="t"
    )
    things = {"jobflows": flow, "jobtemplates": template}
    collections = {f"/apis/flow.volcano.sh/v1alpha1/{name}": [thing] for name, thing in things.items()}
    folder = tmp_path / "saved"
    with serving(MemberServer(collections)) as member:
        options = ("--kinds", "JobFlow", "-o", "json", "--save", str(folder))
        result = run("verify", "--kubeconfig", member.kubeconfig(tmp_path), *options)

    saved = gzip.decompress((folder / "workloads.jsonl.gz").read_bytes()) + (folder / "member.json").read_bytes()
    assert VALUE not in result.output + saved.decode()
    assert "withheld" in saved.decode() or "redacted-" in saved.decode()
    assert "JobTemplate extract holds a Secret: it is not looked up" in _json(result)["problems"]
    assert result.exit_code == 1


def test_server_that_does_not_answer_is_an_error(run: Run, tmp_path: Path) -> None:
    with serving(MemberServer()) as member:
        pass

    result = _verify(run, member, tmp_path)
    assert "connection refused" in result.stderr
    assert result.exit_code == 1


def test_control_plane_is_no_member(run: Run, tmp_path: Path) -> None:
    with serving(MemberServer(karmada=True)) as member:
        result = _verify(run, member, tmp_path)

    assert "this is karmada-apiserver, where no pods run: give the kubeconfig or context of a member" in result.stderr
    assert result.exit_code == 1


def test_cluster_without_objects_proves_nothing(run: Run, tmp_path: Path) -> None:
    with serving(MemberServer()) as member:
        result = _verify(run, member, tmp_path)

    nothing, summary = result.stderr.splitlines()
    assert re.fullmatch("warning: in .* of https?://.* there is no object of a kind with a definition", nothing)
    assert summary == (
        "0 objects of 0 kinds: 0 ok, 0 differs, 0 unjudged; --context, -n, -A, --kinds and --object choose others"
    )
    assert result.exit_code == 1


@rows(
    ("arguments", "message"),
    [
        pytest.param(("--object", "demo"), "demo is not KIND/NAME", id="an-object-without-kind"),
        pytest.param((".", "--context", "x"), "leave it or --kubeconfig", id="a-folder-and-a-cluster"),
        pytest.param(("-A", "-n", "ml"), "not both", id="two-namespaces"),
        pytest.param(("--kinds", "Deploymnt"), "did you mean Deployment", id="an-unknown-kind"),
    ],
)
def test_wrong_usage(run: Run, arguments: tuple[str, ...], message: str) -> None:
    result = run("verify", *arguments)

    assert message in result.stderr
    assert result.exit_code == 2


def _about(version: int) -> bytes:
    lists: dict[str, list[str]] = {"problems": [], "crds": [], "references": []}
    return json.dumps({"format": "karta-interpreter-member", "version": version, "time": 1, **lists}).encode()


@pytest.mark.parametrize(
    ("about", "workloads", "message"),
    [
        pytest.param(None, b"", "member.json is missing; verify --save writes the files of a folder",
            id="an-empty-folder"),
        pytest.param(b"{}", b"", "verify --save of this version has not written it", id="another-file"),
        pytest.param(_about(1), gzip.compress(b'{"object": {}}')[:-4], "damaged, was cut off",
            id="a-file-that-was-cut-off"),
        pytest.param(_about(1), gzip.compress(b'{"object": {}}')[:10] + b"\xff" * 20, "damaged, was cut off",
            id="a-file-with-other-bytes"),
    ],
)  # fmt: skip
def test_broken_folder_is_an_error(
    run: Run, tmp_path: Path, about: bytes | None, workloads: bytes, message: str
) -> None:
    if about is not None:
        (tmp_path / "member.json").write_bytes(about)
        (tmp_path / "workloads.jsonl.gz").write_bytes(workloads)

    result = run("verify", str(tmp_path))
    assert message in result.stderr
    assert result.exit_code == 1


def test_folder_with_too_much_about_member_is_an_error(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = _about(1)
    (tmp_path / "workloads.jsonl.gz").write_bytes(gzip.compress(b""))
    monkeypatch.setattr("karta_interpreter.clusters.saved._LONGEST", len(about))
    for spaces, problem in ((0, ""), (1, f"member.json has more than {len(about)} bytes; the rest is not read")):
        (tmp_path / "member.json").write_bytes(about + b" " * spaces)
        result = run("verify", str(tmp_path))
        assert result.exit_code == 1
        assert problem in result.stderr
        assert ("member.json" in result.stderr) == bool(problem)


@pytest.mark.parametrize("name", ["member.json", "workloads.jsonl.gz"])
def test_link_in_folder_is_an_error(run: Run, tmp_path: Path, name: str) -> None:
    for other in ("member.json", "workloads.jsonl.gz"):
        (tmp_path / other).write_bytes(_about(1))
    (tmp_path / name).rename(tmp_path / "elsewhere")
    (tmp_path / name).symlink_to("elsewhere")

    result = run("verify", str(tmp_path))
    assert f"{name}: it is not a regular file" in result.stderr
    assert result.exit_code == 1


@pytest.mark.parametrize("status", [200, 404], ids=["without Kartas", "without their CRD"])
def test_doctor_verifies_a_member(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    monkeypatch.setattr("karta_interpreter.cli.doctor._MOST_VERIFIED", 1)
    with serving(MemberServer(shops("a", "b"), faults={kartas_path(): status})) as member:
        result = run("doctor", "--kubeconfig", member.kubeconfig(tmp_path), "--member", "member1", "-o", "json")

    found = [each for each in json.loads(result.stdout)["results"] if each["check"] == "member"]
    assert [each["level"] for each in found] == ["problem", "ok"]
    assert found[0]["found"] == f"Deployment team/a: requirements: {_PROXY}"
    assert found[0]["advice"].startswith("deployment: '{containers: ")
    assert found[1]["found"].startswith("1 object of member1 verified")


def test_doctor_verifies_by_the_oldest_karta_of_a_kind(run: Run, tmp_path: Path) -> None:
    kartas = []
    for name, created in (("a-young", "2026-02-01T00:00:00Z"), ("b-old", "2026-01-01T00:00:00Z"), ("c-young", "2027")):
        karta = Karta.catalogue()[GVK("apps", "v1", "Deployment")].definition.manifest
        metadata = {"name": name, "namespace": "team", "creationTimestamp": created}
        text = json.dumps({**karta, "metadata": {**karta["metadata"], **metadata}})
        kartas.append(json.loads(text if name == "b-old" else text.replace(".spec.replicas", ".spec.other")))
    with serving(MemberServer(shops("a", proxied=False) | {kartas_path(): kartas}, page=9)) as member:
        result = run("doctor", "--kubeconfig", member.kubeconfig(tmp_path), "--member", "member1", "-o", "json")

    found = [each["found"] for each in json.loads(result.stdout)["results"] if each["check"] == "member"]
    assert len(found) == 1
    assert found[0].startswith("1 object of member1 verified, without a difference")


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        pytest.param(("pods", 0, "spec"), 7, "workload.pods[0].spec has another type", id="a spec that is a number"),
        pytest.param(("pods", 0, "status", "phase"), ["x"], "status.phase has another type",
            id="a phase that is a list"),
        pytest.param(("object", "kind"), None, "workload.object.kind is missing", id="no kind"),
        pytest.param(("object", "metadata", "creationTimestamp"), "2026-01-01T00:00:00", "no time zone",
            id="no time zone"),
        pytest.param(("object", "metadata", "managedFields"), [{"manager": "a", "fieldsV1": {"f:a": 7}}], "f:a has",
            id="odd fields"),
        pytest.param(("object", "spec", "template", "spec", "containers", 0, "name"), [7], "", id="an odd template"),
    ],
)  # fmt: skip
def test_folder_of_other_shape_is_a_problem_without_traceback(
    run: Run, tmp_path: Path, place: tuple[str | int, ...], value: object, message: str
) -> None:
    template = {"template": {"spec": {"containers": [container()]}}}
    obj = workload("apps/v1", "Deployment", {"replicas": 1, **template}, {"readyReplicas": 1})
    save(tmp_path, Saved(NOW), defined(evidence(obj, pod(1, labels={"a": "b"}))))
    path = tmp_path / "workloads.jsonl.gz"
    line = json.loads(gzip.decompress(path.read_bytes()))
    *parents, last = place
    parent = line
    for step in parents:
        parent = parent[step]
    parent[last] = value
    path.write_bytes(gzip.compress(json.dumps(line).encode()))
    written_by_version_0_1(tmp_path)

    result = run("verify", str(tmp_path))
    assert message in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
