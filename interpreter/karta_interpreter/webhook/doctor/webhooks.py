"""Judges ResourceInterpreterWebhookConfigurations, and the other interpreters of our kinds.

With Karmada's feature gate ``MultiplePodTemplatesScheduling`` on, a kind that has InterpretComponent gets components
from the scheduler and no replicas. If the kind also has ReviseReplica, from any interpreter, ReviseReplica is called
with 0 and the workload is scaled to zero.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from karta_interpreter.base.command_line import shown
from karta_interpreter.base.findings import count, listed
from karta_interpreter.base.k8s import GVK, Object, edit
from karta_interpreter.base.karmada import OTHER_HALF
from karta_interpreter.engine.operations import Operation
from karta_interpreter.engine.registered.interpreters import (
    ANY,
    Client,
    Customization,
    RegisteredWebhook,
    in_order,
    kinds_of,
)
from karta_interpreter.engine.registered.operations import INTERPRETS_COMPONENT, REVISES_REPLICA
from karta_interpreter.engine.registered.pairs import ANSWER_BOTH, Others, named, others_of, without
from karta_interpreter.webhook.doctor.result import CheckResult, ok, problem, warning
from karta_interpreter.webhook.registration.admission_ca import WEBHOOK
from karta_interpreter.webhook.settings import option

_REGISTERED, _TIMEOUT, _RULES = "registration", "timeout", "rules"
_BY_GATE = Operation.INTERPRET_COMPONENT, Operation.REVISE_COMPONENTS
_OFTEN, _JUST_NOW = 6, timedelta(seconds=90)  # servers that fight write once a minute each
_LONGEST = 10
"""Seconds. Karmada's controllers have five workers. Each worker blocks while it waits for an answer."""


def judge_registration(
    name: str, ours: Sequence[RegisteredWebhook], foreign: Sequence[RegisteredWebhook]
) -> Iterator[CheckResult]:
    """Check that there is a configuration with that name, and count the kinds and operations that it registers."""
    if ours:
        kinds = kinds_of(ours)
        what = f"{count(sum(map(len, kinds.values())), 'operation')} of {count(len(kinds), 'kind')}"
        answered = {operation for operations in kinds.values() for operation in operations}
        missing = [operation for operation in Operation if operation not in {*_BY_GATE, *answered}]
        lacks = f"; for no kind: {', '.join(missing)}" if missing else ""
        yield ok(_REGISTERED, f"{name} registers {what}: {listed(kinds)}{lacks}")
        return
    names = sorted({webhook.configuration for webhook in foreign})
    yield problem(
        _REGISTERED,
        f"there is no ResourceInterpreterWebhookConfiguration {name} with webhooks",
        (f"name another with --name: there is {listed(shown('name', other) for other in names)}; or " if names else "")
        + f"read the server's log: with {option('register')} it registers once it is ready, if its user may write "
        "this name (value rbac.registrationName of the control plane's chart); without, apply the output of export "
        "webhook-configuration",
    )


def judge_writers(configuration: Object | None, now: datetime) -> Iterator[CheckResult]:
    """Check that a configuration has not been written often, and just now, as by two installations of one name."""
    writes = int(edit.get(configuration, ("metadata", "generation")) or 0)
    entries = edit.get(configuration, ("metadata", "managedFields")) or ()
    times = [entry.get("time", "") for entry in entries if "f:webhooks" in (entry.get("fieldsV1") or {})]
    if writes >= _OFTEN and times and now - datetime.fromisoformat(max(times)) < _JUST_NOW:
        yield warning(
            _REGISTERED,
            f"it has been written {writes} times, the last time at {max(times)}",
            "if no definition and no value of the chart has just changed, two writers fight: uninstall one of two "
            f"installations, or give each its own {option('registration-name')} and its own kinds; a GitOps tool or a "
            "server writes it, not both; the log of a server names the other writer",
        )


def judge_timeouts(ours: Sequence[RegisteredWebhook]) -> Iterator[CheckResult]:
    """Check how long Karmada waits."""
    advice = "set timeoutSeconds: 3; a call without an answer blocks one of Karmada's five workers"
    names_by_fault = {
        "is not set, which means 30 s": [webhook.name for webhook in ours if webhook.timeout is None],
        f"is more than {_LONGEST}": [webhook.name for webhook in ours if (webhook.timeout or 0) > _LONGEST],
    }
    for fault, names in names_by_fault.items():
        if names:
            yield warning(_TIMEOUT, f"timeoutSeconds {fault}: {listed(names)}", advice)
    if ours and not any(names_by_fault.values()):
        yield ok(_TIMEOUT, f"Karmada waits at most {max(webhook.timeout or 0 for webhook in ours)} s for an answer")


