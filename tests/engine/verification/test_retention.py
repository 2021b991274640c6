"""Fields of other managers, as a real API server records them (``tests.support.managed_fields``)."""

import copy
from collections.abc import Callable

import pytest

from karta_interpreter import Karta
from karta_interpreter.engine.verification import Question, Verdict, verify
from tests.engine.verification.member import (
    DEFINITION,
    NOW,
    Thing,
    ago,
    container,
    deployment,
    evidence,
    judged,
    verdicts,
    workload,
)
from tests.support.managed_fields import Member
from tests.support.rows import rows

OK, DIFFERS, UNJUDGED = Verdict

Change = Callable[[Thing], object]
_KARMADA = {"work.karmada.io/name": "w", "resourcetemplate.karmada.io/generation": "1"}


def _member(*changes: tuple[str, Change, str], annotations: Thing | None = None) -> Thing:
    """Return a Deployment that Karmada (or another creator) wrote, and others changed."""
    template = deployment()
    template["metadata"] = {"name": "it", "namespace": "team", "annotations": annotations or dict(_KARMADA)}
    member = Member({"metadata": {}})
    member.write(template, "karmada-controller-manager" if not annotations else "creator", NOW - 3000)
    for number, (manager, change, subresource) in enumerate(changes):
        changed = copy.deepcopy(member.live)
        change(changed)
        member.write(changed, manager, NOW - 2000 + number, subresource)
    metadata = {"creationTimestamp": ago(3600), "generation": 1}
    return {**member.live, "metadata": {**member.live["metadata"], **metadata}}


def _set(*path: str, value: object) -> Change:
    def change(obj: Thing) -> None:
        for name in path[:-1]:
            obj = obj.setdefault(name, {})
        obj[path[-1]] = value

    return change


def _respell(obj: Thing) -> None:
    obj["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "1000m"


_PAUSE = ("operator", _set("spec", "paused", value=True), "")
_EDIT = ("kubectl-edit", _set("spec", "paused", value=True), "")
_ZEROS = ("operator", _set("spec", "strategy", value={"rollingUpdate": {}, "policy": {"by": None}}), "")
_SCALE = ("kube-controller-manager", _set("spec", "replicas", value=5), "scale")


@rows(
    ("obj", "verdict", "reason"),
    [
        pytest.param(_member(), OK, "", id="nobody-else-writes"),
        pytest.param(_member(_PAUSE), DIFFERS, "operator writes .spec.paused, and Retain does not keep it",
            id="a-field"),
        pytest.param(_member(("operator", _set("metadata", "labels", "x", value="y"), "")), OK, "",
            id="Karmada-keeps-new-labels"),
        pytest.param(_member(_SCALE), DIFFERS,
            "kube-controller-manager writes .spec.replicas, and Retain does not keep it", id="an-autoscaler"),
        pytest.param(_member(("kubectl-edit", _set("spec", "paused", value=True), ""), annotations={"a": "b"}), OK, "",
            id="a-person-is-the-template-without-Karmada"),
        pytest.param(_member(_PAUSE, annotations={"a": "b"}), DIFFERS,
            "operator writes .spec.paused, and Retain does not keep it",
            id="the-creator-is-the-template-without-Karmada"),
        pytest.param(_member(_EDIT), DIFFERS, "kubectl-edit writes .spec.paused, and Retain does not keep it",
            id="a-person-is-another-writer-where-Karmada-manages-the-object"),
        pytest.param(_member(_EDIT, ("karmada-controller-manager", _set("spec", "revisionHistoryLimit", value=3), "")),
            OK, "", id="what-was-there-when-Karmada-last-wrote-is-the-template"),
        pytest.param(_member(_ZEROS), OK, "", id="structs-that-nobody-has-set"),
        pytest.param(
            _member(("operator", _respell, "")),
            UNJUDGED,
            "operator writes .spec.template.spec.containers[].resources.requests.cpu, which may be the template's "
            "amount in another form",
            id="an-amount-that-a-typed-client-respells",
        ),
        pytest.param(deployment(), UNJUDGED, "the object has no managedFields", id="no-managed-fields"),
    ],
)  # fmt: skip
def test_fields_of_other_managers_have_to_be_kept(obj: Thing, verdict: Verdict, reason: str) -> None:
    assert verdicts(Question.RETAIN, evidence(obj)) == [(verdict, reason)]


def test_label_that_leaves_replicas_to_the_member_ends_the_fight() -> None:
    obj = _member(("karmada-controller-manager", lambda _: None, ""), _SCALE)
    (found,) = judged(Question.RETAIN, evidence(obj))
    assert found.fix == "- .spec.replicas"

    obj["metadata"]["labels"] = {"resourcetemplate.karmada.io/retain-replicas": "true"}
    assert verdicts(Question.RETAIN, evidence(obj)) == [(OK, "")]


def _queued(*states: bool, **changed_later: object) -> Thing:
    """Return a Job that Kueue lets run and holds: whenever it stops the Job, it gives back the tolerations."""
    own = [{"key": "mine"}]
    template = {"spec": {"restartPolicy": "Never", "tolerations": own, "containers": [container()]}}
    job = workload("batch/v1", "Job", {"suspend": True, "template": template})
    labels = {"kueue.x-k8s.io/queue-name": "queue"}
    job["metadata"] = {"name": "it", "namespace": "team", "annotations": dict(_KARMADA), "labels": labels}
    member = Member({"metadata": {}})
    member.write(job, "karmada-controller-manager", NOW - 3000)
    for number, runs in enumerate(states):
        changed = copy.deepcopy(member.live)
        changed["spec"]["suspend"] = not runs
        changed["spec"]["template"]["spec"]["tolerations"] = [*own, {"key": "pool"}] if runs else own
        member.write(changed, "kueue", NOW - 2000 + number)
    changed = copy.deepcopy(member.live)
    changed["spec"] |= changed_later
    member.write(changed, "operator", NOW - 1000)
    return member.live


@rows(
    ("job", "expected"),
    [
        pytest.param(_queued(True), [(OK, "")], id="it-runs"),
        pytest.param(_queued(True, False), [(OK, "")], id="a-queue-has-given-back-what-the-template-has"),
        pytest.param(
            _queued(True, False, backoffLimit=3),
            [(DIFFERS, "operator writes .spec.backoffLimit, and Retain does not keep it")],
            id="another-writer-while-it-is-held",
        ),
    ],
)
def test_job_in_a_queue(job: Thing, expected: list[tuple[Verdict, str]]) -> None:
    assert verdicts(Question.RETAIN, evidence(job)) == expected


def test_line_that_keeps_a_field_is_given() -> None:
    (found,) = judged(Question.RETAIN, evidence(_member(_PAUSE)))

    assert found.fix == "- unset: .spec.paused"


def test_added_element_of_a_list_counts() -> None:
    def inject(obj: Thing) -> None:
        obj["spec"]["template"]["spec"]["containers"].append({"name": "agent"})

    (found,) = judged(Question.RETAIN, evidence(_member(("injector", inject, ""))))
    assert found.reason == "injector writes .spec.template.spec.containers[], and Retain does not keep it"


def _rewritten(obj: Thing) -> None:
    """What a controller's types add when it writes an object back."""
    for template in obj["spec"]["templates"]:
        template |= {"inputs": {}, "metadata": {}}


def _lengthened(obj: Thing) -> None:
    obj["spec"]["tolerations"] = [{"key": "spot"}]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(_rewritten, [(OK, "")], id="the-list-that-the-pods-come-from"),
        pytest.param(
            _lengthened,
            [(DIFFERS, "operator writes .spec.tolerations, and Retain does not keep it")],
            id="another-list",
        ),
    ],
)
def test_list_that_a_controller_has_written_back_is_the_template(
    change: Change, expected: list[tuple[Verdict, str]]
) -> None:
    templates = [{"name": "main", "container": {"image": "train:1"}}]
    metadata = {"name": "it", "namespace": "team", "annotations": dict(_KARMADA)}
    workflow = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": metadata}
    member = Member({"metadata": {}}, keys={})
    member.write({**workflow, "spec": {"entrypoint": "main", "templates": templates}}, "karmada", NOW - 3000)
    changed = copy.deepcopy(member.live)
    change(changed)
    member.write(changed, "operator", NOW - 2000)

    assert verdicts(Question.RETAIN, evidence(member.live)) == expected


