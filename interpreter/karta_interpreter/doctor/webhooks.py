"""ResourceInterpreterWebhookConfigurations, read as Karmada reads them (``pkg/util/interpreter/matcher.go``).

Our own configuration is judged here, too.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from karta_interpreter.doctor.result import Result, listed, ok, problem, warning
from karta_interpreter.findings import count
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import JSON, Object
from karta_interpreter.operations import Operation
from karta_interpreter.registration.admission_ca import WEBHOOKS

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


_REGISTERED, _TIMEOUT, _RULES = "registration", "timeout", "rules"
_LONGEST = 10
"""Seconds. Karmada's controllers have five workers; each of them stands still while it waits for an answer."""


def judge_registration(name: str, ours: Sequence[Webhook], others: Sequence[Webhook]) -> Iterator[Result]:
    """Judge that there is a configuration of that name, and what it registers."""
    if ours:
        kinds = kinds_of(ours)
        calls = sum(map(len, kinds.values()))
        what = f"{count(calls, 'operation')} of {count(len(kinds), 'kind')}"
        yield ok(_REGISTERED, f"{name} registers {what}: {listed(kinds)}")
        return
    found = f"there is no ResourceInterpreterWebhookConfiguration {name} with webhooks"
    names = sorted({webhook.configuration for webhook in others})
    advice = f"name another with --name: there is {listed(names)}; or " if names else ""
    advice += "register: start the server with --register, or apply what export webhook-configuration prints"
    yield problem(_REGISTERED, found, advice)


def judge_timeouts(ours: Sequence[Webhook]) -> Iterator[Result]:
    """Judge how long Karmada waits."""
    unset = [webhook.name for webhook in ours if webhook.timeout is None]
    if unset:
        found = f"timeoutSeconds is not set, which means 30 s: {listed(unset)}"
        yield warning(_TIMEOUT, found, "set timeoutSeconds: 3; a call that hangs blocks one of Karmada's five workers")
    long = [webhook.name for webhook in ours if (webhook.timeout or 0) > _LONGEST]
    if long:
        found = f"timeoutSeconds is more than {_LONGEST}: {listed(long)}"
        yield warning(_TIMEOUT, found, "set timeoutSeconds: 3; a call that hangs blocks one of Karmada's five workers")
    if ours and not unset and not long:
        longest = max(webhook.timeout or 0 for webhook in ours)
        yield ok(_TIMEOUT, f"Karmada waits at most {longest} s for an answer")


def judge_rules(ours: Sequence[Webhook]) -> Iterator[Result]:
    """Judge that the rules name what they are about, and only operations that exist."""
    wide = [webhook.name for webhook in ours if any(rule.wide or ANY in rule.operations for rule in webhook.rules)]
    if wide:
        found = f"rules with * take kinds or operations that they do not name: {listed(wide)}"
        advice = (
            "name groups, versions, kinds and operations: a match is final, and hides Karmada's own interpreters "
            "even where the answer is an error"
        )
        yield warning(_RULES, found, advice)
    named = {operation for webhook in ours for rule in webhook.rules for operation in rule.operations}
    unknown = sorted(named - {*Operation, ANY})
    if unknown:
        yield warning(
            _RULES, f"no Karmada asks for {listed(unknown)}", f"take it out; there are {', '.join(Operation)}"
        )


_ADMISSION = "admission"
_FILL_IN = (
    "a server that registers itself fills it in when it may patch these configurations, as the chart lets it; "
    "or set admission.caBundle"
)


def judge_admission(configurations: Sequence[Object], ours: Sequence[Webhook]) -> Iterator[Result]:
    """Check that installed admission webhooks trust the CA of our registration; no result where none is installed."""
    trusted = {webhook.client.ca_bundle for webhook in ours}
    installed = [webhook for configuration in configurations for webhook in read_webhooks(configuration)]
    asked = [webhook for webhook in installed if webhook.name in WEBHOOKS]
    if not asked or not trusted:
        return
    strangers = [webhook.name for webhook in asked if webhook.client.ca_bundle not in trusted]
    if not strangers:
        yield ok(_ADMISSION, "Kartas are checked before they are stored")
        return
    policies = {
        edit.get(webhook, ("failurePolicy",)) for each in configurations for webhook in each.get("webhooks") or ()
    }
    outcome = "are stored unchecked" if policies == {"Ignore"} else "are refused"
    found = f"the caBundle of {listed(strangers)} is not the registered one, so Kartas {outcome}"
    yield problem(_ADMISSION, found, _FILL_IN)
