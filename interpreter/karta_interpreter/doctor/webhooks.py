"""ResourceInterpreterWebhookConfigurations as Karmada reads them (``pkg/util/interpreter/matcher.go``)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from karta_interpreter.doctor.result import Result, listed, ok, problem, warning
from karta_interpreter.findings import count
from karta_interpreter.k8s.gvk import GVK
from karta_interpreter.k8s.values import Object
from karta_interpreter.operations import Operation
from karta_interpreter.registration.admission_ca import WEBHOOKS

ANY = "*"
HTTPS = 443


@dataclass(frozen=True, slots=True)
class Rule:
    """Operations of kinds; each list may be ``*`` alone."""

    groups: tuple[str, ...]
    versions: tuple[str, ...]
    kinds: tuple[str, ...]
    operations: tuple[str, ...]

    def matches(self, gvk: GVK, operation: Operation) -> bool:
        """Whether Karmada sends this to the webhook."""
        asked = (gvk.group, gvk.version, gvk.kind, operation)
        listed = (self.groups, self.versions, self.kinds, self.operations)
        return all(each in names or ANY in names for each, names in zip(asked, listed, strict=True))

    @property
    def wide(self) -> bool:
        """Whether it has kinds that it does not name."""
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
    """The URL or the Service of a webhook, and in base64 the PEM certificates to trust."""

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
        """The name by which Karmada sorts webhooks, and which it has in errors."""
        return f"{self.configuration}/{self.name}"

    def takes(self, gvk: GVK, operation: Operation) -> bool:
        """Whether one of its rules matches."""
        return any(rule.matches(gvk, operation) for rule in self.rules)


def read_webhooks(configuration: Object) -> tuple[Webhook, ...]:
    """The webhooks of a configuration from an API server; absent fields are empty here."""
    return tuple(
        Webhook(
            configuration["metadata"]["name"],
            entry.get("name", ""),
            _client(entry.get("clientConfig") or {}),
            tuple(_rule(rule) for rule in entry.get("rules") or ()),
            entry.get("timeoutSeconds"),
        )
        for entry in configuration.get("webhooks") or ()
    )


def in_order(webhooks: Iterable[Webhook]) -> list[Webhook]:
    """The webhooks in Karmada's order; the first one that matches is asked, and no other."""
    return sorted(webhooks, key=lambda webhook: webhook.full_name)


def kinds_of(webhooks: Iterable[Webhook]) -> dict[GVK, tuple[Operation, ...]]:
    """The kinds that the webhooks name, each with the operations that they take."""
    webhooks = tuple(webhooks)
    kinds = sorted({gvk for webhook in webhooks for rule in webhook.rules for gvk in rule.kinds_named()})
    return {
        gvk: tuple(operation for operation in Operation if any(webhook.takes(gvk, operation) for webhook in webhooks))
        for gvk in kinds
    }


def _client(config: Object) -> Client:
    reference = config.get("service")
    service = reference and Service(
        reference.get("namespace", ""),
        reference.get("name", ""),
        reference.get("port") or HTTPS,
        reference.get("path") or "",
    )
    return Client(config.get("url") or "", service, config.get("caBundle") or "")


def _rule(value: Object) -> Rule:
    return Rule(*(tuple(value.get(field) or ()) for field in ("apiGroups", "apiVersions", "kinds", "operations")))


_REGISTERED, _TIMEOUT, _RULES = "registration", "timeout", "rules"
_LONGEST = 10
"""Seconds. Karmada's controllers have five workers; each of them blocks while it waits for an answer."""


def judge_registration(name: str, ours: Sequence[Webhook], others: Sequence[Webhook]) -> Iterator[Result]:
    """Check that there is a configuration of that name, and count what it registers."""
    if ours:
        kinds = kinds_of(ours)
        calls = sum(map(len, kinds.values()))
        what = f"{count(calls, 'operation')} of {count(len(kinds), 'kind')}"
        yield ok(_REGISTERED, f"{name} registers {what}: {listed(kinds)}")
        return
    found = f"there is no ResourceInterpreterWebhookConfiguration {name} with webhooks"
    names = sorted({webhook.configuration for webhook in others})
    advice = f"name another with --name: there is {listed(names)}; or " if names else ""
    advice += "register: start the server with --register, or apply the output of export webhook-configuration"
    yield problem(_REGISTERED, found, advice)


def judge_timeouts(ours: Sequence[Webhook]) -> Iterator[Result]:
    """Check how long Karmada waits."""
    advice = "set timeoutSeconds: 3; a call without an answer blocks one of Karmada's five workers"
    unset = [webhook.name for webhook in ours if webhook.timeout is None]
    if unset:
        yield warning(_TIMEOUT, f"timeoutSeconds is not set, which means 30 s: {listed(unset)}", advice)
    long = [webhook.name for webhook in ours if (webhook.timeout or 0) > _LONGEST]
    if long:
        yield warning(_TIMEOUT, f"timeoutSeconds is more than {_LONGEST}: {listed(long)}", advice)
    if ours and not unset and not long:
        longest = max(webhook.timeout or 0 for webhook in ours)
        yield ok(_TIMEOUT, f"Karmada waits at most {longest} s for an answer")


def judge_rules(ours: Sequence[Webhook]) -> Iterator[Result]:
    """Check that the rules name their kinds and operations, and only operations that exist."""
    wide = [webhook.name for webhook in ours if any(rule.wide or ANY in rule.operations for rule in webhook.rules)]
    if wide:
        yield warning(
            _RULES,
            f"rules with * take kinds or operations that they do not name: {listed(wide)}",
            "name groups, versions, kinds and operations: a match is final, and hides Karmada's own interpreters "
            "even where the answer is an error",
        )
    named = {operation for webhook in ours for rule in webhook.rules for operation in rule.operations}
    unknown = sorted(named - {*Operation, ANY})
    if unknown:
        advice = f"remove it; the operations are {', '.join(Operation)}"
        yield warning(_RULES, f"Karmada has no operation {listed(unknown)}", advice)


def judge_admission(configurations: Sequence[Object], ours: Sequence[Webhook]) -> Iterator[Result]:
    """Check that installed admission webhooks trust the CA of our registration; no result where none is installed."""
    trusted = {webhook.client.ca_bundle for webhook in ours}
    entries = [entry for each in configurations for entry in each["webhooks"] if entry["name"] in WEBHOOKS]
    if not entries or not trusted:
        return
    strangers = [each for each in entries if _client(each.get("clientConfig") or {}).ca_bundle not in trusted]
    if not strangers:
        yield ok("admission", "Kartas are checked before they are stored")
        return
    is_ignored = all(entry.get("failurePolicy") == "Ignore" for entry in entries)
    outcome = "are stored unchecked" if is_ignored else "are rejected"
    names = listed(entry["name"] for entry in strangers)
    yield problem(
        "admission",
        f"the caBundle of {names} is not the registered one, so Kartas {outcome}",
        "a server that registers itself fills it in when it may patch these configurations, as the chart allows; "
        "or set admission.caBundle",
    )
