"""The interpreters that Karmada knows, and which of them it asks about a kind.

Rules: ``pkg/util/interpreter/matcher.go``. Precedence: ``pkg/resourceinterpreter/interpreter.go``. Customizations come
before webhooks. Of the webhooks, Karmada asks the first one in the order of their names.
"""

from collections.abc import Iterable
from itertools import product
from typing import Final, Self, TypeVar

from msgspec import Struct, ValidationError, convert, field

from karta_interpreter.base.errors import ClusterError
from karta_interpreter.base.k8s import GVK, JSON, NewObject, Object, edit
from karta_interpreter.base.karmada import OTHER_HALF
from karta_interpreter.engine.operations import Operation, natively_answered
from karta_interpreter.languages.lua.customization import KIND, counts_agree, target_of
from karta_interpreter.languages.lua.reading import read_scripts, without_linting
from karta_interpreter.languages.lua.script import CUSTOMIZATIONS, Scripts

ANY = "*"
HTTPS = 443
NOBODY: Final = "nobody"
KARMADA: Final = "Karmada"
_Read = TypeVar("_Read")


class Rule(Struct, frozen=True, rename={"groups": "apiGroups", "versions": "apiVersions"}):
    """Operations of kinds. Each list may be just ``*``."""

    groups: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()

    def matches(self, gvk: GVK, operation: Operation) -> bool:
        """Return whether Karmada sends this to the webhook."""
        values = (*gvk, operation)
        listed = (self.groups, self.versions, self.kinds, self.operations)
        return all(value in names or ANY in names for value, names in zip(values, listed, strict=True))

    @property
    def wide(self) -> bool:
        """Return whether the rule has kinds that it does not name."""
        return any(ANY in listed for listed in (self.groups, self.versions, self.kinds))


class Service(Struct, frozen=True):
    """A Service of the cluster that Karmada runs in."""

    namespace: str = ""
    name: str = ""
    port: int = HTTPS
    path: str = ""

    @property
    def host(self) -> str:
        """Return its DNS name in the cluster, which must be in the certificate."""
        return f"{self.name}.{self.namespace}.svc"


class Client(Struct, frozen=True, rename={"ca_bundle": "caBundle"}):
    """The URL or the Service of a webhook, and the PEM certificates to trust in base64.

    ``ca_bundle`` is None if the registration could not be read.
    """

    url: str = ""
    service: Service | None = None
    ca_bundle: str | None = ""

    @classmethod
    def of(cls, config: JSON) -> Self:
        """Read the ``clientConfig`` of a webhook. Raises ClusterError for a field of another type."""
        return _read(config, cls, "clientConfig")


class RegisteredWebhook(Struct, frozen=True, rename={"client": "clientConfig", "timeout": "timeoutSeconds"}):
    """One webhook of a configuration. ``timeout`` is in seconds, None if it is not set.

    ``agrees`` is what the annotation of the configuration says about its counts.
    """

    configuration: str
    name: str = ""
    client: Client = Client()
    rules: tuple[Rule, ...] = ()
    timeout: int | None = None
    agrees: bool | None = None

    @property
    def full_name(self) -> str:
        """Return the name by which Karmada sorts webhooks and that appears in its errors."""
        return f"{self.configuration}/{self.name}"

    def takes(self, gvk: GVK, operation: Operation) -> bool:
        """Return whether one of the webhook's rules matches."""
        return any(rule.matches(gvk, operation) for rule in self.rules)


def read_webhooks(configuration: Object) -> tuple[RegisteredWebhook, ...]:
    """Return the webhooks of a configuration from an API server. Absent fields are empty here.

    Raises ClusterError for a field of another type than Karmada gives it.
    """
    name = str(edit.get(configuration, ("metadata", "name")))
    place = f"ResourceInterpreterWebhookConfiguration {name}: webhooks"
    entries = _read(configuration.get("webhooks") or (), tuple[NewObject, ...], place)
    webhooks = list[RegisteredWebhook]()
    for number, entry in enumerate(entries):
        added = {"configuration": name, "agrees": counts_agree(configuration)}
        webhooks.append(_read({**entry, **added}, RegisteredWebhook, f"{place}[{number}]"))
    return tuple(webhooks)


def _read(value: JSON, type_: type[_Read], place: str) -> _Read:
    try:
        return convert(_without_nulls(value), type_)
    except ValidationError as error:
        problem, _, path = str(error).partition(" - at `$")
        raise ClusterError(f"{place}{path.removesuffix('`')}: {problem}; correct it") from error


def _without_nulls(value: JSON) -> JSON:
    """Return a value without fields that are null, as Go writes absent ones."""
    if isinstance(value, dict):
        return {key: _without_nulls(nested) for key, nested in value.items() if nested is not None}
    if isinstance(value, list | tuple):
        return [_without_nulls(element) for element in value]
    return value


def in_order(webhooks: Iterable[RegisteredWebhook]) -> list[RegisteredWebhook]:
    """Return the webhooks in Karmada's order. Only the first one that matches is asked."""
    return sorted(webhooks, key=lambda webhook: webhook.full_name)


def kinds_of(webhooks: Iterable[RegisteredWebhook]) -> dict[GVK, tuple[Operation, ...]]:
    """Return the kinds that the webhooks name, each with the operations that they take."""
    webhooks = tuple(webhooks)
    rules = (rule for webhook in webhooks for rule in webhook.rules if not rule.wide)
    kinds = sorted({GVK(*names) for rule in rules for names in product(rule.groups, rule.versions, rule.kinds)})
    return {
        gvk: tuple(operation for operation in Operation if any(webhook.takes(gvk, operation) for webhook in webhooks))
        for gvk in kinds
    }


class Customization(Struct, frozen=True):
    """The operations of a kind that Lua answers.

    ``scripts`` has those that count, except the ones that are too long to run here. ``agrees`` is what the annotation
    says about them.
    """

    name: str
    gvk: GVK | None
    operations: frozenset[str]
    scripts: Scripts = Scripts()
    agrees: bool | None = None

    @property
    def full_name(self) -> str:
        """Return the name of the customization with its kind."""
        return f"the {KIND} {self.name}"

    def takes(self, gvk: GVK, operation: Operation) -> bool:
        """Return whether the customization answers an operation of a kind."""
        return gvk == self.gvk and operation in self.operations


def read_customization(obj: Object) -> Customization:
    """Read the customization of an object from an API server. Operations without a script are left out."""
    name = str(edit.get(obj, ("metadata", "name")))
    with without_linting():
        reading = read_scripts(edit.get(obj, CUSTOMIZATIONS), name)
    scripts = Scripts(script for script in reading.scripts if script.operation in OTHER_HALF)
    # Karmada also runs the scripts that are too long for us.
    operations = reading.scripts.operations | reading.broken
    return Customization(name, target_of(obj)[0], operations, scripts, counts_agree(obj))


class Interpreters(Struct):
    """All customizations and webhooks of a control plane, each in the order in which Karmada asks them."""

    customizations: list[Customization] = field(default_factory=list)
    webhooks: list[RegisteredWebhook] = field(default_factory=list)

    def answering(self, gvk: GVK, operation: Operation) -> str:
        """Return who answers an operation: a customization or a webhook with its name, `KARMADA` or `NOBODY`."""
        for customization in self.customizations:
            if customization.takes(gvk, operation):
                return f"customization {customization.name}"
        for webhook in self.webhooks:
            if webhook.takes(gvk, operation):
                return f"webhook {webhook.configuration}"
        return KARMADA if gvk in natively_answered(operation) else NOBODY