def test_list_of_which_fields_are_kept_is_not_judged() -> None:
    # Volcano writes the names of the claims that it makes into a list that has one owner.
    metadata = {"name": "it", "namespace": "team", "annotations": dict(_KARMADA)}
    job = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": metadata}
    member = Member({"metadata": {}}, keys={})
    member.write({**job, "spec": {"volumes": [{"mountPath": "/work", "volumeClaim": {}}]}}, "karmada", NOW - 3000)
    changed = copy.deepcopy(member.live)
    changed["spec"]["volumes"][0]["volumeClaimName"] = "it-volume-1"
    member.write(changed, "volcano", NOW - 2000)

    reason = "volcano writes .spec.volumes, a list that may be the template's, of which Retain keeps fields"
    assert verdicts(Question.RETAIN, evidence(member.live)) == [(UNJUDGED, reason)]


_SHOPS = DEFINITION.replace(".spec.replicas", ".spec.till.size").replace(".spec.template", ".spec.till.template")


def _shop(*changes: tuple[str, Change, str]) -> Thing:
    template = {"spec": {"containers": [container()]}}
    spec = {"till": {"size": 2, "template": template}, "mode": "open"}
    shop = workload("example.io/v1", "Shop", spec, {"phase": "Deployed"})
    shop["metadata"] = {"name": "it", "namespace": "team", "annotations": dict(_KARMADA)}
    member = Member({"metadata": {}}, keys={})
    member.write(shop, "karmada-controller-manager", NOW - 3000)
    for manager, change, subresource in changes:
        changed = copy.deepcopy(member.live)
        change(changed)
        member.write(changed, manager, NOW - 2000, subresource)
    return member.live


def test_count_below_a_section_that_an_autoscaler_writes_is_found() -> None:
    scaled = _shop(("kube-controller-manager", _set("spec", "till", "size", value=5), "scale"))

    (found,) = judged(Question.RETAIN, evidence(scaled), Karta.load(_SHOPS))
    assert found.reason == "kube-controller-manager writes .spec.till.size, and Retain does not keep it"
    assert found.fix == "- .spec.till.size"


@pytest.mark.parametrize(
    ("required", "fix"),
    [
        pytest.param([], "- unset: .spec.mode", id="the-template-may-lack-it"),
        pytest.param(["mode"], "- .spec.mode", id="every-template-has-it"),
    ],
)
def test_line_of_a_required_field_works_for_templates_that_have_it(required: list[str], fix: str) -> None:
    shop = _shop(("operator", _set("spec", "mode", value="closed"), ""))
    schema = {"properties": {"spec": {"properties": {"mode": {"type": "string"}}, "required": required}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "example.io", "names": {"kind": "Shop"}, "versions": [version]}
    crd = {"metadata": {"name": "shops.example.io"}, "spec": spec}

    found = verify(Karta.load(_SHOPS).definition, evidence(shop), crd)
    (judgement,) = (each for each in found if each.question == Question.RETAIN)
    assert judgement.fix == fix
