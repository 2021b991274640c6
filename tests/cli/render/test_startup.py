import shlex

import click
import pytest

from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.cli.serve import curl, startup_text
from karta_interpreter.definitions.karta.definition import ComponentRules, Definition
from karta_interpreter.definitions.sources.snapshot import ServedDefinition, Snapshot
from karta_interpreter.engine.operations import Operation
from karta_interpreter.webhook.wire import decode

_DEPLOYMENT = GVK("apps", "v1", "Deployment")
_POD = GVK("", "v1", "Pod")
_URL = "https://127.0.0.1:8443/interpret"


def _snapshot(*kinds: GVK) -> Snapshot:
    return Snapshot(
        {
            gvk: ServedDefinition(Definition(gvk.kind, gvk, (ComponentRules(gvk.kind, "main", gvk),)), "here")
            for gvk in kinds
        }
    )


@pytest.mark.parametrize(
    ("kinds", "operation"),
    [
        pytest.param([_POD, _DEPLOYMENT], Operation.INTERPRET_REPLICA, id="a Deployment, where it is served"),
        pytest.param([_POD], Operation.INTERPRET_STATUS, id="else what there is"),
    ],
)
def test_curl_line_asks_served_kind(kinds: list[GVK], operation: Operation) -> None:
    words = shlex.split(curl(_URL, _snapshot(*kinds)))

    request = decode(words[words.index("--data") + 1].encode())
    assert request.problem is None
    assert request.call is not None
    assert (request.gvk, request.call.operation) == (kinds[-1], operation)
    assert words[-1] == _URL


@pytest.mark.parametrize(("url", "insecure"), [("https://h/interpret", True), ("http://h/interpret", False)])
def test_only_https_has_a_certificate_to_overlook(url: str, insecure: bool) -> None:
    assert ("--insecure" in shlex.split(curl(url, _snapshot(_POD)))) is insecure


def test_startup_text_lists_kinds_with_origin() -> None:
    assert click.unstyle(startup_text(_URL, _snapshot(_POD))).split("Try it:")[0] == (
        f"Listening on {_URL}\n\nAPIVERSION  KIND  DEFINITION  ORIGIN\nv1          Pod   Pod         here\n\n"
    )


def test_server_without_definitions_has_no_curl_line() -> None:
    text = startup_text(_URL, Snapshot())

    assert "No definition is served." in text
    assert "curl" not in text


def test_startup_text_of_many_groups_is_bounded() -> None:
    kinds = [GVK(f"g{each}.io", "v1", "A") for each in range(300)]

    texts = [startup_text(_URL, _snapshot(*kinds[:number])) for number in (140, 300)]

    assert len({len(text.splitlines()) for text in texts}) == 1
    assert "… and 40 more" in texts[0]
