"""What nobody may make a path of, and what a path of a request to an API server looks like."""

import re
from typing import Final

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
WELL_FORMED: Final = re.compile(
    rf"/version|/apis?|/apis/{_SUBDOMAIN}|/(?:api|apis/{_SUBDOMAIN})/{_LABEL}"
    rf"(?:(?:/namespaces/{_LABEL})?/{_LABEL}(?:/{_SUBDOMAIN}(?:/status)?)?)?"
)
"""The paths that this program asks for."""

HOSTILE: Final = (
    "v1%2Fnamespaces%2Fother%2Fservices%2Fhttp:jenkins:80%2Fproxy%2Fjob%2Fdrop",
    "v1?watch=true",
    "v1#x",
    "v1;x=y",
    "v1/pods",
    "v1%3Fx",
    "v1\\..\\x",
    "..",
    ".",
    "..%2f..%2fapi",
    "../api/v1/secrets",
    "a/../../../api/v1/namespaces/kube-system/secrets",
    "a/b/c",
    "//evil.example.com/v1",
    "http://evil.example.com/v1",
    "@evil.example.com",
    "v1\r\nHost: evil.example.com",
    "v1\x00",
    "v1\u2028\u202e\x1b[2J",
    "\uff0e\uff0e\uff0fapi",
    "V1",
    "-v1",
    "v1-",
    "v1.",
    "a..b/v1",
    " v1",
    "v1\n",
    "",
    "x" * 254,
)
"""Parts of paths that no API server has."""
