"""What Karmada's admission asks of a configuration (``pkg/webhook/configuration/validating.go``), and a little more.

More, because what is admitted may still be wrong: a ``*`` takes over kinds that nobody has a definition for, two
webhooks for one kind hide each other, and names of less than three segments are refused by older releases.
"""

import base64
import re
from typing import Any
from urllib.parse import urlsplit

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_OPERATIONS = {
    "InterpretReplica",
    "InterpretComponent",
    "ReviseReplica",
    "Retain",
    "AggregateStatus",
    "InterpretStatus",
    "InterpretHealth",
    "InterpretDependency",
}
_FIELDS = {"name", "clientConfig", "interpreterContextVersions", "rules", "timeoutSeconds"}


def objections(configuration: Any) -> list[str]:
    """Everything that keeps the configuration from being accepted; empty when it is."""
    found = []
    if configuration["apiVersion"] != "config.karmada.io/v1alpha1":
        found.append("apiVersion")
    if configuration["kind"] != "ResourceInterpreterWebhookConfiguration":
        found.append("kind")
    if not _is_domain(configuration["metadata"]["name"]):
        found.append("metadata.name")
    names = [webhook["name"] for webhook in configuration["webhooks"]]
    found += [f"{name}: twice" for name in names if names.count(name) > 1]
    kinds = [kind for webhook in configuration["webhooks"] for rule in webhook["rules"] for kind in _kinds(rule)]
    found += [f"{kind}: twice" for kind in kinds if kinds.count(kind) > 1]
    for webhook in configuration["webhooks"]:
        found += [f"{webhook['name']}: {objection}" for objection in _webhook(webhook)]
    return found


def _webhook(webhook: Any) -> list[str]:
    found = [f"unknown field {field}" for field in webhook.keys() - _FIELDS]
    if not _is_domain(webhook["name"]) or webhook["name"].count(".") < 2:
        found.append("the name is not qualified")
    if type(webhook["timeoutSeconds"]) is not int or not 1 <= webhook["timeoutSeconds"] <= 30:
        found.append("timeoutSeconds")
    if webhook["interpreterContextVersions"] != ["v1alpha1"]:
        found.append("interpreterContextVersions")
    if len(webhook["rules"]) != 1:
        found.append("more than one rule")
    for rule in webhook["rules"]:
        found += _rule(rule)
    return [*found, *_client(webhook["clientConfig"])]


def _rule(rule: Any) -> list[str]:
    found = []
    operations = rule["operations"]
    if not operations or not set(operations) <= _OPERATIONS or len(set(operations)) != len(operations):
        found.append(f"operations {operations}")
    if {"InterpretComponent", "ReviseReplica"} <= set(operations):
        found.append("scaled to zero by the gate MultiplePodTemplatesScheduling")
    return found + [
        f"{field} {rule[field]}" for field in ("apiGroups", "apiVersions", "kinds") if not _one(rule[field])
    ]


def _one(names: list[str]) -> bool:
    return len(names) == 1 and type(names[0]) is str and names[0] != "*"


def _client(client: Any) -> list[str]:
    found = []
    if ("url" in client) == ("service" in client):
        found.append("exactly one of url and service")
    if "url" in client:
        url = urlsplit(client["url"])
        if url.scheme != "https" or not url.hostname or url.username or url.query or url.fragment:
            found.append(f"url {client['url']}")
    if "service" in client:
        service = client["service"]
        if not service["name"] or not service["namespace"] or not 1 <= service["port"] <= 65535:
            found.append(f"service {service}")
        if not all(_is_domain(step) for step in service["path"].removeprefix("/").split("/")):
            found.append(f"path {service['path']}")
    if "caBundle" in client and b"BEGIN CERTIFICATE" not in base64.b64decode(client["caBundle"], validate=True):
        found.append("caBundle")
    return found


def _is_domain(name: str) -> bool:
    return len(name) <= 253 and all(len(part) <= 63 and _LABEL.fullmatch(part) for part in name.split("."))


def _kinds(rule: Any) -> list[tuple[str, str, str]]:
    return list(zip(rule["apiGroups"], rule["apiVersions"], rule["kinds"], strict=True))
