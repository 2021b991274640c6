"""What the user of the kubeconfig may do on karmada-apiserver beyond the roles of the control plane's chart.

Whoever takes the kubeconfig of a server has these rights, too.
"""

from collections.abc import Iterator
from typing import Final

from karta_interpreter.base.findings import listed
from karta_interpreter.base.k8s import Object, edit, objects_in, request_path
from karta_interpreter.base.karmada import API_VERSION
from karta_interpreter.definitions.karta import api_group
from karta_interpreter.webhook.doctor.result import IS_IN_POD, CheckResult, ok, warning

REVIEWS: Final = request_path("authorization.k8s.io", "v1", "selfsubjectrulesreviews")

_CHECK, _ANY = "rights", "*"
_READS: Final = frozenset({"get", "list", "watch"})
# What the roles of the control plane's chart let the server write: its own configurations have a name there.
_NAMED: Final = {
    f"resourceinterpreterwebhookconfigurations.{API_VERSION.partition('/')[0]}": frozenset(
        {"create", "patch", "delete"}
    ),
    "validatingwebhookconfigurations.admissionregistration.k8s.io": frozenset({"patch"}),
}
# ClusterRole system:basic-user lets every user ask about itself.
_REVIEWS: Final = {
    f"{resource}.{group}.k8s.io": frozenset({"create"})
    for resource, group in (
        ("selfsubjectaccessreviews", "authorization"),
        ("selfsubjectrulesreviews", "authorization"),
        ("selfsubjectreviews", "authentication"),
    )
}


def judge_rights(review: Object | None) -> Iterator[CheckResult]:
    """Compare the rules of a SelfSubjectRulesReview with the roles of the charts.

    Yields nothing if the review could not be had, or is incomplete and has no further right.
    """
    if review is None:
        return
    rules = objects_in(edit.get(review, ("status", "resourceRules")))
    written = sorted({resource for rule in rules for resource in _written(rule)})
    read = ["read Secrets"] if any(map(_reads_secrets, rules)) else []
    further = [*read, *([f"write {listed(written)}"] if written else [])]
    if not further:
        if not edit.get(review, ("status", "incomplete")):
            yield ok(
                _CHECK, "the user of the kubeconfig may not read Secrets, and writes only what the chart's roles allow"
            )
        return
    found = f"the user of the kubeconfig may {' and '.join(further)}, unlike the chart's roles"
    # Elsewhere the kubeconfig is that of a person, who may have more to do than the server.
    if IS_IN_POD:
        advice = (
            "make the kubeconfig for the ServiceAccount of the control plane's chart, as docs/install.md writes it, "
            "and bind no further role to it"
        )
        yield warning(_CHECK, found, advice)
    else:
        yield ok(_CHECK, f"{found}: do not give this kubeconfig to the server")


def _reads_secrets(rule: Object) -> bool:
    of_secrets = _any_of(rule, "apiGroups", "") and _any_of(rule, "resources", "secrets")
    return of_secrets and _any_of(rule, "verbs", *_READS)


def _written(rule: Object) -> Iterator[str]:
    """Yield what a rule lets the user write, and the roles of the charts do not."""
    verbs = {*_names(rule, "verbs")} - _READS
    allowed = {**_REVIEWS, f"kartas/status.{api_group()}": frozenset({"patch"})}
    if _names(rule, "resourceNames"):
        allowed |= _NAMED
    for group in _names(rule, "apiGroups"):
        for resource in _names(rule, "resources"):
            name = f"{resource}.{group}" if group else resource
            if verbs - allowed.get(name, frozenset()):
                yield name


def _any_of(rule: Object, field: str, *names: str) -> bool:
    return not {_ANY, *names}.isdisjoint(_names(rule, field))


def _names(rule: Object, field: str) -> list[str]:
    return [str(name) for name in rule.get(field) or ()]
