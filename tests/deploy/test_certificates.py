"""The certificates that the chart makes or asks for."""

import pytest

from deploy.write_kustomize import template
from karta_interpreter.webhook.settings import Settings
from tests.deploy import rendered
from tests.deploy.rendered import Resource
from tests.support.rows import rows

pytestmark = rendered.needs_helm

OWN = "karta-interpreter.karmada-system.svc"


SECRET = "karta-interpreter-tls"  # noqa: S105 - a name


def names_of(values: str) -> list[str]:
    """The names that the server is told to sign a certificate for."""
    flags = rendered.arguments(template(rendered.SERVER, values))
    return [value for name, value in flags if name == "--certificate-name"]


@rows(
    ("values", "more"),
    [
        pytest.param("", [], id="the Service"),
        pytest.param(
            "registration.publicUrl=https://karta.example.com:8443/interpret", ["karta.example.com"], id="a URL"
        ),
        pytest.param("certificate.extraNames={10.0.0.1,fd00::1}", ["10.0.0.1", "fd00::1"], id="names of one's own"),
    ],
)
def test_certificate_names_are_those_that_are_dialled(values: str, more: list[str]) -> None:
    assert names_of(values) == [OWN, f"{OWN}.cluster.local", *more]


def test_certificate_has_name_that_karmada_dials() -> None:
    assert names_of("registration.service=elsewhere/karta:443")[:2] == [OWN, "karta.elsewhere.svc"]


def test_certificate_lives_are_allowed_by_the_server() -> None:
    flags = dict(rendered.arguments(rendered.of("the defaults")))
    settings = Settings()
    assert float(flags["--certificate-days"]) == settings.certificate_days
    assert float(flags["--authority-days"]) == settings.authority_days
    # Alerts begin 14 days before the end, and a server renews with a third, or a little more, left.
    assert settings.certificate_days / 3 > 14


def test_role_allows_only_what_the_secret_needs() -> None:
    secrets = {"apiGroups": [""], "resources": ["secrets"]}
    own = {**secrets, "resourceNames": [SECRET], "verbs": ["get", "update"]}
    assert rules_of("") == [own, {**secrets, "verbs": ["create"]}]
    assert rules_of("certificate.selfSigned.createSecret=false") == [own]


def rules_of(values: str) -> list[dict[str, object]]:
    role = rendered.the(template(rendered.SERVER, values), "Role")
    rules: list[dict[str, object]] = role["rules"]
    return rules


def test_key_of_authority_is_not_mounted() -> None:
    mounted = [
        volume["secret"]
        for pod in (
            rendered.the(rendered.of("the defaults"), "Pod")["spec"],
            rendered.pod_of(rendered.of("the defaults")),
        )
        for volume in pod["volumes"]
        if "secret" in volume
    ]
    # `helm test` gets the authority's certificate alone.
    assert [(one["secretName"], [item["key"] for item in one["items"]]) for one in mounted] == [
        (SECRET, ["ca.crt"]),
        ("karta-interpreter-kubeconfig", ["kubeconfig"]),
    ]


def certificate_of(case: str) -> Resource:
    return next(one for one in rendered.of_kind(rendered.of(case), "Certificate") if not one["spec"].get("isCA"))


def test_cert_manager_is_asked_for_the_same_names() -> None:
    spec = certificate_of("certificates by cert-manager")["spec"]
    assert spec["dnsNames"] == [OWN, f"{OWN}.cluster.local", "a.example"]
    assert spec["ipAddresses"] == ["10.0.0.1", "::1"]
    assert spec["issuerRef"] == {"group": "cert-manager.io", "kind": "Issuer", "name": "karta-interpreter"}


def test_issuer_of_user_is_the_only_one() -> None:
    case = "certificates by another issuer"
    assert certificate_of(case)["spec"]["issuerRef"] == {"kind": "ClusterIssuer", "name": "ours"}
    assert rendered.of_kind(rendered.of(case), "Issuer") == []
