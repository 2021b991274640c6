from collections.abc import Sequence
from typing import Any

import pytest

from karta_interpreter.base.findings import DefinitionError, Severity
from karta_interpreter.base.k8s import GVK, edit
from karta_interpreter.definitions.karta.annotations import ExtraDependency
from karta_interpreter.definitions.karta.loading import load_definition
from karta_interpreter.definitions.openapi.draft import Draft, components_of, draft
from karta_interpreter.definitions.openapi.draft.pod_fields import _FACTORS
from karta_interpreter.definitions.openapi.schema import CustomKind
from tests.support.rows import rows

INTEGER, STRING, BOOLEAN = {"type": "integer"}, {"type": "string"}, {"type": "boolean"}
CONTAINERS = {"type": "array", "items": {"type": "object", "properties": {"name": STRING, "image": STRING}}}
POD_SPEC: dict[str, Any] = {"type": "object", "properties": {"containers": CONTAINERS, "schedulerName": STRING}}
RESOURCES = {"type": "object", "properties": {"limits": {"type": "object"}, "requests": {"type": "object"}}}


def fields(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def items(**properties: Any) -> dict[str, Any]:
    return {"type": "array", "items": fields(**properties)}


TEMPLATE = fields(metadata={"type": "object"}, spec=POD_SPEC)
CONDITIONS = items(type=STRING, status=STRING)


def crd(spec: Any = None, status: Any = None, *, kind: str = "Bakery", scale: str = "") -> dict[str, Any]:
    version = {
        "name": "v1",
        "storage": True,
        "schema": {"openAPIV3Schema": fields(metadata={"type": "object"}, spec=spec or {}, status=status or {})},
        "subresources": {"scale": {"specReplicasPath": scale}} if scale else {},
    }
    spec = {"group": "example.io", "names": {"kind": kind}, "versions": [version]}
    return {"metadata": {"name": "bakeries.example.io"}, "spec": spec}


def drafted(crd: dict[str, Any]) -> Any:
    """The structure of the draft, which can be loaded."""
    karta = draft(CustomKind.of(crd)).karta
    load_definition(karta)
    return karta["spec"]["structureDefinition"]


def notes(crd: dict[str, Any]) -> str:
    return "\n".join(note for _, note in draft(CustomKind.of(crd)).notes)


@rows(
    ("spec", "expected"),
    [
        pytest.param(fields(replicas=INTEGER, template=TEMPLATE),
            {"specDefinition": {"podTemplateSpecPath": ".spec.template"},
            "scaleDefinition": {"replicasPath": ".spec.replicas"}}, id="a Deployment"),
        pytest.param(POD_SPEC, {"specDefinition": {"podSpecPath": ".spec"}},
            id="a bare pod spec, of which there is one"),
        pytest.param(
            fields(predictor=fields(containers=CONTAINERS, minReplicas=INTEGER, maxReplicas=INTEGER)),
            {
                "specDefinition": {"podSpecPath": ".spec.predictor"},
                "scaleDefinition": {
                    "minReplicasPath": ".spec.predictor.minReplicas",
                    "maxReplicasPath": ".spec.predictor.maxReplicas",
                },
            },
            id="a pod spec with the bounds of an autoscaler in it",
        ),
        pytest.param(fields(jobTemplate=fields(spec=fields(parallelism={**INTEGER, "default": 2}, template=TEMPLATE))),
            {"specDefinition": {"podTemplateSpecPath": ".spec.jobTemplate.spec.template"},
            "scaleDefinition": {"replicasPath": ".spec.jobTemplate.spec.parallelism // 2"}},
            id="the default of the schema is the default of the count"),
        pytest.param(fields(replicas=INTEGER, group=fields(numOfHosts=INTEGER, template=TEMPLATE)),
            {"specDefinition": {"podTemplateSpecPath": ".spec.group.template"},
            "scaleDefinition": {"replicasPath": ".spec.replicas * .spec.group.numOfHosts"}},
            id="counts are for the whole workload"),
        pytest.param(
            fields(
                resources=RESOURCES, image=STRING, affinity=fields(podAffinity=fields(a=STRING)), podLabels=fields()
            ),
            {
                "specDefinition": {
                    "fragmentedPodSpecDefinition": {
                        "labelsPath": ".spec.podLabels",
                        "resourcesPath": ".spec.resources",
                        "podAffinityPath": ".spec.affinity.podAffinity",
                        "imagePath": ".spec.image",
                    }
                }
            },
            id="pieces of a pod",
        ),
        pytest.param(fields(template={"type": "object", "x-kubernetes-preserve-unknown-fields": True}),
            {"specDefinition": {"podTemplateSpecPath": ".spec.template"}}, id="a template that the schema leaves open"),
    ],
)  # fmt: skip
def test_single_pod_set_belongs_to_root(spec: Any, expected: dict[str, Any]) -> None:
    structure = drafted(crd(spec))

    root = structure["rootComponent"]
    assert {name: root[name] for name in ("specDefinition", "scaleDefinition") if name in root} == expected
    assert (root["name"], root["kind"]["kind"]) == ("bakery", "Bakery")
    assert "childComponents" not in structure


@rows(
    ("spec", "expected"),
    [
        pytest.param(
            fields(headGroupSpec=fields(template=TEMPLATE), worker_specs=fields(replicas=INTEGER, template=TEMPLATE)),
            [
                ("head", None, ".spec.headGroupSpec.template", None),
                ("worker", None, ".spec.worker_specs.template", ".spec.worker_specs.replicas"),
            ],
            id="sections, called after their fields",
        ),
        pytest.param(
            fields(workerGroups=items(groupName=STRING, replicas=INTEGER, template=TEMPLATE)),
            [
                (
                    "worker-group",
                    ".spec.workerGroups[].groupName",
                    ".spec.workerGroups[].template",
                    ".spec.workerGroups[].replicas",
                )
            ],
            id="a list",
        ),
        pytest.param(
            fields(roles={"type": "object", "additionalProperties": fields(replicas=INTEGER, template=TEMPLATE)}),
            [("role", ".spec.roles // {} | keys[]", ".spec.roles[].template", ".spec.roles[].replicas")],
            id="a map",
        ),
        pytest.param(
            fields(replicas=INTEGER, pools=items(size=INTEGER, template=TEMPLATE)),
            [
                (
                    "pool",
                    ".spec.pools // [] | keys[] | tostring",
                    ".spec.pools[].template",
                    ".spec.replicas * (.spec.pools[] | 1)",
                )
            ],
            id="a list whose entries have no name, times the count of the whole",
        ),
        pytest.param(
            fields(
                **{
                    "pool-groups": {
                        "type": "array",
                        "x-kubernetes-list-map-keys": ["pool-name"],
                        "items": fields(
                            **{
                                "pool-name": STRING,
                                "worker-sets": items(name=STRING, replicas=INTEGER, template=TEMPLATE),
                            }
                        ),
                    }
                }
            ),
            [
                (
                    "worker-set",
                    r'.spec["pool-groups"][] | "\(.["pool-name"])-\(.["worker-sets"][].name)"',
                    '.spec["pool-groups"][]["worker-sets"][].template',
                    '.spec["pool-groups"][] | .["worker-sets"][].replicas',
                )
            ],
            id="names that need brackets, within a list",
        ),
        pytest.param(
            fields(pools={"type": "object", "additionalProperties": items(replicas=INTEGER, template=TEMPLATE)}),
            [
                (
                    "pool",
                    r'.spec.pools // {} | to_entries[] | "\(.key)-\(.value // [] | keys[] | tostring)"',
                    ".spec.pools[][].template",
                    ".spec.pools[] | .[].replicas",
                )
            ],
            id="a map of lists",
        ),
        pytest.param(
            fields(a=fields(worker=fields(template=TEMPLATE)), b=fields(worker=fields(template=TEMPLATE))),
            [("a", None, ".spec.a.worker.template", None), ("b", None, ".spec.b.worker.template", None)],
            id="the field that leads to one alone",
        ),
        pytest.param(
            fields(bakery=fields(template=TEMPLATE), other=fields(template=TEMPLATE)),
            [("bakery-1", None, ".spec.bakery.template", None), ("other", None, ".spec.other.template", None)],
            id="names are not the root's either",
        ),
    ],
)
def test_several_sets_of_pods_are_components(spec: Any, expected: Sequence[tuple[str, str, str, str]]) -> None:
    children = drafted(crd(spec))["childComponents"]

    assert [
        (
            child["name"],
            child.get("instanceIdPath"),
            child["specDefinition"]["podTemplateSpecPath"],
            child.get("scaleDefinition", {}).get("replicasPath"),
        )
        for child in children
    ] == expected
    assert {child["ownerRef"] for child in children} == {"bakery"}


@rows(
    "spec",
    [
        pytest.param(fields(storage=fields(resources=RESOURCES, accessModes=STRING)), id="a claim asks for storage"),
        pytest.param(fields(sidecars=CONTAINERS), id="a list of containers alone is not a pod"),
        pytest.param(fields(template=STRING), id="a template of text"),
    ],
)
def test_schemas_that_are_not_pods(spec: Any) -> None:
    structure = drafted(crd(spec))

    assert "specDefinition" not in structure["rootComponent"]
    assert "no pods were found" in notes(crd(spec))


def test_containers_beside_pods_are_no_components() -> None:
    container = fields(name=STRING, image=STRING, command=STRING, env=STRING, resources=RESOURCES, volumeMounts=STRING)
    pieces = fields(image=STRING, resources=RESOURCES, sidecars={"type": "array", "items": container})
    for spec in (pieces, fields(template=TEMPLATE, sidecars={"type": "array", "items": container})):
        assert "childComponents" not in drafted(crd(spec))
        assert "specDefinition" in drafted(crd(spec))["rootComponent"]


def test_references_outside_of_pods_come_first() -> None:
    pieces = fields(resources=RESOURCES, image=STRING, envFrom=items(secretRef=fields(name=STRING)))
    made = draft(CustomKind.of(crd(fields(baker=pieces, tls=fields(secretRef=fields(name=STRING))))))
    found = load_definition(made.karta).annotations.dependencies
    texts = [each.objects.text for each in found if isinstance(each, ExtraDependency)]
    assert texts == [".spec.tls.secretRef.name", ".spec.baker.envFrom[].secretRef.name"]


def test_only_chosen_components_are_drafted() -> None:
    kind = CustomKind.of(crd(fields(baker=fields(template=TEMPLATE), oven=fields(template=TEMPLATE))))
    components = components_of(kind)
    assert {name: pods.place.jq for name, pods in components.items()} == {
        "baker": ".spec.baker.template",
        "oven": ".spec.oven.template",
    }
    structure = draft(kind, {"oven": components["oven"]}).karta["spec"]["structureDefinition"]
    assert structure["rootComponent"]["specDefinition"] == {"podTemplateSpecPath": ".spec.oven.template"}
    assert "childComponents" not in structure


@rows(
    ("spec", "places"),
    [
        pytest.param(fields(autoscaler=fields(resources=RESOURCES, image=STRING), template=TEMPLATE), [],
            id="without a count they are something else"),
        pytest.param(fields(replicas=INTEGER, resources=RESOURCES, template=TEMPLATE), [],
            id="the count is that of the template"),
        pytest.param(fields(pools=items(name=STRING, servers=INTEGER, resources=RESOURCES), sideCars=POD_SPEC),
            [".spec.pools[].resources"], id="counted beside containers for all pods"),
        pytest.param(fields(replicas=INTEGER, resources=RESOURCES, override=fields(template=TEMPLATE)),
            [".spec.resources"], id="counted beside an override of the template"),
    ],
)  # fmt: skip
def test_pieces_count_beside_whole_pods_if_they_have_a_count(spec: Any, places: list[str]) -> None:
    structure = drafted(crd(spec))
    components = structure.get("childComponents", [structure["rootComponent"]])
    pieces = [each["specDefinition"].get("fragmentedPodSpecDefinition", {}) for each in components]
    assert [each["resourcesPath"] for each in pieces if each] == places


def test_scale_subresource_counts_if_nothing_else_does() -> None:
    scale = drafted(crd(fields(size=INTEGER, template=TEMPLATE), scale=".spec.size"))["rootComponent"]
    assert scale["scaleDefinition"] == {"replicasPath": ".spec.size"}


@rows(
    ("kind", "spec", "status", "expected"),
    [
        pytest.param("Bakery", None, fields(phase={**STRING, "enum": ["", "Pending", "Running", "Odd"]}),
            {"phaseDefinition": {"path": ".status.phase"},
            "statusMappings": {"initializing": [{"byPhase": "Pending"}], "running": [{"byPhase": "Running"}]}},
            id="phases that the schema lists"),
        pytest.param("Bakery", None, fields(appState=fields(state={**STRING, "enum": ["FAILED"]})),
            {"phaseDefinition": {"path": ".status.appState.state"},
            "statusMappings": {"failed": [{"byPhase": "FAILED"}]}}, id="a phase inside an object"),
        pytest.param("Bakery", None, fields(conditions=CONDITIONS),
            {"conditionsDefinition": {"path": ".status.conditions"}, "statusMappings": {}},
            id="conditions that nobody lists"),
        pytest.param("Bakery", None, fields(phase=STRING), {"phaseDefinition": {"path": ".status.phase"},
            "statusMappings": {}}, id="phases that nobody lists"),
        pytest.param("Bakery", None, fields(currentState=STRING, health=STRING),
            {"phaseDefinition": {"path": ".status.currentState"}, "statusMappings": {}}, id="a phase by another name"),
        pytest.param("Bakery", None, fields(clusterHealth={**STRING, "enum": ["RUNNING"]}, message=STRING),
            {"phaseDefinition": {"path": ".status.clusterHealth"},
            "statusMappings": {"running": [{"byPhase": "RUNNING"}]}}, id="a phase by the end of its name"),
        pytest.param(
            "Bakery",
            None,
            fields(phase=STRING, conditions=items(type={**STRING, "enum": ["Ready", "Failed", "Odd"]}, status=STRING)),
            {
                "phaseDefinition": {"path": ".status.phase"},
                "conditionsDefinition": {"path": ".status.conditions"},
                "statusMappings": {
                    "running": [{"byConditions": [{"type": "Ready", "status": "True"}]}],
                    "failed": [{"byConditions": [{"type": "Failed", "status": "True"}]}],
                },
            },
            id="conditions that the schema lists go before a phase without a list",
        ),
        pytest.param(
            "Bakery",
            fields(suspend=BOOLEAN),
            fields(phase={**STRING, "enum": ["Running"]}),
            {
                "phaseDefinition": {"path": ".status.phase"},
                "statusMappings": {
                    "running": [{"byPhase": "Running"}],
                    "suspended": [{"byExpression": {"expression": ".spec.suspend // false", "expectedResult": "true"}}],
                },
            },
            id="a switch to suspend tells when it is suspended",
        ),
        pytest.param("Bakery", None, None, {"statusMappings": {}}, id="nothing to go by"),
    ],
)  # fmt: skip
def test_status(kind: str, spec: Any, status: Any, expected: dict[str, Any]) -> None:
    assert drafted(crd(spec, status, kind=kind))["rootComponent"]["statusDefinition"] == expected


def test_ready_replicas_tell_the_status_of_what_can_be_scaled() -> None:
    root = drafted(crd(fields(replicas=INTEGER), fields(readyReplicas=INTEGER), scale=".spec.replicas"))
    mappings = root["rootComponent"]["statusDefinition"]["statusMappings"]
    expression = "(.status.readyReplicas // 0) >= (.spec.replicas // 1)"
    assert mappings["running"] == [{"byExpression": {"expression": expression, "expectedResult": "true"}}]


@rows(
    ("spec", "expected"),
    [
        pytest.param(
            fields(nodeSets=items(name=STRING, count=INTEGER, template=TEMPLATE)), ".spec.nodeSets[].count",
            id="of each instance",
        ),
        pytest.param(fields(size=INTEGER, template=TEMPLATE), ".spec.size", id="size"),
        pytest.param(fields(size=INTEGER, a=fields(workers=INTEGER, template=TEMPLATE)), ".spec.a.workers",
            id="the nearest to the pods"),
        pytest.param(fields(retryCount=INTEGER, maxNodes=INTEGER, template=TEMPLATE), None, id="counts of others"),
    ],
)  # fmt: skip
def test_count_is_drafted_by_its_name(spec: Any, expected: str | None) -> None:
    structure = drafted(crd(spec))
    part = structure.get("childComponents", [structure["rootComponent"]])[0]
    assert part.get("scaleDefinition") == (expected and {"replicasPath": expected})


@rows(
    ("spec", "expected"),
    [
        pytest.param(fields(tls=fields(secret=fields(name=STRING, key=STRING))), {"Secret": ".spec.tls.secret.name"},
            id="a name beside a key"),
        pytest.param(fields(sets=items(configMapRef=fields(name=STRING))),
            {"ConfigMap": ".spec.sets[].configMapRef.name"}, id="in a list"),
        pytest.param(fields(authSecretRef=fields(name=STRING)), {"Secret": ".spec.authSecretRef.name"}, id="a ref"),
        pytest.param(fields(dataClaimRef=fields(name=STRING, namespace=STRING)),
            {"PersistentVolumeClaim": ".spec.dataClaimRef.name"}, id="a claim"),
        pytest.param(fields(resourceClaimRef=fields(name=STRING)), {}, id="a claim of a device"),
        pytest.param(fields(secret=fields(name=STRING, type=STRING, data=STRING)), {}, id="the object itself"),
        pytest.param(fields(resources=fields(claims=items(name=STRING))), {}, id="a claim within the pod"),
        pytest.param(fields(template=fields(spec=fields(**POD_SPEC["properties"], secretName=STRING))), {},
            id="what a pod names"),
        pytest.param(fields(secretName=INTEGER, secretRef=fields(key=STRING)), {}, id="no name"),
        pytest.param(fields(passwordKeyRef=STRING, secretKey=STRING, accessKeySecretRef=STRING), {},
            id="keys in an object"),
    ],
)  # fmt: skip
def test_fields_that_name_objects_are_offered_as_dependencies(spec: Any, expected: dict[str, str]) -> None:
    made = draft(CustomKind.of(crd(spec)))
    found = load_definition(made.karta).annotations.dependencies
    assert {each.kind: each.objects.text for each in found if isinstance(each, ExtraDependency)} == expected
    asked = [note for path, note in made.notes if path[-1] == "karta-interpreter.io/dependencies"]
    assert len(asked) == bool(expected)


def test_text_that_may_name_an_object_is_a_question_without_a_line() -> None:
    spec = fields(tls=fields(secretName=STRING), dataClaimName=STRING, resourceClaimName=STRING)
    made = draft(CustomKind.of(crd(spec)))
    assert "annotations" not in made.karta["metadata"]
    (note,) = [note for path, note in made.notes if path == ("metadata",)]
    assert note.startswith("CHECK: do these texts name objects that a workload needs?")
    assert note.endswith("? .spec.tls.secretName (Secret), .spec.dataClaimName (PersistentVolumeClaim)")


PIECES = {"image": STRING, "resources": RESOURCES}


@rows(
    ("spec", "expected"),
    [
        pytest.param(fields(**PIECES, instances=INTEGER, proxy=fields(**PIECES, instances=INTEGER)),
            {"pods": ".spec.instances", "proxy": ".spec.proxy.instances"}, id="a part with a count of its own"),
        pytest.param(fields(replicas=INTEGER, template=TEMPLATE, proxy=fields(replicas=INTEGER, template=TEMPLATE)),
            {"pods": ".spec.replicas", "proxy": ".spec.proxy.replicas"}, id="templates, each with its count"),
        pytest.param(fields(replicas=INTEGER, group=fields(**PIECES, instances=INTEGER,
            proxy=fields(**PIECES, instances=INTEGER))),
            {"group": ".spec.replicas * .spec.group.instances",
             "proxy": ".spec.replicas * .spec.group.proxy.instances"},
            id="within groups, which are counted by all"),
        pytest.param(fields(replicas=INTEGER, a=fields(hosts=INTEGER, template=TEMPLATE)),
            {"bakery": ".spec.replicas * .spec.a.hosts"}, id="a count of parts without pods of their own"),
        pytest.param(fields(**PIECES, instances=INTEGER, exporter=fields(**PIECES), sidecars=items(**PIECES)),
            {"bakery": ".spec.instances"}, id="parts without a count are containers"),
        pytest.param(fields(**PIECES, instances=INTEGER, exporter=fields(**PIECES, port=INTEGER)),
            {"bakery": ".spec.instances"}, id="a number that is no count"),
        *(
            pytest.param(fields(**PIECES, instances=INTEGER, proxy=fields(**PIECES, **{name: INTEGER})),
                {"pods": ".spec.instances", "proxy": f".spec.proxy.{name}"}, id=f"a part with {name}")
            for name in _FACTORS
        ),
    ],
)  # fmt: skip
def test_numbers_count_the_pods_of_their_own_part(spec: Any, expected: dict[str, str]) -> None:
    structure = drafted(crd(spec))
    components = [*structure.get("childComponents", []), structure["rootComponent"]]
    scales = {each["name"]: each["scaleDefinition"]["replicasPath"] for each in components if "scaleDefinition" in each}
    assert scales == expected


def test_containers_beside_a_container_are_asked_about() -> None:
    spec = fields(**PIECES, instances=INTEGER, exporter=fields(**PIECES), sidecars=items(**PIECES))
    assert "containers of the same pods? .spec.exporter, .spec.sidecars[]" in notes(crd(spec))


@rows(
    ("spec", "switch"),
    [
        pytest.param(fields(enableProxy=BOOLEAN, proxy=fields(**PIECES)), ".spec.enableProxy", id="beside the part"),
        pytest.param(fields(proxyEnabled=BOOLEAN, proxy=fields(template=TEMPLATE)), ".spec.proxyEnabled", id="behind"),
        pytest.param(fields(proxy=fields(enabled=BOOLEAN, **PIECES)), ".spec.proxy.enabled", id="in the part"),
        pytest.param(
            fields(proxy=fields(enable=BOOLEAN, replicas=INTEGER, **PIECES)), ".spec.proxy.enable", id="beside a count"
        ),
        pytest.param(fields(enable=BOOLEAN, proxy=fields(template=TEMPLATE)), ".spec.enable", id="around the part"),
        pytest.param(fields(enableProxy=STRING, proxy=fields(**PIECES)), None, id="no flag"),
        pytest.param(fields(enableLogs=BOOLEAN, proxy=fields(**PIECES)), None, id="a flag of something else"),
    ],
)
def test_flag_that_turns_pods_on_is_named(spec: Any, switch: str | None) -> None:
    text = notes(crd(spec))
    assert (f"no such pods where {switch} is not true?" in text) if switch else ("no such pods" not in text)


def test_flags_that_turn_pods_off_are_named() -> None:
    text = notes(crd(fields(disabled=BOOLEAN, proxyDisabled=BOOLEAN, proxy=fields(enabled=BOOLEAN, template=TEMPLATE))))
    for flag in ("disabled", "proxyDisabled"):
        assert f"no such pods where .spec.{flag} is true?" in text
    assert "no such pods where .spec.proxy.enabled is not true?" in text


_SETS = items(component=STRING, replicas=INTEGER, **PIECES)
_HOLDER = fields(containers=CONTAINERS, resources=RESOURCES, volumes=STRING)


@rows(
    ("spec", "names", "asked"),
    [
        pytest.param(fields(sets=_SETS, initHelper=fields(**PIECES), job=fields(**PIECES, labels=fields())),
            ["set"], ".spec.initHelper, .spec.job", id="pieces without a count"),
        pytest.param(fields(sets=_SETS, sideCars=_HOLDER), ["set"], ".spec.sideCars", id="an object with containers"),
        pytest.param(fields(sets=_SETS, sidecar=POD_SPEC), ["set"], ".spec.sidecar", id="a sidecar by its name"),
        pytest.param(fields(sets=_SETS, head=POD_SPEC), ["head", "set"], None, id="a pod spec has pods"),
        pytest.param(fields(web=fields(template=TEMPLATE), metrics=fields(**PIECES)), ["bakery"], ".spec.metrics",
            id="pieces beside a template"),
        pytest.param(fields(web=fields(**PIECES), sidecar=fields(**PIECES)), ["bakery"], ".spec.sidecar",
            id="a sidecar where nothing has a count"),
        pytest.param(fields(web=fields(**PIECES), db=fields(**PIECES)), ["web", "db"], None, id="pieces alone"),
        pytest.param(fields(predictor=fields(**POD_SPEC["properties"], model=fields(**PIECES))), ["bakery"], None,
            id="a container within whole pods"),
        pytest.param(fields(sidecar=_HOLDER), ["bakery"], None, id="nothing else"),
    ],
)  # fmt: skip
def test_containers_without_a_count_are_no_component(spec: Any, names: list[str], asked: str | None) -> None:
    structure = drafted(crd(spec))

    assert [part["name"] for part in structure.get("childComponents", [structure["rootComponent"]])] == names
    question = "have no count. Are they containers of other pods, or pods of their own?"
    assert (f"{question} {asked}" in notes(crd(spec))) if asked else (question not in notes(crd(spec)))


@rows(
    ("field", "is_pods"),
    [
        *[(name, False) for name in ("override", "applySetOverride", "podTemplateOverrides", "patch", "set_patches")],
        *[(name, True) for name in ("dispatcher", "patchwork", "overridden", "set")],
    ],
)
def test_template_that_changes_another_is_no_component(field: str, is_pods: bool) -> None:
    spec = fields(replicas=INTEGER, template=TEMPLATE, **{field: fields(replicas=INTEGER, template=TEMPLATE)})
    assert ("childComponents" in drafted(crd(spec))) is is_pods


def test_fields_beside_the_spec_are_asked_about() -> None:
    open_template = {"description": "A pod.", "x-kubernetes-preserve-unknown-fields": True}
    tls = fields(secretRef=fields(name=STRING))
    schema = fields(inference=fields(template=open_template, tls=tls), resource=fields(count=INTEGER, size=STRING))
    made = draft(CustomKind("bakeries.example.io", GVK("example.io", "v1", "Bakery"), schema))

    root = made.karta["spec"]["structureDefinition"]["rootComponent"]
    assert root["specDefinition"] == {"podTemplateSpecPath": ".inference.template"}
    texts = [note for _, note in made.notes]
    assert "CHECK: only its name says that this is a pod's definition." in texts
    assert "CHECK: do these count pods? .resource.count" in texts
    (dependency,) = load_definition(made.karta).annotations.dependencies
    assert isinstance(dependency, ExtraDependency)
    assert dependency.objects.text == ".inference.tls.secretRef.name"


def test_required_count_is_not_asked_about() -> None:
    spec = {**fields(replicas=INTEGER, template=TEMPLATE), "required": ["replicas"]}
    assert "how many pods" not in notes(crd(spec))


_CLAIM = fields(accessModes={"type": "array"}, storageClassName=STRING)


@rows(
    ("spec", "is_whole"),
    [
        pytest.param(fields(replicas=INTEGER, template=TEMPLATE, volumeClaimTemplates=items(spec=_CLAIM)), True,
                     id="a StatefulSet"),
        pytest.param(fields(sets=items(name=STRING, count=INTEGER, template=TEMPLATE, claim=_CLAIM)), True,
                     id="sets of nodes with a claim"),
        pytest.param(fields(instances=INTEGER, resources=RESOURCES, storage=fields(size=STRING)), True,
                     id="storage with a size"),
        pytest.param(fields(replicas=INTEGER, resources=RESOURCES, storage=fields(template=fields(spec=_CLAIM))), True,
                     id="the template of a claim within a section"),
        pytest.param(fields(instances=INTEGER, resources=RESOURCES, data=fields(storageClass=STRING, gb=INTEGER)), True,
                     id="a class of storage"),
        pytest.param(fields(instances=INTEGER, resources=RESOURCES, storage=fields(uri=STRING)), False,
                     id="storage elsewhere"),
        pytest.param(fields(replicas=INTEGER, template=TEMPLATE), False, id="a Deployment"),
        pytest.param(fields(template=TEMPLATE, storage=_CLAIM), False, id="a claim without a count"),
        pytest.param(fields(storage=_CLAIM, workers=fields(replicas=INTEGER, template=TEMPLATE)), False,
                     id="a claim of the whole, not of each"),
        pytest.param(fields(replicas=INTEGER, template=fields(spec=fields(**POD_SPEC["properties"], volumes=items(
            persistentVolumeClaim=_CLAIM)))), False, id="a claim that its pods share"),
    ],
)  # fmt: skip
def test_replicas_with_data_are_not_divided(spec: Any, is_whole: bool) -> None:
    annotations = draft(CustomKind.of(crd(spec))).karta["metadata"].get("annotations", {})
    assert annotations.get("karta-interpreter.io/elastic") == ("none" if is_whole else None)
    assert ("volumes, one for each pod" in notes(crd(spec))) is is_whole
    drafted(crd(spec))


def test_fields_that_a_status_requires_are_drafted() -> None:
    status = fields(driver=fields(pod=STRING), phase=STRING, active=INTEGER)
    made = draft(CustomKind.of(crd(fields(), {**status, "required": ["driver", "phase", "active"]})))
    found = load_definition(made.karta).annotations
    assert found.required_status == {("status", "driver"): {}, ("status", "phase"): ""}


def test_suspend_and_resume() -> None:
    root = drafted(crd(fields(runPolicy=fields(suspend=BOOLEAN))))["rootComponent"]
    assert root["suspendDefinition"] == {
        "suspendActions": [{"path": ".spec.runPolicy.suspend", "value": "true"}],
        "resumeActions": [{"path": ".spec.runPolicy.suspend", "value": "false"}],
    }


@rows(
    ("spec", "status", "words"),
    [
        pytest.param(fields(groups=items(name=STRING, template=TEMPLATE)), None, "id of its instance",
            id="made-up label"),
        pytest.param(fields(template=fields()), None, "only its name", id="a guess by name"),
        pytest.param(fields(replicas=INTEGER, template=TEMPLATE), None,
            "how many pods has an object without .spec.replicas?", id="a count without a default"),
        pytest.param(fields(size=INTEGER, template=TEMPLATE), None, "only its name says that this counts pods",
            id="a count"),
        pytest.param(None, fields(phase=STRING, conditions=CONDITIONS), ".status.phase may be a phase without a list",
            id="both"),
        pytest.param(fields(replicas=INTEGER, a=fields(hosts=INTEGER, template=TEMPLATE)), None, "multiplied?",
            id="a product"),
        pytest.param(fields(a=TEMPLATE, b=TEMPLATE), None, "componentTypeSelector", id="several components"),
        pytest.param(None, fields(phase={**STRING, "enum": ["Odd"]}), "Without a meaning here: Odd.", id="phases"),
        pytest.param(None, fields(phase=STRING), "does not say which phases", id="phases that nobody lists"),
        pytest.param(None, fields(phase=STRING, health=STRING), "may be phases, too: .status.health", id="two phases"),
        pytest.param(None, fields(phase=STRING), "every workload is unhealthy", id="nothing is healthy"),
        pytest.param(fields(replicas=INTEGER, template=TEMPLATE, agent=fields(**PIECES)), None,
            "of their own? .spec.agent", id="a container by its pieces"),
        pytest.param(fields(replicas=INTEGER, template=TEMPLATE, setOverride=fields(spec=fields(template=TEMPLATE))),
            None, "made elsewhere, maybe their count, too: .spec.setOverride", id="an override"),
    ],
)  # fmt: skip
def test_notes_say_what_a_schema_cannot(spec: Any, status: Any, words: str) -> None:
    assert words in notes(crd(spec, status))


def test_notes_are_about_places_that_are_there() -> None:
    made = draft(CustomKind.of(crd(fields(groups=items(template=TEMPLATE), other=TEMPLATE, suspend=BOOLEAN))))
    assert [path for path, _ in made.notes if edit.get(made.karta, path) is None] == []
    assert made.checks == len(made.notes) > 3


def test_draft_warns_about_omitted_parts() -> None:
    definition = load_definition(draft(CustomKind.of(crd(fields(a=TEMPLATE, b=TEMPLATE)))).karta)
    assert {(finding.severity, finding.rule) for finding in definition.findings} == {
        (Severity.WARNING, "type-selector-missing"),
        (Severity.WARNING, "never-healthy"),
    }


@rows(
    ("crd", "version", "message"),
    [
        pytest.param({}, None, "spec.group and spec.names.kind", id="an empty object"),
        pytest.param({"spec": {"group": "a", "names": []}}, None, "spec.names.kind", id="names of another type"),
        pytest.param(crd(), "v2", "has no version v2; it has v1", id="another version"),
        pytest.param({"spec": {"group": "a", "names": {"kind": "B"}, "versions": [{"name": "v1", "storage": True}]}},
            None, "has no schema.openAPIV3Schema", id="no schema"),
        pytest.param({"spec": {"group": "a", "names": {"kind": "B"}, "versions": "v1"}}, None, "stored",
            id="no versions"),
    ],
)  # fmt: skip
def test_crds_that_nothing_can_be_drafted_from(crd: dict[str, Any], version: str | None, message: str) -> None:
    with pytest.raises(DefinitionError, match="CRD") as raised:
        CustomKind.of(crd, version)
    assert message in str(raised.value)


def test_draft_uses_the_requested_version() -> None:
    both = crd()
    both["spec"]["versions"].append({**both["spec"]["versions"][0], "name": "v2", "storage": False})
    assert [CustomKind.of(both, version).gvk.version for version in (None, "v2")] == ["v1", "v2"]


def _toy(spec: dict[str, Any], scale_path: str = "") -> Draft:
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}
    return draft(CustomKind("toys.example.com", GVK("toys.example.com", "v1", "Toy"), schema, scale_path))


def test_count_of_the_scale_subresource_is_that_of_a_kind_without_pods() -> None:
    root = _toy({"replicas": {"type": "integer"}}, ".spec.replicas").karta["spec"]["structureDefinition"][
        "rootComponent"
    ]
    assert root["scaleDefinition"] == {"replicasPath": ".spec.replicas"}


def test_claims_of_a_container_are_no_volumes() -> None:
    claims = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}
    resources = {"type": "object", "properties": {"claims": claims}}
    assert "annotations" not in _toy({"resources": resources}).karta["metadata"]
    assert "annotations" in _toy({"volumeClaims": claims}).karta["metadata"]