def judge_rules(ours: Sequence[RegisteredWebhook]) -> Iterator[CheckResult]:
    """Check that the rules name their kinds and operations, and only operations that exist."""
    wide = [webhook.name for webhook in ours if any(rule.wide or ANY in rule.operations for rule in webhook.rules)]
    if wide:
        yield warning(
            _RULES,
            f"rules with * take kinds or operations that they do not name: {listed(wide)}",
            "name them: a match is final, and hides Karmada's own interpreters even where the answer is an error",
        )
    named = {operation for webhook in ours for rule in webhook.rules for operation in rule.operations}
    unknown = sorted(named - {*Operation, ANY})
    if unknown:
        yield warning(
            _RULES,
            f"Karmada has no operation {listed(unknown)}",
            f"remove it; the operations are {', '.join(Operation)}",
        )


def judge_admission(configuration: Object | None, ours: Sequence[RegisteredWebhook]) -> Iterator[CheckResult]:
    """Check that an installed admission webhook has the CA and the Service of our registration.

    Yields nothing if there is none.
    """
    trusted = {webhook.client.ca_bundle for webhook in ours}
    webhooks = (configuration or {}).get("webhooks") or ()
    entry = next((webhook for webhook in webhooks if webhook["name"] == WEBHOOK), None)
    if not entry or not trusted:
        return
    client = Client.of(entry.get("clientConfig") or {})
    registered = {replace(webhook.client.service, path="") for webhook in ours if webhook.client.service}
    if client.ca_bundle not in trusted:
        outcome = "are stored unchecked" if entry.get("failurePolicy") == "Ignore" else "are rejected"
        yield problem(
            "admission",
            f"the caBundle of {WEBHOOK} is not the registered one, so Kartas {outcome}",
            "correct the value admission.caBundle: ca.crt of the server's Secret; without this value, wait 15 s for a "
            "server that registers itself, and may patch it as by the chart",
        )
    elif client.service and registered and replace(client.service, path="") not in registered:
        called = listed(f"{service.host}:{service.port}" for service in registered)
        yield warning(
            "admission",
            f"Kartas are checked at {client.service.host}:{client.service.port}, and Karmada is to call {called}: no "
            "Karta can be stored if nothing answers there, or if the certificate lacks the name",
            "correct the values fullnameOverride and service.port, or the namespace, of the control plane's release, "
            f"or give the certificate the name, too ({option('certificate-name')})",
        )
    else:
        yield ok("admission", "Kartas are checked before they are stored")


_CHECK, _COUNTS, _GATE = "precedence", "counts", "gate"
_COMPONENT, _REVISE = Operation.INTERPRET_COMPONENT, Operation.REVISE_REPLICA
_ANSWERED_BY_KARMADA = {_COMPONENT: INTERPRETS_COMPONENT, _REVISE: REVISES_REPLICA}


def judge_precedence(
    ours: Sequence[RegisteredWebhook], foreign: Sequence[RegisteredWebhook], customizations: Sequence[Customization]
) -> Iterator[CheckResult]:
    """Check that Karmada asks our webhook for all that it registers, and that our webhook hides no other webhook."""
    lost, hidden = (defaultdict[str, dict[GVK, list[str]]](lambda: defaultdict(list)) for _ in range(2))
    for gvk, operations in kinds_of(ours).items():
        for operation in operations:
            takers = [webhook for webhook in in_order([*ours, *foreign]) if webhook.takes(gvk, operation)]
            if takers[0] not in ours:
                lost[takers[0].configuration][gvk].append(operation)
            for name in {webhook.configuration for webhook in takers if takers[0] in ours and webhook not in ours}:
                hidden[name][gvk].append(operation)
    overridden = list(_overridden(ours, customizations))
    yield from overridden
    for level, outcome, calls_by_name in (
        (problem, "comes before ours in the order of names, and is asked instead of us", lost),
        (warning, "comes after ours in the order of names, and is never asked", hidden),
    ):
        for name, calls in calls_by_name.items():
            yield level(
                _CHECK,
                f"{name} {outcome}: " + listed(f"{gvk} ({', '.join(operations)})" for gvk, operations in calls.items()),
                f"delete {shown('name', name)} if it is left of another installation, or take the kinds out of one of "
                "the two",
            )
    if ours and not overridden and not lost and not hidden:
        yield ok(_CHECK, "no customization and no other webhook answers for our kinds")


