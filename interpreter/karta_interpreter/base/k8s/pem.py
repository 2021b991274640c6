"""Certificates: reads PEM text, as Secrets and ``caBundle`` have it, and the names that a certificate is valid for."""

from cryptography import x509

_BEGIN = b"-----BEGIN CERTIFICATE-----"


def read_certificates(pem: bytes, source: str) -> list[x509.Certificate]:
    """Return the certificates, at least one. Raise ValueError naming the ``source`` and the problem.

    >>> read_certificates(b"hello", "tls.crt")
    Traceback (most recent call last):
    ...
    ValueError: tls.crt holds no PEM certificate: it has no line -----BEGIN CERTIFICATE-----
    """
    if not (begun := pem.count(_BEGIN)):
        defect = (
            ("it holds a private key" if b" PRIVATE KEY-----" in pem else f"it has no line {_BEGIN.decode()}")
            + "; `openssl x509 -inform der` makes PEM of DER, `openssl pkcs12 -nodes` of PKCS#12"
            * pem.startswith(b"\x30\x82")
            + "; `base64 -d` prints the PEM in it" * pem.startswith(b"LS0tLS1")
        )
        raise ValueError(f"{source} holds no PEM certificate: {defect if pem.strip() else 'it is empty'}")
    try:
        certificates = x509.load_pem_x509_certificates(pem)
    except (ValueError, x509.InvalidVersion) as error:
        defect = (
            r"it has \n in the place of line breaks" if rb"\n" in pem else "what it has as one is damaged or cut off"
        )
        raise ValueError(f"{source} holds no PEM certificate: {defect}") from error
    # A block without an end is skipped by the parser: a program may not have finished to write the file.
    if len(certificates) < begun:
        raise ValueError(f"{source} holds no PEM certificate: one has no end")
    return certificates


def are_exchanged(chain: bytes, key: bytes) -> bool:
    """Whether a private key is where the certificate belongs, and a certificate where the key does."""
    return b" PRIVATE KEY-----" in chain and _BEGIN not in chain and _BEGIN in key


def has_authority(bundle: list[x509.Certificate]) -> bool:
    """Return whether one of the certificates is a CA, or signed with its own key, which makes it its own CA."""
    return any(
        certificate.issuer == certificate.subject
        or any(getattr(extension.value, "ca", False) for extension in certificate.extensions)
        for certificate in bundle
    )


def names_of(leaf: x509.Certificate) -> tuple[str, ...]:
    """Return the DNS names and then the addresses that a certificate is valid for."""
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()
    return (*names.get_values_for_type(x509.DNSName), *map(str, names.get_values_for_type(x509.IPAddress)))
