"""The admission webhooks of Kartas: whether karmada-apiserver can ask them."""

from collections.abc import Iterator, Sequence

from karta_interpreter.doctor.result import Result, listed, ok, problem
from karta_interpreter.doctor.webhooks import Webhook, read_webhooks
from karta_interpreter.k8s import edit
from karta_interpreter.k8s.values import Object
from karta_interpreter.registration.admission_ca import WEBHOOKS

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
