from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, strategies as st

from karta_interpreter.base.findings import error
from karta_interpreter.base.k8s.values import GVK
from karta_interpreter.definitions.sources.files import load_catalogue
from karta_interpreter.definitions.sources.snapshot import Quarantined, Snapshot, combine
from karta_interpreter.engine.registered.operations import ServedKind, served_kinds
from karta_interpreter.webhook.registration.configuration import Endpoint, left_out, webhook_configuration
from tests.support.rows import rows
from tests.webhook.registration.admission_rules import objections
from tests.webhook.registration.definitions import TOY, Scale, define, replicas, snapshot_of

URL = Endpoint.of_url("https://interpreter.example:8443")
SERVICE = Endpoint.of_service("karmada-system/karta-interpreter")
ONE = {"worker": replicas(".spec.count // 1")}
POD = GVK("", "v1", "Pod")


def test_webhook_has_everything_that_karmada_needs() -> None:
    configuration = webhook_configuration(snapshot_of(define(parts=ONE)), URL, timeout_seconds=7, name="mine")

    assert configuration == {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterWebhookConfiguration",
        "metadata": {"name": "mine", "labels": {"app.kubernetes.io/managed-by": "karta-interpreter"}},
        "webhooks": [
            {
                "name": "toy.v1.toys.example.com.karta-interpreter.io",
                "clientConfig": {"url": "https://interpreter.example:8443/interpret"},
                "interpreterContextVersions": ["v1alpha1"],
                "rules": [
                    {
                        "apiGroups": ["toys.example.com"],
                        "apiVersions": ["v1"],
                        "kinds": ["Toy"],
                        "operations": [
                            "InterpretReplica",
                            "ReviseReplica",
                            "Retain",
                            "AggregateStatus",
                            "InterpretStatus",
                            "InterpretHealth",
                            "InterpretDependency",
                        ],
                    }
                ],
                "timeoutSeconds": 7,
            }
        ],
    }


@pytest.mark.parametrize("gate", [False, True], ids=["gate off", "gate on"])
@pytest.mark.parametrize("fields", [["replicaRevision"], ["replicaRevision", "componentRevision"]], ids=["now", "then"])
def test_crd_of_customizations_decides_about_revise_components(gate: bool, fields: list[str]) -> None:
    """``charts/karmada/_crds/bases/config/config.karmada.io_resourceinterpretercustomizations.yaml``, in short."""
    slots: dict[str, Any] = {"type": "object", "properties": {key: {"type": "object"} for key in fields}}
    spec: dict[str, Any] = {"type": "object", "properties": {"customizations": slots}}
    schema: dict[str, Any] = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    crd: dict[str, Any] = {
        "spec": {
            "group": "config.karmada.io",
            "names": {"kind": "ResourceInterpreterCustomization"},
            "scope": "Cluster",
            "versions": [{"name": "v1alpha1", "served": True, "schema": schema}],
        }
    }
    two = define(parts={"head": replicas("1"), **ONE})

    configuration = webhook_configuration(snapshot_of(two), URL, served_kinds([crd]), multiple_pod_templates=gate)

    ((rule,),) = (webhook["rules"] for webhook in configuration["webhooks"])
    assert ("ReviseComponents" in rule["operations"]) is (gate and len(fields) > 1)
    assert ("InterpretComponent" in rule["operations"]) is gate


@pytest.mark.parametrize("endpoint", [URL, SERVICE], ids=["url", "service"])
@pytest.mark.parametrize("gate", [False, True], ids=["gate off", "gate on"])
def test_configuration_of_catalogue_is_admitted(endpoint: Endpoint, gate: bool) -> None:
    snapshot = combine([load_catalogue()])

    configuration = webhook_configuration(snapshot, endpoint, multiple_pod_templates=gate)

    assert objections(configuration) == []
    assert len(configuration["webhooks"]) == len(snapshot.entries)


@rows(
    ("kind", "off", "on"),
    [
        ("RayCluster", {"InterpretReplica", "ReviseReplica"}, {"InterpretComponent"}),
        ("PyTorchJob", {"InterpretReplica", "ReviseReplica"}, {"InterpretComponent"}),
        ("JobSet", {"InterpretReplica", "ReviseReplica"}, {"InterpretComponent"}),
        ("LeaderWorkerSet", {"InterpretReplica", "ReviseReplica"}, {"InterpretComponent"}),
        ("Deployment", {"InterpretReplica", "ReviseReplica"}, {"InterpretReplica", "ReviseReplica"}),
        ("Job", {"InterpretReplica", "ReviseReplica"}, {"InterpretReplica", "ReviseReplica"}),
    ],
)
def test_how_the_kinds_of_the_catalogue_are_counted(kind: str, off: set[str], on: set[str]) -> None:
    entries = {entry.definition.gvk: entry for entry in load_catalogue().entries}
    of_group = {"Job": "batch", "Deployment": "apps"}
    (gvk,) = (gvk for gvk in entries if gvk.kind == kind and gvk.group == of_group.get(kind, gvk.group))
    snapshot = Snapshot({gvk: entries[gvk]})
    counting = {"InterpretReplica", "InterpretComponent", "ReviseReplica"}

    for gate, expected in ((False, off), (True, on)):
        configuration = webhook_configuration(snapshot, URL, multiple_pod_templates=gate)
        assert _operations(configuration, kind) & counting == expected