def _overridden(ours: Sequence[RegisteredWebhook], customizations: Sequence[Customization]) -> Iterator[CheckResult]:
    for gvk, operations in kinds_of(ours).items():
        for customization in customizations:
            if shared := [operation for operation in operations if customization.takes(gvk, operation)]:
                yield warning(
                    _CHECK,
                    f"{gvk}: {', '.join(shared)} is answered by {named(customization)}, which Karmada asks before this "
                    "server",
                    f"delete these scripts from {shown('name', customization.name)}, if that is not meant",
                )


def judge_counts(
    ours: Sequence[RegisteredWebhook], foreign: Sequence[RegisteredWebhook], customizations: Sequence[Customization]
) -> Iterator[CheckResult]:
    """Check that one interpreter counts a kind and divides it, and name the kinds that nobody divides."""
    kinds = kinds_of(ours)
    others = others_of(kinds, customizations, foreign, next((webhook.configuration for webhook in ours), ""))
    for gvk, other in others.items():
        if other.half:
            yield _half(gvk, other, other.half, kinds[gvk])
    whole = [gvk for gvk, operations in kinds.items() if gvk not in others and _is_whole(gvk, operations)]
    if whole:
        yield ok(_COUNTS, f"counted, and sent whole to each member: {listed(whole)}")


def _half(gvk: GVK, other: Others, half: Operation, registered: Collection[str]) -> CheckResult:
    ours, answered = OTHER_HALF[half], f"{gvk}: {other.names[half]} answers {half}"
    if ours not in registered:
        return warning(_COUNTS, f"{answered}, and {ours} is not registered, so {without(gvk, ours)}", ANSWER_BOTH)
    if other.agreement.agrees is False:
        return problem(_COUNTS, f"{answered}, and {ours} is registered, although {other.agreement.reason}", ANSWER_BOTH)
    why = "both count alike, as its annotation says"
    if other.agreement.agrees is None:
        why = "if both count alike: the server has found so, or its log says why it could not compare them"
    return ok(_COUNTS, f"{answered}, and this server {ours}, {why}")


def _is_whole(gvk: GVK, registered: Collection[str]) -> bool:
    is_counted = Operation.INTERPRET_REPLICA in registered and _REVISE not in registered
    return is_counted and gvk not in REVISES_REPLICA


def judge_gate(
    ours: Sequence[RegisteredWebhook], foreign: Sequence[RegisteredWebhook], customizations: Sequence[Customization]
) -> Iterator[CheckResult]:
    """Check that no kind of ours has InterpretComponent together with ReviseReplica, from any interpreters."""
    kinds, gvks_by_result = kinds_of(ours), defaultdict[CheckResult, list[GVK]](list)
    for gvk, operations in kinds.items():
        registered = [operation for operation in (_COMPONENT, _REVISE) if operation in operations]
        if len(registered) > 1:
            advice = f"register only one of them: {_SCALES_TO_ZERO}"
            result = problem(_GATE, "InterpretComponent is registered together with ReviseReplica", advice)
            gvks_by_result[result].append(gvk)
            continue
        for operation in registered:
            other = _REVISE if operation is _COMPONENT else _COMPONENT
            if theirs := _answered_by(gvk, other, foreign, customizations):
                result = warning(_GATE, f"we answer {operation}, and {theirs} {other}", _ADVICE[operation])
                gvks_by_result[result].append(gvk)
    for result, gvks in gvks_by_result.items():
        yield replace(result, found=f"{'; '.join(map(str, gvks))}: {result.found}")
    if kinds and not gvks_by_result:
        yield ok(_GATE, "no kind has InterpretComponent together with ReviseReplica")


_SCALES_TO_ZERO = "with the gate MultiplePodTemplatesScheduling on, Karmada scales such workloads to zero"
_ADVICE = {
    _COMPONENT: "remove ReviseReplica there, or register InterpretReplica instead of InterpretComponent: "
    + _SCALES_TO_ZERO,
    _REVISE: "fine as long as Karmada's gate MultiplePodTemplatesScheduling is off, which is the default; before it "
    f"is turned on, start the server with {option('multiple-pod-templates-scheduling')}, or Karmada scales them to "
    "zero",
}


def _answered_by(
    gvk: GVK, operation: Operation, foreign: Sequence[RegisteredWebhook], customizations: Sequence[Customization]
) -> str:
    """Return the other interpreter that answers an operation, empty if there is none."""
    interpreters: Sequence[Customization | RegisteredWebhook] = (*customizations, *foreign)
    names = (named(interpreter) for interpreter in interpreters if interpreter.takes(gvk, operation))
    return next(names, "Karmada itself" if gvk in _ANSWERED_BY_KARMADA[operation] else "")
