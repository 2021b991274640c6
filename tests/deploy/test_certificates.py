"""The certificates that the chart makes or asks for."""

import pytest

from deploy.write_kustomize import template
from karta_interpreter.webhook.settings import Settings
from tests.deploy import rendered
from tests.deploy.rendered import Resource

pytestmark = rendered.needs_helm

OWN = "karta-interpreter.karmada-system.svc"


SECRET = "karta-interpreter-tls"  # noqa: S105 - a name


def names_of(values: str) -> list[str]:
    """The names that the server is told to sign a certificate for."""
    flags = [argument.partition("=") for argument in rendered.arguments(template(rendered.SERVER, values))]
    return [value for name, _, value in flags if name == "--certificate-name"]


@pytest.mark.parametrize(
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
    flags = dict(argument.partition("=")[::2] for argument in rendered.arguments(rendered.of("the defaults")))
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


@pytest.mark.parametrize(
    ("case", "is_own"),
    [
        ("the defaults", True),
        ("certificates by cert-manager", False),
        ("a certificate of one's own, with a well-known authority", False),
    ],
)
def test_only_a_server_that_keeps_a_secret_has_a_token_and_rights(case: str, is_own: bool) -> None:
    resources = rendered.of(case)
    deployment = rendered.the(resources, "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is is_own
    assert len(rendered.of_kind(resources, "Role")) == len(rendered.of_kind(resources, "RoleBinding")) == is_own
    flags = [argument.partition("=")[0] for argument in pod["containers"][0]["args"]]
    assert ("--certificate-secret" in flags, "--certificate-file" in flags) == (is_own, not is_own)


def test_chart_makes_no_secret() -> None:
    for case, (chart, *_) in rendered.VALUES.items():
        if chart == rendered.SERVER:
            assert rendered.of_kind(rendered.of(case), "Secret") == []


def test_key_of_authority_is_not_mounted() -> None:
    mounted = [
        volume["secret"]
        for pod in (
            *rendered.of_kind(rendered.of("the defaults"), "Pod"),
            rendered.the(rendered.of("the defaults"), "Deployment")["spec"]["template"],
        )
        for volume in pod["spec"]["volumes"]
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
