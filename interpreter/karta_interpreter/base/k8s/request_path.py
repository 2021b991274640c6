"""Paths of requests to API servers. Objects and files name their parts, so each part is checked before it is asked.

Follows apimachinery (``pkg/util/validation``): groups and names are DNS-1123 subdomains, namespaces DNS-1123 labels,
versions, resources and subresources DNS-1035 labels. No such part has a sign that a URL would have to escape. The names
of a few kinds have weaker rules (``ValidatePathSegmentName``), and no object of these kinds is asked for by its name.
"""

import re
from http import HTTPStatus
from typing import Final

from karta_interpreter.base.errors import ClusterError

LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN: Final = rf"{LABEL}(\.{LABEL})*"
"""DNS-1123 labels and subdomains, as regular expressions of Kubernetes."""
LONGEST_LABEL: Final = 63
LONGEST_SUBDOMAIN: Final = 253
NAME: Final = rf"(?!.{{{LONGEST_SUBDOMAIN + 1}}}){SUBDOMAIN}"
"""A name or a group of its length."""

WORD_OF_KIND: Final = "[A-Za-z]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?"
"""A kind or a version: a DNS-1035 label once it is in lower case (`ValidateCustomResourceDefinition` of Kubernetes)."""

_WORD: Final = rf"(?=[a-z])(?!.{{{LONGEST_LABEL + 1}}}){LABEL}"
FORMS: Final = {
    "group": NAME,
    "version": _WORD,
    "kind": WORD_OF_KIND,
    "namespace": rf"(?!.{{{LONGEST_LABEL + 1}}}){LABEL}",
    "resource": _WORD,
    "name": NAME,
}
"""The form of each word of an object, as a regular expression."""


def request_path(
    group: str,
    version: str | None = None,
    resource: str | None = None,
    *,
    namespace: str | None = None,
    name: str | None = None,
) -> str:
    """Return the path of a group, of a version, of a collection or of an object. The core group is "".

    Raises ClusterError (404) for a part that Kubernetes does not allow: no API server has anything there.

    >>> request_path("batch", "v1", "jobs", namespace="team", name="sum")
    '/apis/batch/v1/namespaces/team/jobs/sum'
    >>> request_path("", "v1"), request_path("apps"), request_path("")
    ('/api/v1', '/apis/apps', '/api')
    >>> request_path("", "v1%2Fsecrets")
    Traceback (most recent call last):
    karta_interpreter.base.errors.ClusterError: no API server has the version "v1%2Fsecrets": nothing is asked
    """
    path = "/apis" if group else "/api"
    parts = {"group": group or None, "version": version, "namespace": namespace, "resource": resource, "name": name}
    for part, text in parts.items():
        if text is None:
            continue
        if not re.fullmatch(FORMS[part], text):
            message = f'no API server has the {part} "{text[:LONGEST_LABEL]}": nothing is asked'
            raise ClusterError(message, status=HTTPStatus.NOT_FOUND, reason="NotFound")
        path += f"/namespaces/{text}" if part == "namespace" else f"/{text}"
    return path
