"""Paths of requests: whatever somebody names, a path has the segments that its caller means, or nothing is asked."""

import ast
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st

import karta_interpreter
from karta_interpreter.base.errors import ClusterError
from karta_interpreter.base.k8s import request_path
from tests.support.examples import EXAMPLES
from tests.support.paths import HOSTILE, WELL_FORMED

_PACKAGE = Path(karta_interpreter.__file__).parent
_PARTS = st.one_of(
    st.text(max_size=80), st.sampled_from(HOSTILE), st.from_regex(r"[a-z0-9./%?#-]{0,70}", fullmatch=True)
)


@pytest.mark.parametrize(
    ("parts", "named", "path"),
    [
        pytest.param(("",), {}, "/api", id="the versions of the core group"),
        pytest.param(("apps",), {}, "/apis/apps", id="the versions of a group"),
        pytest.param(("", "v1"), {}, "/api/v1", id="the kinds of a core version"),
        pytest.param(("ray.io", "v1"), {}, "/apis/ray.io/v1", id="the kinds of a version"),
        pytest.param(("", "v1", "pods"), {}, "/api/v1/pods", id="a collection"),
        pytest.param(("", "v1", "pods"), {"namespace": "a-1"}, "/api/v1/namespaces/a-1/pods", id="of a namespace"),
        pytest.param(
            ("batch", "v1", "jobs"),
            {"namespace": "0a", "name": "x.y-1"},
            "/apis/batch/v1/namespaces/0a/jobs/x.y-1",
            id="an object",
        ),
        pytest.param(("a" * 63, "v1"), {}, f"/apis/{'a' * 63}/v1", id="a long group"),
    ],
)
def test_path_of_allowed_parts(parts: tuple[str, ...], named: dict[str, str], path: str) -> None:
    assert request_path(*parts, **named) == path


@settings(max_examples=EXAMPLES * 25)
@example("v1", "v1%2Fnamespaces%2Fother%2Fservices%2Fhttp:jenkins:80%2Fproxy%2Fjob%2Fdrop", "pods", "a", "b")
@example("", "v1", "pods", "karmada-es-../kube-system", "")
@example("", "v1", "pods", "a", "..")
@given(_PARTS, _PARTS, _PARTS, _PARTS, _PARTS)
def test_hostile_part_is_not_asked(group: str, version: str, resource: str, namespace: str, name: str) -> None:
    try:
        path = request_path(group, version, resource, namespace=namespace, name=name)
    except ClusterError:
        return
    assert WELL_FORMED.fullmatch(path)
    assert path.split("/")[-1] == name
    assert len(path.split("/")) == (8 if group else 7)


def _texts(tree: ast.AST) -> list[str]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)}
    constants = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return [text for text in constants if isinstance(text, str) and text not in docstrings]


def test_one_function_makes_paths() -> None:
    """The paths that our own servers have, and the list of all groups, name no part of an API server."""
    allowed = {
        "web/types_api/openapi.py": {"/api/v1"},
        "web/console/guard.py": {"/api/", "/api/v1/"},
        "webhook/process/application.py": {"/api"},
        "clusters/member.py": {"/apis"},
        "definitions/sources/reference_cache.py": {"/apis"},
        "definitions/sources/served_versions.py": {"/apis"},
        "definitions/sources/api_errors.py": {
            "/(?:api|apis/(?P<group>[^/]+))/[^/]+(?:/namespaces/(?P<namespace>[^/]+))?"
        },
    }
    for file in sorted(_PACKAGE.rglob("*.py")):
        name = file.relative_to(_PACKAGE).as_posix()
        if name in ("base/k8s/request_path.py", "web/console/application.py"):
            continue
        texts = {
            text
            for text in _texts(ast.parse(file.read_text(encoding="utf-8")))
            if re.match(r"/(apis?\b|namespaces/)", text)
        }
        assert texts <= allowed.get(name, set()), name
