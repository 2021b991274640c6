import socket
from pathlib import Path

import pytest

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.webhook.doctor.result import CheckResult, Level
from karta_interpreter.webhook.doctor.runner import examine
from tests.webhook.doctor.authority import Authority
from tests.webhook.doctor.karmada import (
    ADMISSION,
    BREW,
    CLUSTERS,
    CONFIGURATIONS,
    CUSTOMIZATIONS,
    KARTAS,
    RIGHTS,
    Karmada,
    Raw,
    configuration,
    group,
    items,
    karta,
    resources,
    rule,
)
from tests.webhook.doctor.servers import HOST, interpreter, serving

pytestmark = pytest.mark.usefixtures("patient")

NAME = "karta-interpreter.karmada-system.svc"
AUTHORITY = Authority()
OURS = "karta-interpreter"
SERVICE = "/api/v1/namespaces/karmada-system/services/karta-interpreter"


def client(port: int) -> Raw:
    reference = {"namespace": "karmada-system", "name": "karta-interpreter", "port": port, "path": "/interpret"}
    return {"service": reference, "caBundle": AUTHORITY.bundle}


def karmada(port: int, **changes: Raw) -> Karmada:
    """A control plane on which all is well, and the server is on loopback."""
    ready = {"Validated": ("True", ""), "CRDExists": ("True", ""), "Ready": ("True", "")}
    objects: dict[str, Raw | ClusterError] = {
        "/version": {"gitVersion": "v1.36.2"},
        CONFIGURATIONS: items(configuration(client(port), rule(BREW))),
        CUSTOMIZATIONS: items(),
        CLUSTERS: items({"metadata": {"name": "member1"}, "spec": {"syncMode": "Push"}}),
        KARTAS: items(karta("brew", BREW, **ready)),
        RIGHTS: {"status": {"resourceRules": [], "incomplete": False}},
        ADMISSION: {"webhooks": [{"name": "validate.karta-interpreter.io", "clientConfig": client(port)}]},
        SERVICE: {"spec": {"type": "ExternalName", "externalName": HOST}},
        "/apis/toys.example.com": group("v1"),
        "/apis/toys.example.com/v1": resources("Brew"),
    }
    return Karmada({**objects, **changes})


def worst(results: list[CheckResult]) -> list[tuple[Level, str]]:
    return [(result.level, result.check) for result in results if result.level is not Level.OK]


async def test_healthy_control_plane_has_only_ok_results(tmp_path: Path) -> None:
    async with serving(interpreter({"Brew": 200}), AUTHORITY.context(tmp_path, NAME)) as port:
        results = await examine(karmada(port), name=OURS)

    assert worst(results) == []
    assert [result.check for result in results] == [
        "api server",
        "registration",
        "timeout",
        "gate",
        "precedence",
        "kinds",
        "kartas",
        "clusters",
        "rights",
        "admission",
        "address",
        "connection",
        "tls",
        "certificate",
        "readiness",
        "call",
        "definitions",
    ]
    (address,) = [result.found for result in results if result.check == "address"]
    assert f"{HOST}:{port} as {NAME}" in address