_PARTS = st.dictionaries(
    st.sampled_from(["head", "worker"]), st.sampled_from([replicas("1"), replicas(".spec.count // 1")]), max_size=2
)
_KINDS = st.builds(
    GVK,
    st.sampled_from(["a.io", "b.io", "ray.io"]),
    st.sampled_from(["v1", "v1beta1"]),
    st.sampled_from(["Thing", "THING", "RayCluster"]),
)
_SERVED = st.builds(ServedKind, st.booleans(), st.booleans(), st.sampled_from([None, True, False]), st.booleans())


@given(st.dictionaries(_KINDS, _PARTS, max_size=4), st.dictionaries(_KINDS, _SERVED, max_size=4), st.booleans())
def test_everything_is_admitted(
    kinds: Mapping[GVK, Mapping[str, Scale]], served: Mapping[GVK, ServedKind], gate: bool
) -> None:
    snapshot = snapshot_of(*(define(gvk, parts) for gvk, parts in kinds.items()))

    configuration = webhook_configuration(snapshot, SERVICE, served, multiple_pod_templates=gate)

    assert objections(configuration) == []


def test_order_of_definitions_does_not_matter() -> None:
    one, other = define(GVK("b.io", "v1", "B"), ONE), define(GVK("a.io", "v1", "A"), ONE)

    assert webhook_configuration(snapshot_of(one, other), URL) == webhook_configuration(snapshot_of(other, one), URL)


def test_core_group_is_an_empty_string() -> None:
    configuration = webhook_configuration(snapshot_of(define(POD, {"all": {}})), URL)

    assert configuration["webhooks"][0]["rules"][0]["apiGroups"] == [""]
    assert objections(configuration) == []


def test_snapshot_without_definitions_has_no_webhooks() -> None:
    assert webhook_configuration(Snapshot(), URL)["webhooks"] == []


def test_unserved_version_is_omitted_with_a_finding() -> None:
    served = {GVK(TOY.group, "v2", TOY.kind): ServedKind()}
    snapshot = snapshot_of(define(parts=ONE))

    assert webhook_configuration(snapshot, URL, served)["webhooks"] == []
    (finding,) = left_out(snapshot, served)
    assert finding.source == "Toy.yaml"
    assert "toys.example.com/v1, Kind=Toy (versions it serves: v2)" in finding.message


def test_definition_without_answers_is_omitted() -> None:
    silent = define(annotations={"operations": "InterpretReplica"})

    assert webhook_configuration(snapshot_of(silent), URL)["webhooks"] == []
    assert left_out(snapshot_of(silent)) == ()


def test_broken_definition_stays_registered() -> None:
    present = webhook_configuration(snapshot_of(define(parts=ONE), define(POD, ONE)), SERVICE)
    broken = Snapshot(quarantined=(Quarantined("toy.yaml", (error("x", (), "x"),), gvk=TOY),))

    kept = webhook_configuration(broken, URL, present=present)

    assert [webhook["rules"] for webhook in kept["webhooks"]] == [
        webhook["rules"] for webhook in present["webhooks"] if webhook["name"].startswith("toy.")
    ]
    assert kept["webhooks"][0]["clientConfig"] == URL.client_config()
    assert webhook_configuration(broken, URL)["webhooks"] == []


@pytest.mark.parametrize(
    "operations", [pytest.param(["InterpretComponent", "ReviseReplica"], id="both"), pytest.param(["*"], id="all")]
)
def test_configuration_keeps_no_dangerous_field(operations: list[str]) -> None:
    rule = {"apiGroups": [TOY.group], "apiVersions": [TOY.version], "kinds": [TOY.kind], "operations": operations}
    broken = Snapshot(quarantined=(Quarantined("toy.yaml", (error("x", (), "x"),), gvk=TOY),))

    assert webhook_configuration(broken, URL, present={"webhooks": [{"rules": [rule]}]})["webhooks"] == []


def _operations(configuration: Any, kind: str) -> set[str]:
    rules = [rule for webhook in configuration["webhooks"] for rule in webhook["rules"] if rule["kinds"] == [kind]]
    return {operation for rule in rules for operation in rule["operations"]}
