"""What objects of a member, a control plane or a file name is never a part of a path that a command asks for."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
import yaml
from click.testing import Result
from hypothesis import HealthCheck, example, given, settings, strategies as st

from tests.cli.test_diff_bindings import _RAY, _binding, _item, _object, _ray, _server
from tests.clusters.member_server import DEPLOYMENTS, PODS, REPLICA_SETS, MemberServer, serving, shops
from tests.engine.verification.member import Thing
from tests.support.examples import EXAMPLES
from tests.support.paths import HOSTILE, WELL_FORMED

pytestmark = pytest.mark.catalogue

Run = Callable[..., Result]

_TEXTS = st.lists(st.one_of(st.text(max_size=60), st.from_regex(r"[a-z0-9./%?#]{1,60}", fullmatch=True)), max_size=5)
_law = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
_COMMANDS = (("verify", "-A"), ("tree", "deploy", "-A"), ("tree", "deploy/a"))


def _requests(run: Run, folder: Path, member: MemberServer, *arguments: str) -> set[str]:
    """Return what a command asks, all of it well formed. Its output has no control character."""
    with serving(member):
        result = run(*arguments, "--kubeconfig", member.kubeconfig(folder))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert not [line for line in result.output.split("\n") if not line.isprintable()]
    paths = set[str]()
    for request in member.requests:
        path, _, query = request.partition("?")
        assert WELL_FORMED.fullmatch(path), request
        assert {name for name, _ in parse_qsl(query)} <= {"limit", "continue", "labelSelector"}
        paths.add(path)
    return paths


def _owner(api_version: Any, kind: Any, uid: str = "gone") -> Thing:
    return {"apiVersion": api_version, "kind": kind, "name": "http:jenkins:80", "uid": uid}


def _owned_by(*owners: Thing) -> MemberServer:
    """Return a member whose pods, ReplicaSets and Deployments name owners beside their own."""
    member = MemberServer(shops("a"))
    for path in (PODS, REPLICA_SETS, DEPLOYMENTS):
        for obj in member.collections[path]:
            obj["metadata"].setdefault("ownerReferences", []).extend(owners)
    return member


def _named(texts: Iterable[str]) -> list[Thing]:
    owners = list[Thing]()
    for text in texts:
        versions = (text, f"{text}/v1", f"apps/{text}", f"apps/v1/{text}")
        owners += [_owner(version, "Service", f"{len(owners)}-{version}") for version in versions]
        owners.append(_owner("v1", text))
    return owners


@_law
@example([*HOSTILE])
@given(_TEXTS)
def test_owner_of_no_listed_kind_is_not_asked(run: Run, tmp_path: Path, texts: list[str]) -> None:
    for command in _COMMANDS:
        harmless = _requests(run, tmp_path, MemberServer(shops("a")), *command)
        assert _requests(run, tmp_path, _owned_by(*_named(texts)), *command) == harmless


def test_kind_of_listed_version_is_read_once(run: Run, tmp_path: Path) -> None:
    """Also of an owner without ``controller``, as Flink's operator names it."""
    member = _owned_by(_owner("flow.volcano.sh/v1alpha1", "JobFlow"), _owner("batch/v1", "Job"), _owner("v1", "Node"))
    paths = _requests(run, tmp_path, member, "tree", "deploy", "-A")
    assert "/apis/flow.volcano.sh/v1alpha1/jobflows" in paths
    assert "/apis/batch/v1" not in paths, "the API server does not list it"
    assert member.asked.count("/apis/flow.volcano.sh/v1alpha1/jobflows") == 1


@pytest.mark.parametrize("kind", ["Secret", "Foo", "SecretList"])
def test_secrets_are_never_read(run: Run, tmp_path: Path, kind: str) -> None:
    """Also if the API server gives them another kind, or a file defines the kind."""
    karta = tmp_path / "karta.yaml"
    root: Thing = {"name": "root", "kind": {"group": "", "version": "v1", "kind": kind}}
    root["specDefinition"] = {"podTemplateSpecPath": ".spec.template"}
    root["statusDefinition"] = {"phaseDefinition": {"path": ".status.phase"}, "statusMappings": {}}
    spec = {"structureDefinition": {"rootComponent": root}}
    karta.write_text(
        yaml.safe_dump({"apiVersion": "run.ai/v1alpha1", "kind": "Karta", "metadata": {"name": "a"}, "spec": spec})
    )
    for command in (*_COMMANDS, ("verify", "-A", "-f", str(karta))):
        member = _owned_by(_owner("v1", kind))
        member.kinds = {**member.kinds, "/api/v1": {**member.kinds["/api/v1"], "secrets": kind}}
        assert not [path for path in _requests(run, tmp_path, member, *command) if "secrets" in path]


@_law
@example([*HOSTILE])
@given(_TEXTS)
def test_name_from_discovery_is_not_a_path(run: Run, tmp_path: Path, texts: list[str]) -> None:
    """A member may list groups, versions and resources of any names."""
    kinds = ["Deployment", "ReplicaSet", "Pod", "ConfigMap", "JobFlow"]
    named = {f"/apis/{text}": {text: "Service"} for text in texts}
    member = _owned_by(*_named(texts), *(_owner("apps/v1", kind) for kind in kinds))
    member.kinds = {**member.kinds, **named}
    resources = dict(zip(texts, kinds, strict=False))
    for command in _COMMANDS:
        member.requests.clear()
        member.kinds = {**member.kinds, "/apis/apps/v1": {**resources, "deployments": "Deployment"}}
        _requests(run, tmp_path, member, *command)


@_law
@example([*HOSTILE])
@given(_TEXTS)
def test_cluster_of_binding_that_karmada_does_not_have_is_not_asked(run: Run, tmp_path: Path, texts: list[str]) -> None:
    diff = partial(_requests, run, tmp_path)
    command = ("diff", "--from", "bindings", "--to", "catalogue")
    template = _ray()
    harmless = _server([_binding(template)], {_RAY: [template]})
    items = [_item(text, "Healthy") for text in texts]
    others = list[Thing]()
    for number, text in enumerate(texts):
        other = _binding(_object(text, text or "Mill", f"other{number}"))
        others.append(other)
    hostile = _server([_binding(template, *items), *others], {_RAY: [template]})
    assert diff(hostile, *command) <= diff(harmless, *command)