async def test_forwarded_port_is_dialled_with_registered_name(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind((HOST, 0))
        nobody = unused.getsockname()[1]
        async with serving(interpreter({"Brew": 200}), AUTHORITY.context(tmp_path, NAME)) as port:
            results = await examine(karmada(nobody), name=OURS, url=f"https://{HOST}:{port}")

    assert worst(results) == []
    (address,) = [result.found for result in results if result.check == "address"]
    assert address.endswith(f"but {HOST}:{port} was given to dial, with the path /interpret"), address


async def test_kinds_of_the_core_group_are_found(tmp_path: Path) -> None:
    async with serving(interpreter({"Pod": 200}), AUTHORITY.context(tmp_path, NAME)) as port:
        plane = karmada(port, **{CONFIGURATIONS: items(configuration(client(port), rule(GVK("", "v1", "Pod"))))})
        plane.objects |= {"/api": {"kind": "APIVersions", "versions": ["v1"]}, "/api/v1": resources("Pod")}
        results = await examine(plane, name=OURS)

    assert [result.found for result in results if result.check == "kinds"] == [
        "karmada-apiserver serves 1 of 1 registered kind: v1, Kind=Pod"
    ]


async def test_address_is_visited_once(tmp_path: Path) -> None:
    asked: list[bytes] = []

    def answer(target: bytes, body: bytes) -> tuple[int, bytes]:
        asked.append(target)
        return interpreter({"Brew": 200, "Tea": 200})(target, body)

    async with serving(answer, AUTHORITY.context(tmp_path, NAME)) as port:
        tea = {**rule(BREW), "kinds": ["Tea"]}
        both = {CONFIGURATIONS: items(configuration(client(port), rule(BREW), tea))}
        results = await examine(karmada(port, **both), name=OURS)

    assert asked.count(b"/readyz?verbose") == 1
    assert "each of the 2 kinds" in results[-1].found


FORBIDDEN = ClusterError("GET it: 403 no", status=403, reason="Forbidden")


@pytest.mark.parametrize(
    ("path", "found", "expected"),
    [
        pytest.param("/version", ClusterError("refused"), [(Level.PROBLEM, "api server")], id="the API server is away"),
        pytest.param(CONFIGURATIONS, ClusterError("GET it: 404 no", status=404), [(Level.PROBLEM, "control plane")],
            id="this is not a Karmada"),
        pytest.param(CONFIGURATIONS, FORBIDDEN, [(Level.PROBLEM, "control plane")], id="no right to look"),
        pytest.param(CONFIGURATIONS, items(), [(Level.PROBLEM, "registration"), (Level.OK, "")], id="none registered"),
        pytest.param(KARTAS, FORBIDDEN, [(Level.WARNING, "control plane")], id="no right to see Kartas"),
        pytest.param(ADMISSION, {"webhooks": [{"name": "validate.karta-interpreter.io"}]},
            [(Level.PROBLEM, "admission")], id="no CA to trust"),
        pytest.param(KARTAS, ClusterError("404", status=404), [], id="no CRD of Karta is not a fault"),
        pytest.param(RIGHTS, FORBIDDEN, [(Level.WARNING, "control plane")], id="no right to ask for rights"),
        pytest.param(RIGHTS, ClusterError("404", status=404), [], id="an API server without rights"),
        pytest.param("/apis/toys.example.com", ClusterError("404", status=404), [(Level.WARNING, "kinds")],
            id="kind without CRD"),
        pytest.param("/apis/toys.example.com/v1", FORBIDDEN, [(Level.WARNING, "kinds")], id="no right to discovery"),
        pytest.param(SERVICE, FORBIDDEN, [(Level.WARNING, "address")], id="no right to see the Service"),
        pytest.param(SERVICE, {"spec": {"clusterIP": "None"}}, [(Level.PROBLEM, "address")], id="a headless Service"),
    ],
)  # fmt: skip
async def test_missing_parts_are_reported_and_the_rest_is_checked(
    tmp_path: Path, path: str, found: Raw | ClusterError, expected: list[tuple[Level, str]]
) -> None:
    async with serving(interpreter({"Brew": 200}), AUTHORITY.context(tmp_path, NAME)) as port:
        plane = karmada(port)
        plane.objects[path] = found
        results = await examine(plane, name=OURS)

    assert worst(results) == [each for each in expected if each[0] is not Level.OK]
    assert all(result.advice for result in results if result.level is not Level.OK)


@pytest.mark.parametrize(
    ("error", "is_about_rights"),
    [pytest.param(FORBIDDEN, True, id="forbidden"), pytest.param(ClusterError("503", status=503), False, id="away")],
)
async def test_clusters_that_cannot_be_read_are_not_counted(
    tmp_path: Path, error: ClusterError, *, is_about_rights: bool
) -> None:
    async with serving(interpreter({"Brew": 200}), AUTHORITY.context(tmp_path, NAME)) as port:
        plane = karmada(port)
        plane.objects[CLUSTERS] = error
        results = await examine(plane, name=OURS)

    assert "clusters" not in [result.check for result in results]
    assert [("missing rights" in result.advice) for result in results if result.check == "control plane"] == [
        is_about_rights
    ]


async def test_registration_of_another_shape_is_a_problem() -> None:
    odd = configuration(client(1), rule(BREW))
    odd["webhooks"][0]["rules"] = "all"

    results = await examine(karmada(1, **{CONFIGURATIONS: items(odd)}), name=OURS)

    (problem,) = [result for result in results if result.level is Level.PROBLEM]
    assert (problem.check, "webhooks[0].rules: Expected" in problem.found) == ("control plane", True)


async def test_admission_of_a_name_that_is_not_registered_is_not_asked_for() -> None:
    """RBAC gives a server the right to see its own only: an error about rights would hide a typo in the name."""
    plane = karmada(1)
    plane.objects[ADMISSION.replace(OURS, "typo")] = FORBIDDEN
    assert "403" not in str(await examine(plane, name="typo"))


async def test_unregistered_server_can_be_examined(tmp_path: Path) -> None:
    async with serving(interpreter(), AUTHORITY.context(tmp_path, HOST)) as port:
        plane = karmada(port, **{CONFIGURATIONS: items()})
        results = await examine(plane, name=OURS, url=f"https://{HOST}:{port}/interpret")

    assert (Level.OK, "call") in [(result.level, result.check) for result in results]
    assert (Level.PROBLEM, "certificate") in worst(results), "nobody registered whom to trust"


@pytest.mark.parametrize("unread", ["/version", CONFIGURATIONS])
async def test_certificate_is_not_compared_with_a_registration_that_was_not_read(unread: str, tmp_path: Path) -> None:
    async with serving(interpreter(), AUTHORITY.context(tmp_path, NAME)) as port:
        plane = karmada(port)
        plane.objects[unread] = FORBIDDEN
        results = await examine(plane, name=OURS, url=f"https://{HOST}:{port}")

    (found,) = [result for result in results if result.check == "certificate"]
    assert found.level is Level.WARNING
    assert "could not be compared, because the registration was not read" in found.found
    assert f"names ({NAME}) and its issuer (CN=test authority)" in found.found
    assert "no caBundle" not in str(results)
