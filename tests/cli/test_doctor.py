import base64
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.cli import doctor
from karta_interpreter.webhook.doctor import connection
from karta_interpreter.webhook.doctor.result import CheckResult as Finding, Level
from tests.support.rows import rows
from tests.support.serving import serving
from tests.support.waiting import HANG
from tests.webhook.doctor.karmada import (
    BREW,
    CONFIGURATIONS,
    KARTAS,
    Karmada,
    configuration,
    group,
    items,
    resources,
    rule,
)
from tests.webhook.process.process import Process, running

Run = Callable[..., Result]

MILL = GVK("mill.example.org", "v1", "GrainMill")
"""The kind that the server under test has a definition of."""


class Handler(BaseHTTPRequestHandler):
    """Answers GET from the objects of a control plane in memory."""

    objects: dict[str, Any]

    def do_GET(self) -> None:
        found = self.objects.get(self.path.partition("?")[0])
        content = json.dumps(found or {"kind": "Status", "message": "there is none", "code": 404}).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()


@pytest.fixture
def karmada() -> Iterator[Karmada]:
    """A control plane that is really listening, with nothing registered."""
    empty = ("resourceinterpretercustomizations", "resourceinterpreterwebhookconfigurations")
    objects: dict[str, Any] = {f"/apis/config.karmada.io/v1alpha1/{each}": items() for each in empty}
    objects |= {"/version": {"gitVersion": "v1.36.2"}, KARTAS: items()}
    objects["/apis/cluster.karmada.io/v1alpha1/clusters"] = items()
    with serving(Handler, objects=objects) as url:
        yield Karmada(objects, url)


@pytest.fixture
def kubeconfig(karmada: Karmada, tmp_path: Path) -> str:
    config = {
        "current-context": "karmada-apiserver",
        "contexts": [{"name": "karmada-apiserver", "context": {"cluster": "karmada", "user": "admin"}}],
        "clusters": [{"name": "karmada", "cluster": {"server": karmada.url}}],
        "users": [{"name": "admin", "user": {"token": "token"}}],
    }
    file = tmp_path / "karmada.config"
    file.write_text(yaml.safe_dump(config))
    return str(file)


def levels(result: Result) -> dict[str, str]:
    """The level of each check, the worst one where there are several."""
    order = ["ok", "warning", "problem"]
    found: dict[str, str] = {}
    for each in json.loads(result.stdout)["results"]:
        found[each["check"]] = max(found.get(each["check"], "ok"), each["level"], key=order.index)
    return found


