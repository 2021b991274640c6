"""What resource claims of pods count as, judged by Kueue's tests and Kubernetes' types."""

from pathlib import Path
from typing import Any, NoReturn

import pytest
import yaml

from karta_interpreter.base.errors import InterpretationError, QueryReferenceError
from karta_interpreter.base.k8s.values import GVK, JSON, Object
from karta_interpreter.definitions.karta.definition import Definition
from karta_interpreter.definitions.karta.reference_resolver import Known, ReferenceReader, resolved
from karta_interpreter.definitions.sources.files import find_in_catalogue
from karta_interpreter.engine.evaluation import unknown_devices
from karta_interpreter.engine.evaluation.claims import MOST_ALTERNATIVES, MOST_CLAIMS, MOST_REQUESTS
from karta_interpreter.engine.operations import Call, Operation, Options, interpret
from tests.support.rows import rows

pytestmark = pytest.mark.catalogue

CASES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "claims.yaml").read_text())
JOB = GVK("batch", "v1", "Job")
GPU = {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}
COUNTED = Options(device_classes=("gpu=example.com/gpu",))


def definition_of(gvk: GVK) -> Definition:
    entry = find_in_catalogue(gvk)
    assert entry is not None
    return entry.definition


def job(claims: list[Object], **spec: JSON) -> Object:
    template = {"spec": {"containers": [{"name": "a"}], **spec, "resourceClaims": claims}}
    return {**JOB.type_meta, "metadata": {"name": "train", "namespace": "ml"}, "spec": {"template": template}}


def template_of(name: str, requests: list[Object], namespace: str = "ml", version: str = "v1") -> Object:
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"spec": {"devices": {"requests": requests}}},
    }


def class_of(name: str, resource: str) -> Object:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"extendedResourceName": resource} if resource else {},
    }


def amounts(obj: Object, options: Options, reader: ReferenceReader | None) -> JSON:
    definition = definition_of(GVK.of(obj))
    replica = interpret(definition, Call(Operation.INTERPRET_REPLICA, obj), options, reader=reader)
    component = interpret(definition, Call(Operation.INTERPRET_COMPONENT, obj), options, reader=reader)
    requires = (replica["requires"] or {}).get("resourceRequest", {})
    named = [one.get("replicaRequirements", {}).get("resourceRequest", {}) for one in component["components"] or ()]
    assert requires in named, "both operations count alike"
    return requires


@rows("case", CASES, ids=lambda case: case["why"])
def test_claims_count_as_amounts(case: dict[str, Any]) -> None:
    spec = {name: case[name] for name in ("containers", "initContainers") if name in case}
    obj = job(case["claims"], **spec)
    place = case.get("namespace", "ml"), case.get("version", "v1")
    objects = [template_of(name, requests, *place) for name, requests in case.get("templates", {}).items()]
    objects += [class_of(name, resource) for name, resource in case.get("deviceClasses", {}).items()]
    options, reader = Options(device_classes=tuple(case["classes"])), Known.of(objects)

    assert amounts(obj, options, reader) == case["amounts"]
    reasons = [*unknown_devices(resolved(definition_of(JOB), obj, reader, options.devices), obj)]
    assert len(reasons) == len(case.get("unknown", []))
    for reason, part in zip(reasons, case.get("unknown", []), strict=True):
        assert part in reason


def test_template_is_named_as_missing_without_a_reader() -> None:
    obj = job([{"name": "gpu", "resourceClaimTemplateName": "gpu"}])

    assert amounts(obj, COUNTED, None) == {}
    (reason,) = unknown_devices(resolved(definition_of(JOB), obj, None, COUNTED.devices), obj)
    assert "nothing is read from the control plane of Karmada" in reason


class _Starting(Known):
    def get(self, gvk: GVK, namespace: str, name: str) -> NoReturn:  # noqa: ARG002 - the signature of a reader
        raise QueryReferenceError("it has not been listed yet")


def test_template_that_is_not_known_yet_is_an_error_and_no_smaller_answer() -> None:
    obj = job([{"name": "gpu", "resourceClaimTemplateName": "gpu"}])

    with pytest.raises(InterpretationError, match="ResourceClaimTemplate gpu cannot be looked up: it has not been"):
        amounts(obj, COUNTED, _Starting({}))


def test_object_that_no_look_up_is_needed_for_is_answered_meanwhile() -> None:
    assert amounts(job([]), COUNTED, _Starting({})) == {}


