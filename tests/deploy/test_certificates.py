"""The certificates that the chart makes or asks for."""

import base64
import ipaddress
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from deploy.write_kustomize import template
from tests.deploy import rendered
from tests.deploy.rendered import Resource

pytestmark = rendered.needs_helm

OWN = "karta-interpreter.karmada-system.svc"


def secrets_of(values: str) -> dict[str, dict[str, bytes]]:
    """The data of the Secrets, by name."""
    found = rendered.of_kind(template(rendered.SERVER, values), "Secret")
    return {
        one["metadata"]["name"]: {key: base64.b64decode(value) for key, value in one["data"].items()} for one in found
    }


def test_the_chart_signs_a_certificate_for_the_names_that_are_dialled() -> None:
    names = "registration.publicUrl=https://karta.example.com:8443/interpret,certificate.extraNames={10.0.0.1,fd00::1}"
    secrets = secrets_of(f"{names},certificate.selfSigned.days=30")
    authority = x509.load_pem_x509_certificate(secrets["karta-interpreter-ca"]["tls.crt"])
    files = secrets["karta-interpreter-tls"]
    certificate = x509.load_pem_x509_certificate(files["tls.crt"])
    assert files["ca.crt"] == secrets["karta-interpreter-ca"]["tls.crt"]
    certificate.verify_directly_issued_by(authority)
    assert load_pem_private_key(files["tls.key"], None).public_key() == certificate.public_key()
    alternatives = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert alternatives.get_values_for_type(x509.DNSName) == [OWN, f"{OWN}.cluster.local", "karta.example.com"]
    addresses = [ipaddress.ip_address("10.0.0.1"), ipaddress.ip_address("fd00::1")]
    assert alternatives.get_values_for_type(x509.IPAddress) == addresses
    assert certificate.not_valid_after_utc - datetime.now(UTC) < timedelta(days=30)
    assert authority.not_valid_after_utc - datetime.now(UTC) > timedelta(days=3649)


def test_the_key_of_the_authority_is_mounted_by_nobody() -> None:
    (deployment,) = rendered.of_kind(rendered.of("the defaults"), "Deployment")
    volumes = deployment["spec"]["template"]["spec"]["volumes"]
    mounted = {volume["secret"]["secretName"] for volume in volumes if "secret" in volume}
    assert mounted == {"karta-interpreter-tls", "karta-interpreter-kubeconfig"}


def certificate_of(case: str) -> Resource:
    return next(one for one in rendered.of_kind(rendered.of(case), "Certificate") if not one["spec"].get("isCA"))


def test_cert_manager_is_asked_for_the_same_names() -> None:
    spec = certificate_of("certificates by cert-manager")["spec"]
    assert spec["dnsNames"] == [OWN, f"{OWN}.cluster.local", "a.example"]
    assert spec["ipAddresses"] == ["10.0.0.1", "::1"]
    assert spec["issuerRef"] == {"group": "cert-manager.io", "kind": "Issuer", "name": "karta-interpreter"}


def test_an_issuer_of_the_user_is_the_only_one() -> None:
    case = "certificates by another issuer"
    assert certificate_of(case)["spec"]["issuerRef"] == {"kind": "ClusterIssuer", "name": "ours"}
    assert rendered.of_kind(rendered.of(case), "Issuer") == []
