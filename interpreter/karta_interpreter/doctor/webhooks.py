"""ResourceInterpreterWebhookConfigurations, read as Karmada reads them (``pkg/util/interpreter/matcher.go``)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from karta_interpreter.k8s import edit
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.operations import Operation

ANY = "*"
HTTPS = 443


@dataclass(frozen=True, slots=True)
class Rule:
    """Which operations of which kinds; each list may be ``*`` alone."""

    groups: tuple[str, ...]
    versions: tuple[str, ...]
    kinds: tuple[str, ...]
    operations: tuple[str, ...]

    def matches(self, gvk: GVK, operation: Operation) -> bool:
        """Whether Karmada sends this to the webhook."""
        pairs = (
            (gvk.group, self.groups),
            (gvk.version, self.versions),
            (gvk.kind, self.kinds),
            (operation, self.operations),
        )
        return all(said in listed or ANY in listed for said, listed in pairs)

    @property
    def wide(self) -> bool:
        """Whether it is about kinds that it does not name."""
        return any(ANY in listed for listed in (self.groups, self.versions, self.kinds))

    def kinds_named(self) -> list[GVK]:
        """The kinds that it names, none for a wide rule."""
        if self.wide:
            return []
        return [GVK(group, version, kind) for group in self.groups for version in self.versions for kind in self.kinds]


@dataclass(frozen=True, slots=True)
class Service:
    """A reference to a Service; Karmada's defaults are filled in."""

    namespace: str
    name: str
    port: int = HTTPS
    path: str = ""


@dataclass(frozen=True, slots=True)
class Client:
    """Where a webhook is: a URL or a Service, and in base64 the PEM certificates to trust."""

    url: str = ""
    service: Service | None = None
    ca_bundle: str = ""


@dataclass(frozen=True, slots=True)
class Webhook:
    """One webhook of a configuration; ``timeout`` is in seconds and None when it is not set."""

    configuration: str
    name: str
    client: Client
    rules: tuple[Rule, ...]
    timeout: int | None = None

    @property
    def full_name(self) -> str:
        """What Karmada sorts webhooks by, and calls them in errors."""
        return f"{self.configuration}/{self.name}"

    def takes(self, gvk: GVK, operation: Operation) -> bool:
        """Whether one of its rules matches."""
        return any(rule.matches(gvk, operation) for rule in self.rules)


def read_webhooks(configuration: Object) -> tuple[Webhook, ...]:
    """The webhooks of a configuration object; what is missing in it is empty here."""
    name = _text(edit.get(configuration, ("metadata", "name")))
    return tuple(_webhook(name, entry) for entry in _objects(configuration.get("webhooks")))


def in_order(webhooks: Iterable[Webhook]) -> list[Webhook]:
    """The webhooks as Karmada goes through them; the first one that matches is asked, and no other."""
    return sorted(webhooks, key=lambda webhook: webhook.full_name)


def kinds_of(webhooks: Iterable[Webhook]) -> dict[GVK, tuple[Operation, ...]]:
    """The kinds that the webhooks name, each with the operations that they take."""
    webhooks = tuple(webhooks)
    kinds = sorted({gvk for webhook in webhooks for rule in webhook.rules for gvk in rule.kinds_named()})
    return {
        gvk: tuple(operation for operation in Operation if any(webhook.takes(gvk, operation) for webhook in webhooks))
        for gvk in kinds
    }


def _webhook(configuration: str, entry: Object) -> Webhook:
    timeout = entry.get("timeoutSeconds")
    return Webhook(
        configuration,
        _text(entry.get("name")),
        _client(entry.get("clientConfig")),
        tuple(_rule(rule) for rule in _objects(entry.get("rules"))),
        timeout if isinstance(timeout, int) else None,
    )


def _client(value: JSON) -> Client:
    url, ca_bundle = _text(edit.get(value, ("url",))), _text(edit.get(value, ("caBundle",)))
    reference = edit.get(value, ("service",))
    if not isinstance(reference, dict):
        return Client(url, None, ca_bundle)
    port = reference.get("port")
    service = Service(
        _text(reference.get("namespace")),
        _text(reference.get("name")),
        port if isinstance(port, int) else HTTPS,
        _text(reference.get("path")),
    )
    return Client(url, service, ca_bundle)


def _rule(value: Object) -> Rule:
    return Rule(*(_texts(value.get(field)) for field in ("apiGroups", "apiVersions", "kinds", "operations")))


def _objects(value: JSON) -> Sequence[Object]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else ()


def _texts(value: JSON) -> tuple[str, ...]:
    return tuple(filter(lambda entry: isinstance(entry, str), value)) if isinstance(value, list) else ()


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""
