"""The content of our own configuration."""

from collections.abc import Iterator, Sequence

from karta_interpreter.doctor.result import Result, counted, listed, ok, problem, warning
from karta_interpreter.doctor.webhooks import ANY, Webhook, kinds_of, read_webhooks
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.values import Object
from karta_interpreter.operations import Operation
from karta_interpreter.registration.admission_ca import WEBHOOKS

_REGISTERED, _TIMEOUT, _RULES = "registration", "timeout", "rules"
_LONGEST = 10
"""Seconds. Karmada's controllers have five workers; each of them stands still while it waits for an answer."""


def judge_registration(name: str, ours: Sequence[Webhook], others: Sequence[Webhook]) -> Iterator[Result]:
    """Judge that there is a configuration of that name, and what it registers."""
    if ours:
        kinds = kinds_of(ours)
        calls = sum(map(len, kinds.values()))
        what = f"{counted(calls, 'operation')} of {counted(len(kinds), 'kind')}"
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


_CHECK = "admission"
_ADVICE = (
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
        yield ok(_CHECK, "Kartas are checked before they are stored")
        return
    policies = {
        edit.get(webhook, ("failurePolicy",)) for each in configurations for webhook in each.get("webhooks") or ()
    }
    outcome = "are stored unchecked" if policies == {"Ignore"} else "are refused"
    found = f"the caBundle of {listed(strangers)} is not the registered one, so Kartas {outcome}"
    yield problem(_CHECK, found, _ADVICE)