@rows(
    ("claims", "requests", "reason"),
    [
        pytest.param([{"name": "gpu", "resourceClaimTemplateName": "gpu"}] * (MOST_CLAIMS + 1), [GPU],
                     f"spec.resourceClaims has more than {MOST_CLAIMS} elements", id="claims of a pod"),
        pytest.param([{"resourceClaimTemplateName": "gpu"}], [GPU] * (MOST_REQUESTS + 1),
                     f"spec.spec.devices.requests has more than {MOST_REQUESTS} elements", id="requests of a claim"),
        pytest.param([{"resourceClaimTemplateName": "gpu"}],
                     [{"firstAvailable": [GPU["exactly"]] * (MOST_ALTERNATIVES + 1)}],
                     f"firstAvailable has more than {MOST_ALTERNATIVES} elements", id="alternatives of a request"),
        pytest.param([{"resourceClaimTemplateName": "gpu"}], [{"exactly": {"deviceClassName": "gpu", "count": 2**63}}],
                     "more than an int64 holds", id="an amount"),
        pytest.param([{"resourceClaimTemplateName": "gpu"}], [{"exactly": {"deviceClassName": "gpu", "count": "2"}}],
                     "ResourceClaimTemplate gpu: count needs a positive whole number, not a string", id="text"),
        pytest.param([{"resourceClaimTemplateName": "gpu"}], [{"exactly": {"deviceClassName": "gpu", "count": -1}}],
                     "count needs a positive whole number", id="a count below 0"),
        pytest.param([{"resourceClaimTemplateName": 1}], [GPU],
                     "spec.resourceClaims[0].resourceClaimTemplateName needs a string", id="a name that is no text"),
    ],
)  # fmt: skip
def test_claims_beyond_a_bound_are_an_error(claims: list[Object], requests: list[Object], reason: str) -> None:
    with pytest.raises(InterpretationError) as error:
        amounts(job(claims), COUNTED, Known.of([template_of("gpu", requests)]))

    assert reason in str(error.value)


def test_claims_up_to_the_bounds_are_counted() -> None:
    claims: list[Object] = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}] * MOST_CLAIMS
    reader = Known.of([template_of("gpu", [GPU] * MOST_REQUESTS)])

    assert amounts(job(claims), COUNTED, reader) == {"example.com/gpu": str(MOST_CLAIMS * MOST_REQUESTS)}


NAMED = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
POD = {"spec": {"containers": [{"name": "a"}], "resourceClaims": NAMED}}


@rows(
    ("kind", "spec", "count"),
    [
        pytest.param("ray.io/v1 RayCluster",
                     {"headGroupSpec": {"template": {"spec": {"containers": [{"name": "h"}]}}},
                      "workerGroupSpecs": [{"groupName": "w", "replicas": 2, "template": POD}]}, 3,
                     id="the largest of several pod sets"),
        pytest.param("jobset.x-k8s.io/v1alpha2 JobSet",
                     {"replicatedJobs": [{"name": "w", "replicas": 1, "template": {"spec": {"template": POD}}}]}, 1,
                     id="a pod template within a Job's"),
        pytest.param("kubevirt.io/v1 VirtualMachineInstance",
                     {"domain": {"devices": {"gpus": [{"name": "g", "claimName": "gpu", "requestName": "gpu"}]}},
                      "resourceClaims": NAMED}, 1, id="a pod made from fields of its own"),
        pytest.param("kubevirt.io/v1 VirtualMachine",
                     {"template": {"spec": {"domain": {"devices": {}}, "resourceClaims": NAMED}}}, 1,
                     id="the guest of a machine"),
        pytest.param("argoproj.io/v1alpha1 Workflow",
                     {"entrypoint": "main", "templates": [{"name": "main", "container": {"image": "x"}}],
                      "resourceClaims": NAMED}, 1, id="claims of all steps"),
        pytest.param("apps.nvidia.com/v1alpha1 NIMService",
                     {"image": {"repository": "x"}, "draResources": [{"resourceClaimTemplateName": "gpu"}]}, 1,
                     id="claims in a list of the kind's own"),
        pytest.param("apps.nvidia.com/v1alpha1 NIMService",
                     {"image": {"repository": "x"},
                      "draResources": [{"claimCreationSpec": {"devices": [{"deviceClassName": "gpu"}]}}]}, 1,
                     id="a template that the operator makes"),
    ],
)  # fmt: skip
def test_claims_count_in_every_form_of_pods(kind: str, spec: Object, count: int) -> None:
    api_version, _, name = kind.partition(" ")
    obj = {"apiVersion": api_version, "kind": name, "metadata": {"name": "x", "namespace": "ml"}, "spec": spec}
    definition, reader = definition_of(GVK.of(obj)), Known.of([template_of("gpu", [GPU])])
    call = Call(Operation.INTERPRET_REPLICA, obj)

    answer = interpret(definition, call, COUNTED, reader=reader)
    plain = interpret(definition, call, reader=reader)

    assert answer["replica"] == plain["replica"] == count
    before = (plain["requires"] or {}).get("resourceRequest", {})
    assert (answer["requires"] or {})["resourceRequest"] == before | {"example.com/gpu": "1"}