def registered(server: Process, gvk: GVK, name: str = "karta-interpreter") -> Any:
    bundle = base64.b64encode(server.authority).decode()
    client = {"url": f"https://localhost:{server.port}/interpret", "caBundle": bundle}
    return items(configuration(client, rule(gvk), name=name))


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine is not a finding."""
    monkeypatch.setattr(connection, "perf_counter", lambda: 0.0)


def test_registered_server_has_no_problem(run: Run, karmada: Karmada, kubeconfig: str) -> None:
    karmada.objects["/apis/mill.example.org"] = group("v1")
    karmada.objects["/apis/mill.example.org/v1"] = resources("GrainMill")
    with running() as server:
        karmada.objects[CONFIGURATIONS] = registered(server, MILL, name="mine")
        result = run("doctor", "--name", "mine", "-o", "json", env={"KARTA_INTERPRETER_KUBECONFIG": kubeconfig})

    found = levels(result)
    assert set(found.values()) == {"ok"}, result.output
    assert {"connection", "tls", "certificate", "readiness", "call", "definitions"} <= set(found)
    assert result.exit_code == 0


def test_server_without_definition_is_a_problem(run: Run, karmada: Karmada, kubeconfig: str) -> None:
    with running() as server:
        karmada.objects[CONFIGURATIONS] = registered(server, BREW)
        result = run("doctor", "--kubeconfig", kubeconfig, "-o", "json")

    found = levels(result)
    assert (found["definitions"], found["kinds"], found["call"]) == ("problem", "warning", "ok")
    assert result.exit_code == 1


def test_for_people(run: Run, kubeconfig: str) -> None:
    result = run("doctor", "--kubeconfig", kubeconfig)

    assert result.exit_code == 1
    header, *lines = result.stdout.splitlines()
    assert header.split() == ["LEVEL", "CHECK", "FOUND"]
    (at,) = [number for number, line in enumerate(lines) if line.startswith("problem")]
    assert lines[at].split(maxsplit=2)[1:] == [
        "registration",
        "there is no ResourceInterpreterWebhookConfiguration karta-interpreter with webhooks",
    ]
    assert lines[at + 1].startswith(" " * lines[at].index("there is no") + "→ read the server's log: ")
    assert result.stderr == "3 ok, 0 warnings, 1 problem\n"


def test_for_programs(run: Run, kubeconfig: str) -> None:
    as_json = run("doctor", "--kubeconfig", kubeconfig, "-o", "json")
    as_yaml = run("doctor", "--kubeconfig", kubeconfig, "-o", "yaml")

    document = json.loads(as_json.stdout)
    assert document == yaml.safe_load(as_yaml.stdout)
    assert document["summary"] == {"ok": 3, "warning": 0, "problem": 1}
    assert [set(each) for each in document["results"]] == [{"level", "check", "found", "advice"}] * 4
    assert as_json.stderr == as_yaml.stderr == ""


@rows(
    "arguments",
    [
        pytest.param(["--url", "http://localhost"], id="a URL without TLS"),
        pytest.param(["--url", "localhost:8443"], id="no URL at all"),
    ],
)
def test_wrong_usage(run: Run, arguments: list[str]) -> None:
    result = run("doctor", *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr


NO_KUBECONFIG = "the kubeconfig nowhere cannot be used: there is no such file"


@pytest.mark.parametrize(("command", "code"), [("doctor", 1), ("unregister", 2)])
def test_missing_kubeconfig_is_an_error(run: Run, command: str, code: int) -> None:
    """It is a result of doctor, and wrong usage of any other command."""
    result = run(command, "--kubeconfig", "nowhere")

    assert result.exit_code == code
    assert NO_KUBECONFIG in result.output


def advice(result: Result) -> str:
    (found,) = [each["advice"] for each in json.loads(result.stdout)["results"] if each["level"] == "problem"]
    return str(found)


UNREACHABLE = [
    pytest.param({"context": "other"}, "give a context that the kubeconfig has", id="a context that is missing"),
    pytest.param({"server": "http://127.0.0.1:1"}, "start karmada-apiserver", id="refused"),
    pytest.param({"path": "/elsewhere"}, "another server answers at this URL", id="not found"),
]


@pytest.mark.parametrize(("change", "wanted"), UNREACHABLE)
def test_wrong_kubeconfig_has_its_own_advice(
    run: Run, karmada: Karmada, kubeconfig: str, change: dict[str, str], wanted: str
) -> None:
    config = yaml.safe_load(Path(kubeconfig).read_text())
    server = change.get("server", karmada.url).replace("http:", f"{change.get('scheme', 'http')}:")
    config["clusters"][0]["cluster"]["server"] = server + change.get("path", "")
    Path(kubeconfig).write_text(yaml.safe_dump(config))

    context = ["--context", change["context"]] if "context" in change else []
    result = run("doctor", "--kubeconfig", kubeconfig, *context, "-o", "json")

    assert levels(result) == {"api server": "problem"}
    assert wanted in advice(result)


def test_another_cluster_than_karmada_has_advice_about_the_context(run: Run, karmada: Karmada, kubeconfig: str) -> None:
    del karmada.objects[CONFIGURATIONS]

    result = run("doctor", "--kubeconfig", kubeconfig, "-o", "json")

    assert levels(result) == {"api server": "ok", "control plane": "problem"}
    assert "--context" in advice(result)


@pytest.mark.parametrize(
    ("seconds", "looks", "code"),
    [pytest.param(None, 1, 1, id="not asked to wait"), pytest.param(HANG, 3, 0, id="until there is no problem")],
)
def test_doctor_waits_for_a_server(
    run: Run, monkeypatch: pytest.MonkeyPatch, seconds: float | None, looks: int, code: int
) -> None:
    levels_found = [Level.PROBLEM, Level.PROBLEM, Level.WARNING]
    asked: list[Level] = []

    async def examine(_: object, **__: object) -> list[Finding]:
        asked.append(levels_found[len(asked)])
        return [Finding(asked[-1], "call", "found")]

    monkeypatch.setattr(doctor, "examine", examine)
    monkeypatch.setattr(doctor, "_PAUSE_SECONDS", 0)
    result = run("doctor", *([] if seconds is None else ["--wait", str(seconds)]))

    assert (len(asked), result.exit_code) == (looks, code)
    assert result.stdout.splitlines()[1:] == [f"{levels_found[looks - 1]:<7}  call   found"], "what was found last"
    assert result.stderr.count("waiting: call: found") == (looks > 1), "once for the same problem"


def test_waiting_has_an_end(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_PAUSE_SECONDS", 0)
    result = run("doctor", "--kubeconfig", "nowhere", "--wait", "0.01", "-o", "json")

    assert (result.exit_code, levels(result)) == (1, {"api server": "problem"})


@pytest.mark.slow
def test_help_does_not_load_what_only_an_examination_needs() -> None:
    code = (
        "import sys, karta_interpreter.cli.doctor; print('kubernetes_asyncio' in sys.modules, 'aiohttp' in sys.modules)"
    )

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout == "False False\n"
