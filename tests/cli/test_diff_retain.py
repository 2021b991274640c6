"""What a script of Retain keeps of a member is asked, whatever the objects have there."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import Result

from tests.support.rows import rows

Run = Callable[..., Result]

_CASE = Path(__file__).with_name("retain-script.yaml").read_text()
_POD = "spec.template.spec"
_STAMP = 'template.metadata.annotations["example.io/stamp"]'
_DEPLOYMENT = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "annotations": {"team": "shop"}},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}, "annotations": {"team": "shop"}},
            "spec": {
                "schedulerName": "default",
                "containers": [{"name": "main", "image": "nginx:1", "env": [{"name": "A", "value": "b"}]}],
            },
        },
    },
}


def _script(*lines: str) -> str:
    body = "\n".join(f"          {line}" for line in ("function Retain(d, o)", *lines, "return d", "end"))
    return f"{_CASE.partition('      luaScript')[0]}      luaScript: |\n{body}\n"


_ADD_CONTAINERS = (
    "local own = {}",
    f"for _, c in ipairs(d.{_POD}.containers) do own[c.name] = true end",
    f"for _, c in ipairs(o.{_POD}.containers) do",
    f"  if not own[c.name] then table.insert(d.{_POD}.containers, c) end",
    "end",
)
_ADD_ENV = (
    f"for _, e in ipairs(o.{_POD}.containers[1].env) do",
    f"  if e.name == 'PROXY' then table.insert(d.{_POD}.containers[1].env, e) end",
    "end",
)
_IF_KEPT = ('if o.metadata.annotations["example.io/keep"] == "true" then d.spec.replicas = o.spec.replicas end',)


@rows(
    ("script", "place"),
    [
        pytest.param(_CASE, f"spec.{_STAMP}", id="an annotation that the template lacks, by a local"),
        pytest.param(_script(f"d.spec.{_STAMP} = o.spec.{_STAMP}"), f"spec.{_STAMP}", id="an annotation, directly"),
        pytest.param(_script(*_IF_KEPT), "spec.replicas", id="a field, if an annotation says so"),
        pytest.param(
            _script(f"d.{_POD}.containers[1].image = o.{_POD}.containers[1].image"),
            f"{_POD}.containers[0].image", id="the image of a container by its number"),
        pytest.param(_script(*_ADD_CONTAINERS), f"{_POD}.containers", id="a container that the member injects"),
        pytest.param(_script(*_ADD_ENV), f"{_POD}.containers[0].env", id="entries of an environment"),
        pytest.param(
            _script(
                "local kept = o.metadata and o.metadata.annotations",
                'local key = "example.io/keep"',
                'if kept and kept[key] == "true" then d.spec.paused = true end',
            ),
            "spec.paused", id="a condition by a local, with a key in a local"),
        pytest.param(_script("d.spec.replicas = o.spec.replicas"), "spec.replicas", id="a field with another value"),
        pytest.param(_script("d.spec.paused = o.spec.paused"), "spec.paused", id="a field that neither object has"),
        pytest.param(
            _script(f"d.{_POD}.schedulerName = o.{_POD}.schedulerName"),
            f"{_POD}.schedulerName", id="a text of the pod template"),
    ],
)  # fmt: skip
def test_what_a_script_keeps_is_a_difference(run: Run, files: Path, script: str, place: str) -> None:
    (files / "script.yaml").write_text(script)
    (files / "web.yaml").write_text(json.dumps(_DEPLOYMENT))

    result = run("diff", "--from", "script.yaml", "--to", "catalogue", "web.yaml", "-o", "json")

    places = set[str]()
    for change in json.loads(result.stdout):
        if change["operation"] == "Retain":
            places.update(difference["path"] for difference in change["differences"])
    assert f"retained.{place}" in places
    assert "not asked" not in result.stderr


@rows(
    ("line", "path"),
    [
        pytest.param("d.spec.x = o.spec[d.metadata.name]", "spec[d.metadata.name]", id="a key of another value"),
        pytest.param("if (o ~= nil) then keep(d, o) end", "all", id="a function that has the whole member"),
        pytest.param('if string.find(o.spec.x, "^a") then d.spec.x = 1 end', "spec.x", id="a pattern"),
        pytest.param('if o.spec.x:match("^a") then d.spec.x = 1 end', "spec.x", id="a pattern by a method"),
        pytest.param("if keep(d, o.spec.x) then d.spec.x = 1 end", "spec.x", id="a function that has a field"),
        pytest.param("local x x = o.metadata.annotations d.spec.x = x.y", "metadata.annotations", id="a later alias"),
        pytest.param(
            'for k, v in pairs(o.metadata.labels) do if k ~= "a" then d.metadata.labels[k] = v end end',
            "the keys of o.metadata.labels", id="names of entries"),
    ],
)  # fmt: skip
def test_read_that_cannot_be_made_is_said(run: Run, files: Path, line: str, path: str) -> None:
    (files / "script.yaml").write_text(_script(line))
    (files / "web.yaml").write_text(json.dumps(_DEPLOYMENT))

    stderr = run("diff", "--from", "script.yaml", "--to", "catalogue", "web.yaml").stderr

    assert f"warning: the script of Retain in deployment-stamp reads {path} of the member, not asked\n" in stderr


_PODS = f"o.{_POD}"
_BARE = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:1"}]}}},
}


@rows(
    "script",
    [
        pytest.param(_script(
            f"for _, c in ipairs({_PODS}.containers) do for _, e in ipairs(c.env or {{}}) do",
            "if string.find(e.name, '^RELOAD') then d.spec.paused = true end", "end end"), id="variables"),
        pytest.param(_script(
            f"for _, c in pairs({_PODS}.containers) do for _, e in pairs(c.env or {{}}) do",
            f"d.{_POD}.containers[1].env = {{e}}", "end end"), id="whole variables"),
        pytest.param(_script(
            f"for i = 1, #({_PODS}.tolerations or {{}}) do",
            f"local t = {_PODS}.tolerations[i]", "d.spec.paused = t.key == 'dedicated'", "end"), id="by a number"),
        pytest.param(_script(
            f"for _, v in ipairs({_PODS}.volumes or {{}}) do",
            "for _, i in ipairs((v.configMap or {}).items or {}) do d.spec.paused = i.key end", "end"), id="nested"),
        pytest.param(_script(
            f"for k, v in pairs({_PODS}.nodeSelector or {{}}) do d.spec.paused = string.lower(v) end"), id="a map"),
        pytest.param(_script("for k, v in pairs(o.metadata.labels or {}) do d.spec.x = v:lower() end"), id="labels"),
        pytest.param(_script(
            f"d.spec.paused = ({_PODS}.terminationGracePeriodSeconds or 30) > 10"), id="a number with a default"),
    ],
)  # fmt: skip
def test_script_meets_members_in_the_form_that_it_reads(run: Run, files: Path, script: str) -> None:
    (files / "script.yaml").write_text(script)
    (files / "web.yaml").write_text(json.dumps(_BARE))

    result = run("diff", "--from", "script.yaml", "--to", "catalogue", "web.yaml", "-o", "json")

    assert "failed in line" not in result.stdout


def test_line_that_a_script_prints_is_shown_for_its_question_alone(run: Run, files: Path) -> None:
    replicas = "function GetReplicas(o)\n  return 2, {requests = {cpu = 1}}\nend"
    customization = yaml.safe_load(_script("d.spec.x = 1"))
    customization["spec"]["customizations"] = {"replicaResource": {"luaScript": replicas}}
    (files / "script.yaml").write_text(json.dumps(customization))
    (files / "web.yaml").write_text(json.dumps(_DEPLOYMENT))

    stderr = run("diff", "--from", "script.yaml", "--to", "catalogue", "web.yaml").stderr

    assert [line for line in stderr.splitlines() if "Karmada drops requires.requests" in line] == [
        "web.yaml:1: warning: Karmada drops requires.requests"
    ]


def test_customization_answers_about_two_objects(run: Run, files: Path) -> None:
    (files / "script.yaml").write_text(_script("d.spec.x = o.spec.x"))
    (files / "web.yaml").write_text(json.dumps(_DEPLOYMENT))
    both = ("--desired-file", "web.yaml", "--observed-file", "web.yaml")
    assert run("interpret", "--customization", "script.yaml", *both, "--operation", "Retain").exit_code == 0
    refused = run("interpret", "--customization", "script.yaml", "-f", "web.yaml", "-f", "web.yaml")
    assert "-f is the object, here web.yaml, web.yaml: give one" in refused.stderr


def test_path_that_no_api_server_changes_is_said(run: Run, files: Path) -> None:
    karta = Path(__file__).parents[2] / "kartas/core/v1/Pod/karta.yaml"
    (files / "pod.yaml").write_text(karta.read_text().replace("- immutable: .spec\n", "- .spec.nodeName\n"))
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}
    (files / "web.yaml").write_text(json.dumps(pod))

    shown = run("diff", "--from", "pod.yaml", "--to", "Pod", "web.yaml")

    assert ".spec cannot change in a Pod that exists, and stays as it runs until it is made anew: " in shown.stderr
    assert "error" not in shown.stdout
